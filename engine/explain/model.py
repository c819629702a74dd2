"""What an answer to "why?" is made of: facets explained, what their views look at, records back to outside events.

Belongs here: these shapes, and the maps that JSON shows. Does not: finding any of it (`why`, `causes`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from phaseline.schemas.records import Entity, State, Transition, timestamp
from phaseline.schemas.wire_codec import state_map

Role = Literal["condition", "phase", "cleared", "state", "attribute"]


@dataclass(frozen=True, slots=True)
class Caused:
    """What made something so. `words`: which conditions, phase or attribute; `cleared` ones are those it took away.

    records: the entity's own, then that of the entity which set it off in the same event, and so on: the last one is
    the outside event's own (`cause.by` is `event`). Whoever only handed it on, and was so already, has none.
    gone: what cannot be told, where records are gone from the log.
    at_latest: the first record is but the first that is left: it was so then, and may have been before.
    during: what was under way until then, where the event tells how it ended, as `cleanup_failed` of being deleted.
    """

    role: Role
    words: tuple[str, ...]
    records: tuple[Transition, ...]
    gone: str | None = None
    at_latest: bool = False
    during: "Caused | None" = None


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that a view looks at. `text`: in words.

    entities: those of `kind` that make it hold; of what a tally counts three at most, those that have been so for longest.
    count, among: where it is a tally, how many make it hold of how many there are. caused: what set an attribute.
    """

    text: str
    kind: str
    count: int | None = None
    among: int | None = None
    entities: tuple["Explained", ...] = ()
    caused: Caused | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """The view that shows another state than the base, by what it looks at.

    caused: the record that brought the state, only where no view of today's tables accounts for it.
    """

    reasons: tuple[Reason, ...] = ()
    caused: Caused | None = None


@dataclass(frozen=True, slots=True)
class Explained:
    """One facet of an entity. `view` is there where state and base differ; `causes` are those of the base.

    base_only: only the base matters where this stands. told: "above" where all of it was told before, "no further"
    where that would lead too deep; then there are neither view nor causes. since: ns, of the state.
    """

    kind: str
    id: str
    facet: str
    state: State
    base: State
    since: int
    base_only: bool = False
    told: Literal["here", "above", "no further"] = "here"
    view: Shown | None = None
    causes: tuple[Caused, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an entity is as it is: facet by facet. `place`: as it was there in the log; None for now."""

    entity: Entity
    facets: tuple[Explained, ...]
    place: int | None = None


def as_map(found: Explanation) -> dict[str, Any]:
    """As JSON shows it."""
    entity = found.entity
    return {
        "kind": entity.kind,
        "id": entity.id,
        "version": entity.version,
        "place": found.place,
        "facets": [_explained(facet) for facet in found.facets],
    }


def _explained(found: Explained) -> dict[str, Any]:
    head = {
        "kind": found.kind, "id": found.id, "facet": found.facet, **state_map(found.state),
        "base": state_map(found.base), "since": timestamp(found.since), "told": found.told,
    }  # fmt: skip
    if found.told != "here":
        return head
    return {**head, "view": found.view and _shown(found.view), "causes": _all_caused(found.causes)}


def _shown(view: Shown) -> dict[str, Any]:
    return {
        "while": [
            {
                "text": reason.text,
                "kind": reason.kind,
                "count": reason.count,
                "among": reason.among,
                "entities": [_explained(entity) for entity in reason.entities],
                "cause": reason.caused and _caused(reason.caused),
            }
            for reason in view.reasons
        ],
        "cause": view.caused and _caused(view.caused),
    }


def _all_caused(found: Sequence[Caused]) -> list[dict[str, Any]]:
    return [_caused(caused) for caused in found]


def _caused(found: Caused) -> dict[str, Any]:
    return {
        "role": found.role,
        "explains": found.words,
        "records": [_record(record) for record in found.records],
        "gone": found.gone,
        "at_latest": found.at_latest,
        "during": found.during and _caused(found.during),
    }


def _record(record: Transition) -> dict[str, Any]:
    """As in the log, without the whole entity."""
    cause = record.cause
    return {
        "kind": record.entity.kind,
        "id": record.entity.id,
        "facet": record.facet,
        "from": None if record.before is None else state_map(record.before),
        "to": state_map(record.after),
        "version": record.entity.version,
        "trigger": record.trigger,
        "reason": record.reason,
        "message": record.message,
        "time": timestamp(record.time),
        "cause": {
            "sequence": cause.sequence, "event": cause.event, "source": cause.source, "by": cause.by,
            "from": cause.origin, "time": cause.time,
        },
    }  # fmt: skip
