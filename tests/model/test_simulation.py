"""The real code of workers and edges on a virtual server, by seeds: each event counts once, in order, whatever happens.

`python -m tests.support.simulation SEED` replays a seed and prints all that happens in it.
"""

import pytest

from tests.support.simulation import schedule
from tests.support.simulation.safeguards import SAFEGUARDS

SEEDS = 40
"""Schedules in each run of the tests."""
REACH = 400
"""Seeds within which each safeguard must be missed."""


@pytest.mark.parametrize("share", range(4))
def test_each_event_counts_once_by_any_seed(share: int) -> None:
    for seed in range(share, SEEDS, 4):
        assert not (found := schedule.run(seed)).problems, str(found)


@pytest.mark.parametrize("name", SAFEGUARDS)
def test_without_a_safeguard_a_seed_finds_a_problem(name: str) -> None:
    """The seed is searched for: it is another one as soon as the code sends one request more."""
    safeguard = SAFEGUARDS[name]

    def found_by(seed: int) -> schedule.Outcome:
        return schedule.run(seed, edges=safeguard.edges, only=safeguard.troubles)

    with safeguard.taken_out():
        seed = next(one for one in range(REACH) if found_by(one).problems)
        assert any(safeguard.problem in one for one in found_by(seed).problems), str(found_by(seed))
    assert not found_by(seed).problems, str(found_by(seed))


def test_a_seed_leads_to_the_same_again() -> None:
    first, again = schedule.run(7, is_told=True), schedule.run(7, is_told=True)
    assert first.story == again.story
    assert first.digest == again.digest
    assert schedule.run(8).digest != first.digest
