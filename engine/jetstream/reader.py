"""Reading a stream in order, without acknowledgements, through everything that can interrupt it.

Belongs here: pulling, noticing that something is missing, and beginning again where it broke off.
Does not: what the messages mean.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple, Self

import structlog

from phaseline.engine.errors import ApiFailed, NatsUnreachable, NoAnswer, NotPermitted, PhaselineError
from phaseline.engine.jetstream import consumer, frames
from phaseline.engine.jetstream.wire import Wire

BUFFER = 3_000
"""Messages held or asked for, at most."""
HELD = 16 << 20
"""Bytes held above which nothing more is asked for."""
ROOM = 64 << 10
"""Bytes that subject, reply and framing may add to the largest payload."""
CHECK = 1.25
"""Seconds between two looks at whether the server still speaks to us."""
SILENCE = 4
"""Looks in a row without a message or a heartbeat after which the consumer is taken for dead."""
RETRY = 0.25

log = structlog.get_logger(__name__)


class Stored(NamedTuple):
    """A message as a stream holds it. `time_ns`: when it was stored; `pending`: how many more there were for this reader."""

    subject: str
    data: bytes
    sequence: int
    time_ns: int
    pending: int
    block: bytes | None

    @property
    def headers(self) -> dict[str, str]:
        """Its headers, read on demand."""
        return frames.read_headers(self.block) if self.block else {}


class Reader:
    """`async with Reader(...) as reader: await reader.take(500)`: each message once, in the stream's order.

    start: a sequence, an RFC 3339 time, "start", or "now" (after what is in the stream when the reader is entered).
    """

    def __init__(self, wire: Wire, stream: str, filters: Sequence[str], start: int | str = "start") -> None:
        """Read what matches any of `filters` (all, where there is none)."""
        self._wire, self._stream, self._filters, self._start = wire, stream, list(filters), start
        self._buffer: deque[Stored] = deque()
        self._arrived = asyncio.Event()
        self._name, self._inbox, self._sid = "", "", 0
        self._wanted = 0
        self._last = 0
        self._order = 0
        self._held = self._most = self._quiet = 0
        self._there = self._taken = 0
        self._reached: int | None = None
        """The last sequence of what was in the stream when the reader began; None while that is not known."""
        self._failure: PhaselineError | None = None
        self._broken = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._unhook: Callable[[], None] = self._broken.set

    async def __aenter__(self) -> Self:
        """Create the consumer; raises as `Wire.api` does."""
        if self._start == "now":
            info = await self._wire.api(f"STREAM.INFO.{self._stream}")
            self._start = int(info["state"]["last_seq"]) + 1
        await self._open()
        self._arrived.clear()  # that the stream is empty is no news to somebody who waits for what comes
        self._unhook = self._wire.on_reconnect(self._broken.set)
        self._tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._mend())]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let go of the consumer; the server forgets it by itself where it cannot be told."""
        self._unhook()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._close()

    @property
    def buffered(self) -> int:
        """How many messages `take` would find now."""
        return len(self._buffer)

    @property
    def caught_up(self) -> bool:
        """Whether all that was in the stream when the reader was entered has been taken. Once true it stays so."""
        return self._reached is not None and self._taken >= self._reached

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:
        """Up to `limit` messages, at least one; none after `timeout` seconds. Raises what ended the reader.

        None also when the reader is told that what it still waited for, to have caught up, is gone from the stream.
        """
        if not self._buffer:
            try:
                async with asyncio.timeout(timeout):
                    await self._arrived.wait()
            except TimeoutError:
                return []
        if self._failure is not None and not self._buffer:
            raise self._failure
        buffer = self._buffer
        found = [buffer.popleft() for _ in range(min(limit, len(buffer)))]
        if found:
            self._taken = found[-1].sequence
            self._held -= sum([len(message.data) for message in found])
        if not buffer and self._failure is None:
            self._arrived.clear()
        self._pull()
        return found

    async def _open(self) -> None:
        """A new consumer, after the last message that came."""
        self._name = f"r{secrets.token_hex(6)}"
        self._inbox = self._wire.inbox()
        self._wanted = self._order = 0
        self._sid = await self._wire.subscribe(self._inbox, self._received)
        made = await self._wire.api(
            f"CONSUMER.CREATE.{self._stream}.{self._name}",
            consumer.config(self._stream, self._name, self._filters, self._start, self._last),
        )
        self._there = int(made["num_pending"])
        if not self._there:
            self._reach()
        self._quiet = 0
        self._most = max(self._most, self._wire.max_payload + ROOM)
        self._pull()

    async def _close(self) -> None:
        sid, self._sid = self._sid, 0
        if sid:
            await self._wire.unsubscribe(sid)
        if self._wire.connected:
            try:
                await self._wire.api(f"CONSUMER.DELETE.{self._stream}.{self._name}")
            except (ApiFailed, NoAnswer, NotPermitted) as error:
                log.debug("consumer_left", consumer=self._name, why=str(error))

    def _pull(self) -> None:
        while self._wanted + len(self._buffer) <= BUFFER - consumer.PULL and self._held < HELD:
            subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._name}"
            try:
                self._wire.send(self._wire.frame(subject, consumer.pull(self._most), reply=self._inbox))
            except NatsUnreachable:
                return  # the reconnect begins anew
            self._wanted += consumer.PULL

    def _received(self, subject: str, data: bytes, block: bytes | None, reply: str) -> None:
        if subject == self._inbox:
            self._status(block)
        else:
            self._message(subject, data, block, reply)

    def _message(self, subject: str, data: bytes, block: bytes | None, reply: str) -> None:
        words = reply.split(".")
        at = 5 if len(words) == 9 else 7
        if words[at - 2] != self._name:
            return
        self._order += 1
        if int(words[at + 1]) != self._order:
            log.info("reader_gap", stream=self._stream, expected=self._order, found=words[at + 1])
            self._broken.set()
            return
        self._wanted -= 1
        self._quiet = 0
        self._last = int(words[at])
        pending = int(words[at + 3])
        self._held += len(data)
        self._buffer.append(Stored(subject, data, self._last, int(words[at + 2]), pending, block))
        if self._reached is None and (not pending or self._order >= self._there):
            self._reach()
        self._arrived.set()

    def _reach(self) -> None:
        if self._reached is None:
            self._reached = self._last
            self._arrived.set()

    def _status(self, block: bytes | None) -> None:
        headers = frames.read_headers(block) if block else {}
        status, said = headers.get(frames.STATUS, ""), headers.get(frames.DESCRIPTION, "")
        self._quiet = 0
        if status == consumer.IDLE:
            # Messages that were counted may be gone since: the server has nothing to send.
            self._reach()
        elif said in consumer.ENDED:
            self._wanted -= int(headers.get("Nats-Pending-Messages", 0))
            if said == consumer.FULL and int(headers.get("Nats-Pending-Bytes", 0)) >= self._most:
                self._most *= 2
            self._pull()
        else:
            log.info("reader_status", stream=self._stream, status=status, said=said)
            self._broken.set()

    async def _watch(self) -> None:
        """Notice silence: while pulls are open the server sends at least heartbeats."""
        while True:
            await asyncio.sleep(CHECK)
            # Looks are counted, not seconds: while this process was held up the server may well have spoken.
            self._quiet += 1
            if self._quiet > SILENCE and self._wanted > 0 and self._wire.connected:
                log.info("reader_silence", stream=self._stream, seconds=self._quiet * CHECK)
                self._quiet = 0
                self._broken.set()

    async def _mend(self) -> None:
        """Begin again with a new consumer whenever something broke."""
        while True:
            await self._broken.wait()
            self._broken.clear()
            try:
                await self._wire.until_connected()
                await self._close()
                await self._open()
            except (NoAnswer, ApiFailed) as error:
                log.info("reader_retry", stream=self._stream, why=str(error))
                await asyncio.sleep(RETRY)
                self._broken.set()
            except PhaselineError as error:
                self._failure = error
                self._arrived.set()
                return
            except Exception:
                log.exception("reader_retry", stream=self._stream)
                await asyncio.sleep(RETRY)
                self._broken.set()


async def read_all(
    wire: Wire, stream: str, filters: Sequence[str], start: int | str = "start"
) -> AsyncIterator[list[Stored]]:
    """What is in the stream now, in order, in lists of some size; what comes meanwhile may be in the last one."""
    async with Reader(wire, stream, filters, start) as reader:
        while not reader.caught_up:
            if found := await reader.take(BUFFER):
                yield found
