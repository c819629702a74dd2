"""Tables in words, as the spec's pages put them: where a row starts, what the base becomes, what a view shows.

Belongs here: phrases, each for one part of a table. Does not: how phrases stand on a page (`printing` and the formats).
"""

import inspect
import json
from typing import Any

from phaseline.machines.compiler.conditions import causes, own_condition
from phaseline.machines.language.predicates import or_list
from phaseline.machines.language.table import (
    ABSENT,
    FROM_DATA,
    SAME,
    At,
    Cascade,
    Facet,
    FanOut,
    Field,
    Interpret,
    Live,
    OnTally,
    Row,
    Source,
    Timeout,
    View,
)

UNKNOWN = "∅"
"""How the spec writes the phase of what is unknown."""


def id_shape(parts: tuple[str, ...]) -> str:
    """`<cluster>/<pool>`."""
    return "/".join(f"<{part}>" for part in parts)


def start(where: Source) -> str:
    """`Running`, `Updating while its base is Running`, `live but Creating`."""
    if isinstance(where, Live):
        but = f" but {', '.join(where.but)}" if where.but else ""
        return f"live{but}{f' with {where.has}' if where.has else ''}"
    if isinstance(where, At):
        has = f" [{where.has}]" if where.has else ""
        lacks = f" without {or_list(where.lacks)}" if where.lacks else ""
        base = f" while its base is {where.base}" if where.base else ""
        return f"{where.phase}{has}{lacks}{base}"
    return UNKNOWN if where == ABSENT else where


def starts(row: Row) -> str:
    """Everywhere a row starts, in its order."""
    return ", ".join(start(where) for where in row.source)


def becomes(facet: Facet, row: Row) -> str:
    """What the base becomes: `Failed [+Unknown]`, `same phase; sets Unschedulable`."""
    if row.to == FROM_DATA:
        return "as data.phase and data.conditions name it"
    if row.to == SAME:
        sets = [f"sets {row.sets}"] if row.sets else []
        clears = [f"clears {', '.join(row.clears)}"] if row.clears else []
        moves = bool(causes(facet).intersection(row.clears)) and not row.sets
        return "; ".join([*([] if moves else ["same phase" if sets or clears else "same"]), *sets, *clears])
    if row.condition is None:
        sets = [f"sets {row.sets}"] if row.sets else []
        clears = [f"clears {', '.join(row.clears)}"] if row.clears else []
        return "; ".join([row.to, *sets, *clears])
    return f"{row.to} [{'+' if _adds(facet, row) else ''}{row.condition}]"


def _adds(facet: Facet, row: Row) -> bool:
    """Whether other conditions can stand beside the one that the row brings."""
    phases = {where if isinstance(where, str) else where.phase for where in row.source if not isinstance(where, Live)}
    from_there = facet.accumulates_in in phases or any(isinstance(where, Live) for where in row.source)
    return row.to == facet.accumulates_in and (from_there or bool(facet.sticky))


def data(row: Row) -> str:
    """What the event's data must say (`condition: Balance`, `no condition`) and whether it may set attributes."""
    given = (f"{name}: {plainly(value)}" if value is not None else f"no {name}" for name, value in row.given.items())
    assigns = row.assigns if isinstance(row.assigns, tuple) else ("attributes",) if row.assigns else ()
    return "; ".join(filter(None, [", ".join([*given, *assigns]), first_line(row.computes)]))


def first_line(function: Any) -> str:
    """What a function says that it does, as a phrase; empty where there is none."""
    said = inspect.getdoc(function) if function is not None else None
    return (said or "").partition("\n")[0].removesuffix(".")


def needs(row: Row) -> str:
    """What the guards ask for."""
    return " and ".join(guard.text() for guard in row.when)


def shown(facet: Facet, view: View) -> str:
    """What a view shows: `Scaling [Progressing]`."""
    condition = view.condition or own_condition(facet, view.to)
    if isinstance(view.keeps, tuple):
        own = f"{condition}, " if condition else ""
        return f"{view.to} [{own}{or_list(view.keeps)} if the base has it]"
    if view.keeps:
        return f"{view.to} [the base's causes, if it is {view.to}, +{condition}]"
    return f"{view.to} [{condition}]" if condition else view.to


def while_(view: View) -> str:
    """While what a view shows."""
    base = [f"the base is {or_list(view.base)}"] if view.base else []
    unless = [f"the base is not {or_list(view.unless)}"] if view.unless else []
    return ", and ".join([*(seen.text() for seen in view.while_), *base, *unless])


def firing(fired: Cascade) -> str:
    """What fires downward: `delete unless data.cascade is false`, `Deleted`."""
    unless = f" unless data.{fired.unless[0]} is {plainly(fired.unless[1])}" if fired.unless else ""
    then = f" if it is {fired.then} then" if fired.then else ""
    return or_list((*fired.on, *((f"entering {fired.into}",) if fired.into else ()))) + unless + then


def targets(fired: Cascade) -> str:
    """At whom: `every node_pool and component`, `the app_context that its context names, which must take it`."""
    if fired.only_child is not None:
        given = [f"data.{name} is its {of}" for name, of in fired.data.items()]
        must = ["which must take it"] if fired.required else []
        return "; ".join([", ".join([f"the {fired.at[0]} that its {fired.only_child} names", *must]), *given])
    return f"every {' and '.join([', '.join(fired.at[:-1]), fired.at[-1]] if len(fired.at) > 1 else fired.at)}"


def telling(told: FanOut) -> tuple[str, str, str]:
    """On what, which triggers, at whom: `bundle_state`, `present or not_present`, `every rsync_resource, each its own`."""
    return or_list(told.on), or_list(told.triggers), f"every {told.at}: {first_line(told.rule)}"


def reading(read: Interpret) -> tuple[str, str, str]:
    """On what, which words, from what: `observed`, `health or sync`, `What the manifests say`."""
    return or_list(read.on), ", ".join(word.name for word in read.fields), first_line(read.rule)


def lasting(after: Timeout) -> str:
    """How long a state may last: `10 m`, `as long as its deadline says`."""
    anew = f", anew when its {after.restart_on} changes" if after.restart_on is not None else ""
    anew += f", and again after as many as its {after.repeat_after} says" if after.repeat_after is not None else ""
    if after.seconds_from is not None:
        return f"as many seconds as its {after.seconds_from} says (0: never){anew}"
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if after.seconds >= unit and after.seconds % unit == 0:
            return f"{after.seconds / unit:g} {name}{anew}"
    return f"{after.seconds:g} s{anew}"


def reaching(reached: OnTally) -> str:
    """What makes an entity fire at itself."""
    return f"as soon as {reached.when.text()}"


def takes(field: Field) -> str:
    """What a field may hold: `one of Balance, StockOut`, `list of str`, `bool, required`."""
    what = f"one of {', '.join(field.options)}" if field.options else field.type.__name__
    default = f", default {plainly(field.default)}" if field.default is not None else ""
    return f"{'list of ' if field.many else ''}{what}{default}{', required' if field.required else ''}{' (may be null)' if field.null else ''}"


def collecting(facet: Facet) -> list[str]:
    """The facet's own rules of conditions, one sentence each."""
    found = []
    if facet.accumulates_in:
        found.append(
            f"In {facet.accumulates_in}, causes add up and each is cleared by its own trigger; "
            f"when none is left the base is {facet.healthy}."
        )
    if facet.sticky:
        found.append(f"Standing, so they stay across phases until cleared: {', '.join(facet.sticky)}.")
    if facet.message_names is not None:
        found.append(f"What a view shows names, as its message, those of {facet.message_names[0]} that make it so.")
    if facet.order:
        found.append(f"With several conditions, the label is the first one's in the order {', '.join(facet.order)}.")
    return found


def plainly(value: Any) -> str:
    """A value as JSON has it, words without their quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
