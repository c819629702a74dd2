"""Handing out the transitions of a follower, one after the other, until each is acknowledged.

Belongs here: requests for the next record, acknowledgements, giving back, keeping what is in hand, going on after the
connection was lost. Does not: the consumer on the server (`follower`).
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple, Self

from phaseline.engine import logs
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import take_logged
from phaseline.engine.nats import consumer, frames
from phaseline.engine.nats.api_reply import can_pass
from phaseline.engine.nats.reader import Stored
from phaseline.engine.surfaces.follow import follower
from phaseline.engine.surfaces.follow.follower import FollowerState, WantedFollower
from phaseline.schemas.errors import ApiFailed, NatsUnreachable, NoAnswer, NotFound
from phaseline.schemas.records import SECOND, Transition

ACK, BACK, IN_HAND = b"+ACK", b"-NAK", b"+WPI"
NEXT = json.dumps(
    {"batch": 1, "expires": consumer.EXPIRES * SECOND, "idle_heartbeat": consumer.HEARTBEAT * SECOND}
).encode()
SILENT = 3.0 * consumer.HEARTBEAT
"""Seconds without a message or a heartbeat after which the server is asked whether the follower is still there."""
LOOK_AGAIN = 10.0
"""Seconds after which a message is late, and it is looked again whether the log was trimmed meanwhile."""
RETRY, LOOKS = 0.25, 8
"""Seconds between two tries, and how often a follower must be missing until it counts as deleted."""
REMEMBERED = 10_000
"""How many places this program remembers as acknowledged."""
LONGEST_PAUSE = 60.0
"""The most seconds before a transition whose handling failed is handed out again."""

log = logs.get_logger(__name__)


class Followed(NamedTuple):
    """A transition that a follower hands out.

    place: its place in the log. log: the identity of the log in which the place counts. tried: how often it was handed
    out, this time included.
    """

    place: int
    log: int
    tried: int
    record: Transition

    def __str__(self) -> str:
        return f"place {self.place}: {self.record}"


class HandedOut(NamedTuple):
    """A message, where it is acknowledged, and how often it was delivered."""

    stored: Stored
    reply: str
    tried: int


class Follow:
    """An iterator over transitions, each of which goes to one of the programs that follow under this name.

    Who asks for the next one has acknowledged the one before. One that was not acknowledged is handed out again, to
    whichever program asks first: at once if the program ends in good order, else after the follower's patience.
    `async with follow:` begins at once and ends with the block.
    """

    def __init__(self, installation: Callable[[], Awaitable[Installation]], wanted: WantedFollower) -> None:
        self._find, self._wanted = installation, wanted
        self._is_open = False
        self._installation: Installation
        self._follower: FollowerState
        self._inbox, self._sid = "", 0
        self._buffer = deque[HandedOut]()
        self._current: HandedOut | None = None
        self._done = dict[int, None]()
        """The last places that were acknowledged here. A server that is killed may forget that, and send them again."""
        self._acknowledged = 0
        """The last place that was acknowledged here."""
        self._looked = 0.0
        """When it was looked last whether the log was trimmed."""
        self._ahead_ns = 0
        """By how much the server's clock is ahead of `time.monotonic`."""
        self._asked = self._broken = False
        self._arrived = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None
        self._unhook: Callable[[], None] = self._arrived.set
        self.over = False
        self.place = 0
        """The place of the last transition; 0 before the first."""

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        failed = kind is not None and issubclass(kind, Exception) and self._current is not None
        await self._end(min(LONGEST_PAUSE, 2.0 ** (self._current.tried - 1)) if failed and self._current else 0.0)

    async def close(self) -> None:
        """End, and give back what was not acknowledged."""
        await self._end(0.0)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Followed:
        await self.ack()
        while True:
            delivery = await self._next()
            try:
                await self._check(delivery)
                record = self._record_in(delivery.stored)
            except BaseException:  # nobody had it
                self._buffer.appendleft(delivery)
                raise
            self._current = delivery
            if record is not None:
                self.place = delivery.stored.sequence
                return Followed(self.place, self._follower.log, delivery.tried, record)
            await self.ack()

    async def ack(self) -> None:
        """Acknowledge the last transition, if it was not yet: before a `break`, for example."""
        delivery, self._current = self._current, None
        if delivery is None:
            return
        place = delivery.stored.sequence
        self._acknowledged = max(self._acknowledged, place)
        self._done[place] = None
        if len(self._done) > REMEMBERED:
            del self._done[next(iter(self._done))]
        with suppress(NoAnswer):
            await self._installation.wire.request(delivery.reply, ACK)

    async def later(self, seconds: float = 0) -> None:
        """Give the last transition back: it is handed out again, to whichever program asks, not before `seconds`."""
        delivery, self._current = self._current, None
        if delivery is not None:
            self._give_back(delivery, seconds)

    async def _open(self) -> Installation:
        if not self._is_open:
            installation = await self._find()
            self._follower = await follower.take_up(installation, self._wanted)
            self._acknowledged = self._follower.place
            await self._note_looked(installation)
            self._inbox = installation.wire.inbox()
            self._sid = await installation.wire.subscribe(self._inbox, self._received)
            self._unhook = installation.wire.on_disconnect(self._lost)
            self._keeping = asyncio.create_task(self._keep())
            self._installation, self._is_open = installation, True
        return self._installation

    async def _end(self, pause: float) -> None:
        if self.over:
            return
        self.over = True
        self._arrived.set()
        if self._keeping is None:
            return
        self._keeping.cancel()
        self._unhook()
        for delivery, seconds in [(self._current, pause), *((one, 0.0) for one in self._buffer)]:
            if delivery is not None:
                self._give_back(delivery, seconds)
        self._current = None
        self._buffer.clear()
        with suppress(NatsUnreachable, RuntimeError):
            await self._installation.wire.unsubscribe(self._sid)

    def _give_back(self, delivery: HandedOut, seconds: float) -> None:
        delay = json.dumps({"delay": round(seconds * SECOND)}).encode() if seconds > 0 else b""
        self._tell(delivery, BACK + b" " * bool(delay) + delay)

    def _tell(self, delivery: HandedOut, what: bytes) -> None:
        """Tell the server of a message in hand. If it cannot be told now, its patience decides."""
        with suppress(NatsUnreachable, RuntimeError):
            self._installation.wire.publish(delivery.reply, what)

    async def _keep(self) -> None:
        """Say again and again that a transition is still in hand, as long as this program lives."""
        while True:
            await asyncio.sleep(self._wanted.patience / 3)
            for delivery in (self._current, *self._buffer):
                if delivery is not None:
                    self._tell(delivery, IN_HAND)

    async def _next(self) -> HandedOut:
        """The next message; raises `StopAsyncIteration` after the end."""
        installation = await self._open()
        while True:
            if self.over:
                raise StopAsyncIteration
            if self._buffer:
                return self._buffer.popleft()
            if self._broken:
                await self._recover(installation)
                continue
            self._arrived.clear()
            self._ask(installation)
            try:
                async with asyncio.timeout(SILENT):
                    await self._arrived.wait()
            except TimeoutError:
                self._lost()

    def _ask(self, installation: Installation) -> None:
        """Request one message, if none is requested."""
        if self._asked:
            return
        wire, name = installation.wire, f"{follower.PREFIX}{self._wanted.name}"
        subject = wire.api_subject(f"CONSUMER.MSG.NEXT.{installation.layout.log}.{name}")
        try:
            wire.send(wire.frame(subject, NEXT, reply=self._inbox))
        except NatsUnreachable:
            self._lost()
        else:
            self._asked = True

    def _lost(self) -> None:
        """What was requested does not come any more, or that cannot be known."""
        self._broken, self._asked = True, False
        self._arrived.set()

    async def _recover(self, installation: Installation) -> None:
        """Wait for the server, and find the follower again.

        Raises `NotFound.follower_gone` if it was deleted, `NotFound.follower_lost`.
        """
        for look in range(LOOKS):
            try:
                await installation.wire.until_connected()
                if (info := await follower.look(installation, self._wanted.name)) is not None:
                    await follower.check_goes_on(installation, FollowerState.of(info))
                    await self._note_looked(installation)
                    self._broken = False
                    return
            except (NoAnswer, ApiFailed) as error:
                if not can_pass(error):
                    raise
                log.info("follower_retry", follower=self._wanted.name, error=str(error))
                await asyncio.sleep(RETRY)
                return
            if look + 1 < LOOKS:
                await asyncio.sleep(RETRY)
        raise NotFound.follower_gone(name=self._wanted.name, place=self._acknowledged)

    def _received(self, subject: str, data: bytes, block: bytes | None, reply: str) -> None:
        """Keep a message; its reply subject tells how often it was delivered, its place, its time, what is pending."""
        if subject == self._inbox:
            self._on_status(block)
            return
        tokens = reply.split(".")
        head = 4 if len(tokens) == 9 else 6
        tried, sequence, _, time_ns, pending = map(int, tokens[head : head + 5])
        self._asked = False
        self._arrived.set()
        held = (self._current, *self._buffer)
        if all(one is None or one.stored.sequence != sequence for one in held):
            self._buffer.append(HandedOut(Stored(subject, data, sequence, time_ns, pending, block), reply, tried))

    def _on_status(self, block: bytes | None) -> None:
        headers = frames.read_headers(block) if block else {}
        status, description = headers.get(frames.STATUS, ""), headers.get(frames.DESCRIPTION, "")
        if status == consumer.IDLE:
            self._arrived.set()
        elif description in consumer.ENDED:
            self._asked = False
            self._arrived.set()
        else:
            self._lost()

    async def _note_looked(self, installation: Installation) -> None:
        self._ahead_ns = await installation.server_time() - time.monotonic_ns()
        self._looked = time.monotonic()

    async def _check(self, delivery: HandedOut) -> None:
        """Raise `NotFound.follower_lost` if something before this message may have been trimmed.

        Only before one that comes late: each trimming is announced by a note, which would have come before it.
        """
        late = (time.monotonic_ns() + self._ahead_ns - delivery.stored.time_ns) / SECOND > LOOK_AGAIN
        if not late or time.monotonic() - self._looked < LOOK_AGAIN:
            return
        info = await follower.look(self._installation, self._wanted.name)
        if info is not None:
            found = FollowerState.of(info)
            await follower.check_held(self._installation, found)
            await self._note_looked(self._installation)

    def _record_in(self, stored: Stored) -> Transition | None:
        """The transition in a message; None if it is not handed out. Raises `NotFound.follower_lost`, `NewerRecord`."""
        installation = self._installation
        if stored.sequence in self._done or stored.subject == installation.subjects.archived():
            return None
        if stored.subject == installation.subjects.identity():
            from phaseline.engine.log.restored import identity  # noqa: PLC0415  # few follow

            note = identity.notes(installation).read(stored)
            if note is not None:
                follower.check_log(self._follower, note)
            return None
        found = take_logged(installation.layout.log, deque([stored]))
        record: Any = found[0].record if found else None
        return record if isinstance(record, Transition) and self._wanted.records.fits(record) else None
