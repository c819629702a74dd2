"""Listening for requests: uvicorn within our event loop.

Belongs here: starting and stopping. Does not: sockets (`telemetry.listening`), accepting connections (`connections`),
their limits (`guard`), requests (`app`), the fleet (`service`).
"""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import uvicorn
from starlette.types import ASGIApp

from phaseline.engine.settings import DEFAULT_HISTORY, Settings
from phaseline.engine.surfaces.http.access.access import Access, AccessSettings
from phaseline.engine.surfaces.http.app import HttpApp
from phaseline.engine.surfaces.http.cells.cells_routes import CellsApp
from phaseline.engine.surfaces.http.cells.cells_service import CellsService, running_cells
from phaseline.engine.surfaces.http.connections.accepting import Accepting
from phaseline.engine.surfaces.http.connections.clients import LIMITS, ROOM, Clients, HttpLimits
from phaseline.engine.surfaces.http.connections.guard import IDLE, Guard
from phaseline.engine.surfaces.http.connections.guarded_protocol import GuardedConnection
from phaseline.engine.surfaces.http.links import Link
from phaseline.engine.surfaces.http.service import Service, running
from phaseline.engine.surfaces.telemetry.listening import HTTP_LISTEN, HTTP_PORT, address_of, bound, url_of
from phaseline.machines.compiler.kinds import Kinds

STOP = 2
"""Seconds that requests may take to end when the server stops."""
OWN, LEAST = 128, 8
"""Handles kept for the process, for probes and for the lobby; connections that there is room for in any case."""
S = TypeVar("S", Service, CellsService)


class Serving(NamedTuple, Generic[S]):
    """A server that listens. url: where. service: `Service`, or `CellsService`."""

    url: str
    service: S


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
    access: AccessSettings | None = None, links: Sequence[Link] = (), limits: HttpLimits = LIMITS,
    setting: str = "listen",
) -> AsyncIterator[Serving[Service]]:  # fmt: skip
    """Listen while the block runs, and follow the installation. Port 0 is any free port.

    history: how many transitions are kept in memory. access: who is let in. links: where the page leads to.
    setting: the one that says where to listen.
    """
    async with _served(running(settings, kinds, history, limits), HttpApp, listen, access, links, setting) as found:
        yield found


@asynccontextmanager
async def serving_cells(
    cells: Mapping[str, Settings], kinds: Kinds, listen: str = HTTP_LISTEN, history: int = DEFAULT_HISTORY,
    access: AccessSettings | None = None, links: Sequence[Link] = (),
) -> AsyncIterator[Serving[CellsService]]:  # fmt: skip
    """As `serving`, for several cells, by name."""
    async with _served(running_cells(cells, kinds, history), CellsApp, listen, access, links) as found:
        yield found


@asynccontextmanager
async def _served(
    starting: AbstractAsyncContextManager[S], app: Callable[[S, Access], ASGIApp], listen: str,
    access: AccessSettings | None, links: Sequence[Link], setting: str = "listen",
) -> AsyncIterator[Serving[S]]:  # fmt: skip
    host, port = address_of(listen, setting, HTTP_PORT)
    door = Access(access)
    door.check_listen(host)
    with bound(host, port, setting) as listening:
        async with starting as service, _listening(app(service, door), listening, service.traffic.clients):
            service.links = links
            try:
                yield Serving(url_of(host, listening), service)
            finally:
                service.close()


@asynccontextmanager
async def _listening(app: ASGIApp, listening: socket.socket, clients: Clients) -> AsyncIterator[None]:
    clients.room = clients.limits.room or _room()
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
