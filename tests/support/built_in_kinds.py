"""The built-in tables, compiled once for all tests of a process.

Belongs here: `BUILT_IN_KINDS`. Does not: kinds made for tests (`sample_kinds`).
"""

from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.kinds import Kinds

BUILT_IN_KINDS = Kinds(BUILT_IN)
