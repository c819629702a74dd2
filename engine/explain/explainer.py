"""Why is it as it is? From the states of a tree and the histories of a few entities to an explanation. Pure.

Belongs here: which view shows a state, and whom it looks at. Does not: reading a history (`causes`), I/O (`inquiry`).
"""

from collections.abc import Iterator

from phaseline.engine.core.tree import Tree
from phaseline.engine.explain import causes
from phaseline.engine.explain.causes import Ground, History, Lookup
from phaseline.engine.explain.model import Caused, Explained, Explanation, Reason, Shown
from phaseline.machines.compiler.conditions import state_shown
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Predicate
from phaseline.machines.language.table import ABSENT, DELETED, View
from phaseline.schemas.records import Entity
from phaseline.schemas.subjects import ancestor_id

NAMED = 3
"""How many of the entities below, that together make a state, are named and explained."""
DEPTH = 40
"""Views upon views that are followed. Tables that pass their checks end long before."""


def why(tree: Tree, lookup: Lookup, kind: str, entity_id: str) -> Explanation:
    """Explain each facet of an entity of `tree`, which holds it and all that its views look at.

    lookup: histories up to that moment, or what is left of them; ones that reach further do no harm.
    """
    telling = _Telling(tree, lookup)
    entity = tree.entities[kind][entity_id]
    return Explanation(entity, tuple(telling.facet(kind, entity_id, index) for index in range(len(entity.facets))))


class _Telling:
    """One explanation under way. `told`: the facets that were explained, by whether their view was too."""

    def __init__(self, tree: Tree, lookup: Lookup) -> None:
        self.tree, self.lookup = tree, lookup
        self.told: set[tuple[str, str, int, bool]] = set()

    def facet(self, kind: str, entity_id: str, index: int, *, base_only: bool = False, depth: int = 0) -> Explained:
        entity = self.tree.entities[kind][entity_id]
        facet = entity.facets[index]
        head = (kind, entity_id, entity.names[index], facet.state, facet.base, facet.since, base_only)
        key = (kind, entity_id, index)
        if (*key, True) in self.told or (base_only and (*key, False) in self.told):
            return Explained(*head, told="above")
        if depth > DEPTH:
            return Explained(*head, told="no further")
        self.told.add((*key, not base_only))
        covered = facet.state != facet.base and not base_only
        view = self.view(entity, index, depth) if covered else None
        return Explained(*head, view=view, causes=self.of_base(entity, index))

    def of_base(self, entity: Entity, index: int) -> tuple[Caused, ...]:
        history = self.history(entity)
        grounds = causes.of_base(self.tree.kinds[entity.kind], index, entity.facets[index].base, history)
        return causes.caused(self.tree.kinds, self.lookup, entity, grounds, history)

    def view(self, entity: Entity, index: int, depth: int) -> Shown:
        view = self.showing(entity, index)
        if view is not None:
            return Shown(tuple(self.reason(predicate, entity, depth) for predicate in view.while_))
        history = self.history(entity)
        ground = Ground("state", str(entity.facets[index].state), causes.restated(history, index))
        return Shown(caused=causes.caused(self.tree.kinds, self.lookup, entity, [ground], history)[0])

    def showing(self, entity: Entity, index: int) -> View | None:
        """The view that makes the state of the base; None where none does, as in a tree that is half read."""
        machine, facet = self.tree.kinds[entity.kind].machines[index], entity.facets[index]
        if facet.base.phase not in machine.phases:
            return None
        view = machine.shown_view(facet.base, self.tree, entity.id)
        return view if view is not None and state_shown(machine.facet, view, facet.base) == facet.state else None

    def reason(self, predicate: Predicate, entity: Entity, depth: int) -> Reason:
        text = predicate.text()
        if isinstance(predicate, Above):
            above = ancestor_id(entity.id, self.tree.kinds[predicate.kind].arity)
            told = self.facet(predicate.kind, above, predicate.facet, base_only=predicate.base, depth=depth + 1)
            return Reason(text, predicate.kind, entities=(told,))
        if isinstance(predicate, AnyBelow | AllBelow):
            return self.tally(predicate, entity, depth)
        if isinstance(predicate, AttributeIs):
            return Reason(text, predicate.kind, caused=self.attribute(predicate, entity))
        return Reason(text, entity.kind)

    def tally(self, predicate: AnyBelow | AllBelow, entity: Entity, depth: int) -> Reason:
        below, facet = predicate.kind, predicate.facet
        live = [
            f for f in self.live(entity, below, facet) if predicate.has in (None, *f.facets[facet].state.conditions)
        ]
        found = [other for other in live if other.facets[facet].state.phase in predicate.phases]
        # Who has been so for longest holds it there; of those alike, n2 comes before n10.
        found.sort(key=lambda other: (other.facets[facet].since, len(other.id), other.id))
        told = tuple(self.facet(below, other.id, facet, depth=depth + 1) for other in found[:NAMED])
        return Reason(predicate.text(), below, len(found), len(live), told)

    def live(self, entity: Entity, below: str, facet: int) -> Iterator[Entity]:
        for found in self.tree.descendants(entity.kind, entity.id, below):
            other = self.tree.entities[below][found]
            if other.facets[facet].state.phase not in (ABSENT, DELETED):
                yield other

    def attribute(self, predicate: AttributeIs, entity: Entity) -> Caused | None:
        """Who set it; None where nobody did."""
        kinds = [kind for kind in (predicate.kind, predicate.or_of) if kind is not None]
        holders = [holder for kind in kinds if (holder := self.tree.above(entity.id, kind)) is not None]
        holder = next((found for found in holders if found.attributes.get(predicate.name) is not None), None)
        if holder is None:
            return None
        history = self.history(holder)
        word = f"{predicate.name} is {holder.attributes[predicate.name]}"
        ground = Ground("attribute", word, causes.attributed(history, predicate.name))
        return causes.caused(self.tree.kinds, self.lookup, holder, [ground], history)[0]

    def history(self, entity: Entity) -> History:
        """What is known of how the entity came to what the tree says of it; nothing where its last step is gone."""
        found = [r for r in self.lookup(entity.kind, entity.id) or () if r.entity.version <= entity.version]
        return found if found and found[-1].entity.version == entity.version else []
