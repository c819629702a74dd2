"""Health rules by kind, and the health of one object.

Belongs here: which rule applies to a kind, the checks before and after every rule (what is being deleted, what has
ended). Does not: the rules themselves (`pods`, `workloads`, `short_rules`, ...), the table of known kinds
(`kubernetes.known`), any other kind (`general`), rules of installed packages (`plugins`), health of an application
(`kubernetes.rollup`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.machines.kinds.kubernetes.health.autoscaling import autoscaler
from phaseline.machines.kinds.kubernetes.health.general import by_general_rule
from phaseline.machines.kinds.kubernetes.health.pods import job, pod
from phaseline.machines.kinds.kubernetes.health.polarity import concerns_of
from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart, UnreadableManifest
from phaseline.machines.kinds.kubernetes.health.result import (
    Evidence,
    HealthResult,
    no_health,
    not_assessed,
    progressing,
    unknown,
)
from phaseline.machines.kinds.kubernetes.health.short_rules import api_service, ingress, service, volume_claim, workflow
from phaseline.machines.kinds.kubernetes.health.view import ObjectView, evidence_of, getter
from phaseline.machines.kinds.kubernetes.health.workloads import daemon_set, deployment, replica_set, stateful_set
from phaseline.machines.kinds.kubernetes.kind_facts import UNTOLD, KindFacts
from phaseline.machines.kinds.kubernetes.known.argo_kinds import is_argos
from phaseline.machines.kinds.kubernetes.known.table import NO_STATUS, STATUSLESS, KnownRule, known_rule
from phaseline.machines.kinds.kubernetes.manifest_id import Manifest, group_kind
from phaseline.machines.kinds.kubernetes.profiles import ALAUDA, DEGRADED, HEALTHY, PROGRESSING, UNKNOWN, Profile
from phaseline.machines.language.rules import Revision
from phaseline.schemas.records import SECOND, nanoseconds

HEALTH = Revision("kubernetes.health", 16)
"""Raise it when an object gets another health or message than before."""
NO_RULE = "no health rule applies to this kind"
HOLDS_DELETION = ("Deleting", "Terminating", "*Remaining", "*Deleting")
"""Conditions that say why an object that is being deleted is still there."""
HOOK_FINALIZER = "argocd.argoproj.io/hook-finalizer"


class HealthRule(NamedTuple):
    """The rule of a kind, and the API versions that it can read (any version if empty).

    reads_status: nothing can be said of an object that has reported no status yet.
    """

    judge: Callable[[ManifestPart, Profile], HealthResult]
    versions: tuple[str, ...] = ()
    reads_status: bool = True


# fmt: off
RULES: Mapping[tuple[str, str], HealthRule] = {
    ("apps",                   "Deployment"):              HealthRule(deployment,   ("v1",)),
    ("apps",                   "StatefulSet"):             HealthRule(stateful_set, ("v1",)),
    ("apps",                   "ReplicaSet"):              HealthRule(replica_set,  ("v1",)),
    ("apps",                   "DaemonSet"):               HealthRule(daemon_set,   ("v1",)),
    ("networking.k8s.io",      "Ingress"):                 HealthRule(ingress),
    ("extensions",             "Ingress"):                 HealthRule(ingress),
    ("",                       "Service"):                 HealthRule(service,      ("v1",), reads_status=False),
    ("",                       "PersistentVolumeClaim"):   HealthRule(volume_claim, ("v1",)),
    ("",                       "Pod"):                     HealthRule(pod,          ("v1",)),
    ("batch",                  "Job"):                     HealthRule(job,          ("v1",)),
    ("autoscaling",            "HorizontalPodAutoscaler"): HealthRule(autoscaler,   ("v1", "v2")),
    ("apiregistration.k8s.io", "APIService"):              HealthRule(api_service,  ("v1", "v1beta1")),
    ("argoproj.io",            "Workflow"):                HealthRule(workflow,     ("v1alpha1",)),
}
# fmt: on

CustomRule = Callable[[Manifest], HealthResult | None]
"""A user's rule: returns the health of an object, or None to leave it to the built-in rule."""
BuiltIn = HealthRule | KnownRule


def rule_of(group: str, kind: str, profile: Profile) -> BuiltIn | None:
    """The built-in rule for a kind in a profile; None if there is none."""
    found = RULES.get((group, kind))
    if found is not None:
        return found
    return known_rule(group, kind) if not profile.follows_argo or is_argos(group, kind) else None


def assess_health(live: Manifest, profile: Profile = ALAUDA, custom: CustomRule | None = None) -> HealthResult:
    """The health of a live object; NotAssessed if nothing can be said of it (which is not the same as Unknown).

    NoHealth if the published type of its kind has no status, and it shows none.
    """
    return judge(ManifestPart(live), rule_of(*group_kind(live), profile), profile, custom)


def judge(
    live: ManifestPart, rule: BuiltIn | None, profile: Profile, custom: CustomRule | None, facts: KindFacts = UNTOLD,
    now: int = 0,
) -> HealthResult:  # fmt: skip
    """The health of a live object, given the built-in rule for its kind, and what is known of that.

    now: s since 1970; 0 if what ends by itself is not looked at.
    """
    leaving = False
    try:
        leaving = _is_leaving(live.map("metadata"))
        if leaving and profile.follows_argo:
            return progressing("Pending deletion")
        found = custom(live.found) if custom is not None and not leaving else None
        found = found or _built_in(live, rule, profile, facts, now)
    except UnreadableManifest as error:
        found = unknown(str(error))
    return _leaving(live, found) if leaving else found


def _built_in(live: ManifestPart, rule: BuiltIn | None, profile: Profile, facts: KindFacts, now: int) -> HealthResult:
    if isinstance(rule, HealthRule):
        return _judged(live, rule, profile)
    found = _by_status(live, rule, profile, facts)
    lasts = profile.follows_argo or (rule is not None and not rule.is_built_in)
    return found if lasts else _held(found, live.found, now)


def _by_status(live: ManifestPart, rule: KnownRule | None, profile: Profile, facts: KindFacts) -> HealthResult:
    if rule is not None:
        return rule(live.found, profile)
    if not live.found.get("status") and not (facts.status and group_kind(live.found) not in STATUSLESS):
        return no_health()
    return not_assessed(NO_RULE) if profile.follows_argo else by_general_rule(live.found)


def _is_leaving(metadata: ManifestPart) -> bool:
    if "deletionTimestamp" not in metadata.found:
        return False
    return metadata.has("deletionTimestamp") and HOOK_FINALIZER not in _finalizers(metadata)


def _finalizers(metadata: ManifestPart) -> list[str]:
    found = metadata.found.get("finalizers")
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _leaving(live: ManifestPart, found: HealthResult) -> HealthResult:
    """The health of an object that is being deleted: Degraded if it has failed, or else Progressing."""
    since = str(live.map("metadata").found.get("deletionTimestamp"))
    deletion = Evidence("metadata.deletionTimestamp", since, since=since)
    said = f"being deleted since {since}"
    if found.status == DEGRADED:
        return HealthResult(DEGRADED, f"{said}: {found.message}", (*found.evidence, deletion), found.concerns)
    held = [one for one in map(evidence_of, ObjectView(live.found).all_conditions) if _holds(one)]
    waits = ", ".join(_finalizers(live.map("metadata")))
    words = (*(one.message or one.reason for one in held), f"it waits for {waits}" if waits else "")
    why = "; ".join(filter(None, words))
    return HealthResult(PROGRESSING, f"{said}{f': {why}' if why else ''}", (*held, deletion), found.concerns)


def _holds(one: Evidence) -> bool:
    """Whether a condition says what an object that is being deleted waits for."""
    return one.status == "True" and any(matches(glob, one.condition) for glob in HOLDS_DELETION)


def _judged(part: ManifestPart, rule: HealthRule, profile: Profile) -> HealthResult:
    version = part.text("apiVersion").rpartition("/")[2]
    if rule.versions and version not in rule.versions:
        known = " or ".join(rule.versions)
        return unknown(
            f"apiVersion is {part.text('apiVersion')}: the rule of {part.text('kind')} reads version {known}"
        )
    found = rule.judge(part, profile)
    silent = rule.reads_status and not profile.follows_argo and not part.found.get("status")
    if silent and found.status in (HEALTHY, UNKNOWN):
        return progressing(NO_STATUS)
    evidence = found.evidence
    return HealthResult.told_by(
        found.status, found.message, lambda: (evidence, concerns_of(ObjectView(part.found).all_conditions, evidence))
    )


UNTIL = tuple((group, kind, field, getter(field)) for group, kind, field in (
    #   group                kind                   the field of an object that says until when it holds
    ("*",                 "*",                  ".status.notAfter"),
    ("*.crossplane.io",   "*",                  ".status.atProvider.notAfter"),
    ("*.upbound.io",      "*",                  ".status.atProvider.notAfter"),
    ("cluster.x-k8s.io",  "Machine",            ".status.certificatesExpiryDate"),
    ("networking.gke.io", "ManagedCertificate", ".status.expireTime"),
))  # fmt: skip


class Expiry(NamedTuple):
    """The time at which something ends. at: s since 1970."""

    field: str
    written: str
    at: int

    @property
    def words(self) -> str:
        """`status.notAfter 2026-03-02T08:00:00Z`."""
        return f"{self.field} {self.written}"


def passed(words: str) -> str:
    """What is said of a time that is over, in the words of `Expiry`."""
    return f"{words} has passed"


def _held(found: HealthResult, live: Mapping[str, Any], now: int) -> HealthResult:
    """A verdict of now (s since 1970): Degraded if the object has ended, else one that says until when it holds."""
    if found.status not in (HEALTHY, PROGRESSING) or not live.get("status"):
        return found
    first = min(_ends(live), key=lambda one: one.at, default=None)
    if first is None:
        return found
    if first.at <= now:
        ended = Evidence(first.field, first.written, message=passed(first.words), since=first.written)
        return HealthResult(DEGRADED, ended.message, (ended, *found.evidence), found.concerns)
    found.until = first.words, first.at
    return found


def _ends(live: Mapping[str, Any]) -> Iterator[Expiry]:
    group, kind = group_kind(live)
    view = ObjectView(live)
    for of_group, of_kind, field, get in UNTIL:
        written = get(view)
        if isinstance(written, str) and matches(of_group, group) and matches(of_kind, kind):
            try:
                yield Expiry(field.lstrip("."), written, nanoseconds(written) // SECOND)
            except (ValueError, OverflowError):
                continue
