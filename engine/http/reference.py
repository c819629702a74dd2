"""The reference of all requests in docs/http.md, made from the table of routes.

Belongs here: that part of the page. Does not: the rest of the page, which people write.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from phaseline.engine.http.cells.cells_routes import CELL_ROUTES, SHARED
from phaseline.engine.http.parameters import Parameter
from phaseline.engine.http.routes import PAGE as HTML
from phaseline.engine.http.routes import ROUTES, Route
from phaseline.machines.docs.written_part import keep

PAGE = Path("docs/http.md")
COMMAND = "python3 dev.py generate"
BEGIN = f"<!-- Written by `{COMMAND}` from engine/http/routes.py, up to the end of the page. -->"


CELLS = """A server of [several cells](#several-cells) has these, and those above about the server and its tables.
`/v1/cells/NAME/...` is `/v1/...` of one cell."""
ERRORS = "[errors.md](errors.md) lists all errors with their statuses."


def reference() -> str:
    """The routes with their parameters, then where the statuses of errors are."""
    lines = [BEGIN, "", "## All requests", ""]
    for route in ROUTES:
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


def wanted(page: str) -> str:
    """The page with the present reference."""
    return page.partition(BEGIN)[0] + reference()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the reference; 1 if `--check` finds it stale."""
    return keep(arguments, COMMAND, PAGE, wanted)
