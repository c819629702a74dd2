"""Many schedules of the simulation, from a seed that is printed. `PROVE_SEED` begins with another one.

`python -m tests.support.simulation SEED` replays one that failed.
"""

import os
import secrets

import pytest

from tests.support.prove_scale import scaled
from tests.support.simulation import many

FIRST = int(os.environ.get("PROVE_SEED") or secrets.randbelow(1 << 32))
PROCESSES, ENOUGH = 2, 5
"""Processes that share the seeds; seeds that fail after which the proof ends."""


@pytest.mark.slow
def test_each_event_counts_once_by_many_seeds() -> None:
    seeds = range(FIRST, FIRST + scaled(100_000, 100))
    failed = many.report(seeds, PROCESSES, print, ENOUGH)
    assert not failed, "\n".join([f"PROVE_SEED={FIRST}", *failed.values()])
