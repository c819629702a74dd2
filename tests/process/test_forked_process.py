"""Processes that tests start: what they show, and that none outlives the test, the caller, or the test process."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import closed_port, forked_process
from tests.support.command import MODULE, ROOT, Shell, line_with
from tests.support.installation import Settings
from tests.support.killable_worker import WorkerProcess
from tests.support.processes import is_there, until

FAILS = """
import os, signal, pytest
from tests.support import closed_port
from tests.support.command import Shell, line_with

async def started():
    worker = await Shell().start("worker", "--nats", closed_port.NATS)
    await line_with(worker.stderr, "nats_unreachable")
    print("pid", worker.pid, flush=True)

async def test_that_fails():
    await started()
    raise AssertionError

def test_that_is_interrupted():
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    print("heard", flush=True)

async def test_that_ends_the_test_process():
    await started()
    os.kill(os.getpid(), signal.SIGKILL)
"""
COUNTS = """
import os, pathlib, pytest
from tests.support import command

(here := pathlib.Path(__file__).parent / "imports").open("a").write("once")

@pytest.mark.parametrize("number", range(2))
def test_it(number):
    assert here.read_text() == "once"
    state = os.environ["XDG_STATE_HOME"]
    assert command.ENVIRONMENT["XDG_STATE_HOME"] == state
    assert pathlib.Path(state).is_dir()
    (here.parent / f"state-{number}").write_text(state)
"""
DEAF = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
"""Starts a program as a script starts one in the background: it ignores Ctrl-C."""


async def test_streams_arguments_environment_and_exit_codes() -> None:
    said = await Shell(PHASELINE_PREFIX="from.here")("list", "--nats", closed_port.NATS)
    assert (said.code > 0, said.out) == (True, "")
    assert closed_port.ADDRESS in said.err
    assert (await Shell()("no-such-command")).code == 2
    assert (await Shell()("gitops", "assess", "-", stdin=b"kind: A")).code > 0


async def whole(*words: str, folder: Path = ROOT, **environment: str) -> tuple[int, str]:
    """The process of a program that nobody talks to, and what it printed."""
    given = {**Shell().environment, **environment}
    started = await forked_process.start(*words, environment=given, folder=folder, whole=True)
    out, err = await started.communicate()
    assert started.returncode == 0, err.decode()
    return started.pid, out.decode()


def timed(statement: str) -> tuple[str, ...]:
    """A program that runs this statement, and prints that it did."""
    return "timeit", "-n1", "-r1", statement


async def test_programs_that_nobody_talks_to_share_a_process(tmp_path: Path) -> None:
    await asyncio.gather(whole(MODULE, "--version"), whole(MODULE, "--version"))
    first, said = await whole(MODULE, "--version")
    assert await whole(MODULE, "--version", folder=tmp_path, PHASELINE_PREFIX="other") == (first, said)
    seen = "import os; print(os.getcwd(), os.environ['PHASELINE_PREFIX'])"
    process, said = await whole(*timed(seen), folder=tmp_path, PHASELINE_PREFIX="mine")
    assert (process, said.splitlines()[0]) == (first, f"{tmp_path} mine")
    os.kill(first, signal.SIGKILL)  # while it waits
    until(lambda: not is_there(first))
    assert (await whole(MODULE, "--version"))[0] != first


@pytest.mark.parametrize(
    "leaves",
    [
        "import os; os.open('/dev/null', os.O_RDONLY)",
        "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "import atexit; atexit.register(print)",
        "import subprocess; subprocess.Popen(['sleep', '1'])",
    ],
    ids=["a file", "a thread", "a handler", "an exit", "a child"],
)
async def test_nothing_runs_where_a_program_left_something(leaves: str) -> None:
    left, _ = await whole(*timed(leaves))
    assert (await whole(*timed("pass")))[0] != left


async def test_what_the_environment_says_to_python_is_not_shared() -> None:
    here, _ = await whole(*timed("pass"))
    elsewhere, said = await whole(*timed("import time; print(time.tzname[0])"), TZ="Asia/Tokyo")
    assert (elsewhere != here, said.splitlines()[0]) == (True, "JST")


async def test_how_a_command_logs_ends_with_it() -> None:
    asked = ("list", "--nats", closed_port.NATS)
    first, long, again = [await Shell()(*words) for words in (asked, (*asked, "-v"), asked)]
    assert "Traceback" in long.err
    assert again == first


async def test_signals_and_the_code_that_says_so() -> None:
    process = await Shell().start("worker", "--nats", closed_port.NATS)
    await line_with(process.stderr, "nats_unreachable")
    process.kill()
    await process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert forked_process.STARTED == []


async def test_what_a_test_leaves_is_killed(settings: Settings) -> None:
    worker = await WorkerProcess.start(settings)
    await line_with(worker.process.stderr, "worker_started")
    assert forked_process.kill_all() == [worker.process.pid]
    assert not is_there(worker.process.pid)


def pytest_in(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on tests of their own, with the fixtures and hooks of all tests."""
    (folder / "test_it.py").write_text(text)
    ours = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-q"]
    return subprocess.run(
        [*DEAF, sys.executable, "-m", "pytest", *ours, *options, f"--rootdir={folder}", "test_it.py"],
        capture_output=True, text=True, check=False, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_test_processes_share_what_is_imported_and_have_their_own_state(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, COUNTS, "-n", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len({file.read_text() for file in tmp_path.glob("state-*")}) == 2


def test_a_failed_test_leaves_no_process(tmp_path: Path) -> None:
    """Nor does a test process that is killed. Its tests can press Ctrl-C even if its shell ignores that."""
    done = pytest_in(tmp_path, FAILS, "-n", "0", "-s")
    assert done.returncode == -signal.SIGKILL, done.stdout
    pids = [int(line.split()[-1]) for line in done.stdout.splitlines() if "pid " in line]
    assert len(pids) == 2
    assert "heard" in done.stdout
    until(lambda: not any(map(is_there, pids)))


async def test_it_ends_when_its_caller_lets_go_of_it() -> None:
    process = await Shell().start("worker", "--nats", closed_port.NATS)
    await line_with(process.stderr, "nats_unreachable")
    process._transport.close()  # type: ignore[attr-defined]  # as its end does
    await asyncio.to_thread(until, lambda: not is_there(process.pid))
