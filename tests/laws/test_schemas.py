"""The JSON Schemas say what the code does: no more, no less, for events that come and for records that go.

Belongs here: schemas against the code. Does not: whether the files are up to date (`test_generated`).
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from phaseline.engine.fold import Folder
from phaseline.engine.intake import check_data
from phaseline.engine.tree import Tree
from phaseline.machines import json_schema
from phaseline.machines.kinds import Kinds
from phaseline.schemas import codec, envelope
from phaseline.schemas.envelope import Invalid
from tests.support import event_strategies
from tests.support.effort import examples
from tests.support.event_strategies import SUBJECTS, Arriving

KINDS = Kinds()
FILES = json_schema.files(KINDS)
EVENTS = [(kind, trigger) for kind in KINDS.values() for trigger in json_schema.outside(kind)]


def closed(schema: Any) -> Any:
    """The schema, with fields that it does not name forbidden: so it must name all that there are."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    extra = {"additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else {}
    return {name: closed(part) for name, part in schema.items()} | extra


RECORDS = {
    verb: Draft202012Validator(closed(FILES[f"{name}.json"]))
    for name, verb in (("transition", "transitioned"), ("rejection", "rejected"), ("mark", "marked"))
}


def accepted(check: Any) -> bool:
    try:
        check()
    except Invalid:
        return False
    return True


def folded(history: list[Arriving]) -> list[bytes]:
    """The bodies of the records that these messages make."""
    folder = Folder(Tree(KINDS), SUBJECTS, 0)
    return [message.body for event in history for message in folder.fold([event], 0).messages]


def test_each_file_is_a_schema_of_its_own_name() -> None:
    for path, schema in FILES.items():
        Draft202012Validator.check_schema(schema)
        version = 1 if path.startswith("e") else 2
        assert schema["$id"] == f"urn:phaseline:{version}:{path.removesuffix('.json').replace('/', ':')}"
    assert {path for path in FILES if path.startswith("events/")} == {
        f"events/{kind.name}.{trigger}.json" for kind, trigger in EVENTS
    }
    assert "events/node.remove.json" not in FILES


@pytest.mark.parametrize(("kind", "trigger"), EVENTS, ids=lambda part: getattr(part, "name", part))
@examples(30)
@given(draw=st.data())
def test_data_fits_its_schema_where_the_intake_takes_it(kind: Any, trigger: str, draw: st.DataObject) -> None:
    found = draw.draw(event_strategies.data(kind, trigger, junk=0.4))
    schema = Draft202012Validator(FILES[f"events/{kind.name}.{trigger}.json"])
    assert schema.is_valid(found) == accepted(lambda: check_data(kind, trigger, found)), found


def test_long_text_fits_neither_schema_nor_intake() -> None:
    schema = Draft202012Validator(FILES["events/node.not_ready.json"])
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


@examples(500)
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


@examples(150)
@given(history=event_strategies.histories(KINDS))
def test_every_record_of_a_history_fits_its_schema(history: list[Arriving]) -> None:
    for body in folded(history):
        found = codec.decode(body)
        written = json.loads(codec.encode_json(found))
        schema = RECORDS[found["type"].rpartition(".")[2]]
        assert [error.message for error in schema.iter_errors(written)] == []


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
    found = [codec.decode(body) for body in folded(history)]
    assert {body["type"].rpartition(".")[2] for body in found} == set(RECORDS)
    assert {body["data"]["cause"]["by"] for body in found} >= {"event", "cascade", "view"}
    for body in found:
        RECORDS[body["type"].rpartition(".")[2]].validate(json.loads(codec.encode_json(body)))


def test_a_record_of_another_kinds_phases_does_not_fit() -> None:
    [body] = folded([Arriving("pl.inbox.0.c1.cluster.create", codec.encode_json(
        {"specversion": "1.0", "id": "1", "source": "/me", "type": "cluster.create"}), 1, 1)])  # fmt: skip
    found = codec.decode(body)
    found["data"]["to"]["state"] = "Scaling"
    assert not RECORDS["transitioned"].is_valid(found)
