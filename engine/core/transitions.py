"""The transitions of a draft: one for each facet that it changed, each with the whole entity after it. Pure.

Belongs here: `Decision`; versions, times, timers, causes and messages of transitions. Does not: what changes (`draft`).
"""

from collections.abc import Sequence
from typing import NamedTuple

from phaseline.engine.core.changeset import Changeset, EntityChange, Origin
from phaseline.engine.core.timers import TimerChange, begins_anew, changed, restarted
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.predicates import AnyBelow
from phaseline.machines.language.table import Facet as TableFacet
from phaseline.schemas.records import NONE, Cause, Entity, FacetState, Record, Transition

BECAUSE = "because of "
"""What a message begins with that names causes below."""
NAMED = 3
"""Those below that a message names; of more, only how many."""


class Decision(NamedTuple):
    """What the core makes of one event: its records, and the timers that they change.

    fault: the error that a rule raised, which is a bug; the event is rejected then.
    """

    records: list[Record]
    timers: Sequence[TimerChange] = ()
    fault: Exception | None = None


def transitions(draft: Changeset, cause: Cause, reason: str | None, message: str | None) -> Decision:
    """The transitions of the event `cause`, in the order in which entities were touched, and the timers they change."""
    records: list[Record] = []
    changes: list[TimerChange] = []
    for (name, entity_id), touched in draft.touched.items():
        kind, entity = draft.kinds[name], touched.before
        for index in range(len(kind.names)):
            facets = _facets_after(kind, entity, touched, index, draft.time)
            if facets is None:
                continue
            restarts = _restarts(kind, entity, touched, index, facets, draft.time, len(records)) if kind.timed else ()
            before, entity = entity, _entity_after(kind, entity_id, entity, touched, facets, restarts)
            records.append(_transition(draft, before, entity, index, touched.why[index], cause, reason, message))
            known = NONE if before is None else before.timers
            changes += [change for change in restarts if change.due != known.get(change.facet)]
    return Decision(records, changes)


def _transition(
    draft: Changeset, before: Entity | None, entity: Entity, index: int, why: Origin,
    cause: Cause, reason: str | None, message: str | None,
) -> Transition:  # fmt: skip
    """The transition of one facet; the event's reason and message stand only in what the event moved itself."""
    own = why.by == "event"
    return Transition(
        entity.names[index],
        None if before is None else before.facets[index].state,
        entity.facets[index].state,
        why.trigger,
        reason if own else None,
        (message if own else None) or _said(draft, entity.kind, entity, index, why),
        _cause(cause, why),
        entity,
        draft.time,
    )


def _cause(cause: Cause, why: Origin) -> Cause:
    """The cause of a transition that the event `cause` made in this way."""
    if why.by in ("event", "timer"):
        return cause
    return Cause(cause.sequence, cause.event, cause.source, why.by, why.origin, cause.time)


def _said(draft: Changeset, kind: str, entity: Entity, index: int, why: Origin) -> str | None:
    """Why the state is what it is, where the table knows where that stands: in an attribute, or among those below."""
    facet = draft.kinds[kind].table.facets[index]
    if facet.message_names is not None and entity.facets[index].state != entity.facets[index].base:
        return named(draft, kind, entity.id, *facet.message_names, shown_by(facet, entity.facets[index].state.phase))
    if facet.message_from is not None and why.by in ("event", "timer"):
        return entity.attributes.get(facet.message_from) or None
    return None


def shown_by(facet: TableFacet, phase: str) -> frozenset[str]:
    """The phases below on account of which views show this one."""
    seen = [predicate for view in facet.views if view.to == phase for predicate in view.while_]
    found = [one.phases for one in seen if isinstance(one, AnyBelow) and (one.kind, one.facet) == facet.message_names]
    return frozenset(phase for phases in found for phase in phases)


def named(draft: Changeset, kind: str, entity_id: str, below: str, facet: int, phases: frozenset[str]) -> str | None:
    """`because of resource shop/web/..., ... and 4 more`: the first of those below that are in one of these phases."""
    found = [one for one in draft.descendants(kind, entity_id, below) if draft.phase(below, one, facet) in phases]
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{BECAUSE}{below} {', '.join(found[:NAMED])}{more}" if found else None


def _facets_after(
    kind: Kind, entity: Entity | None, touched: EntityChange, index: int, time: int
) -> tuple[FacetState, ...] | None:
    """All facets after the change of facet `index`; None where it did not change and set no attribute."""
    before = kind.unborn if entity is None else entity.facets
    old, new = before[index], touched.facets[index]
    assigned = index in touched.why and touched.attributes != (NONE if entity is None else entity.attributes)
    if new.base == old.base and new.state == old.state and not assigned:
        return None
    facet = FacetState(new.base, new.state, old.since if new.state == old.state else time)
    return (*before[:index], facet, *before[index + 1 :])


def _restarts(
    kind: Kind,
    entity: Entity | None,
    touched: EntityChange,
    index: int,
    facets: tuple[FacetState, ...],
    time: int,
    record: int,
) -> list[TimerChange]:
    """The timers whose time begins again, or ends, with the change of facet `index`. `facets`: those after it."""
    before = kind.unborn if entity is None else entity.facets
    attributes = NONE if entity is None else entity.attributes
    found = []
    for place, facet in enumerate(facets):
        fired = place == index and touched.fired == kind.names[place]
        moved = place == index and facet.state.phase != before[place].state.phase
        if fired or moved or begins_anew(kind, place, facet, attributes, touched.attributes):
            found.append(restarted(kind, place, facet, touched.attributes, time, record, fired=fired))
    return found


def _entity_after(
    kind: Kind,
    entity_id: str,
    entity: Entity | None,
    touched: EntityChange,
    facets: tuple[FacetState, ...],
    restarts: Sequence[TimerChange],
) -> Entity:
    """The whole entity after one facet's change."""
    timers = NONE if entity is None else entity.timers
    for change in restarts:
        timers = changed(timers, change)
    version = 1 if entity is None else entity.version + 1
    return Entity(kind.name, entity_id, version, kind.names, facets, touched.attributes, touched.sequences, timers)
