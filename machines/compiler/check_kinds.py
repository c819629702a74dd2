"""Checks tables against each other: parents, predicates, fired triggers, circles, views that cannot settle.

The rules are in docs/spec/reading-the-tables.md, section What a table may not be.
Belongs here: checks that need more than one table. Does not: checks of one table (`checks`).
"""

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from phaseline.machines.compiler import reachability
from phaseline.machines.compiler.checks import WrongTable, meant, unfit
from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.compiler.machine import FacetMachine
from phaseline.machines.compiler.relations import path, placed
from phaseline.machines.language import contact, signals
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Child, Predicate
from phaseline.machines.language.table import ABSENT, DELETED, OWNER_GONE, SAME, Facet, Table, View, Wants
from phaseline.schemas.errors import did_you_mean


def check_tables(tables: tuple[Table, ...]) -> None:
    """Raise `WrongTable` unless the tables fit each other."""
    named = {table.kind: table for table in tables}
    if len(named) < len(tables):
        twice = sorted({t.kind for t in tables if [o.kind for o in tables].count(t.kind) > 1})
        raise WrongTable(twice[0], ["two tables have this kind: rename one"])
    for check in (_parent, _children, _relatives, _passed_on, _fired_triggers, _settles):
        for table in tables:
            problems = [*check(table, named)]
            if problems:
                raise WrongTable(table.kind, problems)
    _check_circles(named)


def _parent(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    if table.parent is None:
        return
    parent = named.get(table.parent)
    if parent is None:
        near = meant(table.parent, named)
        yield f"parent {table.parent} is unknown{near}: add the table of that kind, or correct the name"
    elif len(parent.id) >= len(table.id):
        yield (
            f"id {'/'.join(table.id)} is not longer than the parent's id {'/'.join(parent.id)}: "
            "begin it with the parent's parts, and add at least one"
        )


def _children(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    """The base with which a parent is adopted must be one that its rows can lead to."""
    if table.known_by == "itself" or not any(other.parent == table.kind for other in named.values()):
        return
    for facet in table.facets:
        if facet.adopted not in reachability.reachable(FacetMachine(facet), table.intents):
            yield (
                f"{facet.name}: no row leads to {facet.adopted}, the base of an adopted {table.kind}: "
                f"name another base with adopted=State(...); State({ABSENT!r}) means that it stays unknown"
            )


def _relatives(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    for where, predicate in placed(table):
        yield from (f"{where}: {problem}" for problem in _looks(predicate, table, named))
    for facet in table.facets:
        if facet.explained_by is not None and not _has_facet(table.kind, facet.explained_by, 0, named):
            yield f"{facet.name}, explained_by: {_no_facet(table.kind, facet.explained_by, 0)}"
        if facet.message_names is not None and not _has_facet(table.kind, *facet.message_names, named):
            below, index = facet.message_names
            yield f"{facet.name}, message_names: {_no_facet(table.kind, below, index)}"
        elif facet.unknown_parts is not None or facet.parts_apart:
            yield from _unknown_parts(facet, named)
        if facet.wants is not None:
            yield from _wants(table, facet.name, facet.wants, named)
    yield from _unseen(table)


def _wants(table: Table, facet: str, wants: Wants, named: Mapping[str, Table]) -> Iterator[str]:
    """Parts that are not below the whole, or attributes that one of them does not have."""
    if not _is_above(table.kind, wants.kind, named):
        near = "" if wants.kind in named else meant(wants.kind, named)
        yield f"{facet}, wants: {wants.kind} is not below {table.kind}{near}: name a kind below it"
        return
    asked = ((table, wants.number), (table, wants.same), (named[wants.kind], wants.same))
    for of, name in asked:
        known = [field.name for field in of.attributes]
        if name not in known:
            yield f"{facet}, wants: {of.kind} has no attribute {name}{meant(name, known)}: add it, or correct the name"


def _unknown_parts(facet: Facet, named: Mapping[str, Table]) -> Iterator[str]:
    """A phase of parts that no part can be in."""
    if facet.message_names is None:
        field = "parts_apart" if facet.unknown_parts is None else "unknown_parts"
        yield f"{facet.name}, {field}: name the kind and the facet of the parts with message_names="
        return
    below, index = facet.message_names
    facets = named[below].facets
    phases_of_any = tuple(phase for each in facets for phase in phases_of(each))
    apart = (("parts_apart", one, phases_of_any) for one in facet.parts_apart)
    for field, phase, phases in (("unknown_parts", facet.unknown_parts, phases_of(facets[index])), *apart):
        if phase is not None and phase not in phases:
            near = did_you_mean(str(phase), phases)
            yield f"{facet.name}, {field}: {below} has no phase {phase}{near}: name one with a label"


def _looks(predicate: Predicate, table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    """What is wrong with that at which a predicate looks."""
    kind = getattr(predicate, "kind", table.kind)
    looks_up = isinstance(predicate, Above | AttributeIs)
    if isinstance(predicate, Child):
        yield from _child(predicate, table, named)
    elif looks_up and kind != table.kind and not _is_above(kind, table.kind, named):
        near = "" if kind in named else meant(kind, named)
        yield f"`{predicate.text()}`: {kind} is not above {table.kind}{near}: name a kind above it"
    elif isinstance(predicate, AnyBelow | AllBelow) and (
        predicate.of != table.kind or not _is_above(table.kind, kind, named)
    ):
        yield (
            f"`{predicate.text()}`: it counts {kind} below {predicate.of}, but must count a kind below "
            f"{table.kind}: write of={table.kind!r} and a kind below it"
        )
    else:
        yield from _known(predicate, named)


def _child(predicate: Child, table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    child = named.get(predicate.kind)
    if predicate.of != table.kind or child is None or child.parent != table.kind or len(child.id) != len(table.id) + 1:
        yield (
            f"`{predicate.text()}`: {predicate.kind} is not a child of {table.kind} whose id has one part more: "
            f"write of={table.kind!r} and the kind of such a child"
        )
    elif predicate.named not in {attribute.name for attribute in table.attributes}:
        yield _no_attribute(predicate, table, predicate.named)
    else:
        yield from _phases(predicate.text(), child, child.facets[0], predicate.phases)


def _no_attribute(predicate: Predicate, table: Table, name: str) -> str:
    near = meant(name, [attribute.name for attribute in table.attributes])
    return f"`{predicate.text()}`: {table.kind} has no attribute {name}{near}: add it there, or correct the name"


def _is_above(above: str, below: str, named: Mapping[str, Table]) -> bool:
    return above in named and below in named and any(path(named, above, below))


def _has_facet(above: str, below: str, facet: int, named: Mapping[str, Table]) -> bool:
    return _is_above(above, below, named) and 0 <= facet < len(_named_facets(named[below]))


def _named_facets(table: Table) -> tuple[Facet, ...]:
    """The facets that other tables can name: `contact` is among those of places only."""
    return table.facets if table.place else tuple(one for one in table.facets if one is not contact.FACET)


def _no_facet(above: str, below: str, facet: int) -> str:
    return f"facet {facet} of {below} does not exist below {above}: name a kind below it and the index of its facet"


def _unseen(table: Table) -> Iterator[str]:
    """Predicates whose changes the engine would not notice: it follows only those that declare what they read."""
    for facet in table.facets:
        for view in facet.views:
            for seen in view.while_:
                own = isinstance(seen, AttributeIs) and seen.kind == table.kind
                if not own and (not isinstance(seen, Above | AnyBelow | AllBelow) or _names_conditions(seen)):
                    yield (
                        f"{facet.name}, view {view.to}: the engine does not notice when `{seen.text()}` changes: "
                        f"use Above, AnyBelow, AllBelow, or AttributeIs of {table.kind} itself"
                    )


def _known(predicate: Predicate, named: Mapping[str, Table]) -> Iterator[str]:
    if isinstance(predicate, AttributeIs):
        if predicate.or_of is not None and not _is_above(predicate.or_of, predicate.kind, named):
            yield f"`{predicate.text()}`: {predicate.or_of} is not above {predicate.kind}: name another kind in or_of="
        yield from _compared(predicate, named[predicate.kind])
    elif isinstance(predicate, Above | AnyBelow | AllBelow):
        if isinstance(predicate, AnyBelow) and (number := predicate.fewer_than) is not None:
            table = named[predicate.of]
            if number not in {one.name for one in table.attributes if one.type is int}:
                yield f"{_no_attribute(predicate, table, number)}; it must be a whole number"
        facets = _named_facets(named[predicate.kind])
        if not 0 <= predicate.facet < len(facets):
            yield (
                f"`{predicate.text()}`: {predicate.kind} has {len(facets)} facet(s), found facet={predicate.facet}: "
                "count from 0"
            )
            return
        yield from _phases(predicate.text(), named[predicate.kind], facets[predicate.facet], predicate.phases)
        conditions = {label.condition for label in facets[predicate.facet].labels}
        for condition in _conditions(predicate):
            if condition not in conditions:
                near = meant(condition, conditions)
                yield f"`{predicate.text()}`: {predicate.kind} has no condition {condition}{near}: correct the name"


def _names_conditions(predicate: Predicate) -> bool:
    """Whether a predicate looks at conditions above, of which the engine does not notice every change."""
    return isinstance(predicate, Above) and bool(predicate.or_has)


def _conditions(predicate: Above | AnyBelow | AllBelow) -> Iterator[str]:
    """The conditions that a predicate names."""
    named = predicate.or_has if isinstance(predicate, Above) else (predicate.has, predicate.lacks)
    yield from (condition for condition in named if condition is not None)


def _compared(predicate: AttributeIs, table: Table) -> Iterator[str]:
    """An attribute that does not exist, or a value that it never has."""
    field = next((attribute for attribute in table.attributes if attribute.name == predicate.name), None)
    if field is None:
        yield _no_attribute(predicate, table, predicate.name)
        return
    for value in predicate.value if isinstance(predicate.value, tuple) else (predicate.value,):
        if value is not None and not field.many and (problem := unfit(field, value)):
            yield f"`{predicate.text()}`: {field.name} of {table.kind} is never {value!r}: {problem}"


def _phases(text: str, table: Table, facet: Facet, phases: tuple[str, ...]) -> Iterator[str]:
    for phase in phases:
        if phase not in phases_of(facet):
            near = meant(phase, phases_of(facet))
            yield f"`{text}`: {table.kind} has no phase {phase}{near}: correct the name"


Fires = Iterator[tuple[str, str, tuple[str, ...]]]
"""Triggers that are fired: each with the kind at which it is fired, and with the triggers that lead to it."""


def downward(table: Table) -> Fires:
    """The triggers that a table fires at kinds below it."""
    yield from _by_cascades(table, has_targets=False)
    for fan_out in table.fan_outs:
        yield from ((trigger, fan_out.at, fan_out.on) for trigger in fan_out.triggers)


def passed_on(table: Table) -> Fires:
    """The triggers that a table fires at the entities that a rule names. The engine fires none of them at itself."""
    for trigger, kind, triggers in _by_cascades(table, has_targets=True):
        yield trigger, kind, tuple(on for on in triggers if (kind, trigger) != (table.kind, on))


def _by_cascades(table: Table, *, has_targets: bool) -> Fires:
    for cascade in table.cascades:
        if (cascade.targets is not None) == has_targets:
            yield from ((cascade.trigger, kind, (*cascade.on, *_entering(table, cascade.into))) for kind in cascade.at)


def _passed_on(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    for trigger, kind, _ in passed_on(table):
        if kind not in named:
            near = meant(kind, named)
            yield f"it fires {trigger} at {kind}, which is unknown{near}: add that kind, or correct the name"
        elif trigger not in named[kind].triggers:
            near = meant(trigger, named[kind].triggers)
            yield f"it fires {trigger} at {kind}, which has no row for it{near}: add a row there"


def _fired_triggers(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    for trigger, kind, _ in downward(table):
        if kind not in named or not any(path(named, table.kind, kind)):
            near = "" if kind in named else meant(kind, [one for one in named if _is_above(table.kind, one, named)])
            yield f"it fires {trigger} at {kind}, which is not below {table.kind}{near}: name a kind below it"
        elif trigger not in (*named[kind].derived, *named[kind].intents):
            near = "" if trigger in named[kind].triggers else meant(trigger, named[kind].derived)
            yield f"it fires {trigger} at {kind}, where it is not derived{near}: add it to `derived` there, with a row"
    for cascade in (cascade for cascade in table.cascades if cascade.only_child is not None):
        for kind in (kind for kind in cascade.at if kind in named and len(named[kind].id) != len(table.id) + 1):
            yield (
                f"cascade {cascade.trigger}: only_child= needs a child whose id has one part more, found {kind}: "
                "name the kind of such a child"
            )
    for kind, facet in table.tallies:
        if not _has_facet(table.kind, kind, facet, named):
            yield f"tallies: {_no_facet(table.kind, kind, facet)}"
    for on_tally in table.on_tally:
        if on_tally.trigger not in table.derived:
            near = meant(on_tally.trigger, table.derived)
            yield f"on_tally {on_tally.trigger}: the trigger is not derived{near}: add it to `derived`, with a row"
    firing = {(kind, trigger) for t in named.values() for trigger, kind, _ in (*downward(t), *passed_on(t))}
    firing |= {(table.kind, on_tally.trigger) for on_tally in table.on_tally}
    if table.facets[-1] is contact.FACET:
        firing |= {(table.kind, trigger) for trigger in contact.DERIVED}
    firing |= {(table.kind, signals.UNTOLD)} if signals.has_signals(table) else set()
    firing |= {(table.kind, timeout.trigger) for facet in table.facets for timeout in facet.timeouts}
    firing |= {(table.kind, OWNER_GONE)} if table.parent is not None else set()
    for trigger in table.derived:
        if (table.kind, trigger) not in firing:
            yield (
                f"nothing fires the derived trigger {trigger}: add a Cascade, a FanOut, an OnTally or a Timeout that "
                "fires it, or remove it"
            )


def _settles(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    """A view that looks up must not depend on what a view that looks down shows, or views might never settle."""
    yield from _mirrors(table)
    for facet in table.facets:
        for view in facet.views:
            for seen in view.while_:
                if isinstance(seen, Above) and not seen.base:
                    above = named[seen.kind].facets[seen.facet]
                    for other in above.views:
                        if any(isinstance(p, AnyBelow | AllBelow) for p in other.while_) and _swayed(
                            seen, above, other
                        ):
                            yield (
                                f"{facet.name}, view {view.to}: it looks up at `{seen.text()}`, but the view "
                                f"{other.to} of {seen.kind}, which looks down, can change that: look at the base "
                                "(base=True), or at phases that this view neither shows nor covers"
                            )


def _mirrors(table: Table) -> Iterator[str]:
    """Views of one facet may look at the state of another facet of the entity, but not in a circle."""
    looks: dict[int, set[int]] = {}
    for index, facet in enumerate(table.facets):
        seen = [seen for view in facet.views for seen in view.while_ if isinstance(seen, Above)]
        looks[index] = {one.facet for one in seen if one.kind == table.kind and not one.base}
    try:
        TopologicalSorter(looks).prepare()
    except CycleError as error:
        circle = " -> ".join(table.facets[index].name for index in reversed(error.args[1]))
        yield f"views of facets look at each other in a circle ({circle}): look at the base (base=True) in one of them"


def _swayed(seen: Above, above: Facet, other: View) -> bool:
    """Whether the view `other` of the facet `above` can change the answer of the predicate `seen`."""
    covered = set(other.base or phases_of(above)).difference(other.unless, (ABSENT, DELETED))
    if other.to in seen.phases or covered.intersection(seen.phases):
        return True
    later = above.views[above.views.index(other) + 1 :]
    return any(v.to in seen.phases and covered.intersection(v.base or phases_of(above)) for v in later)


def _check_circles(named: Mapping[str, Table]) -> None:
    """Raise `WrongTable` if cascades, fan-outs and on-tally triggers can fire each other for ever."""
    graph: dict[str, dict[str, None]] = {}
    for table in named.values():
        for trigger, kind, triggers in (*downward(table), *passed_on(table)):
            for on in triggers:
                graph.setdefault(f"{table.kind}.{on}", {})[f"{kind}.{trigger}"] = None
        for on_tally in table.on_tally:
            if isinstance(on_tally.when, AnyBelow | AllBelow):
                for trigger in named[on_tally.when.kind].triggers:
                    graph.setdefault(f"{on_tally.when.kind}.{trigger}", {})[f"{table.kind}.{on_tally.trigger}"] = None
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise WrongTable(
            error.args[1][0].split(".")[0], [f"triggers fire each other in a circle: {circle}: remove one of them"]
        ) from error


def _entering(table: Table, phase: str | None) -> list[str]:
    """The triggers whose rows can take a facet into `phase`; none for None."""
    return [
        row.trigger
        for facet in table.facets
        for row in facet.rows
        if row.to == phase or (row.to == SAME and row.clears and phase == facet.healthy)
    ]
