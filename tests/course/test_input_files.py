"""Every bad input file is refused in one line that names the file and the cause; nothing else happens."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import acceptance
import calibrate
import evaluate
import evidence_assistant as ea

LISTS = {
    "corpus.json": ("chunks", "chunk_id"),
    "keyword_rules.json": ("rules", "chunk_id"),
    "calibration_qa.json": ("items", "id"),
    "fixed_qa.json": ("items", "id"),
    "probe_qa.json": ("items", "id"),
    "evidence_questions.json": ("items", "id"),
}
VERSIONED = {
    "corpus.json": "corpus_version", "calibration_qa.json": "version",
    "fixed_qa.json": "version", "probe_qa.json": "version",
}  # fmt: skip


@pytest.fixture
def load(chunks, monkeypatch) -> Callable[[Path], Any]:
    """Return a function that reads a data file as the course reads it."""

    def read(path: Path) -> Any:
        if path.name == "corpus.json":
            return ea.active_chunks(ea.load_corpus(path)["chunks"])
        if path.name == "evidence_questions.json":
            monkeypatch.setattr(acceptance, "DATA", path.parent)
            return acceptance.check_evidence_questions()
        readers: dict[str, Callable[..., Any]] = {
            "keyword_rules.json": lambda c, p: ea.KeywordBaseline(c, ea.load_keyword_rules(c, p)),
            "calibration_qa.json": calibrate.load_calibration,
            "fixed_qa.json": evaluate.load_frozen,
            "probe_qa.json": evaluate.load_probe,
        }
        return readers[path.name](chunks, path)

    return read


def refused(load: Callable[[Path], Any], path: Path, *words: str) -> None:
    with pytest.raises(ea.InputError) as caught:
        load(path)
    message = ea.visible(str(caught.value))
    assert len(message.splitlines()) == 1
    for word in (str(path), *words):
        assert word in message


# ---- damage that any file can have ----


def good(name: str) -> bytes:
    return (ea.DATA / name).read_bytes()


def no_file(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere.json")


def text(change: Callable[[str], str]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(change(path.read_text("utf-8")).encode("utf-8", "surrogatepass"))


def value(change: Callable[[Any, str, str], Any]) -> Callable[[Path], None]:
    """Return a damage done to the parsed value; the changer gets value, list key and id key."""

    def damage(path: Path) -> None:
        changed = change(json.loads(path.read_text("utf-8")), *LISTS[path.name])
        path.write_text(json.dumps(changed, ensure_ascii=False), encoding="utf-8")

    return damage


def set_first(key_of: Callable[[str], str], new: Any) -> Callable[[Path], None]:
    def change(data: Any, listed: str, key: str) -> Any:
        data[listed][0][key_of(key)] = new
        return data

    return value(change)


def without_id(data: Any, listed: str, key: str) -> Any:
    del data[listed][0][key]
    return data


def doubled(data: Any, listed: str, key: str) -> Any:
    data[listed].append(dict(data[listed][0]))
    return data


def with_first(new: Any) -> Callable[[Any, str, str], Any]:
    return lambda data, listed, key: {**data, listed: [new, *data[listed][1:]]}


DAMAGES: dict[str, Callable[[Path], None]] = {
    "missing": no_file,
    "folder": a_folder,
    "dangling link": a_dangling_link,
    "empty": lambda path: path.write_bytes(b""),
    "torn": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "GB18030": lambda path: path.write_bytes(path.read_text("utf-8").encode("gb18030")),
    "UTF-16": lambda path: path.write_bytes(path.read_text("utf-8").encode("utf-16")),
    "duplicate key": text(lambda s: s.replace("{", '{"x": 1, "x": 2, ', 1)),
    "duplicate key inside": text(lambda s: s.replace("[\n    {", '[\n    {"x": 1, "x": 2, ', 1)),
    "NaN": text(lambda s: s.replace("{", '{"x": NaN, ', 1)),
    "infinity": text(lambda s: s.replace("{", '{"x": -Infinity, ', 1)),
    "overflowing number": text(lambda s: s.replace("{", '{"x": 1e999, ', 1)),
    "escaped lone surrogate": text(lambda s: s.replace("{", '{"x": "\\ud800", ', 1)),
    "lone surrogate in a key": text(lambda s: s.replace("{", '{"\\udfff": 1, ', 1)),
    "encoded lone surrogate": text(lambda s: s.replace("{", '{"x": "\ud800", ', 1)),
    "endless nesting": lambda path: path.write_text("[" * 200_000),
    "a number of 5000 digits": text(lambda s: s.replace("{", '{"x": ' + "9" * 5000 + ", ", 1)),
    "list at the top": value(lambda data, listed, key: data[listed]),
    "string at the top": value(lambda data, listed, key: "x"),
    "null at the top": value(lambda data, listed, key: None),
    "no list": value(lambda data, listed, key: {k: v for k, v in data.items() if k != listed}),
    "empty list": value(lambda data, listed, key: {**data, listed: []}),
    "object for the list": value(lambda data, listed, key: {**data, listed: {"a": data[listed][0]}}),
    "string for the list": value(lambda data, listed, key: {**data, listed: "abc"}),
    "string for a record": value(with_first("abc")),
    "null for a record": value(with_first(None)),
    "list for a record": value(with_first([1])),
    "no id": value(without_id),
    "number for the id": set_first(lambda key: key, 7),
    "list for the id": set_first(lambda key: key, ["C001"]),
    "blank id": set_first(lambda key: key, " \t"),
    "duplicate id": value(doubled),
}
TOLERATED = {"a number of 5000 digits"}  # refused where Python limits the digits, read elsewhere


@pytest.mark.parametrize("damage", [name for name in DAMAGES if name not in TOLERATED])
@pytest.mark.parametrize("name", LISTS)
def test_damaged_file_is_refused_in_one_line(load, tmp_path: Path, name: str, damage: str) -> None:
    path = tmp_path / name
    path.write_bytes(good(name))
    DAMAGES[damage](path)
    refused(load, path)


@pytest.mark.parametrize("name", LISTS)
def test_undamaged_file_is_read_with_and_without_a_byte_order_mark(load, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(good(name))
    plain = load(path)
    path.write_bytes(b"\xef\xbb\xbf" + good(name))
    marked = load(path)
    assert getattr(marked, "__dict__", marked) == getattr(plain, "__dict__", plain)


def test_byte_order_mark_in_the_middle_of_a_file_is_not_taken_off(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": "\ufeff"}', encoding="utf-8-sig")
    assert ea.read_json(path) == {"a": "\ufeff"}


def test_number_of_too_many_digits_never_ends_in_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_bytes(good("corpus.json"))
    DAMAGES["a number of 5000 digits"](path)
    try:
        ea.load_corpus(path)
    except ea.InputError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("name", VERSIONED)
@pytest.mark.parametrize("version", [None, "", "  ", 3, ["1"]])
def test_version_must_be_a_filled_string(load, tmp_path: Path, name: str, version: Any) -> None:
    path = tmp_path / name
    data = json.loads(good(name))
    data[VERSIONED[name]] = version
    path.write_text(json.dumps(data), encoding="utf-8")
    refused(load, path, VERSIONED[name])


def test_cause_of_a_broken_file_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{\n "a": 1,\n oops\n}')
    refused(ea.read_json, path, "第 3 行")


def test_line_break_in_an_id_does_not_break_the_one_line(load, course) -> None:
    def twice(data: Any) -> None:
        data["items"][0]["id"] = data["items"][1]["id"] = "A\nB"

    course.edit("data/calibration_qa.json", twice)
    course.run("calibrate.py").refused("calibration_qa.json")


# ---- records of the wrong kind ----


def field(name: str, key: str, new: Any, tmp_path: Path) -> Path:
    data = json.loads(good(name))
    record = data[LISTS[name][0]][0]
    if new is KeyError:
        del record[key]
    else:
        record[key] = new
    path = tmp_path / name
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


TEXT_FIELDS = (
    "doc_id", "title", "version", "scope", "source_location", "authorization", "effective_status", "text",
)  # fmt: skip


@pytest.mark.parametrize("new", [KeyError, None, "", " \n", 5, True, ["x"], {"a": 1}])
@pytest.mark.parametrize("key", TEXT_FIELDS)
def test_chunk_field_must_be_a_filled_string(load, tmp_path: Path, key: str, new: Any) -> None:
    refused(load, field("corpus.json", key, new, tmp_path), "C001", key)


@pytest.mark.parametrize("new", ["Active", "active ", "draft", "有效"])
def test_status_is_active_or_expired(load, tmp_path: Path, new: str) -> None:
    refused(load, field("corpus.json", "effective_status", new, tmp_path), "C001", "effective_status")


@pytest.mark.parametrize(
    "new", ["c001", "C01", "C0001", "Ｃ001", "С001", "C００１", "C001\n", " C001", "[C001]"]
)
def test_malformed_chunk_id_is_refused(load, tmp_path: Path, new: str) -> None:
    refused(load, field("corpus.json", "chunk_id", new, tmp_path))


@pytest.mark.parametrize("new", [KeyError, "", " ", 1, False, []])
def test_conflict_group_is_null_or_a_filled_string(load, tmp_path: Path, new: Any) -> None:
    refused(load, field("corpus.json", "conflict_group", new, tmp_path), "C001", "conflict_group")


def test_chunk_of_punctuation_only_is_refused(load, tmp_path: Path) -> None:
    refused(load, field("corpus.json", "text", "……（）", tmp_path), "C001", "text")


def test_corpus_without_an_active_chunk_names_file_and_cause(course) -> None:
    def expire(data: Any) -> None:
        for chunk in data["chunks"]:
            chunk["effective_status"] = "expired"

    course.edit("data/corpus.json", expire)
    for command in (["evidence_assistant.py", "换货"], ["calibrate.py"], ["evaluate.py"], ["acceptance.py"]):
        course.run(*command).refused("corpus.json", "有效")


@pytest.mark.parametrize(
    "new", [KeyError, None, "密码", [], ["甲", "乙"], list("甲乙丙丁戊己庚"), ["甲", "乙", 3]]
)
def test_keywords_are_three_to_six_strings(load, tmp_path: Path, new: Any) -> None:
    refused(load, field("keyword_rules.json", "keywords", new, tmp_path), "C001")


@pytest.mark.parametrize("new", [["甲", "乙", "……"], ["甲", "乙", "甲"], ["USB", "usb", "u-s-b"]])
def test_keywords_that_are_empty_or_equal_once_normalised_are_refused(load, tmp_path: Path, new: Any) -> None:
    refused(load, field("keyword_rules.json", "keywords", new, tmp_path), "C001")


def test_rule_for_an_unknown_chunk_is_refused(load, tmp_path: Path) -> None:
    refused(load, field("keyword_rules.json", "chunk_id", "C777", tmp_path), "C777")


def test_active_chunk_without_a_rule_names_the_rules_file(course) -> None:
    course.edit("data/keyword_rules.json", lambda data: data["rules"].pop())
    for command in (["evidence_assistant.py", "--baseline", "换货"], ["evaluate.py"], ["acceptance.py"]):
        course.run(*command).refused("keyword_rules.json", "C009")


QUESTION_FILES = ("calibration_qa.json", "fixed_qa.json", "probe_qa.json")


@pytest.mark.parametrize("new", [KeyError, None, 3, "", "  ", "？！", "问" * 201, ["问"]])
@pytest.mark.parametrize("name", QUESTION_FILES)
def test_question_of_a_case_must_be_askable(load, tmp_path: Path, name: str, new: Any) -> None:
    first = json.loads(good(name))["items"][0]["id"]
    refused(load, field(name, "question", new, tmp_path), first)


@pytest.mark.parametrize("new", [KeyError, None, "Answer", "回答", "", ["answer"]])
@pytest.mark.parametrize("name", QUESTION_FILES)
def test_expected_route_is_one_of_three(load, tmp_path: Path, name: str, new: Any) -> None:
    refused(load, field(name, "expected_route", new, tmp_path), "expected_route")


@pytest.mark.parametrize("new", [KeyError, None, "C005", ["C555"], [["C005"]], [5], {"C005": 1}])
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("calibration_qa.json", "required_candidates"),
        ("fixed_qa.json", "required_citations"),
        ("fixed_qa.json", "forbidden_citations"),
        ("probe_qa.json", "required_citations"),
    ],
)
def test_id_lists_hold_ids_of_the_corpus(load, tmp_path: Path, name: str, key: str, new: Any) -> None:
    refused(load, field(name, key, new, tmp_path), key)


@pytest.mark.parametrize("new", [KeyError, None, "Normal", "其他", ["normal"]])
def test_category_is_one_of_seven(load, tmp_path: Path, new: Any) -> None:
    refused(load, field("fixed_qa.json", "category", new, tmp_path), "category")


def test_probe_of_a_third_route_is_refused(course) -> None:
    course.edit("data/probe_qa.json", lambda data: data["items"][0].update(expected_route="conflict"))
    course.run("evaluate.py", "--probe").refused("probe_qa.json", "P01", "expected_route")


@pytest.mark.parametrize("new", [KeyError, None, "", " ", 4, []])
@pytest.mark.parametrize("key", ["question", "evidence_needed", "timeliness", "without_evidence", "owner"])
def test_evidence_question_is_filled_in(load, tmp_path: Path, key: str, new: Any) -> None:
    refused(load, field("evidence_questions.json", key, new, tmp_path), "Q03", key)


@pytest.mark.parametrize("new", ["facts", "FACT", "其他"])
def test_evidence_question_of_a_fifth_kind_is_refused(load, tmp_path: Path, new: str) -> None:
    with pytest.raises((ea.InputError, acceptance.MismatchError), match=new):
        load(field("evidence_questions.json", "kind", new, tmp_path))


# ---- every command, on every file that it reads ----

COMMANDS = {
    "ask": (["evidence_assistant.py", "换货"], ["corpus.json"]),
    "ask json": (["evidence_assistant.py", "--json", "--explain", "换货"], ["corpus.json"]),
    "baseline": (["evidence_assistant.py", "--baseline", "换货"], ["corpus.json", "keyword_rules.json"]),
    "calibrate": (["calibrate.py", "--report", "output/new.json"], ["corpus.json", "calibration_qa.json"]),
    "one case": (["calibrate.py", "--case", "CAL07"], ["corpus.json", "calibration_qa.json"]),
    "evaluate": (
        ["evaluate.py", "--compare", "--report", "output/new.json"],
        ["corpus.json", "keyword_rules.json", "fixed_qa.json", "calibration_qa.json"],
    ),
    "probe": (["evaluate.py", "--probe"], ["corpus.json", "keyword_rules.json", "probe_qa.json"]),
    "acceptance": (["acceptance.py"], ["fixed_qa.json", "probe_qa.json", "evidence_questions.json"]),
}
READS = [(command, name) for command, (_, names) in COMMANDS.items() for name in names]


@pytest.mark.parametrize(("command", "name"), READS)
def test_command_on_a_broken_file_exits_2_and_leaves_nothing(course, command: str, name: str) -> None:
    course.write(f"data/{name}", b'{"x": "\xff"}')
    before = course.snapshot()
    course.run(*COMMANDS[command][0]).refused(name, "UTF-8")
    assert course.snapshot() == before
    assert not (course.root / "output" / "frozen_runs.jsonl").exists()


@pytest.mark.parametrize(
    "damage", ["missing", "folder", "duplicate key", "NaN", "escaped lone surrogate", "torn"]
)
def test_command_on_other_damage_exits_2(course, damage: str) -> None:
    DAMAGES[damage](course.root / "data" / "fixed_qa.json")
    course.run("evaluate.py").refused("fixed_qa.json")


def test_files_that_a_command_does_not_need_may_be_missing(course) -> None:
    for name in ("fixed_qa", "probe_qa", "evidence_questions"):
        (course.root / "data" / f"{name}.json").unlink()
    course.run("calibrate.py").done()
    for name in ("keyword_rules", "calibration_qa"):
        (course.root / "data" / f"{name}.json").unlink()
    course.run("evidence_assistant.py", "换货").done()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no POSIX permissions")
def test_unreadable_file_is_refused(course, plain_user) -> None:
    (course.root / "data" / "corpus.json").chmod(0)
    course.run("evidence_assistant.py", "换货", python=plain_user).refused("corpus.json", "无法读取")
