"""`phaseline serve` in this process, on a free port.

Belongs here: starting it, a client of it, and what its tests take from the engine. Does not: the tests.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2

from phaseline.engine.settings import DEFAULT_HISTORY, Settings
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.http.access import jwts, tokens
from phaseline.engine.surfaces.http.access.access import COOKIE, KEY_PACE, Access, AccessSettings, JwtSettings, KeyPace
from phaseline.engine.surfaces.http.connections.clients import LIMITS, HttpLimits
from phaseline.engine.surfaces.http.live import hub
from phaseline.engine.surfaces.http.live.hub import Hub
from phaseline.engine.surfaces.http.routes import all_routes
from phaseline.engine.surfaces.http.server import serving
from phaseline.engine.surfaces.http.service import Service
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from tests.support.built_in_kinds import BUILT_IN_KINDS

__all__ = [
    "COOKIE", "KEY_PACE", "LIMITS", "Access", "AccessSettings", "HttpLimits", "Hub", "JwtSettings", "KeyPace",
    "all_routes", "hub", "jwts", "maps", "serving", "tokens",
]  # fmt: skip

LIMIT = 120


class Api(NamedTuple):
    """A server, and what to ask it with. url: where it listens."""

    url: str
    service: Service
    http: httpx2.AsyncClient

    async def get(self, path: str, status: int = 200, /, **parameters: Any) -> Any:
        """The JSON of an answer with that status."""
        wanted = {name.rstrip("_"): value for name, value in parameters.items()}
        answer = await self.http.get(path, params=wanted or None)
        assert answer.status_code == status, answer.text
        return json.loads(answer.text, object_pairs_hook=each_once)

    async def place(self) -> int:
        """The last place of the log, once the server has reached it."""
        place = (await self.service.client.moment("now")).place
        await self.service.follower.reach(place, LIMIT)
        return place


def as_json(value: Any) -> Any:
    """The value as JSON has it."""
    return json.loads(codec.encode_json(value))


@asynccontextmanager
async def http_server(
    settings: Settings, kinds: Kinds = BUILT_IN_KINDS, access: AccessSettings | None = None,
    listen: str = "127.0.0.1:0", history: int = DEFAULT_HISTORY, limits: HttpLimits = LIMITS,
) -> AsyncIterator[Api]:  # fmt: skip
    """A server of the installation, once its fleet is loaded."""
    async with (
        serving(settings, kinds, listen, history, access, limits=limits) as served,
        httpx2.AsyncClient(base_url=served.url, timeout=LIMIT, trust_env=False, verify=False) as http,
    ):
        async with asyncio.timeout(LIMIT):
            while (await http.get("/readyz")).status_code != 200:
                await asyncio.sleep(0.01)
        yield Api(served.url, served.service, http)


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A map of JSON, which names nothing twice."""
    found = dict(pairs)
    assert len(found) == len(pairs), [name for name, _ in pairs]
    return found
