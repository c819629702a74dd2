"""The test kit for authors of kinds: `from phaseline.testing import given, check_laws`. It needs no server.

Belongs here: `scenario` (given / when / then) with `placement`, `testing.timers` and `failure_text`; `laws` with
`search`, `random_events`, `histories` and `recompute`; `replay` (recorded logs as tests), `driven`
(a facet as a machine of the library transitions), `products.notices.given_rules` (of notices, which `phaseline.testing`
loads when it is asked). Does not: tests of Phaseline itself.
"""

from phaseline.engine.surfaces.testing.replay import Replayed, replay
from phaseline.engine.surfaces.testing.scenario import Given, Then, given
from phaseline.engine.surfaces.testing.search import check_laws

__all__ = ["Given", "Replayed", "Then", "check_laws", "given", "replay"]
