"""`evidence measure` as it is called: JSON shape, text, comparison, exit codes, one line for every error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evidence_kit.commands import main
from evidence_kit.measures.intervals import SEED

ROOT = Path(__file__).parents[3]
QRELS = "问1 0 a 3\n问1 0 b 1\n问2 0 a 0\n问3 0 c 2\n"
RUN = "问1 Q0 b 1 2.0 s\n问1 Q0 a 2 1.0 s\n问2 Q0 a 1 1.0 s\n"
BETTER = "问1 Q0 a 1 2.0 s\n问1 Q0 b 2 1.0 s\n问3 Q0 c 1 1.0 s\n"
MEASURE = ("measure", "--qrels", "q.txt", "--run", "r.txt")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("q.txt", QRELS), ("r.txt", RUN), ("better.txt", BETTER)):
        Path(name).write_text(text, encoding="utf-8")

    def call(*args):
        code = main(list(args))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def test_json_has_exactly_these_keys(run):
    code, out, err = run(*MEASURE, "-m", "nDCG@3", "-m", "MRR@10", "-m", "Judged@3", "--json")
    assert (code, err) == (0, "")
    # 问1: (1 + 7 / log2(3)) / (7 + 1 / log2(3)) = 0.709810; 问3 is missing, 问2 undefined.
    assert json.loads(out) == {
        "questions": 3,
        "means": {"nDCG@3": 0.354905, "MRR@10": 0.5, "Judged@3": 0.666667},
        "undefined": {"nDCG@3": ["问2"], "MRR@10": ["问2"], "Judged@3": []},
        "missing": ["问3"],
        "ignored": [],
    }
    assert list(json.loads(out)) == ["questions", "means", "undefined", "missing", "ignored"]


def test_values_of_each_question_are_there_when_asked_for(run):
    record = json.loads(run(*MEASURE, "-m", "nDCG@3", "--per-question", "--json")[1])
    assert list(record) == ["questions", "means", "undefined", "missing", "ignored", "per_question"]
    assert record["per_question"] == {
        "问1": {"nDCG@3": 0.70981},
        "问2": {"nDCG@3": None},
        "问3": {"nDCG@3": 0.0},
    }


def test_mean_of_nothing_is_null(run):
    Path("q.txt").write_text("问2 0 a 0\n", encoding="utf-8")
    assert json.loads(run(*MEASURE, "-m", "AP", "--json")[1])["means"] == {"AP": None}
    assert "  AP  未定义    计入 0 个问题，未定义 1 个\n" in run(*MEASURE, "-m", "AP")[1]


def test_text_names_what_is_undefined_missing_and_unjudged(run):
    code, out, err = run(*MEASURE, "-m", "nDCG@3", "-m", "AP", "-m", "Judged@3", "--per-question")
    assert (code, err) == (0, "")
    assert out == (
        "共 3 个有判断的问题。\n"
        "  nDCG@3    0.354905  计入 2 个问题，未定义 1 个\n"
        "  AP        0.500000  计入 2 个问题，未定义 1 个\n"
        "  Judged@3  0.666667  计入 3 个问题，未定义 0 个\n"
        "没有相关判断，nDCG@3、AP 未定义，不进入均值：问2\n"
        "排名里缺 1 个问题，按 0 分计：问3\n"
        "没有判断过的文档按 0 增益计，指标只描述已知的相关文档；用 Judged@k 看判断覆盖了多少。\n"
        "\n"
        "nDCG@3    AP        Judged@3  问题\n"
        "0.709810  1.000000  1.000000  问1\n"
        "未定义    未定义    1.000000  问2\n"
        "0.000000  0.000000  0.000000  问3\n"
    )


def test_many_names_are_cut_in_text_and_whole_in_json(run):
    names = [f"q{number:03}" for number in range(50)]
    Path("q.txt").write_text("".join(f"{name} 0 a 1\n" for name in names), encoding="utf-8")
    out = run(*MEASURE, "-m", "AP")[1]
    assert "q019 等（另有 30 个，--json 全部列出）" in out and "q020" not in out
    assert json.loads(run(*MEASURE, "-m", "AP", "--json")[1])["missing"] == names


def test_questions_without_judgments_are_told_on_stderr(run):
    with Path("r.txt").open("a", encoding="utf-8") as file:
        file.write("问9 Q0 a 1 1.0 s\n")
    code, out, err = run(*MEASURE, "-m", "AP", "--json")
    assert code == 0
    assert (json.loads(out)["questions"], json.loads(out)["ignored"]) == (3, ["问9"])
    assert err == "提示：排名里有 1 个问题没有判断，未计入：问9\n"
    assert "--against 的排名里有 1 个" in run(*MEASURE, "-m", "AP", "--against", "r.txt")[2]


def test_two_runs_are_compared(run):
    against = ("--against", "better.txt", "--seed", "7")
    code, out, err = run(*MEASURE, "-m", "MRR@3", "-m", "P@1", *against, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert list(record) == ["questions", "means", "undefined", "missing", "ignored", "against"]
    # MRR@3: 1 to 1, 0 to 1; turning the one difference leaves it as far from 0.
    assert record["against"]["measures"]["MRR@3"] == {
        "questions": 2,
        "left_out": ["问2"],
        "first": 0.5,
        "second": 1.0,
        "difference": 0.5,
        "interval": None,
        "p_value": 1.0,
        "exact": True,
        "seed": 7,
        "rounds": 10000,
    }
    text = run(*MEASURE, "-m", "MRR@3", "-m", "P@1", *against)[1]
    assert text.endswith(
        "这份排名 → 另一份排名：\n"
        "  MRR@3  0.500000 → 1.000000  差 +0.500000  区间 无  p=1.000000（穷举）  2 题\n"
        "  P@1    0.500000 → 1.000000  差 +0.500000  区间 无  p=1.000000（穷举）  2 题\n"
        "均值和差只算两边都有定义的题；差为后者减前者。\n"
        "不足 10 题不给区间：那样的区间太窄，见 docs/formulas.md。\n"
        "p 来自双侧的配对随机化检验：穷举是试遍全部正负号。\n"
        "一次比较了 2 个指标，p 没有为此校正：比得越多，碰巧显得小的越多。\n"
        "另一份排名里缺 1 个问题，按 0 分计：问2\n"
    )
    assert text == run(*MEASURE, "-m", "MRR@3", "-m", "P@1", *against)[1]


def test_comparison_that_draws_signs_says_so(run):
    lines = [f"q{number:02}" for number in range(20)]
    Path("q.txt").write_text("".join(f"{name} 0 a 1\n" for name in lines), encoding="utf-8")
    Path("r.txt").write_text("q99 Q0 a 1 1 s\n", encoding="utf-8")
    Path("better.txt").write_text("".join(f"{name} Q0 a 1 1 s\n" for name in lines), encoding="utf-8")
    out = run(*MEASURE, "-m", "P@1", "--against", "better.txt", "--seed", "7")[1]
    assert (
        "  P@1  0.000000 → 1.000000  差 +1.000000  区间 [+1.000000, +1.000000]  p=0.000100（抽样）  20 题\n"
        "均值和差只算两边都有定义的题；差为后者减前者。\n"
        "区间为 95% 自助法，抽 10000 次，种子 7。\n"
        "p 来自双侧的配对随机化检验：抽样是随机抽 10000 次，种子 7。\n" in out
    )
    assert "校正" not in out  # one measure alone


def test_seed_is_the_same_by_default_as_in_an_experiment(run):
    record = json.loads(run(*MEASURE, "-m", "AP", "--against", "better.txt", "--json")[1])
    assert record["against"]["measures"]["AP"]["seed"] == SEED
    assert str(SEED) in run("measure", "--help")[1]


def test_questions_that_the_other_run_lacks_or_has_alone_are_named(run):
    Path("better.txt").write_text("问1 Q0 a 1 2.0 s\n问9 Q0 a 1 1.0 s\n", encoding="utf-8")
    record = json.loads(run(*MEASURE, "-m", "AP", "--against", "better.txt", "--json")[1])
    assert (record["missing"], record["ignored"]) == (["问3"], [])
    assert (record["against"]["missing"], record["against"]["ignored"]) == (["问2", "问3"], ["问9"])
    text = run(*MEASURE, "-m", "AP", "--against", "better.txt")[1]
    assert "另一份排名里缺 2 个问题，按 0 分计：问2、问3\n" in text


def test_tiny_loss_is_shown_as_no_difference_without_a_minus(run):
    names = [f"q{number:03}" for number in range(10)]
    Path("q.txt").write_text("".join(f"{name} 0 a 30\n{name} 0 b 1\n" for name in names), encoding="utf-8")
    Path("r.txt").write_text("".join(f"{name} Q0 a 1 2 s\n{name} Q0 b 2 1 s\n" for name in names))
    Path("better.txt").write_text("".join(f"{name} Q0 a 1 2 s\n" for name in names))
    out = run(*MEASURE, "-m", "nDCG@2", "--against", "better.txt")[1]
    assert "差 +0.000000  区间 [+0.000000, +0.000000]" in out and "-0.000000" not in out
    record = json.loads(run(*MEASURE, "-m", "nDCG@2", "--against", "better.txt", "--json")[1])
    assert str(record["against"]["measures"]["nDCG@2"]["difference"]) == "0.0"


@pytest.mark.parametrize(("qrels", "said"), [("问2 0 a 0\n", "没有可比较的问题"), ("问3 0 c 1\n", "区间 无")])
def test_comparison_over_too_few_questions_is_undefined(run, qrels, said):
    Path("q.txt").write_text(qrels, encoding="utf-8")
    assert said in run(*MEASURE, "-m", "AP", "--against", "better.txt")[1]
    record = json.loads(run(*MEASURE, "-m", "AP", "--against", "better.txt", "--json")[1])
    assert record["against"]["measures"]["AP"]["interval"] is None


def test_progress_stays_off_a_file(run):
    assert run(*MEASURE, "-m", "AP", "--against", "better.txt")[2] == ""


def test_progress_is_shown_on_a_terminal(run, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    _, out, err = run(*MEASURE, "-m", "AP", "--against", "better.txt")
    assert "比较 AP" in err and "比较 AP" not in out


HOSTILE = "\x1b]0;x\x07\u202e\U000e0041"


def test_nothing_a_file_says_reaches_the_terminal_raw(run):
    Path("q.txt").write_text(f"{HOSTILE} 0 a 0\n{HOSTILE}2 0 a 1\n", encoding="utf-8")
    Path("r.txt").write_text(f"{HOSTILE}9 Q0 a 1 1.0 s\n", encoding="utf-8")
    for args in (("--per-question",), ("--per-question", "--json")):
        _, out, err = run(*MEASURE, "-m", "AP", *args)
        assert not set(out + err) & set("\x1b\x07\u202e\U000e0041")
    assert list(json.loads(out)["per_question"]) == [HOSTILE, f"{HOSTILE}2"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((*MEASURE, "-m", "ndcg@3"), "nDCG@k"),
        ((*MEASURE, "-m", ""), "nDCG@k"),
        ((*MEASURE, "-m", "\udcff@3"), "nDCG@k"),
        (MEASURE, "-m"),
        (("measure", "--qrels", "q.txt", "-m", "AP"), "--run"),
        (("measure", "--run", "r.txt", "-m", "AP"), "--qrels"),
        (("measure", "--qrels", "none.txt", "--run", "r.txt", "-m", "AP"), "none.txt 不存在"),
        (("measure", "--qrels", ".", "--run", "r.txt", "-m", "AP"), "文件夹"),
        (("measure", "--qrels", "r.txt", "--run", "r.txt", "-m", "AP"), "r.txt 第 1 行：有 6 列，应有 4 列"),
        (("measure", "--qrels", "q.txt", "--run", "q.txt", "-m", "AP"), "q.txt 第 1 行：有 4 列，应有 6 列"),
        ((*MEASURE, "-m", "AP", "--against", "q.txt"), "q.txt 第 1 行"),
        ((*MEASURE, "-m", "AP", "--against", "better.txt", "--seed", "-1"), "种子"),
        ((*MEASURE, "-m", "AP", "--seed", "x"), "--seed"),
        ((*MEASURE, "-m", "AP", "extra"), "extra"),
    ],
)
def test_input_that_cannot_be_used_is_one_line_and_exit_code_2(run, args, said):
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert err.startswith("错误：") and err.count("\n") == 1 and said in err


def test_help_speaks_chinese_and_its_example_runs(run):
    code, out, _ = run("measure", "--help")
    assert code == 0 and "例：" in out and "Usage" not in out
    assert "  evidence measure --qrels 判断.txt --run 排名.txt -m nDCG@3 -m MRR@10\n" in out
    Path("q.txt").rename("判断.txt")
    Path("r.txt").rename("排名.txt")
    Path("better.txt").rename("新排名.txt")
    for line in out.splitlines():
        if line.strip().startswith("evidence "):
            assert run(*line.split()[1:])[0] == 0


def test_command_starts_without_numpy_or_the_index(run):
    code = (
        "import sys; from evidence_kit.commands import main; "
        f"main({[*MEASURE, '-m', 'AP']!r}); "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'regex', 'sqlite3', 'evidence_kit.index')))"
    )
    process = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT)}, capture_output=True)
    assert process.returncode == 0
