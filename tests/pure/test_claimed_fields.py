"""What the applier of Git claims, and Git says no more, would be removed (docs/spec/gitops.md, Comparing)."""

from typing import Any

import pytest

from phaseline.machines.kinds.kubernetes.diff.compare import compare
from tests.support.custom_kinds import claimed, custom
from tests.support.manifests import deployment, kubernetes_object, places

Fields = dict[str, Any]
ARGO, FLUX = "argocd-controller", "kustomize-controller"
SPEC: Fields = {"f:spec": {"f:a": {}, "f:b": {}}}
BOTH, ONE = custom({"a": 1, "b": 2}), custom({"a": 1})
WEB, SIDE = {"name": "web", "image": "web:1"}, {"name": "side", "image": "side:1"}
SELECTED: Fields = {"f:selector": {}}


def pods(*containers: Any, **others: Any) -> dict[str, Any]:
    inside: Fields = {f'k:{{"name":"{name}"}}': {".": {}, "f:name": {}, "f:image": {}} for name in containers}
    return {"f:spec": {**SELECTED, "f:template": {"f:spec": {"f:containers": inside}}}, **others}


@pytest.mark.parametrize(("claims", "where"), [
    pytest.param([(ARGO, "Apply", SPEC)], ["/spec/b"], id="Argo CD applies"),
    pytest.param([(FLUX, "Apply", SPEC)], ["/spec/b"], id="Flux applies"),
    pytest.param([("our-pipeline", "Apply", SPEC)], ["/spec/b"], id="somebody applies most of what Git says"),
    pytest.param([("an-operator", "Apply", {"f:spec": {"f:b": {}}})], [], id="somebody applies what Git never said"),
    pytest.param([(ARGO, "Apply", SPEC), ("an-operator", "Apply", {"f:spec": {"f:b": {}}})], [], id="another applies it too"),
    pytest.param([(ARGO, "Apply", SPEC), ("kubectl-edit", "Update", {"f:spec": {"f:b": {}}})], [], id="another updated it too"),
    pytest.param([(ARGO, "Apply", {"f:spec": {"f:a": {}}}), ("kubectl", "Apply", SPEC)], [], id="applied by hand beside Argo CD"),
    pytest.param([(ARGO, "Apply", {"f:spec": {"f:a": {}, "f:gone": {}}})], [], id="a claim of what is not there"),
    pytest.param([("kubectl-edit", "Update", SPEC)], [], id="updated by somebody"),
    pytest.param([(ARGO, "Update", SPEC)], [], id="updated, where nobody knows the defaults of the kind"),
    pytest.param([], [], id="nobody claims anything"),
])  # fmt: skip
def test_who_applies_what_git_says(claims: list[Any], where: list[str]) -> None:
    assert places(ONE, claimed(BOTH, *claims)) == where
    assert places(BOTH, claimed(BOTH, *claims)) == []


def test_the_difference_says_that_the_field_would_be_removed() -> None:
    [one] = compare(ONE, claimed(BOTH, (ARGO, "Apply", SPEC)))
    assert (repr(one.wanted), one.found, one.note) == ("nothing", 2, "would be removed")


@pytest.mark.parametrize(("git", "live", "fields", "where"), [
    pytest.param(deployment(containers=[WEB]), deployment(containers=[WEB, SIDE]), pods("web", "side"), ["/spec/template/spec/containers/1"], id="a container"),
    pytest.param(deployment(containers=[WEB]), deployment(containers=[SIDE, WEB]), pods("web", "side"), ["/spec/template/spec/containers/0"], id="a container before"),
    pytest.param(deployment(containers=[WEB]), deployment(containers=[WEB, SIDE]), pods("web"), [], id="an injected container"),
    pytest.param(deployment(), deployment(metadata={"labels": {"team": "a"}}), {"f:metadata": {"f:labels": {"f:team": {}}}}, ["/metadata/labels"], id="a label"),
    pytest.param(deployment(metadata={"labels": {"app": "b"}}), deployment(metadata={"labels": {"app": "b", "team": "a"}}), {"f:metadata": {"f:labels": {".": {}, "f:team": {}, "f:app": {}}}}, ["/metadata/labels/team"], id="one of two labels"),
    pytest.param(deployment(), deployment(metadata={"annotations": {"argocd.argoproj.io/tracking-id": "x"}, "labels": {"app.kubernetes.io/instance": "x"}}), {"f:metadata": {"f:annotations": {".": {}, "f:argocd.argoproj.io/tracking-id": {}}, "f:labels": {"f:app.kubernetes.io/instance": {}}}}, [], id="marks of Argo CD"),
    pytest.param(deployment(), deployment(metadata={"annotations": {"argocd.argoproj.io/tracking-id": "x", "a": "b"}}), {"f:metadata": {"f:annotations": {".": {}, "f:argocd.argoproj.io/tracking-id": {}, "f:a": {}}}}, ["/metadata/annotations/a"], id="an annotation beside a mark"),
    pytest.param(deployment(), deployment(replicas=1), {"f:spec": {"f:replicas": {}}}, [], id="what has its default without Git, too"),
    pytest.param(deployment(), deployment(replicas=3), {"f:spec": {"f:replicas": {}}}, ["/spec/replicas"], id="what has another default"),
    pytest.param(deployment(metadata={"finalizers": ["a/b"]}), deployment(metadata={"finalizers": ["c/d", "a/b"]}), {"f:metadata": {"f:finalizers": {".": {}, 'v:"a/b"': {}, 'v:"c/d"': {}}}}, ["/metadata/finalizers/0"], id="a member that is a value"),
    pytest.param(kubernetes_object("v1", "Service", spec={"ports": [{"port": 80}]}), kubernetes_object("v1", "Service", spec={"ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}, {"port": 81, "protocol": "TCP", "targetPort": 81}]}), {"f:spec": {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}, 'k:{"port":81,"protocol":"TCP"}': {".": {}, "f:port": {}}}}}, ["/spec/ports/1"], id="a port, where Git leaves out the protocol"),
    pytest.param(kubernetes_object("v1", "PersistentVolumeClaim", spec={}), kubernetes_object("v1", "PersistentVolumeClaim", spec={"storageClassName": "fast", "volumeName": "v"}), {"f:spec": {"f:storageClassName": {}, "f:volumeName": {}}}, [], id="what the server fills in again"),
    pytest.param(kubernetes_object("v1", "ConfigMap", data={"a": "1"}), kubernetes_object("v1", "ConfigMap", data={"a": "1", "b": "2"}), {"f:data": {".": {}, "f:a": {}, "f:b": {}}}, ["/data/b"], id="a key of a ConfigMap"),
    pytest.param(custom({"a": 1}), custom({"a": 1, "deep": {"x": 1, "y": 2}}), {"f:spec": {"f:a": {}, "f:deep": {".": {}, "f:x": {}, "f:y": {}}}}, ["/spec/deep"], id="a part with all that is in it"),
    pytest.param(custom({"l": [{"n": 1}]}), custom({"l": [{"n": 1}, {"n": 2}]}), {"f:spec": {"f:l": {'k:{"n":1}': {".": {}, "f:n": {}}, 'k:{"n":2}': {".": {}, "f:n": {}}}}}, ["/spec/l"], id="a member of a list of a custom kind"),
])  # fmt: skip
def test_what_is_removed(git: dict[str, Any], live: dict[str, Any], fields: dict[str, Any], where: list[str]) -> None:
    assert places(git, claimed(live, (ARGO, "Apply", fields))) == where
    assert places(live, claimed(live, (ARGO, "Apply", fields))) == []


def test_of_a_part_that_others_claim_too_only_the_own_fields_go() -> None:
    live = custom({"a": 1, "deep": {"x": 1, "y": 2}})
    mine: Fields = {"f:spec": {"f:a": {}, "f:deep": {".": {}, "f:x": {}}}}
    theirs: Fields = {"f:spec": {"f:deep": {"f:y": {}}}}
    assert places(custom({"a": 1}), claimed(live, (ARGO, "Apply", mine), ("operator", "Update", theirs))) == [
        "/spec/deep/x"
    ]


def test_what_argo_cd_updated_counts_where_the_defaults_are_known_and_nothing_was_noted_as_applied() -> None:
    fields: Fields = {"f:spec": {"f:paused": {}, "f:progressDeadlineSeconds": {}}}
    live = claimed(deployment(paused=True, progressDeadlineSeconds=600), (ARGO, "Update", fields))
    assert places(deployment(), live) == ["/spec/paused"]
    assert places(deployment(), live, last=deployment()) == []


def test_a_claim_on_the_status_says_nothing_of_the_rest() -> None:
    live = claimed(BOTH, (ARGO, "Apply", SPEC))
    live["metadata"]["managedFields"][0]["subresource"] = "status"
    assert places(ONE, live) == []


@pytest.mark.parametrize("entry", [
    None, 3, {}, {"manager": ARGO}, {"manager": ARGO, "operation": "Apply", "fieldsV1": []},
    {"manager": 3, "operation": "Apply", "fieldsV1": SPEC}, {"manager": ARGO, "operation": "Apply", "fieldsV1": {"f:spec": {"k:{": {}, "x": {}, "f:b": 3, "v:": {}, "i:0": {}}}},
])  # fmt: skip
def test_what_cannot_be_read_claims_nothing(entry: Any) -> None:
    live = custom({"a": 1, "b": 2})
    live["metadata"]["managedFields"] = [entry]
    assert places(ONE, live) == []
    live["metadata"]["managedFields"] = entry
    assert places(ONE, live) == []
