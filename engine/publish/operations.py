"""Notes in the log about what operators did by the command: who says to have done what, and when.

The log holds three sorts of them: what was purged (`log.purge`), up to where it was archived (`log.archived.note`), and
all else (here). Only operators and workers may write them; which operator it was, the note says of itself.
Belongs here: leaving a note, reading the notes of all sorts.
"""

from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from phaseline.engine.log import foreign
from phaseline.engine.log.archived.note import ArchiveNote
from phaseline.engine.log.foreign import LogNote
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.purge import PurgeNote
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish.compose import default_source
from phaseline.engine.settings import Settings
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import NoSuchStream, NotPermitted
from phaseline.schemas.subjects import Subjects

MOST_TEXT = 1_024
"""The most characters of what a note says."""


class OperationNote(LogNote, frozen=True):
    """A note in the log: somebody called a command. what: on what. by: who says to have done it (`operator`)."""

    command: str
    what: str
    by: str = ""


class Operation(NamedTuple):
    """An operation that a note tells of. place: of the note in the log. time_ns: when the server stored it."""

    place: int
    time_ns: int
    command: str
    what: str
    by: str


def operator(settings: Settings) -> str:
    """Who calls a command, as far as this process knows: the user of this machine, and that of NATS.

    Neither is proven. The user of NATS is named by the URL, or by the file of its key. A URL that has a name without a
    password has a token there, which is a secret.
    """
    file, urls = settings.nkey or settings.creds or settings.tls_cert, map(urlsplit, settings.nats)
    named = [unquote(url.username) for url in urls if url.username and url.password]
    user = named[0] if named else file.stem if file else ""
    return default_source("cli") + (f" as NATS user {user}" if user else "")


async def leave(wire: Wire, settings: Settings, command: str, what: str) -> NotPermitted | None:
    """Note that somebody calls a command; do so before it changes anything. Returns why that is not permitted.

    Where there is no log, the command itself says so.
    """
    try:
        await note(wire, settings.prefix, command, what[:MOST_TEXT], operator(settings))
    except NotPermitted as error:
        return error
    except NoSuchStream:
        return None
    return None


async def note(wire: Wire, prefix: str, command: str, what: str, by: str) -> None:
    """Leave a note; raises `NotPermitted`, `NoSuchStream`. by: who says to have called the command."""
    body = OperationNote(command, what, by[:MOST_TEXT]).encode()
    await wire.publish_acked(Subjects(prefix).operated(), body, content_types.AS_MSGPACK)


async def operations(installation: Installation) -> AsyncIterator[Operation]:
    """All operations that the log has notes of, oldest first. Foreign messages are left out, and reported."""
    log, subjects = installation.layout.log, installation.subjects
    filters = [subjects.purged("*"), subjects.archived(), subjects.operated()]
    async for slice_ in read_all(installation.wire, log, filters):
        for stored in slice_:
            if (found := _read(subjects, stored)) is None:
                foreign.report(log, stored)
            else:
                yield found


def _read(subjects: Subjects, message: Stored) -> Operation | None:
    """The operation in a note; None if it is an answer of the server, which anybody can have stored there."""
    if foreign.is_copy(message.block):
        return None
    try:
        found = codec.decode_own(message.data)
        if message.subject == subjects.operated():
            note = msgspec.convert(found, OperationNote)
        elif message.subject == subjects.archived():
            archived = msgspec.convert(found, ArchiveNote)
            note = OperationNote("archive", f"events up to {archived.position} are in {archived.archive}", archived.by)
        else:
            purged = msgspec.convert(found, PurgeNote)
            count = f"{len(purged.positions)} events of {purged.kind} {purged.id}"
            note = OperationNote("purge", count, purged.by)
    except ValueError:
        return None
    return Operation(message.sequence, message.time_ns, note.command, note.what, note.by)
