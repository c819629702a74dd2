"""How the kinds of an installation depend on each other: tallies, views, attributes, places above, what fires what.

Belongs here: what a kind's compiled form keeps of other kinds, read from all tables; the way from a kind to one below
it (`path`), below what an entity is shown where its kind is nested, and the predicates of a table. Does not: the
compiled kind (`kinds`), mistakes between kinds (`check_kinds`).
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.language.contact import FACET, has_contact
from phaseline.machines.language.deadlines import DEADLINE
from phaseline.machines.language.predicates import OUT, Above, AllBelow, AnyBelow, AttributeIs, Predicate, or_list
from phaseline.machines.language.product import LateTable
from phaseline.machines.language.table import ABSENT, DELETED, OWNER_GONE, REPORTED, Row, Table
from phaseline.schemas.records import State
from phaseline.schemas.subjects import ancestor_id

if TYPE_CHECKING:
    from phaseline.machines.compiler.kinds import Kind


class Counted(msgspec.Struct, frozen=True):
    """A tally that an ancestor kind keeps of one facet of this kind.

    facet: the index of the facet that is counted.
    kind: the ancestor kind. levels: how many parts more the ids of this kind have.
    phases: the phases whose count matters to the ancestor when it becomes zero or leaves zero.
    has: the condition that an entity must have to be counted; None for every entity. lacks: one that it must not have;
        then only `phases` are counted, because nobody reads the others.
    inside: phases, where those that live and are in none of them are counted together (`OUT`).
    each: whether every change of the count matters, not only one that leaves zero or comes to it.
    """

    facet: int
    kind: str
    levels: int
    phases: frozenset[str]
    has: str | None = None
    lacks: str | None = None
    inside: tuple[str, ...] | None = None
    each: bool = False

    def phase(self, state: State) -> str:
        """The phase under which a facet in this state is counted; Absent if it is not counted."""
        if self.inside is not None:
            return ABSENT if state.phase in (ABSENT, DELETED, *self.inside) else OUT
        if self.lacks is not None and (self.lacks in state.conditions or state.phase not in self.phases):
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


def path(named: Mapping[str, Table | LateTable], above: str, below: str) -> Iterator[str]:
    """The kinds from below `above` down to `below`; none if `below` is not below `above`."""
    chain = [below]
    while (parent := named[chain[-1]].parent) is not None:
        if parent == above:
            yield from reversed(chain)
            return
        chain.append(parent)


def root(kinds: "Mapping[str, Table | LateTable] | Mapping[str, Kind]", kind: str) -> str:
    """The kind at the root of the tree of a kind."""
    while (parent := kinds[kind].parent) is not None:
        kind = parent
    return kind


def predicates(table: Table) -> Iterator[Predicate]:
    """The predicates of a table: of guards, views and on-tally triggers."""
    return (predicate for _, predicate in placed(table))


def guards(table: Table) -> Iterator[Predicate]:
    """The predicates of guards."""
    return (predicate for facet in table.facets for row in facet.rows for predicate in row.when)


def watching(table: Table) -> Iterator[Predicate]:
    """The predicates of views and on-tally triggers. They are asked again when what they look at has changed."""
    return (predicate for _, predicate in _watching(table))


def placed(table: Table) -> Iterator[tuple[str, Predicate]]:
    """All predicates of a table, each with the place where it stands."""
    for facet in table.facets:
        for number, row in enumerate(facet.rows, 1):
            yield from ((f"{facet.name}, row {number} ({row.trigger})", predicate) for predicate in row.when)
    yield from _watching(table)


def _watching(table: Table) -> Iterator[tuple[str, Predicate]]:
    for facet in table.facets:
        for view in facet.views:
            yield from ((f"{facet.name}, view {view.to}", predicate) for predicate in view.while_)
    for on_tally in table.on_tally:
        yield f"on_tally {on_tally.trigger}", on_tally.when


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


TallySort = tuple[int, str, str, str, tuple[str, ...] | None]
"""The facet, the kind above, the conditions `has` and `lacks`, and `inside`."""


def counted_by(table: Table, tables: Mapping[str, Table]) -> Iterator[Counted]:
    """The tallies that kinds above keep of this kind. A guard only reads them, so no phase of its own matters.

    Where `lacks` leaves some out, only the phases that matter are counted, and all of them do to a guard, which says
    what it found.
    """
    phases: dict[TallySort, set[str]] = {}
    for other in tables.values():
        for facet in (facet for kind, facet in other.tallies if kind == table.kind):
            phases.setdefault((facet, other.kind, "", "", None), set())
        for predicate in predicates(other):
            if isinstance(predicate, AnyBelow | AllBelow) and predicate.kind == table.kind:
                for key in _keys(predicate, other):
                    phases.setdefault(key, set())
        for predicate in watching(other):
            if isinstance(predicate, AnyBelow | AllBelow) and predicate.kind == table.kind:
                for key in _keys(predicate, other):
                    phases[key].update(_watched(predicate, table, key[-1]))
        for predicate in guards(other):
            if isinstance(predicate, AnyBelow | AllBelow) and predicate.kind == table.kind and predicate.lacks:
                for key in _keys(predicate, other):
                    phases[key].update(phases_of(table.facets[predicate.facet])[1:])
    each = {key for other in tables.values() for key in _numbered(other, table.kind)}
    for key, found in sorted(phases.items(), key=_in_order):
        facet, kind, has, lacks, inside = key
        levels = len(table.id) - len(tables[kind].id)
        yield Counted(facet, kind, levels, frozenset(found), has or None, lacks or None, inside, key in each)


def _numbered(table: Table, below: str) -> Iterator[TallySort]:
    """The tallies of a kind below that are held against a number: those of all that live."""
    for predicate in watching(table):
        if isinstance(predicate, AnyBelow) and predicate.kind == below and predicate.fewer_than is not None:
            yield from (key for key in _keys(predicate, table) if key[-1] is not None)


def _watched(predicate: AnyBelow | AllBelow, table: Table, inside: tuple[str, ...] | None) -> tuple[str, ...]:
    """The phases whose count matters to a predicate that looks at a kind below, in one of its tallies."""
    if inside is not None:
        return (OUT,)
    return predicate.phases if isinstance(predicate, AnyBelow) else phases_of(table.facets[predicate.facet])[1:]


def _keys(predicate: AnyBelow | AllBelow, of: Table) -> Iterator[TallySort]:
    """Which tallies a predicate of the table `of` asks for."""
    for inside in predicate.apart:
        yield predicate.facet, of.kind, predicate.has or "", predicate.lacks or "", inside


def _in_order(one: tuple[TallySort, object]) -> tuple[object, ...]:
    *first, inside = one[0]
    return (*first, inside is not None, inside or ())


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
    from phaseline.machines.compiler import check_kinds  # noqa: PLC0415  # who only reads states compiles nothing

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


def ending(observed: Sequence[Row]) -> Iterator[str]:
    """The observations, beside reports, that say that an entity is gone. observed: rows of the first facet.

    All their rows lead to Deleted, or one says so of what is Deleted already.
    """
    for trigger in {row.trigger for row in observed} - {REPORTED}:
        rows = [row for row in observed if row.trigger == trigger]
        said = any(row.source == (DELETED,) and row.to == DELETED for row in rows)
        if said or all(row.to == DELETED for row in rows):
            yield trigger


Name = tuple[str, str]
"""A kind and an id."""


def shown_below(kinds: "Mapping[str, Kind]", kind: str, entity_id: str) -> Iterator[Name]:
    """What an entity stands below, the nearest first: those of its own kind in which it is nested, then its parent."""
    known = kinds.get(kind)
    if known is None or known.parent is None:
        return
    if separator := known.table.nested_by:
        head, _, last = entity_id.rpartition("/")
        while separator in last:
            last = last.rpartition(separator)[0]
            yield kind, f"{head}/{last}"
    yield known.parent, ancestor_id(entity_id, known.parent_arity)


def nearest(kinds: "Mapping[str, Kind]", kind: str, entity_id: str, found: Container[Name]) -> Name | None:
    """The nearest of these that is among what was found; None if none is."""
    return next((one for one in shown_below(kinds, kind, entity_id) if one in found), None)


def parent_of(kinds: "Mapping[str, Kind]", kind: str, entity_id: str) -> Name | None:
    """The nearest of these, whether it is there or not; None for a root."""
    return next(shown_below(kinds, kind, entity_id), None)


def with_all_above(kinds: "Mapping[str, Kind]", kind: str, entity_id: str) -> Iterator[Name]:
    """An entity, and everything below which it is shown, the nearest first; whether that is there or not."""
    name: Name | None = (kind, entity_id)
    while name is not None:
        yield name
        name = parent_of(kinds, *name)
