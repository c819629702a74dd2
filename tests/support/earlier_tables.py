"""The tables of edge hosting as they were before requests had deadlines, for records that were made by them.

Belongs here: today's tables without what deadlines brought. Does not: the records.
"""

from dataclasses import replace

from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.edge_hosting.requests import ALL_FAILED
from phaseline.machines.language.predicates import Above, AnyBelow, Predicate
from phaseline.machines.language.table import STALLED, At, Facet, Row, Source, Table
from tests.support import edge_worlds

DELETED_FROM = {
    "cluster": ("Running", "Failed", "Stopped"),
    "node_pool": ("Running", "Failed"),
    "node": ("Running", "Stopped", "Failed"),
    "component": ("Running", "Updating", At("Failed", lacks=("ClusterNotRunning",))),
}


def _known(source: Source) -> bool:
    return not (isinstance(source, At) and source.has in (STALLED, ALL_FAILED))


def _row(kind: str, row: Row) -> Row:
    if row.trigger == "delete":
        return replace(row, source=DELETED_FROM[kind], given={})
    return replace(row, source=tuple(filter(_known, row.source)))


def _facet(kind: str, facet: Facet) -> Facet:
    rows = (row for row in facet.rows if not row.given.keys() & {"abandon"} or row.given["abandon"] is None)
    return replace(
        facet,
        pending=facet.pending_phases,
        labels=tuple(label for label in facet.labels if label.condition != ALL_FAILED),
        rows=tuple(_row(kind, row) for row in rows),
        views=tuple(
            replace(view, while_=tuple(map(_counts_all, view.while_)))
            for view in facet.views
            if view.condition != ALL_FAILED
        ),
    )


def _counts_all(predicate: Predicate) -> Predicate:
    return replace(predicate, lacks=None) if isinstance(predicate, AnyBelow) else predicate


def _table(table: Table) -> Table:
    facets = tuple(_facet(table.kind, facet) for facet in table.facets)
    whens = tuple(replace(facet, rows=tuple(map(_without_new_guards, facet.rows))) for facet in facets)
    return replace(table, facets=whens)


def _without_new_guards(row: Row) -> Row:
    return replace(row, when=tuple(replace(one, or_has=()) if isinstance(one, Above) else one for one in row.when))


KINDS = Kinds([_table(kind.written) for kind in edge_worlds.KINDS.values()], products=PRODUCTS)
