"""Timers: schedules that the server keeps, set and cancelled in the same batch as the transitions that cause it (design: Time).

Belongs here: until when a facet is timed, which schedules follow from records, their messages. Does not: what a timer
does when it fires (`decide`).
An entity's record says until when each of its facets is timed. What differs from the record before is set or cancelled.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.engine.message import Message
from phaseline.engine.tree import Tree
from phaseline.machines.kinds import Kind
from phaseline.schemas import codec
from phaseline.schemas.records import NONE, SECOND, Facet, Record, Rejection, timestamp
from phaseline.schemas.subjects import Subjects


class Timer(NamedTuple):
    """What becomes of one timer. `place`: of the message that causes it; `due` None cancels it."""

    place: int
    target: str
    kind: str
    id: str
    facet: str
    trigger: str
    due: int | None


def begins_anew(kind: Kind, index: int, facet: Facet, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the time of a facet that stays in its phase begins again, as the entity's attributes went from these to those."""
    timed = kind.after[index].get(facet.state.phase)
    if timed is None or timed.anew is None or before is after:
        return False
    return any(before.get(name) != after.get(name) for name in (timed.anew, timed.attribute) if name is not None)


def running(
    kind: Kind,
    index: int,
    timers: Mapping[str, int],
    facet: Facet,
    attributes: Mapping[str, Any],
    time: int,
    *,
    fired: bool,
) -> Mapping[str, int]:
    """The entity's timers after a facet went to another phase at `time` (ns), began its time anew, or had its timer `fired`."""
    name = kind.names[index]
    kept = {other: due for other, due in timers.items() if other != name}
    after = kind.after[index].get(facet.state.phase)
    if after is not None:
        named = after.again if fired else after.attribute
        seconds = (attributes.get(named) or 0) if named is not None else 0 if fired else after.seconds
        if seconds > 0:
            kept[name] = time + int(seconds * SECOND)
    return kept or NONE


def changed_timers(
    tree: Tree, subjects: Subjects, partition: int, records: list[Record], place: int
) -> Iterator[tuple[str, Timer]]:
    """The timers that the records of one event set or cancel, by their subjects. The tree is as it was before.

    place: of the first of the records among the messages of its commit.
    """
    last: dict[tuple[str, str], Mapping[str, int]] = {}
    for number, record in enumerate(records, place):
        if isinstance(record, Rejection) or not tree.kinds[record.entity.kind].timed:
            continue
        entity, kind = record.entity, tree.kinds[record.entity.kind]
        key, old = (entity.kind, entity.id), tree.get(entity.kind, entity.id)
        before = last.get(key, NONE if old is None else old.timers)
        for name in (name for name in kind.names if before.get(name) != entity.timers.get(name)):
            index = kind.names.index(name)
            after = kind.after[index].get(entity.facets[index].state.phase)
            trigger = "" if after is None else after.trigger
            target = subjects.fired(kind.name, trigger, entity.id)
            timer = Timer(number, target, kind.name, entity.id, name, trigger, entity.timers.get(name))
            yield subjects.timer(partition, kind.name, name, entity.id), timer
        last[key] = entity.timers


def with_timers(messages: list[Message], timers: Mapping[str, Timer], installation: str) -> list[Message]:
    """The messages of a commit: cancelling rides on the record that causes it, setting is a message of its own."""
    for subject, timer in timers.items():
        if timer.due is None:
            cause = messages[timer.place]
            headers = (("Nats-Schedule-Next", "purge"), ("Nats-Scheduler", subject))
            messages[timer.place] = Message(cause.subject, cause.body, headers)
        else:
            headers = (("Nats-Schedule", f"@at {timestamp(timer.due)}"), ("Nats-Schedule-Target", timer.target))
            messages.append(Message(subject, _body(timer, installation), headers))
    return messages


def _body(timer: Timer, installation: str) -> bytes:
    """The event that the timer becomes when it is due."""
    return codec.encode(
        {
            "specversion": "1.0",
            "id": f"timer-{timer.facet}-{timer.due}",
            "source": installation,
            "type": f"{timer.kind}.{timer.trigger}",
            "subject": f"{timer.kind}/{timer.id}",
            "data": {"facet": timer.facet, "due": timer.due},
        }
    )
