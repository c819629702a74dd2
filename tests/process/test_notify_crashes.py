"""Kills of `phaseline notify`, of the worker and of the server: no notice is lost, and none is doubled in the record.

What the installation of notices holds afterwards is what a replay of the log makes.
"""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.names import of_notices
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Transition
from tests.support.command import Shell, line_with
from tests.support.installation import EmbeddedServer, Settings, Wire, provision
from tests.support.killable_worker import WorkerProcess
from tests.support.notified import records_of, replayed
from tests.support.own_installation import Client
from tests.support.patience import wait_for

RULES = """
receivers: {ops: {nats: {subject: told}}}
rules:
- {name: each, when: {kinds: [node]}, group: entity, to: [ops]}
- {name: tree, when: {kinds: [node]}, for: 1s, clear-after: 1s, group: tree, to: [ops]}
- {name: gone, when: {kinds: [node], gone: true}, to: [ops]}
"""
ROUNDS = 4


class Notify:
    """The command, killed and started again."""

    def __init__(self, shell: Shell, file: Path) -> None:
        self._shell, self._file = shell, file
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, *, until: str = "") -> None:
        self._process = await self._shell.start("notify", "--rules", str(self._file), "--quiet")
        if until:
            await line_with(self._process.stderr, until)

    async def kill(self) -> None:
        assert self._process is not None
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.communicate()

    async def stop(self) -> int:
        assert self._process is not None
        self._process.terminate()
        await self._process.communicate()
        return self._process.returncode or 0


async def first_place(notices: Client) -> int:
    """The place from which on the log was followed."""
    found: list[Transition] = []

    async def is_known() -> bool:
        with suppress(EntityUnknown):
            history = notices.history("notifier", "pl")
            found[:] = [one async for one in history if "place" in one.entity.attributes]
        return bool(found)

    async def version() -> object:
        return len(found)

    await wait_for(is_known, version)
    return int(found[0].entity.attributes["place"])


async def publish(main: Client, trigger: str, nodes: list[str], data: dict[str, str] | None = None) -> None:
    for node in nodes:
        await main.publish("node", trigger, node, data, event_id=f"{trigger}-{node}")


async def test_kills_of_notifier_worker_and_server_lose_and_double_nothing(
    own_server: EmbeddedServer, own_settings: Settings, tmp_path: Path
) -> None:
    dice, file = random.Random(7), tmp_path / "rules.yaml"
    file.write_text(RULES)
    key = "" if own_server.key is None else str(own_server.key.path)
    shell = Shell(PHASELINE_NATS=own_server.url, **({"PHASELINE_NKEY": key} if key else {}))
    settings = replace(own_settings, partitions=2, request_timeout=30.0)
    own = replace(of_notices(settings), partitions=2)
    async with (
        Wire.open(settings, name="test", patient=True) as wire,
        Client.open(settings, source="/test") as main,
        Client.open(own, source="/test") as notices,
    ):
        await provision(wire, settings)
        await provision(wire, own)
        worker, notify = await WorkerProcess.start(settings), Notify(shell, file)
        await notify.start(until="at work")
        place = await first_place(notices)
        for number in range(ROUNDS):
            nodes = [f"c{tree}/p/n{number}-{one}" for tree in range(3) for one in range(5)]
            await publish(main, "adopt", nodes, {"phase": "Running"})
            await publish(main, "not_ready", nodes)
            await asyncio.sleep(dice.uniform(0.0, 0.5))
            if number in (0, 3):
                await notify.kill()
                await notify.start()
            elif number == 1:
                await worker.kill()
                worker = await WorkerProcess.start(settings)
            else:
                await own_server.kill()
                await own_server.start()
            await publish(main, "ready", nodes[::2])
            await publish(main, "deleted", nodes[1::2])
        rules = read_rules.read(RULES, main.kinds)
        records: list[Transition] = []
        wanted = Counter[tuple[str, str]]()

        async def is_complete() -> bool:
            records[:] = [one for one in await records_of(notices, "notice") if one.facet == "phase"]
            wanted.clear()
            wanted.update([one[:2] for one in await replayed(main, rules, place)])
            return Counter((one.entity.id, one.trigger) for one in records) == wanted

        async def moved() -> object:
            return len(records), wanted.total()

        await wait_for(is_complete, moved, pause=0.5)
        numbers = [(one.entity.id, one.entity.attributes["sequence"]) for one in records]
        assert len(numbers) == len(set(numbers))
        assert sum(count for (_, trigger), count in wanted.items() if trigger == "opened") >= 3 * 5 * ROUNDS
        queued = [one for one in await records_of(notices, "delivery") if one.trigger == "queued"]
        told = Counter(one.entity.attributes["word"] for one in queued)
        made = Counter(trigger for _, trigger in wanted.elements())
        assert told == {"begin": made["opened"] + made["happened"], "end": made["closed"]}
        assert await notify.stop() == 0
        await worker.stop()
