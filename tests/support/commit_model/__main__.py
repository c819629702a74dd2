"""Prints how each safeguard's absence breaks the protocol: `python -m tests.support.commit_model [WORD]`.

Belongs here: printing. Does not: the cases (`gallery`).
"""

import sys

from tests.support.commit_model.gallery import BROKEN

if __name__ == "__main__":
    for name, case in BROKEN.items():
        if all(word in name for word in sys.argv[1:]):
            print(f"without {name}:\n{case.model.explore(1_000_000)}\n")  # noqa: T201  # it is a command
