"""What an event says of signals, held against those that stand at its entity. Pure.

Belongs here: reading the observation of one signal, and the map of a report. Does not: the facet
and its rows (`language.signals`), the records (`core.transitions`).
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from phaseline.engine.core.intake import Arrival
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.signals import (
    CONDITION,
    FALSE,
    MEANT_ELSEWHERE,
    MOST,
    NAME,
    REASON,
    SINCE,
    STANDS,
    STATUS,
    TRUE,
    UNKNOWN,
    standing_signals,
)
from phaseline.machines.language.table import ABSENT, DELETED, Refusal
from phaseline.schemas.records import NONE, SIGNALS, Entity, timestamp

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_./-]{0,126}[A-Za-z0-9])?")
_REASON = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
PARTS = (STATUS, REASON, SINCE)
"""The parts of a signal in a report. What a reporter says of `since` is not believed."""

Signals = Mapping[str, Mapping[str, str]]


def read(kind: Kind, entity: Entity | None, arrival: Arrival) -> Arrival | Refusal | None:
    """The event with the signals that stand after it in its data; None if it changes nothing; or why it is refused.

    A report that says nothing new of signals loses them, and may say something else.
    """
    data = arrival.data
    if arrival.trigger == CONDITION:
        found = _after_one(known(entity), data, arrival.time)
        if isinstance(found, Refusal):
            return found
        is_news = found != known(entity) or not _lives(entity)
        return replace(arrival, data=_with(data, found)) if is_news else None
    told = of_report(kind, entity, data, arrival.time)
    return told if isinstance(told, Refusal) else arrival if told is data else replace(arrival, data=told)


def of_report(kind: Kind, entity: Entity | None, data: Mapping[str, Any], time: int) -> Mapping[str, Any] | Refusal:
    """The data of a report with all signals that stand after it; without them if it says nothing new of them."""
    if kind.signals is None or (SIGNALS not in data and STANDS not in data):
        return data
    given, before = data.get(SIGNALS), known(entity)
    after = before if given is None else _read_map(given, before, time)
    if isinstance(after, Refusal):
        return after
    if after != before and data.get("phase") != DELETED:
        return _with(data, after)
    return {name: value for name, value in data.items() if name not in (SIGNALS, STANDS)}


def known(entity: Entity | None) -> Signals:
    """The signals that stand at an entity; none if it does not live."""
    return standing_signals(entity.attributes) if entity is not None and _lives(entity) else NONE


def _lives(entity: Entity | None) -> bool:
    return entity is not None and entity.facets[0].base.phase not in (ABSENT, DELETED)


def _with(data: Mapping[str, Any], after: Signals) -> Mapping[str, Any]:
    return {**data, SIGNALS: after, STANDS: bool(after)}


def _after_one(before: Signals, data: Mapping[str, Any], time: int) -> Signals | Refusal:
    """The signals after an observation of one."""
    name = data[NAME]
    problem = _wrong_name(name)
    if problem:
        return Refusal(f"data.{NAME}: {problem}", invalid=True)
    after = {other: signal for other, signal in before.items() if other != name}
    if data[STATUS] != FALSE:
        after[name] = _signal(before.get(name), data[STATUS], data.get(REASON), time)
    return _bounded(after)


def _read_map(given: object, before: Signals, time: int) -> Signals | Refusal:
    """The signals of a report: a name to a status, or to a map with status and reason."""
    where, after = f"data.{SIGNALS}", dict[str, Mapping[str, str]]()
    if not isinstance(given, Mapping):
        return Refusal(f"{where} must be a map, found {type(given).__name__}", invalid=True)
    for name, one in given.items():
        parts: Mapping[str, Any] = one if isinstance(one, Mapping) else {STATUS: one}
        problem = _wrong_name(name) or _wrong_parts(parts)
        if problem:
            return Refusal(f"{where}.{str(name)[:64]}: {problem}", invalid=True)
        if parts[STATUS] != FALSE:
            after[name] = _signal(before.get(name), parts[STATUS], parts.get(REASON), time)
    return _bounded(after)


def _wrong_name(name: object) -> str:
    """Why something is no name of a signal; empty if it is one."""
    if isinstance(name, str) and name in MEANT_ELSEWHERE:
        return f"{name} is no signal: {MEANT_ELSEWHERE[name]}"
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        return f"found {str(name)[:64]!r}: write letters, digits, '_', '-', '.' and '/', at most 128"
    return ""


def _wrong_parts(parts: Mapping[str, Any]) -> str:
    """Why a value of a report's map says nothing of a signal; empty if it does."""
    if unknown := sorted(str(part)[:64] for part in parts if part not in PARTS):
        return f"a signal has no {', '.join(unknown)}; it has {', '.join(PARTS)}"
    if parts.get(STATUS) not in (TRUE, FALSE, UNKNOWN):
        return f"the status must be {TRUE}, {FALSE} or {UNKNOWN}, found {str(parts.get(STATUS))[:64]!r}"
    if not isinstance(parts.get(REASON), str | None):
        return f"the reason must be a text, found {type(parts[REASON]).__name__}"
    return ""


def _signal(before: Mapping[str, str] | None, status: str, reason: str | None, time: int) -> Mapping[str, str]:
    """A signal that stands. It keeps its time as long as its status stays. A reason that is no word is a message."""
    stays = before is not None and before[STATUS] == status
    found = {STATUS: status}
    if reason and _REASON.fullmatch(reason):
        found[REASON] = reason
    found[SINCE] = before[SINCE] if before is not None and stays else timestamp(time)
    return found


def _bounded(after: Signals) -> Signals | Refusal:
    """The signals in the order of their names, if there are not too many."""
    if len(after) > MOST:
        return Refusal(f"{len(after)} signals would stand at it, at most {MOST} can: end one first, with status False")
    return dict(sorted(after.items()))
