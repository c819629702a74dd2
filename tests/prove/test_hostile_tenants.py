"""Tenants at random on a server without accounts: injections by reply subjects, while workers are killed and take over.

Nothing is doubled or lost, and innocent trees go on. Judged by raw NATS.
"""

import asyncio
import itertools
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from nats.aio.client import Client as RawClient

from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.schemas.envelope import message_id
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.hostile_tenant import Tenant
from tests.support.installation import LIMIT
from tests.support.prove_scale import scaled
from tests.support.random_events import RandomEvents, Sent, publish
from tests.support.raw_checker import Checker, Report, check, decode, read
from tests.support.worker_fleet import Fleet

ANSWERED = frozenset({"cluster.create", "node_pool.create", "component.create", "node.create", "node.stop"})
_serial = itertools.count(1)


class Hostile(RuleBasedStateMachine):
    """One installation with two workers, innocent publishers, and a tenant."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.settings = Settings(nats=(self.url,), prefix=f"hostile{next(_serial)}", partitions=2, lease=1.0)
        self.done: list[str] = []
        self.named: list[str] = []

    @initialize(seed=st.integers(0, 1_000))
    def begin(self, seed: int) -> None:
        self.runner.run(self._begin(seed))

    async def _begin(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.opened = Wire.open(self.settings, name="innocent", patient=True)
        self.wire = await self.opened.__aenter__()
        await provision(self.wire, self.settings)
        self.client = RawClient()
        await self.client.connect(self.url)
        self.tenant = Tenant(self.client, self.settings.prefix, 2, self.dice)
        self.opened_publisher = Client.open(self.settings, source="/innocent", kinds=BUILT_IN_KINDS)
        self.publisher = await self.opened_publisher.__aenter__()
        self.fleet = Fleet(self.settings, Path(self.folder.name), self.dice)
        await asyncio.gather(self.fleet.start(), self.fleet.start())
        self.events = RandomEvents(self.settings.prefix, seed)
        self.innocent = 0
        await self._innocent(list(self.events.built(4, 4)))
        await self._decided()

    async def _innocent(self, events: list[Sent]) -> None:
        await publish(self.wire, events)
        self.innocent += len(events)

    async def _decided(self) -> Report:
        """Wait until all innocent events are decided: they go on whatever the tenant does."""
        async with asyncio.timeout(LIMIT):
            while True:
                report = await Checker(self.client, self.settings.prefix, ANSWERED).check(states=False)
                if not any("is not decided" in one for one in report.problems):
                    return report
                await asyncio.sleep(0.2)

    @rule(count=st.integers(1, 30))
    def innocent_events(self, count: int) -> None:
        self.runner.run(self._innocent(list(self.events.life(count, 4, 4))))

    @rule()
    def acknowledgement_goes_elsewhere(self) -> None:
        self.done.append("acknowledged to " + self.runner.run(self.tenant.acknowledged_elsewhere()))

    @rule()
    def copy_goes_elsewhere(self) -> None:
        self.done.append("copied to " + self.runner.run(self.tenant.copied_elsewhere()))

    @rule(count=st.integers(2, 20))
    def many_at_once(self, count: int) -> None:
        for _ in range(count):
            self.copy_goes_elsewhere()
            self.acknowledgement_goes_elsewhere()

    @rule(trigger=st.sampled_from(["ready", "not_ready", "stop"]))
    def an_id_is_taken(self, trigger: str) -> None:
        """The tenant sends an innocent publisher's message id first."""
        self.runner.run(self._taken(trigger))

    async def _taken(self, trigger: str) -> None:
        name = f"named-{len(self.named)}"
        subject = Subjects(self.settings.prefix).event("node", trigger, "c0/p/n0")
        await self.tenant.take_id(message_id(subject, "/innocent", name))
        await self.publisher.publish("node", trigger, "c0/p/n0", event_id=name, check=False)
        self.named.append(name)
        self.done.append(f"took the id of {name}")

    @rule()
    def a_worker_is_killed(self) -> None:
        self.runner.run(self.fleet.killed())
        self.done.append("killed")

    @rule()
    def a_worker_is_frozen(self) -> None:
        self.runner.run(self.fleet.frozen())
        self.done.append("frozen")

    def teardown(self) -> None:
        try:
            if hasattr(self, "innocent"):
                self.runner.run(self._judge())
        finally:
            self.runner.run(self._end())
            self.runner.close()
            self.folder.cleanup()

    async def _judge(self) -> None:
        await self._innocent(list(self.events.life(20, 4, 4)))
        try:
            await self._decided()
            await check(self.url, self.settings.prefix, must_answer=ANSWERED, foreign=True)
            events = [decode(raw.data) or {} for raw in await read(self.client, f"{self.settings.prefix}-EVENTS")]
            assert sorted(one["id"] for one in events if one.get("source") == "/innocent") == sorted(self.named)
        except (AssertionError, TimeoutError):
            print("\n".join(self.done))  # noqa: T201  # what the tenant did
            print(self.fleet.log[-4_000:])  # noqa: T201
            raise

    async def _end(self) -> None:
        if hasattr(self, "fleet"):
            await asyncio.gather(*(worker.kill() for worker in self.fleet.running))
        if hasattr(self, "publisher"):
            await self.opened_publisher.__aexit__(None, None, None)
        if hasattr(self, "client"):
            await self.client.close()
        if hasattr(self, "opened"):
            await self.opened.__aexit__(None, None, None)


def run(server: EmbeddedServer, examples: int, steps: int, *, steady: bool) -> None:
    machine = type("HostileHere", (Hostile,), {"url": server.url})
    chosen = hypothesis_settings(max_examples=examples, stateful_step_count=steps, derandomize=steady)
    run_state_machine_as_test(machine, settings=chosen)


def test_a_hostile_tenant(server: EmbeddedServer) -> None:
    run(server, 1, 5, steady=True)


@pytest.mark.slow
def test_hostile_tenants_at_random(server: EmbeddedServer) -> None:
    run(server, scaled(500, 5), 25, steady=False)
