"""The pure tier keeps its word: a test that starts a process or connects to a server fails at that line.

Scripts of tables run in a sandbox, which is a process that the product starts for itself: that one is allowed.
"""

import sys
from collections.abc import Iterator
from typing import Any

import croniter  # noqa: F401  # it asks `file` about the interpreter when it is first imported
import pytest

SANDBOX = "phaseline.engine.scripts.child"
FORBIDDEN = (
    "subprocess.Popen",
    "os.posix_spawn",
    "os.fork",
    "os.forkpty",
    "os.system",
    "socket.connect",
    "socket.bind",
)
_running: list[str] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not _running or event not in FORBIDDEN:
        return
    if event == "subprocess.Popen" and SANDBOX in arguments[1]:
        return
    raise AssertionError(f"{_running[-1]} is in tests/pure and uses {event}: move it to tests/nats or tests/process")


sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def pure(request: pytest.FixtureRequest) -> Iterator[None]:
    """Forbid servers and processes while a test of this tier runs."""
    _running.append(request.node.nodeid)
    yield
    _running.pop()
