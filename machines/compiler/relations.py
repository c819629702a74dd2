"""How the kinds of an installation depend on each other: tallies, views, attributes, places above, what fires what.

Belongs here: what a kind's compiled form keeps of other kinds, read from all tables. Does not: the compiled kind
(`kinds`), mistakes between kinds (`check_kinds`).
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from phaseline.machines.compiler import check_kinds
from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.language.contact import FACET, has_contact
from phaseline.machines.language.deadlines import DEADLINE
from phaseline.machines.language.predicates import IN, OUT, Above, AllBelow, AnyBelow, AttributeIs, or_list
from phaseline.machines.language.table import ABSENT, DELETED, OWNER_GONE, Table
from phaseline.schemas.records import State


class Counted(msgspec.Struct, frozen=True):
    """A tally that an ancestor kind keeps of one facet of this kind.

    facet: the index of the facet that is counted.
    kind: the ancestor kind. levels: how many parts more the ids of this kind have.
    phases: the phases whose count matters to the ancestor when it becomes zero or leaves zero.
    has: the condition that an entity must have to be counted; None for every entity. lacks: one that it must not have.
    inside: phases, where those in one of them are only told from the others (`IN`, `OUT`).
    """

    facet: int
    kind: str
    levels: int
    phases: frozenset[str]
    has: str | None = None
    lacks: str | None = None
    inside: tuple[str, ...] | None = None

    def phase(self, state: State) -> str:
        """The phase under which a facet in this state is counted; Absent if it is not counted."""
        if self.inside is not None:
            return ABSENT if state.phase in (ABSENT, DELETED) else IN if state.phase in self.inside else OUT
        if self.lacks is not None and self.lacks in state.conditions:
            return ABSENT
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
    """The kinds with contact at or above an entity, from the bottom up, each with the number of parts of its ids."""
    above: Table | None = table
    while above is not None:
        if has_contact(above):
            yield above.kind, len(above.id)
        above = tables[above.parent] if above.parent else None


def with_deadlines_above(table: Table, tables: Mapping[str, Table]) -> Iterator[str]:
    """The kinds above whose entities may say how long requests may wait, from the bottom up."""
    while table.parent:
        table = tables[table.parent]
        if any(field.name == DEADLINE for field in table.attributes):
            yield table.kind


def counted_by(table: Table, tables: Mapping[str, Table]) -> Iterator[Counted]:
    """The tallies that kinds above keep of this kind. A guard only reads them, so no phase of its own matters."""
    phases: dict[tuple[int, str, str, str, tuple[str, ...]], set[str]] = {}
    for other in tables.values():
        for facet in (facet for kind, facet in other.tallies if kind == table.kind):
            phases.setdefault((facet, other.kind, "", "", ()), set())
        for predicate in check_kinds.predicates(other):
            if isinstance(predicate, AnyBelow | AllBelow) and predicate.kind == table.kind:
                phases.setdefault(_key(predicate, other), set())
        for predicate in check_kinds.watching(other):
            if isinstance(predicate, AnyBelow | AllBelow) and predicate.kind == table.kind:
                phases[_key(predicate, other)].update(_watched(predicate, table))
    for (facet, kind, has, lacks, inside), found in sorted(phases.items()):
        levels = len(table.id) - len(tables[kind].id)
        yield Counted(facet, kind, levels, frozenset(found), has or None, lacks or None, inside or None)


def _watched(predicate: AnyBelow | AllBelow, table: Table) -> tuple[str, ...]:
    """The phases whose count matters to a predicate that looks at a kind below."""
    if isinstance(predicate, AnyBelow):
        return predicate.phases
    return (IN, OUT) if predicate.some else phases_of(table.facets[predicate.facet])[1:]


def _key(predicate: AnyBelow | AllBelow, of: Table) -> tuple[int, str, str, str, tuple[str, ...]]:
    """Which tally a predicate of the table `of` asks for."""
    inside = predicate.phases if isinstance(predicate, AllBelow) and predicate.some else ()
    return predicate.facet, of.kind, predicate.has or "", predicate.lacks or "", inside


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
    own = (facet for facet in table.facets if facet is not FACET)
    return table.known_by != "itself" and all(facet.adopted.phase == ABSENT for facet in own)
