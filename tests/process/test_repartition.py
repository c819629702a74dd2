"""`phaseline repartition`: what it checks, what it says, and that readers and publishers notice nothing."""

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from structlog.testing import capture_logs

from phaseline.engine.client.client import Client
from phaseline.engine.jetstream.streams import provision
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.division import notes
from phaseline.engine.ownership.takeover import take_over
from phaseline.engine.repartition import change as changing
from phaseline.engine.repartition import workers
from phaseline.engine.repartition.repartition_errors import TablesUnsettled
from phaseline.engine.settings import Settings
from phaseline.engine.worker.closing import DivisionWatch
from phaseline.engine.worker.services import Services
from tests.support.accounts_server import accounts_installation
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.changed_tables import DEGRADED
from tests.support.command import Shell, ended
from tests.support.divided import assert_each_decided_once, divided, repartition, until_all_decided
from tests.support.http_server import http_server
from tests.support.installation import LIMIT, at_work

TREES = [f"c{number}" for number in range(8)]


def shell_of(settings: Settings) -> Shell:
    return Shell(PHASELINE_NATS=settings.nats[0], PHASELINE_PREFIX=settings.prefix)


async def test_the_command(shell: Shell, client: Client, working: Settings, wire: Wire, tmp_path: Path) -> None:
    for tree in TREES:
        await client.publish_and_wait("cluster", "create", tree)
    await client.publish_and_wait("cluster", "create", "c0", check=False)
    before = (await client.moment("now")).place

    dry = await shell("repartition", "3", "--dry-run", "--json")
    assert dry.code == 0, dry
    said = {"before": 2, "partitions": 3, "done": False, "changed": False, "seconds": None}
    assert dry.json == {**said, "workers": dry.json["workers"]}
    assert len(dry.json["workers"]) == 1
    unsure = await shell("repartition", "3")
    assert (unsure.code, "add --yes" in unsure.err) == (2, True)
    done = await shell("repartition", "3", "--yes")
    assert (done.code, done.out[:39]) == (0, "3 partitions work, instead of 2, after "), done
    again = await shell("repartition", "3", "--yes", "--json")
    assert (again.json["done"], again.json["changed"]) == (True, False)
    assert (await shell("repartition", "3", "--dry-run")).out == "the installation has 3 partitions already\n"

    outcome = await client.publish_and_wait("cluster", "created", "c0")  # by a client that was there before
    assert [one.after.phase for one in outcome.transitions] == ["Running"]
    assert (await client.publish_and_wait("cluster", "create", "c0", check=False)).rejection is not None
    assert (await client.publish_and_wait("cluster", "created", "c0")).effect == "none"
    for words in (("get", "cluster", "c0"), ("list",), ("tree", "c0")):
        answer = await shell(*words)
        assert (answer.code, "not decided" in answer.err, "no worker" in answer.err) == (0, False, False), answer
    listed = await shell("list", "--json")
    assert [one["id"] for one in listed.lines] == TREES
    assert [one["data"]["version"] for one in (await shell("history", "cluster", "c0", "--json")).lines] == [1, 2]
    past = await shell("get", "cluster", "c0", "--at", str(before), "--json")
    assert past.json["facets"]["phase"]["state"] == "Creating"
    assert len((await shell("rejections", "--tree", "c0", "--json")).lines) == 2
    doctor = await shell("doctor")
    assert (doctor.code, "own 3 of 3 partitions" in doctor.out) == (0, True), doctor.out
    assert "all events of 3 partitions are decided" in doctor.out
    await assert_each_decided_once(wire, await provision(wire, working))
    for part in ("--tree=c0", "--from=3", "--tree=c3", "--to=4"):
        assert (await shell("replay", "--audit", part)).code == 0
    file = str(tmp_path / "log.plog")
    assert (await shell("export", file, "--records")).code == 0
    for words in (("--file", file, "--audit"), ("--audit", "--jobs", "2"), ("--with", "installed")):
        replayed = await shell("replay", *words, "--json")
        assert replayed.code == 0, replayed
        assert replayed.json["events"] == 12
    assert (await shell("archive", "--before", "now", "--to", str(tmp_path / "archive"))).code == 0
    both = await shell("replay", "--audit", "--archive", str(tmp_path / "archive"), "--json")
    assert (both.code, both.json["events"]) == (0, 12)
    dry_run = await shell("publish", "cluster", "delete", "c0", "--dry-run")
    assert dry_run.code == 0, dry_run


async def test_what_it_refuses(settings: Settings, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(settings, partitions=2, lease=1.0)
    shell, layout = shell_of(settings), await provision(wire, settings)
    nobody = await shell("repartition", "3", "--yes")
    assert (nobody.code, "no worker of the installation" in nobody.err) == (6, True)
    for wrong in ("0", "257", "many"):
        assert (await shell("repartition", wrong, "--yes")).code == 2
    async with at_work(settings, wire):
        pass
    installation = await divided(wire, layout)
    await notes.add(installation, 3, "/test", 0)  # and the command was killed here
    other = await shell("repartition", "4", "--yes")
    assert (other.code, "a change to 3 partitions is under way" in other.err) == (6, True)
    async with at_work(settings, wire):
        same = await shell("repartition", "3", "--yes", "--json")
        assert (same.code, same.json["partitions"], same.json["done"]) == (0, 3, True)
    now = await divided(wire, layout)
    await take_over(now, 1000, "w", BUILT_IN_KINDS.digest)  # the worker may have ended before
    await take_over(structs.replace(now, kinds=DEGRADED), 1001, "w", DEGRADED.digest)
    with pytest.raises(TablesUnsettled):
        await changing.examine(now, 4)
    await take_over(now, 1001, "w", BUILT_IN_KINDS.digest)
    start = Services.start

    async def started_as_before(self: Services) -> object:
        with monkeypatch.context() as patch:
            patch.setattr(notes, "METADATA", "something")
            return await start(self)

    monkeypatch.setattr(Services, "start", started_as_before)
    monkeypatch.setattr(workers, "PATIENCE", 0.2)
    async with at_work(settings, wire):
        old = await shell("repartition", "4", "--yes")
        assert (old.code, "these workers cannot change" in old.err) == (6, True)


async def test_ctrl_c_while_it_waits(settings: Settings, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, goes_on = replace(settings, partitions=2, lease=1.0), asyncio.Event()
    look = DivisionWatch._look

    async def look_later(self: DivisionWatch) -> bool:
        await goes_on.wait()
        return await look(self)

    monkeypatch.setattr(DivisionWatch, "_look", look_later)
    shell = shell_of(settings)
    async with at_work(settings, wire) as layout, ended(await shell.start("repartition", "3", "--yes")) as command:
        async with asyncio.timeout(LIMIT):
            while not (await divided(wire, layout)).layout.divisions:
                await asyncio.sleep(0.05)
        command.send_signal(signal.SIGINT)
        _, said = await command.communicate()
        assert b"the workers go on by themselves" in said
        goes_on.set()
        assert (await shell("repartition", "3", "--json")).json["partitions"] == 3


async def test_nobody_decides_for_long(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=2, lease=1.0)
    shell = shell_of(settings)
    async with at_work(settings, wire):
        late = await shell("repartition", "200", "--yes", "--wait", "0.001")
        assert (late.code, "do not all work after" in late.err) == (3, True), late
        assert (await shell("repartition", "200", "--json")).code == 0
        async with Client.open(settings) as client:
            assert (await client.publish_and_wait("cluster", "create", "c1")).transitions


async def test_an_operator_may_with_accounts_and_others_may_not() -> None:
    async with accounts_installation() as server:
        operator, reader = server.settings("operator"), server.settings("reader")
        async with Wire.open(operator, name="test") as wire:
            layout = await provision(wire, operator)
            await repartition(wire, layout, 3)
            async with Client.open(server.settings("tree-c1")) as agent:
                await agent.publish("cluster", "create", "c1")
            await until_all_decided(wire, layout)
        async with Client.open(reader) as client:
            assert (await client.get("cluster", "c1")).id == "c1"
        shell = Shell(
            PHASELINE_NATS=server.url, PHASELINE_NKEY=str(reader.nkey), PHASELINE_API_PREFIX=reader.api_prefix,
            PHASELINE_INBOX_PREFIX=reader.inbox_prefix,
        )  # fmt: skip
        refused = await shell("repartition", "4", "--yes")
        assert (refused.code, "the role operator may" in refused.err) == (5, True), refused


async def test_the_page_and_the_api(client: Client, working: Settings, wire: Wire) -> None:
    """A server that was there before, and one that is started afterwards."""
    for tree in TREES:
        await client.publish_and_wait("cluster", "create", tree)
    layout = await provision(wire, working)
    async with http_server(working) as before:
        await repartition(wire, layout, 3)
        for tree in TREES[:4]:
            await client.publish_and_wait("cluster", "created", tree)
        last = await client.publish("cluster", "created", "c0")  # without effect
        with capture_logs() as said:
            async with http_server(working) as after:
                for api in (before, after):
                    await api.place()
                    summary = await api.get("/v1/summary")
                    assert [one["partition"] for one in summary["partitions"]] == [1000, 1001, 1002]
                    assert {one["waiting"] for one in summary["partitions"]} == {0}
                    assert summary["entities"] == len(TREES)
                    event = await api.get(f"/v1/events/{last.sequence}")
                    assert event["decided"]
        assert "fleet_loaded" in {one["event"] for one in said}
        assert "fleet_from_log" not in {one["event"] for one in said}
