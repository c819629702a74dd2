"""An entity is named in the same ways everywhere: `KIND ID`, `KIND/ID`, or its id."""

import pytest

from tests.support.command import Shell
from tests.support.own_installation import Client

FLEET: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("cluster", "c1", {}),
    ("node_pool", "c1/a", {"default": True}),
    ("node_pool", "c1/dns", {}),
    ("node", "c1/a/n1", {}),
    ("node", "c1/dns/n2", {}),
    ("component", "c1/dns", {}),
)


@pytest.fixture
async def fleet(client: Client) -> Client:
    """A cluster in which a pool and a component have one id."""
    for kind, entity_id, data in FLEET:
        await client.publish_and_wait(kind, "adopt", entity_id, {"phase": "Running", **data})
    return client


@pytest.mark.parametrize("command", ["get", "history", "why", "timeline", "tree", "purge"])
async def test_every_way_names_the_same_entity(fleet: Client, shell: Shell, command: str) -> None:
    rest = ("--dry-run",) if command == "purge" else ("-o", "json")
    ways = (("nodes", "c1/a/n1"), ("node/c1/a/n1",), ("c1/a/n1",))
    first, *others = [await shell(command, *words, *rest) for words in ways]
    assert first.code == 0
    assert "c1/a/n1" in first.out
    if command != "timeline":  # its last interval ends now
        assert {other.out for other in others} == {first.out}
    assert {other.code for other in others} == {0}


async def test_a_kind_tells_entities_of_one_id_apart(fleet: Client, shell: Shell) -> None:
    ambiguous = await shell("get", "c1/dns")
    assert ambiguous.code != 0
    assert "node_pool" in ambiguous.err
    assert "component" in ambiguous.err
    assert (await shell("get", "component", "c1/dns", "-o", "name")).out == "component/c1/dns\n"
    both = ["node_pool/c1/dns", "node/c1/dns/n2"]
    assert (await shell("tree", "node_pool", "c1/dns", "-o", "name")).out.split() == both
    assert (await shell("tree", "component/c1/dns", "-o", "name")).out.split() == ["component/c1/dns"]
    assert (await shell("tree", "component", "c1/a")).code == 4
    lanes = (await shell("timeline", "c1/dns", "--kind", "node_pool", "--json")).lines
    assert [f"{lane['kind']}/{lane['id']}" for lane in lanes] == both
    assert (await shell("timeline", "component", "c1/a")).code == 4


async def test_a_selector_shows_a_part_of_a_tree(fleet: Client, shell: Shell) -> None:
    assert (await shell("tree", "c1", "-l", "default", "-o", "name")).out == "node_pool/c1/a\n"
    drawn = (await shell("tree", "c1", "-l", "default=true")).out.splitlines()
    assert [line.split("  ")[0] for line in drawn] == ["cluster c1", "└── node_pool a"]
    nothing = await shell("tree", "c1", "-l", "default=false")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no entities found\n")
    wrong = await shell("tree", "c1", "-l", "defualt=true")
    assert (wrong.code, "defualt" in wrong.err) == (2, True)


async def test_changes_are_selected_and_sorted(fleet: Client, shell: Shell) -> None:
    async def ids(*words: str) -> list[str]:
        return (await shell("changes", "--from", "start", *words, "-o", "name")).out.split()

    assert await ids("-l", "default=true") == ["node_pool/c1/a"]
    assert await ids("--kind", "node_pool", "-l", "default!=true") == ["node_pool/c1/dns"]
    for _ in range(2):
        await fleet.publish_and_wait("node", "not_ready", "c1/dns/n2", {"reason": "KubeletStopped"})
        await fleet.publish_and_wait("node", "ready", "c1/dns/n2")
    assert (await ids("--sort-by", "flaps"))[-1] == (await ids("--sort-by", "{.transitions}"))[-1] == "node/c1/dns/n2"
    assert await ids("--sort-by", "id") == await ids()
    wrong = await shell("changes", "--from", "start", "--sort-by", "flap")
    assert (wrong.code, "no field 'flap' (did you mean flaps?)" in wrong.err) == (2, True)


async def test_counts_of_rejections_are_sorted(fleet: Client, shell: Shell) -> None:
    for kind, entity_id in (("node", "c1/b/n1"), ("component", "c2/dns"), ("component", "c2/cni")):
        await fleet.publish_and_wait(kind, "ready", entity_id, check=False)
    usual = [one["count"] for one in (await shell("rejections", "--summary", "--json")).lines]
    found = [one["count"] for one in (await shell("rejections", "--summary", "--sort-by", "number", "--json")).lines]
    assert usual == sorted(found, reverse=True)
    assert found == sorted(found)
    wrong = await shell("rejections", "--sort-by", "number")
    assert (wrong.code, "--sort-by is for --summary" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("get",), "Missing argument 'ID'"),
        (("why", "node", "c1/a/n1", "--kind", "component"), "the kind is named twice: node, and --kind component"),
        (("gitops", "diff", "cluster", "c1"), "this command is about resource, not about cluster"),
        (("notices", "explan", "c1"), "there is no command 'explan': phaseline notices --help lists all commands"),
        (("admin", "sites", "lst"), "there is no command 'lst' (did you mean list?)"),
        (("describe", "node", "n1"), "there is no command 'describe' (did you mean get?)"),
    ],
)
async def test_a_wrong_way_is_said(shell: Shell, words: tuple[str, ...], problem: str) -> None:
    said = await shell(*words)
    assert (said.code, said.out) == (2, "")
    assert problem in said.err
