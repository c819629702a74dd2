"""What if `degraded` were a phase of its own for components, and not a cause of Failed?

    phaseline replay --with examples/degraded.py:COMPONENT

folds the recorded events through this table in place of the installed one and shows what would have been different.
"""

from dataclasses import replace

from phaseline.machines.edge.component import COMPONENT as INSTALLED
from phaseline.machines.edge.component import RUNNING, UPDATING
from phaseline.machines.language.table import Label, Row

DEGRADED = "Degraded"

(facet,) = INSTALLED.facets


def changed(row: Row) -> Row | None:
    """A row as it would be: what can start from Running can start from Degraded too."""
    if row.trigger == "degraded" or row.given.get("condition") == DEGRADED:
        return None
    source = (*row.source, DEGRADED) if RUNNING in row.source else row.source
    return replace(row, source=source, clears=tuple(cause for cause in row.clears if cause != DEGRADED))


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
