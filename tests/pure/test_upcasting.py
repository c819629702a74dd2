"""Bytes of earlier versions stay readable, and the current version writes the recorded bytes.

tests/golden/wire-N.json holds events, the records that version N made of them, and checkpoints. A file is never changed
once its version is released; a new version of the records adds one. Until then, after an intended change,
`PHASELINE_GOLDEN=write pytest tests/pure/test_upcasting.py` writes the records of the newest file again. Read the diff.
"""

import json
import os
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.log import checkpoint
from phaseline.engine.log.checkpoint import Checkpoint, Plan
from phaseline.engine.log.log_records import take_logged
from phaseline.engine.nats.reader import Stored
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.errors import NewerRecord
from phaseline.schemas.records import Mark, Record, Rejection, Transition, entity_after
from phaseline.schemas.subjects import Subjects
from phaseline.schemas.templates import reading
from phaseline.schemas.wire_codec import RECORD_VERSION, STEPS, upcast
from tests.support.earlier_tables import KINDS

FILES = {int(path.stem[5:]): path for path in Path(__file__).parents[1].glob("golden/wire-*.json")}
GOLDEN = {version: json.loads(path.read_text()) for version, path in FILES.items()}


def events(held: dict[str, Any]) -> list[StoredEvent]:
    return [
        StoredEvent(one["subject"], bytes.fromhex(one["hex"]), one["sequence"], one["time_ns"])
        for one in held["events"]
    ]


def messages(held: dict[str, Any]) -> list[Message]:
    return [Message(one["subject"], bytes.fromhex(one["hex"])) for one in held["records"]]


def folded(held: dict[str, Any]) -> tuple[list[Message], list[Record]]:
    processor = Processor(Tree(KINDS, NoScripts()), Subjects("pl"), 1)
    batch = processor.process(events(held), 0)
    return batch.messages, [wire_codec.read(message.body) for message in batch.messages]


def without_words_of_tables(record: Record) -> Record:
    """The record without what later tables say otherwise (`test_rejections_say_what_they_said`), and later words."""
    if isinstance(record, Rejection):
        return replace(record, legal=(), message="", state=None)
    return replace(record, entity=replace(record.entity, asked=0, born=0, memory=None))


def test_there_is_a_file_for_each_version() -> None:
    assert sorted(GOLDEN) == list(range(1, RECORD_VERSION + 1))
    assert sorted(STEPS) == list(range(1, RECORD_VERSION))


@pytest.mark.parametrize("version", sorted(GOLDEN))
def test_every_version_is_read_to_the_same_records(version: int) -> None:
    held = GOLDEN[version]
    bodies = [codec.decode(message.body) for message in messages(held)]
    assert {body["schemaversion"] for body in bodies} == {version}
    found = [wire_codec.from_wire(body) for body in bodies]
    assert [without_words_of_tables(record) for record in found] == [
        without_words_of_tables(record) for record in folded(held)[1]
    ]
    assert {type(record) for record in found} == {Transition, Rejection, Mark}
    assert reading.read_entities([message.body for message in messages(held)]) == [*map(entity_after, found)]


def test_what_a_version_did_not_say_is_empty() -> None:
    body = codec.decode(messages(GOLDEN[1])[0].body)
    found = upcast(body)
    assert (found["tableversion"], found["schemaversion"], "tableversion" in body) == ("", RECORD_VERSION, False)


@pytest.mark.parametrize("version", sorted(GOLDEN))
def test_rejections_say_what_they_said(version: int) -> None:
    """What was written is read unchanged; and tables have added to it since, but taken nothing back."""
    held, seen = GOLDEN[version], 0
    for message, today in zip(messages(held), folded(held)[1], strict=True):
        data = codec.decode(message.body)["data"]
        if "legal" not in data:
            continue
        read, seen = wire_codec.read(message.body), seen + 1
        assert isinstance(read, Rejection)
        assert isinstance(today, Rejection)
        assert (list(read.legal), read.message) == (data["legal"], data["message"])
        assert shown(read) == data["state"]
        assert set(read.legal) <= set(today.legal)
        assert today.message.startswith(read.message.partition(";")[0])
        assert read.state in (None, today.state)
    assert seen == 5


def shown(rejection: Rejection) -> dict[str, Any] | None:
    """Its states as they stand in a body."""
    if rejection.state is None:
        return None
    return {name: {"state": one.phase, "conditions": [*one.conditions]} for name, one in rejection.state.items()}


def test_todays_bytes() -> None:
    held = GOLDEN[RECORD_VERSION]
    made = folded(held)[0]
    if os.environ.get("PHASELINE_GOLDEN") == "write":
        records = [{"subject": one.subject, "hex": one.body.hex()} for one in made]
        FILES[RECORD_VERSION].write_text(json.dumps({**held, "records": records}, indent=1) + "\n")
        return
    wanted = messages(held)
    assert [message.subject for message in made] == [message.subject for message in wanted]
    for mine, theirs in zip(made, wanted, strict=True):
        assert without_table_version(mine.body) == without_table_version(theirs.body)


def without_table_version(body: bytes) -> bytes:
    """The bytes of a record without the version of its table, which each change of the table changes."""
    return codec.encode({**codec.decode(body), "tableversion": ""})


def test_a_record_of_version_2_may_lack_what_was_added_within_it() -> None:
    bodies = [codec.decode(message.body) for message in messages(GOLDEN[2])]
    asked = [body for body in bodies if body["data"].get("entity", {}).pop("asked", 0)]
    assert asked
    for body in asked:
        record = wire_codec.read(codec.encode(body))
        assert not isinstance(record, Rejection)
        assert record.entity.asked == 0


@pytest.mark.parametrize("version", sorted(GOLDEN))
def test_checkpoints(version: int) -> None:
    plain, planned = (checkpoint.decode(bytes.fromhex(text)) for text in GOLDEN[version]["checkpoints"])
    assert plain == Checkpoint(3, "w-1", 4711, "abc")
    assert planned == Checkpoint(4, "w-2", 4800, "def", Plan(4801, 3, 999))


def test_a_newer_record_is_named() -> None:
    body = codec.decode(messages(GOLDEN[RECORD_VERSION])[0].body)
    with pytest.raises(NewerRecord, match="a record of version 99; this Phaseline reads up to 2: update it"):
        wire_codec.from_wire({**body, "schemaversion": 99})


def test_records_before_a_newer_one_are_read() -> None:
    """Whoever reads a log in pieces gets what is known, and then the error."""
    (first, second), block = messages(GOLDEN[RECORD_VERSION])[:2], b"NATS/1.0\r\nNats-Batch-Id: x\r\n\r\n"
    newer = codec.encode({**codec.decode(first.body), "schemaversion": 99})
    found = ((first, first.body), (second, second.body), (first, newer), (first, first.body))
    waiting = deque(Stored(one.subject, body, at, 0, 0, block) for at, (one, body) in enumerate(found, 1))
    assert [one.sequence for one in take_logged("LOG", waiting)] == [1, 2]
    with pytest.raises(NewerRecord) as caught:
        take_logged("LOG", waiting)
    assert caught.value.__notes__ == [f"it is message 3, at {first.subject}"]
    assert [one.sequence for one in take_logged("LOG", waiting)] == [4]


def test_records_say_which_table_made_them() -> None:
    for message in messages(GOLDEN[2]):
        body = codec.decode(message.body)
        known = body["data"]["kind"] in KINDS
        assert bool(body["tableversion"]) is known
