"""Records that no worker can have made, with all marks of a worker: `phaseline serve` says which one it is, and why."""

from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from phaseline.engine.surfaces.http.fleet.follower import Follower
from phaseline.engine.surfaces.testing.random_events import SEED_LENGTH
from phaseline.schemas.errors import LogDamaged
from phaseline.schemas.records import Transition
from tests.support import edge_worlds
from tests.support.raising import raises
from tests.support.strategies import random_history

RANDOM = Random(7)
HISTORY = random_history(edge_worlds.KINDS, [RANDOM.randbytes(SEED_LENGTH) for _ in range(20)])
RECORD = next(one for step in HISTORY.steps for one in step.records if isinstance(one, Transition))
FORGED = [
    replace(RECORD, entity=replace(RECORD.entity, facets=())),
    replace(RECORD, entity=replace(RECORD.entity, facets=(), id="\x1b[31m" * 1_000)),
]


@pytest.mark.parametrize("number", range(len(FORGED)))
def test_a_record_that_cannot_be_taken_is_named(number: int) -> None:
    installation = SimpleNamespace(kinds=edge_worlds.KINDS, prefix="pl", layout=SimpleNamespace(log="pl-LOG"))
    follower = Follower(cast("Any", installation))
    follower._put(3, RECORD)
    with raises(LogDamaged.record_unreadable, match="place 7 is not a record") as raised:
        follower._put(7, FORGED[number])
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 1_000
