"""Reads the event resource.observed: turns two manifests into the fields that the rows of `resource` ask for.

Belongs here: health, sync, and the attributes noted with them. Does not: health and comparison rules (`kubernetes`),
the states that follow (`resource`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.gitops.app_settings import MergedSettings, deadline_of, merged_settings
from phaseline.machines.kinds.gitops.waves import place_of
from phaseline.machines.kinds.kubernetes import observation
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC, SYNCED, Assessment
from phaseline.machines.kinds.kubernetes.diff.compare import COMPARISON
from phaseline.machines.kinds.kubernetes.diff.managed_fields import claims, may_apply
from phaseline.machines.kinds.kubernetes.diff.normalize import last_applied, normalize
from phaseline.machines.kinds.kubernetes.health.plugins import revisions
from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart
from phaseline.machines.kinds.kubernetes.health.registry import HEALTH
from phaseline.machines.kinds.kubernetes.health.result import HealthResult
from phaseline.machines.kinds.kubernetes.manifest_id import MAPS, Manifest, group_kind
from phaseline.machines.kinds.kubernetes.observation import ObservedPair, gone, late, object_of
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.kinds.kubernetes.profiles import (
    DEGRADED,
    HEALTHY,
    MISSING,
    NO_HEALTH,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)
from phaseline.machines.kinds.kubernetes.rollup import APPLICATION
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.scripts import SCRIPTS
from phaseline.machines.language.table import Attributes, Field, Refusal, RuleEvent
from phaseline.schemas.templates.shared_values import SHARED, digest

SYNC_FAILED, SYNCING = "SyncFailed", "Syncing"
SYNC = 1
"""Index of the sync facet of a resource."""
ASIDE = "Aside"
SHOWN = 10
"""How many differing paths an entity keeps; further ones are only counted."""
LONGEST = 1_024
"""The most characters of a message that an entity keeps."""

FIELDS = (
    Field(
        "health",
        str,
        "its health",
        (UNKNOWN, MISSING, DEGRADED, PAUSED, PROGRESSING, HEALTHY, NOT_ASSESSED, NO_HEALTH, ASIDE),
    ),
    Field("sync", str, "whether the cluster matches Git", (SYNCED, OUT_OF_SYNC, NOT_COMPARED)),
    Field("gone", bool, "whether it is neither in Git nor in the cluster"),
)
NOTED = (
    "health_message", "sync_message", "differs", "differing", "ignored", "rule_problems", "live_digest",
    "desired_digest", "settings", "compared", "compared_why", "progress", "deadline", "wave",
    "hook", "unsaid", "evidence", "concerns", *observation.UNTIL_NAMES, "uid", "former_uids",
)  # fmt: skip
"""The attributes that an observation sets."""


@rule("gitops.observed", revision=12, uses=(HEALTH, COMPARISON, SCRIPTS, revisions))
def read_observation(
    scene: Scene, entity_id: str, attributes: Attributes, event: RuleEvent
) -> Mapping[str, Any] | Refusal:
    """The health and sync of an observed resource by its application's settings, with everything noted about them."""
    pair = ObservedPair.of(event.data)
    if (wrong := pair.mismatch(entity_id)) is not None:
        return wrong
    live, desired, is_known = pair[:3]
    before = scene.above(entity_id, "resource")
    if (
        old := late(before, event.data, is_gone=before is not None and before.attributes.get("live_digest") == "")
    ) is not None:
        return old
    if live is None and desired is None:
        return gone(is_known=before is not None and is_known)
    settings = merged_settings(scene, entity_id)
    overrides = settings.overrides
    digests = _digests(pair, settings)
    again = is_known and attributes.get("compared") is not None and digests.items() <= attributes.items()
    found = pair.assess(overrides, scene.scripts, event.time, compares=not again, explains=bool(overrides.rules))
    fields: dict[str, Any] = {
        **digests,
        "progress": digest(_counts(live or {})),
        "deadline": deadline_of(live or {}, settings),
    }
    hook, wave = place_of(desired or live or {})
    fields |= object_of(before, live)
    fields |= {"hook": hook} if hook or "hook" in attributes else {}
    fields |= {"wave": wave} if wave or "wave" in attributes else {}
    fields |= _health(found, overrides, (live or desired or {}), fields, attributes)
    fields |= observation.until(found.health, attributes, event.time) if fields["health"] == HEALTHY else {}
    if again:
        fields |= {"sync": attributes["compared"], "sync_message": attributes["compared_why"]}
    elif is_known or before is None:
        fields |= _sync(found)
    syncs = before is not None and before.facets[SYNC].base.phase in (SYNCING, SYNC_FAILED)
    if syncs and fields.get("sync") == OUT_OF_SYNC:
        del fields["sync_message"]  # the sync that is under way, or failed, has its own message
    return fields


def owned_health(
    scene: Scene, entity_id: str, attributes: Attributes, event: RuleEvent, pair: ObservedPair
) -> Mapping[str, Any]:
    """The health of a live object that Git does not declare, with everything noted about it. It has no deadline."""
    live = pair.live or {}
    settings = merged_settings(scene, entity_id)
    found = pair.assess(settings.overrides, scene.scripts, event.time)
    before = scene.above(entity_id, "owned_object")
    health = _health(found, settings.overrides, live, {"deadline": 0}, attributes)
    was = HEALTHY if before is None else before.facets[0].base.phase
    ends = observation.until(found.health, attributes, event.time, (HEALTHY, PROGRESSING), was)
    return {**object_of(before, live), **health, **ends}


@rule("gitops.note_overdue", revision=1)
def note_overdue(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Notes the progress at the deadline."""
    message = too_long(attributes.get("deadline"), attributes.get("health_message", ""))
    return {**attributes, "overdue": attributes.get("progress", ""), "health_message": message}


def _digests(pair: ObservedPair, settings: MergedSettings) -> dict[str, str]:
    """Digests of what a comparison depends on. If none of them has changed, the result is the same."""
    live, desired, schema = pair.live, pair.desired, pair.facts.schema
    digests = {"live_digest": "", "desired_digest": "", "settings": settings.digest}
    aggregates, rules = settings.overrides.aggregates, settings.overrides.rules
    if desired is not None:
        digests["desired_digest"] = SHARED.once(
            desired, ("digest", aggregates), lambda one: digest(_parts(one, aggregates=aggregates))
        )
    if live is not None:
        managers = any(rule.managers for rule in rules) if rules else False
        claimed = claims(live)
        managed: Any = claimed if any(map(may_apply, claimed)) else None
        if managers:
            managed = ManifestPart(live).map("metadata").found.get("managedFields")
        more = [] if schema is None else [schema]
        digests["live_digest"] = digest([_parts(live, aggregates=aggregates), last_applied(live), managed, *more])
    return digests


def _parts(side: Manifest, *, aggregates: bool) -> list[Any]:
    """A manifest without status and server-owned fields, with digests in the place of its large members.

    A digest stands there whether the member was decoded before or not, so that the result is always the same.
    """
    made = normalize(side, in_namespace=True, aggregates=aggregates)
    return [(name, part if name in SMALL else SHARED.once(part, "digest", digest)) for name, part in made.items()]


SMALL = ("apiVersion", "kind", "metadata", "type", "immutable")
"""Members of a manifest that are small, or differ between objects."""


def _sync(found: Assessment) -> dict[str, Any]:
    """The sync that the resource shows, and the attributes noted with it."""
    sync = found.sync if found.sync is not None and found.counts else NOT_COMPARED
    return {
        "sync": sync,
        "sync_message": found.why,
        "compared": sync,
        "compared_why": found.why,
        "differs": [one.pointer[:LONGEST] for one in found.differences[:SHOWN]],
        "differing": len(found.differences),
        "ignored": len(found.hidden),
        "rule_problems": [problem[:LONGEST] for problem in found.problems[:SHOWN]],
    }


def _counts(live: Manifest) -> list[Any]:
    """The numbers in its status, and its generation: an object that makes progress changes one of them."""
    status, metadata = live.get("status"), live.get("metadata")
    counts = (
        sorted([(name, value) for name, value in status.items() if type(value) is int])
        if isinstance(status, MAPS)
        else []
    )
    return [counts, metadata.get("generation") if isinstance(metadata, MAPS) else None]


def _health(
    found: Assessment, overrides: Overrides, subject: Manifest, fields: Mapping[str, Any], attributes: Attributes
) -> Mapping[str, Any]:
    """The health that the resource shows. What it is after the deadline lasts until the object makes progress."""
    health = found.health
    if found.is_hook:
        return {"health": ASIDE, "health_message": found.why}
    if health is None or not health.is_assessed or _is_spared(health, found, overrides, subject):
        told = {} if health is None else _told(health)
        silent = NOT_ASSESSED if health is None or health.takes_part else NO_HEALTH
        return {"health": silent, "health_message": "" if health is None else health.message[:LONGEST], **told}
    message, told = health.message[:LONGEST], _told(health)
    unsaid = health.status == PROGRESSING and not subject.get("status")
    noted = {**told, **({"unsaid": unsaid} if unsaid or "unsaid" in attributes else {})}
    if health.status == PROGRESSING and fields["deadline"] and attributes.get("overdue") == fields["progress"]:
        late = UNKNOWN if unsaid else DEGRADED
        return {"health": late, "health_message": too_long(fields["deadline"], message), **noted}
    return {"health": health.status, "health_message": message, **noted}


@rule("gitops.note_expired", revision=1)
def note_expired(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Notes that the time is over until which the object was Healthy by what it says."""
    return {**observation.without_until(attributes), "health_message": observation.ended(attributes)}


def _told(health: HealthResult) -> Mapping[str, Any]:
    """The conditions on which a health rests, and those that say of a failure and do not decide."""
    told = {"evidence": health.evidence, "concerns": health.concerns}
    return {
        name: [{name: value[:LONGEST] for name, value in one._asdict().items() if value} for one in found[:SHOWN]]
        for name, found in told.items()
        if found
    }


def _is_spared(health: HealthResult, found: Assessment, overrides: Overrides, subject: Manifest) -> bool:
    """Whether the health does not count: missing without a rule (argocd-3.3), a nested application (argocd)."""
    if health.status == MISSING and overrides.profile.missing == "ruled" and not found.has_rule:
        return True
    nested = overrides.profile.follows_argo and group_kind(subject) == APPLICATION
    return nested and health.status in (MISSING, UNKNOWN)


def too_long(deadline: Any, message: str) -> str:
    """The message of a resource that was Progressing for too long."""
    before = message.partition(" (it does not get on")[0]
    return f"{before} (it does not get on, for {deadline} s)".lstrip()
