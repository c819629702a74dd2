"""The bounds on what any body may hold, the same on every machine: depth, whole numbers, keys.

Without them the stack of the process, or the release of a library, would decide which body is refused. Every check
first looks at the bytes, at the speed of C; only a body that could break a bound is looked at value by value.
Belongs here: the limits, and whether bytes or a decoded value keeps them. Does not: decoding (`codec`), the limits of
single fields (the tables, `envelope`).
"""

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

LEVELS = 100
"""How deep maps and lists may be nested in an event or in a manifest. Kubernetes' own kinds need fewer than 30."""
FOREIGN = 500
"""The same for an answer from outside that holds many objects, so that one of them can be left out."""
WRAPPED = LEVELS + 20
"""The same for our own records and files, which hold parts of events."""
LARGEST = 16 << 20
"""The most bytes of one event or record in a file. A NATS server takes 1 MB, unless it is told otherwise."""
MIN_WHOLE, MAX_WHOLE = -(2**63), 2**64 - 1
"""The whole numbers that msgpack can hold."""

_CONTAINERS = bytes([*range(0x80, 0xA0), *range(0xDC, 0xE0)])
"""The bytes that can begin a map or a list in msgpack; other values may hold them too."""
_BIN_8, _BIN_16, _BIN_32 = 0xC4, 0xC5, 0xC6
"""The bytes that can begin a binary value in msgpack."""
_COMPOSED = frozenset({dict, list})
_AS_ZEROS = bytes(ord("0") if chr(byte) in "123456789" else byte for byte in range(256))
_STRINGS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_TOKENS = re.compile(_STRINGS.pattern + rb"|[\[\]{}]", re.DOTALL)
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class Unbounded(ValueError):
    """A value is beyond a bound. The message says which bound."""


def too_deep(levels: int, at: tuple[int, int] | None = None) -> str:
    """The problem of a body that is nested too deep. at: line and column of a text, both from 1."""
    where = f"line {at[0]}, column {at[1]}: " if at else ""
    return f"{where}maps and lists are nested more than {levels} levels deep"


def check_msgpack(body: bytes, found: Any, levels: int) -> None:
    """Raise `Unbounded` if the decoded value of a msgpack body is nested deeper, or has a key that is no text."""
    if len(body) - len(body.translate(None, _CONTAINERS)) > levels:
        check_depth(found, levels)
    if _BIN_8 in body or _BIN_16 in body or _BIN_32 in body:
        for level in _levels(found):
            if not all(type(key) is str for part in level if type(part) is dict for key in part):
                raise Unbounded("a key of a map must be a text")


def check_json_depth(text: bytes, levels: int) -> None:
    """Raise `Unbounded`, with the place, if maps and lists are nested deeper in a JSON text that is not read yet."""
    if text.count(b"{") + text.count(b"[") > levels and json_depth(text) > levels:
        raise Unbounded(too_deep(levels, _place(text, levels)))


def check_json_numbers(body: bytes, found: Any) -> None:
    """Raise `Unbounded` if the decoded value of a JSON text holds a whole number over 64 bits."""
    if b"0" * 19 in body.translate(_AS_ZEROS):
        for level in _levels(found):
            numbers = (value for part in level for value in _values(part) if type(value) is int)
            if not all(MIN_WHOLE <= number <= MAX_WHOLE for number in numbers):
                raise Unbounded("a whole number must have at most 64 bits")


def check_depth(found: Any, levels: int) -> None:
    """Raise `Unbounded` if maps and lists are nested deeper in a decoded value."""
    if any(number > levels for number, _ in enumerate(_levels(found), 1)):
        raise Unbounded(too_deep(levels))


def _levels(found: Any) -> Iterator[list[Any]]:
    """The maps and lists in a decoded value, level by level."""
    level = [found] if type(found) in _COMPOSED else []
    while level:
        yield level
        level = [
            one for part in level for one in (part.values() if type(part) is dict else part) if type(one) in _COMPOSED
        ]


def _values(part: Any) -> Iterable[Any]:
    return part.values() if type(part) is dict else part


def json_depth(text: bytes) -> int:
    """How deep maps and lists are nested in a text that may be no valid JSON."""
    brackets = _STRINGS.sub(b"", text).translate(None, _NO_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _place(text: bytes, levels: int) -> tuple[int, int]:
    """Line and column of the first bracket that opens a deeper level."""
    level = 0
    for found in _TOKENS.finditer(text):
        level += _STEPS.get(text[found.start()], 0)
        if level > levels:
            before = text[: found.start()].decode(errors="replace")
            return before.count("\n") + 1, len(before) - before.rfind("\n")
    raise AssertionError("the text has a level that is deeper")
