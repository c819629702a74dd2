"""Checks of those who follow the log under a name.

Belongs here: who is far behind, and who cannot go on. Does not: followers themselves (`engine.surfaces.follow`).
"""

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.direct_get import direct
from phaseline.engine.surfaces.doctor.check_result import CheckResult, failed, ok, warning
from phaseline.engine.surfaces.doctor.server_checks import age
from phaseline.engine.surfaces.follow import follower
from phaseline.engine.surfaces.follow.follower import FollowerState
from phaseline.schemas.errors import NoAnswer, NotFound, NotPermitted
from phaseline.schemas.records import nanoseconds

LATE = 600.0
"""Seconds for which a transition may wait for a follower."""
ADVICE = "is a program running that follows under this name? `phaseline admin followers --remove {}` forgets its place"


async def followers(installation: Installation) -> list[CheckResult]:
    """One finding for all followers that keep up, and one for each other; none if there are no followers."""
    try:
        there = await follower.all_of(installation)
        found = {one.name: await _finding(installation, one) for one in there}
    except (NotPermitted, NoAnswer):  # the checks of the streams have said so
        return []
    well = [name for name, finding in found.items() if finding is None]
    all_well = [ok("followers", f"{len(well)} of {len(found)} keep up ({', '.join(well)})")] if well else []
    return [*all_well, *(finding for finding in found.values() if finding is not None)]


async def _finding(installation: Installation, one: FollowerState) -> CheckResult | None:
    """What is wrong with a follower; None if it keeps up."""
    try:
        await follower.check_goes_on(installation, one)
    except NotFound as error:
        return failed(f"follower {one.name}", error)
    waits = await _waits(installation, one) if one.behind or one.in_hand else 0.0
    if waits < LATE:
        return None
    again = f"; {one.again} of these were handed out before" if one.again else ""
    said = f"{one.behind} transitions wait, and {one.in_hand} are in hand{again}; the oldest for {waits / 60:,.0f} min"
    return warning(f"follower {one.name}", said, ADVICE.format(one.name))


async def _waits(installation: Installation, one: FollowerState) -> float:
    """For how many seconds the first record behind its place is in the log."""
    stored = list[int]()
    for subject in one.subjects:
        asked = {"seq": one.place + 1, "next_by_subj": subject}
        reply = await direct(installation.wire, installation.layout.log, asked)
        if reply is not None:
            stored.append(nanoseconds(reply.headers["Nats-Time-Stamp"]))
    return age(min(stored)) if stored else 0.0
