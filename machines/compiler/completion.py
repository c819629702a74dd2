"""What the language gives to tables: rows for `owner_gone`, the kinds of `CHILDREN`, what places and deadlines bring.

Belongs here: a table as the engine runs it, out of the table as it is written. Does not: checking either (`checks`),
the version, which is that of the written table (`fingerprint`).
"""

from collections.abc import Iterable

from msgspec.structs import replace

from phaseline.machines.language.brake import with_brake
from phaseline.machines.language.contact import FACET, has_contact, with_contact, with_kinds_below
from phaseline.machines.language.deadlines import with_deadlines
from phaseline.machines.language.signals import with_signals
from phaseline.machines.language.table import CHILDREN, DELETED, LIVE, OWNER_GONE, Cascade, Facet, Row, Table
from phaseline.schemas.records import SIGNALS

ENDS_WITH_OWNER = Row((LIVE,), OWNER_GONE, DELETED)
"""The row of a facet that has none for this trigger."""


def completed(table: Table, tables: Iterable[Table]) -> Table:
    """The table as the engine runs it. `tables` are all of the installation."""
    below = tuple(one.kind for one in tables if has_contact(one) and _is_below(one, table.kind, tables))
    table = with_deadlines(with_brake(with_kinds_below(with_signals(with_contact(table)), below)))
    cascades = tuple(_resolved(cascade, table.kind, tables) for cascade in table.cascades)
    table = replace(table, cascades=tuple(cascade for cascade in cascades if cascade.at))
    if table.parent is None:
        return table
    derived = table.derived if OWNER_GONE in table.derived else (*table.derived, OWNER_GONE)
    return replace(table, derived=derived, facets=tuple(map(_ending_with_its_owner, table.facets)))


def _is_below(table: Table, kind: str, tables: Iterable[Table]) -> bool:
    """Whether a table is below a kind. What is wrong with parents is found by the checks."""
    parents = {one.kind: one.parent for one in tables}
    seen, parent = {table.kind}, table.parent
    while parent is not None and parent not in seen:
        if parent == kind:
            return True
        seen.add(parent)
        parent = parents.get(parent)
    return False


def _ending_with_its_owner(facet: Facet) -> Facet:
    """The facet with a row that ends it when an entity above is deleted."""
    if facet is FACET or facet.name == SIGNALS or any(row.trigger == OWNER_GONE for row in facet.rows):
        return facet
    return replace(facet, rows=(*facet.rows, ENDS_WITH_OWNER))


def _resolved(cascade: Cascade, kind: str, tables: Iterable[Table]) -> Cascade:
    """The cascade with the names of the kinds at which it fires."""
    if cascade.at != CHILDREN:
        return cascade
    return replace(cascade, at=tuple(t.kind for t in tables if t.parent == kind and cascade.trigger in t.derived))


def implied_cascades(below: tuple[str, ...]) -> tuple[Cascade, ...]:
    """What an entity fires at these kinds below it without a cascade of its table."""
    return (Cascade(OWNER_GONE, at=below, into=DELETED),) if below else ()
