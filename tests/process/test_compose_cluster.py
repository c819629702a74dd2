"""The servers and workers of compose.yaml as processes on loopback, with its arguments. Any one of them may fail.

All connections have TLS, with certificates from the script that compose.yaml runs.
"""

import asyncio
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from phaseline import connect
from tests.support import free_ports
from tests.support.account_requests import INTERNAL, OTHER_TREES, REQUESTS, sizes
from tests.support.accounts_server import inbox_of
from tests.support.command import Shell, ended, line_with
from tests.support.compose_file import CERTIFICATES, CONFIGURATION, FOLDER, OURS, SERVERS, WORKERS
from tests.support.installation import Settings, Wire, find_binary

CLIENT, ROUTES, MONITOR = "4222", "6222", "8222"
LIMIT = 60
ADDRESSES = [f"{name}:{port}" for name in SERVERS for port in (CLIENT, ROUTES, MONITOR)]
"""All that the file names."""
Places = dict[str, str]
"""The address on this machine for each of these."""


def here(text: str, at: Places) -> str:
    return re.sub(r"n\d:\d+", lambda found: at[found[0]], text)


def inside(text: str, store: Path) -> str:
    """A text with paths of a container, as paths of this test."""
    return text.replace(FOLDER, str(store))


def configuration(name: str, at: Places, store: Path) -> Path:
    """The configuration of a server, on loopback and free ports."""
    client, routes, monitor = (at[f"{name}:{port}"] for port in (CLIENT, ROUTES, MONITOR))
    changes = {
        f"port: {CLIENT}": f'listen: "{client}"',
        f"http_port: {MONITOR}": f'http: "{monitor}"',
        f"0.0.0.0:{ROUTES}": routes,
        '"/data"': f'"{store / name}"',
    }
    text = inside(here(CONFIGURATION, at), store)
    for found, changed in changes.items():
        assert text.count(found) == 1
        text = text.replace(found, changed)
    path = store / f"{name}.conf"
    path.write_text(text)
    return path


@asynccontextmanager
async def server(name: str, at: Places, store: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """One of the servers of the file. It is killed at the end, if not before."""
    words = [inside(word, store) for word in SERVERS[name]["command"]]
    words[words.index("--config") + 1] = str(configuration(name, at, store))
    with (store / f"{name}.log").open("wb") as log:
        started = await asyncio.create_subprocess_exec(find_binary(), *words, stdout=log, stderr=log)
    async with ended(started):
        yield started


async def is_healthy(name: str, at: Places) -> None:
    """Run the health check of the file until it succeeds."""
    asked = SERVERS[name]["healthcheck"]["test"][-1].replace(f"127.0.0.1:{MONITOR}", at[f"{name}:{MONITOR}"])
    async with asyncio.timeout(LIMIT):
        while True:
            try:
                await asyncio.to_thread(urllib.request.urlopen, asked, timeout=2)
            except (urllib.error.URLError, OSError):
                await asyncio.sleep(0.1)
            else:
                return


def environment(name: str, at: Places, store: Path) -> dict[str, str]:
    """The environment of one of our services."""
    found = OURS[name]["environment"]
    return {key: inside(here(value, at), store) for key, value in found.items()}


async def publish_until_it_took_effect(operator: Shell, trigger: str, event: str) -> None:
    """Send the same event, as a careful publisher does, until the answer says that it took effect."""
    async with asyncio.timeout(2 * LIMIT):
        while (await operator("publish", "cluster", trigger, "c1", "--id", event, "--wait")).code:
            await asyncio.sleep(0.1)


async def make_certificates(store: Path) -> None:
    """Run the service that makes certificates; without openssl the test is skipped."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    words = [inside(word, store) for word in OURS["certificates"]["command"]]
    made = await asyncio.create_subprocess_exec("sh", CERTIFICATES, *words, stdout=asyncio.subprocess.DEVNULL)
    assert await made.wait() == 0


@asynccontextmanager
async def installation(at: Places, store: Path) -> AsyncIterator[dict[str, asyncio.subprocess.Process]]:
    """The servers of the file, with its accounts, once they are healthy."""
    await make_certificates(store)
    (store / "accounts").mkdir()
    assert (await Shell()(*(inside(word, store) for word in OURS["accounts"]["command"]))).code == 0
    async with AsyncExitStack() as running:
        servers = {name: await running.enter_async_context(server(name, at, store)) for name in SERVERS}
        await asyncio.gather(*(is_healthy(name, at) for name in SERVERS))
        yield servers


@pytest.mark.slow
@pytest.mark.parametrize("victim", SERVERS)
async def test_it_outlives_the_loss_of_any_one(victim: str, tmp_path: Path) -> None:
    at = free_ports.places(ADDRESSES)
    operator = Shell(**environment("operator", at, tmp_path))
    async with installation(at, tmp_path) as servers, AsyncExitStack() as running:
        workers = []
        for name, worker in WORKERS.items():
            started = await Shell(**environment(name, at, tmp_path)).start(*worker["command"])
            workers.append(await running.enter_async_context(ended(started)))
        for started in workers:
            await line_with(started.stderr, "partition_taken")
        await publish_until_it_took_effect(operator, "create", "e1")
        for lost in (servers[victim], workers[0]):
            lost.kill()
            await lost.wait()
        await publish_until_it_took_effect(operator, "created", "e2")
        urls = [f"nats://{at[f'{name}:{CLIENT}']}" for name in SERVERS if name != victim]
        # If the victim led the cluster, no consumer can be created until another leader is elected.
        chosen = environment("operator", at, tmp_path)
        key, inbox, ca = (chosen[f"PHASELINE_{name}"] for name in ("NKEY", "INBOX_PREFIX", "TLS_CA"))
        async with connect(urls, nkey=key, inbox_prefix=inbox, tls_ca=ca, request_timeout=LIMIT) as client:
            history = [(found.entity.version, found.after.phase) async for found in client.history("cluster", "c1")]
        assert history == [(1, "Creating"), (2, "Running")]
        assert workers[1].returncode is None


@pytest.mark.slow
async def test_no_answer_of_any_node_arrives_where_its_asker_may_not_publish(tmp_path: Path) -> None:
    at = free_ports.places(ADDRESSES)
    async with installation(at, tmp_path):
        name, worker = next(iter(WORKERS.items()))
        async with ended(await Shell(**environment(name, at, tmp_path)).start(*worker["command"])) as working:
            await line_with(working.stderr, "partition_taken")
            working.terminate()
            await working.wait()
        async with Wire.open(user("operator", "n1", at, tmp_path)) as operator:
            before = await sizes(operator)
            for node in SERVERS:
                await send_with_every_reply(user("tree-c1", node, at, tmp_path), [EVENT_OF_C1])
                await send_with_every_reply(user("reader", node, at, tmp_path), REQUESTS["reader"])
            await asyncio.sleep(1.0)
            now = await sizes(operator)
        sent = len(SERVERS) * len([reply for reply in REPLIES if not reply.startswith("$JS.ACK.")])
        assert now == {**before, "pl-EVENTS": before["pl-EVENTS"] + sent}


EVENT_OF_C1 = REQUESTS["tree-c1"][0]
REPLIES = [*INTERNAL, *OTHER_TREES, EVENT_OF_C1[0]]


async def send_with_every_reply(settings: Settings, requests: list[tuple[str, bytes]]) -> None:
    async with Wire.open(settings) as wire:
        for request, body in requests:
            for reply in REPLIES:
                wire.send(wire.frame(request, body, None, reply))
        await wire.flush()


def user(name: str, node: str, at: Places, store: Path) -> Settings:
    """A user of the accounts, connected to one node."""
    key = store / "accounts" / "keys" / f"{name}.nk"
    ca = store / "tls" / "ca.crt"
    return Settings(nats=(f"nats://{at[f'{node}:{CLIENT}']}",), nkey=key, tls_ca=ca, inbox_prefix=inbox_of(name))
