"""A full experiment as JSON and back: one experiment has one form, and what is not that form is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any, TypeVar, cast

from evidence_kit.experiments.baseline import CONDITIONS, parameters_digest
from evidence_kit.experiments.limits import PROFILES, Limits, check_restore
from evidence_kit.experiments.model import (
    Baseline,
    Experiment,
    ExperimentError,
    ExperimentSource,
    Judgment,
    Parameters,
    Question,
)
from evidence_kit.measures.ranking import mean, parse_measure
from evidence_kit.sources.days import parse_day
from evidence_kit.sources.encodings import NAMES
from evidence_kit.sources.strict_json import Fields, parse_json
from evidence_kit.sources.validity import Status, Validity, refuse_circle

SCHEMA = "evidence-experiment/1"

_SHA256 = re.compile(r"[0-9a-f]{64}")

Record = TypeVar("Record")


def experiment_to_json(experiment: Experiment) -> str:
    """Return the whole experiment as JSON of schema `evidence-experiment/1`, ending in a line break.

    Equal experiments give the same text: maps are in order of key. Raises
    ExperimentError on a number that is not finite and on a lone surrogate, which no JSON holds.
    """
    record = {
        "schema": SCHEMA,
        "name": experiment.name,
        "parameters": vars(experiment.parameters),
        "sources": [_source_record(source) for source in experiment.sources],
        "questions": [
            {"question_id": question.question_id, "text": question.text} for question in experiment.questions
        ],
        "judgments": [vars(judgment) for judgment in experiment.judgments],
        "baselines": [_baseline_record(baseline) for baseline in experiment.baselines],
        "views": _sorted(experiment.views),
    }
    try:
        text = json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ExperimentError("实验的文字里含有孤立的代理项，不能导出：请检查资料与问题的来源。") from None
    except ValueError:
        raise ExperimentError("实验里有不是有限数的值，不能导出：请检查参数与基线。") from None
    return text


def experiment_from_json(data: bytes, name: str, limits: Limits = PROFILES["default"]) -> Experiment:
    """Return the experiment that `data` holds, ids and stale judgments included; `name` is what errors name.

    Raises JsonInputError naming the path, such as `judgments[3].grade`, and ExperimentError where `data` is
    longer than the limits allow.
    """
    check_restore(len(data), limits)
    fields = Fields(parse_json(data, name), name)
    if fields.string("schema") != SCHEMA:
        raise fields.wrong("schema", f"应是 {SCHEMA}（别的版本请用相应版本的工具读取）")
    keys = ("schema", "name", "parameters", "sources", "questions", "judgments", "baselines", "views")
    fields.only(*keys)
    sources = _records(fields, "sources", _source, _source_key, "source_id")
    with fields.within("sources"):
        refuse_circle({source.source_id: source.validity for source in sources})
    questions = _records(fields, "questions", _question, _question_key, "question_id")
    judgments = _judgments(fields, questions, sources)
    parameters = _parameters(fields.record("parameters"))
    baselines = _records(fields, "baselines", _baseline, _name_key, "name")
    views = fields.record("views")
    shown = {key: views.string(key) for key in views.names()}
    experiment_name = fields.string("name")
    with fields.within("name"):
        return Experiment(experiment_name, sources, questions, judgments, parameters, baselines, shown)


# Out.


def _source_record(source: ExperimentSource) -> dict[str, object]:
    validity = source.validity
    return {
        "source_id": source.source_id,
        "title": source.title,
        "text": source.text,
        "body_start": source.body_start,
        "validity": {
            "status": validity.status,
            "effective_from": _day_text(validity.effective_from),
            "effective_until": _day_text(validity.effective_until),
            "supersedes": list(validity.supersedes),
        },
        "encoding": source.encoding,
        "transformations": list(source.transformations),
        **({"origin": source.origin} if source.origin else {}),
    }


def _baseline_record(baseline: Baseline) -> dict[str, object]:
    return {
        "name": baseline.name,
        "as_of": baseline.as_of,
        "parameters": vars(baseline.parameters),
        "digests": _sorted(baseline.digests),
        "means": _values_record(baseline.means),
        "per_question": {
            key: _values_record(values) for key, values in sorted(baseline.per_question.items())
        },
    }


def _values_record(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: None if value is None else float(value) for name, value in sorted(values.items())}


def _sorted(strings: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(strings.items()))


def _day_text(day: date | None) -> str | None:
    return day.isoformat() if day else None


# The order of records.


def _source_key(source: ExperimentSource) -> str:
    return source.source_id


def _question_key(question: Question) -> str:
    return question.question_id


def _judgment_key(judgment: Judgment) -> tuple[str, str]:
    return judgment.question_id, judgment.source_id


def _name_key(baseline: Baseline) -> str:
    return baseline.name


# In.


def _records(
    fields: Fields, key: str, read: Callable[[Fields], Record], order: Callable[[Record], Any], named: str
) -> tuple[Record, ...]:
    """Return the records of an array, each after the one before it by `order`, which rules out duplicates."""
    records: list[Record] = []
    for item in fields.records(key):
        record = read(item)
        if records and order(record) == order(records[-1]):
            raise item.wrong(named, "与前一条重复")
        if records and order(record) < order(records[-1]):
            raise item.wrong(named, "没有按标识升序排列，或与前面重复")
        records.append(record)
    return tuple(records)


def _source(fields: Fields) -> ExperimentSource:
    keys = ("source_id", "title", "text", "body_start", "validity", "encoding", "transformations", "origin")
    fields.only(*keys)
    values: dict[str, Any] = {
        **{key: fields.string(key) for key in ("source_id", "title", "text")},
        "body_start": fields.integer("body_start"),
        "validity": _validity(fields),
        "encoding": _encoding(fields),
        "transformations": fields.strings("transformations"),
        "origin": _origin(fields),
    }
    with fields.within():
        return ExperimentSource(**values)


def _encoding(fields: Fields) -> str:
    name = fields.string("encoding")
    if name not in NAMES:
        raise fields.wrong("encoding", f"应是 {'、'.join(NAMES)} 之一")
    return name


def _origin(fields: Fields) -> str:
    """Return the file's name; where there was no file there is no key."""
    if "origin" not in fields.names():
        return ""
    origin = fields.string("origin")
    if not origin:
        raise fields.wrong("origin", "不能为空：没有文件名就不写这个键")
    return origin


def _validity(source: Fields) -> Validity:
    fields = source.record("validity")
    fields.only("status", "effective_from", "effective_until", "supersedes")
    status = cast(Status, fields.string("status"))
    first, last = _day(fields, "effective_from"), _day(fields, "effective_until")
    superseded = fields.strings("supersedes")
    with fields.within():
        return Validity(status, first, last, superseded)


def _question(fields: Fields) -> Question:
    fields.only("question_id", "text")
    question_id, text = fields.string("question_id"), fields.string("text")
    with fields.within():
        return Question(question_id, text)


def _judgments(
    fields: Fields, questions: Iterable[Question], sources: Iterable[ExperimentSource]
) -> tuple[Judgment, ...]:
    question_ids = {question.question_id for question in questions}
    source_ids = {source.source_id for source in sources}

    def read(item: Fields) -> Judgment:
        item.only("question_id", "source_id", "grade", "question_sha256", "source_sha256")
        values: dict[str, Any] = {
            "question_id": _known(item, "question_id", question_ids),
            "source_id": _known(item, "source_id", source_ids),
            "grade": item.integer("grade"),
            "question_sha256": _sha256(item, "question_sha256"),
            "source_sha256": _sha256(item, "source_sha256"),
        }
        with item.within("grade"):
            return Judgment(**values)

    return _records(fields, "judgments", read, _judgment_key, "source_id")


def _parameters(fields: Fields) -> Parameters:
    strings, whole, real = ("method", "analyzer"), ("window", "overlap", "k", "budget"), ("k1", "b")
    fields.only(*strings, *whole, *real)
    values: dict[str, Any] = {
        **{key: fields.string(key) for key in strings},
        **{key: fields.integer(key) for key in whole},
        **{key: fields.number(key) for key in real},
    }
    with fields.within():
        return Parameters(**values)


def _baseline(fields: Fields) -> Baseline:
    fields.only("name", "as_of", "parameters", "digests", "means", "per_question")
    with fields.within("as_of"):
        as_of = parse_day(fields.string("as_of")).isoformat()
    digests = fields.record("digests")
    digests.only(*CONDITIONS)
    results = fields.record("per_question")
    baseline = Baseline(
        name=_filled(fields, "name"),
        as_of=as_of,
        parameters=_parameters(fields.record("parameters")),
        digests={key: _sha256(digests, key) for key in CONDITIONS},
        means=_values(fields.record("means")),
        per_question={key: _values(results.record(key)) for key in results.names()},
    )
    with fields.within():
        _check_baseline(baseline)
    return baseline


def _check_baseline(baseline: Baseline) -> None:
    """Raise ExperimentError where a baseline contradicts itself."""
    for question_id, values in baseline.per_question.items():
        if set(values) != set(baseline.means):
            raise ExperimentError(f"问题 {question_id} 的指标与 means 的指标不同：请用原样的导出文件")
    for name, value in baseline.means.items():
        right = mean(values[name] for values in baseline.per_question.values())
        if value != right:
            raise ExperimentError(f"指标 {name} 的均值是 {value}，各题的均值却是 {right}：请用原样的导出文件")
    if baseline.digests["parameters"] != parameters_digest(baseline.parameters):
        raise ExperimentError("参数的摘要与参数不符：请用原样的导出文件")


def _values(fields: Fields) -> dict[str, float | None]:
    """Return the values of measures, which lie between 0 and 1."""
    found: dict[str, float | None] = {}
    for key in fields.names():
        with fields.within(key):
            parse_measure(key)
        found[key] = fields.number(key) if fields.has(key) else None
        if not 0 <= (found[key] or 0) <= 1:
            raise fields.wrong(key, "应在 0 与 1 之间")
    return found


def _filled(fields: Fields, key: str) -> str:
    value = fields.string(key)
    if not value.strip():
        raise fields.wrong(key, "不能为空")
    return value


def _known(fields: Fields, key: str, known: set[str]) -> str:
    value = fields.string(key)
    if value not in known:
        raise fields.wrong(key, f"所指的 {value!r} 不在这个实验里")
    return value


def _sha256(fields: Fields, key: str) -> str:
    value = fields.string(key)
    if not _SHA256.fullmatch(value):
        raise fields.wrong(key, "应是 64 位小写十六进制的 SHA-256")
    return value


def _day(fields: Fields, key: str) -> date | None:
    """Return the day at `key`, None where it is null; a key that is missing is none of both."""
    if key in fields.names() and not fields.has(key):
        return None
    with fields.within(key):
        return parse_day(fields.string(key))
