"""Phrases for the parts of a table: where a row starts, what the base becomes, what a view shows.

Belongs here: one phrase for one part. Does not: where phrases stand on a page (`printing`, `markdown`, `mermaid`).
"""

import inspect
from typing import Any

from phaseline.machines.compiler.conditions import accumulated_conditions, own_condition
from phaseline.machines.compiler.reports import RECENT
from phaseline.machines.language.predicates import or_list
from phaseline.machines.language.table import (
    ABSENT,
    FROM_DATA,
    SAME,
    At,
    Cascade,
    Facet,
    Field,
    Live,
    Row,
    Source,
    Timeout,
    View,
)
from phaseline.schemas import codec

UNKNOWN = "∅"
"""The sign for the phase of an unknown entity."""


def id_shape(parts: tuple[str, ...]) -> str:
    """`<cluster>/<pool>`."""
    return "/".join(f"<{part}>" for part in parts)


def source(found: Source) -> str:
    """`Running`, `Updating if the base is Running`, `live except Creating`."""
    if isinstance(found, Live):
        but = f" except {', '.join(found.but)}" if found.but else ""
        return f"live{but}{f' with {found.has}' if found.has else ''}"
    if isinstance(found, At):
        has = f" [{found.has}]" if found.has else ""
        lacks = f" without {or_list(found.lacks)}" if found.lacks else ""
        base = f" if the base is {found.base}" if found.base else ""
        return f"{found.phase}{has}{lacks}{base}"
    return UNKNOWN if found == ABSENT else found


def sources(row: Row) -> str:
    """All sources of a row, in its order."""
    return ", ".join(source(one) for one in row.source)


def becomes(facet: Facet, row: Row) -> str:
    """What the base becomes: `Failed [+Unknown]`, `same phase; sets Unschedulable`."""
    if row.to == FROM_DATA:
        return "data.phase with data.conditions"
    sets = [f"sets {row.sets}"] if row.sets else []
    clears = [f"clears {', '.join(row.clears)}"] if row.clears else []
    if row.to == SAME:
        may_leave = bool(accumulated_conditions(facet).intersection(row.clears)) and not row.sets
        return "; ".join([*([] if may_leave else ["same phase"]), *sets, *clears])
    if row.condition is None:
        return "; ".join([row.to, *sets, *clears])
    return f"{row.to} [{'+' if _adds(facet, row) else ''}{row.condition}]"


def _adds(facet: Facet, row: Row) -> bool:
    """Whether other conditions can stand beside the row's condition."""
    phases = {one if isinstance(one, str) else one.phase for one in row.source if not isinstance(one, Live)}
    within = facet.accumulates_in in phases or any(isinstance(one, Live) for one in row.source)
    return row.to == facet.accumulates_in and (within or bool(facet.sticky))


def data(row: Row) -> str:
    """The data that a row asks for, the attributes that it assigns or forgets, the rule that computes attributes."""
    given = (
        "seen at or above asked"
        if name == RECENT
        else f"{name}: {codec.plain_value(value)}"
        if value is not None
        else f"without {name}"
        for name, value in row.given.items()
    )
    assigns = row.assigns if isinstance(row.assigns, tuple) else ("attributes",) if row.assigns else ()
    forgets = f"else forgets {', '.join(row.forgets)}" if row.forgets else ""
    return "; ".join(filter(None, [", ".join([*given, *assigns]), forgets, summary(row.computes)]))


def summary(function: Any) -> str:
    """The first line of a function's docstring without its full stop; empty if there is none."""
    text = inspect.getdoc(function) if function is not None else None
    return (text or "").partition("\n")[0].removesuffix(".")


def guards(row: Row) -> str:
    """The guards of a row, as one clause."""
    return " and ".join(guard.text() for guard in row.when)


def shows(facet: Facet, view: View) -> str:
    """The state that a view shows: `Scaling [Progressing]`."""
    condition = view.condition or own_condition(facet, view.to)
    if isinstance(view.keeps, tuple):
        own = f"{condition}, " if condition else ""
        return f"{view.to} [{own}{or_list(view.keeps)} if the base has it]"
    if view.keeps:
        return f"{view.to} [conditions of a {view.to} base, +{condition}]"
    return f"{view.to} [{condition}]" if condition else view.to


def while_(view: View) -> str:
    """When a view fits: its predicates, and the bases that it needs."""
    base = [f"the base is {or_list(view.base)}"] if view.base else []
    unless = [f"the base is not {or_list(view.unless)}"] if view.unless else []
    return ", and ".join([*(predicate.text() for predicate in view.while_), *base, *unless])


def fires_on(cascade: Cascade) -> str:
    """When a cascade fires: `delete unless data.cascade is false`, `entering Deleted`."""
    on = or_list((*cascade.on, *((f"entering {cascade.into}",) if cascade.into else ())))
    unless = f" unless data.{cascade.unless[0]} is {codec.plain_value(cascade.unless[1])}" if cascade.unless else ""
    then = f" if the base is {cascade.then} after it" if cascade.then else ""
    return on + unless + then


def targets(cascade: Cascade) -> str:
    """Where a cascade fires: `every node_pool and component`, `the app_context that attribute context names`."""
    if cascade.only_child is not None:
        required = ", required" if cascade.required else ""
        given = [f"data.{name} is attribute {attribute}" for name, attribute in cascade.data.items()]
        return "; ".join([f"the {cascade.at[0]} that attribute {cascade.only_child} names{required}", *given])
    if cascade.targets is not None:
        return f"{or_list(cascade.at)}: {summary(cascade.targets)}"
    kinds = [", ".join(cascade.at[:-1]), cascade.at[-1]] if len(cascade.at) > 1 else cascade.at
    return f"every {' and '.join(kinds)}"


def duration(timeout: Timeout) -> str:
    """How long a state may last: `10 m`, `the seconds in attribute deadline (0: never)`."""
    restart = f"; starts again when {timeout.restart_on} changes" if timeout.restart_on is not None else ""
    repeat = f"; fires again after the seconds in {timeout.repeat_after}" if timeout.repeat_after is not None else ""
    times = "" if timeout.times == 1 else f"{timeout.times:g} times "
    if timeout.seconds_from is not None:
        return f"{times}the seconds in attribute {timeout.seconds_from} (0: never){restart}{repeat}"
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if timeout.seconds >= unit and timeout.seconds % unit == 0:
            return f"{times}{timeout.seconds / unit:g} {name}{restart}{repeat}"
    return f"{times}{timeout.seconds:g} s{restart}{repeat}"


def meaning(field: Field) -> str:
    """What an attribute means, and what earlier tables called it."""
    return f"{field.doc}; earlier {', '.join(field.was)}" if field.was else field.doc


def value_of(field: Field) -> str:
    """What a field can hold: `one of Balance, StockOut`, `list of str`, `bool, required`."""
    what = f"one of {', '.join(field.options)}" if field.options else field.type.__name__
    what = f"map of numbers by kind ({', '.join(field.numbers)})" if field.numbers else what
    what = f"{what} that matches `{field.pattern}`" if field.pattern else what
    many = "list of " if field.many else ""
    least = f", at least {field.least:g}" if field.least is not None else ""
    default = f"{least}, default {codec.plain_value(field.default)}" if field.default is not None else least
    return f"{many}{what}{default}{', required' if field.required else ''}{' (may be null)' if field.null else ''}"


def notes(facet: Facet) -> list[str]:
    """The facet's rules about conditions and messages, one sentence each."""
    found = []
    if facet.accumulates_in:
        found.append(
            f"In {facet.accumulates_in}, conditions add up, and each is cleared by its own trigger. "
            f"When the last one is cleared, the base is {facet.healthy}."
        )
    if facet.sticky:
        found.append(f"Sticky conditions stay across phases until a row clears them: {', '.join(facet.sticky)}.")
        found.append("A report clears sticky conditions only if it names them in `about`.")
    if facet.own_reporter:
        found.append(
            f"A report without `conditions` leaves {', '.join(facet.own_reporter)}, which has its own reporter."
        )
    found += [f"No new pods are scheduled while {above.text()}." for above in facet.unschedulable_while]
    if facet.message_names is not None:
        found.append(f"When a view shows because of {facet.message_names[0]} entities, the message names them.")
    if facet.order:
        found.append(
            f"With several conditions, the first one in this order chooses the label: {', '.join(facet.order)}."
        )
    return found
