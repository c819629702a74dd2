"""Servers that die, disks that are full, a NATS that was never there: what `up` and `worker` do about it."""

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from phaseline.engine.nats.embedded import supervisor
from phaseline.engine.nats.embedded.supervisor import Supervisor
from phaseline.schemas.errors import NoAnswer, NoRoom, SetupError, Unconfirmed
from tests.support import closed_port
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.cloud_events import event
from tests.support.command import LIMIT, call, line_with, process, stopped
from tests.support.installation import EmbeddedServer, PublishResult, Settings, Wire, provision, system
from tests.support.own_installation import Client
from tests.support.raising import raises
from tests.support.tcp_proxy import proxy_to

PATIENT = "300"
"""Seconds that a worker waits for an answer: if it did so before it obeys, a test would not end in time."""


# The server of `up` dies


async def test_up_starts_its_server_again(tmp_path: Path) -> None:
    async with process("up", "--port", "0", "--data", str(tmp_path / "data")) as started:
        found = re.search(r"nats://\S+\d", await line_with(started.stderr, "listens on"))
        assert found
        nats = ("--nats", found[0])
        assert (await call("publish", *nats, "cluster", "create", "c1", "--wait"))[0] == 0
        (ports,) = (tmp_path / "data").glob("nats-server_*.ports")
        os.kill(int(ports.stem.rpartition("_")[2]), signal.SIGKILL)
        assert "signal SIGKILL" in await line_with(started.stderr, "server_died")
        await line_with(started.stderr, "server_restarted")
        assert (await call("publish", *nats, "cluster", "created", "c1", "--wait", "20"))[0] == 0
        started.send_signal(signal.SIGINT)
        await started.communicate()
        assert started.returncode == 0


async def test_a_server_that_dies_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(supervisor, "PAUSE", 0.0)
    monkeypatch.setattr(supervisor, "LOOK", 0.01)

    async def kill_it(server: EmbeddedServer) -> None:
        while True:
            await asyncio.sleep(0.05)
            with suppress(ProcessLookupError):
                os.kill(server.pid or 1 << 30, signal.SIGKILL)

    async def run() -> None:
        async with system.system(Settings(), BUILT_IN_KINDS, tmp_path, 0) as (server, _, task):
            killing = asyncio.create_task(kill_it(server))
            try:
                await system.until(asyncio.Event(), task)
            finally:
                killing.cancel()

    with raises(SetupError.server_gone, match="ended 6 times within 60 s, last with "):
        await run()


# A disk without room


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    where = tmp_path / "disk"
    where.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "none", str(where)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield where
    subprocess.run(["umount", "-l", str(where)], check=True)


def fill(disk: Path) -> Path:
    """A file that leaves no byte free."""
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return ballast


async def test_up_goes_on_once_a_full_disk_has_room(small_disk: Path) -> None:
    data = small_disk / "data"
    large = {"message": "x" * 4_000}
    with structlog.testing.capture_logs() as logged:
        async with (
            system.system(Settings(partitions=2), BUILT_IN_KINDS, data, 0) as (_, settings, _task),
            Client.open(settings) as client,
            Client.open(replace(settings, request_timeout=0.5)) as hasty,
        ):
            await client.publish_and_wait("cluster", "create", "c1")
            ballast = fill(small_disk)
            with pytest.raises(Unconfirmed, match="cannot write to its disk"):
                await hasty.publish("cluster", "created", "c1", large, event_id="e1")
            many = asyncio.ensure_future(hasty.publish_many([event(n, data=large) for n in range(50)]))
            await asyncio.sleep(0.8)
            ballast.unlink()
            assert await many == PublishResult(50, 0)
            outcome = await client.publish_and_wait("cluster", "created", "c1", large, event_id="e1", timeout=20)
            assert outcome.effect == "transitions"
    said = [line["event"] for line in logged]
    assert said.index("server_full") < said.index("server_has_room") < said.index("server_restarted")


class Limited(EmbeddedServer):
    """A server that may store 3 MB, whatever room there is."""

    def store_limit(self) -> int:
        return 3 << 20


async def test_at_the_limit_publishers_are_told_and_room_is_enough(tmp_path: Path) -> None:
    async with Limited(tmp_path) as server:
        settings = Settings(nats=(server.url,), partitions=1)
        async with Wire.open(settings) as wire, Client.open(settings) as client:
            stop, layout = asyncio.Event(), await provision(wire, settings)
            working = asyncio.create_task(system.run_worker(settings, BUILT_IN_KINDS, stop))
            await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
            padding = "x" * 4000
            bodies = [
                event(n, type="cluster.update", subject="cluster/c1", data={"message": padding}) for n in range(999)
            ]
            with structlog.testing.capture_logs() as logged, pytest.raises(NoRoom, match="insufficient resources"):
                await client.publish_many(bodies, patience=0.5)
            assert [line["log_level"] for line in logged if line["event"] == "publish_waits"] == ["warning"]
            with pytest.raises(NoRoom, match=r"no room for pl\.events\.c1\.cluster\.update: insufficient resources"):
                await client.publish("cluster", "update", "c1")
            with structlog.testing.capture_logs() as logged:
                rest = asyncio.ensure_future(client.publish_many(bodies))
                await asyncio.sleep(0.3)
                while not rest.done():
                    await wire.api(f"STREAM.PURGE.{layout.events}", {"keep": 10})
                    await wire.api(f"STREAM.PURGE.{layout.log}", {"keep": 10})
                    await asyncio.sleep(0.2)
                assert sum(await rest) == 999
                stop.set()
                await working
            assert "partition_failed" not in {line["event"] for line in logged}


def test_a_restarted_server_may_keep_what_it_has(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path)
    before = server.store_limit()
    (tmp_path / "jetstream").mkdir()
    (tmp_path / "jetstream" / "1.blk").write_bytes(bytes(40 << 20))
    assert server.store_limit() > before - (20 << 20)


async def test_a_grown_disk_raises_the_limit(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LOOK_FOR_ROOM", 0.05)
    async with EmbeddedServer(small_disk / "data") as server:
        settings = Settings(nats=(server.url,))
        watching = asyncio.create_task(Supervisor(server).run())
        async with Wire.open(settings) as wire, Client.open(settings) as client:
            await provision(wire, settings)
            bodies = [event(n, data={"message": "x" * 4000}) for n in range(6_000)]
            with pytest.raises(NoRoom):
                await client.publish_many(bodies, patience=0.2, check=False)
            grown = await asyncio.create_subprocess_exec("mount", "-o", "remount,size=64m", str(small_disk))
            assert await grown.wait() == 0
            assert sum(await client.publish_many(bodies, check=False)) == 6_000
        watching.cancel()


# A worker without NATS


@asynccontextmanager
async def worker_without_nats() -> AsyncIterator[asyncio.subprocess.Process]:
    async with process("worker", "--nats", closed_port.NATS, "--timeout", PATIENT) as started:
        said = await asyncio.wait_for(line_with(started.stderr, "nats_unreachable"), LIMIT)
        assert closed_port.ADDRESS in said
        yield started


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_worker_that_never_reached_nats_says_so_and_obeys(how: signal.Signals) -> None:
    async with worker_without_nats() as started:
        assert "worker_stopped" in await stopped(started, how)


async def test_a_worker_obeys_while_nothing_answers(own_server: EmbeddedServer) -> None:
    async with proxy_to(own_server.port) as proxy:
        url = f"nats://127.0.0.1:{proxy.port}"
        async with process("worker", "--nats", url, "--lease", "1", "--timeout", "1") as started:
            await line_with(started.stderr, "partition_taken")
            await own_server.kill()
            await line_with(started.stderr, "lease_wait")
            await stopped(started)


class WithoutJetStream(EmbeddedServer):
    def _config(self) -> str:
        return "\n".join(line for line in super()._config().splitlines() if not line.startswith("jetstream"))


async def test_a_worker_obeys_while_it_provisions(tmp_path: Path) -> None:
    async with WithoutJetStream(tmp_path) as server, process("worker", "--nats", server.url) as started:
        assert "has no JetStream" in await line_with(started.stderr, "worker_waits")
        await stopped(started)


async def test_what_cannot_come_ends_a_worker(own_server: EmbeddedServer) -> None:
    code, _, said = await call("worker", "--nats", own_server.url, "--replicas", "3")
    assert code == 6
    assert "replicas > 1 not supported" in said


async def test_a_take_over_is_left_at_once(own_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """STATE is empty and copies nothing, so the take-over waits for its own checkpoint."""
    settings = Settings(nats=(own_server.url,), partitions=1)
    async with Wire.open(settings) as wire:
        layout = await provision(wire, settings)
        config = (await wire.api(f"STREAM.INFO.{layout.state}"))["config"]
        transforms = config["sources"][0]["subject_transforms"]
        transforms[0]["src"] = transforms[0]["src"].replace(".transition.", ".elsewhere.")
        await wire.api(f"STREAM.UPDATE.{layout.state}", config)
        with suppress(NoAnswer):
            stop = asyncio.Event()
            monkeypatch.setattr("phaseline.engine.nats.stream_settings.report.check", lambda *_, **__: None)
            patient = replace(settings, request_timeout=float(PATIENT))
            working = asyncio.create_task(system.run_worker(patient, BUILT_IN_KINDS, stop))
            await asyncio.sleep(1.0)
            stop.set()
            await asyncio.wait_for(working, LIMIT)
