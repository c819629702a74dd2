"""A process that has imported the command and compiled the tables, and forks for the programs that tests start.

Starting Python and importing all that takes most of a second; forking takes milliseconds. Each program has its own
arguments, environment, streams and exit code, and ends with whoever asked for it. A process of its own it has if a test
talks to it; programs that are run whole share processes, one after the other (`forked_program`).
One such server serves all processes of a test run. It imports nothing until the first of them asks. Another one forks
the test processes themselves (`forked_tests`).
Belongs here: the server. Does not: asking it (`forked_process`), what happens in a forked process (`forked_program`),
what tests run (`command`, `killable_worker`).
"""

import contextlib
import gc
import importlib
import marshal
import os
import pkgutil
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import metadata
from typing import Any, NamedTuple

from tests.support import forked_program

NEEDED = ("phaseline.engine", "phaseline.machines")
"""Packages whose modules are imported, with the libraries that they need: commands import many when they need them."""
LEFT_OUT = (".__main__", ".child", ".testing")
"""The ends of the names of modules that are programs, and of the kit for tests."""
ALSO_NEEDED = ("difflib", "jq", "pwd", "structlog.dev", "uvicorn", "yaml")
"""Modules of others that commands import when they need them."""
MOST_IDLE = 12
"""The most processes that wait for a further program."""


class Child:
    """A forked process. ended: a file that is ready once it has ended; link: on it, it tells exit codes and is asked.

    alike: which programs it may run next (`forked_program.alike`); None: no further one. caller: who waits for the end
    of its program; None while the process itself waits for a program.
    """

    def __init__(self, pid: int, link: socket.socket, alike: object, caller: socket.socket) -> None:
        self.pid, self.ended, self.link, self.alike = pid, os.pidfd_open(pid), link, alike
        self.caller: socket.socket | None = caller
        self.tell(pid)

    @property
    def files(self) -> list[socket.socket | int]:
        """What is ready when something happens to it. While it waits for a program, that can only be its end."""
        return [self.ended] if self.caller is None else [self.ended, self.link, self.caller]

    def tell(self, number: int) -> None:
        """Tell its caller a number."""
        if self.caller is not None:
            with contextlib.suppress(OSError):  # it went away
                self.caller.sendall(f"{number}\n".encode())

    def let_go(self) -> None:
        """Let go of the caller."""
        if self.caller is not None:
            self.caller.close()
            self.caller = None

    def close(self) -> None:
        """Close all that belongs to it."""
        self.let_go()
        self.link.close()
        os.close(self.ended)

    def kill(self) -> None:
        """End it with its group."""
        os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


class Asked(NamedTuple):
    """What a forked process is to run: the request, the files of its streams, and its link."""

    request: bytes
    files: list[int]
    link: socket.socket


def serve(listening: socket.socket, prepare: Callable[[], None]) -> Asked:
    """Fork for connections until standard input ends. Only forked processes return.

    prepare: imports what the programs need, when the first of them is asked for.
    """
    children: list[Child] = []
    first: list[socket.socket | int] = [listening, 0]
    if listening in select.select(first, [], [])[0]:
        prepare()
        gc.collect()
        gc.freeze()  # so that no forked process copies all objects when it collects garbage
    while True:
        ready = select.select([*first, *(file for one in children for file in one.files)], [], [])[0]
        if 0 in ready:  # whoever started this process has ended
            for one in children:
                one.kill()
            os._exit(0)
        children = [one for one in children if not _has_ended(one, ready)]
        _hear(children, ready)
        if listening in ready and (asked := _pass_on(listening, children)) is not None:
            return asked


def prepare_commands() -> None:
    """Import all that commands may need, compile the tables, and read what packages add: each command asks for that."""
    metadata.entry_points = cache(metadata.entry_points)  # type: ignore[assignment]  # it reads a hundred files
    for name in (*ALSO_NEEDED, *(one for package in NEEDED for one in _modules(package))):
        importlib.import_module(name)
    for kind in importlib.import_module("phaseline.machines.built_in").installed().values():
        kind.compile()
    forked_program.note_what_remembers()


def _modules(name: str) -> Iterator[str]:
    """The modules of a package, and of those in it, but for what is left out."""
    yield name
    for found in pkgutil.iter_modules(importlib.import_module(name).__path__, f"{name}."):
        if not found.name.endswith(LEFT_OUT):
            yield from _modules(found.name) if found.ispkg else [found.name]


def _has_ended(one: Child, ready: list[Any]) -> bool:
    """Whether it has ended, or was ended because its caller went away; the caller is told."""
    if one.caller in ready:
        one.kill()
    elif one.ended not in ready:
        return False
    _, status = os.waitpid(one.pid, 0)
    one.tell(os.waitstatus_to_exitcode(status))
    one.close()
    return True


def _hear(children: list[Child], ready: list[Any]) -> None:
    """Pass on the exit codes of programs whose processes wait for a further one; let go of those that wait longest."""
    for one in [one for one in children if one.caller is not None and one.link in ready]:
        with contextlib.suppress(ConnectionResetError):  # it has been killed
            if said := one.link.recv(100):
                one.tell(int(said))
                one.let_go()
                children.remove(one)
                children.append(one)
    for one in [one for one in children if one.caller is None and one.alike is not None][:-MOST_IDLE]:
        one.alike = None
        one.link.shutdown(socket.SHUT_WR)


def _pass_on(listening: socket.socket, children: list[Child]) -> Asked | None:
    """Let a process that waits, or a new one, run what the next caller asks for. Only the new one gets it from here."""
    caller, _ = listening.accept()
    request, files, _, _ = socket.recv_fds(caller, 1 << 20, 3)
    if not request:
        caller.close()
        return None
    alike = forked_program.alike(marshal.loads(request))
    for one in reversed(children):
        if one.caller is None and alike is not None and one.alike == alike and _asked(one, request, files):
            one.caller = caller
            one.tell(one.pid)
            _close(files)
            return None
    ours, theirs = socket.socketpair()
    if child := os.fork():
        theirs.close()
        children.append(Child(child, ours, alike, caller))
        _close(files)
        return None
    for one in children:
        one.close()
    for each in (listening, caller, ours):
        each.close()
    os.setsid()
    return Asked(request, files, theirs)


def _asked(one: Child, request: bytes, files: list[int]) -> bool:
    """Ask a process that waits to run a program; whether it is there."""
    try:
        return socket.send_fds(one.link, [request], files) == len(request)
    except OSError:  # it has been killed
        return False


def _close(files: list[int]) -> None:
    for file in files:
        os.close(file)


if __name__ == "__main__":
    descriptor, *prepared = sys.argv[1:]
    before = partial(importlib.import_module(prepared[0]).prepare, *prepared[1:]) if prepared else prepare_commands
    forked_program.run(*serve(socket.socket(fileno=int(descriptor)), before))
