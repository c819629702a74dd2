"""Subjects and envelopes: which are accepted, and why others are refused.

Belongs here: `schemas.subjects`, `schemas.envelope`. Does not: bytes and records (`test_codec_and_records`), events
against tables (`test_intake`).
"""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.msgpack import Ext

from phaseline.schemas import codec, envelope, subjects
from phaseline.schemas.codec import Undecodable
from phaseline.schemas.envelope import Event, Invalid
from phaseline.schemas.subjects import (
    MAX_ID,
    MAX_TOKEN,
    Address,
    BadSubject,
    Subjects,
    is_stored_as,
    partition_of,
    quote,
    unquote,
)

LOWER_NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
BLANKS = st.sampled_from("\u00a0\u1680\u2003\u2028\u202f\u3000 ")
"""Blanks that are not control characters."""
NAMES = st.text(st.one_of(BLANKS, st.sampled_from(".*>%é山😀-_:@$"), st.characters(exclude_categories=["Cs"])), min_size=1, max_size=28).filter(
    lambda name: "/" not in name and not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in name)
)  # fmt: skip
IDS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@given(NAMES)
def test_a_name_comes_back_from_its_token(name: str) -> None:
    token = quote(name)
    assert unquote(token) == name
    assert not set(token) & set(".*>/")
    assert not any(character.isspace() for character in token)


@given(st.text(st.sampled_from("%%abcdefABCDEF0123456789é.é*> \x00/"), max_size=12) | st.text(max_size=12))
@example("%2")
@example("%C3%A9")
@example("%2f")
@example("%2e")
@example("%FF")
@example("%41")
@example("%00")
def test_a_token_is_refused_or_is_the_only_one_of_its_name(token: str) -> None:
    try:
        name = unquote(token)
    except BadSubject:
        return
    assert quote(name) == token


@pytest.mark.parametrize(
    ("token", "says"),
    [
        ("%41", "must be encoded as 'A': one entity has one subject"),
        ("%2e", "must be encoded as '%2E'"),
        ("a b", "must be encoded as 'a%20b'"),
        ("100%", "must be encoded as '100%25'"),
        ("%FF", "does not decode to UTF-8"),
        ("", "an id has an empty part"),
        ("a%2Fb", "holds a slash, which separates parts"),
        ("a%00b", "holds a control character"),
        ("a\x85", "holds a control character"),
        ("a" * 254, "is longer than 253 bytes"),
    ],
)
def test_a_refused_token_names_the_problem(token: str, says: str) -> None:
    with pytest.raises(BadSubject, match=says):
        unquote(token)


@pytest.mark.parametrize("character", ["a", ".", "é", "山", "😀", "\u2003"])
def test_a_part_may_have_so_many_bytes_and_no_more(character: str) -> None:
    most = MAX_TOKEN // len(quote(character).encode())
    assert unquote(quote(character * most)) == character * most
    with pytest.raises(BadSubject, match="is longer than 253 bytes"):
        subjects.check_token(character * (most + 1))
    with pytest.raises(BadSubject, match="is longer than 253 bytes"):
        Subjects().address(f"pl.inbox.0.c1.cluster.create.{quote(character * (most + 1))}")


@pytest.mark.parametrize("character", ["a", "é", "山", "😀"])
def test_an_id_may_have_so_many_bytes_and_no_more(character: str) -> None:
    part = character * (200 // len(character.encode()))
    fits, too_long = "/".join([part] * 5), "/".join([part] * 6)
    assert len(fits.encode()) <= MAX_ID < len(too_long.encode())
    found = Subjects()
    subject, refused = (
        found.event("node", "create", each).replace(".events.", ".inbox.3.", 1) for each in (fits, too_long)
    )
    assert found.address(subject) == Address("node", "create", fits)
    assert len(subject.encode()) < 4096
    with pytest.raises(BadSubject, match="is longer than 1024 bytes"):
        subjects.check_id(too_long)
    with pytest.raises(BadSubject, match="is longer than 1024 bytes"):
        found.address(refused)


@given(st.sampled_from(["pl", "eu.west.pl", "p-1"]), LOWER_NAMES, LOWER_NAMES, IDS)
def test_an_event_s_subject_comes_back_as_its_address(prefix: str, kind: str, trigger: str, entity_id: str) -> None:
    found = Subjects(prefix)
    stored = found.event(kind, trigger, entity_id).replace(".events.", ".inbox.7.", 1)
    if len(entity_id.encode()) <= MAX_ID:
        assert found.address(stored) == Address(kind, trigger, entity_id)
    assert all(stored.split("."))


@pytest.mark.parametrize("subject", ["", ".", "pl.inbox.0", "pl.inbox.0.c1.cluster", "pl.inbox.0..cluster.create", "pl.inbox.0.c1.node.create.p1.", "pl.inbox.0.c1.node.create..n"])  # fmt: skip
def test_subjects_without_an_address_are_refused(subject: str) -> None:
    with pytest.raises(BadSubject):
        Subjects().address(subject)


@given(st.text(max_size=300) | st.text(st.sampled_from(".%az*> \x00é"), max_size=40).map("pl.inbox.0.".__add__))
def test_any_subject_is_an_address_or_refused(subject: str) -> None:
    try:
        found = Subjects().address(subject)
    except BadSubject:
        return
    subjects.check_id(found.id)


@given(st.text(), st.sampled_from(["invalid", "undecodable"]), st.text())
@example("\x00", "invalid", "/a//b\n")
@example("a" * 300, "invalid", "/".join("山" * 70 for _ in range(30)))
def test_a_rejection_of_anything_has_a_subject_that_can_be_published(kind: str, reason: str, entity_id: str) -> None:
    subject = Subjects().rejection(0, kind, reason, entity_id)
    assert all(subject.split("."))
    assert not set(subject) & set("*> \t\r\n\x00")
    assert len(subject.encode()) < 4096


@given(st.lists(st.text(st.characters(exclude_characters="/"), min_size=1), min_size=1, max_size=6), st.data())
def test_an_id_above_is_known_by_its_arity_and_by_its_levels(parts: list[str], data: st.DataObject) -> None:
    arity = data.draw(st.integers(1, len(parts)))
    found = subjects.id_above("/".join(parts), len(parts) - arity)
    assert found == subjects.ancestor_id("/".join(parts), arity) == "/".join(parts[:arity])


@pytest.mark.parametrize(("root", "digest"), [("", 0x811C9DC5), ("a", 0xE40C292C), ("foobar", 0xBF9CF968)])
def test_partitions_are_the_servers(root: str, digest: int) -> None:
    """FNV-1a 32, by the test vectors of its authors."""
    assert partition_of(root, 2**32) == digest
    assert partition_of(root, 7) == digest % 7


def test_each_subject_of_an_installation() -> None:
    found = Subjects("eu.pl")
    assert found.event("node", "create", "c.1/p/n 1") == "eu.pl.events.c%2E1.node.create.p.n%201"
    assert found.event("cluster", "create", "c1") == "eu.pl.events.c1.cluster.create"
    assert found.inbox(3) == "eu.pl.inbox.3.>"
    assert (
        found.transition(3, "node", "phase", "Failed", "c.1/p/n")
        == "eu.pl.log.3.transition.node.phase.Failed.c%2E1.p.n"
    )
    assert found.rejection(3, "node", "illegal", "c1/p/n") == "eu.pl.log.3.rejection.node.illegal.c1.p.n"
    assert found.checkpoint(3) == "eu.pl.mark.3.transition.checkpoint.-.-.-"
    assert found.mark(3, "node", "c1/p/n") == "eu.pl.mark.3.transition.mark.-.-.node.c1.p.n"
    assert found.plan(3, 1) == "eu.pl.plan.3.1"
    assert found.state(3, "node", "c1/p/n") == "eu.pl.state.3.node.c1.p.n"


RIGHT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/me", "type": "node.created"}


@pytest.mark.parametrize("changed", [
    {"time": "2026-03-02T08:00:00Z"}, {"time": "2026-03-02T08:00:00.123456789+08:00"}, {"sequence": 0}, {"sequence": "000000000000000042"},
    {"subject": "node/c/p/n"}, {"data": {}}, {"data": None}, {"datacontenttype": "application/json"}, {"traceparent": "an extension"}, {"id": "x" * 1024},
])  # fmt: skip
def test_a_correct_envelope_is_accepted(changed: dict[str, Any]) -> None:
    found = envelope.read({**RIGHT, **changed})
    assert envelope.read(envelope.write(found)) == found
    known = {name: value for name, value in {**RIGHT, **changed}.items() if name != "traceparent" and value is not None}
    assert {name: envelope.write(found)[name] for name in known} == known


@pytest.mark.parametrize(("changed", "says"), [
    ({"id": ""}, "envelope: id"), ({"id": None}, "envelope: id"), ({"id": 1}, "envelope: id"), ({"id": "x" * 1025}, "envelope: id"), ({"source": ""}, "envelope: source"), ({"type": ""}, "envelope: type"),
    ({"specversion": "0.3"}, "specversion must be 1.0, found '0.3'"), ({"specversion": 1.0}, "envelope: specversion"),
    ({"schemaversion": 2}, "schemaversion 2 is not known here, the newest is 1"),
    ({"time": "yesterday"}, "time must be an RFC 3339 timestamp with an offset, found 'yesterday'"), ({"time": "2026-03-02T08:00:00"}, "with an offset"), ({"time": 5}, "envelope: time"),
    ({"data": []}, "envelope: data"), ({"data": "text"}, "envelope: data"), ({"sequence": 1.5}, "envelope: sequence"), ({"sequence": []}, "envelope: sequence"), ({"subject": 4}, "envelope: subject"),
])  # fmt: skip
def test_a_wrong_envelope_names_the_problem(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(Invalid) as caught:
        envelope.read({**RIGHT, **changed})
    assert str(caught.value).startswith("envelope: ")
    assert says in str(caught.value)


ODD_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text(max_size=6), st.binary(max_size=6),
    st.builds(Ext, st.integers(-128, 127), st.binary(max_size=12)), st.lists(st.integers(0, 9), max_size=2),
    st.dictionaries(st.text(max_size=3) | st.integers(0, 9) | st.binary(max_size=3), st.integers(0, 9), max_size=2),
)  # fmt: skip
ODD_KEYS = st.text(max_size=4) | st.integers(0, 9) | st.binary(max_size=3)
ODD_BODIES = st.builds(
    lambda *parts: {name: value for part in parts for name, value in part.items()},
    st.just(RIGHT),
    st.just({}) | st.dictionaries(st.sampled_from(Event.__struct_fields__), ODD_VALUES, max_size=1),
    st.just({}) | st.fixed_dictionaries({"data": st.dictionaries(st.text(max_size=4), ODD_VALUES, max_size=2)}),
    st.just({}) | st.fixed_dictionaries({"time": st.sampled_from(["2026-03-02T08:00:00Z", "noon", ""])}),
    st.just({}) | st.dictionaries(ODD_KEYS, ODD_VALUES, max_size=1),
)
NESTED = msgspec.msgpack.encode({**RIGHT, "data": {"a": {1: 2}}})
EXTENDED = msgspec.msgpack.encode({**RIGHT, "extension": {1: 2}})
NO_TEXT = msgspec.msgpack.encode({**RIGHT, "extension": "xy"}).replace(b"xy", b"\xff\xff")


def answer(read: Callable[[bytes], Event], body: bytes) -> str:
    """The result of reading as text: the attributes of the event, or the error."""
    try:
        return repr(envelope.write(read(body)))
    except (Undecodable, Invalid) as error:
        return repr(error)


def in_two_passes(body: bytes) -> Event:
    return envelope.read(codec.decode(body))


@given(ODD_BODIES.map(msgspec.msgpack.encode))
@example(NESTED)
@example(EXTENDED)
@example(NO_TEXT)
def test_an_envelope_is_read_in_one_pass_as_in_two(body: bytes) -> None:
    assert answer(envelope.decode, body) == answer(in_two_passes, body)


@given(st.data())
def test_a_spoiled_envelope_is_refused_in_one_pass_as_in_two(data: st.DataObject) -> None:
    body = msgspec.msgpack.encode({**RIGHT, "data": {"a": 1}})
    at = data.draw(st.integers(0, len(body)))
    spoiled = body[:at] + data.draw(st.binary(max_size=2)) + body[at + data.draw(st.integers(0, 1)) :]
    assert answer(envelope.decode, spoiled) == answer(in_two_passes, spoiled)
    assert answer(envelope.decode, body[:at]) == answer(in_two_passes, body[:at])


@pytest.mark.parametrize("name", list(RIGHT))
def test_an_envelope_must_have_its_four_attributes(name: str) -> None:
    with pytest.raises(Invalid, match=f"envelope: {name} is missing"):
        envelope.read({key: value for key, value in RIGHT.items() if key != name})


@pytest.mark.parametrize(
    ("given_as", "means"),
    [(0, 0), (7, 7), ("7", 7), ("007", 7), (10**18 - 1, 10**18 - 1), ("9" * 18, 10**18 - 1), (None, None)],
)
def test_sequences_are_numbers_or_their_digits(given_as: int | str | None, means: int | None) -> None:
    assert envelope.sequence_of(Event("1", "/me", "node.created", "1.0", sequence=given_as)) == means


@pytest.mark.parametrize("found", [-1, 10**18, "-1", "1.0", "", "٣", "1" * 19, "1e3", "+1", " 1"])
def test_sequences_that_are_none(found: int | str) -> None:
    with pytest.raises(Invalid, match="sequence must be a whole number of at most 18 digits, found"):
        envelope.sequence_of(Event("1", "/me", "node.created", "1.0", sequence=found))


@given(st.text(min_size=1), st.text(min_size=1))
def test_message_ids_fit_a_header_and_tell_events_apart(source: str, event_id: str) -> None:
    found = envelope.message_id("pl.events.c1.node.created", source, event_id)
    assert found.isascii()
    assert found.isprintable()
    assert found.count(" ") == 2
    assert found != envelope.message_id("pl.events.c1.node.created", source, event_id + "x")
    assert found != envelope.message_id("pl.events.c2.node.created", source, event_id)
    assert envelope.message_id("pl.山%20.x", "/a b", "1") == "pl.%E5%B1%B1%20.x /a%20b 1"


@given(IDS, st.sampled_from(["pl", "a.b", "pl.events", "inbox.3.events"]))
def test_a_stored_subject_is_recognised(entity_id: str, prefix: str) -> None:
    sent = Subjects(prefix).event("node", "created", entity_id)
    rest = sent.removeprefix(f"{prefix}.events.")
    assert is_stored_as(sent, f"{prefix}.inbox.7.{rest}")
    assert not is_stored_as(sent, f"{prefix}.inbox.7.x{rest}")
    assert not is_stored_as(sent, f"{prefix}.due.7.{rest}")
    assert not is_stored_as(sent, sent)
