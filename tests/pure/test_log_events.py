"""Log events: snake_case names, and docs/watch-over.md lists each of them with its level and its fields."""

import ast
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from phaseline.engine.core.counts.outcomes import EventCounts
from tests.support.house import walked
from tests.support.log_events import LogCall, listed

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "engine").rglob("*.py"))
LEVELS = {name: name for name in ("debug", "info", "warning", "error", "critical")} | {"exception": "error"}
NO_FIELDS = ("exc_info",)
"""Keywords that the logger reads itself."""
COUNTS = "asdict"
"""`**asdict(...)` in a log call stands for the fields of `EventCounts`."""


def log_calls(source: str) -> Iterator[LogCall]:
    """The log calls of a program. Its logger must be called `log`, and its events must be literals."""
    if "log." not in source and "get_logger" not in source:  # parsing takes long
        return
    for node in walked(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        called, method = node.func.value, node.func.attr
        is_wrong = method == "get_logger" and "\nlog = logs.get_logger(__name__)\n" not in source
        assert not is_wrong or "def get_logger" in source
        if isinstance(called, ast.Name) and called.id == "log" and method in LEVELS:
            [event] = node.args
            name = event.value if isinstance(event, ast.Constant) else None
            assert isinstance(name, str), f"line {event.lineno}: the event is no literal"
            yield LogCall(name, LEVELS[method], frozenset(_fields(node.keywords)))


def _fields(keywords: list[ast.keyword]) -> Iterator[str]:
    for keyword in keywords:
        if keyword.arg is None:
            assert isinstance(keyword.value, ast.Call)
            assert isinstance(keyword.value.func, ast.Name)
            assert keyword.value.func.id == COUNTS
            yield from EventCounts.__dataclass_fields__
        elif keyword.arg not in NO_FIELDS:
            yield keyword.arg


def test_every_event_is_listed_with_its_level_and_fields_and_no_other_is() -> None:
    calls = {call for path in SOURCES for call in log_calls(path.read_text())}
    assert len(calls) > 30
    rows = listed()
    assert len(rows) == len(set(rows)) == len({row.event for row in rows})
    assert calls == set(rows)


def test_no_field_is_called_as_an_attribute_of_a_log_record() -> None:
    """`logging` refuses such an extra field."""
    taken = {*vars(logging.makeLogRecord({})), "message", "asctime", "event"}
    assert not {(row.event, name) for row in listed() for name in row.fields & taken}


def test_names_are_snake_case() -> None:
    names = {name for row in listed() for name in (row.event, *row.fields)}
    assert [name for name in names if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name)] == []


def test_the_collector_sees_what_stands_in_a_program() -> None:
    program = "from phaseline.engine import logs\nlog = logs.get_logger(__name__)\n"
    calls = (
        program + 'log.exception("disk_full", disk=1, exc_info=error)\nlog.info("a prose event", **asdict(counts))\n'
    )
    assert list(log_calls(calls)) == [
        LogCall("disk_full", "error", frozenset({"disk"})),
        LogCall("a prose event", "info", frozenset(EventCounts.__dataclass_fields__)),
    ]
    for wrong in ("log.info(name)", "logger = logs.get_logger(__name__)"):
        with pytest.raises(AssertionError):
            list(log_calls(wrong))
