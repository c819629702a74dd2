"""Keeps an embedded server running: starts it again when it has died, or when a full disk has room again.

Belongs here: noticing both, the number of tries, the pauses. Does not: starting and stopping (`embedded.server`).
nats-server never writes again to a stream in which a write failed, whatever room there is later, until it is started
again. It says so in its log only. The limit of its store is set when it starts.
"""

import asyncio
import signal
import time
from collections import deque
from pathlib import Path

from phaseline.engine import logs
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.schemas.errors import PhaselineError, SetupError

LOOK = 0.2
"""Seconds between two looks at the server."""
LOOK_FOR_ROOM = 0.5
"""Seconds between two looks at a full disk."""
DEATHS, PERIOD = 5, 60.0
"""The server is given up when it dies this often within this many seconds."""
PAUSE, LONGEST_PAUSE = 0.2, 10.0
"""Seconds before the first start after a death; each further one waits twice as long."""
PROBE = 1 << 20
"""Bytes that must fit on the disk, and by which the limit must grow, before a full server is started again."""
WRITE_FAILED, LIMIT_REACHED = b"critical write error", b"resource limits exceeded"

log = logs.get_logger(__name__)


class LogTail:
    """The lines that the server has logged since the last look."""

    def __init__(self, path: Path) -> None:
        """Lines that are there already are skipped."""
        self._path, self._at = path, 0
        self.read()

    def read(self) -> bytes:
        """The new bytes. A log that became shorter was rotated, and is read from its beginning."""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(self._at if self._at <= size else 0)
                found = file.read()
                self._at = file.tell()
        except OSError:
            return b""
        return found


class Deaths:
    """How often a process of ours died lately, and how long to wait before it is started again."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def add(self) -> None:
        """It has just died."""
        now = time.monotonic()
        self._times.append(now)
        while now - self._times[0] > PERIOD:
            self._times.popleft()

    @property
    def count(self) -> int:
        """How often within `PERIOD`."""
        return len(self._times)

    @property
    def pause(self) -> float:
        """Seconds to wait after the last one."""
        return min(PAUSE * (1 << (self.count - 1)), LONGEST_PAUSE)


def how_it_ended(status: int) -> str:
    """The exit status of a process, or the signal that ended it."""
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


class Supervisor:
    """Watches one server while `run` runs."""

    def __init__(self, server: EmbeddedServer) -> None:
        """server: it runs already."""
        self._server, self._tail = server, LogTail(server.log)
        self._deaths = Deaths()
        self._full = b""
        """What the server logged when it could no longer store anything; empty if it can."""

    async def run(self) -> None:
        """Watch for ever; raises `SetupError.server_gone` if the server does not stay alive."""
        while True:
            await asyncio.sleep(LOOK)
            status = self._server.exit_status
            if status is not None:
                await self._revive(status)
                continue
            self._read_log()
            if self._full:
                await asyncio.sleep(LOOK_FOR_ROOM)
                if self._has_room():
                    log.warning("server_has_room", data=str(self._server.data))
                    await self._start_again()

    def _read_log(self) -> None:
        lowered = self._tail.read().lower()
        for sign in (WRITE_FAILED, LIMIT_REACHED):
            if sign in lowered and self._full != sign:
                self._full = sign
                log.error("server_full", data=str(self._server.data), error=sign.decode())

    def _has_room(self) -> bool:
        if self._full == LIMIT_REACHED:
            return self._server.store_limit() >= self._server.limit + PROBE
        probe = self._server.data / "probe"
        try:
            probe.write_bytes(bytes(PROBE))
        except OSError:
            return False
        finally:
            probe.unlink(missing_ok=True)
        return True

    async def _revive(self, status: int) -> None:
        self._deaths.add()
        how, deaths = how_it_ended(status), self._deaths.count
        if deaths > DEATHS:
            raise SetupError.server_gone(times=deaths, seconds=PERIOD, how=how, cause=self._server.last_words())
        log.error("server_died", how=how, deaths=deaths, seconds=self._deaths.pause)
        await asyncio.sleep(self._deaths.pause)
        await self._start_again()

    async def _start_again(self) -> None:
        self._full = b""
        try:
            await self._server.restart()
        except PhaselineError as error:
            log.error("server_not_started", error=str(error))  # noqa: TRY400  # the error says all
            return
        self._tail.read()
        log.warning("server_restarted", url=self._server.url)
