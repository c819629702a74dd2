"""A search for a history that breaks a law, over random histories of any kinds.

Belongs here: Hypothesis, where it is installed; making what it finds short. Does not: the laws (`laws`), what bytes make of
a history (`wishes`).
"""

from collections.abc import Callable
from operator import methodcaller
from typing import TYPE_CHECKING

from phaseline.engine.errors import NotInstalled
from phaseline.engine.testing.histories import History, Offered, kinds_of, play
from phaseline.engine.testing.laws import LAWS
from phaseline.engine.testing.random_events import LENGTH, fulfilled
from phaseline.machines.compiler.kinds import Kinds

Law = Callable[[History], None]
__tracebackhide__ = methodcaller("errisinstance", AssertionError)
"""For pytest: what fails is a line of the test, not one of ours."""

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def check_laws(kinds: Offered = None, examples: int = 200) -> None:
    """Look through `examples` random histories of these kinds for one that breaks a law; the same ones each time.

    kinds: as `given` takes them. Raises `AssertionError` with the law, what it expected and found, and a short history
    that breaks it; what a rule raises; `NotInstalled` where there is no Hypothesis.
    """
    try:
        import hypothesis  # noqa: PLC0415  # only who checks laws needs it
    except ImportError as error:
        raise NotInstalled(what="check_laws", library="hypothesis", package="hypothesis") from error
    broken: list[tuple[Law, History]] = []

    def the_laws_hold(history: History) -> None:
        for law in LAWS:
            if _breaks(law, history):
                broken.append((law, history))
                raise AssertionError

    calm = hypothesis.settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, print_blob=False,
        phases=[hypothesis.Phase.generate], suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    try:
        calm(hypothesis.given(histories(kinds_of(kinds)))(the_laws_hold))()
    except Exception:
        if not broken:
            raise
    if broken:
        raise AssertionError(_text(*broken[0])) from None


def _breaks(law: Law, history: History) -> str | None:
    """What the law says against this history, if anything."""
    try:
        law(history)
    except AssertionError as error:
        return str(error) or "it says no more"
    return None


def _text(law: Law, history: History) -> str:
    """The law, and what it says of the shortest history that leaving out events leads to."""
    said, events = _breaks(law, history), [step.sent for step in history.steps]
    for place in reversed(range(len(events))):
        fewer = events[:place] + events[place + 1 :]
        shorter = play(history.kinds, fewer)
        found = _breaks(law, shorter)
        if found is not None:
            history, said, events = shorter, found, fewer
    why = said or "it is so in some runs only: a rule is no pure function of what it is given"
    return f"the law that {law.__name__.replace('_', ' ')} is broken: {why}\n\n{history!r}"


def histories(kinds: Kinds, least: int = 20, most: int = 90) -> "SearchStrategy[History]":
    """Hypothesis's strategy for random histories of so many events."""
    from hypothesis import strategies as st  # noqa: PLC0415  # as above

    wish = st.binary(min_size=LENGTH, max_size=LENGTH)
    return st.lists(wish, min_size=least, max_size=most).map(lambda wishes: fulfilled(kinds, wishes))
