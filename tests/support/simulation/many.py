"""Many seeds in several processes: which of them fail, and what a schedule costs.

Belongs here: sharing the seeds out, telling how far it is. Does not: a schedule (`schedule`).
"""

import gc
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tests.support.simulation import schedule

SHARE = 50
"""Seeds that a process gets at a time."""


class Share(NamedTuple):
    """What came of some seeds.

    schedules: how many they were. failed: by seed, what was found. cpu: the seconds of a processor that they took.
    """

    schedules: int
    failed: dict[int, str]
    cpu: float


def run_share(seeds: Sequence[int]) -> Share:
    """Run the schedules of these seeds, here."""
    began, failed = time.process_time(), dict[int, str]()
    for seed in seeds:
        if (found := schedule.run(seed)).problems:
            failed[seed] = str(found)
    return Share(len(seeds), failed, time.process_time() - began)


def run(seeds: range, processes: int) -> Iterator[Share]:
    """Run the schedules of these seeds in so many processes; yields shares as they are done, in any order."""
    shares = [seeds[at : at + SHARE] for at in range(0, len(seeds), SHARE)]
    with multiprocessing.get_context("spawn").Pool(processes, _begin) as pool:
        yield from pool.imap_unordered(run_share, shares)


def _begin() -> None:
    """Let the collector leave alone what was imported."""
    schedule.run(0)
    gc.collect()
    gc.freeze()


def report(seeds: range, processes: int, tell: Callable[[str], None], enough: int = 0) -> dict[int, str]:
    """Run many seeds and tell what they find; by seed, what failed. enough: failed seeds after which to stop."""
    tell(f"{len(seeds):,} schedules from seed {seeds.start} on, in {processes} processes")
    began, done, spent, failed, said = time.monotonic(), 0, 0.0, dict[int, str](), 0.0
    for share in run(seeds, processes):
        done, spent = done + share.schedules, spent + share.cpu
        for seed, found in share.failed.items():
            failed[seed] = found
            tell(found)
        if time.monotonic() - said > SAY or done == len(seeds):
            said = time.monotonic()
            tell(f"{done:,} of {len(seeds):,} in {said - began:,.0f} s, {spent / done * 1_000:.0f} ms of CPU each, "
                 f"{len(failed)} failed")  # fmt: skip
        if enough and len(failed) >= enough:
            break
    return failed


SAY = 30.0
"""Seconds between two lines that say how far it is."""


def cores() -> int:
    """How many processes can run at the same time."""
    return len(os.sched_getaffinity(0))
