"""A context that takes too long says so, and goes on: with time as it is given, and on the real server."""

import asyncio

from phaseline.engine.client import Client
from phaseline.engine.fold import Folder
from phaseline.engine.message import Message
from phaseline.engine.recorded import StoredEvent
from phaseline.engine.settings import Settings
from phaseline.engine.streams import inspect
from phaseline.engine.tree import Tree
from phaseline.engine.wire import Wire
from phaseline.schemas import codec
from phaseline.schemas.records import nanoseconds
from phaseline.schemas.subjects import Subjects
from tests.emco import CTX, GROUP, KINDS, NEW, context, resource
from tests.installation import until_decided
from tests.replay import assert_log_is_the_fold, stored

SECOND = 1_000_000_000
A, B = resource("dep+Deployment"), resource("svc+Service")


class Clock:
    """Events at times of one's own; what was scheduled last, by subject."""

    def __init__(self) -> None:
        self.folder = Folder(Tree(KINDS), Subjects("pl"), 0)
        self.number = 0
        self.timers: dict[str, Message] = {}

    def say(self, at: float, kind: str, trigger: str, entity_id: str, **data: object) -> None:
        body = {"specversion": "1.0", "id": "e", "source": "/t", "type": f"{kind}.{trigger}", "data": data}
        subject = self.folder.subjects.event(kind, trigger, entity_id).replace("pl.events", "pl.inbox.0")
        self._fold(at, subject, codec.encode(body))

    def fire(self, at: float) -> None:
        """What the server makes of the only schedule that stands."""
        [timer] = self.timers.values()
        target = dict(timer.headers)["Nats-Schedule-Target"]
        self._fold(at, target.replace("pl.fired", "pl.due.0"), timer.body)

    def _fold(self, at: float, subject: str, body: bytes) -> None:
        self.number += 1
        for message in self.folder.fold([StoredEvent(subject, body, self.number, int(at * SECOND))], 0).messages:
            headers = dict(message.headers)
            if "Nats-Schedule-Next" in headers:
                self.timers.pop(headers["Nats-Scheduler"])
            if message.subject.startswith("pl.timer."):
                self.timers[message.subject] = message

    @property
    def due(self) -> list[float]:
        return [
            nanoseconds(dict(t.headers)["Nats-Schedule"].removeprefix("@at ")) / SECOND for t in self.timers.values()
        ]

    def state(self, name: str = CTX) -> str:
        return str(self.folder.tree.entities["app_context"][context(name)].facets[0].state)


def under_way(**data: object) -> Clock:
    clock = Clock()
    clock.say(1, "emco_resource", "create", GROUP)
    clock.say(1, "emco_resource", "approve", GROUP)
    clock.say(1, "app_context", "create", context(), **data)
    clock.say(2, "rsync_resource", "add", A)
    clock.say(2, "rsync_resource", "add", B)
    clock.say(10, "emco_resource", "instantiate", GROUP, context=CTX)
    return clock


def test_an_hour_where_nothing_else_is_said() -> None:
    clock = under_way()
    assert clock.due == [3610]
    clock.fire(3610.1)
    assert clock.state() == "Instantiating [DeadlineExceeded]"
    clock.say(3700, "rsync_resource", "applied", A)
    assert clock.state() == "Instantiating [DeadlineExceeded]"
    clock.say(3800, "rsync_resource", "applied", B)
    assert clock.state() == "Instantiated"


def test_what_is_done_in_time_is_not_told_off() -> None:
    clock = under_way(deadline=60)
    assert clock.due == [70]
    clock.say(20, "rsync_resource", "applied", A)
    clock.say(21, "rsync_resource", "applied", B)
    assert (clock.due, clock.state()) == ([], "Instantiated")


def test_each_stay_has_a_time_and_a_verdict_of_its_own() -> None:
    clock = under_way(deadline=60)
    clock.fire(70)
    clock.say(80, "rsync_resource", "applied", A)
    clock.say(81, "rsync_resource", "applied", B)
    clock.say(90, "rsync_resource", "add", resource("late+ConfigMap"))
    assert (clock.state(), clock.due) == ("Instantiating", [150])
    clock.fire(150)
    clock.say(160, "rsync_resource", "applied", resource("late+ConfigMap"))
    clock.say(200, "emco_resource", "terminate", GROUP)
    assert (clock.state(), clock.due) == ("Terminating", [260])
    clock.fire(260)
    assert clock.state() == "Terminating [DeadlineExceeded]"
    for name in (A, B, resource("late+ConfigMap")):
        clock.say(300, "rsync_resource", "terminated", name)
    assert (clock.state(), clock.due) == ("Terminated", [])


def test_a_stopped_one_shows_both() -> None:
    clock = under_way(deadline=60)
    clock.say(20, "emco_resource", "stop", GROUP)
    assert clock.due == [70]
    clock.fire(70)
    assert clock.state() == "Instantiating [Stopped, DeadlineExceeded]"
    clock.say(80, "app_context", "resume", context())
    assert clock.state() == "Instantiating [DeadlineExceeded]"


def test_never() -> None:
    assert under_way(deadline=0).due == []


def test_no_deadline_while_rsync_is_being_stopped() -> None:
    clock = under_way(deadline=60)
    clock.say(20, "emco_resource", "terminate", GROUP)
    assert (clock.state(), clock.due) == ("PreTerminate", [])
    clock.say(30, "app_context", "instantiation_stopped", context())
    assert (clock.state(), clock.due) == ("Terminating", [90])


async def test_on_the_real_server(working: Settings, wire: Wire) -> None:
    async with Client.open(working) as client:
        await client.publish("emco_resource", "create", GROUP)
        await client.publish("emco_resource", "approve", GROUP)
        for name in (CTX, NEW):
            await client.publish("app_context", "create", context(name), {"deadline": 0.3})
            await client.publish("rsync_resource", "add", resource(ctx=name))
        await client.publish("emco_resource", "instantiate", GROUP, {"context": CTX})
        await client.publish("rsync_resource", "applied", resource())
        await client.publish("emco_resource", "update", GROUP, {"context": NEW})
        layout = await inspect(wire, working)
        await until_decided(wire, layout)
        async with asyncio.timeout(20):
            while "DeadlineExceeded" not in (await client.get("app_context", context(NEW))).facets[0].state.conditions:
                await asyncio.sleep(0.05)
        await client.publish("rsync_resource", "applied", resource(ctx=NEW))
        await until_decided(wire, layout)
        async with asyncio.timeout(20):
            while (await client.get("app_context", context(NEW))).facets[0].state.phase != "Instantiated":
                await asyncio.sleep(0.05)
        history = [record async for record in client.history("app_context", context(NEW))]
        assert [str(record.after) for record in history] == [
            "Created", "Instantiating", "Instantiating [DeadlineExceeded]", "Instantiated",
        ]  # fmt: skip
        assert history[2].cause.by == "timer"
        assert await stored(wire, layout.log, [f"{layout.prefix}.timer.>"]) == []
        await assert_log_is_the_fold(wire, layout, KINDS)
