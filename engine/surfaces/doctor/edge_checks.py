"""Checks of the edges of an installation.

Belongs here: which states of an edge are well, and which need somebody. Does not: how an edge is (`worker.sites`).
"""

from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.surfaces.doctor.check_result import CheckResult, ok, problem, unknown, warning
from phaseline.engine.worker.sites import adding, edge_state
from phaseline.engine.worker.sites.edge_state import WAITS, EdgeState
from phaseline.schemas.errors import NoAnswer, NotPermitted, SetupError


async def edges(wire: Wire, layout: Layout) -> list[CheckResult]:
    """One finding for all edges that are well, and one for each other; none if there are no edges."""
    try:
        if not await adding.added(wire, layout):
            return []
    except (NotPermitted, NoAnswer):  # the checks of the streams have said so
        return []
    try:
        found = await edge_state.edges(wire, wire.settings)
    except SetupError as error:
        if not (isinstance(error, NotPermitted) or SetupError.edge_account_missing.made(error)):
            raise
        return [unknown("edges", "this user may not ask how they are")]
    well = [one for one in found if one.state == "connected"]
    waiting = sum(one.waiting or 0 for one in well)
    where = f"{waiting:,} events are on the way" if waiting else "all that they have is here"
    repeats = sum(one.repeats for one in found)
    where += f"; {repeats:,} events came twice, and counted once" if repeats else ""
    all_well = [ok("edges", f"{len(well)} of {len(found)} connected; {where}")] if well else []
    return [*all_well, *(_finding(one) for one in found if one.state != "connected")]


def _finding(one: EdgeState) -> CheckResult:
    make = warning if one.state in WAITS else problem
    return make(f"edge {one.edge}", one.state, one.advice)
