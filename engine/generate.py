"""`python3 dev.py generate [--check]` writes or checks every page, schema and module that is made from others.

Belongs here: calling the generators. Does not: what they write (`machines.docs.pages`, `engine.cli.reference`,
`engine.generate_sync`, `engine.accounts.page`, `engine.http.reference`, `engine.telemetry.page`,
`machines.docs.checked_tables`).
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial

from phaseline.engine import generate_sync
from phaseline.engine.accounts import page as accounts_page
from phaseline.engine.cli import reference
from phaseline.engine.http import reference as http_reference
from phaseline.engine.http.all_routes import all_routes
from phaseline.engine.telemetry import page as metrics_page
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.docs import checked_tables, pages

GENERATORS: tuple[Callable[[Sequence[str] | None], int], ...] = (
    checked_tables.main, pages.main, reference.main, generate_sync.main, accounts_page.main,
    partial(http_reference.main, all_routes(PRODUCTS)), metrics_page.main,
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check all; 1 if `--check` finds a stale file."""
    return max(generate(arguments) for generate in GENERATORS)


if __name__ == "__main__":
    sys.exit(main())
