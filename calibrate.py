"""校准：在校准集上逐组比较预先声明的参数，别的都不看。

用法：python calibrate.py [--report 文件] [--case CAL07]
本模块不读冻结集；参数选定之后，冻结集才由 evaluate.py 第一次使用。
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evidence_assistant import (
    DATA,
    MIN_SCORE,
    TOP_K,
    ChineseParser,
    Chunk,
    InputError,
    TfidfIndex,
    check_report_path,
    command_line,
    json_text,
    lines_text,
    load_cases,
    load_corpus,
    parameters_in_force,
    resolve_question,
    write_whole,
)

# 先写下候选，再看结果；看过结果以后不许往里添。
GRID_TOP_K = (1, 2, 3)
GRID_MIN_SCORE = (0.04, 0.08, 0.12)


def load_calibration(chunks: list[Chunk], path: Path = DATA / "calibration_qa.json") -> dict[str, Any]:
    """返回校准集 {"version", "items"}。"""
    return load_cases(path, chunks, "required_candidates")


def run_case(index: TfidfIndex, item: dict[str, Any], top_k: int, min_score: float) -> dict[str, Any]:
    """返回一道校准题在一组参数下的结果；路由相同且必需候选都在命中里才算通过。"""
    hits = index.search(item["question"], top_k, min_score)
    route = resolve_question(item["question"], hits)["route"]
    found = [hit["chunk_id"] for hit in hits]
    missing = [key for key in item["required_candidates"] if key not in found]
    return {
        "id": item["id"], "expected_route": item["expected_route"], "route": route,
        "hits": found, "scores": [hit["score"] for hit in hits], "missing_candidates": missing,
        "passed": route == item["expected_route"] and not missing,
    }  # fmt: skip


def run_grid(index: TfidfIndex, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """返回九组参数的逐题结果。"""
    grid = []
    for top_k in GRID_TOP_K:
        for min_score in GRID_MIN_SCORE:
            cases = [run_case(index, item, top_k, min_score) for item in items]
            passed = sum(case["passed"] for case in cases)
            row = {"top_k": top_k, "min_score": min_score, "passed": passed, "total": len(cases)}
            grid.append({**row, "cases": cases})
    return grid


def unique_winner(grid: list[dict[str, Any]]) -> dict[str, Any] | None:
    """返回唯一全部通过的一组参数；没有或不止一组时返回 None，不在并列中挑选。"""
    full = [row for row in grid if row["passed"] == row["total"]]
    return {"top_k": full[0]["top_k"], "min_score": full[0]["min_score"]} if len(full) == 1 else None


def calibration_report() -> dict[str, Any]:
    """返回校准报告：资料身份、九组结果与唯一胜者。"""
    chunks = load_corpus()["chunks"]
    calibration = load_calibration(chunks)
    grid = run_grid(TfidfIndex(chunks), calibration["items"])
    identity = parameters_in_force(chunks)
    return {
        "calibration_set": calibration["version"],
        "corpus_digest": identity["corpus_digest"],
        "index_version": identity["index_version"],
        "winner": unique_winner(grid),
        "grid": grid,
    }


def grid_table(report: dict[str, Any]) -> str:
    """返回九宫格：行是 top_k，列是 min_score，格里是通过数；末行写明选中的参数。"""
    passed = {(row["top_k"], row["min_score"]): f"{row['passed']}/{row['total']}" for row in report["grid"]}
    lines = ["top_k \\ min_score " + "".join(f"{score:>8.2f}" for score in GRID_MIN_SCORE)]
    for top_k in GRID_TOP_K:
        lines.append(f"{top_k:>17} " + "".join(f"{passed[top_k, score]:>8}" for score in GRID_MIN_SCORE))
    for row in report["grid"]:
        failed = [case["id"] for case in row["cases"] if not case["passed"]]
        if failed:
            group = f"top_k={row['top_k']} min_score={row['min_score']:.2f}"
            lines.append(f"  {group} 未通过：{'、'.join(failed)}")
    winner = report["winner"]
    if winner is None:
        lines.append("没有唯一全部通过的参数：选参结果未定义")
    else:
        lines.append(f"唯一全部通过：top_k={winner['top_k']}、min_score={winner['min_score']:.2f}")
    return lines_text(lines)


def case_text(case_id: str) -> str:
    """返回一道校准题的共享片段、最接近的资料块，以及每组参数下的路由。"""
    chunks = load_corpus()["chunks"]
    items = {item["id"]: item for item in load_calibration(chunks)["items"]}
    if case_id not in items:
        raise InputError(f"校准集里没有 {case_id}，可用：{'、'.join(items)}")
    item, index = items[case_id], TfidfIndex(chunks)
    lines = [f"{case_id} {item['question']}", f"预期路由：{item['expected_route']}"]
    for near in index.nearest(item["question"]):
        shared = index.explain(item["question"], near["chunk_id"]) if near["score"] else []
        terms = "、".join(f"{row['term']} {row['share']:.1%}" for row in shared) or "没有共享片段"
        lines.append(f"  {near['chunk_id']} {near['score']:.6f}：{terms}")
    for top_k in GRID_TOP_K:
        for min_score in GRID_MIN_SCORE:
            case = run_case(index, item, top_k, min_score)
            mark = "通过" if case["passed"] else "未通过"
            hits = "、".join(case["hits"]) or "无"
            lines.append(f"top_k={top_k} min_score={min_score:.2f} → {case['route']}（命中 {hits}）{mark}")
    return lines_text(lines)


def main(arguments: list[str] | None = None) -> None:
    """命令行入口。没有唯一胜者也是结果，退出码 0。"""
    parser = ChineseParser("在校准集上逐组比较声明过的参数。")
    parser.add_argument("--report", metavar="文件", type=Path, help="另存完整的逐题结果（.json）")
    parser.add_argument("--case", metavar="编号", help="只看一道校准题的片段、分数与各组路由；单独使用")
    with command_line():
        options = parser.parse_args(arguments)
        if options.case is not None:
            if options.report:
                parser.error("--case 不能与 --report 同用")
            print(case_text(options.case))
            return
        if options.report:
            check_report_path(options.report)
        report = calibration_report()
        print(grid_table(report))
        print(f"程序当前使用：top_k={TOP_K}、min_score={MIN_SCORE:.2f}")
        if options.report:
            write_whole(options.report, json_text(report))


if __name__ == "__main__":
    main()
