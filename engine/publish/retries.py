"""Rejected events that may be sent again, once what rejected them is mended.

Belongs here: `Retry`, `retries`, the reasons for which an event is better not sent again. Does not: sending one
(`single.resend`), reading rejections (`engine.log.watch`).
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.api_reply import Reply
from phaseline.engine.nats.direct_get import direct
from phaseline.engine.nats.wire import Wire
from phaseline.machines.compiler.reports import SNAPSHOT
from phaseline.schemas.records import Reason, Rejection
from phaseline.schemas.subjects import ACTOR, without_actor

PLACE_OF_ID = 3
"""Tokens before the id in `<tree>.<kind>.<trigger>.<rest of the id>`."""
SNAPSHOT_OF_THEN = "it is a snapshot of then; let its publisher send one of now"
NOT_STORED = "EVENTS no longer keeps event {event}, or a timer sent it"
AGAIN = "it was sent again as event {event}"
OVERTAKEN = "event {event} of the same entity was taken since; what this one says may be out of date"


class Retry(NamedTuple):
    """A rejection, at its place in the log. hindrance: why its event is not to be sent again; empty if it may be."""

    place: int
    rejection: Rejection
    hindrance: str

    @property
    def is_again(self) -> bool:
        """Whether that is why: it was sent again before."""
        return self.hindrance.startswith(AGAIN.partition("{")[0])


async def retries(
    installation: Installation, found: Iterable[tuple[int, Rejection]], reason: Reason | str
) -> Sequence[Retry]:
    """The rejections with a reason, in order. found: all rejections of their entities since, with their places."""
    by_entity: dict[tuple[str, str], dict[int, tuple[int, Rejection]]] = defaultdict(dict)
    for place, one in found:
        by_entity[one.kind, one.id][one.cause.sequence] = place, one
    answers: list[Retry] = []
    for rejected in by_entity.values():
        asked = {event: each for event, each in rejected.items() if each[1].reason == reason}
        if asked:
            hindrances = await _hindrances(installation, asked, rejected.keys())
            answers += [Retry(place, one, hindrances[event]) for event, (place, one) in asked.items()]
    return sorted(answers, key=lambda one: one.place)


async def _hindrances(
    installation: Installation, asked: Mapping[int, tuple[int, Rejection]], rejected: Iterable[int]
) -> dict[int, str]:
    """Why some events of one entity are not to be sent again, by event."""
    hindrances = {event: NOT_STORED.format(event=event) for event in asked}
    waiting: dict[bytes, int] = {}
    """The events that may be sent, as far as it is known, by body."""
    first: dict[bytes, int] = {}
    """By body, the event that had it first: an event that was sent again is as old as that."""
    refused, last = set(rejected), max(asked)
    async for event, body in _events_of_entity(installation, sorted(asked)):
        if (before := waiting.pop(body, None)) is not None:
            hindrances[before] = AGAIN.format(event=event)
        if event not in refused:
            age = first.get(body, event)
            for sent in [one for one in waiting if first[one] < age]:
                hindrances[waiting.pop(sent)] = OVERTAKEN.format(event=event)
        if event in asked:
            waiting[body] = event
            first.setdefault(body, event)
        elif event > last and not waiting:
            break
    for event in waiting.values():
        hindrances[event] = SNAPSHOT_OF_THEN if asked[event][1].trigger == SNAPSHOT else ""
    return hindrances


async def _events_of_entity(installation: Installation, asked: Iterable[int]) -> AsyncIterator[tuple[int, bytes]]:
    """The first of these events that EVENTS keeps, and the later ones of its entity: position, digest of the body."""
    wire, stream = installation.wire, installation.layout.events
    for position in asked:
        found = await direct(wire, stream, {"seq": position})
        filters = [] if found is None else _entity_filters(found.headers["Nats-Subject"], installation.prefix)
        if filters:
            break
    else:
        return
    following = {filter_: await _next(wire, stream, filter_, position) for filter_ in filters}
    while any(following.values()):
        filter_, first = min(
            ((name, one) for name, one in following.items() if one),
            key=lambda one: int(one[1].headers["Nats-Sequence"]),
        )
        position = int(first.headers["Nats-Sequence"])
        yield position, blake2b(first.data).digest()
        following[filter_] = await _next(wire, stream, filter_, position + 1)


async def _next(wire: Wire, stream: str, filter_: str, position: int) -> Reply | None:
    """The first message of a stream on a filter subject, from a position on."""
    return await direct(wire, stream, {"seq": position, "next_by_subj": filter_})


def _entity_filters(subject: str, prefix: str) -> list[str]:
    """The inbox subjects of all events of an entity, from that of one; none if no publisher sent it.

    One subject is that of publishers, the other one that of events that were sent in somebody's name.
    """
    start = f"{prefix}.inbox."
    tokens = without_actor(subject.removeprefix(start).partition(".")[2]).split(".")
    if not subject.startswith(start) or len(tokens) < PLACE_OF_ID:
        return []
    tree, kind, _, *rest = tokens
    return [".".join((f"{start}*", tree, *sent, kind, "*", *rest)) for sent in ((), (ACTOR, "*"))]
