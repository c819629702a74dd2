"""The table of log events in docs/watch-over.md, which tests hold against the code.

Belongs here: reading the table. Does not: finding the log calls of a program (`tests/pure/test_log_events.py`).
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class LogCall(NamedTuple):
    """One call of a logger, and the event it logs."""

    event: str
    level: str
    fields: frozenset[str]


def listed() -> list[LogCall]:
    """The rows of the table of log events."""
    page = (ROOT / "docs" / "watch-over.md").read_text()
    section = page.partition("## Log events")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \| .* \|$", section, re.MULTILINE)
    return [LogCall(event, level, frozenset(re.findall(r"`(\w+)`", fields))) for event, level, fields in rows]
