"""The commands as they are called: JSON shapes, exit codes, one Chinese line for every error."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evidence_kit.commands import main

ROOT = Path(__file__).parents[3]
TEXT = "说明😀：仅限室内。"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(TEXT.encode())
    Path("b.txt").write_bytes(("新版：" + TEXT).encode())
    return tmp_path


@pytest.fixture
def run(capsys, folder):
    def call(*args):
        code = main([str(arg) for arg in args])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def make_anchor(run, name="a.json", *extra):
    _, out, _ = run("anchor", "create", "a.txt", "--start", 5, "--end", 9, "--unit", "utf16", *extra)
    Path(name).write_text(out, encoding="utf-8")
    return json.loads(out)


def program(*args, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "0"} | options.pop("env", {})
    return subprocess.run(
        [sys.executable, "-m", "evidence_kit.commands", *args],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        env=environment,
        check=False,
        **options,
    )


def test_position_in_all_four_units(run):
    code, out, _ = run("position", "a.txt", "--at", 5, "--unit", "utf16", "--json")
    assert code == 0
    assert json.loads(out) == {
        "codepoint": 4,
        "utf16": 5,
        "utf8": 13,
        "grapheme": 4,
        "splits_grapheme": False,
    }
    assert list(json.loads(out)) == ["codepoint", "utf16", "utf8", "grapheme", "splits_grapheme"]


def test_position_inside_a_grapheme_is_said_in_both_forms(run):
    Path("c.txt").write_bytes("e\u0301".encode())
    assert json.loads(run("position", "c.txt", "--at", 1, "--unit", "codepoint", "--json")[1])[
        "splits_grapheme"
    ]
    assert "字形内部" in run("position", "c.txt", "--at", 1, "--unit", "codepoint")[1]


def test_anchor_create_names_the_source_and_version_it_was_given(run):
    made = make_anchor(run, "a.json", "--source-id", "手册", "--version", "2024版")
    assert (made["source_id"], made["source_version"], made["exact"]) == ("手册", "2024版", "仅限室内")
    made = make_anchor(run)
    assert made["source_id"] == "a.txt"
    assert made["source_version"] == "sha256:" + made["text_sha256"][:12]


def test_anchor_create_takes_a_bom_off_and_says_so(run):
    Path("a.txt").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    made = make_anchor(run)
    assert (made["exact"], made["representation"]["transformations"]) == ("仅限室内", ["bom_removed"])


def test_anchor_create_without_quote_writes_no_text(run):
    made = make_anchor(run, "a.json", "--no-quote")
    assert (made["exact"], made["prefix"], made["suffix"]) == (None, None, None)
    code, out, _ = run("anchor", "resolve", "a.json", "b.txt", "--json")
    assert (code, json.loads(out)["start"]) == (0, 8)


def test_anchor_create_warns_where_a_grapheme_is_cut_or_a_unit_is_approximate(run):
    Path("a.txt").write_bytes("e\u0301甲".encode())
    code, out, err = run("anchor", "create", "a.txt", "--start", 1, "--end", 3, "--unit", "codepoint")
    assert (code, json.loads(out)["exact"]) == (0, "\u0301甲")
    assert err.startswith("提示：")
    code, out, err = run("anchor", "create", "a.txt", "--start", 1, "--end", 2, "--unit", "textElements")
    assert (code, json.loads(out)["unit"], json.loads(out)["exact"]) == (0, "textElements", "甲")
    assert err.startswith("提示：")


@pytest.mark.parametrize(
    ("text", "code", "status", "start", "candidates"),
    [
        (TEXT, 0, "exact", 5, []),
        ("新版：" + TEXT, 0, "moved", 8, []),
        ("仅限室内，仅限室内", 3, "ambiguous", None, [{"start": 0, "end": 4}, {"start": 5, "end": 9}]),
        ("仅限室内", 3, "stale", None, [{"start": 0, "end": 4}]),
    ],
)
def test_anchor_resolve_gives_status_span_and_exit_code(run, text, code, status, start, candidates):
    make_anchor(run)
    Path("now.txt").write_bytes(text.encode())
    found, out, err = run("anchor", "resolve", "a.json", "now.txt", "--json")
    record = json.loads(out)
    assert (found, err) == (code, "")
    assert list(record) == ["status", "start", "end", "unit", "candidates", "candidate_count", "migration"]
    assert (record["status"], record["start"], record["unit"]) == (status, start, "utf16")
    assert record["candidates"] == candidates
    assert record["candidate_count"] == len(candidates)
    assert (record["migration"] is not None) == (status == "moved")
    assert status in run("anchor", "resolve", "a.json", "now.txt")[1]


def test_candidates_beyond_a_hundred_are_counted_and_not_listed(run):
    make_anchor(run)
    Path("now.txt").write_bytes(("仅限室内，" * 130).encode())
    code, out, _ = run("anchor", "resolve", "a.json", "now.txt", "--json")
    record = json.loads(out)
    assert (code, record["status"], record["candidate_count"]) == (3, "ambiguous", 130)
    assert record["candidates"] == [{"start": 5 * n, "end": 5 * n + 4} for n in range(100)]
    assert "候选 130 处，列出前 100 处" in run("anchor", "resolve", "a.json", "now.txt")[1]


def test_a_corrupt_receipt_ends_with_one(run):
    made = make_anchor(run)
    Path("a.json").write_text(json.dumps(made | {"start": 0, "end": 4}), encoding="utf-8")
    code, out, err = run("anchor", "resolve", "a.json", "a.txt", "--json")
    assert (code, out) == (1, "")
    assert err.startswith("错误：")


def write_bundle(**change):
    import hashlib

    citation = {"id": "c", "source_id": "s", "start": 5, "end": 9, "unit": "utf16", "quote": "仅限室内"}
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    record = {
        "schema": "evidence-bundle/1",
        "unicode_version": "16.0",
        "sources": [{"id": "s", "title": "手册", "version": "1", "text": TEXT, "sha256": digest}],
        "citations": [citation | change],
    }
    Path("b.json").write_text(json.dumps(record), encoding="utf-8")


def test_bundle_verify_counts_and_ends_with_zero_or_one(run):
    write_bundle()
    code, out, _ = run("bundle", "verify", "b.json", "--json")
    assert code == 0
    assert json.loads(out) == {
        "citations": 1,
        "exact": 1,
        "grapheme_split": 0,
        "undetermined": 0,
        "failures": [],
    }
    assert "不判断原话是否支持论述" in run("bundle", "verify", "b.json")[1]
    write_bundle(unit="codepoint")
    code, out, _ = run("bundle", "verify", "b.json", "--json")
    assert (code, json.loads(out)["failures"]) == (1, [{"id": "c", "reason": "quote_mismatch"}])
    assert "跨度处不是这句原话" in run("bundle", "verify", "b.json")[1]


ODD_NUMBERS = ["٣", "1_000", "１", "+1", " 1", "1 ", "", "1.0", "0x1", "²", "9" * 5000]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["position", "none.txt", "--at", "1", "--unit", "utf8"], ["none.txt", "不存在"]),
        (["position", ".", "--at", "1", "--unit", "utf8"], ["是文件夹"]),
        (["position", "bad.txt", "--at", "1", "--unit", "utf8"], ["bad.txt", "第 3 个字节"]),
        (["position", "a.txt", "--at", "3", "--unit", "utf16"], ["2", "4"]),
        (["position", "a.txt", "--at", "99", "--unit", "utf16"], ["99"]),
        (["position", "a.txt", "--at", "-1", "--unit", "utf16"], ["-1"]),
        (["position", "a.txt", "--at", "1", "--unit", "char"], ["char", "codepoint"]),
        (["position", "a.txt", "--at", "x", "--unit", "utf8"], ["--at", "整数"]),
        *((["position", "a.txt", "--at", odd, "--unit", "utf8"], ["--at", "整数"]) for odd in ODD_NUMBERS),
        (
            ["anchor", "create", "a.txt", "--start", "1_0", "--end", "12", "--unit", "utf8"],
            ["--start", "整数"],
        ),
        (["anchor", "create", "a.txt", "--start", "1", "--end", "٣", "--unit", "utf8"], ["--end", "整数"]),
        (["find", "x", "a.txt", "--top", "１"], ["--top", "整数"]),
        (["index", "search", "ix", "x", "--top", "1_0"], ["--top", "整数"]),
        (["position", "a.txt", "--unit", "utf8"], ["缺少", "--at"]),
        (["position", "a.txt", "--at"], ["--at"]),
        (["position", "a.txt", "b.txt", "--at", "1", "--unit", "utf8"], ["b.txt"]),
        (["position", "a.txt", "--bytes"], ["--bytes"]),
        (["anchor", "create", "a.txt", "--start", "4", "--end", "4", "--unit", "utf8"], ["[4, 4)"]),
        (["anchor", "create", "a.txt", "--start", "4", "--end", "5", "--unit", "utf8"], ["utf8"]),
        (["anchor", "resolve", "bad.json", "a.txt"], ["bad.json", "第 2 行"]),
        (["anchor", "resolve", "a.txt", "a.txt"], ["a.txt"]),
        (["bundle", "verify", "twice.json"], ["twice.json", "duplicate_key"]),
        (["bundle", "check"], ["check"]),
        (["bundle"], ["缺少命令"]),
        ([], ["缺少命令"]),
    ],
)
def test_bad_input_and_usage_are_one_chinese_line_and_end_with_two(run, args, words):
    Path("bad.txt").write_bytes(b"abc\xff")
    Path("bad.json").write_bytes(b"{\n nonsense")
    Path("twice.json").write_bytes(b'{"schema":1,"schema":1}')
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert err.startswith("错误：")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


COMMANDS = [
    [],
    ["position"],
    ["anchor"],
    ["anchor", "create"],
    ["anchor", "resolve"],
    ["bundle"],
    ["bundle", "verify"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_chinese_help_without_a_word_of_click_s(run, command):
    code, out, _ = run(*command, "--help")
    assert code == 0
    for word in ("Usage", "Options", "Commands", "Show this", "[OPTIONS]", "COMMAND", "required"):
        assert word not in out
    assert "用法" in out
    if command not in (["anchor"], ["bundle"]):
        assert "例：\n" in out


def test_the_example_in_each_leaf_s_help_is_a_command_that_runs(run):
    write_bundle()
    make_anchor(run, "凭条.json")
    Path("b.json").rename("引用包.json")
    Path("说明.txt").write_bytes(TEXT.encode())
    Path("新版说明.txt").write_bytes(("新版" + TEXT).encode())
    for command in COMMANDS:
        shown = run(*command, "--help")[1]
        examples = [
            line.split(" > ")[0].split() for line in shown.splitlines() if line.startswith("    evidence ")
        ]
        for example in examples:
            assert run(*example[1:])[0] == 0, example


def test_help_imports_nothing_slow():
    script = (
        "import sys; from evidence_kit.commands import main; main(['--help']);"
        "slow = {'regex', 'numpy', 'hashlib', 'json', 'evidence_kit.anchors.anchor'};"
        "print(sorted(slow & set(sys.modules)))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert shown.stdout.decode().splitlines()[-1] == "[]"


def test_version_is_told(run):
    code, out, _ = run("--version")
    assert code == 0
    assert out.startswith("evidence ")


def test_output_is_utf8_in_an_ascii_locale(folder):
    shown = program(
        "position", "a.txt", "--at", "4", "--unit", "codepoint", env={"PYTHONIOENCODING": "ascii"}
    )
    assert shown.returncode == 0
    assert "码点" in shown.stdout.decode("utf-8")
    failed = program(
        "position", "无.txt", "--at", "4", "--unit", "codepoint", env={"PYTHONIOENCODING": "ascii"}
    )
    assert "无.txt 不存在" in failed.stderr.decode("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe behaves otherwise there")
def test_a_closed_pipe_is_silent_and_keeps_the_exit_code(folder):
    Path("a.json").write_bytes(
        program("anchor", "create", "a.txt", "--start", "4", "--end", "8", "--unit", "codepoint").stdout
    )
    Path("now.txt").write_bytes("无关".encode())
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [sys.executable, "-m", "evidence_kit.commands", "anchor", "resolve", "a.json", "now.txt", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    os.close(writer)
    assert (process.returncode, process.stderr) == (3, b"")


def test_an_id_in_a_bundle_cannot_command_the_terminal(tmp_path, capsys):
    bundle = {
        "schema": "evidence-bundle/1",
        "unicode_version": "15.0",
        "sources": [],
        "citations": [
            {"id": "\x1b[31mX", "source_id": "s", "start": 0, "end": 1, "unit": "utf8", "quote": "x"}
        ],
    }
    (tmp_path / "b.json").write_text(json.dumps(bundle), encoding="utf-8")
    assert main(["bundle", "verify", str(tmp_path / "b.json")]) == 1
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\\u001b[31mX" in shown


BIDI = "\u202e\x85\u2066\U000e0041"


def test_json_on_a_terminal_holds_no_character_that_acts_and_means_the_same(run):
    Path("a.txt").write_bytes(f"甲{BIDI}乙".encode())
    code, out, _ = run("anchor", "create", "a.txt", "--start", 0, "--end", 1, "--unit", "codepoint")
    assert code == 0
    assert not set(out) & set(BIDI)
    assert json.loads(out)["suffix"] == f"{BIDI}乙"
    Path("凭条.json").write_text(out, encoding="utf-8")
    assert run("anchor", "resolve", "凭条.json", "a.txt")[0] == 0
    write_bundle(id=BIDI, unit="codepoint")
    code, out, _ = run("bundle", "verify", "b.json", "--json")
    assert (code, json.loads(out)["failures"]) == (1, [{"id": BIDI, "reason": "quote_mismatch"}])
    assert not set(out) & set(BIDI)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], ["position", "a.txt", "--at", "1", "--unit", "utf8"]]
)
def test_a_full_output_is_one_line_that_names_it(folder, args):
    Path("a.txt").write_bytes(b"abc")
    with Path("/dev/full").open("wb") as full:
        ended = program(*args, stdout=full)
    assert ended.returncode == 2
    assert ended.stderr.decode() == "错误：标准输出无法写入（磁盘空间不足）：请检查磁盘空间。\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe behaves otherwise there")
@pytest.mark.parametrize("args", [["--help"], ["find", "--help"], ["--version"]])
def test_help_into_a_closed_pipe_is_silent_and_done(folder, args):
    reader, writer = os.pipe()
    os.close(reader)
    ended = program(*args, stdout=writer)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_what_the_system_refuses_is_said_in_chinese(run, monkeypatch):
    for number, reason in [(13, "没有权限"), (5, "读写出错"), (40, "链接"), (95, "系统错误 95")]:

        def refuse(path, *args, number=number, **kwargs):
            raise OSError(number, os.strerror(number), str(path))

        with monkeypatch.context() as broken:
            broken.setattr(Path, "read_bytes", refuse)
            for args in (["find", "x", "a.txt"], ["position", "a.txt", "--at", "1", "--unit", "utf8"]):
                code, out, err = run(*args)
                assert (code, out, err.count("\n")) == (2, "", 1)
                assert reason in err and os.strerror(number) not in err
