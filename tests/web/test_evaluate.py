"""The Evaluate pages without a browser: what each form does, by hand-checked figures and by the library."""

import csv
import html
import io
import json
import re

import pytest
from experiments import client_on, empty_file, stands
from forms import form_of, forms_of, send

from evidence_kit.commands import main
from evidence_kit.experiments.model import Experiment, ExperimentSource, Question
from evidence_kit.experiments.run import run
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.formats.experiment_json import experiment_from_json, experiment_to_json
from evidence_kit.formats.notes import omissions
from evidence_kit.sources.days import today


@pytest.fixture
def client(path):
    return client_on(path)


@pytest.fixture
def empty(tmp_path):
    return client_on(empty_file(tmp_path / "empty.db"))


def grades(path):
    return {(j.question_id, j.source_id): j.grade for j in stands(path).judgments}


def error_of(answer):
    return re.search(r'role="alert" data-code="([a-z_]+)">\s*<p>(.*?)</p>', answer.text, re.S).groups()


def judge(client, question, source, grade, page="/evaluate"):
    where = {"question_id": question, "source_id": source}
    return send(client, f"{page}?q={question}", "/evaluate/judge", {"grade": grade}, where)


def test_the_first_screen_has_the_question_and_its_hits_in_the_library_s_order(client, path):
    text = client.get("/evaluate").text
    result = run(stands(path), today()).results[0]
    assert "车修好了一直没去拿" in re.search("<h1.*?</h1>", text, re.S)[0]
    asked = [form["fields"]["source_id"] for form in forms_of(text) if form["action"] == "/evaluate/judge"]
    assert asked[:3] == [hit.best.source_id for hit in result.documents[:3]]
    for hit in result.documents[:3]:
        assert f"{hit.best.score:.6f}" in text
        assert f"[{hit.best.start}, {hit.best.end})" in text


def test_every_source_in_force_can_be_judged_found_or_not(client, path):
    forms = [
        form for form in forms_of(client.get("/evaluate?q=q1").text) if form["action"] == "/evaluate/judge"
    ]
    assert len(forms) == 8
    assert {form["fields"]["source_id"] for form in forms} == {s.source_id for s in stands(path).sources}
    assert all(form["buttons"][:4] == ["0", "1", "2", "3"] for form in forms)


def test_judging_writes_goes_back_to_the_next_row_and_shows_the_grade(client, path):
    answer = judge(client, "q2", "parts.txt", "2")
    assert answer.status_code == 303
    assert re.fullmatch(r"/evaluate\?q=q2#row-\d+", answer.headers["location"])
    assert grades(path)["q2", "parts.txt"] == 2
    assert judge(client, "q2", "parts.txt", "clear").status_code == 303
    assert ("q2", "parts.txt") not in grades(path)
    assert judge(client, "q2", "parts.txt", "1").status_code == 303  # judged again after it was cleared
    assert grades(path)["q2", "parts.txt"] == 1


@pytest.mark.parametrize("grade", ["4", "-1", "", "01", "２", "x", "1.0"])
def test_a_grade_that_is_none_is_refused(client, path, grade):
    before = grades(path)
    assert judge(client, "q1", "repair.md", grade).status_code == 400
    assert grades(path) == before


def test_an_edited_source_makes_its_judgments_stale_until_they_are_confirmed(client, path):
    before = client.get("/evaluate/measures").text
    answer = send(
        client, "/evaluate/source/edit?id=repair.md", "/evaluate/source/edit", {"text": "车修好了没去拿。"}
    )
    assert answer.headers["location"] == "/evaluate/source?id=repair.md"
    page = client.get("/evaluate?q=q1").text
    assert "待复核" in page
    assert "待复核的判断" in client.get("/evaluate/measures").text
    assert client.get("/evaluate/measures").text != before
    assert judge(client, "q1", "repair.md", "confirm").status_code == 303
    experiment = stands(path)
    (judgment,) = [j for j in experiment.judgments if (j.question_id, j.source_id) == ("q1", "repair.md")]
    assert (experiment.state(judgment), judgment.grade) == ("current", 3)


def test_measures_and_means_are_those_of_the_expected_file(client):
    text = client.get("/evaluate/measures").text
    means = re.search(r'<tr class="mean">.*?</tr>', text, re.S)[0]
    assert re.findall(r"\d\.\d{6}", means)[:3] == ["0.883333", "1.000000", "0.864730"]
    change = {"method": "tfidf_log", "window": "100", "overlap": "20", "k": "2"}
    assert send(client, "/evaluate/measures", "/evaluate/measures", change).status_code == 303
    text = client.get("/evaluate/measures").text
    means = re.search(r'<tr class="mean">.*?</tr>', text, re.S)[0]
    assert re.findall(r"\d\.\d{6}", means)[:3] == ["0.833333", "1.000000", "0.938419"]


BAD_PARAMETERS = [
    ({"window": "100", "k": "0"}, "k=0"), ({"k1": "nan", "k": "5"}, "k1"), ({"b": "1.5", "k": "5"}, "b=1.5"),
    ({"overlap": "200", "k": "5"}, "overlap=200"), ({"analyzer": "zzz", "k": "5"}, "analyzer"),
    ({"method": "zzz", "k": "5"}, "method"), ({"budget": "", "k": "5"}, "budget"), ({"k": "9" * 5000}, "k="),
    ({"k": "=1+1"}, "k="),
]  # fmt: skip


@pytest.mark.parametrize(("change", "word"), BAD_PARAMETERS, ids=range(len(BAD_PARAMETERS)))
def test_one_bad_parameter_changes_none_keeps_what_was_typed_and_the_old_results(client, path, change, word):
    before, page = stands(path), client.get("/evaluate/measures").text
    answer = send(client, "/evaluate/measures", "/evaluate/measures", change)
    assert answer.status_code == 400
    code, message = error_of(answer)
    assert (code, word in message) == ("bad_input", True)
    fields = form_of(answer.text, "/evaluate/measures", window=change.get("window", "200"))["fields"]
    assert {name: fields[name] for name in change} == change
    figures = r"<table class=\"figures stack\">.*?</table>"
    assert re.search(figures, answer.text, re.S)[0] == re.search(figures, page, re.S)[0]
    assert stands(path) == before


def test_a_new_method_brings_its_analyzer_unless_one_is_typed(client, path):
    assert (
        send(client, "/evaluate/measures", "/evaluate/measures", {"method": "tfidf_course"}).status_code
        == 303
    )
    assert stands(path).parameters.analyzer == "char_ngrams(2,3)"


def test_an_undefined_measure_is_named_and_out_of_the_mean(client):
    client.post("/evaluate/questions", data={"questions": "扳手在哪里\n"})
    text = client.get("/evaluate/measures").text
    assert "未定义、不进入均值的问题 1 个" in text
    assert re.search("<li>未定义、不进入均值的问题 1 个（.*?）：Q001</li>", text)
    assert "0.883333" in re.search(r'<tr class="mean">.*?</tr>', text, re.S)[0]


def test_new_questions_are_one_a_line_and_the_first_is_shown(client, path):
    answer = client.post("/evaluate/questions", data={"questions": "  甲？\r\n\r\n乙？ \r\n"})
    assert answer.headers["location"] == "/evaluate?q=Q001"
    assert [q.text for q in stands(path).questions if q.question_id.startswith("Q")] == ["甲？", "乙？"]
    answer = client.post("/evaluate/questions", data={"questions": " \r\n "})
    assert (answer.status_code, error_of(answer)[0]) == (400, "bad_input")


def test_a_question_is_edited_and_removed_and_undo_brings_it_back(client, path):
    before = stands(path)
    page, action = "/evaluate/question?id=q1", "/evaluate/question"
    assert send(client, page, action, {"text": "改了"}).headers["location"] == "/evaluate?q=q1"
    assert stands(path).questions[0].text == "改了"
    assert send(client, page, "/evaluate/question/remove").status_code == 303
    assert client.get("/evaluate?q=q1").status_code == 404
    for _ in range(2):
        assert send(client, "/evaluate/history", "/evaluate/undo").headers["location"] == "/evaluate/history"
    assert stands(path) == before
    assert send(client, "/evaluate/history", "/evaluate/redo").status_code == 303
    assert stands(path).questions[0].text == "改了"


def test_nothing_left_to_undo_is_said_on_the_history_page(client):
    send(client, "/evaluate/history", "/evaluate/undo")  # the demo's import
    answer = send(client, "/evaluate/history", "/evaluate/undo")
    assert (answer.status_code, error_of(answer)[0]) == (409, "contradiction")
    assert "没有可以撤销的改动" in answer.text
    assert "改动表" in answer.text


FILES = [
    ("files", ("甲.txt", "怎么预约讲解？".encode("gb18030") * 20)),
    ("files", ("乙.md", "# 标题\n\n周一闭馆".encode())),
    (
        "files",
        ("丙.json", '[{"title": "丙", "text": "退款七天"}, {"title": "丁", "text": "运费自理"}]'.encode()),
    ),
    ("files", ("戊.csv", '标题,正文\r\n戊,"一,二\r\n三"\r\n'.encode("utf-16"))),
]


def test_files_are_imported_as_one_change_and_their_encodings_are_told(empty, tmp_path):
    answer = send(empty, "/evaluate/sources", "/evaluate/import", files=FILES)
    assert answer.status_code == 303
    text = empty.get(answer.headers["location"]).text
    assert "已导入 5 篇：S001 至 S005" in text
    assert re.search(r"甲\.txt</bdi> 按 <strong>GB18030</strong>", text)
    assert re.search(r"戊\.csv</bdi> 按 <strong>UTF-16", text)
    sources = stands(tmp_path / "empty.db").sources
    assert [source.title for source in sources] == ["甲.txt", "标题", "丙", "丁", "戊"]
    assert sources[4].text == "一,二\r\n三"
    send(empty, "/evaluate/history", "/evaluate/undo")
    assert stands(tmp_path / "empty.db").sources == ()


def reported(answer, client):
    """The notice of an import, as text."""
    assert answer.status_code == 303
    text = client.get(answer.headers["location"]).text
    notice = re.search('<div class="notice [a-z]+" role="status">.*?</div>', text, re.S)
    return " ".join(re.sub("<[^>]+>", "", notice[0]).split())


def test_files_that_are_there_already_are_left_out_counted_and_named_as_on_the_command_line(
    empty, tmp_path, capsys
):
    path, page, action = tmp_path / "empty.db", "/evaluate/sources", "/evaluate/import"
    send(empty, page, action, files=FILES)
    before = stands(path)
    folder = tmp_path / "又一次"
    folder.mkdir()
    for _, (name, data) in FILES:
        (folder / name).write_bytes(data)
    assert main(["experiment", "import", str(folder), "--db", str(path)]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "没有再导入" in line]
    in_order = sorted(FILES, key=lambda file: file[1][0])  # as a folder is read
    said = reported(send(empty, page, action, files=in_order), empty)
    assert said.startswith("没有新资料。")
    assert re.search("正文已经.*?。", said)[0] + "要照样导入，加上 --again。" == line
    assert "丙.json#1 即 S003" in line
    assert stands(path) == before
    said = reported(send(empty, page, action, files=[*FILES, ("files", ("己.txt", b"new"))]), empty)
    assert said.startswith("已导入 1 篇：S006。") and "没有再导入的 5 篇" in said
    assert len(stands(path).sources) == 6


def test_files_that_are_there_already_are_imported_where_the_box_is_ticked(empty, tmp_path):
    page, action = "/evaluate/sources", "/evaluate/import"
    send(empty, page, action, files=FILES)
    said = reported(send(empty, page, action, {"again": "1"}, files=FILES), empty)
    assert said.startswith("已导入 5 篇：S006 至 S010。") and "没有再导入" not in said
    assert len(stands(tmp_path / "empty.db").sources) == 10


def test_a_pasted_text_that_is_there_already_is_not_added_unless_asked(empty, tmp_path):
    page, action, pasted = "/evaluate/sources", "/evaluate/paste", {"title": "题", "text": "周一闭馆"}
    send(empty, page, action, pasted)
    said = reported(send(empty, page, action, {**pasted, "title": "别的题"}), empty)
    assert said.startswith("没有新资料。 正文已经在实验里、没有再导入的 1 篇：粘贴的文字 即 S001。")
    assert len(stands(tmp_path / "empty.db").sources) == 1
    answer = send(empty, page, action, {**pasted, "again": "1"})
    assert answer.headers["location"] == "/evaluate/source?id=S002"
    assert len(stands(tmp_path / "empty.db").sources) == 2
    refused = send(empty, page, action, {**pasted, "text": " ", "again": "1"})
    assert refused.status_code == 400
    assert form_of(refused.text, action)["fields"]["again"] == "1"  # what was ticked stays


def test_a_long_text_is_stored_whole_as_pasted_and_as_changed(empty, tmp_path):
    pasted = "字" * 117_000  # escaped, more than 1 MiB
    answer = send(empty, "/evaluate/sources", "/evaluate/paste", {"title": "长", "text": pasted})
    assert answer.status_code == 303
    assert [source.text for source in stands(tmp_path / "empty.db").sources] == [pasted]
    changed, page = pasted + "改", "/evaluate/source/edit?id=S001"
    assert send(empty, page, "/evaluate/source/edit", {"text": changed}).status_code == 303
    assert [source.text for source in stands(tmp_path / "empty.db").sources] == [changed]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([("files", ("a.exe", b"x"))], ["a.exe", ".txt"]),
        ([("files", ("a.txt", b"x")), ("files", ("b.txt", b"\xff\xff\x81"))], ["b.txt"]),
        ([("files", ("a.txt", b"x")), ("files", ("a.txt", b"y"))], ["a.txt", "重复"]),
        ([("files", ("a.json", b'{"a": NaN}'))], ["a.json"]),
        ([("files", ("a.csv", b"x,y\r\n1,2\r\n"))], ["a.csv"]),
        ([], ["没有选择文件"]),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_imports_nothing(empty, tmp_path, files, words):
    answer = send(empty, "/evaluate/sources", "/evaluate/import", files=files or None)
    assert answer.status_code == 400
    assert all(word in error_of(answer)[1] for word in words)
    assert stands(tmp_path / "empty.db").sources == ()


def test_a_name_with_a_path_is_only_a_name(empty, tmp_path):
    files = [("files", ("../../etc/甲.txt", b"x")), ("files", ("C:\\temp\\b.txt", b"y"))]
    send(empty, "/evaluate/sources", "/evaluate/import", files=files)
    assert [source.title for source in stands(tmp_path / "empty.db").sources] == ["甲.txt", "b.txt"]


def test_an_encoding_that_is_named_is_used(empty, tmp_path):
    files = [("files", ("a.txt", "繁體中文".encode("cp950")))]
    assert (
        send(empty, "/evaluate/sources", "/evaluate/import", {"encoding": "big5"}, files=files).status_code
        == 303
    )
    assert stands(tmp_path / "empty.db").sources[0].text == "繁體中文"


def test_a_pasted_source_keeps_its_text_and_an_empty_one_is_refused_with_what_was_typed(empty, tmp_path):
    text = "\n第一行\r\n  👨\u200d👩\u200d👧 e\u0301\t。"
    answer = send(empty, "/evaluate/sources", "/evaluate/paste", {"title": " 题 ", "text": text})
    assert answer.headers["location"] == "/evaluate/source?id=S001"
    (source,) = stands(tmp_path / "empty.db").sources
    assert (source.title, source.text) == ("题", text.replace("\r\n", "\n"))
    answer = send(empty, "/evaluate/sources", "/evaluate/paste", {"title": "留着", "text": " \r\n"})
    assert answer.status_code == 400
    assert form_of(answer.text, "/evaluate/paste")["fields"]["title"] == "留着"


def test_a_source_without_a_title_is_named_by_how_it_begins(empty, tmp_path):
    send(empty, "/evaluate/sources", "/evaluate/paste", {"text": "周一\n闭馆" + "长" * 50})
    assert stands(tmp_path / "empty.db").sources[0].title == ("周一 闭馆" + "长" * 50)[:30]


def test_what_nobody_changed_stays_as_it_was_line_ends_and_all(empty, tmp_path):
    data = "第一行\r\n第二行\r末行".encode()
    send(empty, "/evaluate/sources", "/evaluate/import", files=[("files", ("a.txt", data))])
    page, action = "/evaluate/source/edit?id=S001", "/evaluate/source/edit"
    shown = form_of(empty.get(page).text, action)["fields"]["text"]
    assert (
        send(
            empty, page, action, {"title": "新题", "text": shown.replace("\r\n", "\n").replace("\r", "\n")}
        ).status_code
        == 303
    )
    (source,) = stands(tmp_path / "empty.db").sources
    assert (source.title, source.text) == ("新题", data.decode())


def test_an_edit_that_sends_no_text_is_refused_and_takes_none_away(client, path):
    page, action = "/evaluate/source/edit?id=repair.md", "/evaluate/source/edit"
    before = stands(path).sources
    fields = form_of(client.get(page).text, action)["fields"]
    del fields["text"]
    answer = client.post(action, data={**fields, "title": "新题"})
    assert (answer.status_code, error_of(answer)[1]) == (400, "缺少 text：请从页面里重新操作。")
    assert stands(path).sources == before


FORM_PAGES = (
    "/evaluate/questions", "/evaluate/question?id=q1", "/evaluate/source/edit?id=repair.md",
    "/evaluate/measures", "/evaluate/baselines", "/evaluate/prompt?q=q1",
)  # fmt: skip


@pytest.mark.parametrize("page", FORM_PAGES)
def test_head_answers_as_get_does_and_writes_nothing(client, path, page):
    before = stands(path)
    text = client.get(page).text
    sent = {name: value for form in forms_of(text) for name, value in form["fields"].items()}
    answer = client.request("HEAD", page, data={**sent, "questions": "新问", "text": "新文", "title": "新题"})
    assert (answer.status_code, answer.text) == (200, "")
    assert stands(path) == before


def test_dates_status_and_succession_are_set_and_asked_for_by_a_day(client, path):
    page, action = "/evaluate/source/edit?id=repair.md", "/evaluate/source/edit"
    change = {"effective_from": "2026-01-01", "effective_until": "2026-06-30"}
    assert send(client, page, action, change).status_code == 303
    in_force = client.get("/evaluate?q=q1&day=2026-06-30").text
    later = client.get("/evaluate?q=q1&day=2026-07-01").text
    assert "已过有效期" not in in_force
    assert "已过有效期" in later
    assert 'name="day" value="2026-07-01"' in later
    assert "<bdi>repair.md</bdi>（已过有效期）" in client.get("/evaluate/measures?day=2026-07-01").text
    bad = send(client, page, action, {"effective_from": "2027-01-01", "effective_until": "2026-01-01"})
    assert (bad.status_code, error_of(bad)[0]) == (400, "bad_input")
    assert form_of(bad.text, action)["fields"]["effective_from"] == "2027-01-01"
    bad = send(client, page, action, {"supersedes": "没有的"})
    assert "没有的" in error_of(bad)[1]
    assert send(client, page, action, {"status": "expired"}).status_code == 303
    assert "已停用" in client.get("/evaluate/sources").text


def states(client, day):
    """Source id -> the word for its state on a day, and the colour of that word, as the list has them."""
    text = client.get(f"/evaluate/sources?day={day}").text
    rows = re.findall(
        '<tr>\n<th scope="row"><a [^>]+>(.*?)</a>.*?<span class="tag ([a-z]+)">(.*?)</span>', text, re.S
    )
    return {source: (word, colour) for source, colour, word in rows}


def test_the_list_of_sources_says_what_is_in_force_on_the_day_and_only_that_is_green(client):
    page, action = "/evaluate/source/edit?id={}", "/evaluate/source/edit"
    send(client, page.format("repair.md"), action, {"effective_until": "2026-06-30"})
    send(
        client, page.format("loaner.md"), action, {"effective_from": "2026-03-01", "supersedes": "parts.txt"}
    )
    assert states(client, "2026-07-01")["repair.md"] == ("已过有效期", "off")
    assert states(client, "2026-06-30")["repair.md"] == ("在用", "on")
    assert states(client, "2026-07-01")["parts.txt"] == ("已被取代", "off")
    assert states(client, "2026-02-28")["parts.txt"] == ("在用", "on")
    assert states(client, "2026-02-28")["loaner.md"] == ("尚未生效", "off")
    assert ">已过有效期</span>" in client.get("/evaluate/source?id=repair.md&day=2026-07-01").text
    assert client.get("/evaluate/sources?day=x").status_code == 400


def test_what_the_measures_leave_out_is_said_as_in_the_tables(client, path):
    page, action = "/evaluate/source/edit?id={}", "/evaluate/source/edit"
    client.post("/evaluate/questions", data={"questions": "囍囍囍"})
    send(client, page.format("repair.md"), action, {"text": "改过的正文，车修好了。"})
    send(client, page.format("loaner.md"), action, {"status": "expired"})
    text = html.unescape(client.get("/evaluate/measures").text)
    said = list(omissions(run(stands(path), today())))
    assert len(said) >= 5
    assert re.findall("<li>(.*?)</li>", text.partition("指标没有算进去的")[2].partition("</ul>")[0]) == said
    assert any("Q001" in note and "没有命中" in note for note in said)


def test_a_title_of_several_lines_is_left_alone_where_only_a_date_is_changed(tmp_path):
    title = "上\n下"
    held = Experiment("x", (ExperimentSource("s1", title, "正文"),), (Question("q1", "问"),))
    ExperimentStore.create(tmp_path / "x.db", "x", holding=held).close()
    client, page = client_on(tmp_path / "x.db"), "/evaluate/source/edit?id=s1"
    for number, shown in enumerate((title, "上下"), 1):  # as the page has it, and as a browser's field does
        change = {"title": shown, "effective_until": f"2027-01-0{number}"}
        assert send(client, page, "/evaluate/source/edit", change).status_code == 303
        (source,) = stands(tmp_path / "x.db").sources
        assert (source.title, str(source.validity.effective_until)) == (title, f"2027-01-0{number}")
    send(client, page, "/evaluate/source/edit", {"title": "新\n题"})
    assert stands(tmp_path / "x.db").sources[0].title == "新 题"


def test_the_notice_of_an_import_does_not_outlive_it(empty):
    link = send(empty, "/evaluate/sources", "/evaluate/import", files=FILES).headers["location"]
    assert "不在实验里" not in empty.get(link).text
    send(empty, "/evaluate/source/edit?id=S002", "/evaluate/source/remove")
    assert "其中 1 篇已经撤销或删除" in empty.get(link).text
    for _ in range(2):
        send(empty, "/evaluate/history", "/evaluate/undo")
    assert "其中 5 篇已经撤销或删除" in empty.get(link).text


def test_a_removed_source_is_gone_with_its_judgments(client, path):
    assert send(client, "/evaluate/source/edit?id=repair.md", "/evaluate/source/remove").status_code == 303
    assert client.get("/evaluate/source?id=repair.md").status_code == 404
    assert not any(source == "repair.md" for _, source in grades(path))


def place_link(client, source):
    """The address that the first question's page gives for the place of a source's excerpt."""
    text = client.get("/evaluate?q=q1").text
    return html.unescape(
        re.search(rf'href="(/evaluate/source\?id={source}&amp;receipt=[^"#]+)#quote"', text)[1]
    )


def test_the_place_of_an_excerpt_follows_its_words_and_is_marked_nowhere_else(client, path):
    hit = run(stands(path), today()).results[0].documents[0].best
    link = place_link(client, hit.source_id)
    source = next(source for source in stands(path).sources if source.source_id == hit.source_id)
    page, action = f"/evaluate/source/edit?id={hit.source_id}", "/evaluate/source/edit"

    def opened():
        text = client.get(link).text
        marked = re.search('<mark id="quote">(.*?)</mark>', text, re.S)
        status = re.search('data-status="([a-z_]+)"', text)
        return status and status[1], marked and marked[1], text

    assert opened()[:2] == ("exact", hit.quote)
    send(client, page, action, {"text": "另一个标签页加的前言。" + source.text})
    status, marked, text = opened()
    assert (status, marked) == ("moved", hit.quote)
    assert "已迁移" in text
    send(client, page, action, {"text": "完全不同的正文。"})
    status, marked, text = opened()
    assert (status, marked) == ("stale", None)
    assert "没有精确位置" in text


@pytest.mark.parametrize("receipt", ["", "x", "%00", "e30", "9" * 5000, "=", "é"])
def test_a_receipt_that_is_none_or_of_another_source_marks_nothing(client, receipt):
    other = place_link(client, "repair.md").partition("receipt=")[2]
    for token in (receipt, other):
        answer = client.get(f"/evaluate/source?id=parts.txt&receipt={token}")
        assert (answer.status_code, "<mark" in answer.text, error_of(answer)[0]) == (400, False, "bad_input")
        assert "没有精确位置" in answer.text
    assert "<mark" not in client.get("/evaluate/source?id=parts.txt&start=3&end=9").text


def test_a_baseline_is_frozen_once_and_compared_with_at_an_address(client, path):
    assert send(client, "/evaluate/baselines", "/evaluate/baselines", {"name": "起点"}).status_code == 303
    (baseline,) = stands(path).baselines
    assert round(baseline.means["nDCG@3"], 6) == 0.86473
    again = send(client, "/evaluate/baselines", "/evaluate/baselines", {"name": "起点"})
    assert (again.status_code, "已经存在" in error_of(again)[1]) == (400, True)
    address = "/evaluate/compare?baseline=%E8%B5%B7%E7%82%B9"
    assert f'href="{address}"' in client.get("/evaluate/baselines").text
    assert "条件全部相同" in client.get(address).text
    send(client, "/evaluate/measures", "/evaluate/measures", {"window": "100", "overlap": "20"})
    text = client.get(address).text
    assert "若有差异，只能来自参数" in text
    assert "不足 10 题不给区间" in text
    assert "-0.000000" not in text
    judge(client, "q1", "repair.md", "0")
    text = client.get(address).text
    assert "不能说差异来自参数" in text
    assert "判断、参数" in text
    assert client.get("/evaluate/compare?baseline=x").status_code == 404
    empty_name = send(client, "/evaluate/baselines", "/evaluate/baselines", {"name": " "})
    assert (empty_name.status_code, error_of(empty_name)[0]) == (400, "bad_input")


def test_the_prompt_keeps_its_budget_and_a_small_one_says_what_is_needed(client, path):
    page, action = "/evaluate/prompt?q=q1", "/evaluate/prompt"
    whole = client.get("/evaluate/export/prompt.txt?q=q1")
    assert whole.headers["content-disposition"] == 'attachment; filename="prompt.txt"'
    assert f'<strong class="number">{len(whole.text)}</strong>' in client.get(page).text
    assert send(client, page, action, {"budget": "700"}).status_code == 303
    assert len(client.get("/evaluate/export/prompt.txt?q=q1").text) <= 700
    assert send(client, page, action, {"budget": "10"}).status_code == 303
    refused = client.get(page)
    assert refused.status_code == 400
    needed = int(re.search(r"至少需要 (\d+) 个字符", error_of(refused)[1])[1])
    send(client, page, action, {"budget": str(needed)})
    assert len(client.get("/evaluate/export/prompt.txt?q=q1").text) == needed
    bad = send(client, page, action, {"budget": "x"})
    assert (bad.status_code, form_of(bad.text, action)["fields"]["budget"]) == (400, "x")


def test_each_export_is_the_library_s_and_an_attachment(client, path):
    experiment = stands(path)
    answer = client.get("/evaluate/export/experiment.json")
    assert answer.content.decode() == experiment_to_json(experiment)
    rows = list(
        csv.reader(io.StringIO(client.get("/evaluate/export/measures.csv").content.decode("utf-8-sig")))
    )
    assert [row[0] for row in rows].count("问题") == 5
    found = run(experiment, today())
    rows = list(csv.reader(io.StringIO(client.get("/evaluate/export/hits.csv").content.decode("utf-8-sig"))))
    assert len(rows) == 1 + sum(len(result.passages) for result in found.results)
    assert client.get("/evaluate/export/figure.png").content.startswith(b"\x89PNG")
    assert b"<svg" in client.get("/evaluate/export/figure.svg").content
    assert "hash" not in client.get("/evaluate/export/report.html").headers
    assert len(client.get("/evaluate/export/qrels.txt").text.splitlines()) == len(experiment.judgments)
    run_lines = client.get("/evaluate/export/run.txt").text.splitlines()
    assert len(run_lines) == sum(len(result.documents) for result in found.results)
    links = re.findall(r'href="(/evaluate/export/[^"]+)"', client.get("/evaluate/exports").text)
    assert len(links) == 8
    for link in links:
        answer = client.get(link)
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith("attachment; ")
    assert client.get("/evaluate/export/nope").status_code == 404


def test_an_experiment_is_restored_whole_or_not_at_all(client, empty, path, tmp_path):
    data = client.get("/evaluate/export/experiment.json").content
    bad = json.loads(data)
    bad["judgments"][3]["grade"] = 4
    for broken, words in [
        (json.dumps(bad).encode(), "judgments[3].grade"),
        (b"{", "实验.json"),
        (b"", "实验.json"),
    ]:
        files = {"file": ("实验.json", broken)}
        answer = send(empty, "/evaluate/exports", "/evaluate/restore", files=files)
        assert answer.status_code == 400
        assert words in error_of(answer)[1]
        assert stands(tmp_path / "empty.db").sources == ()
    answer = send(empty, "/evaluate/exports", "/evaluate/restore", files={"file": ("实验.json", data)})
    assert answer.headers["location"] == "/evaluate"
    assert stands(tmp_path / "empty.db") == stands(path) == experiment_from_json(data, "x")
    assert empty.get("/evaluate/export/experiment.json").content == data
    answer = send(empty, "/evaluate/exports", "/evaluate/restore")
    assert "没有选择文件" in error_of(answer)[1]


def test_an_empty_experiment_says_how_to_begin_on_every_page(empty):
    assert "还没有问题" in empty.get("/evaluate").text
    for path in ("measures", "sources", "questions", "baselines", "exports", "history"):
        assert empty.get(f"/evaluate/{path}").status_code == 200, path
    empty.post("/evaluate/questions", data={"questions": "问"})
    assert "当天没有在用的资料" in empty.get("/evaluate").text
    for name in (
        "measures.csv",
        "hits.csv",
        "figure.png",
        "report.html",
        "experiment.json",
        "qrels.txt",
        "run.txt",
    ):
        assert empty.get(f"/evaluate/export/{name}").status_code == 200, name


def test_a_long_list_is_paged_and_a_page_beyond_the_last_is_the_last(empty):
    records = [{"title": f"题{n}", "text": f"共同的词 {n}"} for n in range(120)]
    files = [("files", ("a.json", json.dumps(records).encode()))]
    send(empty, "/evaluate/sources", "/evaluate/import", files=files)
    empty.post("/evaluate/questions", data={"questions": "\n".join(["共同的词"] * 130)})
    first, last = empty.get("/evaluate?q=Q001").text, empty.get("/evaluate?q=Q001&page=999").text
    assert "第 1 页，共 12 页" in first
    assert "第 12 页，共 12 页" in last
    ranks = [re.findall(r'class="rank">(\d+)<', page) for page in (first, last)]
    assert ranks == [[str(n) for n in range(1, 11)], [str(n) for n in range(111, 121)]]
    for page, count in (("sources", 50), ("questions", 100), ("measures", 50)):
        text = empty.get(f"/evaluate/{page}").text
        assert text.count('<th scope="row">') - (page == "measures") == count
        assert "第 1 页，共" in text
    for bad in ("-1", "x", "1e3", "9" * 40):
        assert empty.get(f"/evaluate?q=Q001&page={bad}").status_code == 400


def test_a_judgment_on_a_later_page_comes_back_to_that_page(empty):
    records = [{"title": f"题{n}", "text": f"共同的词 {n}"} for n in range(25)]
    send(
        empty,
        "/evaluate/sources",
        "/evaluate/import",
        files=[("files", ("a.json", json.dumps(records).encode()))],
    )
    empty.post("/evaluate/questions", data={"questions": "共同的词"})
    form = form_of(empty.get("/evaluate?q=Q001&page=2").text, "/evaluate/judge", row="13")
    answer = empty.post("/evaluate/judge", data={**form["fields"], "grade": "1"})
    assert answer.headers["location"] == "/evaluate?q=Q001&page=2#row-14"


def test_the_demo_opens_at_once_and_says_that_it_is_not_kept(client):
    from experiments import COURSE
    from starlette.testclient import TestClient
    from workbench import BASE

    from evidence_kit.web.app import create_app
    from evidence_kit.web.settings import Settings

    app = create_app(Settings(), COURSE)
    demo = TestClient(app, base_url=BASE)
    assert "改动不会保存" in demo.get("/evaluate").text
    assert "改动不会保存" not in client.get("/evaluate").text
    file = app.state.desk.store._database.path
    assert file.exists()
    app.state.desk.close()
    assert not file.exists()


def test_judging_does_not_search_again_and_undoing_a_parameter_finds_the_old_search(client, monkeypatch):
    import evidence_kit.web.desk as desk

    searched = []
    real = desk.search
    monkeypatch.setattr(desk, "search", lambda *args, **named: searched.append(1) or real(*args, **named))
    client.get("/evaluate")
    assert len(searched) == 1
    judge(client, "q1", "repair.md", "1")
    client.get("/evaluate/measures")
    assert len(searched) == 1
    send(client, "/evaluate/measures", "/evaluate/measures", {"k": "5"})
    client.get("/evaluate/measures")
    assert len(searched) == 1
    send(client, "/evaluate/measures", "/evaluate/measures", {"window": "50", "overlap": "0"})
    client.get("/evaluate/measures")
    assert len(searched) == 2
    send(client, "/evaluate/history", "/evaluate/undo")
    client.get("/evaluate/measures")
    assert len(searched) == 2
