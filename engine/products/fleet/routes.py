"""Fleet's counts by HTTP.

Belongs here: the routes and their handler. Does not: counting (`counts`), how a request is read (`surfaces.http`).
"""

from functools import partial

from phaseline.engine.products.fleet.counts import KINDS
from phaseline.engine.products.fleet.views import FleetView
from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.engine.surfaces.http.routes import AT, OF_ID, READ, Route


async def status(kind: str, call: Call) -> HttpAnswer:
    """The counts of a repository, a bundle or a deployment."""
    entity_id, view = call.values["id"], await call.service.view(call.values["at"])
    await view.entities.get(kind, entity_id)
    found = await FleetView(view.entities).counts(entity_id)
    return HttpAnswer({"status": found}, view.moment, is_past=view.is_past)


ROUTES = tuple(
    Route("GET", f"/v1/status/{kind}/{{id}}", f"get{kind.title().replace('_', '')}Status", partial(status, kind),
          f"Counts of resources and deployments below a {kind}.", (OF_ID, AT), problems=READ, is_across=True)
    for kind in KINDS
)  # fmt: skip
