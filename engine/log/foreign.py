"""Foreign messages: messages in LOG, STATE and LEASE that no worker wrote.

The server sends the answer to a request to whatever subject the request names. So, on a server where publishers share
the account of the workers, an acknowledgement or a copy of a stored message can be stored wherever somebody wants it.
Belongs here: telling foreign messages from those of workers, the message in the answer to a direct get, finding the
last message of a worker on a subject, also where a former leader may answer that does not know of it, notes that are
written into LOG, saying once what was set aside.

Workers write LOG by atomic batches and under the fence only. The server checks the headers of both before it stores
anything, and an answer cannot have them. A copy that the server sends has `Nats-Stream`, which no worker writes.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, NamedTuple, TypeVar

import msgspec

from phaseline.engine import logs
from phaseline.engine.core.message import COPY
from phaseline.engine.nats import frames
from phaseline.engine.nats.api_reply import EXPECTED, Reply
from phaseline.engine.nats.direct_get import LastMessage, direct, last_message_from_leader
from phaseline.engine.nats.reader import BUFFER, Stored
from phaseline.engine.nats.stream_reader import read_all, reader_of
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import NotPermitted, RequestTimedOut
from phaseline.schemas.subjects import Subjects

# Blocks are searched by `find`: for bytes `in` takes twice as long, as it first tries to read a number.
BATCH = b"\r\nNats-Batch-Id:"
FENCED = b"\r\nNats-Expected-Last-Subject-Sequence:"
UNDER_FENCE = b"\r\nNats-Expected-Last-Subject-Sequence-Subject:"

JSON_COPY = b"\r\nPhaseline-Copy:"

ONLY_LAST = {"Nats-Rollup": "sub"}
"""The headers by which a message is the only one on its subject."""

PATIENCE = 2.0
"""Seconds without a message after which the search for a worker's message begins anew."""
SEARCHES = 3
QUIET = 60.0
"""Seconds in which a subject is reported once."""
REPORTED = 20
"""Subjects that are reported in `QUIET` seconds, at most."""

T = TypeVar("T")
log = logs.get_logger(__name__)
Ours = Callable[[LastMessage | Stored], bool]
"""Whether a message is one that a worker wrote there."""


def is_by_worker(block: bytes | None) -> bool:
    """Whether a message of LOG with this header block is a worker's: from a batch, or under the fence."""
    if block is None or (block.find(BATCH) < 0 and block.find(UNDER_FENCE) < 0):
        return False
    return block.find(COPY) < 0


def is_by_owner(block: bytes | None) -> bool:
    """The same for a checkpoint, which is itself the fence."""
    if block is None or (block.find(BATCH) < 0 and block.find(FENCED) < 0):
        return False
    return block.find(COPY) < 0


def is_copy(block: bytes | None) -> bool:
    """Whether the server sent a message with this header block as the answer to a direct get."""
    return block is not None and block.find(COPY) >= 0


def is_no_copy(block: bytes | None) -> bool:
    """Whether a message may be a note that stands there without the fence: anybody can have an answer stored there."""
    return not is_copy(block)


def is_json_copy(block: bytes | None) -> bool:
    """Whether a message of LOG is the copy of a record in JSON, which earlier versions wrote (`nats.streams`)."""
    return block is not None and block.find(JSON_COPY) >= 0


def holds_copy(reply: Reply) -> bool:
    """Whether the message in the reply to a direct get is itself such an answer, so that it has the header twice."""
    return reply.block is not None and reply.block.count(COPY) > 1


def message_in(reply: Reply) -> LastMessage:
    """The message in the reply to a direct get, without the headers that the server appended to its own."""
    own, _, appended = (reply.block or b"").rpartition(COPY)
    headers = frames.read_headers(b"NATS/1.0" + COPY + appended)
    block = own + b"\r\n\r\n" if own.strip() != b"NATS/1.0" else None
    return LastMessage(reply.data, int(headers["Nats-Sequence"]), headers["Nats-Subject"], block)


class Foreign(NamedTuple):
    """A message that no worker wrote. `size`: the bytes of its body."""

    stream: str
    subject: str
    sequence: int
    size: int


class _Reports:
    """Limits how often foreign messages are reported."""

    def __init__(self) -> None:
        self._recent: dict[str, float] = {}
        self._unreported = 0

    def add(self, found: Foreign) -> None:
        now, subject = time.monotonic(), found.subject
        if subject in self._recent and now - self._recent[subject] < QUIET:
            return
        self._recent = {one: when for one, when in self._recent.items() if now - when < QUIET}
        if len(self._recent) >= REPORTED:
            self._unreported += 1
            return
        self._recent[subject] = now
        unreported, self._unreported = self._unreported, 0
        log.warning(
            "foreign_message",
            stream=found.stream, subject=subject, sequence=found.sequence, size=found.size, unreported=unreported,
        )  # fmt: skip


_reports = _Reports()


def report(stream: str, message: LastMessage | Stored) -> Foreign:
    """Log that a message was set aside because no worker wrote it. A subject is logged once a minute."""
    found = Foreign(stream, message.subject, message.sequence, len(message.data))
    _reports.add(found)
    return found


class LastOnSubject(NamedTuple):
    """What stands on a subject. `ours`: the last message of a worker; None if there is none.

    end: the sequence of the last message of all; 0 if there is none. It is the sequence of `ours` unless foreign
    messages follow.
    """

    ours: LastMessage | Stored | None
    end: int

    @property
    def sequence(self) -> int:
        """The sequence of the last message of a worker; 0 if there is none."""
        return 0 if self.ours is None else self.ours.sequence


class Barrier(NamedTuple):
    """A message that went through the cluster: whoever has read up to it has read all that was there before."""

    subject: str
    place: int


async def barrier(wire: Wire, layout: Layout) -> Barrier | None:
    """Write a message into LOG that means nothing, to ask behind it. None where no former leader can answer.

    So it is for who may not write there: he has to believe the leader.
    """
    subject = Subjects(layout.prefix).skipped()
    try:
        return Barrier(subject, (await wire.publish_acked(subject, b"", ONLY_LAST)).seq) if wire.clustered else None
    except NotPermitted:
        return None


async def standing(wire: Wire, stream: str, subject: str, ours: Ours, behind: Barrier | None = None) -> LastOnSubject:
    """What stands on a subject, which may have wildcards, according to the stream's leader.

    Takes one request if the last message is a worker's. Otherwise reads all messages of the subject. Raises as `Wire`.

    behind: a message of the stream before which the answer must not end. For a moment after an election, a former
    leader answers what it has, and what is newer is not there for it. Give this where something is done or said that
    cannot be taken back, because a message is not there, or is an old one. Counts in a cluster only.
    """
    for _ in range(SEARCHES):
        last = await last_message_from_leader(wire, stream, subject)
        is_ours = last is not None and ours(last)
        if last is not None and not is_ours:
            report(stream, last)
        if behind is not None and wire.clustered:
            found = await _search(wire, stream, subject, ours, behind, last.sequence if last and is_ours else "start")
        elif last is None or is_ours:
            return LastOnSubject(last, 0 if last is None else last.sequence)
        else:
            found = await _search(wire, stream, subject, ours, Barrier(subject, last.sequence))
        if found is not None:
            return found
    raise RequestTimedOut(subject=subject, seconds=SEARCHES * PATIENCE, hint="")


class LogNote(msgspec.Struct, frozen=True):
    """What a note in LOG says."""

    def encode(self) -> bytes:
        """As the log holds it."""
        return codec.encode(msgspec.to_builtins(self))


class NoteStanding(NamedTuple, Generic[T]):
    """The last note, and the sequence of the last message on its subject, which the next note has to expect."""

    note: T | None
    sequence: int


class Notes(NamedTuple, Generic[T]):
    """The notes of one type, which stand on one subject of LOG.

    is_ours: says of the header block of a message whether it can be a note. Owners write most of them under the fence.
    """

    wire: Wire
    stream: str
    subject: str
    of: type[T]
    is_ours: Callable[[bytes | None], bool] = is_by_owner

    def read(self, message: LastMessage | Stored) -> T | None:
        """The note in a message; None if it is foreign."""
        if not self.is_ours(message.block):
            return None
        try:
            return msgspec.convert(codec.decode_own(message.data), self.of)
        except ValueError:
            return None

    def has(self, stored: Stored) -> bool:
        """Whether a message is one of these notes."""
        return stored.subject == self.subject and self.read(stored) is not None

    async def standing(self, behind: Barrier | None = None) -> NoteStanding[T]:
        """The last note, according to LOG's leader. behind: as in the function `standing`."""
        found = await standing(
            self.wire, self.stream, self.subject, lambda message: self.read(message) is not None, behind
        )
        return NoteStanding(None if found.ours is None else self.read(found.ours), found.end)

    async def last(self) -> T | None:
        """The last note; None if there is none. In a cluster the leader answers: a replica may have an older one.

        Who may not ask the leader has to believe the replica.
        """
        if self.wire.clustered:
            with suppress(NotPermitted):
                return (await self.standing()).note
        reply = await direct(self.wire, self.stream, {"last_by_subj": self.subject})
        if reply is None:
            return None
        return self.read(message_in(reply)) or (await self.standing()).note

    async def all_of(self) -> list[T]:
        """All notes, oldest first. Foreign messages are left out, and reported."""
        found = list[T]()
        async for messages in read_all(self.wire, self.stream, [self.subject]):
            for message in messages:
                if (note := self.read(message)) is None:
                    report(self.stream, message)
                else:
                    found.append(note)
        return found

    async def leave(self, note: LogNote, expected: int | None = None) -> None:
        """Write a note. expected: the sequence of the last message there, as the fence; raises `Fenced`, as `Wire`."""
        fence = {} if expected is None else {EXPECTED: str(expected)}
        await self.wire.publish_acked(self.subject, note.encode(), {**content_types.AS_MSGPACK, **fence})


async def _search(
    wire: Wire, stream: str, subject: str, ours: Ours, until: Barrier, first: int | str = "start"
) -> LastOnSubject | None:
    """What stands on a subject, by reading from a sequence to a message at least; None if that is not reached.

    A replica that lags is of no harm: that message comes after all that must be seen.
    """
    found, seen, end, filters = None, 0, 0, list(dict.fromkeys((subject, until.subject)))
    async with reader_of(wire, stream, filters, first) as reader:
        while seen < until.place:
            messages = await reader.take(BUFFER, PATIENCE)
            if not messages:
                return None
            seen = messages[-1].sequence
            for message in messages:
                if message.subject == until.subject != subject:
                    continue
                end = message.sequence
                if ours(message):
                    found = message
    if found is None and first != "start":  # what was to stand there is gone, and there may be an earlier one
        return await _search(wire, stream, subject, ours, until)
    return LastOnSubject(found, end)
