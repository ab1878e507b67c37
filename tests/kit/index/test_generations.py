"""A folder is replaced as a whole: whoever opens it finds the old generation or the new one, undamaged."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evidence_kit.errors import EvidenceError
from evidence_kit.index import generations as module
from evidence_kit.index.errors import DamagedIndexError, IndexFormatError, IndexInputError, IndexWriteError
from evidence_kit.index.generations import read_generation, verify_generation

ROOT = Path(__file__).parents[3]


def replace_generation(folder, write):
    return module.replace_generation(folder, write, wait=False)


def writer(content):
    def write(folder):
        (folder / "sub").mkdir()
        (folder / "a.bin").write_bytes(content)
        (folder / "sub/b.bin").write_bytes(b"same")
        return {"schema": "x"}

    return write


def content(folder):
    generation = read_generation(folder, lambda generation: generation)
    assert generation.manifest["schema"] == "x"
    return (generation.folder / "a.bin").read_bytes()


def opened(folder):
    return read_generation(folder, lambda generation: generation.folder.name)


def generations(folder):
    return sorted(path.name for path in folder.glob("gen-*"))


@pytest.fixture
def folder(tmp_path):
    replace_generation(tmp_path / "out", writer(b"one"))
    return tmp_path / "out"


def test_new_generation_is_in_use_and_the_one_before_is_removed(folder):
    for number in (b"two", b"three"):
        name = replace_generation(folder, writer(number))
        assert content(folder) == number
        assert generations(folder) == [name]


def test_who_has_read_the_old_name_finds_the_new_generation(folder):
    def late(generation):
        if generation.folder.name == first:
            replace_generation(folder, writer(b"two"))
        return (generation.folder / "a.bin").read_bytes()

    (first,) = generations(folder)
    assert read_generation(folder, late) == b"two"


def test_same_content_has_the_same_name(folder, tmp_path):
    before = generations(folder)
    replace_generation(folder, writer(b"one"))
    replace_generation(tmp_path / "other", writer(b"one"))
    assert generations(folder) == generations(tmp_path / "other") == before


def test_damaged_generation_is_replaced_by_a_build_of_the_same_content(folder):
    (folder / generations(folder)[0] / "a.bin").write_bytes(b"0ne")
    replace_generation(folder, writer(b"one"))
    verify_generation(folder)


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), IndexInputError("x"), KeyboardInterrupt()]
)
def test_build_that_fails_leaves_the_old_generation_and_nothing_else(folder, error):
    before = generations(folder)

    def fail(building):
        (building / "half.bin").write_bytes(b"half")
        raise error

    with pytest.raises((EvidenceError, KeyboardInterrupt)):
        replace_generation(folder, fail)
    assert content(folder) == b"one"
    assert sorted(path.name for path in folder.iterdir()) == sorted([".lock", "CURRENT", *before])


def test_build_that_was_killed_leaves_the_old_generation_and_is_cleared_by_the_next(folder):
    script = f"""
import os, signal
from pathlib import Path
from evidence_kit.index.generations import replace_generation
def write(building):
    (building / "half.bin").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
replace_generation(Path({str(folder)!r}), write, wait=False)
"""
    killed = subprocess.run([sys.executable, "-c", script], cwd=ROOT)
    assert killed.returncode == -9
    assert content(folder) == b"one"
    replace_generation(folder, writer(b"two"))
    assert content(folder) == b"two"
    assert {path.name for path in folder.iterdir()} == {".lock", "CURRENT", *generations(folder)}


def test_second_build_at_the_same_time_is_refused_and_the_first_goes_on(folder):
    def write(building):
        with pytest.raises(IndexWriteError, match="正在写"):
            replace_generation(folder, writer(b"second"))
        return writer(b"first")(building)

    replace_generation(folder, write)
    assert content(folder) == b"first"


def test_every_changed_byte_is_found_by_verify(folder):
    name = generations(folder)[0]
    for path in ("a.bin", "sub/b.bin", "manifest.json"):
        original = (folder / name / path).read_bytes()
        for at in range(len(original)):
            changed = bytearray(original)
            changed[at] ^= 1
            (folder / name / path).write_bytes(changed)
            with pytest.raises(DamagedIndexError):
                verify_generation(folder)
        (folder / name / path).write_bytes(original)
    verify_generation(folder)


def test_opening_checks_every_byte_but_those_that_check_themselves(tmp_path):
    def write(building):
        (building / "arrays.bin").write_bytes(b"long")
        return writer(b"one")(building)

    replace_generation(tmp_path, write)
    generation = tmp_path / opened(tmp_path)
    (generation / "arrays.bin").write_bytes(b"gone")
    opened(tmp_path)
    with pytest.raises(DamagedIndexError, match=r"arrays\.bin"):
        verify_generation(tmp_path)
    (generation / "arrays.bin").write_bytes(b"longer")
    with pytest.raises(DamagedIndexError, match=r"arrays\.bin"):
        opened(tmp_path)
    (generation / "arrays.bin").write_bytes(b"long")
    (generation / "sub/b.bin").write_bytes(b"damn")
    with pytest.raises(DamagedIndexError, match=r"b\.bin"):
        opened(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="nothing can be synced there")
def test_every_file_is_on_the_disk_before_the_switch_and_the_switch_before_the_end(folder, monkeypatch):
    synced, switched = set(), []
    replace, fsync = Path.replace, os.fsync

    def watch_fsync(descriptor):
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def watch_replace(path, target):
        generation = folder / path.read_text().strip()
        wanted = [path, generation, *generation.rglob("*")]
        switched.append({one.stat().st_ino for one in wanted} <= synced)
        synced.clear()
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", watch_fsync)
    monkeypatch.setattr(Path, "replace", watch_replace)
    replace_generation(folder, writer(b"two"))
    assert switched == [True]
    assert folder.stat().st_ino in synced


def test_a_build_of_what_is_there_already_leaves_its_files_in_place(folder):
    (path,) = folder.glob("gen-*/a.bin")
    before = path.stat().st_ino
    replace_generation(folder, writer(b"one"))
    assert path.stat().st_ino == before


def test_a_link_or_a_file_with_a_name_of_ours_is_not_removed(folder, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/photo").write_text("x")
    for name in ("gen-" + "0" * 32, ".tmp-" + "0" * 32):
        (folder / name).symlink_to(tmp_path / "mine")
    (folder / ("gen-" + "1" * 32)).write_text("x")
    replace_generation(folder, writer(b"two"))
    assert (tmp_path / "mine/photo").read_text() == "x"
    assert (folder / ("gen-" + "1" * 32)).read_text() == "x"


def test_a_link_in_the_place_of_a_generation_is_neither_followed_nor_used(folder, tmp_path):
    (path,) = folder.glob("gen-*")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IndexWriteError):
        replace_generation(folder, writer(b"one"))
    assert (tmp_path / "elsewhere/a.bin").read_bytes() == b"one"


def test_file_that_is_cut_short_missing_or_too_many_is_found(folder):
    generation = folder / generations(folder)[0]
    (generation / "more.bin").write_bytes(b"")
    with pytest.raises(DamagedIndexError, match=r"more\.bin"):
        verify_generation(folder)
    (generation / "a.bin").write_bytes(b"on")
    with pytest.raises(DamagedIndexError, match=r"a\.bin"):
        opened(folder)
    (generation / "a.bin").unlink()
    with pytest.raises(DamagedIndexError, match=r"a\.bin"):
        opened(folder)
    shutil.rmtree(generation)
    with pytest.raises(DamagedIndexError):
        opened(folder)


@pytest.mark.parametrize(
    "current", [b"", b"gen-../..\n", b"/etc\n", b"..\n", b"gen-x\ngen-y\n", b"gen-\xff\n", b"gen-\0\n"]
)
def test_pointer_to_no_generation_of_the_folder_is_damage_that_a_build_repairs(folder, current):
    (folder / "CURRENT").write_bytes(current)
    with pytest.raises(DamagedIndexError):
        opened(folder)
    replace_generation(folder, writer(b"two"))
    assert content(folder) == b"two"


def test_folder_without_an_index_is_named_and_is_no_damage(tmp_path):
    for missing in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(IndexFormatError) as caught:
            opened(missing)
        assert caught.value.exit_code == 2
        assert str(missing) in caught.value.message


@pytest.mark.parametrize("name", ["gen-photos", ".tmp-x", ".building", "gen-" + "0" * 31 + "g"])
def test_a_folder_of_somebody_else_is_left_as_it_is(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "photo").write_text("x")
    replace_generation(tmp_path, writer(b"one"))
    assert (tmp_path / name / "photo").read_text() == "x"


def test_a_lock_that_is_a_link_is_not_written_through(tmp_path):
    (tmp_path / "victim").write_text("mine")
    for target in ("victim", "nothing"):
        (tmp_path / "store").mkdir(exist_ok=True)
        (tmp_path / "store/.lock").symlink_to(tmp_path / target)
        with pytest.raises(IndexWriteError, match="符号链接"):
            replace_generation(tmp_path / "store", writer(b"one"))
        (tmp_path / "store/.lock").unlink()
    assert (tmp_path / "victim").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store", "victim"]


def test_a_current_that_is_a_link_is_replaced_and_its_target_stays(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "store").mkdir()
    (tmp_path / "store/CURRENT").symlink_to(tmp_path / "victim")
    with pytest.raises(IndexFormatError):
        opened(tmp_path / "store")
    replace_generation(tmp_path / "store", writer(b"one"))
    assert content(tmp_path / "store") == b"one"
    assert (tmp_path / "victim").read_text() == "mine"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_lock_that_is_a_pipe_or_a_folder_is_an_error_and_not_waited_for(tmp_path, make):
    make(tmp_path / ".lock")
    with pytest.raises(IndexWriteError) as caught:
        replace_generation(tmp_path, writer(b"one"))
    assert caught.value.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


@pytest.mark.parametrize("name", ["CURRENT", "manifest.json", "a.bin"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder, name):
    (path,) = folder.rglob(name)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises((DamagedIndexError, IndexFormatError)):
        opened(folder)


@pytest.mark.parametrize(
    "manifest", [b"[" * 5000, b"[]", b"{}", b"null", b"\xff", b'{"files": 1}', b'{"files": [3]}']
)
def test_a_manifest_of_another_shape_is_damage_even_under_its_own_digest(folder, manifest):
    name = module._name_of(manifest)
    (folder / name).mkdir()
    (folder / name / "manifest.json").write_bytes(manifest)
    (folder / "CURRENT").write_text(name + "\n")
    with pytest.raises(DamagedIndexError):
        opened(folder)


@pytest.mark.parametrize("path", ["/etc/passwd", "../CURRENT"])
def test_a_manifest_cannot_point_out_of_its_folder(folder, path):
    manifest = json.dumps({"files": [{"path": path, "bytes": 1, "sha256": "x"}]}).encode()
    name = module._name_of(manifest)
    (folder / name).mkdir()
    (folder / name / "manifest.json").write_bytes(manifest)
    (folder / "CURRENT").write_text(name + "\n")
    with pytest.raises(DamagedIndexError, match=r"manifest\.json"):
        opened(folder)
