"""`evidence experiment` as it is called: from a folder to a frozen baseline, and every refusal one line."""

import csv
import io
import json
import os
import sqlite3
from pathlib import Path

import click
import pytest

from evidence_kit.commands import main
from evidence_kit.commands.root import evidence
from evidence_kit.experiments.store import ExperimentStore

DB = ("--db", "x.db")
SUBCOMMANDS = [
    "new", "import", "edit", "ask", "judge", "set", "run", "freeze", "compare", "undo", "redo", "history",
    "export", "restore", "list",
]  # fmt: skip


def write_sources(folder):
    (folder / "d").mkdir()
    (folder / "d/a.md").write_bytes("# 讲解\n预约讲解要提前三天，请打电话。".encode())
    (folder / "d/b.txt").write_bytes("退款七天内受理，运费自理。".encode())
    (folder / "d/c.txt").write_bytes("周一闭馆，当天讲解暂停。".encode("gb18030"))


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_sources(tmp_path)

    def call(*args):
        code = main(["experiment", *map(str, args)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


@pytest.fixture
def done(run):
    """What a call must give: exit code 0, its JSON."""

    def call(*args):
        code, out, err = run(*args, "--json")
        assert code == 0, err
        return json.loads(out)

    return call


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The bytes of an experiment with three sources, two questions and three judgments."""
    folder = tmp_path_factory.mktemp("made")
    write_sources(folder)
    db = ("--db", str(folder / "x.db"))
    for args in (
        ("new", "--name", "手册"), ("import", str(folder / "d")),
        ("ask", "怎么预约讲解"), ("ask", "退款要几天"),
        ("judge", "Q001", "S001", "3"), ("judge", "Q001", "S003", "1"), ("judge", "Q002", "S002", "3"),
    ):  # fmt: skip
        assert main(["experiment", *args, *db]) == 0
    return (folder / "x.db").read_bytes()


@pytest.fixture
def filled(run, made):
    Path("x.db").write_bytes(made)
    return run


def refused(run, *args):
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert err.startswith("错误：") and err.count("\n") == 1
    return err


def test_every_command_has_chinese_help_with_an_example_and_json(run):
    group = evidence.get_command(click.Context(evidence), "experiment")
    assert group.list_commands(click.Context(group)) == sorted(SUBCOMMANDS)
    for name in SUBCOMMANDS:
        code, out, _ = run(name, "--help")
        assert code == 0
        assert f"evidence experiment {name} " in out and "例：" in out and "--json" in out and "--db" in out
        assert f"{name} " in run("--help")[1]


def test_import_assigns_ids_and_tells_the_encoding(run, done):
    done("new", *DB, "--name", "手册")
    code, out, err = run("import", "d", *DB, "--json")
    record = json.loads(out)
    assert (code, [source["source_id"] for source in record["sources"]]) == (0, ["S001", "S002", "S003"])
    assert [(source["from"], source["title"], source["encoding"]) for source in record["sources"]] == [
        ("a.md", "讲解", "utf-8"), ("b.txt", "b.txt", "utf-8"), ("c.txt", "c.txt", "gb18030"),
    ]  # fmt: skip
    assert record["decodings"][0]["encoding"] == "gb18030"
    assert err.startswith("提示：") and "GB18030" in err
    run("new", "--db", "y.db", "--name", "手册")
    assert "已导入 3 篇资料" in run("import", "d", "--db", "y.db")[1]


def test_ask_shows_the_question_and_its_first_three_hits_first(run, done):
    done("new", *DB, "--name", "手册")
    for number in range(5):
        Path(f"d/{number}.txt").write_text("讲解 " * (number + 1), encoding="utf-8")
    done("import", "d", *DB)
    code, out, err = run("ask", "讲解", *DB)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "Q001  讲解"
    assert [line[:5] for line in lines[1:7:2]] == ["  1. ", "  2. ", "  3. "]
    assert lines[7] == "  另有 4 篇。"
    assert "未判断" in lines[1]


def test_same_question_is_not_added_twice(filled, done):
    again = done("ask", "怎么预约讲解", *DB)
    assert (again["question_id"], again["added"]) == ("Q001", False)
    assert again["documents"][0]["grade"] == 3
    assert done("ask", "别的", *DB)["question_id"] == "Q003"


def test_run_holds_hits_measures_and_counts(filled, done):
    record = done("run", *DB, "--as-of", "2026-11-30")
    assert (record["as_of"], record["known_at"], record["passages"]) == ("2026-11-30", None, 3)
    first = record["questions"][0]
    assert (first["question_id"], first["question"]) == ("Q001", "怎么预约讲解")
    best = first["documents"][0]
    assert (best["rank"], best["source_id"], best["title"], best["grade"], best["state"]) == (
        1, "S001", "讲解", 3, "current",
    )  # fmt: skip
    text = "# 讲解\n预约讲解要提前三天，请打电话。"
    assert text[best["start"] : best["end"]] == best["quote"] == "预约讲解要提前三天，请打电话。"
    assert record["means"]["Recall@3"] == 1.0
    assert (record["unjudged_in_top_k"], record["stale"]) == (2, 0)  # 要 and 天 stand elsewhere too
    out = filled("run", *DB)[1]
    assert out.startswith("Q001  怎么预约讲解\n  1. S001  讲解  分数 ")
    assert "3 关键" in out and "Recall@3     1.000000" in out


def test_measures_agree_with_evidence_measure_on_the_exported_files(filled, done, capsys):
    record = done("run", *DB)
    done("export", *DB, "--trec-qrels", "q.txt", "--trec-run", "r.txt")
    names = list(record["means"])
    args = [part for name in names for part in ("-m", name)]
    assert main(["measure", "--qrels", "q.txt", "--run", "r.txt", *args, "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["means"] == record["means"]
    assert measured["questions"] == len(record["questions"]) == 2


def test_question_without_judgments_is_not_in_the_exported_ones_and_counts_for_judged_alone(
    filled, done, capsys
):
    done("ask", "周一打电话", *DB)
    record = done("run", *DB)
    done("export", *DB, "--trec-qrels", "q.txt", "--trec-run", "r.txt")
    names = list(record["means"])
    args = [part for name in names for part in ("-m", name)]
    assert main(["measure", "--qrels", "q.txt", "--run", "r.txt", *args, "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert (measured["questions"], len(record["questions"]), measured["ignored"]) == (2, 3, ["Q003"])
    differing = [name for name in names if measured["means"][name] != record["means"][name]]
    assert differing == ["Judged@3"]
    assert "没有判断的问题不写" in filled("export", "--help")[1]


def test_set_is_all_or_none_and_shows_what_stands(filled, done):
    before = done("run", *DB)
    err = refused(filled, "set", "k=5", "window=0", "overlap=x", *DB)
    assert "window=0" in err and "overlap='x'" in err
    assert done("run", *DB) == before
    after = done("set", "method=tfidf_course", "window=100", "overlap=20", *DB)
    assert (after["analyzer"], after["window"], after["k"]) == ("char_ngrams(2,3)", 100, 3)
    assert done("set", *DB) == after


def test_edited_text_makes_judgments_stale_until_confirmed(filled, done):
    Path("new.txt").write_text("预约讲解要提前五天。", encoding="utf-8")
    assert done("edit", "--source", "S001", "--text-file", "new.txt", *DB)["stale"] == 1
    record = done("run", *DB)
    assert (record["stale"], record["questions"][0]["documents"][0]["state"]) == (1, "stale")
    assert "待复核的判断 1 条" in filled("run", *DB)[1]
    done("judge", "Q001", "S001", "confirm", *DB)
    assert done("run", *DB)["stale"] == 0
    assert "待复核" in filled("edit", "--question", "Q001", "--text", "怎样预约？", *DB)[1]


def test_clear_makes_unjudged(filled, done):
    assert done("judge", "Q001", "S001", "clear", *DB)["grade"] is None
    assert done("run", *DB)["questions"][0]["documents"][0]["state"] == "unjudged"


def test_judgments_are_read_from_a_trec_file_all_or_none(filled, done):
    Path("q.txt").write_text("Q001 0 S002 0\nQ002 0 S003 2\n", encoding="utf-8")
    assert done("judge", "--qrels", "q.txt", *DB) == {"judged": 2}
    before = done("run", *DB)
    Path("q.txt").write_text("Q001 0 S002 1\nQ002 0 S999 2\n", encoding="utf-8")
    assert "S999" in refused(filled, "judge", "--qrels", "q.txt", *DB)
    assert done("run", *DB) == before


def test_as_of_and_known_at_ask_two_times(filled, done):
    before = done("history", *DB)["changes"][-1]["recorded_at"]
    done("edit", "--source", "S001", "--from", "2026-06-01", "--until", "2026-06-30", *DB)

    def left_out(*options):
        return done("run", *DB, *options)["left_out"]

    assert left_out("--as-of", "2026-05-31") == {"S001": "not_yet"}
    assert left_out("--as-of", "2026-06-01") == left_out("--as-of", "2026-06-30") == {}
    assert left_out("--as-of", "2026-07-01") == {"S001": "ended"}
    assert left_out("--as-of", "2026-07-01", "--known-at", before) == {}
    assert "已过有效期" in filled("run", *DB, "--as-of", "2026-07-01")[1]
    assert done("run", *DB, "--known-at", before)["known_at"] == before
    done("edit", "--source", "S001", "--from", "", "--until", "", *DB)
    assert left_out("--as-of", "2026-07-01") == {}
    done("edit", "--source", "S001", "--supersedes", "S002", *DB)
    assert left_out() == {"S002": "superseded"}
    done("edit", "--source", "S001", "--supersedes", "", "--status", "expired", *DB)
    assert left_out() == {"S001": "expired"}


def ended_in_june(done):
    done("edit", "--source", "S001", "--until", "2026-06-30", *DB)


def found(question):
    return {document["source_id"] for document in question["documents"]}


def test_ask_finds_what_was_in_force_on_the_day(filled, done):
    ended_in_june(done)
    assert "S001" in found(done("ask", "预约讲解", *DB, "--as-of", "2026-06-30"))
    assert "S001" not in found(done("ask", "预约讲解", *DB, "--as-of", "2026-07-01"))


def test_freeze_and_compare_are_of_the_day_asked_for(filled, done):
    ended_in_june(done)
    june, july = ("--as-of", "2026-06-30"), ("--as-of", "2026-07-01")
    frozen = done("freeze", "六月", *DB, *june)
    assert (frozen["as_of"], frozen["means"]) == ("2026-06-30", done("run", *DB, *june)["means"])
    assert frozen["means"] != done("run", *DB, *july)["means"]
    assert done("compare", "六月", *DB, *june)["differing"] == []
    record = done("compare", "六月", *DB, *july)
    assert (record["as_of"], record["differing"]) == ("2026-07-01", ["sources", "judgments"])


def test_compare_and_export_are_of_what_was_known_at_the_instant(filled, done):
    done("freeze", "起点", *DB)
    done("export", *DB, "--experiment", "before.json", "--trec-qrels", "before.txt")
    known = ("--known-at", done("history", *DB)["changes"][-1]["recorded_at"])
    done("judge", "Q001", "S001", 1, *DB)
    assert done("compare", "起点", *DB)["differing"] == ["judgments"]
    assert done("compare", "起点", *DB, *known)["differing"] == []
    done("export", *DB, *known, "--experiment", "then.json", "--trec-qrels", "then.txt")
    done("export", *DB, "--experiment", "now.json", "--trec-qrels", "now.txt")
    for end in ("json", "txt"):
        before, then, now = (Path(f"{name}.{end}").read_bytes() for name in ("before", "then", "now"))
        assert before == then != now


def test_exported_judgments_are_of_the_sources_in_force(filled, done):
    ended_in_june(done)
    done("export", *DB, "--trec-qrels", "q.txt", "--as-of", "2026-07-01")
    assert Path("q.txt").read_text(encoding="utf-8") == "Q001 0 S003 1\nQ002 0 S002 3\n"


def test_edit_of_a_source_that_another_changes_meanwhile_is_refused(filled, done, monkeypatch):
    looked = ExperimentStore.revision

    def look(store, kind, record_id):
        seen = looked(store, kind, record_id)
        store.edit_source("S001", title="别人的")
        return seen

    monkeypatch.setattr(ExperimentStore, "revision", look)
    for change in (("--title", "我的"), ("--remove",)):
        assert "S001" in refused(filled, "edit", "--source", "S001", *change, *DB)
        done("undo", *DB)  # the other one's change, and nothing else
    assert len(done("history", *DB)["changes"]) == 7 + 4


def test_prompt_cites_the_first_k_sources_and_the_report_counts_the_others(filled, done):
    done("set", "k=1", *DB)
    best, *others = done("run", *DB)["questions"][0]["documents"]
    assert len(others) >= 1
    done("export", *DB, "--prompt", "p.txt", "--question", "Q001", "--html", "r.html")
    prompt = Path("p.txt").read_text(encoding="utf-8")
    assert best["quote"] in prompt and not any(other["quote"] in prompt for other in others)
    assert f"另有 {len(others)} 份资料命中" in Path("r.html").read_text(encoding="utf-8")


def test_freeze_and_compare_name_the_conditions(filled, done):
    frozen = done("freeze", "起点", *DB)
    assert frozen["means"] == done("run", *DB)["means"]
    assert "条件全部相同" in filled("compare", "起点", *DB)[1]
    done("set", "window=5", "overlap=2", *DB)
    record = done("compare", "起点", *DB, "--seed", 7)
    assert (record["differing"], record["attributable_to_parameters"]) == (["parameters"], True)
    assert record["parameters"] == {
        "window": {"baseline": 200, "now": 5}, "overlap": {"baseline": 40, "now": 2},
    }  # fmt: skip
    recall = record["measures"]["Recall@3"]
    assert (recall["seed"], recall["questions"], recall["first"]) == (7, 2, 1.0)
    assert "若有差异，只能来自参数" in filled("compare", "起点", *DB)[1]
    done("judge", "Q001", "S001", 1, *DB)
    record = done("compare", "起点", *DB)
    assert (record["differing"], record["attributable_to_parameters"]) == (["judgments", "parameters"], False)
    out = filled("compare", "起点", *DB)[1]
    assert "不同的条件：判断、参数" in out and "不能说差异来自参数" in out and "2 题" in out


def test_comparison_says_what_cannot_matter_and_that_nothing_moved(filled, done):
    done("freeze", "起点", *DB)
    done("set", "budget=900", *DB)
    out = filled("compare", "起点", *DB)[1]
    assert "不影响名次和这些指标的参数改动：提示词预算（字符） 4000 → 900。\n" in out
    assert "只能来自参数" not in out and "不能说" not in out
    assert "各指标的差都是 0：没有看到差异。\n" in out
    done("set", "k=1", *DB)
    record = done("compare", "起点", *DB)
    assert (record["parameters_without_effect"], record["attributable_to_parameters"]) == (
        ["k", "budget"],
        False,
    )
    done("set", "k1=2", *DB)
    out = filled("compare", "起点", *DB)[1]
    assert "只有参数不同：BM25 的 k1 1.2 → 2.0。其余条件相同；若有差异，只能来自参数。\n" in out
    assert "参数改动：前几份（k） 3 → 1，提示词预算（字符） 4000 → 900。\n" in out


def test_comparison_says_per_measure_how_the_test_was_done_and_draws_nothing_it_does_not_show(filled, done):
    done("freeze", "起点", *DB)
    out = filled("compare", "起点", *DB)[1]
    assert out.count("（穷举）") == 6 and "抽样" not in out and "种子" not in out
    assert "不足 10 题不给区间" in out and "一次比较了 6 个指标，p 没有为此校正" in out
    for number in range(20):
        done("ask", f"预约{number}", *DB)
        done("judge", f"Q{number + 3:03}", "S001", 1, *DB)
    done("freeze", "二十题", *DB)
    out = filled("compare", "二十题", *DB, "--seed", 7)[1]
    assert "区间为 95% 自助法，抽 10000 次，种子 7。\n" in out
    assert out.count("（穷举）") == 6 and "抽样" not in out and "不足" not in out


def test_undo_redo_and_history(filled, done):
    whole = done("run", *DB)
    assert done("undo", *DB)["label"] == "撤销：判断 Q002 与 S002：3"
    assert done("run", *DB) != whole
    assert "已重做：判断 Q002 与 S002：3。" in filled("redo", *DB)[1]
    assert done("run", *DB) == whole
    changes = done("history", *DB)["changes"]
    assert [change["number"] for change in changes] == list(range(1, 10))
    assert (changes[-2]["undoes"], changes[-1]["redoes"]) == (7, 7)
    assert changes[1]["records"] == [{"kind": "source", "id": f"S00{n}"} for n in (1, 2, 3)]
    assert changes[0]["recorded_at"].endswith("+08:00")
    for _ in range(6):
        done("undo", *DB)
    assert "没有可以撤销" in refused(filled, "undo", *DB)


def test_export_and_restore_give_the_same_bytes(filled, done):
    done("freeze", "起点", *DB)
    done("edit", "--source", "S001", "--text", "=1+1", *DB)
    done("export", *DB, "--experiment", "e.json")
    assert done("restore", "e.json", "--db", "y.db") == {
        "name": "手册", "sources": 3, "questions": 2, "judgments": 3, "baselines": 1, "replaced": None,
    }  # fmt: skip
    done("export", "--db", "y.db", "--experiment", "f.json")
    assert Path("e.json").read_bytes() == Path("f.json").read_bytes()
    assert done("run", "--db", "y.db") == done("run", *DB)
    done("import", "d", "--again", "--db", "y.db")
    done("restore", "e.json", "--db", "y.db", "--overwrite")
    done("export", "--db", "y.db", "--experiment", "f.json", "--overwrite")
    assert Path("e.json").read_bytes() == Path("f.json").read_bytes()


def test_export_writes_each_kind(filled, done):
    kinds = ("measures", "hits", "figure", "html", "experiment", "trec-qrels", "trec-run", "prompt")
    names = {kind: f"out.{kind}" for kind in kinds} | {"figure": "out.svg"}
    options = [part for kind, name in names.items() for part in (f"--{kind}", name)]
    record = done("export", *DB, *options, "--question", "Q001")
    assert sorted(record["written"].values()) == sorted(names.values())
    rows = list(csv.reader(io.StringIO(Path("out.hits").read_text(encoding="utf-8-sig"), newline="")))
    hits = sum(len(question["documents"]) for question in done("run", *DB)["questions"])
    assert len(rows) == 1 + hits
    assert "<svg" in Path("out.svg").read_text(encoding="utf-8")
    assert Path("out.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    prompt = Path("out.prompt").read_text(encoding="utf-8")
    assert "怎么预约讲解" in prompt and "S001" in prompt and len(prompt) <= 4000
    assert (
        Path("out.trec-qrels").read_text(encoding="utf-8") == "Q001 0 S001 3\nQ001 0 S003 1\nQ002 0 S002 3\n"
    )


def test_export_overwrites_nothing_unless_asked_and_writes_all_or_nothing(filled, done):
    Path("there.csv").write_bytes(b"mine")
    err = refused(filled, "export", *DB, "--measures", "new.csv", "--hits", "there.csv")
    assert "there.csv" in err and "--overwrite" in err
    assert not Path("new.csv").exists() and Path("there.csv").read_bytes() == b"mine"
    assert "预算" in (done("set", "budget=10", *DB) and refused(
        filled, "export", *DB, "--measures", "new.csv", "--prompt", "p.txt", "--question", "Q001"
    ))  # fmt: skip
    assert not Path("new.csv").exists()
    done("export", *DB, "--hits", "there.csv", "--overwrite")
    assert Path("there.csv").read_bytes() != b"mine"


def test_one_file_is_left_and_holds_everything(filled, done):
    assert [path.name for path in Path().iterdir() if path.name.startswith("x.db")] == ["x.db"]
    connection = sqlite3.connect("x.db")
    assert connection.execute("SELECT count(*) FROM change").fetchone() == (7,)
    connection.close()


def test_limits_of_the_seed_are_refused_by_name(run, done):
    done("new", *DB, "--name", "小", "--limits", "seed")
    Path("long.txt").write_text("字" * 6001, encoding="utf-8")
    assert "6001，超过上限 6000" in refused(run, "import", "long.txt", *DB)
    assert "501，超过上限 500" in refused(run, "ask", "问" * 501, *DB)
    Path("big.json").write_bytes(b" " * 1_500_001)
    assert "1500001，超过上限 1500000" in refused(run, "restore", "big.json", *DB)


def test_removed_source_is_gone_and_comes_back(filled, done):
    assert done("edit", "--source", "S001", "--remove", *DB) == {
        "id": "S001", "removed": True, "changed": True, "stale": 0,
    }  # fmt: skip
    assert "S001" in refused(filled, "judge", "Q001", "S001", 1, *DB)
    done("undo", *DB)
    done("edit", "--question", "Q001", "--remove", *DB)
    assert [question["question_id"] for question in done("run", *DB)["questions"]] == ["Q002"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["new", *DB, "--name", "x"], "已经存在"),
        (["new", "--db", "y.db", "--name", " "], "名称是空的"),
        (["new", "--db", "y.db", "--name", "x", "--limits", "huge"], "default、seed"),
        (["new", "--db", "no/y.db", "--name", "x"], "不存在"),
        (["import", "nowhere", *DB], "nowhere"),
        (["import", "d", "--encoding", "morse", *DB], "morse"),
        (["import", *DB], "SOURCE"),
        (["ask", " ", *DB], "不能为空"),
        (["ask", "x", "--as-of", "昨天", *DB], "2026-11-30"),
        (["judge", "Q001", "S001", "4", *DB], "等级"),
        (["judge", "Q001", "S001", *DB], "等级"),
        (["judge", "Q001", "S009", "1", *DB], "S009"),
        (["judge", "Q009", "S001", "1", *DB], "Q009"),
        (["judge", "Q002", "S001", "confirm", *DB], "还没有判断"),
        (["judge", *DB], "--qrels"),
        (["edit", *DB, "--text", "x"], "--source"),
        (["edit", *DB, "--source", "S001", "--question", "Q001", "--text", "x"], "恰好一个"),
        (["edit", *DB, "--source", "S001"], "--remove"),
        (["edit", *DB, "--source", "S001", "--text", "x", "--remove"], "--remove"),
        (["edit", *DB, "--source", "S001", "--text", "x", "--text-file", "d/b.txt"], "只给一个"),
        (["edit", *DB, "--source", "S001", "--text-file", "d/c.txt", "--encoding", "utf-8"], "UTF-8"),
        (["edit", *DB, "--source", "S001", "--text", "x", "--encoding", "utf-8"], "--text-file"),
        (["edit", *DB, "--source", "S001", "--text-file", "d"], "恰好一篇"),
        (["set", "k=1_0", *DB], "k='1_0'"),
        (["set", "k=５", *DB], "k='５'"),
        (["set", "k1=1_0.5", *DB], "k1='1_0.5'"),
        (["set", "b=nan", *DB], "b='nan'"),
        (["restore", "d/a.md", *DB, "--limits", "seed"], "已有限额 default"),
        (["restore", "d/a.md", "--db", "y.db", "--limits", "huge"], "default、seed"),
        (["run", *DB, "--top", "0"], "--top 0"),
        (["run", *DB, "--top", "1_0"], "整数"),
        (["edit", *DB, "--source", "S001", "--text-file", "nowhere"], "nowhere"),
        (["edit", *DB, "--source", "S001", "--status", "gone"], "active"),
        (["edit", *DB, "--source", "S001", "--from", "2026-02-30"], "日期"),
        (["edit", *DB, "--source", "S001", "--from", "2026-02-02", "--until", "2026-02-01"], "颠倒"),
        (["edit", *DB, "--source", "S001", "--supersedes", "S001"], "循环"),
        (["edit", *DB, "--source", "S009", "--title", "x"], "S009"),
        (["edit", *DB, "--source", "S009", "--remove"], "S009"),
        (["edit", *DB, "--question", "Q009", "--text", "x"], "Q009"),
        (["edit", *DB, "--question", "Q001", "--title", "x"], "只属于资料"),
        (["set", "size=1", *DB], "size"),
        (["set", "k", *DB], "k=5"),
        (["run", *DB, "--known-at", "2020-01-01"], "还没有这个实验"),
        (["run", *DB, "--known-at", "x"], "时刻"),
        (["run", "--db", "nowhere.db"], "nowhere.db"),
        (["run", "--db", "d/b.txt"], "不是实验文件"),
        (["run", "--db", "d"], "文件夹"),
        (["run"], "--db"),
        (["freeze", " ", *DB], "名称是空的"),
        (["compare", "没有的", *DB], "先冻结"),
        (["redo", *DB], "没有可以重做"),
        (["export", *DB], "没有要导出"),
        (["export", *DB, "--measures", "a.csv", "--hits", "./a.csv"], "同一个文件"),
        (["export", *DB, "--prompt", "p.txt"], "--question"),
        (["export", *DB, "--prompt", "p.txt", "--question", "Q009"], "Q009"),
        (["export", *DB, "--figure", "f.gif"], "png"),
        (["export", *DB, "--measures", "no/m.csv"], "no"),
        (["restore", "nowhere.json", *DB], "nowhere.json"),
        (["restore", "d/a.md", *DB], "d/a.md"),
        (["restore", "d/a.md", "--db", "y.db"], "d/a.md"),
        (["nothing"], "nothing"),
    ],
)
def test_input_that_cannot_be_used_is_one_line_and_changes_nothing(filled, done, args, said):
    before = done("history", *DB)
    assert said in refused(filled, *args)
    assert done("history", *DB) == before
    assert not Path("y.db").exists()


HOSTILE = "\x1b]0;x\x07\x9b31m\u202e甲\u2028\uffff\U000e0041"


def test_nothing_a_source_or_question_says_reaches_the_terminal_raw(run, done):
    done("new", *DB, "--name", HOSTILE)
    Path("h.json").write_text(json.dumps([{"title": HOSTILE, "text": f"甲{HOSTILE}"}]), encoding="utf-8")
    for args in (
        ["import", "h.json"], ["ask", f"甲{HOSTILE}"], ["run"], ["judge", "Q001", "S001", "3"],
        ["freeze", HOSTILE], ["compare", HOSTILE],
        ["history"], ["set", "k=2"], ["undo"],
    ):  # fmt: skip
        for option in ([], ["--json"]):
            if args[0] in ("freeze", "undo") and option:
                continue
            code, out, err = run(*args, *DB, *option)
            assert code == 0, err
            assert not set(out + err) & (set(HOSTILE) - set("]0;x31m甲")), args
    for args in (
        ["edit", "--source", HOSTILE, "--title", "x"],
        ["compare", f"x{HOSTILE}"],
        ["judge", HOSTILE, "S001", "1"],
    ):
        err = refused(run, *args, *DB)
        assert not set(err) & (set(HOSTILE) - set("]0;x31m甲"))


def test_quote_is_shown_on_one_line_and_a_long_one_is_cut_between_graphemes(run, tmp_path):
    flag = "\U0001f1e8\U0001f1f3"
    (tmp_path / "x.txt").write_text("词\r\n\n 尾" + "字" * 196 + flag + "末", encoding="utf-8")
    run("new", "--name", "n", *DB)
    run("import", "x.txt", *DB)
    run("set", "window=300", *DB)
    _, out, _ = run("ask", "词", *DB)
    assert "     词 尾" + "字" * 196 + "…\n" in out


def test_source_edited_from_a_file_is_read_as_import_reads_it(filled, done):
    Path("n.md").write_bytes("\ufeff# 新标题\n预约改为提前五天。".encode())
    assert done("edit", "--source", "S001", "--text-file", "n.md", *DB)["changed"]
    done("export", *DB, "--experiment", "e.json")
    source = json.loads(Path("e.json").read_text(encoding="utf-8"))["sources"][0]
    assert source["text"] == "# 新标题\n预约改为提前五天。"
    assert source["text"][source["body_start"] :] == "预约改为提前五天。"
    assert (source["title"], source["transformations"]) == ("讲解", ["bom_removed"])
    assert done("ask", "新标题", *DB)["documents"] == []  # a heading is not searched
    Path("g.txt").write_bytes("预约改为提前六天，请打电话给前台。".encode("gb18030"))
    code, _, err = filled("edit", "--source", "S001", "--text-file", "g.txt", *DB)
    assert code == 0 and "GB18030" in err
    assert done("edit", "--question", "Q001", "--text-file", "g.txt", "--encoding", "gb18030", *DB)["changed"]
    assert done("run", *DB)["questions"][0]["question"] == "预约改为提前六天，请打电话给前台。"


def test_edit_that_changes_nothing_says_so(filled, done):
    before = done("history", *DB)
    for args in (
        ["--source", "S002", "--text", "退款七天内受理，运费自理。"],
        ["--source", "S002", "--title", "b.txt"],
        ["--question", "Q001", "--text", "怎么预约讲解"], ["--name", "手册"],
    ):  # fmt: skip
        code, out, _ = filled("edit", *args, *DB)
        assert code == 0 and out.startswith("没有变化") and out.count("\n") == 1
        assert done("edit", *args, *DB)["changed"] is False
    assert done("history", *DB) == before
    assert filled("edit", "--name", "新手册", *DB)[1].startswith("实验已改名为")
    assert filled("edit", "--source", "S002", "--title", "x", *DB)[1].startswith("已修改 S002")


def test_bad_judgment_in_a_file_is_named_with_its_line(filled, done):
    before = done("history", *DB)
    for line, said in (("Q002 0 S003 4", "等级 4 无效"), ("Q002 0 S007 1", "没有资料 S007"),
                       ("Q007 0 S001 1", "没有问题 Q007"), ("Q002 0 S001 -1", "等级 -1 无效")):  # fmt: skip
        Path("q.txt").write_text(f"Q001 0 S002 0\n\n{line}\n", encoding="utf-8")
        err = refused(filled, "judge", "--qrels", "q.txt", *DB)
        assert f"q.txt 第 3 行（{line}）" in err and said in err and "一条也没有写入" in err
    assert done("history", *DB) == before


def test_stale_judgments_are_named_by_run_and_list(filled, done):
    done("edit", "--source", "S001", "--text", "预约讲解要提前五天。", *DB)
    pair = {"question_id": "Q001", "source_id": "S001"}
    record = done("run", *DB)
    assert record["stale_judgments"] == [pair]
    assert (record["stale"], record["stale_in_top_k"], record["unjudged_in_top_k"]) == (1, 1, 2)
    out = filled("run", *DB)[1]
    assert "待复核的判断 1 条" in out and "：Q001 与 S001\n" in out and "前 3 篇里待复核的有 1 处" in out
    listed = done("list", *DB)
    assert [each for each in listed["judgments"] if each["state"] == "stale"] == [
        {**pair, "grade": 3, "state": "stale"}
    ]
    assert "待复核的判断 1 条：\n  Q001 与 S001  原判 3 关键\n" in filled("list", *DB)[1]


def test_list_tells_what_the_experiment_holds_on_a_day(filled, done):
    done("edit", "--source", "S003", "--until", "2026-06-30", *DB)
    done("freeze", "起点", *DB, "--as-of", "2026-06-01")
    record = done("list", *DB, "--as-of", "2026-07-01")
    assert [source["source_id"] for source in record["sources"]] == ["S001", "S002", "S003"]
    assert record["sources"][2]["absence"] == "ended"
    assert record["sources"][2]["effective_until"] == "2026-06-30"
    assert [each["question"] for each in record["questions"]] == ["怎么预约讲解", "退款要几天"]
    assert len(record["judgments"]) == 3
    assert record["baselines"] == [{"name": "起点", "as_of": "2026-06-01"}]
    assert record["limits"]["profile"] == "default" and record["limits"]["sources"] == 20_000
    out = filled("list", *DB, "--as-of", "2026-07-01")[1]
    assert out.startswith("实验「手册」，限额 default：资料篇数 20000，")
    assert "资料 3 篇，2026-07-01 有效 2 篇：" in out and "  S003  c.txt  12 字符  已过有效期\n" in out
    assert "  Q001  怎么预约讲解  判断 2 条\n" in out
    before = done("history", *DB)["changes"][1]["recorded_at"]
    assert done("list", *DB, "--known-at", before)["questions"] == []


def test_questions_without_a_hit_are_counted_and_named_wherever_means_are(filled, done):
    done("ask", "zzz", *DB)
    done("judge", "Q003", "S002", 2, *DB)
    record = done("run", *DB)
    assert (record["missing"], record["means"]["MRR@3"]) == (["Q003"], 0.666667)
    done("ask", "yyy", *DB)
    frozen = done("freeze", "起点", *DB)
    assert frozen["missing"] == ["Q003", "Q004"]
    assert frozen["undefined"]["MRR@3"] == ["Q004"]
    assert frozen["counted"]["MRR@3"] == 3
    for command in (["run"], ["freeze", "又一个"]):
        out = filled(*command, *DB)[1]
        assert "没有命中的问题 2 个，其中有相关判断的按 0 分计：Q003、Q004\n" in out
        assert "  MRR@3        0.666667  计入 3 题\n" in out
        assert "未定义、不进入均值的问题 1 个" in out
    assert done("compare", "起点", *DB)["missing"] == ["Q003", "Q004"]
    assert (
        "现在没有命中的问题 2 个，其中有相关判断的按 0 分计：Q003、Q004\n"
        in filled("compare", "起点", *DB)[1]
    )
    done("export", *DB, "--measures", "m.csv", "--html", "r.html")
    assert "没有命中的问题 2 个，其中有相关判断的按 0 分计：Q003、Q004" in Path("m.csv").read_text(
        "utf-8-sig"
    )
    assert "没有命中：2 个问题" in Path("r.html").read_text("utf-8")


def test_as_many_hits_as_are_measured_are_shown(run, done):
    done("new", *DB, "--name", "手册")
    for number in range(6):
        Path(f"d/{number}.txt").write_text("讲解 " * (number + 1), encoding="utf-8")
    done("import", "d", *DB)
    done("set", "k=5", *DB)
    assert "  5. " in run("ask", "讲解", *DB)[1] and "  6. " not in run("run", *DB)[1]
    assert "  5. " in run("run", *DB)[1] and "  2. " not in run("run", *DB, "--top", 1)[1]


def test_prompt_that_the_budget_cuts_says_what_is_left_out(filled, done):
    options = ("export", *DB, "--question", "Q001", "--prompt", "p.txt", "--overwrite")
    whole = done(*options)["prompt"]
    assert whole["left_out"] == 0 and not any(each["cut"] for each in whole["citations"])
    assert "全部完整" in filled(*options)[1]
    lines = Path("p.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    assert whole["characters"] == sum(map(len, lines))
    first, *others = whole["citations"]
    assert len(others) == 1
    mark = "（受字数预算所限：另有 1 条摘录没有列出，列出的摘录里有 1 条只是开头。）\n"
    done("set", f"budget={sum(map(len, [*lines[:-1], mark])) - 1}", *DB)
    short = done(*options)["prompt"]
    (cut,) = short["citations"]
    assert (cut["cite"], cut["start"], cut["cut"], short["left_out"]) == (1, first["start"], True, 1)
    assert cut["end"] < first["end"]
    assert "预算不够，截短 1 条，略去 1 条。" in filled(*options)[1]
    assert Path("p.txt").read_text(encoding="utf-8").endswith(mark)


def test_limits_of_a_restored_experiment_are_chosen_and_shown(filled, done):
    done("export", *DB, "--experiment", "e.json")
    done("restore", "e.json", "--db", "y.db", "--limits", "seed")
    assert "限额 seed：资料篇数 24，" in filled("list", "--db", "y.db")[1]
    long = ("--text", "字" * 6001)
    assert "6001，超过上限 6000" in refused(filled, "edit", "--source", "S001", *long, "--db", "y.db")
    assert "没有可以撤销" in refused(filled, "undo", "--db", "y.db")
    text = Path("e.json").read_text(encoding="utf-8")
    Path("long.json").write_text(text.replace("退款七天", "款" * 6001), encoding="utf-8")
    assert "超过上限 6000" in refused(filled, "restore", "long.json", "--db", "z.db", "--limits", "seed")
    assert not Path("z.db").exists()


def test_hard_link_to_the_experiment_is_no_target(filled):
    os.link("x.db", "h.db")
    assert "实验文件本身" in refused(filled, "export", *DB, "--experiment", "h.db", "--overwrite")
