"""Atomic batches of LOG, which small commits of several partitions share (NATS ADR-50).

Belongs here: the frames of a batch, and which commits share one. Does not: what a refusal or a lost answer means for a
commit (`fenced_commit`).
On one replica a batch takes the server about 3 ms, however small it is, and it stores one after the other. So small
commits that come while such a batch is under way wait for its end, and then go together.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from phaseline.engine.core.message import BATCH_LIMIT, Headers, Message
from phaseline.engine.nats.api_reply import EXPECTED, read_ack
from phaseline.engine.nats.wire import Wire
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import ServerRefused

JSON_LINE, MSGPACK_LINE = (
    f"{content_types.HEADER}: {type_}\r\n" for type_ in (content_types.JSON_EVENT, content_types.MSGPACK_EVENT)
)
FAILURES = UNANSWERED, FULL, REFUSED = "unanswered", "full", "refused"
"""Why a try of a commit had no success."""
SMALL = 200
"""Messages of a commit below which it shares a batch. A larger one is sent while the server stores another."""


class Commit(NamedTuple):
    """Messages and the checkpoint that follows them. subject, expected: the checkpoint's, and the place of its last."""

    subject: str
    expected: int
    messages: Sequence[Message]
    checkpoint: bytes

    @property
    def size(self) -> int:
        """The number of messages, with the checkpoint."""
        return len(self.messages) + 1

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the checkpoint."""
        return {**content_types.AS_MSGPACK, "Nats-Rollup": "sub", EXPECTED: str(self.expected)}


class _Waiting(NamedTuple):
    commit: Commit
    place: asyncio.Future[int]


class AtomicBatches:
    """Stores commits through one connection. Each of them is stored whole or not at all, whatever it shares."""

    def __init__(self, wire: Wire) -> None:
        """Nothing is under way."""
        self._wire = wire
        self.failures: Counter[str] = Counter()
        """By reason, the tries of commits without success."""
        self._waiting: list[_Waiting] = []
        self._under_way = False
        """Whether a batch of small commits is under way."""
        self._sending: asyncio.Task[None] | None = None

    async def store(self, commit: Commit) -> int:
        """Store a commit in a batch of its own; the place of its checkpoint.

        Raises `Fenced` if the checkpoint was moved, `ServerRefused` before anything is sent, or as `Wire.request`.
        """
        return (await self._send([commit]))[0]

    async def share(self, commit: Commit) -> int:
        """As `store`. A small commit waits while another one is under way, and shares a batch with those that wait."""
        if commit.size > SMALL:
            return await self.store(commit)
        if self._under_way:
            place: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            self._waiting.append(_Waiting(commit, place))
            return await place
        self._under_way = True
        try:
            return await self.store(commit)
        finally:
            self._sending = asyncio.create_task(self._send_waiting()) if self._waiting else None
            self._under_way = self._sending is not None

    async def _send_waiting(self) -> None:
        """Send what waits, until nothing does."""
        try:
            while together := self._next():
                await self._send_together(together)
        finally:
            self._under_way = False

    def _next(self) -> list[_Waiting]:
        """The commits of the next batch, first come, first served. Those whose partition has ended are left out."""
        taken: list[_Waiting] = []
        size = 0
        while self._waiting and size + self._waiting[0].commit.size <= BATCH_LIMIT + 1:
            one = self._waiting.pop(0)
            if not one.place.done():
                taken.append(one)
                size += one.commit.size
        return taken

    async def _send_together(self, together: Sequence[_Waiting]) -> None:
        """Send commits in one batch and answer each. A refusal may be due to one of them: then each goes alone."""
        try:
            places = await self._send([one.commit for one in together])
        except Exception as error:  # noqa: BLE001  # the callers of `share` raise it
            if len(together) > 1 and isinstance(error, ServerRefused):
                for one in together:
                    await self._send_together([one])
                return
            for one in together:
                if not one.place.done():
                    one.place.set_exception(error)
        else:
            for one, place in zip(together, places, strict=True):
                if not one.place.done():
                    one.place.set_result(place)

    async def _send(self, commits: Sequence[Commit]) -> list[int]:
        """Store commits in one batch; the places of their checkpoints."""
        *others, last = commits
        messages: list[Message] = []
        for other in others:
            messages += [*other.messages, Message(other.subject, other.checkpoint, tuple(other.headers.items()))]
        messages += last.messages
        batch = secrets.token_hex(6)
        headers = {
            **last.headers,
            "Nats-Batch-Id": batch,
            "Nats-Batch-Sequence": str(len(messages) + 1),
            "Nats-Batch-Commit": "1",
        }
        ahead = batch_frames(batch, messages, self._wire.max_payload)
        reply = await self._wire.request(last.subject, last.checkpoint, headers, ahead=ahead)
        place = read_ack(last.subject, reply.data).seq
        places: list[int] = []
        for commit in reversed(commits):  # the messages of a batch stand side by side
            places.insert(0, place)
            place -= commit.size
        return places


def batch_frames(batch: str, messages: Sequence[Message], limit: int) -> bytes:
    """All frames of an atomic batch except the last one, as one buffer.

    Each body is an event or a record, unless the headers of its message say another type.
    Raises `ServerRefused` above `limit`: on such a payload the server closes the connection, which all partitions of
    this process share.
    """
    parts: list[bytes] = []
    for number, message in enumerate(messages, 1):
        subject, body = message.subject, message.body
        lines = JSON_LINE if codec.is_json(body) else MSGPACK_LINE
        if message.headers:
            lines = _lines(message.headers, lines)
        block = f"NATS/1.0\r\nNats-Batch-Id: {batch}\r\nNats-Batch-Sequence: {number}\r\n{lines}\r\n".encode()
        size = len(block) + len(body)
        if size > limit:
            raise ServerRefused.payload_too_large(subject=subject, size=size, limit=limit)
        parts += (f"HPUB {subject} {len(block)} {size}\r\n".encode(), block, body, b"\r\n")
    return b"".join(parts)


def _lines(headers: Headers, type_line: str) -> str:
    """The lines of a message's headers; with that of its type, unless they say another one."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
    return lines if content_types.HEADER in lines else lines + type_line
