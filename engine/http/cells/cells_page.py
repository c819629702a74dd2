"""The page of several cells.

Belongs here: the handler of its addresses. Does not: the files of the page (`engine.page`), what it asks for.
"""

from urllib.parse import parse_qs

from starlette.responses import Response

from phaseline.engine.http.cells.all_entities import CellsCall
from phaseline.engine.http.reading import about


async def index(call: CellsCall) -> Response:
    """The page, which shows the cell that its address names, or all."""
    cells = [*call.service.cells]
    [chosen] = parse_qs(call.request.url.query).get("cell", [""])[-1:]
    columns = f"/v1/cells/{chosen}/columns" if chosen in cells else "/v1/columns"
    return about.page_of(call, columns, cells)
