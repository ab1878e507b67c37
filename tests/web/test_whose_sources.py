"""Whose sources a page shows, finding in those of the experiment, and words that stand in titles alone."""

import re

import pytest
from experiments import client_on, empty_file, hostile_file, stands
from forms import form_of

from evidence_kit.anchors.bundle import parse_bundle
from evidence_kit.anchors.bundle_check import verify_bundle
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.sources.given import document_typed, documents_given
from evidence_kit.sources.validity import Validity
from evidence_kit.web.pages import PAGES


@pytest.fixture
def own(path):
    return client_on(path)


def note(text):
    """What a page says of whose sources it shows."""
    return re.findall('<p class="notice whose">(.*?)</p>', text, re.S)


def test_the_way_in_is_the_experiment_where_one_was_given(own, client):
    assert own.get("/").headers["location"] == "/evaluate"
    assert client.get("/").headers["location"] == "/ask"


@pytest.mark.parametrize("page", [page.path for page in PAGES if page.path != "/evaluate"])
def test_pages_of_the_course_say_so_where_an_experiment_of_one_s_own_was_given(own, client, page):
    (said,) = note(own.get(page).text)
    assert "课程" in said
    assert "您的实验" in said
    assert note(client.get(page).text) == []  # with the demo nothing is one's own


def test_pages_below_those_of_the_course_say_so_too_and_the_experiment_s_do_not(own):
    for page in ("/sources/C001", "/sources/C999", "/ask?q=", "/ask?q=x"):
        assert len(note(own.get(page).text)) == 1, page
    for page in ("", "/measures", "/sources", "/source?id=repair.md"):
        assert note(own.get(f"/evaluate{page}").text) == [], page


def send_find(client, page, **change):
    text = client.get(page).text
    names = re.findall(r'<input type="hidden" name="id" value="([^"]*)">', text)
    form = form_of(text, "/find")["fields"]
    titles = re.findall(r'<input name="title" value="([^"]*)"', text)
    texts = [
        found.replace("\n", "\r\n")
        for found in re.findall(r'name="text"[^>]*>\n(.*?)</textarea>', text, re.S)
    ]
    fields = {"q": "修好的车", "method": "bm25", "top": "5", "of": form["of"], "id": names, "title": titles}
    return client.post("/find", data={**fields, "text": texts, **change})


def test_find_starts_from_the_experiment_s_sources_and_has_an_address(own, path):
    text = own.get("/find?of=experiment").text
    held = [source.source_id for source in stands(path).sources]
    assert re.findall(r'name="id" value="([^"]*)"', text) == [*held, ""]
    assert "不会写进实验" in note(text)[0]
    answer = send_find(own, "/find?of=experiment")
    assert answer.status_code == 303
    assert answer.headers["location"].endswith("&top=5&of=experiment")
    found = own.get(answer.headers["location"]).text
    assert "来源 <bdi>repair.md</bdi>" in found
    assert "恢复实验的资料" in found
    assert 'href="/find?of=experiment"' in own.get("/evaluate/sources").text


def test_edited_sources_of_the_experiment_are_searched_and_the_experiment_stays(own, path):
    before = stands(path)
    answer = send_find(own, "/find?of=experiment", id=["a"], title=["甲"], text=["修好的车在门后。"])
    assert (answer.status_code, 'id="hit-1"' in answer.text) == (200, True)
    assert "恢复实验的资料" in answer.text
    assert stands(path) == before


def test_the_bundle_of_the_experiment_s_sources_holds_true(own):
    form = {"q": "修好的车", "method": "bm25", "top": "5", "of": "experiment"}
    text = own.get("/find?of=experiment").text
    assert form_of(text, "/find")["fields"]["of"] == "experiment"
    records = {"id": "repair.md", "title": "", "text": "修好的车\r\n在门后"}
    report = verify_bundle(parse_bundle(own.post("/find/bundle", data={**form, **records}).content, "引用包"))
    assert report.exact == report.citations == 1


def test_sources_out_of_force_blank_or_with_nul_are_left_out_and_counted(tmp_path):
    path = empty_file(tmp_path / "x.db")
    store = ExperimentStore.open(path)
    for text in ("在用的", "停用的", "有\0的"):
        store.import_documents([document_typed("题", text)])
    store.edit_source("S002", validity=Validity("expired"))
    store.close()
    text = client_on(path).get("/find?of=experiment").text
    assert re.findall(r'name="id" value="([^"]*)"', text) == ["S001", ""]
    assert "另有 2 篇" in note(text)[0]


def test_more_sources_than_a_form_takes_are_an_error_with_the_sample_instead(tmp_path):
    path = empty_file(tmp_path / "x.db")
    store = ExperimentStore.open(path)
    for count in (100, 1):
        store.import_documents(documents_given([{"text": "同样的字"}] * count, "资料"))
    store.close()
    answer = client_on(path).get("/find?of=experiment&q=同样")
    assert answer.status_code == 400
    assert "实验的资料有 101 份，最多 100 份" in answer.text
    assert "课程的样例资料" in note(answer.text)[0]


def test_an_experiment_without_sources_and_a_shelf_that_is_none(own, tmp_path):
    empty = client_on(empty_file(tmp_path / "e.db"))
    assert empty.get("/find?of=experiment").status_code == 200
    assert empty.get("/find?of=experiment&q=x").status_code == 400
    for name in ("x", "", "%00", "<b>" * 100):
        assert own.get(f"/find?of={name}").status_code == 400
        assert (
            own.post("/find", data={"q": "x", "of": "x", "id": "", "title": "", "text": "y"}).status_code
            == 400
        )


def test_hostile_sources_are_text_in_the_form(tmp_path):
    text = client_on(hostile_file(tmp_path / "h.db")).get("/find?of=experiment").text
    assert "<script>window" not in text
    assert "<img" not in text
    assert text.count("</textarea>") == 3  # two sources, and a blank row


# Titles.


def find_in(client, query, **fields):
    data = {"id": "a", "title": "急救箱使用须知", "text": "割伤以后先止血。", "q": query, **fields}
    answer = client.post("/find", data=data)
    assert answer.status_code == 200
    return re.sub(
        r"\s+", " ", re.sub("<.*?>", "", "".join(re.findall('<p class="empty">.*?</p>', answer.text, re.S)))
    )


def test_words_that_stand_in_titles_alone_are_named(client):
    said = find_in(client, "急救箱")
    assert "没有命中" in said
    assert "但标题里有：急救箱使用须知（急救、救箱）。标题只用来显示，不参加查找。" in said


def test_nothing_is_said_of_titles_that_share_nothing_or_a_single_character(client):
    assert "标题" not in find_in(client, "zzzz")
    assert "标题" not in find_in(client, "箱")


def test_where_a_text_has_the_word_nothing_is_said_of_titles(client):
    assert find_in(client, "止血 急救箱") == ""


def test_weak_findings_that_were_left_out_are_not_said_to_be_none(client):
    said = find_in(client, "血", no_weak="1")
    assert "已经略过" in said
    assert "没有出现" not in said


def test_many_and_long_titles_are_cut_short(client):
    titles = [f"急救箱{n}" + "长" * 300 for n in range(9)]
    data = {"id": [str(n) for n in range(9)], "title": titles, "text": ["别的"] * 9, "q": "急救箱"}
    said = client.post("/find", data=data).text
    (said,) = re.findall('<p class="empty">.*?</p>', said, re.S)
    assert "等 9 篇" in said
    assert "长" * 61 not in said


def test_on_the_evaluate_page_too(tmp_path):
    path = empty_file(tmp_path / "x.db")
    store = ExperimentStore.open(path)
    store.import_documents([document_typed("急救箱使用须知", "割伤以后先止血。")])
    store.add_questions(["急救箱"])
    store.close()
    assert "但标题里有：<bdi>急救箱使用须知</bdi>" in client_on(path).get("/evaluate").text
