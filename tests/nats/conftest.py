"""Fixtures of the tests that need a NATS server with users, or a server of HTTP."""

import itertools
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.archives import open_archive
from tests.support.guarded_server import guarded_installation
from tests.support.http_server import Api, http_server
from tests.support.installation import EmbeddedServer, Settings, Wire, installation_with_history
from tests.support.own_installation import Client
from tests.support.owners import Claim, atomic_batches, repair_timers
from tests.support.reading import as_of

_serial = itertools.count(1)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit holds at most 99 messages: few entities make a cascade that is larger than a batch.

    `test_full_commits` and `test_crashes` have batches of the real size.
    """
    monkeypatch.setattr(Claim, "limit", 99)
    for module in (as_of, atomic_batches, open_archive, repair_timers):
        monkeypatch.setattr(module, "BATCH_LIMIT", 99)


@pytest_asyncio.fixture
async def guarded() -> AsyncIterator[str]:
    """The URL of a server with users, where a worker works."""
    async with guarded_installation() as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(server: EmbeddedServer) -> AsyncIterator[Api]:
    """A server of an installation with a history, and with a worker. The tests of a module share it."""
    settings = Settings(nats=(server.url,), prefix=f"http{next(_serial)}")
    async with (
        Wire.open(settings, name="test") as wire,
        installation_with_history(settings, wire, events=120, clusters=3),
        http_server(settings) as served,
    ):
        yield served


@pytest_asyncio.fixture
async def fresh(client: Client, working: Settings) -> AsyncIterator[Api]:
    """A server of an installation without entities."""
    async with http_server(working) as served:
        yield served
