"""The fixture `installation`: an installation of a test's own, with workers and clients.

Belongs here: `OwnInstallation`, what the doctor finds, and the names of the client that tests speak of. Does not: the
fixture itself (`tests/conftest.py`), what tests of one subject share (the modules beside this one).

A test with a server, in `tests/nats`, or in `tests/process` if it starts processes:

    async def test_a_cluster_is_adopted(installation: OwnInstallation) -> None:
        async with installation.worker(), installation.client() as client:
            await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
            assert (await client.get("cluster", "c1")).facets[0].base.phase == "Running"

docs/developing/tests.md, A test with a server, says the rest.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.streams import Layout, inspect, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.audit import AuditReport
from phaseline.engine.settings import PACING, Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.session import Session
from phaseline.engine.surfaces.doctor.check_result import CheckResult
from phaseline.engine.surfaces.doctor.examine import examine
from phaseline.machines.compiler.kinds import Kinds
from tests.support.installation import at_work, until_decided
from tests.support.log_check import audited, stored
from tests.support.random_events import Sent, publish

__all__ = ["CheckResult", "Client", "OwnInstallation", "Session", "examined"]


@dataclass(frozen=True)
class OwnInstallation:
    """An installation of a test's own: its settings, a connection to its server, its kinds.

    Nothing is made on the server before `layout`, or the first worker.
    """

    settings: Settings
    wire: Wire
    kinds: Kinds

    def having(self, **settings: Any) -> Self:
        """The same with other settings: `installation.having(partitions=2)`."""
        return replace(self, settings=replace(self.settings, **settings))

    async def layout(self) -> Layout:
        """The names of its streams, which are made if there are none."""
        return await provision(self.wire, self.settings)

    async def parts(self) -> Installation:
        """What functions of the engine take: the connection, the streams, the kinds."""
        return Installation(self.wire, await self.layout(), self.kinds)

    @asynccontextmanager
    async def worker(self, kinds: Kinds | None = None, **pacing: Any) -> AsyncIterator[Layout]:
        """A worker while the block runs. kinds: other tables than the installation's. pacing: fields of `Pacing`."""
        async with at_work(self.settings, self.wire, kinds or self.kinds, PACING._replace(**pacing)) as layout:
            yield layout

    @asynccontextmanager
    async def client(self, source: str = "/test", kinds: Kinds | None = None) -> AsyncIterator[Client]:
        """A client over a connection of its own. kinds: other tables than those of the installation."""
        async with Client.open(self.settings, source=source, kinds=kinds or self.kinds) as client:
            yield client

    async def publish(self, events: Iterable[Sent]) -> None:
        """Publish events until each is acknowledged; those of `RandomEvents`, for example."""
        await publish(self.wire, [*events])

    async def until_decided(self) -> None:
        """Wait until all stored events have been decided, as long as the log grows."""
        await until_decided(self.wire, await self._streams())

    async def log(self, *filters: str) -> list[Stored]:
        """The messages of LOG under these subjects; without any, all of them."""
        return await stored(self.wire, (await self._streams()).log, filters)

    async def audited(self) -> AuditReport:
        """What an audit finds, in LOG and in STATE."""
        return await audited(self.wire, await self._streams())

    async def _streams(self) -> Layout:
        return await inspect(self.wire, self.settings)


async def examined(settings: Settings, kinds: Kinds) -> list[CheckResult]:
    """What `doctor` finds, in the order of its checks."""
    return [finding async for finding in examine(settings, kinds)]
