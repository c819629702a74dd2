"""How large the proofs are: `PROVE_SCALE=0.05 python3 dev.py prove` runs them with a twentieth of their numbers.

Belongs here: the scale, and numbers by it. Does not: the numbers of single proofs, the examples of laws (`effort`).
"""

import os

SCALE = float(os.environ.get("PROVE_SCALE", "1"))


def scaled(number: int, least: int = 1) -> int:
    """A number of the full proof by the scale of this run."""
    return max(least, round(number * SCALE))
