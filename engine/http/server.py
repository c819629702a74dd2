"""Listening for requests: uvicorn within our event loop.

Belongs here: starting and stopping. Does not: sockets (`telemetry.listening`), accepting connections (`connections`),
their limits (`guard`), requests (`app`), the fleet (`service`).
"""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, NamedTuple

import uvicorn

from phaseline.engine.http.access.access import Access, AccessSettings
from phaseline.engine.http.app import HttpApp
from phaseline.engine.http.cells.cells_app import CellsApp
from phaseline.engine.http.cells.cells_service import CellsService, running_cells
from phaseline.engine.http.connections.accepting import Accepting
from phaseline.engine.http.connections.clients import ROOM, Clients
from phaseline.engine.http.connections.guard import IDLE, Guard
from phaseline.engine.http.connections.guarded_protocol import GuardedConnection
from phaseline.engine.http.service import Service, running
from phaseline.engine.settings import DEFAULT_HISTORY, Settings
from phaseline.engine.telemetry.listening import HTTP_LISTEN, HTTP_PORT, address_of, bound, url_of
from phaseline.machines.compiler.kinds import Kinds

STOP = 2
"""Seconds that requests may take to end when the server stops."""
OWN, LEAST = 128, 8
"""Handles kept for the process, for probes and for the lobby; connections that there is room for in any case."""


class Serving(NamedTuple):
    """A server that listens. url: where."""

    url: str
    service: Service


class ServingCells(NamedTuple):
    """A server of several cells that listens. url: where."""

    url: str
    service: CellsService


class _Server(uvicorn.Server):
    """Leaves signals to whoever runs the event loop, and connections to a guard."""

    def __init__(self, config: uvicorn.Config, guard: Guard) -> None:
        super().__init__(config)
        self._guard = guard

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections."""
        protocol = partial(GuardedConnection, self._guard, self.config, self.server_state, {})
        self.servers: Any = [Accepting(one, self._guard, protocol) for one in sockets or ()]
        self.started = True

    async def on_tick(self, counter: int) -> bool:
        """Each second, look at all connections."""
        if counter % 10 == 0:
            self._guard.sweep()
        return await super().on_tick(counter)


@asynccontextmanager
async def serving(
    settings: Settings, kinds: Kinds, listen: str = HTTP_LISTEN, history: int = DEFAULT_HISTORY,
    access: AccessSettings | None = None,
) -> AsyncIterator[Serving]:  # fmt: skip
    """Listen while the block runs, and follow the installation. Port 0 is any free port.

    history: how many transitions are kept in memory. access: who is let in.
    """
    with _opened(listen, access) as (url, door, listening):
        async with (
            running(settings, kinds, history) as service,
            _listening(HttpApp(service, door), listening, service.traffic.clients),
        ):
            try:
                yield Serving(url, service)
            finally:
                service.close()


@asynccontextmanager
async def serving_cells(
    cells: Mapping[str, Settings], kinds: Kinds, listen: str = HTTP_LISTEN, history: int = DEFAULT_HISTORY,
    access: AccessSettings | None = None,
) -> AsyncIterator[ServingCells]:  # fmt: skip
    """As `serving`, for several cells, by name."""
    with _opened(listen, access) as (url, door, listening):
        async with (
            running_cells(cells, kinds, history) as service,
            _listening(CellsApp(service, door), listening, service.traffic.clients),
        ):
            try:
                yield ServingCells(url, service)
            finally:
                service.close()


@contextmanager
def _opened(listen: str, access: AccessSettings | None) -> Iterator[tuple[str, Access, socket.socket]]:
    """Where the server listens, who is let in, and the socket."""
    host, port = address_of(listen, "listen", HTTP_PORT)
    door = Access(access)
    door.check_listen(host)
    with bound(host, port, "listen") as listening:
        yield url_of(host, listening), door, listening


@asynccontextmanager
async def _listening(app: HttpApp | CellsApp, listening: socket.socket, clients: Clients) -> AsyncIterator[None]:
    clients.room = _room()
    config = uvicorn.Config(
        app, http=GuardedConnection, ws="none", lifespan="off", log_config=None, access_log=False, server_header=False,
        timeout_graceful_shutdown=STOP, timeout_keep_alive=int(IDLE.seconds or 0), proxy_headers=False,
    )  # fmt: skip
    server = _Server(config, Guard(app, clients))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await task


def _room() -> int:
    """How many connections of clients there is room for, so that handles are left for NATS, files and probes."""
    handles, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ROOM if handles == resource.RLIM_INFINITY else max(min(ROOM, handles - OWN), LEAST)
