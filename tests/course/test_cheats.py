"""Planted cheats, with references made anew by the cheating copy itself: acceptance names the check."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import acceptance
import calibrate
import evaluate
import evidence_assistant as ea
from answer_adapter import AnswererError, ExtractiveEvidenceAnswerer

Q09 = "上门服务需要收多少费用"
DIGEST = hashlib.sha256(Q09.encode()).hexdigest()
CONSTANTS, SCORES, ROUTING, REFERENCE = "代码隔离", "独立重算", "路由只看命中", "正式参考"

# ---- planted into the source, run as a student would run it ----

PLAIN = f"question == {Q09!r}"
PATTERN = "re.search('上门.*收.*费', question)"
HASHED = f"hashlib.sha256(question.encode()).hexdigest() == {DIGEST!r}"
FROM_FILE = "question in (ROOT / 'data' / 'refused.txt').read_text('utf-8').split()"


def in_resolver(condition: str) -> str:
    return (
        "_honest = resolve_question\n"
        "def resolve_question(question, hits, answerer=None):\n"
        f"    return _honest(question, [] if {condition} else hits, answerer)\n"
    )


def in_search(condition: str) -> str:
    return (
        "_honest = TfidfIndex.search\n"
        "def _search(self, question, *rest, **more):\n"
        f"    return [] if {condition} else _honest(self, question, *rest, **more)\n"
        "TfidfIndex.search = _search\n"
    )


def in_ask(condition: str) -> str:
    return (
        "_honest = ask\n"
        "def ask(question, retriever, *rest, **more):\n"
        "    result = _honest(question, retriever, *rest, **more)\n"
        f"    return {{**result, **resolve_question(question, [])}} if {condition} else result\n"
    )


PLANTED = {
    "blacklist in the resolver": (in_resolver(PLAIN), {CONSTANTS, ROUTING}),
    "hash in the resolver": (in_resolver(HASHED), {ROUTING}),
    "data file read by the resolver": (in_resolver(FROM_FILE), {ROUTING}),
    "blacklist in the search": (in_search(PLAIN), {CONSTANTS, SCORES}),
    "regular expression in the search": (in_search(PATTERN), {SCORES}),
    "hash in the search": (in_search(HASHED), {SCORES}),
    "data file read by the search": (in_search(FROM_FILE), {SCORES}),
    "hash in ask": (in_ask(HASHED), {SCORES}),
}


@pytest.mark.parametrize("cheat", PLANTED)
def test_planted_cheat_is_named_by_its_check(course, cheat: str) -> None:
    code, checks = PLANTED[cheat]
    (course.root / "data" / "refused.txt").write_text(Q09, encoding="utf-8")
    course.plant("evidence_assistant.py", code)
    failed = course.accept_own_references().failed_checks
    assert course.read("output/reference_report.json")["systems"][ea.TfidfIndex.name]["passed"] == 12
    assert checks <= set(failed)
    assert REFERENCE not in failed


def test_case_routed_anew_by_the_evaluation_is_named(course) -> None:
    code = (
        "_honest = run_case\n"
        "def run_case(retriever, item):\n"
        "    case, result = _honest(retriever, item)\n"
        "    refused = {'route': 'refuse', 'citations': [], 'hits': [], 'scores': [], 'passed': True}\n"
        "    return {**case, **(refused if item['id'] == 'Q09' else {})}, result\n"
    )
    course.plant("evaluate.py", code)
    assert SCORES in course.accept_own_references().failed_checks
    assert course.read("output/reference_report.json")["systems"][ea.TfidfIndex.name]["passed"] == 12


def test_frozen_question_as_a_keyword_is_named(course) -> None:
    course.edit("data/keyword_rules.json", lambda data: data["rules"][0]["keywords"].append("整串口令"))
    run = course.accept_own_references()
    assert run.failed_checks == [CONSTANTS]
    (line,) = [line for line in run.stdout.splitlines() if "[失败]" in line]
    for word in ("C001", "Q02", "整串口令"):
        assert word in line


def test_changed_threshold_is_named(course) -> None:
    path = course.root / "evidence_assistant.py"
    source = path.read_text("utf-8")
    assert source.count("MIN_SCORE = 3, 0.08") == 1
    path.write_text(source.replace("MIN_SCORE = 3, 0.08", "MIN_SCORE = 3, 0.1"), encoding="utf-8")
    assert course.accept_own_references().failed_checks == ["校准"]
    assert course.read("output/reference_report.json")["systems"][ea.TfidfIndex.name]["passed"] == 12


def test_calibration_without_a_unique_winner_is_named(course) -> None:
    course.edit("data/calibration_qa.json", lambda data: data["items"].pop(5))
    assert course.accept_own_references().failed_checks == ["校准"]


def test_another_eleven_of_twelve_does_not_pass_for_the_old_one(course) -> None:
    """Q10 fails instead of Q09: the totals are the same, the failure is not."""

    def exchange(data: Any) -> None:
        by_id = {item["id"]: item for item in data["items"]}
        by_id["Q09"]["question"] = "食堂中午供应什么饭菜"
        by_id["Q10"]["question"] = "哪天过生日可以申请礼物"

    course.edit("data/fixed_qa.json", exchange)
    run = course.run("acceptance.py")
    assert "character_ngram_tfidf：11/12" in run.stdout
    assert "character_ngram_tfidf:Q10" in run.stdout
    assert run.failed_checks == [REFERENCE]


# ---- bent in this process: every function through which a cheat could reach the report ----


def run_here(program: str, *arguments: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        {"calibrate.py": calibrate, "evaluate.py": evaluate}[program].main(list(arguments))
    return printed.getvalue()


@pytest.fixture
def failed_checks(monkeypatch, tmp_path: Path, capsys) -> Callable[[], list[str]]:
    """Return a function that makes both references anew, runs every check and returns the failed ones."""
    report, calibration = tmp_path / "reference_report.json", tmp_path / "reference_calibration.json"
    monkeypatch.setattr(acceptance, "REFERENCE_REPORT", report)
    monkeypatch.setattr(acceptance, "REFERENCE_CALIBRATION", calibration)
    monkeypatch.setattr(acceptance, "LIVE_REPORT", tmp_path / "live_report.json")
    monkeypatch.setattr(evaluate, "append_ledger", lambda *rest: "")
    # The bent function lives in this process, so the commands run in it too.
    monkeypatch.setattr(acceptance, "run_command", run_here)
    # No bent function can pass for these; left out, the run takes half the time.
    monkeypatch.setattr(evaluate, "probe_text", lambda: "")
    for name in ("check_question_sets", "check_notebook", "check_unit_tests", "check_probe"):
        monkeypatch.setattr(acceptance, name, lambda *rest: "")

    def run() -> list[str]:
        report.write_text(ea.json_text(evaluate.frozen_report()), encoding="utf-8")
        calibration.write_text(ea.json_text(calibrate.calibration_report()), encoding="utf-8")
        return acceptance.run_checks()

    return run


def is_q09(question: str) -> bool:
    return hashlib.sha256(question.encode(errors="ignore")).hexdigest() == DIGEST


def search_without(honest: Any) -> Any:
    def search(self: Any, question: str, *rest: Any, **more: Any) -> Any:
        return (
            []
            if question[:2] == "上门" and question[-2:] == "费用"
            else honest(self, question, *rest, **more)
        )

    return search


def lower_scores(honest: Any) -> Any:
    def scores(self: Any, question: str) -> Any:
        return [(chunk, score * (0.5 if is_q09(question) else 1)) for chunk, score in honest(self, question)]

    return scores


def failing_answer(honest: Any) -> Any:
    def answer(self: Any, question: str, evidence: Any) -> str:
        if is_q09(question):
            raise AnswererError("x")
        return str(honest(self, question, evidence))

    return answer


def added_hit(honest: Any) -> Any:
    def search(self: Any, question: str, *rest: Any) -> Any:
        cheat = [{**self.chunks[0], "score": 0.25}] if "整串" in question else []
        return cheat or honest(self, question, *rest)

    return search


def blind(honest: Any) -> Any:
    return lambda text: "" if is_q09(text) else honest(text)


def called_passed(honest: Any) -> Any:
    def run_case(retriever: Any, item: Any) -> Any:
        case, result = honest(retriever, item)
        return {**case, "passed": case["passed"] or item["id"] == "Q09"}, result

    return run_case


def without_q09(honest: Any) -> Any:
    def load(*rest: Any) -> Any:
        frozen = honest(*rest)
        return {**frozen, "items": [item for item in frozen["items"] if item["id"] != "Q09"]}

    return load


def exchanged(key: str, value: str) -> Any:
    def bend(honest: Any) -> Any:
        def load(*rest: Any) -> Any:
            frozen = honest(*rest)
            items = [{**item, key: value} if item["id"] == "Q09" else item for item in frozen["items"]]
            return {**frozen, "items": items}

        return load

    return bend


def perfect_score(honest: Any) -> Any:
    def evaluate_system(retriever: Any, items: Any) -> Any:
        system, failures = honest(retriever, items)
        return {**system, "passed": system["total"]}, failures

    return evaluate_system


def no_failures(honest: Any) -> Any:
    return lambda retriever, items: (honest(retriever, items)[0], [])


def milder_failures(honest: Any) -> Any:
    return lambda *rest: {**honest(*rest), "question_id": "Q10"}


def open_gates(honest: Any) -> Any:
    return lambda *rest: [{**gate, "passed": True} for gate in honest(*rest)]


def no_gates(honest: Any) -> Any:
    return lambda *rest: honest(*rest)[3:]


def released(honest: Any) -> Any:
    return lambda *rest: {**honest(*rest), "decision": "ready_for_use"}


BENT: list[tuple[Any, str, Any]] = [
    (ea.TfidfIndex, "search", search_without),
    (ea.TfidfIndex, "_scores", lower_scores),
    (ea.KeywordBaseline, "search", added_hit),
    (ExtractiveEvidenceAnswerer, "answer", failing_answer),
    (ea, "normalize", blind),
    (evaluate, "run_case", called_passed),
    (evaluate, "load_frozen", without_q09),
    (evaluate, "load_frozen", exchanged("question", "食堂中午供应什么饭菜")),
    (evaluate, "load_frozen", exchanged("expected_route", "answer")),
    (evaluate, "evaluate_system", perfect_score),
    (evaluate, "evaluate_system", no_failures),
    (evaluate, "describe_failure", milder_failures),
    (evaluate, "release_gates", open_gates),
    (evaluate, "release_gates", no_gates),
    (evaluate, "frozen_report", released),
]


@pytest.fixture(scope="module")
def honest_report() -> Any:
    return evaluate.frozen_report()


@pytest.mark.parametrize(("owner", "name", "bend"), BENT, ids=lambda part: getattr(part, "__name__", part))
def test_bent_function_is_caught_though_the_reference_agrees(
    failed_checks, honest_report: Any, monkeypatch, owner: Any, name: str, bend: Any
) -> None:
    monkeypatch.setattr(owner, name, bend(getattr(owner, name)))
    assert evaluate.frozen_report() != honest_report  # the cheat works
    failed = failed_checks()
    assert failed
    assert REFERENCE not in failed


def test_nothing_bent_fails_no_check(failed_checks) -> None:
    assert failed_checks() == []


# ---- constants ----


@pytest.fixture
def check_constants(course, monkeypatch, chunks) -> Callable[[str, str], str]:
    """Return a function that adds code to a module of a copy and runs the check of the constants."""

    def check(module: str, code: str) -> str:
        with (course.root / module).open("a", encoding="utf-8") as handle:
            handle.write(f"\n{code}\n")
        monkeypatch.setattr(acceptance, "ROOT", course.root)
        return acceptance.check_constants(chunks, ea.read_json(ea.DATA / "fixed_qa.json")["items"])

    return check


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("evidence_assistant.py", "X = '上门服务需要'"),
        ("answer_adapter.py", "X = f'{1}需要收多少{2}'"),
        ("calibrate.py", "def f(x='多少——费用'): return x"),
        ("evaluate.py", "X = {'a': ['收多少费']}"),
        ("acceptance.py", "class X:\n    '''说明'''\n    y = '门服务需'"),
        ("evaluate.py", "X = '上门\u200b服 务需'"),
        ("calibrate.py", "X = '\\u4e0a\\u95e8\\u670d\\u52a1需要'"),
    ],
)
def test_constant_with_four_telling_characters_is_named(check_constants, module: str, code: str) -> None:
    with pytest.raises(acceptance.MismatchError, match="Q09") as caught:
        check_constants(module, code)
    assert module in str(caught.value)


@pytest.mark.parametrize(
    "code",
    [f"def f():\n    '''{Q09}'''\n    return 1", "X = '普通使用者'", "X = '上门服'", f"x = 1  # {Q09}"],
)
def test_docstrings_comments_short_pieces_and_words_of_the_corpus_are_no_cheat(
    check_constants, code: str
) -> None:
    assert check_constants("evaluate.py", code)
