"""EMCO's status by HTTP.

Belongs here: the route and its handler. Does not: the status (`load`), how a request is read (`surfaces.http`).
"""

from phaseline.engine.products.emco.load import KIND
from phaseline.engine.products.emco.query import LISTS, OUTPUTS, SHAPES, STATUSES, TYPES
from phaseline.engine.products.emco.views import EmcoView
from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.engine.surfaces.http.parameters import Parameter
from phaseline.engine.surfaces.http.routes import AT, OF_ID, READ, Route


async def status(call: Call) -> HttpAnswer:
    """The status of an EMCO resource, in both shapes."""
    values = dict(call.values)
    view = await call.service.view(values.pop("at"))
    found = await EmcoView(view.entities).status(values.pop("id"), **values)
    return HttpAnswer({"status": found}, view.moment, is_past=view.is_past)


QUERY = (
    Parameter("shape", "EMCO's design notes (`source`), or later EMCO", default="source", options=SHAPES),
    Parameter("output", "how much of it", default="all", options=OUTPUTS),
    Parameter("type", "what rsync has, what the cluster has; both without it", many=True, options=TYPES),
    Parameter("status", "only for the shape `emco`: this status", options=STATUSES),
    Parameter("app", "only these apps", many=True),
    Parameter("cluster", "only these clusters", many=True),
    Parameter("resource", "only these resources", many=True),
    Parameter("instance", "the app context, in place of the present one"),
    *(Parameter(name, f"only for the shape `emco`: the names of the {name}", "flag", default=False) for name in LISTS),
)
ROUTES = (
    Route("GET", f"/v1/status/{KIND}/{{id}}", "getEmcoStatus", status,
          "The status of an EMCO resource, in both shapes.", (OF_ID, AT, *QUERY), problems=READ, is_across=True),
)  # fmt: skip
