"""docs/testing.md is correct: its samples run, its tests pass, its failure text and its list of laws are current."""

import re
from pathlib import Path
from typing import Any

import pytest

from phaseline import testing
from phaseline.engine.testing.laws import LAWS
from phaseline.engine.testing.replay import Replayed
from phaseline.engine.testing.scenario import Then
from phaseline.testing import given

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "testing.md").read_text()


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example's package can be imported."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "own_kind"))


@pytest.mark.usefixtures("example")
def test_the_samples_run_and_their_tests_pass() -> None:
    names: dict[str, Any] = {}
    for number, sample in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL), 1):
        exec(compile(sample, f"testing.md, sample {number}", "exec"), names)
    tests = [found for name, found in names.items() if name.startswith("test_")]
    assert len(tests) == 3
    for test in tests:
        test()


def test_the_failure_text_is_current() -> None:
    (shown,) = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    after = given().state("node", "c1/p/n1", "Running").when("cluster", "overdue", "c1")
    with pytest.raises(AssertionError) as caught:
        after.then("node_pool", "c1/p", "Running")
    assert str(caught.value) == shown


def test_its_methods_and_laws_exist() -> None:
    listed = [
        re.sub(r"[,]", "", law) for law in re.findall(r"^\| ([a-z ,]+) \| ", PAGE.partition("## Laws")[2], re.MULTILINE)
    ]
    assert listed[1:] == [law.__name__.replace("_", " ") for law in LAWS]
    for word in re.findall(r"`(\w+)\(", PAGE.partition("## Given")[2]):
        assert word in testing.__all__ or hasattr(Then, word) or hasattr(Replayed, word), word
