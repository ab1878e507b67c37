"""`evidence find` as it is called: text, JSON, bundles, exit codes, one line for every error."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from evidence_kit.commands import main

ROOT = Path(__file__).parents[3]
TEXT = "# 标题😀\n\n第一段讲退款，七天内受理。\n第二段讲运费。\n"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d").mkdir()
    Path("d/a.md").write_bytes(TEXT.encode())
    Path("d/b.txt").write_bytes(b"Refunds take seven days.")

    def call(*args):
        code = main([str(arg) for arg in args])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def refused(run, *args):
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert err.startswith("错误：") and err.count("\n") == 1
    return err


def test_text_shows_rank_score_source_place_quote_and_reason(run):
    code, out, err = run("find", "退款要几天", "d", "--top", 1)
    assert (code, err) == (0, "")
    assert "2 份资料的 3 个资料块（方法 bm25）" in out
    assert "1. 分数 " in out and "  a.md\n" in out
    assert "标题  标题😀\n" in out
    # Before the quote stand "# 标题😀", two line ends: 7 code points, 8 UTF-16 units, 14 bytes.
    assert "位置  codepoint [7, 20)  utf16 [8, 21)  utf8 [14, 53)\n" in out
    assert "原文  第一段讲⟦退款⟧，七⟦天⟧内受理。\n" in out
    assert "依据  退 25.0%、退款 25.0%、款 25.0%、天 25.0%\n" in out
    assert "它不是可信度" in out and "不生成回答，也不判断原文是否支持任何说法" in out


def test_json_holds_the_same_and_positions_in_the_unit_asked_for(run):
    code, out, _ = run("find", "退款", "d", "--json", "--unit", "utf16CodeUnit")
    record = json.loads(out)
    (hit,) = record["hits"]
    assert code == 0
    assert (record["method"], record["analyzer"]) == ("bm25", "words_han")
    assert record["corpus"] == {"sources": 2, "passages": 3, "left_out": {}}
    assert (hit["rank"], hit["source_id"], hit["title"], hit["weak"]) == (1, "a.md", "标题😀", False)
    assert (hit["unit"], hit["start"], hit["end"]) == ("utf16", 8, 21)
    assert hit["spans"]["utf8"] == {"start": 14, "end": 53}
    assert TEXT[hit["spans"]["codepoint"]["start"] : hit["spans"]["codepoint"]["end"]] == hit["quote"]
    assert hit["score"] == round(hit["score"], 6) > 0
    assert {term["term"]: term["spans"] for term in hit["terms"]} == {
        "退": [{"start": 4, "end": 5}],
        "退款": [{"start": 4, "end": 6}],
        "款": [{"start": 5, "end": 6}],
    }


def test_nothing_found_is_a_result(run):
    code, out, err = run("find", "火箭", "d")
    assert (code, err) == (0, "")
    assert "没有命中" in out
    assert json.loads(run("find", "火箭", "d", "--json")[1])["hits"] == []


def test_weak_finding_is_marked_and_left_out_on_request(run):
    _, out, _ = run("find", "今天火星咖啡价格", "d")
    assert "弱命中：只靠单字" in out
    code, out, _ = run("find", "今天火星咖啡价格", "d", "--no-weak")
    assert code == 0
    assert "没有别的命中" in out and "略过弱命中 1 处" in out
    record = json.loads(run("find", "今天火星咖啡价格", "d", "--no-weak", "--json")[1])
    assert (record["hits"], record["weak_left_out"]) == ([], 1)


def test_what_was_not_read_is_counted(run):
    Path("d/c.pdf").write_bytes(b"")
    chunk = {"chunk_id": "C1", "title": "t", "version": "1", "text": "x", "effective_status": "expired"}
    Path("d/corpus.json").write_text(json.dumps({"chunks": [chunk]}), encoding="utf-8")
    assert "没有读入：过期的资料块 1 个、其他类型的文件 1 个（d/c.pdf）。" in run("find", "退款", "d")[1]
    left_out = json.loads(run("find", "退款", "d", "--json")[1])["corpus"]["left_out"]
    assert left_out == {"expired": 1, "other_type": 1}


@pytest.mark.parametrize("unit", ["codepoint", "utf16", "utf8"])
def test_both_verifiers_accept_the_bundle(run, unit):
    code, _, err = run("find", "退款要几天 seven", "d", "--bundle", "out.json", "--unit", unit)
    assert (code, err) == (0, "")
    bundle = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert [source["id"] for source in bundle["sources"]] == ["a.md", "b.txt"]
    assert [citation["id"] for citation in bundle["citations"]] == ["hit-1", "hit-2"]
    code, out, _ = run("bundle", "verify", "out.json", "--json")
    counts = {"citations": 2, "exact": 2, "grapheme_split": 0, "undetermined": 0, "failures": []}
    assert (code, json.loads(out)) == (0, counts)
    node = shutil.which("node")
    assert node is not None
    script = ROOT / "verifiers/verify_bundle.mjs"
    verified = subprocess.run([node, script, "out.json"], capture_output=True, encoding="utf-8")
    assert verified.returncode == 0
    assert json.loads(verified.stdout)["failures"] == []
    assert json.loads(verified.stdout)["citations"] == 2


def test_bundle_is_never_written_over_another_file_nor_in_part(run):
    Path("there.json").write_bytes(b"mine")
    assert "已经存在" in refused(run, "find", "退款", "d", "--bundle", "there.json")
    assert Path("there.json").read_bytes() == b"mine"
    assert "是文件夹" in refused(run, "find", "退款", "d", "--bundle", "d")
    assert "不存在" in refused(run, "find", "退款", "d", "--bundle", "nowhere/out.json")
    Path("dangling.json").symlink_to("elsewhere.json")
    assert "已经存在" in refused(run, "find", "退款", "d", "--bundle", "dangling.json")
    assert sorted(path.name for path in Path().iterdir()) == ["d", "dangling.json", "there.json"]


@pytest.mark.parametrize("place", ["there.json", "d", "nowhere/out.json", "a" * 300, "d/a.md/out.json"])
def test_place_that_cannot_be_written_is_known_before_the_search(run, monkeypatch, place):
    def searched(*_args):
        raise AssertionError("searched in vain")

    Path("there.json").write_bytes(b"mine")
    monkeypatch.setattr("evidence_kit.sources.readers.read_sources", searched)
    refused(run, "find", "退款", "d", "--bundle", place)
    assert sorted(path.name for path in Path().iterdir()) == ["d", "there.json"]


def test_search_that_fails_leaves_no_bundle_behind(run):
    refused(run, "find", "退款", "nowhere", "--bundle", "out.json")
    assert [path.name for path in Path().iterdir()] == ["d"]


def test_file_that_appears_while_the_bundle_is_written_is_kept(run, monkeypatch):
    def meanwhile(_descriptor):
        Path("out.json").write_bytes(b"theirs")

    monkeypatch.setattr("os.fsync", meanwhile)
    assert "已经存在" in refused(run, "find", "退款", "d", "--bundle", "out.json")
    assert Path("out.json").read_bytes() == b"theirs"


def test_write_that_fails_leaves_nothing_behind(run, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert "磁盘空间不足" in refused(run, "find", "退款", "d", "--bundle", "out.json")
    assert [path.name for path in Path().iterdir()] == ["d"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["find", "退款", "d", "--top", "0"], "1 到 20"),
        (["find", "退款", "d", "--top", "21"], "1 到 20"),
        (["find", "退款", "d", "--top", "x"], "--top"),
        (["find", "退款", "d", "--method", "semantic"], "bm25、tfidf_log、tfidf_course"),
        (["find", "退款", "d", "--unit", "grapheme"], "codepoint、utf16、utf8"),
        (["find", "退款", "d", "--unit", "word"], "word"),
        (["find", " ", "d"], "空"),
        (["find", "退款"], "SOURCE"),
        (["find", "退款", "nowhere"], "nowhere"),
        (["find", "退款", "d", "d/a.md"], "重复"),
    ],
)
def test_input_that_cannot_be_used_is_one_line_and_exit_code_2(run, args, said):
    assert said in refused(run, *args)


def test_empty_corpus_is_refused(run):
    Path("empty.txt").write_bytes(b"\r\n\n")
    assert "没有可检索的正文" in refused(run, "find", "退款", "empty.txt")


HOSTILE = "\x1b]0;x\x07\x9b31m\u202e甲\0⟦\u2028\uffff\U000e0041"


@pytest.fixture
def hostile_sources(run):
    name = HOSTILE.replace("\0", "")
    Path(f"d/{name}.md").write_bytes(f"# {HOSTILE}\n甲{HOSTILE}".encode())
    item = {"id": f"id{HOSTILE}", "title": HOSTILE, "text": f"甲{HOSTILE}"}
    Path("d/x.json").write_text(json.dumps([item]), encoding="utf-8")


def test_nothing_a_source_says_reaches_the_terminal_raw(run, hostile_sources):
    for args in ([f"甲{HOSTILE}", "d"], [f"甲{HOSTILE}", "d", "--json"]):
        code, out, err = run("find", *args)
        assert (code, err) == (0, "")
        assert set(out) & set(HOSTILE) == set("]0;x31m甲⟦")
        assert "\\u001b]0;x" in out
    quotes = [hit["quote"] for hit in json.loads(out)["hits"]]
    assert quotes == [f"甲{HOSTILE}"] * 2


def test_errors_do_not_show_what_a_source_says_raw(run, hostile_sources):
    Path("e").mkdir()
    shutil.copy("d/x.json", "e/y.json")
    err = refused(run, "find", "甲", "d", "e")
    assert not set(err) & set("\x1b\x07\x9b\u202e\0\u2028\uffff\U000e0041")
