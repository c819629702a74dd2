"""Strategies for laws: values and histories, as the test kit draws them, and checking a law on them.

Belongs here: strategies. Does not: the number of examples (`effort`), playing histories (`phaseline.engine.testing`).
"""

from collections.abc import Callable
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.testing.histories import SUBJECTS, History, HistoryStep, Sent, event, play
from phaseline.engine.testing.random_events import SEED_LENGTH, random_event, random_history
from phaseline.engine.testing.search import histories
from phaseline.schemas.records import Transition
from tests.support.effort import EXAMPLES, examples, many_examples, reaching

__all__ = [
    "MAPS",
    "SUBJECTS",
    "VALUES",
    "WHOLE",
    "History",
    "HistoryStep",
    "Sent",
    "event",
    "histories",
    "hold",
    "moves_of",
    "play",
    "random_event",
    "random_history",
    "seeds",
]  # fmt: skip

T = TypeVar("T")

WHOLE = st.integers(-(2**63), 2**64 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | WHOLE | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
MAPS = st.dictionaries(st.text(max_size=8), VALUES, max_size=20)
"""Data of any sort that both msgpack and JSON can hold."""


def seeds(least: int = 20, most: int = 90) -> st.SearchStrategy[list[bytes]]:
    return st.lists(st.binary(min_size=SEED_LENGTH, max_size=SEED_LENGTH), min_size=least, max_size=most)


def hold(law: Callable[[T], None], strategy: st.SearchStrategy[T], effort: str) -> None:
    """Let Hypothesis search for an example that breaks the law."""

    def broken(example: T) -> None:
        law(example)

    broken.__name__ = broken.__qualname__ = law.__name__
    chosen = {"ci": examples(EXAMPLES), "reach": reaching(), "long": many_examples()}[effort]
    chosen(given(strategy)(broken))()


def moves_of(step: HistoryStep) -> list[tuple[str, str, str]]:
    """Of each transition: the entity with the facet, the phase, the trigger."""
    return [
        (f"{r.entity.kind}/{r.entity.id} {r.facet}", r.after.phase, r.trigger)
        for r in step.records
        if isinstance(r, Transition)
    ]
