"""Timers: schedules of the server, set and cancelled in the same batch as the records that cause it. Pure.

An entity's record holds, for each facet with a timer, when the timer is due.
Belongs here: when a timer starts again and when it is due, `TimerChange`, the messages that set and cancel schedules.
Does not: what happens when a timer fires (`decide`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from phaseline.engine.core.message import Message
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.contact import SILENCE_AFTER, SILENCE_BELOW
from phaseline.machines.language.deadlines import DEADLINE
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.table import Timeout
from phaseline.schemas import codec
from phaseline.schemas.records import NONE, SECOND, FacetState, Record, Rejection, timestamp
from phaseline.schemas.subjects import Subjects

LONGEST = 100 * 365 * 86_400
"""The seconds of the longest timer: a hundred years. An attribute may hold more, which no date can say."""


class TimerChange(msgspec.Struct, frozen=True, gc=False):
    """The change of a facet's timer that comes with a record. `record`: its index among the records of its event.

    trigger: what the timer fires; empty if it is cancelled. due: when it fires, ns; None cancels it.
    """

    record: int
    facet: str
    trigger: str
    due: int | None


class TimedScene(Scene, Protocol):
    """A tree, or what one event makes of it."""

    @property
    def silence_after(self) -> float:
        """The seconds after which a place falls silent that has no own ones; 0 for never."""


class Schedule(msgspec.Struct, frozen=True, gc=False):
    """A schedule of the server that a batch sets or cancels. `message`: the index of its record in the batch.

    target: the subject on which the timer fires. due: as in `TimerChange`.
    """

    message: int
    target: str
    kind: str
    id: str
    facet: str
    trigger: str
    due: int | None


def timeout_of(kind: Kind, index: int, facet: FacetState) -> Timeout | None:
    """The timeout under which a facet is: that of the phase that it shows, else that of its base; None if neither."""
    return kind.timeouts[index].get(facet.state.phase) or kind.deadlines[index].get(facet.base.phase)


def starts_again(timeout: Timeout | None, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether this change of attributes starts the timer of a facet again although its phase stays."""
    if timeout is None or timeout.restart_on is None or before is after:
        return False
    names = (timeout.restart_on, timeout.seconds_from)
    return any(before.get(name) != after.get(name) for name in names if name is not None)


def restart(
    scene: TimedScene, kind: Kind, entity_id: str, index: int, facet: FacetState, attributes: Mapping[str, Any],
    time: int, record: int, *, fired: bool,
) -> TimerChange:  # fmt: skip
    """The timer of a facet when it starts again at `time` (ns); a cancelled one if the phase has no timeout.

    fired: whether the timer of the facet fired just now, and the facet stays in its phase. record: as in `TimerChange`.
    """
    name, timeout = kind.names[index], timeout_of(kind, index, facet)
    if timeout is None:
        return TimerChange(record, name, "", None)
    attribute = timeout.repeat_after if fired else timeout.seconds_from
    fixed = 0 if fired else timeout.seconds
    if index == kind.contact:
        seconds = silence_of(scene, kind, entity_id, attributes)
    elif timeout.deadline and not fired:
        seconds = _deadline(scene, kind, entity_id, attributes, fixed)
    else:
        seconds = fixed if attribute is None else attributes.get(attribute) or 0
    if not seconds > 0:
        return TimerChange(record, name, "", None)
    return TimerChange(record, name, timeout.trigger, time + int(min(seconds * timeout.times, LONGEST) * SECOND))


def _deadline(scene: Scene, kind: Kind, entity_id: str, attributes: Mapping[str, Any], fixed: float) -> float:
    """How many seconds a request may wait: as the entity says, else the nearest one above, else `fixed`."""
    own: float | None = attributes.get(DEADLINE)
    if own is not None:
        return own
    for name in kind.deadlines_above:
        above = scene.above(entity_id, name)
        found: float | None = None if above is None else above.attributes.get(DEADLINE)
        if found is not None:
            return found
    return fixed


def silence_of(scene: TimedScene, kind: Kind, entity_id: str, attributes: Mapping[str, Any]) -> float:
    """After how many seconds without an observation an entity falls silent; 0 for never.

    Its own count first, then those that the nearest entity above has for its kind. For a place that has
    neither those of the installation count; if they are 0, those of its kind.
    """
    own: float | None = attributes.get(SILENCE_AFTER)
    if own is not None:
        return own
    for name, _ in kind.places:
        if name != kind.name and (above := scene.above(entity_id, name)) is not None:
            found: float | None = above.attributes.get(SILENCE_BELOW, NONE).get(kind.name)
            if found is not None:
                return found
    return (scene.silence_after or kind.table.silence_after) if kind.is_place else 0.0


def timers_after(timers: Mapping[str, int], change: TimerChange) -> Mapping[str, int]:
    """The timers of an entity after a change."""
    kept = {facet: due for facet, due in timers.items() if facet != change.facet}
    if change.due is not None:
        kept[change.facet] = change.due
    return kept or NONE


def schedules(
    subjects: Subjects, partition: int, records: Sequence[Record], changes: Sequence[TimerChange],
    start: int,
) -> dict[str, Schedule]:  # fmt: skip
    """The schedules that the records of one event set or cancel, by subject. The last change of each one counts.

    partition: of the entities. start: the index of the first record among the messages of the batch.
    """
    by_subject = {}
    for change in changes:
        record = records[change.record]
        if isinstance(record, Rejection):
            raise TypeError(f"a rejection changes no timer, but it changed that of {change.facet}")
        kind, entity_id = record.entity.kind, record.entity.id
        target = "" if change.due is None else subjects.fired(kind, change.trigger, entity_id)
        by_subject[subjects.timer(partition, kind, change.facet, entity_id)] = Schedule(
            start + change.record, target, kind, entity_id, change.facet, change.trigger, change.due
        )
    return by_subject


def attach(messages: list[Message], by_subject: Mapping[str, Schedule], installation: str) -> None:
    """Add schedules to the messages of a batch: a set one as a message, a cancelled one as headers of a record."""
    for subject, schedule in by_subject.items():
        if schedule.due is None:
            record = messages[schedule.message]
            headers = (("Nats-Schedule-Next", "purge"), ("Nats-Scheduler", subject))
            messages[schedule.message] = replace(record, headers=headers)
        else:
            headers = (("Nats-Schedule", f"@at {timestamp(schedule.due)}"), ("Nats-Schedule-Target", schedule.target))
            messages.append(Message(subject, fired_event(schedule, installation), headers))


def fired_event(schedule: Schedule, installation: str) -> bytes:
    """The event that the server stores when the timer is due."""
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
