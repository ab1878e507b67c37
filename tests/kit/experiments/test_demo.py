"""The demo experiment gives the figures that are kept beside it."""

import json
import math
import shutil
from datetime import date
from pathlib import Path

import pytest

from evidence_kit.experiments.demo import SETTINGS, main, measured_to_json, read_demo
from evidence_kit.experiments.model import Parameters
from evidence_kit.experiments.run import run
from evidence_kit.sources.strict_json import JsonInputError

FOLDER = Path(__file__).parents[3] / "data/demo_experiment"


def test_command_prints_what_is_kept_as_expected(capsys):
    assert main([str(FOLDER)]) == 0
    assert capsys.readouterr().out == (FOLDER / "expected.json").read_text(encoding="utf-8")


def test_readme_names_the_command_and_shows_the_figures():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "python -m evidence_kit.experiments.demo data/demo_experiment" in readme
    for row in json.loads((FOLDER / "expected.json").read_text(encoding="utf-8")).values():
        for measure, value in row.items():
            if "@" in measure:
                assert measure in readme
                assert f"{value:.6f}" in readme
    assert "不给任何检索方法排名次" in readme


def measured_by_hand(grades, ranked, k):
    relevant = {source for source, grade in grades.items() if grade}
    gains = [2 ** grades.get(source, 0) - 1 for source in ranked[:k]]
    ideal = sorted((2**grade - 1 for grade in grades.values()), reverse=True)[:k]
    first = next((rank for rank, source in enumerate(ranked[:k], 1) if source in relevant), None)
    discounted = [
        sum(gain / math.log2(rank + 1) for rank, gain in enumerate(list_of, 1)) for list_of in (gains, ideal)
    ]
    return (
        len(relevant & set(ranked[:k])) / len(relevant),
        1 / first if first else 0,
        discounted[0] / discounted[1],
    )


def test_figures_agree_with_measures_worked_out_here():
    expected = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
    for name, parameters in SETTINGS.items():
        experiment = read_demo(FOLDER, parameters)
        qrels = experiment.qrels()
        for k in {3, parameters.k}:
            rows = [
                measured_by_hand(
                    qrels[result.question.question_id], [hit.best.source_id for hit in result.documents], k
                )
                for result in run(experiment, date(2026, 11, 30)).results
            ]
            means = [round(sum(column) / len(rows), 6) for column in zip(*rows, strict=True)]
            assert means == [expected[name][f"{measure}@{k}"] for measure in ("Recall", "MRR", "nDCG")]


def test_demo_has_eight_sources_and_five_judged_questions():
    experiment = read_demo(FOLDER, Parameters())
    assert (len(experiment.sources), len(experiment.questions)) == (8, 5)
    assert all(any(grades.values()) for grades in experiment.qrels().values())
    assert {judgment.grade for judgment in experiment.judgments} == {0, 1, 2, 3}


def test_judgment_of_a_file_that_is_not_there_is_refused(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "demo")
    (tmp_path / "demo/sources/repair.md").unlink()
    with pytest.raises(JsonInputError, match=r"repair\.md"):
        measured_to_json(tmp_path / "demo")


@pytest.mark.parametrize("args", [[], ["a", "b"], ["nowhere"]])
def test_command_without_a_folder_of_its_kind_is_one_line(capsys, args):
    assert main(args) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
