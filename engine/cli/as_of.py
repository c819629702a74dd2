"""The line that says which moment a view shows, so that nobody takes an earlier state for the latest one.

Belongs here: that line. Does not: parsing moments (`options`), resolving them (`phaseline.engine.log.as_of`).
"""

from phaseline.engine.cli import render, terminal
from phaseline.engine.client.entity_view import EntityView
from phaseline.engine.log.when import Moment


def time_of(view: EntityView[Moment | None]) -> int:
    """The time of the view, ns. If it does not show the latest states, print its moment on stderr."""
    if view.moment is None:
        return render.now_ns()
    terminal.say(f"as of {render.local_time(view.moment.time_ns)}, place {view.moment.place} of the log")
    return view.moment.time_ns
