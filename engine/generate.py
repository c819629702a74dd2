"""`python3 dev.py generate [--check]`: every page and schema that is made from tables, types and commands.

Belongs here: calling those who write them. Does not: what is in them (`machines.generate`, `cli.reference`).
"""

import sys
from collections.abc import Sequence

from phaseline.engine.cli import reference
from phaseline.machines import generate


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check all; 1 where `--check` finds something stale."""
    return max(generate.main(arguments), reference.main(arguments))


if __name__ == "__main__":
    sys.exit(main())
