"""Phaseline: lifecycle events in, explicit state machines, committed transitions out.

`connect` gives a `Client`, which publishes events, reads states and watches transitions; `phaseline.sync.connect` gives
one for scripts and notebooks. `assess`, `diff` and `health` work on Kubernetes manifests without a server.

`phaseline.tables` is the language of kinds, `phaseline.testing` their test kit, `phaseline.errors` the errors.

Belongs here: the public names. A name is loaded when it is first used: `import phaseline` alone costs nothing.
Does not: any code that these names stand for.
"""

from phaseline.engine.public_names import offer
from phaseline.schemas.version import __version__ as __version__

# The only list of these names. `python3 dev.py generate` writes `__init__.pyi` from it, for type checkers.
NAMES = {
    "phaseline.engine.products.gitops.assess":               "assess assess_all diff health",
    "phaseline.engine.surfaces.cells.cells":                 "Cells",
    "phaseline.engine.surfaces.cells.merging":               "CellsWatch",
    "phaseline.engine.surfaces.cells.reading":               "CellRecord InCell",
    "phaseline.engine.surfaces.client.client":               "Client",
    "phaseline.engine.surfaces.client.connecting":           "Connecting connect",
    "phaseline.engine.core.counts.by_source":                "BySource SourceCounts",
    "phaseline.engine.core.sources.numbers":                 "Repeat",
    "phaseline.engine.publish.source_counts":                "SourceReport SourceRow",
    "phaseline.engine.surfaces.client.entity_view":          "EntityView",
    "phaseline.engine.surfaces.client.numbered_source":      "NumberedSource",
    "phaseline.engine.surfaces.client.rejection_counts":     "RejectionCount",
    "phaseline.engine.core.message":                         "Message",
    "phaseline.engine.log.explain.model":                    "CauseChain Contradiction Explanation FacetExplanation "
                                                             "GivenReason PredicateExplanation ViewExplanation",
    "phaseline.engine.products.levels.fold.reckoning":       "Level LevelsReport",
    "phaseline.engine.products.levels.fold.spared":          "Excuse",
    "phaseline.engine.products.levels.fold.tallies":         "Failures Outage",
    "phaseline.engine.log.changes":                          "Change",
    "phaseline.engine.log.log_records":                      "Logged",
    "phaseline.engine.log.timeline":                         "Interval Lane Timeline",
    "phaseline.engine.log.watch":                            "Watch",
    "phaseline.engine.log.when":                             "Moment When",
    "phaseline.engine.products.emco.query":                  "EmcoNamesQuery EmcoStatusQuery SourceStatusQuery "
                                                             "StatusQuery",
    "phaseline.engine.products.emco.schema":                 "EmcoAction EmcoApp EmcoAppClusters EmcoAppResources "
                                                             "EmcoCluster EmcoClusterName EmcoNamedResource EmcoNames "
                                                             "EmcoOneCluster EmcoResource EmcoStates EmcoStatus "
                                                             "EmcoFailure EmcoPrevious GroupVersionKind LeftBehind "
                                                             "Shows SourceApp SourceCluster SourceFailure "
                                                             "SourcePrevious SourceResource SourceStatus",
    "phaseline.engine.products.emco.select":                 "AppCluster LeftItem StatusItem StatusSelection",
    "phaseline.engine.products.emco.views":                  "Emco EmcoView",
    "phaseline.engine.products.fleet.counts":                "FleetClusterCounts FleetCounts FleetDisplay FleetPart",
    "phaseline.engine.products.fleet.views":                 "Fleet FleetView",
    "phaseline.engine.products.gitops.last_observation":     "ObjectDiff Observation",
    "phaseline.engine.products.gitops.views":                "Gitops",
    "phaseline.engine.products.levels.views":                "Levels",
    "phaseline.engine.surfaces.follow.follow":               "Follow Followed",
    "phaseline.engine.surfaces.follow.follower":             "FollowChoice FollowerState",
    "phaseline.engine.surfaces.overview.dwell_watch":        "DwellWatch",
    "phaseline.engine.surfaces.overview.overview":           "Dwell Noticed Overview TreeClasses Trouble",
    "phaseline.engine.publish.compose":                      "EventDetails",
    "phaseline.engine.publish.outcomes":                     "Outcome",
    "phaseline.engine.publish.pipeline":                     "PublishResult",
    "phaseline.engine.publish.single":                       "Receipt",
    "phaseline.engine.replay.dry_run_result":                "DryRun",
    "phaseline.engine.settings":                             "ConnectionSettings Settings",
    "phaseline.engine.log.explain.shut":                     "Shut",
    "phaseline.engine.log.explain.staleness":                "Stale",
    "phaseline.engine.surfaces.testing.driven":              "DrivenMachine machine",
    "phaseline.engine.log.explain.unknown_parts":            "LackingParts UnknownParts",
    "phaseline.engine.worker.services":                      "ServiceQuery",
    "phaseline.machines.compiler.kinds":                     "Kinds",
    "phaseline.machines.kinds.kubernetes.assess":            "Assessment HiddenDifference",
    "phaseline.machines.kinds.kubernetes.diff.differences":  "Difference",
    "phaseline.machines.kinds.kubernetes.diff.ignore":       "IgnoreEffect IgnoreRule",
    "phaseline.machines.kinds.kubernetes.diff.known_types":  "KnownType",
    "phaseline.machines.kinds.kubernetes.health.result":     "Evidence HealthResult",
    "phaseline.machines.kinds.kubernetes.kind_facts":        "KindFacts",
    "phaseline.machines.kinds.kubernetes.known.rows":        "KnownKind StatusRow",
    "phaseline.machines.kinds.kubernetes.overrides":         "Overrides",
    "phaseline.machines.kinds.kubernetes.pairs":             "ApplicationAssessment AssessedPair ObjectKey Pair",
    "phaseline.machines.kinds.kubernetes.profiles":          "Profile",
    "phaseline.machines.kinds.kubernetes.rollup":            "Rollup",
    "phaseline.machines.language.product":                   "BrokenKind",
    "phaseline.schemas.errors":                              "PhaselineError",
    "phaseline.schemas.envelope":                            "Event",
    "phaseline.schemas.records":                             "Cause Entity FacetState Heard LeftOut Mark Memory Noted "
                                                             "Rejection State Stay Transition",
}
MODULES = "errors sync tables testing"

__all__, __getattr__, __dir__ = offer(globals(), NAMES, MODULES)
