"""Bytes, records and times on the wire: each survives a round trip, and invalid ones are refused.

Belongs here: `schemas.codec`, `schemas.wire_codec`, timestamps. Does not: subjects and envelopes
(`test_subjects_and_envelopes`).
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Ext
from msgspec.structs import replace

from phaseline.engine.surfaces.client import maps
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.codec import Undecodable, Values
from phaseline.schemas.errors import NewerRecord
from phaseline.schemas.records import (
    NOTHING,
    Cause,
    Entity,
    FacetState,
    Heard,
    Mark,
    Memory,
    Noted,
    Record,
    Rejection,
    State,
    Transition,
    nanoseconds,
    timestamp,
)
from phaseline.schemas.templates import reading, transition
from phaseline.schemas.templates.transition import TransitionWriter, shared_writer
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.strategies import MAPS, VALUES


@given(st.dictionaries(st.text(max_size=8), VALUES | st.binary(max_size=20), max_size=20))
def test_msgpack_comes_back(found: dict[str, Any]) -> None:
    body = codec.encode(found)
    assert codec.decode(body) == found
    assert body[:1] not in codec.JSON_STARTS


@given(MAPS, st.sampled_from(["", " ", "\n\t ", "\r\n"]))
def test_json_comes_back(found: dict[str, Any], blank: str) -> None:
    assert codec.decode(codec.encode_json(found)) == found
    assert codec.decode((blank + json.dumps(found) + blank).encode()) == found
    assert b"\n" not in codec.encode_json(found)


@pytest.mark.parametrize("size", [0, 15, 16, 65535, 65536])
def test_a_map_of_any_size_is_told_from_json(size: int) -> None:
    body = codec.encode({str(n): n for n in range(size)})
    assert body[:1] not in codec.JSON_STARTS
    assert len(codec.decode(body)) == size


@pytest.mark.parametrize(("body", "says"), [
    (b"", "the body is empty"),
    (b"{", "JSON: "), (b'{"a":1}x', "JSON: "), (b" ", "JSON: "), (b"\n[1]", "JSON: expected a map, found list"), (b'{"a":"\\ud800"}', "JSON: "), (b"{" * 100_000, "JSON: "),
    (b"\x01", "msgpack: expected a map, found int"), (b"\x93\x01\x02\x03", "msgpack: expected a map, found list"), (b"[1]", "JSON: expected a map, found list"),
    (codec.encode({"a": 1}) + b"\x00", "msgpack: the first value is followed by more bytes"), (b"\xc1", "msgpack: "),
    (codec.encode({"a": "text"})[:-1], "msgpack: "), (b"\x81\xa1\xff\x01", "msgpack: "), (b"\x81\x91\x01\x02", "msgpack: "), (b"\x91" * 100_000, "msgpack: "),
    (b"hello", "a text that is neither JSON nor msgpack: it begins with 'hello'"), (b"a: 1\nb: 2\n" * 9, "a text that is neither JSON nor msgpack: it begins with 'a: 1\\nb: 2"),
    ("集群".encode(), "a text that is neither JSON nor msgpack: it begins with '集群'"), (b"12", "JSON: expected a map, found int"), (b'"{}"', "JSON: expected a map, found str"),
    (b"\xef\xbb\xbf{}", "the text begins with a byte order mark: send it without"), (b" <a/>", "a text that is neither JSON nor msgpack"), (b"7\x00", "msgpack: "),
    (b"\xdf\xff\xff\xff\xff", "msgpack: "), (b"\x81\xa1a\xd7\xff" + b"\xff" * 8, "msgpack: "),
])  # fmt: skip
def test_a_body_that_is_not_a_map_is_refused(body: bytes, says: str) -> None:
    with pytest.raises(Undecodable) as caught:
        codec.decode(body)
    assert str(caught.value).startswith(says)


@given(
    st.binary(max_size=60)
    | st.binary(max_size=60).map(b"{".__add__)
    | MAPS.map(codec.encode).map(lambda body: body[1:])
)
def test_any_bytes_are_a_map_or_refused(body: bytes) -> None:
    try:
        found = codec.decode(body)
    except Undecodable:
        return
    assert type(found) is dict


@given(st.lists(MAPS, min_size=1, max_size=4), st.data())
def test_a_stream_cut_off_gives_what_is_whole_and_says_where_it_broke(
    found: list[dict[str, Any]], data: st.DataObject
) -> None:
    bodies = [codec.encode(each) for each in found]
    stream = b"".join(bodies)
    ends = [len(b"".join(bodies[:n])) for n in range(len(bodies) + 1)]
    cut = data.draw(st.integers(0, len(stream)))
    piece = data.draw(st.integers(1, 9))
    values = Values()
    read = [value for start in range(0, cut, piece) for value in values.feed(stream[start : min(cut, start + piece)])]
    whole = max(n for n, end in enumerate(ends) if end <= cut)
    assert read == found[:whole]
    if cut in ends:
        values.close()
    else:
        with pytest.raises(Undecodable, match=f"cut off inside a value after byte {ends[whole]}"):
            values.close()


def test_a_stream_that_is_not_msgpack_is_refused() -> None:
    values = Values()
    assert list(values.feed(codec.encode({"a": 1}))) == [{"a": 1}]
    with pytest.raises(Undecodable, match="after byte 4"):
        list(values.feed(b"\xc1"))


TIMES = st.integers(0, 253_402_300_799_999_999_999)
TEXT = st.text(max_size=12)
MAYBE = st.none() | TEXT
STATES = st.builds(
    State, st.sampled_from(["Running", "Failed"]), st.lists(st.sampled_from(["Ok", "A", "B"]), unique=True).map(tuple)
)
CAUSES = st.builds(
    Cause,
    st.integers(0, 2**63 - 1),
    TEXT,
    TEXT,
    st.sampled_from(["event", "cascade", "view", "tally", "timer"]),
    MAYBE,
    MAYBE,
    st.sampled_from([{}, {}, {"traceparent": "00-1"}]),
)


NAMED = st.dictionaries(TEXT, TEXT, min_size=1, max_size=2)
NUMBERS = st.integers(0, 10**18 - 1)
HEARD = st.dictionaries(TEXT, st.builds(Heard, NUMBERS, NUMBERS, NUMBERS | st.none(), NUMBERS), min_size=1, max_size=2)
MEMORIES = st.none() | st.builds(
    Memory, uids=NAMED, sources=HEARD, former=st.tuples(TEXT), taken=st.tuples(TEXT), reasons=NAMED
)  # fmt: skip
NOTED = st.just(NOTHING) | st.builds(
    Noted, st.lists(TEXT, max_size=2).map(tuple), st.lists(TEXT, max_size=2).map(tuple), MAYBE
)


@st.composite
def entities(draw: st.DrawFn) -> Entity:
    names = draw(st.lists(st.sampled_from(["phase", "sync", "health"]), min_size=1, unique=True).map(tuple))
    under = st.sampled_from([None, None, "Stopped"])
    facets = tuple(FacetState(draw(STATES), draw(STATES), draw(TIMES), draw(under)) for _ in names)
    sequences = draw(st.dictionaries(TEXT, st.integers(0, 10**18 - 1), max_size=2))
    timers = draw(st.dictionaries(st.sampled_from(names), TIMES, max_size=1))
    version, asked = draw(st.integers(1, 2**40)), draw(st.sampled_from([0, 2**40]))
    born, memory = draw(st.sampled_from([0, 1, 2**40])), draw(MEMORIES)
    return Entity("node", draw(TEXT), version, names, facets, draw(MAPS), sequences, timers, asked, born, memory)


TRANSITIONS = entities().flatmap(
    lambda entity: st.builds(
        Transition,
        st.sampled_from(entity.names),
        st.none() | STATES,
        STATES,
        TEXT,
        MAYBE,
        MAYBE,
        CAUSES,
        st.just(entity),
        TIMES,
        st.booleans(),
        NOTED,
    )
)
SEEN = st.none() | st.dictionaries(TEXT, STATES, max_size=2)
REASONS = st.sampled_from(
    ["illegal", "guard", "undecodable", "invalid", "unknown_kind", "unknown_trigger", "derived", "fault"]
)
REJECTIONS = st.builds(
    Rejection, TEXT, TEXT, TEXT, REASONS, TEXT, SEEN, st.lists(TEXT, max_size=3).map(tuple), CAUSES, TIMES, st.none() | st.binary(max_size=9)
)  # fmt: skip
MARKS = st.builds(Mark, entities(), CAUSES, TIMES, st.sampled_from([NOTHING, Noted(unread=("a", "b"))]))


@given(TRANSITIONS | REJECTIONS | MARKS)
def test_a_record_comes_back_from_its_bytes(record: Record) -> None:
    body = wire_codec.write(record, 2, 3, "phaseline/pl")
    assert wire_codec.read(body) == record
    for _ in ("first seen", "known"):
        assert reading.read(body) == record


@given(TRANSITIONS | REJECTIONS | MARKS)
def test_a_record_comes_back_from_json(record: Record) -> None:
    body = codec.encode_json(wire_codec.to_wire(record, 0, 1, "phaseline/pl"))
    assert wire_codec.read(body) == record


@given(TRANSITIONS, TRANSITIONS, TIMES, st.booleans())
def test_a_template_makes_the_same_bytes(first: Transition, other: Transition, since: int, as_json: bool) -> None:
    """The first record becomes the template. The second one is of the same sort, with the values of another."""
    facets = tuple(replace(facet, since_ns=since) for facet in first.entity.facets)
    values = {"id": other.entity.id, "version": other.entity.version, "attributes": other.entity.attributes}
    second = replace(
        first, reason=other.reason, message=other.message, time_ns=other.time_ns,
        cause=replace(other.cause, by=first.cause.by), entity=replace(first.entity, facets=facets, **values),
    )  # fmt: skip
    writer = TransitionWriter("phaseline/pl", {"node": "f00"})
    for index, record in enumerate((first, second, other)):
        written = wire_codec.write(record, index, 3, "phaseline/pl", "f00", as_json=as_json)
        assert writer.body(record, index, 3, as_json=as_json) == written


@pytest.mark.parametrize("attributes", [{"a": b"raw"}, {"a": float("inf")}, {"a": "x" * wire_codec.LARGEST_JSON}])
def test_a_template_writes_what_json_does_not_hold_as_msgpack(attributes: dict[str, Any]) -> None:
    writer = TransitionWriter("phaseline/pl", {})
    small = Entity("node", "n", 1, ("phase",), (FacetState(State("Up"), State("Up"), 1),), {"a": 1}, {})
    for entity in (small, replace(small, attributes=attributes), small):
        record = Transition("phase", None, State("Up"), "up", None, None, Cause(1, "e", "/s", "event"), entity, 1)
        body = writer.body(record, 0, 1, as_json=True)
        assert body == wire_codec.write(record, 0, 1, "phaseline/pl", as_json=True)
        assert codec.is_json(body) == (entity is small)
        assert wire_codec.read(body) == reading.read(body) == record


def test_partitions_share_templates_unless_installation_or_tables_differ() -> None:
    known = (("node", "f00"),)
    assert shared_writer("phaseline/pl", known) is shared_writer("phaseline/pl", known)
    assert shared_writer("phaseline/pl", known) is not shared_writer("phaseline/pl", (("node", "f01"),))
    assert shared_writer("phaseline/pl", known) is not shared_writer("phaseline/other", known)


def test_templates_are_forgotten_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transition, "MOST", 2)
    writer = TransitionWriter("phaseline/pl", {})
    entity = Entity("node", "n", 1, ("phase",), (FacetState(State("Up"), State("Up"), 1),), {}, {})
    for trigger in "abcabc":
        record = Transition("phase", None, State("Up"), trigger, None, None, Cause(1, "e", "/s", "event"), entity, 1)
        assert writer.body(record, 0, 1) == wire_codec.write(record, 0, 1, "phaseline/pl")


@given(TRANSITIONS | REJECTIONS, st.booleans())
def test_a_record_is_shown_alike_by_the_quick_and_the_long_way(record: Transition | Rejection, as_json: bool) -> None:
    body = wire_codec.write(record, 2, 3, "phaseline/pl", as_json=as_json)
    long = maps.record_map(BUILT_IN_KINDS, 7, record, codec.decode(body))
    assert codec.encode_json(maps.shown_record(BUILT_IN_KINDS, 7, record, body)) == codec.encode_json(long)


@given(TRANSITIONS | REJECTIONS | MARKS, st.sampled_from(["s" * 300, "a.rejected", "a.marked", "a.transitioned"]))
def test_a_record_is_read_whatever_its_first_bytes_look_like(record: Record, source: str) -> None:
    """Its head says which shape to try first, and the installation's name may say something else."""
    for as_json in (False, True):
        body = wire_codec.write(record, 0, 1, source, as_json=as_json)
        assert wire_codec.read(body) == reading.read(body) == record


@given(TRANSITIONS | REJECTIONS | MARKS, st.integers(0, 99))
def test_a_record_is_a_cloud_event_named_by_its_cause(record: Record, place: int) -> None:
    body: dict[str, Any] = codec.decode(wire_codec.write(record, place, 100, "phaseline/pl"))
    kind, entity_id = (
        (record.kind, record.id) if isinstance(record, Rejection) else (record.entity.kind, record.entity.id)
    )
    verb = {Transition: "transitioned", Rejection: "rejected", Mark: "marked"}[type(record)]
    assert body["id"] == f"{record.cause.sequence}-{place}"
    assert (body["specversion"], body["source"], body["type"]) == ("1.0", "phaseline/pl", f"{kind}.{verb}")
    assert (body["subject"], body["schemaversion"], body["data"]["cause"]["records"]) == (f"{kind}/{entity_id}", 2, 100)
    assert nanoseconds(body["time"]) == record.time_ns


class Written(msgspec.Struct):
    held: Any


EXTENSIONS = st.builds(Ext, st.integers(0, 127), st.binary(max_size=20))
STAMPS = st.builds(msgpack.Timestamp, st.integers(-(2**63), 2**63 - 1), st.integers(0, 999_999_999))


@given(st.recursive(VALUES | st.binary(max_size=20) | EXTENSIONS | STAMPS, lambda inner: st.lists(inner, max_size=3)))
def test_both_libraries_write_the_same_bytes(value: Any) -> None:
    body = codec.encode({"held": value})
    assert codec.encode_struct(Written(value)) == body
    assert codec.encode(codec.decode(body)) == body


@given(TRANSITIONS | MARKS, EXTENSIONS | STAMPS)
def test_a_record_with_a_value_of_an_extension_type_comes_back(record: Transition | Mark, value: Any) -> None:
    entity = replace(record.entity, attributes={"at": [value], "n": -1})
    record = replace(record, entity=entity)
    body = wire_codec.write(record, 0, 1, "phaseline/pl")
    assert wire_codec.read(body) == reading.read(body) == record


@given(TRANSITIONS | REJECTIONS | MARKS)
def test_bytes_and_maps_are_read_to_the_same_record(record: Record) -> None:
    body = wire_codec.write(record, 0, 1, "phaseline/pl")
    assert wire_codec.from_wire(codec.decode(body)) == wire_codec.read(body)
    assert codec.to_map(wire_codec.to_wire(record, 0, 1, "phaseline/pl")) == codec.decode(body)


RIGHT: dict[str, Any] = codec.decode(
    wire_codec.write(
        Mark(
            Entity("node", "c/p/n", 1, ("phase",), (FacetState(State("Running"), State("Running"), 0),), {}, {"/a": 1}),
            Cause(7, "e", "/a", "event"),
            5,
        ),
        0,
        1,
        "phaseline/pl",
    )
)


@pytest.mark.parametrize(("changed", "says"), [
    ({"type": "node.exploded"}, "type 'node.exploded' names no record: it must end in transitioned, rejected, marked"),
    ({"data": {**RIGHT["data"], "entity": 7}}, r"Expected `object`, got `int` - at `\$.data.entity`"),
    ({"data": {**RIGHT["data"], "cause": {}}}, r"Object missing required field `sequence` - at `\$.data.cause`"),
    ({"specversion": "0.3"}, r"Invalid enum value '0.3' - at `\$.specversion`"),
    ({"time": "noon"}, "Invalid isoformat string"),
])  # fmt: skip
@pytest.mark.parametrize("encode", [codec.encode, codec.encode_json])
def test_a_body_that_is_not_a_record_is_refused(encode: Any, changed: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        wire_codec.read(encode({**RIGHT, **changed}))


def places(found: object, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths to all values in nested maps."""
    for name, value in found.items() if isinstance(found, dict) else ():
        yield (*at, name)
        yield from places(value, (*at, name))


def outcome(read: Callable[[bytes], Record], body: bytes) -> object:
    try:
        return read(body)
    except (ValueError, KeyError, TypeError, AttributeError, NewerRecord) as error:
        return type(error), str(error)


OTHERS: tuple[Any, ...] = (
    None,
    0,
    1,
    -7,
    "",
    "word",
    "a.marked",
    "2026-03-02T08:00:00.123456789Z",
    [],
    ["Ok"],
    {},
    {"state": "Up"},
    b"x",
)
FULL = Transition(
    "phase", State("Up"), State("Down", ("A",)), "stop", "Why", "because", Cause(7, "e", "/a", "event", "node/n", "noon", {"traceparent": "0"}),
    Entity(
        "node", "c/p/n", 2, ("phase",), (FacetState(State("Up"), State("Down", ("A",)), 9, "Stopped"),), {"size": 3}, {"/a": 1}, {"phase": 5}, 4
    ),
    9, True,
)  # fmt: skip


@pytest.mark.parametrize("interrupted", ["Stopped", None])
def test_a_changed_transition_is_read_alike_by_the_quick_and_the_long_way(interrupted: str | None) -> None:
    """Each value in it becomes others or is gone, when the right record and when the changed one was read before."""
    facets = (replace(FULL.entity.facets[0], interrupted=interrupted),)
    record = replace(FULL, entity=replace(FULL.entity, facets=facets))
    written = wire_codec.write(record, 0, 1, "a.transitioned")
    assert reading.read(written) == record
    for *above, last in places(codec.decode(written)):
        for other in (..., *OTHERS):
            part = body = codec.decode(written)
            for name in above:
                part = part[name]
            if other is ...:
                del part[last]
            else:
                part[last] = other
            changed = codec.encode(body)
            found = [outcome(reading.read, changed) for _ in ("first seen", "known")]
            assert found == [outcome(wire_codec.read, changed)] * 2, (above, last, other)


def test_remembered_states_and_facets_are_forgotten_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST", 2)
    monkeypatch.setattr(reading, "known_states", {})
    monkeypatch.setattr(reading, "known_facets", {})
    for phase in "abcabc":
        entity = Entity("node", "n", 1, ("phase",), (FacetState(State(phase), State(phase), 1),), {}, {})
        record = Transition("phase", None, State(phase), "go", None, None, Cause(1, "e", "/s", "event"), entity, 1)
        assert reading.read(wire_codec.write(record, 0, 1, "phaseline/pl")) == record
        assert max(len(reading.known_states), len(reading.known_facets)) <= 2


@given(TIMES)
def test_times_come_back_to_the_nanosecond(time: int) -> None:
    text = timestamp(time)
    assert nanoseconds(text) == time
    assert len(text) == len("2026-03-02T08:00:00.123456789Z")


@given(TIMES, TIMES)
def test_times_sort_as_their_texts_do(one: int, other: int) -> None:
    assert (timestamp(one) < timestamp(other)) is (one < other)


@pytest.mark.parametrize(("text", "time"), [
    ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.5Z", 500_000_000), ("1970-01-01T00:00:00.000000001Z", 1),
    ("1970-01-01T08:00:00+08:00", 0), ("1970-01-01T00:00:01.250-00:30", 1_801_250_000_000), ("2026-03-02T08:00:00.123456+08:00", 1_772_409_600_123_456_000),
])  # fmt: skip
def test_times_of_others_are_read(text: str, time: int) -> None:
    assert nanoseconds(text) == time


@given(TRANSITIONS | REJECTIONS | MARKS, st.booleans())
def test_a_record_says_which_table_made_it(record: Record, as_json: bool) -> None:
    kind = record.kind if isinstance(record, Rejection) else record.entity.kind
    assert wire_codec.made_by(wire_codec.write(record, 0, 1, "phaseline/pl", "f00", as_json=as_json)) == (kind, "f00")
    assert wire_codec.made_by(wire_codec.write(record, 0, 1, "phaseline/pl", as_json=as_json)) == ("", "")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[1]", b"\x01", b'{"tableversion":7}', b'{"subject":"a/b"}', b"{" * 9_999]
)
def test_what_says_no_table_was_made_by_none(body: bytes) -> None:
    assert wire_codec.made_by(body) == ("", "")
