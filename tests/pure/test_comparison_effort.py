"""Large manifests are compared in steps that grow with their size, not with its square."""

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.products.gitops.assess import assess
from phaseline.machines.kinds.kubernetes.diff import managed_fields
from phaseline.machines.kinds.kubernetes.diff.managed_fields import _is_it, differing_paths

CUSTOM = {"apiVersion": "x.io/v1", "kind": "Foo", "metadata": {"name": "web"}}
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
MANAGED = {"ignore_differences": [{"group": "*", "kind": "*", "managedFieldsManagers": ["m"]}]}
FEW = 150


def managed(names: list[str], members: list[Any]) -> dict[str, Any]:
    owned: dict[str, Any] = {"f:spec": {"f:l": {name: {} for name in names}}}
    metadata = {"name": "web", "managedFields": [{"manager": "m", "fieldsV1": owned}]}
    return {**CUSTOM, "metadata": metadata, "spec": {"l": members}}


def custom(members: list[Any]) -> dict[str, Any]:
    return {**CUSTOM, "spec": {"l": members}}


def pods(names: list[str]) -> dict[str, Any]:
    return {**DEPLOYMENT, "spec": {"template": {"spec": {"containers": [{"name": name} for name in names]}}}}


def managed_keys(many: int, key: str, member: Callable[[int], Any]) -> tuple[Any, Any, Any]:
    """Members that are found by keys."""
    members = [member(n) for n in range(many)]
    return managed([f"k:{key % n}" for n in range(many)], members), custom(members), MANAGED


def names(many: int) -> list[str]:
    return [str(number) for number in range(many)]


PAIRS: dict[str, Callable[[int], tuple[Any, Any, Any]]] = {
    "values": lambda n: (managed([f"v:{m}" for m in range(n)], [*range(n)]), custom([*range(n, 0, -1)]), MANAGED),
    "keys": lambda n: managed_keys(n, '{"a":%d}', lambda m: {"a": m}),
    "no keys": lambda n: managed_keys(n, '{"a":%d}', lambda _: {}),
    "all keys": lambda n: managed_keys(n, '{"a%d":1}', lambda _: {}),
    "containers": lambda n: (pods(names(n)), pods(names(n)[::-1]), {}),
    "other containers": lambda n: (pods(names(n)), pods([f"x{name}" for name in names(n)]), {}),
}


def steps(live: Any, desired: Any, rules: Any) -> int:
    """How many lines of Python it takes to compare them; each round of a loop has one."""
    count, before = 0, sys.gettrace()

    def count_line(_: FrameType, event: str, __: Any) -> Any:
        nonlocal count
        count += event == "line"
        return count_line

    sys.settrace(count_line)
    try:
        assess(live, desired, rules=rules)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", PAIRS)
def test_twice_as_long_lists_take_about_twice_as_many_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(managed_fields, "MOST", FEW)  # beyond so many looks at members the search stops
    _, few, many = (steps(*PAIRS[name](size)) for size in (1, FEW, 2 * FEW))  # the first also makes what is kept
    assert FEW < few < many < 2.5 * few


MEMBERS = st.lists(
    st.integers(0, 2) | st.booleans() | st.dictionaries(st.sampled_from("ab"), st.integers(0, 2) | st.lists(st.none())),
    max_size=5,
)
WANTED: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from("ab"), st.integers(0, 2) | st.booleans() | st.just([]), max_size=2
)


@given(MEMBERS, MEMBERS, WANTED | st.integers(0, 2), st.sampled_from("kv"))
def test_the_members_are_those_that_comparing_each_finds(
    live: list[Any], desired: list[Any], wanted: Any, how: str
) -> None:
    name = f"{how}:{json.dumps(wanted)}"
    found = {path[2] for path in differing_paths("m", custom(desired), managed([name], live))}
    if how == "k" and not isinstance(wanted, dict):
        assert found == set()
        return
    other = next((one for one in desired if _is_it(one, wanted, how)), None)
    expected = {index for index, one in enumerate(live) if _is_it(one, wanted, how)}
    assert found <= expected
    if other is None:
        assert found == set()
