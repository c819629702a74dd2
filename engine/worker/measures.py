"""What a worker measures while it works: plain numbers, which cost hardly anything.

Belongs here: `Distribution`, the `Measures` of a worker, a `census` of a tree. Does not: what became of events
(`core.counts`), names and labels of metrics (`surfaces.telemetry`).
"""

import asyncio
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from phaseline.engine.core.tree import Tree
from phaseline.engine.worker.faults import FaultStreak
from phaseline.machines.language.deadlines import counted_as
from phaseline.schemas.records import SECOND, FacetState

DELAYS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
COMMITS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
MESSAGES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 10_000.0)
CASCADES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 10_000.0)
TAKE_OVERS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
RENEWALS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
FORMER = FIRST, LIVING, ENDED = "first", "living", "ended"
"""What had become of a partition's former owner: there was none, its worker lives, its worker has ended."""
LOSSES = (
    "fenced",
    "lease",
    "tables",
    "stuck",
    "log_emptied",
    "events_behind",
    "unreadable",
    "faults",
    "failed",
    "broken",
)
"""Why a worker loses a partition, or gives it up after an error."""
AT_ONCE = 5_000
"""Entities that are counted before the event loop turns again."""


States = Counter[tuple[str, str, str]]
"""How many entities are in which state: by kind, facet and what the state counts as."""


class Census(NamedTuple):
    """What a tree holds. timers: how many are set, by kind."""

    states: States
    timers: Counter[str]


class Distribution:
    """How values spread over buckets. bounds: the largest value of each bucket; one more bucket takes the rest."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


def spread(sizes: Mapping[int, int], bounds: Sequence[float]) -> Distribution:
    """The distribution of values that were counted one by one: how often there was which."""
    found = Distribution(bounds)
    for size, count in sizes.items():
        found.counts[bisect_left(bounds, size)] += count
        found.total += size * count
    return found


class Delays(Distribution):
    """The seconds from when events were stored until their outcome was committed."""

    __slots__ = ("_bounds_ns",)

    def __init__(self) -> None:
        super().__init__(DELAYS)
        self._bounds_ns = [round(bound * SECOND) for bound in DELAYS]

    def add_all(self, stored: Sequence[int], now: int) -> None:
        """Count events by when they were stored (ns, oldest first); now: when they were committed.

        Events of one bucket stand side by side, so a commit takes a few steps, however many events it has.
        """
        now = max(now, stored[-1])  # this clock may be behind the server's
        bounds, begin = self._bounds_ns, 0
        while begin < len(stored):
            bucket = bisect_left(bounds, now - stored[begin])
            # Where the events begin whose delay is in a lower bucket.
            end = bisect_left(stored, now - bounds[bucket - 1], begin) if bucket else len(stored)
            self.counts[bucket] += end - begin
            begin = end
        self.total += (now * len(stored) - sum(stored)) / SECOND


class Measures:
    """What a worker measures. Its partitions and leases share it."""

    def __init__(self) -> None:
        self.delays = Delays()
        self.commit_seconds = Distribution(COMMITS)
        self.commit_messages = Distribution(MESSAGES)
        self.takeovers: Counter[str] = Counter()
        """By what had become of the former owner."""
        self.takeover_seconds = Distribution(TAKE_OVERS)
        self.losses: Counter[str] = Counter()
        """By reason."""
        self.dropped: Counter[str] = Counter()
        """By edge, the events that EVENTS took from its inlet and did not store."""
        self.renewals = Distribution(RENEWALS)
        """Seconds until the server had renewed this worker's key in LEASE."""
        self.questions: Counter[str] = Counter()
        """Questions about many entities, by what became of them."""
        self.streak = FaultStreak()
        self.living: frozenset[str] = frozenset()
        """The workers that were alive when leases were renewed last."""

    def taken_over(self, former: str, seconds: float) -> None:
        """Count a take-over. former: the owner before; empty if there was none."""
        self.takeovers[(LIVING if former in self.living else ENDED) if former else FIRST] += 1
        self.takeover_seconds.add(seconds)

    def committed(self, stored: Sequence[int], messages: int, seconds: float) -> None:
        """Count a commit. stored: when its events were stored, ns; messages: how many it has."""
        self.commit_seconds.add(seconds)
        self.commit_messages.add(messages)
        self.delays.add_all(stored, time.time_ns())


async def census(tree: Tree) -> Census:
    """How many entities of a tree are in which state, and how many timers are set."""
    found: States = Counter()
    timers: Counter[str] = Counter()
    for kind, entities in tree.entities.items():
        rest = iter(entities.values())
        while some := [*islice(rest, AT_ONCE)]:
            for names in {one.names for one in some}:
                _count(found, kind, names, [one.facets for one in some if one.names == names])
            if timed := sum([len(one.timers_ns) for one in some if one.timers_ns]):
                timers[kind] += timed
            await asyncio.sleep(0)
    return Census(found, timers)


def _count(found: States, kind: str, names: tuple[str, ...], facets: Sequence[tuple[FacetState, ...]]) -> None:
    """Count the states of entities of a kind, which have facets of these names."""
    for at, name in enumerate(names):
        for state, number in Counter([one[at].state for one in facets]).items():
            found[kind, name, counted_as(state)] += number
