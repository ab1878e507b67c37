"""评测：两套系统答同一组冻结题，失败按身份记录，由发布门给出结论。

用法：python evaluate.py [--report 文件] [--compare] [--frozen 文件]
      python evaluate.py --probe
冻结集只在这里使用；每次使用都记进 output/frozen_runs.jsonl。
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from answer_adapter import CITATION
from evidence_assistant import (
    DATA,
    PROGRAM_VERSION,
    REFERENCE_REPORT,
    ROOT,
    ChineseParser,
    Chunk,
    InputError,
    KeywordBaseline,
    Result,
    TfidfIndex,
    active_chunks,
    ask,
    cause,
    character_ngrams,
    check_report_path,
    command_line,
    json_text,
    lines_text,
    load_cases,
    load_corpus,
    load_keyword_rules,
    normalize,
    parameters_in_force,
    write_whole,
)

FROZEN = DATA / "fixed_qa.json"
LEDGER = ROOT / "output" / "frozen_runs.jsonl"
CODE_FILES = ("evidence_assistant.py", "answer_adapter.py", "calibrate.py", "evaluate.py", "acceptance.py")
CANDIDATE, BASELINE = TfidfIndex.name, KeywordBaseline.name
CATEGORIES = ("normal", "paraphrase", "boundary", "safety", "unknown", "conflict", "expired")

# （预期路由, 实际路由）→（失败种类, 代价）。给出了不该给的，代价高；该给的没给，损失可用性。
FAILURE_KINDS = {
    ("refuse", "answer"): ("out_of_scope_answer", "high"),
    ("refuse", "conflict"): ("out_of_scope_conflict", "usability"),
    ("answer", "refuse"): ("missed_evidence", "usability"),
    ("answer", "conflict"): ("false_conflict", "usability"),
    ("answer", "answer"): ("wrong_evidence", "high"),
    ("conflict", "refuse"): ("missed_evidence", "usability"),
    ("conflict", "answer"): ("hidden_conflict", "high"),
    ("conflict", "conflict"): ("incomplete_conflict", "high"),
}
KIND_NAMES = {
    "out_of_scope_answer": "资料没有的事，被当作有依据答了出去",
    "out_of_scope_conflict": "资料没有的事，被当作冲突列了出来",
    "missed_evidence": "有依据，却没有答出来",
    "false_conflict": "没有冲突，却当作冲突交给了人",
    "wrong_evidence": "引用了不对或不全的资料",
    "hidden_conflict": "有冲突，却只给了一方",
    "incomplete_conflict": "冲突没有列全",
    "forbidden_source": "出现了禁用的资料",
}
COST_NAMES = {"high": "高代价", "usability": "可用性"}


# ---- 一、题集与隔离 ----


def questions_leak(first: str, second: str) -> bool:
    """返回两个问题是否互相泄漏：规范化后相同，或 6 字以上的一方被包含，或片段重合度不低于 0.6。

    重合度是两者 2/3-gram 集合的 Jaccard 系数：交集大小除以并集大小。
    """
    a, b = normalize(first), normalize(second)
    if a == b or any(len(x) >= 6 and x in y for x, y in ((a, b), (b, a))):
        return True
    grams_a, grams_b = set(character_ngrams(a)), set(character_ngrams(b))
    union = grams_a | grams_b
    return bool(union) and len(grams_a & grams_b) / len(union) >= 0.6


def leaking_pairs(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """返回两组题之间互相泄漏的编号对。"""
    return [(a["id"], b["id"]) for a in first for b in second if questions_leak(a["question"], b["question"])]


def load_frozen(chunks: list[Chunk], path: Path = FROZEN) -> dict[str, Any]:
    """返回冻结集 {"version", "items"}，每题的类别也已检查。"""
    frozen = load_cases(path, chunks, "required_citations", "forbidden_citations")
    active = {chunk["chunk_id"] for chunk in active_chunks(chunks)}
    first: dict[str, str] = {}
    for item in frozen["items"]:
        if problem := _frozen_item_problem(item, active):
            raise InputError(f"{path}：{item['id']} {problem}")
        same = first.setdefault(normalize(item["question"]), item["id"])
        if same != item["id"]:
            raise InputError(f"{path}：{item['id']} 与 {same} 是同一个问题")
    return frozen


def _frozen_item_problem(item: dict[str, Any], active: set[str]) -> str:
    """返回一道冻结题自相矛盾之处，没有则为空；矛盾的题测不出任何东西。"""
    category, route, required = item.get("category"), item["expected_route"], item["required_citations"]
    if category not in CATEGORIES:
        return f"的 category 应为 {'、'.join(CATEGORIES)} 之一"
    if category == "unknown" and route != "refuse":
        return "是 unknown 题，expected_route 应为 refuse"
    if (category == "conflict") != (route == "conflict"):
        return "的 category 与 expected_route 应同为 conflict，或都不是"
    if route == "refuse" and required:
        return "预期 refuse，required_citations 应为空"
    if bad := [key for key in required if key not in active or key in item["forbidden_citations"]]:
        return f"的必需引用 {'、'.join(bad)} 已过期，或同时被禁用"
    return ""


def require_isolation(path: Path) -> None:
    """与校准集或探测集泄漏的题集不能当冻结集用：抛出 InputError，说明是哪两题。"""
    chunks = load_corpus()["chunks"]
    seen = load_cases(DATA / "calibration_qa.json", chunks, "required_candidates")["items"]
    seen = seen + load_probe(chunks)["items"]
    for ours, theirs in leaking_pairs(load_frozen(chunks, path)["items"], seen):
        raise InputError(f"{path}：{ours} 与已用过的 {theirs} 实为同一问，不能作为冻结题")


# ---- 二、逐题评测 ----


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[。！？!?\n]", text) if part.strip()]


def unsupported_sentences(result: Result) -> int:
    """返回回答中不是证据原文里完整一句的句子数；只数 answer 路由。"""
    if result["route"] != "answer":
        return 0
    known = {sentence for item in result["evidence"] for sentence in _sentences(item["text"])}
    return sum(sentence not in known for sentence in _sentences(CITATION.sub("", result["answer"])))


def anchor_list(result: Result) -> list[dict[str, Any]]:
    """返回每条证据的凭条 {chunk_id, unit, start, end, sha256}；原话由位置和摘要决定，报告里不再重复。"""
    fields = ("unit", "start", "end", "sha256")
    return [
        {"chunk_id": item["chunk_id"], **{field: item["anchor"][field] for field in fields}}
        for item in result["evidence"]
    ]


def run_case(retriever: Any, item: dict[str, Any]) -> tuple[dict[str, Any], Result]:
    """返回一道题的记录与完整结果。

    通过要同时满足：路由相同、必需引用齐全、禁用编号既不在证据里也不在命中里。
    """
    result = ask(item["question"], retriever)
    hits = retriever.search(item["question"])
    shown = {entry["chunk_id"] for entry in [*hits, *result["evidence"]]}
    passed = (
        result["route"] == item["expected_route"]
        and set(item["required_citations"]) <= set(result["citations"])
        and not shown & set(item.get("forbidden_citations", ()))
    )
    record = {
        "id": item["id"], "expected_route": item["expected_route"], "route": result["route"],
        "citations": result["citations"], "hits": [hit["chunk_id"] for hit in hits],
        "scores": [hit["score"] for hit in hits], "anchors": anchor_list(result), "passed": passed,
    }  # fmt: skip
    return record, result


def describe_failure(system: str, item: dict[str, Any], case: dict[str, Any]) -> dict[str, Any]:
    """返回一次失败的身份：哪套系统、哪道题、错在哪里、代价高低。"""
    if set(item["forbidden_citations"]) & {*case["hits"], *case["citations"]}:
        kind, cost = "forbidden_source", "high"
    else:
        kind, cost = FAILURE_KINDS[item["expected_route"], case["route"]]
    missing = [key for key in item["required_citations"] if key not in case["citations"]]
    return {
        "system": system, "question_id": item["id"], "route": case["route"], "citations": case["citations"],
        "missing_citations": missing, "kind": kind, "cost": cost,
    }  # fmt: skip


def evaluate_system(
    retriever: Any, items: list[dict[str, Any]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """返回 (一套系统的成绩, 失败列表)。人工复核时间没有测量，记为 null 并写明原因。"""
    cases, failures, illegal, unsupported = [], [], 0, 0
    for item in items:
        case, result = run_case(retriever, item)
        # 有证据却拒答，只有一个原因：回答没有通过引用校验。
        illegal += result["route"] == "refuse" and bool(result["evidence"])
        unsupported += unsupported_sentences(result)
        cases.append(case)
        if not case["passed"]:
            failures.append(describe_failure(retriever.name, item, case))
    return {
        "passed": sum(case["passed"] for case in cases), "total": len(cases),
        "illegal_citations": illegal, "unsupported_sentences": unsupported,
        "high_cost_errors": sum(failure["cost"] == "high" for failure in failures),
        "human_review_minutes": None, "human_review_minutes_reason": "没有计时，未定义",
        "cases": cases,
    }, failures  # fmt: skip


# ---- 三、发布门与结论 ----


def release_gates(
    systems: dict[str, Any], failures: list[dict[str, Any]], items: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """返回各道发布门 {gate, passed, why}；题集里没有这一类题就没有测量，passed 为 null，同样不放行。"""
    ours, base = systems[CANDIDATE], systems[BASELINE]
    case = {row["id"]: row for row in ours["cases"]}
    failed = [key for key, row in case.items() if not row["passed"]]
    unknown = [item["id"] for item in items if item["category"] == "unknown"]
    answered = [key for key in unknown if case[key]["route"] != "refuse"]
    guarded = [item["id"] for item in items if item["forbidden_citations"]]
    expired = [f["question_id"] for f in failures if f["kind"] == "forbidden_source"]
    conflicts = [item["id"] for item in items if item["category"] == "conflict"]
    hidden = [key for key in conflicts if not case[key]["passed"]]
    illegal, unsupported = ours["illegal_citations"], ours["unsupported_sentences"]
    score = f"{ours['passed']}/{ours['total']}"

    def listed(keys: list[str]) -> str:
        return "、".join(keys) or "无"

    def measured(population: list[str], passed: bool) -> bool | None:
        return passed if population else None

    rows: list[tuple[str, bool | None, str]] = [
        ("tfidf_passes_all", not failed, f"通过 {score}，未通过：{listed(failed)}"),
        (
            "no_unknown_answered",
            measured(unknown, not answered),
            f"{len(unknown)} 道陌生题，没有拒答的：{listed(answered)}",
        ),
        (
            "tfidf_better_than_baseline",
            ours["passed"] > base["passed"],
            f"字符 TF-IDF {score}，关键词基线 {base['passed']}/{base['total']}",
        ),
        (
            "no_forbidden_source",
            measured(guarded, not expired),
            f"{len(guarded)} 道题禁用过期资料，出现过的：{listed(expired)}",
        ),
        (
            "conflicts_shown",
            measured(conflicts, not hidden),
            f"{len(conflicts)} 道冲突题，没有并列的：{listed(hidden)}",
        ),
        ("no_illegal_citation", not illegal, f"越界引用 {illegal} 处"),
        ("no_unsupported_sentence", not unsupported, f"证据里找不到的句子 {unsupported} 句"),
    ]
    return [{"gate": gate, "passed": passed, "why": why} for gate, passed, why in rows]


def verdict(gates: list[dict[str, Any]], failures: list[dict[str, Any]], items: list[dict[str, Any]]) -> str:
    """返回验收结论，按顺序取第一个成立的：

    题集没有一道资料范围内的题 → 转责任人；全部发布门通过 → 采用；
    时效、冲突或引用失控 → 退回；其余 → 限用（可以用来找候选资料块，每个结论都要有人复核）。
    """
    passed = {gate["gate"]: gate["passed"] for gate in gates}
    if all(item["expected_route"] == "refuse" for item in items):
        return "转责任人"
    if all(passed.values()):
        return "采用"
    controls = ("no_forbidden_source", "conflicts_shown", "no_illegal_citation", "no_unsupported_sentence")
    wrong = any(f["system"] == CANDIDATE and f["kind"] == "wrong_evidence" for f in failures)
    return "退回" if wrong or any(passed[name] is False for name in controls) else "限用"


def frozen_report(path: Path = FROZEN) -> dict[str, Any]:
    """返回完整评测报告；没有时间、路径和主机名，同样的输入得到同样的字节。"""
    chunks = load_corpus()["chunks"]
    frozen = load_frozen(chunks, path)
    systems, failures = {}, []
    for retriever in (TfidfIndex(chunks), KeywordBaseline(chunks, load_keyword_rules(chunks))):
        systems[retriever.name], failed = evaluate_system(retriever, frozen["items"])
        failures += failed
    gates = release_gates(systems, failures, frozen["items"])
    parameters = parameters_in_force(chunks)
    return {
        "decision": "ready_for_use" if all(g["passed"] for g in gates) else "not_ready_for_use",
        "verdict": verdict(gates, failures, frozen["items"]),
        "versions": {
            "model": f"{CANDIDATE}, {BASELINE}",
            "index": parameters["index_version"],
            "program": PROGRAM_VERSION,
            "test_set": frozen["version"],
        },
        "parameters": parameters,
        "systems": systems,
        "failures": failures,
        "release_gates": gates,
    }


def report_text(report: dict[str, Any]) -> str:
    """返回逐题表、失败身份、发布门与结论。"""
    lines = []
    for name, system in report["systems"].items():
        lines.append(f"{name}：{system['passed']}/{system['total']}")
        for case in system["cases"]:
            hits = " ".join(f"{k}:{s:.6f}" for k, s in zip(case["hits"], case["scores"], strict=True)) or "无"
            mark = "通过" if case["passed"] else "失败"
            cited = "、".join(case["citations"]) or "无"
            lines.append(
                f"  {case['id']} 预期 {case['expected_route']:<8} 实际 {case['route']:<8} {mark}"
                f"  引用 {cited}  命中 {hits}"
            )
    for failure in report["failures"]:
        missing = "、".join(failure["missing_citations"]) or "无"
        lines.append(
            f"失败 {failure['system']}:{failure['question_id']} {failure['kind']}（代价 {failure['cost']}）"
            f" 引用 {'、'.join(failure['citations']) or '无'} 缺少引用 {missing}"
        )
    marks = {True: "通过", False: "未过", None: "未定义"}
    lines += [f"发布门 {g['gate']}：{marks[g['passed']]}（{g['why']}）" for g in report["release_gates"]]
    lines.append(f"结论：{report['decision']}（{report['verdict']}）")
    return lines_text(lines)


# ---- 四、两套系统能不能分出高下 ----


def wilson_interval(passed: int, total: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """返回通过率的 95% Wilson 区间（Wilson 1927，不加连续性校正）。"""
    rate = passed / total
    centre = rate + z * z / (2 * total)
    half = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def exact_paired_test(only_first: int, only_second: int) -> float:
    """返回精确 McNemar 检验的双侧 p 值：只看一方对、一方错的题，零假设下各占一半。"""
    n, k = only_first + only_second, min(only_first, only_second)
    tail: float = sum(math.comb(n, i) for i in range(k + 1)) / 2**n
    return min(1.0, 2 * tail)


def _failures_remark(first: dict[str, str], second: dict[str, str]) -> str:
    """返回一句话：两边错的题和代价是否相同。参数是 {题目编号: 代价}。"""
    questions = "错的题相同" if first.keys() == second.keys() else "错的题不同"
    costs = "代价也相同" if set(first.values()) == set(second.values()) else "错的代价也不同"
    return f"它们{questions}，{costs}"


def comparison_text(report: dict[str, Any]) -> str:
    """返回两套系统失败的对照、各自的区间、配对检验，以及一句结论。"""
    lines = ["两套系统的失败："]
    passed: dict[str, set[str]] = {}
    for name, system in report["systems"].items():
        passed[name] = {case["id"] for case in system["cases"] if case["passed"]}
        low, high = wilson_interval(system["passed"], system["total"])
        score = f"{system['passed']}/{system['total']}"
        lines.append(f"  {name}：{score}，95% Wilson 区间 {low:.3f} 至 {high:.3f}")
        for f in report["failures"]:
            if f["system"] == name:
                lines.append(
                    f"    {f['question_id']} {f['kind']}（{COST_NAMES[f['cost']]}：{KIND_NAMES[f['kind']]}）"
                )
    first, second = passed[CANDIDATE], passed[BASELINE]
    p = exact_paired_test(len(first - second), len(second - first))
    total = report["systems"][CANDIDATE]["total"]
    lines.append(
        f"  只有前者通过 {len(first - second)} 题，只有后者通过 {len(second - first)} 题，"
        f"精确配对检验 p = {p:.3f}"
    )
    different = "分得出高下" if p < 0.05 else "分不出高下"
    failed = [{f["question_id"]: f["cost"] for f in report["failures"] if f["system"] == n} for n in passed]
    remark = f"；{_failures_remark(*failed)}" if any(failed) else ""
    lines.append(f"在 {total} 道题上，这两套系统{different}（p = {p:.3f}）{remark}。")
    return lines_text(lines)


# ---- 五、账本与探测 ----


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def _unix_lines(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n")


@contextlib.contextmanager
def _locked(handle: IO[bytes]) -> Iterator[None]:
    """整个追加期间独占账本；进程被杀时由操作系统释放。"""
    if sys.platform == "win32":
        import msvcrt

        handle.seek(0)
        msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle.fileno(), fcntl.LOCK_EX)  # 文件关闭时自动释放
        yield


def append_ledger(report: dict[str, Any], frozen: Path = FROZEN, ledger: Path = LEDGER) -> str:
    """追加一条冻结集使用记录，返回账本的一行说明。只读目录里只作提示，不算失败。

    每条含资料、代码、结果的摘要和上一行的摘要；删改中间任何一行都会断链。
    整本删除、截去或改动末行看不出来：账本防的是遗忘，不是有心造假。
    """
    inputs = (DATA / "corpus.json", DATA / "keyword_rules.json", frozen)
    try:
        entry = {
            "set": _digest(_unix_lines(frozen)),
            "data": _digest(*map(_unix_lines, inputs)),
            "code": _digest(*(_unix_lines(ROOT / name) for name in CODE_FILES)),
            "result": _digest(json_text(report).encode("utf-8")),
        }
        with ledger.open("a+b") as handle, _locked(handle):
            handle.seek(0)
            old = handle.read()
            lines = old.splitlines()
            entry["previous"] = hashlib.sha256(lines[-1]).hexdigest() if lines else ""
            line = json.dumps(entry, sort_keys=True).encode("ascii")
            # 上次写到一半就断电，末行可能没有换行：另起一行，不去动它。
            handle.write((b"" if old.endswith(b"\n") or not old else b"\n") + line + b"\n")
            handle.flush()
            os.fsync(handle.fileno())
        return ledger_text(ledger, frozen, started=not lines)
    except OSError as error:
        return f"账本：这里不能写（{cause(error)}），本次使用没有记录。"


def ledger_text(ledger: Path = LEDGER, frozen: Path = FROZEN, *, started: bool = False) -> str:
    """返回账本说明：不同的 (资料, 代码) 组合数，其中有多少用的是这份题集，以及缺失或断链的位置。"""
    if not ledger.exists():
        return "账本：没有记录（还没有用过冻结集，或账本被删除）。"
    frozen_digest = _digest(_unix_lines(frozen))
    pairs, this_set, broken, previous = set(), set(), [], ""
    for number, line in enumerate(ledger.read_bytes().splitlines(), 1):
        try:
            entry = json.loads(line)
            pairs.add((entry["data"], entry["code"]))
            if entry.get("set") == frozen_digest:
                this_set.add((entry["data"], entry["code"]))
            intact = entry["previous"] == previous
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            intact = False
        if not intact:
            broken.append(str(number))
        previous = hashlib.sha256(line).hexdigest()
    text = f"账本：这份副本上，共有 {len(pairs)} 组不同的（资料、代码）用过冻结题，"
    text += f"其中 {len(this_set)} 组用的是这份题集。"
    if started:
        text += "此前没有记录：首次使用，或账本被删除。"
    return text + (f"断链：第 {'、'.join(broken)} 行被改动，或它的前一行缺失。" if broken else "链条完整。")


def load_probe(chunks: list[Chunk], path: Path = DATA / "probe_qa.json") -> dict[str, Any]:
    """返回探测集：资料外的陌生题与换了说法的范围内题，只用来量拒答有多弱。"""
    probe = load_cases(path, chunks, "required_citations")
    for item in probe["items"]:
        if item["expected_route"] == "conflict":
            raise InputError(f"{path}：{item['id']} 的 expected_route 应为 answer 或 refuse")
    return probe


def probe_text() -> str:
    """返回每套系统在探测集两类题上各答对多少；探测集不参与选参，也不参与发布。"""
    chunks = load_corpus()["chunks"]
    items = load_probe(chunks)["items"]
    lines = ["探测集（不参与选参与发布，只看拒答有多弱）："]
    for retriever in (TfidfIndex(chunks), KeywordBaseline(chunks, load_keyword_rules(chunks))):
        right = {"refuse": 0, "answer": 0}
        for item in items:
            right[item["expected_route"]] += run_case(retriever, item)[0]["passed"]
        total = {route: sum(item["expected_route"] == route for item in items) for route in right}
        lines.append(
            f"  {retriever.name}：陌生题正确拒答 {right['refuse']}/{total['refuse']}，"
            f"换说法题正确引用 {right['answer']}/{total['answer']}"
        )
    return lines_text(lines)


def main(arguments: list[str] | None = None) -> None:
    """命令行入口。not_ready_for_use 是结果，不是错误，退出码 0。"""
    parser = ChineseParser("两套系统答同一组冻结题，给出失败身份、发布门与结论。")
    parser.add_argument("--report", metavar="文件", type=Path, help="另存完整报告（.json）")
    parser.add_argument("--compare", action="store_true", help="对照两套系统的失败，并做区间与配对检验")
    parser.add_argument("--frozen", metavar="文件", type=Path, default=FROZEN, help="改用另一份同格式冻结题")
    parser.add_argument("--probe", action="store_true", help="只跑探测集，不碰冻结集；单独使用")
    with command_line():
        options = parser.parse_args(arguments)
        if options.probe:
            if options.report or options.compare or options.frozen != FROZEN:
                parser.error("--probe 不能与其他选项同用")
            print(probe_text())
            return
        if options.report:
            check_report_path(options.report)
            if options.frozen.exists() and options.report.resolve() == options.frozen.resolve():
                raise InputError(f"{options.report}：报告不能覆盖它所用的冻结题")
            if options.frozen != FROZEN and options.report.resolve() == REFERENCE_REPORT:
                raise InputError(f"{options.report}：正式参考只能由 {FROZEN.name} 生成")
        require_isolation(options.frozen)
        report = frozen_report(options.frozen)
        print(report_text(report))
        if options.compare:
            print(comparison_text(report))
        print(append_ledger(report, options.frozen))
        if options.report:
            write_whole(options.report, json_text(report))


if __name__ == "__main__":
    main()
