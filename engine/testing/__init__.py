"""The test kit for people with kinds of their own: `from phaseline.testing import given, check_laws`.

Belongs here: what the kit offers, by name. Does not: how it works (`scenario`, `search`), a server: none of it needs one.
"""

from phaseline.engine.testing.replay import Replayed, replay
from phaseline.engine.testing.scenario import Given, Then, given
from phaseline.engine.testing.search import check_laws

__all__ = ["Given", "Replayed", "Then", "check_laws", "given", "replay"]
