"""Sync windows at a time that is a datetime.

Belongs here: asking one window. Does not: the windows (`kinds.gitops.sync_windows`).
"""

from datetime import UTC, datetime, timedelta

from phaseline.machines.kinds.gitops.sync_windows import Window


def is_open(window: Window, at: datetime) -> bool:
    """Whether a window is open, by the offset that its zone has at that time."""
    micros = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return window.is_open(micros, micros)
