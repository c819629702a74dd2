"""The shell of a page: one bash in a fresh folder, to which the page's commands go as they stand.

Belongs here: the folder, the programs in it, and commands that last until they are stopped. Does not: what commands
should print (`runner`). `phaseline` is forked from the fork server, and so are programs that a machine may lack, such
as kubectl, which modules here play (`forwarder`).
"""

import asyncio
import importlib.util
import os
import re
import secrets
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tests.support import forked_process
from tests.support.command import ENVIRONMENT, ROOT
from tests.support.pages import forwarder
from tests.support.processes import command_line

PIDS = "pids"
"""A file beside the folder: the processes of the commands that last."""
LIMIT = 120
LASTING = re.compile(
    r"phaseline (up|worker|serve)\b|phaseline watch(?!.*--(no-follow|limit))|phaseline .*--follow\b|"
    r"phaseline (get|list|emco status|tree)\b.* (--watch|-w)\b|observe --cluster|nats sub\b|nats-server -c"
)
"""Commands that run until Ctrl-C."""
FREE_PORTS = (
    (r"(?<=--listen 127\.0\.0\.1:)\d+", "0"),
    (r"--http(?! \d)", "--http 0"),
    (r"--metrics 127\.0\.0\.1:\d+", "--metrics 127.0.0.1:0"),
)
"""What pages write as ports of the HTTP server, and what runs instead: other programs may have these ports."""
READY = {
    "phaseline up": re.compile(r"(nats://[\w.]+:\d+).*Ctrl-C", re.DOTALL),
    "phaseline serve": re.compile(r"Ctrl-C"),
    "phaseline worker": re.compile(r"worker_started"),
    "nats sub": re.compile(r"Subscribing"),
    "nats-server": re.compile(r"Server is ready"),
}
"""What these say when the page can go on."""


class Lasting(NamedTuple):
    """A command that runs until the end of the page."""

    command: str
    pid: int
    file: Path
    folder: Path

    @property
    def printed(self) -> list[str]:
        """The lines that it has printed so far."""
        return self.file.read_text(encoding="utf-8").replace(f"{self.folder}", ".").splitlines()


class PageShell:
    """A bash with a folder, its lasting commands, and the URL of the system that one of them runs."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process, self.folder = process, folder
        self.lasting: list[Lasting] = []
        self.url = ""

    async def run(self, command: str) -> tuple[int, list[str]]:
        """Exit code and printed lines. A command that lasts goes on in the background; it prints nothing yet."""
        bare = re.sub(r"\s+#.*$", "", command)
        if LASTING.search(bare):
            await self._start(bare)
            return 0, []
        code, text = await self._do(f"{{ {command}\n}} </dev/null 2>&1")
        return code, text.replace(f"{self.folder}", ".").splitlines()

    async def _start(self, command: str) -> None:
        file = self.folder.parent / f"lasting-{len(self.lasting)}"
        file.touch()
        for fixed, free in FREE_PORTS:
            command = re.sub(fixed, free, command)
        _, text = await self._do(f"export PHASELINE_LASTS=1\n{command} </dev/null >{file} 2>&1 & echo $!")
        await self._do("unset PHASELINE_LASTS")
        self.lasting.append(Lasting(command, int(text), file, self.folder))
        for start, ready in READY.items():
            if command.startswith(start):
                found = await self._until(file, ready)
                if start == "phaseline up":
                    self.url = found[1]
                    await self._do(f"export PHASELINE_NATS={self.url} NATS_URL={self.url}")

    @staticmethod
    async def _until(file: Path, ready: re.Pattern[str]) -> re.Match[str]:
        async with asyncio.timeout(LIMIT):
            while not (found := ready.search(file.read_text(encoding="utf-8"))):
                await asyncio.sleep(0.02)
        return found

    async def _do(self, line: str) -> tuple[int, str]:
        end = secrets.token_hex(8)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\necho {end} $?\n".encode())
        try:
            async with asyncio.timeout(LIMIT):
                found = (await self._process.stdout.readuntil(end.encode())).decode().removesuffix(end)
                return int(await self._process.stdout.readline()), found
        except TimeoutError:
            raise AssertionError(f"it does not end: {line}") from None

    async def stop(self) -> dict[int, tuple[int, list[str]]]:
        """Stop all commands that last, as Ctrl-C does, the last one first: exit code and output, by pid."""
        ends = {}
        while self.lasting:
            one = self.lasting.pop()
            insisting = asyncio.create_task(_insist(one.pid))
            try:
                code, _ = await self._do(f"wait {one.pid}  # {one.command}")
            finally:
                insisting.cancel()
            ends[one.pid] = (code, one.printed)
        return ends


def _kill(pids: Path, bash: int) -> None:
    """End whatever is left: the shell with its children, and the commands that were forked for it."""
    os.killpg(bash, signal.SIGKILL)
    for pid in map(int, pids.read_text(encoding="ascii").split() if pids.exists() else ()):
        if "fork_server" in command_line(pid):
            os.killpg(pid, signal.SIGKILL)


async def _insist(pid: int) -> None:
    """Press Ctrl-C, and again if that was not heard: Python may lose an interrupt in a finalizer."""
    while True:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
        await asyncio.sleep(20)


@asynccontextmanager
async def page_shell(folder: Path, **further: str) -> AsyncIterator[PageShell]:
    """A shell in a fresh folder, which looks like a clone in which an environment has been set up.

    further: more variables of its environment.
    """
    folder.mkdir()
    _furnish(folder)
    environment = {
        **ENVIRONMENT,
        "PATH": f"{folder / '.venv' / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "TZ": "UTC",
        "COLUMNS": "120",
        "PHASELINE_PORT": "0",
        "PHASELINE_LISTEN": "127.0.0.1:0",
        "PHASELINE_SPEED": "0",
        "PHASELINE_PIDS": str(folder.parent / PIDS),
        "PHASELINE_FORKS": await asyncio.to_thread(forked_process.started_server),
        **further,
    }
    process = await asyncio.create_subprocess_exec(
        "bash", "--noprofile", "--norc", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT, env=environment, cwd=folder, limit=1 << 24, start_new_session=True,
    )  # fmt: skip
    shell = PageShell(process, folder)
    try:
        yield shell
    finally:
        try:
            await shell.stop()
        finally:
            _kill(folder.parent / PIDS, process.pid)
            await process.wait()


def _furnish(folder: Path) -> None:
    """The examples, and an environment that `dev.py` takes for its own."""
    (folder / "examples").symlink_to(ROOT / "examples")
    for name in ("dev.py", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, folder)
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    source = Path(forwarder.__file__).read_text(encoding="utf-8")
    for name in forwarder.PROGRAMS:
        (programs / name).write_text(f"#!{sys.executable} -IS\n{source}", encoding="utf-8")
        (programs / name).chmod(0o755)
    for name in ("python", "python3"):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    (programs / "activate").write_text("", encoding="utf-8")
    specification = importlib.util.spec_from_file_location("dev", folder / "dev.py")
    assert specification is not None
    assert specification.loader is not None
    dev = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(dev)
    dev.STAMP.write_text(dev.stamp_of("dev"), encoding="utf-8")
