"""Manifests for the benchmarks: a Deployment of about 200 lines of YAML, and one object of each kind with a rule.

Belongs here: building them. Does not: measuring.
"""

from copy import deepcopy
from typing import Any

Manifest = dict[str, Any]
PROBE = {"httpGet": {"path": "/healthz", "port": 8080}, "initialDelaySeconds": 5, "periodSeconds": 10}
DEFAULTS = {"timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3}


def desired(name: str = "web") -> Manifest:
    """A Deployment of three containers, as a Helm chart would render it."""
    containers = [
        {
            "name": f"{name}-{number}",
            "image": f"registry.example/{name}-{number}:1.{number}.7",
            "args": [f"--option-{option}=value" for option in range(6)],
            "env": [{"name": f"VARIABLE_{variable}", "value": str(variable)} for variable in range(14)],
            "ports": [{"containerPort": 8080 + port, "name": f"port-{port}"} for port in range(3)],
            "resources": {"requests": {"cpu": "0.25", "memory": "128Mi"}, "limits": {"cpu": 1, "memory": "1024Mi"}},
            "livenessProbe": deepcopy(PROBE),
            "readinessProbe": deepcopy(PROBE),
            "volumeMounts": [{"name": f"volume-{volume}", "mountPath": f"/data/{volume}"} for volume in range(3)],
            "securityContext": {"runAsNonRoot": True, "allowPrivilegeEscalation": False},
        }
        for number in range(3)
    ]
    labels = {"app": name, "app.kubernetes.io/instance": name, "app.kubernetes.io/version": "1.0"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "labels": labels, "annotations": {"owner": "team-a"}},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "containers": containers,
                    "volumes": [{"name": f"volume-{at}", "configMap": {"name": f"config-{at}"}} for at in range(3)],
                    "tolerations": [{"key": "edge", "operator": "Exists", "effect": "NoSchedule"}],
                    "serviceAccountName": name,
                },
            },
        },
    }  # fmt: skip


def live(name: str = "web", available: int = 3) -> Manifest:
    """The same Deployment as the API server stores it: with a sidecar, defaults, other spellings and a status."""
    found = deepcopy(desired(name))
    found["metadata"] |= {
        "uid": "u",
        "resourceVersion": "77",
        "generation": 4,
        "creationTimestamp": "2026-03-02T08:00:00Z",
    }
    found["spec"] |= {
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
    }
    spec = found["spec"]["template"]["spec"]
    spec |= {
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }
    for container in spec["containers"]:
        container |= {
            "imagePullPolicy": "IfNotPresent",
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        }
        container["resources"] = {
            "requests": {"cpu": "250m", "memory": "128Mi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        }
        for probe in ("livenessProbe", "readinessProbe"):
            container[probe] |= DEFAULTS
            container[probe]["httpGet"]["scheme"] = "HTTP"
        for port in container["ports"]:
            port["protocol"] = "TCP"
    for volume in spec["volumes"]:
        volume["configMap"]["defaultMode"] = 420
    spec["containers"].insert(
        0, {"name": "proxy", "image": "envoy:1.30", "ports": [{"containerPort": 15001, "protocol": "TCP"}]}
    )
    condition = {
        "type": "Progressing",
        "status": "True",
        "reason": "ReplicaSetUpdated",
        "lastUpdateTime": "2026-03-02T08:00:00Z",
    }
    found["status"] = {
        "observedGeneration": 4,
        "replicas": 3,
        "updatedReplicas": 3,
        "availableReplicas": available,
        "readyReplicas": available,
        "conditions": [condition],
    }
    return found


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
