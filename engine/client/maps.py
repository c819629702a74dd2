"""Entities and records as programs get them: all that a page shows, times in ISO 8601.

Belongs here: the maps that commands print and that HTTP answers hold. Does not: the shapes on the wire
(`schemas.wire_codec`), the form in which a map is printed (`cli.output`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine import staleness
from phaseline.engine.client.rejection_counts import RejectionCount
from phaseline.engine.log.changes import Change
from phaseline.engine.log.timeline import Interval, Lane
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, facet_named, label_of, schedulable
from phaseline.machines.language.contact import HEARD_AT
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Entity, Rejection, State, Transition, timestamp

TIMES = frozenset({HEARD_AT, "operation_began", "auto_sync_looked"})
"""The attributes that are times: in records they are numbers, ns since 1970."""


def name_of(entity: Entity) -> str:
    """`node/c1/pool-a/n7`: what `-o name` prints."""
    return f"{entity.kind}/{entity.id}"


def entity_map(
    kinds: Kinds, found: Transition | Entity, language: Language = "en", stale: int | None = None
) -> dict[str, Any]:
    """An entity: as in a record, with its kind, id and version, labels, and what its last transition says.

    found: the last transition, or the entity alone. stale: since when its states are stale, ns.
    """
    entity = found.entity if isinstance(found, Transition) else found
    shown = wire_codec.entity_map(entity)
    for name, facet in shown["facets"].items():
        known = facet_named(kinds, entity.kind, name)
        if known is not None:
            state = entity.facets[entity.names.index(name)].state
            facet["label"] = label_of(known, state, language)
            fit = schedulable(known, state)
            if fit is not None:
                facet["schedulable"] = fit
    _with_iso_times(shown)
    last = wire_codec.moved_map(found) if isinstance(found, Transition) else {}
    return {
        "kind": entity.kind, "id": entity.id, "version": entity.version, **shown, **last, **staleness.shown(stale),
    }  # fmt: skip


def record_map(
    kinds: Kinds, place: int, record: Transition | Rejection, wire: Mapping[str, Any], language: Language = "en"
) -> dict[str, Any]:
    """A record: as on the wire, with its place in the log, and the label of the state that it leads to."""
    found = {**wire, "logsequence": place}
    if isinstance(record, Transition):
        found["label"] = label(kinds, record.entity.kind, record.facet, record.after, language)
        if not TIMES.isdisjoint(record.entity.attributes):
            entity = {**wire["data"]["entity"]}
            _with_iso_times(entity)
            found["data"] = {**wire["data"], "entity": entity}
    return found


def label(kinds: Kinds, kind: str, facet: str, state: State, language: Language) -> str:
    """What a console calls a state; its phase where no label says more."""
    known = facet_named(kinds, kind, facet)
    return state.phase if known is None else label_of(known, state, language)


def _with_iso_times(entity: dict[str, Any]) -> None:
    """Write the times among the attributes as the other times are written."""
    found = entity["attributes"]
    times = {name: timestamp(found[name]) for name in TIMES if isinstance(found.get(name), int)}
    if times:
        entity["attributes"] = {**found, **times}


def change_map(change: Change) -> dict[str, Any]:
    """A change as JSON shows it."""
    before = None if change.before is None else {name: wire_codec.state_map(s) for name, s in change.before.items()}
    return {
        "kind": change.kind,
        "id": change.id,
        "what": change.what,
        "from": before,
        "to": {name: wire_codec.state_map(state) for name, state in change.after.items()},
        "transitions": change.transitions,
        "flaps": change.flaps,
        "first": timestamp(change.first_ns),
        "last": timestamp(change.last_ns),
    }


def lane_map(kinds: Kinds, lane: Lane, language: Language = "en", stale: int | None = None) -> dict[str, Any]:
    """A lane as JSON shows it."""
    return {
        "kind": lane.kind,
        "id": lane.id,
        "facet": lane.facet,
        "intervals": [_interval_map(kinds, lane, one, language) for one in lane.intervals],
        **staleness.shown(stale),
    }


def _interval_map(kinds: Kinds, lane: Lane, one: Interval, language: Language) -> dict[str, Any]:
    return {
        **wire_codec.state_map(one.state),
        "label": label(kinds, lane.kind, lane.facet, one.state, language),
        "base": wire_codec.state_map(one.base),
        "from": timestamp(one.start_ns),
        "to": timestamp(one.end_ns),
        **wire_codec.moved_map(one.record),
    }


def count_map(one: RejectionCount) -> dict[str, Any]:
    """A count as JSON shows it."""
    return {
        "reason": one.reason,
        "kind": one.kind,
        "source": one.source,
        "count": one.count,
        "last": timestamp(one.last.time_ns),
        "example": {"place": one.place, "id": one.last.id, "trigger": one.last.trigger, "message": one.last.message},
    }
