"""What is told to somebody who does a thing for the first time, or twice."""

import json
from pathlib import Path

import click
import pytest

from evidence_kit.commands import main
from evidence_kit.commands.root import evidence
from evidence_kit.experiments.naming import unknown_id

DB = ("--db", "x.db")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*args):
        code = main(list(map(str, args)))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


@pytest.fixture
def filled(run):
    Path("d").mkdir()
    Path("d/a.md").write_text("# 退款\n退款七天内受理", encoding="utf-8")
    Path("d/b.txt").write_text("周一闭馆", encoding="utf-8")
    run("experiment", "new", "--name", "手册", *DB)
    assert run("experiment", "import", "d", *DB)[0] == 0
    return run


def done(run, *args):
    code, out, err = run("experiment", *args, *DB, "--json")
    assert code == 0, err
    return json.loads(out)


def refused(run, *args):
    code, out, err = run(*args)
    assert (code, out) == (2, ""), err
    assert err.startswith("错误：") and err.count("\n") == 1
    return err


# The same folder twice.


def test_what_is_there_already_is_not_imported_again_and_named(filled):
    Path("d/c.txt").write_text("新的", encoding="utf-8")
    Path("d/d.txt").write_text("新的", encoding="utf-8")
    _, out, _ = filled("experiment", "import", "d", *DB)
    assert out.startswith("已导入 1 篇资料。\n  S003  c.txt  c.txt\n")
    assert "没有再导入的 3 篇：a.md 即 S001、b.txt 即 S002、d.txt 即 S003。要照样导入，加上 --again。" in out
    before = done(filled, "history")
    record = done(filled, "import", "d")
    assert record["sources"] == [] and len(record["already_there"]) == 4
    assert done(filled, "history") == before
    assert len(done(filled, "import", "d", "--again")["sources"]) == 4


def test_text_that_says_it_is_in_force_at_another_time_is_another_source(filled):
    table = "title,text,effective_until\n旧,同样的话,{}\n"
    for until, added in (("2026-01-31", 1), ("2026-01-31", 0), ("2026-12-31", 1), ("", 0)):
        Path("t.csv").write_text(table.format(until), encoding="utf-8")
        assert len(done(filled, "import", "t.csv")["sources"]) == added, until


def test_edited_text_is_imported_as_new(filled):
    Path("d/b.txt").write_text("周二闭馆", encoding="utf-8")
    assert [each["source_id"] for each in done(filled, "import", "d")["sources"]] == ["S003"]


# What becomes of files.


def test_file_names_stay_with_sources(filled):
    Path("t.csv").write_text("title,text\n题,甲\n", encoding="utf-8")
    done(filled, "import", "t.csv")
    done(filled, "import", "--title", "通知", "--text", "贴入的")
    names = {each["source_id"]: each["file"] for each in done(filled, "list")["sources"]}
    assert names == {"S001": "a.md", "S002": "b.txt", "S003": "t.csv", "S004": None}
    out = filled("experiment", "list", *DB)[1]
    assert "S001  退款  a.md  12 字符" in out and "S002  b.txt  4 字符" in out
    Path("new.txt").write_text("退款八天内受理", encoding="utf-8")
    done(filled, "edit", "--source", "S001", "--text-file", "new.txt")
    done(filled, "edit", "--source", "S002", "--text", "周三闭馆")
    assert [each["file"] for each in done(filled, "list")["sources"]][:2] == ["new.txt", "b.txt"]
    done(filled, "export", "--experiment", "e.json")
    assert filled("experiment", "restore", "e.json", "--db", "y.db")[0] == 0
    assert filled("experiment", "export", "--experiment", "f.json", "--db", "y.db")[0] == 0
    assert Path("e.json").read_bytes() == Path("f.json").read_bytes()


def test_skipped_files_are_named_the_first_few_and_counted(filled):
    for number in range(7):
        Path(f"d/p{number}.pdf").write_bytes(b"")
    Path("d/settings.json").write_text("{}", encoding="utf-8")
    said = (
        "其他类型的文件 7 个（d/p0.pdf、d/p1.pdf、d/p2.pdf、d/p3.pdf、d/p4.pdf …等 7 个）、"
        "不含文档的 JSON 文件 1 个（d/settings.json）。"
    )
    for args in (
        ("experiment", "import", "d", *DB),
        ("find", "退款", "d"),
        ("index", "build", "d", "--out", "i"),
    ):
        assert said in filled(*args)[1]
    skipped = json.loads(filled("find", "退款", "d", "--json")[1])["corpus"]["skipped"]
    assert skipped == done(filled, "import", "d")["skipped"]
    assert skipped[-1] == {"file": "d/settings.json", "reason": "other_json"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv", "id,title,text,备注\n1,题,甲,x\n", "t.csv 里没有用到的列：id、备注。"),
        ("t.csv", "title,,text,status\n题,,甲,\n", "t.csv 里没有用到的列：第 2 列。"),
        ("t.json", '[{"text": "甲", "url": "u"}, {"text": "乙", "day": 1}]', "没有用到的键：url、day。"),
    ],
)  # fmt: skip
def test_columns_and_keys_that_nothing_is_made_of_are_named(filled, name, content, said):
    Path(name).write_text(content, encoding="utf-8")
    for args in (("experiment", "import", name, *DB), ("find", "甲", name)):
        code, _, err = filled(*args)
        assert code == 0 and said in err and err.count("\n") == 1


def test_columns_that_are_all_used_are_not_spoken_of(filled):
    Path("t.csv").write_text("title,text,status\n题,甲,active\n", encoding="utf-8")
    assert filled("find", "甲", "t.csv")[2] == ""


# What cannot be meant.


def test_experiment_without_anything_to_measure_is_not_frozen(run):
    run("experiment", "new", "--name", "空", *DB)
    freeze = ("experiment", "freeze", "起点", *DB)
    assert "还没有资料：请先导入" in refused(run, *freeze)
    done(run, "import", "--title", "t", "--text", "退款七天")
    assert "还没有问题：请先提问" in refused(run, *freeze)
    done(run, "ask", "退款")
    assert "还没有有效的判断：请先判断" in refused(run, *freeze)
    done(run, "judge", "Q001", "S001", "3")
    done(run, "edit", "--source", "S001", "--until", "2020-01-01")
    assert "没有有效的资料：请换一个截至日期" in refused(run, *freeze)
    assert run(*freeze, "--as-of", "2020-01-01")[0] == 0
    done(run, "edit", "--source", "S001", "--text", "退款八天", "--until", "")
    assert "或确认待复核的判断" in refused(run, *freeze[:2], "改后", *DB)


def test_restore_replaces_nothing_unless_asked_and_says_what(filled):
    done(filled, "export", "--experiment", "e.json")
    done(filled, "ask", "退款")
    restore = ("experiment", "restore", "e.json", *DB)
    said = "「手册」：资料 2 篇，问题 1 个，判断 0 条，基线 0 个"
    assert f"x.db 里已有{said}，没有改动它" in refused(filled, *restore)
    assert len(done(filled, "list")["questions"]) == 1
    assert f"换掉了{said}；undo 换回来。" in filled(*restore, "--overwrite")[1]
    done(filled, "undo")
    assert len(done(filled, "list")["questions"]) == 1
    filled("experiment", "new", "--name", "空", "--db", "y.db", "--limits", "seed")
    assert filled("experiment", "restore", "e.json", "--db", "y.db")[0] == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("judge", "Q001", "S01", "1"), "没有资料 S01：相近的有 S001；"),
        (("judge", "q2", "S001", "1"), "没有问题 q2：已有的是 Q001；"),
        (("judge", "q1", "S001", "1"), "没有问题 q1：相近的有 Q001；"),
        (("edit", "--source", "甲", "--remove"), "没有资料 甲：已有的是 S001、S002；"),
        (("edit", "--question", "Q9", "--remove"), "没有问题 Q9："),
        (("run", "--question", "q1"), "没有问题 q1：相近的有 Q001；"),
        (("export", "--prompt", "p.txt", "--question", "q1"), "没有问题 q1：相近的有 Q001；"),
    ],
)
def test_id_that_nothing_has_is_told_with_those_that_are_near(filled, args, said):
    done(filled, "ask", "退款")
    assert said in refused(filled, "experiment", *args, *DB)


def test_near_ids_are_five_at_most_and_nearest_first():
    ids = [f"S{number:03}" for number in range(1, 200)]
    said = str(unknown_id("资料", "s12", ids))
    assert said.startswith("没有资料 s12：相近的有 S012、") and said.count("、") == 4
    assert "已有的是 S001、S002、S003、S004、S005 等 199 个" in str(unknown_id("资料", "文件", ids))
    assert str(unknown_id("问题", "x" * 10_000, [])) == f"没有问题 {'x' * 60}…：实验里还没有问题。"


def commands(group, path=()):
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def single_valued():
    return [
        (path, option.opts[0])
        for path, command in commands(evidence)
        for option in command.params
        if isinstance(option, click.Option) and not (option.is_flag or option.multiple)
    ]


def test_option_that_takes_one_value_is_refused_twice_in_every_command(run):
    found = single_valued()
    assert (("measure",), "--run") in found and len(found) > 50
    for path, option in found:
        err = refused(run, *path, option, "甲", option, "乙")
        assert (
            f"选项 {option} 给了 2 次（甲、乙）：它只能给一次；用法见 evidence {' '.join(path)} --help" in err
        )


def test_option_given_twice_is_counted_however_it_is_written_and_others_may_repeat(filled):
    once = ("experiment", "edit", "--source", "S001", *DB)
    assert "给了 3 次（a、b、" in refused(filled, *once, "--title=a", "--title", "b", "--title", "x" * 99)
    for args in (("--supersedes", "S002", "--supersedes", ""), ("--title", "甲", "--json", "--json")):
        assert filled(*once, *args)[0] == 0


def test_day_of_known_at_is_said_to_be_its_end(run):
    for command in ("run", "list", "export", "compare"):
        out = "".join(run("experiment", command, "--help")[1].split())
        assert "或日期，指那一天结束时" in out


# What was found.


def test_weak_hits_are_marked_the_same_by_ask_and_find(filled):
    question = "今天什么时候退场"
    out = filled("experiment", "ask", question, *DB)[1]
    (line,) = [line for line in out.splitlines() if "S001" in line]
    assert "（弱命中：只靠单字）" in line
    assert "（弱命中：只靠单字）" in filled("find", question, "d")[1]
    (hit,) = done(filled, "ask", question)["documents"]
    assert hit["weak"] is True
    assert [each["weak"] for each in done(filled, "ask", "退款")["documents"]] == [False]
    assert "弱命中" not in filled("experiment", "ask", "退款", *DB)[1]


def test_title_that_holds_the_words_is_told_where_nothing_is_found(run):
    Path("d").mkdir()
    Path("d/a.md").write_text("# 气动扳手\n须戴护目镜", encoding="utf-8")
    Path("d/b.md").write_text("# 气球\n不提供", encoding="utf-8")
    said = "标题里有问题的字词、但标题不参加检索的资料 1 份：a.md（气动扳手）。"
    assert run("index", "build", "d", "--out", "i")[0] == 0
    for args in (("find", "气动扳手", "d"), ("index", "search", "i", "气动扳手")):
        code, out, _ = run(*args)
        assert code == 0 and said in out
    corpus = json.loads(run("find", "气动扳手", "d", "--json")[1])["corpus"]
    assert corpus["title_matches"] == [{"source_id": "a.md", "title": "气动扳手"}]
    for question in (
        "护目镜",
        "火箭",
        "气",
        "不提供气动扳手",
    ):  # found; nowhere; one character; found and titled
        assert "标题里有" not in run("find", question, "d")[1]


def test_report_says_in_words_how_a_text_was_read(filled):
    Path("g.txt").write_bytes("周一闭馆，当天讲解暂停。".encode("gb18030"))
    done(filled, "import", "g.txt")
    done(filled, "export", "--html", "r.html")
    report = Path("r.html").read_text(encoding="utf-8")
    assert "按 GB18030 解码" in report and "decoded_from" not in report and "见命中表" not in report
    assert "<dt>文件</dt><dd><bdi>g.txt</bdi></dd>" in report
