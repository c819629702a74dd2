"""Numbers: what an entity remembers of the `sequence` of its sources and of the ids of its intents. Pure.

A number counts within an epoch: the greater epoch is the newer one, and without one an event has the epoch 0.
Belongs here: remembering, forgetting in a new life, finding what an event repeats, and the words for it. Does not: the
answer to a repeat (`repeats`), the attributes of events (`schemas.envelope`).
"""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from phaseline.engine.core.intake import Arrival
from phaseline.schemas.records import NO_MEMORY, Entity, Heard, Memory, timestamp, utc

MAX_SOURCES = 64
"""The most sources whose `sequence` an entity remembers. It forgets the oldest one, so that records stay small."""
MOST_TAKEN = 4
"""The most intents whose ids an entity remembers."""
DIGEST = 6
"""The bytes of a digest of an id and its source."""


class Repeat(NamedTuple):
    """What an event repeats, as far as its entity remembers it.

    is_same: whether it is the same event again, and not an older one. number, epoch: the last ones of its source; no
    number if the event is known by its id. heard_ns: when the event with that number was stored, ns; 0 if that is not
    remembered. event: the position of the event with the same id; 0 if it is known by its number.
    """

    is_same: bool
    number: int | None
    epoch: int = 0
    heard_ns: int = 0
    event: int = 0

    @property
    def heard(self) -> datetime:
        """When the event with that number was stored."""
        return utc(self.heard_ns)


class Remembering(Protocol):
    """An entity that changes."""

    sequences: Mapping[str, int]
    memory: Memory | None


def repeat_of(
    entity: Entity, source: str, event: str, sequence: int | None, epoch: int = 0, *, asks: bool
) -> Repeat | None:
    """What an event repeats; None if it repeats nothing. event: its id. asks: whether it is an intent."""
    memory = entity.memory or NO_MEMORY
    if sequence is not None and (last := entity.sequences.get(source)) is not None:
        heard = memory.sources.get(source, NOT_KNOWN)
        if (epoch, sequence) <= (heard.epoch, last):
            return Repeat((epoch, sequence) == (heard.epoch, last), last, heard.epoch, heard.at_ns)
    if asks and memory.taken:
        start = f"{_digest(source, event)}:"
        for one in memory.taken:
            if one.startswith(start):
                return Repeat(is_same=True, number=None, event=int(one[len(start) :]))
    return None


def is_before(entity: Entity, arrival: Arrival) -> bool:
    """Whether the source of an event, by its number, sent it before it sent what this other entity took of it last."""
    cause = arrival.cause
    return repeat_of(entity, cause.source, cause.event, arrival.sequence, arrival.epoch, asks=False) is not None


def is_begun(entity: Entity, source: str) -> bool:
    """Whether a run of repeats of a source has begun, and no event of it was taken since."""
    return entity.memory is not None and entity.memory.sources.get(source, NOT_KNOWN).repeats > 0


def begun(entity: Entity, source: str, event: int) -> Memory:
    """What an entity remembers once a run of repeats of a source has begun with the event at this position."""
    memory = entity.memory or NO_MEMORY
    heard = replace(memory.sources.get(source, NOT_KNOWN), repeats=event)
    return replace(memory, sources={**memory.sources, source: heard})


def remembered(
    sequences: Mapping[str, int], memory: Memory | None, arrival: Arrival, *, asks: bool
) -> tuple[Mapping[str, int], Memory | None]:
    """The numbers by source, and what else an entity remembers, once it has taken an event. asks: as in `repeat_of`."""
    cause, number = arrival.cause, arrival.sequence
    if number is None and not asks:
        return sequences, memory
    known = memory or NO_MEMORY
    taken, sources = known.taken, known.sources
    if asks:
        taken = (*taken[1 - MOST_TAKEN :], f"{_digest(cause.source, cause.event)}:{cause.sequence}")
    if number is None:
        return sequences, replace(known, taken=taken)
    source, asked = cause.source, None
    if arrival.epoch == 0:
        asked = number if asks else sources.get(source, NOT_KNOWN).asked
    sequences = with_sequence(sequences, source, number)
    sources = {**sources, source: Heard(arrival.time, arrival.epoch, asked)}
    if len(sequences) == MAX_SOURCES:  # one may have been forgotten
        sources = {name: heard for name, heard in sources.items() if name in sequences}
    return sequences, replace(known, sources=sources, taken=taken)


def remember(change: Remembering, arrival: Arrival, *, asks: bool) -> None:
    """Let an entity that changes remember the event that it takes."""
    change.sequences, change.memory = remembered(change.sequences, change.memory, arrival, asks=asks)


def with_sequence(sequences: Mapping[str, int], source: str, sequence: int) -> Mapping[str, int]:
    """The last `sequence` of each source after this one. The latest source stands at the end."""
    kept = {**sequences}
    kept.pop(source, None)
    if len(kept) >= MAX_SOURCES:
        del kept[next(iter(kept))]
    kept[source] = sequence
    return kept


def in_new_life(sequences: Mapping[str, int], memory: Memory | None) -> tuple[Mapping[str, int], Memory | None]:
    """The same when a life begins: the numbers of observations without an epoch are forgotten, those of intents stay.

    So do numbers of which nobody knows whether an intent had them: those of records of earlier versions.
    """
    if not sequences or memory is None:
        return sequences, memory
    numbers, sources = dict[str, int](), dict[str, Heard]()
    for source, number in sequences.items():
        heard = memory.sources.get(source)
        if heard is None or heard.epoch:
            numbers[source] = number
            sources |= {} if heard is None else {source: heard}
        elif heard.asked is not None:
            numbers[source] = heard.asked
            sources[source] = heard if heard.asked == number else Heard(0, 0, heard.asked)
    return numbers, replace(memory, sources=sources)


def repeat_text(found: Repeat) -> str:
    """`number 44, heard at 2026-03-02T08:00:00Z`: what is repeated."""
    if found.number is None:
        return f"event {found.event}, which has its id and source"
    heard = f", heard at {timestamp(found.heard_ns)[:19]}Z" if found.heard_ns else ""
    return f"number {numbered(found.number, found.epoch)}{heard}"


def numbered(sequence: int | None, epoch: int) -> str:
    """`44 of epoch 7`: a number in its epoch."""
    return f"{sequence} of epoch {epoch}" if epoch else f"{sequence}"


NOT_KNOWN = Heard(0)
"""What an entity remembers of a source that it does not know, or knows from a record of an earlier version."""


@lru_cache(maxsize=8)
def _digest(source: str, event: str) -> str:
    """What identifies an event: a digest of its source and its id. An intent asks for it twice."""
    return blake2b(f"{source}\0{event}".encode(errors="replace"), digest_size=DIGEST).hexdigest()
