"""A plugin of pytest for a process in which no product and no surface can be imported: `-p tests.support.kernel_alone`.

Belongs here: what cannot be imported, and the fixtures that such tests need instead of `conftest` (`--noconftest`).
Does not: which tests run so (`tests/process/test_kernel_alone.py`).
"""

import itertools
import sys
from collections.abc import AsyncIterator
from importlib.abc import MetaPathFinder
from typing import Any

import pytest
import pytest_asyncio

SURFACES = (
    "accounts_page",
    "cells",
    "cli",
    "client",
    "console",
    "demo",
    "doctor",
    "generate",
    "http",
    "overview",
    "page",
    "sync_stub",
    "telemetry",
)
"""All but `testing`, with which tables are tested."""
ABSENT = (
    "phaseline.machines.built_in", "phaseline.machines.kinds", "phaseline.engine.products",
    *(f"phaseline.engine.surfaces.{one}" for one in SURFACES),
)  # fmt: skip


class Absent(MetaPathFinder):
    """Finds none of these packages."""

    def find_spec(self, name: str, *_: Any) -> None:
        if any(f"{name}.".startswith(f"{one}.") for one in ABSENT):
            raise ModuleNotFoundError(f"{name} cannot be imported: the kernel is tested without it", name=name)


sys.meta_path.insert(0, Absent())

from phaseline.engine.nats.embedded.server import EmbeddedServer  # noqa: E402  # what cannot be imported is said first
from phaseline.engine.nats.wire import Wire  # noqa: E402
from phaseline.engine.settings import Settings  # noqa: E402
from tests.support import effort  # noqa: E402

effort.register()
_serial = itertools.count(1)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbeddedServer]:
    """The server that the tests share."""
    async with EmbeddedServer(tmp_path_factory.mktemp("nats")) as running:
        yield running


@pytest.fixture
def settings(server: EmbeddedServer) -> Settings:
    """An installation of the test's own."""
    return Settings(nats=(server.url,), prefix=f"k{next(_serial)}", request_timeout=30.0)


@pytest_asyncio.fixture
async def wire(settings: Settings) -> AsyncIterator[Wire]:
    """A connection to the server."""
    async with Wire.open(settings, name="test") as opened:
        yield opened
