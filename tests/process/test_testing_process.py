"""The test kit in a process of its own: its public name, and what pytest shows of a failure."""

import subprocess
import sys
from pathlib import Path

import phaseline
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.testing import given


def test_it_is_there_by_its_public_name() -> None:
    assert phaseline.testing.given is given
    code = "import phaseline; print(phaseline.testing.given().when('cluster', 'create', 'c1').then('cluster', 'c1', 'Creating'))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    assert done.stdout == "<the tree now:\n  cluster c1  Creating [Progressing]>\n"
    assert isinstance(installed(), Kinds)


FAILURES = {
    ".when('cluster', 'create', 'c1').then('cluster', 'c1', 'Failed')": (
        "expected cluster c1 to be Failed; it is Creating"
    ),
    ".event('cluster', 'created', 'c1')": "expected the given event cluster created c1 to be accepted; it is rejected",
    ".state('cluster', 'c1', 'Runing')": "the test is wrong: cluster has no state 'Runing'",
    ".when('cluster', 'created', 'c1').then_nothing()": "expected cluster created c1 to have no effect; it is rejected",
}


def test_pytest_points_at_the_line_of_the_test(tmp_path: Path) -> None:
    """Not at ours: what a person sees first is the word that failed."""
    tests = [f"def test_{number}() -> None:\n    given(){words}\n" for number, words in enumerate(FAILURES)]
    (tmp_path / "test_it.py").write_text("from phaseline.testing import given\n\n\n" + "\n\n".join(tests))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    for words, says in FAILURES.items():
        assert f">       given(){words}" in done.stdout
        assert f"E       AssertionError: {says}" in done.stdout
    assert "engine/surfaces/testing" not in done.stdout
