"""The table of the requests about all cells. Beside them each cell has all requests of one installation.

Belongs here: as in `http.routes`. Does not: the handlers (`cells_about`, `all_transitions`, `reading`).
"""

from phaseline.engine.surfaces.http.cells import all_transitions, cells_about
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
    TO,
    TREE,
    VERBOSE,
    Route,
)

CELL = Parameter("cell", "the name of a cell", is_path=True, example="east")
AT_TIME = Parameter("at", "a time (RFC 3339), or how long ago", "moment", example="15m")
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
          (KIND, FACET, STATE, CONDITION, TREE, FROM_ALL, TO, REJECTIONS, FORM), answer="text/event-stream",
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
