"""The reference of all requests in docs/http.md, made from the tables of routes.

Belongs here: that part of the page. Does not: the rest of the page, which people write.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from phaseline.engine.surfaces.http.cells.cells_routes import CELL_ROUTES, SHARED
from phaseline.engine.surfaces.http.parameters import Parameter
from phaseline.engine.surfaces.http.routes import PAGE as HTML
from phaseline.engine.surfaces.http.routes import ROUTES, Route
from phaseline.machines.docs.written_parts import keep_part

PAGE = Path("docs/http.md")
COMMAND = "python3 dev.py generate"
BEGIN = f"<!-- Written by `{COMMAND}` from the tables of routes, up to the end of the page. -->"


PRODUCTS = """EMCO and Fleet add these. An installed package may [add its own](own-kinds.md#requests-by-http)."""
CELLS = """A server of [several cells](#several-cells) has these, and those above about the server and its tables.
`/v1/cells/NAME/...` is `/v1/...` of one cell."""
ERRORS = "[errors.md](errors.md) lists all errors with their statuses."


def reference(routes: Iterable[Route]) -> str:
    """The routes with their parameters, then the statuses of errors. routes: ours and those of products."""
    lines = [BEGIN, "", "## All requests", ""]
    for route in ROUTES:
        lines += _route(route)
    lines += ["## Requests of products", "", PRODUCTS, ""]
    for route in routes:
        if route not in ROUTES:
            lines += _route(route)
    lines += ["## Requests about several cells", "", CELLS, ""]
    for route in CELL_ROUTES:
        if route.name not in SHARED and route.answer != HTML:
            lines += _route(route)
    return "\n".join([*lines, "## Statuses of errors", "", ERRORS, ""])


def _route(route: Route) -> Iterator[str]:
    yield from (f"### {route.method} {route.path}", "", route.summary)
    if route.role not in ("", "read"):
        yield f"Needs the role `{route.role}`{', a dry run `read`' if route.dry_role else ''}."
    yield ""
    if route.parameters:
        yield from ("| parameter | meaning | default |", "|---|---|---|")
        yield from map(_parameter, route.parameters)
        yield ""


def _parameter(one: Parameter) -> str:
    bounds = "" if one.most is None else f", at most {one.most:,}"
    options = f": {', '.join(f'`{option}`' for option in one.options)}" if one.options else ""
    many = "; may be given several times" if one.many else ""
    default = "" if one.default in (None, False) else f"`{one.default}`"
    doc = one.doc.replace("|", "\\|")
    return f"| `{one.name}` | {doc}{bounds}{options}{many} | {default} |"


def renewed(page: str, routes: Iterable[Route]) -> str:
    """The page with the present reference."""
    return page.partition(BEGIN)[0] + reference(routes)


def main(routes: Iterable[Route], arguments: Sequence[str] | None = None) -> int:
    """Write or check the reference; 1 if `--check` finds it stale."""
    return keep_part(arguments, COMMAND, PAGE, lambda page: renewed(page, routes))
