"""Making a commit last exactly once: atomic batches and plain publishes, fenced by the checkpoint.

See docs/design.md, The commit.
Belongs here: the three forms of a commit, and finding out what became of one whose answer was lost.
Does not: what is committed (`fold`), the checkpoint's fields (`checkpoint`).
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence

import structlog

from phaseline.engine.errors import ApiFailed, Fenced, NatsUnreachable, NoAnswer, PayloadTooLarge
from phaseline.engine.jetstream.api_reply import acknowledged
from phaseline.engine.jetstream.direct_get import Last, last_message
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.checkpoint import commit_of

PASSING = (10176, 10164)
"""Refusals that another try can overcome: a batch the server forgot, a fence in use (R3)."""
BUSY = 429
"""The code of refusals for want of room: too many batches open, too much to store at once."""
BUDGET = 30.0
"""Seconds after which a commit whose outcome stays unknown is given up."""
PAUSE = 0.2
EXPECTED = "Nats-Expected-Last-Subject-Sequence"

log = structlog.get_logger(__name__)
Pairs = Sequence[tuple[str, str]]
Sent = tuple[str, bytes] | tuple[str, bytes, Pairs]
"""Subject, body, and headers of its own where it has some."""
Write = Callable[[str], bytes]
"""The checkpoint's bytes, written by the try of that name."""


class Fence:
    """The checkpoint of one partition as its owner holds it. Every method raises `Fenced` once somebody else moved it.

    And `PayloadTooLarge` for what no message can hold, before anything is sent; or, where trying again does not help or
    did not help in time, what stood in the way.
    """

    def __init__(self, wire: Wire, stream: str, subject: str, sequence: int) -> None:
        """`sequence`: of the checkpoint that stands, 0 where there is none."""
        self._wire, self._stream, self.subject, self.sequence = wire, stream, subject, sequence
        self._standing: Write | None = None

    async def append(self, messages: Sequence[Sent], write: Write) -> None:
        """At most 999 messages and the checkpoint, all or nothing."""
        await self._surely(lambda commit: self._batch(messages, write(commit)))
        self._standing = write

    async def move(self, write: Write) -> None:
        """The checkpoint alone."""
        await self._surely(lambda commit: self._publish(write(commit)))
        self._standing = write

    async def append_one(self, subject: str, body: bytes, more: Pairs = ()) -> None:
        """One message, without moving the checkpoint; `more` headers of its own."""
        started = time.monotonic()
        while True:
            try:
                headers = {**dict(more), EXPECTED: str(self.sequence), f"{EXPECTED}-Subject": self.subject}
                await self._wire.publish_acked(subject, body, headers)
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                await self._doubt(error, started)
                if await self._is_in(subject, body):
                    return
            else:
                return

    async def _is_in(self, subject: str, body: bytes) -> bool:
        """Whether the doubtful message is in the log. The moved fence keeps it out if it is not."""
        if self._standing is None:
            raise AssertionError("a partition's first commit is its own checkpoint")
        await self.move(self._standing)
        found = await self._patiently(lambda: last_message(self._wire, self._stream, subject))
        return found is not None and found.data == body

    async def _surely(self, send: Callable[[str], Awaitable[int]]) -> None:
        """Try until it is in. A try that comes late finds the fence moved by the one that came first."""
        tries: set[str] = set()
        started = time.monotonic()
        while True:
            commit = secrets.token_hex(6)
            tries.add(commit)
            try:
                self.sequence = await send(commit)
            except Fenced:
                found = await self._patiently(lambda: last_message(self._wire, self._stream, self.subject))
                if found is None or commit_of(found.data) not in tries:
                    raise
                self.sequence = found.sequence
                return
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                await self._doubt(error, started)
            else:
                return

    async def _patiently(self, ask: Callable[[], Awaitable[Last | None]]) -> Last | None:
        started = time.monotonic()
        while True:
            try:
                return await ask()
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                await self._doubt(error, started)

    async def _doubt(self, error: Exception, started: float) -> None:
        """Wait a moment before the next try, or raise `error` where none can help."""
        if _hopeless(error) or time.monotonic() - started > BUDGET:
            raise error
        log.info("commit_in_doubt", subject=self.subject, why=str(error))
        await asyncio.sleep(PAUSE)

    async def _publish(self, checkpoint: bytes) -> int:
        headers = {EXPECTED: str(self.sequence), "Nats-Rollup": "sub"}
        return (await self._wire.publish_acked(self.subject, checkpoint, headers)).seq

    async def _batch(self, messages: Sequence[Sent], checkpoint: bytes) -> int:
        batch = secrets.token_hex(6)
        headers = {
            "Nats-Batch-Id": batch,
            "Nats-Batch-Sequence": str(len(messages) + 1),
            "Nats-Batch-Commit": "1",
            "Nats-Rollup": "sub",
            EXPECTED: str(self.sequence),
        }
        ahead = batch_frames(batch, messages, self._wire.max_payload)
        reply = await self._wire.request(self.subject, checkpoint, headers, ahead=ahead)
        return acknowledged(self.subject, reply.data).seq


def _hopeless(error: Exception) -> bool:
    """Whether the server will refuse the same thing each time."""
    return isinstance(error, ApiFailed) and error.err_code not in PASSING and error.code != BUSY and error.code < 500


def batch_frames(batch: str, messages: Sequence[Sent], limit: int) -> bytes:
    """The frames of an atomic batch, but for the last one, in one piece (ADR-50); raises `PayloadTooLarge` above `limit`.

    Sent all the same, a payload too large would have the server hang up, on every partition of this process.
    """
    parts: list[bytes] = []
    for number, (subject, body, *own) in enumerate(messages, 1):
        more = "".join([f"{name}: {value}\r\n" for pairs in own for name, value in pairs])
        block = f"NATS/1.0\r\nNats-Batch-Id: {batch}\r\nNats-Batch-Sequence: {number}\r\n{more}\r\n"
        size = len(block) + len(body)
        if size > limit:
            raise PayloadTooLarge(subject=subject, size=size, limit=limit)
        parts += (f"HPUB {subject} {len(block)} {size}\r\n{block}".encode(), body, b"\r\n")
    return b"".join(parts)
