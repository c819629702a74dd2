"""Runs the command as a process, as a person or a script does.

Belongs here: calling it, and its answer. Does not: what the answer should be.
"""

import asyncio
import atexit
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.fork_server import ForkServer

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "phaseline.engine.cli"]
LIMIT = 120
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="phaseline-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PHASELINE_", "FORCE_COLOR"))}

FORKS = ForkServer()


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

    async def start(self, *words: str, stdin: int | None = asyncio.subprocess.DEVNULL) -> asyncio.subprocess.Process:
        """Start a process that the test talks to."""
        return await asyncio.create_subprocess_exec(
            *COMMAND, *words, stdin=stdin, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=self.environment, cwd=ROOT,
        )  # fmt: skip

    async def __call__(self, *words: str, stdin: bytes | None = None) -> Answer:
        """Run the command to its end."""
        async with asyncio.timeout(LIMIT):
            code, out, err = await FORKS.run(words, self.environment, ROOT, stdin)
        return Answer(code, out.decode(), err.decode())


@asynccontextmanager
async def ended(started: asyncio.subprocess.Process) -> AsyncIterator[asyncio.subprocess.Process]:
    """The process, killed at the end if it still runs."""
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
        await started.communicate()


@asynccontextmanager
async def process(*words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    started = await asyncio.create_subprocess_exec(
        *COMMAND, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    async with ended(started):
        yield started


async def call(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    async with asyncio.timeout(LIMIT):
        code, out, err = await FORKS.run(words, {**os.environ, "NO_COLOR": "1"}, ROOT)
    return code, out.decode(), err.decode()


async def line_with(stream: asyncio.StreamReader | None, word: str) -> str:
    assert stream is not None
    async with asyncio.timeout(LIMIT):
        while line := (await stream.readline()).decode():
            if word in line:
                return line
    raise AssertionError(f"it ended without saying {word!r}")
