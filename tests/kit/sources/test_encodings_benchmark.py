"""benchmarks/encodings.py on texts whose cuts are told rightly, or are too short to be."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SENTENCE = "会员凭会员卡每次最多借三件工具，借期为七天，到期以前可以再借一次。"


def benchmark(folder, *options):
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/encodings.py"), *options],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_every_long_cut_of_plain_text_comes_back(tmp_path):
    (tmp_path / "s.txt").write_text(SENTENCE * 80, encoding="utf-8")
    run = benchmark(tmp_path, "--simplified", "s.txt", "--cuts", "20")
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert lines[1] == "| s in GB18030: characters | cuts | right | warned | doubted |"
    assert lines[-2:] == ["| 100 | 20 | 1.000 | – of 0 | 0.000 |", "| 1,000 | 2 | 1.000 | – of 0 | 0.000 |"]


def test_cut_that_is_told_wrongly_is_counted_with_its_warning(tmp_path):
    # In Big5 alone: the bytes of 馱撿 are 工具 in GB18030, two characters are thin evidence.
    (tmp_path / "t.txt").write_text("馱撿", encoding="utf-8")
    lines = benchmark(tmp_path, "--traditional", "t.txt", "--cuts", "5").stdout.splitlines()
    assert lines[3] == "| 2 | 5 | 0.000 | 1.000 of 5 | – |"


def test_text_that_the_encoding_cannot_write_is_refused(tmp_path):
    (tmp_path / "t.txt").write_text("plain", encoding="utf-8")
    run = benchmark(tmp_path, "--simplified", "t.txt")
    assert run.returncode == 1 and "give another text" in run.stderr
