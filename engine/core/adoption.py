"""Parents that are not known: which events make them known, and as what. Pure.

See docs/spec/reading-the-tables.md, Adoption.
Belongs here: finding them and adopting them. Does not: the entity itself (`decide`).
"""

from typing import NamedTuple

from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.predicates import SceneEntity
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.subjects import ancestor_id

WORDS = {ABSENT: "unknown", DELETED: "deleted"}


class Orphan(NamedTuple):
    """What an event lacks above: `name` is `<kind>/<id>`, `phase` Absent or Deleted.

    adoptable: whether the event itself makes known all that is missing.
    """

    name: str
    phase: str
    adoptable: bool

    def __str__(self) -> str:
        """For the person whose event is refused."""
        return f"{self.name} is {WORDS[self.phase]}: create or adopt it first"


def missing(tree: Tree, kind: Kind, arrival: Arrival) -> Orphan | None:
    """The nearest parent that stands in the way or has to be adopted; or one above that is gone: nothing lives below it."""
    found: Orphan | None = None
    asked = kind.roles[arrival.trigger] == "intent"
    while kind.parent is not None:
        parent_id, parent = ancestor_id(arrival.id, kind.parent_arity), tree.kinds[kind.parent]
        entity = tree.entities[kind.parent].get(parent_id)
        known_by = parent.table.known_by
        if entity is not None and not (known_by == "anything" and _is_gone(entity)):
            return Orphan(f"{kind.parent}/{parent_id}", DELETED, adoptable=False) if _is_gone(entity) else found
        adoptable = known_by == "anything" or (known_by == "observations" and not asked)
        if found is None or (found.adoptable and not adoptable):
            found = Orphan(f"{kind.parent}/{parent_id}", ABSENT, adoptable)
        kind = parent
    return found


def _is_gone(entity: SceneEntity) -> bool:
    return entity.facets[0].base.phase == DELETED


def adopt(draft: Changeset, kind: Kind, arrival: Arrival) -> None:
    """Make known every parent that is missing, from the top down."""
    chain: list[Kind] = []
    while kind.parent is not None and ((above := draft.above(arrival.id, kind.parent)) is None or _is_gone(above)):
        kind = draft.kinds[kind.parent]
        chain.append(kind)
    for parent in reversed(chain):
        parent_id = ancestor_id(arrival.id, parent.arity)
        draft.touch(parent.name, parent_id).attributes = parent.attributes
        for facet, base in enumerate(parent.adopted):
            draft.move(parent.name, parent_id, facet, base, Origin("adopt", "cascade", f"{arrival.kind}/{arrival.id}"))
