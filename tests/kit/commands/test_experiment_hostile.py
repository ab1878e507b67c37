"""`evidence experiment` against what people and disks do to it: every refusal one line, nothing half done."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evidence_kit.commands import main
from evidence_kit.experiments.limits import PROFILES, Limits

DB = ("--db", "x.db")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*args):
        code = main(["experiment", *map(str, args)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


@pytest.fixture
def filled(run):
    Path("a.txt").write_text("退款七天内受理", encoding="utf-8")
    Path("b.txt").write_text("周一闭馆，退款顺延", encoding="utf-8")
    for args in (
        ("new", "--name", "手册"), ("import", "a.txt", "b.txt"),
        ("ask", "退款要几天"), ("judge", "Q001", "S001", "3"),
    ):  # fmt: skip
        assert run(*args, *DB)[0] == 0
    return run


def refused(run, *args):
    code, out, err = run(*args)
    assert (code, out) == (2, ""), err
    assert err.startswith("错误：") and err.count("\n") == 1
    return err


def changes(run):
    return json.loads(run("history", *DB, "--json")[1])["changes"]


# Files that are none, or the wrong ones.


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("name", ["p.txt", "p.csv", "p.json"])
def test_pipe_that_nobody_writes_is_refused_and_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    command = [sys.executable, "-m", "evidence_kit.commands", "experiment"]
    subprocess.run([*command, "new", "--name", "x", *DB], cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(
        [*command, "import", name, *DB], cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=60
    )
    assert (done.returncode, done.stderr) == (2, f"错误：{name} 不是普通文件：请给出文件或文件夹。\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_experiment_file_that_is_a_pipe_is_refused(run):
    os.mkfifo("p.db")
    assert "不是普通文件" in refused(run, "history", "--db", "p.db")


@pytest.mark.parametrize("target", ["x.db", "./x.db", "sub/../x.db", "link.db", "x.db-wal"])
def test_export_never_overwrites_the_experiment_itself(filled, target):
    Path("sub").mkdir()
    Path("link.db").symlink_to("x.db")
    before = Path("x.db").read_bytes()
    assert "实验文件本身" in refused(filled, "export", *DB, "--experiment", target, "--overwrite")
    assert Path("x.db").read_bytes() == before
    assert sorted(p.name for p in Path().iterdir()) == ["a.txt", "b.txt", "link.db", "sub", "x.db"]


@pytest.mark.parametrize("second", ["m.csv", "./m.csv", "sub/../m.csv", "there/m.csv"])
def test_two_contents_in_one_file_are_refused_under_whatever_names(filled, second):
    Path("sub").mkdir()
    Path("there").symlink_to(".")
    assert "同一个文件" in refused(
        filled, "export", *DB, "--measures", "m.csv", "--hits", second, "--overwrite"
    )
    assert not Path("m.csv").exists()


def test_export_of_which_one_file_has_no_folder_writes_none(filled):
    err = refused(filled, "export", *DB, "--measures", "m.csv", "--hits", "no/h.csv")
    assert "文件夹 no 不存在" in err and not Path("m.csv").exists()


def test_export_of_which_one_file_cannot_be_stored_writes_none(filled, monkeypatch):
    synced = []

    def full_at_the_second(_descriptor):
        synced.append(1)
        if len(synced) == 2:
            raise OSError(28, "No space left on device")

    Path("m.csv").write_bytes(b"mine")
    monkeypatch.setattr("os.fsync", full_at_the_second)
    refused(filled, "export", *DB, "--measures", "m.csv", "--hits", "h.csv", "--overwrite")
    assert Path("m.csv").read_bytes() == b"mine"
    assert sorted(p.name for p in Path().iterdir()) == ["a.txt", "b.txt", "m.csv", "x.db"]


# Experiments from elsewhere.


def exported(run):
    run("export", *DB, "--experiment", "e.json")
    return json.loads(Path("e.json").read_bytes())


def test_restore_of_a_circle_is_refused_whole_with_its_place(filled):
    record = exported(filled)
    for source, other in zip(record["sources"], ["S002", "S001"], strict=True):
        source["validity"]["supersedes"] = [other]
    Path("c.json").write_text(json.dumps(record), encoding="utf-8")
    err = refused(filled, "restore", "c.json", "--db", "new.db")
    assert "sources" in err and "循环" in err and not Path("new.db").exists()


@pytest.mark.parametrize(
    ("values", "place"),
    [({"AP": 1e308}, "AP"), ({"AP": -0.5}, "AP"), ({"坏@3": 0.5}, "坏@3"), ({"nDCG@0": 0}, "nDCG@0")],
)
@pytest.mark.parametrize("key", ["means", "per_question"])
def test_baseline_that_nothing_could_have_measured_is_refused_with_its_place(filled, key, values, place):
    filled("freeze", "起点", *DB)
    record = exported(filled)
    record["baselines"][0][key] = values if key == "means" else {"Q001": values}
    Path("c.json").write_text(json.dumps(record), encoding="utf-8")
    assert f"{place} 应在" in (err := refused(filled, "restore", "c.json", *DB)) or f"{place} 不成立" in err


def test_file_above_the_limit_is_refused_before_it_is_read(filled, monkeypatch):
    small = Limits(1, 1, 1, 1, 1, 1, 10)
    monkeypatch.setitem(PROFILES, "default", small)
    Path("e.json").write_bytes(b"x" * 11)
    monkeypatch.setattr(Path, "read_bytes", lambda _path: pytest.fail("read"))
    assert "字节数为 11，超过上限 10" in refused(filled, "restore", "e.json", *DB)


# Parameters.


@pytest.mark.parametrize(
    "given",
    [
        "window=1_00",
        "k=３",
        "k=٣",
        "k1=1_0",
        "k1=１",
        "k1=inf",
        "b=nan",
        "k1=1e309",
        "k=1e1",
        "k=0x3",
        "k=",
        "b=0,5",
    ],
)
def test_number_that_is_written_otherwise_than_in_ascii_digits_sets_nothing(filled, given):
    before = filled("set", *DB)[1]
    assert "参数无效" in refused(filled, "set", "overlap=1", given, *DB)
    assert filled("set", *DB)[1] == before


def test_very_long_wrong_value_is_named_in_short(filled):
    assert len(refused(filled, "set", "k=" + "9" * 5000, *DB)) < 200


# What was missing.


def test_new_source_is_pasted_as_an_argument_or_through_standard_input(filled, monkeypatch):
    assert filled("import", "--title", "通知", "--text", "周二也闭馆", *DB)[0] == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("旧规\n原文在此的内容".encode("gb18030"))))
    code, _, err = filled("import", "-", "--title", "旧规", *DB)
    assert code == 0 and "GB18030" in err
    new = exported(filled)["sources"][2:]
    assert [(each["title"], each["text"], each["body_start"], each["encoding"]) for each in new] == [
        ("通知", "周二也闭馆", 0, "utf-8"), ("旧规", "旧规\n原文在此的内容", 3, "gb18030"),
    ]  # fmt: skip


def test_title_is_given_to_the_one_source_that_is_imported(filled):
    assert filled("import", "a.txt", "--title", "退款", "--again", *DB)[0] == 0
    assert exported(filled)["sources"][2]["title"] == "退款"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "恰好一种"),
        (("a.txt", "--text", "x", "--title", "t"), "恰好一种"),
        (("a.txt", "--squad", "a.txt"), "恰好一种"),
        (("--text", "x"), "请用 --title"),
        (("-",), "请用 --title"),
        (("-", "a.txt", "--title", "t"), "只能单独导入"),
        (("a.txt", "b.txt", "--title", "t"), "这里有 2 篇"),
        (("--text", " \n", "--title", "t"), "正文是空的"),
        (("--squad", "a.txt"), "无法读取"),
        (("--squad", "a.txt", "--title", "t"), "不用于 --squad"),
    ],
)
def test_import_that_cannot_be_meant_is_refused(filled, args, message):
    before = len(changes(filled))
    assert message in refused(filled, "import", *args, *DB)
    assert len(changes(filled)) == before


def test_source_without_text_is_named(filled):
    Path("empty.txt").write_bytes(b"")
    code, _, err = filled("import", "empty.txt", *DB)
    assert code == 0 and "正文是空的" in err and "S003" in err


def test_all_stale_judgments_are_confirmed_at_once(filled):
    filled("edit", "--source", "S001", "--text", "退款十天内受理", *DB)
    code, out, _ = filled("judge", "--confirm-all", *DB, "--json")
    assert (code, json.loads(out)) == (0, {"confirmed": [{"question_id": "Q001", "source_id": "S001"}]})
    assert filled("judge", "--confirm-all", *DB)[1] == "没有待复核的判断。\n"
    assert "只给一种" in refused(filled, "judge", "Q001", "S001", "3", "--confirm-all", *DB)


def test_experiment_is_renamed(filled):
    assert filled("edit", "--name", "天文馆", *DB)[1] == "实验已改名为「天文馆」。\n"
    assert exported(filled)["name"] == "天文馆"
    assert "实验名称是空的" in refused(filled, "edit", "--name", " ", *DB)
    for also in (("--source", "S001"), ("--text", "x"), ("--remove",)):
        refused(filled, "edit", "--name", "x", *also, *DB)


def test_more_hits_of_one_question_are_listed_where_asked(filled):
    for number in range(6):
        filled("import", "--title", f"t{number}", "--text", "退款 " * (number + 1), *DB)
    filled("ask", "闭馆", *DB)
    out = filled("run", "--question", "Q001", "--top", "7", *DB)[1]
    assert "  7. " in out and "  8. " not in out and "另有 1 篇" in out
    assert "1 个问题的均值" in out and "Q002" not in out
    assert "  3. " in filled("run", *DB)[1] and "  4. " not in filled("run", *DB)[1]
    assert "没有问题 Q009" in refused(filled, "run", "--question", "Q009", *DB)
    assert "不小于 1" in refused(filled, "run", "--top", "0", *DB)


def test_squad_set_comes_in_and_goes_out(filled):
    good = {"text": "七天", "answer_start": 2}
    bad = {"text": "七天", "answer_start": 0}
    paragraphs = [
        {
            "id": "P1",
            "context": "退款七天",
            "qas": [{"id": "q1", "question": "几天？", "answers": [good, bad]}],
        },
        {"id": "P2", "context": "闭馆", "qas": [{"id": "q2", "question": "哪天？", "answers": []}]},
    ]
    Path("s.json").write_text(
        json.dumps({"version": "", "data": [{"title": "题", "paragraphs": paragraphs}]})
    )
    code, out, err = filled("import", "--squad", "s.json", *DB, "--json")
    record = json.loads(out)
    assert code == 0 and "1 处答案的位置与原文不符，问题：q1" in err
    assert record["faulty_answers"] == [{"question_id": "q1", "number": 2}]
    assert record["judgments"] == 1
    assert record["questions"] == [
        {"question_id": "Q002", "from": "q1"},
        {"question_id": "Q003", "from": "q2"},
    ]
    filled("judge", "Q002", "S003", "1", *DB)
    code, out, _ = filled("import", "--squad", "s.json", *DB)
    assert out.startswith(
        "已导入 0 篇资料、0 个问题、0 条判断。\n已经在实验里、没有再导入的：资料 2 篇，问题 2 个。"
    )
    other = json.loads(Path("s.json").read_text())
    other["data"][0]["paragraphs"][0] |= {"context": "换货七天", "id": "P3"}
    Path("other.json").write_text(json.dumps(other))
    code, out, _ = filled("import", "--squad", "other.json", *DB)
    assert out.startswith(
        "已导入 1 篇资料、1 个问题、1 条判断。"
    )  # the same words asked of another paragraph
    assert filled("undo", *DB)[0] == 0
    before = exported(filled)
    assert [each["grade"] for each in before["judgments"] if each["question_id"] == "Q002"] == [1]
    assert [each.get("origin") for each in before["sources"]][2:] == ["s.json", "s.json"]
    code, _, err = filled("export", "--squad", "out.json", *DB)
    assert code == 0 and "没有相关判断的问题 1 个" in err
    data = json.loads(Path("out.json").read_bytes())["data"]
    asked = {q["id"]: q["answers"] for a in data for p in a["paragraphs"] for q in p["qas"]}
    assert asked == {
        "Q001": [{"text": "退款七天内受理", "answer_start": 0}],
        "Q002": [{"text": "退款七天", "answer_start": 0}],
    }


def test_squad_export_without_any_text_is_refused(run):
    run("new", "--name", "空", *DB)
    assert "不能写成 SQuAD" in refused(run, "export", "--squad", "o.json", *DB)
    assert not Path("o.json").exists()
