"""Custom kinds are compared by the schema of their definition, where that is known (docs/spec/gitops.md, Comparing)."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.machines.kinds.kubernetes.diff.compare import compare
from phaseline.machines.kinds.kubernetes.diff.known_types import KnownType
from phaseline.machines.kinds.kubernetes.diff.schemas import cut, type_of_schema
from phaseline.machines.kinds.kubernetes.kind_facts import KindFacts, KindsTold
from tests.support.custom_kinds import custom, definition

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
SIZE = {"anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": QUANTITY, "x-kubernetes-int-or-string": True}
PORT = {"type": "object", "required": ["port"], "properties": {
    "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": {"type": "string"},
}}  # fmt: skip
SPEC: dict[str, Any] = {"type": "object", "properties": {
    "size": SIZE,
    "either": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
    "mode": {"type": "string", "default": "fast"},
    "maybe": {"type": "string", "default": "a", "nullable": True},
    "text": {"type": "string"},
    "at": {"type": "string", "format": "date-time"},
    "bytes": {"type": "string", "format": "byte"},
    "limits": {"type": "object", "additionalProperties": SIZE},
    "part": {"type": "object", "default": {}, "properties": {"deep": {"type": "integer", "default": 3}, "other": {"type": "integer"}}},
    "ports": {"type": "array", "items": PORT, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"]},
    "named": {"type": "array", "items": PORT, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    "words": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "list": {"type": "array", "items": PORT},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"size": SIZE}},
    "pod": {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {"type": "object", "properties": {"size": SIZE}}}},
}}  # fmt: skip
FACTS = KindsTold([definition(SPEC)]).of(custom({}))
A, B = {"port": 1, "name": "a"}, {"port": 2, "name": "b"}


def both(git: Any, live: Any) -> list[tuple[str, str]]:
    """The differences by the whole schema, which are those by the part that an event holds."""
    told = KindFacts.of({"kind_facts": json.loads(json.dumps(FACTS.about(custom(git))))})
    found = [compare(custom(git), custom(live), schema=one.type) for one in (FACTS, told)]
    assert found[0] == found[1]
    return [(one.pointer, one.note) for one in found[0]]


@pytest.mark.parametrize(("git", "live"), [
    pytest.param({"size": "1024Mi"}, {"size": "1Gi"}, id="a quantity"),
    pytest.param({"size": 1}, {"size": "1000m"}, id="a quantity that is a number"),
    pytest.param({"limits": {"cpu": 0.5}}, {"limits": {"cpu": "500m", "memory": "1Gi"}}, id="quantities by name"),
    pytest.param({"either": 80}, {"either": "80"}, id="a number or a text"),
    pytest.param({"mode": None}, {"mode": "fast"}, id="null where there is a default"),
    pytest.param({"maybe": None}, {"maybe": None}, id="null that may be"),
    pytest.param({"maybe": None}, {"maybe": "a"}, id="null that may be, where there is a default"),
    pytest.param({}, {"mode": "slow", "part": {"deep": 4}}, id="what Git does not say"),
    pytest.param({"part": {"deep": 3}}, {"part": {}}, id="a default that Git says"),
    pytest.param({"part": {"deep": 3}}, {}, id="a default in a default"),
    pytest.param({"at": "2026-03-02T10:00:00+02:00"}, {"at": "2026-03-02T08:00:00Z"}, id="a time"),
    pytest.param({"bytes": "Zm9v\nYmFy"}, {"bytes": "Zm9vYmFy"}, id="bytes"),
    pytest.param({"ports": [A]}, {"ports": [B, {**A, "protocol": "TCP"}]}, id="a member by two keys, with a default"),
    pytest.param({"named": [A]}, {"named": [{**A, "protocol": "TCP"}, B]}, id="a member by its key"),
    pytest.param({"words": ["a"]}, {"words": ["b", "a"]}, id="a set with more members"),
    pytest.param({"list": [A]}, {"list": [{**A, "protocol": "TCP"}]}, id="a default in a list without keys"),
    pytest.param({"free": {"any": {"thing": [1]}, "size": "1000m"}}, {"free": {"any": {"thing": [1]}, "size": 1}}, id="unknown fields that are kept"),
    pytest.param({"pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {}}, "spec": {"size": "1000m"}}}, {"pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"size": 1}}}, id="an object inside"),
])  # fmt: skip
def test_it_is_no_difference(git: Any, live: Any) -> None:
    assert both(git, live) == []


@pytest.mark.parametrize(("git", "live", "where"), [
    pytest.param({"size": "1Gi"}, {"size": "1G"}, [("/spec/size", "")], id="another quantity"),
    pytest.param({"text": "1Gi"}, {"text": "1024Mi"}, [("/spec/text", "")], id="a text that looks like a quantity"),
    pytest.param({"text": None}, {"text": "x"}, [("/spec/text", "would be removed")], id="null without a default"),
    pytest.param({"mode": None}, {"mode": "slow"}, [("/spec/mode", "")], id="null, and the default is another"),
    pytest.param({"txet": "x"}, {}, [("/spec/txet", "this kind has no such field")], id="a field that the kind has not"),
    pytest.param({"part": {"wrong": {"a": 1}}}, {"part": {}}, [("/spec/part/wrong", "this kind has no such field")], id="a field that a part has not"),
    pytest.param({"list": [{**A, "x": 1}]}, {"list": [A]}, [("/spec/list/0/x", "this kind has no such field")], id="a field that a member has not"),
    pytest.param({"free": {"x": 1}}, {"free": {}}, [("/spec/free/x", "")], id="a field that is kept, and gone"),
    pytest.param({"words": ["a", "b"]}, {"words": ["b", "a"]}, [("/spec/words", "the same items in another order")], id="order"),
    pytest.param({"list": [A, B]}, {"list": [B, A]}, [("/spec/list", "the same items in another order")], id="order without keys"),
    pytest.param({"list": [A]}, {"list": [A, B]}, [("/spec/list", "")], id="the length of a list without keys"),
    pytest.param({"ports": [A]}, {"ports": [{**A, "protocol": "UDP"}]}, [("/spec/ports/0", "another item took its place: protocol UDP instead of TCP")], id="another protocol"),
    pytest.param({"text": ""}, {}, [("/spec/text", "")], id="an empty text is a value"),
    pytest.param({"limits": {}}, {}, [("/spec/limits", "")], id="an empty map is a value"),
])  # fmt: skip
def test_it_is_a_difference(git: Any, live: Any, where: list[tuple[str, str]]) -> None:
    assert both(git, live) == where


def test_a_definition_tells_only_of_its_own_versions_and_only_where_unknown_fields_are_not_kept() -> None:
    assert KindsTold([definition(SPEC)]).of({**custom({}), "apiVersion": "shop.example/v2"}).schema is None
    assert KindsTold([definition(SPEC, preserveUnknownFields=True)]).of(custom({})).schema is None
    assert KindsTold([definition(SPEC)]).of({**custom({}), "kind": "Other"}).type is None


def test_fields_whose_types_users_name_come_before_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"type": "object", "properties": {"cpu": {"type": "string"}}}}
        },
    }
    facts = KindsTold([definition(schema)]).of(custom({}))
    git, live = custom({"list": [{"cpu": "1"}]}), custom({"list": [{"cpu": "1000m"}]})
    assert compare(git, live, schema=facts.type)
    assert compare(git, live, schema=facts.type, known_types=(KnownType("spec.list.cpu", "core/Quantity"),)) == []


def test_an_event_holds_only_the_part_of_a_schema_that_git_uses() -> None:
    told = FACTS.about(custom({"text": "x", "list": [A]}))["schema"]
    spec = told["properties"]["spec"]["properties"]
    assert spec.keys() == {"text", "list", "mode", "maybe", "part"}
    assert spec["list"]["items"]["properties"].keys() == {"port", "name", "protocol"}
    assert FACTS.about(None) == {"status": False}


def test_a_schema_that_is_too_long_is_left_out_of_an_event() -> None:
    wide = {"type": "object", "properties": {f"f{n}": {"type": "string", "default": "x" * 100} for n in range(1_000)}}
    assert "schema" not in KindsTold([definition(wide)]).of(custom({})).about(custom({}))


WORDS = st.sampled_from([
    "type", "properties", "items", "additionalProperties", "default", "nullable", "pattern", "format", "spec", "object", "array", "set",
    "map", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 1) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)
MAPS = st.dictionaries(WORDS, JSON, max_size=4)


@given(MAPS, MAPS, MAPS)
def test_nothing_that_calls_itself_a_schema_makes_it_fail(schema: Any, git: Any, live: Any) -> None:
    before = deepcopy((schema, git, live))
    for one in (schema, cut(schema, [custom(git)])):
        type_ = type_of_schema(one)
        compare(custom(git), custom(live), schema=type_)
        assert compare(custom(git), custom(git), schema=type_) == []
    assert (schema, git, live) == before
