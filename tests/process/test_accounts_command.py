"""The command `accounts`, and what its users can do with the other commands where the server uses what it printed."""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.command import Answer, Shell, line_with
from tests.support.installation import EmbeddedServer

OUTPUT = "accounts.conf"
READS = """
get cluster c1
list
tree c1
history cluster c1
why c1
watch --tree c1 --from start --no-follow
publish --dry-run cluster overdue c1
"""
FURTHER_READS = """
watch --from start --no-follow --rejections
watch node --tree c1 --state Failed --from start --no-follow
changes --from start
timeline c1
rejections
list --at 15
replay --audit
"""


class Printed(EmbeddedServer):
    """A server that includes a printed file."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def _config(self) -> str:
        return f"{super()._config()}include {os.path.relpath(self.folder / OUTPUT, self.data)}\n"

    def shell(self, user: str, **more: str) -> Shell:
        """The command, as this user."""
        return Shell(
            PHASELINE_NATS=self.url,
            PHASELINE_NKEY=str(self.folder / "keys" / f"{user}.nk"),
            PHASELINE_INBOX_PREFIX=f"_INBOX_{user}",
            PHASELINE_TIMEOUT="30",
            **more,
        )


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Printed]:
    """A server with the printed accounts, and a worker on it."""
    made = await accounts(tmp_path, "--trees", "c1,c2")
    assert (made.code, made.out) == (0, "")
    async with Printed(tmp_path) as running:
        worker = await running.shell("engine").start("worker", "--partitions", "2")
        try:
            await line_with(worker.stderr, "partition_taken")
            yield running
        finally:
            worker.terminate()
            await worker.communicate()


async def accounts(folder: Path, *words: str) -> Answer:
    """Call `phaseline admin accounts`, with keys and output in this folder."""
    return await Shell()("admin", "accounts", *words, "--keys", str(folder / "keys"), "--output", str(folder / OUTPUT))


@pytest.mark.parametrize("reads", [READS, pytest.param(FURTHER_READS, marks=pytest.mark.slow)])
async def test_each_user_can_do_its_work(server: Printed, reads: str) -> None:
    agent, operator = server.shell("tree-c1"), server.shell("operator")
    reader = server.shell("reader", PHASELINE_API_PREFIX="pl.read")
    for words in ("cluster create c1", "node created c1/p/n1"):
        assert (await agent("publish", *words.split())).code == 0
    assert (await operator("publish", "cluster", "overdue", "c1", "--wait")).code == 0
    for words in reads.strip().splitlines():
        said = await reader(*words.split())
        assert (said.code, "denied" in said.err) == (0, False), said
    denied = await reader("publish", "cluster", "create", "c3")
    assert (denied.code, "may not publish to pl.events.c3." in denied.err) == (5, True)
    denied = await agent("publish", "cluster", "create", "c2")
    assert (denied.code, "pl.events.c2.cluster.create" in denied.err) == (5, True)


async def test_an_operator_maintains_and_a_reader_does_not(server: Printed) -> None:
    assert (await server.shell("tree-c1")("publish", "cluster", "create", "c1")).code == 0
    reader, operator = server.shell("reader", PHASELINE_API_PREFIX="pl.read"), server.shell("operator")
    assert (await reader("purge", "cluster", "c1", "--yes")).code == 5
    purged = await operator("purge", "cluster", "c1", "--yes", "--json")
    assert purged.code == 0, purged.err
    assert (await operator("replay", "--audit")).code == 0


async def test_a_reader_follows_what_happens(server: Printed) -> None:
    reader = server.shell("reader", PHASELINE_API_PREFIX="pl.read")
    watching = await reader.start("watch", "--json", "--limit", "1", "--tree", "c1")
    done = asyncio.create_task(watching.communicate())
    try:
        publisher, number = server.shell("tree-c1"), 0
        assert (await publisher("publish", "cluster", "adopt", "c1", "--data", '{"phase": "Running"}')).code == 0
        while not done.done():  # nobody says when the watch has begun
            number += 1
            assert number < 60
            assert (await publisher("publish", "node_pool", "create", f"c1/p{number}")).code == 0
            await asyncio.wait({done}, timeout=0.5)
    finally:
        if watching.returncode is None:
            watching.kill()
    out, err = await done
    assert b"cluster.transitioned" in out or b"node_pool.transitioned" in out, err


async def test_keys_stay_when_a_tree_is_added(tmp_path: Path) -> None:
    assert (await accounts(tmp_path, "--trees", "c1")).code == 0
    first = (tmp_path / OUTPUT).read_text()
    assert (await accounts(tmp_path, "--trees", "c1,edge.eu")).code == 0
    second = (tmp_path / OUTPUT).read_text()
    assert set(first.splitlines()) < set(second.splitlines())
    assert '"pl.events.edge%2Eeu.>"' in second
    seeds = sorted((tmp_path / "keys").iterdir())
    assert [path.name for path in seeds] == [
        "engine.nk", "operator.nk", "reader.nk", "tree-c1.nk", "tree-edge%2Eeu.nk", "watcher.nk",
    ]  # fmt: skip
    for path in seeds:
        assert path.stat().st_mode & 0o777 == 0o600
        seed = path.read_text().strip()
        assert re.fullmatch("SU[A-Z2-7]{56}", seed)
        assert seed not in second
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--readers", "a,a"], "there are several users of this name"),
        (["--trees", "c1/p"], "without a slash"),
        (["--trees", "c1,"], ""),
        (["--operators", "engine"], "there are several users of this name"),
    ],
)
async def test_names_are_checked(tmp_path: Path, words: list[str], problem: str) -> None:
    said = await accounts(tmp_path, *words)
    assert problem in said.err
    assert said.code == (2 if problem else 0)


async def test_a_key_file_that_holds_no_users_key(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "engine.nk").write_text("hello")
    said = await accounts(tmp_path)
    assert (said.code, "cannot use the key file" in said.err) == (6, True)
