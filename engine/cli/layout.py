"""Rows in columns, and branches of a tree, within the width of a terminal. Words and ids are never broken.

Belongs here: which columns are shown and how wide they are, guides of trees. Does not: what a row holds (each command),
cutting and wrapping one text (`styled`), printing (`render`).
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

import msgspec

from phaseline.engine.cli.styled import GAP, TableLine, Text, width_of

FIRST_ROWS = 500
"""The rows that choose the columns and their widths. They are held back until they are complete; later rows are not."""
MOST = 90
"""So many of a hundred names fit their column, if the longest ones would take more than half of the width."""
LEAST = 16
"""The usual `least` of a column."""
GUIDE = "bright_black"
"""The colour of what is no data: guides, names of values."""
ALWAYS = 100
"""The worth of a column that is never left out."""


class Column(NamedTuple):
    """A column. Of two that do not both fit, the one with the lower worth is left out."""

    title: str
    worth: int = ALWAYS
    may_cut: bool = False
    """Whether its texts may be cut at the end. Names and ids may not."""
    least: int = LEAST
    """A column that may be cut keeps so many characters, or is left out."""
    known: Sequence[int] = ()
    """The widths of all its texts, where they are known before the rows are."""


Row = Sequence[Text]


class Grid(msgspec.Struct):
    """Columns and their rows. `rows` may be an iterator: each line is made when its row is there."""

    columns: Sequence[Column]
    rows: Iterable[Row] = msgspec.field(default_factory=list)
    wraps: bool = False
    """Whether texts are wrapped in their columns where others are cut. All rows are read before the first line then."""

    @classmethod
    def small(cls, *titles: str) -> "Grid":
        """A table of few rows, which are added one by one. Of columns that do not fit, the last are left out."""
        return cls([Column(title, ALWAYS - at, may_cut=True) for at, title in enumerate(titles)], wraps=True)

    def add_row(self, *cells: Text) -> None:
        """Add a row to a table whose rows are a list."""
        if isinstance(self.rows, list):
            self.rows.append(cells)

    def lines(self, width: int | None) -> Iterator[Text]:
        """The titles, then a line for each row, none wider than `width`."""
        if self.wraps:
            yield from _wrapped(self.columns, [*self.rows], width)
            return
        lines = Lines(self.columns, width)
        for row in self.rows:
            yield from lines.add(row)
        yield from lines.settle()


class Lines:
    """Makes the lines of a table from rows that come one by one."""

    def __init__(self, columns: Sequence[Column], width: int | None) -> None:
        """No line is wider than `width`."""
        self._columns, self._width = columns, sys.maxsize if width is None else width
        self._shown = [*range(len(columns))]
        self.hidden: frozenset[str] = frozenset()
        """The titles of columns that no further line shows: their cells may be empty."""
        self._held: list[Row] = []
        self._widths: list[int] = []
        """Of the columns that are shown; empty until they are chosen."""
        self._spare = 0
        """How much of the width they leave; below 0 if they do not fit."""
        self._growing: Sequence[int] = ()
        """Which of them become wider for a wider text: without spare width, those whose texts may not be cut."""

    def add(self, row: Row) -> Iterable[Text]:
        """The lines that are ready: none for the first rows, which choose the widths."""
        if self._widths:
            return (self._line(row),)
        self._held.append(row)
        return self.settle() if len(self._held) == FIRST_ROWS else ()

    def settle(self) -> Iterable[Text]:
        """Choose the columns and their widths, if that is still to be done: the titles, and the rows so far."""
        if self._widths:
            return ()
        held, self._held = self._held, []
        needed = [
            max(width_of(column.title), _usual(column, column.known or [row[at].width for row in held], self._width))
            for at, column in enumerate(self._columns)
        ]
        fitted = fitting(self._columns, needed, self._width)
        self._shown = [at for at, room in enumerate(fitted) if room is not None]
        self.hidden = frozenset(
            column.title for column, room in zip(self._columns, fitted, strict=True) if room is None
        )
        self._set_widths(room for room in fitted if room is not None)
        titles = [Text(column.title, "bold") for column in self._columns]
        return [self._line(titles), *map(self._line, held)]

    def _set_widths(self, widths: Iterable[int]) -> None:
        self._widths = [*widths]
        self._spare = self._width - _total(self._widths)
        self._growing = [
            number for number, at in enumerate(self._shown) if self._spare > 0 or not self._columns[at].may_cut
        ]

    def _line(self, row: Row) -> Text:
        """The line of a row."""
        cells = row if len(self._shown) == len(row) else [row[at] for at in self._shown]
        for number in self._growing:
            if cells[number].width > self._widths[number] and not self._grow(number, cells[number].width):
                return self._alone(cells)
        line = TableLine(cells=cells, widths=self._widths)
        return line if self._spare >= 0 else line.clipped(self._width)

    def _grow(self, number: int, needed: int) -> bool:
        """Make a column wider, for a name at the cost of texts that may be cut; False if it would cost a column."""
        columns, widths = [self._columns[at] for at in self._shown], self._widths
        if columns[number].may_cut:
            needed = min(needed, widths[number] + max(0, self._spare))
        fitted = fitting(columns, [*widths[:number], needed, *widths[number + 1 :]], self._width)
        if None in fitted:
            return False
        self._set_widths(room for room in fitted if room is not None)
        return True

    def _alone(self, cells: Row) -> Text:
        """The line of a row with a name that is too wide for the columns: they are chosen for this row alone."""
        columns = [self._columns[at] for at in self._shown]
        needed = [max(room, cell.width) if not column.may_cut else min(room, cell.width)
                  for column, cell, room in zip(columns, cells, self._widths, strict=True)]  # fmt: skip
        fitted = fitting(columns, needed, self._width)
        shown = [(cell, room) for cell, room in zip(cells, fitted, strict=True) if room is not None]
        return _side_by_side([cell for cell, _ in shown], [room for _, room in shown], self._width)


def _usual(column: Column, widths: Sequence[int], width: int | None) -> int:
    """The width that a column needs. A few names that are very long do not count: their rows are fitted alone."""
    widest = max(widths, default=0)
    if width is None or column.may_cut or widest <= width // 2:
        return widest
    return sorted(widths)[len(widths) * MOST // 100]


def _side_by_side(cells: Row, widths: Sequence[int], width: int | None) -> Text:
    """The texts in columns of these widths; the whole is no wider than `width`."""
    line = TableLine(cells=cells, widths=widths)
    return line if width is None or _total(widths) <= width else line.clipped(width)


def _total(widths: Sequence[int]) -> int:
    """The width of columns with the gaps between them."""
    return sum(widths) + len(GAP) * (len(widths) - 1)


def fitting(columns: Sequence[Column], needed: Sequence[int], width: int | None) -> list[int | None]:
    """How wide each column is, if its texts need so much; None for those that are left out.

    First the columns of least worth are left out, until the others fit with those cut that may be. Then what is left
    of the width goes to the cut ones, the one of most worth first.
    """
    least = [min(need, max(column.least, width_of(column.title))) if column.may_cut else need
             for column, need in zip(columns, needed, strict=True)]  # fmt: skip
    by_worth = sorted(range(len(columns)), key=lambda at: (-columns[at].worth, at))
    return _shared(columns, needed, least, width, by_worth)


def _shared(
    columns: Sequence[Column], needed: Sequence[int], least: Sequence[int], width: int | None, order: Sequence[int]
) -> list[int | None]:
    """The widths of the columns. order: which ones get first what they need."""
    if width is None or _total(needed) <= width:
        return list(needed)
    shown = set(range(len(columns)))
    for at in sorted(shown, key=lambda at: (columns[at].worth, -at)):
        if _total([least[one] for one in shown]) <= width or columns[at].worth >= ALWAYS:
            break
        shown.discard(at)
    widths = [least[at] if at in shown else None for at in range(len(columns))]
    left = width - _total([least[at] for at in shown])
    for at in order:
        if at in shown and left > 0:
            more = min(left, needed[at] - least[at])
            widths[at], left = least[at] + more, left - more
    return widths


def _wrapped(columns: Sequence[Column], rows: Sequence[Row], width: int | None) -> Iterator[Text]:
    """The lines of a table whose texts are wrapped in their columns. Narrow columns get first what they need."""
    whole = [[Text(column.title, "bold") for column in columns], *rows]
    needed = [max([row[at].width for row in whole]) for at in range(len(columns))]
    least = [max([row[at].longest_word for row in whole]) for at in range(len(columns))]
    fitted = _shared(columns, needed, least, width, sorted(range(len(columns)), key=lambda at: needed[at]))
    shown = [(at, room) for at, room in enumerate(fitted) if room is not None]
    widths = [room for _, room in shown]
    for row in whole:
        pieces = ([*row[at].wrapped(room)] for at, room in shown)
        for line in zip_longest(*pieces, fillvalue=Text()):
            yield _side_by_side(line, widths, width)


class Branch(msgspec.Struct):
    """A line of a tree, and the branches below it. A tree of branches is printed from an iterator too."""

    text: Text
    below: list["Branch"] = msgspec.field(default_factory=list)

    def add(self, below: "Branch | Text") -> "Branch":
        """Add a branch, and return it."""
        made = Branch(below) if isinstance(below, Text) else below
        self.below.append(made)
        return made


def drawn(branch: Branch, width: int | None, *, wraps: bool = False) -> Iterator[Text]:
    """The lines of a tree. Those that do not fit are cut, or wrapped between words."""
    waiting = [(branch, "", "")]
    while waiting:
        found, head, tail = waiting.pop()
        under = f"{tail}{'│   ' if found.below else '    '}"
        for number, line in enumerate(_fitted(found.text, width, len(head), len(under), wraps=wraps)):
            yield Text.assemble(Text(under if number else head, GUIDE), line)
        for number, below in reversed([*enumerate(found.below, 1)]):
            is_last = number == len(found.below)
            waiting.append((below, f"{tail}{'└── ' if is_last else '├── '}", f"{tail}{'    ' if is_last else '│   '}"))


def _fitted(text: Text, width: int | None, before: int, under: int, *, wraps: bool) -> Iterable[Text]:
    """The text in lines. before, under: how much stands before its first line, and before the others."""
    if width is None or before + text.width <= width:
        return (text,)
    if not wraps:
        return (text.cut(width - before),)
    return text.wrapped(width - max(before, under))


def paired(pairs: Iterable[tuple[str, Text]], width: int | None) -> Iterator[Text]:
    """Names and values, one pair a line. Long values are wrapped beside the names, between words."""
    held = [*pairs]
    room = max((width_of(name) for name, _ in held), default=0) + len(GAP)
    for name, value in held:
        lines = (value,) if width is None else value.wrapped(max(1, width - room))
        for number, line in enumerate(lines):
            head = name if not number else ""
            yield Text.assemble(Text(f"{head}{' ' * (room - width_of(head))}", GUIDE), line)
