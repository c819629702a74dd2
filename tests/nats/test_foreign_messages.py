"""What no worker wrote is set aside: a partition goes on, commits nothing twice, and the audit stays clean.

See docs/design.md, What no worker wrote.
"""

import asyncio
from dataclasses import replace

import pytest

from phaseline.engine.jetstream.streams import Layout, provision
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.installation import Installation
from phaseline.engine.replay.audit import Audit, AuditReport, compare_states
from phaseline.engine.replay.recorded_log import Span
from phaseline.engine.replay.server_log import ServerLog
from phaseline.engine.settings import Settings
from phaseline.engine.worker.worker import Worker
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.injections import INJECTIONS, inject
from tests.support.installation import until_decided
from tests.support.log_check import assert_log_is_the_fold
from tests.support.random_events import RandomEvents, publish

LIMIT = 15
"""Seconds in which a partition must go on."""


class Running:
    """A worker that runs until `stop`."""

    def __init__(self, wire: Wire, settings: Settings) -> None:
        self.worker, self._stop = Worker(wire, settings, BUILT_IN_KINDS), asyncio.Event()
        self.task = asyncio.create_task(self.worker.run(self._stop))

    async def stop(self) -> None:
        assert not self.task.done(), self.task
        self._stop.set()
        await self.task


async def audited(wire: Wire, layout: Layout) -> AuditReport:
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    async with ServerLog.open(installation, Span()) as log:
        audit = Audit(log, BUILT_IN_KINDS, None, None)
        await audit.run()
        await compare_states(installation, audit)
    return audit.report


async def goes_on(wire: Wire, layout: Layout, fleet: RandomEvents) -> None:
    """Publish further events, and wait until they are decided."""
    await publish(wire, [fleet.event("node", trigger, "c0/p/n0") for trigger in ("not_ready", "ready")])
    async with asyncio.timeout(LIMIT):
        await until_decided(wire, layout)


@pytest.mark.parametrize("injection", INJECTIONS)
async def test_a_partition_goes_on_after_an_injection(wire: Wire, settings: Settings, injection: str) -> None:
    settings = replace(settings, partitions=1, lease=1.0)
    fleet = RandomEvents(settings.prefix)
    layout = await provision(wire, settings)
    running = Running(wire, settings)
    await publish(wire, list(fleet.built(1, 2)))
    await until_decided(wire, layout)
    await inject(wire, INJECTIONS[injection](layout))
    await goes_on(wire, layout, fleet)
    await running.stop()
    await inject(wire, INJECTIONS[injection](layout))
    second = Running(wire, settings)
    await goes_on(wire, layout, fleet)
    report = await audited(wire, layout)
    await second.stop()
    assert report.divergences == {}
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)
