"""The public functions on manifests: `assess`, `assess_all`, `diff`, `health`. No server is needed."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import phaseline
from phaseline.schemas.errors import InvalidInput
from tests.support.manifests import deployment, kubernetes_object
from tests.support.raising import raises

ROOT = Path(__file__).parents[2]
ROLLED_OUT = {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}
LIVE = {**deployment(replicas=7), "status": {**ROLLED_OUT, "replicas": 7, "updatedReplicas": 7, "availableReplicas": 7}}
DESIRED = deployment(replicas=3)
IGNORES = {"ignore_differences": [{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}]}


def test_one_resource() -> None:
    found = phaseline.gitops.assess(LIVE, DESIRED)
    assert isinstance(found, phaseline.gitops.Assessment)
    assert found.health == phaseline.gitops.HealthResult("Healthy")
    assert (found.sync, found.why) == ("OutOfSync", "it differs at 1 place")
    assert found.differences == (phaseline.gitops.Difference(("spec", "replicas"), 3, 7),)


def test_an_ignore_rule_hides_a_difference() -> None:
    found = phaseline.gitops.assess(LIVE, DESIRED, rules=IGNORES)
    assert (found.sync, found.differences) == ("Synced", ())
    [hidden] = found.hidden
    assert (hidden.difference.pointer, hidden.by.word) == ("/spec/replicas", "/spec/replicas")


@pytest.mark.parametrize(
    ("live", "desired", "health", "sync"),
    [(LIVE, None, "Healthy", None), (None, DESIRED, "Missing", "OutOfSync"), (None, None, None, None)],
)
def test_one_side_alone(live: Any, desired: Any, health: str | None, sync: str | None) -> None:
    found = phaseline.gitops.assess(live, desired)
    assert (found.health and found.health.status, found.sync) == (health, sync)


def test_diff() -> None:
    assert [one.pointer for one in phaseline.gitops.diff(LIVE, DESIRED)] == ["/spec/replicas"]
    assert phaseline.gitops.diff(LIVE, DESIRED, rules=IGNORES) == []
    assert phaseline.gitops.diff(LIVE, DESIRED, dry_run=LIVE) == []
    [one] = phaseline.gitops.diff(
        kubernetes_object("v1", "Secret", data={"a": "eA=="}),
        kubernetes_object("v1", "Secret", stringData={"a": "hush"}),
    )
    assert one == phaseline.gitops.Difference(("data", "a"), "(secret)", "(secret)")


def test_health_by_script_and_by_profile() -> None:
    script = {"health": {"example.io/Widget": "return {status = 'Suspended', message = obj.spec.why}"}}
    widget = kubernetes_object("example.io/v1", "Widget", spec={"why": "night"})
    assert phaseline.gitops.health(widget).status == "NotAssessed"
    assert phaseline.gitops.health(widget, rules=[IGNORES, script])[:2] == ("Paused", "night")
    job = kubernetes_object("batch/v1", "Job", status={"succeeded": 1})
    assert [phaseline.gitops.health(job, profile=name)[0] for name in ("alauda", "argocd")] == [
        "Healthy",
        "Progressing",
    ]


def test_many_as_one_application() -> None:
    pod = kubernetes_object(
        "v1", "Pod", metadata={"name": "pod", "ownerReferences": [{"kind": "ReplicaSet"}]}, status={"phase": "Running"}
    )
    found = phaseline.gitops.assess_all([LIVE, pod], [DESIRED, kubernetes_object("v1", "Service")], rules=IGNORES)
    assert isinstance(found, phaseline.gitops.ApplicationAssessment)
    assert [(one.pair.key.kind, one.assessment.sync) for one in found.resources] == [
        ("Deployment", "Synced"), ("Service", "OutOfSync"), ("Pod", None),
    ]  # fmt: skip
    assert found.whole == phaseline.gitops.Rollup(
        "Unknown", "OutOfSync", ("Pod:shop/pod",), ("Service:shop/it",), resources=3
    )
    assert phaseline.gitops.assess_all([LIVE], []).resources[0].assessment.sync == "OutOfSync"
    assert phaseline.gitops.assess_all([LIVE]).resources[0].assessment.sync is None


def test_overrides_that_were_read_before() -> None:
    overrides = phaseline.gitops.Overrides().merge(IGNORES, "mine")
    assert phaseline.gitops.assess(LIVE, DESIRED, rules=overrides).sync == "Synced"


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"rules": [IGNORES, {"health": []}]}, "rules[1]: health must be a map, found list"),
        ({"profile": "flux"}, "profile: profile must be one of alauda, argocd, argocd-3.3, found 'flux'"),
    ],
)
def test_wrong_rules(how: Any, says: str) -> None:
    with raises(InvalidInput.bad_manifest, match=re.escape(says)):
        phaseline.gitops.assess(LIVE, **how)


def test_the_sample_of_the_page_prints_what_it_says() -> None:
    page = (ROOT / "docs" / "gitops.md").read_text()
    [sample] = [one for one in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "assess(" in one]
    done = subprocess.run([sys.executable, "-c", sample], capture_output=True, text=True, check=True, cwd=ROOT)
    expected = re.findall(r"^print\(.*\)\s+# (.*)$", sample, re.MULTILINE)
    assert len(expected) == 6
    assert done.stdout.splitlines() == [line.partition(", because")[0] for line in expected]


def test_no_server_and_no_connection_is_loaded() -> None:
    program = "import sys, phaseline; phaseline.gitops.assess({}); print([m for m in sys.modules if m in ('nats', 'asyncio')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"
