"""The program `phaseline`: starts the command, or says what to install for it.

Belongs here: `main`, which needs no library of the extra `cli`. Does not: the commands (`cli`).
"""

import sys
from typing import NoReturn

from phaseline.engine.exit_codes import Exit
from phaseline.schemas import libraries


def main() -> NoReturn:
    """Run the command and end the process with its exit code."""
    try:
        for module in ("click", "rich", "zstandard"):
            libraries.require(module, "the command phaseline")
        from phaseline.engine.cli import main as run  # noqa: PLC0415  # it imports the libraries that were looked for

        run()
    except libraries.NotInstalled as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(Exit.NOT_SET_UP)
    except KeyboardInterrupt:  # Ctrl-C while modules are loaded
        sys.exit(Exit.INTERRUPTED)
