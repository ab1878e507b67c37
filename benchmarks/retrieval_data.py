"""Passages and questions for benchmarks/retrieval.py."""

from __future__ import annotations

import lzma
import random
import re
from pathlib import Path


def read_passages(path: Path) -> list[str]:
    """Return the passages of a file, one a line; `.xz` is unpacked."""
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    return [line for line in data.decode("utf-8").split("\n") if line]


def passages_of(real: list[str], count: int, seed: int) -> tuple[list[str], bool]:
    """Return (`count` passages, whether they are real).

    Beyond what there is, passages are made by joining sentences drawn from the real ones, as many as one real
    passage has, drawn too.
    """
    if count <= len(real):
        return real[:count], True
    draw = random.Random(seed)
    split = [re.findall(r"[^。！？；]+[。！？；]?", passage) for passage in real]
    sentences = [sentence for passage in split for sentence in passage]
    sizes = [len(passage) for passage in split]
    made = ["".join(draw.choices(sentences, k=draw.choice(sizes))) for _ in range(count - len(real))]
    return real + made, False


def questions_of(passages: list[str], count: int, seed: int) -> list[str]:
    """Return `count` questions: stretches of 8 to 20 characters of passages drawn at random."""
    draw = random.Random(seed)
    questions = []
    while len(questions) < count:
        passage = draw.choice(passages)
        size = draw.randint(8, 20)
        if len(passage) > size:
            start = draw.randrange(len(passage) - size)
            questions.append(passage[start : start + size])
    return questions
