"""The Python client: everything a publisher or a watcher does, over one connection.

Belongs here: connecting. Does not: what one can do with it (`sending`, `asking`).
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

from phaseline.engine import outgoing
from phaseline.engine.asking import Asking
from phaseline.engine.sending import Sending
from phaseline.engine.settings import Settings, from_words
from phaseline.engine.wire import Wire
from phaseline.machines.built_in import installed
from phaseline.machines.kinds import Kinds


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

    source: who its events come from. kinds: the tables to check against; those installed here by default.
    Raises `BadSetting`, `NatsUnreachable`.
    """
    chosen = from_words(nats=url, prefix=prefix, **settings)
    async with Client.open(chosen, source=source, kinds=kinds) as client:
        yield client


class Client(Sending, Asking):
    """One connection to one installation. Ids are written `c1/pool-a/n7`; all methods raise `phaseline.errors`."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings, *, source: str | None = None, kinds: Kinds | None = None
    ) -> AsyncIterator[Self]:
        """A client with a connection of its own."""
        async with Wire.open(settings, name="phaseline-client") as wire:
            client = cls(wire, settings, kinds or installed(), source or outgoing.default_source("python"))
            try:
                yield client
            finally:
                for watch in client._watches:
                    await watch.close()
