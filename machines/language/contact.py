"""The contact of an entity: whether it was heard from lately. Each kind with observations can have it.

Belongs here: the facet `contact` with its words, and what it adds to a table. Does not: when something is heard
(`engine.core.hearing`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from phaseline.machines.language.fields import Attributes, Field, RuleEvent
from phaseline.machines.language.predicates import Scene, Unmet, or_list
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import ABSENT, LIVE, REPORTED, SAME, Facet, Label, Row, Table, Timeout
from phaseline.schemas.records import CONTACT, Entity, State, own_facets
from phaseline.schemas.value import Value

UNHEARD, FRESH, SILENT = "Unheard", "Fresh", "Silent"
SILENCE_AFTER, SILENCE_BELOW, HEARD_AT = "silence_after", "silence_below", "heard_at"
HEARTBEAT, CONFIGURE = "heartbeat", "configure"
HEARD, FALLS_SILENT, UNWATCHED, WAITED = "heard", "falls_silent", "unwatched", "waited_anew"
"""The derived triggers: it was heard, its time is up, nobody waits for it any more, its time changed above it."""
DERIVED = (HEARD, FALLS_SILENT, UNWATCHED, WAITED)
RECORDED = 4
"""How often a hearing is recorded within `silence_after`, at most. So the timer runs for this time and a 4th of it."""
LATE = 4
"""A timer that is stored later than this part of `silence_after` says that nobody was there to notice a hearing."""


@rule("phaseline.heard", revision=1)
def note_hearing(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes when it was heard, by the clock of the server."""
    return {**attributes, HEARD_AT: event.time}


@rule("phaseline.unwatched", revision=1)
def forget_hearing(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Forgets when it was heard."""
    return {name: value for name, value in attributes.items() if name != HEARD_AT}


# fmt: off
FACET = Facet(
    name=CONTACT,
    begins=UNHEARD,
    adopted=State(UNHEARD),
    healthy=FRESH,
    labels=(
        #     phase    condition en         others
        Label(UNHEARD, None, "Unheard", {"zh": "从未联络"}, state_class="excused"),
        Label(FRESH,   None, "Fresh",   {"zh": "联络正常"}),
        Label(SILENT,  None, "Silent",  {"zh": "失去联络"}, state_class="unknown"),
    ),
    rows=(
        #   from               trigger       to
        Row((UNHEARD, SILENT), HEARD,        FRESH,   computes=note_hearing),
        Row((FRESH,),          HEARD,        SAME,    computes=note_hearing),
        Row((UNHEARD, FRESH),  FALLS_SILENT, SILENT),
        Row((UNHEARD, FRESH),  WAITED,       SAME),
        Row((FRESH, SILENT),   UNWATCHED,    UNHEARD, computes=forget_hearing),
    ),
    timeouts=(
        # An Unheard one has a timer once somebody asked for contact with what was there already.
        Timeout(UNHEARD, FALLS_SILENT, seconds_from=SILENCE_AFTER, times=1 + 1 / RECORDED, restart_on=HEARD_AT),
        Timeout(FRESH, FALLS_SILENT, seconds_from=SILENCE_AFTER, times=1 + 1 / RECORDED, restart_on=HEARD_AT),
    ),
)
ATTRIBUTES = (
    Field(SILENCE_AFTER, float, "seconds without an observation after which it is Silent; 0 for never", least=0),
    Field(SILENCE_BELOW, dict,  "the same for what lives below it and has no own: by kind, the seconds", least=0),
    Field(HEARD_AT,      int,   "when it was heard last as far as that is recorded, by the server's clock, ns"),
)
# fmt: on


def has_contact(table: Table) -> bool:
    """Whether entities of a kind can have contact: of a place, and of each kind with observations.

    A kind that is no place, and uses one of the words for something of its own, goes without.
    """
    if not table.facets or table.place or table.facets[-1] is FACET:
        return bool(table.facets)
    return any(table.role(one) == "observation" for one in table.triggers) and not [*problems(table)]


def problems(table: Table) -> Iterator[str]:
    """What of a table would collide with what contact brings to it."""
    taken: Mapping[str, tuple[tuple[str, ...], Any]] = {
        "facet": ((CONTACT,), [facet.name for facet in table.facets]),
        "attribute": (tuple(one.name for one in ATTRIBUTES), [field.name for field in table.attributes]),
        "trigger": ((HEARTBEAT, *DERIVED), table.triggers),
    }
    for what, (words, found) in taken.items():
        for word in words:
            if word in found:
                yield f"place=True brings the {what} {word}: rename yours"
    for facet in table.facets if table.place else ():
        if len(facet.adopted.conditions) > 1:
            yield f"{facet.name}: a heartbeat adopts an unknown place, so adopted= may have one condition at most"


def with_contact(table: Table) -> Table:
    """The table with all that contact brings; the table itself if it has none, or has it already."""
    if not has_contact(table) or table.facets[-1] is FACET:
        return table
    configured = CONFIGURE in table.triggers
    first, *others = (_with_rows(table, facet) for facet in table.facets)
    beats = [Row((LIVE,), HEARTBEAT, SAME)]
    if not configured:
        beats.append(Row((LIVE,), CONFIGURE, SAME, assigns=(SILENCE_AFTER, SILENCE_BELOW)))
    return replace(
        table,
        facets=(replace(first, rows=(*first.rows, *beats)), *others, FACET),
        intents=table.intents if configured else (*table.intents, CONFIGURE),
        derived=(*table.derived, *DERIVED),
        attributes=(*table.attributes, *(_of_kind(table, field) for field in ATTRIBUTES)),
    )


def _of_kind(table: Table, field: Field) -> Field:
    """The attribute, which says after which time a place of this kind falls silent by itself."""
    if field.name != SILENCE_AFTER or not table.silence_after:
        return field
    return replace(field, doc=f"{field.doc}; without it and a time of the installation {table.silence_after:g}")


def with_kinds_below(table: Table, below: tuple[str, ...]) -> Table:
    """The table, in which `silence_below` takes these kinds; without the attribute if there are none."""
    if not has_contact(table) or table.facets[-1] is not FACET:
        return table
    attributes = (
        replace(field, numbers=below) if field.name == SILENCE_BELOW else field
        for field in table.attributes
        if below or field.name != SILENCE_BELOW
    )
    facets = table.facets if below else tuple(replace(one, rows=_without_below(one.rows)) for one in table.facets[:-1])
    return replace(table, attributes=tuple(attributes), facets=facets if below else (*facets, FACET))


def _without_below(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(
        replace(row, assigns=tuple(name for name in row.assigns if name != SILENCE_BELOW))
        if isinstance(row.assigns, tuple) and SILENCE_BELOW in row.assigns
        else row
        for row in rows
    )


def _is_adopted(table: Table) -> bool:
    """Whether a heartbeat makes an unknown entity known: a place always, others as other observations do."""
    born = (row.trigger for facet in table.facets for row in facet.rows if ABSENT in row.source)
    return table.place or (
        all(len(facet.adopted.conditions) < 2 for facet in table.facets)
        and any(table.role(trigger) == "observation" for trigger in born)
        and all(map(_has_adopted, table.facets))
    )


def _has_adopted(facet: Facet) -> bool:
    """Whether a facet has the state that an adopted entity begins in."""
    begins = facet.adopted
    return begins.phase == ABSENT or any(
        label.phase == begins.phase and (label.condition in begins.conditions or not begins.conditions)
        for label in facet.labels
    )


def _with_rows(table: Table, facet: Facet) -> Facet:
    """The facet with a heartbeat that makes an unknown entity known. Only `configure` may set when it is silent."""
    rows = [_with_own_attributes(table, row) for row in facet.rows]
    adopted = facet.adopted
    if adopted.phase != ABSENT and _is_adopted(table):
        rows.append(Row((ABSENT,), HEARTBEAT, adopted.phase, condition=next(iter(adopted.conditions), None)))
    return replace(facet, rows=tuple(rows))


def _with_own_attributes(table: Table, row: Row) -> Row:
    if row.trigger == CONFIGURE:
        return replace(row, assigns=(*table.assigned(row), SILENCE_AFTER, SILENCE_BELOW))
    if row.trigger == REPORTED:
        return row  # such a row assigns nothing, which is checked
    return replace(row, assigns=table.assigned(row)) if row.assigns is True else row


@rule("phaseline.in_silence", revision=1)
class InSilence(Value, frozen=True):
    """A place at or above the entity is Silent. For guards only.

    places: the kinds of these places.
    """

    places: tuple[str, ...]

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Look at the facets `contact`."""
        found = (scene.above(entity_id, kind) for kind in self.places)
        return any(place is not None and place.facets[-1].state.phase == SILENT for place in found)

    def text(self) -> str:
        """`a place at or above it (cluster) is Silent`."""
        return f"a place at or above it ({or_list(self.places)}) is {SILENT}"

    def unmet(self, scene: Scene, entity_id: str) -> Unmet:
        """`no place at or above it is Silent`, and for what else something can be given up."""
        del scene, entity_id
        return Unmet(
            f"no place at or above it ({or_list(self.places)}) is {SILENT}",
            "it to be, or the entity to be Deleting and Stalled, or Failed with ResourceCleanupFailed, to be given up",
        )


def has_begun(entity: Entity) -> bool:
    """Whether an entity has contact: somebody waits for it, and it was heard."""
    facet = entity.facets[-1]
    return facet.state.phase in (FRESH, SILENT) and entity.names[-1] == CONTACT and facet.since_ns > 0


def last_word(entity: Entity) -> int | None:
    """When an entity that has contact was heard last, ns; None for one that has none.

    Of one that is silent since it was asked for, only its own last record is known.
    """
    if not has_begun(entity):
        return None
    heard_at: int | None = entity.attributes.get(HEARD_AT)
    return recorded_ns(entity) if heard_at is None else heard_at


def recorded_ns(entity: Entity) -> int:
    """When the states of an entity were recorded last, ns. What views show of others is no record of its own."""
    facets = own_facets(entity)
    return max((facet.since_ns for facet in facets if facet.state == facet.base), default=facets[0].since_ns)


def silent_since(entity: Entity) -> int | None:
    """When an entity that is silent was heard last, ns; None for every other entity."""
    return last_word(entity) if entity.facets[-1].state.phase == SILENT else None
