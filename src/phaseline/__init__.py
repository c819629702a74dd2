"""Phaseline: lifecycle events in, explicit state machines, committed transitions out.

What a program needs is here by name, and loaded when it is first used: `import phaseline` alone costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phaseline import testing
    from phaseline.engine import errors
    from phaseline.engine.assess import assess, assess_all, diff, health
    from phaseline.engine.client.client import Client, connect
    from phaseline.engine.client.entity_view import EntityView
    from phaseline.engine.errors import PhaselineError
    from phaseline.engine.explain.model import Explanation
    from phaseline.engine.publish.outcomes import Outcome
    from phaseline.engine.publish.pipeline import PublishResult
    from phaseline.engine.publish.single import Receipt
    from phaseline.engine.replay.dry_run import DryRun
    from phaseline.engine.settings import Settings
    from phaseline.engine.log.watch import Watch
    from phaseline.engine.log.when import Moment, When
    from phaseline.machines.kubernetes.assess import Assessment, HiddenDifference
    from phaseline.machines.kubernetes.diff.differences import Difference
    from phaseline.machines.kubernetes.health.result import HealthResult
    from phaseline.machines.kubernetes.overrides import Overrides
    from phaseline.machines.kubernetes.pairs import ApplicationAssessment
    from phaseline.machines.kubernetes.rollup import Rollup
    from phaseline.schemas.envelope import Event
    from phaseline.schemas.records import Cause, Entity, FacetState, Rejection, State, Transition

from phaseline.schemas.version import __version__

__all__ = [
    "ApplicationAssessment",
    "Assessment",
    "Cause",
    "Client",
    "Difference",
    "Entity",
    "EntityView",
    "Event",
    "Explanation",
    "FacetState",
    "Moment",
    "HealthResult",
    "HiddenDifference",
    "Outcome",
    "Overrides",
    "PhaselineError",
    "Receipt",
    "DryRun",
    "Rejection",
    "Rollup",
    "PublishResult",
    "Settings",
    "State",
    "Transition",
    "Watch",
    "When",
    "__version__",
    "assess",
    "assess_all",
    "connect",
    "diff",
    "errors",
    "health",
    "testing",
]

_HOMES = {
    "phaseline.engine.assess": ("assess", "assess_all", "diff", "health"),
    "phaseline.engine.client.client": ("Client", "connect"),
    "phaseline.engine.client.entity_view": ("EntityView",),
    "phaseline.engine.errors": ("PhaselineError",),
    "phaseline.engine.explain.model": ("Explanation",),
    "phaseline.engine.publish.outcomes": ("Outcome",),
    "phaseline.engine.publish.pipeline": ("PublishResult",),
    "phaseline.engine.publish.single": ("Receipt",),
    "phaseline.engine.replay.dry_run": ("DryRun",),
    "phaseline.engine.settings": ("Settings",),
    "phaseline.engine.log.watch": ("Watch",),
    "phaseline.engine.log.when": ("Moment", "When"),
    "phaseline.machines.kubernetes.assess": ("Assessment", "HiddenDifference"),
    "phaseline.machines.kubernetes.diff.differences": ("Difference",),
    "phaseline.machines.kubernetes.health.result": ("HealthResult",),
    "phaseline.machines.kubernetes.overrides": ("Overrides",),
    "phaseline.machines.kubernetes.pairs": ("ApplicationAssessment",),
    "phaseline.machines.kubernetes.rollup": ("Rollup",),
    "phaseline.schemas.envelope": ("Event",),
    "phaseline.schemas.records": ("Cause", "Entity", "FacetState", "Rejection", "State", "Transition"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load what is asked for by name."""
    if name == "errors":
        return import_module("phaseline.engine.errors")
    if name == "testing":
        return import_module("phaseline.testing")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'phaseline' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
