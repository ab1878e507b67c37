"""A report is one file that loads nothing, runs nothing of its data, and says the same each time."""

import base64
import builtins
import hashlib
import re
from dataclasses import replace

import pytest

from evidence_kit.experiments.model import DocumentHit, Question
from evidence_kit.reports.errors import ReportError
from evidence_kit.reports.html import build_report


@pytest.fixture
def page(experiment, run):
    return build_report(experiment, run)


def test_same_records_give_the_same_bytes_without_clock_or_path(experiment, run, page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "America/New_York")
    assert build_report(experiment, run) == page
    assert str(tmp_path) not in page
    days = {"2026-11-30", "2026-11-01", "2020-01-01", "2025-12-31"}
    assert set(re.findall(r"20\d\d-\d\d-\d\d", page)) == days


def test_policy_allows_the_one_script_and_the_one_style_sheet_by_their_digests(page):
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    (script,) = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style[^>]*>(.*?)</style>", page, re.DOTALL)

    def pin(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    rules = dict(rule.split(" ", 1) for rule in policy.replace("&#39;", "'").split("; "))
    assert rules == {
        "default-src": "'none'",
        "script-src": pin(script),
        "style-src": pin(style),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert page.index("Content-Security-Policy") < page.index("<style")


def test_nothing_is_loaded_and_no_element_carries_a_style_or_handler(page):
    elements = re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)
    assert re.findall(r"\s(?:src|srcset|action|style|on\w+)=", elements) == []
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', page))
    assert "url(" not in page and "@import" not in page


def test_every_link_leads_to_one_element_of_the_page(page):
    ids = re.findall(r'\sid="([^"]*)"', page)
    assert len(set(ids)) == len(ids)
    assert {link[1:] for link in re.findall(r'href="([^"]*)"', page)} <= set(ids)


def test_undefined_unjudged_and_stale_are_counted_and_said_to_be_no_zero(page):
    shown = re.sub(r"<[^>]*>", "", page)
    for phrase in (
        "2 个：q2、q3",
        "前 2 份命中里有 1 份从未判断，1 份待复核，都暂按 0 计",
        "没有命中：1 个问题，其中有相关判断的按 0 分计：q2。",
        "1 条判断针对的是修改前的正文或问题",
        "也不算 0 分",
        "没有命中",
        "不在用：已过有效期",
        "2 相关待复核",
        "不说明哪种方法更好",
    ):
        assert phrase in shown, phrase


def test_run_whose_quote_no_longer_stands_in_its_source_is_refused(experiment, run):
    first = run.results[0]
    for change in ({"quote": "别的话"}, {"start": 0}, {"source_id": "gone"}, {"quote": "", "start": 43}):
        moved = DocumentHit(1, replace(first.documents[0].best, **change), 3, "current")
        damaged = replace(run, results=(replace(first, documents=(moved,)), *run.results[1:]))
        with pytest.raises(ReportError, match=r"问题 q1 .*请重新运行评测"):
            build_report(experiment, damaged)


def test_run_of_other_questions_is_refused(experiment, run):
    changed = (*experiment.questions[:2], Question("q3", "改过的问题"))
    with pytest.raises(ReportError, match="请重新运行评测"):
        build_report(replace(experiment, questions=changed), run)


def test_missing_jinja2_is_named_with_the_command_that_installs_it(experiment, run, monkeypatch):
    ordinary = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == "jinja2":
            raise ImportError(name)
        return ordinary(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ReportError, match=r'jinja2.*python -m pip install "evidence-assistant\[report\]"'):
        build_report(experiment, run)


def contrast(first, second):
    """WCAG 2.2, relative luminance and contrast ratio."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_colours_have_the_contrast_that_wcag_aa_asks_for_in_both_schemes(page):
    schemes = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block)) for block in page.split(":root {")[1:]]
    assert len(schemes) == 3
    for colours in schemes:
        for ground in ("page", "soft"):
            for ink in ("ink", "quiet", "link", "right", "wrong"):
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        assert contrast(colours["mark-ink"], colours["mark"]) >= 4.5
