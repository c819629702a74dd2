"""Events that cannot be read as a whole: their rejections keep what can be read, and say where the fault is.

Belongs here: broken bodies, batches, senders that do not encode headers. Does not: what is wrong with whole events
(`tests/laws/test_intake.py`).
"""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.surfaces.testing.histories import History, Sent, event, stored
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import binary_mode, readable
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.records import Rejection
from tests.support.built_in_kinds import BUILT_IN_KINDS

EVENT = {
    "specversion": "1.0", "id": "e-7", "source": "/agent/c1", "type": "cluster.created", "subject": "cluster/c1",
    "data": {"message": "it is {there} now", "reason": "Done"},
}  # fmt: skip
SUBJECT = event("cluster", "created", "c1").subject
BODIES = (codec.encode(EVENT), codec.encode_json(EVENT))
LIBRARY = re.compile(r"\$\.|Expected `|Object missing|JSON is malformed|truncated|Unpack|codec can't|must be str")
"""What the sentences of libraries look like."""


def refused(body: bytes, subject: str = SUBJECT, kinds: Kinds = BUILT_IN_KINDS) -> Rejection:
    found = History(kinds).read(Sent(subject, body))
    assert isinstance(found, Rejection)
    return found


@pytest.mark.parametrize("body", BODIES, ids=["msgpack", "JSON"])
def test_a_body_that_is_cut_off_keeps_what_stands_before(body: bytes) -> None:
    rejection = refused(body[:-8])
    assert (rejection.kind, rejection.id, rejection.trigger) == ("cluster", "c1", "created")
    assert (rejection.cause.event, rejection.cause.source) == ("e-7", "/agent/c1")
    assert rejection.message.endswith(": it is cut off: the body ends inside a value, in data")


def test_broken_json_keeps_what_stands_around() -> None:
    body = b'{"id": "e-7", "data": {"a": nothing, "b": "}"}, "source": "/agent/c1"}'
    rejection = refused(body)
    assert (rejection.cause.event, rejection.cause.source) == ("e-7", "/agent/c1")
    assert re.fullmatch(r"JSON: byte 3\d does not fit there", rejection.message)


@pytest.mark.parametrize(("changed", "says"), [
    ({"specversion": 1}, "specversion must be a text, found a whole number"),
    ({"time": 5.5}, "time must be a text, found a number"),
    ({"sequence": True}, "sequence must be a whole number, or its digits as a text, found a boolean"),
    ({"data": '{"message": "x"}'}, "data must be a map, found a text that holds JSON: send it as it is, not as a text"),
    ({"data": "x"}, "data must be a map, found a text"),
    ({"data": [1]}, "data must be a map, found a list"),
    ({"schemaversion": None}, "schemaversion must be a whole number, found null"),
    ({"subject": {}}, "subject must be a text, found a map"),
])  # fmt: skip
def test_a_wrong_attribute_leaves_the_others(changed: dict[str, Any], says: str) -> None:
    for encode in (codec.encode, codec.encode_json):
        rejection = refused(encode({**EVENT, **changed}))
        assert rejection.message == f"envelope: {says}"
        assert (rejection.cause.event, rejection.cause.source) == ("e-7", "/agent/c1")


def test_an_id_that_is_wrong_leaves_the_source() -> None:
    rejection = refused(codec.encode({**EVENT, "id": "x" * 1_025}))
    assert rejection.message == "envelope: id must be a text of 1 to 1,024 characters, found one of 1,025 characters"
    assert (rejection.cause.event, rejection.cause.source) == ("", "/agent/c1")


def test_a_batch_names_its_events() -> None:
    one = refused(codec.encode_json([EVENT]))
    assert (one.cause.event, one.cause.source) == ("e-7", "/agent/c1")
    message = refused(codec.encode_json([{**EVENT, "id": f"e-{number}"} for number in range(7)])).message
    assert message.startswith(
        "JSON: a batch, and a message holds one event: send each by itself; it holds 'e-0' of '/agent"
    )
    assert message.endswith(" and 2 more")


def test_a_type_with_a_prefix_says_what_to_write() -> None:
    rejection = refused(codec.encode({**EVENT, "type": "com.example.cluster.created"}))
    assert rejection.message == (
        "envelope: type is 'com.example.cluster.created', the subject says cluster.created: write cluster.created, "
        "without what stands before it"
    )
    assert rejection.cause.event == "e-7"


def test_a_bad_subject_says_what_the_envelope_says_and_claims_nothing() -> None:
    rejection = refused(codec.encode(EVENT), stored("pl.events.c%41.cluster.create"))
    assert (rejection.kind, rejection.cause.event, rejection.cause.source) == ("-", "e-7", "/agent/c1")
    assert rejection.message.endswith("; its envelope says cluster.created of cluster/c1")


def headers(*pairs: tuple[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in pairs)
    return f"NATS/1.0\r\n{lines}\r\n".encode()


def test_headers_are_decoded_unless_their_sender_does_not_encode() -> None:
    def source(value: str, id_: str = "1") -> str:
        pairs = (("ce-specversion", "1.0"), ("ce-id", id_), ("ce-source", value), ("ce-type", "cluster.update"))
        return binary_mode.decode(b"", headers(*pairs)).source

    assert source("/agents/50%25off") == "/agents/50%off"
    assert source("/Z%C3%BCrich") == "/Zürich"
    assert source("/agents/50%25off", id_="g 1") == "/agents/50%25off"
    assert source("/Zürich/50%25off") == "/Zürich/50%25off"
    assert source("/agents/100%") == "/agents/100%"
    assert source('"/a b%25"') == "/a b%"


def test_headers_may_repeat_the_envelope_in_the_body() -> None:
    block = headers(
        ("ce-specversion", "1.0"), ("ce-id", "e-7"), ("ce-source", "/agent/c1"), ("ce-type", "cluster.created")
    )
    for body in BODIES:
        found = binary_mode.decode(body, block)
        assert (found.id, found.subject, found.data) == ("e-7", "cluster/c1", EVENT["data"])
    with pytest.raises(Invalid, match="ce-id differs from the id of the event in the body"):
        binary_mode.decode(codec.encode({**EVENT, "id": "e-8"}), block)


def test_broken_data_in_binary_mode_keeps_the_headers() -> None:
    block = headers(("ce-specversion", "1.0"), ("ce-id", "g1"), ("ce-source", "/a b"), ("ce-type", "cluster.update"))
    assert readable.of_event(b"{", block)[:4] == ("g1", "/a b", "cluster.update", "")


@given(st.sampled_from(BODIES), st.data())
def test_no_spoiled_event_is_answered_in_the_words_of_a_library(body: bytes, data: st.DataObject) -> None:
    """And what stands whole before the fault is kept."""
    at = data.draw(st.integers(0, len(body)))
    spoiled = body[:at] + data.draw(st.binary(max_size=3)) + body[at + data.draw(st.integers(0, 2)) :]
    found = History(BUILT_IN_KINDS).read(Sent(SUBJECT, spoiled))
    if isinstance(found, Rejection):
        assert LIBRARY.search(found.message) is None
    if isinstance(found, Rejection) and at > body.index(b"/agent/c1") + 10 and spoiled[:1] == body[:1]:
        assert (found.cause.event, found.cause.source) == ("e-7", "/agent/c1")


@pytest.mark.parametrize("half", [r"\ud800", r"\uDFFF", r"a\ud83dx", r"\udc00\ud800", r"\ud800\ud800"])
def test_half_of_a_surrogate_pair_is_no_end_that_is_missing(half: str) -> None:
    body = f'{{"id": "{half}"}}'.encode()
    with pytest.raises(codec.Undecodable, match="JSON: a text in it has half of a surrogate pair"):
        codec.decode(body)
    with pytest.raises(codec.Undecodable, match="it is cut off"):
        codec.decode(b'{"id": "abc')
    assert codec.decode(rb'{"id": "\ud83d\ude00 \\ud800"}') == {"id": "\U0001f600 \\ud800"}
