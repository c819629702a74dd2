"""From the states of a tree and the histories of a few entities to an explanation. Pure.

Belongs here: which view shows a state, and which entities it looks at. Does not: reading a history backwards
(`causes`), reading from the server (`fetch`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from phaseline.engine.core.tree import Tree
from phaseline.engine.log.explain import causes
from phaseline.engine.log.explain.causes import Finding, History, Lookup
from phaseline.engine.log.explain.model import (
    CauseChain,
    Contradiction,
    Explanation,
    FacetExplanation,
    PredicateExplanation,
    ViewExplanation,
)
from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.compiler.conditions import state_shown
from phaseline.machines.compiler.labels import message_of
from phaseline.machines.compiler.relations import shown_below
from phaseline.machines.language.endings import CONTRADICTED, END, SHOWS, shown_state
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Predicate, counts
from phaseline.machines.language.table import ABSENT, DELETED, STALLED, Facet, View
from phaseline.schemas.records import Entity, Transition, facets_of
from phaseline.schemas.subjects import ancestor_id, natural

MAX_NAMED = 3
"""The most entities of a tally that are explained."""
DEPTH = 40
"""How many views upon views are followed. Tables that pass their checks end long before."""

UNWELL = {"bad": 0, "busy": 1, "unknown": 2}
"""The classes of what is not well, the worst first."""
NOT_UNWELL = len(UNWELL)


def explain_entity(tree: Tree, lookup: Lookup, kind: str, entity_id: str) -> Explanation:
    """The explanation of an entity of `tree`, which also holds every entity that the entity's views look at.

    lookup: the histories, or what is left of them. Records after the entity's version are ignored.
    """
    explainer = _Explainer(tree, lookup)
    entity = tree.entities[kind][entity_id]
    indexes = [entity.names.index(name) for name, _ in facets_of(entity)]
    return Explanation(entity, tuple(explainer.facet(kind, entity_id, index) for index in indexes))


class _Explainer:
    """One explanation in progress. `done`: the facets explained so far, and whether their view was explained too."""

    def __init__(self, tree: Tree, lookup: Lookup) -> None:
        self.tree, self.lookup = tree, lookup
        self.done: set[tuple[str, str, int, bool]] = set()

    def facet(
        self, kind: str, entity_id: str, index: int, *, base_only: bool = False, depth: int = 0
    ) -> FacetExplanation:
        entity = self.tree.entities[kind][entity_id]
        facet = entity.facets[index]
        head = (kind, entity_id, entity.names[index], facet.state, facet.base, facet.since_ns, base_only)
        key = (kind, entity_id, index)
        if (*key, True) in self.done or (base_only and (*key, False) in self.done):
            return FacetExplanation(*head, detail="above")
        if depth > DEPTH:
            return FacetExplanation(*head, detail="no further")
        self.done.add((*key, not base_only))
        covered = facet.state != facet.base and not base_only
        view = self.view(entity, index, depth) if covered else None
        table = self.tree.kinds[kind].table.facets[index]
        return FacetExplanation(
            *head, view=view, causes=self.base_causes(entity, index),
            message="" if base_only else message_of(table, kind, entity.attributes, facet),
            evidence=self.evidence(entity, table), contradicted_by=tuple(self.contradictions(entity, index)),
            last_said=self.last_said(entity) if depth == 0 and STALLED in facet.base.conditions else None,
            news=() if table.news_from is None else tuple(entity.attributes.get(table.news_from, ())),
            **({} if base_only else self.below(entity, table, facet.state.phase, depth)),
        )  # fmt: skip

    def last_said(self, entity: Entity) -> Transition | None:
        """The newest observation at an entity or below it. Below, those are looked at that changed last."""
        kinds = self.tree.kinds
        below = [
            self.tree.entities[kind][one]
            for kind in kinds[entity.kind].below
            for one in self.tree.descendants(entity.kind, entity.id, kind)
        ]
        newest = sorted(below, key=lambda one: max(facet.since_ns for facet in one.facets), reverse=True)[:MAX_NAMED]
        said = (
            record
            for one in (entity, *newest)
            for record in self.history(one)
            if kinds[one.kind].roles.get(record.trigger) == "observation" and causes.is_outside(record)
        )
        return max(said, key=lambda record: (record.time_ns, record.cause.sequence), default=None)

    def below(self, entity: Entity, table: Facet, phase: str, depth: int) -> dict[str, Any]:
        """What is not well below an entity that is not well, though no view counts it: the worst come first.

        One in which others are nested that are at least as bad is left out: these say more.
        """
        nests = self.tree.kinds[entity.kind].table.nested_by
        kind = entity.kind if nests else table.explained_by
        if kind is None or phase in (ABSENT, DELETED, table.healthy):
            return {}
        found = {one.id: one for one in self.unwell(entity, kind)}
        inner: dict[str, int] = {}
        """By what others are nested in, the worst of these."""
        for one in found.values():
            for _, above in shown_below(self.tree.kinds, kind, one.id):
                inner[above] = min(inner.get(above, NOT_UNWELL), self.rank(one))
        last = [one for one in found.values() if self.rank(one) < inner.get(one.id, NOT_UNWELL)]
        last.sort(key=lambda one: (self.rank(one), one.facets[0].since_ns, natural(one.id)))
        named = tuple(self.facet(kind, one.id, 0, depth=depth + 1) for one in last[:MAX_NAMED])
        return {"below": named, "below_count": len(last)}

    def unwell(self, entity: Entity, kind: str) -> Iterator[Entity]:
        """The living entities of a kind below an entity, or nested in it, whose first facet is not well."""
        of = self.tree.kinds[kind]
        above = entity if kind != entity.kind else None
        parent, at = of.parent, ancestor_id(entity.id, of.parent_arity)
        start = f"{entity.id}/" if above is not None else f"{entity.id}{of.table.nested_by}"
        for below in self.tree.descendants(parent or "", at, kind):
            other = self.tree.entities[kind][below]
            if below.startswith(start) and self.rank(other) < NOT_UNWELL:
                yield other

    def rank(self, entity: Entity) -> int:
        """What is bad comes before what is under way; nothing else is unwell."""
        facet, state = self.tree.kinds[entity.kind].table.facets[0], entity.facets[0].state
        return NOT_UNWELL if state == facet.adopted else UNWELL.get(class_of(facet, state), NOT_UNWELL)

    def evidence(self, entity: Entity, table: Facet) -> tuple[Mapping[str, Any], ...]:
        """The conditions that the entity keeps as evidence of the facet, and what it says more of its state."""
        kept = () if table.evidence_from is None else entity.attributes.get(table.evidence_from, ())
        return (*kept, *self.details(entity, table)) if table.details else tuple(kept)

    def details(self, entity: Entity, table: Facet) -> Iterator[Mapping[str, Any]]:
        """`the cluster's failed_resources is lb-1, nat-2`."""
        shown = entity.facets[entity.names.index(table.name)].state
        for word in (shown.phase, *shown.conditions):
            if (value := entity.attributes.get(table.details.get(word, ""))) is not None:
                said = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
                yield {"condition": f"the {entity.kind}'s {table.details[word]}", "status": said or "empty"}

    def contradictions(self, entity: Entity, index: int) -> Iterator[Contradiction]:
        """What a source of the entity's own says of the facet that is not shown, because entities below decide."""
        kind, found = self.tree.kinds[entity.kind], entity.facets[index]
        if index == 0 and entity.attributes.get(END) == CONTRADICTED:
            yield self.still_there(entity)
        for view in kind.table.facets[index].views:
            if view.message_from is None or view.to == found.state.phase:
                continue
            claims = [one for one in view.while_ if isinstance(one, AttributeIs) and one.kind == entity.kind]
            others = [one for one in view.while_ if one not in claims]
            said = claims and all(one.holds(self.tree, entity.id) for one in claims)
            if said and not all(one.holds(self.tree, entity.id) for one in others):
                message = entity.attributes.get(view.message_from) or ""
                yield Contradiction(view.to, claims[-1].text(), str(message), self.attribute(claims[-1], entity))

    def still_there(self, entity: Entity) -> Contradiction:
        """The report that something is there still whose life ended: the newest, as far as the log has it."""
        event, said = entity.attributes[SHOWS]["event"], shown_state(entity.attributes)
        history = self.history(entity)
        record = next((one for one in history if one.cause.sequence == event), None)
        text = f"it was reported to be there still, {said}"
        chains = causes.chains(self.tree.kinds, self.lookup, entity, [Finding("state", str(said), record)], history)
        return Contradiction(said.phase, text, "", chains[0])

    def base_causes(self, entity: Entity, index: int) -> tuple[CauseChain, ...]:
        history = self.history(entity)
        explained = causes.findings(self.tree.kinds[entity.kind], index, entity.facets[index].base, history)
        return causes.chains(self.tree.kinds, self.lookup, entity, explained, history)

    def view(self, entity: Entity, index: int, depth: int) -> ViewExplanation:
        view = self.showing(entity, index)
        if view is not None:
            return ViewExplanation(tuple(self.predicate(predicate, entity, depth) for predicate in view.while_))
        history = self.history(entity)
        shown = Finding("state", str(entity.facets[index].state), causes.state_record(history, index))
        return ViewExplanation(cause=causes.chains(self.tree.kinds, self.lookup, entity, [shown], history)[0])

    def showing(self, entity: Entity, index: int) -> View | None:
        """The view that makes the state of the base; None if there is none, as in a tree that is only partly read."""
        machine, facet = self.tree.kinds[entity.kind].machines[index], entity.facets[index]
        if facet.base.phase not in machine.phases:
            return None
        view = machine.shown_view(facet.base, self.tree, entity.id)
        return view if view is not None and state_shown(machine.facet, view, facet.base) == facet.state else None

    def predicate(self, predicate: Predicate, entity: Entity, depth: int) -> PredicateExplanation:
        text = predicate.text()
        if isinstance(predicate, Above):
            above_id = ancestor_id(entity.id, self.tree.kinds[predicate.kind].arity)
            above = self.facet(predicate.kind, above_id, predicate.facet, base_only=predicate.base, depth=depth + 1)
            return PredicateExplanation(text, predicate.kind, entities=(above,))
        if isinstance(predicate, AnyBelow | AllBelow):
            return self.tally(predicate, entity, depth)
        if isinstance(predicate, AttributeIs):
            return PredicateExplanation(text, predicate.kind, cause=self.attribute(predicate, entity))
        return PredicateExplanation(text, entity.kind)

    def tally(self, predicate: AnyBelow | AllBelow, entity: Entity, depth: int) -> PredicateExplanation:
        below, facet = predicate.kind, predicate.facet
        living = [
            one for one in self.living(entity, below, facet) if counts(predicate, one.facets[facet].state.conditions)
        ]
        counted = [one for one in living if one.facets[facet].state.phase in predicate.phases]
        # The entity in its state for longest comes first; among equals n2 comes before n10.
        counted.sort(key=lambda one: (one.facets[facet].since_ns, len(one.id), one.id))
        named = tuple(self.facet(below, one.id, facet, depth=depth + 1) for one in counted[:MAX_NAMED])
        return PredicateExplanation(predicate.text(), below, len(counted), len(living), named)

    def living(self, entity: Entity, below: str, facet: int) -> Iterator[Entity]:
        for below_id in self.tree.descendants(entity.kind, entity.id, below):
            other = self.tree.entities[below][below_id]
            if other.facets[facet].state.phase not in (ABSENT, DELETED):
                yield other

    def attribute(self, predicate: AttributeIs, entity: Entity) -> CauseChain | None:
        """The records that set the attribute; None if it was never set."""
        kinds = [kind for kind in (predicate.kind, predicate.or_of) if kind is not None]
        holders = [holder for kind in kinds if (holder := self.tree.above(entity.id, kind)) is not None]
        holder = next((one for one in holders if one.attributes.get(predicate.name) is not None), None)
        if holder is None:
            return None
        history = self.history(holder)
        name = f"{predicate.name} is {holder.attributes[predicate.name]}"
        value = Finding("attribute", name, causes.attribute_record(history, predicate.name))
        return causes.chains(self.tree.kinds, self.lookup, holder, [value], history)[0]

    def history(self, entity: Entity) -> History:
        """The history up to the entity's version; empty if the record of that version is missing."""
        records = [r for r in self.lookup(entity.kind, entity.id) or () if r.entity.version <= entity.version]
        return records if records and records[-1].entity.version == entity.version else []
