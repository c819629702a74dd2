"""Timers: the server's schedules, set and cancelled in the same batch as the records that cause it.

Belongs here: when the time of a facet begins again and when it is over, `TimerChange`, the messages that set and cancel
schedules. Does not: what a timer does when it fires (`decide`).
An entity's record holds, for each of its facets that is timed, when the time is over.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.engine.core.message import Message
from phaseline.machines.compiler.kinds import Kind
from phaseline.schemas import codec
from phaseline.schemas.records import NONE, SECOND, FacetState, Record, Rejection, timestamp
from phaseline.schemas.subjects import Subjects


class TimerChange(NamedTuple):
    """A record sets or cancels the timer of a facet. `record`: the record's index among those of its event.

    trigger: what the timer fires; empty where it is cancelled. due: when it fires, ns; None cancels it.
    """

    record: int
    facet: str
    trigger: str
    due: int | None


class Schedule(NamedTuple):
    """A schedule of the server that a commit sets or cancels. `message`: the index in the commit of the record that does so.

    target: the subject on which the timer fires. due: as in `TimerChange`.
    """

    message: int
    target: str
    kind: str
    id: str
    facet: str
    trigger: str
    due: int | None


def begins_anew(kind: Kind, index: int, facet: FacetState, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the time of a facet that stays in its phase begins again when the attributes change like this."""
    timed = kind.timeouts[index].get(facet.state.phase)
    if timed is None or timed.restart_on is None or before is after:
        return False
    return any(
        before.get(name) != after.get(name) for name in (timed.restart_on, timed.seconds_from) if name is not None
    )


def restarted(
    kind: Kind, index: int, facet: FacetState, attributes: Mapping[str, Any], time: int, record: int, *, fired: bool
) -> TimerChange:
    """The timer of a facet whose time begins again at `time` (ns); cancelled where none runs in its phase.

    fired: the facet's timer fired just now. record: as in `TimerChange`.
    """
    name, after = kind.names[index], kind.timeouts[index].get(facet.state.phase)
    if after is None:
        return TimerChange(record, name, "", None)
    named = after.repeat_after if fired else after.seconds_from
    seconds = (attributes.get(named) or 0) if named is not None else 0 if fired else after.seconds
    if seconds <= 0:
        return TimerChange(record, name, "", None)
    return TimerChange(record, name, after.trigger, time + int(seconds * SECOND))


def changed(timers: Mapping[str, int], change: TimerChange) -> Mapping[str, int]:
    """An entity's timers after a change."""
    kept = {facet: due for facet, due in timers.items() if facet != change.facet}
    if change.due is not None:
        kept[change.facet] = change.due
    return kept or NONE


def schedules(
    subjects: Subjects, partition: int, records: Sequence[Record], changes: Sequence[TimerChange], start: int
) -> dict[str, Schedule]:
    """The schedules that the records of one event set or cancel, by subject; the last change of each counts.

    start: the index of the first of the records among the messages of the commit.
    """
    found = {}
    for change in changes:
        record = records[change.record]
        if isinstance(record, Rejection):
            raise TypeError(f"a rejection changes no timer, but it changed that of {change.facet}")
        kind, entity_id = record.entity.kind, record.entity.id
        target = "" if change.due is None else subjects.fired(kind, change.trigger, entity_id)
        found[subjects.timer(partition, kind, change.facet, entity_id)] = Schedule(
            start + change.record, target, kind, entity_id, change.facet, change.trigger, change.due
        )
    return found


def attach(messages: list[Message], found: Mapping[str, Schedule], installation: str) -> None:
    """Add schedules to the messages of a commit: one that is set is a message, one that is cancelled a record's headers."""
    for subject, schedule in found.items():
        if schedule.due is None:
            record = messages[schedule.message]
            headers = (("Nats-Schedule-Next", "purge"), ("Nats-Scheduler", subject))
            messages[schedule.message] = record._replace(headers=headers)
        else:
            headers = (("Nats-Schedule", f"@at {timestamp(schedule.due)}"), ("Nats-Schedule-Target", schedule.target))
            messages.append(Message(subject, _body(schedule, installation), headers))


def _body(schedule: Schedule, installation: str) -> bytes:
    """The event that the timer becomes when it is due."""
    return codec.encode(
        {
            "specversion": "1.0",
            "id": f"timer-{schedule.facet}-{schedule.due}",
            "source": installation,
            "type": f"{schedule.kind}.{schedule.trigger}",
            "subject": f"{schedule.kind}/{schedule.id}",
            "data": {"facet": schedule.facet, "due": schedule.due},
        }
    )
