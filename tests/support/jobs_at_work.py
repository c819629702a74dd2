"""The jobs of `changed_jobs` at work: workers that decide by one of the tables, and audits of what they did.

Belongs here: changing the tables as workers do, and reading the result. Does not: the tables, the tests.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from phaseline.engine.log import table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import Latest
from phaseline.engine.nats.streams import Layout, inspect
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.audit import Audit, AuditReport, compare_states
from phaseline.engine.replay.export_log import export
from phaseline.engine.replay.file_log import FileLog
from phaseline.engine.replay.recorded_log import RecordedLog, Span
from phaseline.engine.replay.server_log import ServerLog
from phaseline.engine.settings import Settings
from phaseline.engine.worker.worker import Worker
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from tests.support.installation import LIMIT, ready, until_decided
from tests.support.random_events import Sent, publish

BEGIN = [
    ("policy", "create", "p"), ("policy", "create", "q"), *(("job", "create", f"p/{name}") for name in "abcd"),
    ("job", "create", "q/e"), ("job", "started", "p/a"), ("job", "lost", "p/a"), ("job", "pause", "p/b"),
    ("job", "cancel", "p/c"), ("job", "started", "q/e"), ("job", "lost", "q/e"),
]  # fmt: skip
AFTER = {"p/a": "Pending", "p/b": "Held", "p/c": "Failed", "p/d": "Pending", "q/e": "Pending"}
"""The states of the jobs once those of `FIRST` have moved to `SECOND`."""


def sent(prefix: str, told: Sequence[tuple[str, str, str]]) -> list[Sent]:
    """These events, as they are published."""
    found = []
    for kind, trigger, entity_id in told:
        name = secrets.token_hex(8)
        body = {"specversion": "1.0", "id": name, "source": "/t", "type": f"{kind}.{trigger}"}
        root, *rest = entity_id.split("/")
        subject = ".".join((prefix, "events", root, kind, trigger, *rest))
        found.append(Sent(subject, codec.encode({**body, "data": {}}), name))
    return found


@asynccontextmanager
async def worker(wire: Wire, settings: Settings, kinds: Kinds, **accepted: Any) -> AsyncIterator[Layout]:
    made, stop = Worker(wire, replace(settings, partitions=2, **accepted), kinds), asyncio.Event()
    running = asyncio.create_task(made.run(stop))
    try:
        async with asyncio.timeout(LIMIT):
            await ready(made, running)
        yield await inspect(wire, settings)
    finally:
        stop.set()
        await asyncio.wait({running})
    running.result()


async def decide(
    wire: Wire, settings: Settings, kinds: Kinds, told: Sequence[tuple[str, str, str]], **accepted: Any
) -> Installation:
    """Run a worker with these tables until it has decided these events."""
    async with worker(wire, settings, kinds, **accepted) as layout:
        await publish(wire, sent(settings.prefix, told))
        await until_decided(wire, layout)
        installation = Installation(wire, layout, kinds)
        async with asyncio.timeout(LIMIT):
            for partition in range(layout.partitions):
                while (last := await table_eras.latest(installation, partition)) is None or last.digest != kinds.digest:
                    await asyncio.sleep(0.02)
                while last.former:
                    await asyncio.sleep(0.02)
                    last = await table_eras.latest(installation, partition) or last
    return installation


async def states(installation: Installation) -> dict[str, str]:
    async with asyncio.timeout(LIMIT):
        return {one.entity.id: one.entity.facets[0].state.phase for one in await Latest(installation).states("job")}


async def audited(installation: Installation, log: RecordedLog) -> AuditReport:
    audit = Audit(log, installation.kinds, None, None)
    report = await audit.run()
    if isinstance(log, ServerLog):
        await compare_states(installation, audit)
    return report


async def audit(installation: Installation, tmp_path: Path) -> list[AuditReport]:
    """The audits of the log on the server, and of its export."""
    async with ServerLog.open(installation, Span()) as log:
        reports = [await audited(installation, log)]
    path = tmp_path / "log.plog"
    async with ServerLog.open(installation, Span()) as log:
        await export(log, path, records=True, expect=False)
    return [*reports, await audited(installation, FileLog(path))]


def replace_kinds(installation: Installation, kinds: Kinds) -> Installation:
    return Installation(installation.wire, installation.layout, kinds)
