"""The server keeps what its description says, whatever is asked: every request of the table, with hostile values.

`python3 dev.py foreign` does the same with schemathesis, at length.
"""

import json
from typing import Any, NamedTuple
from urllib.parse import quote

from jsonschema import Draft202012Validator

from phaseline.http import Parameter, Route
from phaseline.machines.built_in import PRODUCTS
from tests.support.http_server import Api, all_routes, http_server
from tests.support.installation import Settings
from tests.support.own_installation import Client

VALUES = (
    "",
    "0",
    "-1",
    "99999999999999999999",
    "c1",
    "../..",
    "<script>",
    "\u202e",
    "a b+c",
    "%",
    "x" * 5_000,
    "\0",
    "1h",
)
STREAMS = ("followTransitions",)
ROUTES = all_routes(PRODUCTS)


def example(one: Parameter) -> str:
    return str(one.example if one.example is not None else "x")


def path_of(route: Route, changed: Parameter | None, value: str) -> str:
    """The path with examples, but for one parameter."""
    path = route.path
    for one in route.parameters:
        if one.is_path:
            text = value if one is changed else example(one)
            path = path.replace(f"{{{one.name}}}", quote(text, safe="/" if one.name == "id" else ""))
    return path


class Described(NamedTuple):
    """A server, with what it says of itself."""

    api: Api
    document: dict[str, Any]

    @property
    def problem(self) -> Draft202012Validator:
        return Draft202012Validator(self.document["components"]["schemas"]["Problem"])


async def check(of: Described, route: Route, path: str, query: dict[str, str] | None = None) -> None:
    body = b"{}" if route.bodies else None
    headers = {"content-type": route.bodies[0]} if route.bodies else {"accept": "application/json"}
    answer = await of.api.http.request(route.method, path, params=query, content=body, headers=headers)
    shown = f"{route.method} {path[:80]} {str(query)[:80]}: {answer.status_code} {answer.text[:300]}"
    described = of.document["paths"][route.path][route.method.lower()]["responses"]
    if answer.headers.get("content-type") == "application/problem+json":
        of.problem.validate(json.loads(answer.text))
    if answer.status_code in (404, 405):  # the path itself may have become that of nothing
        assert answer.headers["content-type"] == "application/problem+json", shown
        return
    assert str(answer.status_code) in described, shown
    assert answer.status_code < 500, shown


async def test_every_request_with_hostile_values(client: Client, working: Settings) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    async with http_server(working) as api:
        of = Described(api, await api.get("/openapi.json"))
        for route in ROUTES:
            if route.name in STREAMS:
                continue
            await check(of, route, path_of(route, None, ""))
            for one in route.parameters:
                for value in VALUES:
                    if one.is_path:
                        await check(of, route, path_of(route, one, value))
                    elif one.type != "integer" or one.name != "min" or not value.isdecimal():  # `min` waits
                        await check(of, route, path_of(route, None, ""), {one.name: value})
        assert (await api.get("/livez"))["status"] == "ok"
