"""Whether a bundle or a deployment carries the commit of its repository.

Fleet writes the commit as a label; what has none is not judged. While a git job is under way nothing is judged: its
bundles get the new commit before the repository says so.
Belongs here: the fields, the rules that compare the two commits. Does not: what a difference makes of a state (the
tables).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.language.endings import known_of
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Field, Fired, Refusal, RuleEvent

BEHIND, LEVEL = "behind", "level"
"""The derived triggers: it carries another commit than its repository, and no longer."""
IN_PROGRESS = "InProgress"
"""The status of a git job that is under way."""
SHOWN = 12
"""How many characters of a commit are shown."""

CARRIED = Field("commit", str, "the commit that it carries")
BEHIND_FIELDS = (
    Field("behind",     bool, "whether it carries another commit than its repository"),
    Field("behind_why", str,  "which commit it carries, and which the repository has"),
)  # fmt: skip


def other_commit(carried: str | None, wanted: str | None, job: str | None) -> str:
    """That two commits differ, in words; empty if they do not, or if that is not to be judged."""
    if not carried or not wanted or carried == wanted or job == IN_PROGRESS:
        return ""
    return f"it carries commit {carried[:SHOWN]}, and its repository is at {wanted[:SHOWN]}"


def compared(scene: Scene, entity_id: str, carried: str | None) -> Mapping[str, Any]:
    """The fields that say whether an entity that carries a commit is behind its repository."""
    known = known_of(scene, entity_id, "git_repo")
    why = other_commit(carried, known.get("commit"), known.get("job"))
    return {"behind": True, "behind_why": why} if why else {}


@rule("fleet.read_commit", revision=2)
def read_commit(scene: Scene, entity_id: str, _: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """Whether a bundle carries the commit of its repository."""
    return compared(scene, entity_id, event.data.get("commit"))


@rule("fleet.compare_commit", revision=1)
def compare_commit(scene: Scene, _: str, data: Mapping[str, Any], below: str) -> str | Fired | None:
    """What the commit of a repository makes of a bundle or a deployment below it; None if nothing changes."""
    entity = scene.above(below, "bundle_deployment" if below.count("/") == 2 else "bundle")
    if entity is None or data.get("commit") is None:
        return None
    why = other_commit(entity.attributes.get("commit"), data["commit"], data.get("job"))
    if why == entity.attributes.get("behind_why", ""):
        return None
    return Fired(BEHIND, {"behind": True, "behind_why": why}) if why else LEVEL


@rule("fleet.note_commit", revision=1)
def note_commit(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes whether it is behind its repository, and why."""
    names = [field.name for field in BEHIND_FIELDS]
    others = {name: value for name, value in attributes.items() if name not in names}
    return {**others, **{name: event.data[name] for name in names if name in event.data}}
