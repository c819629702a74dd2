"""Starts programs in processes that the fork server forks, and shows them as asyncio shows any process.

Belongs here: asking the fork server, and a transport of asyncio for the answer. Does not: the server (`fork_server`),
what tests run (`command`, `killable_worker`).
"""

import asyncio
import atexit
import contextlib
import marshal
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from asyncio.base_subprocess import BaseSubprocessTransport
from asyncio.streams import _DEFAULT_LIMIT  # type: ignore[attr-defined]  # as `asyncio.create_subprocess_exec` does
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
SERVER = "PHASELINE_FORKS"
"""The variable with the address of the fork server that all processes of a test run share."""
STARTED: list["_Transport"] = []
"""The processes that this test process has started and that have not ended yet."""

_starting = threading.Lock()


def address() -> str:
    """Where the fork server listens: the one of this test run, or one of this process, which is started now."""
    return os.environ.get(SERVER) or started()


@cache
def started(*prepared: str) -> str:
    """Start a fork server, which ends with this process. Who connects before it is ready waits.

    prepared: the module that prepares what is forked, and its words.
    """
    folder = tempfile.TemporaryDirectory()
    where = f"{folder.name}/s"
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(where)
        listening.listen()
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fork_server", str(listening.fileno()), *prepared],
            env={**os.environ, "PYTHONPATH": path}, stdin=PIPE, pass_fds=(listening.fileno(),), cwd=ROOT,
            start_new_session=True,
        )  # fmt: skip
    assert process.stdin is not None
    atexit.register(folder.cleanup)
    atexit.register(process.wait)
    atexit.register(process.stdin.close)
    return where


@cache
def _await_server(where: str) -> None:
    """Wait until a fork server is ready: it closes a connection that asks for nothing."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(where)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


def started_server(where: str | None = None) -> str:
    """As `address`, from several threads, and the server is ready. where: another fork server."""
    with _starting:
        where = where or address()
        _await_server(where)
        return where


class Forked:
    """A forked process, as `subprocess.Popen` shows it to asyncio. `connection`: the server's, which says the end."""

    def __init__(self, connection: socket.socket, pid: int, pipes: list[IO[bytes] | None], *, whole: bool) -> None:
        """whole: whether other programs may run in the process after this one."""
        self.connection, self.pid, self.whole = connection, pid, whole
        self.stdin, self.stdout, self.stderr = pipes
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended, and nobody has read its exit code yet
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it. A shared process may run the program of another caller by now: only the server knows."""
        if not self.whole:
            self.send_signal(signal.SIGKILL)
        elif self.returncode is None:
            with contextlib.suppress(OSError):  # the server has let go
                self.connection.shutdown(socket.SHUT_WR)

    def ended(self) -> int:
        """Read the exit code, which the server has sent."""
        code = int(self.connection.recv(100) or -signal.SIGKILL)
        self.connection.close()
        return code


class _Transport(BaseSubprocessTransport):
    """The transport of a forked process."""

    def _start(self, args: Any, shell: bool, stdin: Any, stdout: Any, stderr: Any, bufsize: int, **how: Any) -> None:  # noqa: ARG002
        ends = [_ends(number, wanted) for number, wanted in enumerate((stdin, stdout, stderr))]
        theirs = [there for _, there in ends]
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(how.pop("server") or address())
        socket.send_fds(connection, [marshal.dumps({"module": args[0], "words": args[1:], **how})], theirs)
        for file in theirs:
            os.close(file)
        with connection.makefile("rb", buffering=0) as lines:
            pid = int(lines.readline())
        self._forked = Forked(connection, pid, [here for here, _ in ends], whole=bool(how.get("whole")))
        self._proc: Any = self._forked  # the base class calls it what it is not
        self._loop.add_reader(connection, self._has_ended)
        STARTED.append(self)

    def _has_ended(self) -> None:
        self._loop.remove_reader(self._forked.connection)
        STARTED.remove(self)
        self._process_exited(self._forked.ended())

    def drop(self) -> int:
        """Kill the process with its group, for which nobody waits any more; return its number."""
        if self._forked.whole:
            self._forked.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._forked.pid, signal.SIGKILL)
        if not self._loop.is_closed():
            self._loop.remove_reader(self._forked.connection)
        self._forked.ended()
        pipes: Any = self._pipes.values()
        for protocol in pipes:
            if protocol is not None and protocol.pipe._pipe is not None:
                protocol.pipe._pipe.close()
                protocol.pipe._pipe = None
        self._closed = True
        return self._forked.pid


def kill_all() -> list[int]:
    """Kill the processes that still run; return their numbers."""
    found = [process.drop() for process in STARTED]
    STARTED.clear()
    return found


def _ends(number: int, wanted: int | None) -> tuple[IO[bytes] | None, int]:
    """Our end of a stream, if it is a pipe, and the end of the process."""
    if wanted == PIPE:
        read, write = os.pipe()
        return (os.fdopen(write, "wb", 0), read) if number == 0 else (os.fdopen(read, "rb", 0), write)
    if wanted == DEVNULL or (wanted is None and number == 0):
        return None, os.open(os.devnull, os.O_RDWR)
    return None, os.dup(number if wanted is None else wanted)


async def start(
    module: str, *words: str, environment: Mapping[str, str], folder: Path = ROOT,
    stdin: int | None = DEVNULL, stdout: int | None = PIPE, stderr: int | None = PIPE, server: str | None = None,
    whole: bool = False,
) -> asyncio.subprocess.Process:  # fmt: skip
    """Start `python -m module words` with this environment. The streams are as in `asyncio.create_subprocess_exec`.

    server: the address of a fork server of the test's own, which `started` returned. whole: nobody talks to it or sends
    it signals, so its process may be one that others ran in.
    """
    await asyncio.to_thread(started_server, server)  # not here: the test's connections would get no answers meanwhile
    loop = asyncio.get_running_loop()
    protocol = asyncio.subprocess.SubprocessStreamProtocol(limit=_DEFAULT_LIMIT, loop=loop)
    connected = loop.create_future()
    transport: Any = _Transport(
        loop, protocol, [module, *words], False, stdin, stdout, stderr, 0, connected,
        environment=dict(environment), folder=str(folder), server=server, whole=whole,
    )  # fmt: skip
    await connected
    return asyncio.subprocess.Process(transport, protocol, loop)
