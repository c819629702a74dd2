"""The tables of an installation in a simulation, and those that follow them in a rolling update.

Belongs here: both. Does not: when workers change to the others (`troubles`).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.kinds import Kinds, table_of
from phaseline.machines.language.table import OK, Label, Retired, Row, Table
from tests.support.built_in_kinds import KINDS_OF_PRODUCT

RESTING = "Resting"
"""A phase of nodes that the later tables do not have."""


@cache
def former() -> Kinds:
    """Those of edge hosting, without the services and bans of products, with a phase more."""
    return _kinds(_resting)


@cache
def later() -> Kinds:
    """Those of edge hosting. Nodes that rest are Running."""
    return _kinds(_without_rest)


def of_digest() -> dict[str, Kinds]:
    """Both, by their digest."""
    return {one.digest: one for one in (former(), later())}


def _kinds(node: Callable[[Table], Table]) -> Kinds:
    tables = tuple(node(table_of(one)) if one.kind == "node" else one for one in BUILT_IN)
    own = tuple(one for one in tables if one.kind in KINDS_OF_PRODUCT["edge-hosting"])
    return Kinds(own, checked=tables, products=())


def _resting(table: Table) -> Table:
    (facet,) = table.facets
    rows = (*facet.rows, Row(("Running",), "rest", RESTING), Row((RESTING,), "woken", "Running"))
    return replace(table, facets=(replace(facet, labels=(*facet.labels, Label(RESTING, OK, RESTING)), rows=rows),))


def _without_rest(table: Table) -> Table:
    (facet,) = table.facets
    return replace(table, facets=(replace(facet, retired=(Retired(RESTING, to="Running"),)),))
