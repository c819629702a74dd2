"""Fleet's counters, from the number of entities in each state.

Belongs here: which state counts as what, resources that are counted without a name, the notation. Does not: counting
(tallies do that), the query. The desired count follows from what is declared, not from what was seen: a missing
resource counts, an orphan does not.
"""

from collections.abc import Mapping

DEPLOYMENTS = {
    "Ready": "ready", "NotReady": "not_ready", "WaitApplied": "wait_applied", "WaitCheckIn": "wait_check_in",
    "ErrApplied": "err_applied", "OutOfSync": "out_of_sync", "Modified": "modified", "Pending": "pending",
    "NotAssessed": "not_assessed",
}  # fmt: skip
RESOURCES = {
    "Ready": "ready", "NotReady": "not_ready", "NotOwned": "not_ready", "Modified": "modified", "Missing": "missing",
    "Orphaned": "orphaned", "WaitApplied": "wait_applied", "Pending": "pending", "Unknown": "unknown",
    "NotAssessed": "not_assessed",
}  # fmt: skip
RESOURCE_WORDS = tuple(dict.fromkeys(RESOURCES.values()))
COUNTED = "Counted"
"""The phase of a resource that its deployment counts (`unnamed`), and whose own state is not known."""
GONE = ("Deleted", "Absent")
BEST_FIRST = (
    "ready",
    "not_assessed",
    "unknown",
    "pending",
    "wait_applied",
    "not_ready",
    "modified",
    "missing",
    "orphaned",
)
"""The order in which a number without names gives way to states that were reported since."""


def of_deployments(phases: Mapping[str, int], pending: int = 0, unseen: int = 0) -> dict[str, int]:
    """Counts of bundle deployments by their phases.

    pending: targets of the bundles that have no deployment yet. unseen: targets of which nothing is known.
    """
    return _summed(_counted(phases, DEPLOYMENTS), {"pending": pending, "not_assessed": unseen})


def of_resources(phases: Mapping[str, int], unnamed: Mapping[str, int] | None = None) -> dict[str, int]:
    """Counts of bundle resources by their phases. unnamed: what is counted without a name beside them."""
    named = {phase: count for phase, count in phases.items() if phase != COUNTED}
    return _summed(_counted(named, RESOURCES), unnamed or {})


def unnamed(counted: Mapping[str, int], names: int, still: int) -> dict[str, int]:
    """What one deployment counts without naming states, by word.

    counted: the numbers that its agent gave. names: how many of those resources had a name then, and were in the phase
    Counted. still: how many are in it now. Of the others a state was reported since, so they count by that state, and
    the best of the numbers become smaller: what is left is never better than the truth. Resources in Counted beyond
    the numbers are unknown.
    """
    left, known_since = dict(counted), max(0, names - still)
    left["unknown"] = left.get("unknown", 0) + max(0, still - names)
    for word in BEST_FIRST:
        taken = min(known_since, left.get(word, 0))
        known_since -= taken
        if taken:
            left[word] -= taken
    return {word: count for word, count in left.items() if count}


def _counted(phases: Mapping[str, int], words: Mapping[str, str]) -> dict[str, int]:
    unknown = {phase for phase, count in phases.items() if count and phase not in words and phase not in GONE}
    if unknown:
        raise ValueError(f"no count is for {', '.join(sorted(unknown))}")  # an unknown state must not be dropped
    counts = dict.fromkeys(words.values(), 0)
    for phase, word in words.items():
        counts[word] += phases.get(phase, 0)
    return counts


def _summed(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    whole = {word: count + more.get(word, 0) for word, count in counts.items()}
    return {"desired_ready": sum(whole.values()) - whole.get("orphaned", 0), **whole}


def fraction(counts: Mapping[str, int]) -> str:
    """`10/11`: ready, of those that should be."""
    return f"{counts['ready']}/{counts['desired_ready']}"
