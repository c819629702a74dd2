"""How one Kubernetes object does: the rules of its kind (spec: GitOps, Health by kind).

Belongs here: which rule judges, what comes before every rule. Does not: the rules (`workloads`, `pods`, `surroundings`), those
that people bring (`custom`), what many make of one (`rollup`).
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from phaseline.machines.health.part import Manifest, Part, Unreadable
from phaseline.machines.health.pods import is_hook, job, pod
from phaseline.machines.health.surroundings import api_service, autoscaler, ingress, service, volume_claim, workflow
from phaseline.machines.health.verdict import Health, progressing, unknown
from phaseline.machines.health.workloads import daemon_set, deployment, replica_set, stateful_set
from phaseline.machines.profiles import ALAUDA, Profile
from phaseline.machines.rules import Revision

__all__ = [
    "HEALTH",
    "RULES",
    "Custom",
    "Health",
    "Manifest",
    "Part",
    "Rule",
    "Unreadable",
    "assess",
    "group_kind",
    "is_hook",
]

HEALTH = Revision("kubernetes.health", 1)
"""Raise it when an object gets another health or message than before."""
HOOK_FINALIZER = "argocd.argoproj.io/hook-finalizer"


class Rule(NamedTuple):
    """The rule of a kind, and the versions of it that the rule can read; any where empty."""

    judge: Callable[[Part, Profile], Health]
    versions: tuple[str, ...] = ()


# fmt: off
RULES: Mapping[tuple[str, str], Rule] = {
    ("apps",                   "Deployment"):              Rule(deployment,   ("v1",)),
    ("apps",                   "StatefulSet"):             Rule(stateful_set, ("v1",)),
    ("apps",                   "ReplicaSet"):              Rule(replica_set,  ("v1",)),
    ("apps",                   "DaemonSet"):               Rule(daemon_set,   ("v1",)),
    ("networking.k8s.io",      "Ingress"):                 Rule(ingress),
    ("extensions",             "Ingress"):                 Rule(ingress),
    ("",                       "Service"):                 Rule(service,      ("v1",)),
    ("",                       "PersistentVolumeClaim"):   Rule(volume_claim, ("v1",)),
    ("",                       "Pod"):                     Rule(pod,          ("v1",)),
    ("batch",                  "Job"):                     Rule(job,          ("v1",)),
    ("autoscaling",            "HorizontalPodAutoscaler"): Rule(autoscaler,   ("v1", "v2")),
    ("apiregistration.k8s.io", "APIService"):              Rule(api_service,  ("v1", "v1beta1")),
    ("argoproj.io",            "Workflow"):                Rule(workflow,     ("v1alpha1",)),
}
# fmt: on

Custom = Callable[[Manifest], Health | None]
"""A rule that somebody brought: the health, or None where it has nothing to say of that object."""


def group_kind(live: Manifest) -> tuple[str, str]:
    """The group (empty for core) and kind of an object."""
    version, kind = live.get("apiVersion"), live.get("kind")
    group, slash, _ = version.partition("/") if isinstance(version, str) else ("", "", "")
    return (group if slash else ""), kind if isinstance(kind, str) else ""


def assess(live: Manifest, profile: Profile = ALAUDA, custom: Custom | None = None) -> Health | None:
    """The health of an object in a cluster; None where no rule is about its kind (which is not Unknown)."""
    part = Part(live)
    try:
        if _is_leaving(part.map("metadata")):
            return progressing("Pending deletion")
        found = custom(live) if custom is not None else None
        if found is not None:
            return found
        rule = RULES.get(group_kind(live))
        return None if rule is None else _judged(part, rule, profile)
    except Unreadable as error:
        return unknown(str(error))


def _is_leaving(metadata: Part) -> bool:
    finalizers = metadata.found.get("finalizers")
    held = isinstance(finalizers, list) and HOOK_FINALIZER in finalizers
    return metadata.has("deletionTimestamp") and not held


def _judged(part: Part, rule: Rule, profile: Profile) -> Health:
    version = part.text("apiVersion").rpartition("/")[2]
    if rule.versions and version not in rule.versions:
        known = " or ".join(rule.versions)
        return unknown(
            f"apiVersion is {part.text('apiVersion')}: the rule of {part.text('kind')} reads version {known}"
        )
    return rule.judge(part, profile)
