"""Runs the command as a process, as a person or a script does.

Belongs here: calling it, and its answer. Does not: what the answer should be.
"""

import asyncio
import atexit
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from phaseline.engine.settings import Settings
from tests.support import forked_process

ROOT = Path(__file__).parents[2]
MODULE = "phaseline.engine.surfaces.cli"
COMMAND = [sys.executable, "-m", MODULE]
LIMIT = 120
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PHASELINE_", "FORCE_COLOR"))}


def have_own_state() -> None:
    """Let the commands of this test process keep their state in a folder that ends with it."""
    os.environ["XDG_STATE_HOME"] = ENVIRONMENT["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="phaseline-state-")
    atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)


have_own_state()


class Answer(NamedTuple):
    """The output of a process, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The only JSON object that it printed."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON objects that it printed, one per line."""
        return [json.loads(line) for line in self.out.splitlines()]


class Shell:
    """Calls the command with an environment of its own."""

    def __init__(self, **environment: str) -> None:
        self.environment = {**ENVIRONMENT, "TZ": "UTC", "LC_ALL": "C.UTF-8", **environment}

    async def start(
        self, *words: str, stdin: int | None = forked_process.DEVNULL, folder: Path = ROOT, whole: bool = False
    ) -> asyncio.subprocess.Process:
        """Start a process that the test talks to; or, whole, nobody."""
        return await forked_process.start(
            MODULE, *words, environment=self.environment, folder=folder, stdin=stdin, whole=whole
        )

    async def __call__(self, *words: str, stdin: bytes | None = None) -> Answer:
        """Run the command to its end. stdin: what it reads from a pipe, if given."""
        source = forked_process.DEVNULL if stdin is None else forked_process.PIPE
        async with ended(await self.start(*words, stdin=source, whole=True)) as started, asyncio.timeout(LIMIT):
            out, err = await started.communicate(stdin)
        assert started.returncode is not None
        return Answer(started.returncode, out.decode(), err.decode())


def shell_of(settings: Settings) -> Shell:
    """The command, for the installation of these settings."""
    return Shell(PHASELINE_NATS=settings.nats[0], PHASELINE_PREFIX=settings.prefix)


@asynccontextmanager
async def ended(started: asyncio.subprocess.Process) -> AsyncIterator[asyncio.subprocess.Process]:
    """The process, killed at the end if it still runs."""
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
        await started.communicate()


async def stopped(started: asyncio.subprocess.Process, how: signal.Signals = signal.SIGTERM) -> str:
    """Stop a process by one signal, which it obeys; return what it said on stderr."""
    started.send_signal(how)
    _, said = await asyncio.wait_for(started.communicate(), LIMIT)
    assert started.returncode == 0, said.decode()
    return said.decode()


def plain() -> Shell:
    """The command with the environment of the tests, and without colours."""
    return Shell(**{**os.environ, "NO_COLOR": "1"})


@asynccontextmanager
async def process(*words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    async with ended(await plain().start(*words)) as started:
        yield started


async def call(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    return await plain()(*words)


async def line_with(stream: asyncio.StreamReader | None, word: str) -> str:
    assert stream is not None
    async with asyncio.timeout(LIMIT):
        while line := (await stream.readline()).decode():
            if word in line:
                return line
    raise AssertionError(f"it ended without saying {word!r}")
