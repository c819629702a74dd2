"""Laws of reasons: kept as long as their conditions stand, the same on every way through the core.

Belongs here: random lives of one node, whose events give reasons or none. Does not: single events
(`test_given_reasons`).
"""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.surfaces.testing.histories import History, event, play
from phaseline.schemas.records import Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.effort import examples
from tests.support.fast_path_watch import counted

N = "c/p/n"
TRIGGERS = (
    "not_ready", "ready", "overdue", "renewed", "error", "recovered", "cordon", "uncordon", "update", "updated", "delete",
    "cleanup_failed", "deleted",
)  # fmt: skip
REASONS = (None, "KubeletStopped", "Unpaid", "no word at all")
told = st.tuples(st.sampled_from(TRIGGERS), st.sampled_from(REASONS), st.sampled_from((None, "a message")))
reports = st.tuples(st.just("reported"), st.sampled_from(REASONS), st.sampled_from(("Running", "Failed [NotReady]")))
lives = st.lists(told | reports, min_size=1, max_size=25)


def sent(number: int, trigger: str, reason: str | None, more: str | None) -> Any:
    data: dict[str, Any] = {} if reason is None else {"reason": reason}
    if trigger == "reported":
        phase, _, condition = str(more).partition(" ")
        data |= {"phase": phase, "seen": number, **({"conditions": [condition.strip("[]")]} if condition else {})}
    elif more is not None:
        data["message"] = more
    return event("node", trigger, N, data, id=f"e{number}")


def played(life: list[Any]) -> History:
    begun = event("node", "reported", N, {"phase": "Running"}, id="begin")
    return play(KINDS, [begun, *(sent(number, *one) for number, one in enumerate(life, 1))])


@given(lives)
@examples(120)
def test_a_reason_is_kept_as_long_as_its_condition_stands(life: list[Any]) -> None:
    for record in own(played(life)):
        kept = {} if record.entity.memory is None else record.entity.memory.reasons
        base = record.entity.facets[0].base
        assert set(kept) <= {*base.conditions}.difference(["Ok"])
        assert set(kept.values()) <= {"KubeletStopped", "Unpaid"}
        assert record.reason in (None, "KubeletStopped", "Unpaid")


@given(lives)
@examples(120)
def test_equal_states_mean_another_reason(life: list[Any]) -> None:
    """What changes nothing else is a record only because of its reason, and the same again is none."""
    records = own(played(life))
    for before, record in pairwise(records):
        was, now = before.entity, record.entity
        if (was.facets, was.asked, was.timers_ns, was.attributes) == (
            now.facets,
            now.asked,
            now.timers_ns,
            now.attributes,
        ):
            assert was.memory != now.memory, (before, record)
    twice = [one for one in life for _ in (0, 1) if one[0] in ("not_ready", "overdue", "error", "cordon")]
    again = own(played(twice))
    assert len(again) == len(own(played(twice[::2])))


@given(lives)
@examples(60)
def test_every_way_through_the_core_keeps_the_same(life: list[Any]) -> None:
    history = played(life)
    for steps in (True, False):
        with counted(plans=False, steps=steps):
            again = played(life)
        assert [step.records for step in again.steps] == [step.records for step in history.steps]


def own(history: History) -> list[Transition]:
    """The transitions of the node, in order."""
    found = [record for step in history.steps for record in step.records]
    return [one for one in found if isinstance(one, Transition) and one.entity.kind == "node"]
