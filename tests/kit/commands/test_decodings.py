"""What `evidence find` and `evidence index build` say about encodings, and which day they hold to."""

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from evidence_kit.commands import main

RULES = "会员凭会员卡每次最多借三件工具，借期为七天。"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d").mkdir()

    def call(*args):
        code = main([str(arg) for arg in args])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def test_file_that_is_not_utf8_is_named_with_a_preview_and_the_positions_are_of_its_text(run):
    Path("d/资料.txt").write_bytes(RULES.encode("gb18030"))
    for args in (["find", "工具", "d"], ["index", "build", "d", "--out", "ix"]):
        code, _, err = run(*args)
        assert code == 0
        assert err == "提示：d/资料.txt 按 GB18030 解读（“会员凭会员卡每次最多借三件工具，借期为七天。”）。\n"
    assert "⟦工具⟧" in run("find", "工具", "d")[1]
    assert "⟦工具⟧" in run("index", "search", "ix", "工具")[1]


def test_thin_evidence_comes_first_with_the_other_reading_and_the_way_out(run):
    Path("d/a.txt").write_bytes(RULES.encode("gb18030"))
    Path("d/b.txt").write_bytes(b"\xb9\xa4\xbe\xdf")
    _, _, err = run("find", "工具", "d")
    first, second = err.splitlines()
    assert first == (
        "提示：d/b.txt 按 GB18030 解读（“工具”），但依据不足，也可能是 Big5（“馱撿”）；"
        "不对时用 --encoding 指明。"
    )
    assert "d/a.txt" in second
    _, out, err = run("find", "馱", "d/b.txt", "--encoding", "big5")
    assert "⟦馱⟧撿" in out
    assert err == "提示：d/b.txt 按 Big5 解读（“馱撿”）。\n"


def test_files_beyond_the_first_few_are_counted(run):
    for n in range(12):
        Path(f"d/{n:02}.txt").write_bytes(RULES.encode("gb18030"))
    lines = run("find", "工具", "d")[2].splitlines()
    assert len(lines) == 9
    assert lines[-1] == "提示：另有 4 个文件不是 UTF-8。"


def test_json_holds_every_decoding_that_was_not_plain(run):
    Path("d/a.txt").write_bytes(RULES.encode())
    assert "decodings" not in json.loads(run("find", "工具", "d", "--json")[1])["corpus"]
    Path("d/b.txt").write_bytes(b"\xb9\xa4\xbe\xdf")
    assert json.loads(run("find", "工具", "d", "--json")[1])["corpus"]["decodings"] == [
        {
            "file": "d/b.txt",
            "encoding": "gb18030",
            "evidence": "thin",
            "preview": "工具",
            "runner_up": {"encoding": "big5", "preview": "馱撿"},
        }
    ]


def test_preview_and_file_name_reach_the_terminal_as_escapes_only(run):
    Path("d/\x1b\u202e.txt").write_bytes((RULES[:4] + "\x1b[31m\u202e" + RULES).encode("gb18030"))
    _, out, err = run("find", "工具", "d")
    assert "\\u001b" in err and "\\u202e" in err
    assert not set(out + err) & set("\x1b\u202e")


def test_both_verifiers_accept_a_bundle_of_sources_in_other_encodings(run):
    Path("d/a.txt").write_bytes((RULES + "😀").encode("gb18030"))
    Path("d/b.txt").write_bytes(b"\xff\xfe" + RULES.encode("utf-16-le"))
    assert run("find", "工具", "d", "--bundle", "out.json")[0] == 0
    assert "位置吻合 2 条" in run("bundle", "verify", "out.json")[1]


@pytest.fixture
def dated(run):
    documents = [
        {"id": "old", "text": "旧规则"},
        {"id": "new", "text": "新规则", "effective_from": "2026-03-01", "supersedes": ["old"]},
    ]
    Path("d/a.json").write_text(json.dumps(documents), encoding="utf-8")


def found(run, *args):
    record = json.loads(run("find", "规则", "d", "--json", *args)[1])
    return [hit["source_id"] for hit in record["hits"]], record["corpus"]["left_out"]


def test_only_what_is_in_force_on_the_day_is_searched_and_the_rest_counted(run, dated):
    assert found(run, "--as-of", "2026-02-28") == (["old"], {"not_yet": 1})
    assert found(run, "--as-of", "2026-03-01") == (["new"], {"superseded": 1})
    assert "没有读入：已被取代的资料 1 篇。" in run("find", "规则", "d", "--as-of", "2026-03-01")[1]
    out = run("index", "build", "d", "--out", "ix", "--as-of", "2026-02-28")[1]
    assert "1 份资料" in out and "尚未生效的资料 1 篇" in out
    assert "尚未生效的资料 1 篇" in run("index", "search", "ix", "规则")[1]


def test_today_is_the_day_in_shanghai(run, dated, monkeypatch):
    class Clock(datetime):
        instant = datetime(2026, 2, 28, 15, 59, tzinfo=timezone.utc)

        @classmethod
        def now(cls, tz=None):
            return cls.instant.astimezone(tz)

    monkeypatch.setattr("evidence_kit.sources.days.datetime", Clock)
    assert found(run)[0] == ["old"]
    Clock.instant = datetime(2026, 2, 28, 16, 0, tzinfo=timezone.utc)
    assert found(run)[0] == ["new"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--encoding", "latin-1"], "utf-16-le"),
        (["--encoding", "big5"], "第 1 个字节"),
        (["--as-of", "2026-2-1"], "2026-2-1"),
        (["--as-of", "昨天"], "昨天"),
        (["--as-of", "2025-01-01"], "没有可检索的正文"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_exit_code_2(run, args, said):
    record = [{"text": "\u00ff", "effective_from": "2026-01-01"}]
    Path("d/a.json").write_bytes(b"\t\xff" if "big5" in args else json.dumps(record).encode())
    for command in (["find", "甲", "d"], ["index", "build", "d", "--out", "ix"]):
        code, out, err = run(*command, *args)
        assert (code, out) == (2, "")
        assert said in err and err.count("\n") == 1


def test_what_is_to_be_superseded_but_is_not_there_is_noted(run):
    rows = "title,text,supersedes\n老政策,保修一年,\n新政策,保修两年,{}\n"
    Path("d/s.csv").write_text(rows.format("A1"), encoding="utf-8")
    code, out, err = run("find", "保修", "d")
    assert (code, "保修一年".replace("保修", "⟦保修⟧") in out) == (0, True)
    assert err.startswith("提示：s.csv#2 要取代的 A1 不在这批资料里") and "规定.csv#1" in err
    Path("d/s.csv").write_text(rows.format("s.csv#1"), encoding="utf-8")
    code, out, err = run("find", "保修", "d")
    assert (code, err) == (0, "")
    assert "一年" not in out and "两年" in out
