"""An index on disk: whole or not at all, and never trusted."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")

from corpora import ANALYZERS, FEW, STRANGE, WEIGHTINGS, corpus_of, text_of

from evidence_kit.errors import EvidenceError
from evidence_kit.index import (
    Bm25,
    DamagedIndexError,
    Index,
    IndexFormatError,
    IndexInputError,
    IndexWriteError,
)
from evidence_kit.index.blocks import BlockFile, Place, Sums
from evidence_kit.index.generations import verify_generation

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
        with pytest.raises(DamagedIndexError):
            verify_generation(tmp_path)
        _flip(path, at)
    verify_generation(tmp_path)


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
    with pytest.raises(DamagedIndexError, match=r"arrays\.bin"):
        Index.open(tmp_path)


def _rewrite(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest of the generation in use, and its name with it."""
    old = _generation(folder)
    manifest = json.loads((old / "manifest.json").read_text())
    change(manifest)
    content = json.dumps(manifest).encode()
    name = f"gen-{hashlib.sha256(content).hexdigest()[:32]}"
    (old / "manifest.json").write_bytes(content)
    old.rename(folder / name)
    (folder / "CURRENT").write_text(name + "\n")


@pytest.mark.parametrize("change", [{"version": 3}, {"format": "another"}, {"byteorder": "middle"}])
def test_another_format_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    _saved(tmp_path)
    _rewrite(tmp_path, lambda manifest: manifest.update(change))
    with pytest.raises(IndexFormatError, match=r"第 3 版|another|字节序"):
        Index.open(tmp_path)


@pytest.mark.parametrize("key", ["arrays", "settings", "format", "version", "byteorder", "files"])
@pytest.mark.parametrize("value", [None, [3], {}, {"singles": []}, {"symbols.chars": 7}, "x"])
def test_a_manifest_that_describes_no_index_is_damage_even_under_its_own_digest(
    tmp_path: Path, key: str, value: object
) -> None:
    _saved(tmp_path)
    _rewrite(tmp_path, lambda manifest: manifest.update({key: value}))
    with pytest.raises((DamagedIndexError, IndexFormatError)):
        Index.open(tmp_path)


def test_an_analyzer_or_weighting_that_the_manifest_invents_is_an_error(tmp_path: Path) -> None:
    for key in ("analyzer", "weighting"):
        _saved(tmp_path)
        _rewrite(tmp_path, lambda manifest, key=key: manifest["settings"].update({key: 5}))
        with pytest.raises(EvidenceError):
            Index.open(tmp_path)


def test_attributes_that_no_encoding_can_carry_are_stored_all_the_same(tmp_path: Path) -> None:
    _saved(tmp_path, attributes=[{"a": "\ud800"}, {"a": "b"}, {}, {"a": "\ud800"}])
    hits = Index.open(tmp_path).search("检修 加油", where={"a": "\ud800"})
    assert sorted(hit.position for hit in hits) == [0, 3]


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
    verify_generation(tmp_path)
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
    verify_generation(tmp_path)
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
        verify_generation(disk)
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


def test_an_analyzer_may_be_named_and_anything_else_is_refused() -> None:
    named = Index.build(TEXTS, analyzer="char_ngrams(1,2)")
    assert named.analyzer == ANALYZERS[2]
    with pytest.raises(EvidenceError, match="words_han"):
        Index.build(TEXTS, analyzer="x")
    for wrong in (3, object(), len, type(ANALYZERS[0])):
        with pytest.raises(IndexInputError, match="分析器"):
            Index.build(TEXTS, analyzer=wrong)  # type: ignore[arg-type]


def test_statistics_are_those_counted_from_the_texts_however_the_index_is_held(tmp_path: Path) -> None:
    draw = random.Random(7)
    for number in range(24):
        analyzer = ANALYZERS[number % len(ANALYZERS)]
        texts = corpus_of(draw, FEW if number % 3 else STRANGE)
        if number < len(ANALYZERS):  # terms that so many passages hold have another form of postings
            texts += ["一一二", "一a二，三", "一"] * 150
        counted = Counter(term for text in texts for term in set(analyzer.texts(text)))
        length = sum(len(analyzer.texts(text)) for text in texts)
        index = _saved(tmp_path, texts, analyzer=analyzer)
        for held in (index, Index.open(tmp_path)):
            statistics = held.statistics
            assert statistics.passages == len(texts)
            assert statistics.mean_length == (length / len(texts) or 1.0)
            assert {term: statistics.df(term) for term in counted} == counted
            for unknown in ("", "不在", "zz", "一二三四五", "\ud800a", "😀"):
                assert statistics.df(unknown) == counted[unknown]


@pytest.mark.parametrize("array", ["postings.start", "passages.length", "symbols.word_bytes"])
def test_damage_is_found_before_a_statistic_is_told(
    tmp_path: Path, array: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So many passages that opening does not touch all blocks of 64 KiB of their arrays.
    monkeypatch.setattr("evidence_kit.index.index.PLAIN_PASSAGES", 10**6)
    monkeypatch.setattr("evidence_kit.index.index.PLAIN_CHARACTERS", 10**6)
    texts = [f"w{number}" for number in range(60_000)]
    _saved(tmp_path, texts)
    blocks = Index.open(tmp_path)._engine._blocks  # type: ignore[union-attr]
    middle = blocks._places[array].offset + blocks.array(array).nbytes // 2
    _flip(_generation(tmp_path) / "arrays.bin", middle)
    opened = Index.open(tmp_path)
    with pytest.raises(DamagedIndexError):
        if array == "passages.length":
            _ = opened.statistics.mean_length
        elif array == "symbols.word_bytes":
            opened.statistics.df("w1")
        else:
            for text in texts[:: 60_000 // 50]:
                opened.statistics.df(text)


def test_every_block_is_checked_when_it_is_first_touched(tmp_path: Path) -> None:
    content = bytes(range(256)) * 1024  # four blocks of 64 KiB
    sums = Sums()
    sums.add(content)
    for damaged in range(4):
        (tmp_path / "arrays.bin").write_bytes(content)
        _flip(tmp_path / "arrays.bin", damaged * 65_536 + 65_535)
        blocks = BlockFile(tmp_path / "arrays.bin", {"all": Place(0, "|u1", (262_144,))}, sums.close())
        for block in range(4):
            begin = block * 65_536
            if block == damaged:
                with pytest.raises(DamagedIndexError):
                    blocks.touch("all", begin + 65_535, begin + 65_536)
            else:
                blocks.touch("all", begin, begin + 1)
        assert not blocks.is_checked


def test_arrays_stand_at_multiples_of_64_bytes_and_ids_may_hold_any_string(tmp_path: Path) -> None:
    ids = ["\ud800", "b", "é", "😀"]
    _saved(tmp_path, ids=ids)
    manifest = json.loads((_generation(tmp_path) / "manifest.json").read_text())
    assert {entry["offset"] % 64 for entry in manifest["arrays"].values()} == {0}
    assert sorted(hit.id for hit in Index.open(tmp_path).search("检修 加油")) == sorted(ids)
