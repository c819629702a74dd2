"""Generates the pages and schemas that are made from tables, types and commands: `python3 dev.py generate [--check]`.

Belongs here: calling the generators. Does not: what they write (`phaseline.machines.docs.pages`,
`engine.cli.reference`).
"""

import sys
from collections.abc import Sequence

from phaseline.engine.cli import reference
from phaseline.machines.docs import pages


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check all files; 1 if `--check` finds a stale one."""
    return max(pages.main(arguments), reference.main(arguments))


if __name__ == "__main__":
    sys.exit(main())
