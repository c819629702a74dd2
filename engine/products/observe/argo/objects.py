"""The adapters for Argo CD's own objects: Application and ApplicationSet (docs/spec/gitops.md, What observe publishes).

Belongs here: their settings, conditions and rollouts as events. Does not: operations (`operation`), windows of
projects (`projects`), the objects that an application deploys (`generic`), whose an object is (`ownership`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.engine.products.observe.argo.named import NamedResources, Whole
from phaseline.engine.products.observe.argo.operation import (
    deployments,
    hydration,
    operation,
    options_in,
    resource_failures,
    revision_of,
    revisions_in,
)
from phaseline.engine.products.observe.events import (
    LONGEST_OF_MANY,
    Manifest,
    ObservedEvent,
    being_deleted,
    conditions,
    mapping,
    maps,
    named_key,
    text,
    without_empty,
)
from phaseline.machines.kinds.gitops.controller import HEALTHS, ROLLOUTS, SYNCS
from phaseline.machines.kinds.gitops.sync_windows import MOST as MOST_WINDOWS
from phaseline.machines.kinds.gitops.sync_windows import read
from phaseline.machines.kinds.kubernetes.assess import OUT_OF_SYNC, SYNCED
from phaseline.machines.kinds.kubernetes.profiles import ALIASES, HEALTHY, PAUSED, PROGRESSING

DESTINATION = {"namespace": "namespace", "server": "server", "cluster": "name"}
RULE = ("group", "kind", "name", "namespace", "jsonPointers", "jqPathExpressions", "managedFieldsManagers")
CONDITIONS = {
    "ErrorOccurred": "error_occurred",
    "RolloutProgressing": "rollout_progressing",
    "ResourcesUpToDate": "resources_up_to_date",
}
CANNOT_COMPARE = ("InvalidSpecError", "ComparisonError", "UnknownError")
"""Conditions with which Argo CD does not know whether an Application matches Git."""
DELETION_ERROR = "DeletionError"
ORPHANED = "OrphanedResourceWarning"
SOURCE = {"repoURL": "repository", "path": "path", "chart": "chart", "ref": "ref", "targetRevision": "revision"}
TOOLS = ("helm", "kustomize", "directory", "plugin")
"""The settings of a source for the tool that makes its manifests."""
SKIPS = "argocd.argoproj.io/skip-reconcile"
WINDOW = "argocd.argoproj.io/sync-window"
"""The annotation of an Application with the hours at which it may be synchronised, each day: `10:00-18:00`."""
LONGEST = 4_096
NAMED = 10
"""The most resources that a message names; further ones are only counted."""
MOST_STEPPING = 2_000
"""The most applications in a rollout that a set names together; of more it does not say which left it."""
MOST = 100
"""The most conditions, sources or hooks of one Application that are told."""


def application(manifest: Manifest, entity_id: str, *, gone: bool) -> Iterator[ObservedEvent]:
    """The events of an Application: its settings, and what Argo CD reports of it."""
    if gone:
        yield ObservedEvent("application", "removed", entity_id)
        return
    yield ObservedEvent("application", "configure", entity_id, settings(manifest))
    status = mapping(manifest, "status")
    named = NamedResources.of(status)
    found = {
        **({} if named is None else named.counted()), **_seen(status), **_problems(manifest), **operation(manifest),
        **hydration(status), **_deletion(manifest), **_skipped(manifest), "deployments": deployments(status),
    }  # fmt: skip
    if several := revisions_in(mapping(status, "sync")):
        found["revisions"] = {str(n): one for n, one in enumerate(several, 1)}
    yield ObservedEvent("application", "observed", entity_id, without_empty(**found), _steady(without_empty(**found)))
    yield from resource_failures(status, entity_id)
    yield from [ObservedEvent("application", "named", entity_id)] if named is None else named.events(entity_id)


def _deletion(manifest: Manifest) -> dict[str, Any]:
    """Since when an Application is being deleted, and what keeps it; empty if it is not."""
    errors = [one for one in maps(mapping(manifest, "status"), "conditions") if text(one, "type") == DELETION_ERROR]
    told = [f"{DELETION_ERROR}: {text(one, 'message')}{_since(one)}"[:LONGEST_OF_MANY] for one in errors[:NAMED]]
    if not (said := being_deleted(manifest, *told)):
        return {}
    since = text(mapping(manifest, "metadata"), "deletionTimestamp")
    return {"deleting": True, "deleting_since": since, "deletion_message": said[:LONGEST]}


def _skipped(manifest: Manifest) -> dict[str, Any]:
    """That Argo CD does not look at an Application any more: what it says is of before, and never that all is well."""
    if text(mapping(manifest, "metadata", "annotations"), SKIPS) != "true":
        return {}
    health = Whole.of(mapping(manifest, "status")).health
    if health not in (HEALTHY, PROGRESSING):
        return {}
    said = f"the annotation {SKIPS} keeps Argo CD from looking at it; before, it said {health}"
    return {"reported_health": PAUSED, "health_alone": True, "health_message": said}


def _since(condition: Manifest) -> str:
    at = text(condition, "lastTransitionTime")
    return f" (since {at})" if at else ""


def _steady(found: dict[str, Any]) -> dict[str, Any]:
    """What is compared with the last report: conditions without the time at which Argo CD looked again."""
    return {**found, "problems": [{**one, "since": None} for one in found.get("problems", ())]}


def settings(manifest: Manifest) -> dict[str, Any]:
    """The settings in the specification of an Application. What is not set is named too, so that it ends."""
    spec = mapping(manifest, "spec")
    rules = [{name: value for name, value in one.items() if name in RULE} for one in maps(spec, "ignoreDifferences")]
    to, policy = mapping(spec, "destination"), mapping(spec, "syncPolicy")
    automated, namespace = policy.get("automated"), mapping(policy, "managedNamespaceMetadata")
    parts = automated if isinstance(automated, Mapping) else {}
    return {
        "profile": "argocd", "controller": "argocd", "ignore_differences": rules,
        "auto_sync": automated is not None and parts.get("enabled") is not False,
        "self_heal": parts.get("selfHeal") is True, "prune": parts.get("prune") is True,
        "retry_policy": _retry(mapping(policy, "retry")), "sync_options": options_in(policy),
        "hydrator": _hydrator(mapping(spec, "sourceHydrator")), **_hours(manifest),
        "managed_namespace": without_empty(
            labels=dict(mapping(namespace, "labels")), annotations=dict(mapping(namespace, "annotations"))
        ),
        **without_empty(
            **{ours: text(to, theirs) for ours, theirs in DESTINATION.items()},
            project=text(spec, "project"), sources=_sources(spec),
            target_revision=revision_of(mapping(manifest, "status", "sync")),
        ),
    }  # fmt: skip


def _hours(manifest: Manifest) -> dict[str, Any]:
    """The daily windows in the annotation of an Application; none, and a message, if they cannot be read."""
    found = text(mapping(manifest, "metadata", "annotations"), WINDOW)
    hours = [one.strip() for one in found.split(",") if one.strip()]
    try:
        problem = next((said for one in hours for said in read(one).problems()), "")
    except ValueError as error:
        problem = str(error)
    problem = problem or (f"at most {MOST_WINDOWS} windows are read" if len(hours) > MOST_WINDOWS else "")
    if problem:
        return {"sync_hours": [], "message": f"the annotation {WINDOW} {found!r:.100} is left out: {problem}"}
    return {"sync_hours": hours}


def _hydrator(found: Manifest) -> dict[str, str]:
    """Where the manifests of an Application are hydrated from, and to."""
    dry, to = mapping(found, "drySource"), mapping(found, "syncSource")
    return without_empty(
        repository=text(dry, "repoURL"), path=text(dry, "path"), revision=text(dry, "targetRevision"),
        branch=text(to, "targetBranch"), branch_path=text(to, "path"),
        staging=text(mapping(found, "hydrateTo"), "targetBranch"),
    )  # fmt: skip


def _sources(spec: Manifest) -> list[dict[str, str]]:
    """Where the manifests come from. Several sources count before the single one, hydrated ones before both."""
    if hydrated := mapping(spec, "sourceHydrator"):
        dry, to = mapping(hydrated, "drySource"), mapping(hydrated, "syncSource")
        repository = text(to, "repoURL") or text(dry, "repoURL")
        made = without_empty(repository=repository, path=text(to, "path"), revision=text(to, "targetBranch"))
        return [made] if made else []
    several = _given_sources(spec)
    found = ({ours: text(one, theirs) for theirs, ours in SOURCE.items() if text(one, theirs)} for one in several)
    return [*filter(None, found)][:MOST]


def _given_sources(spec: Manifest) -> list[Manifest]:
    return [*maps(spec, "sources")] or [mapping(spec, "source")]


def _retry(found: Manifest) -> dict[str, Any]:
    """How often and after which pauses Argo CD tries again; empty for its defaults."""
    backoff = mapping(found, "backoff")
    limit, factor = found.get("limit"), backoff.get("factor")
    return without_empty(
        limit=limit if type(limit) is int else None, factor=factor if type(factor) is int else None,
        duration=text(backoff, "duration"), maxDuration=text(backoff, "maxDuration"),
    )  # fmt: skip


def _seen(status: Manifest) -> dict[str, Any]:
    """Sync and health as Argo CD sees them, each with the resources of which it says so."""
    whole = Whole.of(status)
    sync, health = whole
    found: dict[str, Any] = {
        "reported_sync": sync if sync in SYNCS else None, "reported_health": health if health in HEALTHS else None,
        **whole.alone(status),
    }  # fmt: skip
    if found["reported_health"] not in (None, HEALTHY):
        found["health_message"] = _why_health(status, health)
    at = revision_of(mapping(status, "sync"))
    if sync == OUT_OF_SYNC:
        found["sync_message"] = _why_out_of_sync(status, at)
    elif sync == SYNCED and at:
        found["sync_message"] = f"Argo CD says {SYNCED} at {at}"
    return found


def _why_health(status: Manifest, health: str) -> str:
    """Why Argo CD calls an Application so: its own message, the resources in that health (no hooks), since when."""
    whole = mapping(status, "health")
    named = [
        f"{named_key(one).short()}{f': {why}' if (why := text(found, 'message')) else ''}"
        for one in maps(status, "resources")
        if one.get("hook") is not True
        and ALIASES.get(text(found := mapping(one, "health"), "status"), text(found, "status")) == health
    ]
    said, since = text(whole, "message"), text(whole, "lastTransitionTime")
    parts = (said, _listed(named), f"since {since}" if since else "")
    return _told(health, parts)


def _why_out_of_sync(status: Manifest, at: str) -> str:
    """Why Argo CD calls an Application OutOfSync: the resources that differ, and those to prune."""
    named = [
        f"{named_key(one).short()}{' (to prune)' if one.get('requiresPruning') is True else ''}"
        for one in maps(status, "resources")
        if one.get("hook") is not True and text(one, "status") == OUT_OF_SYNC
    ]
    return _told(f"{OUT_OF_SYNC} at {at}" if at else OUT_OF_SYNC, (_listed(named),))


def _told(state: str, parts: Iterable[str]) -> str:
    said = "; ".join(filter(None, parts))
    return f"Argo CD says {state}{f': {said}' if said else ', and no reason'}"[:LONGEST]


def _listed(named: Sequence[str]) -> str:
    """The first of some resources, and how many more there are."""
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return f"{', '.join(named[:NAMED])}{more}"


def _compared_before(manifest: Manifest) -> str:
    """What Argo CD compared last, if it is not what the specification asks for now; empty if it is, or nobody says."""
    spec, compared = mapping(manifest, "spec"), mapping(manifest, "status", "sync", "comparedTo")
    asked, to = mapping(spec, "destination"), mapping(compared, "destination")
    moved = [one for one in DESTINATION.values() if text(asked, one) and text(to, one) not in ("", text(asked, one))]
    if moved:
        return f"Argo CD compared with {text(to, moved[0])}, and {text(asked, moved[0])} is asked for"
    if not _sources(compared) or mapping(spec, "sourceHydrator"):
        return ""
    return _another_source(_given_sources(compared), _given_sources(spec))


def _another_source(compared: Sequence[Manifest], asked: Sequence[Manifest]) -> str:
    """Where the sources that Argo CD compared last are others than those that are asked for; empty if nowhere."""
    if len(compared) != len(asked):
        return f"Argo CD compared sources: {len(compared)}, and asked for are {len(asked)}"
    for one, other in zip(compared, asked, strict=True):
        for theirs, ours in SOURCE.items():
            default = "HEAD" if ours == "revision" else "none"
            if (was := text(one, theirs) or default) != (wanted := text(other, theirs) or default):
                return f"Argo CD compared with {ours} {was}, and {wanted} is asked for"
        for tool in TOOLS:
            if _set(one.get(tool)) != _set(other.get(tool)):
                return f"Argo CD compared with other settings of {tool} than are asked for"
    return ""


def _set(found: Any) -> Any:
    """Settings without what says nothing: Argo CD writes some empty ones that nobody wrote, and leaves others out."""
    if isinstance(found, Mapping):
        return {name: one for name, value in found.items() if (one := _set(value))} or None
    return [_set(one) for one in found] if isinstance(found, list) else found


def _problems(manifest: Manifest) -> dict[str, Any]:
    """The conditions of an Application, and whether Argo CD knows if it matches Git."""
    status = mapping(manifest, "status")
    conditions_ = [*maps(status, "conditions")]
    found = [
        without_empty(
            type=text(one, "type"),
            message=text(one, "message")[:LONGEST_OF_MANY],
            since=text(one, "lastTransitionTime"),
        )
        for one in conditions_[:MOST]
    ]
    if len(conditions_) > MOST:
        found.append({"type": "LeftOut", "message": f"{len(conditions_) - MOST} more conditions are not shown"})
    blocking = [one for one in found if one.get("type") in CANNOT_COMPARE]
    before = _compared_before(manifest)
    unknown = bool(blocking or before) or text(mapping(status, "sync"), "status") == "Unknown"
    why = "; ".join([*(f"{one['type']}: {one.get('message', '')}" for one in blocking), *filter(None, [before])])[
        :LONGEST
    ]
    orphans = next((one.get("message", "") for one in found if one.get("type") == ORPHANED), "")
    counted = [int(word) for word in orphans.split() if word.isascii() and word.isdigit() and len(word) < 10]
    return {
        "problems": found, "sync_unknown": unknown or None, "orphaned": counted[0] if counted else None,
        "spec_invalid": any(one.get("type") == "InvalidSpecError" for one in blocking) or None,
        **({"sync_message": why or "Argo CD does not know whether it matches Git"} if unknown else {}),
    }  # fmt: skip


def application_set(manifest: Manifest, entity_id: str, *, gone: bool) -> Iterator[ObservedEvent]:
    """The events of an ApplicationSet: its profile, what its controller reports, the steps of its applications."""
    if gone:
        yield ObservedEvent("application_set", "removed", entity_id)
        return
    yield ObservedEvent("application_set", "configure", entity_id, {"profile": "argocd"})
    known = conditions(manifest)
    reported: dict[str, Any] = {
        ours: known[theirs].get("status") == "True" for theirs, ours in CONDITIONS.items() if theirs in known
    }
    steps = [*_steps(manifest)]
    waits = [one.words() for one in steps if one.is_open]
    strategy = mapping(manifest, "spec", "strategy")
    rolls = text(strategy, "type") == "RollingSync"
    if rolls or steps:
        open_ = [one.step for one in steps if one.is_open]
        count = len([*maps(mapping(strategy, "rollingSync"), "steps")]) if rolls else 0
        waiting = sum(one.state == "Waiting" for one in steps)
        reported |= {"rollout_steps": count, "rollout_step": min(open_, default=0), "rollout_waiting": waiting}
    if reported.get("error_occurred") and (why := text(known["ErrorOccurred"], "message")):
        reported["health_message"] = f"ErrorOccurred: {why}"[:LONGEST]
    elif reported.get("rollout_progressing") and waits:
        step = f"step {reported['rollout_step']} of {reported['rollout_steps']}"
        reported["health_message"] = f"its controller is rolling out, {step}: {_listed(waits)}"[:LONGEST]
    namespace, _, _ = entity_id.rpartition("_")
    whose = [f"{namespace}_{one.name}" if namespace else one.name for one in steps]
    if said := being_deleted(manifest):
        reported |= {"deleting": True, "health_message": said[:LONGEST]}
    if len(whose) <= MOST_STEPPING:
        reported["stepping"] = sorted(whose)
    yield ObservedEvent("application_set", "reported", entity_id, reported)
    for one, name in zip(steps, whose, strict=True):
        data = without_empty(
            rollout_step=one.step, rollout=one.state, rollout_message=one.message[:LONGEST], rollout_target=one.target,
            rollout_since=one.since,
        )  # fmt: skip
        yield ObservedEvent("application", "stepped", f"{entity_id}/{name}", data)


class RolloutStep(NamedTuple):
    """How far one application is in the rollout of its set. target: the revision that the step is to bring."""

    name: str
    step: int
    state: str
    message: str
    target: str
    since: str

    @property
    def is_open(self) -> bool:
        """Whether it is in a step, and not done."""
        return self.step > 0 and self.state != "Healthy"

    def words(self) -> str:
        """`web (Waiting, to b1, since 2026-03-02T08:00:00Z)`."""
        parts = (self.state, f"to {self.target}" if self.target else "", f"since {self.since}" if self.since else "")
        return f"{self.name} ({', '.join(filter(None, parts))})"


def _steps(manifest: Manifest) -> Iterator[RolloutStep]:
    """Each application in the rollout of a set."""
    for one in maps(mapping(manifest, "status"), "applicationStatus"):
        name, step, state = text(one, "application"), text(one, "step"), text(one, "status")
        digits = step.removeprefix("-")
        if name and state in ROLLOUTS:
            number = int(step) if digits.isascii() and digits.isdigit() and len(digits) < 10 else -1
            target = revision_of({"revisions": one.get("targetRevisions")})
            yield RolloutStep(name, number, state, text(one, "message"), target, text(one, "lastTransitionTime"))
