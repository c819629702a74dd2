"""Tells a person which moment a view shows, so that nobody takes an earlier state for the latest one.

Belongs here: that line. Does not: parsing moments (`options`), resolving them (`phaseline.engine.log.as_of`).
"""

from phaseline.engine.cli import render, terminal
from phaseline.engine.client.entity_view import EntityView
from phaseline.engine.log.when import Moment


def moment_of(view: EntityView[Moment | None]) -> int:
    """The time of the view, ns. Unless it shows the latest states, says on stderr which moment that is."""
    if view.moment is None:
        return render.now_ns()
    terminal.say(f"as of {render.moment(view.moment.time)}, place {view.moment.place} of the log")
    return view.moment.time
