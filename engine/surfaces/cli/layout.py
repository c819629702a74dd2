"""Rows in columns, and branches of a tree, within the width of a terminal. Nothing is cut, and no word is broken.

Belongs here: which columns are shown and how wide they are, guides of trees. Does not: what a row holds (each command),
breaking one text into lines (`styled`), printing (`output`).
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import Generic, NamedTuple, TypeVar

import msgspec

from phaseline.engine.surfaces.cli.styled import GAP, Text

T = TypeVar("T")
FIRST_ROWS = 500
"""The rows that choose the columns and their widths. They are held back until they are complete; later rows are not."""
MOST = 90
"""So many of a hundred names fit their column, if the longest ones would take more than half of the width."""
READABLE = 20
"""A column whose texts take several lines is at least so wide, or is left out."""
INDENT = 4
"""How far what belongs to the line before is indented."""
GUIDE = "bright_black"
"""The colour of what is no data: guides, names of values."""
ALWAYS, WIDE = 100, 0
"""The worth of a column that is never left out, and of one that only `-o wide` shows."""


class Column(NamedTuple, Generic[T]):
    """A column: its title, and what a row has in it. One without any text is not shown.

    worth: of columns that do not fit side by side, the one of least worth is left out. wraps: whether a text may take
    several lines; a name may not.
    """

    title: str
    cell: Callable[[T], Text]
    worth: int = ALWAYS
    wraps: bool = False


def columns(*titles: str) -> tuple[Column[tuple[str, ...]], ...]:
    """The columns of rows that are texts already."""
    return tuple(Column(title.upper(), partial(_cell, at), wraps=True) for at, title in enumerate(titles))


def _cell(at: int, row: tuple[str, ...]) -> Text:
    return Text(row[at])


Paint = Callable[[Text], str]


class TableLines(Generic[T]):
    """Makes the lines of a table from rows that come one by one.

    The first rows choose the columns and their widths. A later row that is wider makes columns wider while there is
    room. A name that is wider than its column has a line of its own; the rest of the row follows below, in its columns.
    """

    def __init__(
        self, columns: Sequence[Column[T]], width: int | None, paint: Paint = Text.__str__, *, wide: bool = False
    ) -> None:
        """width: of the terminal. wide: with all columns."""
        self._columns = [one for one in columns if wide or one.worth > WIDE]
        self._titles = [Text(one.title, "bold") for one in self._columns]
        self._width, self._paint = sys.maxsize if width is None else width, paint
        self._held: list[list[Text]] = []
        self._least: list[int] = []
        self._widths: list[int] = []
        """Of the columns, 0 for one that has no text yet; empty until they are chosen."""
        self._fits = True

    def add(self, row: T) -> Iterable[str]:
        """The lines that are ready: none for the first rows, which choose the widths."""
        cells = [column.cell(row) for column in self._columns]
        if self._widths:
            return self._lines(cells)
        self._held.append(cells)
        return self.settle() if len(self._held) == FIRST_ROWS else ()

    def settle(self) -> Iterable[str]:
        """Choose the columns and their widths, if that is still to be done: the titles, and the rows so far."""
        held, self._held = self._held, []
        if self._widths or not held:
            return ()
        kept = self._choose(held)
        rows = ([row[at] for at in kept] for row in held)
        return [*self._head(), *chain.from_iterable(map(self._lines, rows))]

    def _choose(self, rows: Sequence[Sequence[Text]]) -> list[int]:
        """Leave out the columns of least worth until the others fit; which ones stay."""
        cells = [[row[at] for row in rows] for at in range(len(self._columns))]
        needed = [_usual([cell.width for cell in some], self._width) if any(some) else 0 for some in cells]
        words = [
            _usual([cell.longest_word for cell in some], self._width) if column.wraps else 0
            for column, some in zip(self._columns, cells, strict=True)
        ]
        least = [self._least_of(at, needed[at], words[at]) for at in range(len(cells))]
        kept = [*range(len(cells))]
        while _total([least[at] for at in kept]) > self._width:
            poorest = min(kept, key=lambda at: (self._columns[at].worth, -at))
            if self._columns[poorest].worth == ALWAYS:
                least = self._squeezed(least, words, kept)
                break
            kept.remove(poorest)
        self._columns, self._titles = [self._columns[at] for at in kept], [self._titles[at] for at in kept]
        self._least = [least[at] for at in kept]
        self._widths = self._shared(self._least, [max(least[at], needed[at]) for at in kept])
        self._fits = _total(self._widths) <= self._width
        return kept

    def _least_of(self, at: int, needed: int, words: int) -> int:
        """The least width of a column, if its texts need so much, and their words; 0 if they need nothing."""
        room = self._width // 2
        least = max(READABLE, min(words, room)) if self._columns[at].wraps else room
        return max(self._title_room(at), min(needed, least)) if needed else 0

    def _title_room(self, at: int) -> int:
        """The least width that the title of a column needs."""
        return self._titles[at].longest_word if self._columns[at].wraps else self._titles[at].width

    def _squeezed(self, least: Sequence[int], words: Sequence[int], kept: Sequence[int]) -> list[int]:
        """Least widths of columns that do not fit. Names give way first: they can have lines of their own."""
        most = [words[at] if column.wraps else READABLE for at, column in enumerate(self._columns)]
        found = [
            min(have, max(one, self._title_room(at))) for at, (have, one) in enumerate(zip(least, most, strict=True))
        ]
        if _total([found[at] for at in kept]) <= self._width:
            return found
        share = self._width // len(kept) - len(GAP)
        return [min(have, max(share, self._title_room(at))) for at, have in enumerate(found)]

    def _shared(self, least: Sequence[int], needed: Sequence[int]) -> list[int]:
        """The least widths, and the rest of the width for those that need it, in their turn."""
        widths, left = [*least], max(0, self._width - _total(least))
        for at in sorted(range(len(widths)), key=lambda at: self._turn(at, needed[at])):
            more = min(left, needed[at] - least[at])
            widths[at], left = least[at] + more, left - more
        return widths

    def _turn(self, at: int, needed: int) -> tuple[int, bool, int]:
        """When a column gets room, if it needs so much: a name, which cannot wrap, before a text that can."""
        return -self._columns[at].worth, self._columns[at].wraps, needed

    def _head(self) -> Iterable[str]:
        """The line of titles."""
        shown = zip(self._titles, self._widths, strict=True)
        return self._wrapped([title if width else Text() for title, width in shown])

    def _lines(self, cells: Sequence[Text]) -> Iterable[str]:
        """The lines of a row."""
        if not self._fits:
            return self._tall(cells)
        paint, pieces = self._paint, []
        for cell, width in zip(cells, self._widths, strict=True):
            if cell.width > width:
                return self._tall(cells)
            if width:
                pieces.append(paint(cell) + " " * (width - cell.width))
        return (GAP.join(pieces).rstrip(" "),)

    def _tall(self, cells: Sequence[Text]) -> Iterator[str]:
        """The lines of a row with a text that is wider than its column: it becomes wider, or the text is wrapped."""
        is_new = any(cell and not width for cell, width in zip(cells, self._widths, strict=True))
        self._grow(cells)
        if is_new:
            yield from self._head()
        yield from self._wrapped(cells)

    def _wrapped(self, cells: Sequence[Text]) -> Iterator[str]:
        """The lines of a row, with its texts wrapped in their columns."""
        pieces = [
            [*cell.wrapped(width)] if column.wraps else [cell]
            for column, cell, width in zip(self._columns, cells, self._widths, strict=True)
        ]
        for line in zip_longest(*pieces, fillvalue=Text()):
            yield from self._line(line)

    def _grow(self, cells: Sequence[Text]) -> None:
        """Make columns wider for a row: for a name at the cost of texts that wrap, else where room is left."""
        spare = max(0, self._width - _total(self._widths))
        least, needed = [*self._least], [*self._widths]
        for at, (column, cell, width) in enumerate(zip(self._columns, cells, self._widths, strict=True)):
            if cell.width > width:
                if not width:
                    least[at] = self._least_of(at, cell.width, cell.longest_word)
                elif not column.wraps and cell.width <= max(self._width // 2, width + spare):
                    least[at] = cell.width
                needed[at] = max(width, least[at], min(cell.width, width + spare if column.wraps else least[at]))
        if _total(least) <= self._width:
            self._least, self._widths = least, self._shared(least, needed)
        else:  # a column that had no text so far is shown all the same
            self._least = [have or more for have, more in zip(self._least, least, strict=True)]
            self._widths = [have or more for have, more in zip(self._widths, least, strict=True)]
        self._fits = _total(self._widths) <= self._width

    def _line(self, cells: Sequence[Text]) -> list[str]:
        """The line of a row. A text that is too wide for its place ends the line, and the rest is on a further one."""
        lines, line, end, start = [], "", 0, 0
        for cell, width in zip(cells, self._widths, strict=True):
            if cell:
                at = start if start + cell.width <= self._width else max(0, self._width - cell.width)
                if line and (at < start or end + len(GAP) > start):
                    lines.append(line)
                    line, end = "", 0
                line += " " * (at - end) + self._paint(cell)
                end = at + cell.width
            if width:
                start += width + len(GAP)
        return [*lines, line]


def _usual(widths: Sequence[int], width: int) -> int:
    """The width that a column needs. A few names that are very long do not count."""
    widest = max(widths, default=0)
    return widest if widest <= width // 2 else sorted(widths)[len(widths) * MOST // 100]


def _total(widths: Sequence[int]) -> int:
    """The width of columns with the gaps between them."""
    shown = [*filter(None, widths)]
    return sum(shown) + len(GAP) * max(0, len(shown) - 1)


class Branch(msgspec.Struct):
    """A line of a tree, and the branches below it."""

    text: Text
    below: list["Branch"] = msgspec.field(default_factory=list)

    def add(self, below: "Branch | Text") -> "Branch":
        """Add a branch, and return it."""
        made = Branch(below) if isinstance(below, Text) else below
        self.below.append(made)
        return made


def drawn(branch: Branch, width: int | None) -> Iterator[Text]:
    """The lines of a tree. Those that do not fit are wrapped between words."""
    waiting = [(branch, "", "")]
    while waiting:
        found, head, tail = waiting.pop()
        under = f"{tail}{'│   ' if found.below else '    '}"
        room = sys.maxsize if width is None else max(1, width - max(len(head), len(under)))
        for number, line in enumerate(found.text.wrapped(room)):
            yield Text.assemble(Text(under if number else head, GUIDE), line)
        for number, below in reversed([*enumerate(found.below, 1)]):
            is_last = number == len(found.below)
            waiting.append((below, f"{tail}{'└── ' if is_last else '├── '}", f"{tail}{'    ' if is_last else '│   '}"))


def paired(pairs: Iterable[tuple[str, Text]], width: int | None) -> Iterator[Text]:
    """Names and values, one pair a line. Long values are wrapped beside the names, between words."""
    held = [(Text(name, GUIDE), value) for name, value in pairs]
    room = max((name.width for name, _ in held), default=0) + len(GAP)
    for name, value in held:
        for number, line in enumerate(value.wrapped(sys.maxsize if width is None else max(1, width - room))):
            head = Text() if number else name
            yield Text.assemble(head, " " * (room - head.width), line)
