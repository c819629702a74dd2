"""A changed table for a what-if: `Degraded` is a phase of components, not a condition of Failed.

    phaseline log replay --with examples/degraded.py:COMPONENT

decides the recorded events by this table in place of the installed one, and lists what would differ.
"""

from dataclasses import replace

from phaseline.machines.kinds.edge_hosting.component import COMPONENT as INSTALLED
from phaseline.machines.kinds.edge_hosting.component import RUNNING, UPDATING
from phaseline.tables import Label, Row

DEGRADED = "Degraded"

(facet,) = INSTALLED.facets


def changed(row: Row) -> Row | None:
    """The row in the changed table, None if it goes. A row that starts from Running starts from Degraded too."""
    if row.trigger == "degraded" or row.given.get("condition") == DEGRADED:
        return None
    source = (*row.source, DEGRADED) if RUNNING in row.source else row.source
    return replace(row, source=source, clears=tuple(condition for condition in row.clears if condition != DEGRADED))


labels = tuple(label for label in facet.labels if label.condition != DEGRADED)
rows = tuple(row for row in map(changed, facet.rows) if row is not None)

COMPONENT = replace(
    INSTALLED,
    facets=(
        replace(
            facet,
            labels=(*labels, Label(DEGRADED, DEGRADED, "Degraded", {"zh": "降级"})),
            rows=(
                *rows,
                Row((RUNNING, UPDATING), "degraded", DEGRADED),
                Row((DEGRADED,), "recovered", RUNNING, given={"condition": DEGRADED}),
                Row((DEGRADED,), "recovered", RUNNING, given={"condition": None}),
            ),
        ),
    ),
)
