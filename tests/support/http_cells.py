"""`phaseline serve` of several cells in this process, on a free port.

Belongs here: starting it, and a client of it. Does not: the cells (`tests.support.cells`), a server of one installation
(`tests.support.http_server`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2

from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.http.access.access import AccessSettings
from phaseline.engine.surfaces.http.cells.cells_service import CellsService
from phaseline.engine.surfaces.http.server import serving_cells
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.http_server import LIMIT


class CellsApi(NamedTuple):
    """A server of several cells, and what to ask it with. url: where it listens."""

    url: str
    service: CellsService
    http: httpx2.AsyncClient

    async def get(self, path: str, status: int = 200, /, **parameters: Any) -> Any:
        """The JSON of an answer with that status."""
        answer = await self.http.get(path, params={name.rstrip("_"): value for name, value in parameters.items()})
        assert answer.status_code == status, answer.text
        return answer.json()


@asynccontextmanager
async def cells_api(
    cells: dict[str, Settings], loaded: int, access: AccessSettings | None = None
) -> AsyncIterator[CellsApi]:
    """A server of these cells, once so many have loaded all that there is."""
    async with (
        serving_cells(cells, BUILT_IN_KINDS, "127.0.0.1:0", access=access) as served,
        httpx2.AsyncClient(base_url=served.url, timeout=LIMIT, trust_env=False, verify=False) as http,
    ):
        async with asyncio.timeout(LIMIT):
            while sum(one.problem is None for one in served.service.cells.values()) < loaded:
                await asyncio.sleep(0.01)
        for one in served.service.cells.values():
            if one.problem is None:
                await one.follower.reach((await one.client.moment("now")).place, LIMIT)
        yield CellsApi(served.url, served.service, http)
