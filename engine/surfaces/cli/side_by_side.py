"""A replay in several processes side by side, each on partitions of its own.

Belongs here: how many processes there are, starting and ending them, what they send. Does not: their work
(`replay_task`).
Each process reads the whole file, but decides only the events of its partitions. A tree lies in one partition, so no
process needs anything of another one. The parent adds up what they found in the order of the partitions.
"""

import asyncio
import os
import pickle
import struct
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from dataclasses import replace
from typing import Any, BinaryIO

from phaseline.engine.collecting import collecting_rarely
from phaseline.engine.nats.embedded.server import end_with_parent
from phaseline.engine.nats.embedded.supervisor import how_it_ended
from phaseline.engine.replay.log_writer import STANDARD
from phaseline.engine.surfaces.cli import terminal
from phaseline.engine.surfaces.cli.log_source import LogPart, Source
from phaseline.engine.surfaces.cli.replay_task import ReplayResult, ReplayTask, Show
from phaseline.schemas.errors import SetupError

EACH = 100_000
"""Events that are worth a process of their own: they take longer than its start."""
HEAD = struct.Struct(">Q")


def processes(wanted: int | None, task: ReplayTask, source: Source) -> int:
    """How many processes to use. wanted: as the options say.

    A process needs a partition of its own. What can be read only once, like a pipe, and one tree take one process.
    """
    is_pipe = task.file is not None and (task.file == STANDARD or not task.file.is_file())
    if task.part.root is not None or is_pipe:
        return 1
    if wanted is None:
        wanted = 1 if task.file is None else min(os.cpu_count() or 1, (source.ends - source.begins + 1) // EACH)
    return max(1, min(wanted, source.partitions))


def shares(partitions: int, count: int) -> list[range]:
    """The partitions of each of `count` processes."""
    return [range(partitions * number // count, partitions * (number + 1) // count) for number in range(count)]


async def fold(task: ReplayTask, source: Source, count: int, show: Show, *, verbose: bool) -> list[ReplayResult] | None:
    """What `count` processes found, in the order of their partitions; None if one of them met an error.

    The caller then does all of the work alone, and meets the error of the first event that has one. Raises
    `SetupError.replay_process_ended` if a process was ended by something else.
    """
    part = LogPart(None, source.span.first, source.span.last)  # of times in it, the events have been found already
    running = [
        asyncio.create_task(_share(replace(task, part=part, partitions=share), show, verbose=verbose))
        for share in shares(source.partitions, count)
    ]
    try:
        found = await asyncio.gather(*running)
    finally:
        for one in running:
            if not one.cancelling():  # a second time would hinder it from waiting for its process
                one.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    return None if None in found else [part for part in found if part is not None]


async def _share(task: ReplayTask, show: Show, *, verbose: bool) -> ReplayResult | None:
    """The work of one process. It is killed if this is cancelled."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, stdin=PIPE, stdout=PIPE,
        start_new_session=True,  # Ctrl-C must not reach it: we end it
        preexec_fn=end_with_parent(),
    )  # fmt: skip
    try:
        return await _talk(process, (task, verbose), show)
    except (asyncio.IncompleteReadError, ConnectionError) as error:
        raise SetupError.replay_process_ended(how=how_it_ended(await process.wait())) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _talk(process: Process, request: Any, show: Show) -> ReplayResult | None:
    """Tell a process what to do, show its progress, and return its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(pickle.dumps(request))
    process.stdin.write_eof()
    while True:
        (size,) = HEAD.unpack(await process.stdout.readexactly(HEAD.size))
        said = pickle.loads(await process.stdout.readexactly(size))  # noqa: S301  # a process of ours
        if not isinstance(said, int):
            found: ReplayResult | None = said
            return found
        show(said)


def main() -> None:
    """Do the work that stdin says, and write progress and result to stdout. Whatever else is printed goes to stderr."""
    task, verbose = pickle.load(sys.stdin.buffer)  # noqa: S301  # from a process of ours
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        terminal.log_to_stderr(verbose=verbose)
        send = _sender(out)
        try:
            with collecting_rarely():
                found = asyncio.run(_alone(task, send))
        except Exception:  # noqa: BLE001  # the parent does the work again, and says what is wrong
            found = None
        send(found)


async def _alone(task: ReplayTask, show: Show) -> ReplayResult:
    kinds = task.kinds()
    async with task.opened(kinds) as source:
        return await task.fold(source, kinds, show)


def _sender(out: BinaryIO) -> Callable[[object], None]:
    def send(value: object) -> None:
        data = pickle.dumps(value)
        out.write(HEAD.pack(len(data)) + data)
        out.flush()

    return send


if __name__ == "__main__":
    main()
