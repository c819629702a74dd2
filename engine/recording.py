"""The transitions that a draft comes to: one for each facet that it changed, each with the whole entity after it. Pure.

Belongs here: versions, since when, timers, who caused what. Does not: what changes (`draft`).
"""

from collections.abc import Iterator

from phaseline.engine.draft import Draft, Touched
from phaseline.engine.timers import running
from phaseline.machines.kinds import Kind
from phaseline.schemas.records import NONE, Cause, Entity, Facet, Transition


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
            yield Transition(
                name, before, made.facets[index].state, why.trigger,
                reason if own else None, message if own else None, by, made, time,
            )  # fmt: skip
            entity = made


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
    if kind.timed and (new.state.phase != old.state.phase or touched.fired == kind.names[index]):
        timers = running(kind, index, timers, facet, touched.attributes, time, fired=touched.fired == kind.names[index])
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
