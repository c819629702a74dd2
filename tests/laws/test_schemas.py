"""The JSON Schemas accept exactly what the code accepts: events that arrive, and records that it writes.

Belongs here: schemas against the code. Does not: whether the files are up to date (`test_generated`).
"""

import json
import re
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from phaseline.engine.core.intake import check_data
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.machines.docs import json_schema
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec, envelope, losses
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.records import Loss
from tests.support import event_strategies
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.effort import examples
from tests.support.event_strategies import SUBJECTS, Arriving

FILES = json_schema.files(KINDS)
EVENTS = [(kind, trigger) for kind in KINDS.values() for trigger in json_schema.outside(kind)]
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=[*KINDS])


def closed(schema: Any) -> Any:
    """The schema with unknown fields forbidden, so that it must name every field."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    extra = {"additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else {}
    return {name: closed(each) for name, each in schema.items()} | extra


@cache
def part(path: str, name: str, *, named_only: bool = False) -> Draft202012Validator:
    """One definition of a file as a schema. named_only: forbid fields that it does not name.

    What a kind adds to it names some fields only.
    """
    definitions = FILES[path]["$defs"]
    shapes = {name for name in definitions if named_only and name != "ByKind" and "." not in name}
    held = {each: closed(schema) if each in shapes else schema for each, schema in definitions.items()}
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": held})


ANY_RECORD = Draft202012Validator(FILES["records.json"])
RECORDS = {verb: part("records.json", name, named_only=True) for name, verb in json_schema.VERBS.items()}


def accepted(check: Any) -> bool:
    try:
        check()
    except Invalid:
        return False
    return True


def record_bodies(history: list[Arriving]) -> list[bytes]:
    """The bodies of the records of these events, without the schedules of timers."""
    processor = Processor(Tree(KINDS, NoScripts()), SUBJECTS, 0)
    made = [message for event in history for message in processor.process([event], 0).messages]
    return [message.body for message in made if not message.subject.startswith("pl.timer.")]


def test_each_file_is_a_schema_of_its_own_name() -> None:
    for path, schema in FILES.items():
        Draft202012Validator.check_schema(schema)
        version = 2 if path == "records.json" else 1
        assert schema["$id"] == f"urn:phaseline:{version}:{path.removesuffix('.json').replace('/', ':')}"
    assert set(FILES) == {"envelope.json", "records.json", *(f"kinds/{kind}.json" for kind in KINDS)}


def test_every_reference_of_a_file_leads_to_one_of_its_own_definitions() -> None:
    for path, schema in FILES.items():
        found = set(re.findall(r'"\$ref": "([^"]*)"', json.dumps(schema)))
        defined = {f"#/$defs/{name}" for name in schema.get("$defs", {})}
        sorts = {f"#/$defs/{trigger}" for kind, trigger in EVENTS if path == f"kinds/{kind.name}.json"}
        assert found == defined, path
        assert sorts <= defined, path
    assert "remove" not in FILES["kinds/node.json"]["$defs"]


@each_kind
def test_a_kinds_file_holds_each_event_to_the_schema_of_its_own_trigger(kind: Any) -> None:
    whole = Draft202012Validator(FILES[f"kinds/{kind.name}.json"])
    for trigger in json_schema.outside(kind):
        event: dict[str, Any] = {"type": f"{kind.name}.{trigger}"}
        required = any(field.required for field in kind.fields[trigger])
        assert whole.is_valid(event) is not required, trigger
        assert not whole.is_valid({**event, "data": {"reason": 7}}), trigger
        assert not whole.is_valid({**event, "type": f"{kind.name}.exploded"}), trigger
    assert not whole.is_valid({})


@each_kind
@examples(16)
@given(draw=st.data())
def test_data_fits_its_schema_where_the_intake_takes_it(kind: Any, draw: st.DataObject) -> None:
    """An event of each trigger, in each example."""
    for trigger in json_schema.outside(kind):
        found = draw.draw(event_strategies.data(kind, trigger, junk=0.4))
        schema = part(f"kinds/{kind.name}.json", trigger)
        fits = accepted(partial(check_data, kind, trigger, found))
        assert schema.is_valid(found) is fits, (trigger, found)


def test_long_text_fits_neither_schema_nor_intake() -> None:
    schema = part("kinds/node.json", "not_ready")
    for length, fits in ((4096, True), (4097, False)):
        found = {"message": "x" * length}
        assert schema.is_valid(found) is fits
        assert accepted(lambda found=found: check_data(KINDS["node"], "not_ready", found)) is fits


ATTRIBUTES: dict[str, st.SearchStrategy[Any]] = {
    "specversion": st.sampled_from(["1.0", "0.3", 1]),
    "id": st.sampled_from(["1", "", "x" * 1024, "x" * 1025, 7, None]),
    "source": st.sampled_from(["/me", "", None]),
    "type": st.sampled_from(["node.created", "", 3]),
    "subject": st.sampled_from(["node/c1/p/n", None, 4]),
    "time": st.sampled_from(["2026-03-02T08:00:00Z", None, 12]),
    "sequence": st.sampled_from(
        [0, 7, 10**18 - 1, 10**18, -1, "0", "12", "x", "", "9" * 18, "9" * 19, None, True, "\u0663"]
    ),
    "schemaversion": st.sampled_from([1, 2, "1", None]),
    "datacontenttype": st.sampled_from(["application/json", None, 5]),
    "data": st.sampled_from([{}, {"reason": "x"}, None, [], "x"]),
    "extension": st.sampled_from([None, 1, "x"]),
}


@examples(200)
@given(found=st.fixed_dictionaries({}, optional=ATTRIBUTES))
def test_an_envelope_fits_its_schema_where_it_can_be_read(found: dict[str, Any]) -> None:
    _agrees(found)


@pytest.mark.parametrize("name", ATTRIBUTES)
@examples(30)
@given(draw=st.data())
def test_each_attribute_fits_its_schema_where_it_can_be_read(name: str, draw: st.DataObject) -> None:
    whole = {"specversion": "1.0", "id": "1", "source": "/me", "type": "node.created"}
    _agrees({**whole, name: draw.draw(ATTRIBUTES[name])})


def _agrees(found: dict[str, Any]) -> None:
    schema = Draft202012Validator(FILES["envelope.json"])
    assert schema.is_valid(found) == accepted(lambda: envelope.sequence_of(envelope.read(found)))


@examples(60)
@given(history=event_strategies.histories(KINDS))
def test_every_record_of_a_history_fits_its_schema(history: list[Arriving]) -> None:
    for body in record_bodies(history):
        found = codec.decode(body)
        written = json.loads(codec.encode_json(found))
        schema = RECORDS[found["type"].rpartition(".")[2]]
        assert [error.message for error in schema.iter_errors(written)] == []
        assert ANY_RECORD.is_valid(written)


def test_a_history_that_makes_every_sort_of_record() -> None:
    def event(number: int, kind: str, trigger: str, entity_id: str, **rest: Any) -> Arriving:
        body = {"specversion": "1.0", "id": str(number), "source": "/me", "type": f"{kind}.{trigger}", **rest}
        subject = SUBJECTS.event(kind, trigger, entity_id).replace(".events.", ".inbox.0.")
        return Arriving(subject, codec.encode_json(body), number, number)

    history = [
        event(1, "node", "created", "c1/p/n", sequence=4),
        event(2, "node", "adopt", "c1/p/n", data={"phase": "Running"}),
        event(3, "node", "created", "c1/p/n", sequence=5),
        event(4, "cluster", "overdue", "c1"),
        event(5, "node", "update", "c1/p/n/x"),
        Arriving("pl.inbox.0.c1.cluster.create", b"\xff\x00", 6, 6),
        event(7, "node", "adopt", "c1/p/m", sequence=1, data={"phase": "Running"}),
        event(8, "node", "created", "c1/p/m", sequence=2),
    ]
    loss = losses.write(Loss(0, "events", 1, 9, 0, 9, "w", 8), "phaseline/pl")
    assert losses.read(loss).count == "at most 9"
    found = [codec.decode(body) for body in [*record_bodies(history), loss]]
    assert {body["type"].rpartition(".")[2] for body in found} == set(RECORDS)
    assert {body["data"].get("cause", {}).get("by") for body in found} >= {"event", "cascade", "view"}
    for body in found:
        written = json.loads(codec.encode_json(body))
        verb = body["type"].rpartition(".")[2]
        assert [name for name, schema in RECORDS.items() if schema.is_valid(written)] == [verb]
        ANY_RECORD.validate(written)


def test_a_record_of_another_kinds_phases_does_not_fit() -> None:
    [body] = record_bodies([Arriving("pl.inbox.0.c1.cluster.create", codec.encode_json(
        {"specversion": "1.0", "id": "1", "source": "/me", "type": "cluster.create"}), 1, 1)])  # fmt: skip
    found = codec.decode(body)
    assert ANY_RECORD.is_valid(found)
    found["data"]["to"]["state"] = "Scaling"
    assert not RECORDS["transitioned"].is_valid(found)
    assert not ANY_RECORD.is_valid(found)
