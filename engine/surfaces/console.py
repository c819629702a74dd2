"""The program `phaseline`: starts the command, or says what to install for it.

Belongs here: `main`, which needs no library of the extra `cli`. Does not: the commands (`cli`).
"""

import atexit
import gc
import sys
from typing import NoReturn

from phaseline.engine.collecting import collecting_rarely
from phaseline.engine.surfaces import late_modules
from phaseline.schemas import libraries
from phaseline.schemas.errors import Exit, NotInstalled


def main() -> NoReturn:
    """Run the command and end the process with its exit code."""
    atexit.register(gc.freeze)  # else Python looks at all objects once more before it ends
    try:
        for module in ("click", "rich", "zstandard"):
            libraries.require(module, "the command phaseline")
        with collecting_rarely():
            late_modules.spare()
            from phaseline.engine.surfaces import cli  # noqa: PLC0415  # it needs the libraries that were looked for

            cli.main()
    except NotInstalled as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(Exit.NOT_SET_UP)
    except KeyboardInterrupt:  # Ctrl-C while modules are loaded
        sys.exit(Exit.INTERRUPTED)
