"""The demo experiment measured: `python -m evidence_kit.experiments.demo data/demo_experiment`.

What it prints is kept as `expected.json` beside the sources. The figures describe this small set alone and
rank no method.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from evidence_kit.errors import EvidenceError, os_reason
from evidence_kit.experiments.model import Experiment, ExperimentSource, Judgment, Parameters, Question
from evidence_kit.experiments.run import evaluate_search, qrels_in_force, search
from evidence_kit.measures.digits import rounded
from evidence_kit.measures.ranking import MRR, Recall, nDCG
from evidence_kit.sources.readers import read_sources
from evidence_kit.sources.strict_json import Fields, parse_json
from evidence_kit.sources.visible import visible

# All sources are in force on every day.
_DAY = date(2026, 11, 30)
SETTINGS = {
    "bm25": Parameters(),
    "tfidf_log, window 100, overlap 20, k 2": Parameters(method="tfidf_log", window=100, overlap=20, k=2),
}


def read_demo(folder: Path, parameters: Parameters) -> Experiment:
    """Return the experiment in a folder: `sources/`, with file names as ids, and `questions.json`."""
    documents = read_sources([folder / "sources"]).documents
    sources = {
        document.source_id: ExperimentSource(
            document.source_id, document.title, document.text, document.body_start
        )
        for document in documents
    }
    name = visible(str(folder / "questions.json"))
    questions, judgments = [], []
    for fields in Fields(parse_json((folder / "questions.json").read_bytes(), name), name).records(
        "questions"
    ):
        question = Question(fields.string("id"), fields.string("text"))
        questions.append(question)
        grades = fields.record("judgments")
        for source_id in sorted(grades.names()):
            if source_id not in sources:
                raise grades.wrong(source_id, "不是 sources 里的文件")
            judgments.append(
                Judgment(
                    question.question_id,
                    source_id,
                    grades.integer(source_id),
                    question.text_sha256,
                    sources[source_id].text_sha256,
                )
            )
    return Experiment(
        name="演示实验",
        sources=tuple(sources[name] for name in sorted(sources)),
        questions=tuple(questions),
        judgments=tuple(judgments),
        parameters=parameters,
    )


def measured_to_json(folder: Path) -> str:
    """Return the means of Recall, MRR and nDCG at 3, and at the setting's own k, as JSON."""
    record = {}
    for name, parameters in SETTINGS.items():
        experiment = read_demo(folder, parameters)
        found = search(experiment, _DAY)
        cuts = sorted({3, parameters.k}, reverse=True)
        measures = [measure @ k for k in cuts for measure in (Recall, MRR, nDCG)]
        evaluation = evaluate_search(qrels_in_force(experiment, found.standing), found, measures)
        record[name] = {
            "questions": evaluation.questions,
            "passages": len(found.passages),
            **{measure: rounded(value) for measure, value in evaluation.means.items()},
        }
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def main(args: Sequence[str]) -> int:
    """Print the figures of the demo experiment in the folder given; return the exit code."""
    if len(args) != 1:
        sys.stderr.write("用法：python -m evidence_kit.experiments.demo 演示实验文件夹\n")
        return 2
    try:
        sys.stdout.write(measured_to_json(Path(args[0])))
    except EvidenceError as error:
        sys.stderr.write(f"错误：{error.message}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(
            f"错误：{visible(str(error.filename))} 无法读取（{os_reason(error)}）；请检查路径。\n"
        )
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
