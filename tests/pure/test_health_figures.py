"""How often a verdict is the one that Argo CD's own scripts give, over its own cases; where they are at hand.

Belongs here: the figures that must hold, by profile, with the table of known kinds and without it. Does not: single
cases (`test_known_kinds`, `test_general_rule`).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart
from phaseline.machines.kinds.kubernetes.health.registry import assess_health, judge
from phaseline.machines.kinds.kubernetes.profiles import ALAUDA, HEALTHY, PROFILES
from tests.support.conformance import cases

CASES = cases("health_custom.json")
Judge = Callable[[Mapping[str, Any]], str]


class Figures(NamedTuple):
    """How many cases were answered as expected, and which are called Healthy and are not."""

    right: int
    false_healthy: list[str]
    wrong: list[str]


def figures(judge: Judge) -> Figures:
    found = [(one["name"], one["expected"], judge(one["manifest"])) for one in CASES]
    return Figures(
        sum(expected == said for _, expected, said in found),
        [name for name, expected, said in found if said == HEALTHY != expected],
        [f"{name}: {expected}, said {said}" for name, expected, said in found if said != expected],
    )


@pytest.mark.skipif(not CASES, reason="the cases are not at hand")
@pytest.mark.parametrize("profile", PROFILES)
def test_known_kinds_are_right_and_none_is_called_healthy_that_is_not(profile: str) -> None:
    found = figures(lambda live: assess_health(live, PROFILES[profile]).status)
    assert found.right >= 0.97 * len(CASES), found.wrong
    assert found.false_healthy == []


@pytest.mark.skipif(not CASES, reason="the cases are not at hand")
def test_the_general_rule_alone() -> None:
    found = figures(lambda live: judge(ManifestPart(live), None, ALAUDA, None).status)
    assert len(found.false_healthy) <= 0.015 * len(CASES), found.false_healthy
    assert found.right >= 0.68 * len(CASES), f"{found.right} of {len(CASES)}"
