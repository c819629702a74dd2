"""Watching the fast path of the core, or taking it away."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from phaseline.engine.core import decide as deciding
from phaseline.engine.core.fast_path import fast_path, planned


@contextmanager
def counted(*, plans: bool = True, steps: bool = True) -> Iterator[list[bool]]:
    """For each try of the fast path, whether it was taken. An event without a plan is tried once its step is known.

    plans: use plans. steps: take the fast path once the step is known; without both, events go through a changeset.
    """
    tried: list[bool] = []
    patch = pytest.MonkeyPatch()

    def watched(*arguments: object) -> object:
        record = fast_path(*arguments) if steps else None  # type: ignore[arg-type]  # as it was called
        tried.append(record is not None)
        return record

    def watched_plan(*arguments: object) -> object:
        record = planned(*arguments) if plans else None  # type: ignore[arg-type]  # as it was called
        tried.extend([True] if record is not None else [])
        return record

    patch.setattr(deciding, "planned", watched_plan)
    patch.setattr(deciding, "fast_path", watched)
    try:
        yield tried
    finally:
        patch.undo()
