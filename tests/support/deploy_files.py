"""What `deploy` holds: the chart, manifests, and what to ask of them.

Belongs here: reading manifests, Kubernetes' schemas and those of the operators whose objects the chart makes, rules for
pods. Does not: rendering (`tests/process/test_foreign_charts.py`), command lines (`command_line`).
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate  # type: ignore[import-untyped]  # it ships no types
import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "phaseline"
BASE = DEPLOY / "kustomize" / "base"
KUBERNETES = [f"1.{minor}" for minor in range(28, 38)]
"""The versions that the chart is for; the first one is its `kubeVersion`."""
TEXT, NUMBER, TEXTS = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "object", "additionalProperties": {"type": "string"}},
)
Manifest = dict[str, Any]


def closed(required: str = "", **properties: Any) -> dict[str, Any]:
    """The schema of an object with these properties and no others."""
    return {"type": "object", "additionalProperties": False, "required": required.split(), "properties": properties}


def listed(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": schema}


SCALING = closed(
    stabilizationWindowSeconds={"type": "integer", "minimum": 0, "maximum": 3600},
    policies=listed(
        closed("type value periodSeconds", type={"enum": ["Pods", "Percent"]}, value=NUMBER, periodSeconds=NUMBER)
    ),
)
DURATION = {"type": "string", "pattern": "^(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?$"}
AUTHORIZATION = closed("credentials", credentials=closed("name key", name=TEXT, key=TEXT))
CUSTOM: dict[tuple[str, str], dict[str, Any]] = {
    ("monitoring.coreos.com/v1", "ServiceMonitor"): closed(
        "selector endpoints",
        jobLabel=TEXT,
        podTargetLabels=listed(TEXT),
        selector=closed("matchLabels", matchLabels=TEXTS),
        endpoints=listed(closed("port", port=TEXT, path=TEXT, interval=DURATION, authorization=AUTHORIZATION)),
    ),
    ("monitoring.coreos.com/v1", "PrometheusRule"): closed(
        "groups",
        groups=listed(
            closed(
                "name rules",
                name=TEXT,
                interval=DURATION,
                rules=listed(
                    closed(
                        "expr", alert=TEXT, record=TEXT, expr=TEXT, labels=TEXTS, annotations=TEXTS,
                        **{"for": DURATION, "keep_firing_for": DURATION},
                    )
                ),
            )
        ),
    ),
    ("keda.sh/v1alpha1", "ScaledObject"): closed(
        "scaleTargetRef triggers",
        scaleTargetRef=closed("name", name=TEXT),
        minReplicaCount=NUMBER,
        maxReplicaCount=NUMBER,
        cooldownPeriod=NUMBER,
        fallback=closed(
            "failureThreshold replicas", failureThreshold=NUMBER, replicas=NUMBER,
            behavior={"enum": ["static", "currentReplicas", "currentReplicasIfHigher", "currentReplicasIfLower"]},
        ),
        advanced=closed(horizontalPodAutoscalerConfig=closed(behavior=closed(scaleUp=SCALING, scaleDown=SCALING))),
        triggers=listed(closed("type metadata", type={"const": "prometheus"}, metadata=TEXTS)),
    ),
}  # fmt: skip
"""The parts that we use of the objects of the Prometheus operator and of KEDA: the schemas of their `spec`."""


def documents(text: str) -> list[Manifest]:
    """The manifests in a text."""
    return [found for found in yaml.load_all(text, yaml.CSafeLoader) if found is not None]


def base() -> list[Manifest]:
    """The manifests of the kustomize base."""
    names = yaml.safe_load((BASE / "kustomization.yaml").read_text())["resources"]
    return [found for name in names for found in documents((BASE / name).read_text())]


def check(manifest: Manifest, version: str) -> None:
    """Raise unless a version of Kubernetes takes the manifest: no field is unknown, missing or of another type."""
    schema = CUSTOM.get((manifest["apiVersion"], manifest["kind"]))
    if schema is None:
        kubernetes_validate.validate(manifest, version, strict=True)
    else:
        assert set(manifest) == {"apiVersion", "kind", "metadata", "spec"}
        jsonschema.validate(manifest["spec"], schema)


def pods(manifests: Iterable[Manifest]) -> Iterator[Manifest]:
    """The specifications of all pods that the manifests make."""
    for manifest in manifests:
        found = manifest.get("spec", {})
        found = found.get("jobTemplate", {}).get("spec", found)
        if manifest["kind"] == "Pod":
            yield found
        elif "template" in found:
            yield found["template"]["spec"]


def environment(container: Manifest) -> dict[str, str]:
    """The variables of a container that have a value."""
    return {one["name"]: one["value"] for one in container.get("env", []) if "value" in one}


def unsafe(pod: Manifest) -> list[str]:
    """What a pod may that it need not: by the restricted profile of Kubernetes' pod security standards, and by us."""
    context = pod.get("securityContext", {})
    found = [
        text
        for text, is_right in {
            "its user may be root": context.get("runAsNonRoot") is True and context.get("runAsUser", 0) > 0,
            "its system calls are not limited": context.get("seccompProfile") == {"type": "RuntimeDefault"},
            "it has a token of the cluster": pod.get("automountServiceAccountToken") is False,
            "services add variables": pod.get("enableServiceLinks") is False,
            "it shares a namespace of the host": not {"hostNetwork", "hostPID", "hostIPC"} & set(pod),
            "it mounts more than secrets, a claim, and a folder for files that pass": all(
                set(volume) - {"name"} <= {"secret", "emptyDir", "persistentVolumeClaim"}
                for volume in pod.get("volumes", [])
            ),
        }.items()
        if not is_right
    ]
    allowed = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    for container in pod["containers"]:
        if container.get("securityContext") != allowed:
            found.append(f"{container['name']}: its rights are not those of all containers")
        if not {"requests", "limits"} <= set(container.get("resources", {})):
            found.append(f"{container['name']}: its resources are not limited")
    return found


def schema() -> dict[str, Any]:
    """The schema of the chart's values."""
    found: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text())
    return found


def values() -> dict[str, Any]:
    """The chart's values."""
    found: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
    return found
