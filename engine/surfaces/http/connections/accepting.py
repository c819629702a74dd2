"""Accepting connections, through a lobby in which it is seen what each wants before it costs more than a socket.

Belongs here: what becomes of a connection before anything of it is read. Does not: the limits, and whose connection
gives way (`guard`).
Whoever opens connections faster than others give way would fill the kernel's queue, and a probe would wait behind them.
So all are accepted. In the lobby they are looked at without taking anything from the socket: whoever has sent a whole
head is let in, if need be in place of another connection, and a probe at once. Others are let in a moment later, if
there is room. If the lobby is full, one leaves it: of the address that has most, the oldest.
"""

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from phaseline.engine.surfaces.http.connections import guard as limits
from phaseline.engine.surfaces.http.connections.guard import Guard
from phaseline.engine.surfaces.http.connections.guarded_protocol import HEAD_ENDS, GuardedConnection, refusal

ACCEPTED = 32
"""Connections that are accepted before those that are open get their turn."""
LATER = 0.05
"""Seconds until it is tried again to accept connections, if no handle was left; and between two looks at the lobby."""
LOBBY = 64
"""Connections in the lobby."""
CLOSE_WAIT = 8
"""The state of a connection, for Linux, whose client has closed its side."""


class _Guest:
    """A connection in the lobby. peer: whose it is. has_sent: whether something has come, and no whole head."""

    def __init__(self, connection: socket.socket, host: str) -> None:
        self.connection, self.peer, self.since = connection, limits.network(host), time.monotonic()
        self.has_sent = False

    def seen(self) -> bytes | None:
        """What has come, and stays in the socket; None if the client has gone."""
        try:
            return self.connection.recv(limits.LARGEST_HEAD, socket.MSG_PEEK) or None
        except (BlockingIOError, InterruptedError):
            return b""
        except OSError:
            return None

    @property
    def sends_no_more(self) -> bool:
        """Whether the client has closed its side, as far as the system says so: what it has sent hides the end."""
        if not hasattr(socket, "TCP_INFO"):
            return False
        with suppress(OSError):
            return self.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == CLOSE_WAIT
        return True


class Accepting:
    """Accepts the connections of one listening socket. asyncio would accept until no handle is left."""

    def __init__(self, listening: socket.socket, guard: Guard, protocol: Callable[[], GuardedConnection]) -> None:
        """Begin. protocol: makes one for each connection."""
        self._listening, self._guard, self._protocol = listening, guard, protocol
        self._loop = asyncio.get_running_loop()
        self._opening = set[asyncio.Task[None]]()
        self._later: asyncio.TimerHandle | None = None
        self._look: asyncio.TimerHandle | None = None
        self._lobby: dict[int, _Guest] = {}
        """By the number of the handle, the oldest first."""
        listening.setblocking(False)
        self._begin()

    def _begin(self) -> None:
        self._later = None
        self._loop.add_reader(self._listening.fileno(), self._accept)

    def _accept(self) -> None:
        for _ in range(ACCEPTED):
            try:
                connection, address = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:  # no handle is left, or no memory
                self._guard.relieve_handles()
                self._loop.remove_reader(self._listening.fileno())
                self._later = self._loop.call_later(LATER, self._begin)
                return
            connection.setblocking(False)
            self._take(_Guest(connection, str(address[0])))

    def _take(self, guest: _Guest) -> None:
        number = guest.connection.fileno()
        self._lobby[number] = guest
        if self._hear(number) and len(self._lobby) > LOBBY:
            self._relieve()
        if self._look is None and self._lobby:
            self._look = self._loop.call_later(LATER, self._let_in)

    def _hear(self, number: int) -> bool:
        """Let a guest in if it has asked, and this can be answered. Returns whether it stays."""
        guest = self._lobby[number]
        seen = guest.seen()
        if seen is None:
            self._leave(number).connection.close()
        elif HEAD_ENDS in seen and self._guard.lets_in(len(self._opening), seen):
            self._open(self._leave(number))
        elif seen and guest.sends_no_more and HEAD_ENDS not in seen:
            self._leave(number).connection.close()
        elif not seen:
            self._loop.add_reader(number, self._hear, number)
            return True
        else:  # a part of a request would wake us again and again, so it is looked at later
            guest.has_sent = True
            self._loop.remove_reader(number)
            return True
        return False

    def _relieve(self) -> None:
        """Let one guest in or refuse it, because there are too many: of those who have most, one that did not ask."""
        if self._guard.has_room(len(self._opening)):
            self._open(self._leave(next(iter(self._lobby))))
            return
        most = Counter(one.peer for one in self._lobby.values())
        gone = max(self._lobby, key=lambda one: (most[self._lobby[one].peer], self._lobby[one].has_sent))
        if self._hear(gone):
            self._refuse(gone)

    def _let_in(self) -> None:
        """Look at all guests, and let those in who have waited, as long as there is room: the oldest first."""
        self._look = None
        before = time.monotonic() - LATER
        for number in tuple(self._lobby):
            if self._hear(number) and self._lobby[number].since <= before and self._guard.has_room(len(self._opening)):
                self._open(self._leave(number))
        if self._lobby:
            self._look = self._loop.call_later(LATER, self._let_in)

    def _leave(self, number: int) -> _Guest:
        self._loop.remove_reader(number)
        return self._lobby.pop(number)

    def _refuse(self, number: int) -> None:
        guest = self._leave(number)
        self._guard.clients.refuse(limits.FULL.reason, guest.peer)
        with suppress(OSError):
            if guest.connection.recv(limits.LARGEST_HEAD):  # what is left unread would take the answer away
                guest.connection.send(refusal(limits.FULL))
        guest.connection.close()

    def _open(self, guest: _Guest) -> None:
        task = self._loop.create_task(self._opened(guest.connection))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _opened(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._protocol, connection)
        except OSError:  # the client has gone
            connection.close()

    def close(self) -> None:
        """Accept no more."""
        self._loop.remove_reader(self._listening.fileno())
        for timer in (self._later, self._look):
            if timer is not None:
                timer.cancel()
        for number in tuple(self._lobby):
            self._leave(number).connection.close()

    async def wait_closed(self) -> None:
        """Return at once."""
