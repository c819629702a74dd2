"""What stands for the connection to NATS in a simulation: the same methods, over a virtual network.

Belongs here: `VirtualConnection`, which takes the place of `nats.connection.Connection`, and the `Network`,
which delays, loses and doubles what goes through it. Does not: the server at the other end (`server`).
Frames of one connection arrive in their order, as with TCP. One that is lost, or comes twice, stands for what happens
behind the first server, between those of a cluster. A record under the fence of another subject is never doubled: no
server repeats a publish of its own accord, and such a record has nothing else that would tell the two apart.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from phaseline.engine.nats.connection import Taker
from phaseline.engine.settings import Settings
from phaseline.schemas.errors import NatsUnreachable
from tests.support.simulation.world import Process, ProcessLoop, World

if TYPE_CHECKING:
    from tests.support.simulation.server import VirtualServer

AGAIN = 0.25
"""Seconds before the next try to connect."""
BUSY = 0.03
"""How often a server that copies to another of its streams does something else first."""
ONLY_ONCE = b"Sequence-Subject:"


class Frame(NamedTuple):
    """A message that a client publishes."""

    subject: str
    reply: str
    data: bytes
    block: bytes | None


def frames_in(buffer: bytes) -> list[Frame]:
    """The messages in what a client sends. It always sends whole ones."""
    found, at, length = list[Frame](), 0, len(buffer)
    while at < length:
        end = buffer.index(b"\r\n", at)
        words = str(buffer[at:end], "utf-8", "surrogateescape").split(" ")
        size, begin = int(words[-1]), end + 2
        if words[0] == "HPUB":
            head = begin + int(words[-2])
            reply = words[2] if len(words) == 5 else ""
            found.append(Frame(words[1], reply, buffer[head : begin + size], buffer[begin:head]))
        else:
            reply = words[2] if len(words) == 4 else ""
            found.append(Frame(words[1], reply, buffer[begin : begin + size], None))
        at = begin + size + 2
    return found


class Network:
    """How long things take, and what gets lost. All of it is calm once `calm` is called."""

    def __init__(self, world: World) -> None:
        self._dice = world.dice
        self.lost = self.doubled = self.slow = 0.0
        """The share of frames that are lost, doubled, or late by up to `late` seconds."""
        self.late = 0.5
        self.unanswered, self.busy = 0.0, BUSY
        """The share of requests that are done, and whose answers are lost; of copies between streams that come late."""
        self.lag = 0.0
        """How many seconds replicas are behind the leader, at most, where the server is a cluster."""
        self.elected = 0
        """When a leader was elected of which the former one does not know yet, ns; 0 if there is none."""
        self.former = 0.5
        """The share of requests that the former one answers first."""

    def calm(self) -> None:
        """Lose, double and delay nothing any more."""
        self.lost = self.doubled = self.slow = self.unanswered = self.lag = 0.0
        self.busy = BUSY

    def delay(self) -> float:
        """Seconds that a frame takes."""
        if self.slow and self._dice.random() < self.slow:
            return self._dice.uniform(0.0, self.late)
        return 0.0002 + 0.0028 * self._dice.random()

    def behind(self) -> float:
        """How many seconds a replica is behind that is asked now: any of three, of which one is the leader."""
        return self._dice.uniform(0.0, self.lag) if self.lag and self._dice.random() < 2 / 3 else 0.0

    @property
    def is_rough(self) -> bool:
        """Whether each frame arrives once only if it is lucky."""
        return bool(self.lost or self.doubled)

    def copies(self, frame: Frame) -> int:
        """How often a frame arrives, while it is rough."""
        chance = self._dice.random()
        if chance < self.lost:
            return 0
        is_doubled = chance > 1 - self.doubled and frame.reply and not (frame.block and ONLY_ONCE in frame.block)
        return 2 if is_doubled else 1


class Session:
    """One connection as both ends know it, until it is cut."""

    def __init__(self, client: "VirtualConnection", server: "VirtualServer") -> None:
        self.client, self.server, self.world = client, server, server.world
        self.is_open = True
        self.blocked_until = self._up_at = self._down_at = 0.0
        self.subscriptions: dict[int, tuple[str, str]] = {}

    def up(self, call: Callable[..., None], *args: Any) -> None:
        """Let something reach the server after what was sent before."""
        at = self.world.now + self.server.network.delay()
        at = max(at, self._up_at)
        self._up_at = at = max(at, self.blocked_until)
        self.world.at(at, self._if_open, call, args)

    def down(self, call: Callable[..., None], *args: Any) -> None:
        """Let something reach the client after what was sent before."""
        at = self.world.now + self.server.network.delay()
        at = max(at, self._down_at)
        self._down_at = at = max(at, self.blocked_until)
        self.world.at(at, self._arrives, call, args)

    def _if_open(self, call: Callable[..., None], args: tuple[Any, ...]) -> None:
        if self.is_open:
            call(*args)

    def _arrives(self, call: Callable[..., None], args: tuple[Any, ...]) -> None:
        if self.is_open:
            self.client.process.arrive(call, args)

    def cut(self, notice: float) -> None:
        """Lose what is under way. The client notices so many seconds later."""
        if self.is_open:
            self.is_open = False
            self.server.left(self)
            self.world.later(notice, self.client.process.call, self.client.lost, self)


class VirtualConnection:
    """A connection that reconnects."""

    max_payload = 1 << 20
    version = "2.15.1"
    has_jetstream = True
    pending_data_size = 0
    cause = "the connection was cut"

    def __init__(
        self, settings: Settings, down: Callable[[str], None], up: Callable[[], None], _: Callable[[str], None]
    ) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ProcessLoop)
        self.process: Process = loop.process
        self._settings, self._down, self._up = settings, down, up
        self.server: VirtualServer = loop.process.world.servers[settings.nats[0]]
        self._callbacks: dict[int, tuple[str, str, Taker]] = {}
        self._sid = 0
        self._session: Session | None = None
        self._is_closed = False
        self._reconnecting: asyncio.Task[None] | None = None

    @property
    def clustered(self) -> bool:
        """Whether the server is a member of a cluster."""
        return self.server.is_clustered

    async def open(self, _: str, *, patient: bool) -> None:
        """Connect."""
        self.process.connections.append(self)
        try:
            async with asyncio.timeout(None if patient else self._settings.connect_timeout):
                await self._connect()
        except TimeoutError:
            raise self.unreachable() from None

    async def _connect(self) -> None:
        while True:
            await asyncio.sleep(self.server.network.delay())
            if self.server.is_up:
                break
            await asyncio.sleep(AGAIN)
        self._session = Session(self, self.server)
        self.server.joined(self._session)
        for sid, (subject, queue, _) in self._callbacks.items():
            self._session.up(self.server.subscribe, self._session, sid, subject, queue)

    async def flush_and_close(self, _: float = 2.0) -> None:
        """Send what is pending and close."""
        self._is_closed = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
        session, self._session = self._session, None
        if session is not None and session.is_open:
            session.up(session.cut, 0.0)
        if self in self.process.connections:
            self.process.connections.remove(self)

    def unreachable(self) -> NatsUnreachable:
        """The error that says why the connection is down."""
        return NatsUnreachable(url=self._settings.shown, cause=self.cause)

    def ended_by_kill(self) -> None:
        """The process is killed. What it had sent may arrive, or be lost."""
        session = self._session
        if session is not None and session.is_open:
            if self.process.world.dice.random() < 0.5:
                session.up(session.cut, 0.0)
            else:
                session.cut(0.0)

    @property
    def session(self) -> Session | None:
        """The connection as it is now, if there is one."""
        return self._session

    def lost(self, session: Session) -> None:
        """Notice that the connection is cut."""
        if self._session is session and not self._is_closed:
            self._session = None
            self._down(self.cause)
            self._reconnecting = asyncio.get_running_loop().create_task(self._come_back())

    async def _come_back(self) -> None:
        await asyncio.sleep(AGAIN)
        await self._connect()
        self._up()

    def send(self, buffer: bytes) -> None:
        """Send frames; raises `NatsUnreachable` while the connection is known to be down."""
        if self._session is None:
            raise self.unreachable()
        session = self._session
        session.up(self.server.received, buffer)

    async def ping(self, timeout: float) -> None:
        """Wait until the server has read all that was sent before."""
        session = self._session
        if session is None:
            raise self.unreachable()
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        session.up(session.down, _set, answered)
        async with asyncio.timeout(timeout):
            await answered

    async def subscribe_with(self, subject: str, take: Taker, queue: str = "") -> int:
        """Call `take` for each message."""
        self._sid += 1
        self._callbacks[self._sid] = subject, queue, take
        if self._session is not None:
            self._session.up(self.server.subscribe, self._session, self._sid, subject, queue)
        return self._sid

    async def unsubscribe_from(self, sid: int) -> None:
        """End a subscription."""
        if self._callbacks.pop(sid, None) is not None and self._session is not None:
            self._session.up(self.server.unsubscribe, self._session, sid)

    def deliver(self, session: Session, sid: int, subject: str, data: bytes, block: bytes | None, reply: str) -> None:
        """Hand a message to whoever subscribed, if the connection is still the same."""
        found = self._callbacks.get(sid)
        if found is not None and self._session is session:
            found[2]([(subject, data, block, reply)])


def _set(answered: "asyncio.Future[None]") -> None:
    if not answered.done():
        answered.set_result(None)
