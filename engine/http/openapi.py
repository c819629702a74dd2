"""The description of the API in OpenAPI 3.1, made from the table of routes.

Belongs here: `document`. Does not: the routes (`routes`).
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from phaseline.engine.http import problems
from phaseline.engine.http.parameters import LONGEST, Parameter
from phaseline.schemas.version import __version__

if TYPE_CHECKING:
    from phaseline.engine.http.routes import Route

PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        "type": {"type": "string", "description": f"`{problems.TYPE}` and the name of the error"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what is wrong, the value found, and what to do"},
        "instance": {"type": "string", "description": "the path of the request"},
        "remedy": {"type": "string", "description": "what to do, in terms of the command"},
    },
}
REASONS = {
    400: "The request is wrong.", 404: "There is no such thing.", 410: "It is no longer there.",
    422: "The event would be rejected.", 503: "Not now: try again.",
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
        "components": {"schemas": {"Problem": PROBLEM}},
    }  # fmt: skip


def _operation(route: "Route") -> dict[str, Any]:
    answers: dict[str, Any] = {"200": {"description": route.summary, "content": {route.answer: {}}}}
    names = {one.name for one in route.parameters}
    if "at" in names:
        answers["304"] = {"description": "Nothing has changed since the answer with this `ETag`."}
    content = {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for status in sorted({400, 500, *route.problems}):
        answers[str(status)] = {"description": REASONS.get(status, "An error."), "content": content}
    return {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [_parameter(one) for one in route.parameters],
        "responses": answers,
    }


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
