"""`--cell`: commands that read several installations as one, name their cells, and go on without one that is away."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support import closed_port
from tests.support.cells import CLUSTERS, two_cells
from tests.support.command import LIMIT, Shell, ended, line_with
from tests.support.installation import Settings
from tests.support.own_installation import Client


@pytest_asyncio.fixture
async def cells(settings: Settings) -> AsyncIterator[dict[str, Settings]]:
    """Two installations on one server, each with a worker and two clusters; both have c1."""
    async with two_cells(settings) as found:
        yield found


def shell_of(cells: dict[str, Settings], **further: str) -> Shell:
    """The command for these cells, as the environment names them."""
    named = {**{name: f"{one.nats[0]}#{one.prefix}" for name, one in cells.items()}, **further}
    return Shell(PHASELINE_CELL=" ".join(f"{name}={where}" for name, where in named.items()))


async def test_list_shows_the_entities_of_all_cells(cells: dict[str, Settings]) -> None:
    shell = shell_of(cells)
    listed, names, people, by_version, waiting = await asyncio.gather(
        shell("list", "cluster", "--json"), shell("list", "-o", "name"), shell("list"),
        shell("list", "--sort-by", "since", "--json"), shell("list", "--at", "1s", "--json"),
    )  # fmt: skip
    assert [(one["cell"], one["id"]) for one in listed.lines] == [
        ("east", "c1"), ("west", "c1"), ("west", "c2"), ("east", "c10")
    ]  # fmt: skip
    assert names.out.split() == ["cluster/c1", "cluster/c1", "cluster/c2", "cluster/c10"]
    head, first, *_ = people.out.splitlines()
    assert (head.split()[:3], first.split()[:3]) == (["CELL", "KIND", "ID"], ["east", "cluster", "c1"])
    assert people.err == "4 entities\n"
    assert [(one["cell"], one["id"]) for one in by_version.lines] == [*CLUSTERS]
    assert {listed.code, names.code, people.code, by_version.code, waiting.code} == {0}


async def test_get_finds_the_cell_that_has_the_entity(cells: dict[str, Settings]) -> None:
    shell = shell_of(cells)
    one, both, nothing, wrong = await asyncio.gather(
        shell("get", "c2", "--json"), shell("get", "cluster", "c1"), shell("get", "cluster", "c9"),
        shell("get", "clustr", "c9"),
    )  # fmt: skip
    assert (one.json["cell"], one.json["id"], one.code) == ("west", "c2", 0)
    assert [line.split()[1] for line in both.out.splitlines() if line.startswith("cell ")] == ["east", "west"]
    assert (nothing.code, wrong.code) == (4, 2)
    assert "there is no cluster 'c9'" in nothing.err


async def test_changes_of_all_cells(cells: dict[str, Settings]) -> None:
    shell = shell_of(cells)
    found, people = await asyncio.gather(
        shell("changes", "--from", "start", "--json"), shell("changes", "--from", "1d")
    )
    assert [(one["cell"], one["id"]) for one in found.lines] == [
        ("east", "c1"), ("west", "c1"), ("west", "c2"), ("east", "c10")
    ]  # fmt: skip
    assert people.out.splitlines()[0].split()[0] == "CELL"
    assert people.err == "4 created\n"
    place = await shell("changes", "--from", "3")
    assert (place.code, "belongs to the log of one cell" in place.err) == (2, True)


async def test_watch_begins_again_where_it_ended(cells: dict[str, Settings]) -> None:
    shell = shell_of(cells)
    whole = await shell("watch", "--from", "start", "--no-follow", "--json")
    expected = {(one["cell"], one["logsequence"]) for one in whole.lines}
    assert (len(expected), whole.code) == (4, 0)
    begun = await shell("watch", "--from", "start", "--limit", "2", "--json")
    then = begun.err.strip().rpartition("--from ")[2]
    rest, people = await asyncio.gather(
        shell("watch", "--from", then, "--no-follow", "--json"), shell("watch", "--from", "start", "--no-follow")
    )
    assert [len(begun.lines), len(rest.lines)] == [2, 2]
    assert {(one["cell"], one["logsequence"]) for one in (*begun.lines, *rest.lines)} == expected
    assert {line.split()[0] for line in people.out.splitlines()} == {"east", "west"}


async def test_a_cell_that_is_away_is_named_and_hides_no_other(cells: dict[str, Settings]) -> None:
    shell = shell_of(cells, north=closed_port.NATS)
    people, data, one, nothing, watched, names = await asyncio.gather(
        shell("list"), shell("list", "--json"), shell("get", "c2", "--json"), shell("get", "cluster", "c9"),
        shell("watch", "--from", "start", "--no-follow", "--json"), shell("list", "-o", "name"),
    )  # fmt: skip
    assert (len(people.out.splitlines()), people.code) == (5, 3)
    assert "cell away: north: cannot reach NATS" in people.err
    assert (len(data.lines), data.code, data.lines[-1]["cell"]) == (5, 3, "north")
    assert "cannot reach NATS" in data.lines[-1]["away"]
    assert (one.lines[0]["cell"], one.code) == ("west", 0)
    assert (nothing.code, nothing.out) == (3, "")
    assert "there is no cluster 'c9', but north cannot be read and may have it" in nothing.err
    assert (len([line for line in watched.lines if "type" in line]), watched.code) == (4, 3)
    assert len(names.out.splitlines()) == 4
    alone = await Shell(PHASELINE_CELL=f"north={closed_port.NATS}")("list")
    assert (alone.code, alone.out) == (3, "")


async def test_commands_about_one_entity_find_its_cell(cells: dict[str, Settings]) -> None:
    shell = shell_of(cells, north=closed_port.NATS)
    tree, why, history, timeline, both, nothing = await asyncio.gather(
        shell("tree", "c2", "-o", "name"), shell("why", "cluster/c10", "--json"), shell("history", "cluster", "c2"),
        shell("timeline", "c2", "--json"), shell("tree", "c1"), shell("tree", "c9"),
    )  # fmt: skip
    assert (tree.out, tree.err) == ("cluster/c2\n", "in the cell west\n")
    assert (why.json["id"], "adopt" in history.out, timeline.lines[0]["id"]) == ("c10", True, "c2")
    assert {one.code for one in (tree, why, history, timeline)} == {0}
    assert (both.code, "c1 is in the cells east, west" in both.err) == (2, True)
    assert (nothing.code, "but north cannot be read and may have it" in nothing.err) == (3, True)
    assert (await shell_of(cells)("tree", "c9")).code == 4


async def test_list_and_get_go_on_with_changes(cells: dict[str, Settings]) -> None:
    shell = shell_of(cells, north=closed_port.NATS)
    async with (
        ended(await shell.start("list", "cluster", "-w", "--json")) as listing,
        ended(await shell.start("get", "c2", "-w")) as getting,
        Client.open(cells["west"], source="/test") as client,
    ):
        await line_with(listing.stdout, '"c10"')
        assert "cannot reach" in json.loads(await line_with(listing.stdout, '"north"'))["away"]
        await line_with(getting.stdout, "version")
        await client.publish_and_wait("cluster", "overdue", "c2")
        found = json.loads(await line_with(listing.stdout, '"c2"'))
        assert (found["cell"], found["version"]) == ("west", 2)
        assert "west" in await line_with(getting.stdout, " -> ")
        for process in (listing, getting):
            process.send_signal(signal.SIGINT)
            await asyncio.wait_for(process.communicate(), LIMIT)
            assert process.returncode == 130


async def test_the_option(cells: dict[str, Settings], tmp_path: Path) -> None:
    west, folder = cells["west"], tmp_path / "nats" / "context"
    folder.mkdir(parents=True)
    (folder / "w.json").write_text(json.dumps({"url": west.nats[0]}))
    shell = Shell(XDG_CONFIG_HOME=str(tmp_path), PHASELINE_NATS=closed_port.NATS)
    by_context = await shell("list", "--cell", f"w=@w#{west.prefix}", "--cell", f"e={west.nats[0]}", "--prefix",
                             cells["east"].prefix, "-o", "json")  # fmt: skip
    assert {(one["cell"], one["id"]) for one in by_context.lines} == {
        ({"east": "e", "west": "w"}[cell], name) for cell, name in CLUSTERS
    }
    shell = shell_of(cells)
    plain = await shell("list", "--nats", west.nats[0], "--prefix", west.prefix, "--json")
    assert "cell" not in plain.lines[0]  # the option goes before the environment


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "--cell", "east"), "'east' names no cell: write NAME=URL"),
        (("list", "--cell", "a b=nats://x"), "is no name of a cell"),
        (("list", "--cell", "a=nats://x", "--cell", "a=nats://y"), "two cells have the same name"),
        (("list", "--cell", "a=@nobody"), "a: there is no context 'nobody'"),
        (("list", "--cell", "a=nats://x", "--nats", "nats://y"), "give either --cell or --nats"),
        (("list", "--cell", "a=http://x"), "must look like nats://host:4222"),
        (("list", "--cell", "a=nats://x", "--cell", "b=nats://x", "--at", "4711"), "belongs to the log of one cell"),
        (("watch", "--cell", "a=nats://x", "--cell", "b=nats://x", "--from", "4711"), "(a=4711,b=4711)"),
        (("watch", "--cell", "a=nats://x", "--from", "b=4711"), "there is no cell 'b'"),
        (("watch", "--cell", "a=nats://x", "--from", "a="), "is no place of a cell"),
        (("watch", "--cell", "a=nats://x", "--from", "a=soon"), "'soon' is none of"),
        (("watch", "--from", "a=4711"), "it names places of cells, and there is no --cell"),
    ],
)
async def test_what_is_wrong_with_a_command_line(words: tuple[str, ...], said: str) -> None:
    answer = await Shell()(*words)
    assert (answer.code, answer.out) == (2, "")
    assert said in " ".join(answer.err.split())
