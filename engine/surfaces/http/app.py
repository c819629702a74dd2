"""From a request to its answer: find the route, ask who it is, read the parameters, call the handler, send.

Belongs here: `HttpApp`, an ASGI application; `ETag`s, compression, errors. Does not: the routes (`routes`), who may
(`access`), what is answered (`reading`).
"""

import asyncio
import gzip
import math
import re
import time
import zlib
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from phaseline.engine import logs
from phaseline.engine.log.when import NOW, Moment
from phaseline.engine.surfaces.http import openapi, parameters, problems
from phaseline.engine.surfaces.http.access import trees
from phaseline.engine.surfaces.http.access.access import Access
from phaseline.engine.surfaces.http.call import CallOf, HttpAnswer, Served
from phaseline.engine.surfaces.http.routes import PAGE, ROOT, Route, all_routes, pattern
from phaseline.schemas import codec
from phaseline.schemas.errors import InvalidInput, NotFound, PhaselineError, did_you_mean
from phaseline.schemas.records import timestamp

COMPRESSED, IN_THREAD = 1_000, 100_000
"""Bytes from which on an answer is compressed, and from which on that happens beside the event loop."""
LEVEL = 4
FOR_EVER = "max-age=31536000, immutable"
REVALIDATED = "no-cache"
FILES = "/page/"
"""What the paths of the files of the page begin with."""

log = logs.get_logger(__name__)


class Router:
    """Finds the route of a request."""

    def __init__(self, routes: Iterable[Route]) -> None:
        """The first route that fits counts."""
        self._routes = [(re.compile(pattern(route.path)), route) for route in routes]
        self._paths = list(dict.fromkeys(route.path for _, route in self._routes))

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """The route and the parameters in its path; raises `NotFound`, `InvalidInput`."""
        method = "GET" if method == "HEAD" else method
        for expression, route in self._routes:
            if route.method == method and (found := expression.fullmatch(path)):
                return route, found.groupdict()
        others = [route for expression, route in self._routes if expression.fullmatch(path)]
        if not others:
            raise NotFound.path_unknown(path=path[:128], meant=did_you_mean(path, self._paths))
        allowed = ", ".join(dict.fromkeys(route.method for route in others))
        raise InvalidInput.method_not_allowed(path=others[0].path, method=method[:16], allowed=allowed)


class HttpApp:
    """The application that uvicorn runs."""

    def __init__(self, service: Served, access: Access | None = None, routes: Iterable[Route] = ()) -> None:
        """Answer from this service. access: who is let in; by default everybody who reaches the server.

        routes: by default all of our own and those of products. Raises `SetupError.kinds_broken` if these do not fit.
        """
        routes = tuple(routes) or all_routes(service.kinds.products)
        self._service, self._access, self._router = service, access or Access(), Router(routes)
        self._version = zlib.crc32(service.kinds.digest.encode())
        service.description = codec.encode_json(openapi.document(routes))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request, began = Request(scope, receive), time.monotonic()
        response = await self._respond(request)
        traffic, route = self._service.traffic, scope.get("route", "-")
        method = request.method if route != "-" else "-"  # a client may send any word
        traffic.requests[method, route, str(response.status_code)] += 1
        traffic.seconds.add(time.monotonic() - began)
        for name, value in self._access.headers.items():
            response.headers.setdefault(name, value)
        if request.method == "HEAD":  # also where the answer would be a stream without end
            response = Response(status_code=response.status_code, headers=dict(response.headers))
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        try:
            return await self._answer(request)
        except PhaselineError as error:
            return _problem(request, error)
        except ClientDisconnect:
            return _problem(request, InvalidInput.body_cut())
        except Exception as error:
            log.exception("request_failed", path=request.scope["path"], error=repr(error))
            return _problem(request, error)

    async def _answer(self, request: Request) -> Response:
        path = _decoded(request.scope["raw_path"], "the path")
        is_missing = False
        try:
            route, in_path = self._router.find(request.method, path)
        except NotFound:
            if not _is_for_people(request, path):
                raise
            route, in_path = self._router.find("GET", "/")
            is_missing = True
        request.scope["route"] = route.path
        # The page reads its own query in the browser: it says what is shown.
        query = [] if route.answer == PAGE else _query(request.scope["query_string"])
        caller = await self._access.admit(request, route.needs(query))
        names = [one.name for one in route.parameters]
        given = trees.narrow(caller, route.name, route.role, names, query, in_path, across=route.is_across)
        values = parameters.read(route.parameters, given, in_path)
        call = CallOf(self._service, request, values, caller, tuple(sorted(given)), self._access.budgets)
        known = request.headers.get("if-none-match", "")
        is_timed = route.changes_with_time(values)
        is_present = "at" in values and not any(values.get(name) is not None for name in ("at", "min", "continue"))
        if known and is_present and not is_timed:
            place = await self._service.present()
            if place is not None and (tag := self._tag(call, place)) in known:
                headers = {"Cache-Control": self._access.cached(REVALIDATED), "Vary": self._access.varying}
                return Response(status_code=304, headers={"ETag": tag, **headers})
        async with (
            self._service.reachable() if route.method == "GET" else nullcontext(),
            self._service.traffic.past.taken(call.sender) if _is_past(route, values) else nullcontext(),
        ):
            answer = await route.handler(call)
        if isinstance(answer, HttpAnswer):
            return await self._sent(call, answer, is_timed=is_timed)
        answer.status_code = 404 if is_missing else answer.status_code
        return answer

    async def _sent(self, call: CallOf[Served], answer: HttpAnswer, *, is_timed: bool) -> Response:
        """The response. is_timed: whether it may be another one at any time, so that nobody may keep it."""
        headers = {**answer.headers, **({"Cache-Control": "no-store"} if is_timed else {})}
        body = answer.body if isinstance(answer.body, bytes) else codec.encode_json(answer.body)
        if answer.moment is not None:
            body = _with_moment(answer.moment, body, is_timed=isinstance(answer.body, dict) and "time" in answer.body)
        if answer.moment is not None and not is_timed:
            headers["ETag"] = tag = self._tag(call, answer.moment.place)
            headers["Cache-Control"] = self._access.cached(FOR_EVER if answer.is_past else REVALIDATED)
            headers["Vary"] = self._access.varying
            if tag in call.request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers=headers)
        headers.setdefault("Cache-Control", "no-store" if answer.status != 200 else self._access.cached(REVALIDATED))
        if len(body) >= COMPRESSED and "gzip" in call.request.headers.get("accept-encoding", ""):
            body = await asyncio.to_thread(_compressed, body) if len(body) > IN_THREAD else _compressed(body)
            headers["Content-Encoding"] = "gzip"
        headers["Vary"] = self._access.varying
        return Response(body, answer.status, headers, "application/json")

    def _tag(self, call: CallOf[Served], place: int) -> str:
        """The `ETag` of an answer: its place, and what was asked of which tables."""
        return f'W/"{place}-{zlib.crc32(call.query.encode(), self._version):08x}"'


def _is_for_people(request: Request, path: str) -> bool:
    """Whether somebody typed an address that does not exist: the page says so then, to programs a problem does."""
    wants = "text/html" in request.headers.get("accept", "")
    return wants and request.method in ("GET", "HEAD") and not path.startswith((ROOT, FILES))


def _is_past(route: Route, values: dict[str, Any]) -> bool:
    """Whether a request reads the past, which takes memory and time: few do so at once, and few wait for it."""
    return route.reads_past or values.get("at") not in (None, NOW)


def _with_moment(moment: Moment, body: bytes, *, is_timed: bool) -> bytes:
    """An answer with its place and time at the front. is_timed: whether it says itself of which time it is."""
    time = "" if is_timed else f',"time":"{timestamp(moment.time_ns)}"'
    head = f'{{"place":{moment.place}{time}'.encode()
    return head + (b"}" if body == b"{}" else b"," + body[1:])


def _compressed(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)


def _decoded(raw: bytes, what: str) -> str:
    try:
        return unquote_to_bytes(raw.partition(b"?")[0]).decode()
    except UnicodeDecodeError:
        raise InvalidInput.bad_parameter(name=what, problem="is not UTF-8, percent-encoded") from None


def _query(raw: bytes) -> list[tuple[str, str]]:
    """The names and values of a query; raises `InvalidInput.bad_parameter`."""
    try:
        return parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except UnicodeDecodeError:
        raise InvalidInput.bad_parameter(name="the query", problem="is not UTF-8, percent-encoded") from None
    except ValueError as error:
        raise InvalidInput.bad_parameter(name="the query", problem=str(error)) from None


def _problem(request: Request, error: Exception) -> Response:
    body = problems.problem(error, request.scope["path"][:256])
    headers = {"Cache-Control": "no-store"}
    if body["status"] in (503, 504):
        headers["Retry-After"] = problems.RETRY_AFTER
    if InvalidInput.too_many_events.made(error):
        headers["Retry-After"] = str(math.ceil(body["seconds"]))
    if body["status"] == 405:
        headers["Allow"] = body["allowed"]
    if body["status"] == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(codec.encode_json(body), body["status"], headers, problems.MEDIA_TYPE)
