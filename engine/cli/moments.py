"""Tells a person which moment a view shows, so that nobody takes an earlier state for the latest one.

Belongs here: that line. Does not: parsing moments (`options`), resolving them (`phaseline.engine.past`).
"""

from phaseline.engine.cli import looks, talk
from phaseline.engine.entity_view import EntityView
from phaseline.engine.when import Moment


def moment_of(view: EntityView[Moment | None]) -> int:
    """The time of the view, ns. Unless it shows the latest states, says on stderr which moment that is."""
    if view.moment is None:
        return looks.now_ns()
    talk.say(f"as of {looks.moment(view.moment.time)}, place {view.moment.place} of the log")
    return view.moment.time
