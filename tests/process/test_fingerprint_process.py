"""A table's version is the same in every process."""

import os
import subprocess
import sys

from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

SCRIPT = "from phaseline.machines.built_in import installed; print(installed().digest)"


def test_the_same_in_every_process() -> None:
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == KINDS.digest
