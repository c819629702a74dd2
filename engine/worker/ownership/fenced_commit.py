"""Commits that take effect exactly once: atomic batches and single messages, fenced by the checkpoint.

Belongs here: three of the four forms of a commit (docs/design.md, The commit), and finding out whether a commit without
an answer was stored. Does not: the fourth form, a plan in several batches (`oversized_commit`), sending a batch
(`atomic_batches`), what is committed (`core.process`), the checkpoint's fields (`log.checkpoint`).
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TypeVar

from phaseline.engine import logs
from phaseline.engine.core.message import Message
from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.log.foreign import Barrier
from phaseline.engine.nats.api_reply import EXPECTED, can_pass
from phaseline.engine.nats.reader import BUFFER, Reader
from phaseline.engine.nats.wire import Wire
from phaseline.engine.worker.ownership.atomic_batches import FULL, REFUSED, UNANSWERED, AtomicBatches, Commit
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import (
    ApiFailed,
    Fenced,
    NatsUnreachable,
    NoAnswer,
    NoRoom,
    PhaselineError,
    RequestTimedOut,
)

TIME_LIMIT = 30.0
"""Seconds after which a commit with an unknown outcome fails."""
PAUSE = 0.2
"""Seconds between two tries."""
PATIENCE = 2.0
"""Seconds without a message after which the search for one begins anew."""
SAY_AGAIN = 30.0
"""Seconds between two log lines that say that a commit waits for room."""

T = TypeVar("T")
log = logs.get_logger(__name__)
WriteCheckpoint = Callable[[str], bytes]
"""Returns the checkpoint's bytes for the try of that name (`Checkpoint.encode_as`)."""


class Fence:
    """The checkpoint of one partition, as its owner knows it. It lets only the owner commit.

    Every method raises `Fenced` once another worker moved the checkpoint, and `ServerRefused` before it sends
    anything. It tries again after errors that can pass, and raises the last one after `TIME_LIMIT` seconds. Where the
    server has no room it waits as long as that takes: nobody else could commit either.
    The server refuses a moved fence with error 10071, for which `read_ack` raises `Fenced`. `_moved_by_us` then reads
    the checkpoint from the leader, because a replica may lag. Where one of its own tries is stored there, the commit is
    in. Where only foreign messages follow the checkpoint that this owner knows, nobody took over: the next try expects
    the last of them, and what was sent before can no longer be stored.
    """

    def __init__(
        self, wire: Wire, stream: str, subject: str, sequence: int, end: int | None = None,
        batches: AtomicBatches | None = None,
    ) -> None:  # fmt: skip
        """`sequence`: the place of the present checkpoint; 0 if there is none.

        end: the place of the last message on the subject, if foreign messages follow the checkpoint.
        batches: through which other fences of this process commit too, if any do.
        """
        self._wire, self._stream, self.subject, self.sequence = wire, stream, subject, sequence
        self._batches = batches or AtomicBatches(wire)
        self._end = sequence if end is None else end
        """The place that the next commit expects."""
        self._write_last: WriteCheckpoint | None = None
        self._full_since: float | None = None
        """Since when commits wait for room; None if none does."""
        self._say_again = 0.0

    @property
    def barrier(self) -> Barrier:
        """The checkpoint, to ask behind it what LOG holds (`foreign.standing`)."""
        return Barrier(self.subject, self.sequence)

    @property
    def is_full(self) -> bool:
        """Whether a commit waits for room on the server."""
        return self._full_since is not None

    async def append(self, messages: Sequence[Message], write: WriteCheckpoint, *, shared: bool = False) -> None:
        """Store at most 999 messages and the checkpoint, all or nothing. shared: maybe in one batch with others."""
        store = self._batches.share if shared else self._batches.store
        await self._retry(lambda commit: store(Commit(self.subject, self._end, messages, write(commit))))
        self._write_last = write

    async def move(self, write: WriteCheckpoint) -> None:
        """Store the checkpoint alone."""
        await self._retry(lambda commit: self._send_checkpoint(write(commit)))
        self._write_last = write

    async def append_one(self, message: Message) -> None:
        """Store one message, without moving the checkpoint."""
        started = time.monotonic()
        while True:
            try:
                headers = {
                    content_types.HEADER: content_types.of_event(message.body), **dict(message.headers),
                    EXPECTED: str(self._end), f"{EXPECTED}-Subject": self.subject,
                }  # fmt: skip
                await self._wire.publish_acked(message.subject, message.body, headers)
            except Fenced:
                await self._moved_by_us(())
                await self.move(self._last_checkpoint())  # which also removes the foreign messages
                self._check_time(started)
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                await self._pause_after(error, started)
                if await self._is_stored(message):
                    return
            else:
                self._stored()
                return

    async def _is_stored(self, message: Message) -> bool:
        """Whether the message without an answer is in the log.

        First moves the fence, so that the server refuses the message if it arrives later. Then reads up to the fence.
        The last message on the subject would not do: a former leader may answer that does not know of a later one yet.
        """
        before = self.sequence
        await self.move(self._last_checkpoint())
        return await self._ask_until_answered(lambda: self._is_since(before, message))

    async def _is_since(self, before: int, message: Message) -> bool:
        """Whether the log holds a message between a place and the fence."""
        async with Reader(self._wire, self._stream, [message.subject, self.subject], before + 1) as reader:
            while True:
                if not (found := await reader.take(BUFFER, PATIENCE)):
                    raise RequestTimedOut(subject=message.subject, seconds=PATIENCE, hint="")
                if any(one.data == message.body and foreign.is_by_worker(one.block) for one in found):
                    return True
                if found[-1].sequence >= self.sequence:
                    return False

    def _last_checkpoint(self) -> WriteCheckpoint:
        if self._write_last is None:
            raise AssertionError("a partition's first commit is its own checkpoint")
        return self._write_last

    async def _retry(self, send: Callable[[str], Awaitable[int]]) -> None:
        """Send until one try is stored. The first stored try moves the fence, so the server refuses every other try."""
        tries: set[str] = set()
        started = time.monotonic()
        while True:
            commit = secrets.token_hex(6)
            tries.add(commit)
            try:
                self.sequence = self._end = await send(commit)
            except Fenced:
                if await self._moved_by_us(tries):
                    return
                self._check_time(started)
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                await self._pause_after(error, started)
            else:
                self._stored()
                return

    async def _moved_by_us(self, tries: Collection[str]) -> bool:
        """Whether one of `tries` moved the fence. False if only foreign messages did, so that another try can succeed.

        Raises `Fenced` if another worker moved it.
        """
        found = await self._ask_until_answered(lambda: checkpoint.standing(self._wire, self._stream, self.subject))
        if found.ours is not None and checkpoint.decode(found.ours.data).commit in tries:
            self.sequence, self._end = found.sequence, found.end
            return True
        if found.sequence != self.sequence or found.end == self._end:
            raise Fenced(subject=self.subject)
        self._end = found.end
        return False

    async def _ask_until_answered(self, ask: Callable[[], Awaitable[T]]) -> T:
        started = time.monotonic()
        while True:
            try:
                return await ask()
            except (NoAnswer, NatsUnreachable, ApiFailed) as error:
                await self._pause_after(error, started)

    def _check_time(self, started: float) -> None:
        """Give up if foreign messages keep on moving the fence."""
        if time.monotonic() - started > TIME_LIMIT:
            raise Fenced(subject=self.subject)

    async def _pause_after(self, error: PhaselineError, started: float) -> None:
        """Wait before the next try; raise `error` if the time is up, or if no try can succeed."""
        self._batches.failures[_reason(error)] += 1
        if isinstance(error, NoRoom):
            self._wait_for_room(error)
        elif not can_pass(error) or time.monotonic() - started > TIME_LIMIT:
            raise error
        else:
            log.info("commit_in_doubt", subject=self.subject, error=str(error))
        await asyncio.sleep(PAUSE)

    def _wait_for_room(self, error: NoRoom) -> None:
        now = time.monotonic()
        self._full_since = self._full_since or now
        if now >= self._say_again:
            self._say_again = now + SAY_AGAIN
            log.warning("commit_waits", subject=self.subject, error=str(error))

    def _stored(self) -> None:
        """Note that there was room for a commit."""
        if self._full_since is not None:
            seconds, self._full_since = time.monotonic() - self._full_since, None
            self._say_again = 0.0
            log.warning("commit_goes_on", subject=self.subject, seconds=round(seconds, 1))

    async def _send_checkpoint(self, checkpoint: bytes) -> int:
        headers = Commit(self.subject, self._end, (), checkpoint).headers
        return (await self._wire.publish_acked(self.subject, checkpoint, headers)).seq


def _reason(error: PhaselineError) -> str:
    """Why a try of a commit had no success."""
    if isinstance(error, NoAnswer):
        return UNANSWERED
    return FULL if isinstance(error, NoRoom) else REFUSED
