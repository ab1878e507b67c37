"""The workbench of the built wheel, away from the checkout: its data, pages and reports come along.

Needs a package index for the build backend; without one it is skipped with pip's reason.
"""

import os
import subprocess
import sys
import urllib.request
import zipfile
from urllib.parse import quote

import pytest

from evidence_kit.course import examples


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


@pytest.fixture
def address(unpacked, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "evidence_kit.commands", "serve", "--no-open", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process.stdout.readline().strip()
    process.kill()
    process.communicate()


def read(address):
    with urllib.request.urlopen(address) as answer:
        return answer.read().decode("utf-8")


def test_every_page_opens_on_the_course_and_the_sample(address):
    assert "C003" in read(f"{address}ask?q={quote(examples()[0])}")
    assert "safety-zh.md" in read(f"{address}find?q={quote('急救箱')}")
    evaluate = read(f"{address}evaluate")
    assert "车修好了一直没去拿" in evaluate
    assert "改动不会保存" in evaluate
    assert "0.883333" in read(f"{address}evaluate/export/measures.csv")
    acceptance = read(f"{address}acceptance")
    assert '<p class="word">not_ready_for_use</p>' in acceptance
    assert "这份副本没有使用冻结题的记录" in acceptance
    assert "不属于当前的资料与参数" not in acceptance
    assert "共 9 块，现行 8 块" in read(f"{address}sources")
    assert "/api/ask" in read(f"{address}api/openapi.json")
    assert "--accent" in read(f"{address}static/style.css")
