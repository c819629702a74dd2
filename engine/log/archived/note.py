"""The notes in the log that say up to where it was archived. Events and records before that may be gone.

Belongs here: the note, reading the last one, the refusal of moments that it covers. Does not: writing it
(`replay.archive.run`).
A note is written before anything is trimmed. So whoever reads first and looks at the note afterwards knows whether all
that was asked for was still there.
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from phaseline.engine.log.foreign import Barrier, LogNote, Notes, NoteStanding, barrier
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import Time
from phaseline.schemas.errors import NotInLog
from phaseline.schemas.records import timestamp

Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ArchiveNote(LogNote, frozen=True):
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
    sources: Mapping[str, Count] = {}

    @property
    def ends(self) -> tuple[int, int, int]:
        """Where the archive ends: position, place, time."""
        return self.position, self.place, self.time_ns

    def covers(self, named: int | Time) -> bool:
        """Whether the log can no longer show this moment. It still shows the states at `place` itself."""
        if isinstance(named, Time):
            return named.ns + named.width <= self.time_ns
        return 0 < named < self.place


def notes(installation: Installation) -> Notes[ArchiveNote]:
    """The notes of an installation."""
    return Notes(installation.wire, installation.layout.log, installation.subjects.archived(), ArchiveNote)


async def standing(installation: Installation, behind: Barrier | None = None) -> NoteStanding[ArchiveNote]:
    """The last note, according to LOG's leader. behind: as for `foreign.standing`."""
    return await notes(installation).standing(behind)


async def last(installation: Installation) -> ArchiveNote | None:
    """The last note; None if the log was never archived."""
    return await notes(installation).last()


async def surely_last(installation: Installation) -> ArchiveNote | None:
    """The same, also while a former leader answers that does not know of it: for who does something without it."""
    return (await standing(installation, await barrier(installation.wire, installation.layout))).note


async def position(installation: Installation) -> int:
    """The position up to which all events were decided and archived; 0 if none were."""
    found = (await standing(installation)).note
    return 0 if found is None else found.position


def refusal(note: ArchiveNote, named: int | Time) -> NotInLog:
    """The error for a moment that is in an archive only."""
    moment = timestamp(named.ns) if isinstance(named, Time) else f"place {named}"
    return NotInLog(moment=moment, place=note.place, until=timestamp(note.time_ns), archive=note.archive)
