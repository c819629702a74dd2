"""What an observed resource's manifests say, in the words of its table (spec: GitOps, What arrives, Sync, Health by kind).

Belongs here: the way from a `resource.observed` event to health, sync and what is noted with them. Does not: the rules
(`assessing`), the states that follow (`resource`).
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from phaseline.machines.assessing import OUT_OF_SYNC, SYNCED, Assessed, assessed
from phaseline.machines.compare import COMPARISON
from phaseline.machines.compare.normal import last_applied, normal
from phaseline.machines.customs import Customs
from phaseline.machines.health import HEALTH, Health, Part, group_kind
from phaseline.machines.health.offered import revisions
from phaseline.machines.manifest_id import another
from phaseline.machines.predicates import Scene
from phaseline.machines.profiles import DEGRADED, HEALTHY, MISSING, NOT_ASSESSED, PAUSED, PROGRESSING, UNKNOWN
from phaseline.machines.programs import SCRIPTS
from phaseline.machines.rollup import APPLICATION
from phaseline.machines.rules import rule
from phaseline.machines.settings import deadline_of, settled
from phaseline.machines.table import Attributes, Field, Happened, Refused
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND

SYNC_FAILED, SYNCING = "SyncFailed", "Syncing"
SYNC = 1
"""The facet of a resource."""
ASIDE, NOT_COMPARED = "Aside", "NotCompared"
SHOWN = 10
"""Places that differ, kept with the state; of more, only how many."""
LONGEST = 1_024
"""Characters of a message that is kept."""
Manifest = Mapping[str, Any]

WORDS = (
    Field("health", str, "its health", (UNKNOWN, MISSING, DEGRADED, PAUSED, PROGRESSING, HEALTHY, NOT_ASSESSED, ASIDE)),
    Field("sync", str, "whether Git and the cluster agree", (SYNCED, OUT_OF_SYNC, NOT_COMPARED)),
    Field("gone", bool, "it is neither in Git nor in the cluster"),
)
NOTED = (
    "health_message", "sync_message", "differs", "differing", "ignored", "rule_problems", "live_digest", "desired_digest",
    "settings", "compared", "compared_why", "progress", "deadline",
)  # fmt: skip
"""What is kept with the state."""


@rule("gitops.observed", revision=1, uses=(HEALTH, COMPARISON, SCRIPTS, revisions))
def said(scene: Scene, entity_id: str, attributes: Attributes, happened: Happened) -> Mapping[str, Any] | Refused:
    """What the two manifests say by the rules of the application, and what is noted of it."""
    data = happened.data
    live, desired, is_known = data.get("live"), data.get("desired"), "desired" in data
    for name, one in (("live", live), ("desired", desired)):
        if one is not None and (wrong := another(one, entity_id)):
            return Refused(f"data.{name} {wrong}", invalid=True)
    before = scene.above(entity_id, "resource")
    if live is None and desired is None:
        known = before is not None and is_known
        return (
            {"gone": True} if known else Refused("it is neither in Git nor in the cluster: there is nothing to observe")
        )
    customs, settings = settled(scene, entity_id)
    digests = _digests(live, desired, customs, settings)
    again = (
        is_known and attributes.get("compared") is not None and all(attributes.get(n) == digests[n] for n in DIGESTS)
    )
    found = assessed(
        live,
        desired,
        customs,
        scene.programs,
        now=happened.time // SECOND,
        is_known=is_known and not again,
        explains=bool(customs.rules),
    )
    words: dict[str, Any] = {
        **digests,
        "progress": _digest(_counts(live or {})),
        "deadline": deadline_of(scene, entity_id, live, customs),
    }
    words |= _health(found, customs, (live or desired or {}), words, attributes)
    if again:
        words |= {"sync": attributes["compared"], "sync_message": attributes["compared_why"]}
    elif is_known or before is None:
        words |= _sync(found)
    if (
        before is not None
        and before.facets[SYNC].base.phase in (SYNCING, SYNC_FAILED)
        and words.get("sync") == OUT_OF_SYNC
    ):
        del words["sync_message"]  # what is under way, or failed, has said why itself
    return words


DIGESTS = ("live_digest", "desired_digest", "settings")
"""What a comparison depends on: where none of it has changed, it would come to the same."""


def _digests(live: Manifest | None, desired: Manifest | None, customs: Customs, settings: str) -> dict[str, str]:
    told = {"settings": settings}
    for name, side in (("live_digest", live), ("desired_digest", desired)):
        told[name] = "" if side is None else _digest(normal(side, in_namespace=True, aggregates=customs.aggregates))
    if live is not None:
        managed = (
            Part(live).map("metadata").found.get("managedFields") if any(r.managers for r in customs.rules) else None
        )
        told["live_digest"] = _digest([told["live_digest"], last_applied(live), managed])
    return told


def _sync(found: Assessed) -> dict[str, Any]:
    """The sync as the resource shows it, and what is noted of it."""
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


def _digest(found: Any) -> str:
    return hashlib.blake2b(codec.encode(found), digest_size=8).hexdigest()


def _counts(live: Manifest) -> list[Any]:
    """Numbers of its status, and which of its generations: whoever gets on changes one of them."""
    status, metadata = live.get("status"), live.get("metadata")
    counts = (
        sorted((name, value) for name, value in status.items() if type(value) is int)
        if isinstance(status, Mapping)
        else []
    )
    return [counts, metadata.get("generation") if isinstance(metadata, Mapping) else None]


def _health(
    found: Assessed, customs: Customs, subject: Manifest, words: Mapping[str, Any], attributes: Attributes
) -> Mapping[str, Any]:
    """The health as the resource shows it; Progressing without getting on stays Degraded once its time was over."""
    health = found.health
    if found.is_hook:
        return {"health": ASIDE, "health_message": found.why}
    if health is None or _is_spared(health, found, customs, subject):
        return {"health": NOT_ASSESSED, "health_message": "" if health is None else health.message[:LONGEST]}
    message = health.message[:LONGEST]
    if health.status == PROGRESSING and words["deadline"] and attributes.get("overdue") == words["progress"]:
        return {"health": DEGRADED, "health_message": too_long(words["deadline"], message)}
    return {"health": health.status, "health_message": message}


def _is_spared(health: Health, found: Assessed, customs: Customs, subject: Manifest) -> bool:
    """What an application is not blamed for: a missing resource without a rule (3.3), an application that is Missing or Unknown."""
    missing = health.status == MISSING and customs.profile.missing == "ruled" and not found.has_rule
    return missing or (group_kind(subject) == APPLICATION and health.status in (MISSING, UNKNOWN))


def too_long(deadline: Any, message: str) -> str:
    """Why something is Degraded that has been Progressing for too long."""
    said_before = message.partition(" (it does not get on")[0]
    return f"{said_before} (it does not get on, for {deadline} s)".lstrip()
