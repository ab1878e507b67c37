"""验收：另一组人用一条命令复现全部结果，并核对没有缩水、没有改数，并查找作弊。

用法：python acceptance.py
“验收通过”表示工程完整、可复现、如实记录失败；不等于系统可以投入使用。
它找得出粗心和常见的作弊；改动本文件或 Python 环境的人，只有另一份干净的副本才查得出。
退出码：0 通过；1 有一项核对不上；2 输入文件有误。
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import calibrate
import evaluate
from evidence_assistant import (
    DATA,
    MIN_SCORE,
    REFERENCE_REPORT,
    ROOT,
    TOP_K,
    ChineseParser,
    Chunk,
    InputError,
    TfidfIndex,
    active_chunks,
    command_line,
    lines_text,
    load_corpus,
    load_keyword_rules,
    normalize,
    paragraph,
    read_json,
    read_records,
    resolve_question,
    visible,
    write_whole,
)

MODULES = evaluate.CODE_FILES
TEST_FILES = ("tests/test_evidence_assistant.py", "tests/test_answer_adapter.py")
NOTEBOOK = "notebooks/evidence_assistant.ipynb"
REFERENCE_CALIBRATION = ROOT / "output" / "reference_calibration.json"
LIVE_REPORT = ROOT / "output" / "live_report.json"
REQUIRED_FILES = (
    "README.md", "CORPUS_CARD.md", "SYSTEM_CARD.md", "pyproject.toml", *MODULES,
    "data/corpus.json", "data/keyword_rules.json", "data/calibration_qa.json",
    "data/fixed_qa.json", "data/evidence_questions.json", "docs/task_contract.md", NOTEBOOK,
    "output/reference_report.json", "output/reference_calibration.json", *TEST_FILES,
)  # fmt: skip
UNIT_TESTS = 14
# 章中的七种故障，一种一个测试。
FAULT_TESTS = (
    "test_empty_question_is_an_input_error",
    "test_question_of_201_characters_is_too_long",
    "test_corpus_without_an_active_source_is_an_input_error",
    "test_question_without_evidence_is_refused",
    "test_illegal_citation_is_refused",
    "test_model_is_not_called_without_evidence",
    "test_model_citing_outside_the_evidence_is_refused",
)
CANDIDATE, BASELINE = evaluate.CANDIDATE, evaluate.BASELINE
OTHER_QUESTION = "只看命中，不看问题"
QUESTION_KINDS = ("fact", "rule", "calculation", "judgment")
EVIDENCE_QUESTION_FIELDS = ("question", "kind", "evidence_needed", "timeliness", "without_evidence", "owner")


class MismatchError(Exception):
    """一项核对不上：消息说清是哪一处。"""


# ---- 一、文件与语法 ----


def check_files() -> str:
    """二十个必需文件都在，七个 Python 文件语法正确。"""
    missing = [name for name in REQUIRED_FILES if not (ROOT / name).is_file()]
    if missing:
        raise MismatchError(f"缺少必需文件：{'、'.join(missing)}")
    for name in (*MODULES, *TEST_FILES):
        try:
            ast.parse((ROOT / name).read_bytes(), filename=name)
        except (SyntaxError, ValueError) as error:
            raise MismatchError(f"{name} 语法有误：{error}") from error
    return f"{len(REQUIRED_FILES)} 个必需文件齐全，{len((*MODULES, *TEST_FILES))} 个 Python 文件语法正确"


def check_evidence_questions() -> str:
    """证据问题表每一项都写全，四类问题都有。"""
    path = DATA / "evidence_questions.json"
    items = read_records(path, "items", "id")["items"]
    for item in items:
        for field in EVIDENCE_QUESTION_FIELDS:
            if not isinstance(item.get(field), str) or not item[field].strip():
                raise InputError(f"{path}：{item['id']} 的 {field} 应为非空字符串")
    kinds = Counter(item["kind"] for item in items)
    if kinds.keys() != set(QUESTION_KINDS):
        raise MismatchError(f"证据问题的类型应恰为 {'、'.join(QUESTION_KINDS)}，现有 {'、'.join(kinds)}")
    return f"{len(items)} 个证据问题，" + "、".join(f"{kind} {kinds[kind]}" for kind in QUESTION_KINDS)


# ---- 二、隔离：冻结题没有提前出现 ----


def check_question_sets(chunks: list[Chunk]) -> str:
    """校准集、探测集、冻结集两两之间没有泄漏的题。"""
    sets = {
        "校准": calibrate.load_calibration(chunks)["items"],
        "探测": evaluate.load_probe(chunks)["items"],
        "冻结": evaluate.load_frozen(chunks)["items"],
    }
    names = list(sets)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            for a, b in evaluate.leaking_pairs(sets[first], sets[second]):
                raise MismatchError(f"{first}题 {a} 与{second}题 {b} 实为同一问")
    return "校准集、探测集、冻结集互不泄漏（" + "、".join(f"{k} {len(v)} 题" for k, v in sets.items()) + "）"


def _output_texts(value: Any) -> Iterator[str]:
    """逐个给出一段单元输出里的文字（图片是编码数据，跳过）。"""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield "".join(item for item in value if isinstance(item, str))
        yield from (text for item in value if not isinstance(item, str) for text in _output_texts(item))
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("output_type", "name", "metadata", "execution_count", "image/png"):
                yield from _output_texts(item)


def notebook_text(notebook: Any) -> str:
    """返回最后一个单元之前的文字：按阅读顺序、只看源码、只看输出、只看字符串常量，各连成规范化的一行。"""
    shown, sources, outputs, constants = [], [], [], []
    for cell in notebook["cells"][:-1]:
        source = "".join(cell["source"])
        printed = list(_output_texts(cell.get("outputs", [])))
        shown += [source, *printed]
        sources.append(source)
        outputs += printed
        if cell["cell_type"] == "code":
            lines = [line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))]
            constants += [text for text, _ in _string_constants(ast.parse("\n".join(lines)))]
    return "\n".join(normalize("".join(texts)) for texts in (shown, sources, outputs, constants))


def check_notebook(frozen: list[dict[str, Any]]) -> str:
    """笔记本的最后一个单元之前，源码和输出都没有出现冻结题。"""
    if not (ROOT / NOTEBOOK).is_file():
        raise MismatchError(f"缺少 {NOTEBOOK}")
    try:
        text = notebook_text(read_json(ROOT / NOTEBOOK))
    except (KeyError, TypeError, ValueError, SyntaxError) as error:
        raise MismatchError(f"{NOTEBOOK} 不是可读的笔记本：{error!r}") from error
    for item in frozen:
        if normalize(item["question"]) in text:
            raise MismatchError(f"{NOTEBOOK} 在最后一个单元之前出现了冻结题 {item['id']}")
    return "笔记本在最后一个单元之前没有出现冻结题"


def _string_constants(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """按出现顺序给出字符串常量与行号，文档字符串除外。"""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr)
    }
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings]
    for node in sorted(texts, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node.value, str):
            yield node.value, node.lineno


def check_constants(chunks: list[Chunk], frozen: list[dict[str, Any]]) -> str:
    """启发式：代码的字符串常量和关键词里，没有“冻结题有、现行资料没有”的四字片段。"""
    corpus = [normalize(chunk["text"]) for chunk in active_chunks(chunks)]
    telling = {}
    for item in frozen:
        clean = normalize(item["question"])
        for piece in (clean[i : i + 4] for i in range(len(clean) - 3)):
            if not any(piece in text for text in corpus):
                telling[piece] = item["id"]
    places = [
        (f"{name} 第 {line} 行", text)
        for name in MODULES
        for text, line in _string_constants(ast.parse((ROOT / name).read_bytes()))
    ]
    for key, words in load_keyword_rules(chunks).items():
        places += [(f"{key} 的关键词", word) for word in words]
    for place, text in places:
        for piece, question_id in telling.items():
            if piece in normalize(text):
                raise MismatchError(f"{place} 含有冻结题 {question_id} 的片段“{piece}”")
    return "代码常量与关键词里没有冻结题的独有片段（启发式，只能发现粗心的作弊）"


# ---- 三、重算：数据自己读，分数自己算，路由自己走，然后与真实命令的输出逐字段比较 ----


def raw(path: Path) -> Any:
    """返回 JSON 内容，不经过被验收程序的任何代码。"""
    return json.loads(path.read_bytes().decode("utf-8-sig"))


def differences(live: Any, expected: Any, path: str = "") -> Iterator[str]:
    """逐个给出两份 JSON 内容不同之处的字段路径。"""
    if isinstance(live, dict) and isinstance(expected, dict):
        for key in sorted(live.keys() | expected.keys()):
            if key not in live or key not in expected:
                yield f"{path}.{key}".lstrip(".") + (" 多出" if key in live else " 缺少")
            else:
                yield from differences(live[key], expected[key], f"{path}.{key}")
    elif isinstance(live, list) and isinstance(expected, list) and len(live) == len(expected):
        for i, (a, b) in enumerate(zip(live, expected, strict=True)):
            yield from differences(a, b, f"{path}[{i}]")
    elif type(live) is not type(expected) or live != expected:
        yield f"{path.lstrip('.')} 现场为 {json.dumps(live, ensure_ascii=False)}，应为 " + json.dumps(
            expected, ensure_ascii=False
        )


def require_same(what: str, live: Any, expected: Any) -> None:
    """两份 JSON 内容逐字段相同，否则抛出 MismatchError，列出前几处。"""
    found = list(differences(live, expected))
    if found:
        shown = "\n".join(text if len(text) <= 200 else text[:200] + "……" for text in found[:5])
        raise MismatchError(f"{what} 有 {len(found)} 处不同，前几处：\n{shown}")


class Oracle:
    """验收自己的一套最小实现：只读 data/ 里的文件，按公式从头算，不用被验收程序的检索与路由。"""

    def __init__(self) -> None:
        chunks = raw(DATA / "corpus.json")["chunks"]
        self.active = {c["chunk_id"]: c for c in chunks if c["effective_status"] == "active"}
        self.rules = {r["chunk_id"]: r["keywords"] for r in raw(DATA / "keyword_rules.json")["rules"]}
        self.bags = {key: Counter(self.grams(chunk["text"])) for key, chunk in self.active.items()}
        df = Counter(gram for bag in self.bags.values() for gram in bag)
        n = len(self.bags)
        self.idf = {gram: math.log((1 + n) / (1 + count)) + 1 for gram, count in df.items()}

    @staticmethod
    def kept(text: str) -> str:
        """返回小写文本，去掉标点、符号、空白与控制字符。"""
        return "".join(c for c in text.lower() if unicodedata.category(c)[0] not in ("P", "S", "Z", "C"))

    def grams(self, text: str) -> list[str]:
        """返回全部二字与三字片段。"""
        kept = self.kept(text)
        return [kept[i : i + size] for size in (2, 3) for i in range(len(kept) - size + 1)]

    def tfidf(self, question: str) -> dict[str, float]:
        """返回各块与问题的余弦：点积除以两个向量长度的积。"""
        query = Counter(gram for gram in self.grams(question) if gram in self.idf)

        def dot(a: Counter[str], b: Counter[str]) -> float:
            return math.fsum(a[g] * b[g] * self.idf[g] ** 2 for g in sorted(a.keys() & b.keys()))

        sizes = {key: math.sqrt(dot(query, query) * dot(bag, bag)) for key, bag in self.bags.items()}
        return {key: dot(query, bag) / sizes[key] if sizes[key] else 0.0 for key, bag in self.bags.items()}

    def keywords(self, question: str) -> dict[str, float]:
        """返回各块的得分：问题里出现的关键词数除以关键词总数。"""
        kept = self.kept(question)
        return {k: sum(self.kept(w) in kept for w in self.rules[k]) / len(self.rules[k]) for k in self.active}

    def hits(self, system: str, question: str, top_k: int, min_score: float) -> list[tuple[str, float]]:
        """返回 (编号, 六位小数的分数)，按分数降序、编号升序。"""
        if system == CANDIDATE:
            found = {key: score for key, score in self.tfidf(question).items() if score >= min_score}
        else:
            found = {key: score for key, score in self.keywords(question).items() if score > 0}
        rounded = [(key, round(score, 6)) for key, score in found.items()]
        return sorted(rounded, key=lambda hit: (-hit[1], hit[0]))[:top_k]

    def route(self, hits: list[tuple[str, float]]) -> tuple[str, list[str]]:
        """返回 (路由, 引用)：没有命中拒答；同组两块以上并列；其余用第一名。"""
        groups: dict[str, list[str]] = {}
        for key, _ in hits:
            if self.active[key]["conflict_group"]:
                groups.setdefault(self.active[key]["conflict_group"], []).append(key)
        for members in groups.values():
            if len(members) > 1:
                return "conflict", sorted(members)
        return ("answer", [hits[0][0]]) if hits else ("refuse", [])

    def anchor(self, chunk_id: str) -> dict[str, Any]:
        """返回整块正文应有的凭条。"""
        text = self.active[chunk_id]["text"]
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
        return {"chunk_id": chunk_id, "unit": "codepoint", "start": 0, "end": len(text), "sha256": digest}

    def case(self, system: str, item: Any) -> dict[str, Any]:
        """返回一道题应有的记录。"""
        hits = self.hits(system, item["question"], TOP_K, MIN_SCORE)
        route, citations = self.route(hits)
        found = [key for key, _ in hits]
        passed = (
            route == item["expected_route"]
            and set(item["required_citations"]) <= set(citations)
            and not set(item.get("forbidden_citations", [])) & set(found)
        )
        return {
            "id": item["id"], "expected_route": item["expected_route"], "route": route,
            "citations": citations, "hits": found, "scores": [score for _, score in hits],
            "anchors": [self.anchor(key) for key in citations], "passed": passed,
        }  # fmt: skip


def expected_grid(oracle: Oracle) -> list[dict[str, Any]]:
    """返回九组参数应有的逐题结果；候选写在这里，不取自 calibrate.py。"""
    grid = []
    for top_k in (1, 2, 3):
        for min_score in (0.04, 0.08, 0.12):
            cases = []
            for item in raw(DATA / "calibration_qa.json")["items"]:
                hits = oracle.hits(CANDIDATE, item["question"], top_k, min_score)
                route, found = oracle.route(hits)[0], [key for key, _ in hits]
                missing = [key for key in item["required_candidates"] if key not in found]
                passed = route == item["expected_route"] and not missing
                cases.append(
                    {
                        "id": item["id"], "expected_route": item["expected_route"], "route": route,
                        "hits": found, "scores": [score for _, score in hits],
                        "missing_candidates": missing, "passed": passed,
                    }
                )  # fmt: skip
            passed_all = sum(case["passed"] for case in cases)
            row = {"top_k": top_k, "min_score": min_score, "passed": passed_all, "total": len(cases)}
            grid.append({**row, "cases": cases})
    return grid


def check_calibration(oracle: Oracle, report: Any) -> str:
    """重新校准：九组结果独立重算一致，唯一胜者就是程序正在使用的参数，并与参考逐字段相同。"""
    grid = expected_grid(oracle)
    require_same("校准的九组结果", report["grid"], grid)
    full = [{"top_k": r["top_k"], "min_score": r["min_score"]} for r in grid if r["passed"] == r["total"]]
    if full != [{"top_k": TOP_K, "min_score": MIN_SCORE}] or report["winner"] != full[0]:
        raise MismatchError(
            f"全部通过的参数是 {full}，程序使用 {TOP_K}、{MIN_SCORE}，报告写 {report['winner']}"
        )
    check_reference(report, REFERENCE_CALIBRATION)
    return "九组结果独立重算一致，唯一胜者就是程序使用的参数，与参考逐字段相同"


def check_cases(oracle: Oracle, report: Any) -> str:
    """两套系统逐题的命中、分数、路由、引用与成绩，由数据文件独立重算，逐字段一致。"""
    frozen = raw(DATA / "fixed_qa.json")["items"]
    for system in (CANDIDATE, BASELINE):
        cases = [oracle.case(system, item) for item in frozen]
        live = report["systems"][system]
        require_same(f"{system} 的逐题记录", live["cases"], cases)
        counts = {"passed": sum(case["passed"] for case in cases), "total": len(cases)}
        # 抽取式回答整句照抄证据：越界引用和无依据的句子都应当是零。
        counts.update(illegal_citations=0, unsupported_sentences=0)
        require_same(f"{system} 的成绩", {key: live[key] for key in counts}, counts)
    return f"{len(frozen)} 题 × {len(oracle.active)} 块 × 2 套系统的分数、命中、路由、凭条与成绩独立重算一致"


def expected_failures(report: Any, frozen: list[Any]) -> list[dict[str, Any]]:
    """返回应有的失败身份。代价：该给的没给（拒答，或转成冲突）损失可用性，其余都是高代价。"""
    failures = []
    for system in (CANDIDATE, BASELINE):
        answered = [case["id"] for case in report["systems"][system]["cases"]]
        require_same(f"{system} 的题目", answered, [item["id"] for item in frozen])
        for case, item in zip(report["systems"][system]["cases"], frozen, strict=True):
            if not case["passed"]:
                shown = set(case["hits"]) & set(item["forbidden_citations"])
                withheld = case["route"] not in ("answer", item["expected_route"]) and not shown
                missing = [key for key in item["required_citations"] if key not in case["citations"]]
                failures.append(
                    {
                        "system": system, "question_id": item["id"], "route": case["route"],
                        "citations": case["citations"], "missing_citations": missing,
                        "cost": "usability" if withheld else "high",
                    }
                )  # fmt: skip
    return failures


def check_outcome(oracle: Oracle, report: Any) -> str:
    """失败身份、发布门、结论、版本与参数，由逐题记录和数据文件重新推出。"""
    frozen_set = raw(DATA / "fixed_qa.json")
    frozen = frozen_set["items"]
    failures = expected_failures(report, frozen)
    live_failures = [{k: v for k, v in row.items() if k != "kind"} for row in report["failures"]]
    require_same("失败身份", live_failures, failures)
    ours, base = report["systems"][CANDIDATE], report["systems"][BASELINE]
    for name, system in report["systems"].items():
        costly = sum(f["system"] == name and f["cost"] == "high" for f in failures)
        require_same(f"{name} 的高代价错误", system["high_cost_errors"], costly)
    ok = {case["id"]: case["passed"] for case in ours["cases"]}
    of = {kind: [i["id"] for i in frozen if i["category"] == kind] for kind in ("unknown", "conflict")}
    guarded = [set(i["forbidden_citations"]) for i in frozen]
    hits = [set(case["hits"]) for name in (CANDIDATE, BASELINE) for case in report["systems"][name]["cases"]]
    gates = {
        "tfidf_passes_all": all(ok.values()),
        "no_unknown_answered": all(ok[key] for key in of["unknown"]) if of["unknown"] else None,
        "tfidf_better_than_baseline": ours["passed"] > base["passed"],
        "no_forbidden_source": not any(a & b for a, b in zip(guarded * 2, hits, strict=True)),
        "conflicts_shown": all(ok[key] for key in of["conflict"]) if of["conflict"] else None,
        "no_illegal_citation": True,
        "no_unsupported_sentence": True,
    }
    live_gates = {gate["gate"]: gate["passed"] for gate in report["release_gates"]}
    require_same("发布门", live_gates, gates)
    ready = all(gates.values())
    require_same("结论", report["decision"], "ready_for_use" if ready else "not_ready_for_use")
    require_same("结论是否为采用", report["verdict"] == "采用", ready)
    ordered = [oracle.active[key] for key in sorted(oracle.active)]
    canonical = json.dumps(ordered, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode("utf-8")).hexdigest()
    identity = {"top_k": TOP_K, "min_score": MIN_SCORE, "corpus_digest": digest}
    require_same("参数", {key: report["parameters"][key] for key in identity}, identity)
    require_same("题集版本", report["versions"]["test_set"], frozen_set["version"])
    return f"{len(failures)} 处失败、{len(gates)} 道发布门、结论、参数与版本一致"


def check_routing(chunks: list[Chunk], oracle: Oracle, questions: list[str]) -> str:
    """命中相同、问题文字不同，整个结果都相同；命中换了编号和分数，路由仍按规矩走。"""
    index = TfidfIndex(chunks)
    for question in questions:
        hits = index.search(question)
        result = resolve_question(question, hits)
        require_same(f"“{question}”换了文字之后的结果", resolve_question(OTHER_QUESTION, hits), result)
        shifted = [{**hit, "score": round(hit["score"] * 0.9 + 0.01, 6)} for hit in hits]
        routed = resolve_question(OTHER_QUESTION, shifted)
        expected = oracle.route([(hit["chunk_id"], hit["score"]) for hit in shifted])
        require_same(f"“{question}”的路由", [routed["route"], routed["citations"]], list(expected))
        texts = [f"{oracle.active[key]['text']}[{key}]" for key in expected[1]]
        if expected[0] == "answer" and routed["answer"] != texts[0]:
            raise MismatchError(f"“{question}”的回答不是证据原文加引用")
    return f"{len(questions)} 题换掉问题文字，结果不变；换掉分数，路由仍只看命中"


def check_probe(oracle: Oracle, printed: str) -> str:
    """探测集每套系统两类题的正确数，独立重算后与打印的一致。"""
    items = raw(DATA / "probe_qa.json")["items"]
    for system in (CANDIDATE, BASELINE):
        right = Counter(i["expected_route"] for i in items if oracle.case(system, i)["passed"])
        total = Counter(i["expected_route"] for i in items)
        parts = [f"{right[route]}/{total[route]}" for route in ("refuse", "answer")]
        line = next((row for row in printed.splitlines() if system in row), "")
        if not all(part in line for part in parts):
            raise MismatchError(f"探测集 {system} 应为 {'、'.join(parts)}，打印的是“{line.strip()}”")
    return f"{len(items)} 道探测题的正确数独立重算一致"


def check_reference(live: Any, reference: Path) -> str:
    """现场结果与正式参考逐字段相同；只读参考，从不创建或改写它。"""
    if not reference.is_file():
        raise MismatchError(f"缺少正式参考 {reference.name}")
    read_json(reference)  # 参考文件本身有误是输入错误
    require_same(reference.name, live, raw(reference))
    return f"现场结果与 {reference.name} 逐字段相同"


def run_command(*arguments: str) -> str:
    """另起一个进程运行真实命令，返回标准输出；退出码不是 0 就是不通过。"""
    done = subprocess.run(
        [sys.executable, "-s", "-S", *arguments],
        cwd=ROOT, capture_output=True, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    printed, errors = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
    if done.returncode != 0:
        raise MismatchError(f"退出码 {done.returncode}：\n{errors or printed}")
    return printed.rstrip("\n")


def check_unit_tests() -> str:
    """另起进程运行两个测试文件：恰好十四个，全部通过，没有跳过，章中七种故障都在。"""
    code = "import sys, unittest; sys.path.insert(0, 'tests'); unittest.main(module=None)"
    names = [Path(name).stem for name in TEST_FILES]
    done = subprocess.run(
        [sys.executable, "-s", "-S", "-B", "-c", code, "-v", *names],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    output = done.stderr.decode("utf-8", "replace")
    found = re.findall(r"^(test_\w+) \(", output, flags=re.MULTILINE)
    if f"Ran {UNIT_TESTS} tests" not in output or not re.search(r"^OK$", output, flags=re.MULTILINE):
        raise MismatchError(f"{'、'.join(names)} 应有 {UNIT_TESTS} 个测试全部通过，没有跳过：\n{output}")
    if missing := [name for name in FAULT_TESTS if name not in found]:
        raise MismatchError(f"缺少故障测试：{'、'.join(missing)}")
    print("\n".join(f"  {name} 通过" for name in found))
    return f"{UNIT_TESTS} 个单元测试全部通过，其中 {len(FAULT_TESTS)} 个是故障测试"


# ---- 四、逐项执行 ----


def save_live_report(text: str) -> str:
    """另存现场报告到不入库的文件；只读目录里只作提示。"""
    try:
        write_whole(LIVE_REPORT, text)
    except InputError as error:
        return f"没有另存现场报告：{error}"
    return f"现场报告已另存为 output/{LIVE_REPORT.name}"


def run_checks() -> list[str]:
    """依次执行全部核对，返回不通过的说明；一项失败不妨碍其余项目继续。"""
    failures: list[str] = []

    def check(title: str, action: Callable[[], str]) -> None:
        try:
            print(visible(f"[通过] {title}：{action()}"))
        except MismatchError as error:
            failures.append(title)
            print(lines_text(paragraph(f"[失败] {title}：", str(error))))

    def run(*arguments: str) -> str:
        try:
            printed = run_command(*arguments)
        except MismatchError as error:
            failures.append(arguments[0])
            printed = lines_text(paragraph(f"[失败] {arguments[0]}：", str(error)))
        print(printed)
        return printed

    check("文件与语法", check_files)
    chunks = load_corpus()["chunks"]
    load_keyword_rules(chunks)
    calibration = calibrate.load_calibration(chunks)["items"]
    frozen = evaluate.load_frozen(chunks)["items"]
    check("证据问题表", check_evidence_questions)
    check("题集隔离", lambda: check_question_sets(chunks))
    check("笔记本隔离", lambda: check_notebook(frozen))
    check("代码隔离", lambda: check_constants(chunks, frozen))
    check("单元测试", check_unit_tests)
    oracle = Oracle()
    questions = [item["question"] for item in calibration + frozen]
    check("路由只看命中", lambda: check_routing(chunks, oracle, questions))
    with tempfile.TemporaryDirectory() as folder:
        grid, live = Path(folder, "calibration.json"), Path(folder, "report.json")
        run("calibrate.py", "--report", str(grid))
        if grid.exists():
            check("校准", lambda: check_calibration(oracle, raw(grid)))
        run("evaluate.py", "--report", str(live))
        if live.exists():
            check("独立重算", lambda: check_cases(oracle, raw(live)))
            check("成绩与结论", lambda: check_outcome(oracle, raw(live)))
            check("正式参考", lambda: check_reference(raw(live), REFERENCE_REPORT))
            print(save_live_report(live.read_text(encoding="utf-8")))
            decision = f"{raw(live)['decision']}（{raw(live)['verdict']}）"
    probe = run("evaluate.py", "--probe")
    check("探测集", lambda: check_probe(oracle, probe))
    if not failures:
        print("验收通过：工程完整、可复现，失败如实记录。这不等于可以投入使用。")
        print(f"发布结论：{decision}")
    return failures


def main() -> None:
    """命令行入口。"""
    parser = ChineseParser("复现全部结果，核对没有缩水、没有改数，也找得出常见的作弊。")
    with command_line():
        parser.parse_args()
        failures = run_checks()
        if failures:
            print(f"验收不通过：{'、'.join(failures)}")
            raise SystemExit(1)


if __name__ == "__main__":
    main()
