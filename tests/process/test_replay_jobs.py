"""A replay in several processes prints what one process prints, for any number of them.

Belongs here: `phaseline log replay --jobs`. Does not: what a replay finds (`test_replaying`, `test_audit`).
"""

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from benchmarks.replay import write
from phaseline.engine.surfaces.cli import side_by_side
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import SetupError
from tests.support.command import COMMAND, ENVIRONMENT, LIMIT, call
from tests.support.installation import Settings
from tests.support.raising import raises
from tests.support.recorded_logs import FileLog, Item, LogFile, LogPart, LogWriter, RecordItem, ReplayTask
from tests.support.replay_shares import in_shares, printed

EVENTS = 300
WHOLE = LogPart(None, None, None)
CHANGED = "tests.support.changed_tables:DEGRADED"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 51 trees, of whose records some are missing, and some are of other words or other states."""
    folder = tmp_path_factory.mktemp("jobs")
    write(folder / "good.plog", EVENTS)
    source = LogFile(folder / "good.plog")
    with LogWriter(folder / "log.plog", source.header) as altered:
        for number, item in enumerate(chain.from_iterable(source.slices())):
            if number % 97:
                altered.write(_altered(item, number))
    return folder / "log.plog"


def _altered(item: Item, number: int) -> Item:
    if not isinstance(item, RecordItem) or number % 5:
        return item
    return replace(
        item, body=item.body.replace(b"Running", b"Stopped").replace(b"the kubelet says", b"the kubelet said")
    )


def task(log: Path, how: str, *, lists: bool = True) -> ReplayTask:
    return ReplayTask(Settings(), log, None, WHOLE, how == "audit", CHANGED if how == "what-if" else None, lists)


@pytest.mark.parametrize("how", ["rebuild", "audit", "what-if"])
@pytest.mark.parametrize("name", ["whole", "cut"])
async def test_shares_add_up(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str, name: str
) -> None:
    if name == "cut":
        log, whole = tmp_path / "cut.plog", log.read_bytes()
        log.write_bytes(whole[: len(whole) * 2 // 3])
    alone = [*printed(await in_shares(task(log, how), 1), capsys)]
    assert ("damaged" in alone[2]) == (name == "cut")
    if how == "audit":
        told = json.loads(alone[0].splitlines()[-1])
        assert len(told["divergences"]) > 10
    for count in (2, 3, 8):
        assert [*printed(await in_shares(task(log, how), count), capsys)] == alone


async def test_the_command_says_the_same(log: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.plog").write_bytes(log.read_bytes()[:-9_000])
    words = ("log", "replay", "--file", str(tmp_path / "cut.plog"), "--audit", "--jobs")
    alone, two = [await call(*words, jobs) for jobs in ("1", "2")]
    assert two == alone
    assert alone[0] == 2
    assert "damaged" in alone[2]


async def test_an_error_is_that_of_one_process(log: Path, tmp_path: Path) -> None:
    """Each process meets the error in its own first event; the command says the one that stands first in the log."""
    source, odd = LogFile(log), tmp_path / "odd.plog"
    with LogWriter(odd, source.header) as writer:
        for item in source.items():
            writer.write(replace(item, body=b"\xc1") if isinstance(item, RecordItem) else item)
    words = ("log", "replay", "--file", str(odd), "--with", "examples/degraded.py:COMPONENT", "--jobs")
    alone, two = [await call(*words, jobs) for jobs in ("1", "2")]
    assert two == alone
    assert alone[0] != 0


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.subprocess.Process]:
    """The processes that are started from now on. Each is stopped until something kills it."""
    start, found = asyncio.create_subprocess_exec, list[asyncio.subprocess.Process]()

    async def stopped(*words: str, **options: Any) -> asyncio.subprocess.Process:
        assert options["start_new_session"]  # Ctrl-C reaches the parent alone
        found.append(await start(*words, **options))
        found[-1].send_signal(signal.SIGSTOP)
        return found[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", stopped)
    return found


@pytest.mark.parametrize("how", ["killed", "interrupted"])
async def test_all_processes_end_together(log: Path, started: list[asyncio.subprocess.Process], how: str) -> None:
    """One is killed by somebody, for want of memory for instance; or Ctrl-C cancels the work."""
    one = task(log, "audit")
    async with one.opened(installed()) as source, asyncio.timeout(LIMIT):
        folding = asyncio.create_task(side_by_side.fold(one, source, 3, lambda _: None, verbose=False))
        while len(started) < 3:
            await asyncio.sleep(0.01)
        if how == "killed":
            started[1].kill()
            with raises(SetupError.replay_process_ended, match="SIGKILL"):
                await folding
        else:
            folding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await folding
    assert [process.returncode for process in started] == [-signal.SIGKILL] * 3


WAITING_TABLES = f"""
import signal, sys
from {CHANGED.partition(":")[0]} import DEGRADED
if "side_by_side" in sys.argv[0]:
    signal.pause()
"""


async def test_processes_end_with_their_parent(log: Path, tmp_path: Path) -> None:
    """The parent is killed before it can end them, and they never end by themselves."""
    tables = tmp_path / "waiting.py"
    tables.write_text(WAITING_TABLES)
    command = [*COMMAND, "replay", "--file", str(log), "--with", f"{tables}:DEGRADED", "--jobs", "2"]
    parent = await asyncio.create_subprocess_exec(*command, env=ENVIRONMENT, stdout=DEVNULL, stderr=DEVNULL)
    async with asyncio.timeout(LIMIT):
        while len(children := children_of(parent.pid)) < 2:
            await asyncio.sleep(0.01)
        parent.kill()
        await parent.wait()
        while any(Path(f"/proc/{child}").exists() for child in children):
            await asyncio.sleep(0.01)


def children_of(process: int) -> list[int]:
    """The processes of a replay below this one."""
    below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(one) for one in below if "side_by_side" in Path(f"/proc/{one}/cmdline").read_text()]


def test_how_many_processes(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, pipe = FileLog(log), tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    one = task(log, "audit")
    assert [side_by_side.processes(wanted, one, source) for wanted in (None, 1, 3, 99)] == [1, 1, 3, 8]
    source.ends = 250_000
    assert side_by_side.processes(None, one, source) == 2
    source.ends = 10_000_000
    assert side_by_side.processes(None, one, source) == 4
    for alone in (
        ReplayTask(Settings(), log, None, LogPart("c1", None, None), audits=False, changed=None, lists=False),
        ReplayTask(Settings(), Path("-"), None, WHOLE, audits=False, changed=None, lists=False),
        ReplayTask(Settings(), pipe, None, WHOLE, audits=False, changed=None, lists=False),
    ):
        assert side_by_side.processes(4, alone, source) == 1
    of_server = ReplayTask(Settings(), None, None, WHOLE, audits=True, changed=None, lists=False)
    assert [side_by_side.processes(wanted, of_server, source) for wanted in (None, 2)] == [1, 2]
