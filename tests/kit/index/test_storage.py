"""An index on disk: whole or not at all, and never trusted."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")

from corpora import ANALYZERS, STRANGE, WEIGHTINGS, corpus_of, text_of

from evidence_kit.index import (
    Bm25,
    DamagedIndexError,
    Index,
    IndexFormatError,
    IndexWriteError,
    files,
)

ROOT = Path(__file__).parents[3]
TEXTS = ["先停机，再检修", "每周加油一次", "检修之后再开机", "加油之前先停机"]


def _saved(folder: Path, texts: list[str] = TEXTS, **options: Any) -> Index:
    index = Index.build(texts, **options)
    index.save(folder)
    return index


def _generation(folder: Path) -> Path:
    return folder / (folder / "CURRENT").read_text().strip()


def test_an_opened_index_answers_as_the_one_that_was_saved(tmp_path: Path) -> None:
    draw = random.Random(1)
    for number in range(25):
        texts = corpus_of(draw, STRANGE)
        ids = [f"{draw.random()}-{i}" for i in range(len(texts))] if number % 2 else None
        index = _saved(
            tmp_path, texts, ids=ids, weighting=draw.choice(WEIGHTINGS), analyzer=draw.choice(ANALYZERS)
        )
        opened = Index.open(tmp_path)
        assert (opened.analyzer, opened.weighting, len(opened)) == (
            index.analyzer,
            index.weighting,
            len(index),
        )
        for _ in range(5):
            question = text_of(draw, STRANGE, 2, 5, 20)
            assert opened.search(question, 5) == index.search(question, 5)


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    _saved(tmp_path / "a")
    _saved(tmp_path / "b")
    first, second = _generation(tmp_path / "a"), _generation(tmp_path / "b")
    assert first.name == second.name
    for name in ("arrays.bin", "blocks.bin", "manifest.json"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_a_folder_without_an_index_says_so(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(IndexFormatError, match="请先建立索引"):
            Index.open(folder)


def _flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["arrays.bin", "blocks.bin", "manifest.json"])
def test_one_flipped_bit_anywhere_is_found(tmp_path: Path, name: str) -> None:
    _saved(tmp_path)
    path = _generation(tmp_path) / name
    size = path.stat().st_size
    for at in sorted({*range(0, size, max(1, size // 40)), size - 1}):
        _flip(path, at)
        with pytest.raises((DamagedIndexError, IndexFormatError)) as caught:
            files.verify(tmp_path)
        assert caught.value.exit_code in (1, 2)
        _flip(path, at)
    assert files.verify(tmp_path) == (_generation(tmp_path) / "arrays.bin").stat().st_size


@pytest.mark.parametrize("compiled", [False, True])
def test_a_damaged_block_is_found_by_the_first_question_that_touches_it(
    tmp_path: Path, compiled: bool
) -> None:
    if compiled:
        pytest.importorskip("numba")
    _saved(tmp_path)
    _flip(_generation(tmp_path) / "arrays.bin", 700)
    with pytest.raises(DamagedIndexError) as caught:
        opened = Index.open(tmp_path)
        if compiled:
            opened._engine.compile()  # type: ignore[union-attr]
        opened.search("检修")
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("size", [0, 1, 100])
def test_a_truncated_file_is_found_when_the_index_is_opened(tmp_path: Path, size: int) -> None:
    _saved(tmp_path)
    os.truncate(_generation(tmp_path) / "arrays.bin", size)
    with pytest.raises(DamagedIndexError, match=f"实有 {size}"):
        Index.open(tmp_path)


def test_another_format_version_is_named(tmp_path: Path) -> None:
    _saved(tmp_path)
    path = _generation(tmp_path) / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 2}))
    with pytest.raises(IndexFormatError, match="第 2 版"):
        Index.open(tmp_path)


@pytest.mark.parametrize("content", [b"", b"../gen-1", b"gen-\xff", b"gen-../../x"])
def test_a_current_that_names_no_generation_is_refused(tmp_path: Path, content: bytes) -> None:
    _saved(tmp_path)
    (tmp_path / "CURRENT").write_bytes(content)
    with pytest.raises(DamagedIndexError, match="CURRENT"):
        Index.open(tmp_path)


def test_a_rebuild_switches_and_open_readers_keep_theirs(tmp_path: Path) -> None:
    _saved(tmp_path)
    reader = Index.open(tmp_path)
    _saved(tmp_path, ["全新的资料"])
    assert [hit.position for hit in reader.search("检修")] == [0, 2]
    assert [hit.position for hit in Index.open(tmp_path).search("资料")] == [0]
    assert [path.name for path in tmp_path.glob("gen-*")] == [_generation(tmp_path).name]


@pytest.mark.parametrize("step", range(12))
def test_a_save_killed_at_any_step_leaves_the_old_index_or_the_new_one(tmp_path: Path, step: int) -> None:
    _saved(tmp_path)
    code = f"""
import os, signal, sys
from evidence_kit.index import Index
left = {step}
def hook(event, arguments):
    global left
    if event in ("open", "os.rename", "os.mkdir") and {str(tmp_path)!r} in str(arguments[0]):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
index = Index.build(["全新的资料"])
sys.addaudithook(hook)
index.save({str(tmp_path)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode in (0, -signal.SIGKILL)
    opened = Index.open(tmp_path)
    files.verify(tmp_path)
    assert len(opened) in (1, 4)
    if done.returncode == 0:
        assert len(opened) == 1
    _saved(tmp_path)
    assert not list(tmp_path.glob(".tmp-*"))


def _save_often(folder: str, text: str) -> None:
    for _ in range(10):
        Index.build([text] * 3).save(folder)


def test_two_saves_into_one_folder_leave_one_whole_index(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_save_often, args=(str(tmp_path), text)) for text in ("甲乙", "丙丁")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    files.verify(tmp_path)
    opened = Index.open(tmp_path)
    assert len(opened.search("甲乙")) + len(opened.search("丙丁")) == 3
    assert len(list(tmp_path.glob("gen-*"))) == 1


def test_a_full_disk_leaves_the_old_index(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        _saved(disk)
        before = _generation(disk).name
        draw = random.Random(1)
        texts = ["".join(chr(draw.randrange(0x4E00, 0x9000)) for _ in range(100)) for _ in range(400)]
        with pytest.raises(IndexWriteError, match="磁盘空间"):
            _saved(disk, texts)
        assert _generation(disk).name == before
        assert Index.open(disk).search("检修")
        files.verify(disk)
        assert not list(disk.glob(".tmp-*"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(IndexWriteError, match="file"):
        Index.build(TEXTS, weighting=Bm25(0.9, 0.4)).save(tmp_path / "file" / "index")


def test_folders_of_somebody_else_beside_an_index_stay(tmp_path: Path) -> None:
    for name in ("gen-mine", ".tmp-x", "doc"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    for text in ("甲乙丙", "丁戊己"):
        Index.build([text]).save(tmp_path)
    assert all((tmp_path / name / "file").read_text() == "x" for name in ("gen-mine", ".tmp-x", "doc"))
    assert len([path for path in tmp_path.iterdir() if path.name.startswith("gen-")]) == 2
