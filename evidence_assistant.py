"""证据助手：只依据现行资料回答，找不到依据就拒答，资料矛盾就并列冲突。

    问题 → 现行资料 → 检索器 → 路由 → 回答 → 引用校验 → 结果

用法：python evidence_assistant.py [--baseline] [--explain] [--json] "问题"
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import hashlib
import json
import math
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn, Protocol

from answer_adapter import AnswererError, ExtractiveEvidenceAnswerer, validate_citations

ROOT = Path(__file__).resolve().parent
# 安装成软件包以后，资料随 evidence_kit 一起安放。
DATA = ROOT / "data" if (ROOT / "data").is_dir() else ROOT / "evidence_kit" / "course_data"
REFERENCE_REPORT = ROOT / "output" / "reference_report.json"

PROGRAM_VERSION = "0.1.0"
INDEX_VERSION = "char-2-3-tfidf-1"
# 由 calibrate.py 在校准集上选出，冻结后才看最终题；换资料或换检索方法必须重新校准。
TOP_K, MIN_SCORE = 3, 0.08
MAX_QUESTION = 200
ROUTES = ("answer", "refuse", "conflict")
CHUNK_FIELDS = (
    "chunk_id", "doc_id", "title", "version", "scope",
    "source_location", "authorization", "effective_status", "text",
)  # fmt: skip

Chunk = dict[str, Any]
Result = dict[str, Any]


class InputError(ValueError):
    """输入有误：一行话说清是哪个文件、什么原因。命令行以退出码 2 结束。"""


# ---- 一、读写文件：进来的先检查，出去的要么完整、要么没有 ----


def _no_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, count in Counter(key for key, _ in pairs).items():
        if count > 1:
            raise ValueError(f"键 {key!r} 重复")
    return dict(pairs)


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text} 不是有限的数")
    return number


def cause(error: OSError) -> str:
    """返回系统错误的中文原因；少见的错误保留系统原文。"""
    causes = {
        errno.ENOENT: "没有这个文件或文件夹", errno.EACCES: "没有权限", errno.EPERM: "没有权限",
        errno.EISDIR: "这是文件夹", errno.ENOTDIR: "路径中间有一段不是文件夹", errno.EROFS: "只读",
        errno.ENOSPC: "磁盘已满", errno.ENAMETOOLONG: "名字太长", errno.ELOOP: "链接成环",
    }  # fmt: skip
    return causes.get(error.errno or 0, error.strerror or str(error))


def read_json(path: Path) -> Any:
    """返回 JSON 内容：UTF-8（可带 BOM）；重复键、NaN、孤立代理项都是 InputError。"""
    try:
        value = json.loads(
            path.read_bytes().decode("utf-8-sig"),
            object_pairs_hook=_no_duplicate_keys,
            parse_constant=_finite,
            parse_float=_finite,
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # 孤立代理项在这里暴露
    except OSError as error:
        raise InputError(f"{path}：无法读取（{cause(error)}）") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}：不是 UTF-8 文本（第 {error.start} 字节），请另存为 UTF-8") from error
    except UnicodeEncodeError as error:
        raise InputError(f"{path}：含有孤立的代理项，不是完整的 Unicode 文本") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{path}：第 {error.lineno} 行不是合法的 JSON（{error.msg}）") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}：内容不可接受（{error}）") from error
    return value


def check_report_path(path: Path) -> None:
    """报告只能写成 data/ 以外的 .json 普通文件，且文件夹可写；否则抛出 InputError。"""
    try:
        # 链接也不写：它指向的可能正是正式参考。
        ordinary = not path.is_symlink() and (path.is_file() or not path.exists())
        inside = path.resolve().is_relative_to(DATA.resolve())
        writable = path.parent.is_dir() and os.access(path.parent, os.W_OK)
    except (OSError, RuntimeError) as error:  # 链接成环时，旧版 Python 抛出 RuntimeError
        raise InputError(f"{path}：无法写入（{error}）") from error
    if not ordinary or inside or path.suffix != ".json":
        raise InputError(f"{path}：报告应写成 data/ 以外的 .json 普通文件")
    if not writable:
        raise InputError(f"{path}：无法写入（文件夹不存在或不可写）")


def write_whole(path: Path, text: str) -> None:
    """把 text 完整写入 path，或者原样保留旧文件并抛出 InputError，不会只写一半。"""
    check_report_path(path)
    temporary = path.with_name(f".tmp-{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as handle:
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path}：无法写入（{cause(error)}）") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()  # 成功时它已改名；中断时不留残余


def json_text(value: Any) -> str:
    """返回报告用的 JSON 文本：同样的内容得到同样的字节。"""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def read_records(path: Path, list_key: str, id_key: str, version_key: str | None = None) -> Any:
    """返回带一组记录的 JSON 对象，已检查外形、版本字段、编号唯一和列表非空。"""
    data = read_json(path)
    if not isinstance(data, dict) or not isinstance(data.get(list_key), list) or not data[list_key]:
        raise InputError(f"{path}：应为对象，且 {list_key} 是非空列表")
    if version_key and not (isinstance(data.get(version_key), str) and data[version_key].strip()):
        raise InputError(f"{path}：{version_key} 应为非空字符串")
    seen = set()
    for number, record in enumerate(data[list_key], 1):
        key = record.get(id_key) if isinstance(record, dict) else None
        if not isinstance(key, str) or not key.strip():
            raise InputError(f"{path}：{list_key} 第 {number} 项应为带 {id_key} 的对象")
        if key in seen:
            raise InputError(f"{path}：{id_key} {key} 重复")
        seen.add(key)
    return data


# ---- 二、资料：先按状态过滤，再谈检索 ----


def load_corpus(path: Path = DATA / "corpus.json") -> dict[str, Any]:
    """返回 {"corpus_version", "chunks"}，每块的字段、编号与状态都已检查；有错抛出 InputError。"""
    corpus: dict[str, Any] = read_records(path, "chunks", "chunk_id", "corpus_version")
    for chunk in corpus["chunks"]:
        name = f"{path}：资料块 {chunk['chunk_id']}"
        for field in CHUNK_FIELDS:
            if not isinstance(chunk.get(field), str) or not chunk[field].strip():
                raise InputError(f"{name} 的 {field} 应为非空字符串")
        if not re.fullmatch(r"C[0-9]{3}", chunk["chunk_id"]):
            raise InputError(f"{name} 的编号应为大写 C 加三位数字")
        if chunk["effective_status"] not in ("active", "expired"):
            raise InputError(f"{name} 的 effective_status 应为 active 或 expired")
        group = chunk.get("conflict_group", "")
        if group is not None and not (isinstance(group, str) and group.strip()):
            raise InputError(f"{name} 的 conflict_group 应为 null 或非空字符串")
        if not normalize(chunk["text"]):
            raise InputError(f"{name} 的 text 没有任何文字")
    if not any(chunk["effective_status"] == "active" for chunk in corpus["chunks"]):
        raise InputError(f"{path}：没有一块当前有效的资料")
    return corpus


def active_chunks(chunks: list[Chunk]) -> list[Chunk]:
    """返回当前有效的资料块；一块也没有时抛出 InputError。过期资料到此为止，进不了任何索引。"""
    active = [chunk for chunk in chunks if chunk["effective_status"] == "active"]
    if not active:
        raise InputError("资料库没有当前有效的资料。")
    return active


def corpus_digest(chunks: list[Chunk]) -> str:
    """返回现行资料集合的 SHA-256：增删过期资料不改变它，改动任何一块现行资料都会改变它。"""
    ordered = sorted(active_chunks(chunks), key=lambda chunk: chunk["chunk_id"])
    canonical = json.dumps(ordered, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def load_cases(path: Path, chunks: list[Chunk], *id_fields: str) -> dict[str, Any]:
    """返回 {"version", "items"}：问题、预期路由和 id_fields 各列的资料块编号都已检查。"""
    known = {chunk["chunk_id"] for chunk in chunks}
    cases: dict[str, Any] = read_records(path, "items", "id", "version")
    for item in cases["items"]:
        if not isinstance(item.get("question"), str):
            raise InputError(f"{path}：{item['id']} 的 question 应为字符串")
        try:
            check_question(item["question"])
        except InputError as error:
            raise InputError(f"{path}：{item['id']} 的{error}") from None
        if item.get("expected_route") not in ROUTES:
            raise InputError(f"{path}：{item['id']} 的 expected_route 应为 {'、'.join(ROUTES)} 之一")
        for field in id_fields:
            ids = item.get(field)
            if not isinstance(ids, list) or not all(isinstance(key, str) for key in ids):
                raise InputError(f"{path}：{item['id']} 的 {field} 应为编号的列表，没有就写 []")
            if unknown := [key for key in ids if key not in known]:
                raise InputError(f"{path}：{item['id']} 的 {field} 里，{'、'.join(unknown)} 不在资料库中")
    return cases


# ---- 三、检索：字符 TF-IDF 与关键词基线，同一个接口 ----


def normalize(text: str) -> str:
    """返回小写文本，去掉标点 P、符号 S、空白 Z、控制 C 四大类字符；数字和拉丁字母保留。"""
    return "".join(c for c in text.lower() if unicodedata.category(c)[0] not in "PSZC")


def character_ngrams(text: str) -> list[str]:
    """返回全部连续 2 字片段，再接全部连续 3 字片段；先 normalize，问题与资料走同一条路。"""
    clean = normalize(text)
    return [clean[i : i + n] for n in (2, 3) for i in range(len(clean) - n + 1)]


class Retriever(Protocol):
    """检索器接口：换检索方法只需实现这四样，路由、引用校验和验收都不变。"""

    name: str

    def search(self, question: str) -> list[Chunk]:
        """返回命中：资料块字段加 score，按 score 降序、chunk_id 升序。"""

    def nearest(self, question: str, count: int = 3) -> list[dict[str, Any]]:
        """返回最接近的几块 {chunk_id, score}，不设门槛，只供查看，绝不引用。"""

    def explain(self, question: str, chunk_id: str) -> list[dict[str, Any]]:
        """返回这一块为什么命中：[{term, share, …}]，share 合计为 1。"""


def _ranked(items: list[Chunk], limit: int) -> list[Chunk]:
    if limit < 1:
        raise InputError(f"top_k 应为不小于 1 的整数，现为 {limit}")
    return sorted(items, key=lambda item: (-item["score"], item["chunk_id"]))[:limit]


def _nearest(scores: list[tuple[Chunk, float]], count: int) -> list[dict[str, Any]]:
    items = [{"chunk_id": chunk["chunk_id"], "score": round(score, 6)} for chunk, score in scores]
    return _ranked(items, count)


class TfidfIndex:
    """字符 2/3-gram 的 TF-IDF 余弦检索。高分只说明共享片段多，不代表属实，也不是概率。"""

    name = "character_ngram_tfidf"

    def __init__(self, chunks: list[Chunk]) -> None:
        # 过期资料在这里就被排除：它不影响任何统计量，也不影响任何一位分数。
        self.chunks = active_chunks(chunks)
        counts = [Counter(character_ngrams(chunk["text"])) for chunk in self.chunks]
        df = Counter(gram for item in counts for gram in item)
        size = len(self.chunks)
        self.idf = {gram: math.log((1 + size) / (1 + seen)) + 1.0 for gram, seen in df.items()}
        self.vectors = [self._vectorize(bag) for bag in counts]

    def _vectorize(self, counts: Counter[str]) -> dict[str, float]:
        """返回长度为 1 的稀疏向量：tf = 次数/总数，再乘 idf；语料里没有的片段不计。"""
        all_grams = sum(counts.values())
        weights = {gram: n / all_grams * self.idf[gram] for gram, n in counts.items() if gram in self.idf}
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        return {gram: weight / length for gram, weight in weights.items()}

    def _scores(self, question: str) -> list[tuple[Chunk, float]]:
        query = self._vectorize(Counter(character_ngrams(question)))
        # fsum 精确求和：各版本 Python 的最后一位都相同。
        return [
            (chunk, math.fsum(value * vector.get(gram, 0.0) for gram, value in query.items()))
            for chunk, vector in zip(self.chunks, self.vectors, strict=True)
        ]

    def search(self, question: str, top_k: int = TOP_K, min_score: float = MIN_SCORE) -> list[Chunk]:
        """返回未舍入分数达到 min_score 的前 top_k 块，按六位小数的分数和编号排序。"""
        hits = [
            {**chunk, "score": round(score, 6)}
            for chunk, score in self._scores(question)
            if score >= min_score
        ]
        return _ranked(hits, top_k)

    def nearest(self, question: str, count: int = 3) -> list[dict[str, Any]]:
        """返回分数最高的几块，低于门槛的也在内。"""
        return _nearest(self._scores(question), count)

    def explain(self, question: str, chunk_id: str) -> list[dict[str, Any]]:
        """返回共享片段 [{term, idf, share}]，按占分数的比例从大到小。"""
        position = next(i for i, chunk in enumerate(self.chunks) if chunk["chunk_id"] == chunk_id)
        query, vector = self._vectorize(Counter(character_ngrams(question))), self.vectors[position]
        parts = {gram: value * vector[gram] for gram, value in query.items() if gram in vector}
        total = math.fsum(parts.values())
        rows = [
            {"term": gram, "idf": round(self.idf[gram], 6), "share": round(part / total, 6)}
            for gram, part in parts.items()
        ]
        return sorted(rows, key=lambda row: (-row["share"], row["term"]))


class KeywordBaseline:
    """透明的关键词基线：出现一个关键词就算命中，score = 命中数 / 关键词总数，不设门槛。"""

    name = "transparent_keyword_rules"

    def __init__(self, chunks: list[Chunk], rules: dict[str, list[str]]) -> None:
        self.chunks = active_chunks(chunks)
        self.rules = rules

    def _matched(self, question: str, chunk_id: str) -> list[str]:
        clean = normalize(question)
        return [word for word in self.rules[chunk_id] if normalize(word) in clean]

    def _scores(self, question: str) -> list[tuple[Chunk, float]]:
        ids = [chunk["chunk_id"] for chunk in self.chunks]
        shares = [len(self._matched(question, key)) / len(self.rules[key]) for key in ids]
        return list(zip(self.chunks, shares, strict=True))

    def search(self, question: str, top_k: int = TOP_K) -> list[Chunk]:
        """返回至少命中一个关键词的前 top_k 块。"""
        hits = [{**chunk, "score": round(s, 6)} for chunk, s in self._scores(question) if s > 0]
        return _ranked(hits, top_k)

    def nearest(self, question: str, count: int = 3) -> list[dict[str, Any]]:
        """返回命中比例最高的几块，零分的也在内。"""
        return _nearest(self._scores(question), count)

    def explain(self, question: str, chunk_id: str) -> list[dict[str, Any]]:
        """返回命中的关键词 [{term, share}]，每个词所占比例相同。"""
        words = self._matched(question, chunk_id)
        return [{"term": word, "share": round(1 / len(words), 6)} for word in words]


def load_keyword_rules(chunks: list[Chunk], path: Path = DATA / "keyword_rules.json") -> dict[str, list[str]]:
    """返回 {chunk_id: 关键词}；每条 3 至 6 个互不相同的词，编号都在资料库里，现行资料块都有规则。"""
    known = {chunk["chunk_id"] for chunk in chunks}
    rules: dict[str, list[str]] = {}
    for rule in read_records(path, "rules", "chunk_id")["rules"]:
        key, words = rule["chunk_id"], rule.get("keywords")
        if key not in known:
            raise InputError(f"{path}：资料库里没有 {key}")
        if not isinstance(words, list) or not all(isinstance(w, str) and normalize(w) for w in words):
            raise InputError(f"{path}：{key} 的 keywords 应为非空词语的列表")
        if not 3 <= len({normalize(word) for word in words}) == len(words) <= 6:
            raise InputError(f"{path}：{key} 应有 3 至 6 个互不相同的关键词，现有 {len(words)} 个")
        rules[key] = words
    for chunk in active_chunks(chunks):
        if chunk["chunk_id"] not in rules:
            raise InputError(f"{path}：缺少现行资料块 {chunk['chunk_id']} 的关键词")
    return rules


# ---- 四、路由：回答、拒答或并列冲突 ----


def check_question(question: str) -> str:
    """返回去掉首尾空白的问题；为空、超过 200 字、没有字母或数字时抛出 InputError。"""
    question = question.strip()
    if not question:
        raise InputError("问题为空，请输入 1 至 200 个字符。")
    if len(question) > MAX_QUESTION:
        raise InputError(f"问题有 {len(question)} 个字符，最多 {MAX_QUESTION} 个，请精简。")
    if not any(c.isalnum() for c in question) or any("\ud800" <= c <= "\udfff" for c in question):
        raise InputError("问题里没有可以检索的文字，请换一种说法。")
    return question


def _routed(route: str, answer: str, evidence: list[Chunk], citations: list[str], reason: str) -> Result:
    return {
        "route": route, "answer": answer, "evidence": evidence, "citations": citations,
        "human_review_required": True, "review_reason": reason,
    }  # fmt: skip


def conflicting(hits: list[Chunk]) -> list[Chunk]:
    """返回名次最前的、至少命中两块的冲突组；没有则为空。按编号排列：谁的分数高，不代表谁对。"""
    groups: dict[str, list[Chunk]] = {}
    for hit in hits:
        group = hit.get("conflict_group")
        if group:
            groups.setdefault(group, []).append(hit)
    for members in groups.values():
        if len(members) > 1:
            return sorted(members, key=lambda item: item["chunk_id"])
    return []


def with_anchor(item: Chunk) -> Chunk:
    """返回附上定位凭条 anchor 的证据。参考回答器整块照抄，所以原话就是整块正文。"""
    text = item["text"]
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    anchor = {"unit": "codepoint", "start": 0, "end": len(text), "sha256": digest, "quote": text}
    return {**item, "anchor": anchor}


def check_anchor(item: Chunk) -> None:
    """正文摘要相同，并且按起止切出来的就是原话，才算数；否则抛出 InputError。"""
    text, anchor = item["text"], item["anchor"]
    same_text = anchor["sha256"] == hashlib.sha256(text.encode("utf-8")).hexdigest()
    if not same_text or text[anchor["start"] : anchor["end"]] != anchor["quote"]:
        raise InputError(f"{item['chunk_id']} 的定位凭条与正文不符，请从原文重新生成")


def resolve_question(question: str, hits: list[Chunk], answerer: Any = None) -> Result:
    """返回路由结果。路由只看命中，不看问题的字面；问题只交给回答器组织语言。

    没有命中则拒答；同一冲突组命中两块以上则并列冲突；其余用第一名回答，
    引用校验不通过就改为拒答。answerer 缺省为抽取式回答器。
    """
    if not hits:
        text = "无法从当前有效资料中确认，请联系相应的服务人员。"
        return _routed("refuse", text, [], [], "没有命中可用的证据")
    conflict = conflicting(hits)
    evidence = [with_anchor(item) for item in conflict or hits[:1]]
    allowed = [item["chunk_id"] for item in evidence]
    try:
        # 冲突只能照抄并列，不交给语言模型去调和。
        chosen = ExtractiveEvidenceAnswerer() if conflict or answerer is None else answerer
        answer = chosen.answer(question, evidence)
        if not isinstance(answer, str):
            raise AnswererError(f"回答器应返回字符串，实际返回 {type(answer).__name__}")
        legal, citations = validate_citations(answer, allowed)
        reason = "引用校验未通过"
    except AnswererError as error:
        legal, citations, answer, reason = False, [], "", str(error)
    except Exception as error:  # 回答器可以替换，它出任何错都只能变成拒答
        legal, citations, answer, reason = False, [], "", f"回答器出错：{type(error).__name__}"
    if not legal:
        return _routed("refuse", "回答的引用校验没有通过，已停止输出。", evidence, [], reason)
    if conflict:
        answer = "现行资料的规定互相矛盾，系统不作选择，原文并列如下：\n" + answer
        return _routed("conflict", answer, evidence, citations, "现行资料冲突，须由资料责任人确认")
    return _routed("answer", answer, evidence, citations, "")


def parameters_in_force(chunks: list[Chunk]) -> dict[str, Any]:
    """返回当前参数与现行资料的身份；正式报告只对同一身份有效。"""
    digest = corpus_digest(chunks)
    return {
        "top_k": TOP_K, "min_score": MIN_SCORE, "corpus_digest": digest,
        "index_version": f"{INDEX_VERSION}+{digest[:12]}",
    }  # fmt: skip


def released(chunks: list[Chunk], path: Path = REFERENCE_REPORT) -> bool:
    """返回正式报告是否放行了当前的参数与资料；没有可读的报告就是没有放行。"""
    try:
        report = read_json(path)
    except InputError:
        return False
    same = isinstance(report, dict) and report.get("parameters") == parameters_in_force(chunks)
    return same and report.get("decision") == "ready_for_use"


def ask(question: str, retriever: Retriever, answerer: Any = None, *, ready: bool = False) -> Result:
    """返回一次提问的完整结果；ready 为假时（未通过发布门），回答也必须人工复核。"""
    question = check_question(question)
    result = resolve_question(question, retriever.search(question), answerer)
    for item in result["evidence"]:
        check_anchor(item)
    if result["route"] == "answer":
        result["human_review_required"] = not ready
        result["review_reason"] = "" if ready else "系统未通过发布门（not_ready_for_use）"
    order = (
        "question", "system", "route", "answer", "evidence", "citations",
        "nearest", "human_review_required", "review_reason",
    )  # fmt: skip
    result.update(question=question, system=retriever.name, nearest=retriever.nearest(question))
    return {key: result[key] for key in order}


# ---- 五、命令行 ----


class ChineseParser(argparse.ArgumentParser):
    """中文命令行解析：选项不许缩写；用法错误只打一行，退出码 2。"""

    def __init__(self, description: str) -> None:
        super().__init__(description=description, add_help=False, allow_abbrev=False)
        self.add_argument("-h", "--help", action="help", help="显示这段说明")

    def format_help(self) -> str:
        """返回中文标题的说明。"""
        titles = {"usage:": "用法：", "positional arguments:": "参数：", "options:": "选项："}
        text = super().format_help()
        for english, chinese in titles.items():
            text = text.replace(english, chinese)
        return text

    def error(self, message: str) -> NoReturn:
        """抛出 InputError：一行中文，说明错在哪个参数。"""
        words = {
            "the following arguments are required: ": "缺少 ",
            "unrecognized arguments: ": "不认识或多余的参数（问题含空格时请加引号）：",
            "expected one argument": "后面要跟一个值",
            "ignored explicit argument ": "不能带值 ",
            "argument ": "",
        }
        for english, chinese in words.items():
            message = message.replace(english, chinese)
        raise InputError(f"参数有误（{message}）；加 --help 查看用法")


@contextlib.contextmanager
def command_line() -> Iterator[None]:
    """命令的外壳：输出一律 UTF-8；输入错误只打一行、退出码 2；对方关闭管道时安静结束、退出码 1。"""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        try:
            yield
        except InputError as error:
            print(f"错误：{visible(str(error))}", file=sys.stderr)
            raise SystemExit(2) from None
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:  # 资料与报告的错误都已成为 InputError，剩下的多半是标准输出
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # 退出时不再重试坏掉的输出
        if isinstance(error.__context__, SystemExit):  # 已经报过错，不再添一行
            raise SystemExit(error.__context__.code or 1) from None
        if not isinstance(error, BrokenPipeError):
            print(f"错误：系统读写出错（{cause(error)}）", file=sys.stderr)
        raise SystemExit(1) from None


def visible(line: str) -> str:
    """返回可以放心打印的一行：控制符、换行符、双向排版符都显示为转义，终端不会执行，也冒充不了别的行。"""
    return re.sub(
        r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]",
        lambda match: f"\\u{ord(match[0]):04x}",
        line,
    )


def lines_text(lines: Iterable[str]) -> str:
    """返回逐行转义后的文本。"""
    return "\n".join(visible(line) for line in lines)


def paragraph(label: str, text: str) -> list[str]:
    """返回一段多行文字：第一行接在标签后面，其余各行缩进，文字里的换行冒充不了新的标签。"""
    first, *rest = text.split("\n")
    return [label + first, *(f"      {line}" for line in rest)]


ROUTE_NAMES = {"answer": "回答", "refuse": "拒答", "conflict": "冲突"}


def readable(result: Result, explanation: dict[str, list[dict[str, Any]]] | None = None) -> str:
    """返回给人看的文本，顺序是：路由，证据与状态，回答。"""
    lines = [f"路由：{result['route']}（{ROUTE_NAMES[result['route']]}）", "证据："]
    for item in result["evidence"]:
        lines += [
            f"  {item['chunk_id']} {item['title']} 版本 {item['version']} 状态 {item['effective_status']}"
            f" 分数 {item['score']:.6f}",
            *paragraph("    原文：", item["text"]),
            f"    定位：码点 [{item['anchor']['start']}, {item['anchor']['end']})，"
            f"正文摘要 {item['anchor']['sha256'][:12]}",
        ]
    if not result["evidence"]:
        lines.append("  无")
    near = "  ".join(f"{item['chunk_id']} {item['score']:.6f}" for item in result["nearest"])
    lines += [f"最接近的三块（列在这里不等于可以引用）：{near}", *paragraph("回答：", result["answer"])]
    lines.append(f"引用：{'、'.join(result['citations']) or '无'}")
    review = f"是（{result['review_reason']}）" if result["human_review_required"] else "否"
    lines.append(f"需要人工复核：{review}")
    for chunk_id, rows in (explanation or {}).items():
        lines.append(f"{chunk_id} 与问题的共同之处：")
        for row in rows:
            idf = f" idf {row['idf']:.6f}" if "idf" in row else ""
            lines.append(f"  {row['term']}{idf} 占分数 {row['share']:.1%}")
    return lines_text(lines)


def main(arguments: list[str] | None = None) -> None:
    """命令行入口：回答一个问题。拒答和冲突也是正常结果，退出码 0。"""
    parser = ChineseParser(description="证据助手：只依据现行资料回答、拒答或并列冲突。")
    parser.add_argument("question", metavar="问题", help="1 至 200 个字符")
    parser.add_argument("--baseline", action="store_true", help="改用透明的关键词基线")
    parser.add_argument("--explain", action="store_true", help="列出共享片段及其占分数的比例")
    parser.add_argument("--json", action="store_true", help="输出 JSON，供程序读取")
    with command_line():
        options = parser.parse_args(arguments)
        chunks = load_corpus()["chunks"]
        retriever: Retriever = TfidfIndex(chunks)
        if options.baseline:
            retriever = KeywordBaseline(chunks, load_keyword_rules(chunks))
        result = ask(options.question, retriever, ready=released(chunks))
        explanation = None
        if options.explain:
            # 没有命中时解释最接近的几块：为什么接近，却没有达到门槛。
            near = [item for item in result["nearest"] if item["score"] > 0]
            shown = retriever.search(result["question"]) or near
            explanation = {i["chunk_id"]: retriever.explain(result["question"], i["chunk_id"]) for i in shown}
        if options.json:
            text = json_text({**result, "explanation": explanation} if options.explain else result)
            print(lines_text(text.rstrip("\n").split("\n")))
        else:
            print(readable(result, explanation))


if __name__ == "__main__":
    main()
