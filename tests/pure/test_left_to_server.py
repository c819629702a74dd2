"""What Git leaves to the API server, or to a controller, is no difference (docs/spec/gitops.md, Comparing).

The cases are those of public reports about objects that never became Synced.
"""

from typing import Any

import pytest

from phaseline.machines.kinds.kubernetes.diff.compare import compare
from tests.support.manifests import deployment, kubernetes_object, places, pod_template

WEBHOOKS = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
NAMES = {"kind": "Runner", "plural": "runners"}


def service(**spec: Any) -> dict[str, Any]:
    return kubernetes_object("v1", "Service", spec=spec)


def stored_service(**spec: Any) -> dict[str, Any]:
    given = {
        "clusterIP": "10.0.0.7",
        "clusterIPs": ["10.0.0.7"],
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
    }
    return service(
        **{"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", **given, **spec}
    )


def claim(**spec: Any) -> dict[str, Any]:
    return kubernetes_object("v1", "PersistentVolumeClaim", spec=spec)


def webhook(**client: Any) -> dict[str, Any]:
    return kubernetes_object(*WEBHOOKS, webhooks=[{"name": "a.b.c", "clientConfig": client}])


def job(**spec: Any) -> dict[str, Any]:
    return kubernetes_object("batch/v1", "Job", spec={"template": pod_template(restartPolicy="Never"), **spec})


def definition(schema: Any = None, **spec: Any) -> dict[str, Any]:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or {"type": "object"}},
    }
    whole = {"group": "ci.example", "scope": "Namespaced", "names": NAMES, "versions": [version], **spec}
    return kubernetes_object(*DEFINITION, spec=whole)


def application(**spec: Any) -> dict[str, Any]:
    return kubernetes_object("argoproj.io/v1alpha1", "Application", spec={"project": "shop", **spec})


def claims(version: str, *requests: Any) -> dict[str, Any]:
    return kubernetes_object(f"resource.k8s.io/{version}", "ResourceClaim", spec={"devices": {"requests": [*requests]}})


def volume(items: Any) -> dict[str, Any]:
    return kubernetes_object("v1", "Pod", spec={"volumes": [{"name": "info", "downwardAPI": {"items": items}}]})


CPU = {"resource": "limits.cpu", "containerName": "web"}
POLICY = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
STORED_POLICY = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}


@pytest.mark.parametrize(("git", "cluster"), [
    pytest.param(service(clusterIP=""), stored_service(), id="no cluster IP, said"),
    pytest.param(service(clusterIP=None, clusterIPs=None, ipFamilies=None, ipFamilyPolicy=None), stored_service(), id="null where the server allocates"),
    pytest.param(service(ports=[{"port": 80, "nodePort": 0}]), stored_service(type="NodePort", ports=[{"port": 80, "targetPort": 80, "protocol": "TCP", "nodePort": 31993}]), id="node port 0"),
    pytest.param(service(type="NodePort", ports=[{"port": 80, "nodePort": None}]), stored_service(type="NodePort", externalTrafficPolicy="Cluster", ports=[{"port": 80, "targetPort": 80, "protocol": "TCP", "nodePort": 31993}]), id="a node port that a chart leaves empty"),
    pytest.param(service(type="LoadBalancer", allocateLoadBalancerNodePorts=True, loadBalancerSourceRanges=[]), stored_service(type="LoadBalancer", allocateLoadBalancerNodePorts=True), id="no source ranges, said"),
    pytest.param(service(sessionAffinity="None", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10}}), stored_service(), id="the server drops what affinity None does not use"),
    pytest.param(claim(volumeName="", storageClassName=None), claim(volumeName="pvc-1", storageClassName="standard", volumeMode="Filesystem"), id="a claim that is bound"),
    pytest.param(kubernetes_object("v1", "PersistentVolume", spec={"claimRef": None}), kubernetes_object("v1", "PersistentVolume", spec={"claimRef": {"name": "data"}}), id="a volume that is bound"),
    pytest.param(webhook(caBundle=""), webhook(caBundle="Q0E="), id="an authority that is injected"),
    pytest.param(webhook(caBundle=None), webhook(caBundle="Q0E="), id="an authority that is injected, null"),
    pytest.param(webhook(caBundle="Cg=="), webhook(caBundle="Q0E="), id="a line break in the place of an authority"),
    pytest.param(kubernetes_object("apiregistration.k8s.io/v1", "APIService", spec={"caBundle": "", "insecureSkipTLSVerify": False, "service": {"name": "metrics"}}), kubernetes_object("apiregistration.k8s.io/v1", "APIService", spec={"caBundle": "Q0E=", "service": {"name": "metrics", "port": 443}}), id="an API service"),
    pytest.param(definition(conversion={"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": "Cg==", "service": {"name": "w"}}}}), definition(conversion={"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": "Q0E=", "service": {"name": "w", "port": 443}}}}), id="a conversion webhook"),
    pytest.param(kubernetes_object("v1", "ServiceAccount", secrets=[], imagePullSecrets=None), kubernetes_object("v1", "ServiceAccount", secrets=[{"name": "it-token"}], imagePullSecrets=[{"name": "it-dockercfg"}]), id="secrets of a service account"),
    pytest.param(kubernetes_object("v1", "Pod", spec={"serviceAccountName": "", "nodeName": ""}), kubernetes_object("v1", "Pod", spec={"serviceAccountName": "default", "serviceAccount": "default", "nodeName": "n1"}), id="a Pod that runs"),
    pytest.param(kubernetes_object("v1", "Pod", spec={"tolerations": [{"key": "gpu", "operator": "Exists"}]}), kubernetes_object("v1", "Pod", spec={"tolerations": [{"key": "gpu", "operator": "Exists"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}, {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}]}), id="tolerations that each Pod gets"),
    pytest.param(job(podFailurePolicy=POLICY), job(podFailurePolicy=STORED_POLICY), id="the status of a Pod's condition"),
    pytest.param(job(selector=None), job(selector={"matchLabels": {"batch.kubernetes.io/controller-uid": "1"}}), id="the selector of a Job"),
    pytest.param(volume([{"path": "cpu", "resourceFieldRef": CPU}]), volume([{"path": "cpu", "resourceFieldRef": {**CPU, "divisor": "0"}}]), id="the divisor of a resource"),
    pytest.param(volume([{"path": "cpu", "resourceFieldRef": {**CPU, "divisor": "0"}}]), volume([{"path": "cpu", "resourceFieldRef": {**CPU, "divisor": 0}}]), id="the divisor in two spellings"),
    pytest.param(volume([{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]), volume([{"path": "name", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}]), id="the version of a field"),
    pytest.param(claims("v1", {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}), claims("v1", {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}), id="a claim of a device"),
    pytest.param(claims("v1beta1", {"name": "gpu", "deviceClassName": "gpu"}), claims("v1beta1", {"name": "gpu", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}), id="a claim of a device, as it was"),
    pytest.param(claims("v1", {"name": "gpu", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]}), claims("v1", {"name": "gpu", "firstAvailable": [{"name": "a", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}]}), id="a claim of one of several devices"),
    pytest.param(claims("v1", {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}), claims("v1", {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}), id="a claim of all devices"),
    pytest.param(kubernetes_object("networking.k8s.io/v1", "Ingress", spec={"rules": [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "w", "port": {"number": 80}}}}]}}], "ingressClassName": None}), kubernetes_object("networking.k8s.io/v1", "Ingress", spec={"rules": [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "w", "port": {"number": 80}}}}]}}]}), id="an Ingress without a class"),
    pytest.param(kubernetes_object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", spec={"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "resources": ["deployments"]}]}, "validations": [{"expression": "true"}]}), kubernetes_object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", spec={"failurePolicy": "Fail", "matchConstraints": {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": [{"apiGroups": ["apps"], "resources": ["deployments"], "scope": "*"}]}, "validations": [{"expression": "true"}]}), id="an admission policy"),
    pytest.param(kubernetes_object("apps/v1", "StatefulSet", spec={"volumeClaimTemplates": [{"metadata": {"name": "d", "creationTimestamp": None}, "spec": {"volumeName": "", "resources": {"requests": {"storage": "1024Mi"}}}, "status": {}}]}), kubernetes_object("apps/v1", "StatefulSet", spec={"volumeClaimTemplates": [{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}, "volumeMode": "Filesystem"}, "status": {"phase": "Pending"}}]}), id="claim templates"),
    pytest.param(definition(preserveUnknownFields=False, names={**NAMES, "categories": [], "shortNames": None}), definition(conversion={"strategy": "None"}, names={**NAMES, "singular": "runner", "listKind": "RunnerList"}), id="a definition with much that says nothing"),
    pytest.param(definition({"type": "object", "description": "", "required": [], "properties": {"a": {"type": "array", "items": {"type": "string", "nullable": False, "enum": []}}}}), definition({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}), id="schemas with much that says nothing, at every depth"),
    pytest.param(kubernetes_object("v1", "ReplicationController", spec={"template": {"metadata": {"labels": {"a": "b"}}}, "selector": None}), kubernetes_object("v1", "ReplicationController", metadata={"labels": {"a": "b"}}, spec={"template": {"metadata": {"labels": {"a": "b"}}}, "selector": {"a": "b"}}), id="the selector of a controller"),
    pytest.param(deployment(metadata={"annotations": None, "labels": {}}), deployment(metadata={"annotations": {"deployment.kubernetes.io/revision": "3"}}), id="annotations that a chart leaves empty"),
    pytest.param(deployment(replicas=None), deployment(replicas=1), id="null where there is a default"),
    pytest.param(kubernetes_object("foo.io/v1", "Foo", metadata={"labels": {}, "annotations": None, "finalizers": [], "creationTimestamp": None}), kubernetes_object("foo.io/v1", "Foo"), id="metadata of a custom kind that says nothing"),
    pytest.param(kubernetes_object("autoscaling/v2", "HorizontalPodAutoscaler", spec={"maxReplicas": 3, "metrics": None}), kubernetes_object("autoscaling/v2", "HorizontalPodAutoscaler", spec={"minReplicas": 1, "maxReplicas": 3, "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]}), id="metrics that the server fills in"),
    pytest.param(kubernetes_object("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", spec={"matchingPrecedence": None, "priorityLevelConfiguration": {"name": "low"}}), kubernetes_object("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", spec={"matchingPrecedence": 1000, "priorityLevelConfiguration": {"name": "low"}}), id="a flow schema"),
    pytest.param(kubernetes_object("networking.k8s.io/v1", "Ingress", metadata={"annotations": {"kubernetes.io/ingress.class": None}}), kubernetes_object("networking.k8s.io/v1", "Ingress"), id="null in a map that is not there"),
    pytest.param(kubernetes_object("v1", "ConfigMap", data={"a": None}), kubernetes_object("v1", "ConfigMap"), id="nothing but null"),
    pytest.param(application(syncPolicy={"automated": {"prune": False, "allowEmpty": False}, "syncOptions": []}, ignoreDifferences=[]), application(syncPolicy={"automated": {}}), id="what Argo CD does not write"),
    pytest.param(application(sources=[{"repoURL": "r", "helm": {"valueFiles": [], "skipCrds": False, "releaseName": ""}}]), application(sources=[{"repoURL": "r", "helm": {}}]), id="what Argo CD does not write of several sources"),
    pytest.param(kubernetes_object("cert-manager.io/v1", "Certificate", spec={"duration": "2160h"}), kubernetes_object("cert-manager.io/v1", "Certificate", spec={"duration": "2160h0m0s"}), id="a duration that a controller writes anew"),
    pytest.param(kubernetes_object("kueue.x-k8s.io/v1beta1", "ClusterQueue", spec={"resourceGroups": [{"flavors": [{"resources": [{"name": "cpu", "nominalQuota": "12000m"}]}]}]}), kubernetes_object("kueue.x-k8s.io/v1beta1", "ClusterQueue", spec={"resourceGroups": [{"flavors": [{"resources": [{"name": "cpu", "nominalQuota": "12"}]}]}]}), id="a quantity that a controller writes anew"),
])  # fmt: skip
def test_it_is_no_difference(git: dict[str, Any], cluster: dict[str, Any]) -> None:
    assert places(git, cluster) == []
    assert places(git, cluster, last=git) == []


@pytest.mark.parametrize(("git", "cluster", "where"), [
    pytest.param(deployment(replicas=None), deployment(replicas=3), ["/spec/replicas"], id="null, and the default is another"),
    pytest.param(deployment(paused=None), deployment(paused=True), ["/spec/paused"], id="null removes a field"),
    pytest.param(deployment(metadata={"labels": None}), deployment(metadata={"labels": {"team": "a"}}), ["/metadata/labels"], id="null removes labels"),
    pytest.param(kubernetes_object("foo.io/v1", "Foo", spec={"a": None}), kubernetes_object("foo.io/v1", "Foo", spec={"a": 1}), ["/spec/a"], id="custom: null removes a field"),
    pytest.param(kubernetes_object("foo.io/v1", "Foo", spec={"l": [{"a": None}]}), kubernetes_object("foo.io/v1", "Foo", spec={"l": [{"a": 1}]}), ["/spec/l/0/a"], id="custom: null in a list"),
    pytest.param(kubernetes_object("v1", "ConfigMap", data={"a": "1", "b": None}), kubernetes_object("v1", "ConfigMap", data={"a": "1", "b": "2"}), ["/data/b"], id="null removes a key"),
    pytest.param(service(clusterIP="None"), stored_service(), ["/spec/clusterIP"], id="a headless service has an address"),
    pytest.param(service(externalName=""), stored_service(externalName="db.example"), ["/spec/externalName"], id="nobody allocates an external name"),
    pytest.param(webhook(caBundle="Qg=="), webhook(caBundle="Q0E="), ["/webhooks/0/clientConfig/caBundle"], id="another authority"),
    pytest.param(definition(scope="Cluster"), definition(), ["/spec/scope"], id="another scope"),
    pytest.param(definition(preserveUnknownFields=True), definition(), ["/spec/preserveUnknownFields"], id="unknown fields are kept"),
    pytest.param(definition({"type": "object", "properties": {"a": {"type": "string", "maxLength": 0}}}), definition({"type": "object", "properties": {"a": {"type": "string"}}}), ["/spec/versions/0/schema/openAPIV3Schema/properties/a/maxLength"], id="0 that a schema can tell from absent"),
    pytest.param(definition({"type": "object", "properties": {"a": {"items": {"type": "string"}}}}), definition({"type": "object", "properties": {"a": {"items": {"type": "integer"}}}}), ["/spec/versions/0/schema/openAPIV3Schema/properties/a/items/type"], id="another type deep in a schema"),
    pytest.param(definition({"type": "object", "additionalProperties": False}), definition({"type": "object"}), ["/spec/versions/0/schema/openAPIV3Schema/additionalProperties"], id="false is no schema"),
    pytest.param(claims("v1", {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}), claims("v1", {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}}), ["/spec/devices/requests/0/exactly/count"], id="two devices"),
    pytest.param(job(podFailurePolicy=POLICY), job(podFailurePolicy={"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "False"}]}]}), ["/spec/podFailurePolicy/rules/0/onPodConditions/0/status"], id="another status"),
    pytest.param(kubernetes_object("v1", "ConfigMap", data={"a": None, "b": "1"}), kubernetes_object("v1", "ConfigMap"), ["/data"], id="more than null"),
    pytest.param(application(syncPolicy={"automated": {"prune": False}}), application(syncPolicy={"automated": {"prune": True}}), ["/spec/syncPolicy/automated/prune"], id="true where Git says false"),
    pytest.param(application(syncPolicy={"automated": {"enabled": False}}), application(syncPolicy={"automated": {}}), ["/spec/syncPolicy/automated/enabled"], id="false that Argo CD tells from absent"),
    pytest.param(application(syncPolicy={"automated": {}}), application(syncPolicy={}), ["/spec/syncPolicy/automated"], id="an empty map that Argo CD tells from absent"),
    pytest.param(kubernetes_object("cert-manager.io/v1", "Certificate", spec={"duration": "2160h"}), kubernetes_object("cert-manager.io/v1", "Certificate", spec={"duration": "2161h0m0s"}), ["/spec/duration"], id="another duration"),
    pytest.param(kubernetes_object("karpenter.sh/v1", "NodePool", spec={"limits": {"cpu": "0"}}), kubernetes_object("karpenter.sh/v1", "NodePool", spec={"limits": {}}), ["/spec/limits/cpu"], id="a limit of 0 is a limit"),
    pytest.param(kubernetes_object("foo.io/v1", "Foo", spec={"a": False}), kubernetes_object("foo.io/v1", "Foo", spec={}), ["/spec/a"], id="custom: false"),
])  # fmt: skip
def test_it_is_a_difference(git: dict[str, Any], cluster: dict[str, Any], where: list[str]) -> None:
    assert places(git, cluster) == where
    assert places(git, cluster, last=git) == where


def test_null_says_that_the_field_would_be_removed() -> None:
    [one] = compare(deployment(paused=None), deployment(paused=True))
    assert (repr(one.wanted), one.found, one.note) == ("nothing", True, "would be removed")
