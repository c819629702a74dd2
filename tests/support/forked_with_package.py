"""What a fork server imports where a package is installed that adds to Phaseline: `forked_process.started` names it.

Belongs here: the path of that package. Does not: forking (`fork_server`).
"""

import sys

from tests.support import fork_server


def prepare(site: str) -> None:
    """Import all commands, with those of the package that is installed in the folder `site`."""
    sys.path.insert(0, site)
    fork_server.prepare_commands()
