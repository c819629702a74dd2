"""The identity of a log: a number that is made with the log, and anew each time when it, or EVENTS, was put back.

Belongs here: the note that holds it, reading the last one and all of them, the identity of an installation. Does not:
making it (`worker.ownership.identity_keeping`), what it means for an event (`core.lives.of_log`).
What counts in a log, such as the position that a report has seen, or a place, counts in no other one. A backup has the
identity of the log of which it was made; by the time at which the server made the streams workers see that they were
put back.
"""

from typing import Annotated, Any

import msgspec

from phaseline.engine.log.foreign import Barrier, LogNote, Notes, NoteStanding
from phaseline.engine.log.installation import Installation
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import timestamp

UNKNOWN = 0
"""The identity of a log that has none yet: no worker of this version has worked on it."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class LogIdentity(LogNote, frozen=True, omit_defaults=True):
    """Which log this is, from a place on.

    number: the microseconds since 1970 at which it was made, and greater than that of every log before; a number that
    JSON can hold. made: when the server made LOG and EVENTS, by name of the stream. worker: who wrote this.
    former: the number of the log that was put back; 0 for a log that began here. why: what was put back, in words.
    is_backup: whether LOG was put back, so that its states may be older; else only EVENTS was.
    position, place: the last ones that the streams held when that was found. backup_ns: when the last message before
    was stored: of then the backup is. found_ns: when it was found.
    """

    number: Count
    made: dict[str, str]
    worker: str = ""
    former: Count = 0
    why: str = ""
    is_backup: bool = False
    position: Count = 0
    place: Count = 0
    backup_ns: Count = 0
    found_ns: Count = 0

    @property
    def was_restored(self) -> bool:
        """Whether this log goes on from a backup."""
        return self.former > 0


def notes(installation: Installation) -> Notes[LogIdentity]:
    """The notes of an installation."""
    return Notes(installation.wire, installation.layout.log, installation.subjects.identity(), LogIdentity)


async def standing(installation: Installation, behind: Barrier | None = None) -> NoteStanding[LogIdentity]:
    """The last note, according to LOG's leader. behind: as for `foreign.standing`."""
    return await notes(installation).standing(behind)


async def last(installation: Installation) -> LogIdentity | None:
    """The last note; None if the log has no identity yet."""
    return await notes(installation).last()


async def log_identity(installation: Installation) -> int:
    """The identity of the log of an installation. Who keeps it beside a position or a place knows whether that counts.

    It grows each time the log is put back from a backup, so it can be the `epoch` of events that are made of this log.
    `UNKNOWN` before a worker has made it.
    """
    found = await last(installation)
    return UNKNOWN if found is None else found.number


async def check_place(installation: Installation, place: int, of: int) -> None:
    """Raise `InvalidInput.place_of_other_log` if a place counts in another log than this one. of: that log."""
    note = await last(installation)
    number = UNKNOWN if note is None else note.number
    if of == number:
        return
    known = next((one for one in await notes(installation).all_of() if one.former == of), None)
    which = "another one" if known is None else f"this one before it was put back ({restore_text(known)})"
    raise InvalidInput.place_of_other_log(place=place, log=of, which=which, now=number)


def check_bare_place(note: LogIdentity, place: int) -> None:
    """Raise `InvalidInput.place_of_other_log` if a place without a log can only be one of the log before.

    Streams of events name the log in their ids once it was put back. note: of this log.
    """
    if place > note.place:
        which = f"this log before it was put back ({restore_text(note)})"
        raise InvalidInput.place_of_other_log(place=place, log=note.former, which=which, now=note.number)


def as_map(note: LogIdentity) -> dict[str, Any]:
    """A note as JSON shows it."""
    found: dict[str, Any] = {"identity": note.number, "since": timestamp(note.found_ns)}
    if note.was_restored:
        backup = timestamp(note.backup_ns) if note.is_backup and note.backup_ns else None
        found |= {"former": note.former, "why": note.why, "backup_of": backup, "place": note.place}
    return found


def restore_text(note: LogIdentity) -> str:
    """What a note says of a log that was put back, for people."""
    backup = timestamp(note.backup_ns)[:19] if note.backup_ns else "?"
    return f"as of {backup}Z, found {timestamp(note.found_ns)[:19]}Z: {note.why}"
