"""Text in colours: pieces with a style each, their width on a terminal, cutting and wrapping between words.

Belongs here: `Text`. Does not: which words have which colour (`render`), columns and trees (`layout`), escape codes
(`screen`).
`rich` has a text too, but its layout takes about 150 us a line; this one takes 3 us.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

import msgspec
from rich.cells import cell_len

ELLIPSIS: Final = "…"
GAP: Final = "  "
"""What stands between two columns."""
Piece = tuple[str, str]
"""A text and its style: the name of a colour, `bold`, `italic`, or words of these; empty for none."""
Codes = Mapping[str, tuple[str, str]]
"""By style, the escape codes before and after a text."""
_WORD = re.compile(r"\s*\S+|\s+$")
"""A word with the blanks before it."""


def width_of(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return len(text) if text.isascii() else cell_len(text)


class Text(msgspec.Struct, eq=False, gc=False):
    """A line of pieces. It is never changed.

    text: all its characters; they must not steer a terminal (`controls`). style: of a single piece.
    within: the texts that it is made of; empty for a single piece.
    """

    text: str = ""
    style: str = ""
    within: "tuple[Text | str, ...]" = ()
    _width: int | None = None
    _cut: "Text | None" = None
    _cut_to: int = -1
    _codes: Codes | None = None
    _painted: str = ""
    _placed: str = ""
    _placed_in: int = -1

    @classmethod
    def of(cls, parts: Iterable[Piece]) -> "Text":
        """A text of these pieces."""
        return cls.assemble(*[cls(text, style) for text, style in parts])

    @classmethod
    def assemble(cls, *parts: "Text | str") -> "Text":
        """The texts, one after the other."""
        return cls("".join([one if isinstance(one, str) else one.plain for one in parts]), "", parts)

    def join(self, parts: "Iterable[Text]") -> "Text":
        """The texts, with this one between them."""
        found: list[Text | str] = []
        for part in parts:
            found += (self, part) if found else (part,)
        return Text.assemble(*found)

    @property
    def parts(self) -> tuple[Piece, ...]:
        """Its pieces."""
        if not self.within:
            return ((self.text, self.style),) if self.text else ()
        return tuple(chain.from_iterable(_pieces(one) for one in self.within))

    @property
    def plain(self) -> str:
        """The text without styles."""
        return self.text

    @property
    def width(self) -> int:
        """How many columns of a terminal it takes."""
        if self._width is None:
            self._width = width_of(self.plain)
        return self._width

    def painted(self, codes: "Codes") -> str:
        """The text with escape codes. It is kept, because many lines share a text."""
        if self._codes is not codes:
            self._codes, self._placed_in = codes, -1
            if self.within:
                pieces = [one if isinstance(one, str) else one.painted(codes) for one in self.within]
                self._painted = "".join(pieces)
            elif self.text:
                before, after = codes[self.style]
                self._painted = f"{before}{self.text}{after}"
        return self._painted

    def placed(self, width: int, codes: "Codes") -> str:
        """The text with escape codes in a column of this width: cut, or with blanks behind it. It is kept, too."""
        if self._placed_in != width or self._codes is not codes:
            shown = self.cut(width)
            if shown is not self:
                return shown.placed(width, codes)
            self._placed = self.painted(codes) + " " * (width - self.width)
            self._placed_in = width
        return self._placed

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
        return Text.assemble(*self.pieces_in(start, stop))

    def pieces_in(self, start: int, stop: int) -> "list[Text | str]":
        """The texts of which its characters from `start` to `stop` are made."""
        if not self.within:
            return [Text(self.text[start:stop], self.style)]
        found: list[Text | str] = []
        at = 0
        for one in self.within:
            end = at + len(one if isinstance(one, str) else one.plain)
            if start <= at and end <= stop:
                found.append(one)
            elif at < stop and start < end:
                first, last = max(0, start - at), stop - at
                found += (one[first:last],) if isinstance(one, str) else one.pieces_in(first, last)
            at = end
            if at >= stop:
                break
        return found

    def cut(self, width: int) -> "Text":
        """The text if it fits into the width; else the words of its beginning that do, and an ellipsis."""
        if self.width <= width:
            return self
        if self._cut is None or self._cut_to != width:  # many rows share the text of a state
            plain = self.plain
            end = _last_end(plain, width)
            if end:
                self._cut = Text.assemble(*self.pieces_in(0, end), _ellipsis(plain, end))
            else:
                self._cut = Text(ELLIPSIS if width > 0 else "")
            self._cut_to = width
        return self._cut

    def clipped(self, width: int) -> "Text":
        """The text if it fits; else its first characters and an ellipsis. For a line whose first word is too wide."""
        if self.width <= width:
            return self
        shown = self.cut(width)
        if shown.text != ELLIPSIS:
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


class TableLine(Text):
    """A line of texts in columns of a terminal, with gaps between them. It has no blanks at its end.

    Texts that are wider than their column are cut. Most lines are painted once and thrown away, so it is joined into a
    `Text` only if somebody asks for a part of it.
    """

    cells: "Sequence[Text]" = ()
    widths: Sequence[int] = ()

    @property
    def joined(self) -> Text:
        """The same as a text of pieces."""
        found: list[Text | str] = []
        missing = 0
        for cell, width in zip(self.cells, self.widths, strict=True):
            shown = cell.cut(width)
            if shown:
                found += (" " * missing, shown) if missing else (shown,)
                missing = 0
            missing += width - shown.width + len(GAP)
        return Text.assemble(*found)

    @property
    def parts(self) -> tuple[Piece, ...]:
        """Its pieces."""
        return self.joined.parts

    @property
    def plain(self) -> str:
        """The text without styles."""
        shown = [(cell.cut(width), width) for cell, width in zip(self.cells, self.widths, strict=True)]
        return GAP.join([one.plain + " " * (width - one.width) for one, width in shown]).rstrip(" ")

    def painted(self, codes: "Codes") -> str:
        """The line with escape codes."""
        placed = [cell.placed(width, codes) for cell, width in zip(self.cells, self.widths, strict=True)]
        return GAP.join(placed).rstrip(" ")

    def pieces_in(self, start: int, stop: int) -> "list[Text | str]":
        """The texts of which its characters from `start` to `stop` are made."""
        return self.joined.pieces_in(start, stop)


def _pieces(text: Text | str) -> tuple[Piece, ...]:
    return text.parts if isinstance(text, Text) else ((text, ""),) if text else ()


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
    return ELLIPSIS if not text.isascii() and _is_wide(text[end - 1 : end]) else f" {ELLIPSIS}"
