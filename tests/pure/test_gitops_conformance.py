"""Argo CD's own cases of health and comparison, answered as it answers them; where they are at hand."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from phaseline.engine.scripts.runner import SandboxRunner
from phaseline.machines.kinds.kubernetes.assess import OUT_OF_SYNC, assess
from phaseline.machines.kinds.kubernetes.diff.canonical import canonical, pruned
from phaseline.machines.kinds.kubernetes.diff.compare import as_stored, compare
from phaseline.machines.kinds.kubernetes.diff.differences import differences
from phaseline.machines.kinds.kubernetes.diff.ignore import apply_ignores
from phaseline.machines.kinds.kubernetes.diff.known_types import with_fields
from phaseline.machines.kinds.kubernetes.diff.types import ANY, type_of
from phaseline.machines.kinds.kubernetes.health.registry import assess_health
from phaseline.machines.kinds.kubernetes.known.argo_kinds import is_argos
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.kinds.kubernetes.pairs import key_of
from phaseline.machines.kinds.kubernetes.profiles import NOT_ASSESSED, PROFILES
from phaseline.machines.kinds.kubernetes.rollup import APPLICATION, Member, cause_text, is_assessed, roll_up
from tests.support.conformance import cases

ARGO = PROFILES["argocd"]
DIFFS = cases("diff.json")


NOW = 1_700_000_000


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in cases("health_builtin.json")])
def test_health(case: dict[str, Any]) -> None:
    found = assess_health(case["manifest"], ARGO)
    if case["expected_status"] is None and is_argos(*group_kind(case["manifest"])):
        return  # Argo CD answers this one by a rule that it ships, and so does the table of known kinds
    expected = case["expected_status"] and (case["expected_status"], case["expected_message"])
    assert ((ARGO.called(found.status), found.message) if found.is_assessed else None) == expected


def overrides(case: dict[str, Any]) -> Overrides:
    """What the case sets, as an installation and an application would."""
    data = {
        f"resource.customizations.{what}.{'all' if key == '*/*' else key.replace('/', '_')}": json.dumps(said)
        for key, one in case["overrides"].items() for what, said in one.items()
    }  # fmt: skip
    found = Overrides(ARGO, aggregates=bool(case["ignore_aggregated_roles"])).merge(
        {"kind": "ConfigMap", "data": data}, "case"
    )
    rules = [{"group": "", **one} for one in case["ignore_differences"]]
    return found.merge({"ignore_differences": rules}, "case")


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in DIFFS if case["op"] == "state_diff"])
def test_comparison(case: dict[str, Any], programs: SandboxRunner) -> None:
    target, live, dry_run = (_read(case.get(name)) for name in ("target", "live", "server_dry_run_result"))
    if target is None:
        # The bare comparison leaves what is not in Git to its caller; for a user that is a difference.
        assert not case["expected"]["modified"]
        return
    found = assess(live, target, overrides(case), programs, now=NOW, dry_run=dry_run, explains=True)
    assert (found.sync == OUT_OF_SYNC) == case["expected"]["modified"]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in DIFFS if case["op"] == "normalize"])
def test_ignoring(case: dict[str, Any], programs: SandboxRunner) -> None:
    said, (target, live) = overrides(case), (_read(case[name]) for name in ("target", "live"))
    freed, effects = apply_ignores(said.rules, [target, live], programs.jq)
    if "error" in case["expected"]:
        assert any(effect.broken for effect in effects)
        return
    type_ = with_fields(said.known_types_of(group_kind(target)[0], target["kind"]))
    expected = [_read(case["expected"][name]) for name in ("normalized_target", "normalized_live")]
    assert [pruned(canonical(side, type_), type_) for side in freed] == [
        pruned(canonical(side, type_), type_) for side in expected
    ]


def _read(found: Any) -> Any:
    return json.loads(found) if isinstance(found, str) else found


UNSAID = {("StatefulSet", "/spec/volumeClaimTemplates/0/status"), ("HorizontalPodAutoscaler", "/spec/behavior"), ("CSIDriver", "/spec")}  # fmt: skip
"""Fields that the server fills in and we do not: never a difference, as Git does not name them."""
ADMITTED = {("Pod", "/spec/serviceAccount"), ("Pod", "/spec/serviceAccountName")}
"""Fields that no default fills in, but the server does when it admits an object."""


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case['apiVersion']} {case['kind']} {place}")
        for place, case in enumerate(cases("k8s_defaults.json"))
    ],
)
def test_defaults(case: Mapping[str, Any]) -> None:
    assert compare(case["input"], case["defaulted"]) == []
    type_ = type_of(case["apiVersion"], case["kind"]) or ANY
    given, expected = (
        canonical({n: v for n, v in case[side].items() if n != "status"}, type_) for side in ("input", "defaulted")
    )
    left = {(case["kind"], one.pointer) for one in differences(as_stored(given, type_), pruned(expected, type_), type_)}
    assert left <= UNSAID | ADMITTED


CHILD = {"health": {"argoproj.io/Application": "return obj.status.health"}}
"""Argo CD has no rule about applications of its own; its operators bring this one."""


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in cases("app_health.json")])
def test_application_health(case: dict[str, Any], programs: SandboxRunner) -> None:
    said = Overrides(ARGO).merge(CHILD if case.get("application_health_override") else {}, "case")
    members = []
    for one in case["resources"]:
        target, live = _read(one["target"]), _read(one["live"])
        found = assess(live, target, said, programs, now=NOW, is_known=target is not None)
        key = key_of(live or target)
        members.append(Member((key.group, key.kind), key.short(), live is not None, found))
    healths = [one.assessment.health for one in members]
    assert [one and (ARGO.called(one.status) if one.is_assessed else None) for one in healths] == case[
        "expected_resources"
    ]
    whole_one = roll_up(members, ARGO)
    expected = case["expected_status"]
    if whole_one.health == NOT_ASSESSED:  # Argo CD calls it Healthy; we do not where nothing was assessed
        counts = [
            one for one in members if is_assessed(one.assessment) and one.group_kind != APPLICATION and one.is_live
        ]
        assert (expected, counts) == ("Healthy", [])
        expected = NOT_ASSESSED
    assert (ARGO.called(whole_one.health), cause_text(whole_one.unwell)) == (expected, case["expected_message"])
