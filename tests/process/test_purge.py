"""`phaseline admin purge`: what is erased, what stays, and that an audit says so afterwards."""

import asyncio
import json
from pathlib import Path

import pytest

from phaseline.schemas.errors import Undecided
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import Shell
from tests.support.installation import EmbeddedServer, Installation, Settings, Wire, Worker, inspect
from tests.support.log_check import stored
from tests.support.own_installation import Client, OwnInstallation
from tests.support.owners import purge

ID = "shop/shop/core:ConfigMap/shop/words"
OTHER = "shop/shop/core:ConfigMap/shop/other"
WORD = "a-word-that-must-go"


def config(entity_id: str, **data: str) -> dict[str, object]:
    name = entity_id.rpartition("/")[2]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": data}


async def observe(client: Client, entity_id: str, *words: str) -> None:
    for word in words:
        live = config(entity_id, a=word)
        await client.publish_and_wait("resource", "observed", entity_id, {"live": live, "desired": live})


async def test_the_command(shell: Shell, client: Client, tmp_path: Path) -> None:
    await observe(client, ID, WORD, WORD + "2")
    await observe(client, OTHER, "stays")
    await observe(client, ID, WORD + "3", WORD + "4")
    wrong = {"live": config(OTHER, a=WORD)}
    assert (await client.publish_and_wait("resource", "observed", ID, wrong, check=False)).rejection is not None
    await client.publish("resource", "observed", ID, {"live": WORD}, check=False)
    await client.publish_and_wait("cluster", "create", "c1")

    dry = json.loads((await shell("admin", "purge", "resource", ID, "--dry-run", "--json")).out)
    assert dry == {
        "kind": "resource", "id": ID, "dry_run": True, "events": 6, "bytes": dry["bytes"], "last_observation": True,
        "rejections": 1, "transitions_kept": dry["transitions_kept"], "archived": None,
    }  # fmt: skip
    assert dry["bytes"] > 1_000
    assert dry["transitions_kept"] >= 2
    unsure = await shell("admin", "purge", "resource", ID)
    assert (unsure.code, "add --yes" in unsure.err) == (2, True)
    done = await shell("admin", "purge", "resource", ID, "--yes")
    assert done.code == 0
    assert done.out.startswith("erased 6 events (")
    assert "stay in the log" in done.err
    again = await shell("admin", "purge", "resource", ID, "--yes")
    assert again.out.startswith("nothing to erase: 0 events")

    unknown = await shell("admin", "purge", "resource", f"{ID}s", "--yes")
    assert (unknown.code, "there is no resource" in unknown.err) == (4, True)

    audited = await shell("log", "replay", "--audit", "--json", "-v")
    assert audited.code == 0, audited
    audit = audited.json
    assert (audit["holds"], audit["purged"], audit["erased"], audit["foreign"]) == (True, 6, 0, [])
    assert "foreign_message" not in audited.err
    await observe(client, ID, "new", "newer")
    for form in ("--tree=shop", "--from=1", "--from=3", "--from=7"):
        audited = await shell("log", "replay", "--audit", form)
        assert audited.code == 0, audited
    assert "purged" in audited.err or form == "--from=7"
    rebuilt = await shell("log", "replay", "--json")
    assert ID in rebuilt.out
    same = await shell("log", "replay", "--with", "installed", "--fail-on-difference", "--json")
    assert same.code == 0, same.out

    file = tmp_path / "log.plog"
    assert (await shell("log", "export", str(file), "--records")).code == 0
    from_file = await shell("log", "replay", "--file", str(file), "--audit", "--json")
    assert json.loads(from_file.out)["holds"], from_file

    unknown = await shell("admin", "purge", "nothing", ID, "--yes")
    assert unknown.code == 2
    bad = await shell("admin", "purge", "resource", "too/short", "--yes")
    assert bad.code == 2


async def purged(installation: Installation, entity_id: str) -> None:
    await purge.run(installation, await purge.find(installation, "resource", entity_id), "/me")


def holding(folder: Path) -> list[Path]:
    """The files below a folder that hold the word."""
    return [one for one in folder.rglob("*") if one.is_file() and WORD.encode() in one.read_bytes()]


async def test_nothing_of_it_is_left_in_the_files(own_server: EmbeddedServer, tmp_path: Path) -> None:
    settings = Settings(nats=(own_server.url,), partitions=2)
    stop = asyncio.Event()
    async with Wire.open(settings) as wire, Client.open(settings, source="/me", kinds=BUILT_IN_KINDS) as client:
        worker = Worker(wire, settings, BUILT_IN_KINDS)
        running = asyncio.create_task(worker.run(stop))
        await worker.ready.wait()
        installation = Installation(wire, await inspect(wire, settings), BUILT_IN_KINDS)
        await observe(client, OTHER, "stays")
        await client.publish_and_wait("resource", "observed", ID, {"live": WORD, "source": "wrong"}, check=False)
        await purged(installation, ID)
        await observe(client, ID, WORD)
        assert {file.parts[-3] for file in holding(tmp_path)} == {"pl-EVENTS", "pl-LIVE"}
        await purged(installation, ID)
        assert holding(tmp_path) == []
        assert len(await stored(wire, installation.layout.live, [])) == 1
        assert (await client.get("resource", ID)).version >= 1
        stop.set()
        await running


async def test_undecided_events_are_not_purged(installation: OwnInstallation) -> None:
    installation = installation.having(partitions=1)
    layout = await installation.layout()
    async with installation.client("/me") as client:
        await client.publish("resource", "observed", ID, {"live": config(ID)})
    with pytest.raises(Undecided):
        await purge.find(Installation(installation.wire, layout, BUILT_IN_KINDS), "resource", ID, timeout=0.3)


async def test_what_stands_in_an_archive_is_said(shell: Shell, client: Client, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    await observe(client, ID, WORD, WORD + "2")
    await client.publish_and_wait("resource", "observed", ID, {"live": WORD, "source": "wrong"}, check=False)
    await observe(client, OTHER, "stays")
    assert (await shell("log", "archive", "--before", "now", "--to", str(archive))).code == 0
    await observe(client, ID, WORD + "3")
    told = await shell("admin", "purge", "resource", ID, "--dry-run", "--json")
    assert (told.json["archived"], told.json["events"]) == (4, 4)
    done = await shell("admin", "purge", "resource", ID, "--yes")
    assert done.out.startswith("erased 4 events"), done  # an archive leaves what is young in EVENTS
    assert "archives hold all events up to 4: those of this entity are not erased there" in done.err
    again = await shell("admin", "purge", "resource", ID, "--yes")
    assert "archives hold all events up to 4" in again.err
    assert (await shell("log", "replay", "--audit", "--archive", str(archive))).code == 0
