"""Text in colours: pieces with a style each, their width on a terminal, cutting and wrapping between words.

Belongs here: `Text`. Does not: which words have which colour (`render`), columns and trees (`layout`), escape codes
(`screen`).
`rich` has a text too, but its layout takes about 150 us a line; this one takes 3 us.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rich.cells import cell_len

ELLIPSIS: Final = "…"
Piece = tuple[str, str]
"""A text and its style: the name of a colour, `bold`, `italic`, or words of these; empty for none."""
_WORD = re.compile(r"\s*\S+|\s+$")
"""A word with the blanks before it."""


def width_of(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return len(text) if text.isascii() else cell_len(text)


class Text:
    """A line of pieces. It is never changed."""

    __slots__ = ("_cuts", "_plain", "_width", "parts")

    def __init__(self, text: str = "", style: str = "") -> None:
        """One piece; its text must not steer a terminal (`controls`)."""
        self.parts: tuple[Piece, ...] = ((text, style),) if text else ()
        self._plain: str | None = text
        self._width: int | None = None
        self._cuts: dict[int, Text] | None = None

    @classmethod
    def of(cls, parts: Iterable[Piece]) -> "Text":
        """A text of these pieces."""
        made = cls()
        made.parts, made._plain = tuple(parts), None
        return made

    @classmethod
    def assemble(cls, *parts: "Text | str") -> "Text":
        """The texts, one after the other."""
        found: list[Piece] = []
        for part in parts:
            if isinstance(part, str):
                found.append((part, ""))
            else:
                found += part.parts
        return cls.of(found)

    def join(self, parts: "Iterable[Text]") -> "Text":
        """The texts, with this one between them."""
        found: list[Piece] = []
        for number, part in enumerate(parts):
            if number:
                found += self.parts
            found += part.parts
        return Text.of(found)

    @property
    def plain(self) -> str:
        """The text without styles."""
        if self._plain is None:
            self._plain = "".join([text for text, _ in self.parts])
        return self._plain

    @property
    def width(self) -> int:
        """How many columns of a terminal it takes."""
        if self._width is None:
            self._width = width_of(self.plain)
        return self._width

    @property
    def longest_word(self) -> int:
        """The width of its widest word."""
        return max((width_of(word) for word in self.plain.split()), default=0)

    def __bool__(self) -> bool:
        return bool(self.plain)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return f"Text.of({self.parts!r})"

    def __getitem__(self, span: slice) -> "Text":
        """The characters of a span, with their styles."""
        start, stop, _ = span.indices(len(self.plain))
        found, at = [], 0
        for text, style in self.parts:
            if piece := text[max(0, start - at) : max(0, stop - at)]:
                found.append((piece, style))
            at += len(text)
        return Text.of(found)

    def cut(self, width: int) -> "Text":
        """The text if it fits into the width; else the words of its beginning that do, and an ellipsis."""
        if self.width <= width:
            return self
        if self._cuts is None:
            self._cuts = {}
        if width not in self._cuts:  # many rows share the text of a state
            end = _last_end(self.plain, width)
            rest = _ellipsis(self.plain, end) if end else ELLIPSIS if width > 0 else ""
            self._cuts[width] = Text.assemble(self[:end], rest)
        return self._cuts[width]

    def clipped(self, width: int) -> "Text":
        """The text if it fits; else its first characters and an ellipsis. For a line whose first word is too wide."""
        if self.width <= width:
            return self
        shown = self.cut(width)
        if shown.plain != ELLIPSIS:
            return shown
        end = 0
        while width_of(self.plain[: end + 1]) < width:
            end += 1
        return Text.assemble(self[:end], ELLIPSIS)

    def wrapped(self, width: int, indent: int = 0) -> "Iterator[Text]":
        """Its lines, broken between words; all but the first are indented. A word that is too wide is an ellipsis."""
        plain, start, margin = self.plain, 0, 0
        if width_of(plain) <= width:
            yield self
            return
        while start < len(plain):
            room, end = width - margin, start
            for first, stop in _breaks(plain, start):
                if width_of(plain[start:stop]) > room and (end > start or plain[start:first].strip()):
                    break
                end = stop
                if width_of(plain[start:stop]) > room:
                    break
            yield Text.assemble(" " * margin, self[start:end].cut(room))
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


def _last_end(text: str, width: int) -> int:
    """Where the last word ends that fits into the width with an ellipsis after it; 0 if none does."""
    if text.isascii():
        return len(text[: max(0, text.rfind(" ", 0, max(0, width - 1)))].rstrip())
    end = 0
    for _, stop in _breaks(text):
        if width_of(text[:stop] + _ellipsis(text, stop)) > width:
            break
        end = stop
    return end


def _is_wide(character: str) -> bool:
    return cell_len(character) > 1


def _ellipsis(text: str, end: int) -> str:
    """What stands for the rest after `end`: apart from a word, so that it does not look like a part of it."""
    return ELLIPSIS if _is_wide(text[end - 1 : end]) else f" {ELLIPSIS}"
