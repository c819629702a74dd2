"""A script that runs without end, and whose owner is killed, ends with it."""

import signal
import subprocess
import sys

import pytest

from tests.support.processes import computed, is_there, until

ENDLESS = """
import sys
from phaseline.engine.scripts.sandbox import Sandbox
from phaseline.schemas.errors import ScriptStopped
sandbox = Sandbox(1000)
sandbox.ask({"run": "jq", "programs": [".a"], "objects": [{"a": 1}]})
print(sandbox._child.pid, flush=True)
script = "return ('x'):rep(9000):find('.-.-y')"
sandbox.ask({"run": "lua", "script": script, "object": {}, "now": 1})
"""


def killed_with_its_script(number: int) -> None:
    """End a process by a signal while its script runs, and wait until the script's process is gone."""
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())  # type: ignore[union-attr]  # it is piped
        until(lambda: computed(child) > 0.1)
        parent.send_signal(number)
        parent.wait()
    until(lambda: not is_there(child))


def test_a_script_ends_with_its_parent_although_that_is_killed() -> None:
    killed_with_its_script(signal.SIGKILL)


@pytest.mark.slow
def test_ten_of_ten_scripts_end_with_their_parents() -> None:
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
        for _ in range(10):
            killed_with_its_script(number)
