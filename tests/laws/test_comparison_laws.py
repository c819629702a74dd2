"""Laws of the comparison, over all kinds of Kubernetes and custom ones, at every depth."""

from copy import deepcopy
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from phaseline.machines.kinds.kubernetes.diff import compare as comparing
from phaseline.machines.kinds.kubernetes.diff.canonical import canonical
from phaseline.machines.kinds.kubernetes.diff.compare import _differences, _Sides, as_stored, compare
from phaseline.machines.kinds.kubernetes.diff.holds import holds
from phaseline.machines.kinds.kubernetes.diff.merge import is_left_to_server
from phaseline.machines.kinds.kubernetes.diff.normalize import normalize
from phaseline.machines.kinds.kubernetes.diff.types import ANY, kinds, type_of
from tests.support.strategies import search
from tests.support.typed_objects import add, change, draw, places

KINDS = [*kinds(), ("example.io/v1", "Widget"), ("argoproj.io/v1alpha1", "Rollout")]
EFFORTS = [pytest.param(300, id="short"), pytest.param(4_000, marks=pytest.mark.slow, id="long")]


def drawn(chance: Random) -> tuple[dict[str, Any], Any]:
    version, kind = chance.choice(KINDS)
    return draw(chance, version, kind), type_of(version, kind) or ANY


@pytest.mark.parametrize("effort", EFFORTS)
def test_an_object_is_as_it_is_and_as_the_server_stores_it(effort: int) -> None:
    def law(chance: Random) -> None:
        git, type_ = drawn(chance)
        before = deepcopy(git)
        assert compare(git, deepcopy(git)) == []
        stored = as_stored(canonical(git, type_), type_)
        assert compare(git, stored) == [], stored
        assert compare(stored, git) == [], stored
        assert git == before

    search(effort, law)


@pytest.mark.parametrize("effort", EFFORTS)
def test_what_git_says_and_somebody_changed_is_drift(effort: int) -> None:
    """Every path counts, even where Git says empty, false or 0; whatever was applied last.

    What Git leaves empty for the server to fill in is the only exception.
    """

    def law(chance: Random) -> None:
        git, type_ = drawn(chance)
        live = deepcopy(git)
        spots = [*places(live, type_)]
        if not spots:
            return
        spot = chance.choice(spots)
        path = (spot.step, deepcopy(spot.value))
        if change(chance, spot):
            last = chance.choice([None, deepcopy(git)])
            is_given = is_left_to_server(str(path[0]), path[1], spot.within)
            assert bool(compare(git, live, last=last)) != is_given, (path, git, live)

    search(effort * 2, law)


@pytest.mark.parametrize("effort", EFFORTS)
def test_what_git_does_not_say_is_no_drift(effort: int) -> None:
    def law(chance: Random) -> None:
        git, type_ = drawn(chance)
        live = deepcopy(git)
        add(chance, live, type_)
        assert compare(git, live) == [], (git, live)

    search(effort * 2, law)


@pytest.mark.parametrize("effort", EFFORTS)
def test_the_quick_look_says_yes_only_where_the_long_one_does(effort: int) -> None:
    def law(chance: Random) -> None:
        git, type_ = drawn(chance)
        live = deepcopy(git)
        for _ in range(chance.randrange(3)):
            add(chance, live, type_)
        if (spots := [*places(live, type_)]) and chance.random() < 0.7:
            change(chance, chance.choice(spots))
        wanted, found = (normalize(one, in_namespace=True, aggregates=True) for one in (git, live))
        if holds(wanted, found, type_):
            assert _differences(_Sides(wanted, found, None), type_, ()) == []

    search(effort * 2, law)


@pytest.mark.parametrize("effort", EFFORTS)
def test_parts_that_are_shared_hide_nothing(effort: int) -> None:
    """What an apply leaves alone is stored once. The differences are those of two copies."""
    alone = patch.object(
        comparing, "both_as_stored", lambda *sides: tuple(as_stored(one, sides[2]) for one in sides[:2])
    )

    def law(chance: Random) -> None:
        git, type_ = drawn(chance)
        live, last = deepcopy(git), deepcopy(git)
        for side in (git, live, last):
            for _ in range(chance.randrange(3)):
                add(chance, side, type_)
            for _ in range(chance.randrange(3)):
                if spots := [*places(side, type_)]:
                    change(chance, chance.choice(spots))
        last_applied = chance.choice([None, last])
        shared = compare(git, live, last=last_applied)
        with alone:
            assert compare(git, live, last=last_applied) == shared

    search(effort * 2, law)


def test_a_part_is_not_shared_if_defaults_reach_into_it() -> None:
    """The host's network gives ports of containers a host port."""
    containers = [{"name": "a", "image": "a:1", "ports": [{"containerPort": 80}]}]
    live = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}}
    git = {**live, "spec": {"containers": containers, "hostNetwork": True}}
    assert [one.pointer for one in compare(git, live)] == [
        "/spec/containers/0/ports/0/hostPort", "/spec/hostNetwork"
    ]  # fmt: skip
