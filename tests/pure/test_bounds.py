"""The bounds of what a body may hold: the same refusal on every machine, long before the stack of the process ends."""

import json
import re
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core.intake import Arrival, read
from phaseline.engine.products.gitops.assess import assess, assess_all, diff
from phaseline.machines.kinds.kubernetes.health.autoscaling import V1_CONDITIONS
from phaseline.machines.kinds.kubernetes.health.registry import assess_health
from phaseline.schemas import bounds, codec, envelope
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import Rejection
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.raising import raises

SUBJECT = "pl.inbox.0.c1.node.ready.p.n1"


def nested(levels: int, *, lists: bool = False) -> Any:
    """A map with `levels` levels in all."""
    found: Any = 1
    for _ in range(levels - 1):
        found = [found] if lists else {"a": found}
    return {"a": found}


def body(inner: Any, *, as_json: bool) -> bytes:
    """An event whose data holds a value that no rule reads."""
    event = {"specversion": "1.0", "id": "1", "source": "/x", "type": "node.ready", "data": {"extra": inner}}
    return json.dumps(event).encode() if as_json else codec.encode(event)


def answer(sent: bytes) -> Arrival | Rejection:
    return read(BUILT_IN_KINDS, Subjects("pl"), SUBJECT, sent, 1, 1)


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.parametrize(("levels", "taken"), [(97, True), (98, True), (99, False), (470, False), (490, False)])
def test_nesting_of_events(as_json: bool, lists: bool, levels: int, taken: bool) -> None:
    """The body and its data are two levels."""
    found = answer(body(nested(levels, lists=lists), as_json=as_json))
    assert isinstance(found, Arrival) is taken
    if isinstance(found, Rejection):
        assert found.reason == "undecodable"
        where = r"JSON: line 1, column \d+" if as_json else "msgpack"
        assert re.fullmatch(f"{where}: maps and lists are nested more than 100 levels deep", found.message)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x81\xa1a" * 1_020 + b"\x01",
        b"\x81\xa1a" * 200_000,
        b'{"a":' * 900 + b"1" + b"}" * 900,
        b'{"a":' * 200_000,
        b'{"a":' * 150 + b"oops",
        b'{"a":' * 50_000 + b"oops",
        b'{"]]":' * 150 + b"1" + b"}" * 150,
        b'{"a":[' * 60 + b"]}" * 60,
    ],
)
def test_every_body_that_is_too_deep_gets_the_same_answer(sent: bytes) -> None:
    found = answer(sent)
    assert isinstance(found, Rejection)
    assert found.message.endswith("nested more than 100 levels deep")


def test_the_stack_does_not_decide() -> None:
    """The answers on a large and on a small rest of the stack are the same, also for bodies that are broken."""
    sent = [body(nested(levels), as_json=as_json) for levels in (50, 98, 99, 400) for as_json in (True, False)]
    sent += [b'{"a":' * depth + b"oops" for depth in (50, 101, 300, 900, 5_000)]

    def deep(frames: int) -> list[str]:
        if frames:
            return deep(frames - 1)
        return [found.message if isinstance(found, Rejection) else "" for found in map(answer, sent)]

    there = [threading.Thread(target=lambda frames=frames: results.append(deep(frames))) for frames in (0, 600)]
    results: list[list[str]] = []
    for thread in there:
        thread.start()
        thread.join()
    assert results[0] == results[1]


def test_brackets_in_texts_are_no_nesting() -> None:
    assert isinstance(answer(body({"a": '[{"\\' * 500, "b": [[]] * 300}, as_json=True)), Arrival)
    assert isinstance(answer(body({"a": "\x80\x9f" * 500, "b": [{}] * 300}, as_json=False)), Arrival)


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (b'{"specversion":"1.0","id":"1","source":"/x","type":"node.ready","data":{"n":18446744073709551616}}', "64 bits"),
        (b'{"specversion":"1.0","id":"1","source":"/x","type":"node.ready","data":{"n":[-9223372036854775809]}}', "64"),
        (b'{"n":' + b"9" * 5_000 + b"}", "out of range"),
        (b'{"n":1e400}', "out of range"),
        (b'{"n":"\\ud800"}', "JSON"),
        (b"\x81\xa1a\x81\xc4\x01b\x01", "a key of a map must be a text"),
        (b"\x81\xc4\x01b\x01", "a key of a map must be a text"),
    ],
)  # fmt: skip
def test_numbers_and_keys(sent: bytes, says: str) -> None:
    found = answer(sent)
    assert isinstance(found, Rejection)
    assert found.reason == "undecodable"
    assert says in found.message


VALUES = st.recursive(
    st.none() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=4) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=30,
)


def depth(found: Any) -> int:
    if not isinstance(found, dict | list):
        return 0
    return 1 + max(map(depth, found.values() if isinstance(found, dict) else found), default=0)


@given(VALUES, st.integers(1, 6))
def test_the_bound_is_exact(found: Any, levels: int) -> None:
    whole = {"a": found}
    for wire in (codec.encode(whole), codec.encode_json(whole)):
        try:
            codec.decode(wire, levels)
            fits = True
        except codec.Undecodable:
            fits = False
        assert fits is (depth(whole) <= levels)


@given(st.text('{}[]"\\a:1, ', max_size=60))
def test_the_depth_of_a_json_text(text: str) -> None:
    try:
        found = json.loads(text)
    except ValueError:
        return
    assert bounds.json_depth(text.encode()) == depth(found)


@pytest.mark.parametrize("text", ["[" * 100_000, '[{"a":' * 3_000, "[" + "9" * 10_000 + "]", '["\\ud800"]', "{"])
def test_json_in_an_annotation(text: str) -> None:
    live = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"annotations": {V1_CONDITIONS: text}},
    }
    found = assess_health(live)
    assert found is not None
    assert found.status == "Unknown"
    assert "must be JSON" in found.message or "must be a list" in found.message


def test_events_of_the_envelope_are_bound_too() -> None:
    with pytest.raises(codec.Undecodable, match="nested"):
        envelope.decode(
            codec.encode({"specversion": "1.0", "id": "1", "source": "/x", "type": "t", "more": nested(100)})
        )


def test_manifests_of_many_levels_in_the_api() -> None:
    deep: Any = 1
    for _ in range(50_000):
        deep = {"a": deep}
    live = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": deep}
    for call in (lambda: assess(live), lambda: assess_all([live], [live]), lambda: diff(live, live)):
        with raises(InvalidInput.bad_manifest, match=r"nested more than 10\d levels deep"):
            call()
