"""What is wrong between tables: unknown relatives, cascades that circle, views that could not settle.

Belongs here: checks that need more than one table. Does not: compiled lookups (`kinds`).
"""

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from phaseline.machines.compiler import reachability
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.machine import FacetMachine, phases_of
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Child, Predicate
from phaseline.machines.language.table import ABSENT, DELETED, SAME, Facet, Table, View


def check_tables(tables: tuple[Table, ...]) -> None:
    """Raise `WrongTable` unless `tables` fit each other."""
    named = {table.kind: table for table in tables}
    if len(named) < len(tables):
        twice = sorted({t.kind for t in tables if [o.kind for o in tables].count(t.kind) > 1})
        raise WrongTable(twice[0], ["two tables have this name: rename one"])
    for check in (_parent, _children, _relatives, _fired, _settles):
        for table in tables:
            problems = [*check(table, named)]
            if problems:
                raise WrongTable(table.kind, problems)
    _cascades_end(named)


def path(named: Mapping[str, Table], above: str, below: str) -> Iterator[str]:
    """The kinds from `above` (left out) down to `below`; nothing where `below` is not under `above`."""
    chain = [below]
    while (parent := named[chain[-1]].parent) is not None:
        if parent == above:
            yield from reversed(chain)
            return
        chain.append(parent)


def predicates(table: Table) -> Iterator[Predicate]:
    """Everything a table looks at: guards, views, tallies."""
    for facet in table.facets:
        for row in facet.rows:
            yield from row.when
        for view in facet.views:
            yield from view.while_
    for reached in table.on_tally:
        yield reached.when


def _parent(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    if table.parent is None:
        return
    parent = named.get(table.parent)
    if parent is None:
        yield f"its parent {table.parent} is no kind here: register that table too, or correct the name"
    elif len(parent.id) >= len(table.id):
        yield f"its id must be longer than its parent's ({'/'.join(parent.id)}): begin it with the parent's parts"


def _children(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    """An observation of something below makes this known: its base must be one that can be."""
    if table.known_by == "itself" or not any(other.parent == table.kind for other in named.values()):
        return
    for facet in table.facets:
        if facet.adopted not in reachability.reachable(FacetMachine(facet), table.intents):
            yield (
                f"{facet.name}: what is below it adopts it as {facet.adopted}, to which no row leads: "
                f"name another base with adopted=State(...), State({ABSENT!r}) for none"
            )


def _relatives(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    for predicate in predicates(table):
        kind = getattr(predicate, "kind", table.kind)
        looks_up = isinstance(predicate, Above | AttributeIs)
        if isinstance(predicate, Child):
            yield from _child(predicate, table, named)
        elif looks_up and kind != table.kind and not _is_above(kind, table.kind, named):
            yield f"`{predicate.text()}`: {kind} is not above {table.kind}: name an ancestor"
        elif isinstance(predicate, AnyBelow | AllBelow) and (
            predicate.of != table.kind or not _is_above(table.kind, kind, named)
        ):
            yield f"`{predicate.text()}`: {kind} is not below {table.kind}: name a descendant, and of={table.kind}"
        else:
            yield from _known(predicate, named)
    for facet in table.facets:
        below, place = facet.message_names or (table.kind, 0)
        if facet.message_names is not None and (
            not _is_above(table.kind, below, named) or place >= len(named[below].facets)
        ):
            yield f"{facet.name} names those of {below}, facet {place}, which is not below it: name a descendant's facet"
    yield from _unseen(table)


def _child(predicate: Child, table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    child = named.get(predicate.kind)
    if predicate.of != table.kind or child is None or child.parent != table.kind or len(child.id) != len(table.id) + 1:
        yield f"`{predicate.text()}`: {predicate.kind} is no child of {table.kind} by a name: name one, and of={table.kind}"
    elif predicate.named not in {attribute.name for attribute in table.attributes}:
        yield f"`{predicate.text()}`: {table.kind} has no attribute {predicate.named}: declare it there"
    else:
        yield from _phases(predicate.text(), child, child.facets[0], predicate.phases)


def _is_above(above: str, below: str, named: Mapping[str, Table]) -> bool:
    return above in named and below in named and any(path(named, above, below))


def _unseen(table: Table) -> Iterator[str]:
    """Views and tallies are told of changes only by what says what it reads."""
    for facet in table.facets:
        for view in facet.views:
            for seen in view.while_:
                own = isinstance(seen, AttributeIs) and seen.kind == table.kind
                if not own and not isinstance(seen, Above | AnyBelow | AllBelow):
                    yield (
                        f"view {view.to} looks at `{seen.text()}`, of whose change it would not hear: "
                        "look at a state above, a tally below or an own attribute"
                    )
    for reached in table.on_tally:
        if not isinstance(reached.when, AnyBelow | AllBelow):
            yield f"{reached.trigger} waits for `{reached.when.text()}`, which is no tally: write AnyBelow(...) or AllBelow(...)"


def _known(predicate: Predicate, named: Mapping[str, Table]) -> Iterator[str]:
    if isinstance(predicate, AttributeIs):
        if predicate.or_of is not None and not _is_above(predicate.or_of, predicate.kind, named):
            yield f"`{predicate.text()}`: {predicate.or_of} is not above {predicate.kind}: name an ancestor"
        if predicate.name not in {a.name for a in named[predicate.kind].attributes}:
            yield f"`{predicate.text()}`: {predicate.kind} has no attribute {predicate.name}: declare it there"
    elif isinstance(predicate, Above | AnyBelow | AllBelow):
        facets = named[predicate.kind].facets
        if predicate.facet >= len(facets):
            yield f"`{predicate.text()}`: {predicate.kind} has only {len(facets)} facet(s)"
            return
        yield from _phases(predicate.text(), named[predicate.kind], facets[predicate.facet], predicate.phases)
        if isinstance(predicate, AnyBelow | AllBelow) and predicate.has is not None:
            conditions = {label.condition for label in facets[predicate.facet].labels}
            if predicate.has not in conditions:
                yield f"`{predicate.text()}`: {predicate.kind} has no condition {predicate.has}: correct the name"


def _phases(text: str, table: Table, facet: Facet, phases: tuple[str, ...]) -> Iterator[str]:
    for phase in phases:
        if phase not in phases_of(facet):
            yield f"`{text}`: {table.kind} has no phase {phase}: correct the name"


def downward(table: Table) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """What a table fires at whom: each trigger and kind, with the triggers of its own that do."""
    for fired in table.cascades:
        yield from ((fired.trigger, kind, (*fired.on, *_entering(table, fired.into))) for kind in fired.at)
    for told in table.fan_outs:
        yield from ((trigger, told.at, told.on) for trigger in told.triggers)


def _fired(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    for trigger, kind, _ in downward(table):
        if kind not in named or not any(path(named, table.kind, kind)):
            yield f"it fires {trigger} at {kind}, which is not below it: name a descendant"
        elif trigger not in (*named[kind].derived, *named[kind].intents):
            yield f"it fires {trigger} at {kind}, where it is no derived trigger: add it to `derived`, with a row"
    for fired in (fired for fired in table.cascades if fired.only_child is not None):
        for kind in (kind for kind in fired.at if len(named[kind].id) != len(table.id) + 1):
            yield f"it fires {fired.trigger} at one {kind}, whose id has more than a name more: name a child"
    for kind, facet in table.tallies:
        if kind not in named or not any(path(named, table.kind, kind)) or facet >= len(named[kind].facets):
            yield f"it counts facet {facet} of {kind}, which is not below it: name a descendant and one of its facets"
    for reached in table.on_tally:
        if reached.trigger not in table.derived:
            yield f"it fires {reached.trigger} at itself: add it to `derived`, with a row"
    firing = {(kind, trigger) for t in named.values() for trigger, kind, _ in downward(t)}
    firing |= {(table.kind, reached.trigger) for reached in table.on_tally}
    firing |= {(table.kind, after.trigger) for facet in table.facets for after in facet.timeouts}
    for trigger in table.derived:
        if (table.kind, trigger) not in firing:
            yield f"nothing fires the derived trigger {trigger}: add a Cascade, a FanOut, an OnTally or a Timeout for it, or remove it"


def _settles(table: Table, named: Mapping[str, Table]) -> Iterator[str]:
    """A view that looks up must not depend on what a view that looks down shows.

    See docs/spec/reading-the-tables.md, Base and state.
    """
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
                                f"view {view.to} looks up at `{seen.text()}`, which {seen.kind}'s view {other.to} changes by "
                                "looking down: look at the base (base=True), or at phases that view neither shows nor covers"
                            )


def _mirrors(table: Table) -> Iterator[str]:
    """Views of one facet may look at another's state, but not in a circle."""
    looks = {
        index: {s.facet for view in facet.views for s in view.while_ if isinstance(s, Above) and s.kind == table.kind and not s.base}
        for index, facet in enumerate(table.facets)
    }  # fmt: skip
    try:
        TopologicalSorter(looks).prepare()
    except CycleError as error:
        circle = " -> ".join(table.facets[index].name for index in reversed(error.args[1]))
        yield f"its views look at what they show themselves ({circle}): look at the base (base=True)"


def _swayed(seen: Above, above: Facet, other: View) -> bool:
    """Whether the view `other` of the facet `above` can change what `seen` says of it."""
    covered = set(other.base or phases_of(above)).difference(other.unless, (ABSENT, DELETED))
    if other.to in seen.phases or covered.intersection(seen.phases):
        return True
    later = above.views[above.views.index(other) + 1 :]
    return any(v.to in seen.phases and covered.intersection(v.base or phases_of(above)) for v in later)


def _cascades_end(named: Mapping[str, Table]) -> None:
    graph: dict[str, dict[str, None]] = {}
    for table in named.values():
        for trigger, kind, causes in downward(table):
            for on in causes:
                graph.setdefault(f"{table.kind}.{on}", {})[f"{kind}.{trigger}"] = None
        for reached in table.on_tally:
            if isinstance(reached.when, AnyBelow | AllBelow):
                for trigger in named[reached.when.kind].triggers:
                    graph.setdefault(f"{reached.when.kind}.{trigger}", {})[f"{table.kind}.{reached.trigger}"] = None
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise WrongTable(
            error.args[1][0].split(".")[0], [f"its cascades circle: {circle}: drop one of them"]
        ) from error


def _entering(table: Table, phase: str | None) -> list[str]:
    return (
        []
        if phase is None
        else [
            row.trigger
            for facet in table.facets
            for row in facet.rows
            if row.to == phase or (row.to == SAME and row.clears and phase == facet.healthy)
        ]
    )
