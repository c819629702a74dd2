"""What tests share: one real nats-server per run, a fresh prefix and a connection per test.

Belongs here: fixtures of several test files. Does not: fakes of anything.
"""

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from phaseline.engine.embedded import EmbeddedServer
from phaseline.engine.settings import Settings
from phaseline.engine.wire import Wire

_serial = itertools.count(1)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server() -> AsyncIterator[EmbeddedServer]:
    """The server most tests share: files in a temporary directory. Tests that stop one start their own."""
    async with EmbeddedServer() as running:
        yield running


@pytest.fixture
def settings(server: EmbeddedServer) -> Settings:
    """An installation of the test's own on the shared server."""
    return Settings(nats=(server.url,), prefix=f"t{next(_serial)}")


@pytest_asyncio.fixture
async def wire(settings: Settings) -> AsyncIterator[Wire]:
    """A connection to the shared server."""
    async with Wire.open(settings, name="test") as opened:
        yield opened


@pytest_asyncio.fixture
async def own_server(tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    """A server that this test alone may kill."""
    async with EmbeddedServer(tmp_path / "nats") as running:
        yield running


@pytest.fixture
def own_settings(own_server: EmbeddedServer) -> Settings:
    """Settings for the server that this test alone may kill."""
    return Settings(nats=(own_server.url,), prefix="pl")
