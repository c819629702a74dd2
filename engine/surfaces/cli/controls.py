"""Characters that steer a terminal: they could hide text, forge a line, or turn its order round.

Belongs here: which characters those are, and making them visible in a text, in JSON and in log lines. Does not:
printing (`render`, `terminal`).
"""

import re
from collections.abc import MutableMapping
from typing import Any

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""C0 and C1 controls, what turns the direction of writing, line ends, and what is no character at all."""


def plain(text: str) -> str:
    """`text` as it may go to a terminal: each such character as its escape."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def plain_json(text: str) -> str:
    """JSON that means the same, without such characters: JSON can write each of them as an escape."""
    if text.isascii() and "\x7f" not in text:  # JSON has escaped the other controls already
        return text
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain_yaml(text: str, value: str) -> str:
    """YAML that means the same, without such characters. value: the same in one line of JSON, which is YAML too."""
    return value if _CONTROL.search(text.replace("\n", "")) else text


def plain_lines(text: str) -> str:
    """A text of several lines, each as it may go to a terminal."""
    return "\n".join(map(plain, text.split("\n")))


def plain_event(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Make every text of a log line visible: a processor of structlog, to stand before the one that prints."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = plain_lines(value) if name == "exception" else plain(value)
        elif not isinstance(value, int | float | None):
            event[name] = plain(repr(value))
    return event
