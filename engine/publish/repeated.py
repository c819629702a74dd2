"""What an event repeats that left no record: found by those who wait for its outcome.

Belongs here: reading the event and what its entity remembers. Does not: the rule (`core.sources.numbers`), waiting
(`outcomes`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.core.sources.numbers import Repeat, repeat_of
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.log_records import last_records
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec, envelope
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.records import Entity, Rejection, timestamp
from phaseline.schemas.subjects import BadSubject, quote


async def repeated_by(installation: Installation, sequence: int) -> Repeat | None:
    """What the event at this position repeats, if it left no record; None if it repeats nothing, or is gone."""
    event = await Log(installation).event(sequence)
    if event is None:
        return None
    try:
        address = installation.subjects.address(event.subject)
        body = codec.decode(event.body)
    except (BadSubject, codec.Undecodable):
        return None
    tokens = ".".join(map(quote, address.id.split("/")))
    found = await last_records(installation, installation.partition_of(address.id), address.kind, tokens)
    known = [record.entity for record in found if not isinstance(record, Rejection)]
    return repeated_in(installation.kinds, known[-1], address.trigger, body) if known else None


def repeated_in(kinds: Kinds, entity: Entity, trigger: str, body: Mapping[str, Any]) -> Repeat | None:
    """What an event repeats, given as the map of its envelope, by what its entity remembers."""
    try:
        event = envelope.read(dict(body))
        number, epoch = envelope.sequence_of(event), envelope.epoch_of(event)
    except Invalid:
        return None
    asks = entity.kind in kinds and trigger in kinds[entity.kind].table.intents
    return repeat_of(entity, event.source, event.id, number, epoch, asks=asks)


def repeat_map(found: Repeat | None) -> dict[str, Any] | None:
    """What an event repeats, as JSON output shows it."""
    if found is None:
        return None
    if found.number is None:
        return {"event": found.event}
    heard = timestamp(found.heard_ns) if found.heard_ns else None
    return {"number": found.number, "epoch": found.epoch, "heard": heard}
