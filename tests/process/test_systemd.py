"""What systemd says of the units in deploy/systemd.

Belongs here: `systemd-analyze`. Does not: what needs no systemd (`tests/pure/test_systemd_units.py`).
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import LIMIT
from tests.support.units import PROGRAM, SERVICES, UNITS

EXPOSED = 15
"""The most exposure that we allow, of 100, as systemd counts it. A service without any hardening has 96."""

pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


def analyze(*words: str | Path) -> str:
    done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=LIMIT, check=False)
    return done.stdout + done.stderr if done.returncode else done.stderr


def test_systemd_understands_every_line(tmp_path: Path) -> None:
    for path in UNITS:  # the program must be there
        (tmp_path / path.name).write_text(path.read_text().replace(PROGRAM, sys.executable))
    assert analyze("verify", "--man=no", *(tmp_path / path.name for path in UNITS)) == ""


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_a_service_may_do_little(path: Path) -> None:
    assert analyze("security", "--offline=true", "--no-pager", f"--threshold={EXPOSED}", path) == ""
