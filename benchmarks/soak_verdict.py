"""What the samples of a soak say: whether a size grows once it is warm, does not, or whether nobody can tell yet.

Belongs here: samples of a process and of the server's heap, the trend after the warm-up. Does not: running a soak
(`soak`).
The trend is Sen's: the median of the slopes between all pairs of parts of the time, each with its median. Single peaks
do not move it, and the scatter of the slopes says how far it can be trusted.
"""

import json
import math
import os
import statistics
import urllib.request
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from benchmarks.server import cpu
from phaseline.engine.nats.embedded.server import EmbeddedServer

WARM, LONGEST_WARM = 0.25, 3600.0
"""The share of the time that counts as warm-up; and its seconds, at most."""
PARTS, SURE = 24, 1.96
"""Into how many parts the rest is cut; how many standard deviations of Kendall's score are believed."""
GROWTH = 0.02
"""The share by which a size may grow, from the warm-up to the end."""


class Sample(NamedTuple):
    """What a process has at a time: seconds since the start, bytes, open files, CPU seconds so far."""

    at: float
    memory: int
    files: int = 0
    cpu: float = 0.0


class Trend(NamedTuple):
    """By which share something grew from the warm-up to the end; the bounds of that, with 19 chances in 20."""

    middle: float
    growth: float
    least: float
    most: float

    def verdict(self, allowed: float = 0.0) -> str:
        """In words. allowed: the share by which it is known to grow, beside `GROWTH`."""
        if self.least > GROWTH + allowed:
            return "grows"
        return "flat" if self.most <= GROWTH + allowed else "too short to tell"


def sample(pid: int, at: float) -> Sample:
    """What a process has now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return Sample(at, pages * os.sysconf("SC_PAGE_SIZE"), len(list(Path(f"/proc/{pid}/fd").iterdir())), cpu(pid))


def warm_at(end: float) -> float:
    """When the warm-up of a soak ends that lasts so many seconds."""
    return min(WARM * end, LONGEST_WARM)


def trend(found: Sequence[tuple[float, float]]) -> Trend:
    """The trend of values at times, of which the first ones are the warm-up."""
    warm, end = warm_at(found[-1][0]), found[-1][0]
    rest = [one for one in found if one[0] >= warm]
    parts = min(PARTS, len(rest))
    cut = [rest[len(rest) * part // parts : len(rest) * (part + 1) // parts] for part in range(parts)]
    points = [(statistics.median(at for at, _ in some), statistics.median(value for _, value in some)) for some in cut]
    slopes = sorted((b - a) / (late - early) for (early, a), (late, b) in combinations(points, 2) if late > early)
    middle = statistics.median(value for _, value in rest)
    if not slopes or not middle:
        return Trend(middle, 0.0, -math.inf, math.inf)
    spread = SURE * math.sqrt(parts * (parts - 1) * (2 * parts + 5) / 18)
    low = max(0, math.floor((len(slopes) - spread) / 2))
    high = min(len(slopes) - 1, math.ceil((len(slopes) + spread) / 2))
    scale = (end - warm) / middle
    return Trend(middle, statistics.median(slopes) * scale, slopes[low] * scale, slopes[high] * scale)


class ProfiledServer(EmbeddedServer):
    """A server whose heap can be asked for."""

    def _config(self) -> str:
        return f"{super()._config()}prof_port: -1\n"

    def heap(self) -> int:
        """The bytes that the server holds, after two collections of its garbage: pools survive the first one."""
        (ports,) = self.data.glob("*.ports")
        url = json.loads(ports.read_text())["profile"][0]
        lines: list[str] = []
        for _ in range(2):
            with urllib.request.urlopen(f"{url}/debug/pprof/heap?debug=1&gc=1", timeout=30) as answer:  # noqa: S310
                lines = answer.read().decode().splitlines()
        return next(int(line.rpartition("=")[2]) for line in lines if line.startswith("# HeapAlloc = "))
