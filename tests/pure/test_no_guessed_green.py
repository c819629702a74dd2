"""Objects that look well at first sight and are not; words that sound bad and are not.


Belongs here: one line for each such object, of known kinds and of any other. Does not: the language of rows
(`test_known_kinds`), the order of findings (`test_general_rule`), Argo CD's own cases (`test_health_figures`).
"""

from typing import Any

import pytest

from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.machines.kinds.kubernetes.health.registry import assess_health
from tests.support.manifests import condition

THING = ("acme.dev/v1", "Thing")
CAPI = "cluster.x-k8s.io/v1beta2"
GATEWAY = "gateway.networking.k8s.io/v1"
KAFKA = "kafka.strimzi.io/v1beta2"
VELERO = "velero.io/v1"
D, H, N, P, S = "Degraded", "Healthy", "NotAssessed", "Progressing", "Paused"


def says(*words: str, **more: Any) -> dict[str, Any]:
    """A status with conditions."""
    return {"conditions": [*map(condition, words)], **more}


def parents(*found: tuple[str, str]) -> dict[str, Any]:
    return {"parents": [{"parentRef": {"name": name}, **(says(word) if word else {})} for name, word in found]}


def judged(api: str, kind: str, status: dict[str, Any], **more: Any) -> Any:
    generation = more.pop("generation", 1)
    return assess_health(
        {"apiVersion": api, "kind": kind, "metadata": {"generation": generation}, "status": status, **more}
    )


@pytest.mark.parametrize(("api", "kind", "status", "verdict"), [
    ("acme.cert-manager.io/v1", "Challenge", {"state": "valid"}, H),
    ("acme.cert-manager.io/v1", "Order", {"state": "pending"}, P),
    ("acme.cert-manager.io/v1", "Order", {"state": "expired"}, D),
    ("cert-manager.io/v1", "CertificateRequest", says("Ready=False:Pending"), P),
    ("cert-manager.io/v1", "CertificateRequest", says("Denied=True", "Ready=False:Denied"), D),
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", says("Ready=False:DependencyNotReady"), P),
    ("pkg.crossplane.io/v1", "Function", says("Installed=False:UnhealthyPackageRevision", "Healthy=True"), D),
    ("pkg.crossplane.io/v1", "Function", says("Installed=False:UnpackingPackage", "Healthy=True"), P),
    (CAPI, "Cluster", says("Available=False", phase="Provisioned"), P),
    (CAPI, "Cluster", says("Available=True", "Paused=True", phase="Provisioned"), S),
    (CAPI, "Cluster", says("Available=True", "Paused=False", "RollingOut=False", phase="Provisioned"), H),
    (CAPI, "MachineDeployment", says("Available=True", "RollingOut=True", phase="Running"), P),
    (CAPI, "Machine", says("Available=False", "Ready=False", phase="Running"), P),
    (CAPI, "MachinePool", says("Available=Unknown", phase="Running"), P),
    ("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane", says("Available=True", "RollingOut=False"), H),
    ("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane", says("Available=False"), P),
    (GATEWAY, "Gateway", says("Accepted=True"), P),
    (GATEWAY, "Gateway", says("Accepted=True", "Programmed=True", listeners=[says("Conflicted=True")]), D),
    (GATEWAY, "HTTPRoute", parents(("a", "Accepted=True"), ("b", "PartiallyInvalid=True")), D),
    (GATEWAY, "GRPCRoute", parents(("a", "Accepted=True"), ("b", "")), P),
    (KAFKA, "KafkaConnector", says("Ready=True", connectorStatus={"connector": {"state": "FAILED"}}), D),
    (KAFKA, "KafkaConnector", says("Ready=True", connectorStatus={"tasks": [{"id": 0, "state": "FAILED"}]}), D),
    (KAFKA, "KafkaRebalance", says("ProposalReady=True"), S),
    ("tekton.dev/v1", "PipelineRun", says("Succeeded=Unknown:PipelineRunPending"), S),
    (VELERO, "DeleteBackupRequest", {"phase": "Processed"}, H),
    (VELERO, "DeleteBackupRequest", {"phase": "Processed", "errors": ["cannot"]}, D),
    (VELERO, "DataUpload", {"phase": "Canceled"}, D),
    ("ceph.rook.io/v1", "CephCluster", {"state": "Error"}, D),
    ("longhorn.io/v1beta2", "Volume", says("Scheduled=False", state="detached", robustness="unknown"), D),
    ("build.openshift.io/v1", "Build", {"phase": "Running"}, P),
    ("build.openshift.io/v1", "Build", {"phase": "Cancelled"}, D),
    ("operator.openshift.io/v1", "Console", says("RouteDegraded=True", "Available=True"), D),
    ("opentelemetry.io/v1", "OpenTelemetryCollector", {"scale": {"statusReplicas": "odd"}}, P),
    ("k8s.mariadb.com/v1alpha1", "MariaDB", says("Odd=True"), P),
    ("services.cloud.sap.com/v1", "ServiceInstance", says("Ready=False"), D),
    ("k8s.keycloak.org/v2alpha1", "Keycloak", says("Ready=True", "HasErrors=True"), D),
    ("argoproj.io/v1alpha1", "EventBus", says("Deployed=True", "Configured=False"), D),
    ("ocs.openshift.io/v1", "StorageCluster", says("Available=True", "ReconcileComplete=False"), P),
    ("flink.apache.org/v1", "FlinkDeployment", {"reconciliationStatus": {"state": "DEPLOYED"}, "jobStatus": {"state": "FAILED"}}, D),
    (CAPI, "Cluster", {"phase": "Provisioned", "controlPlaneReady": False}, P),
    (CAPI, "Machine", says("Ready=True", "NodeHealthy=False:NodeConditionsFailed", phase="Running"), P),
    (CAPI, "MachineDeployment", says("Available=True", phase="Running", unavailableReplicas=1), P),
    ("controlplane.cluster.x-k8s.io/v1beta1", "KubeadmControlPlane", says("Ready=True", "EtcdClusterHealthy=False"), P),
    (KAFKA, "KafkaMirrorMaker2", says("Ready=True", connectors=[{"tasks": [{"id": 0, "state": "FAILED"}]}]), D),
    (KAFKA, "KafkaMirrorMaker2", says("Ready=True", connectors=[{"connector": {"state": "FAILED"}}]), D),
    ("ceph.rook.io/v1", "CephCluster", says("Ready=True", phase="Failure", state="Created", ceph={"health": "HEALTH_OK"}), D),
    ("argoproj.io/v1alpha1", "Rollout", says("Available=False", phase="Healthy"), P),
    ("argoproj.io/v1alpha1", "Application", {"health": {"status": "Healthy"}, "operationState": {"phase": "Failed"}}, H),
    ("argoproj.io/v1alpha1", "Application", {"health": {"status": "Missing"}}, "Missing"),
    ("argoproj.io/v1alpha1", "Application", {"sync": {"status": "Synced"}}, N),
    ("operator.openshift.io/v1", "IngressController", says("DeploymentAvailable=False", "Available=True"), D),
    ("work.karmada.io/v1alpha2", "ResourceBinding", says("FullyApplied=False", aggregatedStatus=[{"applied": True, "health": "Healthy"}]), D),
    ("work.karmada.io/v1alpha2", "ResourceBinding", says("Scheduled=False", aggregatedStatus=[{"applied": True, "health": "Healthy"}]), P),
    ("keda.sh/v1alpha1", "ScaledObject", says("Ready=True", "HPAActive=False:HPAMetricsUnavailable"), P),
    ("keda.sh/v1alpha1", "ScaledObject", says("Ready=True", "HPAActive=False:ScalingDisabled"), H),
    ("keda.sh/v1alpha1", "ScaledObject", says("Ready=False:HPAMetricsUnavailable"), P),
    ("policy/v1", "PodDisruptionBudget", says("DisruptionAllowed=False:InsufficientPods", currentHealthy=1, desiredHealthy=2), P),
    ("policy/v1", "PodDisruptionBudget", says("DisruptionAllowed=False:InsufficientPods", currentHealthy=2, desiredHealthy=2), H),
    ("iam.cnrm.cloud.google.com/v1beta1", "IAMPolicy", says("Ready=False:DependencyNotReady"), P),
    ("postgresql.cnpg.io/v1", "Cluster", says("Ready=False", phase="Not enough disk space"), D),
    ("postgresql.cnpg.io/v1", "Cluster", says("Ready=False", phase="Waiting for user action"), S),
    ("postgresql.cnpg.io/v1", "Cluster", says("Ready=True", phase="Applying configuration"), P),
    ("elasticsearch.k8s.elastic.co/v1", "Elasticsearch", {"phase": "Invalid", "health": "green"}, D),
    ("source.toolkit.fluxcd.io/v1", "GitRepository", says("Ready=True", "ArtifactInStorage=True", "FetchFailed=True"), D),
    ("work.karmada.io/v1alpha1", "Work", says("Applied=True", manifestStatuses=[{"health": "Unhealthy"}]), D),
    ("work.open-cluster-management.io/v1", "ManifestWork", says("Applied=True", resourceStatus={"manifests": [says("Applied=True", "Available=False")]}), P),
    ("repositories.argocd.crossplane.io/v1alpha1", "Repository", says("Ready=True", "Synced=True", atProvider={"connectionState": {"status": "Failed"}}), D),
    ("rds.aws.upbound.io/v1beta1", "Instance", says("Ready=True", "Synced=True", "AsyncOperation=False:Ongoing"), P),
    ("helm.crossplane.io/v1beta1", "Release", says("Ready=True", "Synced=True", state="failed"), D),
    (CAPI, "Cluster", says("Available=True", "TopologyReconciled=False:TopologyReconcileFailed", phase="Provisioned"), D),
    (CAPI, "Cluster", says("Available=True", "TopologyReconciled=False:ControlPlaneUpgradePending", phase="Provisioned"), P),
    ("infrastructure.cluster.x-k8s.io/v1beta2", "AWSCluster", says("Ready=True", "VpcReady=False:VpcReconciliationFailed"), D),
    ("metal3.io/v1alpha1", "BareMetalHost", {"operationalStatus": "detached", "provisioning": {"state": "provisioned"}}, S),
    (KAFKA, "KafkaConnector", says("Ready=True", connectorStatus={"connector": {"state": "RUNNING"}, "tasks": [{"id": 1, "state": "UNASSIGNED"}]}), P),
    (KAFKA, "KafkaTopic", says("Ready=True", replicasChange={"state": "ongoing"}), P),
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease", says("Ready=True", "Released=True", "TestSuccess=False:TestFailed"), D),
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease", says("Ready=True", "Released=True", "Remediated=True:RollbackSucceeded"), D),
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", says("Ready=True", lastAppliedRevision="a", lastAttemptedRevision="b"), P),
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", says("Ready=True", "Healthy=False:HealthCheckFailed"), D),
    ("external-secrets.io/v1", "ClusterExternalSecret", says("Ready=True", failedNamespaces=[{"namespace": "a", "reason": "denied"}]), D),
    ("keda.sh/v1alpha1", "ScaledObject", says("Ready=True", health={"s0": {"status": "Failing"}}), D),
    ("gateway.networking.k8s.io/v1", "GatewayClass", says("Accepted=True", "SupportedVersion=False:UnsupportedVersion"), D),
    ("resource.k8s.io/v1", "ResourceClaim", {"allocation": {"devices": {}}, "devices": [says("Ready=False")]}, P),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", says("Established=True", "KubernetesAPIApprovalPolicyConformant=False"), D),
    ("ray.io/v1", "RayCluster", {"state": "ready", "desiredWorkerReplicas": 3, "availableWorkerReplicas": 1}, P),
    ("ray.io/v1", "RayService", {"serviceStatus": "Running", "activeServiceStatus": {"applicationStatuses": {"app": {"status": "UNHEALTHY"}}}}, D),
    ("jobset.x-k8s.io/v1alpha2", "JobSet", says("StartupPolicyInProgress=True"), P),
    ("kueue.x-k8s.io/v1beta1", "Workload", says("QuotaReserved=True", "Admitted=True", "Evicted=True:Preempted"), D),
    ("argoproj.io/v1alpha1", "Rollout", {"abort": True, "phase": "Healthy"}, D),
    ("argoproj.io/v1alpha1", "ApplicationSet", says("ResourcesUpToDate=True", "ParametersGenerated=False:ErrorOccurred"), D),
    ("karpenter.sh/v1", "NodeClaim", says("Ready=True", "ConsistentStateFound=False:ConsistencyCheckFailed"), D),
    ("secrets.hashicorp.com/v1beta1", "VaultConnection", {"valid": True}, H),
    ("longhorn.io/v1beta2", "Node", says("Ready=True", diskStatus={"d1": says("Ready=False:NoDiskInfo")}), P),
    ("pxc.percona.com/v1", "PerconaXtraDBCluster", {"state": "ready", "ready": 2, "size": 3}, P),
    ("scylla.scylladb.com/v1", "ScyllaCluster", says("Available=True", "Progressing=False", members=3, readyMembers=2), P),
    ("scylla.scylladb.com/v1", "ScyllaCluster", says("Available=True", racks={"a": {"members": 3, "readyMembers": 2}}), P),
    ("beat.k8s.elastic.co/v1beta1", "Beat", {"health": "green", "availableNodes": 2, "expectedNodes": 3}, P),
    (*THING, {"conditions": [{"type": "Ready", "status": "False", "severity": "Error", "reason": "BadRequest"}]}, D),
    (*THING, says("Ready=True", "ValidConfiguration=False"), D),
    (*THING, says("Available=True", "FullyApplied=False"), P),
    (*THING, says("Ready=True", "AgentConnected=False"), P),
    (*THING, says("Ready=True", "Reachable=False:Timeout"), P),
    (*THING, says("Ready=True", "Configured=False:InvalidConfig"), D),
    (*THING, says("Available=True", "UpdateFailing=True"), D),
    (*THING, {"state": "IN_PROGRESS"}, P),
    (*THING, {"status": "CREATE_IN_PROGRESS"}, P),
    (*THING, {"status": "UPDATE-FAILED"}, D),
    (*THING, {"phase": "CrashLoopBackOff"}, D),
    (*THING, {"phase": "PartiallyReady"}, D),
    (*THING, {"phase": "Incomplete"}, P),
    (*THING, {"phase": "Disabled"}, S),
    (*THING, says("Ready=True:NoErrors"), H),
    (*THING, says("Accepted=True:NoConflicts"), H),
    (*THING, says("PodScheduled=True"), N),
    (*THING, says("Ready=True", "DatabaseDegraded=True"), D),
    (*THING, says("Ready=True", "Broken=True"), D),
    (*THING, says("Ready=True", "BackendUnreachable=True"), D),
    (*THING, says("Ready=True", "ConfigInvalid=True"), D),
    (*THING, says("Accepted=True", "Conflicted=True"), D),
    (*THING, says("Ready=True", "RollingOut=True"), P),
    (*THING, says("Ready=False:Unauthorized"), D),
    (*THING, says("Ready=False:ImagePullBackOff"), D),
    (*THING, says("Ready=True", phase="Faulted"), D),
    (*THING, {"phase": "Cancelled"}, D),
    (*THING, {"state": "OFFLINE"}, D),
    (*THING, {"phase": "Queued"}, P),
    (*THING, {"status": "OK"}, H),
])  # fmt: skip
def test_what_looks_well_and_is_not(api: str, kind: str, status: dict[str, Any], verdict: str) -> None:
    assert judged(api, kind, status).status == verdict


STOPPED = says("Ready=False:VMINotExists", printableStatus="Stopped")
ISSUING = {
    "type": "Ready",
    "status": "False",
    "reason": "DoesNotExist",
    "message": "Issuing certificate as Secret does not exist",
}
FINISHED = {"jobManagerDeploymentStatus": "MISSING", "reconciliationStatus": {"state": "DEPLOYED"}}
SYNCED = says("Ready=True:SecretSynced", syncedResourceVersion="2-c0ffee")


@pytest.mark.parametrize(("api", "kind", "spec", "status", "verdict"), [
    ("kubevirt.io/v1", "VirtualMachine", {"runStrategy": "Halted"}, STOPPED, S),
    ("kubevirt.io/v1", "VirtualMachine", {"runStrategy": "Manual"}, STOPPED, S),
    ("kubevirt.io/v1", "VirtualMachine", {"running": False}, STOPPED, S),
    ("kubevirt.io/v1", "VirtualMachine", {"runStrategy": "Always"}, STOPPED, P),
    ("kubevirt.io/v1", "VirtualMachine", {"running": True}, STOPPED, P),
    ("kubevirt.io/v1", "VirtualMachine", {"runStrategy": "Manual"}, says("Ready=False", printableStatus="Provisioning"), P),
    ("cert-manager.io/v1", "Certificate", {}, {"conditions": [ISSUING]}, P),
    ("cert-manager.io/v1", "Certificate", {}, {"conditions": [ISSUING, {"type": "Issuing", "status": "False", "reason": "Failed"}]}, D),
    ("flink.apache.org/v1beta1", "FlinkDeployment", {"job": {"state": "suspended"}}, FINISHED, S),
    ("flink.apache.org/v1beta1", "FlinkDeployment", {"job": {"state": "running"}}, FINISHED, D),
    ("flink.apache.org/v1beta1", "FlinkDeployment", {}, {"lifecycleState": "ROLLED_BACK", "jobManagerDeploymentStatus": "READY", "reconciliationStatus": {"state": "DEPLOYED"}}, D),
    ("external-secrets.io/v1", "ExternalSecret", {}, SYNCED, P),
    ("external-secrets.io/v1", "ExternalSecret", {"refreshPolicy": "CreatedOnce"}, SYNCED, H),
    ("external-secrets.io/v1", "ExternalSecret", {"refreshInterval": "0"}, SYNCED, H),
    ("external-secrets.io/v1", "ExternalSecret", {}, {**SYNCED, "syncedResourceVersion": "3-c0ffee"}, H),
])  # fmt: skip
def test_what_is_asked_for_decides_what_a_status_means(
    api: str, kind: str, spec: dict[str, Any], status: dict[str, Any], verdict: str
) -> None:
    assert judged(api, kind, status, generation=3, spec=spec).status == verdict


def test_a_route_waits_for_each_of_its_parents_and_for_none_that_it_left() -> None:
    answers = parents(("a", "Accepted=True@2"), ("b", "Accepted=False@1"))
    both, one = ({"parentRefs": [{"name": name} for name in names]} for names in ("ab", "a"))
    assert judged(GATEWAY, "HTTPRoute", answers, generation=2, spec=both).status == P
    assert judged(GATEWAY, "HTTPRoute", answers, generation=2, spec=one).status == H
    silent = parents(("a", "Accepted=True@2"))
    assert (
        judged(GATEWAY, "HTTPRoute", silent, generation=2, spec=both).message == "not all of its parents have answered"
    )


def test_a_gateway_of_an_older_generation_is_not_well() -> None:
    assert judged(GATEWAY, "Gateway", says("Accepted=True@1", "Programmed=True@1"), generation=2).status == P


def test_what_failed_says_why() -> None:
    status = {"phase": "FailedValidation", "validationErrors": ["no such location"]}
    assert judged(VELERO, "Backup", status)[:2] == (D, "no such location")
    failed = {"currentState": "stopped"}
    assert judged("longhorn.io/v1beta2", "Replica", failed, spec={"failedAt": "2026-01-01T00:00:00Z"}).status == D


def test_a_renewal_that_failed_is_told_beside_a_certificate_that_still_holds() -> None:
    found = judged("cert-manager.io/v1", "Certificate", says("Ready=True", "Issuing=False:Failed"))
    assert (found.status, [one.condition for one in found.concerns]) == (H, ["Issuing"])
    archiving = says("Ready=True", "ContinuousArchiving=False", phase="Cluster in healthy state")
    assert [one.condition for one in judged("postgresql.cnpg.io/v1", "Cluster", archiving).concerns] == [
        "ContinuousArchiving"
    ]


def test_a_glob_reads_a_text_of_a_megabyte() -> None:
    assert not matches("*timeout*", "timeo" * 200_000)
    assert matches("*[!a]?timeout", "a" * 1_000_000 + "b-timeout")
