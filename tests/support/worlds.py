"""Random histories for our own laws: what the kit makes, and how far Hypothesis looks.

Belongs here: strategies and efforts. Does not: making and playing histories, which is the test kit's (`phaseline.engine.testing`).
"""

from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phaseline.engine.testing.histories import SUBJECTS, History, Sent, Step, event, play
from phaseline.engine.testing.search import histories
from phaseline.engine.testing.wishes import LENGTH, fulfilled, wished

__all__ = [
    "MAPS", "SUBJECTS", "VALUES", "WHOLE", "History", "Sent", "Step", "event", "fulfilled", "histories", "hold", "play",
    "wished", "wishes",
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

_calm = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
EFFORTS = {
    "ci": settings(max_examples=120, derandomize=True, database=None, **_calm),  # type: ignore[arg-type]  # mixed values
    "long": settings(max_examples=3000, **_calm),  # type: ignore[arg-type]  # mixed values
}


def wishes(least: int = 20, most: int = 90) -> st.SearchStrategy[list[bytes]]:
    return st.lists(st.binary(min_size=LENGTH, max_size=LENGTH), min_size=least, max_size=most)


def hold(law: Callable[[T], None], strategy: st.SearchStrategy[T], effort: str) -> None:
    """Let Hypothesis look for an example that breaks the law."""

    def broken(example: T) -> None:
        law(example)

    broken.__name__ = broken.__qualname__ = law.__name__
    EFFORTS[effort](given(strategy)(broken))()
