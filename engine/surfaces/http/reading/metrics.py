"""The metrics of the HTTP server.

Belongs here: their values, and the handler. Does not: counting (`traffic`), the text (`telemetry.exposition`).
"""

from collections.abc import Iterator

from starlette.responses import Response

from phaseline.engine.surfaces.http.call import Call
from phaseline.engine.surfaces.http.service import Service
from phaseline.engine.surfaces.telemetry.readings import Reading, of_connection, of_program
from phaseline.schemas import libraries

PLAIN = "text/plain"


async def metrics(call: Call) -> Response:
    """All of them, as Prometheus reads them."""
    libraries.require("prometheus_client", "metrics")
    from phaseline.engine.surfaces.telemetry.exposition import exposed  # noqa: PLC0415  # not everybody has the library

    headers = call.request.headers
    found = exposed(dict(_values(call.service)), headers.get("accept", ""), headers.get("accept-encoding", ""))
    return Response(found.body, headers={**found.headers, "Cache-Control": "no-store"})


def _values(service: Service) -> Iterator[Reading]:
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
