"""What one client may take of the server: bytes, requests and seconds of a connection, and connections of all.

Belongs here: the limits, the phases of a connection, whose connection gives way. Does not: reading and writing within
the limits (`guarded_protocol`), accepting (`server`), counting what was refused (`clients`), streams (`traffic`).
"""

import asyncio
import time
from collections import Counter, OrderedDict, deque
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

from starlette.types import ASGIApp

from phaseline.engine.surfaces.http.access.access import PROBES
from phaseline.engine.surfaces.http.connections.clients import Clients

if TYPE_CHECKING:
    from phaseline.engine.surfaces.http.connections.guarded_protocol import GuardedConnection

LARGEST_HEAD, MOST_HEADERS, LONGEST_URL = 32 << 10, 100, 24 << 10
"""Bytes of a head, and lines in it; bytes of the URL above which it is the URL that is too long."""
FRAMING = 8
"""Bytes of chunk sizes and the like that each byte of a body may have, beside those that a head may have."""
UNWANTED = 16 << 20
"""Bytes of a body above which the connection ends: the answer, that it is too large, was sent long before."""
TAKEN, SLICE = 4 << 10, 256
"""Bytes that are read from a socket at once, and that are parsed at once: no more than a dozen requests."""
TURN = 8 << 10
"""Bytes that are read, of all connections, before each of them gets only a slice until the loop turns.

A thousand bytes can take half a millisecond to parse, and a probe waits for all that are ready.
"""
PIECE = 16 << 10
"""Bytes of an answer that are handed to a socket at once."""
TARDY = 1.0
"""Seconds without taking anything after which a client gives way, while too many bytes of answers are unread."""
BODIES = 8 << 20
"""Bytes of bodies whose requests are not answered; beyond that, some of those that still come give way."""
EXTRA, GIVING_WAY, GRACE = 16, 16, 0.5
"""Connections beyond the room, for requests that are whole, and as many again for probes; how many connections give way
at once when the room is full, and after how long."""
READING = (b"GET ", b"HEAD ")
PROBING = tuple(b"%s%s" % (method, path.encode()) for method in READING for path in PROBES)
"""The beginnings of requests that have no body, and of those of probes."""
OFTEN = 0.02
"""Seconds between two looks at all connections for those that may give way."""
LOOKS = 15
"""How often a request beyond the room looks whether a connection gives way, until each that waits may."""


class Ending(NamedTuple):
    """Why a connection ends. status: of the answer, if there is one."""

    reason: str
    status: int = 0
    detail: str = ""


EVICTED = Ending("evicted", 503, "others need this connection: try again, and send the request at once")
FULL = Ending("full", 503, "this server has too many connections: try again in a moment")
HEAD_LATE = Ending("head_late", 408, "the head of the request did not come to its end in time: send it at once")
BODY_LATE = Ending("body_late", 408, "the body of the request did not come to its end in time: send it at once")
HEAD_LARGE = Ending("head_large", 431, f"a head has at most {LARGEST_HEAD} bytes and {MOST_HEADERS} headers")
URL_LONG = Ending("url_long", 414, f"a URL has at most {LONGEST_URL} bytes")
BODY_LARGE = Ending("body_large")
BODIES_LARGE = Ending("bodies_large", 503, "too many bodies come at once: try again in a moment")
MALFORMED = Ending("malformed", 400, "this is no HTTP request")
NOT_READ = Ending("not_read")
NO_HANDLES = Ending("no_handles")


class Phase(NamedTuple):
    """What a connection does. seconds: how long it may. rank: who gives way first to others; None: nobody."""

    name: str
    seconds: float | None
    rank: int | None
    refusal: Ending | None


# fmt: off
#               name        seconds rank  refusal
CLOSING = Phase("closing",  10.0,   2,    NOT_READ)   # the answer is sent, and not taken
BLOCKED = Phase("blocked",  30.0,   2,    NOT_READ)   # a piece of an answer waits to be taken
BODY    = Phase("body",     30.0,   2,    BODY_LATE)  # a body comes
ANSWER  = Phase("answer",   None,   None, None)       # we work, or a reader follows transitions
HEAD    = Phase("head",     10.0,   0,    HEAD_LATE)  # a head comes
IDLE    = Phase("idle",     75.0,   1,    None)       # nothing was asked yet, or all is answered
# fmt: on


class Turns:
    """Lets one request after the other begin, in turn by peer, with a look at all sockets in between.

    An answer takes milliseconds of computing. Without turns a probe would wait for all requests that came before it.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[bool]]] = OrderedDict()
        self._is_taken = False

    async def take(self, one: "GuardedConnection") -> bool:
        """Wait for a turn. Returns whether it has come; if not, the connection has ended meanwhile."""
        loop = asyncio.get_running_loop()
        if self._is_taken:
            one.turn = loop.create_future()
            self._waiting.setdefault(one.peer, deque()).append(one.turn)
            return await one.turn
        self._is_taken = True
        loop.call_soon(self._next)
        return True

    def _next(self) -> None:
        while self._waiting:
            peer, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[peer] = turns
            if not turn.done():  # its request was given up
                turn.set_result(True)
                asyncio.get_running_loop().call_soon(self._next)
                return
        self._is_taken = False


class Guard:
    """All connections of a server."""

    def __init__(self, app: ASGIApp, clients: Clients) -> None:
        """app: what answers. clients: what is counted, and how many connections there is room for."""
        self.app, self.clients, self.turns = app, clients, Turns()
        self.taken = memoryview(bytearray(TAKEN))
        """Where every connection reads to; its bytes are copied at once."""
        self._left = TURN
        self.unread = 0
        """Bytes of answers that are being sent."""
        self.bodies = 0
        """Bytes of bodies that are held."""
        self._looks_again = 0.0
        self._hoping = 0
        """Requests beyond the room that wait for another connection to give way."""
        self._open: set[GuardedConnection] = set()
        self._peers: Counter[str] = Counter()

    def place(self) -> memoryview:
        """Where the next bytes of a connection go: the more have been read in this turn of the loop, the fewer."""
        if self._left == TURN:
            asyncio.get_running_loop().call_soon(self._turn)
        size = TAKEN if self._left > 0 else SLICE
        self._left -= size
        return self.taken[:size]

    def _turn(self) -> None:
        self._left = TURN

    def admit(self, one: "GuardedConnection") -> None:
        """A connection that begins. If there is no room, it may ask for probes only."""
        one.is_extra = len(self._open) >= self.clients.room
        self._open.add(one)
        self._peers[one.peer] += 1
        self.clients.connections = len(self._open)

    def forget(self, one: "GuardedConnection") -> None:
        """A connection that ends."""
        if one in self._open:
            self._open.remove(one)
            self._peers -= Counter((one.peer,))
            self.clients.connections = len(self._open)

    @property
    def has_place(self) -> bool:
        """Whether those that are open are within the room."""
        return len(self._open) <= self.clients.room

    def has_room(self, opening: int) -> bool:
        """Whether one more can be accepted. opening: connections that are accepted, and not here yet."""
        return len(self._open) + opening < self.clients.room

    def lets_in(self, opening: int, seen: bytes) -> bool:
        """Whether one more, whose head is whole, can be accepted: within the room, or beyond it. May make room.

        Whoever sends a body may have sent a part of it only, so there is no place beyond the room for that.
        """
        missing = len(self._open) + opening - self.clients.room + 1
        if seen.startswith(PROBING):
            return missing <= 2 * EXTRA
        return missing <= (EXTRA if seen.startswith(READING) else 0) or missing <= self.give_way()

    def give_way(self) -> int:
        """End some connections that wait for their clients: those of the peers that have most, the oldest first.

        None that has begun to wait just now. As long as there is half a head, nobody gives way who sent no half. Of
        those that send or take something, only one at a time.
        """
        now = time.monotonic()
        if now < self._looks_again:  # a look costs the more the more connections there are
            return 0
        self._looks_again = now + OFTEN
        for rank, number, grace in ((0, GIVING_WAY, GRACE), (1, GIVING_WAY, GRACE), (2, 1, TARDY)):
            waiting = [one for one in self._open if one.phase().rank == rank]
            found = [one for one in waiting if now - one.since >= grace]
            gone = nsmallest(number, found, key=lambda one: (-self._peers[one.peer], one.since))
            for one in gone:
                one.end(EVICTED)
            if gone or (waiting and rank == 0):
                return len(gone)
        return 0

    async def make_room(self, *, is_whole: bool) -> bool:
        """Wait until a request beyond the room has a place; whether it has.

        One that is whole ends another connection for it, as soon as one may give way. One whose body still comes does
        not, and waits less. Few requests wait at once, because others need the places beyond the room.
        """
        looks, most = (LOOKS, EXTRA // 2) if is_whole else (LOOKS // 3, EXTRA // 4)
        if self._hoping >= most:
            return self.has_place
        self._hoping += 1
        try:
            for _ in range(looks):
                if self.has_place or (is_whole and self.give_way()):
                    return True
                if is_whole and all(one.phase().rank is None for one in self._open):
                    return False
                await asyncio.sleep((GRACE + TARDY) / LOOKS)
        finally:
            self._hoping -= 1
        return self.has_place

    def relieve_handles(self) -> None:
        """No handle is left for a connection: end some that wait."""
        self.clients.refuse(NO_HANDLES.reason, "")
        self.give_way()

    def sweep(self) -> None:
        """End the connections whose time is over."""
        now, others = time.monotonic(), self.clients.limits.phases
        for one in tuple(self._open):
            phase = one.note()
            seconds = others.get(phase.name, phase.seconds)
            if seconds is not None and now - one.since > seconds:
                one.end(phase.refusal)
        self.relieve()

    def relieve(self) -> None:
        """End the connections of those who take their answers too slowly, if too much waits for them."""
        most = self.clients.limits.unread
        if self.unread <= most:
            return
        before = time.monotonic() - (TARDY if self.unread < 2 * most else 0.0)
        blocked = [one for one in self._open if one.unread and one.phase() is BLOCKED and one.since <= before]
        for one in sorted(blocked, key=lambda one: one.since):
            if self.unread > most:
                one.end(NOT_READ)

    def relieve_bodies(self) -> None:
        """End some connections whose bodies still come, if too much is held: those of the peers that send most."""
        if self.bodies <= BODIES:
            return
        coming = [one for one in self._open if one.body and one.phase() is BODY]
        by_peer = Counter[str]()
        for one in coming:
            by_peer[one.peer] += one.body
        for one in sorted(coming, key=lambda one: (-by_peer[one.peer], one.since)):
            if self.bodies > BODIES:
                one.end(BODIES_LARGE)


def network(host: str) -> str:
    """Whose connection it is: the address; of IPv6 the network, of which anybody has all addresses."""
    return ":".join(host.split(":")[:4]) if ":" in host else host
