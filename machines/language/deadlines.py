"""Deadlines: how long a request may wait for its answer, and what a kind gets whose pending phases have one.

When the time is up the entity stays what it is, with the condition `Stalled`. Only the engine sets and clears it.
Belongs here: the words, how states are counted that may stall, and what `Pending` adds to a table. Does not: the timers
(`engine.core.timers`), the messages (`engine.core.transitions`).
"""

from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace

from phaseline.machines.language.contact import CONFIGURE
from phaseline.machines.language.fields import Field
from phaseline.machines.language.table import (
    LIVE,
    SAME,
    STALLED,
    Facet,
    Label,
    Pending,
    Row,
    Table,
    Timeout,
)
from phaseline.schemas.records import State

DEADLINE = "deadline"
"""The attribute whose seconds replace those of the tables: of the entity, else of the nearest one above that has it."""
STALLS = "stalled"
"""The derived trigger: the time is up."""
FIELD = Field(DEADLINE, float, "the seconds that a request may wait for its answer; 0 for never", least=0)

EN, ZH = "en", "zh"
NAMES: Mapping[str, str] = {EN: "{} (stalled)", ZH: "{}（停滞）"}
"""What a phase is called when it stalls, by language, after its own label."""
ADVICE: Mapping[str, str] = {
    EN: "Look whether the agent is alive and what it said last; then report the state that is seen, ask again, or "
    "delete.",
    ZH: "检查代理是否存活以及它最后上报的内容；然后上报实际状态、重新请求或删除。",
}


COUNTED = f" [{STALLED}]"
"""What follows the phase of a stalled state where states are counted."""


def counted_as(state: State) -> str:
    """Under what a state is counted: its phase, and whether it is stalled: `Creating`, `Creating [Stalled]`."""
    return state.phase + COUNTED if STALLED in state.conditions else state.phase


def phase_of(counted: str) -> tuple[str, bool]:
    """The phase of what a state is counted as, and whether it is stalled."""
    phase = counted.removesuffix(COUNTED)
    return phase, phase != counted


def timed(facet: Facet) -> Mapping[str, float]:
    """The pending phases of a facet that have a deadline, with its seconds."""
    return {one.phase: one.deadline for one in facet.pending if isinstance(one, Pending) and one.deadline > 0}


def has_deadlines(table: Table) -> bool:
    """Whether a pending phase of a table has a deadline."""
    return any(timed(facet) for facet in table.facets)


def problems(table: Table) -> Iterator[str]:
    """What of a table would collide with what deadlines bring."""
    for facet in table.facets:
        yield from _claims(facet)
        for timeout in facet.timeouts:
            if timeout.phase in timed(facet):
                yield (
                    f"{facet.name}: {timeout.phase} has a deadline in pending= and a timeout, but a facet has one "
                    "timer: remove one of them"
                )
    if has_deadlines(table) and STALLS in table.triggers:
        yield f"a deadline in pending= brings the trigger {STALLS}: rename yours"


def _claims(facet: Facet) -> Iterator[str]:
    """Rows by which somebody else than the engine would set the condition."""
    fired = {timeout.trigger for timeout in facet.timeouts}
    for row in facet.rows:
        if STALLED in (row.condition, row.sets) and row.trigger not in fired:
            yield f"{facet.name}, row of {row.trigger}: only the engine sets {STALLED}: rename the condition"


def with_deadlines(table: Table) -> Table:
    """The table with all that deadlines bring; the table itself if it has none, or has it already."""
    stalling = any(timeout.deadline for facet in table.facets for timeout in facet.timeouts)
    if not has_deadlines(table):
        return replace(table, facets=tuple(_cleared(table, one) for one in table.facets)) if stalling else table
    if STALLS in table.derived:
        return table
    configured = CONFIGURE in table.triggers
    phases = {phase for facet in table.facets for phase in timed(facet)}
    first, *others = (_stalling(table, facet, phases) for facet in table.facets)
    if not configured:
        first = replace(first, rows=(*first.rows, Row((LIVE,), CONFIGURE, SAME, assigns=(DEADLINE,))))
    known = any(field.name == DEADLINE for field in table.attributes)
    table = replace(
        table,
        facets=(first, *others),
        intents=table.intents if configured else (*table.intents, CONFIGURE),
        derived=(*table.derived, STALLS),
        attributes=table.attributes if known else (*table.attributes, FIELD),
    )
    return replace(table, facets=tuple(_cleared(table, one) for one in table.facets))


def _stalling(table: Table, facet: Facet, phases: Collection[str]) -> Facet:
    """The facet with the labels, the rows and the timeouts of its deadlines. phases: all of the table that have one."""
    rows = tuple(_assigning(table, row, phases) for row in facet.rows)
    seconds = timed(facet)
    if not seconds:
        return facet if rows == facet.rows else replace(facet, rows=rows)
    return replace(
        facet,
        labels=(*facet.labels, *_labels(facet, seconds)),
        rows=(*rows, Row(tuple(seconds), STALLS, SAME, sets=STALLED)),
        order=facet.order if STALLED in facet.order else (STALLED, *facet.order),
        timeouts=(
            *facet.timeouts,
            *(Timeout(phase, STALLS, each, deadline=True, base=True) for phase, each in seconds.items()),
        ),
    )


def _assigning(table: Table, row: Row, phases: Collection[str]) -> Row:
    """The row; requests that begin a phase with a deadline, and `configure`, may set it, and nothing else may."""
    own = table.assigned(row)
    if row.trigger == CONFIGURE or (row.trigger in table.intents and row.to in phases):
        return replace(row, assigns=tuple(dict.fromkeys((*own, DEADLINE))))
    return replace(row, assigns=own) if row.assigns is True else row


def _labels(facet: Facet, phases: Collection[str]) -> Iterator[Label]:
    """The labels of the phases that can stall, made of their own, where the table has none."""
    known = {label.phase for label in facet.labels if label.condition == STALLED}
    for phase in phases:
        own = next((label for label in facet.labels if label.phase == phase), None)
        if own is not None and phase not in known:
            names = {tag: NAMES[tag].format(text) for tag, text in own.others.items() if tag in NAMES}
            yield replace(
                own, condition=STALLED, en=NAMES[EN].format(own.en), others=names, state_class="bad", advice=ADVICE,
                aliases=(),
            )  # fmt: skip


def _cleared(table: Table, facet: Facet) -> Facet:
    """The facet; each request that is taken in a phase, and does not leave it, clears the condition."""
    if not any(timeout.deadline for timeout in facet.timeouts):
        return facet
    return replace(
        facet,
        rows=tuple(
            replace(row, clears=(*row.clears, STALLED)) if row.trigger in table.intents and row.to == SAME else row
            for row in facet.rows
        ),
    )
