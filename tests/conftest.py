"""Fixtures: one real nats-server per test process, a fresh prefix and a connection per test.

Belongs here: fixtures of several test files. Does not: helpers that are no fixtures (`tests/support`).
"""

import gc
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import structlog

from phaseline.engine import logs
from phaseline.engine.collecting import COLLECT
from phaseline.engine.scripts.runner import SandboxRunner
from phaseline.engine.scripts.sandbox import Sandbox
from phaseline.machines import built_in
from phaseline.machines.language.product import BrokenKind
from phaseline.schemas.errors import NatsUnreachable
from tests.support import effort, forked_process, forked_tests
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import Shell, shell_of
from tests.support.installation import EmbeddedServer, Layout, Settings, Wire, at_work, installation_with_history
from tests.support.own_installation import Client, OwnInstallation

effort.register()
logs.through_structlog()  # where `structlog.testing.capture_logs` finds them
structlog.get_config()["processors"][-1].exception_formatter = structlog.dev.plain_traceback
"""Tracebacks in what a test logs are plain text: with the code around each line, in colours, one takes a second."""

_serial = itertools.count(1)
MEMORY, ROOM = Path("/dev/shm"), 4 << 30  # files without a disk; the bytes that all test processes need

LEASE = 4.0
"""Seconds, so that a worker that has to wait for a busy machine is not taken for dead."""

signal.signal(signal.SIGINT, signal.default_int_handler)
"""A shell that starts the tests in the background lets them ignore Ctrl-C, and so the programs that they interrupt."""

os.environ["GOMAXPROCS"] = "1"
"""One thread of Go in each server: several servers share few processors, and threads that look for work take them."""

gc.set_threshold(*COLLECT)  # collecting tests makes a million objects, and nearly all of them stay


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """Of pytest-xdist, before it starts the test processes: they are forked. Coverage needs some that really start."""
    if not config.pluginmanager.hasplugin("_cov"):
        forked_tests.fork(config.invocation_params, specs)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Of pytest-xdist, for each test process before it starts: all of them share one fork server."""
    node.workerinput[forked_process.SERVER] = forked_process.address()


def pytest_configure(config: pytest.Config) -> None:
    """What `pytest_configure_node` tells this process."""
    told = getattr(config, "workerinput", {})
    if forked_process.SERVER in told:
        os.environ[forked_process.SERVER] = told[forked_process.SERVER]


def pytest_collection_finish() -> None:
    """Take what all tests share out of the garbage collector's rounds: it would look at a million objects each time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(autouse=True)
def _logging() -> Iterator[None]:
    """What a test configures ends with it: a command called in this process logs warnings only, to its own stderr."""
    yield
    logs.through_structlog()
    if structlog.is_configured():
        structlog.reset_defaults()


@pytest.fixture(autouse=True)
def _processes() -> Iterator[None]:
    """What a test starts ends with it, however it ends."""
    yield
    forked_process.kill_all()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server() -> AsyncIterator[EmbeddedServer]:
    """The server most tests share: files in memory, if there is room. Tests that stop a server start their own."""
    in_memory = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    with tempfile.TemporaryDirectory(prefix="phaseline-", dir=MEMORY if in_memory else None) as folder:
        async with EmbeddedServer(Path(folder)) as running:
            yield running


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A process for the scripts of a module: starting one takes longer than most of them."""
    with Sandbox() as found:
        yield found


@pytest.fixture
def programs(sandbox: Sandbox) -> SandboxRunner:
    """What runs scripts in that process."""
    return SandboxRunner(sandbox)


@pytest.fixture
def one_broken(monkeypatch: pytest.MonkeyPatch) -> BrokenKind:
    """A broken kind beside those that are installed here."""
    broken = BrokenKind("acme-kinds 1.2", "crate", "acme:CRATE", "No module named 'rust'")
    monkeypatch.setattr(built_in.installed(), "broken", (broken,))
    return broken


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state directory of this test's user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def settings(server: EmbeddedServer) -> Settings:
    """An installation of the test's own on the shared server."""
    return Settings(nats=(server.url,), prefix=f"t{next(_serial)}", request_timeout=30.0)


@pytest_asyncio.fixture
async def wire(settings: Settings) -> AsyncIterator[Wire]:
    """A connection to the shared server. The streams of the test end with it: hundreds of idle ones cost the server."""
    async with Wire.open(settings, name="test") as opened:
        yield opened
        with suppress(NatsUnreachable, RuntimeError):  # a test may have cut or closed it
            for role in ("STATE", "LIVE", "EVENTS", "LEASE", "LOG"):
                opened.publish(opened.api_subject(f"STREAM.DELETE.{settings.stream(role)}"), b"")


@pytest.fixture
def installation(settings: Settings, wire: Wire) -> OwnInstallation:
    """The same with the connection and the built-in kinds: what most tests with a server begin with."""
    return OwnInstallation(settings, wire, BUILT_IN_KINDS)


@pytest_asyncio.fixture
async def layout(settings: Settings, wire: Wire) -> AsyncIterator[Layout]:
    """An installation of the test's own with a history. No worker runs, so nothing changes."""
    async with installation_with_history(settings, wire) as made:
        yield made


@pytest_asyncio.fixture
async def working(settings: Settings, wire: Wire) -> AsyncIterator[Settings]:
    """An installation of the test's own with a worker that works."""
    settings = replace(settings, partitions=2, lease=LEASE)
    async with at_work(settings, wire):
        yield settings


@pytest_asyncio.fixture
async def client(working: Settings) -> AsyncIterator[Client]:
    """A client of that installation."""
    async with Client.open(working, source="/test", kinds=BUILT_IN_KINDS) as opened:
        yield opened


@pytest.fixture
def shell(working: Settings) -> Shell:
    """The command, for that installation."""
    return shell_of(working)


@pytest.fixture
def alone(settings: Settings) -> Shell:
    """The command, for an installation in which no worker runs unless the test starts one."""
    return shell_of(settings)


@pytest_asyncio.fixture
async def own_server(tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    """A server that this test alone may kill."""
    async with EmbeddedServer(tmp_path / "nats") as running:
        yield running


@pytest.fixture
def own_settings(own_server: EmbeddedServer) -> Settings:
    """Settings for the server that this test alone may kill."""
    return Settings(nats=(own_server.url,), prefix="pl")
