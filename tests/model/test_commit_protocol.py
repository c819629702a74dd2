"""The commit protocol, explored in all interleavings within bounds: each event once, in order, by the owner alone.

`python -m tests.support.commit_model` prints the counterexample for each safeguard that is left out.
"""

from collections.abc import Iterable
from typing import Any

import pytest

from tests.support.commit_model.gallery import BROKEN, LARGE, SOUND

LIMIT = 100_000
"""States of a case in the normal run, at most."""
DEAR = {
    "take-overs", "oversized, foreign messages",
    "the end of a purge", "strict reading of copied checkpoints", "strict reading of foreign messages",
}  # fmt: skip
"""Cases whose bounds hold many states while nothing is wrong: `prove` explores them."""


def where_nothing_is_wrong(cases: Iterable[str]) -> list[Any]:
    """The names of cases; those that are dear are marked slow."""
    return [pytest.param(one, marks=[pytest.mark.slow] * (one in DEAR)) for one in cases]


@pytest.mark.parametrize("name", where_nothing_is_wrong(SOUND))
def test_the_protocol_holds(name: str) -> None:
    found = SOUND[name].model.explore(LIMIT)
    assert not found.problem, f"\n{found}"
    assert found.complete > 100, "the search never decides all events"


@pytest.mark.parametrize("name", BROKEN)
def test_each_safeguard_is_needed(name: str) -> None:
    case = BROKEN[name]
    found = case.model.explore(LIMIT)
    assert found.problem.startswith(case.problem), f"\n{found}"
    assert str(found).startswith("  1. worker 1 takes over")


@pytest.mark.parametrize("name", where_nothing_is_wrong(BROKEN))
def test_with_the_safeguard_the_same_bounds_hold(name: str) -> None:
    model = BROKEN[name].model
    found = model._replace(protocol=type(model.protocol)()).explore(LIMIT)
    assert not found.problem, f"\n{found}"


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_the_protocol_holds_within_larger_bounds(name: str) -> None:
    found = LARGE[name].model.explore(20_000_000)
    assert not found.problem, f"\n{found}"
