# Written by `python -m phaseline.engine.surfaces.generate` from the table in levels.py.

from phaseline.engine.products.levels.fold.reckoning import Level as Level
from phaseline.engine.products.levels.fold.reckoning import LevelsReport as LevelsReport
from phaseline.engine.products.levels.fold.spared import Excuse as Excuse
from phaseline.engine.products.levels.fold.tallies import Failures as Failures
from phaseline.engine.products.levels.fold.tallies import Outage as Outage
from phaseline.engine.products.levels.views import Levels as Levels

__all__: list[str]
