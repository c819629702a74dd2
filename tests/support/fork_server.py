"""A process that has imported the command and compiled the tables, and forks for each call. This saves a second a call.

Each call is still a process of its own, with its own arguments, environment, output and exit code. Belongs here: the
server and the call. Does not: what tests run (`command`).
"""

import asyncio
import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

READY = b"r"


def serve(address: str) -> None:
    """Fork for each connection until standard input ends. Only the forked process returns; it becomes the command."""
    _prepare()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that report to a caller
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        os.write(1, READY)
        while True:
            ready, _, _ = select.select([listening.fileno(), 0], [], [])
            if 0 in ready:
                raise SystemExit  # whoever started this process has ended
            connection, _ = listening.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listening.close()
                _report(connection)
                return
            connection.close()


def _prepare() -> None:
    package = importlib.import_module("phaseline.engine.cli")
    for module in pkgutil.iter_modules(package.__path__, "phaseline.engine.cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    importlib.import_module("phaseline.machines.built_in").installed()  # compiles the tables
    gc.collect()
    gc.freeze()  # so that no forked process copies all objects when it collects garbage


def _report(connection: socket.socket) -> None:
    """Fork once more. The child returns and becomes the command; the parent reports the exit code to the caller."""
    request, files, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    asked = json.loads(request)
    child = os.fork()
    if child:
        connection.sendall(f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    connection.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    sys.argv = ["phaseline", *asked["words"]]


class ForkServer:
    """The fork server. It starts when it is first needed and ends with this process."""

    def __init__(self) -> None:
        self._address = ""
        self._starting = threading.Lock()

    async def run(
        self, words: tuple[str, ...], environment: dict[str, str], folder: Path, stdin: bytes | None = None
    ) -> tuple[int, bytes, bytes]:
        """Exit code, standard output and standard error of the command. stdin: what it reads from a pipe, if given."""
        await self.address(environment)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _input(stdin) as source:
            code = await self._ask(words, environment, folder, [source, out.fileno(), err.fileno()])
            out.seek(0)
            err.seek(0)
            return code, out.read(), err.read()

    async def address(self, environment: dict[str, str]) -> str:
        """Where the server listens. It is started if it does not run yet."""
        await asyncio.to_thread(self._start_once, environment)
        return self._address

    def _start_once(self, environment: dict[str, str]) -> None:
        with self._starting:
            if not self._address:
                self._address = self._start(environment)

    def _start(self, environment: dict[str, str]) -> str:
        folder = tempfile.TemporaryDirectory()
        address = f"{folder.name}/s"
        command = [sys.executable, "-m", "tests.support.fork_server", address]
        path = str(Path(__file__).parents[2])
        own = {**environment, "PYTHONPATH": os.pathsep.join(filter(None, [path, environment.get("PYTHONPATH")]))}
        process = subprocess.Popen(command, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=path)
        assert process.stdout is not None
        assert process.stdout.read(1) == READY
        process.stdout.close()
        atexit.register(folder.cleanup)
        atexit.register(self._end, process)
        return address

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()

    async def _ask(self, words: tuple[str, ...], environment: dict[str, str], folder: Path, files: list[int]) -> int:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self._address)
            asked = {"words": words, "environment": environment, "folder": str(folder)}
            socket.send_fds(connection, [json.dumps(asked).encode()], files)
            os.close(files[0])  # so that the pipe ends with the command
            reader, writer = await asyncio.open_connection(sock=connection)
            child = int(await reader.readline())
            try:
                return int(await reader.readline())
            except asyncio.CancelledError:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                raise
            finally:
                writer.close()


@contextlib.contextmanager
def _input(content: bytes | None) -> Iterator[int]:
    """The end of a pipe from which `content` can be read; or nothing to read. Whoever uses it closes it."""
    if content is None:
        yield os.open(os.devnull, os.O_RDONLY)
        return
    source, into = os.pipe()

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), os.fdopen(into, "wb") as file:
            file.write(content)

    writing = threading.Thread(target=write)
    writing.start()
    try:
        yield source
    finally:
        writing.join()


def run_to_its_end(command: Callable[[], object]) -> NoReturn:
    """Run a command, and end as the interpreter does, but without taking all objects apart: that takes longer than most
    commands.
    """
    status = 0
    try:
        command()
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
    serve(sys.argv[1])
    from phaseline.engine.cli import main

    # The streams of this process were made for the server: a command makes its own.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # they last as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    run_to_its_end(main)
