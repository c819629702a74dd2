"""Which application answers a request to a server of several cells.

Belongs here: `CellsApp`. `/v1/cells/NAME/...` is `/v1/...` of that cell; all else is about all cells. Does not:
answering (`http.app`).
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from starlette.types import Receive, Scope, Send

from phaseline.engine.surfaces.http.access.access import Access
from phaseline.engine.surfaces.http.app import HttpApp
from phaseline.engine.surfaces.http.cells.cells_routes import CELL_ROUTES
from phaseline.engine.surfaces.http.cells.cells_service import CellsService
from phaseline.engine.surfaces.http.routes import Route, all_routes
from phaseline.machines.compiler.kinds import Kinds

OF_ONE = re.compile(rb"/v1/cells/([^/?]+)(/[^?].*)", re.DOTALL)


class CellsApp:
    """The application that uvicorn runs."""

    def __init__(self, service: CellsService, access: Access) -> None:
        """access: who is let in, the same for all cells."""
        self._all = HttpApp(service, access, CELL_ROUTES)
        self._cells = {name: HttpApp(one, access, _within(one.kinds)) for name, one in service.cells.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        found = OF_ONE.match(scope.get("raw_path", b""))
        name = unquote_to_bytes(found[1]).decode(errors="replace") if found else ""
        if found is None or name not in self._cells:
            await self._all(scope, receive, send)
            return
        # The path stays as it was sent: it names the request in errors and ETags.
        within = {**scope, "raw_path": b"/v1" + found[2], "root_path": f"/v1/cells/{name}"}
        await self._cells[name](within, receive, send)


def _within(kinds: Kinds) -> Iterator[Route]:
    """The requests about one cell. Raises `SetupError.kinds_broken`."""
    for route in all_routes(kinds.products):
        if route.path.startswith("/v1/"):
            yield route
        elif route.path == "/metrics":
            yield route._replace(path="/v1/metrics")
