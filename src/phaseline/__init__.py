"""Phaseline: lifecycle events in, explicit state machines, committed transitions out.

`connect` gives a `Client`, which publishes events, reads states and watches transitions; `phaseline.sync.connect` gives
one for scripts and notebooks. `assess`, `diff` and `health` work on Kubernetes manifests without a server.

`phaseline.tables` is the language of kinds, `phaseline.testing` their test kit, `phaseline.errors` the errors.

Belongs here: the public names. A name is loaded when it is first used: `import phaseline` alone costs nothing.
Does not: any code that these names stand for.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from phaseline.engine.public_names import name_as_public
from phaseline.schemas.version import __version__

if TYPE_CHECKING:
    from phaseline import errors, sync, tables, testing
    from phaseline.engine.assess import assess, assess_all, diff, health
    from phaseline.engine.cells.cells import Cells
    from phaseline.engine.cells.cells_watch import CellRecord, CellsWatch
    from phaseline.engine.cells.one_cell import InCell
    from phaseline.engine.client.client import Client
    from phaseline.engine.client.connecting import Connecting, connect
    from phaseline.engine.client.entity_view import EntityView
    from phaseline.engine.client.fleet_counts import FleetClusterCounts, FleetCounts, FleetDisplay, FleetPart
    from phaseline.engine.client.products import Emco, EmcoView, Fleet, FleetView, Gitops
    from phaseline.engine.client.rejection_counts import RejectionCount
    from phaseline.engine.core.message import Message
    from phaseline.engine.emco_status.query import EmcoNamesQuery, EmcoStatusQuery, SourceStatusQuery, StatusQuery
    from phaseline.engine.emco_status.schema import (
        EmcoAction,
        EmcoApp,
        EmcoAppClusters,
        EmcoAppResources,
        EmcoCluster,
        EmcoClusterName,
        EmcoNamedResource,
        EmcoNames,
        EmcoOneCluster,
        EmcoResource,
        EmcoStates,
        EmcoStatus,
        GroupVersionKind,
        SourceApp,
        SourceCluster,
        SourceResource,
        SourceStatus,
    )
    from phaseline.engine.emco_status.select import AppCluster, StatusItem, StatusSelection
    from phaseline.engine.explain.model import (
        CauseChain,
        Contradiction,
        Explanation,
        FacetExplanation,
        PredicateExplanation,
        ViewExplanation,
    )
    from phaseline.engine.log.changes import Change
    from phaseline.engine.last_observation import ObjectDiff, Observation
    from phaseline.engine.log.log_records import Logged
    from phaseline.engine.log.timeline import Interval, Lane, Timeline
    from phaseline.engine.log.watch import Watch
    from phaseline.engine.log.when import Moment, When
    from phaseline.engine.publish.compose import EventDetails
    from phaseline.engine.publish.outcomes import Outcome
    from phaseline.engine.publish.pipeline import PublishResult
    from phaseline.engine.publish.single import Receipt
    from phaseline.engine.replay.dry_run_result import DryRun
    from phaseline.engine.settings import ConnectionSettings, Settings
    from phaseline.engine.worker.services import ServiceQuery
    from phaseline.machines.compiler.kinds import Kinds
    from phaseline.engine.unknown_parts import UnknownParts
    from phaseline.machines.kubernetes.assess import Assessment, HiddenDifference
    from phaseline.machines.kubernetes.diff.differences import Difference
    from phaseline.machines.kubernetes.diff.ignore import IgnoreEffect, IgnoreRule
    from phaseline.machines.kubernetes.diff.known_types import KnownType
    from phaseline.machines.kubernetes.health.result import Evidence, HealthResult
    from phaseline.machines.kubernetes.known.rows import KnownKind, StatusRow
    from phaseline.machines.kubernetes.overrides import Overrides
    from phaseline.machines.kubernetes.pairs import ApplicationAssessment, AssessedPair, ObjectKey, Pair
    from phaseline.machines.kubernetes.profiles import Profile
    from phaseline.machines.kubernetes.rollup import Rollup
    from phaseline.machines.language.product import BrokenKind
    from phaseline.schemas.errors import PhaselineError
    from phaseline.schemas.envelope import Event
    from phaseline.schemas.records import Cause, Entity, FacetState, LeftOut, Mark, Rejection, State, Transition

__all__ = [
    "AppCluster",
    "ApplicationAssessment",
    "AssessedPair",
    "Assessment",
    "BrokenKind",
    "Cause",
    "CauseChain",
    "CellRecord",
    "Cells",
    "CellsWatch",
    "Change",
    "Client",
    "Connecting",
    "ConnectionSettings",
    "Contradiction",
    "Difference",
    "DryRun",
    "Emco",
    "EmcoAction",
    "EmcoApp",
    "EmcoAppClusters",
    "EmcoAppResources",
    "EmcoCluster",
    "EmcoClusterName",
    "EmcoNamedResource",
    "EmcoNames",
    "EmcoNamesQuery",
    "EmcoOneCluster",
    "EmcoResource",
    "EmcoStates",
    "EmcoStatus",
    "EmcoStatusQuery",
    "EmcoView",
    "Entity",
    "EntityView",
    "Event",
    "EventDetails",
    "Evidence",
    "Explanation",
    "FacetExplanation",
    "FacetState",
    "Fleet",
    "FleetClusterCounts",
    "FleetCounts",
    "FleetDisplay",
    "FleetPart",
    "FleetView",
    "Gitops",
    "GroupVersionKind",
    "HealthResult",
    "HiddenDifference",
    "IgnoreEffect",
    "IgnoreRule",
    "InCell",
    "Interval",
    "Kinds",
    "KnownKind",
    "KnownType",
    "Lane",
    "LeftOut",
    "Logged",
    "Mark",
    "Message",
    "Moment",
    "ObjectDiff",
    "ObjectKey",
    "Observation",
    "Outcome",
    "Overrides",
    "Pair",
    "PhaselineError",
    "PredicateExplanation",
    "Profile",
    "PublishResult",
    "Receipt",
    "Rejection",
    "RejectionCount",
    "Rollup",
    "ServiceQuery",
    "Settings",
    "SourceApp",
    "SourceCluster",
    "SourceResource",
    "SourceStatus",
    "SourceStatusQuery",
    "State",
    "StatusItem",
    "StatusQuery",
    "StatusRow",
    "StatusSelection",
    "Timeline",
    "Transition",
    "UnknownParts",
    "ViewExplanation",
    "Watch",
    "When",
    "__version__",
    "assess",
    "assess_all",
    "connect",
    "diff",
    "errors",
    "health",
    "sync",
    "tables",
    "testing",
]

_SUBMODULES = ("errors", "sync", "tables", "testing")
_HOMES = {
    "phaseline.engine.assess": ("assess", "assess_all", "diff", "health"),
    "phaseline.engine.cells.cells": ("Cells",),
    "phaseline.engine.cells.cells_watch": ("CellRecord", "CellsWatch"),
    "phaseline.engine.cells.one_cell": ("InCell",),
    "phaseline.engine.client.client": ("Client",),
    "phaseline.engine.client.connecting": ("Connecting", "connect"),
    "phaseline.engine.client.entity_view": ("EntityView",),
    "phaseline.engine.client.fleet_counts": ("FleetClusterCounts", "FleetCounts", "FleetDisplay", "FleetPart"),
    "phaseline.engine.client.products": ("Emco", "EmcoView", "Fleet", "FleetView", "Gitops"),
    "phaseline.engine.client.rejection_counts": ("RejectionCount",),
    "phaseline.engine.core.message": ("Message",),
    "phaseline.engine.emco_status.query": ("EmcoNamesQuery", "EmcoStatusQuery", "SourceStatusQuery", "StatusQuery"),
    "phaseline.engine.emco_status.schema": (
        "EmcoAction",
        "EmcoApp",
        "EmcoAppClusters",
        "EmcoAppResources",
        "EmcoCluster",
        "EmcoClusterName",
        "EmcoNamedResource",
        "EmcoNames",
        "EmcoOneCluster",
        "EmcoResource",
        "EmcoStates",
        "EmcoStatus",
        "GroupVersionKind",
        "SourceApp",
        "SourceCluster",
        "SourceResource",
        "SourceStatus",
    ),
    "phaseline.engine.emco_status.select": ("AppCluster", "StatusItem", "StatusSelection"),
    "phaseline.engine.explain.model": (
        "CauseChain",
        "Contradiction",
        "Explanation",
        "FacetExplanation",
        "PredicateExplanation",
        "ViewExplanation",
    ),
    "phaseline.engine.log.changes": ("Change",),
    "phaseline.engine.last_observation": ("ObjectDiff", "Observation"),
    "phaseline.engine.log.log_records": ("Logged",),
    "phaseline.engine.log.timeline": ("Interval", "Lane", "Timeline"),
    "phaseline.engine.log.watch": ("Watch",),
    "phaseline.engine.log.when": ("Moment", "When"),
    "phaseline.engine.publish.compose": ("EventDetails",),
    "phaseline.engine.publish.outcomes": ("Outcome",),
    "phaseline.engine.publish.pipeline": ("PublishResult",),
    "phaseline.engine.publish.single": ("Receipt",),
    "phaseline.engine.replay.dry_run_result": ("DryRun",),
    "phaseline.engine.settings": ("ConnectionSettings", "Settings"),
    "phaseline.engine.worker.services": ("ServiceQuery",),
    "phaseline.machines.compiler.kinds": ("Kinds",),
    "phaseline.engine.unknown_parts": ("UnknownParts",),
    "phaseline.machines.kubernetes.assess": ("Assessment", "HiddenDifference"),
    "phaseline.machines.kubernetes.diff.differences": ("Difference",),
    "phaseline.machines.kubernetes.diff.ignore": ("IgnoreEffect", "IgnoreRule"),
    "phaseline.machines.kubernetes.diff.known_types": ("KnownType",),
    "phaseline.machines.kubernetes.health.result": ("Evidence", "HealthResult"),
    "phaseline.machines.kubernetes.known.rows": ("KnownKind", "StatusRow"),
    "phaseline.machines.kubernetes.overrides": ("Overrides",),
    "phaseline.machines.kubernetes.pairs": ("ApplicationAssessment", "AssessedPair", "ObjectKey", "Pair"),
    "phaseline.machines.kubernetes.profiles": ("Profile",),
    "phaseline.machines.kubernetes.rollup": ("Rollup",),
    "phaseline.machines.language.product": ("BrokenKind",),
    "phaseline.schemas.errors": ("PhaselineError",),
    "phaseline.schemas.envelope": ("Event",),
    "phaseline.schemas.records": (
        "Cause",
        "Entity",
        "FacetState",
        "LeftOut",
        "Mark",
        "Rejection",
        "State",
        "Transition",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name in _SUBMODULES:
        return import_module(f"phaseline.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'phaseline' has no attribute {name!r}")
    import_module(_HOME_OF[name])
    _adopt()
    return globals()[name]


def __dir__() -> list[str]:
    """The public names."""
    return __all__


def _adopt() -> None:
    """Take over the public names of all modules that are loaded, so that help and repr call them `phaseline.<name>`."""
    import_module("phaseline.errors")
    for home, names in _HOMES.items():
        module = sys.modules.get(home)
        for name in names if module is not None else ():
            found = getattr(module, name)
            name_as_public(found, home, __name__)
            globals()[name] = found
