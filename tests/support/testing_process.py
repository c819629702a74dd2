"""A test process of pytest-xdist that was forked: it does what execnet says, as `python -c` would.

Belongs here: what comes before the tests in such a process. Does not: forking it (`forked_tests`).
"""

import sys

from tests.support import command

if __name__ == "__main__":
    command.have_own_state()
    exec(sys.argv[-1], {"__name__": "__main__"})
