"""The Python client: everything that a publisher or a reader does, over one connection.

Belongs here: connecting. Does not: what a client does (`sending`, `asking`).
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

from phaseline.engine.client.publish import Sending
from phaseline.engine.client.read import Asking
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.publish import compose
from phaseline.engine.settings import Settings, from_options
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds


@asynccontextmanager
async def connect(
    url: str | Sequence[str] = "nats://127.0.0.1:4222",
    *,
    prefix: str = "pl",
    source: str | None = None,
    kinds: Kinds | None = None,
    **settings: Any,
) -> AsyncIterator["Client"]:
    """A client of the installation `prefix` on these servers; `settings` are those of `phaseline.engine.settings`.

    source: where its events come from. kinds: the tables to check against; by default those installed here.
    Raises `BadSetting`, `NatsUnreachable`.
    """
    chosen = from_options(nats=url, prefix=prefix, **settings)
    async with Client.open(chosen, source=source, kinds=kinds) as client:
        yield client


class Client(Sending, Asking):
    """One connection to one installation. Ids are written `c1/pool-a/n7`; all methods raise `phaseline.errors`.

    Answers and iterators: `await` gives an answer that is read whole; several results come as a list (`tree`, `changes`).
    What may be of any length is an asynchronous iterator, without `await`: `list`, `watch`, `history`, `rejections`.

    When: `at` is one moment, `start` and `end` are a range. Each takes a place in the log, a `datetime`, text ("15m",
    "03:12", "2026-03-02T08:00Z", "start", "now"), or a `Moment`, and is resolved once per call. `await client.at("15m")`
    gives a view of the entities at that moment; `view.moment` is what all its reads show.
    """

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings, *, source: str | None = None, kinds: Kinds | None = None
    ) -> AsyncIterator[Self]:
        """Open a connection, and a client on it."""
        async with Wire.open(settings, name="phaseline-client") as wire:
            client = cls(wire, settings, kinds or installed(), source or compose.default_source("python"))
            try:
                yield client
            finally:
                for watch in client._watches:
                    await watch.close()
