"""Reading a stream in order, in the way that this user may: with a consumer, or else by direct gets.

Belongs here: the choice, and the reader that makes direct gets. Does not: the reader with a consumer (`reader`), what
the messages mean.

A direct get is answered by any replica. One that lags behind has a beginning of the stream, so nothing is skipped. That
there is nothing more is believed only if the leader says so.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, Protocol, Self

import msgspec

from phaseline.engine import logs
from phaseline.engine.nats.api_reply import Reply
from phaseline.engine.nats.direct_get import PENDING, direct, gather, last_sequence, message_from_leader, stored_ns
from phaseline.engine.nats.reader import BUFFER, RETRY, Reader, Stored, is_over
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.errors import ApiFailed, NoAnswer

BATCH = 1_000
"""Messages in one request."""
MAX_BYTES = 4 << 20
"""Bytes after which the server ends the answer to one request."""
POLL = 0.25
"""Seconds between two looks for new messages, without a feed that tells of them."""
POLL_BESIDE_FEED = 2.0
"""The same, with a feed: it may have lost a message."""
ADDED = b"\r\nNats-Stream:"
"""Where the headers begin that the server adds to those of the message."""

log = logs.get_logger(__name__)


class _Cursor(msgspec.Struct):
    """Where the reading of one filter stands. complete: all its messages up to this sequence have been fetched."""

    filter: str
    complete: int = 0
    fetched: deque[Stored] = msgspec.field(default_factory=deque)


class DirectReader:
    """Reads each message once, in the order of the stream, as `reader.Reader` does, without a consumer.

    feed: subjects on which a message arrives whenever there may be something new. What arrives there is not read.
    patience: as for `Reader`.
    """

    def __init__(
        self, wire: Wire, stream: str, filters: Sequence[str], start: int | str = "start", feed: Sequence[str] = (),
        patience: float | None = None,
    ) -> None:  # fmt: skip
        self._wire, self.stream, self._start, self._feed = wire, stream, start, feed
        self._patience = patience
        self._cursors = [_Cursor(filter_) for filter_ in filters or [">"]]
        self._ready: deque[Stored] = deque()
        self._complete = self._end = 0
        """All messages up to `_complete` are in `_ready` or taken; `_end` was the last sequence on entry."""
        self._shorter = 0
        """At how many looks in turn the stream was shorter than what was read of it."""
        self._news = asyncio.Event()
        self._sids: list[int] = []

    async def __aenter__(self) -> Self:
        """Find out where to start, and whether there is anything to read; raises as `Wire.api` does."""
        self._end = await last_sequence(self._wire, self.stream)
        self._complete = await self._before_start()
        for cursor in self._cursors:
            cursor.complete = self._complete
        if not self.caught_up:
            await self._fill()
        return self

    async def __aexit__(self, *_: object) -> None:
        for sid in self._sids:
            await self._wire.unsubscribe(sid)

    @property
    def buffered(self) -> int:
        """How many messages `take` can return at once."""
        return len(self._ready)

    @property
    def caught_up(self) -> bool:
        """Whether all messages that were in the stream on entry have been taken. Once true it stays true."""
        return self._complete >= self._end and (not self._ready or self._ready[0].sequence > self._end)

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:
        """Wait for messages and return at most `limit`.

        Returns an empty list after `timeout` seconds, and once where the reader has caught up without a message.
        """
        try:
            async with asyncio.timeout(timeout):
                while not self._ready:
                    behind = not self.caught_up
                    await self._patiently(self._fill)
                    if behind and self.caught_up:
                        break
                    if not behind and not self._ready:
                        await self._patiently(self._wait)
        except TimeoutError:
            return []
        return [self._ready.popleft() for _ in range(min(limit, len(self._ready)))]

    async def _before_start(self) -> int:
        """The last sequence that is not wanted."""
        if isinstance(self._start, int):
            return max(0, self._start - 1)
        if self._start in ("start", "now"):
            return self._end if self._start == "now" else 0
        first = await first_since(self._wire, self.stream, self._start)
        return self._end if first is None else first - 1

    async def _patiently(self, step: Callable[[], Awaitable[None]]) -> None:
        """Take a step, through outages."""
        since = time.monotonic()
        while True:
            try:
                await self._wire.until_connected(self._patience)
                await step()
            except (NoAnswer, ApiFailed) as error:
                if NoAnswer.log_put_back.made(error) or is_over(self._patience, since):
                    raise
                log.info("reader_retry", stream=self.stream, error=str(error))
                await asyncio.sleep(RETRY)
            else:
                return

    async def _fill(self) -> None:
        """Fetch what comes next, and make ready what is in order."""
        self._news.clear()
        if self._complete < self._end:
            upper = self._end
        else:
            # With several filters, what one of them lacks now must not come after what another one gets next.
            upper = self._complete if len(self._cursors) == 1 else await last_sequence(self._wire, self.stream)
        for cursor in self._cursors:
            if not cursor.fetched and (cursor.complete < upper or len(self._cursors) == 1):
                await self._fetch(cursor, upper)
        self._complete = max(self._complete, min(cursor.complete for cursor in self._cursors))
        found: list[Stored] = []
        for cursor in self._cursors:
            while cursor.fetched and cursor.fetched[0].sequence <= self._complete:
                found.append(cursor.fetched.popleft())
        self._ready.extend(sorted(found, key=lambda stored: stored.sequence))

    async def _fetch(self, cursor: _Cursor, upper: int) -> None:
        """Fetch the next messages of one filter. If there are none it is complete at least up to `upper`."""
        wanted = {"seq": cursor.complete + 1, "next_by_subj": cursor.filter}
        found = await self._get({**wanted, "batch": BATCH, "max_bytes": MAX_BYTES})
        if not found:
            found = await self._get_from_leader(wanted)
        cursor.fetched.extend(found)
        cursor.complete = found[-1].sequence if found else max(cursor.complete, upper)

    async def _get(self, body: dict[str, Any]) -> list[Stored]:
        """The messages in the answers to a direct get, up to the first one that was lost on the way."""
        subject = self._wire.api_subject(f"DIRECT.GET.{self.stream}")
        found: list[Stored] = []
        for reply in await gather(self._wire, subject, body):
            stored = _stored(reply)
            if found and stored.pending != found[-1].pending - 1:
                log.info("reader_gap", stream=self.stream, expected=found[-1].pending - 1, found=stored.pending)
                break
            found.append(stored)
        return found

    async def _get_from_leader(self, body: dict[str, Any]) -> list[Stored]:
        """The next message as the leader has it, if there is one."""
        found = await message_from_leader(self._wire, self.stream, body)
        return (
            [] if found is None else [Stored(found.subject, found.data, found.sequence, found.time_ns, 0, found.block)]
        )

    async def _wait(self) -> None:
        """Wait until there may be more."""
        if len(self._sids) < len(self._feed):
            for subject in self._feed[len(self._sids) :]:
                self._sids.append(await self._wire.subscribe(subject, lambda *_: self._news.set()))
            return  # what came before the subscription is found by looking again
        try:
            async with asyncio.timeout(POLL_BESIDE_FEED if self._feed else POLL):
                await self._news.wait()
        except TimeoutError:
            await self._check_length()

    async def _check_length(self) -> None:
        """Raise `NoAnswer.log_put_back` if the stream has less than was read of it, for the second time.

        A new leader may know less for a moment.
        """
        last = await last_sequence(self._wire, self.stream)
        self._shorter = self._shorter + 1 if last < self._complete else 0
        if self._shorter > 1:
            raise NoAnswer.log_put_back(stream=self.stream, last=last, place=self._complete)


def _stored(reply: Reply) -> Stored:
    """The message in an answer to a direct get, with its own headers alone."""
    headers = reply.headers
    time_ns, sequence = stored_ns(reply), int(headers["Nats-Sequence"])
    own = (reply.block or b"").rpartition(ADDED)[0]
    block = own + b"\r\n\r\n" if b"\r\n" in own else None
    return Stored(headers["Nats-Subject"], reply.data, sequence, time_ns, int(headers.get(PENDING, 0)), block)


class StreamReader(Protocol):
    """What readers of a stream have in common: each message once, in order."""

    async def __aenter__(self) -> Self:
        """Begin to read."""

    async def __aexit__(self, *_: object) -> None:
        """End."""

    @property
    def stream(self) -> str:
        """The name of the stream."""

    @property
    def buffered(self) -> int:
        """How many messages `take` can return at once."""

    @property
    def caught_up(self) -> bool:
        """Whether all messages that were in the stream on entry have been taken."""

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:
        """Wait for messages and return at most `limit`."""


def reader_of(
    wire: Wire, stream: str, filters: Sequence[str], start: int | str = "start", feed: Sequence[str] = (),
    least: int = 0, room: int = BUFFER, *, follows: bool = False,
) -> StreamReader:  # fmt: skip
    """A reader, not open yet. feed: where the server tells of new messages, for users without consumers.

    least, room: as for `Reader`.
    follows: whether it goes on after the end. Such a reader waits for its server for ever; one that reads to the end
    is an answer, and gives up when it could not go on for as long as a request may take.
    """
    patience = None if follows else wire.settings.request_timeout
    if wire.has_consumers:
        return Reader(wire, stream, filters, start, least, room, patience)
    return DirectReader(wire, stream, filters, start, feed, patience)


async def read_all(
    wire: Wire, stream: str, filters: Sequence[str], start: int | str = "start", last: int | None = None, least: int = 0
) -> AsyncGenerator[list[Stored], None]:
    """The messages that are in the stream now, as lists, in order. last: those up to this sequence.

    Without it, the last list can hold newer messages too. Where all messages are read, `last` is one that was there.
    least: as for `Reader`.
    """
    least = max(least, 0 if filters else last or 0)
    async with reader_of(wire, stream, filters, start, least=least) as reader:
        while not reader.caught_up:
            messages = await reader.take(BUFFER)
            is_last = last is not None and bool(messages) and messages[-1].sequence >= last
            if is_last:
                messages = [one for one in messages if one.sequence <= (last or 0)]
            if messages:
                yield messages
            if is_last:
                return


async def first_since(wire: Wire, stream: str, moment: str) -> int | None:
    """The sequence of the first message that was stored at a time or later; None if there is none."""
    found = await direct(wire, stream, {"start_time": moment, "next_by_subj": ">"})
    return None if found is None else int(found.headers["Nats-Sequence"])
