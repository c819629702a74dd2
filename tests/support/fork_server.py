"""A process that has imported the command and compiled the tables, and forks for each program that a test starts.

Starting Python and importing all that takes most of a second; forking takes milliseconds. Each program is still a
process of its own, with its own arguments, environment, streams and exit code. It ends with whoever asked for it.
Belongs here: the server. Does not: asking it (`forked_process`), what tests run (`command`, `killable_worker`).
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

READY = b"r"
ALSO_NEEDED = ("phaseline.engine.worker.system", "phaseline.engine.worker.worker", "phaseline.engine.client.client")
"""Modules that commands import when they need them."""


def serve(address: str) -> str:
    """Fork for each connection until standard input ends. Only forked processes return: the module to run."""
    _prepare()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that report to a caller
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        os.write(1, READY)
        while True:
            ready, _, _ = select.select([listening.fileno(), 0], [], [])
            if 0 in ready:
                os._exit(0)  # whoever started this process has ended
            connection, _ = listening.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listening.close()
                return _report(connection)
            connection.close()


def _prepare() -> None:
    package = importlib.import_module("phaseline.engine.cli")
    for module in pkgutil.iter_modules(package.__path__, "phaseline.engine.cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in ALSO_NEEDED:
        importlib.import_module(name)
    importlib.import_module("phaseline.machines.built_in").installed().prepare()  # compiles the tables
    gc.collect()
    gc.freeze()  # so that no forked process copies all objects when it collects garbage


def _report(connection: socket.socket) -> str:
    """Fork once more. The child returns, to become the program; the parent reports the exit code to the caller."""
    request, files, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    asked = json.loads(request)
    child = os.fork()
    if child:
        for file in files:
            os.close(file)
        _stay_with(child, connection)
    connection.close()
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    return _become(asked)


def _stay_with(child: int, connection: socket.socket) -> NoReturn:
    """Tell the caller when the child has ended; if the caller goes away before, end the child and its group."""
    connection.sendall(f"{child}\n".encode())
    ready, _, _ = select.select([os.pidfd_open(child), connection.fileno()], [], [])
    if connection.fileno() in ready:
        os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


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
    chosen = serve(sys.argv[1])
    run_to_its_end(lambda: runpy.run_module(chosen, run_name="__main__", alter_sys=True))
