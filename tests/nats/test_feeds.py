"""The feed of an installation in each format: what is stored and heard, and that it replays to the same.

Belongs here: both feeds, a change between them, and installations that earlier versions left in both formats at once.
Does not: JSON alone, which all others have.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from phaseline.schemas import codec, wire_codec
from phaseline.schemas.errors import SetupError
from phaseline.schemas.records import Cause, Entity, FacetState, Transition, state
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import (
    FEEDS,
    Feed,
    Installation,
    Layout,
    Settings,
    Wire,
    Worker,
    inspect,
    provision,
    until_decided,
)
from tests.support.json_copies import add_json_copies, keep_both
from tests.support.log_check import assert_log_is_the_fold, audited, committed, stored
from tests.support.own_installation import Client
from tests.support.owners import NO_EVENT, Message, Plan, purge, take_over
from tests.support.raising import raises
from tests.support.random_events import RandomEvents, Sent, publish
from tests.support.recorded_logs import Audit, FileLog, audit_of, exported
from tests.support.streams import read_headers

JSON, MSGPACK = "application/cloudevents+json", "application/cloudevents+msgpack"
LIMIT = 60
"""Seconds until a test gives up."""


@asynccontextmanager
async def at_work(wire: Wire, settings: Settings, feed: Feed | None) -> AsyncIterator[Layout]:
    """A worker that is told a feed, drained at the end."""
    stop = asyncio.Event()
    settings = replace(settings, partitions=2, feed=feed)
    worker = Worker(wire, settings, BUILT_IN_KINDS)
    running = asyncio.create_task(worker.run(stop))
    await worker.ready.wait()
    try:
        yield await inspect(wire, settings)
    finally:
        stop.set()
        await running


def morning(prefix: str) -> list[Sent]:
    fleet = RandomEvents(prefix)
    return [*fleet.built(2, 2), *fleet.life(120, 2, 2), fleet.event("cluster", "created", "c0")]


class Heard:
    """What arrives on the live feed, by its word behind the prefix: subject, content type and body."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.by_word: dict[str, list[tuple[str, str | None, bytes]]] = {}

    def take(self, subject: str, data: bytes, block: bytes | None, _: str) -> None:
        word, _, rest = subject.removeprefix(f"{self.prefix}.").partition(".")
        type_ = read_headers(block or b"").get("content-type")
        self.by_word.setdefault(word, []).append((f"{word}.{rest}", type_, data))

    def records(self) -> list[tuple[str, str | None, bytes]]:
        return [*self.by_word.get("transition", ()), *self.by_word.get("rejection", ())]


@asynccontextmanager
async def listening(wire: Wire, prefix: str) -> AsyncIterator[Heard]:
    heard = Heard(prefix)
    sids = [await wire.subscribe(f"{prefix}.{word}.>", heard.take) for word in ("transition", "rejection")]
    yield heard
    for sid in sids:
        await wire.unsubscribe(sid)


@pytest.mark.parametrize("feed", FEEDS)
async def test_it_is_heard_stored_and_replayed(wire: Wire, settings: Settings, feed: Feed, tmp_path: Path) -> None:
    async with listening(wire, settings.prefix) as heard:
        async with at_work(wire, settings, feed) as layout:
            assert layout.feed == feed
            await publish(wire, morning(settings.prefix))
            await until_decided(wire, layout)
        await wire.flush()
        log = [*await committed(wire, layout, 0), *await committed(wire, layout, 1)]
        fed = [one for one in log if ".mark." not in one.subject]
        async with asyncio.timeout(LIMIT):
            while len(heard.records()) < len(fed):
                await asyncio.sleep(0.05)
    assert {one.body[:1] == b"{" for one in log} == {feed == "json"}
    assert {type_ for _, type_, _ in heard.records()} == {JSON if feed == "json" else MSGPACK}
    assert sorted(body for _, _, body in heard.records()) == sorted(one.body for one in fed)
    states = await stored(wire, layout.state, [])
    assert {one.data[:1] == b"{" for one in states if ".checkpoint." not in one.subject} == {feed == "json"}
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)
    report = await audited(wire, layout)
    assert (report.holds, report.records, report.foreign) == (True, len(log), [])
    await exported(Installation(wire, layout, BUILT_IN_KINDS), tmp_path / "log.jsonl")
    audit = Audit(FileLog(tmp_path / "log.jsonl"), BUILT_IN_KINDS, None, None)
    assert ((await audit.run()).holds, audit.report.records) == (True, len(log))


async def test_all_feeds_lead_to_the_same_states(wire: Wire, settings: Settings) -> None:
    """Also where it changes while events come: every reader takes each record by its own format."""
    found = []
    mixed: tuple[Feed | None, ...] = ("json", "msgpack", None, "json")
    turns: list[tuple[Feed | None, ...]] = [(None,), ("msgpack",), mixed]
    for number, feeds in enumerate(turns):
        own = replace(settings, prefix=f"{settings.prefix}-{number}")
        events = morning(own.prefix)
        part = -(-len(events) // len(feeds))
        for turn, feed in enumerate(feeds):
            async with at_work(wire, own, feed) as layout:
                assert layout.feed == (feed or ("msgpack" if turn else "json"))
                await publish(wire, events[turn * part : (turn + 1) * part])
                await until_decided(wire, layout)
        assert (await audited(wire, layout)).holds
        async with Client.open(replace(own, partitions=2), kinds=BUILT_IN_KINDS) as client:
            found.append([[(one.kind, one.id, one.version, one.facets and [f.state for f in one.facets])
                           async for one in client.list(kind)] for kind in ("cluster", "node")])  # fmt: skip
            watched = [one async for one in client.watch(start="start", follow=False)]
            assert len({(one.entity.kind, one.entity.id, one.entity.version) for one in watched}) == len(watched)
    assert found[0] == found[1] == found[2]


async def test_copies_in_an_old_log_are_skipped(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    """An earlier version left records in msgpack with copies in JSON. The log goes on in JSON."""
    async with at_work(wire, settings, "msgpack") as layout:
        await publish(wire, morning(settings.prefix))
        await until_decided(wire, layout)
    copies = await add_json_copies(wire, layout)
    await keep_both(wire, layout)
    old = await inspect(wire, settings)
    assert (old.feed, copies > 100, (await audited(wire, old)).holds) == ("both", True, True)
    async with Client.open(replace(settings, partitions=2), kinds=BUILT_IN_KINDS) as client:
        before = [one async for one in client.list("node")]
    with raises(
        SetupError.feed_unknown, match=r"start a worker once with --feed json, or with --feed msgpack; programs that"
    ):
        await Worker(wire, settings, BUILT_IN_KINDS).run(asyncio.Event())
    async with at_work(wire, settings, "json") as layout:
        assert layout.feed == "json"
        fleet = RandomEvents(settings.prefix)
        await publish(wire, [fleet.event("cluster", "create", f"x{number}") for number in range(6)])
        await until_decided(wire, layout)
        async with Client.open(replace(settings, partitions=2), kinds=BUILT_IN_KINDS) as client:
            after = [one async for one in client.list("node")]
            watched = [one async for one in client.watch(start="start", follow=False)]
    assert [one.id for one in before] == [one.id for one in after]
    assert len({(one.entity.kind, one.entity.id, one.facet, one.entity.version) for one in watched}) == len(watched)
    report = await audited(wire, layout)
    assert (report.holds, report.foreign, report.entities > len(before)) == (True, [], True)
    await exported(Installation(wire, layout, BUILT_IN_KINDS), tmp_path / "log.jsonl")
    assert (await audit_of(tmp_path / "log.jsonl", BUILT_IN_KINDS)).holds


async def test_a_commit_that_was_begun_in_both_formats_is_not_finished(wire: Wire, settings: Settings) -> None:
    async with at_work(wire, settings, "msgpack") as layout:
        await publish(wire, morning(settings.prefix))
        await until_decided(wire, layout)
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    number = installation.partition_of("c0")
    claim = await take_over(installation, number, "former", BUILT_IN_KINDS.digest)
    piece = Message(installation.subjects.plan(number, 0), codec.encode({"messages": []}), NO_EVENT)
    await claim.append([piece], claim.position, Plan(claim.position + 1, 1, 0))
    await keep_both(wire, layout)
    with raises(
        SetupError.feed_unknown, match=f"a commit of partition {number} was begun under it and is not finished: start"
    ):
        await Worker(wire, replace(settings, feed="json"), BUILT_IN_KINDS).run(asyncio.Event())
    assert (await inspect(wire, settings)).feed == "both"
    await claim.append([], claim.position)
    async with at_work(wire, settings, "json") as left:
        assert left.feed == "json"


async def test_a_purge_erases_copies_of_rejections(wire: Wire, settings: Settings) -> None:
    async with at_work(wire, settings, "msgpack") as layout:
        await wire.publish_acked(f"{layout.prefix}.events.c1.cluster.create", b"{private")
        await until_decided(wire, layout)
        assert await add_json_copies(wire, layout)
        installation = Installation(wire, layout, BUILT_IN_KINDS)
        found = await purge.find(installation, "cluster", "c1")
        assert len(found.rejections) == 2
        await purge.run(installation, found, "me")
        left = [one.data for one in await stored(wire, layout.log, [])]
        assert not any(b"private" in body or b"e3ByaXZhdGU" in body for body in left)


async def test_the_installation_keeps_its_feed(wire: Wire, settings: Settings) -> None:
    first = await provision(wire, replace(settings, feed="json"))
    assert first.feed == (await provision(wire, settings)).feed == (await inspect(wire, settings)).feed == "json"
    assert (await provision(wire, replace(settings, feed="msgpack"))).feed == "msgpack"
    assert (await inspect(wire, settings)).feed == "msgpack"
    config = (await wire.api(f"STREAM.INFO.{first.events}"))["config"]
    assert config["metadata"].pop("phaseline.feed") == "msgpack"
    await wire.api(f"STREAM.UPDATE.{first.events}", config)
    assert (await inspect(wire, settings)).feed == "msgpack"
    config["metadata"]["phaseline.feed"] = "yaml"
    await wire.api(f"STREAM.UPDATE.{first.events}", config)
    with raises(SetupError.feed_unknown, match="the installation's feed is 'yaml'"):
        await inspect(wire, settings)


async def test_a_loss_is_in_the_format_of_the_feed(wire: Wire, settings: Settings) -> None:
    async with at_work(wire, settings, "json") as layout:
        await publish(wire, morning(settings.prefix))
        await until_decided(wire, layout)
    fleet = RandomEvents(settings.prefix)
    await publish(wire, [fleet.event("cluster", "create", f"x{number}") for number in range(6)])
    await wire.api(f"STREAM.PURGE.{layout.events}")
    async with at_work(wire, settings, None), asyncio.timeout(LIMIT):
        while not (found := await stored(wire, layout.log, [f"{layout.prefix}.log.*.loss.>"])):
            await asyncio.sleep(0.05)
        assert all(json.loads(one.data)["type"] == "partition.lost" for one in found)
    assert len((await audited(wire, layout)).losses) >= len(found)


def test_what_json_does_not_hold_stays_msgpack() -> None:
    for value, holds in (({"a": [1, 2.5, None, "x", {"b": True}]}, True), ({"a": b"x"}, False), ([float("nan")], False),
                         ({"a": [float("inf")]}, False), ({1: 2}, False), ((1, "a"), True)):  # fmt: skip
        assert codec.json_holds(value) is holds, value
    body = codec.encode({"a": b"x"})
    assert json.loads(codec.as_json(body)) == {"a": "eA=="}
    assert (
        wire_codec.read_id(b'{"id":"4-0","data":{"id":1}}') == wire_codec.read_id(codec.encode({"id": "4-0"})) == "4-0"
    )
    for none in (b"", b"{", b'{"id":4}', codec.encode({"id": 4}), codec.encode([1]), b"\x91" * 5_000):
        with pytest.raises(ValueError, match=r"."):
            wire_codec.read_id(none)


def with_attributes(attributes: dict[str, object]) -> Transition:
    cause, phase = Cause(1, "e", "/x", "event"), state("Running", ("Ok",))
    entity = Entity("cluster", "c1", 1, ("phase",), (FacetState(phase, phase, 1_000),), attributes, {})
    return Transition("phase", None, phase, "adopt", None, None, cause, entity, 1_000)


def test_a_record_that_json_does_not_hold_is_read_as_it_was() -> None:
    rows: list[tuple[dict[str, object], bool]] = [
        ({"a": {"b": "x"}}, True),
        ({"a": {"b": b"x"}}, False),
        ({"a": "\x00" * 200_000}, False),
    ]
    for attributes, as_json in rows:
        record = with_attributes(attributes)
        body = wire_codec.write(record, 0, 1, "phaseline/pl", as_json=True)
        assert (body[:1] == b"{", wire_codec.read(body)) == (as_json, record)
