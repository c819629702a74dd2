"""What happens in a process that the fork server has forked: it becomes the program that was asked for, and runs it.

A program that is run whole has nobody who talks to it or sends it signals. If it leaves its process as it was, the next
one runs there: a process that is new spends more time on copies of the memory that it shares with the server than most
commands compute.
Belongs here: becoming a program, its end, and what must be as before. Does not: forking (`fork_server`).
"""

import atexit
import gc
import logging
import marshal
import os
import runpy
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

WHOLE = "whole"
"""The key of a request that says so."""
SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)
THRESHOLD = gc.get_threshold()
REMEMBERING: list[Any] = []
"""The functions of the engine that remember what they returned: some of them read files, or the environment."""


def alike(asked: Mapping[str, Any]) -> object:
    """What programs have in common that may run in one process, one after the other; None if this one may not.

    Python and libraries keep what they find in the environment. The command reads its own part of it each time.
    """
    if not asked.get(WHOLE):
        return None
    return frozenset(one for one in asked["environment"].items() if not one[0].startswith("PHASELINE_"))


def note_what_remembers() -> None:
    """Note the functions of the engine that remember something. Kinds stay compiled, as they are at the beginning."""
    modules = [module for name, module in sys.modules.items() if name.startswith("phaseline.engine")]
    found = [one for module in modules for one in vars(module).values() if hasattr(one, "cache_clear")]
    REMEMBERING[:] = [one for one in found if one.__module__.startswith("phaseline.engine")]


class Left(NamedTuple):
    """What a program may leave in its process."""

    threads: int
    files: int
    at_exit: int
    handlers: tuple[Any, ...]
    children: bool
    searches_its_folder: bool
    """Whether modules of the folder at hand may have been imported."""

    @classmethod
    def now(cls) -> "Left":
        """What there is now."""
        files, at_exit = len([*Path("/proc/self/fd").iterdir()]), atexit._ncallbacks()
        handlers = tuple(map(signal.getsignal, SIGNALS))
        return cls(threading.active_count(), files, at_exit, handlers, _has_children(), "" in sys.path)


def run(request: bytes, files: list[int], link: socket.socket) -> NoReturn:
    """Run what was asked for, and what is asked for on this link after that. It ends with the last of these."""
    while request:
        asked = marshal.loads(request)
        _become(asked, files)
        before = Left.now()
        status, is_usual = _run(asked["module"])
        status = _flushed(status)
        if not is_usual or alike(asked) is None or Left.now() != before:
            _end(status)
        _forget()
        link.sendall(f"{status}\n".encode())
        request, files, _, _ = socket.recv_fds(link, 1 << 20, 3)
    os._exit(0)


def _become(asked: Mapping[str, Any], files: list[int]) -> None:
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    sys.argv = [asked["module"], *asked["words"]]
    # The streams of this process were made for the server: a program makes its own.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # they last as long as the program
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115


def _run(module: str) -> tuple[int, bool]:
    """The exit code of a program, and whether it came to its end as it means to."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)  # noqa: T201  # as the interpreter does
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1, True
    except BaseException:  # noqa: BLE001  # as the interpreter does
        sys.excepthook(*sys.exc_info())
        return 1, False
    return 0, True


def _flushed(status: int) -> int:
    """The exit code of a program, once its streams are flushed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = status or 120
    return status


def _end(status: int) -> NoReturn:
    """End as the interpreter does, but without taking all objects apart: that takes longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    os._exit(_flushed(status))


def _forget() -> None:
    """Undo what commands do to their process: streams, logging, what the engine remembers, garbage collection.

    Nothing else is undone, such as a umask: no command changes it.
    """
    import structlog  # in the server, nothing is imported before it is needed

    from phaseline.engine import logs  # likewise

    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.close(nothing)
    for one in REMEMBERING:
        one.cache_clear()
    logs.Logger._least = logs.Logger._configure = None
    logging.getLogger().handlers.clear()
    structlog.reset_defaults()
    gc.enable()
    gc.set_threshold(*THRESHOLD)


def _has_children() -> bool:
    with suppress(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    return False
