"""Notices while all that makes them is killed: notifiers, senders, workers, the server. Receivers refuse and hang.

No notice is lost, none is doubled in the record, a replay of the log makes what is recorded, byte for byte, what stands
as sent was taken, and whoever heard that a notice is open heard that it is over. PROVE_SCALE=0.02 makes the hour a
little more than a minute; `pytest -s` shows what was killed, and what came of it.
"""

import asyncio
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.products.notices.events import of_notices
from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.bodies.message import OVER, NoticeMessage
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.schemas import codec
from phaseline.schemas.errors import PhaselineError
from phaseline.schemas.records import Transition
from tests.support.killable_worker import WorkerProcess
from tests.support.notified import records_of, replayed
from tests.support.notify_process import Notify, first_place
from tests.support.odd_receivers import GotRequest, OddReceiver, answer, close, receiving
from tests.support.patience import wait_for
from tests.support.prove_scale import scaled

RULES = """
receivers:
  odd:  {webhook: {url: "%s", allow-private: true, timeout: 1s}}
  good: {webhook: {url: "%s", allow-private: true}}
rules:
- {name: each, when: {kinds: [node]}, group: entity, to: [good]}
- {name: tree, when: {kinds: [node]}, for: 1s, clear-after: 1s, group: tree, to: [odd, good]}
- {name: gone, when: {kinds: [node], gone: true}, to: [odd, good]}
"""
ALL = f"""{RULES}- {{name: down, when: {{kinds: [cluster, node, node_pool, component]}}, for: 1s, to: [odd]}}
- {{name: alike, when: {{kinds: [node]}}, group: reason, to: [odd]}}
- {{name: daily, when: {{kinds: [node]}}, digest: 5s, to: [good]}}
- {{name: flaps, when: {{kinds: [node]}}, group: entity, clear-after: 1s, to: [odd],
   flapping: {{changes: 4, within: 20s, quiet: 5s}}}}
windows:
- {{name: work, opened-by: [cordon, update], up-to: 10s}}
"""
TREES, NODES = 4, 5
ABOUT = {"cluster": ["Balance"], "node": ["NotReady", "Unschedulable", "Balance"]}
"""The conditions of which a report speaks that says that all is well."""
Made = list[tuple[str, str, dict[str, Any]]]
"""The id, the trigger and the data of events."""


class Killed(NamedTuple):
    """All that can be killed, and the dice."""

    server: EmbeddedServer
    settings: Settings
    notifies: list[Notify]
    workers: list[WorkerProcess]
    dice: random.Random
    kills: Counter[str]

    async def trouble(self) -> None:
        """Kill something, and start it again."""
        await asyncio.sleep(self.dice.uniform(0.0, 4.0))
        what = self.dice.random()
        if what < 0.55:
            self.kills["notifiers"] += 1
            one = self.dice.choice(self.notifies)
            await one.kill()
            await asyncio.sleep(self.dice.choice((0.0, 0.0, 0.5, 3.0)))
            await one.start()
        elif what < 0.8:
            self.kills["workers"] += 1
            await self.workers.pop().kill()
            self.workers.append(await WorkerProcess.start(self.settings, log=self.notifies[0].said.with_name("worker")))
        else:
            self.kills["servers"] += 1
            await self.server.kill()
            await asyncio.sleep(self.dice.choice((0.0, 1.0)))
            await self.server.start()


def cluster_and_nodes(tree: int) -> list[tuple[str, str]]:
    """All of one tree, by kind and id."""
    nodes = [("node", f"c{tree}/p/n{number}") for number in range(NODES)]
    return [("cluster", f"c{tree}"), ("node_pool", f"c{tree}/p"), *nodes]


async def say(main: Client, kind: str, trigger: str, entity: str, data: Mapping[str, Any] | None = None) -> int:
    """Publish an event, again and again while the server is away. Returns its position."""
    name = uuid4().hex
    while True:
        try:
            return (await main.publish(kind, trigger, entity, data, event_id=name, check=False)).sequence
        except PhaselineError:
            await asyncio.sleep(0.1)


async def well(main: Client, kind: str, entity: str, seen: int = 0) -> None:
    """Something is as it should be, whatever it was before. seen: the position of what was seen of it last."""
    about = {"about": ABOUT[kind]} if kind in ABOUT else {}
    await say(main, kind, "reported", entity, {"phase": "Running", **about, **({"seen": seen} if seen else {})})


async def live(main: Client, dice: random.Random) -> None:
    """A little of what happens in a fleet."""
    tree = dice.randrange(TREES)
    nodes = [entity for kind, entity in cluster_and_nodes(tree) if kind == "node"]
    trigger = dice.choice(("not_ready", "not_ready", "ready", "ready", "cordon", "uncordon", "overdue", "deleted"))
    if dice.random() < 0.2:
        await say(main, "cluster", dice.choice(("overdue", "renewed", "update", "updated")), f"c{tree}")
    if dice.random() < 0.1:  # all is as it should be again
        for kind, entity in reversed(cluster_and_nodes(tree)):
            await well(main, kind, entity)
    some = [dice.choice(nodes)] if dice.random() < 0.6 else nodes
    for node in some:
        place = await say(main, "node", trigger, node, {"reason": dice.choice(("A", "B"))})
        if trigger == "deleted":
            await well(main, "node", node, place)


class Receiver(NamedTuple):
    """Somebody who is told, and what they took of what they got."""

    server: OddReceiver
    taken: list[GotRequest]

    async def take(self, request: GotRequest, writer: asyncio.StreamWriter) -> None:
        """Take a message."""
        self.taken.append(request)
        writer.write(answer(200))
        await writer.drain()

    async def be_odd(self, dice: random.Random, request: GotRequest, writer: asyncio.StreamWriter) -> None:
        """Take a message, or do what receivers do on a bad day."""
        what = dice.random()
        if what < 0.1:
            await asyncio.sleep(2.0)
        elif what < 0.2:
            await close(request, writer)
        elif what < 0.7:
            await self.take(request, writer)
        else:
            words = (answer(500), answer(503, Retry_After="1"), answer(429, Retry_After="1"))
            writer.write(dice.choice(words))
            await writer.drain()

    @property
    def words(self) -> Mapping[str, list[str]]:
        """What came of each stay of a notice, in order, whether it was taken or not."""
        found = defaultdict[str, list[str]](list)
        for one in self.server.got:
            found[one.json["thread"]].append(one.json["word"])
        return found


def merged(made: Made) -> list[tuple[str, str, bytes]]:
    """Each event of a replay: the notice, the trigger, and all that its record says after it, in order."""
    said: dict[str, dict[str, Any]] = {}
    found = []
    for notice, trigger, data in made:
        said[notice] = {**said.get(notice, {}), **data}
        found.append((notice, trigger, packed(said[notice])))
    return sorted(found)


def recorded(records: list[Transition]) -> list[tuple[str, str, bytes]]:
    """The same of what is committed."""
    return sorted(
        (one.entity.id, one.trigger, packed({**one.entity.attributes, "message": one.message})) for one in records
    )


def packed(said: Mapping[str, Any]) -> bytes:
    """The bytes of what a notice says, but for what people said of it."""
    own = {name: value for name, value in said.items() if name not in ("message", "hold_seconds", "taken_by")}
    return codec.encode({**dict(sorted(own.items())), "message": said.get("message") or ""})


async def end_all(main: Client) -> None:
    """All that is there is well in the end, or gone."""
    for tree in range(TREES):
        for kind, entity in reversed(cluster_and_nodes(tree)):
            await say(main, kind, "deleted", entity)


async def kills(
    server: EmbeddedServer, settings: Settings, folder: Path, seconds: float, seed: int, rules: str = ALL
) -> None:
    """Kill for so long, then judge."""
    dice, own = random.Random(seed), replace(of_notices(settings), partitions=2)
    key = {} if server.key is None else {"PHASELINE_NKEY": str(server.key.path)}
    async with (
        receiving() as odd,
        receiving() as good,
        Wire.open(settings, name="test", patient=True) as wire,
        Client.open(settings, source="/test") as main,
        Client.open(own, source="/test") as notices,
    ):
        file = folder / "rules.yaml"
        file.write_text(rules % (odd.url, good.url))
        told = {"odd": Receiver(odd, []), "good": Receiver(good, [])}
        odd.answers[:] = [lambda request, writer: told["odd"].be_odd(dice, request, writer)]
        good.answers[:] = [told["good"].take]
        for one in (settings, own):
            await provision(wire, one)
        environment = {"PHASELINE_NATS": server.url, **key}
        both = [Notify(environment, file, folder / f"notify-{number}") for number in range(2)]
        workers = [await WorkerProcess.start(settings, log=folder / "worker")]
        killed = Killed(server, settings, both, workers, dice, Counter())
        for tree in range(TREES):
            for kind, entity in cluster_and_nodes(tree):
                await say(main, kind, "adopt", entity, {"phase": "Running"})
        for notify in both:
            await notify.start()
            await notify.until_at_work()
        place = await first_place(notices)
        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            trouble = asyncio.create_task(killed.trouble())
            while not trouble.done():
                await live(main, dice)
                await asyncio.sleep(dice.uniform(0.0, 0.3))
            await trouble
        await end_all(main)
        odd.answers[:] = [told["odd"].take]
        try:
            await until_all_is_recorded(main, notices, file, place)
            await until_all_is_sent(notices, (odd, good))
        finally:
            for notify in both:
                assert await notify.stop() == 0, notify.said.read_text()[-4_000:]
            await killed.workers[0].stop()
        queued = await replayed(main, read_rules.read_file(file, main.kinds), place, "delivery")
        await judge(notices, queued, told)
        sys.stdout.write(f"\nkilled: {dict(killed.kills)}; {await figures(notices, told)}\n")


async def until_all_is_recorded(main: Client, notices: Client, rules: Path, place: int) -> None:
    """Wait until the record of notices is what a replay of the log makes."""
    found: Made = []
    records: list[Transition] = []
    upto = -1

    async def is_complete() -> bool:
        nonlocal upto
        end = (await main.moment("now")).place
        if end != upto:  # a replay takes long, and the receivers are in this process
            found[:] = await replayed(main, read_rules.read_file(rules, main.kinds), place)
            upto = end
        records[:] = [one for one in await records_of(notices, "notice") if one.facet == "phase"]
        return Counter((one.entity.id, one.trigger) for one in records) == Counter(one[:2] for one in found)

    async def moved() -> object:
        return len(records), len(found)

    try:
        await wait_for(is_complete, moved, pause=2.0)
    except AssertionError:
        has, wants = {*recorded(records)}, {*merged(found)}
        raise AssertionError(f"too many: {sorted(has - wants)}; missing: {sorted(wants - has)}") from None
    assert recorded(records) == merged(found)


async def until_all_is_sent(notices: Client, receivers: tuple[OddReceiver, ...]) -> None:
    """Wait until no delivery waits any more."""

    async def is_sent() -> bool:
        view = await notices.at()
        return not [one async for one in view.unsorted("delivery", class_=("busy", "bad", "excused", "unknown"))]

    async def moved() -> object:
        return [len(one.got) for one in receivers], int(time.monotonic() / 100)  # a lost one takes three minutes

    async with asyncio.timeout(1_800):
        await wait_for(is_sent, moved, pause=3.0)


async def judge(notices: Client, wanted: Made, told: Mapping[str, Receiver]) -> None:
    """Nothing is doubled in the record, what stands as sent was taken, and what was heard of was heard to be over.

    wanted: the events of deliveries that a replay makes.
    """
    records = [one for one in await records_of(notices, "notice") if one.facet == "phase"]
    numbers = Counter((one.entity.id, one.entity.attributes["sequence"]) for one in records)
    assert set(numbers.values()) == {1}
    times = sorted(one.time_ns for one in records)
    late = [one for one in times if one > (times[0] + times[-1]) / 2]
    assert len(late) > len(records) / 5  # something happened all the time
    queued = [one for one in await records_of(notices, "delivery") if one.trigger == "queued"]
    said = Counter((one.entity.id, one.entity.attributes["word"]) for one in queued)
    asked = Counter((delivery, data["word"]) for delivery, _, data in wanted)
    assert said.keys() == asked.keys()
    assert said <= asked  # what is queued again with the same word, while it waits, leaves no record
    taken = {name: {(one.json["thread"], one.json["word"]) for one in found.taken} for name, found in told.items()}
    for one in await sent(notices):
        notice, _, receiver = one.entity.id.rpartition("/")
        word, opened = one.entity.attributes["told"], one.entity.attributes["heard"]
        thread = NoticeMessage(notice, receiver, word, {"opened": opened}, 0, 0).thread
        assert (thread, word) in taken[receiver], (one.entity.id, word, opened)
    over = {f"{one.json['notice']}/{name}" for name, found in told.items() for one in found.taken
            if one.json["word"] in OVER}  # fmt: skip
    assert not {one.entity.id for one in queued} - over
    for name, found in told.items():
        left = {thread: some for thread, some in found.words.items() if not {*some}.intersection(OVER)}
        assert not left, (name, left)
        same = {(one.json["id"], one.json["notice"], one.json["word"]) for one in found.server.got}
        assert len({one[0] for one in same}) == len(same), name
    refused = [one async for one in notices.rejections() if one.kind == "notice"]
    assert {one.reason for one in refused} <= {"repeat", "stale"}  # what two notifiers say counts once


async def figures(notices: Client, told: Mapping[str, Receiver]) -> str:
    """How much was recorded, sent and taken, and how often somebody took the same again."""
    records = [one for one in await records_of(notices, "notice") if one.facet == "phase"]
    taken = [(name, one.json["id"], one.json["word"]) for name, found in told.items() for one in found.taken]
    again = len(taken) - len({*taken})
    asked = sum(len(found.server.got) for found in told.values())
    queued = sum(one.trigger == "queued" for one in await records_of(notices, "delivery"))
    notes = f"{len({one.entity.id for one in records})} notices in {len(records)} records"
    return f"{notes}; {queued} deliveries, {asked} tries, {len(taken)} taken, {again} of them again"


async def sent(notices: Client) -> list[Transition]:
    """All that senders said to have sent."""
    async with notices.watch("delivery", start="start", follow=False) as watch:
        return [one async for one in watch if one.trigger == "sent"]


@pytest.mark.slow
async def test_some_kills(own_server: EmbeddedServer, own_settings: Settings, tmp_path: Path) -> None:
    settings = replace(own_settings, partitions=2, request_timeout=30.0)
    await kills(own_server, settings, tmp_path, seconds=8, seed=3, rules=RULES)


@pytest.mark.slow
async def test_an_hour_of_kills(own_server: EmbeddedServer, own_settings: Settings, tmp_path: Path) -> None:
    settings = replace(own_settings, partitions=2, request_timeout=30.0)
    await kills(own_server, settings, tmp_path, seconds=scaled(3_600, 60), seed=scaled(3_600))
