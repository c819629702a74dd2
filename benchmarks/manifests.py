"""Manifests for the benchmarks: one object of each kind with a health rule, and a health script.

Belongs here: building them. Does not: measuring, the large Deployment (`tests.support.large_deployment`).
"""

from typing import Any

from tests.support.large_deployment import live

Manifest = dict[str, Any]
PROBE = {"httpGet": {"path": "/healthz", "port": 8080}, "initialDelaySeconds": 5, "periodSeconds": 10}
DEFAULTS = {"timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3}


def _of(api: str, kind: str, spec: Manifest, status: Manifest) -> Manifest:
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "it", "namespace": "shop", "generation": 2},
        "spec": spec,
        "status": {"observedGeneration": 2, **status},
    }


READY = [{"type": "Ready", "status": "True"}]
ROLLED = {"desiredNumberScheduled": 9, "updatedNumberScheduled": 9, "numberAvailable": 8}
RUNNING = {
    "phase": "Running",
    "conditions": READY,
    "containerStatuses": [{"name": f"c{n}", "restartCount": 1} for n in range(3)],
}
SCALING = [{"type": name, "status": "True"} for name in ("AbleToScale", "ScalingActive")]
TURNING = {"readyReplicas": 3, "updateRevision": "b", "currentRevision": "a"}
KINDS: dict[str, Manifest] = {
    "Deployment": live(),
    "StatefulSet": _of("apps/v1", "StatefulSet", {"replicas": 3}, TURNING),
    "DaemonSet": _of("apps/v1", "DaemonSet", {}, ROLLED),
    "Pod": _of("v1", "Pod", {"restartPolicy": "Always"}, RUNNING),
    "Job": _of("batch/v1", "Job", {}, {"conditions": [{"type": "Complete", "status": "True"}]}),
    "HorizontalPodAutoscaler": _of("autoscaling/v2", "HorizontalPodAutoscaler", {}, {"conditions": SCALING}),
    "Service": _of("v1", "Service", {"type": "LoadBalancer"}, {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}),
    "Certificate, by a Lua script": _of("cert-manager.io/v1", "Certificate", {}, {"conditions": READY}),
}
"""An object of each kind with a health rule."""
SCRIPT = """
hs = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for i, condition in ipairs(obj.status.conditions) do
    if condition.type == "Ready" and condition.status == "False" then
      hs.status = "Degraded" hs.message = condition.message return hs
    end
    if condition.type == "Ready" and condition.status == "True" then
      hs.status = "Healthy" hs.message = condition.message return hs
    end
  end
end
hs.status = "Progressing"
return hs
"""
