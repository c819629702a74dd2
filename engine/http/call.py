"""A request with all that answers need, and an answer before it becomes bytes.

Belongs here: `Call`, `HttpAnswer`. Does not: handlers (`reading`), sending (`app`).
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from phaseline.engine.http.access.caller import Caller
from phaseline.engine.http.service import Service
from phaseline.engine.log.when import Moment


@dataclass(slots=True)
class Call:
    """One request. values: of its parameters, by name. caller: who asks, and what he may."""

    service: Service
    request: Request
    values: dict[str, Any]
    caller: Caller
    given: tuple[tuple[str, str], ...]
    """The parameters of the query as they were sent, sorted."""

    @property
    def query(self) -> str:
        """The request in one form for all that mean the same: what an `ETag` belongs to."""
        return self.query_without()

    def query_without(self, *names: str) -> str:
        """The same, without some parameters."""
        kept = [pair for pair in self.given if pair[0] not in names]
        return f"{self.request.scope['path']}?{urlencode(kept)}"


@dataclass(slots=True)
class HttpAnswer:
    """What to send. moment: the one that the answer is true at; None for what does not depend on the log.

    is_past: whether the same request has the same answer for ever. body: a value that JSON can hold, or bytes of JSON.
    """

    body: Any
    moment: Moment | None = None
    is_past: bool = False
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[Call], Awaitable[HttpAnswer | Response]]
"""Answers a call, or raises one of our errors."""
