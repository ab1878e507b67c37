"""From bytes to text: which encoding a file is in, how sure that is, and what else it could have been.

A BOM decides (UTF-8, UTF-16, GB18030). Without one, what is valid UTF-8 is UTF-8. What is left is read
strictly as GB18030 and as Big5; of the readings without an error the more plausible one is taken, see
`plausibility.py` for how that is measured. Nothing is ever replaced or skipped: where no reading is without
an error, the file is refused with the offset of the byte that stopped each.

Decisions. GB18030 stands for GB2312 and GBK, which it contains, four-byte sequences included. Big5 is
Windows' (code page 950, which is what Big5 files are written with). Big5-HKSCS is tried only where Big5
fails, since the two give other characters for the same bytes in rows C6 to C8. UTF-16 without a BOM, UTF-32
and what holds many NUL bytes are refused: the first is read where it is named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evidence_kit.sources.model import BOM_REMOVED, SourceError
from evidence_kit.sources.plausibility import Plausibility, frequent_share, plausibility

Evidence = Literal["bom", "valid", "statistics", "thin", "named"]

# The names that `--encoding` takes, the codec behind each, and how people write it.
_CODECS = {
    "utf-8": ("utf-8", "UTF-8"),
    "utf-16": ("utf-16", "UTF-16"),
    "utf-16-le": ("utf-16-le", "UTF-16 LE"),
    "utf-16-be": ("utf-16-be", "UTF-16 BE"),
    "gb18030": ("gb18030", "GB18030"),
    "big5": ("cp950", "Big5"),
    "big5-hkscs": ("big5hkscs", "Big5-HKSCS"),
}
_ALIASES = {"utf8": "utf-8", "gbk": "gb18030", "gb2312": "gb18030", "cp936": "gb18030", "cp950": "big5"}
NAMES = tuple(_CODECS)

_BOMS = {
    "utf-8": b"\xef\xbb\xbf",
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
    "gb18030": b"\x84\x31\x95\x33",
}
_UTF32_BOMS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_PREVIEW = 24  # characters
_SAMPLE = 8192  # bytes, an even number: enough to know UTF-16 by
_SURE = 1.5  # by how many whole characters' weight the first reading must lead
_PLAUSIBLE = 0.45  # the least mean weight of real Chinese text, see plausibility.py
_FREQUENT = 0.15  # the least share of frequent characters that leaves no doubt that it is Chinese
_FEW = 6  # so many characters of two bytes can be valid UTF-8 by accident
_MANY = 20  # so many of three bytes cannot
_NULS = 8  # one NUL in so many bytes is no text


@dataclass(frozen=True)
class RunnerUp:
    """The next plausible reading: its encoding, and how the text would begin."""

    encoding: str
    preview: str


@dataclass(frozen=True)
class Decoded:
    """A text as decoded once.

    `encoding` is one of `NAMES`. `evidence` says what it rests on: `bom`, `valid` (valid UTF-8),
    `statistics`, `thin` (too little text, two readings alike, or hardly Chinese) or `named` (by the caller).
    `preview` is the text around its first character that is not ASCII; `runner_up` is there where the
    evidence is thin and there is one.
    """

    text: str
    encoding: str
    evidence: Evidence
    transformations: tuple[str, ...]
    preview: str
    runner_up: RunnerUp | None = None

    @property
    def plain(self) -> bool:
        """Return whether there is nothing to tell: UTF-8, with or without a BOM, beyond doubt."""
        return self.encoding == "utf-8" and self.evidence != "thin"

    @property
    def inner_transformations(self) -> tuple[str, ...]:
        """Return those of a text within the file, such as a cell, whose positions a BOM did not move."""
        return tuple(step for step in self.transformations if step != BOM_REMOVED)


class UndecodableError(SourceError):
    """Bytes that are no text in any encoding tried: `offsets` has the first bad byte (from 0) for each."""

    def __init__(self, message: str, offsets: dict[str, int]) -> None:
        super().__init__(message)
        self.offsets = offsets


def encoding_title(name: str) -> str:
    """Return an encoding's name as people write it, such as `GB18030`."""
    return _CODECS[name][1]


def decoding_step(name: str) -> str:
    """Return the name of the step that decoding from an encoding is, such as `decoded_from_gb18030`."""
    return f"decoded_from_{name.replace('-', '_')}"


def check_encoding(name: str) -> str:
    """Return the declared name of an encoding, whatever its case; SourceError lists the names."""
    lowered = name.strip().lower().replace("_", "-")
    found = _ALIASES.get(lowered, lowered)
    if found not in _CODECS:
        raise SourceError(f"编码 {name!r} 无法识别：请改用 {'、'.join(NAMES)} 之一。")
    return found


def decode(data: bytes, name: str, encoding: str | None = None) -> Decoded:
    """Return the text in `data`, strictly decoded, line ends as they are, a leading BOM taken off.

    With `encoding` (see `check_encoding`) nothing is guessed. Raises SourceError naming `name`: an
    UndecodableError with byte offsets where a byte cannot be decoded.
    """
    if encoding is not None:
        return _decode_as(data, name, check_encoding(encoding), "named")
    if data.startswith(_UTF32_BOMS):
        raise SourceError(f"{name} 是 UTF-32 文本：请另存为 UTF-8。")
    for known, bom in _BOMS.items():
        if data.startswith(bom):
            return _decode_as(data, name, known, "bom")
    _refuse_nuls(data, name)
    text = _decoded(data, "utf-8")
    return _guess(data, name, text) if isinstance(text, int) else _valid_utf8(data, text)


def _decode_as(data: bytes, name: str, encoding: str, evidence: Evidence) -> Decoded:
    if encoding == "utf-16":
        found = [known for known in ("utf-16-le", "utf-16-be") if data.startswith(_BOMS[known])]
        if not found:
            raise SourceError(f"{name} 没有 UTF-16 的 BOM：请指明编码 utf-16-le 或 utf-16-be。")
        encoding = found[0]
    bom = _BOMS.get(encoding, b"")
    body = data[len(bom) :] if bom and data.startswith(bom) else data
    before = len(data) - len(body)
    text = _decoded(body, encoding)
    if isinstance(text, int):
        offset = before + text
        title = encoding_title(encoding)
        advice = "请核对指明的编码" if evidence == "named" else "请找回完整的文件，或另存为 UTF-8"
        message = f"{name} 不是 {title} 文本：第 {offset} 个字节（从 0 起）无法解码；{advice}。"
        raise UndecodableError(message, {encoding: offset})
    return Decoded(text, encoding, evidence, _transformations(encoding, before > 0), _preview(text))


def _transformations(encoding: str, had_bom: bool) -> tuple[str, ...]:
    decoded = () if encoding == "utf-8" else (decoding_step(encoding),)
    return (*decoded, BOM_REMOVED) if had_bom else decoded


class _Reading(NamedTuple):
    encoding: str
    text: str
    plausibility: Plausibility


def _valid_utf8(data: bytes, text: str) -> Decoded:
    """Take valid UTF-8 as it is, but name the other reading of a few double bytes that allow one.

    A few Chinese characters can be valid UTF-8 by accident, as Greek, Cyrillic or Latin letters. The letters
    of Western Europe (below U+0180) stand alone between ASCII; only in pairs can they be Chinese.
    """
    decoded = Decoded(text, "utf-8", "valid", (), _preview(text))
    if max(text, default="") >= "\u0800":
        return decoded
    runs = re.findall("[^\\x00-\\x7f]+", text)
    if not 0 < sum(map(len, runs)) <= _FEW or any(len(run) == 1 and run < "\u0180" for run in runs):
        return decoded
    rivals = [reading for reading in _readings(data)[0] if reading.plausibility.mean >= _PLAUSIBLE]
    if not rivals:
        return decoded
    return Decoded(text, "utf-8", "thin", (), decoded.preview, _runner_up(rivals[0]))


def _guess(data: bytes, name: str, utf8_offset: int) -> Decoded:
    """Return the more plausible of the readings in Chinese double-byte encodings."""
    readings, offsets = _readings(data)
    best = readings[0].plausibility.mean if readings else 0.0
    if _is_damaged_utf8(data, best):
        message = f"{name} 像是 UTF-8，但第 {utf8_offset} 个字节（从 0 起）无法解码：请找回完整的文件。"
        raise UndecodableError(message, {"utf-8": utf8_offset})
    _refuse_bare_utf16(data, name, best)
    if not readings:
        raise _undecodable(name, {"utf-8": utf8_offset, **offsets})
    first = readings[0]
    second = readings[1].plausibility.mean if len(readings) > 1 else 0.0
    lead = (best - second) * first.plausibility.characters
    thin = lead < _SURE or best < _PLAUSIBLE or frequent_share(first.text) < _FREQUENT
    return Decoded(
        text=first.text,
        encoding=first.encoding,
        evidence="thin" if thin else "statistics",
        transformations=_transformations(first.encoding, had_bom=False),
        preview=_preview(first.text),
        runner_up=_runner_up(readings[1]) if thin and len(readings) > 1 else None,
    )


def _readings(data: bytes) -> tuple[list[_Reading], dict[str, int]]:
    """Return the readings without an error, the most plausible first, and where the others stopped."""
    readings: list[_Reading] = []
    offsets: dict[str, int] = {}
    for encoding in ("gb18030", "big5", "big5-hkscs"):
        if encoding == "big5-hkscs" and "big5" not in offsets:
            continue
        text = _decoded(data, encoding)
        if isinstance(text, int):
            offsets[encoding] = text
        else:
            readings.append(_Reading(encoding, text, plausibility(text, encoding)))
    # The sort is stable: of two alike GB18030 is first.
    return sorted(readings, key=lambda reading: -reading.plausibility.mean), offsets


def _decoded(data: bytes, encoding: str) -> str | int:
    """Return the text, or the offset of the first byte that cannot be decoded."""
    try:
        return data.decode(_CODECS[encoding][0])
    except UnicodeDecodeError as error:
        return error.start


def _is_damaged_utf8(data: bytes, best: float) -> bool:
    """Return whether more than half of the bytes beyond ASCII are whole UTF-8 characters of three bytes or
    more, many of them or more plausible ones than the best other reading.

    Such a file is UTF-8 with a fault; a double-byte encoding may read it as another text without an error.
    """
    whole = re.sub("[\\x00-\u07ff]+", "", data.decode("utf-8", "ignore"))
    if 2 * len(whole.encode()) <= len(data.translate(None, bytes(range(0x80)))):
        return False
    return len(whole) >= _MANY or plausibility(whole, "utf-8").mean > best


def _refuse_nuls(data: bytes, name: str) -> None:
    first = data.find(0)
    if first >= 0 and (data.count(0) * _NULS >= len(data) or isinstance(_decoded(data, "utf-8"), int)):
        raise SourceError(
            f"{name} 的第 {first} 个字节（从 0 起）是 NUL：可能是没有 BOM 的 UTF-16 或不是文本；"
            "请另存为 UTF-8，或指明编码 utf-16-le、utf-16-be。"
        )


def _refuse_bare_utf16(data: bytes, name: str, best: float) -> None:
    """Refuse Chinese in UTF-16 without a BOM, where that is the more plausible reading."""
    if len(data) % 2:
        return
    for encoding in ("utf-16-le", "utf-16-be"):
        text = data[:_SAMPLE].decode(encoding, "ignore")
        mean, characters = plausibility(text, encoding)
        if mean > max(best, _PLAUSIBLE) and mean * characters >= _SURE:
            raise SourceError(
                f"{name} 像是没有 BOM 的 {encoding_title(encoding)} 文本："
                f"请另存为 UTF-8，或指明编码 {encoding}。"
            )


def _undecodable(name: str, offsets: dict[str, int]) -> UndecodableError:
    places = "、".join(f"按 {encoding_title(encoding)} 是第 {at} 个" for encoding, at in offsets.items())
    message = f"{name} 有无法解码的字节（从 0 起，{places}）：请另存为 UTF-8，或指明编码。"
    return UndecodableError(message, offsets)


def _runner_up(reading: _Reading) -> RunnerUp:
    return RunnerUp(reading.encoding, _preview(reading.text))


def _preview(text: str) -> str:
    """Return a few characters on one line, from the beginning or around the first that is not ASCII."""
    found = re.search(r"[^\x00-\x7f]", text)
    start = found.start() if found else 0
    start = 0 if start < _PREVIEW // 2 else start - 4
    return " ".join(text[start : start + _PREVIEW].split())
