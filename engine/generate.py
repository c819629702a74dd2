"""`python3 dev.py generate [--check]` writes or checks every page and schema made from tables, types and commands.

Belongs here: calling the generators. Does not: what they write (`phaseline.machines.docs.pages`, `reference`).
"""

import sys
from collections.abc import Sequence

from phaseline.engine.cli import reference
from phaseline.machines.docs import pages


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check all; 1 if `--check` finds a stale file."""
    return max(pages.main(arguments), reference.main(arguments))


if __name__ == "__main__":
    sys.exit(main())
