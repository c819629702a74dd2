"""Text in colours: pieces with a style each, their width on a terminal, breaking between words.

Belongs here: `Text`. Does not: which words have which colour (`render`), columns and trees (`layout`), escape codes
(`output`).
`rich` has a text too, but its layout takes about 150 us a line; this one takes 3 us.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final

from rich.cells import cell_len

from phaseline.engine.surfaces.cli.controls import plain

ELLIPSIS: Final = "…"
GAP: Final = "  "
"""What stands between two columns."""
Piece = tuple[str, str]
"""A text and its style: the name of a colour, `bold`, `italic`, or words of these; empty for none."""
Codes = Mapping[str, tuple[str, str]]
"""By style, the escape codes before and after a text."""
_WORD = re.compile(r"\s*(?:\d[\d.,]* (?:ms|[smhd])\b(?: \d+ [smhd]\b)?\S*|\S+)|\s+$")
"""A word with the blanks before it. A duration is one, such as `3 m 2 s`: a number stays with its unit."""


def width_of(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return len(text) if text.isascii() else cell_len(text)


class Text:
    """A line of pieces. It is never changed. Characters that steer a terminal become visible when it is made."""

    __slots__ = ("_codes", "_painted", "parts", "plain", "width")
    parts: tuple[Piece, ...]
    plain: str
    width: int
    """How many columns of a terminal it takes."""

    def __init__(self, text: str = "", style: str = "") -> None:
        if text.isascii() and text.isprintable():
            self.width = len(text)
        else:
            text = plain(text)
            self.width = width_of(text)
        self.plain = self._painted = text
        self.parts = ((text, style),) if text else ()
        self._codes: Codes | None = None

    @classmethod
    def of(cls, parts: Iterable[Piece]) -> "Text":
        """A text of these pieces."""
        return cls.assemble(*[cls(text, style) for text, style in parts])

    @classmethod
    def assemble(cls, *parts: "Text | str") -> "Text":
        """The texts, one after the other."""
        texts = [one if isinstance(one, Text) else cls(one) for one in parts]
        return cls._made(tuple(chain.from_iterable([one.parts for one in texts])))

    @classmethod
    def _made(cls, parts: tuple[Piece, ...]) -> "Text":
        """A text of pieces that are those of other texts."""
        made = cls()
        made.parts, made.plain = parts, "".join([text for text, _ in parts])
        made.width = width_of(made.plain)
        return made

    def join(self, parts: "Iterable[Text]") -> "Text":
        """The texts, with this one between them."""
        between = [one for part in parts for one in (self, part)]
        return Text.assemble(*between[1:])

    def painted(self, codes: Codes | None) -> str:
        """The text with escape codes. It is kept, because many lines share a text."""
        if codes is None:
            return self.plain
        if self._codes is not codes:
            pieces = [(text, *codes[style]) for text, style in self.parts]
            self._painted = "".join([f"{before}{text}{after}" for text, before, after in pieces])
            self._codes = codes
        return self._painted

    @property
    def longest_word(self) -> int:
        """The width of its widest word; wide characters are words of their own."""
        return max([width_of(self.plain[at:end].lstrip()) for at, end in _breaks(self.plain)], default=0)

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __str__(self) -> str:
        return self.plain

    def __repr__(self) -> str:
        return f"Text.of({self.parts!r})"

    def __getitem__(self, span: slice) -> "Text":
        """The characters of a span, with their styles."""
        start, stop, _ = span.indices(len(self.plain))
        found, at = [], 0
        for text, style in self.parts:
            piece = text[max(0, start - at) : max(0, stop - at)]
            found += [(piece, style)] if piece else []
            at += len(text)
        return Text._made(tuple(found))

    def clipped(self, width: int) -> "Text":
        """The text if it fits; else its first characters and an ellipsis."""
        if self.width <= width:
            return self
        end = len(self.plain)
        while end and width_of(self.plain[:end]) >= width:
            end -= 1
        return Text.assemble(self[:end], ELLIPSIS)

    def wrapped(self, width: int, indent: int = 0) -> "Iterator[Text]":
        """Its lines, broken between words; all but the first are indented. A word that is too wide is not broken."""
        plain, start, margin = self.plain, 0, 0
        if self.width <= width:
            yield self
            return
        while start < len(plain):
            end = start
            for first, stop in _breaks(plain, start):
                if width_of(plain[start:stop]) > width - margin and (end > start or plain[start:first].strip()):
                    break
                end = stop
            yield Text.assemble(" " * min(margin, max(0, width - width_of(plain[start:end]))), self[start:end])
            start = end + len(plain[end:]) - len(plain[end:].lstrip())
            margin = min(indent, max(0, width - 1))


def _breaks(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Where the words of a text begin and end. Wide characters are words of their own, as in Chinese."""
    for found in _WORD.finditer(text, start):
        word = found[0]
        if word.isascii() or cell_len(word) == len(word):
            yield found.start(), found.end()
            continue
        first = found.start()
        for at in range(found.start(), found.end()):
            follows = text[at + 1 : at + 2]
            if at + 1 == found.end() or (not text[at].isspace() and (_is_wide(text[at]) or _is_wide(follows))):
                yield first, at + 1
                first = at + 1


def _is_wide(character: str) -> bool:
    return cell_len(character) > 1
