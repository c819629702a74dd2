"""The contact of a place: whether it was heard from lately. A place is an entity with a reporter, such as a cluster.

Belongs here: the facet `contact` with its words, and what `Table(place=True)` adds to a table. Does not: when a place
is heard (`engine.core.hearing`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from phaseline.machines.language.fields import Attributes, Field, RuleEvent
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import ABSENT, LIVE, SAME, Facet, Label, Row, Table, Timeout
from phaseline.schemas.records import CONTACT, Entity, State

UNHEARD, FRESH, SILENT = "Unheard", "Fresh", "Silent"
SILENCE_AFTER, HEARD_AT = "silence_after", "heard_at"
HEARTBEAT, CONFIGURE = "heartbeat", "configure"
HEARD, FALLS_SILENT, UNWATCHED = "heard", "falls_silent", "unwatched"
"""The derived triggers: the place was heard, its time is up, nobody waits for it any more."""
RECORDED = 4
"""How often a hearing is recorded within `silence_after`, at most. So the timer runs for this time and a 4th of it."""


HEARS, FORGETS = "phaseline.heard", "phaseline.unwatched"
"""The names of the rules of the facet. They take no time to speak of."""


@rule(HEARS, revision=1)
def note_hearing(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes when the place was heard, by the clock of the server."""
    return {**attributes, HEARD_AT: event.time}


@rule(FORGETS, revision=1)
def forget_hearing(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Forgets when the place was heard."""
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
        Label(SILENT,  None, "Silent",  {"zh": "失去联络"}),
    ),
    rows=(
        #   from               trigger       to
        Row((UNHEARD, SILENT), HEARD,        FRESH,   computes=note_hearing),
        Row((FRESH,),          HEARD,        SAME,    computes=note_hearing),
        Row((FRESH,),          FALLS_SILENT, SILENT),
        Row((FRESH, SILENT),   UNWATCHED,    UNHEARD, computes=forget_hearing),
    ),
    timeouts=(
        Timeout(FRESH, FALLS_SILENT, seconds_from=SILENCE_AFTER, times=1 + 1 / RECORDED, restart_on=HEARD_AT),
    ),
)
ATTRIBUTES = (
    Field(SILENCE_AFTER, float, "seconds without an observation after which it is Silent; 0 for never", least=0),
    Field(HEARD_AT,      int,   "when it was heard last as far as that is recorded, by the server's clock, ns"),
)
# fmt: on


def problems(table: Table) -> Iterator[str]:
    """What of a place's table would collide with what a place has anyway."""
    taken: Mapping[str, tuple[tuple[str, ...], Any]] = {
        "facet": ((CONTACT,), [facet.name for facet in table.facets]),
        "attribute": ((SILENCE_AFTER, HEARD_AT), [field.name for field in table.attributes]),
        "trigger": ((HEARTBEAT, HEARD, FALLS_SILENT, UNWATCHED), table.triggers),
    }
    for what, (words, found) in taken.items():
        for word in words:
            if word in found:
                yield f"place=True brings the {what} {word}: rename yours"
    for facet in table.facets:
        if len(facet.adopted.conditions) > 1:
            yield f"{facet.name}: a heartbeat adopts an unknown place, so adopted= may have one condition at most"


def with_contact(table: Table) -> Table:
    """The table with all that a place has; the table itself if it is none, or has it already."""
    if not table.place or not table.facets or table.facets[-1] is FACET:
        return table
    configured = CONFIGURE in table.triggers
    first, *others = (_with_rows(table, facet) for facet in table.facets)
    beats = [Row((LIVE,), HEARTBEAT, SAME)]
    if not configured:
        beats.append(Row((LIVE,), CONFIGURE, SAME, assigns=(SILENCE_AFTER,)))
    return replace(
        table,
        facets=(replace(first, rows=(*first.rows, *beats)), *others, FACET),
        intents=table.intents if configured else (*table.intents, CONFIGURE),
        derived=(*table.derived, HEARD, FALLS_SILENT, UNWATCHED),
        attributes=(*table.attributes, *(_of_kind(table, field) for field in ATTRIBUTES)),
    )


def _of_kind(table: Table, field: Field) -> Field:
    """The attribute, which says after which time a place of this kind falls silent by itself."""
    if field.name != SILENCE_AFTER or not table.silence_after:
        return field
    return replace(field, doc=f"{field.doc}; without it and a time of the installation {table.silence_after:g}")


def _with_rows(table: Table, facet: Facet) -> Facet:
    """The facet with a heartbeat that makes an unknown place known. Only `configure` may set `silence_after`."""
    rows = [_with_own_attributes(table, row) for row in facet.rows]
    adopted = facet.adopted
    if adopted.phase != ABSENT:
        rows.append(Row((ABSENT,), HEARTBEAT, adopted.phase, condition=next(iter(adopted.conditions), None)))
    return replace(facet, rows=tuple(rows))


def _with_own_attributes(table: Table, row: Row) -> Row:
    if row.trigger == CONFIGURE:
        return replace(row, assigns=(*table.assigned(row), SILENCE_AFTER))
    return replace(row, assigns=table.assigned(row)) if row.assigns is True else row


def silent_since(entity: Entity) -> int | None:
    """When a place that is silent was heard last, ns; None for every other entity."""
    if entity.names[-1] != CONTACT:
        return None
    facet = entity.facets[-1]
    if facet.since_ns and facet.state.phase == SILENT:
        heard_at: int = entity.attributes.get(HEARD_AT, facet.since_ns)
        return heard_at
    return None
