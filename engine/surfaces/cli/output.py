"""Where a command prints, and in which form: for people, or as JSON, YAML or names for programs.

Belongs here: the forms of `-o`; the screen: its width, its escape codes, lines that are written together. Does not:
what is in a JSON object (`client.maps`), how a table is laid out (`layout`), messages on stderr (`terminal`).
"""

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, Final, Generic, Self, TextIO, TypeVar

from phaseline.engine.surfaces.cli import layout
from phaseline.engine.surfaces.cli.controls import plain, plain_json, plain_yaml
from phaseline.engine.surfaces.cli.layout import INDENT, Branch, Column, TableLines
from phaseline.engine.surfaces.cli.styled import GAP, Text
from phaseline.schemas import codec

TOGETHER = 100
"""Lines that are written together, where they are there at once."""
USUAL = 80
"""The width of a terminal that does not say how wide it is."""


class Screen:
    """A file to which lines are printed."""

    def __init__(self, file: TextIO) -> None:
        """Print to this file; with colours if it is a terminal and NO_COLOR is not set."""
        self._file, self._held = file, list[str]()
        self._width: int | None = None
        self.is_terminal = file.isatty()
        codes = _Codes(file) if self.is_terminal or os.environ.get("FORCE_COLOR") else None
        self.painted = partial(Text.painted, codes=codes)
        """The text with escape codes."""

    @property
    def width(self) -> int | None:
        """Characters in a line now; None if it is no terminal, where lines may be of any length.

        It is the same for all lines that are written together.
        """
        if self.is_terminal and self._width is None:
            self._width = self._measured()
        return self._width

    def _measured(self) -> int:
        columns = os.environ.get("COLUMNS", "")
        try:
            return int(columns) if columns.isdecimal() else os.get_terminal_size(self._file.fileno()).columns or USUAL
        except OSError:
            return USUAL

    def line(self, text: Text) -> None:
        """Print a line, together with others that follow soon."""
        self.write(self.painted(text).rstrip(" "))

    def write(self, line: str) -> None:
        """As `line`, for a line that has its escape codes."""
        self._held.append(line)
        if len(self._held) >= TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Write the lines that are held back."""
        self._width = None
        text, self._held = "\n".join([*self._held, ""] if self._held else ()), []
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            error.filename = error.filename or "standard output"
            raise


class _Codes(dict[str, tuple[str, str]]):
    """By style, the escape codes before and after a text."""

    def __init__(self, file: TextIO) -> None:
        from rich.console import Console  # noqa: PLC0415  # without colours it is not needed

        super().__init__({"": ("", "")})
        self._console = Console(file=file)

    def __missing__(self, style: str) -> tuple[str, str]:
        with self._console.capture() as captured:
            self._console.print("\0", style=style, end="", highlight=False, soft_wrap=True)
        before, found, after = captured.get().partition("\0")
        self[style] = before, after = (before, after) if found else ("", "")
        return before, after


@lru_cache(maxsize=1)
def _screen_of(file: TextIO) -> Screen:
    return Screen(file)


T = TypeVar("T")
PEOPLE, WIDE, JSON, YAML, NAME = "table", "wide", "json", "yaml", "name"
MEANINGS: Final = {
    JSON: "one JSON object per line",
    YAML: "one YAML document per object",
    WIDE: "all columns, a row on one line",
    NAME: "kind/id only",
}
"""What each form of `-o` prints."""


class Output:
    """Prints on stdout in one form. Lines are written together; `flush` writes those that are held back."""

    def __init__(self, form: str = PEOPLE) -> None:
        self.form = form
        self._screen = _screen_of(sys.stdout)
        self._soon = False
        self._failed: OSError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()

    @property
    def is_data(self) -> bool:
        """Whether programs read it: `show` is for them, all else for people."""
        return self.form in (JSON, YAML, NAME)

    @property
    def width(self) -> int | None:
        """The most characters in a line; None for any number."""
        return None if self.form == WIDE else self._screen.width

    def show(self, value: Any, name: str = "") -> None:
        """Print an object. name: its `kind/id`. Bytes become base64, and what steers a terminal is escaped."""
        if self.form == NAME:
            self._screen.write(plain(name))
            return
        line = plain_json(codec.encode_json(value).decode())
        self._screen.write(f"---\n{plain_yaml(codec.encode_yaml(value), line)}" if self.form == YAML else line)

    def document(self, value: Any, name: str = "") -> None:
        """Print an object as `show` does; for people, as YAML."""
        Output(self.form if self.is_data else YAML).show(value, name)

    def line(self, text: Text | str = "") -> None:
        """Print a text, on several lines if it does not fit on one."""
        text, width = text if isinstance(text, Text) else Text(text), self.width
        for line in (text,) if width is None else text.wrapped(width, indent=INDENT):
            self._screen.line(line)

    def record(self, columns: Iterable[Column[T]], row: T) -> None:
        """Print a row of a log: its cells one after the other, without titles."""
        self.line(Text(GAP).join(filter(None, [column.cell(row) for column in columns])))

    def table(self, columns: Sequence[Column[T]], rows: Iterable[T], indent: int = 0) -> None:
        """Print a table, each line as soon as its row is there."""
        printed = self.rows(columns, indent)
        for row in rows:
            printed.add(row)
        printed.settle()

    def list(self, columns: Sequence[Column[T]], found: Sequence[T], shown: Callable[[T], Any]) -> None:
        """Print all of a list: a table for people, for programs what `shown` gives of each."""
        if self.is_data:
            for one in found:
                self.show(shown(one))
        else:
            self.table(columns, found)
        self.flush()

    def rows(self, columns: Sequence[Column[T]], indent: int = 0) -> "RowPrinter[T]":
        """A table whose rows come one by one."""
        width = None if self.width is None else max(1, self.width - indent)
        return RowPrinter(
            TableLines(columns, width, self._screen.painted, wide=self.form == WIDE), self._screen, " " * indent
        )

    def tree(self, branch: Branch) -> None:
        """Print a tree."""
        for line in layout.drawn(branch, self.width):
            self._screen.line(line)

    def pairs(self, pairs: Iterable[tuple[str, Text]]) -> None:
        """Print names and values, one pair a line."""
        for line in layout.paired(pairs, self.width):
            self._screen.line(line)

    def flush(self) -> None:
        """Write what is held back."""
        if self._failed is not None:
            raise self._failed
        self._screen.flush()

    def flush_when_idle(self) -> None:
        """Write what is held back as soon as the command waits for something."""
        if not self._soon:
            self._soon = True
            asyncio.get_running_loop().call_soon(self._flush_soon, asyncio.current_task())

    def _flush_soon(self, waiting: asyncio.Task[Any] | None) -> None:
        self._soon = False
        try:
            self._screen.flush()
        except OSError as error:  # nobody reads any more: the command ends with this error
            self._failed = error
            if waiting is not None:
                waiting.cancel()


class RowPrinter(Generic[T]):
    """Prints the rows of a table one by one."""

    def __init__(self, table: TableLines[T], screen: Screen, indent: str = "") -> None:
        self._table, self._screen, self._indent = table, screen, indent

    def add(self, row: T) -> None:
        """Print a row; the first ones are held back, because they choose the widths."""
        for line in self._table.add(row):
            self._screen.write(f"{self._indent}{line}")

    def settle(self) -> None:
        """Print the rows that are held back. Call it after the last row, or before a wait."""
        for line in self._table.settle():
            self._screen.write(f"{self._indent}{line}")
