"""Rules of notices on the past of an installation: the same as the test kit makes of the same events."""

from tests.support.notified import read_rules, tried
from tests.support.own_installation import Client

RULES = """
receivers: {ops: {nats: {subject: told}}}
rules:
- {name: nodes, when: {kinds: [node]}, group: entity, to: [ops]}
- {name: slow, when: {kinds: [node]}, for: 1h, to: [ops]}
- {name: refused, when: {rejections: ["*"]}, to: [ops]}
"""


async def test_the_past_is_told_from_a_moment_on(client: Client) -> None:
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
    for trigger in ("not_ready", "ready", "not_ready"):
        await client.publish_and_wait("node", trigger, "c1/p/n1")
    await client.publish_and_wait("node", "created", "c1/p/n9", check=False)
    found = await tried(client, read_rules.read(RULES, client.kinds), "start")
    assert [(one.rule, one.word) for one in found.told if one.rule == "nodes"] == [
        ("nodes", "begin"), ("nodes", "end"), ("nodes", "begin"),
    ]  # fmt: skip
    assert [one.data["said"]["reason"] for one in found.told if one.rule == "refused"] == ["illegal"]
    assert found.results["slow"].saved["for"] == 1
    assert found.results["nodes"].open == 1
    later = await tried(client, read_rules.read(RULES, client.kinds), "now")
    assert later.told == []
    assert not any(one.open for one in later.results.values())
