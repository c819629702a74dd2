"""The types of which the values of `phaseline` are made, for annotations: parts of explanations, lanes, counts, cells.

Belongs here: the public names of types that few programs name. A name is loaded when it is first used. Does not: what
programs call, which is in `phaseline` itself.
"""

from phaseline.engine.public_names import offer

# The only list of these names. `python3 dev.py generate` writes `types.pyi` from it, for type checkers.
NAMES = {
    "phaseline.engine.surfaces.cells.merging": "CellsWatch",
    "phaseline.engine.surfaces.cells.reading": "CellRecord InCell",
    "phaseline.engine.surfaces.client.connecting": "Connecting",
    "phaseline.engine.core.counts.by_source": "BySource SourceCounts",
    "phaseline.engine.core.sources.numbers": "Repeat",
    "phaseline.engine.publish.source_counts": "SourceReport SourceRow",
    "phaseline.engine.surfaces.client.reading_client": "ReadingClient",
    "phaseline.engine.surfaces.client.rejection_counts": "RejectionCount",
    "phaseline.engine.core.message": "Message",
    "phaseline.engine.log.explain.model": "CauseChain Contradiction FacetExplanation GivenReason "
    "PredicateExplanation ViewExplanation",
    "phaseline.engine.log.timeline": "Interval Lane",
    "phaseline.engine.surfaces.follow.follower": "FollowChoice FollowerState",
    "phaseline.engine.surfaces.overview.overview": "Dwell Noticed TreeClasses Trouble",
    "phaseline.engine.publish.compose": "EventDetails",
    "phaseline.engine.settings": "Settings",
    "phaseline.engine.log.explain.shut": "Shut",
    "phaseline.engine.log.explain.staleness": "Stale",
    "phaseline.engine.surfaces.testing.driven": "DrivenMachine",
    "phaseline.engine.log.explain.unknown_parts": "LackingParts UnknownParts",
    "phaseline.engine.worker.services": "ServiceQuery",
    "phaseline.machines.language.product": "BrokenKind",
    "phaseline.schemas.records": "Heard LeftOut Mark Memory Noted Stay",
}

__all__, __getattr__, __dir__ = offer(globals(), NAMES)
