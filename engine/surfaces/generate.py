"""`python3 dev.py generate [--check]` writes or checks every page, schema and module that is made from others.

Belongs here: calling the generators, the stubs of public modules, which type checkers read in place of a module whose
names are loaded late. Does not: what they hold (`cli.reference`, `surfaces.sync_stub`, `surfaces.accounts_page`,
`http.reference`, `telemetry.page`), what `machines.docs` writes.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from phaseline.engine.surfaces import accounts_page, sync_stub
from phaseline.engine.surfaces.cli import reference
from phaseline.engine.surfaces.http import reference as http_reference
from phaseline.engine.surfaces.http.routes import all_routes
from phaseline.engine.surfaces.telemetry import page as metrics_page
from phaseline.machines.built_in import BUILT_IN, PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.docs import pages, triggers, written_parts

COMMAND = "python -m phaseline.engine.surfaces.generate"
STUBBED = {
    "phaseline": "__init__",
    **{f"phaseline.{name}": name for name in ("emco", "fleet", "gitops", "levels", "tables", "types")},
}


def modules() -> dict[Path, str]:
    """The stubs of public modules, and the module of triggers, by their paths from the project's root."""
    own = Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS)
    return {**sync_stub.pages(), **stubs(), Path("src/phaseline/triggers.py"): triggers.module(own.values(), own=True)}


def stubs() -> dict[Path, str]:
    """The stubs by their paths from the project's root."""
    return {Path("src/phaseline") / f"{file}.pyi": "".join(_stub(module)) for module, file in STUBBED.items()}


def _stub(public: str) -> Iterator[str]:
    found = vars(import_module(public))
    yield f"# Written by `{COMMAND}` from the table in {Path(found['__file__']).name}.\n\n"
    for name in found.get("MODULES", "").split():
        yield f"from {public} import {name} as {name}\n"
    for home, names in found["NAMES"].items():
        for name in names.split():
            yield f"from {home} import {name} as {name}\n"
    yield "\n__all__: list[str]\n"
    yield from ["__version__: str\n"] if "__version__" in found else []


PAGES: tuple[tuple[Path, Callable[[str], str] | str], ...] = (
    (reference.PAGE, lambda _: reference.page()),
    (accounts_page.PAGE, accounts_page.renewed),
    (http_reference.PAGE, partial(http_reference.renewed, routes=all_routes(PRODUCTS))),
    (metrics_page.PAGE, metrics_page.renewed),
)
"""Pages of surfaces, each with what it should be, or with what makes that from the page as it is."""


def write(files: Iterable[tuple[Path, Callable[[str], str] | str]], arguments: Sequence[str] | None = None) -> int:
    """Write or check files; 1 if `--check` finds a stale one."""
    return max(written_parts.keep_part(arguments, COMMAND, path, renewed) for path, renewed in files)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check all; 1 if `--check` finds a stale file."""
    own = write([*PAGES, *modules().items()], arguments)
    return max(own, *(main(arguments) for main in (pages.keep_digest, pages.main, written_parts.keep_errors)))


if __name__ == "__main__":
    sys.exit(main())
