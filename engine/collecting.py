"""How rarely a process of ours collects garbage.

Belongs here: the thresholds of the collector, a block with them, a block without collections. Does not: which processes
have them (`surfaces.console`, `surfaces.cli`, `worker.system`).
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECT = (100_000, 50, 100)
"""The thresholds of the garbage collector. With Python's own it takes a tenth of a process's time."""

BY_PYTHON = 1_000
"""How many objects Python may have frozen before a program runs: Python 3.12 freezes some hundreds."""


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let this process collect garbage rarely: we make many objects that live long, and hardly any cycles.

    A program that has frozen objects itself decides about them, before and afterwards.
    """
    before, freezes = gc.get_threshold(), gc.get_freeze_count() <= BY_PYTHON
    if freezes:
        gc.freeze()
    gc.set_threshold(*COLLECT)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if freezes:
            gc.unfreeze()


@contextmanager
def loading_modules() -> Iterator[None]:
    """Let this process not collect garbage in this block, nor look later at what it made: modules stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
