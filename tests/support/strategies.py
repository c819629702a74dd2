"""Strategies for laws: values and histories, as the test kit draws them, and checking a law on them.

Belongs here: strategies. Does not: the number of examples (`effort`), playing histories (`surfaces.testing`).
"""

from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from phaseline.engine.surfaces.testing.histories import SUBJECTS, History, HistoryStep, Sent, event, play
from phaseline.engine.surfaces.testing.random_events import SEED_LENGTH, random_event, random_history
from phaseline.engine.surfaces.testing.search import histories
from phaseline.schemas.records import Transition
from tests.support.effort import DEAR, EXAMPLES, FAR, REACH, examples, many_examples, reaching

__all__ = [
    "MAPS",
    "SUBJECTS",
    "VALUES",
    "WHOLE",
    "History",
    "HistoryStep",
    "Sent",
    "all_at_once",
    "event",
    "histories",
    "hold",
    "law_by_law",
    "moves_of",
    "play",
    "random_event",
    "random_history",
    "search",
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


def all_at_once(*laws: Callable[[T], None]) -> Callable[[T], None]:
    """One law that is the others together: making a history costs more than most laws do with it."""

    def all_laws(example: T) -> None:
        for law in laws:
            try:
                law(example)
            except BaseException as error:
                error.add_note(f"the law: {law.__name__}")
                raise

    return all_laws


def law_by_law(*laws: Callable[[Any], None], effort: str = "ci") -> pytest.MarkDecorator:
    """Parameters `law` and `effort`: all laws on the same examples, and, marked slow, each law on many of its own."""
    alone = [pytest.param(law, "long", id=f"{law.__name__}-long", marks=pytest.mark.slow) for law in laws]
    return pytest.mark.parametrize(("law", "effort"), [pytest.param(all_at_once(*laws), effort, id="all"), *alone])


def hold(law: Callable[[T], None], strategy: st.SearchStrategy[T], effort: str) -> None:
    """Let Hypothesis search for an example that breaks the law.

    effort: `ci`, `dear` for laws that take long, `reach` and `far` to see which states are reached, `long` for proofs.
    """

    def broken(example: T) -> None:
        law(example)

    broken.__name__ = broken.__qualname__ = law.__name__
    chosen = {
        "ci": examples(EXAMPLES), "dear": examples(DEAR), "reach": reaching(REACH), "far": reaching(FAR),
        "long": many_examples(),
    }  # fmt: skip
    chosen[effort](given(strategy)(broken))()


def moves_of(step: HistoryStep) -> list[tuple[str, str, str]]:
    """Of each transition: the entity with the facet, the phase, the trigger."""
    return [
        (f"{r.entity.kind}/{r.entity.id} {r.facet}", r.after.phase, r.trigger)
        for r in step.records
        if isinstance(r, Transition)
    ]


def search(examples: int, law: Callable[[Random], None]) -> None:
    """Let a law draw what it needs from so many random generators. What breaks it is not made smaller."""

    def broken(seed: int) -> None:
        law(Random(seed))

    chosen = settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )  # fmt: skip
    chosen(given(st.integers(0, 2**63))(broken))()
