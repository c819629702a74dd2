"""Searches random histories of any kinds for one that breaks a law.

Belongs here: calling Hypothesis, and shortening the history that it finds. Does not: the laws (`laws`), making a
history from seeds (`random_events`).
"""

from collections.abc import Callable
from operator import methodcaller
from typing import TYPE_CHECKING

from phaseline.engine.surfaces.testing.histories import History, KindsLike, kinds_of, play
from phaseline.engine.surfaces.testing.laws import LAWS
from phaseline.engine.surfaces.testing.random_events import SEED_LENGTH, random_history
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import NotInstalled

Law = Callable[[History], None]
__tracebackhide__ = methodcaller("errisinstance", AssertionError)
"""Tells pytest to show the failing line of the test instead of a line of this module."""

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def check_laws(kinds: KindsLike = None, examples: int = 200) -> None:
    """Search random histories of these kinds for one that breaks a law. The histories are the same each time.

    examples: the number of histories. kinds: a `Table`, several tables, or `Kinds`, as for `given`; left out, all
    installed kinds. Raises `AssertionError` with the law, the expected and the actual value, and a short history that
    breaks the law; the exception of a rule that fails; `WrongTable`; `NotInstalled` without the package hypothesis.
    """
    try:
        import hypothesis  # noqa: PLC0415  # only this function needs it
    except ImportError as error:
        raise NotInstalled(what="check_laws", library="hypothesis", package="hypothesis") from error
    broken: list[tuple[Law, History]] = []

    def the_laws_hold(history: History) -> None:
        for law in LAWS:
            if _breaks(law, history):
                broken.append((law, history))
                raise AssertionError

    quiet_search = hypothesis.settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, print_blob=False,
        phases=[hypothesis.Phase.generate], suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    try:
        quiet_search(hypothesis.given(histories(kinds_of(kinds)))(the_laws_hold))()
    except Exception:
        if not broken:
            raise
    if broken:
        raise AssertionError(_text(*broken[0])) from None


def _breaks(law: Law, history: History) -> str | None:
    """The problem that the law finds in this history; None if the law holds."""
    try:
        law(history)
    except AssertionError as error:
        return str(error) or "no further details"
    return None


def _text(law: Law, history: History) -> str:
    """The law, the problem, and the shortest history that is left when events are removed one by one."""
    problem, events = _breaks(law, history), [step.sent for step in history.steps]
    for index in reversed(range(len(events))):
        fewer = events[:index] + events[index + 1 :]
        shorter = play(history.kinds, fewer)
        remaining = _breaks(law, shorter)
        if remaining is not None:
            history, problem, events = shorter, remaining, fewer
    text = problem or "it breaks in some runs only: a rule is not a pure function of its arguments"
    return f"the law that {law.__name__.replace('_', ' ')} is broken: {text}\n\n{history!r}"


def histories(kinds: Kinds, least: int = 20, most: int = 90) -> "SearchStrategy[History]":
    """A strategy of Hypothesis: random histories of `least` to `most` events."""
    from hypothesis import strategies as st  # noqa: PLC0415  # as above

    seed = st.binary(min_size=SEED_LENGTH, max_size=SEED_LENGTH)
    return st.lists(seed, min_size=least, max_size=most).map(lambda seeds: random_history(kinds, seeds))
