"""What the reads of service levels give: availability, outages, time in each class (docs/levels.md).

Belongs here: the public names of service levels. A name is loaded when it is first used. Does not: any code.
"""

from phaseline.engine.public_names import offer

# The only list of these names. `python3 dev.py generate` writes `levels.pyi` from it, for type checkers.
NAMES = {
    "phaseline.engine.products.levels.fold.reckoning": "Level LevelsReport",
    "phaseline.engine.products.levels.fold.spared":    "Excuse",
    "phaseline.engine.products.levels.fold.tallies":   "Failures Outage",
    "phaseline.engine.products.levels.views":          "Levels",
}

__all__, __getattr__, __dir__ = offer(globals(), NAMES)
