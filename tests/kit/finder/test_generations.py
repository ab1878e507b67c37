"""A folder is replaced as a whole: whoever opens it finds the old generation or the new one, undamaged."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evidence_kit.errors import EvidenceError
from evidence_kit.finder.errors import DamagedStoreError, FinderError
from evidence_kit.finder.generations import open_generation, replace_generation, verify_generation

ROOT = Path(__file__).parents[3]


def writer(content):
    def write(folder):
        (folder / "sub").mkdir()
        (folder / "a.bin").write_bytes(content)
        (folder / "sub/b.bin").write_bytes(b"same")
        return {"schema": "x"}

    return write


def content(folder):
    generation, manifest = open_generation(folder)
    assert manifest.string("schema") == "x"
    return (generation / "a.bin").read_bytes()


def generations(folder):
    return sorted(path.name for path in folder.glob("gen-*"))


@pytest.fixture
def folder(tmp_path):
    replace_generation(tmp_path / "out", writer(b"one"))
    return tmp_path / "out"


def test_new_generation_is_in_use_and_only_the_one_before_is_kept(folder):
    first = generations(folder)
    for number in (b"two", b"three"):
        replace_generation(folder, writer(number))
        assert content(folder) == number
    assert len(generations(folder)) == 2
    assert first[0] not in generations(folder)


def test_same_content_has_the_same_name(folder, tmp_path):
    before = generations(folder)
    replace_generation(folder, writer(b"one"))
    replace_generation(tmp_path / "other", writer(b"one"))
    assert generations(folder) == generations(tmp_path / "other") == before


def test_damaged_generation_is_replaced_by_a_build_of_the_same_content(folder):
    (folder / generations(folder)[0] / "a.bin").write_bytes(b"0ne")
    replace_generation(folder, writer(b"one"))
    assert verify_generation(folder)[1] == 2


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), FinderError("x"), KeyboardInterrupt()]
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
from evidence_kit.finder.generations import replace_generation
def write(building):
    (building / "half.bin").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
replace_generation(Path({str(folder)!r}), write)
"""
    killed = subprocess.run([sys.executable, "-c", script], cwd=ROOT)
    assert killed.returncode == -9
    assert content(folder) == b"one"
    replace_generation(folder, writer(b"two"))
    assert content(folder) == b"two"
    assert {path.name for path in folder.iterdir()} == {".lock", "CURRENT", *generations(folder)}


def test_second_build_at_the_same_time_is_refused_and_the_first_goes_on(folder):
    def write(building):
        with pytest.raises(FinderError, match="正在写"):
            replace_generation(folder, writer(b"second"))
        return writer(b"first")(building)

    replace_generation(folder, write)
    assert content(folder) == b"first"


def test_folder_with_other_things_is_not_touched(tmp_path):
    (tmp_path / "letter.txt").write_bytes(b"dear")
    with pytest.raises(FinderError, match="别的文件"):
        replace_generation(tmp_path, writer(b"one"))
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_every_changed_byte_is_found_by_verify(folder):
    name = generations(folder)[0]
    for path in ("a.bin", "sub/b.bin", "manifest.json"):
        original = (folder / name / path).read_bytes()
        for at in range(len(original)):
            changed = bytearray(original)
            changed[at] ^= 1
            (folder / name / path).write_bytes(changed)
            with pytest.raises(DamagedStoreError):
                verify_generation(folder)
        (folder / name / path).write_bytes(original)
    assert verify_generation(folder)[1] == 2


def test_file_that_is_cut_short_missing_or_too_many_is_found(folder):
    generation = folder / generations(folder)[0]
    (generation / "more.bin").write_bytes(b"")
    with pytest.raises(DamagedStoreError, match=r"more\.bin"):
        verify_generation(folder)
    (generation / "a.bin").write_bytes(b"on")
    with pytest.raises(DamagedStoreError, match=r"a\.bin"):
        open_generation(folder)
    (generation / "a.bin").unlink()
    with pytest.raises(DamagedStoreError, match=r"a\.bin"):
        open_generation(folder)
    shutil.rmtree(generation)
    with pytest.raises(DamagedStoreError):
        open_generation(folder)


@pytest.mark.parametrize(
    "current", [b"", b"gen-../..\n", b"/etc\n", b"..\n", b"gen-x\ngen-y\n", b"gen-\xff\n", b"gen-\0\n"]
)
def test_pointer_to_no_generation_of_the_folder_is_damage_that_a_build_repairs(folder, current):
    (folder / "CURRENT").write_bytes(current)
    with pytest.raises(DamagedStoreError):
        open_generation(folder)
    replace_generation(folder, writer(b"two"))
    assert content(folder) == b"two"


def test_folder_without_an_index_is_named_and_is_no_damage(tmp_path):
    for missing in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(FinderError) as caught:
            open_generation(missing)
        assert caught.value.exit_code == 2
        assert str(missing) in caught.value.message


@pytest.mark.parametrize("name", ["gen-photos", ".building", "gen-0123456789abcdeg"])
def test_a_folder_of_somebody_else_is_left_as_it_is(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "photo").write_text("x")
    with pytest.raises(FinderError):
        replace_generation(tmp_path, lambda folder: {})
    assert (tmp_path / name / "photo").read_text() == "x"


@pytest.mark.parametrize("name", [".lock", ".CURRENT", "CURRENT"])
def test_a_link_is_never_written_through(tmp_path, name):
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    store = tmp_path / "store"
    store.mkdir()
    (store / name).symlink_to(victim)
    with pytest.raises(FinderError):
        replace_generation(store, lambda folder: {})
    assert victim.read_text() == "mine"
