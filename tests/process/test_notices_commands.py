"""The commands about notices that there are: `notices`, `notices why`, `take`, `hold`, and others by `--prefix`."""

import asyncio
from pathlib import Path

from tests.support.command import Shell
from tests.support.installation import Settings
from tests.support.notified import is_in, notices_of, notifying, until
from tests.support.own_installation import Client

RULES = """
receivers: {ops: {nats: {subject: told}}}
rules:
- {name: down, when: {kinds: [node]}, group: tree, to: [ops]}
- {name: bundles, when: {kinds: [bundle]}, to: [ops]}
"""


async def test_a_notice_is_listed_explained_taken_and_held(
    client: Client, working: Settings, shell: Shell, tmp_path: Path
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(RULES)
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
    async with notices_of(working) as notices, notifying(client, notices, RULES):
        assert "no notice is open" in (await shell("notices")).out
        await client.publish_and_wait("node", "not_ready", "c1/p/n1", {"reason": "KubeletStopped"})
        await until(notices, "down/c1/ops", is_in("Queued"), "delivery")
        listed, story, entity, tree = await asyncio.gather(
            shell("notices", "--json"),
            shell("notices", "why", "down/c1"),
            shell("notices", "why", "node", "c1/p/n1", "--rules", str(file)),
            shell("tree", "down/c1", "--prefix", f"{working.prefix}-notices", "--json"),
        )
        assert listed.json["id"] == "down/c1"
        assert "node/c1/p/n1 is Failed [NotReady]" in story.out
        assert "not_ready by /test" in story.out
        assert "rule down: yes, all that it asks is so" in entity.out
        assert "rule bundles: no, it is about bundle" in entity.out
        assert '"kind":"delivery"' in tree.out
        taken = await shell("notices", "take", "down/c1", "--by", "ann")
        assert "down/c1: taken by ann" in taken.err
        held, unknown, wrong = await asyncio.gather(
            shell("notices", "hold", "down/c1", "--until", "2h"),
            shell("notices", "take", "down/c9"),
            shell("notices", "hold", "down/c1", "--until", "soon"),
        )
        assert held.code == 0
        assert (unknown.code, wrong.code) == (4, 2), unknown.err
        assert "neither back nor a time" in wrong.err
        found = await notices.get("notice", "down/c1")
        assert (found.attributes["taken_by"], found.attributes["hold_seconds"]) == ("ann", 7200.0)


async def test_without_a_notifier_it_is_said_what_makes_notices(working: Settings, shell: Shell) -> None:
    for words in (["notices"], ["notices", "take", "down/c1"]):
        said = await shell(*words)
        assert (said.code, "`phaseline notify --rules FILE` makes them" in said.err) == (6, True), said.err


async def test_an_installation_of_notices_has_no_notices_of_its_own(shell: Shell) -> None:
    refused = await shell("notices", "--prefix", "pl-notices")
    assert refused.code == 2
    assert "name the one that they are about" in refused.err
