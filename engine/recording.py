"""The transitions that a draft comes to: one for each facet that it changed, each with the whole entity after it. Pure.

Belongs here: versions, since when, timers, who caused what. Does not: what changes (`draft`).
"""

from collections.abc import Iterator

from phaseline.engine.draft import Draft, Touched, Why
from phaseline.engine.timers import begins_anew, running
from phaseline.machines.kinds import Kind
from phaseline.machines.predicates import Some
from phaseline.machines.table import Facet as TableFacet
from phaseline.schemas.records import NONE, Cause, Entity, Facet, Transition

BECAUSE = "because of "
"""What a message begins with that names causes below."""
NAMED = 3
"""Those below that a message names; of more, only how many."""


def transitions(draft: Draft, cause: Cause, reason: str | None, message: str | None) -> Iterator[Transition]:
    """The transitions of the event `cause`, in the order in which entities were touched."""
    time = draft.time
    for (kind, entity_id), touched in draft.touched.items():
        entity = touched.before
        for index, name in enumerate(draft.kinds[kind].names):
            made = _entity_after(draft.kinds[kind], entity_id, entity, touched, index, time)
            if made is None:
                continue
            why = touched.why[index]
            by = (
                cause
                if why.by in ("event", "timer")
                else Cause(cause.sequence, cause.event, cause.source, why.by, why.origin, cause.time)
            )
            before = None if entity is None else entity.facets[index].state
            own = why.by == "event"
            said = (message if own else None) or _said(draft, kind, made, index, why)
            yield Transition(
                name, before, made.facets[index].state, why.trigger, reason if own else None, said, by, made, time,
            )  # fmt: skip
            entity = made


def _said(draft: Draft, kind: str, entity: Entity, index: int, why: Why) -> str | None:
    """Why the state is what it is, where the table knows where that stands: in an attribute, or among those below."""
    facet = draft.kinds[kind].table.facets[index]
    if facet.names is not None and entity.facets[index].state != entity.facets[index].base:
        return named(draft, kind, entity.id, *facet.names, shown_by(facet, entity.facets[index].state.phase))
    if facet.says is not None and why.by in ("event", "timer"):
        return entity.attributes.get(facet.says) or None
    return None


def shown_by(facet: TableFacet, phase: str) -> frozenset[str]:
    """The phases below on account of which views show this one."""
    seen = [predicate for view in facet.views if view.to == phase for predicate in view.while_]
    found = [one.phases for one in seen if isinstance(one, Some) and (one.kind, one.facet) == facet.names]
    return frozenset(phase for phases in found for phase in phases)


def named(draft: Draft, kind: str, entity_id: str, below: str, facet: int, phases: frozenset[str]) -> str | None:
    """`because of resource shop/web/..., ... and 4 more`: the first of those below that are in one of these phases."""
    found = [one for one in draft.descendants(kind, entity_id, below) if draft.phase(below, one, facet) in phases]
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{BECAUSE}{below} {', '.join(found[:NAMED])}{more}" if found else None


def _entity_after(
    kind: Kind, entity_id: str, entity: Entity | None, touched: Touched, index: int, time: int
) -> Entity | None:
    """The whole entity after this facet's change; None where the facet did not change."""
    before = kind.unborn if entity is None else entity.facets
    old, new = before[index], touched.facets[index]
    assigned = index in touched.why and touched.attributes != (NONE if entity is None else entity.attributes)
    if new.base == old.base and new.state == old.state and not assigned:
        return None
    facet = Facet(new.base, new.state, old.since if new.state == old.state else time)
    timers = NONE if entity is None else entity.timers
    if kind.timed:
        facets = (*before[:index], facet, *before[index + 1 :])
        was = NONE if entity is None else entity.attributes
        for place, name in enumerate(kind.names):
            own = place == index
            fired = own and touched.fired == name
            moved = own and new.state.phase != old.state.phase
            if fired or moved or begins_anew(kind, place, facets[place], was, touched.attributes):
                timers = running(kind, place, timers, facets[place], touched.attributes, time, fired=fired)
    return Entity(
        kind.name,
        entity_id,
        1 if entity is None else entity.version + 1,
        kind.names,
        (*before[:index], facet, *before[index + 1 :]),
        touched.attributes,
        touched.sequences,
        timers,
    )
