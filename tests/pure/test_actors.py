"""Who did it: names of actors, the subjects that prove them, what a record keeps, and the sources of a token."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core import intake
from phaseline.engine.core.intake import Arrival
from phaseline.engine.replay import log_format
from phaseline.engine.surfaces.http.access import caller, tokens
from phaseline.engine.surfaces.http.access.caller import BadRole, Caller, named, with_roles
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.cloudevents import actors
from phaseline.schemas.cloudevents.actors import BadActor
from phaseline.schemas.errors import BadSetting, InvalidInput
from phaseline.schemas.records import Cause, Rejection
from phaseline.schemas.subjects import BadSubject, Subjects, is_stored_as, kind_in, without_actor
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.raising import raises

EDGE = b"NATS/1.0\r\nNats-Stream-Source: pl-INLET-c1 1 > > pl.events.c1 x\r\n\r\n"
IDS = st.lists(st.text("ab~*. é%", min_size=1, max_size=9), min_size=1, max_size=4).map("/".join)
NAMES = st.text("abZ09~*.>%-_/\\@:+'\"é日😀", min_size=1, max_size=actors.LONGEST)


def body(**more: Any) -> bytes:
    return codec.encode({"specversion": "1.0", "id": "e1", "source": "/me", "type": "cluster.create", **more})


def cause(subject: str, given: bytes, block: bytes | None = None) -> Cause:
    found = intake.read(BUILT_IN_KINDS, Subjects(), subject, given, 7, 9, block)
    return found.cause


@given(st.sampled_from(["pl", "eu.west.pl"]), IDS, NAMES)
def test_an_actor_comes_back_from_the_subject(prefix: str, entity_id: str, actor: str) -> None:
    found = Subjects(prefix)
    plain = found.event("node", "ready", entity_id)
    signed = found.in_name_of(actor, plain)
    stored = signed.replace(".events.", ".inbox.7.", 1)
    assert found.address(stored) == (*found.address(plain.replace(".events.", ".inbox.7.", 1))[:3], actor)
    assert found.in_name_of("", signed) == plain == found.in_name_of("", plain)
    assert found.in_name_of(actor, found.in_name_of("other", plain)) == signed
    assert len(signed.encode()) < 4096
    assert is_stored_as(plain, stored)
    assert is_stored_as(signed, plain.replace(".events.", ".inbox.7.", 1))
    tokens = stored.split(".")
    assert kind_in(tokens, prefix.count(".") + 3) == "node"


def test_a_part_of_an_id_is_no_actor() -> None:
    subject = Subjects().event("node", "ready", "c1/~/ann/n1")
    assert Subjects().address(subject.replace("events", "inbox.0")).actor == ""
    assert without_actor("c1.node.ready.~.ann.n1") == "c1.node.ready.~.ann.n1"
    assert without_actor("~.node.ready.p.n1") == "~.node.ready.p.n1"
    assert without_actor("c1.~") == "c1.~"
    assert Subjects().address("pl.inbox.0.~.cluster.create") == ("cluster", "create", "~", "")


@pytest.mark.parametrize("token", ["", "a%0Ab", "a%2fb", "%C3", "x" * 129, "%20x", "a%E2%80%AEb"])
def test_a_subject_with_a_wrong_actor_is_refused(token: str) -> None:
    with pytest.raises(BadSubject, match="actor"):
        Subjects().address(f"pl.inbox.0.c1.~.{token}.cluster.create")
    with pytest.raises(BadSubject):
        Subjects().address("pl.inbox.0.c1.~.ann")
    with pytest.raises(BadSubject):
        Subjects().address("pl.inbox.0.c1.~")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "it is empty"), ("a\nb", "control character"), ("a\x1b[31mb", "control character"),
        ("ann\u202egnp", "cannot be seen"), ("x" * 10_000, "10,000 characters, the most are 128"),
        (" ann", "blank"), ("ann\u200b", "cannot be seen"),
    ],
)  # fmt: skip
def test_names_that_no_actor_has(name: str, says: str) -> None:
    with pytest.raises(BadActor, match=says):
        actors.check(name)
    caller = named(Caller(name, frozenset({"read", "publish"})))
    assert (caller.actor, len(caller.name) <= actors.LONGEST) == ("", True)
    caller.check("read")
    with raises(InvalidInput.nameless):
        caller.check("publish")


def test_a_record_keeps_the_actor_apart_from_what_the_event_claims() -> None:
    plain, signed = "pl.inbox.0.c1.cluster.create", "pl.inbox.0.c1.~.ann.cluster.create"
    assert cause(plain, body()) == Cause(7, "e1", "/me", "event")
    assert cause(plain, body(actor="ann")) == Cause(7, "e1", "/me", "event", extensions={"actor": "ann"})
    assert cause(signed, body()) == Cause(7, "e1", "/me", "event", actor="ann")
    assert cause(signed, body(actor="ann")) == Cause(7, "e1", "/me", "event", actor="ann")
    again = {"actor": "bob", "traceparent": "t"}
    assert cause(signed, body(**again)) == Cause(7, "e1", "/me", "event", extensions=again, actor="ann")


def test_rejections_keep_the_actor_too() -> None:
    signed = "pl.inbox.0.c1.~.ann.cluster.create"
    for sent in (b"\xff", body(id=3), body(type="cluster.delete")):
        assert cause(signed, sent).actor == "ann"
    found = intake.read(BUILT_IN_KINDS, Subjects(), "pl.inbox.0.c1.~.ann.cluster.zap", body(actor="ann"), 7, 9)
    assert isinstance(found, Rejection)
    assert (found.kind, found.trigger, found.reason) == ("cluster", "zap", "unknown_trigger")
    assert found.cause == Cause(7, "e1", "/me", "event", actor="ann")


def test_an_edge_proves_no_actor_and_a_file_says_so_too() -> None:
    signed = "c1.~.ann.cluster.create"
    found = cause(f"pl.inbox.0.{signed}", body(actor="ann"), EDGE)
    assert found == Cause(7, "e1", "/me", "event", extensions={"actor": "ann"})
    kept = log_format.headers_of(EDGE, signed).encode("latin-1")
    assert cause(f"pl.inbox.0.{signed}", body(actor="ann"), kept) == found
    assert log_format.headers_of(EDGE, "c1.cluster.create") == ""
    assert log_format.headers_of(b"NATS/1.0\r\nNats-Msg-Id: 1\r\n\r\n", signed) == ""


def test_only_a_record_with_an_actor_has_the_field() -> None:
    arrival = intake.read(BUILT_IN_KINDS, Subjects(), "pl.inbox.0.c1.~.ann.cluster.zap", body(), 7, 9)
    other = intake.read(BUILT_IN_KINDS, Subjects(), "pl.inbox.0.c1.cluster.zap", body(), 7, 9)
    assert isinstance(arrival, Rejection)
    assert isinstance(other, Rejection)
    written, plain = (wire_codec.write(one, 0, 1, "pl") for one in (arrival, other))
    assert codec.decode(written)["data"]["cause"]["actor"] == "ann"
    assert "actor" not in codec.decode(plain)["data"]["cause"]
    assert (wire_codec.read(written), wire_codec.read(plain)) == (arrival, other)


def test_arrivals_have_the_same_kind_trigger_and_id() -> None:
    plain, signed = (
        intake.read(BUILT_IN_KINDS, Subjects(), f"pl.inbox.0.c1.{sent}node.create.p.n1", body(type="node.create"), 7, 9)
        for sent in ("", "~.a%2Fb.")
    )
    assert isinstance(plain, Arrival)
    assert isinstance(signed, Arrival)
    assert (signed.kind, signed.trigger, signed.id) == (plain.kind, plain.trigger, plain.id)
    assert (plain.cause.actor, signed.cause.actor) == ("", "a/b")


@pytest.mark.parametrize(
    ("pattern", "fits", "others"),
    [
        ("/agent/c1", ["/agent/c1"], ["/agent/c11", "/agent", "x/agent/c1", "/agent/C1"]),
        ("/agent/*", ["/agent/", "/agent/c1", "/agent/c1/x"], ["/agent", "/agents/c1"]),
        ("*", ["/x", "/"], []),
        ("*/page", ["/phaseline/page", "/page"], ["/page/x", "page"]),
        ("/a*b*b", ["/abb", "/axbxb"], ["/ab", "/abx"]),
        ("/a.c", ["/a.c"], ["/abc"]), ("/[ab]", ["/[ab]"], ["/a"]),
    ],
)  # fmt: skip
def test_a_source_fits_its_pattern(pattern: str, fits: list[str], others: list[str]) -> None:
    assert all(caller.is_among(one, (pattern,)) for one in fits)
    assert not any(caller.is_among(one, (pattern,)) for one in others)


@given(st.lists(st.sampled_from("ab*"), max_size=9).map("".join), st.text("ab", max_size=9))
def test_patterns_mean_what_regular_expressions_with_stars_mean(pattern: str, source: str) -> None:
    def slow(pattern: str, source: str) -> bool:
        if not pattern:
            return not source
        if pattern[0] == "*":
            return any(slow(pattern[1:], source[at:]) for at in range(len(source) + 1))
        return source[:1] == pattern[0] and slow(pattern[1:], source[1:])

    assert caller.is_among(source, (pattern,)) == slow(pattern, source)


@pytest.mark.parametrize("pattern", ["", "/a\nb", "/" + "x" * 256])
def test_texts_that_are_no_patterns(pattern: str) -> None:
    with pytest.raises(BadRole):
        caller.check_pattern(pattern)


def test_words_of_a_token_limit_its_sources() -> None:
    caller = with_roles("ci", ["publish", "source:/agent/*", "source:/a%20b"])
    for source in ("/agent/c1", "/a b"):
        caller.check_source(source)
    with raises(InvalidInput.source_refused) as found:
        caller.check_source("/phaseline/page")
    assert str(found.value) == "ci may send events of the sources /agent/*, /a b, not of '/phaseline/page'"
    with_roles("ci", ["publish"]).check_source("/whatever")
    for words in (["source:/x"], ["publish", "source:"], ["publish", "source:%0A"], ["publish", "source"]):
        with pytest.raises(BadRole):
            with_roles("ci", words)


@pytest.mark.parametrize("name", ["x" * 65, "a\x1bb", "a\x00b", "\u202ea"])
def test_a_token_has_a_name_that_can_be_shown(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadSetting):
        tokens.add(tmp_path / "tokens", name, ["publish"])
    (tmp_path / "tokens").write_text(f"{'0' * 64} {name} publish\n")
    with pytest.raises(BadSetting):
        tokens.read(tmp_path / "tokens")
