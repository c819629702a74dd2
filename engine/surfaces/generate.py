"""`python3 dev.py generate [--check]` writes or checks every page, schema and module that is made from others.

Belongs here: calling the generators, the stubs of public modules, which type checkers read in place of a module whose
names are loaded late. Does not: what the others write (`machines.docs.pages`, `cli.reference`,
`surfaces.sync_stub`, `surfaces.accounts_page`, `http.reference`, `telemetry.page`, `machines.docs.written_parts`).
"""

import argparse
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


def write_modules(arguments: Sequence[str] | None = None) -> int:
    """Write or check; 1 if `--check` finds a stale file."""
    parser = argparse.ArgumentParser(description="Write the modules and stubs that are made from others.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help="the project's root (default: here)")
    chosen, _ = parser.parse_known_args(arguments)
    made = modules()
    there = {path: path.read_text("utf-8") for path in map(chosen.to.joinpath, made) if path.exists()}
    stale = {path: text for path, text in made.items() if there.get(chosen.to / path) != text}
    for path, text in stale.items():
        sys.stdout.write(f"{'stale' if chosen.check else 'written'}: {path}\n")
        if not chosen.check:
            (chosen.to / path).write_text(text, encoding="utf-8")
    return 1 if chosen.check and stale else 0


GENERATORS: tuple[Callable[[Sequence[str] | None], int], ...] = (
    pages.keep_digest, pages.main, reference.main, accounts_page.main, written_parts.keep_errors,
    partial(http_reference.main, all_routes(PRODUCTS)), metrics_page.main, write_modules,
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check all; 1 if `--check` finds a stale file."""
    return max(generate(arguments) for generate in GENERATORS)


if __name__ == "__main__":
    sys.exit(main())
