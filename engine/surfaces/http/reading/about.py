"""What the server says about itself: the tables, the API, whether it works, its metrics; and the files of the page.

Belongs here: the handlers of these routes, the values of its metrics. Does not: the fleet and its entities
(`entities`), the installation's workers and streams, counting (`traffic`), the text of metrics
(`telemetry.exposition`).
"""

from collections.abc import Iterator
from importlib import resources
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import Response

from phaseline import schemas
from phaseline.engine.surfaces.http.access.caller import READ
from phaseline.engine.surfaces.http.call import AnyCall, Call, HttpAnswer
from phaseline.engine.surfaces.http.service import Service
from phaseline.engine.surfaces.page.files import FIRST_SCREEN, INDEX, LOGIN, MAIN, files, modules
from phaseline.engine.surfaces.telemetry.readings import Reading, of_connection, of_program
from phaseline.machines.docs import layout, plain
from phaseline.schemas import libraries
from phaseline.schemas.errors import NameUnknown, NotFound, PhaselineError, did_you_mean
from phaseline.schemas.version import __version__


async def machines(call: Call) -> HttpAnswer:
    """The tables of all kinds."""
    return HttpAnswer(call.service.tables)


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
    """Whether the fleet is loaded and followed: 200, or 503. Who may not read everything learns no more."""
    service = call.service
    try:
        fleet = await service.fleet()
        problem = None
    except PhaselineError as error:
        fleet, problem = None, str(error)
    body: dict[str, Any] = {"status": "ok" if problem is None else "not ready"}
    if call.values["verbose"] and call.caller.may_read_all:
        body |= {
            "problem": problem, "connected": service.is_connected, "version": __version__,
            "place": None if fleet is None else fleet.place, "entities": 0 if fleet is None else len(fleet),
        }  # fmt: skip
    return HttpAnswer(body, status=200 if problem is None else 503)


async def openapi(call: Call) -> HttpAnswer:
    """The description of the API."""
    return HttpAnswer(call.service.description)


async def asyncapi(_: Call) -> HttpAnswer:
    """The description of the messages."""
    return HttpAnswer(resources.files(schemas).joinpath("asyncapi.json").read_bytes())


async def index(call: AnyCall) -> Response:
    """The page; a form to log in for whoever may read nothing.

    Of several cells it shows all, or the one that its address names. A header names what the page will ask for first,
    so that the browser fetches all of it at once.
    """
    if READ not in call.caller.roles:
        return _file(LOGIN)
    answer, cells, query = _file(INDEX), call.service.cells, call.request.url.query
    if cells:
        told = bytes(answer.body).replace(b"<html", b'<html data-cells="%s"' % " ".join(cells).encode(), 1)
        answer = Response(told, headers={"Cache-Control": "no-cache"}, media_type=answer.media_type)
    screen = call.request.scope["path"].split("/")[1] or FIRST_SCREEN
    wanted = [f"</page/{name}>; rel=modulepreload" for name in modules(MAIN, f"{screen}.js")]
    if "at=" not in query:
        chosen = parse_qs(query).get("cell", [""])[-1]
        columns = f"/v1/cells/{chosen}/columns" if chosen in cells else "/v1/columns"
        wanted.append(f"<{columns}>; rel=preload; as=fetch; crossorigin=anonymous")
    answer.headers["Link"] = ", ".join(wanted)
    return answer


async def page(call: Call) -> Response:
    """A file of the page."""
    return _file(call.values["file"])


def _file(name: str) -> Response:
    found = files().get(name)
    if found is None:
        raise NotFound.path_unknown(path=f"/page/{name[:128]}", meant=did_you_mean(name, files()))
    return Response(found.body, media_type=found.type, headers={"Cache-Control": "no-cache"})


METRICS_TYPE = "text/plain"


async def metrics(call: Call) -> Response:
    """All of them, as Prometheus reads them."""
    libraries.require("prometheus_client", "metrics")
    from phaseline.engine.surfaces.telemetry.exposition import exposed  # noqa: PLC0415  # not everybody has the library

    headers = call.request.headers
    found = exposed(dict(_metrics_of(call.service)), headers.get("accept", ""), headers.get("accept-encoding", ""))
    return Response(found.body, headers={**found.headers, "Cache-Control": "no-store"})


def _metrics_of(service: Service) -> Iterator[Reading]:
    yield from of_program(service.kinds)
    traffic = service.traffic
    yield "phaseline_http_requests_total", dict(traffic.requests.items())
    yield "phaseline_http_request_seconds", {(): traffic.seconds}
    yield "phaseline_http_connections", {(): traffic.clients.connections}
    yield "phaseline_http_refused_total", {(reason,): number for reason, number in traffic.clients.refused.items()}
    yield "phaseline_resyncs_total", {(): traffic.resyncs}
    if not service.is_found:
        yield "phaseline_nats_connected", {(): 0}
        return
    yield from of_connection(service.installation.wire)
    yield "phaseline_watchers", {(): service.hub.readers}
    fleet = service.follower.fleet
    yield "phaseline_log_place", {(): fleet.place}
    yield "phaseline_fleet_entities", {(): len(fleet)}
