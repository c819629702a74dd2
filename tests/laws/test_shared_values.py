"""Values that are kept for further bodies change nothing: neither what is decoded, nor what is decided."""

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Ext

from phaseline.schemas import bounds, codec, envelope
from phaseline.schemas.templates import shared_values
from phaseline.schemas.templates.shared_values import SharedValues
from tests.support.effort import examples
from tests.support.gitops_history import GitOpsHistory
from tests.support.large_deployment import desired, live
from tests.support.manifests import kubernetes_object
from tests.support.strategies import VALUES

JSON = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=9,
)
PADDING = "x" * envelope.LARGE
"""So long a text makes a body large: as the event's id, so that `data` can hold manifests alone."""
MANIFESTS = st.fixed_dictionaries({}, optional={"live": JSON, "desired": JSON})
DATA = MANIFESTS | st.fixed_dictionaries({"odd": JSON}, optional={"live": JSON, "desired": JSON})
TYPES = st.sampled_from(["resource.observed", "application.observed", "node.ready"])


def body(type_: str, data: Any, id_: str = PADDING, **rest: Any) -> bytes:
    return codec.encode({"specversion": "1.0", "id": id_, "source": "/o", "type": type_, "data": data, **rest})


def told(work: Any) -> Any:
    """What a call returns, or the error that it raises."""
    try:
        return work()
    except (codec.Undecodable, envelope.Invalid) as error:
        return type(error).__name__, str(error)


def assert_is_the_same(found: bytes) -> None:
    expected = told(lambda: envelope.write(envelope.read(codec.decode(found, bounds.LEVELS))))
    for _ in range(2):
        assert told(lambda: envelope.write(envelope.decode(found))) == expected


@examples(300)
@given(
    TYPES, DATA, st.sampled_from(["e", PADDING]),
    st.sampled_from([{}, {"sequence": 3}, {"time": "2026-03-02T08:00:00Z"}, {"time": "x"}, {"odd": 1}]),
)  # fmt: skip
def test_an_event_is_decoded_as_if_nothing_were_kept(type_: str, data: Any, id_: str, rest: dict[str, Any]) -> None:
    assert_is_the_same(body(type_, data, id_, **rest))


@examples(300)
@given(MANIFESTS, st.integers(0, 1 << 20), st.binary(min_size=1, max_size=3))
def test_a_spoiled_event_too(data: Any, at: int, spoilt: bytes) -> None:
    whole = body("resource.observed", data)
    place = len(whole) - 1 - at % (len(whole) - len(PADDING))  # most of the rest is the id
    assert_is_the_same(whole[:place] + spoilt + whole[place + 1 :])


@pytest.mark.parametrize("name", ["live", "desired", "odd"])
@pytest.mark.parametrize("levels", [*range(94, 101), 500])
def test_the_depth_is_bounded_as_before(name: str, levels: int) -> None:
    deep: Any = {}
    for _ in range(levels):
        deep = {"a": deep}
    assert_is_the_same(body("resource.observed", {name: deep}))


@pytest.mark.parametrize(
    "raw",
    [
        b"\x81\xc4\x01a\x01", b"\x81\x01\x02", b"\x92\xc1\x01", b"\xd6\xff\0\0\0\1", b"\x82\xa1a\x01\xa1a\x02",
        b"\xc0", b"\x80", b"\x90", b"\x81\xc0\xc0",
    ],
)  # fmt: skip
def test_odd_values_are_judged_as_before(raw: bytes) -> None:
    marker = codec.encode("MARKER")
    for name in ("live", "desired"):
        whole = body("resource.observed", {name: "MARKER"})
        assert_is_the_same(whole.replace(marker, raw))
        whole = body("resource.observed", {name: {"spec": "MARKER"}})
        assert_is_the_same(whole.replace(marker, raw))


def test_deciding_changes_no_value_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, small = SharedValues(), dict[bytes, Any]()
    monkeypatch.setattr(envelope, "SHARED", kept)
    monkeypatch.setattr(envelope, "_decode_small", lambda raw: small.setdefault(raw, codec.decode_part(raw, 9)))
    life = GitOpsHistory().configure(
        ignore_differences=[
            {"group": "*", "kind": "*", "jsonPointers": ["/spec/replicas"]},
            {"group": "*", "kind": "*", "managedFieldsManagers": ["m"]},
        ]
    )
    secret = kubernetes_object(
        "v1",
        "Secret",
        data={"a": "masked:00000000"},
        type={},
        list=[{}],
        stringData={"b": "(secret)" + "+" * 0},
        spec={"p": PADDING},
    )
    role = kubernetes_object(
        "rbac.authorization.k8s.io/v1", "ClusterRole", rules=[{"verbs": [PADDING]}], aggregationRule={"a": PADDING}
    )
    ends = kubernetes_object("v1", "Endpoints", subsets=[{"ports": [{"port": 2, "name": PADDING}, {"port": 1}]}])
    for turn in range(2):
        life.observe(live("web", turn), desired=desired("web"))
        for one in (secret, role, ends):
            life.observe(one, desired={**one, "extra": PADDING})
    assert len(kept._by_bytes) > 8
    assert codec.encode({}) in small
    for raw, value in ((raw, one.value) for raw, one in kept._by_bytes.items()):
        assert codec.encode(value) == raw
    assert all(codec.encode(value) == raw for raw, value in small.items())


def test_what_changes_all_the_time_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = SharedValues()
    monkeypatch.setattr(envelope, "SHARED", kept)
    event = envelope.decode(body("resource.observed", {"live": live(), "desired": desired()}))
    assert [one.value for one in kept._by_bytes.values()] == [live()["spec"], desired()]
    assert event.data == {"live": live(), "desired": desired()}


def test_small_values_are_kept_within_a_bound() -> None:
    for number in range(envelope.MOST_SMALL + 9):
        envelope._decode_small(codec.encode(f"kind {number}"))
    assert envelope._decode_small.cache_info().currsize == envelope.MOST_SMALL


def test_no_more_is_kept_than_may_be() -> None:
    kept, made = SharedValues(most=1_000), []

    def decode(raw: bytes) -> Any:
        made.append(raw)
        return codec.decode_part(raw, 9)

    values = [codec.encode({"k": f"{number:0300}"}) for number in range(4)]
    for raw in (*values[:3], values[0], values[3], values[0], values[1]):
        assert kept.value(raw, decode) == codec.decode_part(raw, 9)
    assert made == [values[0], values[1], values[2], values[3], values[1]]
    assert sum(map(len, kept._by_bytes)) <= 1_000
    assert len(kept._by_bytes) == len(kept._by_identity) == 3
    for raw in (codec.encode({"k": "small"}), codec.encode("x" * 400), codec.encode({"k": "x" * 1_000})):
        assert kept.value(raw, decode) == codec.decode_part(raw, 9)
        assert raw not in kept._by_bytes


def test_work_is_done_once_for_a_value_that_is_kept() -> None:
    kept, calls = SharedValues(), list[str]()

    def size(one: Any) -> int:
        calls.append("size")
        return len(one)

    value = kept.value(codec.encode({"k": "x" * 100}), lambda raw: codec.decode_part(raw, 9))
    for one in (value, value, dict(value)):
        assert kept.once(one, "size", size) == 1
    assert len(calls) == 2
    assert shared_values.digest({"a": 1}) == shared_values.digest({"a": 1})


LARGE_MANIFEST = st.builds(lambda inner: {"a": "x" * envelope.LARGE_PART, "b": inner}, JSON)
PARTS = st.fixed_dictionaries(
    {"live": st.fixed_dictionaries({"spec": LARGE_MANIFEST}, optional={"status": JSON, "data": LARGE_MANIFEST})},
    optional={"desired": LARGE_MANIFEST},
)


def read_again(first: bytes, second: bytes) -> Any:
    """The event in the second body if it is read as one that repeats parts of the first; None if it is not."""
    envelope.decode(first, "subject")
    short = shared_values.SHARED.abridge("subject", second)
    return None if short is None else envelope.decode_abridged(short)


def assert_is_read_again_or_not_at_all(first: bytes, second: bytes) -> bool:
    event = read_again(first, second)
    if event is not None:
        assert envelope.write(event) == envelope.write(envelope.read(codec.decode(second, bounds.LEVELS)))
    return event is not None


@examples(300)
@given(PARTS, JSON)
def test_a_body_with_the_same_parts_is_read_as_if_it_were_whole(data: Any, status: Any) -> None:
    changed = {**data, "live": {**data["live"], "status": status, "metadata": {"name": status}}}
    assert assert_is_read_again_or_not_at_all(
        body("resource.observed", data), body("resource.observed", changed, sequence=3)
    )


@examples(300)
@given(PARTS, MANIFESTS, TYPES, st.sampled_from([{}, {"time": "x"}, {"odd": 1}]))
def test_a_body_with_other_parts_too(data: Any, other: Any, type_: str, rest: dict[str, Any]) -> None:
    assert_is_read_again_or_not_at_all(body("resource.observed", data), body(type_, {**data, **other}, **rest))


@examples(300)
@given(PARTS, st.integers(0, 1 << 20), st.binary(min_size=1, max_size=3))
def test_a_spoiled_body_with_the_same_parts_too(data: Any, at: int, spoilt: bytes) -> None:
    first = body("resource.observed", data)
    place = len(PADDING) + at % (len(first) - len(PADDING))
    second = first[:place] + spoilt + first[place + 1 :]
    event = read_again(first, second)
    if event is not None:
        assert envelope.write(event) == envelope.write(envelope.read(codec.decode(second, bounds.LEVELS)))


SPEC = {"a": "x" * 300}
RAW_SPEC = codec.encode("spec") + codec.encode(SPEC)
MARK = Ext(0x7F, shared_values.MARKS[0][3:])
"""It is written with one byte less than `MARKS` are."""


@pytest.mark.parametrize(
    "live",
    {
        "in bytes": {"metadata": {"a": RAW_SPEC}, "spec": SPEC},
        "below another name": {"metadata": {"spec": SPEC}, "status": {}},
        "where it is and below another name": {"metadata": {"spec": SPEC}, "spec": SPEC},
        "a mark that is sent": {"metadata": {}, "spec": MARK},
        "a mark beside it": {"metadata": {"a": MARK}, "spec": SPEC},
        "the bytes of a mark beside it": {"metadata": {"a": shared_values.MARKS[0]}, "spec": SPEC},
    }.items(),
    ids=lambda one: one[0],
)
def test_bytes_of_a_part_that_stand_elsewhere_are_no_part(live: tuple[str, dict[str, Any]]) -> None:
    first = body("resource.observed", {"live": {"spec": SPEC}})
    second = body("resource.observed", {"live": live[1]}).replace(codec.encode(MARK), shared_values.MARKS[0])
    assert not assert_is_read_again_or_not_at_all(first, second)
    assert_is_the_same(second)


def test_what_is_noted_of_a_body_is_forgotten_with_its_values() -> None:
    kept = SharedValues(most=1_000)
    raws = [codec.encode({"k": f"{number:0300}"}) for number in range(4)]
    for number, raw in enumerate(raws):
        kept.value(raw, lambda raw: codec.decode_part(raw, 9))
        kept.note(f"subject {number}", [("spec", raw), ("other", b"never kept")])
    assert list(kept._noted) == ["subject 1", "subject 2", "subject 3"]
    for number, raw in enumerate(raws):
        found = kept.abridge(f"subject {number}", codec.encode({"n": 1, "spec": codec.decode_part(raw, 9)}))
        assert (found is None) == (number == 0)
    assert kept.abridge("subject 2", codec.encode({"spec": codec.decode_part(raws[3], 9)})) is None
    kept.note("subject 9", [("spec", raws[3])])
    assert list(kept._noted) == ["subject 1", "subject 2", "subject 9"]
    kept.note("subject 9", [("spec", b"never kept")])
    assert list(kept._noted) == ["subject 1", "subject 2"]


def test_several_threads_may_use_the_same_values() -> None:
    """Partitions are decided in threads of their own."""
    kept, interval = SharedValues(most=4_000), sys.getswitchinterval()
    raws = [codec.encode({"k": f"{number:0300}"}) for number in range(40)]

    def use(thread: int) -> None:
        for turn in range(4_000):
            raw = raws[(turn * (thread + 1)) % len(raws)]
            assert kept.value(raw, partial(codec.decode_part, levels=9)) == codec.decode(raw)
            kept.note(f"subject {turn % 7}", [("spec", raw)])
            kept.abridge(f"subject {turn % 5}", codec.encode({"spec": codec.decode(raw)}))

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(use, range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert kept._size == sum(map(len, kept._by_bytes)) <= 4_000
    assert {*map(id, kept._by_bytes.values())} == {*map(id, kept._by_identity.values())}
