"""Missing parents: which events make them known, and in which base. Pure.

See docs/spec/reading-the-tables.md, Adoption.
Belongs here: finding missing parents, and adopting them. Does not: the event's own entity (`decide`).
"""

from typing import NamedTuple

from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.sources.numbers import is_before
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.endings import is_seen_gone
from phaseline.machines.language.predicates import SceneEntity
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import Entity
from phaseline.schemas.subjects import ancestor_id, id_above

PHASE_TEXTS = {ABSENT: "unknown", DELETED: "deleted"}


class MissingParent(NamedTuple):
    """An ancestor that is unknown or deleted. `name` is `<kind>/<id>`, `phase` Absent or Deleted.

    adoptable: whether the event may adopt this and every other missing ancestor.
    """

    name: str
    phase: str
    adoptable: bool

    def __str__(self) -> str:
        """`the cluster c1 is deleted`."""
        return f"the {self.name.replace('/', ' ', 1)} is {PHASE_TEXTS[self.phase]}"


def has_parent(tree: Tree, kind: Kind, entity_id: str) -> bool:
    """Whether no parent is missing: the next one above is known and not deleted, or there is none."""
    if kind.parent is None:
        return True
    parent = tree.entities[kind.parent].get(id_above(entity_id, kind.levels))
    return parent is not None and parent.facets[0].base.phase != DELETED


def missing_parent(
    tree: Tree, kind: Kind, entity_id: str, *, is_intent: bool, new: Arrival | None = None
) -> MissingParent | None:
    """The nearest ancestor that is missing, preferably one that cannot be adopted; None if the parent is there.

    A deleted ancestor further up counts before a missing one below it, because nothing lives below it. One that is
    known by anything is adopted again. If it was seen to be gone, only two things bring it back: a request, or an
    observation of a new thing whose source sent it after the end. new: that observation; None for any other event.
    """
    missing: MissingParent | None = None
    while kind.parent is not None:
        parent_id, parent = ancestor_id(entity_id, kind.parent_arity), tree.kinds[kind.parent]
        entity = tree.entities[kind.parent].get(parent_id)
        known_by = parent.table.known_by
        if entity is not None and not (known_by == "anything" and _may_live_again(entity, new, is_intent=is_intent)):
            if _is_deleted(entity):
                return MissingParent(f"{kind.parent}/{parent_id}", DELETED, adoptable=False)
            return missing
        adoptable = known_by == "anything" or (known_by == "observations" and not is_intent)
        if missing is None or (missing.adoptable and not adoptable):
            missing = MissingParent(f"{kind.parent}/{parent_id}", ABSENT, adoptable)
        kind = parent
    return missing


def has_all_above(tree: Tree, kind: Kind, entity_id: str) -> bool:
    """Whether everything above an entity is known: nothing can be noted below what is not."""
    while kind.parent is not None:
        kind = tree.kinds[kind.parent]
        if tree.get(kind.name, ancestor_id(entity_id, kind.arity)) is None:
            return False
    return True


def _may_live_again(entity: Entity, new: Arrival | None, *, is_intent: bool) -> bool:
    if not _is_deleted(entity):
        return False
    if is_intent or not is_seen_gone(DELETED, entity.attributes):
        return True
    return new is not None and not is_before(entity, new)


def _is_deleted(entity: SceneEntity) -> bool:
    return entity.facets[0].base.phase == DELETED


def adopt(changeset: Changeset, kind: Kind, entity_id: str) -> None:
    """Make every missing parent known, from the top down."""
    chain: list[Kind] = []
    origin = Origin("adopt", "cascade", f"{kind.name}/{entity_id}")
    while kind.parent is not None and _is_missing(changeset.above(entity_id, kind.parent)):
        kind = changeset.kinds[kind.parent]
        chain.append(kind)
    for parent in reversed(chain):
        parent_id = ancestor_id(entity_id, parent.arity)
        changeset.change(parent.name, parent_id).attributes = parent.attributes
        for facet, base in enumerate(parent.adopted[: parent.own]):
            changeset.move(parent.name, parent_id, facet, base, origin)


def _is_missing(parent: SceneEntity | None) -> bool:
    return parent is None or _is_deleted(parent)
