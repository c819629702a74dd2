"""A hub and its edges: real servers that are connected as leaf nodes, with the configuration that the command prints.

Belongs here: starting them, connecting to them, what EVENTS holds, and what tests of edges take from the engine. Does
not: what edges should do (the tests).
"""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import nats

from phaseline.engine.nats.accounts.users import AccountPlan
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.worker.sites import adding, edge_state, edge_streams, event_sources, uplink
from phaseline.engine.worker.sites.adding import AddedEdge, StoreOptions
from phaseline.engine.worker.sites.edge_names import EdgeNames
from phaseline.engine.worker.sites.edge_server import EdgeServer, edge_server, users_at_edge
from phaseline.engine.worker.sites.edge_state import EdgeState
from phaseline.engine.worker.sites.inlet_keeping import InletKeeper
from phaseline.engine.worker.sites.uplink import Uplink
from phaseline.schemas.errors import PhaselineError
from tests.support import free_ports
from tests.support.accounts_server import AccountsServer
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.patience import wait_for
from tests.support.raw_checker import read

__all__ = [
    "EdgeNames", "EdgeState", "InletKeeper", "StoreOptions", "Uplink", "adding", "edge_state", "edge_streams",
    "event_sources", "uplink",
]  # fmt: skip

PREFIX = "pl"


class Hub(AccountsServer):
    """The hub, with an account for each edge; with `accounts=False` a server on which everybody may do everything."""

    def __init__(self, folder: Path, edges: Iterable[str], *, accounts: bool = True) -> None:
        self.edges, self.accounts = tuple(edges), accounts
        plan = AccountPlan(PREFIX, self.edges, edges=self.edges)
        super().__init__(plan, folder / "keys", data=folder / "hub")
        [self.leaf_port] = free_ports.some(1)

    def _config(self) -> str:
        base = super()._config() if self.accounts else EmbeddedServer._config(self)
        return f"{base}leafnodes {{ listen: 127.0.0.1:{self.leaf_port} }}\n"

    def settings(self, user: str, **more: Any) -> Settings:
        """Settings of one of its users."""
        values: dict[str, Any] = {"request_timeout": 30.0, "partitions": 2, **more}
        return super().settings(user, **values) if self.accounts else Settings(nats=(self.url,), **values)


class EdgeSite(EmbeddedServer):
    """The server of an edge, with the configuration that `phaseline admin sites config` prints.

    ports: of leaf nodes at the hub; those of `hub` if left out.
    """

    def __init__(self, hub: Hub, name: str, folder: Path, ports: Sequence[int] = ()) -> None:
        super().__init__(folder / name)
        self.hub, self.names = hub, EdgeNames(PREFIX, name)
        self._ports = ports or (hub.leaf_port,)

    def _config(self) -> str:
        keys, name = self.hub.keys, self.names.name
        server = EdgeServer(
            self.names, tuple(f"nats-leaf://127.0.0.1:{port}" for port in self._ports), f"127.0.0.1:{self.port or -1}",
            str(self.data), seed=keys.seed(f"edge-{name}") if self.hub.accounts else "",
        )  # fmt: skip
        plan = users_at_edge(PREFIX, (name,))
        own = f"ports_file_dir: {json.dumps(str(self.data))}\nlog_file: {json.dumps(str(self.log))}\n"
        return edge_server(server, plan, keys.public) + own

    def settings(self, user: str = "", **more: Any) -> Settings:
        """Settings of a user of the edge's server: the agent of its tree, unless told otherwise."""
        values: dict[str, Any] = {"request_timeout": 30.0, "partitions": 2, **more}
        if not self.hub.accounts:
            return Settings(nats=(self.url,), **values)
        user = user or f"tree-{self.names.name}"
        key = self.hub.keys.file(user)
        return Settings(nats=(self.url,), nkey=key, inbox_prefix=f"_INBOX_{user}", **values)

    async def held(self) -> int:
        """How many events the store has, whether the hub has them or not."""
        async with Wire.open(self.settings("operator")) as wire:
            return int((await wire.api(f"STREAM.INFO.{self.names.store}"))["state"]["messages"])

    async def cut_off(self) -> None:
        """Let the server run without its uplink, until `join`."""
        await self._restart(free_ports.some(1))

    async def join(self) -> None:
        """Let it have its uplink again."""
        await self._restart((self.hub.leaf_port,))

    async def _restart(self, ports: Sequence[int]) -> None:
        await self.stop()
        self._ports = ports
        await self.start()

    async def lose_store(self) -> None:
        """Let the server start with an empty disk."""
        await self.kill()
        shutil.rmtree(self.data / "jetstream")
        await self.start()


class Site:
    """A hub with its installation, and its edges by name."""

    def __init__(
        self, hub: Hub, edges: dict[str, EdgeSite], wire: Wire, layout: Layout, more: dict[str, Any] | None = None
    ) -> None:
        """more: settings of operators."""
        self.hub, self.edges, self.wire, self.layout, self.more = hub, edges, wire, layout, more or {}

    async def add(self, name: str, wanted: StoreOptions | None = None, **more: Any) -> AddedEdge:
        """Add an edge, as an operator does. more: settings."""
        settings = self.hub.settings("operator", **{**self.more, **more})
        async with Wire.open(settings) as wire:
            return await adding.add(wire, settings, name, wanted or StoreOptions())

    async def brought(self) -> dict[str, list[int]]:
        """By tree, the numbers of the nodes whose events EVENTS has, in order. Read without code of the engine."""
        settings, found = self.wire.settings, dict[str, list[int]]()
        client = await nats.connect(
            settings.nats[0], inbox_prefix=settings.inbox_prefix.encode(), error_cb=_ignored,
            nkeys_seed=settings.nkey and str(settings.nkey),
        )  # fmt: skip
        try:
            for raw in await read(client, self.layout.events):
                words = raw.subject.split(".")
                found.setdefault(words[3], []).append(int(words[-1][1:]))
        finally:
            await client.close()
        return found

    async def until_stored(self, count: int) -> None:
        """Wait until EVENTS has so many messages, as long as their number grows."""

        async def there() -> bool:
            return await self.count() >= count

        await wait_for(there, self.count)

    async def until_brought(self, wanted: dict[str, list[int]]) -> None:
        """Wait until EVENTS holds these events, as `brought` gives them, as long as anything changes."""

        async def there() -> bool:
            return await self.brought() == wanted

        await wait_for(there, self.brought)

    async def count(self) -> int:
        """How many messages EVENTS has; waits for a hub that starts."""
        while True:
            try:
                return int((await self.wire.api(f"STREAM.INFO.{self.layout.events}"))["state"]["messages"])
            except PhaselineError:
                await asyncio.sleep(0.1)


@asynccontextmanager
async def site(folder: Path, *names: str, accounts: bool = True, add: bool = True, **more: Any) -> AsyncIterator[Site]:
    """A hub and edges of these names, added unless told otherwise. more: settings of workers and operators."""
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(Hub(folder, names, accounts=accounts))
        settings = hub.settings("engine", **more)
        wire = await stack.enter_async_context(Wire.open(settings))
        layout = await provision(wire, settings, BUILT_IN_KINDS.copies.values())
        edges = {}
        for name in names:
            edges[name] = await stack.enter_async_context(EdgeSite(hub, name, folder))
        made = Site(hub, edges, wire, layout, more)
        if add:
            for name in names:
                assert (await made.add(name)).connected
        yield made


def nodes(tree: str, first: int, last: int) -> Iterable[dict[str, Any]]:
    """Events of that many nodes of a tree, in order."""
    for number in range(first, last):
        about = {"type": "node.adopt", "subject": f"node/{tree}/p/n{number}", "data": {"phase": "Running"}}
        yield {"specversion": "1.0", "id": f"{tree}-{number}", "source": f"/agent/{tree}", **about}


async def publish(edge: EdgeSite, events: Iterable[dict[str, Any]]) -> None:
    """Publish events at an edge, as its agent."""
    async with Client.open(edge.settings(), source="/agent") as client:
        await client.publish_many(events)


async def _ignored(_: Exception) -> None:
    """nats-py prints errors unless somebody takes them."""
