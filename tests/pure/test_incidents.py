"""What `up` and `serve` tell people on a terminal: a sentence for each trouble, once, and its end."""

import re
from typing import Any

import pytest

from phaseline.engine.surfaces.cli import incidents
from phaseline.engine.surfaces.cli.incidents import SAID, Incidents
from tests.support.log_events import listed


def told(found: Incidents, method: str, event: str, **fields: Any) -> str | None:
    """The line of an event without its time; None if nothing is said."""
    line = found.line(method, {"event": event, "level": method, **fields})
    assert line is None or re.match(r"\d\d:\d\d:\d\d  ", line)
    return line and line[10:]


def test_each_sentence_is_about_an_event_and_its_fields() -> None:
    known = {call.event: call for call in listed()}
    for name, sentence in SAID.items():
        assert set(re.findall(r"\{(\w+)\}", sentence.text)) <= known[name].fields, name
        assert (known[name].level == "info") <= sentence.ends, name
    endless = {one.about for one in SAID.values() if one.about} - {one.about for one in SAID.values() if one.ends}
    assert endless == {"secret"}


def test_one_trouble_is_told_once_and_its_end() -> None:
    found = Incidents()
    first = told(found, "warning", "nats_disconnected", error="unexpected EOF")
    assert first is not None
    assert first.startswith("The connection to NATS is lost (unexpected EOF). It is made again.")
    assert told(found, "warning", "nats_disconnected", error="unexpected EOF") is None
    for partition in range(32):
        assert told(found, "error", "partition_failed", partition=partition, worker="w", error="no answer") is None
    assert told(found, "info", "nats_reconnected", url="nats://h") == "The connection to NATS is back."
    assert told(found, "info", "nats_reconnected", url="nats://h") is None
    assert told(found, "warning", "nats_disconnected", error="again") is not None


def test_what_goes_on_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Incidents()
    assert told(found, "warning", "nats_unreachable", url="u", error="e") is not None
    monkeypatch.setattr(incidents, "AGAIN", 0)
    assert told(found, "warning", "nats_unreachable", url="u", error="e") is not None


def test_an_event_without_a_sentence_is_told_by_its_name() -> None:
    found = Incidents()
    fields = {"stream": "pl-LOG", "setting": "max_bytes", "worker": "w-1", "timestamp": "t"}
    assert told(found, "warning", "stream_differs", **fields) == "Stream differs (stream pl-LOG, setting max_bytes)"
    assert told(found, "warning", "stream_differs", **fields) is None
    assert told(found, "error", "odd", error="\x1b[2Jx") == r"Odd: \x1b[2Jx"
    assert told(found, "info", "worker_started", worker="w") is None
    assert told(found, "error", "odd", error="{x} {0}") == "Odd: {x} {0}"


def test_an_error_of_ours_keeps_its_traceback() -> None:
    found = Incidents()
    lines = [
        told(found, "error", "partition_broken", partition=one, error="KeyError('x')", exception="Traceback ...")
        for one in range(2)
    ]
    assert lines == ["Partition broken: KeyError('x')\nTraceback ...", None]
