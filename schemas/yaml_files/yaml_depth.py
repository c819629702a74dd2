"""How deep the maps and lists of a YAML text are nested, found without a YAML library.

Each release of a library has a limit of its own, and older ones end the process. So the text is judged before.
Belongs here: what opens and closes a map or a list in YAML 1.1, as libyaml reads it. Does not: values, and whether the
text is valid (`yaml_files.yaml_text`).
"""

import re

_BREAKS = "\r\n\x85\u2028\u2029"
_BLANK = " \t" + _BREAKS
_BREAK = re.compile(f"\r\n|[{_BREAKS}]")
_END = f"(?=[{_BLANK}]|\\Z)"
_LINE_STARTS = re.compile(f"(?:^|[{_BREAKS}])((?:[ \\t]|[-?:](?=[ \\t]))*)")
"""The blanks and indicators that a line starts with."""
_SKIPPED = re.compile(f"[ \t\ufeff]+|#[^{_BREAKS}]*")
_MARKER = re.compile(rf"(?:---|\.\.\.){_END}")
_DIRECTIVE = re.compile(f"%[^{_BREAKS}]*")
_INDICATOR = re.compile(f"[-?:]{_END}")
_PROPERTY = re.compile(f"[&*!][^{_BLANK},\\[\\]{{}}]*")
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?""", re.DOTALL)
_SCALAR_HEADER = re.compile(f"[|>][-+]?([0-9]?)[-+]?[ \t]*(?:#[^{_BREAKS}]*)?(?=[{_BREAKS}]|\\Z)")
_LINE = re.compile(f"( *)([^{_BREAKS}]*)(?:\r\n|[{_BREAKS}]|\\Z)")
_PLAIN = re.compile(f"(?:[^{_BLANK}:]|:(?![{_BLANK}]|\\Z))+")
_PLAIN_IN_FLOW = re.compile(f"(?:[^{_BLANK}:,\\[\\]{{}}]|:(?![{_BLANK},\\[\\]{{}}]|\\Z))+")
_CONTINUED = re.compile(f"[{_BLANK}]+")
_NOT_PLAIN = frozenset(",[]{}#&*!|>'\"%@`")
_LIST, _MAP, _PAIR = "list", "map", "pair"


def too_deep_at(text: str, levels: int) -> tuple[int, int] | None:
    """Line and column, both from 1, of the first map or list nested deeper than `levels`; None if there is none."""
    if _at_most(text) <= levels:
        return None
    return _Scan(text, levels).run()


def _at_most(text: str) -> int:
    """A bound on the depth, at the speed of C: a column holds two levels of a block, a bracket begins one."""
    columns = 1 + max(map(len, _LINE_STARTS.findall(text)))
    return 2 * columns + text.count("[") + text.count("{")


class _Scan:
    """Goes through a text once, token by token."""

    def __init__(self, text: str, levels: int) -> None:
        self._text, self._levels = text, levels
        self._at, self._line, self._line_start = 0, 1, 0
        self._flow: list[str] = []
        self._block: list[tuple[int, str]] = []
        self._key: int | None = None
        """The column of what may turn out to be a key of a block."""

    def run(self) -> tuple[int, int] | None:
        while self._at < len(self._text):
            line, column = self._line, self._at - self._line_start
            self._take(column)
            if len(self._block) + len(self._flow) > self._levels:
                return line, column + 1
        return None

    def _take(self, column: int) -> None:
        """Go past the next token."""
        if found := _BREAK.match(self._text, self._at):
            self._next_line(found.end())
            if not self._flow:
                self._key = None
        elif self._match(_SKIPPED):
            pass
        elif not column and self._match(_MARKER):
            self._flow, self._block, self._key = [], [], None
        elif not column and self._match(_DIRECTIVE):
            pass
        elif self._flow:
            self._take_in_flow()
        else:
            self._leave(column)
            self._take_in_block(column)

    def _take_in_flow(self) -> None:
        first = self._text[self._at]
        if first in "[{":
            self._flow.append(_LIST if first == "[" else _MAP)
            self._at += 1
        elif first in "]},":
            if self._flow[-1] == _PAIR:
                self._flow.pop()
            if first != "," and self._flow:
                self._flow.pop()
            self._at += 1
        elif first in ":?":
            if self._flow[-1] == _LIST:
                self._flow.append(_PAIR)
            self._at += 1
        elif not (self._match(_PROPERTY) or self._take_quoted()):
            self._take_plain(_PLAIN_IN_FLOW)

    def _take_in_block(self, column: int) -> None:
        first = self._text[self._at]
        if _INDICATOR.match(self._text, self._at):
            if first == "-":
                self._enter(column, _LIST)
            else:
                self._enter(column if self._key is None or first == "?" else self._key, _MAP)
            self._key = None
            self._at += 1
            return
        if found := _SCALAR_HEADER.match(self._text, self._at):
            self._at = found.end()
            self._take_lines(int(found[1] or 0))
            return
        if self._key is None:
            self._key = column
        if first in "[{":
            self._flow.append(_LIST if first == "[" else _MAP)
            self._at += 1
        elif not (self._match(_PROPERTY) or self._take_quoted()):
            self._take_plain(_PLAIN)

    def _leave(self, column: int) -> None:
        """What is indented deeper than this token has ended."""
        while self._block and self._block[-1][0] > column:
            self._block.pop()

    def _enter(self, column: int, form: str) -> None:
        """A list or map has an item at this column; it begins if none is there yet."""
        self._leave(column)
        if form == _MAP and self._block[-2:] == [(column, _MAP), (column, _LIST)]:
            self._block.pop()  # a list needs no indentation below a key
        if self._block[-1:] != [(column, form)]:
            self._block.append((column, form))

    def _match(self, pattern: re.Pattern[str]) -> bool:
        """Go past the pattern, which is in one line, if it is next."""
        found = pattern.match(self._text, self._at)
        if found:
            self._at = max(found.end(), self._at + 1)
        return bool(found)

    def _next_line(self, start: int) -> None:
        self._line += 1
        self._at = self._line_start = start

    def _take_quoted(self) -> bool:
        found = _QUOTED.match(self._text, self._at)
        if found:
            for one in _BREAK.finditer(self._text, self._at, found.end()):
                self._next_line(one.end())
            self._at = found.end()
        return bool(found)

    def _indent(self) -> int:
        return self._block[-1][0] if self._block else -1

    def _take_plain(self, pattern: re.Pattern[str]) -> None:
        """Go past a plain text, with the lines that continue it; past one character that can begin nothing."""
        if self._text[self._at] in _NOT_PLAIN:
            self._at += 1
            return
        self._match(pattern)
        while found := _CONTINUED.match(self._text, self._at):
            at, line, line_start = self._at, self._line, self._line_start
            for one in _BREAK.finditer(self._text, self._at, found.end()):
                self._next_line(one.end())
            self._at = found.end()
            column = self._at - self._line_start
            inside = line == self._line or self._flow or (column > self._indent() and not self._at_marker(column))
            if not inside or self._text[self._at : self._at + 1] == "#" or not self._match(pattern):
                self._at, self._line, self._line_start = at, line, line_start
                return

    def _at_marker(self, column: int) -> bool:
        return not column and _MARKER.match(self._text, self._at) is not None

    def _take_lines(self, more: int) -> None:
        """Go past a block of text: its lines are indented as the first one, or by so many columns `more`."""
        outside = self._indent()
        indent = max(outside, 0) + more if more else 0
        while self._at < len(self._text):
            found = _LINE.match(self._text, self._at)
            blanks, rest = (len(found[1]), found[2]) if found else (0, "")
            if rest:
                indent = indent or max(blanks, outside + 1, 1)
                if blanks < indent:
                    return
            self._next_line(found.end() if found else self._at)
