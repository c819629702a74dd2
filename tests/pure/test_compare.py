"""Comparing: does what Git says still hold? (docs/spec/gitops.md, Comparing.)"""

import base64
import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.machines.kubernetes.diff.canonical import quantity
from phaseline.machines.kubernetes.diff.compare import compare
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


# ---- what is


@pytest.mark.parametrize(("desired", "live", "where"), [
    pytest.param(deployment(replicas=3), deployment(replicas=4), ["/spec/replicas"], id="replicas"),
    pytest.param(deployment(replicas=0), deployment(replicas=1), ["/spec/replicas"], id="none at all"),
    pytest.param(deployment(replicas=0), deployment(), ["/spec/replicas"], id="none, and one by default"),
    pytest.param(deployment(containers=[WEB, SIDE]), deployment(containers=[WEB]), ["/spec/template/spec/containers/1"], id="a container is missing"),
    pytest.param(deployment(containers=[WEB]), deployment(containers=[SIDE, {**WEB, "image": "web:2"}]), ["/spec/template/spec/containers/1/image"], id="an image, behind a sidecar"),
    pytest.param(deployment(containers=[{**WEB, "args": ["a", "b"]}]), deployment(containers=[{**WEB, "args": ["b", "a"]}]), ["/spec/template/spec/containers/0/args/0", "/spec/template/spec/containers/0/args/1"], id="the order of arguments"),
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
