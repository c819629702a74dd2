"""Argo CD's own cases of health and comparison, answered as it answers them; where they are at hand."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from phaseline.engine.manifestfiles import key_of
from phaseline.engine.sandbox import Sandbox, Sandboxed
from phaseline.machines.assessing import OUT_OF_SYNC, assessed
from phaseline.machines.compare import SHAPES, compare, whole
from phaseline.machines.compare.differences import differences
from phaseline.machines.compare.ignoring import ignored
from phaseline.machines.compare.normal import group_of
from phaseline.machines.compare.shapes import OTHER
from phaseline.machines.compare.typed import told
from phaseline.machines.compare.values import told_once
from phaseline.machines.customs import Customs
from phaseline.machines.health import assess
from phaseline.machines.profiles import PROFILES
from phaseline.machines.rollup import Member, caused, rolled
from tests.support.conformance import cases

ARGO = PROFILES["argocd"]
DIFFS = cases("diff.json")


NOW = 1_700_000_000


@pytest.fixture(scope="module")
def programs() -> Iterator[Sandboxed]:
    with Sandbox() as sandbox:
        yield Sandboxed(sandbox)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in cases("health_builtin.json")])
def test_health(case: dict[str, Any]) -> None:
    found = assess(case["manifest"], ARGO)
    expected = case["expected_status"] and (case["expected_status"], case["expected_message"])
    assert (found and (ARGO.called(found.status), found.message)) == expected


def customs(case: dict[str, Any]) -> Customs:
    """What the case sets, as an installation and an application would."""
    data = {
        f"resource.customizations.{what}.{'all' if key == '*/*' else key.replace('/', '_')}": json.dumps(said)
        for key, one in case["overrides"].items() for what, said in one.items()
    }  # fmt: skip
    found = Customs(ARGO, aggregates=bool(case["ignore_aggregated_roles"])).and_(
        {"kind": "ConfigMap", "data": data}, "case"
    )
    rules = [{"group": "", **one} for one in case["ignore_differences"]]
    return found.and_({"ignore_differences": rules}, "case")


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in DIFFS if case["op"] == "state_diff"])
def test_comparison(case: dict[str, Any], programs: Sandboxed) -> None:
    target, live, dry_run = (_read(case.get(name)) for name in ("target", "live", "server_dry_run_result"))
    if target is None:
        # The bare comparison leaves what is not in Git to its caller; for a user that is a difference.
        assert not case["expected"]["modified"]
        return
    found = assessed(live, target, customs(case), programs, now=NOW, dry_run=dry_run, explains=True)
    assert (found.sync == OUT_OF_SYNC) == case["expected"]["modified"]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in DIFFS if case["op"] == "normalize"])
def test_ignoring(case: dict[str, Any], programs: Sandboxed) -> None:
    said, (target, live) = customs(case), (_read(case[name]) for name in ("target", "live"))
    freed, effects = ignored(said.rules, [target, live], programs.jq)
    if "error" in case["expected"]:
        assert any(effect.broken for effect in effects)
        return
    fields = said.typed_of(group_of(target), target["kind"])
    expected = [_read(case["expected"][name]) for name in ("normalized_target", "normalized_live")]
    assert [told(side, fields) for side in freed] == [told(side, fields) for side in expected]


def _read(found: Any) -> Any:
    return json.loads(found) if isinstance(found, str) else found


UNSAID = {("StatefulSet", "/spec/volumeClaimTemplates/0/status"), ("HorizontalPodAutoscaler", "/spec/metrics"), ("HorizontalPodAutoscaler", "/spec/behavior"), ("CSIDriver", "/spec")}  # fmt: skip
"""What the server fills in and we do not: never a difference, since Git does not say it; in no list that must match as a whole."""


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case['apiVersion']} {case['kind']} {place}")
        for place, case in enumerate(cases("k8s_defaults.json"))
    ],
)
def test_defaults(case: Mapping[str, Any]) -> None:
    assert compare(case["input"], case["defaulted"]) == []
    shape = SHAPES.get((group_of(case["input"]), case["kind"]), OTHER)
    given, expected = (
        told_once({n: v for n, v in case[side].items() if n != "status"}) for side in ("input", "defaulted")
    )
    left = {(case["kind"], one.pointer) for one in differences(whole(given, shape), expected, shape)}
    assert left <= UNSAID


CHILD = {"health": {"argoproj.io/Application": "return obj.status.health"}}
"""Argo CD has no rule about applications of its own; its operators bring this one."""


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in cases("app_health.json")])
def test_application_health(case: dict[str, Any], programs: Sandboxed) -> None:
    said = Customs(ARGO).and_(CHILD if case.get("application_health_override") else {}, "case")
    members = []
    for one in case["resources"]:
        target, live = _read(one["target"]), _read(one["live"])
        found = assessed(live, target, said, programs, now=NOW, is_known=target is not None)
        key = key_of(live or target)
        members.append(Member((key.group, key.kind), key.short(), live is not None, found))
    assert [one.said.health and ARGO.called(one.said.health.status) for one in members] == case["expected_resources"]
    whole_one = rolled(members, ARGO)
    assert (ARGO.called(whole_one.health), caused(whole_one.unwell)) == (
        case["expected_status"],
        case["expected_message"],
    )
