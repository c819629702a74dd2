"""The built-in tables with the change that `examples/degraded.py` makes."""

from phaseline.engine.replay.load_tables import load_kinds
from phaseline.machines.built_in import installed
from tests.support.command import ROOT

DEGRADED = load_kinds(str(ROOT / "examples" / "degraded.py") + ":COMPONENT", installed())
