"""Compiled loops over characters: from code points to streams of symbols.

Layouts of the results are described in arrays.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence_kit.index.compiled import kernel, loop

Array = Any

WORD = 1 << 31  # marks a word in `table`, and a word not yet numbered in a stream


@loop
def place_codes(joined: Array, sizes: Array, place: Array, codes: Array, present: Array) -> None:
    """Copy the code points of joined texts to each one's place in `codes`, and note which there are."""
    i = 0
    for text in range(sizes.size):
        for at in range(place[text], place[text] + sizes[text]):
            codes[at] = joined[i]
            present[joined[i]] = True
            i += 1


@loop
def write_stream(
    codes: Array,  # uint32 code points of all texts, one after the other
    begin: Array,  # int64 [N+1] where each text begins in `codes`
    table: Array,  # uint32 [0x110000] symbol of a code point, WORD | its lowercase form, or 0
    bridges: bool,
    hard_begin: Array,  # int64 [N+1] the ready stream of a hard text in `hard`; empty for the others
    hard: Array,  # uint32
    words_before: int,  # words already numbered by `hard`
    stream: Array,  # uint32 out: symbols of all passages; 0 ends a run; WORD | n is the n-th word met
    starts: Array,  # int64 [N+1] out: where each passage begins in `stream`
    words: Array,  # int64 [n, 2] out: begin and end of each word met, in `codes`
) -> int:
    """Write the passages as streams of symbols; returns the number of words met."""
    out = 0
    met = 0
    for text in range(begin.size - 1):
        starts[text] = out
        if hard_begin[text] < hard_begin[text + 1]:
            for i in range(hard_begin[text], hard_begin[text + 1]):
                stream[out] = hard[i]
                out += 1
            continue
        i = begin[text]
        end = begin[text + 1]
        while i < end:
            symbol = table[codes[i]]
            if symbol & np.uint32(WORD):
                first = i
                while i < end and table[codes[i]] & np.uint32(WORD):
                    i += 1
                if out > starts[text] and stream[out - 1] != 0:
                    stream[out] = 0
                    out += 1
                stream[out] = np.uint32(WORD + words_before + met)
                stream[out + 1] = 0
                out += 2
                words[met, 0] = first
                words[met, 1] = i
                met += 1
                continue
            if symbol != 0:
                stream[out] = symbol
                out += 1
            elif not bridges and out > starts[text] and stream[out - 1] != 0:
                stream[out] = 0
                out += 1
            i += 1
    starts[begin.size - 1] = out
    return met


@kernel
def hash_words(codes: Array, table: Array, words: Array, seed: int, hashes: Array) -> None:
    """Write a 64-bit FNV-1a hash of the lowercase form of each word."""
    for n in range(words.shape[0]):
        value = np.uint64(14695981039346656037) ^ np.uint64(seed)
        for i in range(words[n, 0], words[n, 1]):
            value = (value ^ np.uint64(table[codes[i]] & np.uint32(WORD - 1))) * np.uint64(1099511628211)
        hashes[n] = value


@kernel
def same_words(codes: Array, table: Array, words: Array, example: Array) -> bool:
    """Return whether each word n equals word example[n]: false says that two words share a hash."""
    for n in range(words.shape[0]):
        a = words[n, 0]
        b = words[example[n], 0]
        if words[n, 1] - a != words[example[n], 1] - b:
            return False
        for i in range(words[n, 1] - a):
            if table[codes[a + i]] != table[codes[b + i]]:
                return False
    return True


@kernel
def name_words(stream: Array, symbol_of: Array) -> None:
    """Replace WORD | n by the symbol of the n-th word met."""
    for i in range(stream.size):
        if stream[i] & np.uint32(WORD):
            stream[i] = symbol_of[stream[i] & np.uint32(WORD - 1)]
