"""Rejections in numbers (engine/surfaces/client/rejection_counts.py)."""

from itertools import permutations

from phaseline.engine.surfaces.client.rejection_counts import RejectionCounts
from phaseline.schemas.records import Cause, Rejection


def rejection(place: int, kind: str) -> Rejection:
    cause = Cause(place, f"e-{place}", "/x", "event")
    return Rejection(kind, "c1", "create", "illegal", "not legal there", None, (), cause, place)


def test_the_order_in_which_they_are_counted_does_not_matter() -> None:
    """Those of several trees are read one tree after the other."""
    found = {2: rejection(2, "node"), 5: rejection(5, "cluster"), 9: rejection(9, "node")}
    for places in permutations(found):
        counts = RejectionCounts()
        for place in places:
            counts.take(place, found[place])
        assert [(one.kind, one.count, one.place, one.last) for one in counts.sorted()] == [
            ("node", 2, 9, found[9]), ("cluster", 1, 5, found[5])
        ]  # fmt: skip
