"""How often this process collects garbage.

Belongs here: `collecting_rarely`, for workers and commands. Does not: what holds memory.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECT = (100_000, 50, 100)
"""The thresholds of the garbage collector. With Python's own it takes a tenth of the time of a worker or of `list`."""


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let this process collect garbage rarely: it makes many objects that live long, and hardly any cycles."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*COLLECT)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
