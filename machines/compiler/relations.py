"""How the kinds of an installation depend on each other: tallies, views, attributes, places above, what fires what.

Belongs here: what a kind's compiled form keeps of other kinds, read from all tables. Does not: the compiled kind
(`kinds`), mistakes between kinds (`check_kinds`).
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from phaseline.machines.compiler import check_kinds
from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, or_list
from phaseline.machines.language.table import ABSENT, OWNER_GONE, Table
from phaseline.schemas.records import State


class Counted(msgspec.Struct, frozen=True):
    """A tally that an ancestor kind keeps of one facet of this kind.

    facet: the index of the facet that is counted.
    kind: the ancestor kind. levels: how many parts more the ids of this kind have.
    phases: the phases whose count matters to the ancestor when it becomes zero or leaves zero.
    has: the condition that an entity must have to be counted; None for every entity.
    """

    facet: int
    kind: str
    levels: int
    phases: frozenset[str]
    has: str | None

    def phase(self, state: State) -> str:
        """The phase under which a facet in this state is counted; Absent if it is not counted."""
        return state.phase if self.has is None or self.has in state.conditions else ABSENT


class Viewer(NamedTuple):
    """A kind below whose views look at one facet of this kind.

    facet: the index of the facet.
    phases: the phases that the views ask for.
    base: whether they look at the base, in place of the state.
    below: the kind of the views.
    """

    facet: int
    phases: frozenset[str]
    base: bool
    below: str


def places_of(table: Table, tables: Mapping[str, Table]) -> Iterator[tuple[str, int]]:
    """The kinds of the places at or above an entity, from the bottom up, each with the number of parts of its ids."""
    above: Table | None = table
    while above is not None:
        if above.place:
            yield above.kind, len(above.id)
        above = tables[above.parent] if above.parent else None


def counted_by(table: Table, tables: Mapping[str, Table]) -> Iterator[Counted]:
    """The tallies that kinds above keep of this kind. A guard only reads them, so no phase of its own matters."""
    phases: dict[tuple[int, str, str], set[str]] = {}
    for other in tables.values():
        for facet in (facet for kind, facet in other.tallies if kind == table.kind):
            phases.setdefault((facet, other.kind, ""), set())
        for predicate in check_kinds.predicates(other):
            if isinstance(predicate, AnyBelow | AllBelow) and predicate.kind == table.kind:
                phases.setdefault((predicate.facet, other.kind, predicate.has or ""), set())
        for predicate in check_kinds.watching(other):
            if isinstance(predicate, AnyBelow | AllBelow) and predicate.kind == table.kind:
                every = (
                    phases_of(table.facets[predicate.facet])[1:]
                    if isinstance(predicate, AllBelow)
                    else predicate.phases
                )
                phases[predicate.facet, other.kind, predicate.has or ""].update(every)
    for (facet, kind, has), found in sorted(phases.items()):
        yield Counted(facet, kind, len(table.id) - len(tables[kind].id), frozenset(found), has or None)


def viewers_of(table: Table, tables: Mapping[str, Table]) -> Iterator[Viewer]:
    """The kinds below whose views look at this kind."""
    for other in tables.values():
        for facet in other.facets:
            for view in facet.views:
                for predicate in view.while_:
                    if isinstance(predicate, Above) and predicate.kind == table.kind:
                        yield Viewer(predicate.facet, frozenset(predicate.phases), predicate.base, other.kind)


def inherited_from(table: Table, tables: Mapping[str, Table]) -> Iterator[tuple[str, str]]:
    """The attributes of this kind that views of kinds below look at in place of their own, each with that kind."""
    found: dict[tuple[str, str], None] = {}
    for other in tables.values():
        for seen in (seen for facet in other.facets for view in facet.views for seen in view.while_):
            if isinstance(seen, AttributeIs) and seen.or_of == table.kind:
                found[seen.name, other.kind] = None
    yield from found


def what_fires(table: Table, trigger: str, tables: Mapping[str, Table]) -> str:
    """What makes the engine fire a derived trigger: `delete of cluster`, `120 s in Creating`."""
    if trigger == OWNER_GONE:
        return "the end of an entity above it"
    above = [
        (other, on)
        for other in tables.values()
        for fired, kind, ons in check_kinds.downward(other)
        if (fired, kind) == (trigger, table.kind)
        for on in ons
    ]
    sent = [(other, on) for other, on in above if other.role(on) != "derived"]
    found = [f"{on} of {other.kind}" for other, on in sent or above]
    found += [f"`{one.when.text()}`" for one in table.on_tally if one.trigger == trigger]
    found += [f"time in {t.phase}" for facet in table.facets for t in facet.timeouts if t.trigger == trigger]
    return or_list(tuple(dict.fromkeys(found)))


def may_stay_unknown(table: Table) -> bool:
    """Whether entities may live below an unknown one of this kind, because adopting it leaves it Absent."""
    return table.known_by != "itself" and all(facet.adopted.phase == ABSENT for facet in table.facets)
