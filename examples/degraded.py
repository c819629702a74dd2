"""A table in which `degraded` is a phase of its own for components, instead of a condition of Failed.

    phaseline replay --with examples/degraded.py:COMPONENT

decides the recorded events by this table in place of the installed one, and shows the differences.
"""

from dataclasses import replace

from phaseline.machines.edge.component import COMPONENT as INSTALLED
from phaseline.machines.edge.component import RUNNING, UPDATING
from phaseline.machines.language.table import Label, Row

DEGRADED = "Degraded"

(facet,) = INSTALLED.facets


def changed(row: Row) -> Row | None:
    """The row in the changed table: what can start from Running can start from Degraded too; None to drop the row."""
    if row.trigger == "degraded" or row.given.get("condition") == DEGRADED:
        return None
    source = (*row.source, DEGRADED) if RUNNING in row.source else row.source
    return replace(row, source=source, clears=tuple(name for name in row.clears if name != DEGRADED))


labels = tuple(label for label in facet.labels if label.condition != DEGRADED)
rows = tuple(row for row in map(changed, facet.rows) if row is not None)

COMPONENT = replace(
    INSTALLED,
    facets=(
        replace(
            facet,
            labels=(*labels, Label(DEGRADED, DEGRADED, "降级", "Degraded")),
            rows=(
                *rows,
                Row((RUNNING, UPDATING), "degraded", DEGRADED),
                Row((DEGRADED,), "recovered", RUNNING, given={"condition": DEGRADED}),
                Row((DEGRADED,), "recovered", RUNNING, given={"condition": None}),
            ),
        ),
    ),
)
