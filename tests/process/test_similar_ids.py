"""An id that no entity has is answered with the most similar one that exists."""

import pytest

from phaseline.engine.surfaces.cli import similar_ids
from tests.support.command import Shell
from tests.support.own_installation import Client


@pytest.fixture
async def fleet(client: Client) -> Client:
    """Two clusters, one with a node."""
    for kind, entity_id in (("cluster", "shop-eu"), ("cluster", "depot"), ("node", "shop-eu/web/web-4")):
        await client.publish_and_wait(kind, "adopt", entity_id, {"phase": "Running"})
    return client


async def test_the_most_similar_id_is_named(fleet: Client, shell: Shell) -> None:
    for words, meant in (
        (("get", "cluster", "shop-ue"), "shop-eu"),
        (("get", "node", "shop-eu/web/web-44"), "shop-eu/web/web-4"),
        (("get", "node", "shop-ue/web/web-4", "--at", "now"), "shop-eu/web/web-4"),
        (("tree", "dept"), "depot"),
        (("history", "cluster", "depott"), "depot"),
        (("why", "shop-eu/web/web4"), "shop-eu/web/web-4"),
    ):
        said = await shell(*words)
        assert (said.code, said.out) == (4, "")
        assert said.err.endswith(f"\n  did you mean {meant}?\n"), said.err
    nothing = await shell("get", "cluster", "entirely-different")
    assert (nothing.code, "did you mean" in nothing.err) == (4, False)


async def test_a_part_of_an_id_is_answered_with_whole_ones(fleet: Client, shell: Shell) -> None:
    """As kubectl's users type: the last part of a name, behind a kind."""
    for words, code in ((("get", "node", "web-4"), 2), (("get", "nodes/web-4"), 4), (("why", "node", "web/web-4"), 2)):
        said = await shell(*words)
        assert (said.code, said.out) == (code, "")
        assert said.err.endswith("\n  did you mean shop-eu/web/web-4?\n"), said.err
    for number in range(1, 4):
        await fleet.publish_and_wait("node", "adopt", f"shop-eu/pool-{number}/web-4", {"phase": "Running"})
    several = await shell("tree", "node", "web-4")
    assert "did you mean shop-eu/pool-1/web-4 or shop-eu/pool-2/web-4 or" in several.err
    assert several.err.endswith("There are 1 more\n")


async def test_a_kind_alone_is_answered_with_the_command_that_lists_it(fleet: Client, shell: Shell) -> None:
    said = await shell("get", "clusters")
    assert (said.code, said.out) == (4, "")
    assert said.err.endswith("\n  cluster is a kind: `phaseline list cluster` lists its entities\n")


async def test_commands_that_show_nothing_of_a_tree_say_that_nobody_knows_it(fleet: Client, shell: Shell) -> None:
    for words in (("list",), ("list", "--sort-by", "none"), ("watch", "--no-follow"), ("changes",), ("rejections",)):
        said = await shell(*words, "--tree", "dept")
        assert (said.code, said.out) == (0, "")
        assert said.err.startswith("nothing is known of dept yet; did you mean depot?\n"), (words, said.err)
    known = await shell("list", "node", "--tree", "depot")
    assert known.err == "no entities found\n"
    nothing = await shell("watch", "--tree", "depot", "--no-follow")
    assert nothing.err.startswith("nothing happened there: --from says where to begin")


async def test_only_so_many_ids_are_compared(fleet: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar_ids, "MOST", 1)
    assert len(await similar_ids._ids(fleet, ["cluster", "node"], None)) == 1
