"""A request with all that answers need, and an answer before it becomes bytes.

Belongs here: `CallOf`, `HttpAnswer`. Does not: handlers (`reading`), sending (`app`).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from phaseline.engine.log.when import Moment
from phaseline.engine.surfaces.http.access.budgets import Budgets
from phaseline.engine.surfaces.http.access.caller import LOCAL, Caller
from phaseline.engine.surfaces.http.links import Link
from phaseline.engine.surfaces.http.service import Service
from phaseline.engine.surfaces.http.traffic import Traffic
from phaseline.machines.compiler.kinds import Kinds


class Served(Protocol):
    """What an application answers about: one installation (`Service`), or several."""

    description: bytes
    traffic: Traffic
    links: Sequence[Link]
    """Where the page leads to, for entities of some kinds."""

    @property
    def kinds(self) -> Kinds:
        """The tables."""

    @property
    def cells(self) -> Mapping[str, Service]:
        """What answers for each cell; empty where there is one installation."""

    async def present(self) -> int | None:
        """The place at which answers about the present are true; None where there is no single one."""

    def reachable(self) -> AbstractAsyncContextManager[object]:
        """Ends the block with `NatsUnreachable` if it waits for NATS, and that is away."""


S = TypeVar("S", bound=Served)


@dataclass(slots=True)
class CallOf(Generic[S]):
    """One request. values: of its parameters, by name. caller: who asks, and what they may do."""

    service: S
    request: Request
    values: dict[str, Any]
    caller: Caller
    given: tuple[tuple[str, str], ...]
    """The parameters of the query as they were sent, sorted."""
    budgets: Budgets

    def within(self, cell: str) -> "CallOf[Service]":
        """The same request, about one of the cells."""
        service = self.service.cells[cell]
        return CallOf(service, self.request, self.values, self.caller, self.given, self.budgets)

    def charge(self, events: int = 1) -> None:
        """Take events from the budget of the caller, or of the address that sends; raises `InvalidInput`."""
        self.budgets.take(self.sender, events)

    @property
    def sender(self) -> str:
        """Who sends the request: the name of the caller, or the address of one without a name.

        One who is named as somebody else is, and so has no actor, spends nothing of theirs.
        """
        if self.caller.roles and self.caller != LOCAL:
            return self.caller.actor or f"{self.caller.name}, who cannot be named"
        return "" if self.request.client is None else self.request.client.host

    @property
    def base(self) -> str:
        """What the paths of the API begin with: `/v1`, or that of a cell."""
        return self.request.scope.get("root_path") or "/v1"

    @property
    def query(self) -> str:
        """The request in one form for all that mean the same: what an `ETag` belongs to."""
        return self.query_without()

    @property
    def trees(self) -> tuple[str, ...]:
        """The trees that are asked for, without those below another one; empty: everything."""
        asked = sorted(set(self.values["tree"]))
        return tuple(one for one in asked if not any(one.startswith(f"{other}/") for other in asked))

    def query_without(self, *names: str) -> str:
        """The same, without some parameters."""
        kept = [pair for pair in self.given if pair[0] not in names]
        return f"{self.request.scope['path']}?{urlencode(kept)}"


Call = CallOf[Service]
"""A request about one installation."""
AnyCall = CallOf[Any]
"""A request about one installation, or about several."""


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


Handler = Callable[[AnyCall], Awaitable[HttpAnswer | Response]]
"""Answers a call, or raises one of our errors."""
