"""The cells themselves: where each stands, and whether they can be read.

Belongs here: the handlers of these routes. Does not: what all cells hold, which `reading` answers as of one
installation.
"""

from typing import Any

from phaseline.engine.log.when import Moment
from phaseline.engine.surfaces.http.call import CallOf, HttpAnswer
from phaseline.engine.surfaces.http.cells.cells_service import CellsService
from phaseline.engine.surfaces.http.fleet import columns
from phaseline.engine.surfaces.http.reading.parts import NOT_KEPT, at, away
from phaseline.engine.surfaces.http.service import Service
from phaseline.schemas.errors import NameUnknown
from phaseline.schemas.version import __version__

CellsCall = CallOf[CellsService]
"""A request about all cells."""


async def cells(call: CellsCall) -> HttpAnswer:
    """All cells: whether they can be read, where they stand, how many entities they have."""
    return HttpAnswer({"cells": [_described(name, one) for name, one in call.service.cells.items()]}, headers=NOT_KEPT)


async def cell(call: CellsCall) -> HttpAnswer:
    """One cell."""
    name, known = call.values["cell"], call.service.cells
    if name not in known:
        raise NameUnknown.among("cell", name[:64], known)
    return HttpAnswer(_described(name, known[name]), headers=NOT_KEPT)


def _described(name: str, service: Service) -> dict[str, Any]:
    if service.problem is not None:
        return {"cell": name, "connected": service.is_connected, **away(service)}
    fleet = service.follower.fleet
    moment = Moment(fleet.place, fleet.time_ns)
    return {"cell": name, "connected": service.is_connected, **at(moment), "entities": len(fleet),
            **columns.tally(fleet)}  # fmt: skip


async def readyz(call: CellsCall) -> HttpAnswer:
    """Whether at least one cell is loaded and followed: 200, or 503. Who may not read everything learns no more."""
    problems = {name: one.problem for name, one in call.service.cells.items()}
    is_ready = None in problems.values()
    body: dict[str, Any] = {"status": "ok" if is_ready else "not ready"}
    if call.values["verbose"] and call.caller.may_read_all:
        body |= {"cells": problems, "version": __version__}
    return HttpAnswer(body, status=200 if is_ready else 503)
