"""`python3 dev.py generate [--check]` writes or checks every page, schema and module that is made from others.

Belongs here: calling the generators, the stubs of public modules, which type checkers read in place of a module whose
names are loaded late. Does not: what the others write (`machines.docs.pages`, `cli.reference`,
`surfaces.sync_stub`, `surfaces.accounts_page`, `http.reference`, `telemetry.page`,
`machines.docs.checked_tables`, `machines.docs.errors_page`).
"""

import sys
from collections.abc import Callable, Iterator, Sequence
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
from phaseline.machines.docs import checked_tables, errors_page, pages, triggers
from phaseline.machines.docs.written_part import keep

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


def write_modules(arguments: Sequence[str] | None = None) -> int:
    """Write or check; 1 if `--check` finds a stale file."""
    return max(keep(arguments, COMMAND, path, text) for path, text in modules().items())


GENERATORS: tuple[Callable[[Sequence[str] | None], int], ...] = (
    checked_tables.main, pages.main, reference.main, accounts_page.main, errors_page.main,
    partial(http_reference.main, all_routes(PRODUCTS)), metrics_page.main, write_modules,
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check all; 1 if `--check` finds a stale file."""
    return max(generate(arguments) for generate in GENERATORS)


if __name__ == "__main__":
    sys.exit(main())
