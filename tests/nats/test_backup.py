"""A backup that was made while everything ran is put back on another server, after the original was killed."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest

from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import InvalidInput, NoAnswer, PhaselineError, SetupError
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import (
    EmbeddedServer,
    Installation,
    Layout,
    Settings,
    Wire,
    at_work,
    layout_of,
    until_decided,
)
from tests.support.log_check import audited
from tests.support.own_installation import Client, OwnInstallation
from tests.support.random_events import RandomEvents, publish
from tests.support.timed_kinds import KINDS as TIMED
from tests.support.two_sites import (
    BackupManifest,
    back_up,
    backing_up,
    checkpoints,
    log_identity,
    manifest,
    order,
    restoring,
    state_of,
    stream_files,
)

LIMIT = 120


def quiet(*_: object) -> None:
    """Nobody looks at the progress."""


@asynccontextmanager
async def original(settings: Settings) -> AsyncIterator[tuple[EmbeddedServer, Settings, Wire]]:
    """A server of its own, with the prefix of the shared one, so that what is lost with it can be put back there."""
    async with EmbeddedServer() as server:
        there = replace(settings, nats=(server.url,), partitions=2, lease=1.0)
        async with Wire.open(there, name="test") as wire:
            yield server, there, wire


async def put_back(wire: Wire, settings: Settings, folder: Path, **changes: object) -> BackupManifest:
    found = manifest.read(folder)
    manifest.check(folder, found, quiet)
    await restoring.restore(wire, layout_of(settings, 1), folder, found, changes, quiet, quiet)
    return found


def loses_checkpoints(wire: Wire, layout: Layout) -> AbstractContextManager[object]:
    """The server puts LOG back without checkpoints, as if all had been replaced while it packed."""
    usual = stream_files.put_back

    async def without_checkpoints(*asked: Any) -> int:
        last = await usual(*asked)
        if asked[1].stream == layout.log:
            await wire.api(f"STREAM.PURGE.{layout.log}", {"filter": Subjects(layout.prefix).checkpoint("*")})
        return last

    return mock.patch.object(stream_files, "put_back", without_checkpoints)


async def test_a_checkpoint_that_was_replaced_while_the_server_packed_is_put_back(
    wire: Wire, settings: Settings, tmp_path: Path
) -> None:
    """The server packs what LOG had when it was asked, and leaves out what is gone by then. Here it is gone."""
    fleet, folder = RandomEvents(settings.prefix), tmp_path / "backup"
    async with original(settings) as (server, there, far):
        async with at_work(there, far) as layout:
            await publish(far, list(fleet.built(4, 3)))
            await until_decided(far, layout)
            read = checkpoints.saved

            async def before_more(*asked: Any) -> list[checkpoints.SavedCheckpoint]:
                found = await read(*asked)
                await publish(far, list(fleet.life(100, 4, 3)))
                await until_decided(far, layout)
                return found

            backing_up.new_folder(folder)
            with mock.patch.object(checkpoints, "saved", before_more):
                made = await back_up(Installation(far, layout, BUILT_IN_KINDS), folder, "/me", quiet, quiet)
        await server.kill()
    standing = made.checkpoints or []
    with loses_checkpoints(wire, layout):
        await put_back(wire, settings, folder)
    one = replace(settings, partitions=2, lease=1.0)
    assert [saved.body for saved in await checkpoints.saved(wire, layout)] == [saved.body for saved in standing]
    async with at_work(one, wire):
        await until_decided(wire, layout)
    assert len(standing) == 2
    assert (await audited(wire, layout)).holds


async def test_a_backup_without_checkpoints_is_refused(
    wire: Wire, settings: Settings, made: tuple[Layout, Path]
) -> None:
    """One that an earlier version made may lack them. No worker could go on with it."""
    layout, folder = made
    for stream in layout.streams:
        await wire.api(f"STREAM.DELETE.{stream}")
    manifest.write(folder, msgspec.structs.replace(manifest.read(folder), checkpoints=None))
    with (
        loses_checkpoints(wire, layout),
        pytest.raises(InvalidInput, match="no checkpoint"),
    ):
        await put_back(wire, settings, folder)


async def test_the_original_is_killed_and_the_backup_goes_on(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    fleet, folder = RandomEvents(settings.prefix), tmp_path / "backup"
    async with original(settings) as (server, there, far):
        async with at_work(there, far) as layout:
            await publish(far, list(fleet.built(4, 3)))
            await until_decided(far, layout)
            before = await state_of(far, layout.events)
            going = asyncio.create_task(publish(far, list(fleet.life(400, 4, 3))))
            installation = Installation(far, layout, BUILT_IN_KINDS)
            number = await log_identity(installation)
            backing_up.new_folder(folder)
            made = await back_up(installation, folder, "/me", quiet, quiet)
            await going
        await server.kill()
    assert [one.stream for one in made.streams] == [layout.log, layout.events, layout.state]
    assert (made.log, made.made_by) == (number, "/me")
    assert made == await put_back(wire, settings, folder)
    events = (await state_of(wire, layout.events))["last_seq"]
    assert before["last_seq"] <= events, "what was stored before it began is in it"
    one = replace(settings, partitions=2, lease=1.0)
    async with at_work(one, wire), Client.open(one, kinds=BUILT_IN_KINDS) as client:
        await until_decided(wire, layout)
        assert await client.log_identity() > number
        found = await client.publish_and_wait("cluster", "create", "new", timeout=LIMIT)
        assert found.rejection is None
        await until_decided(wire, layout)
        assert (await audited(wire, layout)).holds


async def test_timers_that_fired_while_it_was_made_go_on(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    """EVENTS has rings that LOG fired after LOG was read. LOG does not fire again at the places of these."""
    kinds = Kinds(TIMED, products=PRODUCTS)
    async with original(settings) as (server, there, far):
        async with at_work(there, far, kinds) as layout, Client.open(there, kinds=kinds) as client:
            await client.publish_and_wait("probe", "start", "p", {"first": 1.0, "again": 1.0}, timeout=LIMIT)
            await rung(client, 2)
            state, log = [await stream_files.save(far, one, tmp_path, quiet) for one in order(layout)[:2]]
            await rung(client, (await rings(client)) + 3)
            events = await stream_files.save(far, layout.events, tmp_path, quiet)
            reached = (await state_of(far, layout.log))["last_seq"]
        await server.kill()
    assert reached > log.last
    made = BackupManifest(prefix=settings.prefix, streams=[log, events, state], reached=reached)
    manifest.write(tmp_path, made)
    await put_back(wire, settings, tmp_path)
    last = (await state_of(wire, layout.events))["last_seq"]
    fired = await wire.publish_acked(Subjects(settings.prefix).fired("probe", "ring", "p"), b"")
    assert fired.seq > reached
    async with asyncio.timeout(LIMIT):
        while (await state_of(wire, layout.events))["last_seq"] == last:
            await asyncio.sleep(0.1)
    one = replace(settings, partitions=2, lease=1.0)
    async with at_work(one, wire, kinds), Client.open(one, kinds=kinds) as client:
        await rung(client, (await rings(client)) + 3)


async def rings(client: Client) -> int:
    return int((await client.get("probe", "p")).attributes["rings"])


async def rung(client: Client, times: int) -> None:
    """Wait until the probe rang so often."""
    async with asyncio.timeout(LIMIT):
        while await rings(client) < times:
            await asyncio.sleep(0.1)


@pytest.fixture
async def made(wire: Wire, settings: Settings, tmp_path: Path) -> tuple[Layout, Path]:
    """A small backup of the shared server, whose streams are still there."""
    one, folder = replace(settings, partitions=1, lease=1.0), tmp_path / "made"
    async with at_work(one, wire) as layout:
        await publish(wire, list(RandomEvents(settings.prefix).built(1, 1)))
        await until_decided(wire, layout)
        backing_up.new_folder(folder)
        await back_up(Installation(wire, layout, BUILT_IN_KINDS), folder, "/me", quiet, quiet)
    return layout, folder


async def test_what_is_in_the_way_stays(wire: Wire, settings: Settings, made: tuple[Layout, Path]) -> None:
    layout, folder = made
    before = [await state_of(wire, one) for one in order(layout)]
    with pytest.raises(SetupError, match="exists on this server"):
        await put_back(wire, settings, folder)
    assert before == [await state_of(wire, one) for one in order(layout)]
    with pytest.raises(InvalidInput, match="something is there already"):
        backing_up.new_folder(folder)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def turned(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def led_away(file: Path) -> None:
    file.unlink()
    file.symlink_to("/etc/passwd")


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "gone": (Path.unlink, "No such file"),
    "cut": (cut, "take it from a copy"),
    "turned": (turned, "is not the file that was written"),
    "led away": (led_away, "leads out of the folder"),
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_file_is_found_before_anything_is_made(made: tuple[Layout, Path], damage: str) -> None:
    layout, folder = made
    change, said = DAMAGES[damage]
    change(folder / f"{layout.events}.stream")
    with pytest.raises(InvalidInput, match=said):
        manifest.check(folder, manifest.read(folder), quiet)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "cannot be read"), (b"[]", "cannot be read"), (b'{"phaseline": "archive"}', "not that of a backup"),
        (b'{"phaseline": "backup"}', "cannot be read"), (b"[" * 5_000, "cannot be read"),
    ],
)  # fmt: skip
def test_a_strange_manifest_is_refused(tmp_path: Path, text: bytes, said: str) -> None:
    with pytest.raises(InvalidInput, match="was not finished"):
        manifest.read(tmp_path)
    (tmp_path / manifest.NAME).write_bytes(text)
    with pytest.raises(InvalidInput, match=said):
        manifest.read(tmp_path)


def test_a_manifest_names_nothing_outside(tmp_path: Path) -> None:
    entry = {"stream": "s", "file": "../x", "config": {}, "state": {}, "bytes": 1, "sha256": ""}
    found = {"phaseline": "backup", "prefix": "pl", "streams": [entry], "reached": 0}
    (tmp_path / manifest.NAME).write_bytes(msgspec.json.encode(found))
    with pytest.raises(InvalidInput, match="cannot be read"):
        manifest.read(tmp_path)


async def test_a_server_that_dies_in_the_middle_leaves_no_backup(settings: Settings, tmp_path: Path) -> None:
    async with original(settings) as (server, there, far):
        async with at_work(there, far) as layout:
            await publish(far, list(RandomEvents(settings.prefix).built(1, 1)))
            await until_decided(far, layout)

        def begin(stream: str, _: int) -> None:
            if stream == layout.log:
                os.kill(server.pid, signal.SIGKILL)

        far.settings = replace(far.settings, request_timeout=2.0)
        with pytest.raises(NoAnswer):
            await back_up(Installation(far, layout, BUILT_IN_KINDS), tmp_path, "/me", begin, quiet)
    with pytest.raises(InvalidInput, match="was not finished"):
        manifest.read(tmp_path)


async def test_a_stream_that_is_gone(installation: OwnInstallation, made: tuple[Layout, Path], tmp_path: Path) -> None:
    layout, _ = made
    await installation.wire.api(f"STREAM.DELETE.{layout.log}")
    with pytest.raises(PhaselineError, match="no service answers"):
        await back_up(Installation(installation.wire, layout, BUILT_IN_KINDS), tmp_path, "/me", quiet, quiet)


async def test_places_are_skipped_once(wire: Wire, settings: Settings, made: tuple[Layout, Path]) -> None:
    layout, _ = made
    before = await state_of(wire, layout.log)
    for place in (before["last_seq"] + 12_345, before["last_seq"] + 12_345, 1):
        await restoring.skip_to(wire, layout, place)
        after = await state_of(wire, layout.log)
        assert (after["messages"], after["last_seq"]) == (before["messages"], before["last_seq"] + 12_345)
    one = replace(settings, partitions=1)
    async with at_work(one, wire), Client.open(one, kinds=BUILT_IN_KINDS) as client:
        found = await client.publish_and_wait("node", "reported", "c0/p/n0", {"phase": "Running"}, timeout=LIMIT)
        assert found.rejection is None
        assert (await audited(wire, layout)).holds
