"""Many schedules of the simulation, from a seed that is printed. `PROVE_SEED` begins with another one.

100,000 schedules take two cores about an hour. `python -m tests.support.simulation SEED` replays one that failed.
"""

import os
import secrets

import pytest

from tests.support.prove_scale import scaled
from tests.support.simulation import schedule

FIRST = int(os.environ.get("PROVE_SEED") or secrets.randbelow(1 << 32))
SHARES, ENOUGH = 2, 5
"""Processes that share the seeds; problems after which one of them ends."""


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_each_event_counts_once_by_many_seeds(share: int) -> None:
    found = list[schedule.Outcome]()
    seeds = range(FIRST + share, FIRST + scaled(100_000, 100), SHARES)
    print(f"PROVE_SEED={FIRST}: {len(seeds):,} schedules")  # noqa: T201  # so that the proof can be run again
    for seed in seeds:
        if (outcome := schedule.run(seed)).problems:
            found.append(outcome)
        if len(found) == ENOUGH:
            break
    assert not found, "\n".join([f"PROVE_SEED={FIRST}", *map(str, found)])
