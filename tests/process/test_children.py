"""Processes end with those that started them, even if these are killed. A worker process that dies is replaced."""

import asyncio
import json
import os
import signal
from pathlib import Path

from tests.support.command import LIMIT, ended, line_with, process
from tests.support.killable_worker import WorkerProcess
from tests.support.manifests import kubernetes_object
from tests.support.own_installation import OwnInstallation
from tests.support.processes import children, computed, is_there, maps, until
from tests.support.random_events import RandomEvents

SCRIPT = "phaseline.engine.scripts.child"
ENDLESS = "local s = ('x'):rep(6e6) for i = 1, 1e9 do local t = s .. i end"
"""A script that only the limit of computing ends."""


async def running_script(parent: int) -> int:
    """The process in which a script of `parent` has computed for a while."""
    loaded: dict[int, float] = {}
    async with asyncio.timeout(LIMIT):
        while True:
            for pid in children(parent, SCRIPT):
                if "lupa" in maps(pid) and computed(pid) > loaded.setdefault(pid, computed(pid)) + 0.05:
                    return pid
            await asyncio.sleep(0.01)


async def ends_with(parent: asyncio.subprocess.Process, *pids: int) -> None:
    """Kill a process, and wait until the others have ended, too."""
    parent.kill()
    await parent.wait()
    await asyncio.to_thread(until, lambda: not any(map(is_there, pids)))


async def test_a_script_ends_with_its_killed_worker(installation: OwnInstallation) -> None:
    await installation.layout()
    events = RandomEvents(installation.settings.prefix)
    scripted = [events.event("application_set", "configure", "s", health={"Widget": ENDLESS})]
    for number in range(40):
        live = kubernetes_object("v1", "Widget", metadata={"name": f"w{number}"})
        scripted.append(
            events.event("resource", "observed", f"s/a/core:Widget/shop/w{number}", live=live, desired=live)
        )
    await installation.publish(scripted)
    worker = await WorkerProcess.start(installation.settings)
    async with ended(worker.process):
        await ends_with(worker.process, await running_script(worker.process.pid))


async def test_a_script_ends_with_its_killed_command(tmp_path: Path) -> None:
    (tmp_path / "health.lua").write_text(ENDLESS)
    objects = [f"apiVersion: x/v1\nkind: Widget\nmetadata: {{name: w{number}}}\n" for number in range(40)]
    (tmp_path / "live.yaml").write_text("---\n".join(objects))
    rules, live = str(tmp_path / "health.lua"), str(tmp_path / "live.yaml")
    async with process("gitops", "assess", "--live", live, "--rules", rules) as started:
        await ends_with(started, await running_script(started.pid))


async def test_up_replaces_a_worker_process_that_dies_and_ends_with_all_of_them() -> None:
    async with process("up", "-v", "--port", "0", "--workers", "2", "--lease", "1") as system:
        for _ in range(2):
            await line_with(system.stderr, "worker_started")
        [server], [worker] = children(system.pid, "nats-server"), children(system.pid, " worker ")
        os.kill(worker, signal.SIGKILL)
        assert json.loads(await line_with(system.stderr, "worker_died"))["how"] == "signal SIGKILL"
        await line_with(system.stderr, "worker_started")
        [another] = children(system.pid, " worker ")
        assert another != worker
        await ends_with(system, another, server)
