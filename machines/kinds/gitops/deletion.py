"""Deleting an application: since when it is under way, and whether it takes too long.

Belongs here: the attributes of a deletion, the time that is left for it. Does not: what else a controller reports
(`controller`), the states that follow (`application`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.gitops.app_settings import DEFAULT_DEADLINE, levels
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Field, RuleEvent
from phaseline.schemas.records import SECOND, nanoseconds

REPORTED = (
    Field("deleting",         bool, "whether it is being deleted"),
    Field("deleting_since",   str,  "since when it is being deleted"),
    Field("deletion_message", str,  "since when it is being deleted, and what keeps it"),
)  # fmt: skip
LEFT = (
    Field("deletion_in",      int,  "seconds that its deletion may still take; 0 for ever"),
    Field("deletion_overdue", bool, "whether its deletion takes longer than its progress deadline"),
)  # fmt: skip
"""What follows from the report and the time of its event."""


@rule("gitops.read_deletion", revision=1)
def read_deletion(scene: Scene, entity_id: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any]:
    """How long the deletion may still take by the deadline of the application or its set, in every profile."""
    since = event.data.get("deleting_since") or ""
    above, own = levels(scene, entity_id)
    deadline = own.get("progress_deadline", above.get("progress_deadline", DEFAULT_DEADLINE))
    if not event.data.get("deleting") or not deadline:
        return {"deletion_in": 0, "deletion_overdue": False}
    was = attributes.get("deletion_overdue") is True and attributes.get("deleting_since") == since
    left = deadline - (event.time - _began(since, event.time)) // SECOND
    overdue = was or left <= 0
    return {"deletion_in": 0 if overdue else left, "deletion_overdue": overdue}


def _began(since: str, now: int) -> int:
    """When the deletion began, ns since 1970; a time that cannot be read, or is to come, is now."""
    try:
        return min(nanoseconds(since), now)
    except ValueError:
        return now


@rule("gitops.note_stuck", revision=1)
def note_stuck(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Notes that the deletion takes too long."""
    return {**attributes, "deletion_in": 0, "deletion_overdue": True}
