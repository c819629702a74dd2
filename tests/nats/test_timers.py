"""Timers that are set, cancelled, void or survive a restart: on the real server, and in the core with given times."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import Above, AnyBelow
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, DELETED, SAME, Facet, Field, Label, Row, Table, Timeout, View
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Rejection, State, Transition, nanoseconds
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import (
    EmbeddedServer,
    Installation,
    Layout,
    Settings,
    Wire,
    inspect,
    until_decided,
    working,
)
from tests.support.log_check import assert_log_is_the_fold, stored
from tests.support.owners import Message, Processor, Tree, checkpoint
from tests.support.random_events import RandomEvents, Sent, publish
from tests.support.recorded_logs import (
    Clock,
    ServerLog,
    Span,
    StoredEvent,
    audit_of,
    export,
    import_log,
)
from tests.support.streams import last_message_from_leader

SECOND = 1_000_000_000
FACET = Facet(
    name="phase",
    sticky=("Late",),
    labels=(
        Label("Waiting", "Ok", "Waiting"),
        Label("Waiting", "Late", "Late"),
        Label("Busy", "Ok", "Busy"),
        Label("Blocked", "Ok", "Blocked"),
        Label("Lost", "Ok", "Lost"),
    ),
    rows=(
        Row((ABSENT, DELETED), "order", "Waiting", assigns=True),
        Row(("Waiting",), "begin", "Busy"),
        Row(("Busy", "Lost"), "pause", "Waiting"),
        Row(("Waiting",), "late", SAME, sets="Late"),
        Row(("Busy",), "lose", "Lost"),
        Row(("Waiting", "Busy", "Lost"), "drop", DELETED),
    ),
    views=(View("Blocked", (Above("depot", ("Closed",)),), base=("Busy",)),),
    timeouts=(Timeout("Waiting", "late", seconds_from="patience"), Timeout("Busy", "lose", seconds=0.3)),
)
JOB = Table(
    kind="job",
    id=("depot", "job"),
    parent="depot",
    intents=("order", "begin", "pause", "drop"),
    derived=("late", "lose"),
    attributes=(Field("patience", float, "seconds it may wait; 0 is for ever", default=0.2),),
    facets=(FACET,),
)
DEPOT = Table(
    kind="depot",
    id=("depot",),
    intents=("open", "close"),
    facets=(
        Facet(
            name="phase",
            healthy="Open",
            adopted=State("Open", ("Ok",)),
            labels=(
                Label("Open", "Ok", "Open"),
                Label("Closed", "Ok", "Closed"),
                Label("Worried", "Ok", "Worried"),
            ),
            rows=(Row((ABSENT, "Closed"), "open", "Open"), Row(("Open",), "close", "Closed")),
            views=(View("Worried", (AnyBelow("depot", "job", ("Lost",)),), base=("Open",)),),
        ),
    ),
)

KINDS = Kinds((DEPOT, JOB), products=PRODUCTS)


# ---- the core


class Story:
    """Events given to the core at times of one's own."""

    def __init__(self) -> None:
        self.processor = Processor(Tree(KINDS, NoScripts()), Subjects("pl"), 0)
        self.number = 0

    def event(self, at: float, kind: str, trigger: str, entity_id: str, **data: object) -> list[Message]:
        self.number += 1
        body = {"specversion": "1.0", "id": str(self.number), "source": "/t", "type": f"{kind}.{trigger}", "data": data}
        subject = self.processor.subjects.event(kind, trigger, entity_id).replace("pl.events", "pl.inbox.0")
        return self._process(subject, codec.encode(body), at)

    def fire(self, at: float, timer: Message) -> list[Message]:
        """What the server makes of a schedule that is due."""
        self.number += 1
        target = dict(timer.headers)["Nats-Schedule-Target"]
        return self._process(target.replace("pl.fired", "pl.due.0"), timer.body, at)

    def _process(self, subject: str, body: bytes, at: float) -> list[Message]:
        return self.processor.process([StoredEvent(subject, body, self.number, int(at * SECOND))], 0).messages


def due(timer: Message) -> float:
    return nanoseconds(dict(timer.headers)["Nats-Schedule"].removeprefix("@at ")) / SECOND


def only(messages: list[Message]) -> Transition:
    (message,) = messages
    record = wire_codec.read(message.body)
    assert isinstance(record, Transition)
    return record


def began() -> tuple[Story, Message]:
    story = Story()
    story.event(0, "depot", "open", "d")
    _, timer = story.event(10, "job", "order", "d/1", patience=5.0)
    assert timer.subject == "pl.timer.0.job.phase.d.1"
    return story, timer


def test_a_state_that_lasts_fires() -> None:
    story, timer = began()
    assert due(timer) == 15
    fired = only(story.fire(15.1, timer))
    assert (fired.trigger, fired.cause.by, fired.cause.origin) == ("late", "timer", "job/d/1")
    assert fired.after == State("Waiting", ("Late",))
    assert fired.entity.timers_ns == {}
    assert story.fire(15.2, timer) == []


def test_leaving_cancels_and_sets_anew() -> None:
    story, waiting = began()
    moved, busy = story.event(12, "job", "begin", "d/1")
    assert (moved.headers, due(busy)) == ((), 12.3)
    assert story.fire(15, waiting) == []
    lost, worried = story.fire(12.4, busy)
    assert only([lost]).after.phase == "Lost"
    record = only([worried])
    assert (record.entity.id, record.after.phase, record.cause.by) == ("d", "Worried", "tally")


def test_leaving_without_a_successor_cancels() -> None:
    story, _ = began()
    (gone,) = story.event(12, "job", "drop", "d/1")
    assert dict(gone.headers) == {"Nats-Schedule-Next": "purge", "Nats-Scheduler": "pl.timer.0.job.phase.d.1"}


def test_coming_back_is_another_stay() -> None:
    story, first = began()
    story.event(11, "job", "begin", "d/1")
    _, second = story.event(12, "job", "pause", "d/1")
    assert (due(first), due(second)) == (15, 17)
    assert story.fire(15, first) == []
    assert only(story.fire(17, second)).trigger == "late"


def test_never() -> None:
    story = Story()
    story.event(0, "depot", "open", "d")
    assert len(story.event(1, "job", "order", "d/1", patience=0.0)) == 1


def test_a_view_starts_and_ends_it_too() -> None:
    story, _ = began()
    story.event(11, "job", "begin", "d/1")
    _, blocked = story.event(11.1, "depot", "close", "d")
    assert "Blocked" in blocked.subject
    assert dict(blocked.headers)["Nats-Scheduler"] == "pl.timer.0.job.phase.d.1"
    *_, timer = story.event(20, "depot", "open", "d")
    assert due(timer) == 20.3


def test_the_last_word_in_a_commit_counts() -> None:
    story, _ = began()
    events = []
    for number, trigger in enumerate(("begin", "pause", "begin", "pause"), 50):
        body = {"specversion": "1.0", "id": str(number), "source": "/t", "type": f"job.{trigger}"}
        events.append(StoredEvent(f"pl.inbox.0.d.job.{trigger}.1", codec.encode(body), number, number * SECOND))
    batch = story.processor.process(events, 0)
    assert [message.subject.split(".")[1] for message in batch.messages] == ["log"] * 4 + ["timer"]
    assert due(batch.messages[-1]) == 58
    assert not any(message.headers for message in batch.messages[:4])


def test_nobody_outside_fires_a_timer() -> None:
    story, timer = began()
    for subject in ("pl.inbox.0.d.job.late.1",):
        (answer,) = story._process(subject, timer.body, 20)
        record = wire_codec.read(answer.body)
        assert isinstance(record, Rejection)
        assert record.reason == "derived"


def test_a_timer_that_the_tables_know_no_longer_is_rejected() -> None:
    story, timer = began()
    body = codec.decode(timer.body)
    odd = codec.encode({**body, "data": {"facet": "mood", "due": 1}})
    (answer,) = story._process("pl.due.0.d.job.late.1", odd, 20)
    record = wire_codec.read(answer.body)
    assert isinstance(record, Rejection)
    assert "no timer of job fires late" in record.message


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ((Timeout("Nowhere", "late", 1),), "no state can last in phase"),
        ((Timeout(DELETED, "late", 1),), "no state can last in phase"),
        ((Timeout("Waiting", "late", 1), Timeout("Waiting", "lose", 2)), "this phase has two timeouts"),
        ((Timeout("Waiting", "begin", 1),), "add it to `derived`"),
        ((Timeout("Waiting", "late"),), "write either seconds above 0"),
        ((Timeout("Waiting", "late", 3, "patience"),), "write either seconds above 0"),
        ((Timeout("Waiting", "late", seconds_from="mood"),), "is not an attribute with a number"),
    ],
)
def test_wrong_tables(after: tuple[Timeout, ...], said: str) -> None:
    with pytest.raises(WrongTable, match=said):
        Kinds((DEPOT, replace(JOB, facets=(replace(FACET, timeouts=after),))), products=PRODUCTS)


# ---- the real server


@pytest_asyncio.fixture
async def layout(settings: Settings, wire: Wire) -> AsyncIterator[Layout]:
    async with working(settings, wire, KINDS, partitions=2) as made:
        yield made


async def until_logged(wire: Wire, layout: Layout, state: str, count: int) -> list[Transition]:
    """Wait until so many jobs went into that state."""
    async with asyncio.timeout(60):
        while True:
            filter_ = f"{layout.prefix}.log.*.transition.job.phase.{state}.>"
            found = [wire_codec.read(m.data) for m in await stored(wire, layout.log, [filter_])]
            records = [record for record in found if isinstance(record, Transition) and record.cause.by == "timer"]
            if len(records) >= count:
                return records
            await asyncio.sleep(0.05)


def jobs(fleet: RandomEvents, count: int, **data: object) -> list[Sent]:
    return [fleet.event("depot", "open", "d"), *(fleet.event("job", "order", f"d/{n}", **data) for n in range(count))]


async def test_it_fires_by_itself(wire: Wire, layout: Layout) -> None:
    fleet = RandomEvents(layout.prefix)
    await publish(wire, [*jobs(fleet, 2), fleet.event("job", "begin", "d/1")])
    (late,) = await until_logged(wire, layout, "Waiting", 1)
    (lost,) = await until_logged(wire, layout, "Lost", 1)
    assert (late.entity.id, late.after.conditions, lost.entity.id) == ("d/0", ("Late",), "d/1")
    await until_decided(wire, layout)
    assert await stored(wire, layout.log, [f"{layout.prefix}.timer.>"]) == []
    await assert_log_is_the_fold(wire, layout, KINDS)


async def test_names_may_have_any_characters(wire: Wire, layout: Layout) -> None:
    fleet, names = RandomEvents(layout.prefix), ["d/节点-3", "d/é.1 🙂", "d/last"]
    await publish(wire, [fleet.event("depot", "open", "d"), *(fleet.event("job", "order", name) for name in names)])
    assert sorted(record.entity.id for record in await until_logged(wire, layout, "Waiting", 3)) == sorted(names)
    await publish(wire, [fleet.event("job", "drop", name) for name in names])
    await until_decided(wire, layout)
    assert await stored(wire, layout.log, [f"{layout.prefix}.timer.>"]) == []
    await assert_log_is_the_fold(wire, layout, KINDS)


async def test_a_cancelled_one_does_not(wire: Wire, layout: Layout) -> None:
    fleet = RandomEvents(layout.prefix)
    await publish(wire, [*jobs(fleet, 3, patience=30.0), fleet.event("job", "drop", "d/1")])
    await until_decided(wire, layout)
    left = await stored(wire, layout.log, [f"{layout.prefix}.timer.>"])
    assert [message.subject.rsplit(".", 1)[1] for message in left] == ["0", "2"]
    await publish(wire, [fleet.event("job", "drop", "d/0"), fleet.event("job", "drop", "d/2")])
    await until_decided(wire, layout)
    assert await stored(wire, layout.log, [f"{layout.prefix}.timer.>"]) == []


@pytest.mark.usefixtures("small_batches")
async def test_more_at_once_than_a_small_batch_holds(wire: Wire, layout: Layout) -> None:
    await more_at_once(wire, layout, 110)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1_100, 2_000])
async def test_more_at_once_than_a_batch_holds(wire: Wire, layout: Layout, count: int) -> None:
    await more_at_once(wire, layout, count)


async def more_at_once(wire: Wire, layout: Layout, count: int) -> None:
    """So many jobs wait, and the clocks of all ring at once."""
    fleet = RandomEvents(layout.prefix)
    await publish(wire, jobs(fleet, count, patience=1.0))
    found = await until_logged(wire, layout, "Waiting", count)
    await until_decided(wire, layout)
    found = await until_logged(wire, layout, "Waiting", count)
    assert sorted(record.entity.id for record in found) == sorted(f"d/{number}" for number in range(count))
    assert await stored(wire, layout.log, [f"{layout.prefix}.timer.>"]) == []
    await assert_log_is_the_fold(wire, layout, KINDS)


async def test_they_are_in_the_log_as_a_file(wire: Wire, layout: Layout, settings: Settings, tmp_path: Path) -> None:
    fleet = RandomEvents(layout.prefix)
    await publish(wire, jobs(fleet, 5))
    await until_logged(wire, layout, "Waiting", 5)
    await until_decided(wire, layout)
    for path in (tmp_path / "log.plog", tmp_path / "log.jsonl"):
        async with ServerLog.open(Installation(wire, layout, BUILT_IN_KINDS), Span("d")) as source:
            counts = await export(source, path, records=True, expect=False)
        verdict = await audit_of(path, KINDS)
        assert (verdict.holds, verdict.events, counts["event"]) == (True, 11, 11)
    other = replace(settings, prefix=f"{settings.prefix}-other")
    async with working(other, wire, KINDS) as copy:
        now = datetime.now(UTC)
        await import_log(Installation(wire, copy, KINDS), path, lambda h: Clock(h, None, shift=False, now=now))
        assert len(await until_logged(wire, copy, "Waiting", 5)) == 5
        await until_decided(wire, copy)
        assert len(await stored(wire, copy.events, [f"{copy.prefix}.inbox.>"])) == 6
        assert len(await stored(wire, copy.events, [f"{copy.prefix}.due.>"])) == 5


async def test_they_survive_everything(own_server: EmbeddedServer, own_settings: Settings, tmp_path: Path) -> None:
    async with Wire.open(own_settings, name="test", patient=True) as wire:
        async with working(own_settings, wire, KINDS, partitions=2) as layout:
            await publish(wire, jobs(RandomEvents(layout.prefix), 200, patience=1.5))
            await until_decided(wire, layout)
        await own_server.kill()
        await own_server.start()
        await wire.until_connected(20)
        async with working(own_settings, wire, KINDS, partitions=2) as layout:
            found = await until_logged(wire, layout, "Waiting", 200)
            await until_decided(wire, layout)
            assert len({record.entity.id for record in found}) == len(found) == 200
            await assert_log_is_the_fold(wire, layout, KINDS)


@pytest.mark.usefixtures("small_batches")
async def test_a_plan_carries_timers(wire: Wire, layout: Layout) -> None:
    """A cascade larger than a batch: opening the depot starts 120 clocks, closing it stops them."""
    fleet = RandomEvents(layout.prefix)
    story = [fleet.event("depot", "open", "d"), fleet.event("depot", "close", "d")]
    for number in range(120):
        story += [fleet.event("job", "order", f"d/{number}", patience=0.0), fleet.event("job", "begin", f"d/{number}")]
    await publish(wire, story)
    await until_decided(wire, layout)
    assert await stored(wire, layout.log, [f"{layout.prefix}.timer.>"]) == []
    await publish(wire, [fleet.event("depot", "open", "d")])
    found = await until_logged(wire, layout, "Lost", 120)
    await until_decided(wire, layout)
    assert len({record.entity.id for record in found}) == len(found) == 120
    await assert_log_is_the_fold(wire, layout, KINDS)


async def test_streams_take_due_timers_in(wire: Wire, layout: Layout) -> None:
    found = await inspect(wire, Settings(prefix=layout.prefix))
    assert found == layout
    async with asyncio.timeout(60):
        while (mark := await last_message_from_leader(wire, layout.log, Subjects(layout.prefix).checkpoint(0))) is None:
            await asyncio.sleep(0.02)  # the worker has not taken the partition yet
    assert checkpoint.decode(mark.data).position == 0
