"""`python3 dev.py generate [--check]` writes or checks every page, schema and module that is made from others.

Belongs here: calling the generators. Does not: what they write (`machines.docs.pages`, `engine.cli.reference`,
`engine.client.generate_sync`, `engine.accounts.page`, `engine.http.reference`, `engine.telemetry.page`,
`machines.docs.checked_tables`, `machines.docs.errors_page`).
"""

import sys
from collections.abc import Callable, Sequence

from phaseline.engine.accounts import page as accounts_page
from phaseline.engine.cli import reference
from phaseline.engine.client import generate_sync
from phaseline.engine.http import reference as http_reference
from phaseline.engine.telemetry import page as metrics_page
from phaseline.machines.docs import checked_tables, errors_page, pages

GENERATORS: tuple[Callable[[Sequence[str] | None], int], ...] = (
    checked_tables.main, pages.main, reference.main, generate_sync.main, accounts_page.main, http_reference.main,
    metrics_page.main, errors_page.main,
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check all; 1 if `--check` finds a stale file."""
    return max(generate(arguments) for generate in GENERATORS)


if __name__ == "__main__":
    sys.exit(main())
