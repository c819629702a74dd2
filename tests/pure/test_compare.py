"""Comparing: does what Git says still hold? (docs/spec/gitops.md, Comparing.)"""

import base64
import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.products.gitops import assess
from phaseline.machines.kinds.kubernetes.assess import OUT_OF_SYNC, SYNCED
from phaseline.machines.kinds.kubernetes.diff.canonical import quantity
from phaseline.machines.kinds.kubernetes.diff.compare import compare
from phaseline.machines.kinds.kubernetes.diff.differences import NONE
from tests.support.manifests import deployment, kubernetes_object, places, pod_template

WEB = {"name": "web", "image": "web:1"}
SIDE = {"name": "proxy", "image": "envoy:1"}


def applied(live: dict[str, Any], last: dict[str, Any]) -> dict[str, Any]:
    """`live`, saying what was applied last."""
    found = deepcopy(live)
    found["metadata"].setdefault("annotations", {})["kubectl.kubernetes.io/last-applied-configuration"] = json.dumps(
        last
    )
    return found


# ---- what is no drift


@pytest.mark.parametrize(("desired", "live"), [
    pytest.param(deployment(), deployment(replicas=7), id="an autoscaler owns what Git leaves out"),
    pytest.param(deployment(), deployment(paused=True), id="paused by hand"),
    pytest.param(deployment(containers=[WEB]), deployment(containers=[SIDE, WEB]), id="a sidecar before"),
    pytest.param(deployment(containers=[WEB]), deployment(containers=[WEB, SIDE]), id="a sidecar after"),
    pytest.param(deployment(containers=[WEB]), deployment(containers=[{**WEB, "env": [{"name": "INJECTED", "value": "1"}]}]), id="an injected variable"),
    pytest.param(deployment(), deployment(metadata={"annotations": {"prometheus.io/scrape": "true"}}), id="annotations of monitoring"),
    pytest.param(deployment(metadata={"annotations": {}}), deployment(), id="no annotations, said"),
    pytest.param(deployment(), deployment(metadata={"uid": "1", "resourceVersion": "5", "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": []}), id="the server's metadata"),
    pytest.param({**deployment(), "status": {"replicas": 3}}, deployment(), id="a status in Git"),
    pytest.param(deployment(metadata={"namespace": None}), deployment(), id="no namespace in Git"),
    pytest.param(kubernetes_object("rbac.authorization.k8s.io/v1", "ClusterRole"), kubernetes_object("rbac.authorization.k8s.io/v1", "ClusterRole", metadata={"namespace": None}), id="a namespace where there is none"),
    pytest.param(deployment(containers=[{**WEB, "resources": {"limits": {"cpu": 1, "memory": "1024Mi"}}}]), deployment(containers=[{**WEB, "resources": {"limits": {"cpu": "1000m", "memory": "1Gi"}}}]), id="quantities"),
    pytest.param(deployment(containers=[{**WEB, "env": [], "command": None, "securityContext": {}}], paused=False, minReadySeconds=0), deployment(), id="nothing in many spellings"),
    pytest.param(deployment(containers=[{**WEB, "ports": [{"containerPort": 80}]}]), deployment(containers=[{**WEB, "ports": [{"containerPort": 80, "protocol": "TCP"}]}]), id="a default in a list"),
    pytest.param(kubernetes_object("v1", "Secret", stringData={"a": "x"}), kubernetes_object("v1", "Secret", type="Opaque", data={"a": base64.b64encode(b"x").decode()}), id="stringData"),
    pytest.param(kubernetes_object("v1", "Secret", data={"a": None}), kubernetes_object("v1", "Secret", data={"a": ""}), id="null in a Secret"),
    pytest.param(kubernetes_object("v1", "ConfigMap", data={"a": "1"}), kubernetes_object("v1", "ConfigMap", data={"a": "1", "b": "2"}), id="more keys in a ConfigMap"),
    pytest.param(kubernetes_object("rbac.authorization.k8s.io/v1", "Role", rules=[]), kubernetes_object("rbac.authorization.k8s.io/v1", "Role", rules=None), id="no rules"),
    pytest.param(kubernetes_object("rbac.authorization.k8s.io/v1", "ClusterRole", aggregationRule={}, rules=[]), kubernetes_object("rbac.authorization.k8s.io/v1", "ClusterRole", aggregationRule={}, rules=[{"verbs": ["get"]}]), id="an aggregated role"),
    pytest.param(kubernetes_object("v1", "Service", spec={"ports": [{"port": 80}]}), kubernetes_object("v1", "Service", spec={"type": "ClusterIP", "clusterIP": "10.0.0.1", "sessionAffinity": "None", "ports": [{"port": 80, "targetPort": 80, "protocol": "TCP", "nodePort": 30000}]}), id="what the server gives a Service"),
    pytest.param(kubernetes_object("v1", "Service", spec={"ports": [{"port": 80}]}), kubernetes_object("v1", "Service", spec={"type": "LoadBalancer", "ports": [{"port": 80, "targetPort": 80, "protocol": "TCP"}]}), id="made a load balancer by hand"),
    pytest.param(kubernetes_object("v1", "Endpoints", subsets=[{"addresses": [{"ip": "2"}, {"ip": "1"}], "ports": [{"port": 80}]}]), kubernetes_object("v1", "Endpoints", subsets=[{"addresses": [{"ip": "1"}, {"ip": "2"}], "ports": [{"port": 80, "protocol": "TCP"}]}]), id="endpoints in any order"),
    pytest.param(kubernetes_object("foo.io/v1", "Foo", spec={"a": 1, "gone": None}), kubernetes_object("foo.io/v1", "Foo", spec={"a": 1, "b": 2}), id="custom: more fields, an explicit null"),
    pytest.param(kubernetes_object("foo.io/v1", "Foo", spec={"l": [{"a": 1}]}), kubernetes_object("foo.io/v1", "Foo", spec={"l": [{"a": 1, "b": 2}]}), id="custom: more in a list's member"),
    pytest.param(kubernetes_object("foo.io/v1", "Foo", spec={"n": 1}), kubernetes_object("foo.io/v1", "Foo", spec={"n": 1.0}), id="custom: 1 and 1.0"),
    pytest.param(kubernetes_object("apps/v1", "StatefulSet", spec={"volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]}), kubernetes_object("apps/v1", "StatefulSet", spec={"volumeClaimTemplates": [{"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": "d", "creationTimestamp": None}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "volumeMode": "Filesystem"}, "status": {"phase": "Pending"}}]}), id="claim templates"),
    pytest.param(kubernetes_object("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}), kubernetes_object("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"ports": [{"port": 80, "protocol": "TCP"}]}]}), id="a default deep in a list that does not merge"),
])  # fmt: skip
def test_in_sync(desired: dict[str, Any], live: dict[str, Any]) -> None:
    assert places(desired, live) == []


NET, RBAC = "networking.k8s.io/v1", "rbac.authorization.k8s.io/v1"
POLICY = {"podSelector": {}, "policyTypes": ["Ingress"]}


@pytest.mark.parametrize(("desired", "live", "where"), [
    pytest.param(kubernetes_object(NET, "NetworkPolicy", spec={**POLICY, "ingress": []}), kubernetes_object(NET, "NetworkPolicy", spec={**POLICY, "ingress": [{}]}), ["/spec/ingress"], id="a policy opened by hand"),
    pytest.param(kubernetes_object(NET, "NetworkPolicy", spec=POLICY), kubernetes_object(NET, "NetworkPolicy", spec={**POLICY, "podSelector": {"matchLabels": {"a": "b"}}}), ["/spec/podSelector/matchLabels"], id="a selector that selected all"),
    pytest.param(kubernetes_object(RBAC, "Role", rules=[]), kubernetes_object(RBAC, "Role", rules=[{"verbs": ["*"]}]), ["/rules"], id="a role without rules"),
    pytest.param(kubernetes_object("v1", "Pod", spec={"hostNetwork": False, "nodeName": "n"}), kubernetes_object("v1", "Pod", spec={"nodeName": "n"}), [], id="false and absent are one, where no pointer tells them apart"),
    pytest.param(kubernetes_object("v1", "Pod", spec={"hostNetwork": False, "nodeName": "n"}), kubernetes_object("v1", "Pod", spec={"hostNetwork": True, "nodeName": "n"}), ["/spec/hostNetwork"], id="false"),
    pytest.param(kubernetes_object("v1", "Pod", spec={"automountServiceAccountToken": False, "nodeName": "n"}), kubernetes_object("v1", "Pod", spec={"nodeName": "n"}), ["/spec/automountServiceAccountToken"], id="false, and absent means true"),
    pytest.param(deployment(containers=[{**WEB, "env": [{"name": "A", "value": ""}]}]), deployment(containers=[{**WEB, "env": [{"name": "A", "value": "by hand"}]}]), ["/spec/template/spec/containers/0/env/0/value"], id="an empty variable"),
    pytest.param(deployment(minReadySeconds=0), deployment(minReadySeconds=9), ["/spec/minReadySeconds"], id="0"),
    pytest.param(kubernetes_object("v1", "ConfigMap", data={"cpu": "1"}), kubernetes_object("v1", "ConfigMap", data={"cpu": "1000m"}), ["/data/cpu"], id="a word that looks like a quantity"),
    pytest.param(kubernetes_object("v1", "LimitRange", spec={"limits": [{"type": "Pod", "max": {"cpu": "2"}}]}), kubernetes_object("v1", "LimitRange", spec={"limits": [{"type": "Pod", "max": {"cpu": "2000m"}}]}), [], id="a quantity in a list that does not merge"),
    pytest.param(kubernetes_object("v1", "ConfigMap", binaryData={"a": "Zm9v\nYmFy\n"}), kubernetes_object("v1", "ConfigMap", binaryData={"a": "Zm9vYmFy"}), [], id="bytes with line breaks"),
    pytest.param(kubernetes_object("v1", "Secret", data={"a": "Zm9v\n  YmE"}), kubernetes_object("v1", "Secret", data={"a": "Zm9vYmE="}), [], id="bytes without padding"),
    pytest.param(kubernetes_object("v1", "Secret", data={"a": "Zm9v"}), kubernetes_object("v1", "Secret", data={"a": "Zm9w"}), ["/data/a"], id="other bytes"),
])  # fmt: skip
def test_what_git_says_counts_by_its_place(desired: dict[str, Any], live: dict[str, Any], where: list[str]) -> None:
    assert places(desired, live) == where
    assert places(desired, live, last=desired) == where
    assert places(desired, applied(live, desired)) == where


def test_a_difference_shows_what_git_says_even_if_it_is_empty() -> None:
    [one] = compare(
        kubernetes_object(NET, "NetworkPolicy", spec={**POLICY, "ingress": []}),
        kubernetes_object(NET, "NetworkPolicy", spec={**POLICY, "ingress": [{}]}),
    )
    assert (one.wanted, one.found) == ([], [{}])


# ---- versions

CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
MEMORY = {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}}
OLD_MEMORY = {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1024Mi"}}


def autoscaler(version: str, **spec: Any) -> dict[str, Any]:
    return kubernetes_object(f"autoscaling/{version}", "HorizontalPodAutoscaler", spec={"maxReplicas": 5, **spec})


@pytest.mark.parametrize(("git", "cluster", "where"), [
    (autoscaler("v1", targetCPUUtilizationPercentage=80), autoscaler("v2", metrics=[CPU]), []),
    (autoscaler("v2", metrics=[CPU]), autoscaler("v1", targetCPUUtilizationPercentage=80), []),
    (autoscaler("v1", targetCPUUtilizationPercentage=81), autoscaler("v2", metrics=[CPU]), ["/spec/metrics/0/resource/target/averageUtilization"]),
    (autoscaler("v2beta1", metrics=[OLD_MEMORY]), autoscaler("v2", metrics=[MEMORY]), []),
    (autoscaler("v2beta2", metrics=[CPU, MEMORY]), autoscaler("v2", metrics=[MEMORY, CPU]), []),
    (autoscaler("v2", metrics=[MEMORY, CPU]), {**autoscaler("v1", targetCPUUtilizationPercentage=80), "metadata": {"name": "it", "namespace": "shop", "annotations": {"autoscaling.alpha.kubernetes.io/metrics": json.dumps([OLD_MEMORY])}}}, []),
    (kubernetes_object("batch/v1beta1", "CronJob", spec={"schedule": "* * * * *"}), kubernetes_object("batch/v1", "CronJob", spec={"schedule": "* * * * *"}), []),
    (kubernetes_object("policy/v1beta1", "PodDisruptionBudget", spec={"minAvailable": 1}), kubernetes_object("policy/v1", "PodDisruptionBudget", spec={"minAvailable": 2}), ["/spec/minAvailable"]),
    (kubernetes_object("networking.k8s.io/v1beta1", "Ingress", spec={"backend": {"serviceName": "web", "servicePort": 80}}), kubernetes_object(NET, "Ingress", spec={"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}), []),
    (kubernetes_object("extensions/v1beta1", "Ingress", spec={"rules": [{"http": {"paths": [{"path": "/", "backend": {"serviceName": "web", "servicePort": "http"}}]}}]}), kubernetes_object(NET, "Ingress", spec={"rules": [{"http": {"paths": [{"path": "/", "pathType": "ImplementationSpecific", "backend": {"service": {"name": "web", "port": {"name": "http"}}}}]}}]}), []),
    (kubernetes_object("example.io/v1", "Widget", spec={"size": 1, "renamed": 2}), kubernetes_object("example.io/v2", "Widget", spec={"size": 1, "other": 2}), []),
    (kubernetes_object("example.io/v1", "Widget", spec={"size": 1}), kubernetes_object("example.io/v2", "Widget", spec={"size": 2}), ["/spec/size"]),
])  # fmt: skip
def test_one_object_in_two_versions(git: dict[str, Any], cluster: dict[str, Any], where: list[str]) -> None:
    assert places(git, cluster) == where


@pytest.mark.parametrize(("git", "live", "sync"), [
    ({"size": 1, "renamed": 2}, {"size": 1, "other": 2}, None), ({"size": 1}, {"size": 1, "other": 2}, SYNCED),
    ({"size": 2, "renamed": 2}, {"size": 1}, OUT_OF_SYNC), ({"size": "1"}, {"size": 1}, None),
    ({"parts": [{"a": 1}]}, {"parts": [{"b": 1}]}, None),
])  # fmt: skip
def test_what_has_another_version_and_cannot_all_be_compared_is_not_synced(
    git: dict[str, Any], live: dict[str, Any], sync: str | None
) -> None:
    sides = [kubernetes_object(f"example.io/{one}", "Widget", spec=spec) for one, spec in (("v2", live), ("v1", git))]
    found = assess.assess(*sides)
    assert (found.sync, "another version" in found.why, "not all of it" in found.why) == (sync, True, sync is None)


def test_labels_mean_the_same_in_every_version() -> None:
    git = kubernetes_object(
        "example.io/v1", "Widget", metadata={"name": "it", "labels": {"tier": "web"}}, spec={"size": 1}
    )
    live = kubernetes_object("example.io/v2", "Widget", metadata={"name": "it"}, spec={"size": 1})
    assert places(git, live) == ["/metadata/labels"]


def test_the_pods_of_a_rollout_are_read_like_those_of_a_deployment() -> None:
    git, cluster = ({**side, "apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout"} for side in (
        deployment(containers=[{**WEB, "resources": {"limits": {"cpu": 1}}, "ports": [{"containerPort": 80}]}]),
        deployment(containers=[{**WEB, "resources": {"limits": {"cpu": "1000m"}}, "env": [], "ports": [{"containerPort": 80, "protocol": "TCP"}]}]),
    ))  # fmt: skip
    cluster["spec"]["template"]["metadata"]["creationTimestamp"] = None
    assert places(git, cluster) == []
    cluster["spec"]["template"]["spec"]["containers"][0]["image"] = "web:2"
    assert places(git, cluster) == ["/spec/template/spec/containers/0/image"]


# ---- odd values


@pytest.mark.parametrize(
    "odd", [float("inf"), float("nan"), -0.0, 2**70, -(2**70), 10**400, "1e999", "1e3", "-0", "1e-400", "0x10", "１"]
)
@pytest.mark.parametrize("at", ["replicas", "minReadySeconds", "paused", "strategy", "selector", "template"])
def test_odd_values_are_compared_and_hold_in_themselves(odd: Any, at: str) -> None:
    found = deployment(containers=[{**WEB, "resources": {"limits": {"cpu": odd}}}], **{at: odd})
    assert places(found, deepcopy(found)) == []
    places(found, deployment())
    places(deployment(), found, last=found)


# ---- what is


@pytest.mark.parametrize(("desired", "live", "where"), [
    pytest.param(deployment(replicas=3), deployment(replicas=4), ["/spec/replicas"], id="replicas"),
    pytest.param(deployment(replicas=0), deployment(replicas=1), ["/spec/replicas"], id="none at all"),
    pytest.param(deployment(replicas=0), deployment(), ["/spec/replicas"], id="none, and one by default"),
    pytest.param(deployment(containers=[WEB, SIDE]), deployment(containers=[WEB]), ["/spec/template/spec/containers/1"], id="a container is missing"),
    pytest.param(deployment(containers=[WEB]), deployment(containers=[SIDE, {**WEB, "image": "web:2"}]), ["/spec/template/spec/containers/1/image"], id="an image, behind a sidecar"),
    pytest.param(deployment(containers=[{**WEB, "args": ["a", "b"]}]), deployment(containers=[{**WEB, "args": ["b", "a"]}]), ["/spec/template/spec/containers/0/args"], id="the order of arguments"),
    pytest.param(deployment(containers=[{**WEB, "env": [{"name": "A"}, {"name": "B"}]}]), deployment(containers=[{**WEB, "env": [{"name": "B"}, {"name": "A"}]}]), ["/spec/template/spec/containers/0/env"], id="the order of variables"),
    pytest.param(kubernetes_object("v1", "Service", spec={"ports": [{"port": 80}, {"port": 81}]}), kubernetes_object("v1", "Service", spec={"ports": [{"port": 81, "targetPort": 81}, {"port": 80, "targetPort": 80}]}), ["/spec/ports"], id="the order of ports"),
    pytest.param(kubernetes_object("v1", "ConfigMap", data={"a": 1}), kubernetes_object("v1", "ConfigMap", data={"a": "1"}), ["/data/a"], id="a number where words are"),
    pytest.param(kubernetes_object("v1", "ConfigMap", metadata={"labels": {"a": True}}, data={}), kubernetes_object("v1", "ConfigMap", metadata={"labels": {"a": 1}}), ["/metadata/labels/a"], id="true is not 1"),
    pytest.param(deployment(replica=3), deployment(), ["/spec/replica"], id="a mistyped field"),
    pytest.param(kubernetes_object("foo.io/v1", "Foo", spec={"a": {}, "b": []}), kubernetes_object("foo.io/v1", "Foo", spec={}), ["/spec/a", "/spec/b"], id="custom: an empty value"),
    pytest.param(kubernetes_object("foo.io/v1", "Foo", spec={"cpu": "1000m"}), kubernetes_object("foo.io/v1", "Foo", spec={"cpu": "1"}), ["/spec/cpu"], id="custom: another spelling"),
    pytest.param(kubernetes_object("foo.io/v1", "Foo", spec={"l": [1]}), kubernetes_object("foo.io/v1", "Foo", spec={"l": [1, 2]}), ["/spec/l"], id="custom: a list's length"),
    pytest.param(kubernetes_object("policy/v1", "PodDisruptionBudget", spec={"selector": {"matchLabels": {"a": "1"}}}), kubernetes_object("policy/v1", "PodDisruptionBudget", spec={"selector": {"matchLabels": {"a": "1", "b": "2"}}}), ["/spec/selector/matchLabels/b"], id="a selector that is replaced whole"),
    pytest.param(kubernetes_object("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[{"verbs": ["get"]}]), kubernetes_object("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[{"verbs": ["get", "list"]}]), ["/rules/0/verbs"], id="rules of a role"),
    pytest.param(kubernetes_object("v1", "PersistentVolumeClaim", spec={"storageClassName": "", "volumeName": "v"}), kubernetes_object("v1", "PersistentVolumeClaim", spec={"volumeName": "v"}), ["/spec/storageClassName"], id="no class is not any class"),
    pytest.param(deployment(), {**deployment(), "spec": {**deployment()["spec"], "template": pod_template(containers=[], nodeName="n")}}, ["/spec/template/spec/containers"], id="all containers gone"),
])  # fmt: skip
def test_drift(desired: dict[str, Any], live: dict[str, Any], where: list[str]) -> None:
    assert places(desired, live) == where


def test_what_was_removed_from_git_shows_only_where_it_is_known_to_have_been_applied() -> None:
    before = deployment(metadata={"labels": {"team": "a"}}, containers=[WEB, SIDE], replicas=3)
    now = deployment(containers=[WEB])
    assert places(now, before) == []
    assert places(now, applied(before, before)) == [
        "/metadata/labels",
        "/spec/template/spec/containers/1",
        "/spec/replicas",
    ]
    assert places(now, before, last=before) == places(now, applied(before, before))
    injected = deployment(containers=[WEB, SIDE])
    assert places(now, applied(injected, now)) == []


def test_what_was_removed_from_a_custom_kind() -> None:
    before, now = (
        kubernetes_object("foo.io/v1", "Foo", spec={"a": 1, "b": 2}),
        kubernetes_object("foo.io/v1", "Foo", spec={"a": 1}),
    )
    assert places(now, before) == []
    assert places(now, applied(before, before)) == ["/spec/b"]


def test_a_last_applied_that_cannot_be_read_is_as_none() -> None:
    for text in ("{", "[]", "3"):
        live = deployment(
            metadata={"annotations": {"kubectl.kubernetes.io/last-applied-configuration": text}}, replicas=3
        )
        assert places(deployment(), live) == []


def test_ports_of_two_protocols_are_two_ports() -> None:
    both = [{"port": 53, "protocol": "TCP", "targetPort": 53}, {"port": 53, "protocol": "UDP", "targetPort": 53}]
    desired = kubernetes_object("v1", "Service", spec={"ports": both})
    assert places(desired, kubernetes_object("v1", "Service", spec={"ports": both})) == []
    assert places(desired, kubernetes_object("v1", "Service", spec={"ports": both[:1]})) == ["/spec/ports/1"]


def test_the_api_servers_own_word_is_taken_where_it_is_given() -> None:
    desired, live = deployment(replicas=3), deployment(replicas=3, paused=True)
    answered = deployment(replicas=3, paused=True, metadata={"annotations": {"webhook": "was here"}})
    assert places(desired, live, dry_run=answered) == []
    assert places(desired, live, dry_run=deployment(replicas=3)) == ["/spec/paused"]
    assert places(deployment(replicas=5), live, dry_run=deployment(replicas=5, paused=True)) == ["/spec/replicas"]


def test_the_differences_show_both_sides() -> None:
    [one] = compare(deployment(replicas=3), deployment(replicas=4))
    assert (one.pointer, one.wanted, one.found) == ("/spec/replicas", 3, 4)
    [gone] = compare(kubernetes_object("v1", "ConfigMap", data={"a/b~c": "1"}), kubernetes_object("v1", "ConfigMap"))
    assert (gone.pointer, gone.wanted, repr(gone.found)) == ("/data", {"a/b~c": "1"}, "nothing")
    [one] = compare(
        kubernetes_object("v1", "ConfigMap", data={"a/b~c": "1", "d": "2"}),
        kubernetes_object("v1", "ConfigMap", data={"d": "2"}),
    )
    assert one.pointer == "/data/a~1b~0c"


@pytest.mark.parametrize(("one", "other"), [
    ("1", 1), ("1000m", "1"), ("0.5", "500m"), ("1Gi", "1024Mi"), ("1G", "1000M"), ("1e3", "1k"), ("1E", "1000P"), (".5", "500m"),
    ("1024", "1Ki"), ("+1", "1"), ("1.", "1"), (2.0, "2"), ("100n", "0.1u"), ("0.1n", "1n"), ("-1Gi", "-1024Mi"), ("0", "0Gi"),
])  # fmt: skip
def test_quantities_are_told_by_value(one: Any, other: Any) -> None:
    assert quantity(one) == quantity(other)


@pytest.mark.parametrize("text", ["", "x", "1 Gi", "1KI", "1K", "Gi", "1GiB", True, None, "1e", "--1"])
def test_what_is_no_quantity_stays(text: Any) -> None:
    assert quantity(text) is text


@given(st.decimals(min_value=0, max_value=10**6, places=3))
def test_a_quantity_is_the_same_in_thousandths(number: Any) -> None:
    assert quantity(str(number)) == quantity(f"{int(number * 1000)}m")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "name", "env", "data", "ports", "paused"]), inner, max_size=3)
    ),
    max_leaves=12,
)
KINDS = [
    ("apps/v1", "Deployment"),
    ("v1", "Service"),
    ("v1", "Pod"),
    ("v1", "Secret"),
    ("v1", "Endpoints"),
    ("foo.io/v1", "Foo"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
]


@given(st.sampled_from(KINDS), JSON, JSON, JSON)
def test_nothing_that_is_json_makes_it_fail_and_sides_stay_as_they_were(
    kind: tuple[str, str], spec: Any, other: Any, last: Any
) -> None:
    desired, live = (
        kubernetes_object(*kind, spec=spec, data=spec, subsets=spec),
        kubernetes_object(*kind, spec=other, data=other, subsets=other),
    )
    before = deepcopy((desired, live))
    compare(desired, live)
    compare(desired, live, last=kubernetes_object(*kind, spec=last))
    assert (desired, live) == before


@given(st.sampled_from(KINDS), JSON)
def test_an_object_holds_in_itself(kind: tuple[str, str], spec: Any) -> None:
    found = kubernetes_object(*kind, spec=spec)
    assert compare(found, found) == []


@given(
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)),
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)),
)
def test_a_custom_object_is_in_sync_just_where_all_that_git_says_holds(
    desired: dict[str, int], live: dict[str, int]
) -> None:
    found = compare(
        kubernetes_object("foo.io/v1", "Foo", spec=desired), kubernetes_object("foo.io/v1", "Foo", spec=live)
    )
    assert {one.path[-1] for one in found} == {name for name, value in desired.items() if live.get(name) != value}


# ---- what there is to say of a difference


def said(git: dict[str, Any], live: dict[str, Any]) -> list[tuple[str, Any, Any, str]]:
    return [(one.pointer, one.wanted, one.found, one.note) for one in compare(git, live)]


def env(*names: str, **values: str) -> dict[str, Any]:
    return deployment(containers=[{**WEB, "env": [{"name": name, "value": values.get(name, "1")} for name in names]}])


ENV = "/spec/template/spec/containers/0/env"


def test_order_alone_is_one_difference() -> None:
    [(where, wanted, found, note)] = said(env("A", "B"), env("B", "A"))
    assert (where, [one["name"] for one in (*wanted, *found)], note) == (
        ENV, ["A", "B", "B", "A"], "the same items in another order",
    )  # fmt: skip
    args = [deployment(containers=[{**WEB, "args": order}]) for order in (["a", "b", "a"], ["a", "a", "b"])]
    assert [one[3] for one in said(*args)] == ["the same items in another order"]
    args = [deployment(containers=[{**WEB, "args": order}]) for order in (["a", "b", "a"], ["a", "b", "b"])]
    assert [one[0] for one in said(*args)] == ["/spec/template/spec/containers/0/args/2"]


def test_order_beside_a_change_is_said_beside_it() -> None:
    found = said(env("A", "B", B="2"), env("B", "A", B="3"))
    assert [(where, note) for where, _, _, note in found] == [(ENV, "in another order"), (f"{ENV}/0/value", "")]
    assert found[1][1:3] == ("2", "3")


A_PORT = [("a", 80)]
TWO_PORTS = [("b", 81), *A_PORT]


def metric(name: str, target: int) -> dict[str, Any]:
    return {
        "type": "Resource",
        "resource": {"name": name, "target": {"type": "Utilization", "averageUtilization": target}},
    }


@pytest.mark.parametrize(("git", "live", "expected"), [
    ([("cpu", 70), ("memory", 80)], [("memory", 80), ("cpu", 70)], []),
    ([("cpu", 70), ("memory", 80)], [("memory", 85), ("cpu", 70)], [("/0/resource/target/averageUtilization", 80, 85)]),
    ([("cpu", 70), ("memory", 80)], [("memory", 80), ("disk", 70)], [("/0", "cpu", NONE), ("/1", NONE, "disk")]),
    ([("cpu", 70), ("memory", 80)], [("disk", 70), ("memory", 80)], [("/0", "cpu", "disk")]),
    ([("cpu", 70), ("memory", 80)], [("memory", 85), ("cpu", 75)], [("/1/resource/target/averageUtilization", 70, 75), ("/0/resource/target/averageUtilization", 80, 85)]),
    ([("cpu", 70), ("memory", 80)], [("memory", 80)], [("/0", "cpu", NONE)]),
    ([("memory", 80)], [("cpu", 70), ("memory", 80)], [("/0", NONE, "cpu")]),
    ([("cpu", 70)] * 30, [("cpu", 70)] * 29 + [("cpu", 71)], [("/29/resource/target/averageUtilization", 70, 71)]),
])  # fmt: skip
def test_where_order_means_nothing_like_is_held_against_like(git: Any, live: Any, expected: Any) -> None:
    sides = [autoscaler("v2", metrics=[metric(*one) for one in side]) for side in (git, live)]
    found = [
        (where, *(one["resource"]["name"] if isinstance(one, dict) else one for one in both))
        for where, *both, _ in said(*sides)
    ]
    assert [(where.removeprefix("/spec/metrics"), *both) for where, *both in found] == expected


def test_what_git_no_longer_says_is_held_against_nothing() -> None:
    git, last = ({"ports": [{"name": name, "port": port} for name, port in side]} for side in (A_PORT, TWO_PORTS))
    before, now = (kubernetes_object("v1", "Service", spec=spec) for spec in (last, git))
    [one] = compare(now, before, last=before)
    assert (one.pointer, one.wanted, one.found["name"], one.note) == ("/spec/ports/0", NONE, "b", "would be removed")


@pytest.mark.parametrize(("git", "live", "where", "note"), [
    pytest.param(env("A"), env("B"), f"{ENV}/0", "another item took its place: name B instead of A", id="a variable under another name"),
    pytest.param(env("A", "C"), env("C", "B"), f"{ENV}/1", "another item took its place: name B instead of A", id="equal but for the key"),
    pytest.param(deployment(containers=[WEB]), deployment(containers=[{**SIDE}]), "/spec/template/spec/containers/0", "another item took its place: name proxy instead of web", id="another container"),
    pytest.param(kubernetes_object("v1", "Service", spec={"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}), kubernetes_object("v1", "Service", spec={"ports": [{"name": "b", "port": 81, "targetPort": 81}, {"name": "a", "port": 90, "targetPort": 80}]}), "/spec/ports/1", "another item took its place: port 90 instead of 80", id="a port under one name"),
])  # fmt: skip
def test_what_took_the_place_of_another_is_shown_with_it(git: Any, live: Any, where: str, note: str) -> None:
    for last in (None, git, live):
        [one] = compare(git, live, last=last)
        assert (one.pointer, one.note) == (where, note)
        assert one.wanted
        assert one.found


def test_a_field_that_a_kind_has_not_is_said() -> None:
    assert [one[::3] for one in said(deployment(replica=3), deployment())] == [
        ("/spec/replica", "this kind has no such field")
    ]
    assert [one[3] for one in said({**deployment(), "spce": {}}, deployment())] == ["this kind has no such field"]
    assert [one[3] for one in said(deployment(containers=[{**WEB, "prots": []}]), deployment(containers=[WEB]))] == [
        "this kind has no such field"
    ]
    assert [
        one[3] for one in said(kubernetes_object("foo.io/v1", "Foo", a=1), kubernetes_object("foo.io/v1", "Foo"))
    ] == [""]


def test_ports_are_told_apart_by_their_protocol() -> None:
    tcp, udp = ({"name": name, "port": 53, "protocol": name.upper(), "targetPort": 53} for name in ("tcp", "udp"))
    live = kubernetes_object("v1", "Service", spec={"ports": [tcp, udp]})
    assert said(kubernetes_object("v1", "Service", spec={"ports": [udp]}), live) == []
    assert said(kubernetes_object("v1", "Service", spec={"ports": [{"name": "tcp", "port": 53}]}), live) == []


def test_values_are_shown_as_each_side_writes_them() -> None:
    git, live = (
        deployment(containers=[{**WEB, "resources": {"limits": {"memory": memory, "cpu": cpu}}}])
        for memory, cpu in (("1Gi", 1), ("2048Mi", "1000m"))
    )
    assert [one[1:3] for one in said(git, live)] == [("1Gi", "2048Mi")]
    assert [one[1] for one in said(git, deployment(containers=[WEB]))] == [{"limits": {"memory": "1Gi", "cpu": 1}}]
    secrets = [kubernetes_object("v1", "Secret", data={"a": text}) for text in ("Zm9v\n", "Zm9w\n")]
    assert [one[1:3] for one in said(*secrets)] == [("Zm9v\n", "Zm9w\n")]
