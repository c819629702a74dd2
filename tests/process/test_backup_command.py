"""`phaseline admin backup` and `admin restore`, as people and programs call them."""

from pathlib import Path

from tests.support.accounts_server import accounts_installation
from tests.support.command import Shell
from tests.support.installation import EmbeddedServer, Settings, Wire
from tests.support.own_installation import Client


async def test_a_backup_is_made_checked_and_put_back(
    shell: Shell, client: Client, settings: Settings, tmp_path: Path
) -> None:
    await client.publish_and_wait("cluster", "create", "c1")
    folder = tmp_path / "monday"
    told = await shell("admin", "backup", str(folder))
    assert (told.code, told.err) == (0, "")
    assert f"backup {folder} is made: 3 streams of {settings.prefix}, " in told.out
    assert (await shell("admin", "backup", str(folder))).code == 2
    shown = (await shell("admin", "backup", "--check", str(folder), "--json")).json
    assert [one["stream"] for one in shown["streams"]] == [settings.stream(one) for one in ("LOG", "EVENTS", "STATE")]
    assert shown["made_by"].startswith("/phaseline/cli/")
    taken = await shell("admin", "restore", str(folder))
    assert (taken.code, taken.out) == (6, "")
    assert f"nothing was put back: the stream {settings.stream('EVENTS')} exists on this server" in taken.err
    other = await shell("admin", "restore", str(folder), "--prefix", "other")
    assert (other.code, f"it is one of the prefix {settings.prefix}" in other.err) == (2, True)
    async with EmbeddedServer() as server:
        there = ("--nats", server.url)
        back = await shell("admin", "restore", str(folder), "--replicas", "1", "--anywhere", *there)
        assert (back.code, f"backup {folder} is put back: 3 streams" in back.out) == (0, True)
        assert "start the workers" in back.err
        assert (await shell("get", "cluster", "c1", "--json", *there)).json["id"] == "c1"
        (note,) = (await shell("admin", "operations", "--json", *there)).lines
        assert note["command"] == "restore"
        assert str(folder) in note["what"]
    (folder / "backup.json").unlink()
    assert "it was not finished, or is none" in (await shell("admin", "backup", "--check", str(folder))).err


async def test_an_operator_may_and_nobody_else_of_the_readers(tmp_path: Path) -> None:
    async with accounts_installation() as server:
        for user, code in (("reader", 5), ("operator", 0)):
            found = server.settings(user)
            as_user = Shell(
                PHASELINE_NATS=server.url, PHASELINE_NKEY=str(found.nkey), PHASELINE_INBOX_PREFIX=found.inbox_prefix,
                PHASELINE_API_PREFIX=found.api_prefix,
            )  # fmt: skip
            assert (await as_user("admin", "backup", str(tmp_path / user))).code == code
        await server.stop_worker()
        async with Wire.open(server.settings("engine")) as wire:
            for name in ("LOG", "EVENTS", "STATE", "LEASE", "LIVE"):
                await wire.api(f"STREAM.DELETE.pl-{name}")
        back = await as_user("admin", "restore", str(tmp_path / "operator"))
        assert (back.code, "no note" in back.err) == (0, False)
