"""The description of the API in OpenAPI 3.1, made from the table of routes.

Belongs here: `document`. Does not: the routes (`routes`).
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from phaseline.engine.surfaces.http import problems
from phaseline.engine.surfaces.http.intake.bodies import BATCH_JSON, MOST
from phaseline.engine.surfaces.http.parameters import LONGEST, Parameter
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.version import __version__

if TYPE_CHECKING:
    from phaseline.engine.surfaces.http.routes import Route

PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        "type": {"type": "string", "description": f"`{problems.TYPE}` and the code of the error"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what is wrong, the value found, and what to do"},
        "instance": {"type": "string", "description": "the path of the request"},
        "remedy": {"type": "string", "description": "what to do, in terms of the command"},
    },
}
_TEXT = {"type": "string", "minLength": 1, "maxLength": 1024}
EVENT = {
    "type": "object",
    "required": ["id", "source", "type", "specversion", "subject"],
    "properties": {
        "id": _TEXT, "source": _TEXT, "specversion": {"const": "1.0"},
        "type": {**_TEXT, "description": "`<kind>.<trigger>`", "example": "node.ready"},
        "subject": {"type": "string", "description": "`<kind>/<id>`", "example": "node/c1/pool-a/n1"},
        "time": {"type": "string", "format": "date-time"}, "data": {"type": ["object", "null"]},
    },
}  # fmt: skip
_BODIES: dict[str, dict[str, Any]] = {
    content_types.JSON_EVENT: {"$ref": "#/components/schemas/Event"},
    BATCH_JSON: {"type": "array", "maxItems": MOST, "items": {"$ref": "#/components/schemas/Event"}},
    content_types.MSGPACK_EVENT: {"type": "string", "format": "binary"},
    content_types.JSON: {"type": "object", "description": "the data of an event whose attributes are headers"},
}
REASONS = {
    400: "The request is wrong.", 401: "A token is needed.", 403: "This caller may not do that.",
    404: "There is no such thing.", 410: "It is no longer there.", 413: "The body is too large.",
    415: "A body of this type is not taken.", 421: "The server does not answer to this host.",
    422: "The event would be rejected, or was.", 429: "Too many events: wait as `Retry-After` says.",
    503: "Not now: try again.", 504: "It is unknown what became of it.",
}  # fmt: skip


def document(routes: Iterable["Route"]) -> dict[str, Any]:
    """The whole description."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Phaseline", "version": __version__, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "States, histories and causes of an installation, and its transitions as they happen.",
        },
        "paths": paths,
        "components": {"schemas": {"Problem": PROBLEM, "Event": EVENT}},
    }  # fmt: skip


def _operation(route: "Route") -> dict[str, Any]:
    answers: dict[str, Any] = {
        str(status): {"description": route.summary, "content": {route.answer: {}}} for status in route.statuses
    }
    names = {one.name for one in route.parameters}
    if "at" in names:
        answers["304"] = {"description": "Nothing has changed since the answer with this `ETag`."}
    content = {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for status in sorted({400, 403, 421, 500, *route.problems, *((401,) if route.role else ())}):
        answers[str(status)] = {"description": REASONS.get(status, "An error."), "content": content}
    found: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [_parameter(one) for one in route.parameters],
        "responses": answers,
    }
    if route.bodies:
        found["requestBody"] = {"required": True, "content": {one: {"schema": _BODIES[one]} for one in route.bodies}}
    return found


def _parameter(one: Parameter) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": one.name, "in": "path" if one.is_path else "query", "description": one.doc, "schema": _schema(one),
    }  # fmt: skip
    if one.is_path:
        found["required"] = True
    if one.example is not None:
        found["example"] = [one.example] if one.many else one.example
    return found


def _schema(one: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": {"integer": "integer", "flag": "boolean"}.get(one.type, "string")}
    if schema["type"] == "string":
        schema |= {"maxLength": LONGEST} | ({"minLength": 1} if one.is_path else {})
    for name, value in (("minimum", one.least), ("maximum", one.most), ("default", one.default)):
        if value is not None:
            schema[name] = value
    if one.options:
        schema["enum"] = list(one.options)
    return {"type": "array", "items": schema} if one.many else schema
