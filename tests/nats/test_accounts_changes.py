"""Accounts come to an installation that exists, and a tree to accounts that exist, as docs/security.md says."""

import asyncio
import gc
import os
import signal
from pathlib import Path

import pytest

from phaseline.schemas.errors import NotPermitted, SetupError
from tests.support.accounts_server import AccountPlan, AccountsServer
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import EmbeddedServer, Settings, Wire, Worker
from tests.support.own_installation import Client
from tests.support.raising import raises


async def test_an_installation_without_accounts_moves_into_them(tmp_path: Path) -> None:
    data, stop = tmp_path / "data", asyncio.Event()
    async with EmbeddedServer(data) as before:
        settings = Settings(nats=(before.url,), partitions=2)
        async with Wire.open(settings) as wire, Client.open(settings) as client:
            worker = Worker(wire, settings, BUILT_IN_KINDS)
            working = asyncio.create_task(worker.run(stop))
            await worker.ready.wait()
            await client.publish_and_wait("cluster", "create", "c1")
            stop.set()
            await working
    (data / "jetstream" / "$G").rename(data / "jetstream" / "pl_engine")
    async with AccountsServer(AccountPlan("pl", ("c1",)), tmp_path / "keys", data=data) as server:
        await server.start_worker()
        async with Client.open(server.settings("operator")) as operator:
            assert (await operator.publish_and_wait("cluster", "created", "c1")).effect == "transitions"
        async with Client.open(server.settings("reader")) as reader:
            history = [record.after.phase async for record in reader.history("cluster", "c1")]
        await server.stop_worker()
    assert history == ["Creating", "Running"]


# nats-py leaves the socket of each refused reconnect to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_tree_and_its_rights_come_and_go_by_a_reload(tmp_path: Path) -> None:
    async with AccountsServer(AccountPlan("pl", ("c1",)), tmp_path / "keys") as server:
        await server.start_worker()
        async with Client.open(server.settings("tree-c1")) as first:
            await first.publish("cluster", "create", "c1")
            await reload(server, AccountPlan("pl", ("c1", "c2")))
            async with Client.open(server.settings("tree-c2")) as second:
                assert (await second.publish("cluster", "create", "c2")).sequence == 2
                with pytest.raises(NotPermitted):
                    await second.publish("cluster", "create", "c1")
                assert (await first.publish("cluster", "update", "c1")).sequence == 3
                await reload(server, AccountPlan("pl", ("c1",)))
            with raises(SetupError.user_refused):
                async with Wire.open(server.settings("tree-c2", connect_timeout=2.0)) as wire:
                    await wire.flush()
            assert (await first.publish("cluster", "update", "c1")).sequence == 4
        await server.stop_worker()
    gc.collect()


async def reload(server: AccountsServer, plan: AccountPlan) -> None:
    """Let the server read its configuration again, with the accounts of this plan."""
    server.plan = plan
    config = server.log.parent / "nats-server.conf"
    config.write_text(server._config().replace("listen: 127.0.0.1:-1", f"listen: 127.0.0.1:{server.port}"))
    known = server.log.read_text().count("Reloaded server configuration")
    os.kill(server.pid, signal.SIGHUP)
    async with asyncio.timeout(120):
        while server.log.read_text().count("Reloaded server configuration") == known:
            await asyncio.sleep(0.02)


async def test_trees_with_names_of_any_script(tmp_path: Path) -> None:
    plan = AccountPlan("pl", ("größe", "集群"))
    async with AccountsServer(plan, tmp_path / "keys") as server, Wire.open(server.settings("tree-集群")) as wire:
        wire.publish("pl.events.集群.cluster.create", b"{}")
        await wire.flush()
        with pytest.raises(NotPermitted):
            await wire.request("pl.events.größe.cluster.create")
