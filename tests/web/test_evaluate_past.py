"""What can be undone and redone, what a stale tab is told, and what was known at an earlier instant."""

import html
import re
from datetime import datetime, timedelta, timezone

import pytest
from experiments import client_on, empty_file, stands
from forms import form_of, forms_of, send

from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.sources.days import today


@pytest.fixture
def client(path):
    return client_on(path)


def disabled(client, page="/evaluate/history"):
    """The names of the buttons for undo and redo that cannot be pressed, with the reason they give."""
    return dict(
        re.findall(
            r'<button class="quiet small" disabled title="([^"]+)">(\w+)</button>', client.get(page).text
        )
    )


NOTHING_TO = {"undo": {"没有可以撤销的改动": "撤销"}, "redo": {"没有可以重做的改动": "重做"}}


def test_a_button_with_nothing_behind_it_is_disabled_and_says_why(client):
    nothing = {**NOTHING_TO["undo"], **NOTHING_TO["redo"]}
    assert disabled(client) == nothing  # the demo's own making is behind undo
    client.post("/evaluate/questions", data={"questions": "甲"})
    assert disabled(client) == disabled(client, "/evaluate/sources") == NOTHING_TO["redo"]
    client.post("/evaluate/questions", data={"questions": "乙"})
    send(client, "/evaluate/history", "/evaluate/undo")
    assert disabled(client) == {}
    send(client, "/evaluate/baselines", "/evaluate/baselines", {"name": "冻结"})  # outside of undo
    assert disabled(client) == {}
    send(client, "/evaluate/history", "/evaluate/undo")
    assert disabled(client) == NOTHING_TO["undo"]
    send(client, "/evaluate/history", "/evaluate/redo")
    send(client, "/evaluate/history", "/evaluate/redo")
    assert disabled(client) == NOTHING_TO["redo"]
    send(client, "/evaluate/history", "/evaluate/undo")
    client.post("/evaluate/questions", data={"questions": "丙"})  # ends what could be redone
    assert disabled(client) == NOTHING_TO["redo"]
    send(client, "/evaluate/baselines", "/evaluate/baselines", {"name": "再冻结"})
    assert disabled(client) == NOTHING_TO["redo"]


@pytest.mark.parametrize("seed", range(8))
def test_what_the_buttons_say_is_what_the_store_does(tmp_path, seed):
    import random

    from evidence_kit.storage.errors import NothingToUndoError

    store = ExperimentStore.open(empty_file(tmp_path / "x.db"))
    chosen = random.Random(seed)
    for _ in range(30):
        said = store.look().turns
        step = chosen.choice(["undo", "redo", "undo", "ask", "name"])
        if step == "ask":
            store.add_questions(["问"])
        elif step == "name":
            store.rename(f"名{chosen.random()}")
        elif getattr(said, step):
            getattr(store, step)()
        else:
            with pytest.raises(NothingToUndoError):
                getattr(store, step)()
    store.close()


def test_an_undo_that_finds_nothing_left_to_take_back_is_seen_on_the_page(client):
    """The baseline that the restoring took away was frozen anew meanwhile: what was frozen since stays."""
    without = client.get("/evaluate/export/experiment.json").content
    send(client, "/evaluate/baselines", "/evaluate/baselines", {"name": "一"})
    file = {"file": ("x.json", without)}
    assert send(client, "/evaluate/exports", "/evaluate/restore", files=file).status_code == 303
    send(client, "/evaluate/baselines", "/evaluate/baselines", {"name": "一"})
    assert disabled(client) == NOTHING_TO["redo"]
    assert send(client, "/evaluate/history", "/evaluate/undo").status_code == 303
    assert disabled(client) == NOTHING_TO["undo"]
    assert "最近：撤销：还原实验" in client.get("/evaluate/history").text


# Who comes late is told in words, and in the time of the place.

STALE = [
    ("/evaluate?q=q1", "/evaluate/judge", {"grade": "1"}, "判断 q1 与 repair.md：1"),
    ("/evaluate/source/edit?id=repair.md", "/evaluate/source/edit", {"title": "一"}, "修改资料 repair.md"),
    ("/evaluate/measures", "/evaluate/measures", {"k": "5"}, "设置参数 k=5"),
    ("/evaluate/baselines", "/evaluate/baselines", {"name": "一"}, "冻结基线 一"),
    ("/evaluate/question?id=q1", "/evaluate/question/remove", {}, "删除问题 q1"),
]


@pytest.mark.parametrize(("page", "action", "change", "label"), STALE, ids=[stale[1] for stale in STALE])
def test_who_comes_late_reads_what_was_changed_and_when_on_the_clock_of_the_place(
    client, path, page, action, change, label, monkeypatch
):
    monkeypatch.setenv("EVIDENCE_TIMEZONE", "Asia/Kathmandu")  # 5:45 from UTC
    where = {"question_id": "q1", "source_id": "repair.md"} if action == "/evaluate/judge" else {}
    form = form_of(client.get(page).text, action, **where)["fields"]
    assert client.post(action, data={**form, **change}).status_code == 303
    store = ExperimentStore.open(path)
    at = store.history()[-1].recorded_at.astimezone(timezone(timedelta(hours=5, minutes=45)))
    store.close()
    answer = client.post(action, data={**form, **change}, headers={"Accept": "application/json, text/html"})
    assert answer.status_code == 409
    message = re.search(r'data-code="contradiction">\s*<p>(.*?)</p>', answer.text, re.S)[1]
    assert f"{at:%Y-%m-%d %H:%M:%S}「{label}」".replace("「", " 「") in message
    assert not re.search(r"[\[\]{}&]|[0-9]Z|\.[0-9]{6}", message)


def test_who_comes_late_sees_the_parameters_and_the_dates_that_stand(client):
    form = form_of(client.get("/evaluate/measures").text, "/evaluate/measures")["fields"]
    client.post("/evaluate/measures", data={**form, "k": "5"})
    text = client.post("/evaluate/measures", data={**form, "window": "77", "overlap": "7"}).text
    assert "现在的参数：窗口（码点） 200，重叠（码点） 40，前几份（k） 5。" in text
    assert "aria-invalid" not in text  # what was typed is right, and late
    page, action = "/evaluate/source/edit?id=repair.md", "/evaluate/source/edit"
    form = form_of(client.get(page).text, action)["fields"]
    client.post(action, data={**form, "effective_until": "2027-01-02", "supersedes": "parts.txt"})
    now = re.search('<section class="now".*?</section>', client.post(action, data=form).text, re.S)[0]
    assert ">在用</span>" in now
    assert "，有效期 不限 至 2027-01-02，取代 <bdi>parts.txt</bdi>" in now


# What was known.


def test_measures_of_an_earlier_instant_are_those_of_what_was_recorded_then(client, path):
    before = client.get("/evaluate/measures").text
    means = re.search(r'<tr class="mean">.*?</tr>', before, re.S)[0]
    instant = datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
    send(client, "/evaluate/measures", "/evaluate/measures", {"k": "1"})
    send(client, "/evaluate/question?id=q1", "/evaluate/question/remove")
    assert means not in client.get("/evaluate/measures").text
    then = client.get(f"/evaluate/measures?known={instant}")
    assert means in then.text
    assert "只能看，不能改" in then.text
    assert "车修好了一直没去拿" in then.text
    assert forms_of(then.text) == []  # nothing there writes
    exports = client.get(f"/evaluate/exports?known={instant}").text
    assert forms_of(exports) == []
    link = re.search(r'href="(/evaluate/export/experiment.json[^"]+)"', exports)[1]
    assert '"question_id": "q1"' in client.get(link).text
    assert '"question_id": "q1"' not in client.get("/evaluate/export/experiment.json").text


def test_a_day_alone_is_what_was_known_at_its_end(tmp_path):
    at = iter([datetime(2026, 11, day, 15, 59, 59, tzinfo=timezone.utc) for day in (1, 2, 2, 3)])
    store = ExperimentStore.create(tmp_path / "x.db", "名", clock=lambda: next(at))
    for question in ("甲", "乙", "丙"):
        store.add_questions([question])
    store.close()
    client = client_on(tmp_path / "x.db")
    counts = {day: client.get(f"/evaluate/measures?known=2026-11-0{day}").text for day in (1, 2, 3)}
    assert [re.search("问题 ([0-9]) 个", counts[day])[1] for day in (1, 2, 3)] == ["0", "2", "3"]
    assert client.get("/evaluate/measures?known=2026-10-31").status_code == 400


@pytest.mark.parametrize("known", ["x", "2026-02-30", "2026-11-30T25:00", "0001-01-01", "9" * 4000, "%00"])
@pytest.mark.parametrize("page", ["measures", "exports", "export/measures.csv"])
def test_an_instant_that_is_none_is_bad_input(client, page, known):
    answer = client.get(f"/evaluate/{page}?known={known}")
    assert (answer.status_code, 'data-code="bad_input"' in answer.text) == (400, True)


def test_what_was_known_changes_nothing_of_what_stands(client, path):
    before = stands(path)
    text = client.get("/evaluate/measures").text
    assert client.get(f"/evaluate/measures?known={today()}").status_code == 200
    assert client.get("/evaluate/measures").text == text
    assert stands(path) == before


def test_each_change_has_its_own_past_also_where_a_clock_that_was_ahead_gave_them_one_instant(tmp_path):
    ahead = datetime(2030, 1, 1, tzinfo=timezone.utc)
    store = ExperimentStore.create(tmp_path / "x.db", "名", clock=lambda: ahead)
    for question in ("甲", "乙", "丙"):
        store.add_questions([question])
    assert len({change.recorded_at for change in store.history()}) == 1
    store.close()
    client = client_on(tmp_path / "x.db")
    links = re.findall('href="([^"]+)" aria-label="第 ([0-9]+) 次改动', client.get("/evaluate/history").text)
    found = {int(number): client.get(html.unescape(link)).text for link, number in links}
    assert {n: re.search("问题 ([0-9]) 个", text)[1] for n, text in found.items()} == {
        1: "0",
        2: "1",
        3: "2",
        4: "3",
    }
    assert all("day=2030-01-01" in link for link, _ in links)  # the day on which it was
    assert "第 3 次改动之后已记录的" in found[3]
    export = re.search('href="(/evaluate/exports[^"]+change=3[^"]*)"', found[3])[1]
    file = re.search(
        'href="(/evaluate/export/experiment.json[^"]+)"', client.get(html.unescape(export)).text
    )[1]
    assert [q["text"] for q in client.get(html.unescape(file)).json()["questions"]] == ["甲", "乙"]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("change=0", 404), ("change=99", 404), ("change=9" * 1, 404), ("change=x", 400), ("change=-1", 400),
        ("change=1&known=2026-11-01", 400), ("known=2999-01-01", 400), ("known=9999-12-31T20:00:00Z", 400),
        ("known=2999-01-01T00:00:00Z", 400),
    ],
)  # fmt: skip
def test_a_past_that_never_was_or_is_still_to_come_is_refused(client, asked, status):
    for page in ("measures", "exports", "export/measures.csv"):
        assert client.get(f"/evaluate/{page}?{asked}").status_code == status


# Order.


def test_the_means_of_a_baseline_stand_in_the_order_of_the_measures(client):
    send(client, "/evaluate/measures", "/evaluate/measures", {"k": "10"})
    send(client, "/evaluate/baselines", "/evaluate/baselines", {"name": "起点"})
    names = re.findall('<th scope="col">([^<]+@[0-9]+|AP)</th>', client.get("/evaluate/measures").text)
    assert len(names) == 6
    table = re.search("<tbody>.*?</tbody>", client.get("/evaluate/baselines").text, re.S)[0]
    assert re.findall('<span class="pair">([^ ]+)', table) == names
    compared = client.get("/evaluate/compare?baseline=%E8%B5%B7%E7%82%B9").text
    assert re.findall('<tr><th scope="row">([^<]+)', compared) == names
    judged = client.get("/evaluate").text
    assert re.findall('<span>([^ ]+) <span class="number">', judged)[:6] == names
    assert re.findall("<dt>([^<]+)</dt>", judged) == names
