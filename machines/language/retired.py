"""The class of a line in a map of states: a state that a facet has no longer, and where its entities go.

Belongs here: what an author may write, each field explained. Does not: the other classes of a table (`table`), checking
and reading a map (`compiler.retiring`), moving entities (`engine.core.tables_change`).
"""

from phaseline.schemas.value import Value


class Retired(Value, frozen=True):
    """A state that a facet had in an earlier table, and where entities go that are in it when the tables change.

    phase: the phase of the earlier state.
    to: the phase that the base gets: one of the table, or the phase of another line, which then leads on.
    has: a condition; with it, the line is for bases of the phase with this condition. The phase itself may still exist.
    condition: the condition that comes with the phase `to`. It can be left out if the phase has only one.
    """

    phase: str
    to: str
    has: str | None = None
    condition: str | None = None
