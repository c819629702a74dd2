"""`phaseline observe`: Kubernetes objects become events, each real change once."""

import asyncio
import json
import signal
from pathlib import Path

import yaml

from tests.support.command import Shell
from tests.support.gitops_history import APP, KINDS
from tests.support.installation import Settings, Wire, inspect, until_decided
from tests.support.log_check import assert_log_is_the_fold
from tests.support.manifests import config, kubernetes_object
from tests.support.own_installation import Client


async def test_through_a_pipe_into_states(
    shell: Shell, client: Client, working: Settings, wire: Wire, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(yaml.safe_dump_all([config("a", data={"k": "1"}), config("b")]))
    process = await shell.start(
        "observe", "--application", APP, "--desired", str(tmp_path), "--settle", "0.2", stdin=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    async with client.watch("application", start="start") as watch:
        process.stdin.write(json.dumps(config("a", data={"k": "2"}), indent=2).encode() + b"\n")
        async for record in watch:
            if record.after.phase == "Missing":
                break
        process.stdin.write(json.dumps({"type": "MODIFIED", "object": config("a", data={"k": "1"})}).encode())
        process.stdin.write(json.dumps({"type": "ADDED", "object": config("b")}).encode() + b"\n")
        async for record in watch:
            if record.after.phase == "Synced":
                break
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(60):
        assert await process.wait() == 130
    await until_decided(wire, await inspect(wire, working))
    history = [
        (str(record.after), record.entity.id[-1])
        async for record in client.history("resource", f"{APP}/core:ConfigMap/shop/b")
        if record.facet == "health"
    ]
    assert history[0] == ("Missing", "b")
    await assert_log_is_the_fold(wire, await inspect(wire, working), KINDS)


async def test_what_no_message_can_hold_is_left_out_and_the_rest_goes_on(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_text("".join(map(json.dumps, [config("big", spec={"n": 10**30}), config("n" * 300), config("last")])))
    said = await shell("observe", "--file", str(path), "--application", APP)
    assert (said.code, said.out) == (0, "1 event stored\n")
    assert "left out: resource/shop/shop/core:ConfigMap/shop/big: " in said.err
    assert "is longer than 253 bytes" in said.err


async def test_an_object_that_is_too_large_is_told_without_its_long_texts(
    shell: Shell, client: Client, working: Settings, wire: Wire, tmp_path: Path
) -> None:
    """Were it left out, it would look as it did before."""
    large, other = ("x" * 1_100_000, "y" * 1_100_000)
    stuck = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
    named = {"name": "web", "namespace": "shop", "annotations": {"notes": large}}
    web = kubernetes_object("apps/v1", "Deployment", metadata=named, spec={}, status={"conditions": [stuck]})
    many = config("many", data={f"k{number}": "z" * 300 for number in range(4_000)})
    path, git = tmp_path / "dump.json", tmp_path / "git.yaml"
    both = [config(name, data={"k": large}) for name in ("same", "other")]
    path.write_text("".join(map(json.dumps, [web, many, *both])))
    git.write_text(yaml.safe_dump_all([config("same", data={"k": large}), config("other", data={"k": other})]))
    said = await shell("observe", "--file", str(path), "--application", APP, "--desired", str(git))
    assert said.code == 0, said.err
    await until_decided(wire, await inspect(wire, working))
    found = {one.id.rpartition("/")[2]: one async for one in client.list("resource")}
    states = {name: [str(one.state) for one in entity.facets[:2]] for name, entity in found.items()}
    assert states["web"][0].startswith("Degraded")
    assert (states["same"][1], states["other"][1]) == ("Synced", "OutOfSync")
    manifest = await client.gitops.manifest("resource", found["web"].id)
    assert manifest is not None
    assert manifest["metadata"]["annotations"]["notes"].endswith(" of 1,100,000 characters")


async def test_git_changes_its_mind_twice_while_the_object_stays(
    shell: Shell, client: Client, working: Settings, wire: Wire, tmp_path: Path
) -> None:
    live, git = tmp_path / "live.json", tmp_path / "git.yaml"
    live.write_text(json.dumps(config("a", metadata={"uid": "u", "resourceVersion": "7"}, data={"k": "1"})))
    found = []
    for value in (None, "1", "2", "1"):
        git.write_text(yaml.safe_dump(config("a", data={"k": value})))
        desired = ["--desired", str(git)] if value else []
        said = await shell("observe", "--file", str(live), "--application", APP, *desired)
        assert said.out == "1 event stored\n"
        await until_decided(wire, await inspect(wire, working))
        entity = await client.get("resource", f"{APP}/core:ConfigMap/shop/a")
        found.append(entity.facets[1].state.phase)
    assert found == ["NotCompared", "Synced", "OutOfSync", "Synced"]


async def test_a_file(shell: Shell, client: Client, tmp_path: Path) -> None:
    path, many = tmp_path / "dump.yaml", {f"key-{number:05}": "x" * 20 for number in range(35_000)}
    path.write_text(yaml.safe_dump_all([config("a"), config("b"), config("huge", data=many)]))
    said = await shell("observe", "--file", str(path), "--application", APP)
    assert (said.code, said.out) == (0, "2 events stored\n")
    assert "left out: resource/shop/shop/core:ConfigMap/shop/huge has 1," in said.err
    printed = await shell("observe", "--file", str(path), "--print")
    assert (printed.code, printed.out) == (0, "")
    assert "core:ConfigMap/shop/huge: no mark names an application" in printed.err
    wrong = await shell("observe", "--file", str(path), "--application", "shop")
    assert (wrong.code, "must be <set>/<application>, found 'shop'" in wrong.err) == (2, True)
