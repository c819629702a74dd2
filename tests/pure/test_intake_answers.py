"""What the intake takes and what it rejects, with the exact words, for an invented kind that has fields of every sort.

Belongs here: the checks that need no entity. Does not: the bounds of bodies (`test_bounds`), how a Secret is found
(`test_secret_values`), the same input on a server (`tests/nats/test_bad_input`).
"""

import base64
import json
from typing import Any

import msgspec
import pytest

from phaseline.engine.core import intake
from phaseline.engine.core.intake import Arrival
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, SAME, Facet, Field, Row, Table, Timeout
from phaseline.schemas import codec
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.records import MAX_PAYLOAD, NONE, Cause, Rejection
from phaseline.schemas.subjects import MAX_ID, Subjects
from tests.support.sample_kinds import label

GAUGE = Table(
    kind="gauge",
    id=("site", "gauge"),
    intents=("create",),
    derived=("tire",),
    fields={
        "set": (
            Field("level", int, "how high", least=0),
            Field("number", int, "any number"),
            Field("share", float, "a part of the whole", least=0.5),
            Field("on", bool, "whether it measures"),
            Field("mode", str, "how it measures", options=("fast", "slow")),
            Field("tags", str, "words for people", many=True),
            Field("parts", dict, "of what it consists", many=True),
            Field("last", int, "behind all others"),
        ),
        "measured": (
            Field("by", str, "who measured", required=True),
            Field("until", str, "when it ends", required=True, null=True),
        ),
    },
    facets=(
        Facet(
            "phase",
            labels=(label("On"), label("Off")),
            rows=(
                Row((ABSENT, DELETED), "create", "On"),
                Row((LIVE,), "set", SAME),
                Row((LIVE,), "measured", SAME),
                Row(("On",), "tire", "Off"),
                Row((LIVE,), "removed", DELETED),
            ),
            timeouts=(Timeout("On", "tire", 60),),
        ),
    ),
)
SITE_ROWS = (Row((ABSENT, DELETED), "build", "Up"), Row((LIVE,), "gone", DELETED))
SITE = Table("site", id=("site",), facets=(Facet("phase", labels=(label("Up"),), rows=SITE_ROWS),), intents=("build",))
KINDS = Kinds((GAUGE, SITE), products=PRODUCTS)
GAUGE_KIND = KINDS["gauge"]
SUBJECT = "pl.inbox.0.s.gauge.{}.g"
DUE = "pl.due.0.s.gauge.{}.g"
SECRET = {"kind": "Secret", "data": {"a": "aHVudGVyMg=="}}
HIDDEN = base64.b64encode(json.dumps({"live": SECRET}).encode()).decode()
CAUSE, NO_EVENT = Cause(7, "e1", "/me", "event"), Cause(7, "", "", "event")


def envelope(trigger: str = "set", data: Any = None, **more: Any) -> dict[str, Any]:
    found = {"specversion": "1.0", "id": "e1", "source": "/me", "type": f"gauge.{trigger}", "data": data, **more}
    return {name: value for name, value in found.items() if value is not None}


def read(subject: str, body: bytes, block: bytes | None = None) -> Arrival | Rejection:
    return intake.read(KINDS, Subjects("pl"), subject, body, 7, 9, block)


def rejected(subject: str, body: bytes, block: bytes | None = None) -> Rejection:
    found = read(subject, body, block)
    assert isinstance(found, Rejection), found
    return found


def taken(subject: str, body: bytes, block: bytes | None = None) -> Arrival:
    found = read(subject, body, block)
    assert isinstance(found, Arrival), found.message
    return found


# fmt: off
WRONG_DATA: dict[str, tuple[str, dict[str, Any] | None, str]] = {
    "a reason that is no text": ("set", {"reason": 5}, "data.reason must be str, found int"),
    "a message that is no text": ("set", {"message": ["a"]}, "data.message must be str, found list"),
    "a message behind an empty reason": ("set", {"reason": None, "message": 5}, "data.message must be str, found int"),
    "a text for a number": ("set", {"level": "high"}, "data.level must be int, found str"),
    "a float for a whole number": ("set", {"level": 1.0}, "data.level must be int, found float"),
    "true for a whole number": ("set", {"level": True}, "data.level must be int, found bool"),
    "true for a float": ("set", {"share": True}, "data.share must be float, found bool"),
    "a text for a float": ("set", {"share": "1"}, "data.share must be float, found str"),
    "a number for a bool": ("set", {"on": 1}, "data.on must be bool, found int"),
    "too small": ("set", {"level": -1}, "data.level must be at least 0, found -1"),
    "a float that is too small": ("set", {"share": 0.25}, "data.share must be at least 0.5, found 0.25"),
    "no number": ("set", {"share": float("nan")}, "data.share must be at least 0.5, found nan"),
    "none of the options": ("set", {"mode": "odd"}, "data.mode must be one of fast, slow, found 'odd'"),
    "a long text that is none of them": ("set", {"mode": "x" * 65}, f"data.mode must be one of fast, slow, found '{'x' * 64}'"),
    "too long": ("set", {"reason": "x" * 4_097}, "data.reason is longer than 4096 characters"),
    "a text for a list": ("set", {"tags": "a"}, "data.tags must be a list of str"),
    "a map for a list": ("set", {"parts": {}}, "data.parts must be a list of dict"),
    "an item of another type": ("set", {"tags": ["a", 1]}, "data.tags must be str, found int"),
    "a map for an item that is a text": ("set", {"tags": [{}]}, "data.tags must be str, found dict"),
    "an item that is null": ("set", {"tags": [None]}, "data.tags must be str, found NoneType"),
    "an item twice": ("set", {"tags": ["a", "b", "a"]}, "data.tags holds a value twice"),
    "an item that is no map": ("set", {"parts": [{}, 1]}, "data.parts must be dict, found int"),
    "a list for an item that is a map": ("set", {"parts": [[]]}, "data.parts must be dict, found list"),
    "a wrong field behind an absent one": ("set", {"level": None, "last": "x"}, "data.last must be int, found str"),
    "a wrong field behind a list of maps": ("set", {"parts": [{}], "last": "x"}, "data.last must be int, found str"),
    "no data, though some is required": ("measured", None, "data.by is required: who measured"),
    "empty data, though some is required": ("measured", {}, "data.by is required: who measured"),
    "null, though a value is required": ("measured", {"by": None, "until": "now"}, "data.by is required: who measured"),
    "no null, though it is required": ("measured", {"by": "me"}, "data.until is required: when it ends"),
}
RIGHT_DATA: dict[str, tuple[str, dict[str, Any]]] = {
    "the least": ("set", {"level": 0, "share": 0.5}),
    "a whole number for a float": ("set", {"share": 1}),
    "the ends of 64 bits": ("set", {"level": 2**64 - 1, "number": -(2**63)}),
    "an option": ("set", {"mode": "slow"}),
    "a long text": ("set", {"message": "x" * 4_096}),
    "nothing in lists": ("set", {"tags": [], "parts": []}),
    "equal maps": ("set", {"parts": [{}, {}]}),
    "null where nothing is required": ("set", {"tags": None, "on": None, "reason": None}),
    "null where it may stand": ("measured", {"by": "me", "until": None}),
}
WRONG_EVENTS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "an unknown kind": ("pl.inbox.0.s.moon.set", envelope(), "unknown_kind", "kind 'moon' is unknown; there are gauge, site"),
    "an unknown trigger": (SUBJECT.format("zap"), envelope("zap"), "unknown_trigger",
        "gauge has no trigger 'zap'; it has create, set, measured, removed, heartbeat, configure, reported"),
    "a derived trigger": (SUBJECT.format("tire"), envelope("tire"), "derived",
        f"tire is fired by the engine only, after {GAUGE_KIND.fired_by['tire']}"),
    "too few parts": ("pl.inbox.0.s.gauge.set", envelope(), "invalid", "the id 's' does not fit gauge, whose ids are <site>/<gauge>"),
    "too many parts": ("pl.inbox.0.s.gauge.set.g.h", envelope(), "invalid", "the id 's/g/h' does not fit gauge, whose ids are <site>/<gauge>"),
    "the type of another trigger": (SUBJECT.format("set"), envelope("create"), "invalid",
        "envelope: type is 'gauge.create', the subject says gauge.set"),
    "the subject of another entity": (SUBJECT.format("set"), envelope(subject="gauge/s/h"), "invalid",
        "envelope: subject is 'gauge/s/h', the NATS subject says gauge/s/g"),
    "a long subject": (SUBJECT.format("set"), envelope(subject="x" * 300), "invalid",
        f"envelope: subject is '{'x' * 256}', the NATS subject says gauge/s/g"),
    "a sequence that is no number": (SUBJECT.format("set"), envelope(sequence="seven"), "invalid",
        "envelope: sequence must be a whole number of at most 18 digits, found 'seven'"),
    "a timer that is none": (DUE.format("create"), envelope(data={"facet": "phase", "due": 5}), "unknown_trigger", "no timer of gauge fires create"),
    "a timer of an unknown facet": (DUE.format("tire"), envelope(data={"facet": "heat", "due": 5}), "unknown_trigger", "no timer of gauge fires tire"),
    "a timer without a time": (DUE.format("tire"), envelope(data={"facet": "phase"}), "unknown_trigger", "no timer of gauge fires tire"),
    "a timer whose time is no number": (DUE.format("tire"), envelope(data={"facet": "phase", "due": "5"}), "unknown_trigger", "no timer of gauge fires tire"),
    "a timer without data": (DUE.format("tire"), envelope(), "unknown_trigger", "no timer of gauge fires tire"),
}
# fmt: on


@pytest.mark.parametrize("wrong", WRONG_DATA.values(), ids=list(WRONG_DATA))
def test_wrong_data_is_invalid(wrong: tuple[str, dict[str, Any] | None, str]) -> None:
    trigger, data, says = wrong
    found = rejected(SUBJECT.format(trigger), codec.encode(envelope(trigger, data)))
    assert (found.reason, found.message) == ("invalid", says)


@pytest.mark.parametrize("right", RIGHT_DATA.values(), ids=list(RIGHT_DATA))
def test_right_data_is_taken(right: tuple[str, dict[str, Any]]) -> None:
    trigger, data = right
    assert taken(SUBJECT.format(trigger), codec.encode(envelope(trigger, data))).data == data


@pytest.mark.parametrize("field", ["level", "number", "share"])
@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_a_publisher_can_compose_no_number_of_more_than_64_bits(field: str, value: int) -> None:
    says = f"data.{field} must have at most 64 bits"
    if value < 0 and field != "number":
        says = f"data.{field} must be at least "
    with pytest.raises(Invalid, match=says):
        intake.check_data(GAUGE_KIND, "set", {field: value})


@pytest.mark.parametrize("wrong", WRONG_EVENTS.values(), ids=list(WRONG_EVENTS))
def test_an_event_that_does_not_fit_is_rejected(wrong: tuple[str, dict[str, Any], str, str]) -> None:
    subject, sent, reason, says = wrong
    found = rejected(subject, codec.encode(sent))
    assert (found.reason, found.message) == (reason, says)
    assert found.cause == CAUSE


def test_an_event_arrives_with_all_that_it_brings() -> None:
    sent = envelope(data={"level": 3}, time="2026-01-01T00:00:00Z", sequence="12", subject="gauge/s/g", traceparent="t")
    cause = Cause(7, "e1", "/me", "event", None, "2026-01-01T00:00:00Z", {"traceparent": "t"})
    expected = Arrival("gauge", "set", "s/g", {"level": 3}, cause, 12, 9)
    assert taken(SUBJECT.format("set"), codec.encode(sent)) == expected
    assert taken(SUBJECT.format("set"), json.dumps(sent).encode()) == expected


@pytest.mark.parametrize("data", [None, {}])
def test_an_event_needs_no_data(data: dict[str, Any] | None) -> None:
    found = taken(SUBJECT.format("create"), codec.encode(envelope("create", data)))
    assert found == Arrival("gauge", "create", "s/g", NONE, CAUSE, None, 9)
    assert found.data is NONE


def test_a_timer_arrives_as_the_entity_s_own_event() -> None:
    sent = envelope("tire", {"facet": "phase", "due": 5}, sequence=4, time="2026-01-01T00:00:00Z")
    cause = Cause(7, "e1", "/me", "timer", "gauge/s/g")
    expected = Arrival("gauge", "tire", "s/g", NONE, cause, None, 9, ("phase", 5))
    assert taken(DUE.format("tire"), codec.encode(sent)) == expected


def test_an_event_in_binary_mode_has_its_attributes_in_headers() -> None:
    block = b"NATS/1.0\r\nce-specversion: 1.0\r\nce-id: e1\r\nce-source: /me\r\nce-type: gauge.set\r\nce-sequence: 12\r\n\r\n"
    expected = Arrival("gauge", "set", "s/g", {"level": 3}, CAUSE, 12, 9)
    assert taken(SUBJECT.format("set"), b'{"level":3}', block) == expected
    found = rejected(SUBJECT.format("set"), json.dumps({"live": SECRET}).encode(), block)
    assert found == without_body("set", "data.live")
    other = b"NATS/1.0\r\nNats-Msg-Id: 5\r\n\r\n"
    assert taken(SUBJECT.format("set"), codec.encode(envelope(data={"level": 3})), other).data == {"level": 3}


def test_a_rejection_names_the_entity_and_keeps_the_body() -> None:
    body = codec.encode(envelope("zap", traceparent="t"))
    cause = Cause(7, "e1", "/me", "event", None, None, {"traceparent": "t"})
    message = "gauge has no trigger 'zap'; it has create, set, measured, removed, heartbeat, configure, reported"
    expected = Rejection("gauge", "s/g", "zap", "unknown_trigger", message, None, (), cause, 9, body)
    assert rejected(SUBJECT.format("zap"), body) == expected


def test_a_rejection_of_what_is_no_event_has_no_event_in_its_cause() -> None:
    body = b"\xc1" * (MAX_PAYLOAD + 1)
    found = rejected(SUBJECT.format("set"), body)
    assert (found.kind, found.id, found.trigger, found.reason) == ("gauge", "s/g", "set", "undecodable")
    assert found.message.startswith("msgpack: ")
    assert found.cause == NO_EVENT
    assert found.payload == body[:MAX_PAYLOAD]
    found = rejected(SUBJECT.format("set"), codec.encode(envelope(specversion="2.0")))
    assert (found.reason, found.message) == ("invalid", "envelope: specversion must be 1.0, found '2.0'")
    assert (found.cause.event, found.cause.source) == (envelope()["id"], envelope()["source"])


def test_a_rejection_of_a_subject_without_an_entity_has_the_end_of_the_subject() -> None:
    found = rejected("pl.inbox.0.s.gauge.set.g%31", codec.encode(envelope()))
    assert (found.kind, found.trigger, found.id, found.reason) == ("-", "-", "gauge/set/g%31", "invalid")
    assert found.message == "token 'g%31' must be encoded as 'g1': one entity has one subject"
    assert (found.cause.event, found.cause.source) == (envelope()["id"], envelope()["source"])


def test_a_rejection_holds_only_what_a_record_can_hold() -> None:
    found = rejected(f"pl.inbox.0.s.moon\udcff.{'z' * 2_000}", codec.encode(envelope()))
    assert (found.kind, found.trigger, found.reason) == ("moon?", "z" * MAX_ID, "unknown_kind")
    subject = Subjects("pl").address(SUBJECT.format("set"))
    long = intake.reject(SUBJECT.format("set"), subject, None, b"", 7, 9, "invalid", "m" * 5_000)
    assert long.message == "m" * 4_096
    assert intake.address_of(Subjects("pl"), SUBJECT.format("set")) == subject
    assert intake.address_of(Subjects("pl"), "pl.inbox.0.s.gauge") is None


def without_body(trigger: str, where: str, cause: Cause = CAUSE) -> Rejection:
    """The answer to an event that holds a Secret."""
    message = (
        f"{where} is a Secret, or holds one, whose values are not masked: the event is erased, and nothing of it is "
        "kept. Mask the values before publishing"
    )
    return Rejection("gauge", "s/g", trigger, "secret", message, None, (), cause, 9, None)


@pytest.mark.parametrize("trigger", ["set", "zap"], ids=["in a right event", "in a wrong event"])
def test_nothing_is_kept_of_a_secret_that_is_hidden_in_base64(trigger: str) -> None:
    body = codec.encode(envelope(trigger, data_base64=HIDDEN, traceparent="t"))
    assert rejected(SUBJECT.format(trigger), body) == without_body(trigger, "data_base64.live")


@pytest.mark.parametrize(
    ("where", "brings"), [("data.live", {"data": {"live": SECRET}}), ("data_base64.live", {"data_base64": HIDDEN})]
)
def test_nothing_is_kept_of_a_secret_in_what_is_no_event_or_has_no_entity(where: str, brings: dict[str, Any]) -> None:
    found = rejected(SUBJECT.format("set"), codec.encode(envelope(specversion="2.0", **brings)))
    assert found == without_body("set", where, NO_EVENT)
    found = rejected("pl.inbox.0.s.gauge.set.g%31", codec.encode(envelope(**brings)))
    said = without_body("-", where)
    assert found == msgspec.structs.replace(said, kind="-", id="gauge/set/g%31")


def test_data_in_base64_is_read() -> None:
    coded = base64.b64encode(b'{"level":3}').decode()
    assert taken(SUBJECT.format("set"), codec.encode(envelope(data_base64=coded))).data == {"level": 3}
    found = rejected(SUBJECT.format("zap"), codec.encode(envelope("zap", data_base64=coded)))
    assert found.reason == "unknown_trigger"


def test_an_error_of_the_intake_has_its_reason_and_its_words() -> None:
    with pytest.raises(intake.RejectedEvent, match=r"^kind 'moon' is unknown; there are gauge, site$") as caught:
        intake.find_kind(KINDS, "moon")
    assert caught.value.reason == "unknown_kind"
    assert intake.find_kind(KINDS, "gauge") is GAUGE_KIND
