"""The built-in tables with the change that `examples/degraded.py` makes."""

from phaseline.engine.replay.load_tables import kinds_at
from tests.support.command import ROOT

DEGRADED = kinds_at(str(ROOT / "examples" / "degraded.py") + ":COMPONENT")
