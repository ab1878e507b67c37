"""A piece of text that a receipt remembers: itself, or only its digest where it may not be copied."""

from __future__ import annotations

from dataclasses import dataclass

from evidence_kit.sources.model import text_digest


@dataclass(frozen=True)
class Fragment:
    """A piece of `length` code points; exactly one of `text` and `sha256` is set.

    The digest hides nothing from someone who can guess the piece: a short quote has few likely values.
    """

    length: int
    text: str | None = None
    sha256: str | None = None

    @classmethod
    def of(cls, text: str, *, withheld: bool = False) -> Fragment:
        """The fragment that remembers `text`, or only its digest when `withheld`."""
        if withheld:
            return cls(len(text), sha256=text_digest(text))
        return cls(len(text), text=text)

    def stands_at(self, text: str, start: int) -> bool:
        """Whether this piece is what stands in `text` from code point `start` on."""
        if start < 0 or start + self.length > len(text):
            return False
        if self.text is not None:
            return text.startswith(self.text, start)
        return text_digest(text[start : start + self.length]) == self.sha256

    def places(self, text: str) -> list[int]:
        """Every code-point start at which this piece stands in `text`, overlapping ones too, ascending.

        With the digest alone each window of the length is hashed: a few microseconds for each code point.
        """
        if self.text is None:
            return [start for start in range(len(text) - self.length + 1) if self.stands_at(text, start)]
        starts = []
        start = text.find(self.text)
        while start >= 0:
            starts.append(start)
            following = text.find(self.text, start + 1)
            gap = following - start
            if 0 < gap <= self.length // 2:
                # A piece that overlaps itself so far repeats every `gap` characters and stands nowhere
                # between: each next place needs a look at its new end alone. To find it anew each time would
                # take the square of the length in `aaa…`.
                while text.startswith(self.text[-gap:], start + self.length):
                    start += gap
                    starts.append(start)
                following = text.find(self.text, start + 1)
            start = following
        return starts
