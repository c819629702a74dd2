"""The parts of an explanation: facets, the views that show their states, and the records back to outside events.

Belongs here: these classes, and their form in JSON. Does not: finding an explanation (`explainer`, `causes`).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import msgspec

from phaseline.machines.language.table import STALLED
from phaseline.schemas.records import Entity, State, Transition, timestamp, utc
from phaseline.schemas.wire_codec import moved_map, state_map

Role = Literal["condition", "phase", "cleared", "state", "attribute"]
"""What a cause explains: standing conditions, the phase, cleared conditions, the state of a view, or an attribute."""


class CauseChain(msgspec.Struct, frozen=True):
    """The records that made something so, from the entity's own record back to the outside event's."""

    role: Role
    """What is explained."""
    names: tuple[str, ...]
    """The conditions, the phase, the state or the attribute that is explained."""
    records: tuple[Transition, ...]
    """Records of one event. The first is the entity's own, and each further one is of the entity that led to the record
    before it. The last is the outside event's own. An entity that passed a cascade on without a change has no
    record."""
    missing: str | None = None
    """What cannot be explained because records are no longer in the log; None if nothing is missing."""
    at_latest: bool = False
    """Whether the first record is only the first that is left: the cause may be older."""
    ended: "CauseChain | None" = None
    """The activity that the event reports the end of: for `cleanup_failed`, the phase Deleting and what led to it."""


class PredicateExplanation(msgspec.Struct, frozen=True):
    """Why one predicate of a view holds."""

    text: str
    """The predicate in words, such as `a node is Creating or Deleting`."""
    kind: str
    """The kind of the entities that the predicate looks at."""
    count: int | None = None
    """For a tally, how many entities make the predicate hold; None for other predicates."""
    total: int | None = None
    """For a tally, how many entities there are; None for other predicates."""
    entities: tuple["FacetExplanation", ...] = ()
    """The entities that make the predicate hold; for a tally, at most the three that are longest in their states."""
    cause: CauseChain | None = None
    """For an attribute, the records that set it."""


class ViewExplanation(msgspec.Struct, frozen=True):
    """Why a view shows another state than the base."""

    predicates: tuple[PredicateExplanation, ...] = ()
    """The predicates of the view; empty if no view of today's tables accounts for the state."""
    cause: CauseChain | None = None
    """The records that brought the state, if no view of today's tables accounts for it."""


class GivenReason(msgspec.Struct, frozen=True):
    """What was said of one condition that lasts."""

    facet: str
    """The name of its facet."""
    condition: str
    """The condition; the phase, of a state without conditions."""
    reason: str | None
    """The reason that was given last; None if none was."""
    record: Transition | None
    """The record since which it is so; None if that is no longer in the log."""
    message: str | None = None
    """The newest message about it."""
    count: int = 1
    """How often it was said since then, as far as EVENTS has it and as far as was counted."""
    last_ns: int = 0
    """When it was said last, in ns; 0 if once only."""
    last_source: str = ""
    """Who said it last; empty if it was said once only."""

    @property
    def last(self) -> datetime:
        """When it was said last."""
        return utc(self.last_ns or (0 if self.record is None else self.record.time_ns))


class Contradiction(msgspec.Struct, frozen=True):
    """What another source says of a facet: another state than the one that is shown, or what was refused."""

    state: str
    """The phase that this source says; empty for what was refused."""
    text: str
    """What it says, as a clause: `the application's reported_health is Degraded`."""
    message: str
    """The reason that it gives; empty if it gives none."""
    cause: CauseChain | None
    """The records that brought it."""


class FacetExplanation(msgspec.Struct, frozen=True):
    """Why one facet of an entity is in its state."""

    kind: str
    """The kind of the entity."""
    id: str
    """The id of the entity."""
    facet: str
    """The name of the facet."""
    state: State
    """The state that everybody sees."""
    base: State
    """The base under the state."""
    since_ns: int
    """Since when the facet is in its state, in ns."""
    base_only: bool = False
    """Whether only the base matters at this point of the explanation."""
    detail: Literal["here", "above", "no further"] = "here"
    """Where the details are: `here` in `view` and `causes`, `above` in an earlier part of the explanation, or
    `no further`, left out because the explanation is too deep."""
    view: ViewExplanation | None = None
    """The view that shows the state, if state and base differ."""
    causes: tuple[CauseChain, ...] = ()
    """The causes of the base."""
    message: str = ""
    """Why it is in its state, as far as the entity itself says so now."""
    evidence: tuple[Mapping[str, Any], ...] = ()
    """The conditions of the observed object on which the state rests: condition, status, reason, since."""
    said: tuple[GivenReason, ...] = ()
    """What was said of the conditions that last: the reason of each, by whom, since when, how often."""
    contradicted_by: tuple[Contradiction, ...] = ()
    """What other sources say, which does not decide."""
    last_said: Transition | None = None
    """Of a stalled operation: the newest observation at the entity or below it, as far as the log has one."""

    @property
    def asked(self) -> tuple[Transition, ...]:
        """The records of the requests that brought its phase, if its operation is stalled."""
        if STALLED not in self.base.conditions:
            return ()
        found = (one for one in self.causes if (one.role, one.names) == ("phase", (self.base.phase,)))
        return tuple(one.records[-1] for one in found if one.records)

    news: tuple[Mapping[str, Any], ...] = ()
    """What happened to the entity lately, the last first: type, reason, message, count, first, last. It decides
    nothing."""
    below: tuple["FacetExplanation", ...] = ()
    """Entities below that are not well, and say more of the reason than this entity does."""
    below_count: int = 0
    """How many there are of these, named or not."""

    @property
    def since(self) -> datetime:
        """Since when the facet is in its state."""
        return utc(self.since_ns)


class Explanation(msgspec.Struct, frozen=True):
    """Why an entity is in its state."""

    entity: Entity
    """The entity, as it is explained."""
    facets: tuple[FacetExplanation, ...]
    """The explanation of each facet, in the order of the table."""
    place: int | None = None
    """The place in the log as of which the entity is explained; None for the latest state."""

    def __str__(self) -> str:
        """The whole of it in words: the root first, the base last."""
        from phaseline.engine.log.explain.telling import in_words  # noqa: PLC0415  # programs read the parts

        return in_words(self)

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """How notebooks show it."""
        printer.text(str(self))


def as_map(explanation: Explanation) -> dict[str, Any]:
    """An explanation as JSON shows it. Each facet has the `root` of its state."""
    from phaseline.engine.log.explain.telling import root_map  # noqa: PLC0415  # it speaks of these classes

    entity = explanation.entity
    return {
        "kind": entity.kind,
        "id": entity.id,
        "version": entity.version,
        "place": explanation.place,
        "facets": [{**_facet_map(facet), "root": root_map(facet)} for facet in explanation.facets],
    }


def _facet_map(facet: FacetExplanation) -> dict[str, Any]:
    head = {
        "kind": facet.kind, "id": facet.id, "facet": facet.facet, **state_map(facet.state),
        "base": state_map(facet.base), "since": timestamp(facet.since_ns), "told": facet.detail,
    }  # fmt: skip
    if facet.detail != "here":
        return head
    beside: dict[str, Any] = {
        "message": facet.message,
        "evidence": [dict(one) for one in facet.evidence],
        "news": [dict(one) for one in facet.news],
        "below": [_facet_map(one) for one in facet.below],
        "below_count": facet.below_count,
        "contradicted_by": [
            {"state": one.state, "text": one.text, "message": one.message, "cause": one.cause and _cause_map(one.cause)}
            for one in facet.contradicted_by
        ],
        "said": [said_map(one) for one in facet.said],
        "last_said": facet.last_said and record_of(facet.last_said),
    }
    return {
        **head, **{name: value for name, value in beside.items() if value},
        "view": facet.view and _view_map(facet.view), "causes": [_cause_map(one) for one in facet.causes],
    }  # fmt: skip


def said_map(said: GivenReason) -> dict[str, Any]:
    """What was said of a condition, as JSON shows it."""
    record = said.record
    return {
        "facet": said.facet,
        "condition": said.condition,
        "reason": said.reason,
        "message": said.message,
        "since": record and timestamp(record.time_ns),
        "source": record and record.cause.source,
        **({"actor": record.cause.actor} if record and record.cause.actor else {}),
        "sequence": record and record.cause.sequence,
        "count": said.count,
        **({"last": timestamp(said.last_ns), "last_source": said.last_source} if said.last_ns else {}),
    }


def _view_map(view: ViewExplanation) -> dict[str, Any]:
    return {
        "while": [
            {
                "text": predicate.text,
                "kind": predicate.kind,
                "count": predicate.count,
                "among": predicate.total,
                "entities": [_facet_map(entity) for entity in predicate.entities],
                "cause": predicate.cause and _cause_map(predicate.cause),
            }
            for predicate in view.predicates
        ],
        "cause": view.cause and _cause_map(view.cause),
    }


def _cause_map(cause: CauseChain) -> dict[str, Any]:
    return {
        "role": cause.role,
        "explains": cause.names,
        "records": [record_of(record) for record in cause.records],
        "gone": cause.missing,
        "at_latest": cause.at_latest,
        "during": cause.ended and _cause_map(cause.ended),
    }


def record_of(record: Transition) -> dict[str, Any]:
    """A record as in the log, without the whole entity."""
    return {
        "kind": record.entity.kind,
        "id": record.entity.id,
        "facet": record.facet,
        "from": None if record.before is None else state_map(record.before),
        "to": state_map(record.after),
        "version": record.entity.version,
        **moved_map(record),
    }
