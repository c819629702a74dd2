"""How the hub reaches an edge: the API of its inlet, and the one of its server.

Belongs here: whether the edge has an account of its own, and calls to either API. Does not: which calls (`adding`,
`edge_state`).
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from phaseline.engine.nats.api_reply import read_reply
from phaseline.engine.nats.wire import Wire
from phaseline.engine.worker.sites.edge_names import EdgeNames
from phaseline.schemas.errors import NoAnswer, NoResponders, NotPermitted, PhaselineError, SetupError

USER_INFO = "$SYS.REQ.USER.INFO"
DEFAULT_ACCOUNT = "$G"
"""The account of all users of a server without accounts."""
SHOWN = 200
"""The most characters of what was wrong with an answer."""


@dataclass(frozen=True, slots=True)
class Uplink:
    """The way to one edge. own_account: whether the edge has an account, which the engine's account imports."""

    wire: Wire
    names: EdgeNames
    own_account: bool

    @property
    def account_api(self) -> str | None:
        """The API prefix of the edge's account; None if it has none of its own."""
        return self.names.account_api if self.own_account else None

    async def at_hub(self, suffix: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call the JetStream API of the account that holds the inlet."""
        if not self.own_account:
            return await self.wire.api(suffix, body)
        return await _call(self.wire, f"{self.names.account_api}.{suffix}", body)

    async def at_edge(
        self, suffix: str, body: dict[str, Any] | None = None, timeout: float | None = None
    ) -> dict[str, Any]:
        """Call the JetStream API of the edge's server; raises `NoAnswer` while it is away.

        What it answers is the edge's word: raises `SetupError.edge_answer_unreadable` if it is no such answer.
        """
        api = self.names.account_far_api if self.own_account else self.names.domain_api
        with self.understood():
            return await _call(self.wire, f"{api}.{suffix}", body, timeout)

    @contextmanager
    def understood(self) -> Iterator[None]:
        """Raise `SetupError` where what the edge has answered is not what such an answer holds."""
        try:
            yield
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            problem = f"{type(error).__name__}: {error}"[:SHOWN]
            raise SetupError.edge_answer_unreadable(edge=self.names.name, problem=problem) from error


async def find(wire: Wire, names: EdgeNames) -> Uplink:
    """The way to an edge; raises `SetupError.edge_account_missing` if its account is not on this server."""
    try:
        await _call(wire, f"{names.account_api}.INFO")
    except NoResponders:
        pass
    else:
        return Uplink(wire, names, own_account=True)
    account = await _account(wire)
    if account != DEFAULT_ACCOUNT:
        try:
            await _call(wire, f"{names.domain_api}.INFO")
        except (NoAnswer, NotPermitted) as error:
            raise SetupError.edge_account_missing(edge=names.name, account=account) from error
    return Uplink(wire, names, own_account=False)


async def _account(wire: Wire) -> str:
    """The account of this user, as the server calls it."""
    try:
        return str(json.loads((await wire.request(USER_INFO)).data)["data"]["account"])
    except (PhaselineError, ValueError, KeyError, TypeError):
        return "?"


async def _call(
    wire: Wire, subject: str, body: dict[str, Any] | None = None, timeout: float | None = None
) -> dict[str, Any]:
    payload = b"" if body is None else json.dumps(body).encode()
    return read_reply(subject, (await wire.request(subject, payload, timeout=timeout)).data)
