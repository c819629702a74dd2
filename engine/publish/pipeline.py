"""Stores many events fast and in order: a window of them is in flight, and one inbox receives the acknowledgements.

Belongs here: the window, and recovery after failures. Does not: making the messages (`compose`).
After a failure the unacknowledged events are sent again in order, under the same ids, so the server drops those that it
has. While the oldest event waits longer than `STALL`, nothing new is sent: this preserves the order.
In a cluster a stream may change its leader between two events in flight: the first one is lost, the second one stored.
There, only one event of each tree is in flight. The others of its tree wait here for its answer.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterable, Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import NamedTuple, Self

import msgspec

from phaseline.engine import logs
from phaseline.engine.nats import frames
from phaseline.engine.nats.api_reply import Ack, can_pass, read_ack
from phaseline.engine.nats.direct_get import LOOKS, NOT_FOUND
from phaseline.engine.nats.streams import why_unstored
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.publish.message_id import first_since, headers_of, key_of, renamed
from phaseline.schemas.errors import (
    ApiFailed,
    NatsUnreachable,
    NoAnswer,
    NoJetStream,
    NoRoom,
    NoSuchStream,
    NotProvisioned,
    PhaselineError,
    Unconfirmed,
)
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

log = logs.get_logger(__name__)


class PublishResult(NamedTuple):
    """The result of publishing many events: how many this call stored, and how many were stored before."""

    stored: int = 0
    duplicates: int = 0


class _Flying(msgspec.Struct, eq=False):
    """An event without an answer yet. `since`: when it was last sent, by the loop's clock; 0 if not yet.

    repeated: the server took its first try for a repeat, and we look whether it is one. looks: how often we did.
    """

    message: EventMessage
    frame: bytes
    since: float
    again: bool = False
    repeated: bool = False
    looks: int = 0


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
        """The events without an answer, by number. Of each tree the first one is sent, so the very first is, too."""
        self._trees: dict[str, deque[int]] | None = {} if wire.clustered else None
        """In a cluster: for each tree with an event in flight, the numbers of those that wait behind it."""
        self._skip_tree = wire.settings.prefix.count(".") + 2
        self._batch: list[bytes] = []
        self._size = 0
        self._stored = self._duplicates = 0
        self._first = 0
        """The position of the first event that was stored since we began; 0 while it is not known."""
        self._opened = self._heard = self._shown = self._loop.time()
        self._moved = asyncio.Event()
        self._trouble = self._failed = self._full = False
        self._refusal: ApiFailed | None = None
        self._key = key_of(wire.settings)
        self._looks = not self._key
        """Whether to look at the event that the server takes ours for. With a secret it must be ours."""
        self._hooks = ExitStack()

    async def __aenter__(self) -> Self:
        self._sid = await self._wire.subscribe(f"{self._inbox}.*", self._answered)
        self._hooks.callback(self._wire.on_disconnect(self._on_trouble))
        self._hooks.callback(self._wire.on_refusal(self._on_refusal))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            # If the caller's events end in an error, those before it are still stored; after Ctrl-C or our failure not.
            if kind is None or (issubclass(kind, Exception) and not self._failed):
                await self.drain()
        finally:
            self._hooks.close()
            await self._wire.unsubscribe(self._sid)

    @property
    def result(self) -> PublishResult:
        """The counts so far."""
        return PublishResult(self._stored, self._duplicates)

    async def add(self, message: EventMessage) -> None:
        """Send the next event. Raises `Unconfirmed`, `ApiFailed`, `NotPermitted`, `ServerRefused.payload_too_large`."""
        self._number += 1
        frame = self._frame(message, self._number)
        now = self._loop.time()
        self._flying[self._number] = flying = _Flying(message, frame, 0.0)
        if len(self._flying) == 1:
            self._heard = now
        if self._may_fly(message, self._number):
            self._launch(flying)
        if self._size >= CHUNK:
            self._flush()
            await asyncio.sleep(0)
        if len(self._flying) >= self._window or self._trouble or self._refusal or self._stalled(now):
            await self._settle(self._window // 2)

    def _may_fly(self, message: EventMessage, number: int) -> bool:
        """Whether to send an event now; if not, it waits behind the one of its tree that is in flight."""
        if self._trees is None:
            return True
        tree = self._tree(message)
        waiting = self._trees.get(tree)
        if waiting is None:
            self._trees[tree] = deque()
            return True
        waiting.append(number)
        return False

    def _tree(self, message: EventMessage) -> str:
        return message.subject.split(".", self._skip_tree + 1)[self._skip_tree]

    def _launch(self, flying: _Flying) -> None:
        """Send an event, together with others that are sent at the same time."""
        flying.since = self._loop.time()
        if not self._batch:
            # This event must not wait until the caller has its next one.
            self._loop.call_soon(self._flush)
        self._batch.append(flying.frame)
        self._size += len(flying.frame)

    def _land(self, number: int) -> bool:
        """Forget an event that has its answer, and send the next one of its tree. False if it was forgotten before."""
        flying = self._flying.pop(number, None)
        if flying is not None and self._trees is not None:
            tree = self._tree(flying.message)
            if waiting := self._trees[tree]:
                self._launch(self._flying[waiting.popleft()])
            else:
                del self._trees[tree]
        return flying is not None

    def _frame(self, message: EventMessage, number: int) -> bytes:
        return self._wire.frame(
            message.subject, message.body, headers_of(message, self._key), f"{self._inbox}.{number}"
        )

    async def drain(self) -> None:
        """Wait until all added events are acknowledged. Raises what `add` raises."""
        await self._settle(0)
        self._progress(self.result)

    async def _settle(self, room: int) -> None:
        """Wait until at most `room` events are in flight, and recover from failures meanwhile."""
        self._flush()
        try:
            while self._refusal is None and (len(self._flying) > room or (self._flying and self._trouble)):
                if self._trouble or self._stalled(self._loop.time()):
                    await self._recover()
                else:
                    await self._wait()
            if self._refusal is not None:
                # Events after the refused one are under way. Their answers make the counts right.
                while self._flying and not self._trouble:
                    await self._wait()
                raise self._refusal
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
        if batch and not self._trouble and self._refusal is None:
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
            flying.again = flying.again or flying.since > 0
        try:
            message = oldest.message
            ack = await self._wire.publish_acked(message.subject, message.body, headers_of(message, self._key))
        except NoAnswer as error:
            await self._pause(error, oldest.message)
        except ApiFailed as error:
            if can_pass(error):
                await self._pause(error, oldest.message)
            else:
                self._refuse(number, error)
        else:
            if ack.duplicate and not self._first:
                self._first = await first_since(self._wire, self._opened)
            if self._land(number):
                self._count(ack, repeat=self._is_repeat(oldest, ack))
            now, sent = self._loop.time(), [flying for flying in self._flying.values() if flying.since]
            for flying in sent:
                flying.since = now
            self._batch, self._size = [], 0
            self._send(b"".join([flying.frame for flying in sent]))

    async def _pause(self, error: NoAnswer | ApiFailed, oldest: EventMessage) -> None:
        if isinstance(error, NoSuchStream) and not sum(self.result):
            why = await why_unstored(self._wire, error)
            if isinstance(why, NotProvisioned | NoJetStream):
                raise why
        if self._loop.time() - self._heard > self._patience:
            if isinstance(error, NoRoom):
                raise error
            raise Unconfirmed(event=oldest.event, source=oldest.source, cause=str(error)) from error
        if isinstance(error, NoRoom) and not self._full:
            log.warning("publish_waits", unacknowledged=len(self._flying), error=str(error))
        else:
            log.info("publish_again", unacknowledged=len(self._flying), error=str(error))
        self._full = isinstance(error, NoRoom)
        await asyncio.sleep(PAUSE)
        self._trouble = True

    def _on_trouble(self) -> None:
        self._trouble = True
        self._moved.set()

    def _on_refusal(self, subject: str) -> bool:
        """Send the oldest event alone if one of ours is refused, because that tells the error."""
        is_ours = any(flying.message.subject == subject for flying in self._flying.values())
        if is_ours:
            self._on_trouble()
        return is_ours

    def _answered(self, subject: str, data: bytes, block: bytes | None, _: str) -> None:
        if subject[self._skip] == "=":
            which, sequence, stream = subject[self._skip + 1 :].split("=", 2)
            self._looked(int(which), block, Ack(stream, int(sequence), duplicate=True))
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
            if can_pass(error):
                self._on_trouble()
            else:
                self._refuse(number, error)
            return
        repeat = self._is_repeat(flying, ack)
        if repeat and self._looks and not flying.again:
            self._look(number, flying, ack)
            return
        self._land(number)
        self._count(ack, repeat=repeat)
        self._moved.set()

    def _refuse(self, number: int, error: ApiFailed) -> None:
        """End with this error. No further event is sent."""
        self._refusal = self._refusal or error
        self._land(number)
        self._moved.set()

    def _is_repeat(self, flying: _Flying, ack: Ack) -> bool:
        """Whether an event was stored before this call. If we sent it several times, it may repeat our own attempt."""
        return ack.duplicate and (flying.repeated or not flying.again or ack.seq < self._first)

    def _look(self, number: int, flying: _Flying, ack: Ack) -> None:
        """Ask for the event that the server takes this one for."""
        if self._failed or self._flying.get(number) is not flying:
            return
        flying.repeated, flying.looks, flying.since = True, flying.looks + 1, self._loop.time()
        to, body = self._wire.api_subject(f"DIRECT.GET.{ack.stream}"), json.dumps({"seq": ack.seq}).encode()
        self._send(self._wire.frame(to, body, None, f"{self._inbox}.={number}={ack.seq}={ack.stream}"))

    def _looked(self, number: int, block: bytes | None, ack: Ack) -> None:
        """Count the event, or send it under another id if the stored one has another subject."""
        flying = self._flying.get(number)
        if flying is None or not flying.repeated:
            return
        headers = frames.read_headers(block or b"")
        if headers.get(frames.STATUS) == NOT_FOUND and self._wire.clustered and flying.looks < LOOKS:
            self._loop.call_later(PAUSE, self._look, number, flying, ack)  # a replica may not have it yet
            return
        stored = headers.get("Nats-Subject")
        if stored is None or is_stored_as(flying.message.subject, stored):
            self._land(number)
            self._count(None, repeat=True)
            self._moved.set()
            return
        flying.message, flying.repeated, flying.again = renamed(flying.message), False, False
        flying.since = self._loop.time()
        flying.frame = self._frame(flying.message, number)
        self._send(flying.frame)

    def _count(self, ack: Ack | None, *, repeat: bool) -> None:
        if ack is not None and not ack.duplicate and not self._first:
            self._first = ack.seq
        if repeat:
            self._duplicates += 1
        else:
            self._stored += 1
        self._heard = self._loop.time()
        if self._heard - self._shown > SHOW:
            self._shown = self._heard
            self._progress(self.result)


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
