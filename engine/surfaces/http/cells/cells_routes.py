"""The table of the requests about all cells, and which application answers a request: of all cells, or of one.

Belongs here: as in `http.routes`; `CellsApp`, for which `/v1/cells/NAME/...` is `/v1/...` of that cell. Does not: the
handlers (`cells_about`, `all_transitions`, `reading`), answering (`http.app`).
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from starlette.types import Receive, Scope, Send

from phaseline.engine.surfaces.http.access.access import Access
from phaseline.engine.surfaces.http.app import HttpApp
from phaseline.engine.surfaces.http.cells import all_transitions, cells_about
from phaseline.engine.surfaces.http.cells.cells_service import CellsService
from phaseline.engine.surfaces.http.parameters import Parameter
from phaseline.engine.surfaces.http.reading import entities
from phaseline.engine.surfaces.http.routes import (
    CLASS,
    CONDITION,
    CONTINUE,
    DELETED,
    FACET,
    FOR,
    FORM,
    KIND,
    LABEL,
    LANG,
    LEFT_BEHIND,
    LIMIT,
    PAGE,
    READ,
    REJECTIONS,
    ROUTES,
    SORT,
    STATE,
    TREE,
    VERBOSE,
    Route,
    all_routes,
)
from phaseline.machines.compiler.kinds import Kinds

CELL = Parameter("cell", "the name of a cell", is_path=True, example="east")
AT_TIME = Parameter("at", "a time (RFC 3339), or how long ago", "moment", example="15m")
TO_TIME = Parameter("to", "the last time", "moment", example="now")
FROM_ALL = Parameter("from", "a time, or a time or the first place of each cell: `east=4712,west=13`; without it, what "
                     "is to come", example="15m")  # fmt: skip
SHARED = (
    "listMachines", "getMachine", "getSession", "logIn", "logOut", "livez", "getDescription", "getMessages",
    "getPageFile",
)  # fmt: skip
"""Requests that are the same for one installation and for several."""

CELL_ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/cells", "listCells", cells_about.cells,
          "All cells: whether they can be read, at which place they stand, how many entities are in which state."),
    Route("GET", "/v1/entities", "listAllEntities", entities.entities,
          "Entities of all cells that fit, page by page, with counts of all that fit.",
          (KIND, TREE, STATE, CONDITION, CLASS, FOR, LABEL, SORT, DELETED, LEFT_BEHIND, LIMIT, CONTINUE, AT_TIME, LANG),
          problems=READ),
    Route("GET", "/v1/counts", "countAllEntities", entities.counts,
          "How many entities of all cells are in which state, and in which class.", (KIND, TREE, DELETED, AT_TIME),
          problems=READ),
    Route("GET", "/v1/transitions", "watchAllTransitions", all_transitions.transitions,
          "What happened, and what happens, in all cells: server-sent events, or a range as lines.",
          (KIND, FACET, STATE, CONDITION, TREE, FROM_ALL, TO_TIME, REJECTIONS, FORM), answer="text/event-stream",
          problems=(*READ, 410)),
    Route("GET", "/v1/columns", "listAllColumns", entities.all_columns,
          "The entities of all cells in bulk: `parts` has the columns of each cell that can be read.",
          (KIND, TREE, DELETED, AT_TIME), problems=READ),
    *(one for one in ROUTES if one.name in SHARED),
    *(one for one in ROUTES if one.answer == PAGE),
    Route("GET", "/readyz", "readyz", cells_about.readyz,
          "Whether at least one cell is loaded and followed.", (VERBOSE,), role="", problems=(503,)),
    Route("GET", "/v1/cells/{cell}", "getCell", cells_about.cell, "One cell.", (CELL,), problems=(404,)),
)  # fmt: skip
"""All requests about several cells, in the order of the documentation."""


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
