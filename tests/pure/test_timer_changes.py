"""Which changes of attributes start a timer again, for the kinds whose timeouts name such attributes.

Belongs here: `core.timers.starts_again` alone. Does not: timers that fire (`tests/nats/test_timers`).
"""

import pytest

from phaseline.engine.core.timers import starts_again, timeout_of
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.table import ABSENT, Timeout
from phaseline.schemas.records import FacetState, State
from tests.support.built_in_kinds import BUILT_IN_KINDS

TIMEOUTS = [
    (kind, index, phase, timeout)
    for kind in BUILT_IN_KINDS.values()
    for index, by_phase in enumerate(kind.timeouts)
    for phase, timeout in by_phase.items()
]


def facet(phase: str) -> FacetState:
    return FacetState(State(phase), State(phase), 0)


@pytest.mark.parametrize(("kind", "index", "phase", "timeout"), TIMEOUTS)
def test_only_a_named_attribute_starts_a_timer_again(kind: Kind, index: int, phase: str, timeout: Timeout) -> None:
    names = [name for name in (timeout.restart_on, timeout.seconds_from) if name is not None]
    before = {"other": 1, **dict.fromkeys(names, 1)}
    assert not starts_again(timeout, before, before)
    assert not starts_again(timeout, before, {**before, "other": 2})
    for name in names:
        after = {**before, name: 2}
        assert starts_again(timeout, before, after) == (timeout.restart_on is not None)
        assert not starts_again(timeout_of(kind, index, facet(ABSENT)), before, after)


def test_some_timeouts_name_such_an_attribute_and_some_do_not() -> None:
    assert {timeout.restart_on is None for *_, timeout in TIMEOUTS} == {True, False}
