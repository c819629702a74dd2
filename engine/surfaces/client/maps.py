"""Entities and records as programs get them: all that a page shows, times in ISO 8601.

Belongs here: the maps that commands print and that HTTP answers hold. Does not: the shapes on the wire
(`schemas.wire_codec`), the form in which a map is printed (`cli.output`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import UNSET, UnsetType

from phaseline.engine.log.changes import Change
from phaseline.engine.log.explain import staleness
from phaseline.engine.log.explain.shut import Shut
from phaseline.engine.log.explain.staleness import Stale
from phaseline.engine.log.explain.unknown_parts import LackingParts, Parts, UnknownParts
from phaseline.engine.log.timeline import Interval, Lane
from phaseline.engine.surfaces.client.rejection_counts import RejectionCount
from phaseline.engine.surfaces.client.surroundings import ALONE, Surroundings
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, advice_of, facet_named, label_of, message_of, schedulable
from phaseline.machines.compiler.relations import nearest
from phaseline.machines.language.contact import HEARD_AT
from phaseline.machines.language.endings import END, state_for_people
from phaseline.machines.language.table import DELETED, Facet
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Entity, FacetState, Rejection, State, Transition, facets_of, timestamp
from phaseline.schemas.wire_codec import Data
from phaseline.schemas.wire_types import FacetMap, RecordMap

TIMES = frozenset({HEARD_AT, "operation_began", "operation_ended", "auto_sync_looked"})
"""The attributes that are times: in records they are numbers, ns since 1970."""


def name_of(entity: Entity) -> str:
    """`node/c1/pool-a/n7`: what `-o name` prints."""
    return f"{entity.kind}/{entity.id}"


class ShownFacet(FacetMap, frozen=True, gc=False, omit_defaults=True):
    """A facet as on the wire, with the label of its state, what to do about it, and what it says of its parts.

    schedulable: whether new pods may be scheduled there. message: why it is not well, as far as the entity says itself.
    """

    label: str | UnsetType = UNSET
    schedulable: bool | UnsetType = UNSET
    advice: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    unknown_parts: dict[str, Any] | UnsetType = UNSET
    lacks: dict[str, Any] | UnsetType = UNSET


def entity_map(
    kinds: Kinds, found: Transition | Entity, language: Language = "en", around: Surroundings = ALONE
) -> dict[str, Any]:
    """An entity: as in a record, with its kind, id and version, labels, and what its last transition says.

    The facets are structs, to be written as they are. found: the last transition, or the entity alone. around: what
    others tell of it. If nobody has looked at what is above, only the table's own "no" is told of new work.
    """
    entity = found.entity if isinstance(found, Transition) else found
    wire, parts, above = wire_codec.entity_to_wire(entity), around.parts_of(entity), around.shut_of(entity)
    optional = {
        "sequences": wire.sequences,
        "timers": wire.timers,
        "asked": wire.asked,
        "born": wire.born,
        "memory": wire.memory,
    }
    kind = kinds.get(entity.kind)
    classes = {"class": class_of_entity(kinds, entity), "class_since": timestamp(class_since(kinds, entity))}
    told = {"waits_for": 0 if kind is None else kind.waits_for(entity), "end": entity.attributes.get(END)}
    return {
        "kind": entity.kind,
        "id": entity.id,
        "version": entity.version,
        **classes,
        "facets": {
            name: _shown_facet(
                facet_named(kinds, entity.kind, name), one, facet, entity, language, parts.get(name), above
            )
            for (name, facet), one in zip(facets_of(entity), wire.facets.values(), strict=True)
        },
        "attributes": _with_iso_times(wire.attributes),
        **{name: value for name, value in {**optional, **told}.items() if value},
        **(wire_codec.moved_map(found) if isinstance(found, Transition) else {}),
        **staleness.shown(around.stale_of(entity)),
    }


class EntityTree:
    """Entities arranged under their parents. tops: those whose parents are not among them."""

    def __init__(self, kinds: Kinds, found: Sequence[Transition | Entity], around: Surroundings = ALONE) -> None:
        """Arrange entities, which are sorted, or their last transitions. Children keep that order, kind by kind.

        around: what others tell of them.
        """
        self.kinds, self.around = kinds, around
        entities = [one.entity if isinstance(one, Transition) else one for one in found]
        self._found = {(entity.kind, entity.id): one for entity, one in zip(entities, found, strict=True)}
        self._below: dict[tuple[str, str], list[Entity]] = {}
        self.tops: list[Entity] = []
        for entity in entities:
            above = nearest(kinds, entity.kind, entity.id, self._found)
            (self.tops if above is None else self._below.setdefault(above, [])).append(entity)

    def children(self, entity: Entity) -> list[Entity]:
        """The children of an entity."""
        return self._below.get((entity.kind, entity.id), [])

    def whole(self, entity: Entity) -> Iterator[Entity]:
        """The entity and all below it, each before its children."""
        yield entity
        for child in self.children(entity):
            yield from self.whole(child)

    def nested(self, entity: Entity, language: Language = "en", depth: int | None = None) -> dict[str, Any]:
        """The entity as JSON shows it, with its children; where the depth ends, with counts of what is below."""
        shown = entity_map(self.kinds, self._found[entity.kind, entity.id], language, self.around)
        if depth == 0:
            return {**shown, "below": self._counts(entity)}
        deeper = None if depth is None else depth - 1
        return {**shown, "children": [self.nested(child, language, deeper) for child in self.children(entity)]}

    def _counts(self, entity: Entity) -> dict[str, Counter[str]]:
        """How many of those below it are in which state, by kind."""
        found: dict[str, Counter[str]] = {}
        for one in islice(self.whole(entity), 1, None):
            found.setdefault(one.kind, Counter())[one.facets[0].state.phase] += 1
        return found


def _shown_facet(
    facet: Facet | None, one: FacetMap, found: FacetState, entity: Entity, language: Language,
    unknown: Parts | None, above: Mapping[str, Shut] | None,
) -> FacetMap:  # fmt: skip
    """A facet with its label. facet: what its table says of it; None where its kind is not installed here.

    above: by facet, what shuts it; None if nobody has looked.
    """
    if facet is None:
        return one
    fit, well = fit_for_work(facet, found.state, above), found.state.phase in (facet.healthy, DELETED)
    shown = state_for_people(found.state, entity.attributes)
    return ShownFacet(
        one.state, one.conditions, one.base, one.since, one.interrupted, label_of(facet, shown, language),
        UNSET if fit is None else fit,
        advice_of(facet, shown, language) or UNSET,
        UNSET if well else message_of(facet, entity.kind, entity.attributes, found) or UNSET,
        parts_map(unknown, language) if isinstance(unknown, UnknownParts) else UNSET,
        parts_map(unknown, language) if isinstance(unknown, LackingParts) else UNSET,
    )  # fmt: skip


def fit_for_work(facet: Facet, state: State, above: Mapping[str, Shut] | None) -> bool | None:
    """Whether new pods may be scheduled there; None where that is no question, or is not known.

    above: by facet, what shuts it although its state allows it; None if nobody has looked.
    """
    fit = schedulable(facet, state)
    if not fit or not facet.unschedulable_while:
        return fit
    return None if above is None else facet.name not in above


def parts_map(parts: Parts, language: Language) -> dict[str, Any]:
    """What a whole does not know of its parts, or lacks, as JSON shows it."""
    if isinstance(parts, UnknownParts):
        return {"count": parts.number, "of": parts.of, "text": parts.text(language)}
    values = {str(parts.value): parts.same, **parts.different} if parts.different else {}
    numbers = {} if parts.of is None else {"of": parts.of, "phases": {parts.phase: parts.number, **parts.others}}
    return {"kind": parts.kind, **numbers, **({"values": values} if values else {}), "text": parts.text(language)}


def record_map(
    kinds: Kinds, place: int, record: Transition | Rejection, wire: Mapping[str, Any], language: Language = "en"
) -> dict[str, Any]:
    """A record: as on the wire, with its place in the log, and the label of the state that it leads to."""
    found = {**wire, "logsequence": place}
    if isinstance(record, Transition):
        found["label"] = _label(kinds, record, language)
        if not TIMES.isdisjoint(record.entity.attributes):
            entity = wire["data"]["entity"]
            entity = {**entity, "attributes": _with_iso_times(entity["attributes"])}
            found["data"] = {**wire["data"], "entity": entity}
    return found


class PlacedRecord(RecordMap[Data], frozen=True, gc=False):
    """A record as on the wire, with its place in the log, and the label of the state that it leads to."""

    logsequence: int
    label: str | UnsetType = UNSET


def shown_record(
    kinds: Kinds, place: int, record: Transition | Rejection, body: bytes, language: Language = "en"
) -> PlacedRecord | dict[str, Any]:
    """What `record_map` gives for the record in a body, to be written as it is: that takes half the time."""
    shapes = wire_codec.shapes_of(body)
    leads_to: str | UnsetType = UNSET
    if isinstance(record, Transition):
        if not TIMES.isdisjoint(record.entity.attributes):
            shapes = None
        leads_to = _label(kinds, record, language)
    if shapes is None:
        return record_map(kinds, place, record, codec.decode(body), language)
    of = shapes
    return PlacedRecord(
        of.specversion, of.id, of.source, of.type, of.subject, of.time, of.schemaversion, of.tableversion, of.data,
        place, leads_to,
    )  # fmt: skip


def _label(kinds: Kinds, record: Transition, language: Language) -> str:
    """What a console calls the state that a transition leads to."""
    shown = state_for_people(record.after, record.entity.attributes)
    return label(kinds, record.entity.kind, record.facet, shown, language)


def label(kinds: Kinds, kind: str, facet: str, state: State, language: Language) -> str:
    """What a console calls a state; its phase where no label says more."""
    known = facet_named(kinds, kind, facet)
    return state.phase if known is None else label_of(known, state, language)


def _with_iso_times(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The attributes, with the times among them written as the other times are."""
    if TIMES.isdisjoint(attributes):
        return attributes
    times = {name: timestamp(attributes[name]) for name in TIMES if isinstance(attributes.get(name), int)}
    return {**attributes, **times}


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


def lane_map(kinds: Kinds, lane: Lane, language: Language = "en", stale: Stale | None = None) -> dict[str, Any]:
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
        **({"actor": one.actor} if one.actor else {}),
        "count": one.count,
        "last": timestamp(one.last.time_ns),
        "example": {"place": one.place, "id": one.last.id, "trigger": one.last.trigger, "message": one.last.message},
    }
