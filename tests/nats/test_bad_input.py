"""Every sort of bad input on the real server: each ends as a rejection, and the worker lives (docs/bad-input.md)."""

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from phaseline.schemas import codec
from phaseline.schemas.errors import NoSuchStream
from phaseline.schemas.records import MAX_PAYLOAD
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.installation import Layout, Settings, Wire, inspect
from tests.support.log_check import assert_log_is_the_fold, rejections, stored
from tests.support.random_events import RandomEvents, Sent, publish


@pytest_asyncio.fixture
async def layout(working: Settings, wire: Wire) -> Layout:
    """An installation with a worker."""
    return await inspect(wire, working)


def envelope(type_: str = "node.ready", **attributes: object) -> bytes:
    body = {"specversion": "1.0", "id": "1", "source": "/x", "type": type_, **attributes}
    return codec.encode({name: value for name, value in body.items() if value is not None})


NODE = "c9.node.ready.p.n1"
ROWS = [
    # subject tail body reason the rejection says
    (NODE, b"", "undecodable", "empty"),
    (NODE, b"\xc1\xc1", "undecodable", "msgpack"),
    (NODE, b"{not json", "undecodable", "JSON"),
    (NODE, b'["a list"]', "undecodable", "JSON: expected a map, found list"),
    (NODE, b"node is ready", "undecodable", "a text that is neither JSON nor msgpack: it begins with 'node is ready'"),
    (NODE, b"\x93\x01\x02\x03", "undecodable", "expected a map"),
    (NODE, b"\x81" * 5_000, "undecodable", "msgpack"),
    (NODE, b'{"a":' * 5_000, "undecodable", "JSON"),
    (NODE, envelope() + b"\x00", "undecodable", "followed by more"),
    (NODE, envelope(id=None), "invalid", "id"),
    (NODE, envelope(id=""), "invalid", "id"),
    (NODE, envelope(source=7), "invalid", "source"),
    (NODE, envelope(specversion="0.3"), "invalid", "specversion"),
    (NODE, envelope(schemaversion=99), "invalid", "schemaversion"),
    (NODE, envelope(time="yesterday"), "invalid", "time"),
    (NODE, envelope(time="2026-01-01T00:00:00"), "invalid", "offset"),
    (NODE, envelope(sequence="seven"), "invalid", "sequence"),
    (NODE, envelope(sequence=-1), "invalid", "sequence"),
    (NODE, envelope("node.created"), "invalid", "type"),
    (NODE, envelope(subject="node/other"), "invalid", "subject"),
    (NODE, envelope(data="text"), "invalid", "data"),
    (NODE, envelope(data={"reason": 5}), "invalid", "data.reason"),
    (NODE, envelope(data={"message": "x" * 5_000}), "invalid", "data.message"),
    ("c9.cluster.create_failed", envelope("cluster.create_failed", data={"condition": "Odd"}), "invalid", "StockOut"),
    ("c9.node_pool.create.p", envelope("node_pool.create", data={"default": "yes"}), "invalid", "data.default"),
    ("c9.node.adopt.p.n", envelope("node.adopt"), "invalid", "data.phase"),
    ("c9.node.adopt.p.n", envelope("node.adopt", data={"phase": "Failed"}), "invalid", "no row"),
    ("c9.node.ready.p", envelope(), "invalid", "<cluster>/<pool>/<node>"),
    ("c9.node.ready.p.n.x", envelope(), "invalid", "<cluster>/<pool>/<node>"),
    ("c9.node.ready.p.n%31", envelope(), "invalid", "encoded"),
    ("c9.node.ready.p.n%00", envelope(), "invalid", "control"),
    ("c9.node.ready.p.n%ff", envelope(), "invalid", "UTF-8"),
    ("c9.node.ready.p.n\udcff", envelope(), "invalid", "UTF-8"),
    ("c9\udcff.moon\udcfe.zap", envelope(), "invalid", "UTF-8"),
    ("c9.moon\udcfe.zap", envelope(), "unknown_kind", "cluster"),
    ("c9.node.ready.p." + "n" * 300, envelope(), "invalid", "longer"),
    ("c9.node", envelope(), "invalid", "<root>.<kind>.<trigger>"),
    ("c9.moon.ready", envelope("moon.ready"), "unknown_kind", "cluster"),
    ("c9.node.zap.p.n1", envelope("node.zap"), "unknown_trigger", "cordon"),
    ("c9.node.remove.p.n1", envelope("node.remove"), "derived", "engine"),
    ("c9.node.owner_gone.p.n1", envelope("node.owner_gone"), "derived", "engine"),
    ("c9.node.create.p.n1", envelope("node.create"), "unknown_parent", "node_pool c9/p"),
    ("c9.cluster.update", envelope("cluster.update"), "illegal", "Absent"),
    ("c9.cluster.created", envelope("cluster.created"), "illegal", "Absent"),
]  # fmt: skip


async def test_bad_input_is_rejected_with_its_reason(wire: Wire, layout: Layout) -> None:
    fleet = RandomEvents(layout.prefix)
    bad = [Sent(f"{layout.prefix}.events.{tail}", body, f"bad{n}") for n, (tail, body, _, _) in enumerate(ROWS)]
    good = list(fleet.cluster("good", 2))
    await publish(wire, [*bad, *good])
    found = {
        rejection.cause.sequence: rejection for rejection in await rejections(wire, layout, sent=len(bad) + len(good))
    }
    assert len(found) == len(ROWS)
    for sequence, (tail, body, reason, says) in enumerate(ROWS, 1):
        rejection = found[sequence]
        assert (tail, rejection.reason) == (tail, reason), rejection.message
        assert says in rejection.message
        if reason == "undecodable":
            assert rejection.payload == body[:MAX_PAYLOAD]
    await assert_log_is_the_fold(wire, layout, KINDS)


async def test_an_illegal_intent_names_the_state_and_what_is_legal(wire: Wire, layout: Layout) -> None:
    fleet = RandomEvents(layout.prefix)
    await publish(wire, [*fleet.cluster("c1", 1), fleet.event("node", "start", "c1/p/n0")])
    (found,) = await rejections(wire, layout, sent=9)
    assert found.reason == "illegal"
    assert found.state is not None
    assert str(found.state["phase"]) == "Running [Ok]"
    assert {"cordon", "stop", "delete", "not_ready"} <= set(found.legal)
    assert "start" not in found.legal


async def test_a_guard_says_what_it_needs(wire: Wire, layout: Layout) -> None:
    fleet = RandomEvents(layout.prefix)
    script = [*fleet.cluster("c1", 0), fleet.event("node_pool", "adopt", "c1/plain", phase="Running")]
    script += [fleet.event("node", "adopt", "c1/plain/n", phase="Running"), fleet.event("node", "stop", "c1/plain/n")]
    await publish(wire, script)
    (found,) = await rejections(wire, layout, sent=len(script))
    assert (found.reason, found.message) == (
        "guard",
        "node c1/plain/n is Running [Ok]: the node_pool's autoscaling_mode is not set, stop needs Recycle",
    )


async def test_the_server_refuses_a_subject_without_kind(wire: Wire, layout: Layout) -> None:
    with pytest.raises(NoSuchStream):
        await wire.publish_acked(f"{layout.prefix}.events.c1", envelope())


WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters=" "), min_size=1, max_size=12)
TOKENS = st.one_of(st.sampled_from(["c1", "node", "cluster", "ready", "create", "p", "n%2E1", "%", "%zz", "*x"]), WORDS)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["id", "source", "type", "specversion", "subject", "time", "sequence", "data", "schemaversion"])
MUTATED = st.dictionaries(NAMES, VALUES, max_size=3).map(lambda odd: {**codec.decode(envelope()), **odd})


@st.composite
def _bodies(draw: st.DrawFn) -> bytes:
    body = draw(st.one_of(st.binary(max_size=64), MUTATED.map(codec.encode)))
    if body and draw(st.booleans()):
        at = draw(st.integers(0, len(body) - 1))
        body = body[:at] + draw(st.binary(max_size=3)) + body[at + draw(st.integers(0, 3)) :]
    return body


def _publishable(tail: str) -> bool:
    """What the server itself lets into a subject."""
    return all(tail.split(".")) and not any(token in ("*", ">") for token in tail.split(".")) and tail.isprintable()


BAD = st.tuples(st.lists(TOKENS, min_size=2, max_size=6).map(".".join).filter(_publishable), _bodies())


@pytest.mark.parametrize("count", [200, pytest.param(40_000, marks=pytest.mark.slow)])
async def test_nothing_random_stops_a_worker(wire: Wire, layout: Layout, count: int) -> None:
    """Hundreds of random and mutated payloads and subjects, valid events among them."""
    collected: list[tuple[str, bytes]] = []

    @hypothesis_settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(BAD)
    def collect(bad: tuple[str, bytes]) -> None:
        collected.append(bad)

    collect()
    assert len(collected) >= count * 4 // 5
    fleet = RandomEvents(layout.prefix)
    bad = [Sent(f"{layout.prefix}.events.{tail}", body, f"bad{n}") for n, (tail, body) in enumerate(collected)]
    good = list(fleet.cluster("good", 10))
    step = len(bad) // len(good)
    script = [event for n, one in enumerate(good) for event in (*bad[n * step : (n + 1) * step], one)]
    await publish(wire, script)
    found = await rejections(wire, layout, sent=len(script))
    assert len(found) == len(script) - len(good)
    assert await assert_log_is_the_fold(wire, layout, KINDS) >= len(found) + len(good)
    state = await stored(wire, layout.state, [f"{layout.prefix}.state.*.node.good.>"])
    assert [codec.decode(m.data)["data"]["to"]["state"] for m in state] == ["Running"] * 10
