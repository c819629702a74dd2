"""`up`, `worker` and `demo` as processes, as a person runs them."""

import asyncio
import json
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from tests.support import closed_port, free_ports
from tests.support.command import LIMIT, call, line_with, process, stopped
from tests.support.installation import EmbeddedServer

WELCOME = ("Phaseline listens on", "  data ", "  access ", "  workers ", "  log ", "  try ")


@asynccontextmanager
async def up(*words: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A running system and its URL."""
    async with process("up", "--port", "0", *words) as started:
        found = re.search(r"nats://\S+\d", await line_with(started.stderr, "listens on"))
        assert found
        yield started, found[0]


async def test_up_keeps_its_data_over_restarts(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    async with up("-v", "--data", data) as (system, url):
        code, out, _ = await call("publish", "--nats", url, "cluster", "create", "c1", "--wait", "--json")
        assert (code, json.loads(out)["effect"]) == (0, "transitions")
        assert "worker_stopped" in await stopped(system, signal.SIGINT)
    async with up("--data", data) as (system, url):
        code, out, _ = await call("get", "--nats", url, "cluster", "c1", "--json")
        assert (code, json.loads(out)["facets"]["phase"]["state"]) == (0, "Creating")
        code, out, _ = await call("publish", "--nats", url, "cluster", "created", "c1", "--wait", "--json")
        assert json.loads(out)["records"][0]["data"]["version"] == 2
        said = await stopped(system, signal.SIGTERM)
    # Without -v there is a line per thing, and no log line that scrolls them away.
    *welcome, last = said.splitlines()
    assert [line.startswith(word) for line, word in zip(welcome, WELCOME[1:], strict=False)] == [True] * 5, said
    assert len(welcome) == 5, said
    assert welcome[0] == f"  data     {data}"
    assert last.startswith("stopping")


async def test_a_second_up_on_the_same_data_is_an_error(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    async with up("--data", data) as (system, _):
        code, _, said = await call("up", "--port", "0", "--data", data)
        assert code == 6
        assert "another embedded server is using" in said
        await stopped(system, signal.SIGINT)


async def test_up_with_several_workers_shares_the_partitions() -> None:
    port = free_ports.side_by_side(2)
    metrics = ("--metrics", f"127.0.0.1:{port}")
    async with up("-v", "--workers", "2", "--lease", "1", *metrics) as (system, url):
        code, _, said = await call("publish", "--nats", url, "--file", "examples/morning.jsonl")
        assert code == 0, said
        code, out, _ = await call("watch", "--nats", url, "--from", "start", "--limit", "93", "--rejections", "--json")
        assert code == 0
        assert len(out.splitlines()) == 93
        await line_with(system.stderr, "worker_started")  # the other one; that of `up` started before the welcome
        async with httpx2.AsyncClient(timeout=LIMIT, trust_env=False, verify=False) as http:
            for one in (port, port + 1):
                assert (await http.get(f"http://127.0.0.1:{one}/livez")).text == "ok\n"
        said = await stopped(system, signal.SIGINT)
        assert len(re.findall("worker_stopped", said)) == 2


async def test_workers_come_and_go(own_server: EmbeddedServer) -> None:
    nats = ("--nats", own_server.url)
    async with process("worker", *nats, "--partitions", "3", "--lease", "1") as first:
        await line_with(first.stderr, "partition_taken")
        async with process("worker", *nats, "--lease", "1") as second:
            await line_with(second.stderr, "worker_started")
            await stopped(first, signal.SIGTERM)
            code, out, _ = await call("publish", *nats, "cluster", "create", "c1", "--wait", "30")
            assert code == 0
            assert "new -> Creating [Progressing]" in out
            code, _, said = await call("worker", *nats, "--partitions", "5")
            assert code == 6
            assert "made with 3 partitions, not 5" in said
            await stopped(second, signal.SIGTERM)


async def test_the_demo_shows_the_morning() -> None:
    code, out, said = await call("demo", "--speed", "0")
    assert code == 0, said
    assert "node shop-eu/web/web-4  Deleting [Balance, Progressing] -> Failed [Balance, ResourceCleanupFailed]" in out
    assert "rejected: node_pool shop-us/web is Failed [ClusterNotRunning]" in out
    assert "no effect" not in out
    assert out.splitlines()[-1].endswith("node web-3  Running [Ok]")


async def test_wrong_options_of_metrics_are_refused() -> None:
    for words, problem in (
        (("--metrics", "nowhere:nothing"), "must be HOST:PORT, such as 127.0.0.1:9464"),
        (("--metrics", "0", "--metrics-entities", "nod"), "did you mean node?"),
        (("--metrics-entities", "node"), "needs --metrics"),
    ):
        code, _, said = await call("worker", "--nats", closed_port.NATS, *words)
        assert (code, problem in said) == (2, True), said
