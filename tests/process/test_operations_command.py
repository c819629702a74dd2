"""`phaseline admin operations`: what the commands of operators leave in the log, and what stands there by others."""

import getpass
import json
from pathlib import Path

from phaseline.schemas import codec
from tests.support.accounts_server import accounts_installation
from tests.support.command import Shell
from tests.support.installation import Settings, Wire, inspect
from tests.support.log_check import audited
from tests.support.own_installation import Client

ME = f"/phaseline/cli/{getpass.getuser()}"


async def test_each_command_leaves_a_note(
    shell: Shell, client: Client, wire: Wire, settings: Settings, tmp_path: Path
) -> None:
    nothing = await shell("admin", "operations")
    assert (nothing.code, nothing.out) == (0, "")
    assert "no note of an operation" in nothing.err
    refused = await client.publish_and_wait("cluster", "create", "c1")
    refused = await client.publish_and_wait("cluster", "create", "c1", event_id="again")
    place = refused.records[-1].sequence
    assert (await shell("rejections", "resend", str(place + 99))).code == 4  # nothing is done: no note
    assert (await shell("log", "import", "nothing")).code == 2
    assert (await shell("rejections", "resend", str(place), "--wait")).code == 1
    assert (await shell("rejections", "retry", "--reason", "illegal", "--dry-run")).code == 0
    await shell("rejections", "retry", "--reason", "illegal")
    assert (await shell("log", "export", str(tmp_path / "log"))).code == 0
    assert (await shell("log", "import", str(tmp_path / "log"))).code == 0
    assert (await shell("admin", "sites", "add", "c1", "--timeout", "2")).code in (0, 3)
    assert (await shell("admin", "sites", "remove", "c1", "--yes")).code == 0
    assert (await shell("admin", "streams", "--dedupe-window", "300", "--apply")).code == 0
    async with client.follow("pager", "cluster", start="start"):
        pass
    followers = await shell("admin", "followers")
    assert [word in followers.out for word in ("pager", "kind='cluster'", "BEHIND")] == [True] * 3
    removed = await shell("admin", "followers", "--remove", "pager")
    assert (removed.code, "up to place 0" in removed.out, "start=1" in removed.err) == (0, True, True)
    assert "nobody follows under a name" in (await shell("admin", "followers")).err
    assert (await shell("admin", "followers", "--remove", "pager")).code == 2
    assert (await shell("admin", "purge", "cluster", "c1", "--yes")).code == 0
    shown = (await shell("admin", "operations", "--json")).lines
    assert {one["by"] for one in shown} == {ME}
    assert [(one["command"], one["what"]) for one in shown] == [
        ("rejections resend", f"the event rejected at place {place}"),
        ("rejections retry", "1 events rejected with the reason illegal"),
        ("import", "the events of log"), ("edge add", "c1"), ("edge remove", "c1"),
        ("streams", f"change {settings.stream('EVENTS')} dedupe window"),
        ("followers", "remove pager, which had read up to 0"),
        ("purge", shown[-1]["what"]),
    ]  # fmt: skip
    assert shown[-1]["what"].endswith("events of cluster c1")
    table = await shell("admin", "operations")
    assert [title in table.out for title in ("TIME", "COMMAND", "WHAT", "BY", ME)] == [True] * 5
    layout = await inspect(wire, settings)
    assert (await audited(wire, layout)).holds
    await wire.publish_acked(f"{settings.prefix}.tables.operated", codec.encode({"command": 7}))
    assert (await shell("admin", "operations", "--json")).lines == shown


async def test_only_operators_write_notes() -> None:
    async with accounts_installation() as server:
        settings = server.settings("operator")
        as_operator = Shell(
            PHASELINE_NATS=server.url, PHASELINE_NKEY=str(settings.nkey), PHASELINE_INBOX_PREFIX=settings.inbox_prefix
        )
        async with Client.open(settings) as client:
            await client.publish_and_wait("cluster", "create", "c1")
        assert (await as_operator("admin", "purge", "cluster", "c1", "--yes")).code == 0
        shown = json.loads((await as_operator("admin", "operations", "--json")).out)
        assert shown["by"] == f"{ME} as NATS user operator"
