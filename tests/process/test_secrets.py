"""A raw Secret that somebody publishes is in no stream, no log line and no file of the server within a second."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from structlog.testing import capture_logs

from phaseline.engine.worker import erasure
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.errors import ApiFailed, NotFound
from phaseline.schemas.records import Cause, Rejection
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import Shell
from tests.support.installation import EmbeddedServer, Layout, Settings, Wire, Worker, layout_of
from tests.support.log_check import decided, stored
from tests.support.own_installation import Client
from tests.support.raising import raises

VALUE = "hunter2-of-the-shop"
CODED = base64.b64encode(VALUE.encode()).decode()
MASKED = base64.b64encode(b"masked:0123456789abcdef0123456789abcdef").decode()
ID = "shop/shop/core:Secret/shop/mail"
OBSERVED = "pl.events.shop.resource.observed.shop.core:Secret.shop"


def secret(value: str, name: str = "mail") -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "shop"},
        "data": {"password": value},
    }  # fmt: skip


def body(data: dict[str, Any], **more: Any) -> bytes:
    return codec.encode(
        {"specversion": "1.0", "id": "e1", "source": "/me", "type": "resource.observed", "data": data, **more}
    )


def leaks(folder: Path) -> list[str]:
    """The files below a folder that hold the value, as text or in base64."""
    words = (VALUE.encode(), CODED.encode())
    return [str(one) for one in folder.rglob("*") if one.is_file() and any(word in one.read_bytes() for word in words)]


async def raw(wire: Wire, layout: Layout) -> list[bytes]:
    """The bodies of all streams."""
    streams = (layout.events, layout.log, layout.state, layout.live)
    return [message.data for name in streams for message in await stored(wire, name, [])]


class Running:
    """A worker on a server of the test's own, with all files in one folder."""

    def __init__(self, server: EmbeddedServer, wire: Wire, settings: Settings) -> None:
        self.server, self.wire, self.settings = server, wire, settings
        self.layout = layout_of(settings, 2)

    async def settled(self) -> None:
        async with asyncio.timeout(120):
            while not await decided(self.wire, self.layout):
                await asyncio.sleep(0.02)

    async def gone(self, folder: Path) -> None:
        """Wait until no file holds the value."""
        async with asyncio.timeout(120):
            while leaks(folder):
                await asyncio.sleep(0.05)


async def working(wire: Wire, settings: Settings, stop: asyncio.Event) -> asyncio.Task[None]:
    worker = Worker(wire, settings, BUILT_IN_KINDS)
    running = asyncio.create_task(worker.run(stop))
    await worker.ready.wait()
    return running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "nats"


@pytest.fixture
def mine(own_settings: Settings) -> Settings:
    return Settings(nats=own_settings.nats, partitions=2)


MESSAGES = {
    "live": (f"{OBSERVED}.a", body({"live": secret(CODED, "a")})),
    "desired": (f"{OBSERVED}.b", body({"live": None, "desired": secret(CODED, "b")})),
    "json": (f"{OBSERVED}.c", json.dumps(codec.decode(body({"live": secret(CODED, "c")}))).encode()),
    "not whole": (f"{OBSERVED}.d", json.dumps(codec.decode(body({"live": secret(CODED, "d")}))).encode()[:-1]),
    "bad id": ("pl.events.%zz.resource.observed.x", body({"live": secret(CODED)})),
    "other kind": ("pl.events.shop.nothing.here", body({"live": secret(CODED)}, type="nothing.here")),
    "other trigger": ("pl.events.c1.cluster.create", body({"x": [secret(CODED)]}, type="cluster.create")),
}


async def shows_nothing(server: EmbeddedServer, rejected: list[dict[str, Any]]) -> None:
    """The audit is clean and counts the erased events, and no command shows a value."""
    shell = Shell(PHASELINE_NATS=server.url)
    audit = await shell("log", "replay", "--audit", "--json")
    assert (audit.code, audit.json["holds"], audit.json["erased"]) == (0, True, len(MESSAGES)), audit
    commands = [
        ("log", "replay", "--audit"), ("log", "replay", "--with", "installed"), ("rejections", "--json"), ("rejections", "show", "7"),
        ("why", "shop/shop/core:Secret/shop/a"), ("list", "--json"), ("watch", "--from", "start", "--no-follow"),
        ("publish", "--dry-run", "resource", "observed", ID, "--data", json.dumps({"live": secret(CODED)})),
    ]  # fmt: skip
    for words in commands:
        answer = await shell(*words)
        assert VALUE not in answer.out + answer.err
        assert CODED not in answer.out + answer.err
    assert rejected


async def test_a_raw_secret_is_nowhere(own_server: EmbeddedServer, mine: Settings, folder: Path) -> None:
    stop = asyncio.Event()
    with capture_logs() as lines:
        async with Wire.open(mine) as wire:
            running = await working(wire, mine, stop)
            system = Running(own_server, wire, mine)
            await wire.request(f"{OBSERVED}.kept", body({"live": secret(MASKED, "kept")}))
            for subject, message in MESSAGES.values():
                await wire.request(subject, message)
            await wire.request("pl.events.c2.cluster.create", body({}, type="cluster.create", id="e9"))
            await system.settled()
            await system.gone(folder)
            found = await raw(wire, system.layout)
            rejected = [one for one in map(codec.decode, found) if str(one.get("type")).endswith(".rejected")]
            assert [one["data"]["reason"] for one in rejected] == ["secret"] * len(MESSAGES)
            assert not any(VALUE.encode() in one or CODED.encode() in one for one in found)
            assert len(await stored(wire, system.layout.events, [])) == 2
            async with asyncio.timeout(60):
                while len(await stored(wire, system.layout.live, [])) != 1:
                    await asyncio.sleep(0.05)
            await shows_nothing(own_server, rejected)
            async with asyncio.timeout(60):  # a worker says so once it has looked for copies for a while
                while [one["event"] for one in lines].count("secret_erased") < len(MESSAGES):
                    await asyncio.sleep(0.05)
            stop.set()
            await running
    assert VALUE not in str(lines)
    assert CODED not in str(lines)
    assert [one["event"] for one in lines].count("secret_erased") == len(MESSAGES)
    await own_server.restart()
    assert leaks(folder) == []


async def test_what_a_killed_worker_left_is_erased_by_the_next(
    own_server: EmbeddedServer, mine: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: Any) -> bool:
        raise ApiFailed(subject="x", nats_code=500, err_code=1, description="not now")

    async with Wire.open(mine) as wire:
        system = Running(own_server, wire, mine)
        stop = asyncio.Event()
        with monkeypatch.context() as patched:
            patched.setattr(erasure, "erase", refused)
            running = await working(wire, mine, stop)
            for subject, message in MESSAGES.values():
                await wire.request(subject, message)
            await system.settled()
            stop.set()
            await running
        assert leaks(folder)
        stop.clear()
        running = await working(wire, mine, stop)
        await system.gone(folder)
        assert await stored(wire, system.layout.events, []) == []
        assert await stored(wire, system.layout.live, []) == []
        stop.set()
        await running


async def test_what_is_not_erased_yet_is_in_no_export_and_no_archive(
    own_server: EmbeddedServer, mine: Settings, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are kept for years, and nobody erases anything in them."""

    async def refused(*_: Any) -> bool:
        raise ApiFailed(subject="x", nats_code=500, err_code=1, description="not now")

    monkeypatch.setattr(erasure, "erase", refused)
    shell, files = Shell(PHASELINE_NATS=own_server.url), tmp_path / "files"
    files.mkdir()
    async with Wire.open(mine) as wire:
        system, stop = Running(own_server, wire, mine), asyncio.Event()
        running = await working(wire, mine, stop)
        for subject, message in MESSAGES.values():
            await wire.request(subject, message)
        await wire.request("pl.events.c2.cluster.create", body({}, type="cluster.create", id="e9"))
        await system.settled()
        stop.set()
        await running
    assert leaks(folder)
    for name, more in (("bare.plog", ()), ("whole.plog", ("--records",))):
        assert (await shell("log", "export", str(files / name), *more)).code == 0
    audit = await shell("log", "replay", "--audit", "--file", str(files / "whole.plog"), "--json")
    assert (audit.json["holds"], audit.json["erased"], audit.json["events"]) == (True, len(MESSAGES), 1), audit
    assert (await shell("log", "archive", "--before", "now", "--to", str(files / "archive"))).code == 0
    for part in (files / "archive").glob("part-*.zst"):
        with part.open("rb") as packed:
            (files / f"{part.name}.open").write_bytes(zstandard.ZstdDecompressor().stream_reader(packed).read())
    assert len([*files.glob("part-*")]) == 1
    assert leaks(files) == []


async def test_a_forged_rejection_erases_nothing(own_server: EmbeddedServer, mine: Settings) -> None:
    async with Wire.open(mine) as wire:
        system = Running(own_server, wire, mine)
        stop = asyncio.Event()
        running = await working(wire, mine, stop)
        await wire.request(f"{OBSERVED}.kept", body({"live": secret(MASKED, "kept")}))
        await system.settled()
        stop.set()
        await running
        cause = Cause(1, "e1", "/me", "event")
        forged = Rejection("resource", ID, "observed", "secret", "no", None, (), cause, 1, b"")
        message = wire_codec.write(forged, 0, 1, "phaseline/pl", "")
        for partition in (0, 1):
            await wire.request(f"pl.log.{partition}.rejection.resource.secret.shop", message)
            await wire.request(f"pl.log.{partition}.rejection.resource.secret.x", b"garbage")
        stop.clear()
        running = await working(wire, mine, stop)
        await wire.request(f"{OBSERVED}.a", body({"live": secret(CODED, "a")}))
        await system.settled()
        async with asyncio.timeout(120):
            while len(await stored(wire, system.layout.events, [])) > 1:
                await asyncio.sleep(0.05)
        assert [one.sequence for one in await stored(wire, system.layout.events, [])] == [1]
        assert len(await stored(wire, system.layout.live, [])) == 1
        stop.set()
        await running


async def test_readers_of_the_last_observation_get_none(
    own_server: EmbeddedServer, mine: Settings, folder: Path
) -> None:
    stop = asyncio.Event()
    async with Wire.open(mine) as wire, Client.open(mine, source="/me", kinds=BUILT_IN_KINDS) as client:
        running = await working(wire, mine, stop)
        found = await client.publish_and_wait("resource", "observed", ID, {"live": secret(CODED)}, check=False)
        assert found.rejection is not None
        assert (found.rejection.reason, found.rejection.payload) == ("secret", None)
        await Running(own_server, wire, mine).gone(folder)
        with raises(NotFound.not_observed):
            await client.gitops.diff(ID)
        assert await client.event(found.receipt.sequence) is None
        stop.set()
        await running
