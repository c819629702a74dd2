"""The line that says which moment a view shows, so that nobody takes an earlier state for the latest one.

Belongs here: that line. Does not: parsing moments (`options`), resolving them (`phaseline.engine.log.as_of`).
"""

from phaseline.engine.cli import render, terminal
from phaseline.engine.client.entity_view import EntityView
from phaseline.engine.log.when import Moment


def time_of(view: EntityView[Moment | None]) -> int:
    """The time of the view, ns. If it does not show the latest states, print its moment on stderr."""
    return time_at(view.moment)


def time_at(moment: Moment | None, cell: str = "") -> int:
    """The time of a moment, ns, or the present one. A moment is printed on stderr, with the name of its cell."""
    if moment is None:
        return render.now_ns()
    log = f"the log of {cell}" if cell else "the log"
    terminal.say(f"as of {render.local_time(moment.time_ns)}, place {moment.place} of {log}")
    return moment.time_ns
