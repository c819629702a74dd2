"""`--watch` of get, list and tree: first the present states, then each change once, without a gap."""

import asyncio
import json
import signal

from phaseline.engine.surfaces.cli import following
from phaseline.schemas.records import Entity
from phaseline.schemas.subjects import natural
from tests.support.command import LIMIT, Shell, line_with
from tests.support.installation import Settings, Wire, inspect, until_decided
from tests.support.own_installation import Client

NODE = "c1/p/n1"


def failed(entity: Entity) -> bool:
    return entity.facets[0].state.phase == "Failed"


async def flap(client: Client, times: int) -> None:
    for _ in range(times):
        await client.publish("node", "not_ready", NODE)
        await client.publish("node", "ready", NODE)


async def test_what_happens_around_the_read_is_neither_lost_nor_shown_twice(
    client: Client, working: Settings, wire: Wire
) -> None:
    await client.publish_and_wait("node", "adopt", NODE, {"phase": "Running"})
    layout = await inspect(wire, working)
    for before, between, after in ((0, 3, 3), (3, 0, 0), (2, 4, 0), (0, 0, 2)):
        await flap(client, before)  # STATE may still lag behind this
        view = await client.at()
        start = await view.next_place()
        await flap(client, between)
        found = await view.last_of("node", deleted=True)
        await flap(client, after)
        await until_decided(wire, layout)
        versions = [found[0].entity.version]
        end = max([one.entity.version async for one in client.history("node", NODE)])
        if versions[-1] < end:
            async with asyncio.timeout(LIMIT):
                async for one in following.after(client, start, found, lambda _: True, kind="node"):
                    versions.append(one.record.entity.version)
                    if versions[-1] == end:
                        break
        assert versions == [*range(versions[0], end + 1)]


async def test_an_entity_is_shown_once_more_when_it_no_longer_fits(client: Client) -> None:
    for number in (1, 2):
        await client.publish_and_wait("node", "adopt", f"c1/p/n{number}", {"phase": "Running"})
    view = await client.at()
    start, found = await view.next_place(), await view.last_of("node", deleted=True)
    await flap(client, 2)
    await client.publish_and_wait("node", "not_ready", "c1/p/n2")
    seen = []
    async with asyncio.timeout(LIMIT):
        async for one in following.after(client, start, found, failed, kind="node"):
            seen.append((one.record.entity.id[-2:], one.record.after.phase))
            if seen[-1] == ("n2", "Failed"):
                break
    assert seen == [("n1", "Failed"), ("n1", "Running")] * 2 + [("n2", "Failed")]


async def test_the_commands(shell: Shell, client: Client) -> None:
    await client.publish_and_wait("node", "adopt", NODE, {"phase": "Running"})
    await client.publish_and_wait("node", "adopt", "c1/p/n2", {"phase": "Failed", "conditions": ["NotReady"]})
    commands = (
        (("list", "node", "--state", "failed", "-w"), "n2", "Failed [NotReady]"),
        (("get", "node", NODE, "--watch"), "version", "Running [Ok] -> Failed [NotReady]"),
        (("tree", "c1", "-w"), "n2", "Running [Ok] -> Failed [NotReady]"),
        (("list", "node", "-o", "json", "-w"), "n2", '"Failed"'),
        (("tree", "c1", "-o", "name", "-w"), "node/c1/p/n2", "node/c1/p/n1"),
    )
    processes = [await shell.start(*words) for words, _, _ in commands]
    try:
        await follow_all(client, processes, commands)
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                await process.communicate()
    wrong = await shell("list", "-w", "--at", "15m")
    assert (wrong.code, "leave out --at" in wrong.err) == (2, True)


async def follow_all(
    client: Client, processes: list[asyncio.subprocess.Process], commands: tuple[tuple[tuple[str, ...], str, str], ...]
) -> None:
    for process, (_, first, _) in zip(processes, commands, strict=True):
        await line_with(process.stdout, first)
    await client.publish_and_wait("node", "not_ready", NODE)
    for process, (words, _, then) in zip(processes, commands, strict=True):
        line = await line_with(process.stdout, "c1/p/n1")
        assert then in line
        if "json" in words:
            assert json.loads(line)["version"] == 2
        process.send_signal(signal.SIGINT)
        _, said = await asyncio.wait_for(process.communicate(), LIMIT)
        assert (process.returncode, said) == (130, b"")


async def test_selecting_and_sorting(shell: Shell, client: Client) -> None:
    for name, default in (("p10", True), ("p9", False), ("p1", True)):
        await client.publish_and_wait("node_pool", "adopt", f"c1/{name}", {"phase": "Running", "default": default})
    found = await shell("list", "node_pool", "-l", "default=true", "-o", "name")
    assert found.out == "node_pool/c1/p1\nnode_pool/c1/p10\n"
    found = await shell("list", "node_pools", "-l", "default,!autoscaling_mode", "--sort-by", ".since", "-o", "name")
    assert found.out == "node_pool/c1/p10\nnode_pool/c1/p9\nnode_pool/c1/p1\n"
    found = await shell(
        "list", "node_pool", "--state", "running", "-l", "default!=true", "--sort-by", "default", "-o", "name"
    )
    assert found.out == "node_pool/c1/p9\n"
    everything = (await shell("list", "--json")).lines
    unsorted = (await shell("list", "--sort-by", "none", "--json")).lines
    assert sorted(unsorted, key=lambda one: natural(one["id"])) == everything
    chosen = ("list", "node_pool", "--state", "running", "-l", "default=true", "--sort-by", "none")
    page = await shell(*chosen)
    assert sorted(line.split()[1] for line in page.out.splitlines()[1:]) == ["c1/p1", "c1/p10"]
    assert (page.out.split()[:3], page.err) == (["KIND", "ID", "STATE"], "2 entities\n")
    past = await shell(*chosen, "--at", "now", "--condition", "ClusterNotRuning")
    assert past.code == 2
    none = await shell(*chosen[:2], "--state", "failed", *chosen[-2:])
    assert (none.code, none.out, none.err) == (0, "", "no entities found\n")
    assert len((await shell("list", "--at", "0s", "--sort-by", "none", "-o", "name")).out.splitlines()) == 4
    watched = await shell("watch", "node_pool", "-l", "default=false", "--from", "start", "--no-follow", "-o", "name")
    assert watched.out == "node_pool/c1/p9\n"
    for words, code, said in (
        (("list", "node_pool", "-l", "defualt=true"), 2, "there is no attribute 'defualt' (did you mean default?)"),
        (("list", "node_pool", "-l", "defualt=true", "--sort-by", "none"), 2, "there is no attribute 'defualt'"),
        (("list", "node_pool", "--sort-by", "verison"), 2, "there is no field 'verison' (did you mean version?)"),
        (("list", "-l", "a b"), 2, "'a b' is no selector: write a=b, a!=b"),
    ):
        wrong = await shell(*words)
        assert (wrong.code, wrong.out) == (code, "")
        assert said in " ".join(wrong.err.split())
