"""What of a table allows the core to decide an event on a short way.

Belongs here: questions about a whole table, asked once when it is compiled; what the core remembers of a table's moves.
Does not: the short ways themselves (`engine.core.fast_path`, `engine.core.hearing`).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from phaseline.machines.compiler.reports import SNAPSHOT, UNREQUESTED
from phaseline.machines.language.contact import FACET, HEARD, HEARD_AT, HEARTBEAT
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs
from phaseline.machines.language.signals import ATTRIBUTE
from phaseline.machines.language.table import REPORTED, Cascade, Facet, Table
from phaseline.schemas.records import State


class Crossing(NamedTuple):
    """A tally above that matters to a move. `leaves`, `enters`: the phases whose count must not leave or come to zero.

    Empty for a phase that does not matter. levels: how many parts shorter the id above is. number: the index of the
    tally among those that are kept of the kind.
    """

    levels: int
    number: int
    leaves: str
    enters: str


class Passing(msgspec.Struct, frozen=True):
    """What more a move to a visible state may change.

    crossings: the tallies above that matter. may_last: whether the entity may stay in its class of states, so that its
    new state does not tell since when.
    """

    crossings: tuple[Crossing, ...]
    may_last: bool


class MovePlan(msgspec.Struct, frozen=True):
    """What a step does to one facet in one state, as far as it follows from the table alone.

    facet: its index. base, interrupted: the facet's after the step. waits: whether the base waits for this event from
    now on; None if that does not change. asks: whether the trigger is an intent. unasked: as in the record. is_viewed:
    whether a view may show over the base. assigns: the attributes that data may set; an event that sets one changes
    more. restarts: whether a timer starts, or ends. end: how a life ends with it. shows: whether it shows that the life
    is there. told: the conditions for which it may give a reason. cascades: those that are fired, depending on the data
    or on which entities are there. passings: by the visible state after the step, what may follow; None if more
    changes. Filled as states are met.
    """

    facet: int
    base: State
    interrupted: str | None
    waits: bool | None
    asks: bool
    unasked: bool
    is_viewed: bool
    assigns: tuple[str, ...]
    restarts: bool
    end: str | None
    shows: bool
    told: tuple[str, ...]
    cascades: tuple[Cascade, ...]
    passings: dict[State, Passing | None]


PlanKey = tuple[object, ...]
"""A trigger or a step, and what else a plan depends on of the facet."""


def unguarded(table: Table) -> Iterator[tuple[str, int]]:
    """The triggers whose rows all stand in one facet and have no guard, each with the index of that facet.

    Reports, heartbeats, and triggers whose data a rule reads first, are not among them.
    """
    read = {HEARTBEAT, REPORTED, UNREQUESTED, SNAPSHOT}.union(*(interpret.on for interpret in table.interprets))
    for trigger in (trigger for trigger in table.triggers if trigger not in read):
        rows = [
            (index, row) for index, facet in enumerate(table.facets) for row in facet.rows if row.trigger == trigger
        ]
        if len({index for index, _ in rows}) == 1 and not any(row.when for _, row in rows):
            yield trigger, rows[0][0]


def hears_alone(table: Table) -> bool:
    """Whether nothing in the table of a place follows from a hearing, and no view looks at when it was heard."""
    followed = (*(one.on for one in table.cascades), *(one.on for one in table.fan_outs))
    follows = {on for triggers in (*followed, *(one.on for one in table.interprets)) for on in triggers}
    predicates = [predicate for facet in table.facets for view in facet.views for predicate in view.while_]
    timeouts = [timeout for facet in table.facets if facet is not FACET for timeout in facet.timeouts]
    return (
        follows.isdisjoint((HEARTBEAT, HEARD))
        and all(isinstance(one, Above | AnyBelow | AllBelow | AttributeIs) for one in predicates)
        and all(one.name != HEARD_AT for one in predicates if isinstance(one, AttributeIs))
        and all(HEARD_AT not in (one.restart_on, one.seconds_from) for one in timeouts)
    )


def looks_at_itself(table: Table) -> bool:
    """Whether a view depends on the entity itself, or has a predicate that does not declare what it reads."""
    predicates = [predicate for facet in table.facets for view in facet.views for predicate in view.while_]
    return not all(
        isinstance(predicate, AllBelow)
        or (isinstance(predicate, AnyBelow) and predicate.fewer_than is None)
        or (isinstance(predicate, Above | AttributeIs) and predicate.kind != table.kind)
        for predicate in predicates
    )


def derives_messages(table: Table) -> bool:
    """Whether transitions get a message from an attribute, or from the entities below."""
    return any(facet.message_from is not None or facet.message_names is not None for facet in table.facets)


def may_grow(table: Table, own: Sequence[Facet]) -> bool:
    """Whether an entity may have any size: an attribute is a list or a map, or a rule computes attributes.

    Signals and free attributes have bounds of their own. own: the facets that say what it is in.
    """
    open_ended = (
        field.many or (field.type is dict and not field.numbers) for field in table.attributes if field is not ATTRIBUTE
    )
    return any(open_ended) or any(row.computes is not None for facet in own for row in facet.rows)
