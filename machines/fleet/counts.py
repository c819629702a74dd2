"""Fleet's counters, from the number of entities in each state.

Belongs here: which state counts as what, and the notation. Does not: counting (tallies do that), the query. The desired
count follows from what is declared, not from what was seen: a missing resource counts, an orphan does not.
"""

from collections.abc import Mapping

DEPLOYMENTS = {
    "Ready": "ready", "NotReady": "not_ready", "WaitApplied": "wait_applied", "ErrApplied": "err_applied",
    "OutOfSync": "out_of_sync", "Modified": "modified", "Pending": "pending",
}  # fmt: skip
RESOURCES = {
    "Ready": "ready", "NotReady": "not_ready", "Modified": "modified", "Missing": "missing", "Orphaned": "orphaned",
    "WaitApplied": "wait_applied", "Pending": "pending", "Unknown": "unknown",
}  # fmt: skip
GONE = ("Deleted", "Absent")


def of_deployments(phases: Mapping[str, int]) -> dict[str, int]:
    """Counts of bundle deployments by their phases."""
    return _counted(phases, DEPLOYMENTS)


def of_resources(phases: Mapping[str, int]) -> dict[str, int]:
    """Counts of bundle resources by their phases."""
    return _counted(phases, RESOURCES)


def _counted(phases: Mapping[str, int], words: Mapping[str, str]) -> dict[str, int]:
    unknown = {phase for phase, count in phases.items() if count and phase not in words and phase not in GONE}
    if unknown:
        raise ValueError(f"no count is for {', '.join(sorted(unknown))}")  # an unknown state must not be dropped
    counts = {word: phases.get(phase, 0) for phase, word in words.items()}
    return {"desired_ready": sum(counts.values()) - counts.get("orphaned", 0), **counts}


def fraction(counts: Mapping[str, int]) -> str:
    """`10/11`: ready, of those that should be."""
    return f"{counts['ready']}/{counts['desired_ready']}"
