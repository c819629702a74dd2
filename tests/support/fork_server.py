"""A process that has imported the command and compiled the tables, and forks for each program that a test starts.

Starting Python and importing all that takes most of a second; forking takes milliseconds. Each program is still a
process of its own, with its own arguments, environment, streams and exit code. It ends with whoever asked for it.
One such process serves all processes of a test run. It imports nothing until the first of them asks. Another one forks
the test processes themselves (`forked_tests`).
Belongs here: the server. Does not: asking it (`forked_process`), what tests run (`command`, `killable_worker`).
"""

import atexit
import contextlib
import gc
import importlib
import marshal
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import metadata
from typing import Any, NamedTuple, NoReturn

NEEDED = ("phaseline.engine", "phaseline.machines")
"""Packages whose modules are imported, with the libraries that they need: commands import many when they need them."""
LEFT_OUT = (".__main__", ".child", ".testing")
"""The ends of the names of modules that are programs, and of the kit for tests."""
ALSO_NEEDED = ("difflib", "jq", "pwd", "structlog.dev", "uvicorn", "yaml")
"""Modules of others that commands import when they need them."""


class Running(NamedTuple):
    """A program that runs: its process, a file that is ready once it has ended, and the connection of its caller."""

    pid: int
    ended: int
    caller: socket.socket


def serve(listening: socket.socket, prepare: Callable[[], None]) -> str:
    """Fork for each connection until standard input ends. Only forked processes return: the module to run.

    prepare: imports what the programs need, when the first of them is asked for.
    """
    running: list[Running] = []
    first: list[socket.socket | int] = [listening, 0]
    with listening:
        if listening in select.select(first, [], [])[0]:
            prepare()
            gc.collect()
            gc.freeze()  # so that no forked process copies all objects when it collects garbage
        while True:
            files: list[socket.socket | int] = [
                listening,
                0,
                *(one.ended for one in running),
                *(one.caller for one in running),
            ]
            ready = select.select(files, [], [])[0]
            if 0 in ready:  # whoever started this process has ended
                _kill(running)
                os._exit(0)
            _kill([one for one in running if one.caller in ready])
            running = [one for one in running if not _has_ended(one, ready)]
            if listening in ready and (asked := _fork(listening, running)) is not None:
                return _become(asked)


def prepare_commands() -> None:
    """Import all that commands may need, compile the tables, and read what packages add: each command asks for that."""
    metadata.entry_points = cache(metadata.entry_points)  # type: ignore[assignment]  # it reads a hundred files
    for name in (*ALSO_NEEDED, *(one for package in NEEDED for one in _modules(package))):
        importlib.import_module(name)
    for kind in importlib.import_module("phaseline.machines.built_in").installed().values():
        kind.compile()


def _modules(name: str) -> Iterator[str]:
    """The modules of a package, and of those in it, but for what is left out."""
    yield name
    for found in pkgutil.iter_modules(importlib.import_module(name).__path__, f"{name}."):
        if not found.name.endswith(LEFT_OUT):
            yield from _modules(found.name) if found.ispkg else [found.name]


def _fork(listening: socket.socket, running: list[Running]) -> dict[str, Any] | None:
    """Fork for the next connection. Returns in the child: what it is to run; in the parent: None."""
    caller, _ = listening.accept()
    request, files, _, _ = socket.recv_fds(caller, 1 << 20, 3)
    child = os.fork() if request else 0
    if not request or child:
        for file in files:
            os.close(file)
        if child:
            running.append(Running(child, os.pidfd_open(child), caller))
            _say(caller, child)
        return None
    listening.close()
    for one in running:
        os.close(one.ended)
        one.caller.close()
    caller.close()
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    asked: dict[str, Any] = marshal.loads(request)
    return asked


def _kill(running: list[Running]) -> None:
    """End programs with their groups: their callers went away."""
    for one in running:
        os.kill(one.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)


def _has_ended(one: Running, ready: list[Any]) -> bool:
    """Tell the caller if the program has ended, or was ended because the caller went away."""
    if one.ended not in ready and one.caller not in ready:
        return False
    _, status = os.waitpid(one.pid, 0)
    _say(one.caller, os.waitstatus_to_exitcode(status))
    one.caller.close()
    os.close(one.ended)
    return True


def _say(caller: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # it went away
        caller.sendall(f"{number}\n".encode())


def _become(asked: dict[str, Any]) -> str:
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    sys.argv = [asked["module"], *asked["words"]]
    # The streams of this process were made for the server: a program makes its own.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # they last as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    return str(asked["module"])


def run_to_its_end(program: Callable[[], object]) -> NoReturn:
    """Run a program, and end as the interpreter does, but without taking all objects apart: that takes longer than most
    commands.
    """
    status = 0
    try:
        program()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)  # noqa: T201  # as the interpreter does
    except BaseException:  # noqa: BLE001  # as the interpreter does
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = status or 120
    os._exit(status)


if __name__ == "__main__":
    descriptor, *prepared = sys.argv[1:]
    before = partial(importlib.import_module(prepared[0]).prepare, *prepared[1:]) if prepared else prepare_commands
    chosen = serve(socket.socket(fileno=int(descriptor)), before)
    run_to_its_end(lambda: runpy.run_module(chosen, run_name="__main__", alter_sys=True))
