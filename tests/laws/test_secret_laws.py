"""Whatever is done with a Secret, nothing of its values is shown: canaries in it, and in no answer."""

import base64
import json
from random import Random
from typing import Any

import pytest

from phaseline.engine.products.gitops.assess import assess, assess_all, diff
from phaseline.machines.kinds.kubernetes.secret_values import COPIES
from phaseline.schemas import yaml_text
from phaseline.schemas.errors import PhaselineError
from tests.support.strategies import search

EFFORTS = [pytest.param(60, id="short"), pytest.param(2_000, marks=pytest.mark.slow, id="long")]
JQ = [
    ".data[]", ".data.a[]", ".data.a.b", ".data | keys | .[0]", ".data.a | tonumber", ".data.a + 1", ".stringData.a[0]",
    ".data | to_entries[]", ".data.a | fromjson", ".metadata.annotations[]", "error(.data.a)", ".data.a, .data.b",
    ".data | select(.a == 1)", "if .data.a then error else . end", ".[.data.a]", "..", ".data.a as $x | $x",
]  # fmt: skip
LUA = [
    "return {status = obj.data.a}", "return {status = 'Degraded', message = obj.data.a}", "error(obj.data.a)",
    "return obj.data.a", "return obj.data", "return {status = 'Healthy', message = tostring(obj.stringData.a)}",
    "return {status = 'Healthy', message = string.reverse(obj.data.a)}", "return {message = obj.data}",
    "local t = {} for k, v in pairs(obj.data) do table.insert(t, v) end error(table.concat(t))",
    "return {status = 'Healthy', message = obj.metadata.annotations['kapp.k14s.io/original']}",
]  # fmt: skip
POINTERS = [
    "/data",
    "/data/a",
    "/data/a/0",
    "/stringData/a",
    "/metadata/annotations",
    "",
    "/",
    "/data/~1",
    "data",
    "/~",
]


def canary(chance: Random) -> str:
    return f"canary{chance.randrange(10**12):012}bird"


def spellings(text: str) -> list[str]:
    """The ways in which a canary could show."""
    coded = base64.b64encode(text.encode()).decode()
    return [text, text[::-1], coded.rstrip("=")[:-2], coded[::-1], text[6:18]]


def secret(chance: Random, bird: str) -> dict[str, Any]:
    """A Secret with the canary in one place or several, some of them odd."""
    coded = base64.b64encode(bird.encode()).decode()
    value = chance.choice([coded, f"{coded[:8]}\n{coded[8:]}", bird, {"b": bird}, [bird], f'{{"x": "{bird}"}}'])
    found: dict[str, Any] = {
        "apiVersion": chance.choice(["v1", "v1", "v1", "v2", "example.io/v1"]), "kind": "Secret",
        "metadata": {"name": "it", "namespace": "shop", "annotations": {}},
    }  # fmt: skip
    for name in chance.sample(["data", "stringData"], chance.randrange(1, 3)):
        found[name] = {"a": value, "b": chance.choice(["", coded, None])} if chance.random() < 0.9 else value
    if chance.random() < 0.5:
        found["metadata"]["annotations"][chance.choice(COPIES)] = json.dumps(found)
    if chance.random() < 0.1:
        found["metadata"] = chance.choice([{"annotations": json.dumps(found)}, {"annotations": [json.dumps(found)]}])
    return found


def rules(chance: Random) -> dict[str, Any]:
    rule = {
        "group": "*", "kind": "*", "jqPathExpressions": chance.sample(JQ, 2), "jsonPointers": chance.sample(POINTERS, 2),
        "managedFieldsManagers": ["me"],
    }  # fmt: skip
    return {"ignore_differences": [rule] * chance.randrange(2), "health": {"*/*": chance.choice(LUA)}}


@pytest.mark.parametrize("effort", EFFORTS)
def test_no_answer_shows_a_value_of_a_secret(effort: int) -> None:
    def law(chance: Random) -> None:
        birds = [canary(chance), canary(chance)]
        live, desired = (secret(chance, bird) for bird in birds)
        if chance.random() < 0.15:
            desired, birds = {**desired, "kind": "ConfigMap"}, birds[:1]  # what is in a ConfigMap is no secret
        if chance.random() < 0.15:
            live, desired = (
                {"apiVersion": "v1", "kind": "List", "items": [{**one, "apiVersion": "v1"}]} for one in (live, desired)
            )
        said = rules(chance)
        answers = []
        for work in (
            lambda: assess(live, desired, rules=said), lambda: assess_all([live, live], [desired], rules=said),
            lambda: diff(live, desired, rules=said), lambda: assess(live, desired, dry_run=desired),
            lambda: assess(None, desired, rules=said), lambda: assess(live, rules=said),
        ):  # fmt: skip
            try:
                answers.append(repr(work()))
            except PhaselineError as error:
                answers.append(str(error))
        for bird in birds:
            for spelling in spellings(bird):
                shown = [answer for answer in answers if spelling in answer]
                assert not shown, (spelling, shown[0][:1500], said, live, desired)

    search(effort, law)


@pytest.mark.parametrize("text", [
    "data: {a: *canary1}", "data: {a: !canary1}", "data: {a: !!bool canary1}", "data: {a: !!float canary1}",
    "data: {a: !!int canary1}", "data: {a: !!binary canary1}", "data: {a: !!timestamp canary1}", "data: {a: 'canary1",
    'data: {a: "\\canary1"}', "data: {a: %canary1", "data: {? [canary1] : 1}", "data: {a: @canary1}", "a: &canary1 &canary1",
    "data:\n\ta: canary1", "data: {<<: canary1}", "data: canary1: canary1", '{"data": {"a": "canary1}',
])  # fmt: skip
def test_no_error_about_yaml_shows_what_stands_there(text: str) -> None:
    said = ""
    try:
        [*yaml_text.documents(text)]
    except yaml_text.NotYaml as error:
        said = str(error)
    assert "canary1" not in said
