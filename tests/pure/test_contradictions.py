"""A success of a known kind, held against the rest of the status of the same object.

Belongs here: the law, over every row that calls an object Healthy by fields, and over Argo CD's own cases where
they are at hand. Does not: single objects (`test_no_guessed_green`), kinds that are not listed (`test_general_rule`).
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from phaseline.machines.kinds.kubernetes.health import polarity, words
from phaseline.machines.kinds.kubernetes.health.registry import RULES, assess_health
from phaseline.machines.kinds.kubernetes.health.view import evidence_of
from phaseline.machines.kinds.kubernetes.known.families import families
from phaseline.machines.kinds.kubernetes.known.rows import KnownKind, StatusRow
from phaseline.machines.kinds.kubernetes.known.table import KnownRule, known_rule
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.profiles import ALAUDA, HEALTHY, PROFILES
from tests.support.conformance import cases

CASES = cases("health_custom.json")
NOT_READY = {"type": "Ready", "status": "False", "reason": "Broken", "message": "it is broken"}


def object_of(kind: KnownKind, row: StatusRow) -> dict[str, Any] | None:
    """An object for which the tests of a row hold, if these are plain fields of the status."""
    status: dict[str, Any] = {}
    for test in filter(None, (one.strip() for one in row.when.split("&"))):
        path, equals, wanted = test.partition(" = ")
        word = wanted.split("|")[0].strip()
        if (
            not equals
            or not path.startswith(".status.")
            or set(path) & set("[]()")
            or " " in path
            or word.startswith(".")
        ):
            return None
        *above, last = path.removeprefix(".status.").split(".")
        place = status
        for step in above:
            place = place.setdefault(step, {})
        place[last] = {"true": True, "something": "there"}.get(word, word)
    group, name = kind.group.split("|")[0].strip(), kind.kind.split("|")[0].strip()
    return {"apiVersion": f"{group}/v1", "kind": name, "metadata": {"name": "it"}, "status": status} if status else None


def healthy_by_fields() -> Iterator[Any]:
    for family in families():
        for kind in family.kinds:
            for row in kind.rows:
                found = object_of(kind, row) if row.health == HEALTHY and not row.each else None
                if found is not None and KnownRule(kind)(found, ALAUDA).status == HEALTHY:
                    yield pytest.param(kind, found, id=f"{kind.group}/{kind.kind}: {row.when}"[:90])


HEALTHY_BY_FIELDS = [*healthy_by_fields()]


@pytest.mark.parametrize(("kind", "found"), HEALTHY_BY_FIELDS)
def test_no_field_outweighs_a_condition_or_a_counter(kind: KnownKind, found: dict[str, Any]) -> None:
    rule = KnownRule(kind, is_built_in=True)
    assert rule(found, ALAUDA).status == HEALTHY
    broken = {**found, "status": {**found["status"], "conditions": [NOT_READY]}}
    judged = rule(broken, ALAUDA)
    assert judged.status != HEALTHY
    assert str(evidence_of(NOT_READY)) in map(str, (*judged.evidence, *judged.concerns))
    if kind.beside.startswith("status."):
        return  # what it says of its health is another's verdict of the whole
    short = {**found, "spec": {"replicas": 3}, "status": {**found["status"], "readyReplicas": 1}}
    assert rule(short, ALAUDA).status != HEALTHY


def test_the_law_speaks_of_many_rows() -> None:
    assert len(HEALTHY_BY_FIELDS) > 60


def test_rows_of_a_user_are_the_last_word() -> None:
    kind = KnownKind("acme.io", "Widget", (StatusRow(".status.phase = Up", HEALTHY),))
    found = {"apiVersion": "acme.io/v1", "kind": "Widget", "status": {"phase": "Up", "conditions": [NOT_READY]}}
    assert KnownRule(kind)(found, ALAUDA).status == HEALTHY
    assert KnownRule(kind, is_built_in=True)(found, ALAUDA).status != HEALTHY
    assert KnownRule(kind, is_built_in=True)(found, PROFILES["argocd"]).status == HEALTHY


def test_what_both_say_stands_in_the_evidence() -> None:
    found = assess_health({
        "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment",
        "status": {"phase": "Running", "conditions": [{"type": "MachinesReady", "status": "False", "message": "1 of 3"}]},
    })  # fmt: skip
    assert (found.status, found.message) == ("Progressing", "1 of 3")
    assert [str(one) for one in found.evidence] == ["MachinesReady False: 1 of 3", "status.phase Running"]


BROKEN = {"type": "Degraded", "status": "True", "reason": "Broken", "message": "it is broken"}
CODE = {("", "Node"), *RULES}
"""Kinds with a rule that is code, or whose conditions are told beside their state."""


@pytest.mark.skipif(not CASES, reason="the cases are not at hand")
@pytest.mark.parametrize("field", ["conditions", "failureMessage", "part"])
def test_nothing_that_says_it_failed_is_healthy(field: str) -> None:
    count = 0
    for one in CASES:
        live = one["manifest"]
        status, kind = live.get("status"), group_kind(live)
        if kind in CODE or not isinstance(status, dict) or assess_health(live).status != HEALTHY:
            continue
        if field == "conditions" and not isinstance(status.get("conditions"), list):
            continue
        conditions = [*(status.get("conditions") or ()), BROKEN]
        more = {"conditions": conditions, "failureMessage": "it is broken", "part": {"state": "Failed"}}[field]
        found, count = assess_health({**live, "status": {**status, field: more}}), count + 1
        rule = known_rule(*kind)
        beside = rule is not None and rule.kind.beside == "status.*" and field != "conditions"
        assert beside or found.status != HEALTHY, (one["name"], found)
        assert field != "conditions" or str(evidence_of(BROKEN)) in map(str, (*found.evidence, *found.concerns))
    assert count > 60


def opposed(live: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The object with one of its conditions turned into a failure, one after another."""
    for index, one in enumerate(live["status"].get("conditions") or ()):
        meaning = polarity.of_type(str(one.get("type")))
        turned = {"True": "False", "False": "True"}.get(str(one.get("status")), "")
        if meaning is None or not (turned == "False" if meaning[0] in words.HELD_BY else turned == "True"):
            continue
        if meaning[0] in (*words.HELD_BY, words.FAILURE):
            made = deepcopy(live)
            made["status"]["conditions"][index] |= {"status": turned, "reason": "ReconcileFailed", "message": "no"}
            yield made


@pytest.mark.skipif(not CASES, reason="the cases are not at hand")
def test_a_condition_that_fails_is_decisive_or_told() -> None:
    count = 0
    for one in CASES:
        live = one["manifest"]
        if not isinstance(live.get("status"), dict) or assess_health(live).status != HEALTHY:
            continue
        for made in opposed(live):
            found, count = assess_health(made), count + 1
            assert found.status != HEALTHY or found.concerns, (one["name"], found)
    assert count > 100
