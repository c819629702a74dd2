"""Stores many events fast and in order: a window of them is in flight, and one inbox receives the acknowledgements.

Belongs here: the window, and recovery after failures. Does not: making the messages (`compose`).
After a failure the unacknowledged events are sent again in order, under the same ids, so the server drops those that it
has. While the oldest event waits longer than `STALL`, nothing new is sent: this preserves the order.
"""

import asyncio
import json
from collections.abc import AsyncIterable, Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self

import structlog

from phaseline.engine.errors import ApiFailed, NatsUnreachable, NoAnswer, NoSuchStream, PhaselineError, Unconfirmed
from phaseline.engine.jetstream import frames
from phaseline.engine.jetstream.api_reply import Ack, read_ack
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.publish.message_id import MESSAGE_ID, header, key_of, renamed
from phaseline.schemas.subjects import is_stored_as

WINDOW = 4096
PATIENCE = 30.0
CHUNK = 64 * 1024
"""Bytes of frames that are sent together."""
STALL = 1.0
"""Seconds that the oldest event may wait for its answer: less than a cluster needs to elect a new leader."""
PAUSE = 0.2
SHOW = 0.1
"""Seconds between two reports of the progress."""

log = structlog.get_logger(__name__)


class PublishResult(NamedTuple):
    """The result of publishing many events: how many this call stored, and how many were stored before."""

    stored: int = 0
    duplicates: int = 0


@dataclass(slots=True, eq=False)
class _Flying:
    """An event without an answer yet. `since`: when it was last sent, by the loop's clock.

    repeated: the server took its first try for a repeat, and we look whether it is one.
    """

    message: EventMessage
    frame: bytes
    since: float
    again: bool = False
    repeated: bool = False


class Pipeline:
    """Sends events, a window of them at a time: `async with Pipeline(...) as pipeline: await pipeline.add(message)`.

    Leaving the block waits for the last answer. window: the most events in flight. patience: seconds without any
    progress after which `Unconfirmed` is raised.
    """

    def __init__(
        self, wire: Wire, window: int, patience: float, progress: Callable[[PublishResult], None] | None
    ) -> None:
        """progress: called now and then with the counts so far."""
        self._wire, self._window, self._patience = wire, max(1, window), patience
        self._progress = progress or (lambda _: None)
        self._loop = asyncio.get_running_loop()
        self._inbox, self._sid = wire.inbox(), 0
        self._skip = len(self._inbox) + 1
        self._number = 0
        self._flying: dict[int, _Flying] = {}
        self._batch: list[bytes] = []
        self._size = 0
        self._stored = self._duplicates = 0
        self._heard = self._shown = self._loop.time()
        self._moved = asyncio.Event()
        self._trouble = self._failed = False
        self._refusal: ApiFailed | None = None
        self._key = key_of(wire.settings)
        self._looks = not self._key
        """Whether to look at the event that the server takes ours for. With a secret it must be ours."""
        self._unhook: Callable[[], None] = lambda: None

    async def __aenter__(self) -> Self:
        self._sid = await self._wire.subscribe(f"{self._inbox}.*", self._answered)
        self._unhook = self._wire.on_disconnect(self._on_trouble)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            # If the caller's events end in an error, those before it are still stored; after Ctrl-C or our failure not.
            if kind is None or (issubclass(kind, Exception) and not self._failed):
                await self.drain()
        finally:
            self._unhook()
            await self._wire.unsubscribe(self._sid)

    @property
    def result(self) -> PublishResult:
        """The counts so far."""
        return PublishResult(self._stored, self._duplicates)

    async def add(self, message: EventMessage) -> None:
        """Send the next event. Raises `Unconfirmed`, `ApiFailed`, `NotPermitted`, `PayloadTooLarge`."""
        self._number += 1
        frame = self._frame(message, self._number)
        now = self._loop.time()
        self._flying[self._number] = _Flying(message, frame, now)
        if not self._batch:
            # This event must not wait until the caller has its next one.
            self._loop.call_soon(self._flush)
        self._batch.append(frame)
        self._size += len(frame)
        if self._size >= CHUNK:
            self._flush()
            await asyncio.sleep(0)
        if len(self._flying) >= self._window or self._trouble or self._stalled(now):
            await self._settle(self._window // 2)

    def _frame(self, message: EventMessage, number: int) -> bytes:
        headers = {MESSAGE_ID: header(self._key, message.message_id)}
        return self._wire.frame(message.subject, message.body, headers, f"{self._inbox}.{number}")

    async def drain(self) -> None:
        """Wait until all added events are acknowledged. Raises what `add` raises."""
        await self._settle(0)
        self._progress(self.result)

    async def _settle(self, room: int) -> None:
        """Wait until at most `room` events are in flight, and recover from failures meanwhile."""
        self._flush()
        try:
            while len(self._flying) > room or (self._flying and self._trouble):
                if self._refusal is not None:
                    raise self._refusal
                if self._trouble or self._stalled(self._loop.time()):
                    await self._recover()
                else:
                    await self._wait()
        except PhaselineError:
            self._failed = True
            raise

    async def _wait(self) -> None:
        self._moved.clear()
        try:
            async with asyncio.timeout(STALL):
                await self._moved.wait()
        except TimeoutError:
            self._trouble = True

    def _stalled(self, now: float) -> bool:
        oldest = next(iter(self._flying.values()), None)
        return oldest is not None and now - oldest.since > STALL

    def _flush(self) -> None:
        batch, self._batch, self._size = self._batch, [], 0
        if batch and not self._trouble:
            self._send(b"".join(batch))

    def _send(self, buffer: bytes) -> None:
        try:
            self._wire.send(buffer)
        except NatsUnreachable:
            self._trouble = True

    async def _recover(self) -> None:
        """Send the oldest event alone, whose answer shows what is wrong; then send all others again."""
        self._trouble = False
        number, oldest = next(iter(self._flying.items()))
        if oldest.repeated:
            # We may not look, it seems: then the server's word is taken.
            self._looks = False
        for flying in self._flying.values():
            flying.again = True
        try:
            message = oldest.message
            headers = {MESSAGE_ID: header(self._key, message.message_id)}
            await self._wire.publish_acked(message.subject, message.body, headers)
        except NoAnswer as error:
            await self._pause(error, oldest.message)
        except ApiFailed as error:
            if not _is_temporary(error):
                raise
            await self._pause(error, oldest.message)
        else:
            if self._flying.pop(number, None) is not None:
                self._count(repeat=oldest.repeated)
            now = self._loop.time()
            for flying in self._flying.values():
                flying.since = now
            self._batch, self._size = [], 0
            self._send(b"".join([flying.frame for flying in self._flying.values()]))

    async def _pause(self, error: NoAnswer | ApiFailed, oldest: EventMessage) -> None:
        if isinstance(error, NoSuchStream) and not self._stored + self._duplicates:
            raise error
        if self._loop.time() - self._heard > self._patience:
            raise Unconfirmed(event=oldest.event, source=oldest.source) from error
        log.info("publish_again", unacknowledged=len(self._flying), error=str(error))
        await asyncio.sleep(PAUSE)
        self._trouble = True

    def _on_trouble(self) -> None:
        self._trouble = True
        self._moved.set()

    def _answered(self, subject: str, data: bytes, block: bytes | None, _: str) -> None:
        if subject[self._skip] == "=":
            self._looked(int(subject[self._skip + 1 :]), block)
            return
        number = int(subject[self._skip :])
        flying = self._flying.get(number)
        if flying is None:
            return
        if not data:
            self._on_trouble()
            return
        try:
            ack = read_ack(flying.message.subject, data)
        except ApiFailed as error:
            if not _is_temporary(error):
                self._refusal = error
            self._on_trouble()
            return
        # If we sent it more than once, it may be a duplicate of our own attempt.
        repeat = ack.duplicate and (flying.repeated or not flying.again)
        if repeat and self._looks and not flying.again:
            self._look(number, flying, ack)
            return
        del self._flying[number]
        self._count(repeat=repeat)
        self._moved.set()

    def _look(self, number: int, flying: _Flying, ack: Ack) -> None:
        """Ask for the event that the server takes this one for."""
        flying.repeated = True
        to, body = f"$JS.API.DIRECT.GET.{ack.stream}", json.dumps({"seq": ack.seq}).encode()
        self._send(self._wire.frame(to, body, None, f"{self._inbox}.={number}"))

    def _looked(self, number: int, block: bytes | None) -> None:
        """Count the event, or send it under another id if the stored one has another subject."""
        flying = self._flying.get(number)
        if flying is None or not flying.repeated:
            return
        stored = frames.read_headers(block or b"").get("Nats-Subject")
        if stored is None or is_stored_as(flying.message.subject, stored):
            del self._flying[number]
            self._count(repeat=True)
            self._moved.set()
            return
        flying.message, flying.repeated, flying.again = renamed(flying.message), False, False
        flying.frame = self._frame(flying.message, number)
        self._send(flying.frame)

    def _count(self, *, repeat: bool) -> None:
        if repeat:
            self._duplicates += 1
        else:
            self._stored += 1
        self._heard = self._loop.time()
        if self._heard - self._shown > SHOW:
            self._shown = self._heard
            self._progress(self.result)


def _is_temporary(error: ApiFailed) -> bool:
    """Whether the server may accept the event later."""
    code: int | None = error.code
    return code is not None and code >= 500


async def publish_many(
    wire: Wire,
    messages: Iterable[EventMessage] | AsyncIterable[EventMessage],
    window: int = WINDOW,
    patience: float = PATIENCE,
    progress: Callable[[PublishResult], None] | None = None,
) -> PublishResult:
    """Store all `messages` in order. If `Pipeline.add` or the iterable raises, all earlier events are stored."""
    async with Pipeline(wire, window, patience, progress) as pipeline:
        if isinstance(messages, AsyncIterable):
            async for message in messages:
                await pipeline.add(message)
        else:
            for message in messages:
                await pipeline.add(message)
    return pipeline.result
