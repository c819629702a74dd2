"""Connecting to an installation, for a block or until the client is closed.

Belongs here: `connect`. Does not: what a client does (`client`).
"""

from collections.abc import Awaitable, Callable, Generator, Sequence
from functools import cache, partial
from typing import Any, Unpack

from phaseline.engine import logs
from phaseline.engine.nats.embedded.server_key import with_key
from phaseline.engine.settings import DEFAULT_URL, ConnectionSettings, from_options
from phaseline.engine.surfaces.client import nats_context
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.session import Session
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds

log = logs.get_logger(__name__)


class Connecting:
    """A connection under way: `async with connect(...) as client`, or `client = await connect(...)`."""

    def __init__(self, start: Callable[[], Awaitable[Session]]) -> None:
        """Connect by `start` once this is awaited or entered."""
        self._start = start
        self._client: Client | None = None

    def __await__(self) -> Generator[Any, None, Client]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Client:
        self._client = Client(await self._start())
        return self._client

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.close()


def connect(
    url: str | Sequence[str] = DEFAULT_URL,
    *,
    source: str | None = None,
    kinds: Kinds | None = None,
    context: str | None = None,
    **settings: Unpack[ConnectionSettings],
) -> Connecting:
    """Connect to an installation: `async with phaseline.connect(...) as client`, or `await` it and `close` the client.

    url: one server or several of one cluster. source: where the client's events come from. kinds: the tables to check
    against; by default those installed here. context: the name of a context of the `nats` command that describes the
    connection, or `@selected`; what else is given goes before it. Raises `BadSetting`, `NatsUnreachable`,
    `SetupError.user_refused`, `SetupError.tls_failed`.
    """
    given: dict[str, Any] = {"nats": url, **settings}
    if context is not None:
        given["nats"] = "" if url == DEFAULT_URL else url if isinstance(url, str) else ",".join(url)
        given = nats_context.applied(context, given)
    if kinds is None:
        _warn_of_broken_kinds()
    return Connecting(partial(Session.start, with_key(from_options(**given)), source, kinds))


@cache
def _warn_of_broken_kinds() -> None:
    """Log once per process which kinds of other packages are left out."""
    for one in installed().broken:
        log.warning(
            "kind_left_out", package=one.package, entry_point=one.entry_point, target=one.target, problem=one.problem
        )
