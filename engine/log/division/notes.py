"""The note in the log that says how the trees are divided among partitions.

Belongs here: its form, reading and writing it. Does not: what partitions do when it changes (`worker.closing`).
There is no note before the first repartition. A note holds all divisions, so the last one says everything. It is
stored only if it follows the note that its writer has read.
"""

import time
from typing import Annotated

import msgspec
from msgspec.structs import replace

from phaseline.engine.errors import NotPermitted
from phaseline.engine.jetstream.api_reply import EXPECTED
from phaseline.engine.jetstream.direct_get import LastMessage
from phaseline.engine.jetstream.reader import Stored
from phaseline.engine.jetstream.stream_reader import read_all
from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.log.foreign import Standing
from phaseline.engine.log.installation import Installation
from phaseline.engine.settings import MAX_PARTITIONS
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.partitions.divisions import STRIDE

METADATA = "divisions"
"""What a worker that knows divisions says about itself."""


Count = Annotated[int, msgspec.Meta(ge=1, le=MAX_PARTITIONS)]


class DivisionNote(msgspec.Struct, frozen=True):
    """How many partitions each division has, after the one that the installation was made with. by: who wrote it."""

    divisions: tuple[Count, ...]
    by: str = ""
    time: int = 0


def read(message: LastMessage | Stored) -> DivisionNote | None:
    """The note in a message of LOG; None if it is none, or was not written as one."""
    if not foreign.is_by_owner(message.block):
        return None
    try:
        return msgspec.convert(codec.decode_own(message.data), DivisionNote)
    except ValueError:
        return None


async def standing(installation: Installation) -> Standing:
    """The last note, according to the leader of LOG, and the place of the last message on its subject."""
    return await foreign.standing(
        installation.wire, installation.layout.log, installation.subjects.divisions, lambda one: read(one) is not None
    )


async def current(installation: Installation) -> Installation:
    """The installation with its present division; raises as `Wire.api` does. It never goes back to an earlier one."""
    found = (await standing(installation)).ours
    note = None if found is None else read(found)
    if note is None or len(note.divisions) <= len(installation.layout.divisions):
        return installation
    return replace(installation, layout=replace(installation.layout, divisions=note.divisions))


async def known(installation: Installation) -> Installation:
    """The same; the installation as it is where this user may not ask."""
    try:
        return await current(installation)
    except NotPermitted:
        return installation


async def recovered(installation: Installation, by: str) -> Installation:
    """The installation with the division that STATE shows, if the log was emptied and has lost the note.

    Notes it anew. Raises `Fenced` if somebody else was faster.
    """
    found, counts = await standing(installation), dict[int, int]()
    copies = [installation.subjects.state_checkpoint("*")]
    async for slice_ in read_all(installation.wire, installation.layout.state, copies):
        for stored in slice_:
            token = stored.subject[len(installation.prefix) + 7 :].partition(".")[0]
            number = int(token) if token.isdecimal() else 0  # STATE copies foreign messages too
            if number >= STRIDE and (count := _count(stored)):
                counts[number // STRIDE] = count
    later = tuple(counts[generation] for generation in sorted(counts))
    if found.ours is not None or not later:
        return await current(installation)
    return await _note(installation, later, by, found.end)


def _count(copy: Stored) -> int:
    """How many partitions the division has of which STATE has copied a checkpoint; 0 if the copy is a foreign message.

    The server leaves the headers of the fence out of its copies.
    """
    try:
        return 0 if foreign.is_copy(copy.block) else checkpoint.decode(copy.data).of
    except ValueError:
        return 0


async def add(installation: Installation, count: int, by: str, end: int) -> Installation:
    """Divide the trees among `count` partitions from now on. end: the place of the last message that `standing` found.

    Raises `Fenced` if somebody else has written a note meanwhile.
    """
    return await _note(installation, (*installation.layout.divisions, count), by, end)


async def _note(installation: Installation, divisions: tuple[int, ...], by: str, end: int) -> Installation:
    body = codec.encode(msgspec.to_builtins(DivisionNote(divisions, by, time.time_ns())))
    headers = {**content_types.AS_MSGPACK, EXPECTED: str(end)}
    await installation.wire.publish_acked(installation.subjects.divisions, body, headers)
    return replace(installation, layout=replace(installation.layout, divisions=divisions))
