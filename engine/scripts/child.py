"""The main loop of the child process: reads a request, runs its script, writes the answer.

Belongs here: the limits of the process, its end with its parent, the framing of requests and answers. Does not: the
languages (`lua`, `jq_paths`).
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, BinaryIO

from phaseline.engine.scripts import jq_paths, lua
from phaseline.schemas import codec

HEAD = struct.Struct(">I")
MEMORY = 1 << 30
"""The limit of the address space in bytes. The interpreter alone maps a few hundred MB."""
SPARE_SECONDS = 5
"""Seconds of computing after which the kernel ends the process, if nothing else has ended it before."""
PR_SET_PDEATHSIG = 1

RUNS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "lua": lua.run, "jq": jq_paths.run,
}  # fmt: skip


def main() -> None:
    """Answer requests until the parent closes the pipe or ends. Arguments: the parent's id, seconds for a request."""
    parent, seconds = int(sys.argv[1]), float(sys.argv[2])
    _end_with(parent)
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    _send(outgoing, {})
    while len(head := incoming.read(HEAD.size)) == HEAD.size:
        request = codec.decode(incoming.read(*HEAD.unpack(head)))
        _limit(seconds)
        answer = RUNS[request["run"]](request)
        _limit(0)
        _send(outgoing, answer)


def _limit(seconds: float) -> None:
    """End the process by SIGPROF after these seconds of computing; 0 takes the limit away."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    if seconds:
        used = int(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (used + SPARE_SECONDS, resource.RLIM_INFINITY))


def _end_with(parent: int) -> None:
    """End when the parent ends, even if it is killed while a script runs.

    Linux sends a signal. Elsewhere, and if that fails, a thread sees the end of the pipe that the parent holds; it runs
    unless a script keeps the interpreter's lock. Then the limits of computing end the process.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before the signal was asked for
        os._exit(0)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    poll = select.poll()
    poll.register(sys.stdin.fileno(), 0)  # only the end of the pipe
    while not poll.poll(1_000) and os.getppid() == parent:
        pass
    os._exit(0)


def _send(outgoing: BinaryIO, answer: dict[str, Any]) -> None:
    body = codec.encode(answer)
    outgoing.write(HEAD.pack(len(body)) + body)
    outgoing.flush()


if __name__ == "__main__":
    main()
