"""The typical causes of a false OutOfSync, each with a manifest as a chart renders it and one as a cluster keeps it.

See docs/spec/gitops.md.
"""

from copy import deepcopy
from typing import Any

import pytest

from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.kinds.kubernetes.assess import OUT_OF_SYNC, SYNCED, Assessment, assess
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from tests.support.large_deployment import desired, live

Manifest = dict[str, Any]


def said(git: Manifest, cluster: Manifest, *rules: dict[str, Any]) -> Assessment:
    overrides = Overrides().merge({"ignore_differences": list(rules)}, "rules")
    return assess(cluster, git, overrides, shared_runner(), now=1, explains=True)


def test_as_it_is() -> None:
    assert said(desired(), live()).sync == SYNCED


def test_an_autoscaler_sets_the_replicas() -> None:
    git, cluster = desired(), live()
    cluster["spec"]["replicas"] = 9
    assert said(git, cluster).sync == OUT_OF_SYNC
    assert (
        said(git, cluster, {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}).sync == SYNCED
    )
    assert (
        said(git, cluster, {"group": "apps", "kind": "Deployment", "jqPathExpressions": [".spec.replicas"]}).sync
        == SYNCED
    )
    cluster["metadata"]["managedFields"] = [
        {"manager": "kube-controller-manager", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    ]
    assert (
        said(git, cluster, {"group": "*", "kind": "*", "managedFieldsManagers": ["kube-controller-manager"]}).sync
        == SYNCED
    )
    del git["spec"]["replicas"]
    assert said(git, cluster).sync == SYNCED


def test_a_mesh_injects_a_sidecar() -> None:
    cluster = live()
    pod = cluster["spec"]["template"]
    pod["metadata"]["annotations"] = {"sidecar.istio.io/status": '{"containers":["istio-proxy"]}'}
    pod["spec"]["containers"].append(
        {
            "name": "istio-proxy",
            "image": "istio/proxyv2:1.22",
            "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        }
    )
    pod["spec"]["initContainers"] = [{"name": "istio-init", "image": "istio/proxyv2:1.22"}]
    pod["spec"]["volumes"].insert(0, {"name": "istio-envoy", "emptyDir": {"medium": "Memory"}})
    pod["spec"]["containers"][1]["volumeMounts"].append({"name": "istio-token", "mountPath": "/var/run/secrets/tokens"})
    assert said(desired(), cluster).sync == SYNCED


def test_monitoring_and_controllers_annotate() -> None:
    cluster = live()
    cluster["metadata"]["annotations"] |= {
        "deployment.kubernetes.io/revision": "7",
        "prometheus.io/scrape": "true",
        "field.cattle.io/publicEndpoints": "[]",
    }
    cluster["metadata"]["labels"] |= {"managed-by": "somebody"}
    assert said(desired(), cluster).sync == SYNCED
    cluster["metadata"]["annotations"]["owner"] = "team-b"
    assert [one.pointer for one in said(desired(), cluster).differences] == ["/metadata/annotations/owner"]


def test_an_operator_fills_a_secret() -> None:
    git = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "tls", "namespace": "shop"},
        "type": "kubernetes.io/tls",
        "data": {"tls.crt": "", "tls.key": ""},
    }
    cluster = deepcopy(git)
    cluster["data"] = {"tls.crt": "LS0tLS1CRUdJTg==", "tls.key": "LS0tLS1CRUdJTg==", "ca.crt": "LS0tLS1CRUdJTg=="}
    assert [one.pointer for one in said(git, cluster).differences] == ["/data/tls.crt", "/data/tls.key"]
    assert said(git, cluster, {"group": "", "kind": "Secret", "name": "tls", "jsonPointers": ["/data"]}).sync == SYNCED
    assert (
        said(git, cluster, {"group": "", "kind": "Secret", "name": "other", "jsonPointers": ["/data"]}).sync
        == OUT_OF_SYNC
    )


@pytest.mark.parametrize(
    "annotation",
    [
        {"helm.sh/hook": "post-install,post-upgrade"},
        {"argocd.argoproj.io/hook": "PreSync"},
        {"argocd.argoproj.io/hook": "Skip"},
    ],
)
def test_hooks_are_run_and_not_kept(annotation: dict[str, str]) -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "migrate", "namespace": "shop", "annotations": annotation},
        "spec": {"template": {"spec": {"containers": [{"name": "m", "image": "m:1"}], "restartPolicy": "Never"}}},
    }
    failed = {**deepcopy(job), "status": {"conditions": [{"type": "Failed", "status": "True"}]}}
    for git, cluster in ((job, failed), (job, None)):
        found = assess(cluster, git, Overrides(), shared_runner(), now=1)
        assert (found.sync, found.health, found.is_hook) == (None, None, True)


def test_the_api_server_writes_it_another_way() -> None:
    git, cluster = desired(), live()
    container = git["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {
        "requests": {"cpu": 0.25, "memory": "134217728"},
        "limits": {"cpu": "1000m", "memory": "1Gi"},
    }
    container["command"], container["lifecycle"], container["stdin"] = [], {}, False
    git["metadata"]["creationTimestamp"] = git["spec"]["template"]["metadata"]["creationTimestamp"] = None
    git["status"] = {}
    assert said(git, cluster).sync == SYNCED
