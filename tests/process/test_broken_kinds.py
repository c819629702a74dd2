"""A kind of somebody else's package that is broken: commands go on without it, and workers refuse to start."""

import asyncio
import os
import subprocess
from pathlib import Path

from phaseline.machines import built_in
from phaseline.machines.language.product import BrokenKind
from phaseline.schemas.errors import SetupError
from tests.support.broken_packages import install
from tests.support.command import COMMAND, ROOT
from tests.support.installation import Settings, Wire, Worker
from tests.support.raising import raises


def test_other_commands_go_on_with_a_warning(tmp_path: Path) -> None:
    install(tmp_path, "bad_absent")
    words = [*COMMAND, "kinds", "show", "cluster"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NO_COLOR": "1"}
    done = subprocess.run(words, env=environment, check=False, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, "cluster" in done.stdout) == (0, True)
    assert done.stderr == (
        "warning: the kind crate of the package bad_absent 1.2 (bad_absent:CRATE) cannot be used: "
        "No module named 'nowhere_at_all' (bad_absent.py, line 1); it is left out here\n"
    )


async def test_a_worker_refuses_to_start(one_broken: BrokenKind, settings: Settings, wire: Wire) -> None:
    with raises(SetupError.kinds_broken, match=r"acme-kinds 1\.2"):
        await Worker(wire, settings, built_in.installed()).run(asyncio.Event())
