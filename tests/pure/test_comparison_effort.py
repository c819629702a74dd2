"""Large manifests are compared in a time that grows with their size, not with its square."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.assess import assess
from phaseline.machines.kubernetes.diff.managed_fields import _is_it, differing_paths

CUSTOM = {"apiVersion": "x.io/v1", "kind": "Foo", "metadata": {"name": "web"}}
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
MANAGED = {"ignore_differences": [{"group": "*", "kind": "*", "managedFieldsManagers": ["m"]}]}
MANY = 6_000


def managed(names: list[str], members: list[Any]) -> dict[str, Any]:
    owned: dict[str, Any] = {"f:spec": {"f:l": {name: {} for name in names}}}
    metadata = {"name": "web", "managedFields": [{"manager": "m", "fieldsV1": owned}]}
    return {**CUSTOM, "metadata": metadata, "spec": {"l": members}}


def custom(members: list[Any]) -> dict[str, Any]:
    return {**CUSTOM, "spec": {"l": members}}


def pods(names: list[str]) -> dict[str, Any]:
    return {**DEPLOYMENT, "spec": {"template": {"spec": {"containers": [{"name": name} for name in names]}}}}


NAMES = [str(number) for number in range(MANY)]
PAIRS = {
    "values": (managed([f"v:{n}" for n in NAMES], [*range(MANY)]), custom([*range(MANY, 0, -1)]), MANAGED),
    "keys": (
        managed([f'k:{{"a":{n}}}' for n in NAMES], [{"a": n} for n in range(MANY)]),
        custom([{"a": n} for n in range(MANY)]), MANAGED,
    ),
    "no keys": (managed([f'k:{{"a":{n}}}' for n in NAMES], [{}] * MANY), custom([{}] * MANY), MANAGED),
    "all keys": (managed([f'k:{{"a{n}":1}}' for n in NAMES], [{}] * MANY), custom([{}] * MANY), MANAGED),
    "containers": (pods(NAMES), pods(NAMES[::-1]), {}),
    "other containers": (pods(NAMES), pods([f"x{name}" for name in NAMES]), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_long_lists(name: str) -> None:
    live, desired, rules = PAIRS[name]
    start = time.process_time()
    assess(live, desired, rules=rules)
    assert time.process_time() - start < 5


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
