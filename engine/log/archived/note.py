"""The notes in the log that say up to where it was archived. Events and records before that may be gone.

Belongs here: the note, its bytes, reading the last one, the refusal of moments that it covers. Does not: writing it
(`archive.run`).
A note is written before anything is trimmed. So whoever reads first and looks at the note afterwards knows whether all
that was asked for was still there.
"""

import json
from typing import Annotated, NamedTuple

import msgspec

from phaseline.engine.jetstream.direct_get import LastMessage, direct
from phaseline.engine.jetstream.reader import Stored
from phaseline.engine.log import foreign
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import Time
from phaseline.schemas import codec
from phaseline.schemas.errors import NotInLog
from phaseline.schemas.records import timestamp

Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ArchiveNote(msgspec.Struct, frozen=True):
    """What may be gone: events up to `position`, and up to `place` of the log all records that later ones replace.

    time_ns: when the last record up to that place was stored. archive: the name of the archive. by: who made it.
    parts: a digest of what the archive holds, by which readers know its manifest; empty in notes of earlier versions.
    sources: for each stream from which EVENTS copies, the position of its last event in the archive.
    """

    position: Count
    place: Count
    time_ns: Count
    archive: str
    by: str = ""
    parts: str = ""
    sources: dict[str, Count] = {}

    @property
    def ends(self) -> tuple[int, int, int]:
        """Where the archive ends: position, place, time."""
        return self.position, self.place, self.time_ns

    def encode(self) -> bytes:
        """As the log holds it."""
        return codec.encode(msgspec.to_builtins(self))

    def covers(self, named: int | Time) -> bool:
        """Whether the log can no longer show this moment. It still shows the states at `place` itself."""
        if isinstance(named, Time):
            return named.ns + named.width <= self.time_ns
        return 0 < named < self.place


class NoteStanding(NamedTuple):
    """The last note, and the sequence of the last message on its subject, which the next note has to expect."""

    note: ArchiveNote | None
    sequence: int


def read(message: LastMessage | Stored) -> ArchiveNote | None:
    """The note in a message of LOG; None if nobody wrote it under the fence."""
    if not foreign.is_by_owner(message.block):
        return None
    try:
        return msgspec.convert(codec.decode_own(message.data), ArchiveNote)
    except ValueError:
        return None


async def standing(installation: Installation) -> NoteStanding:
    """The last note, according to LOG's leader."""
    found = await foreign.standing(
        installation.wire, installation.layout.log, installation.subjects.archived(),
        lambda message: read(message) is not None,
    )  # fmt: skip
    return NoteStanding(None if found.ours is None else read(found.ours), found.end)


async def last(installation: Installation) -> ArchiveNote | None:
    """The last note; None if the log was never archived. Any replica may answer."""
    wanted = json.dumps({"last_by_subj": installation.subjects.archived()}).encode()
    reply = await direct(installation.wire, installation.layout.log, wanted)
    if reply is None:
        return None
    return read(foreign.message_in(reply)) or (await standing(installation)).note


async def position(installation: Installation) -> int:
    """The position up to which all events were decided and archived; 0 if none were."""
    found = (await standing(installation)).note
    return 0 if found is None else found.position


def refusal(note: ArchiveNote, named: int | Time) -> NotInLog:
    """The error for a moment that is in an archive only."""
    moment = timestamp(named.ns) if isinstance(named, Time) else f"place {named}"
    return NotInLog(moment=moment, place=note.place, until=timestamp(note.time_ns), archive=note.archive)
