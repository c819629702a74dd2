"""Events in binary mode, data in base64 and extension attributes: the same records as the plain event makes.

Belongs here: the core's reading of them. Does not: their way through a server (`test_foreign_events`).
"""

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.nats.frames import header_block
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec, envelope, wire_codec
from phaseline.schemas.cloudevents import binary_mode
from phaseline.schemas.cloudevents.extensions import MOST, MOST_BYTES
from phaseline.schemas.records import Record, Rejection
from tests.support import event_strategies
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.effort import examples
from tests.support.event_strategies import SUBJECTS, Arriving

ATTRIBUTES = {"specversion": "1.0", "id": "e-1", "source": "/agent/c1", "type": "cluster.create"}
SUBJECT = "pl.inbox.0.c1.cluster.create"
JSON_TYPE = {"content-type": "application/json"}


def messages(history: list[Arriving]) -> list[Message]:
    processor = Processor(Tree(BUILT_IN_KINDS, NoScripts()), SUBJECTS, 0)
    return [message for event in history for message in processor.process([event], 0).messages]


def record_bodies(history: list[Arriving]) -> list[bytes]:
    return [message.body for message in messages(history) if not message.subject.startswith("pl.timer.")]


def answer(body: bytes, block: bytes | None = None) -> Record:
    [found] = record_bodies([Arriving(SUBJECT, body, 1, 1, block)])
    return wire_codec.read(found)


def refusal(body: bytes, block: bytes | None = None) -> tuple[str, str]:
    found = answer(body, block)
    assert isinstance(found, Rejection)
    return found.reason, found.message


def headers(attributes: dict[str, Any]) -> dict[str, str]:
    """The attributes as a publisher writes them into headers."""
    return {f"ce-{name}": quote(str(value), safe="/:+.") for name, value in attributes.items()}


def in_headers(event: Arriving, pack: Any) -> Arriving:
    """The same event in binary mode; an event that is broken, or has other attributes than texts, stays as it is."""
    try:
        body = codec.decode(event.data)
    except codec.Undecodable:
        return event
    data = body.pop("data", None)
    type_ = "application/msgpack" if pack is codec.encode else "application/json; charset=utf-8"
    block = header_block({"Nats-Msg-Id": "x", **headers(body), "content-type": type_})
    return event._replace(data=b"" if data is None else pack(data), block=block)


def in_base64(event: Arriving) -> Arriving:
    """The same event with its data in base64."""
    try:
        body = codec.decode(event.data)
    except codec.Undecodable:
        return event
    if (data := body.pop("data", None)) is not None:
        body["data_base64"] = base64.b64encode(codec.encode_json(data)).decode()
    return event._replace(data=codec.encode(body))


@examples(60)
@given(event_strategies.histories(BUILT_IN_KINDS), st.sampled_from([codec.encode, codec.encode_json]))
def test_binary_mode_makes_the_same_records(history: list[Arriving], pack: Any) -> None:
    plain, binary = messages(history), messages([in_headers(event, pack) for event in history])
    assert [without_payload(one) for one in binary] == [without_payload(one) for one in plain]


@examples(60)
@given(event_strategies.histories(BUILT_IN_KINDS))
def test_data_in_base64_makes_the_same_records(history: list[Arriving]) -> None:
    plain, coded = messages(history), messages([in_base64(event) for event in history])
    assert [without_payload(one) for one in coded] == [without_payload(one) for one in plain]


def without_payload(message: Message) -> tuple[str, dict[str, Any]]:
    """A record without the bytes of a refused event, which differ."""
    body = codec.decode(message.body)
    body["data"].pop("payload", None)
    return message.subject, body


@given(
    st.dictionaries(st.sampled_from(["id", "source", "subject", "correlationid"]), st.text(st.characters(exclude_categories=["Cs"]), min_size=1)),
    st.booleans(),
)  # fmt: skip
def test_texts_come_back_from_headers(texts: dict[str, str], quoted: bool) -> None:  # drawn
    sent = headers({**ATTRIBUTES, **texts})
    if quoted:
        sent = {name: f'"{value}"' for name, value in sent.items()}
    assert binary_mode.read(b"", header_block(sent)) == {**ATTRIBUTES, **texts}


def block(**changes: str | None) -> bytes:
    found = {**headers(ATTRIBUTES), **JSON_TYPE, **{name.replace("_", "-"): value for name, value in changes.items()}}
    return header_block({name: value for name, value in found.items() if value is not None})


@pytest.mark.parametrize(("body", "sent", "reason", "says"), [
    (b"", block(ce_id=None), "invalid", "headers: ce-id is missing; an event in binary mode has ce-specversion, ce-id, ce-source, ce-type"),
    (b"", block(ce_specversion=None, ce_type=None), "invalid", "headers: ce-specversion, ce-type is missing"),
    (b"", block(ce_specversion="0.3"), "invalid", "envelope: specversion must be 1.0, found '0.3'"),
    (b"", block(ce_type="cluster.created"), "invalid", "envelope: type is 'cluster.created', the subject says cluster.create"),
    (b"", block(ce_source="%C0%A0"), "invalid", "headers: ce-source does not decode to UTF-8, found '%C0%A0'"),
    (b"", block(ce_data="{}"), "invalid", "headers: ce-data is no attribute; in binary mode the body is the data"),
    (b"", block(ce_trace_parent="x"), "invalid", "headers: 'ce-trace-parent' names no attribute, whose name has lower-case letters and digits only"),
    (b"", block() .replace(b"ce-source", b"CE-Id: 2\r\nce-source"), "invalid", "headers: CE-Id stands twice"),
    (b"", block(ce_schemaversion="two"), "invalid", "envelope: schemaversion must be a whole number, found a text"),
    (b"", block(ce_time="today"), "invalid", "envelope: time must be an RFC 3339 timestamp with an offset, found 'today'"),
    (b"<a/>", block(content_type="text/xml"), "invalid", "the body, which is the data in binary mode must be JSON or msgpack, its type is 'text/xml'"),
    (b"hello", block(), "undecodable", "the body, which is the data in binary mode: a text that is neither JSON nor msgpack: it begins with 'hello'"),
    (b"[1]", block(), "undecodable", "the body, which is the data in binary mode: JSON: expected a map, found list"),
    (b'{"reason":5}', block(), "invalid", "data.reason must be str, found int"),
])  # fmt: skip
def test_a_bad_event_in_binary_mode_is_refused(body: bytes, sent: bytes, reason: str, says: str) -> None:
    found = refusal(body, sent)
    assert found[0] == reason
    assert found[1].startswith(says)


@pytest.mark.parametrize(("more", "reason", "says"), [
    ({"data": {}, "data_base64": ""}, "invalid", "envelope: an event has data or data_base64, this one has both"),
    ({"data_base64": "??"}, "invalid", "envelope: data_base64 is not base64"),
    ({"data_base64": 5}, "invalid", "envelope: data_base64 must be a text, found a whole number"),
    ({"data_base64": "aGVsbG8="}, "undecodable", "data_base64: a text that is neither JSON nor msgpack: it begins with 'hello'"),
    ({"data_base64": "PGEvPg==", "datacontenttype": "text/xml"}, "invalid", "data_base64 must be JSON or msgpack, its type is 'text/xml'"),
])  # fmt: skip
@pytest.mark.parametrize("pack", [codec.encode, codec.encode_json])
def test_bad_data_in_base64_is_refused(more: dict[str, Any], reason: str, says: str, pack: Any) -> None:
    found = refusal(pack({**ATTRIBUTES, **more}))
    assert found[0] == reason
    assert found[1].startswith(says)


def test_a_structured_event_may_have_such_headers_too() -> None:
    both = header_block({"ce-id": "other", "Content-Type": "application/cloudevents+json; charset=UTF-8"})
    assert answer(json.dumps(ATTRIBUTES).encode(), both).cause.event == "e-1"
    assert binary_mode.structured(b"x", both) == b"x"
    assert binary_mode.headers(both) == ()


def secret_in(where: str) -> tuple[bytes, bytes | None]:
    held = {"kind": "Secret", "apiVersion": "v1", "data": {"password": "aHVudGVy"}}
    packed = json.dumps({"live": held})
    coded = base64.b64encode(packed.encode()).decode()
    return {
        "data_base64": (json.dumps({**ATTRIBUTES, "data_base64": coded}).encode(), None),
        "broken": (json.dumps({"data_base64": coded}).encode(), None),
        "escaped": (json.dumps({**ATTRIBUTES, "data_base64": coded}).replace("data_", "data\\u005f").encode(), None),
        "not whole": (json.dumps({**ATTRIBUTES, "data_base64": base64.b64encode(packed[:-2].encode()).decode()}).encode(), None),
        "body": (packed.encode(), block()),
        "header": (b"", block(ce_held=quote(json.dumps(held)))),
        "extension": (json.dumps({**ATTRIBUTES, "held": json.dumps(held)}).encode(), None),
    }[where]  # fmt: skip


@pytest.mark.parametrize("where", ["data_base64", "broken", "escaped", "not whole", "body", "header", "extension"])
def test_a_secret_is_found_wherever_it_hides(where: str) -> None:
    found = answer(*secret_in(where))
    assert isinstance(found, Rejection)
    assert (found.reason, found.payload, found.cause.extensions) == ("secret", None, {})


def test_records_keep_extension_attributes_in_their_cause() -> None:
    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "correlationid": "c-1"}
    more = {**trace, "priority": 3, "urgent": True}
    for pack in (codec.encode, codec.encode_json):
        found = answer(pack({**ATTRIBUTES, **more, "ratio": 0.5, "x_y": "no", "list": [1], "dataschema": "urn:x"}))
        assert found.cause.extensions == more
    assert answer(b"", block(**{f"ce_{name}": value for name, value in trace.items()})).cause.extensions == trace
    refused = [Arriving(SUBJECT.replace("create", "created"), codec.encode({**ATTRIBUTES, **more}), 1, 1)]
    assert codec.decode(record_bodies(refused)[0])["data"]["cause"]["extensions"] == more
    [plain] = record_bodies([Arriving(SUBJECT, codec.encode(ATTRIBUTES), 1, 1)])
    assert "extensions" not in codec.decode(plain)["data"]["cause"]


def test_a_cascade_keeps_them_too() -> None:
    def event(number: int, subject: str, **more: Any) -> Arriving:
        kind, trigger = subject.split(".")[1:3]
        body = {**ATTRIBUTES, "type": f"{kind}.{trigger}", **more}
        return Arriving(f"pl.inbox.0.{subject}", codec.encode(body), number, number)

    adopted = {"data": {"phase": "Running"}}
    history = [event(1, "c1.cluster.adopt", **adopted), event(2, "c1.node_pool.adopt.p", **adopted),
               event(3, "c1.cluster.delete", traceparent="00-1")]  # fmt: skip
    last = [wire_codec.read(body) for body in record_bodies(history) if body]
    assert [record.cause.extensions for record in last if record.cause.sequence == 3] == [{"traceparent": "00-1"}] * 2


def test_what_is_kept_has_bounds() -> None:
    many = {f"x{number}": "1" for number in range(40)}
    assert len(answer(codec.encode({**ATTRIBUTES, **many})).cause.extensions) == MOST
    large = {"aaa": "x" * MOST_BYTES, "bbb": "y" * 500, "traceparent": "t" * 500, "zzz": "z"}
    assert answer(codec.encode({**ATTRIBUTES, **large})).cause.extensions.keys() == {"traceparent", "bbb", "zzz"}


def test_a_client_sends_extension_attributes_on() -> None:
    event = envelope.decode(codec.encode({**ATTRIBUTES, "traceparent": "00-1"}))
    assert envelope.write(event)["traceparent"] == "00-1"
