"""All tests pass with the lowest direct versions that pyproject.toml allows; at a smaller scale, those in `tests/pure`.

Its environment is made once, by `dev.py`, and needs a way to PyPI. The short form is `tests/pure/test_lock.py`: each
requirement names its oldest version.
"""

import os
import subprocess
import sys

import pytest

from tests.support.command import ROOT
from tests.support.prove_scale import SCALE


@pytest.mark.slow
def test_all_holds_with_the_oldest_versions() -> None:
    tests = [] if SCALE >= 1 else ["tests/pure"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, str(ROOT / "dev.py"), "test", "--oldest", *tests]
    assert subprocess.run(command, cwd=ROOT, env=own, check=False).returncode == 0, "the output above says what fails"
