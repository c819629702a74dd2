"""Records that no worker can have made, with all marks of a worker: who reads them sets them aside, and says which."""

from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from phaseline.engine.log import log_records
from phaseline.engine.nats.direct_get import LastMessage
from phaseline.engine.surfaces.http.fleet.follower import Follower
from phaseline.engine.surfaces.testing.random_events import SEED_LENGTH
from phaseline.schemas import wire_codec
from phaseline.schemas.errors import LogDamaged
from phaseline.schemas.records import Record, Rejection, Transition
from phaseline.schemas.subjects import Subjects
from tests.support import edge_worlds
from tests.support.raising import raises
from tests.support.strategies import random_history

RANDOM = Random(7)
HISTORY = random_history(edge_worlds.KINDS, [RANDOM.randbytes(SEED_LENGTH) for _ in range(20)])
SUBJECTS = Subjects("pl")
RECORDS = [one for step in HISTORY.steps for one in step.records if isinstance(one, Transition)]
RECORD = RECORDS[0]
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


def message(subject: str, record: Record) -> LastMessage:
    """As a worker writes it, on a subject."""
    body = wire_codec.write(record, 0, 1, "phaseline/pl")
    return LastMessage(body, 7, subject, b"NATS/1.0\r\nNats-Batch-Id:x\r\n\r\n")


@pytest.mark.parametrize("number", range(min(20, len(RECORDS))))
def test_a_record_on_the_subject_of_another_entity_counts_nowhere(number: int) -> None:
    record = RECORDS[number]
    entity = record.entity
    state = SUBJECTS.state(0, entity.kind, entity.id)
    log = SUBJECTS.transition(0, entity.kind, record.facet, record.after.phase, entity.id)
    assert log_records.record_in_state("pl-STATE", message(state, record)) is not None
    assert log_records.record_in_log("pl-LOG", message(log, record)) is not None
    (own,) = log_records.entities_in_state("pl-STATE", [message(state, record)])
    assert own is not None
    refused = Rejection(entity.kind, entity.id, "t", "guard", "forged", None, (), record.cause, record.time_ns)
    others: list[Record] = [
        replace(record, entity=replace(entity, id=f"{entity.id}x")),
        replace(record, entity=replace(entity, id=entity.id.rpartition("/")[2] + "/x")),
        replace(record, entity=replace(entity, kind="no_such")),
        refused,
    ]
    for other in others:
        assert log_records.record_in_state("pl-STATE", message(state, other)) is None
        assert log_records.record_in_log("pl-LOG", message(log, other)) is None
    held = [message(state, one) for one in (record, *others, record)]
    assert log_records.entities_in_state("pl-STATE", held) == [own, *[None] * len(others), own]


@pytest.mark.parametrize(
    ("subject", "kind", "id_", "is_own"),
    [
        ("pl.state.0.node.c0.p.n0", "node", "c0/p/n0", True),
        ("pl.state.0.mark.node.c0.p.n0", "node", "c0/p/n0", True),
        ("a.b.state.12.node.c0.p.n0", "node", "c0/p/n0", True),
        ("pl.state.0.node.c0%2Ex.p.n0", "node", "c0.x/p/n0", True),
        ("pl.state.0.node.c0.x.p.n0", "node", "c0.x/p/n0", False),
        ("pl.state.0.mark.node.c0", "mark", "node/c0", False),
        ("pl.state.x.node.c0", "node", "c0", False),
        ("pl.state.0.nodes.c0", "node", "c0", False),
        ("pl.state.0.node.xc0", "node", "c0", False),
        ("pl.state.0.node", "node", "c0", False),
        ("pl.state.0.node.c0 x", "node", "c0 x", False),
        ("pl.mark.0.transition.mark.-.-.node.c0.p.n0", "node", "c0/p/n0", True),
        ("pl.mark.0.transition.mark.-.-.node.c0", "mark", "node/c0", False),
        ("pl.log.0.transition.node.phase.node.c0", "node", "c0", True),
        ("pl.log.0.transition.node.phase.rack.c0", "rack", "c0", False),
        ("pl.log.0.rejection.node.guard.c0", "node", "c0", False),
        ("pl.plan.0.0", "plan", "0", False),
    ],
)
def test_an_entity_has_one_subject(subject: str, kind: str, id_: str, is_own: bool) -> None:
    assert log_records.is_about(subject, replace(RECORD.entity, kind=kind, id=id_)) is is_own
