"""Dry runs against a real server: a dry run predicts the records of an event and stores nothing.

Belongs here: `dry_run` against a real server. Does not: how the command shows it (`test_cli_dry_run`).
"""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from phaseline import Outcome
from phaseline.engine.publish import outcomes, single
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.replay.dry_run import dry_run
from phaseline.engine.surfaces.testing import random_events
from phaseline.machines.built_in import BUILT_IN, PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.contact import HEARD_AT
from phaseline.schemas import codec
from phaseline.schemas.errors import EventRefused, SetupError
from phaseline.schemas.records import Mark, State, timestamp
from tests.support import edge_worlds, sample_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.guarded_server import as_user
from tests.support.installation import Installation, Layout, Settings, Wire, Worker, provision
from tests.support.log_check import stored
from tests.support.own_installation import Client, Session
from tests.support.raising import raises
from tests.support.state_stream import copied
from tests.support.strategies import History, Sent, event, random_event

FAMILIES = {"edge hosting": edge_worlds.KINDS, "orchard": sample_kinds.KINDS}
EVENTS = 55


@pytest_asyncio.fixture(params=FAMILIES)
async def family(request: pytest.FixtureRequest, settings: Settings, wire: Wire) -> AsyncIterator[Client]:
    """A client of an installation where a worker works, with each family of kinds."""
    kinds, settings = FAMILIES[request.param], replace(settings, partitions=3)
    stop, worker = asyncio.Event(), Worker(wire, settings, kinds)
    working = asyncio.create_task(worker.run(stop))
    await worker.ready.wait()
    async with Client.open(settings, source="/test", kinds=kinds) as opened:
        yield opened
    stop.set()
    await working


def outgoing(sent: Sent, prefix: str, number: int) -> EventMessage:
    """The event of a random history, as a publisher would send it."""
    subject = sent.subject.replace("pl.inbox.0.", f"{prefix}.events.", 1)
    return EventMessage(subject, sent.body, f"m{number}", "e", "/t")


async def happen(wire: Wire, layout: Layout, message: EventMessage) -> Outcome:
    root = message.subject.split(".")[2]
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    async with outcomes.follow(installation, root) as reader:
        receipt = await single.publish(wire, message, 5)
        assert not receipt.duplicate
        return await outcomes.outcome(reader, Installation(wire, layout, BUILT_IN_KINDS), receipt, 10)


def timeless(body: dict[str, Any]) -> Any:
    """A record on the wire without the moment at which the server stored its cause, and what is counted from that."""
    entity = body["data"].get("entity", {})
    return _without({**body, "data": {**body["data"], "entity": {**entity, "timers": None}}}, body["time"])


def _without(value: Any, time: str, of: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _without(inner, time, name) for name, inner in value.items()}
    return "now" if (timestamp(value) if of in (HEARD_AT, "at_ns") else value) == time else value


async def test_a_dry_run_predicts_the_records(family: Client, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """The law: for random histories, the same records byte for byte except the time; or one rejection; or none."""
    monkeypatch.setitem(random_events.SAMPLES, float, (1_800.0, 9_000.0))  # no timer fires between the two
    layout, dice = await family._session.layout(), random.Random(7)
    guide = History(family.kinds)
    seen: set[tuple[str, str]] = set()
    for number in range(EVENTS):
        sent = random_event(guide, dice.randbytes(24))
        guide.take(sent)
        message = outgoing(sent, layout.prefix, number)
        await copied(wire, layout)
        told = await dry_run(Installation(wire, layout, family.kinds), message)
        outcome = await happen(wire, layout, message)
        assert (told.behind, told.table_differences) == (False, "")
        assert told.sequence == outcome.receipt.sequence
        assert told.effect == outcome.effect
        said = [timeless(codec.decode(found.body)) for found in told.messages]
        assert [body for body in said if not body["type"].endswith(".marked")] == [
            timeless(found.wire) for found in outcome.records
        ]
        assert tuple(record.trigger for record in told.transitions) == tuple(r.trigger for r in outcome.transitions)
        mark = any(isinstance(record, Mark) for record in told.records)
        seen.add((told.effect, "marked" if mark else "repeat" if told.repeat else ""))
    assert seen >= {("transitions", ""), ("rejection", ""), ("none", "marked"), ("none", "repeat"), ("none", "")}


async def test_nothing_is_written(client: Client, wire: Wire) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    layout = await client._session.layout()

    async def held() -> list[Any]:
        records = (f"{layout.prefix}.log.*.*.>", f"{layout.prefix}.mark.*.transition.mark.>", f"{layout.prefix}.plan.>")
        return [
            await stored(wire, layout.events, []),
            *[await stored(wire, layout.log, [filter_]) for filter_ in records],
        ]

    await copied(wire, layout)
    before = await held()
    first = await client.dry_run("cluster", "delete", "c1")
    assert first.effect == "transitions"
    assert await client.dry_run("cluster", "delete", "c1", event_id="other") != first
    assert await held() == before


@pytest.mark.parametrize("known", ["a state", "a mark"])
async def test_a_repeat_is_told_from_what_is_so_already(client: Client, wire: Wire, known: str) -> None:
    trigger = "created" if known == "a mark" else "error"
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    await client.publish_and_wait("cluster", trigger, "c1", source="/a", sequence=5)
    await copied(wire, await client._session.layout())
    again = await client.dry_run("cluster", "overdue", "c1", source="/a", sequence=5)
    assert (again.effect, again.repeated.startswith("number "), again.records) == ("none", True, ())
    assert again.entity is not None
    assert again.entity.sequences == {"/a": 5}
    assert (await client.dry_run("cluster", "overdue", "c1", source="/b", sequence=5)).effect == "transitions"
    assert not (await client.dry_run("cluster", trigger, "c1", source="/b")).repeat


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (("cloister", "create", "c1"), "unknown_kind"),
        (("cluster", "crate", "c1"), "unknown_trigger"),
        (("node", "remove", "c1/p/n"), "derived"),
        (("cluster", "create", "c1/p"), "invalid"),
        (("node", "create", "c1/p/n"), "unknown_parent"),
        (("cluster", "delete", "c.1 *>"), "illegal"),
    ],
)
async def test_what_would_be_refused(client: Client, event: tuple[str, str, str], reason: str) -> None:
    told = await client.dry_run(*event)
    assert told.effect == "rejection"
    assert told.rejection is not None
    assert told.rejection.reason == reason
    assert told.entity is None


async def test_an_unsendable_event_has_no_dry_run(client: Client) -> None:
    with raises(EventRefused.unsendable, match="empty part"):
        await client.dry_run("cluster", "create", "c1//p")


@pytest.mark.usefixtures("small_batches")
async def test_a_cascade_larger_than_a_batch(client: Client, wire: Wire) -> None:
    nodes = 110
    await client.publish("cluster", "adopt", "c1", {"phase": "Running"})
    await client.publish_many(
        {
            "specversion": "1.0", "id": str(n), "source": "/x", "type": "node.adopt", "subject": f"node/c1/p/n{n}",
            "data": {"phase": "Running"},
        }
        for n in range(nodes)
    )  # fmt: skip
    await client.publish_and_wait("cluster", "error", "c2")
    await client.publish_and_wait("component", "adopt", "c1/last", {"phase": "Running"}, timeout=30)
    await copied(wire, await client._session.layout())
    read: list[int] = []
    told = await client.dry_run("cluster", "delete", "c1", progress=read.append)
    assert {t.cause.by for t in told.transitions} == {"event", "cascade"}
    assert {t.entity.id.partition("/")[0] for t in told.transitions} == {"c1"}
    assert len(told.transitions) == len(told.messages) == nodes + 3 == read[-1]


async def test_a_kind_that_is_not_installed_here(client: Client, wire: Wire) -> None:
    await client.publish_and_wait("component", "adopt", "c1/dns", {"phase": "Running"})
    layout = await client._session.layout()
    await copied(wire, layout)
    message = outgoing(event("orchard", "plant", "c1"), layout.prefix, 1)
    with raises(SetupError.kind_missing, match=r"kind 'c(luster|omponent)', which is not installed here"):
        await dry_run(Installation(wire, layout, sample_kinds.KINDS), message)


async def test_tables_that_differ_from_the_installation_s_are_named(client: Client, wire: Wire) -> None:
    more = Kinds((*BUILT_IN, *(kind.written for kind in sample_kinds.KINDS.values())), products=PRODUCTS)
    await client.publish_and_wait("cluster", "create", "c1")
    layout = await client._session.layout()
    message = outgoing(event("cluster", "created", "c1"), layout.prefix, 1)
    assert (
        await dry_run(Installation(wire, layout, more), message)
    ).table_differences == "new: fruit, ladder, orchard, row"
    assert (await dry_run(Installation(wire, layout, BUILT_IN_KINDS), message)).table_differences == ""


async def test_events_that_are_still_to_be_decided_are_told_of(settings: Settings, wire: Wire) -> None:
    await provision(wire, replace(settings, partitions=2))
    client = Client(Session(wire, settings, edge_worlds.KINDS, "/test"))
    assert (await client.dry_run("cluster", "create", "c1")).behind is False
    await client.publish("cluster", "create", "c1")
    told = await client.dry_run("cluster", "create", "c1")
    assert (told.behind, told.effect, told.sequence) == (True, "transitions", 2)
    assert (await client.dry_run("cluster", "create", "c2")).behind is False


async def test_a_reader_of_all_streams_may_do_a_dry_run(guarded: str) -> None:
    """As docs/security.md says; nothing need be published for it."""
    async with Client.open(
        Settings(nats=(as_user("reader", guarded),), inbox_prefix="_INBOX_reader"), source="/me"
    ) as client:
        told = await client.dry_run("node", "not_ready", "c1/p/n1")
    assert told.behind is None
    assert [(t.entity.kind, t.after) for t in told.transitions] == [
        ("node", State("Failed", ("NotReady",))), ("cluster", State("Failed", ("AllFailed",))), ("node_pool", State("Failed", ("AllFailed",))),
    ]  # fmt: skip
