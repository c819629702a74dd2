"""`python -m phaseline.machines.docs.checked_tables` checks the built-in tables and notes their digest.

Belongs here: writing the digest into `built_in`. Does not: the checks (`compiler.checks`), what a worker does with
the digest (`Kinds.check`).
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.docs.written_part import keep

COMMAND = "python -m phaseline.machines.docs.checked_tables"
MODULE = Path("machines/built_in.py")
_SOUND = re.compile(r'(?m)^SOUND = ".*"$')


def renewed(module: str) -> str:
    """The module with the digest of the present tables. Raises `WrongTable` if they cannot work."""
    return _SOUND.sub(f'SOUND = "{Kinds(BUILT_IN).digest}"', module)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the digest; 1 if `--check` finds another one."""
    return keep(arguments, COMMAND, MODULE, renewed)


if __name__ == "__main__":
    sys.exit(main())
