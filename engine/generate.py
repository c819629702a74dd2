"""`python3 dev.py generate [--check]` writes or checks every page, schema and module that is made from others.

Belongs here: calling the generators. Does not: what they write (`machines.docs.pages`, `engine.cli.reference`,
`engine.client.generate_sync`, `engine.accounts.page`, `engine.http.reference`, `engine.telemetry.page`,
`engine.telemetry.monitoring_files`, `machines.docs.checked_tables`).
"""

import sys
from collections.abc import Sequence

from phaseline.engine.accounts import page as accounts_page
from phaseline.engine.cli import reference
from phaseline.engine.client import generate_sync
from phaseline.engine.http import reference as http_reference
from phaseline.engine.telemetry import monitoring_files
from phaseline.engine.telemetry import page as metrics_page
from phaseline.machines.docs import checked_tables, pages


GENERATORS = (
    checked_tables, pages, reference, generate_sync, accounts_page, http_reference, metrics_page, monitoring_files,
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check all; 1 if `--check` finds a stale file."""
    return max(generator.main(arguments) for generator in GENERATORS)


if __name__ == "__main__":
    sys.exit(main())
