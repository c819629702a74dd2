"""The child process that runs users' scripts, seen from the parent.

Belongs here: starting the process, sending requests, killing it. Does not: the code that runs in it (`child`).
"""

import contextlib
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

from phaseline.schemas import codec
from phaseline.schemas.errors import ScriptStopped

SECONDS = 0.25
"""The most seconds of computing that a request may take. Limits counted in steps and bytes come first."""
WAIT = 5.0
"""The most seconds to wait for an answer, if the process gets no time to compute."""
START_SECONDS = 15.0
"""The most seconds that the process may take to start, on a busy machine."""
HEAD = struct.Struct(">I")
_STARTER = ThreadPoolExecutor(1, "phaseline-scripts")
"""Starts the processes. The kernel ends a process with the thread that started it, and this one lives to the end."""


class Sandbox:
    """One child process, started with the first request. Threads take turns."""

    def __init__(self, seconds: float = SECONDS) -> None:
        """`seconds`: how long a request may compute."""
        self.seconds = seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; raises `ScriptStopped` if the process had to be killed, or ended by itself."""
        with self._turn:
            return self._ask(codec.encode(request))

    def _ask(self, body: bytes) -> dict[str, Any]:
        if self._child is not None and self._child.poll() is not None:
            self.close()  # somebody ended it between two requests
        child = self._child or self._start()
        try:
            self._write(child, HEAD.pack(len(body)) + body, WAIT)
            return self._answer(child, WAIT)
        except TimeoutError:
            self.close()
            raise ScriptStopped(problem=f"it was stopped after {WAIT:g} s") from None
        except (EOFError, BrokenPipeError):
            if self.close() in (-signal.SIGPROF, -signal.SIGXCPU):
                raise ScriptStopped(problem=f"it was stopped after {self.seconds:g} s of computing") from None
            raise ScriptStopped(problem="its process ended: it needed too much memory, or too deep a stack") from None

    def close(self) -> int:
        """End the process, and return its exit status. The next request starts another one."""
        child, self._child = self._child, None
        if child is None:
            return 0
        with contextlib.suppress(subprocess.TimeoutExpired):  # one that has closed its pipe is about to end
            child.wait(1.0 if self._has_ended(child) else 0)
        child.kill()
        status = child.wait()
        for pipe in (child.stdin, child.stdout):
            with contextlib.suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()
        return status

    @staticmethod
    def _has_ended(child: subprocess.Popen[bytes]) -> bool:
        """Whether the process has closed its end of the pipe, or will in a moment."""
        ready, _, _ = select.select([child.stdout.fileno()], [], [], 0)  # type: ignore[union-attr]  # it is piped
        return bool(ready)

    def _start(self) -> subprocess.Popen[bytes]:
        kept = {"TZ": "UTC0", **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}}
        command = [sys.executable, "-m", "phaseline.engine.scripts.child", str(os.getpid()), str(self.seconds)]
        self._child = _STARTER.submit(
            subprocess.Popen, command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            bufsize=0, env=kept, start_new_session=True,
        ).result()  # fmt: skip
        os.set_blocking(self._child.stdin.fileno(), False)  # type: ignore[union-attr]  # it is piped
        try:
            self._answer(self._child, START_SECONDS)
        except (EOFError, TimeoutError):
            self.close()
            raise ScriptStopped(problem="the process that runs scripts does not start") from None
        return self._child

    @staticmethod
    def _write(child: subprocess.Popen[bytes], message: bytes, seconds: float) -> None:
        end = time.monotonic() + seconds
        pipe, left = child.stdin.fileno(), memoryview(message)  # type: ignore[union-attr]  # it is piped
        while left:
            _, ready, _ = select.select([], [pipe], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError
            left = left[os.write(pipe, left) :]

    def _answer(self, child: subprocess.Popen[bytes], seconds: float) -> dict[str, Any]:
        end = time.monotonic() + seconds
        (size,) = HEAD.unpack(self._read(child, HEAD.size, end))
        return codec.decode(self._read(child, size, end))

    @staticmethod
    def _read(child: subprocess.Popen[bytes], size: int, end: float) -> bytes:
        pipe, received = child.stdout.fileno(), bytearray()  # type: ignore[union-attr]  # it is piped
        while len(received) < size:
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError
            more = os.read(pipe, size - len(received))
            if not more:
                raise EOFError
            received += more
        return bytes(received)
