"""The moment that a view shows: said to the person, so that nobody takes what was for what is.

Belongs here: that line. Does not: parsing moments (`options`), finding their place (`phaseline.engine.past`).
"""

from datetime import datetime

from phaseline.engine.cli import looks, talk
from phaseline.engine.client import Client
from phaseline.engine.past import Moment


async def moment_of(client: Client, at: Moment | None) -> int:
    """The moment that is shown, ns; said on stderr unless it is now."""
    if at is None:
        return looks.now_ns()
    place = await client.place(at)
    if isinstance(at, datetime):
        found = int(at.timestamp() * 1e9)
    else:
        found = await client.time_of(place)
    talk.say(f"as of {looks.moment(found)}, place {place} of the log")
    return found
