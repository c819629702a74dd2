"""Standard output as a terminal or as a file: its width, its colours, and lines that are written together.

Belongs here: escape codes, the width, writing. Does not: what a line says (`render`), layout (`layout`), messages on
stderr (`terminal`).
"""

import os
import sys
from functools import lru_cache, partial
from typing import TextIO

from phaseline.engine.surfaces.cli.styled import Text

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
        if self._held:
            text, self._held = "\n".join([*self._held, ""]), []
            self._file.write(text)
        self._file.flush()


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


def standard() -> Screen:
    """The screen of standard output."""
    return _screen_of(sys.stdout)
