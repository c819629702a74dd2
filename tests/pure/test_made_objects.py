"""Objects made by hand, over many kinds, each with the verdict that its vendor's types and docs/spec/gitops.md give.

Belongs here: one line for each object: no status, old generations, deletion, pauses, Unknown, contradictions, words
that nobody listed, empty and null values, numbers as text. Does not: Argo CD's own cases (`test_health_figures`).
"""

from typing import Any

import pytest

from phaseline.machines.kinds.kubernetes.health.registry import assess_health
from tests.support.manifests import condition

D, H, N, P, S, U, X = "Degraded", "Healthy", "NotAssessed", "Progressing", "Paused", "Unknown", "NoHealth"
SINCE = "2026-01-01T00:00:00Z"
T = "acme.dev/v1 Thing"
CAPI, MACHINE = "cluster.x-k8s.io/v1beta1 Cluster", "cluster.x-k8s.io/v1beta1 Machine"
ROUTE, GATEWAY = "gateway.networking.k8s.io/v1 HTTPRoute", "gateway.networking.k8s.io/v1 Gateway"
OLM = "operators.coreos.com/v1alpha1 Subscription"
METRIC, MONITOR = "datadoghq.com/v1alpha1 DatadogMetric", "datadoghq.com/v1alpha1 DatadogMonitor"


def says(*words: str, **more: Any) -> dict[str, Any]:
    """A status with conditions."""
    return {"status": {"conditions": [*map(condition, words)], **more}}


def status(**fields: Any) -> dict[str, Any]:
    return {"status": fields}


def spec(**fields: Any) -> dict[str, Any]:
    return {"spec": fields}


def marked(name: str, value: str, **rest: Any) -> dict[str, Any]:
    return {"metadata": {"generation": 1, "annotations": {name: value}}, **rest}


def metadata(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"generation": 1, **fields}}


def parents(*found: dict[str, Any]) -> dict[str, Any]:
    listed = [{"parentRef": {"name": f"p{index}"}, **one} for index, one in enumerate(found)]
    return {"status": {"parents": listed}, "spec": {"parentRefs": [{"name": f"p{i}"} for i in range(len(found))]}}


def bound(*names: str) -> dict[str, Any]:
    return status(aggregatedStatus=[{"clusterName": name, "applied": True, "health": "Healthy"} for name in names])


READY = says("Ready=True")
BINDING, QUEUE = "work.karmada.io/v1alpha2 ResourceBinding", "kueue.x-k8s.io/v1beta1 ClusterQueue"
VPA, EXTENSION = "autoscaling.k8s.io/v1 VerticalPodAutoscaler", "olm.operatorframework.io/v1 ClusterExtension"
GOING = metadata(deletionTimestamp=SINCE)

# fmt: off
ANY = [
    # no status, or a status that says nothing
    (T, {}, N),
    (T, {"status": None}, N),
    (T, {"status": {}}, N),
    (T, {"status": []}, N),
    (T, {"status": "fine"}, N),
    (T, says(), N),
    (T, {"status": {"conditions": None}}, N),
    (T, {"status": {"conditions": {}}}, N),
    (T, {"status": {"conditions": [None, 1, "Ready"]}}, N),
    (T, {"status": {"conditions": [{"status": "True"}]}}, N),
    (T, status(observedGeneration=1), N),
    (T, status(observedGeneration=1, lastRun=SINCE, items=[]), N),
    (T, says("Sparkles=True"), N),
    (T, says("Sparkles=False"), N),
    (T, status(phase="Mauve"), N),
    (T, status(phase=""), N),
    (T, status(phase=None), N),
    (T, status(ready="yes"), N),
    (T, status(endpoints=["a"], version="1.2"), N),
    # generations
    (T, {**metadata(generation=3), **says("Ready=True", observedGeneration=2)}, P),
    (T, {**metadata(generation=3), **says("Ready=True", observedGeneration="2")}, P),
    (T, {**metadata(generation=3), **says("Ready=True", observedGeneration="3")}, H),
    (T, {**metadata(generation=3), **says("Ready=True@2")}, P),
    (T, {**metadata(generation=3), **says("Ready=True@3")}, H),
    (T, {**metadata(generation=3), **says("Ready=False:Invalid@2", observedGeneration=2)}, D),
    (T, {**metadata(generation=3), **says("Ready=True", observedGeneration=None)}, H),
    (T, {**metadata(generation=3), **status(observedGeneration=2)}, P),
    (T, {**metadata(generation=3), **status(observedGeneration=2, phase="Failed")}, D),
    # being deleted
    (T, {**GOING, **READY}, P),
    (T, {**GOING}, P),
    (T, {**GOING, **says("Ready=False:DeletionFailed", "DeletionFailed=True")}, D),
    (T, {**GOING, **spec(paused=True), **READY}, P),
    (T, {**metadata(deletionTimestamp=None), **READY}, H),
    # paused
    (T, {**spec(paused=True), **READY}, S),
    (T, {**spec(suspend=True), **READY}, S),
    (T, {**spec(suspended=True)}, S),
    (T, {**spec(paused=False), **READY}, H),
    (T, {**spec(paused="true"), **READY}, S),
    (T, {**spec(paused=None), **READY}, H),
    (T, {**spec(pause=True), **READY}, S),
    (T, {**spec(suspend=True), **says("Ready=False:Failed")}, D),
    (T, {**spec(suspend=True), **says("Ready=False")}, S),
    (T, says("Ready=True", "Paused=True"), S),
    (T, says("Ready=True", "Paused=False"), H),
    (T, says("Ready=True", "Suspended=True"), S),
    (T, says("Ready=False:Suspended"), S),
    (T, says("Ready=True", "Progressing=Unknown:DeploymentPaused"), S),
    (T, status(phase="Suspended"), S),
    (T, status(state="paused"), S),
    (T, {**marked("cluster.x-k8s.io/paused", ""), **READY}, S),
    (T, {**marked("cluster.x-k8s.io/paused", "false"), **READY}, S),
    (T, {**marked("crossplane.io/paused", ""), **READY}, H),
    (T, {**marked("crossplane.io/paused", "true"), **READY}, S),
    (T, {**marked("autoscaling.keda.sh/paused", "false"), **READY}, H),
    (T, {**marked("autoscaling.keda.sh/paused", ""), **READY}, S),
    (T, {**marked("autoscaling.keda.sh/paused-replicas", "0"), **READY}, S),
    (T, {**marked("strimzi.io/pause-reconciliation", "True"), **READY}, S),
    (T, {**marked("kustomize.toolkit.fluxcd.io/reconcile", "disabled"), **READY}, H),
    (T, {**marked("cnrm.cloud.google.com/reconcile-interval-in-seconds", "0"), **READY}, H),
    # Unknown and odd words
    (T, says("Ready=Unknown"), P),
    (T, says("Ready=Unknown:Failed"), P),
    (T, says("Ready="), U),
    (T, says("Ready=maybe"), U),
    (T, says("Ready=true"), H),
    (T, {"status": {"conditions": [{"type": "Ready", "status": True}]}}, H),
    (T, {"status": {"conditions": [{"type": "Ready", "status": None}]}}, U),
    (T, says("Ready=True", "Healthy=Unknown"), P),
    (T, says("Degraded=Unknown"), N),
    (T, says("Ready=True", "Degraded=Unknown"), H),
    (T, says("Degraded=False"), N),
    (T, says("Degraded=False", "Stalled=False"), N),
    (T, status(phase="Unknown"), U),
    (T, says("Ready=True", phase="Unknown"), U),
    # contradictions
    (T, says("Ready=True", "Degraded=True"), D),
    (T, says("Ready=True", "Progressing=True"), P),
    (T, says("Available=True", "Ready=False"), P),
    (T, says("Ready=True", "Synced=False:ReconcileError"), D),
    (T, says("Ready=True", "Ready=False"), P),
    (T, says("Ready=True", phase="Failed"), D),
    (T, says("Ready=True", phase="Pending"), P),
    (T, says("Ready=False", phase="Running"), P),
    (T, says("Succeeded=True", "Failed=True"), D),
    (T, says("Complete=True", "Running=True"), P),
    (T, says("Ready=True", "DatabaseReady=False"), P),
    (T, says("Ready=True", "DatabaseReady=False:Failed"), D),
    (T, says("DatabaseReady=True"), H),
    (T, says("DatabaseReady=True", "CacheReady=False"), P),
    # failures
    (T, says("Ready=False:Invalid"), D),
    (T, says("Ready=False:RetriesExhausted"), D),
    (T, says("Ready=False:Denied"), D),
    (T, says("Ready=False"), P),
    (T, says("Succeeded=False"), D),
    (T, says("Succeeded=False:Pending"), P),
    (T, says("Accepted=False"), D),
    (T, says("Accepted=False:Pending"), P),
    (T, says("Stalled=True:RetriesExceeded", "Ready=False"), D),
    (T, status(phase="Error"), D),
    (T, status(phase="ERROR: no route"), D),
    (T, status(phase="CreateFailed"), D),
    (T, status(state="failed", ready=True), D),
    (T, status(health="Unhealthy"), D),
    (T, status(ready=False), P),
    (T, status(ready=True), H),
    (T, status(healthy=False), D),
    # errors beside a success
    (T, says("Ready=True", lastError="no route to host"), D),
    (T, says("Ready=True", lastError=""), H),
    (T, says("Ready=True", lastError=None), H),
    (T, says("Ready=True", lastError="none"), H),
    (T, says("Ready=True", error="boom"), D),
    (T, says("Ready=True", error={}), H),
    (T, says("Ready=True", error={"code": 0, "message": ""}), H),
    (T, says("Ready=True", error={"message": "boom"}), D),
    (T, says("Ready=True", errors=[]), H),
    (T, says("Ready=True", errors=["boom"]), D),
    (T, says("Ready=True", errors=0), H),
    (T, says("Ready=True", errorMessage="boom"), D),
    (T, says("Ready=True", failureMessage="boom"), D),
    (T, says("Ready=True", failureReason="CreateError"), D),
    (T, says("Ready=True", lastErrorMessage="boom"), D),
    (T, says("Ready=True", syncError="boom"), D),
    (T, says("Ready=True", validationErrors=["no such field"]), D),
    (T, status(phase="Running", lastErrors=[{"description": "boom"}]), D),
    (T, status(ready=True, errorCode="E12"), D),
    # counters
    (T, {**spec(replicas=3), **status(readyReplicas=3)}, H),
    (T, {**spec(replicas=3), **status(readyReplicas=2)}, P),
    (T, {**spec(replicas=3), **status(readyReplicas="3")}, H),
    (T, {**spec(replicas=0), **status(readyReplicas=0)}, H),
    (T, {**spec(replicas=0), **status(replicas=0)}, H),
    (T, {**spec(replicas=3), **status(replicas=3)}, P),
    (T, {**spec(replicas=3), **says("Ready=True", readyReplicas=1)}, P),
    (T, {**spec(replicas=3), **says("Ready=True")}, H),
    (T, {**spec(replicas=None), **status(replicas=2, readyReplicas=1)}, P),
    (T, status(readyReplicas=3), N),
    # severities
    (T, {"status": {"conditions": [condition("Ready=True"), {**condition("Degraded=True"), "severity": "Info"}]}}, H),
    (T, {"status": {"conditions": [condition("Ready=True"), {**condition("Degraded=True"), "severity": "Warning"}]}}, P),
    (T, {"status": {"conditions": [{**condition("Ready=False:Failed"), "severity": "Error"}]}}, D),
    (T, {"status": {"conditions": [{**condition("Ready=False:Failed"), "severity": "Info"}]}}, N),
    # parts
    (T, status(ancestors=[says("Accepted=True")["status"], says("Accepted=True")["status"]]), H),
    (T, status(ancestors=[says("Accepted=True")["status"], says("Sparkles=True")["status"]]), N),
    (T, status(ancestors=[says("Accepted=True")["status"], says("Accepted=False")["status"]]), D),
    (T, status(ancestors=[]), N),
    (T, says("Ready=True", parts=[{"name": "a", "phase": "Failed"}]), D),
    (T, says("Ready=True", parts=[{"name": "a", "phase": "Ready"}]), H),
    (T, status(parts=[{"name": "a", "phase": "Ready"}]), N),
    (T, says("Ready=True", "cnpg.io/hibernation=True:Hibernated"), S),
    # what ends
    ("acme.dev/v1 ImportJob", status(phase="Running"), P),
    ("acme.dev/v1 ImportJob", status(phase="Succeeded"), H),
    ("acme.dev/v1 ImportJob", says("Complete=True"), H),
    ("acme.dev/v1 ImportJob", says("Failed=True"), D),
    ("acme.dev/v1 DataBackup", status(state="InProgress"), P),
]
KNOWN = [
    # kinds without a status
    ("v1 ConfigMap", {}, X),
    ("v1 Secret", {}, X),
    ("rbac.authorization.k8s.io/v1 ClusterRole", {}, X),
    ("networking.k8s.io/v1 NetworkPolicy", {}, X),
    ("v1 ConfigMap", GOING, P),
    ("monitoring.coreos.com/v1 ServiceMonitor", {}, X),
    ("keda.sh/v1alpha1 TriggerAuthentication", {}, X),
    ("networking.istio.io/v1 VirtualService", {}, X),
    # Kubernetes' own
    ("apps/v1 Deployment", {}, P),
    ("apps/v1 Deployment", {**spec(replicas=0), **status(observedGeneration=1)}, H),
    ("v1 ReplicationController", {**spec(replicas=0)}, P),
    ("v1 Namespace", {}, P),
    ("v1 Namespace", status(phase="Active"), H),
    ("v1 Node", says("Ready=True", "DiskPressure=True"), H),
    ("v1 Node", says("Ready=Unknown"), D),
    ("v1 PersistentVolume", status(phase="Sparkling"), P),
    ("batch/v1 CronJob", {**spec(suspend=True)}, S),
    ("policy/v1 PodDisruptionBudget", says("DisruptionAllowed=Unknown"), P),
    ("policy/v1 PodDisruptionBudget", says("DisruptionAllowed=True"), H),
    ("policy/v1 PodDisruptionBudget", says("Sparkles=True"), P),
    # words that nobody listed never end Healthy
    (OLM, says("CatalogSourcesUnhealthy=False", state="AtLatestKnown"), H),
    (OLM, says("CatalogSourcesUnhealthy=False", state="Sparkling"), U),
    (OLM, says("CatalogSourcesUnhealthy=False", state=None), P),
    (OLM, says("ResolutionFailed=True", state="AtLatestKnown"), D),
    ("argoproj.io/v1alpha1 Rollout", {**spec(replicas=1), **status(phase="Sparkling", currentPodHash="a", stableRS="a", updatedReplicas=1, availableReplicas=1, replicas=1)}, U),
    ("argoproj.io/v1alpha1 CronWorkflow", status(phase="Sparkling"), U),
    ("argoproj.io/v1alpha1 CronWorkflow", status(phase="Active"), H),
    ("argoproj.io/v1alpha1 EventBus", says("Deployed=True", "Configured=Unknown"), P),
    ("promoter.argoproj.io/v1alpha1 PullRequest", says("Reconciled=Unknown"), P),
    ("promoter.argoproj.io/v1alpha1 ArgoCDCommitStatus", says("Ready=Unknown", applicationsSelected=[{"name": "a"}]), P),
    ("spot.io/v1beta1 SpotDeployment", says("Sparkles=True", phase="Sparkling"), U),
    ("spot.io/v1beta1 SpotDeployment", says("Sparkles=True", phase="Degraded"), D),
    (METRIC, says("Valid=True", "Error=False"), H),
    (METRIC, says("Sparkles=True"), P),
    (METRIC, says("Valid=Unknown"), P),
    (MONITOR, says("Created=True"), P),
    (MONITOR, says("Created=True", "Active=True"), H),
    (MONITOR, says("Created=True", "Active=False"), P),
    (MONITOR, says("Created=True", "Active=True", "Error=True"), D),
    ("k8s.mariadb.com/v1alpha1 Backup", says("Complete=Unknown"), P),
    ("k8s.mariadb.com/v1alpha1 Backup", says("Complete=True"), H),
    ("pkg.crossplane.io/v1 Provider", says("Installed=True", "Healthy=Unknown"), P),
    ("apiextensions.crossplane.io/v1 Composition", says("ValidPipeline=False"), D),
    ("work.karmada.io/v1alpha2 ResourceBinding", status(aggregatedStatus=[{"applied": True, "health": "Sparkling"}]), U),
    ("work.karmada.io/v1alpha2 ResourceBinding", status(aggregatedStatus=[{}]), P),
    ("cassandra.rook.io/v1alpha1 Cluster", status(racks={"a": {}}), P),
    ("sparkoperator.k8s.io/v1beta2 ScheduledSparkApplication", status(scheduleState="Validating"), P),
    ("flink.apache.org/v1beta1 FlinkDeployment", status(reconciliationStatus={"state": "DEPLOYED"}, jobManagerDeploymentStatus="DEPLOYING"), P),
    ("flink.apache.org/v1beta1 FlinkDeployment", status(reconciliationStatus={"state": "DEPLOYED"}, jobStatus={"state": "RESTARTING"}), P),
    ("minio.min.io/v2 Tenant", status(currentState="Initialized", healthStatus="yellow"), P),
    ("minio.min.io/v2 Tenant", status(currentState="Sparkling"), P),
    ("argoproj.io/v1alpha1 Workflow", status(phase="Sparkling"), U),
    ("tekton.dev/v1 PipelineRun", says("Succeeded=maybe"), P),
    ("velero.io/v1 Backup", status(phase="Sparkling"), P),
    ("grafana.integreatly.org/v1beta1 GrafanaDashboard", says("NoMatchingInstance=True"), D),
    ("grafana.integreatly.org/v1beta1 GrafanaDashboard", says("Sparkles=True"), P),
    # Gateway API
    (ROUTE, parents({"conditions": [condition("Accepted=True")]}), H),
    (ROUTE, parents({"conditions": [condition("Sparkles=True")]}), P),
    (ROUTE, parents({"conditions": [condition("Accepted=True")]}, {"conditions": [condition("Sparkles=True")]}), P),
    (ROUTE, parents({"conditions": []}), P),
    (ROUTE, {}, P),
    (GATEWAY, says("Sparkles=True"), P),
    (GATEWAY, says("Accepted=Unknown", "Programmed=True"), P),
    (GATEWAY, says("Accepted=True", "Programmed=True"), H),
    (GATEWAY, status(listeners=[{"name": "a", "conditions": [condition("Sparkles=True")]}]), P),
    (GATEWAY, status(listeners=[{"name": "a", "conditions": [condition("Programmed=True")]}]), H),
    # Cluster API pauses by the presence of its annotation
    (CAPI, {**marked("cluster.x-k8s.io/paused", ""), **status(phase="Provisioned")}, S),
    (CAPI, {**marked("cluster.x-k8s.io/paused", "true"), **status(phase="Provisioned")}, S),
    (CAPI, {**marked("cluster.x-k8s.io/paused", "false"), **status(phase="Provisioned")}, S),
    (CAPI, {**marked("other", ""), **status(phase="Provisioned")}, H),
    (MACHINE, {**marked("cluster.x-k8s.io/paused", ""), **status(phase="Running")}, S),
    ("cluster.x-k8s.io/v1beta1 MachineHealthCheck", {**marked("cluster.x-k8s.io/paused", ""), **status(currentHealthy=1, expectedMachines=1)}, S),
    ("infrastructure.cluster.x-k8s.io/v1beta1 DockerMachine", {**marked("cluster.x-k8s.io/paused", ""), **READY}, S),
    ("keda.sh/v1alpha1 ScaledObject", {**marked("autoscaling.keda.sh/paused-replicas", "0"), **READY}, S),
    ("keda.sh/v1alpha1 ScaledObject", {**marked("autoscaling.keda.sh/paused", "false"), **READY}, H),
    ("kafka.strimzi.io/v1beta2 Kafka", {**marked("strimzi.io/pause-reconciliation", "true"), **READY}, S),
    ("kafka.strimzi.io/v1beta2 Kafka", {**marked("strimzi.io/pause-reconciliation", "false"), **READY}, H),
    ("elasticsearch.k8s.elastic.co/v1 Elasticsearch", {**marked("eck.k8s.elastic.co/managed", "false"), **spec(nodeSets=[{"count": 1}]), **status(availableNodes=1, health="green", phase="Ready")}, S),
    ("ec2.aws.upbound.io/v1beta1 VPC", {**marked("crossplane.io/paused", "true"), **says("Ready=True", "Synced=True")}, S),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", {**spec(suspend=True), **READY}, S),
    ("flagger.app/v1beta1 Canary", {**spec(suspend=True), **status(phase="Succeeded")}, S),
    # old generations of known kinds
    ("cert-manager.io/v1 Certificate", {**metadata(generation=2), **says("Ready=True@1")}, P),
    ("cert-manager.io/v1 Certificate", {**metadata(generation=2), **says("Ready=True@2")}, H),
    ("external-secrets.io/v1 ExternalSecret", {**metadata(generation=2), **says("Ready=True", observedGeneration=1)}, P),
    ("cert-manager.io/v1 Certificate", {}, P),
    # the clusters of a binding by name, not only by number
    (BINDING, {**spec(clusters=[{"name": "a"}, {"name": "b"}]), **bound("a", "b")}, H),
    (BINDING, {**spec(clusters=[{"name": "a"}, {"name": "b"}]), **bound("a", "c")}, P),
    (BINDING, {**spec(clusters=[{"name": "a"}]), **bound("a", "c")}, P),
    ("work.karmada.io/v1alpha2 ClusterResourceBinding", {**spec(clusters=[{"name": "b"}]), **bound("a")}, P),
    # queues, recommenders, sessions, extensions
    (QUEUE, says("Active=True"), H),
    (QUEUE, says("Active=False:FlavorNotFound"), D),
    (QUEUE, says("Active=False:Stopped"), S),
    (QUEUE, {**spec(stopPolicy="Hold"), **says("Active=True")}, S),
    (QUEUE, {**spec(stopPolicy="None"), **says("Active=True")}, H),
    (QUEUE, says("Active=Unknown"), P),
    ("kueue.x-k8s.io/v1beta1 AdmissionCheck", says("Active=False:BadParametersRef"), D),
    (VPA, says("RecommendationProvided=True", "LowConfidence=True"), H),
    (VPA, says("RecommendationProvided=True", "NoPodsMatched=True"), P),
    (VPA, says("RecommendationProvided=False"), P),
    (VPA, says("RecommendationProvided=True", "ConfigUnsupported=True"), D),
    ("frrk8s.metallb.io/v1beta1 BGPSessionState", status(bgpStatus="Active", bfdStatus="N/A"), P),
    ("frrk8s.metallb.io/v1beta1 BGPSessionState", status(bgpStatus="Established", bfdStatus="N/A"), H),
    ("frrk8s.metallb.io/v1beta1 BGPSessionState", status(bgpStatus="Established", bfdStatus="Down"), P),
    ("metallb.io/v1beta1 ConfigurationState", status(result="Invalid", errorSummary="no such pool"), D),
    (EXTENSION, says("Installed=True:Succeeded", "Progressing=True:Succeeded", "Deprecated=False"), H),
    (EXTENSION, says("Installed=True:Succeeded", "Progressing=True:Retrying"), P),
    (EXTENSION, says("Installed=True:Succeeded", "Progressing=False:Blocked"), D),
    ("kai.scheduler/v1 Config", says("Deployed=True", "Available=True", "DependenciesFulfilled=False"), P),
    ("services.k8s.aws/v1alpha1 AdoptedResource", says("ACK.Adopted=False"), D),
    ("stackconfigpolicy.k8s.elastic.co/v1alpha1 StackConfigPolicy", status(phase="Conflict"), D),
    ("elasticsearch.k8s.elastic.co/v1 Elasticsearch", {**spec(nodeSets=[{"count": 2}]), **status(availableNodes=1, health="red", phase="Ready")}, D),
    ("postgresql.cnpg.io/v1 Pooler", {**spec(instances=3), **status(instances=1)}, P),
    ("postgresql.cnpg.io/v1 Pooler", {**spec(instances=3), **status(instances=3)}, H),
    ("postgresql.cnpg.io/v1 Pooler", {**spec(instances=3), **status()}, P),
    ("external-secrets.io/v1 ClusterExternalSecret", status(failedNamespaces=[{"namespace": "a", "reason": "no"}], conditions=[condition("Ready=False")]), D),
    # the same type twice, and nothing wanted
    ("kiali.io/v1alpha1 Kiali", says("Failure=False", "Running=True:Successful", "Failure=True"), D),
    ("kiali.io/v1alpha1 Kiali", says("Failure=False", "Successful=True"), H),
    ("apps.kruise.io/v1alpha1 DaemonSet", status(observedGeneration=1, desiredNumberScheduled=0, updatedNumberScheduled=0), P),
    ("cert-manager.io/v1 Certificate", {**GOING, **READY}, P),
]
# fmt: on


@pytest.mark.parametrize(("named", "parts", "verdict"), [*ANY, *KNOWN])
def test_an_object(named: str, parts: dict[str, Any], verdict: str) -> None:
    api, kind = named.split()
    found = assess_health({"apiVersion": api, "kind": kind, "metadata": {"generation": 1}, **parts})
    assert found.status == verdict, found
    if verdict in (D, P, S, U, N, X):
        assert found.message
