"""What the server says about itself: the tables, the API, whether it works; and the files of the page.

Belongs here: the handlers of these routes. Does not: the fleet and its entities (`entities`), the installation's
workers and streams.
"""

from typing import Any

from starlette.responses import Response

from phaseline.engine.errors import NameUnknown, PhaselineError
from phaseline.engine.http.access.caller import READ
from phaseline.engine.http.call import Call, HttpAnswer
from phaseline.engine.page.files import INDEX, LOGIN, files
from phaseline.engine.request_errors import PathUnknown
from phaseline.machines.docs import layout, plain
from phaseline.schemas.similar import did_you_mean
from phaseline.schemas.version import __version__


async def machines(call: Call) -> HttpAnswer:
    """The tables of all kinds."""
    kinds = call.service.kinds
    return HttpAnswer({"digest": kinds.digest, "machines": [plain.kind(kind) for kind in kinds.values()]})


async def machine(call: Call) -> HttpAnswer:
    """The table of one kind, and the diagrams of its facets."""
    kinds, name = call.service.kinds, call.values["kind"]
    if name not in kinds:
        raise NameUnknown.among("kind", name, kinds)
    found = kinds[name]
    return HttpAnswer({**plain.kind(found), "diagrams": [layout.diagram(one) for one in found.machines]})


async def livez(_: Call) -> HttpAnswer:
    """Whether the process answers."""
    return HttpAnswer({"status": "ok", "version": __version__})


async def readyz(call: Call) -> HttpAnswer:
    """Whether the fleet is loaded and followed: 200, or 503."""
    service = call.service
    try:
        fleet = await service.fleet()
        problem = None
    except PhaselineError as error:
        fleet, problem = None, str(error)
    body: dict[str, Any] = {"status": "ok" if problem is None else "not ready"}
    if call.values["verbose"]:
        body |= {
            "problem": problem, "connected": service.is_connected, "version": __version__,
            "place": None if fleet is None else fleet.place, "entities": 0 if fleet is None else len(fleet),
        }  # fmt: skip
    return HttpAnswer(body, status=200 if problem is None else 503)


async def openapi(call: Call) -> HttpAnswer:
    """The description of the API."""
    return HttpAnswer(call.service.description)


async def index(call: Call) -> Response:
    """The page; a form to log in for whoever may read nothing."""
    return _file(INDEX if READ in call.caller.roles else LOGIN)


async def page(call: Call) -> Response:
    """A file of the page."""
    return _file(call.values["file"])


def _file(name: str) -> Response:
    found = files().get(name)
    if found is None:
        raise PathUnknown(path=f"/page/{name[:128]}", meant=did_you_mean(name, files()))
    return Response(found.body, media_type=found.type, headers={"Cache-Control": "no-cache"})
