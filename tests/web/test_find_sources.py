"""Find in sources that nobody touched: what is searched and bundled is what is stored, line ends and all."""

import re
from html.parser import HTMLParser

import pytest
from experiments import client_on, empty_file

from evidence_kit.anchors.bundle import parse_bundle
from evidence_kit.anchors.bundle_check import verify_bundle
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.sources.model import text_digest
from evidence_kit.sources.readers import read_given_files

TEXTS = {
    "crlf.txt": "第一行说明。\r\n第二行说明。\r\n急救箱在二楼😀走廊\r\n的尽头。\r\n",
    "cr.txt": "消防栓旧式换行。\r急救箱在旧换行里。",
    "lf.md": "# 题目\n\n正文讲急救箱\n",
    "bidi.txt": "急救箱 שלום\u202eאב\u202c\r\n\r\n组合 e\u0301",
}


@pytest.fixture
def client(tmp_path):
    path = empty_file(tmp_path / "x.db")
    store = ExperimentStore.open(path)
    files = [(name, text.encode()) for name, text in TEXTS.items()]
    store.import_documents(read_given_files(files, None).documents)
    store.close()
    return client_on(path)


class Browser(HTMLParser):
    """What a browser makes of a page: its marks, the text boxes around them, and the form's fields."""

    def __init__(self, text):
        super().__init__()
        self.marks, self.boxes, self.areas, self.inputs = [], [], [], {"id": [], "title": []}
        self._open = []
        # A parser turns every line end of the page itself into LF before anything else.
        self.feed(text.replace("\r\n", "\n").replace("\r", "\n"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "input" and attrs.get("name") in self.inputs:
            self.inputs[attrs["name"]].append(attrs["value"])
        into = {"mark": self.marks, "textarea": self.areas}.get(tag)
        if tag == "div":
            into = self.boxes if attrs.get("class", "").startswith("text") else None
        if tag in ("mark", "textarea", "div"):
            self._open.append((tag, into))
            if into is not None:
                into.append("")

    def handle_endtag(self, tag):
        if self._open and self._open[-1][0] == tag:
            self._open.pop()

    def handle_data(self, data):
        for _, into in self._open:
            if into is not None:
                into[-1] += data

    def form(self, **change):
        """The form as it is sent: a text field has LF, and sends CR LF; a field of one line has none."""
        fields = [re.sub("\r\n|\r", "\n", area.removeprefix("\n")) for area in self.areas]
        texts = [field.replace("\n", "\r\n") for field in fields]
        asked = {"q": "急救箱", "method": "bm25", "top": "9", "of": "experiment"}
        return {**asked, **self.inputs, "text": texts, **change}


def shown(answer):
    assert answer.status_code == 200
    return Browser(answer.text)


def spans(answer):
    found = re.findall(r'码点 <span class="number">\[(\d+), (\d+)\)', answer.text)
    return [tuple(map(int, span)) for span in found]


def test_each_mark_on_find_is_the_quote_at_its_place_in_the_stored_text(client):
    answer = client.get("/find?of=experiment&q=急救箱&top=9")
    page = shown(answer)
    placed = [box for box in page.boxes if box in TEXTS.values()]
    assert len(placed) == 4  # whole, to the character
    stored = "\0".join(TEXTS.values())
    cuts = {text[start:end] for text in TEXTS.values() for start, end in spans(answer)}
    assert len(page.marks) == 4
    for mark in page.marks:
        assert "急救箱" in mark
        assert mark in stored
        assert mark in cuts


def test_a_form_that_nobody_touched_is_the_shelf_itself(client):
    page = shown(client.get("/find?of=experiment&q=急救箱&top=9"))
    answer = client.post("/find", data=page.form())
    assert answer.status_code == 303
    assert answer.headers["location"].endswith("top=9&of=experiment")


def test_the_bundle_of_a_form_that_nobody_touched_is_of_what_the_page_shows(client):
    answer = client.get("/find?of=experiment&q=急救箱&top=9")
    bundle = parse_bundle(client.post("/find/bundle", data=shown(answer).form()).content, "引用包")
    assert [source.sha256 for source in bundle.sources] == list(map(text_digest, TEXTS.values()))
    places = re.findall(r'UTF-16 <span class="number">\[(\d+), (\d+)\)', answer.text)
    assert places == [(str(cited.start), str(cited.end)) for cited in bundle.citations]
    report = verify_bundle(bundle)
    assert (report.exact, report.failures) == (4, ())


def test_one_edit_leaves_the_other_sources_as_they_are_stored_and_tells_of_its_own_line_ends(client):
    form = shown(client.get("/find?of=experiment")).form()
    first = next(at for at, text in enumerate(form["text"]) if text.startswith("第一行"))
    form["text"][first] = "新的一行。\r\n" + form["text"][first]
    answer = client.post("/find", data=form)
    page = shown(answer)
    assert "换行都是 LF" in answer.text
    assert answer.text.count("换行都是 LF") == 1
    texts = {*TEXTS.values(), "新的一行。\n" + TEXTS["crlf.txt"].replace("\r\n", "\n")} - {TEXTS["crlf.txt"]}
    assert {box for box in page.boxes if box in texts} == texts
    bundle = parse_bundle(client.post("/find/bundle", data=page.form()).content, "引用包")
    assert {source.text for source in bundle.sources} == texts


def test_an_edit_that_is_taken_back_is_the_stored_source_again(client):
    form = shown(client.get("/find?of=experiment")).form()
    changed = {**form, "text": [text + "。" if text else "" for text in form["text"]]}
    page = shown(client.post("/find", data=changed))
    assert client.post("/find", data=page.form(text=form["text"])).status_code == 303


def test_an_edit_of_a_source_with_lf_alone_tells_nothing_of_line_ends(client):
    form = shown(client.get("/find?of=experiment")).form()
    at = next(at for at, text in enumerate(form["text"]) if "题目" in text)
    form["text"][at] += "又一句。"
    assert "换行都是 LF" not in client.post("/find", data=form).text
