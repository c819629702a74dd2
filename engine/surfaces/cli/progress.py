"""Progress of long reads on stderr: a line now and then, nothing if reading is fast.

Belongs here: the line. Does not: bars of what has a known end (`log_source`).
"""

import time
from collections.abc import Callable

from phaseline.engine.surfaces.cli import terminal

SLOW = 2.0
"""Seconds between two lines."""


def when_slow(doing: str, what: str) -> Callable[[int], None]:
    """A callback that takes how many were read, and says so every few seconds: `reading: 1,200 entities so far`."""
    last = time.monotonic()

    def progress(count: int) -> None:
        nonlocal last
        if time.monotonic() - last > SLOW:
            last = time.monotonic()
            terminal.say(f"{doing}: {count:,} {what} so far")

    return progress
