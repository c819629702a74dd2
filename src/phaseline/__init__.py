"""Phaseline: lifecycle events in, explicit state machines, committed transitions out.

`connect` gives a `Client`, which publishes events, reads states and watches transitions; `phaseline.sync.connect` gives
one for scripts and notebooks. `phaseline.gitops` judges Kubernetes manifests without a server.

`phaseline.tables` is the language of kinds, `phaseline.testing` their test kit, `phaseline.errors` the errors. What the
reads of one product take and give is in `phaseline.emco`, `fleet`, `gitops` and `levels`, all other types of which
answers are made in `phaseline.types`.

Belongs here: the public names. A name is loaded when it is first used: `import phaseline` alone costs nothing.
Does not: any code that these names stand for, but for the warning about names that moved.
"""

import warnings
from importlib import import_module
from typing import Any

from phaseline.engine.public_names import offer
from phaseline.schemas.version import __version__ as __version__

# The only list of these names. `python3 dev.py generate` writes `__init__.pyi` from it, for type checkers.
NAMES = {
    "phaseline.engine.surfaces.cells.cells":            "Cells",
    "phaseline.engine.surfaces.client.client":          "Client",
    "phaseline.engine.surfaces.client.connecting":      "connect",
    "phaseline.engine.surfaces.client.entity_view":     "EntityView",
    "phaseline.engine.surfaces.client.numbered_source": "NumberedSource",
    "phaseline.engine.log.explain.model":               "Explanation",
    "phaseline.engine.log.changes":                     "Change",
    "phaseline.engine.log.log_records":                 "Logged",
    "phaseline.engine.log.timeline":                    "Timeline",
    "phaseline.engine.log.watch":                       "Watch",
    "phaseline.engine.log.when":                        "Moment When",
    "phaseline.engine.surfaces.follow.follow":          "Follow Followed",
    "phaseline.engine.surfaces.overview.dwell_watch":   "DwellWatch",
    "phaseline.engine.surfaces.overview.overview":      "Overview",
    "phaseline.engine.publish.outcomes":                "Outcome",
    "phaseline.engine.publish.pipeline":                "PublishResult",
    "phaseline.engine.publish.single":                  "Receipt",
    "phaseline.engine.replay.dry_run_result":           "DryRun",
    "phaseline.engine.settings":                        "ConnectionSettings",
    "phaseline.engine.surfaces.testing.driven":         "machine",
    "phaseline.machines.compiler.kinds":                "Kinds",
    "phaseline.schemas.errors":                         "PhaselineError",
    "phaseline.schemas.envelope":                       "Event",
    "phaseline.schemas.records":                        "Cause Entity FacetState Rejection State Transition",
}
MODULES = "emco errors fleet gitops levels sync tables testing triggers types"
FORMER = "emco fleet gitops levels types"
"""The modules whose names stood here in earlier builds. Until the next version they are found here, with a warning."""


def _former(name: str) -> Any:
    """What stood here and has another place now; None if nothing did."""
    for module in (f"{__name__}.{one}" for one in FORMER.split()):
        if name in (found := import_module(module)).__all__:
            said = f"{__name__}.{name} is {module}.{name} now, and will not be found here in the next version"
            warnings.warn(said, DeprecationWarning, stacklevel=3)
            return getattr(found, name)
    return None


__all__, __getattr__, __dir__ = offer(globals(), NAMES, MODULES, _former)
