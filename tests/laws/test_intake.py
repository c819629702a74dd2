"""The intake: which stored bytes it rejects, and that no input raises an error.

Belongs here: `core.intake` alone, and random input through the whole core. Does not: a running worker
(`test_bad_input`).
"""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree, evolve
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, LIVE, MAX_TEXT, OK, SAME, Facet, Field, Label, Row, Table
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import MAX_PAYLOAD, Entity, Reason, Rejection, Transition, entity_after
from phaseline.schemas.templates import reading
from tests.support import edge_worlds, sample_kinds
from tests.support.own_product import OWN
from tests.support.strategies import MAPS, SUBJECTS, VALUES, History, Sent, event

# fmt: off
PARCEL = Table(
    kind="parcel",
    id=("parcel",),
    intents=("send",),
    attributes=(
        Field("grams", int, "how heavy"), Field("worth", float, "in euro"), Field("stamps", str, "which", ("red", "blue"), many=True),
        Field("to", str, "whose it will be"), Field("fragile", bool, "whether it breaks"),
    ),
    facets=(Facet("phase", labels=(Label("Sent", OK, "Sent"),), rows=(
        Row((ABSENT,), "send", "Sent", assigns=True), Row((LIVE,), "weighed", SAME, assigns=True), Row((LIVE,), "lost", "Deleted"),
    )),),
    fields={"lost": (Field("where", str, "where it was last seen", required=True),)},
)
# fmt: on
PARCELS = Kinds((PARCEL,), products=OWN)


def refused(kinds: Kinds, sent: Sent) -> Rejection:
    found = History(kinds).read(sent)
    assert isinstance(found, Rejection)
    assert found.payload == sent.body[:MAX_PAYLOAD]
    return found


def altered(sent: Sent, **changes: Any) -> Sent:
    return Sent(sent.subject, codec.encode({**codec.decode(sent.body), **changes}))


CREATE = event("cluster", "create", "c1")


@pytest.mark.parametrize(("sent", "reason", "says"), [
    (Sent(CREATE.subject, b""), "undecodable", "the body is empty"),
    (Sent(CREATE.subject, b"\xc1" * 9000), "undecodable", "msgpack: "),
    (Sent("pl.inbox.0.c1", CREATE.body), "invalid", "the subject must be <prefix>.events.<root>.<kind>.<trigger>[.<rest of id>]"),
    (Sent("pl.inbox.0.c%41.cluster.create", CREATE.body), "invalid", "must be encoded as 'cA'"),
    (event("clutser", "create", "c1"), "unknown_kind", "kind 'clutser' is unknown; there are cluster, node_pool, node, component"),
    (event("cluster", "crate", "c1"), "unknown_trigger", "cluster has no trigger 'crate'; it has create, adopt, created"),
    (event("node", "remove", "c/p/n"), "derived", "remove is fired by the engine only"),
    (event("node", "create", "c/p"), "invalid", "the id 'c/p' does not fit node, whose ids are <cluster>/<pool>/<node>"),
    (altered(CREATE, type="cluster.created"), "invalid", "type is 'cluster.created', the subject says cluster.create"),
    (altered(CREATE, subject="cluster/c2"), "invalid", "subject is 'cluster/c2', the NATS subject says cluster/c1"),
    (altered(CREATE, sequence="many"), "invalid", "sequence must be a whole number of at most 18 digits, found 'many'"),
    (event("cluster", "create", "c1", {"reason": 5}), "invalid", "data.reason must be str, found int"),
    (event("cluster", "create", "c1", {"message": "x" * (MAX_TEXT + 1)}), "invalid", "data.message is longer than 4096 characters"),
    (event("cluster", "delete", "c1", {"cascade": 1}), "invalid", "data.cascade must be bool, found int"),
    (event("cluster", "create_failed", "c1", {"condition": "Bad"}), "invalid", "data.condition must be one of CreateError, LimitedByQuota, StockOut, Balance, found 'Bad'"),
    (event("cluster", "adopt", "c1"), "invalid", "data.phase is required: the phase it is in"),
    (event("cluster", "adopt", "c1", {"phase": "Deleted"}), "invalid", "data.phase must be one of Creating, "),
    (event("cluster", "adopt", "c1", {"phase": "Running", "conditions": "Ok"}), "invalid", "data.conditions must be a list of str"),
    (event("cluster", "adopt", "c1", {"phase": "Running", "conditions": ["Ok", "Ok"]}), "invalid", "data.conditions holds a value twice"),
])  # fmt: skip
def test_a_rejection_names_the_problem(sent: Sent, reason: str, says: str) -> None:
    found = refused(edge_worlds.KINDS, sent)
    assert found.reason == reason
    assert says in found.message


@pytest.mark.parametrize(("data", "says"), [
    ({"grams": 2**64}, "a whole number must have at most 64 bits"), ({"grams": -(2**63) - 1}, "a whole number must have at most 64 bits"),
    ({"grams": 1.0}, "data.grams must be int, found float"), ({"grams": True}, "data.grams must be int, found bool"), ({"worth": True}, "data.worth must be float, found bool"),
    ({"stamps": ["red", "green"]}, "data.stamps must be one of red, blue, found 'green'"), ({"stamps": "red"}, "data.stamps must be a list of str"),
    ({"stamps": [["red"]]}, "data.stamps must be str, found list"), ({"to": "x" * 4097}, "data.to is longer than 4096 characters"),
])  # fmt: skip
def test_attributes_have_their_types_and_limits(data: dict[str, Any], says: str) -> None:
    for encode in (codec.encode, codec.encode_json):
        sent = event("parcel", "send", "p")
        body = {**codec.decode(sent.body), "data": data}
        if encode is codec.encode_json or "64 bits" not in says:
            assert says in refused(PARCELS, Sent(sent.subject, encode(body))).message


def test_correct_attributes_are_kept_and_null_leaves_them() -> None:
    history = History(PARCELS)
    data = {"grams": 2**64 - 1, "worth": 1.5, "stamps": ["red", "blue"], "to": "é", "fragile": False}
    history.take(event("parcel", "send", "p", data))
    assert history.tree.entities["parcel"]["p"].attributes == data
    history.take(event("parcel", "weighed", "p", {"grams": 7, "to": None}))
    assert history.tree.entities["parcel"]["p"].attributes == {**data, "grams": 7}
    assert "data.where is required" in refused(PARCELS, event("parcel", "lost", "p")).message


FAMILIES = {"edge hosting": edge_worlds.KINDS, "orchard": sample_kinds.KINDS, "parcels": PARCELS}
family = pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))


def random_input(kinds: Kinds) -> st.SearchStrategy[Sent]:
    """Events of real kinds and triggers, with random data in the fields that these define."""
    names = sorted(
        {f.name for kind in kinds.values() for fields in kind.fields.values() for f in fields} | {"reason", "message"}
    )
    words = sorted(
        {option for kind in kinds.values() for fields in kind.fields.values() for f in fields for option in f.options}
    )
    values = VALUES | st.sampled_from(words or ["-"]) | st.lists(st.sampled_from(words or ["-"]), max_size=3)
    data = st.dictionaries(st.sampled_from(names), values, max_size=4) | MAPS
    kind = st.sampled_from(list(kinds.values()))
    return kind.flatmap(
        lambda found: st.builds(
            event,
            st.just(found.name),
            st.sampled_from(list(found.roles)),
            st.lists(st.sampled_from(["a", "b"]), min_size=found.arity, max_size=found.arity).map("/".join),
            data,
            sequence=st.none() | st.integers(-1, 9) | st.sampled_from(["3", "x"]),
        )
    )


JUNK = st.builds(
    Sent,
    st.text(max_size=30).map("pl.inbox.0.".__add__) | st.text(max_size=30),
    st.binary(max_size=60) | MAPS.map(codec.encode),
)
SPOILED = st.builds(
    lambda sent, at, byte: Sent(sent.subject, sent.body[:at] + byte + sent.body[at + 1 :]),
    random_input(edge_worlds.KINDS), st.integers(0, 80), st.binary(max_size=2),
)  # fmt: skip


def whole(kinds: Kinds, entity: Entity) -> Entity:
    """The entity with the facet that records leave out as long as nobody waits for its reporter."""
    return kinds[entity.kind].whole(entity)


@family
@given(data=st.data())
def test_no_input_raises(kinds: Kinds, data: st.DataObject) -> None:
    """Each event leads to records that can be written, read and published. A rejection keeps the first bytes."""
    history, processor = History(kinds), Processor(Tree(kinds, NoScripts()), SUBJECTS, 0)
    for sent in data.draw(st.lists(random_input(kinds) | JUNK | SPOILED, max_size=12)):
        step = history.take(sent)
        if isinstance(step.read, Rejection):
            assert step.read.reason in get_args(Reason)
            assert step.read.payload == sent.body[:MAX_PAYLOAD]
        for message, record in zip(processor.messages(step.records), step.records, strict=True):
            read = wire_codec.read(message.body)
            assert reading.read_entities([message.body]) == [entity_after(read)]
            assert (read if isinstance(read, Rejection) else replace(read, entity=whole(kinds, read.entity))) == record
            assert all(message.subject.split("."))
            evolve(processor.tree, record)
    assert processor.tree.entities == history.tree.entities


def test_the_arrival_alone_decides() -> None:
    sent = event(
        "node",
        "error",
        "c/p/n",
        {"reason": "Gone", "message": "since noon"},
        time="2026-03-02T08:00:00Z",
        sequence="12",
    )
    found = History(edge_worlds.KINDS).read(sent)
    assert isinstance(found, Arrival)
    assert (found.kind, found.trigger, found.id, found.sequence, found.time) == (
        "node",
        "error",
        "c/p/n",
        12,
        1_000_000_123,
    )
    assert (found.cause.source, found.cause.time_text) == ("/t", "2026-03-02T08:00:00Z")
    assert found.cause.event == codec.decode(sent.body)["id"]
    history = History(edge_worlds.KINDS)
    history.take(event("node", "adopt", "c/p/n", {"phase": "Running"}))
    record, *above = history.take(sent).records
    assert isinstance(record, Transition)
    assert (record.reason, record.message, record.cause.time_text) == ("Gone", "since noon", "2026-03-02T08:00:00Z")
    assert [one.entity.kind for one in above if isinstance(one, Transition)] == ["cluster", "node_pool"]
