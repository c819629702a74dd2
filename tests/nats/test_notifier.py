"""The notifier on a real server: what it stores, by itself, with a second one beside it, and after it was away."""

import asyncio
from collections import Counter
from dataclasses import replace

from tests.support.installation import Settings, Wire, at_work, provision, until_decided
from tests.support.notified import (
    Notifier,
    is_in,
    named,
    notices_of,
    notifying,
    prefix_of,
    read_rules,
    records_of,
    replayed,
    until,
)
from tests.support.own_installation import Client
from tests.support.stream_backup import backed_up, restore

RULES = """
receivers: {ops: {nats: {subject: told}}, dev: {nats: {subject: told.dev}}}
rules:
- {name: nodes, when: {kinds: [node]}, group: entity, to: [ops]}
- {name: slow, when: {kinds: [node]}, for: 1s, group: tree, to: [dev]}
- {name: refused, when: {rejections: ["*"]}, to: [ops]}
"""
N1 = "nodes/node:c1:p:n1~"


async def notice_of(notices: Client, rule: str) -> str:
    """The id of the only notice of a rule."""
    found: list[str] = []
    while not found:
        found = [one.id async for one in notices.list("notice", tree=rule)]
        await asyncio.sleep(0.02)
    assert len(found) == 1
    return found[0]


async def test_what_happens_is_told_once_and_its_end_too(client: Client, working: Settings) -> None:
    await client.publish_and_wait("node", "adopt", "c1/p/n0", {"phase": "Failed", "conditions": ["NotReady"]})
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
    async with notices_of(working) as notices, notifying(client, notices, RULES), notifying(client, notices, RULES):
        await client.publish_and_wait("node", "not_ready", "c1/p/n1")
        notice = await notice_of(notices, "nodes")
        opened = await until(notices, notice, is_in("Open"))
        assert opened.entity.attributes["about"] == "node/c1/p/n1"
        assert opened.message == "node/c1/p/n1 is Failed [NotReady]"
        await until(notices, f"{notice}/ops", is_in("Queued"), "delivery")
        slow = await notice_of(notices, "slow")
        await until(notices, slow, is_in("Open"))  # by the clock alone: nothing more happens
        await client.publish_and_wait("node", "ready", "c1/p/n1")
        closed = await until(notices, notice, is_in("Closed"))
        assert closed.entity.attributes["ended_as"] == "good"
        await until(notices, f"{notice}/ops", lambda one: one.entity.attributes["word"] == "end", "delivery")
        await until(notices, slow, is_in("Closed"))
        records = await records_of(notices, "notice")
        told = Counter((one.entity.id, one.trigger) for one in records if one.facet == "phase")
        assert set(told.values()) == {1}
        assert not [one async for one in notices.rejections()]


async def test_what_happens_while_no_notifier_runs_is_told_later_and_nothing_twice(
    client: Client, working: Settings
) -> None:
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
    async with notices_of(working) as notices:
        async with notifying(client, notices, RULES):
            place = (await client.moment("now")).place
            await client.publish_and_wait("node", "not_ready", "c1/p/n1")
            notice = await notice_of(notices, "nodes")
            await until(notices, notice, is_in("Open"))
        await client.publish_and_wait("node", "ready", "c1/p/n1")
        await client.publish_and_wait("node", "created", "c1/p/n9", check=False)
        async with notifying(client, notices, RULES):
            await until(notices, notice, is_in("Closed"))
            await until(notices, await notice_of(notices, "refused"), is_in("Closed"))
            await until(notices, await notice_of(notices, "slow"), is_in("Closed"))
        wanted = await replayed(client, read_rules.read(RULES, client.kinds), place)
        records = [one for one in await records_of(notices, "notice") if one.facet == "phase"]
        assert Counter((one.entity.id, one.trigger) for one in records) == Counter(one[:2] for one in wanted)
        last = {one[0]: one[2] for one in wanted}
        for one in records:
            said, meant = one.entity.attributes, {**last[one.entity.id], "message": None}
            if said["sequence"] == meant["sequence"]:
                assert {**said, "message": None}.items() >= meant.items()


async def test_a_rule_that_is_taken_away_ends_its_notices_and_a_new_one_raises_nothing_old(
    client: Client, working: Settings
) -> None:
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
    others = RULES.replace("name: nodes", "name: others")
    async with notices_of(working) as notices:
        async with notifying(client, notices, RULES):
            await client.publish_and_wait("node", "not_ready", "c1/p/n1")
            notice = await notice_of(notices, "nodes")
            await until(notices, notice, is_in("Open"))
        async with notifying(client, notices, others):
            closed = await until(notices, notice, is_in("Closed"))
            assert closed.entity.attributes["ended_as"] == "rule changed"
            await client.publish_and_wait("node", "adopt", "c1/p/n2", {"phase": "Running"})
            await client.publish_and_wait("node", "not_ready", "c1/p/n2")
            opened = await until(notices, await notice_of(notices, "others"), is_in("Open"))
            assert opened.entity.attributes["about"] == "node/c1/p/n2"


async def test_what_is_due_in_a_quiet_tree_is_told_while_others_are_busy(client: Client, working: Settings) -> None:
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})

    async def be_busy() -> None:
        number = 0
        while True:
            number += 1
            await client.publish("node", "adopt", f"c2/p/n{number}", {"phase": "Running"})
            await asyncio.sleep(0.02)

    async with notices_of(working) as notices, notifying(client, notices, RULES):
        busy = asyncio.create_task(be_busy())
        try:
            await client.publish_and_wait("node", "not_ready", "c1/p/n1")
            await until(notices, await notice_of(notices, "slow"), is_in("Open"))
        finally:
            busy.cancel()


async def test_what_a_killed_notifier_said_last_is_not_said_again_by_other_rules(
    client: Client, working: Settings
) -> None:
    gone = (
        "receivers: {ops: {nats: {subject: told}}}\nrules: [{name: %s, when: {kinds: [node], gone: true}, to: [ops]}]"
    )
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
    await client.publish_and_wait("node", "adopt", "c1/p/n2", {"phase": "Running"})
    async with notices_of(working) as notices:
        rules = read_rules.read(gone % "gone", client.kinds)
        killed = Notifier(client, notices, prefix_of(client), rules, lambda _: False)
        running = asyncio.create_task(killed.run(asyncio.Event()))
        await killed.is_following.wait()
        await client.publish_and_wait("node", "deleted", "c1/p/n1")
        await until(notices, await notice_of(notices, "gone"), is_in("Closed"))
        running.cancel()  # it saves no checkpoint
        await asyncio.gather(running, return_exceptions=True)
        async with notifying(client, notices, gone % "left"):
            await client.publish_and_wait("node", "deleted", "c1/p/n2")
            told = await until(notices, await notice_of(notices, "left"), is_in("Closed"))
            assert told.entity.attributes["about"] == "node/c1/p/n2"


async def test_in_a_log_that_was_put_back_what_it_does_not_make_ends_and_what_it_makes_is_told_once(
    wire: Wire, settings: Settings
) -> None:
    one = replace(settings, partitions=1)
    kept, lost = (f"nodes/{named('node', f'c1/p/n{number}')}" for number in (1, 2))
    async with notices_of(one) as notices:
        async with at_work(one, wire) as layout, Client.open(one, source="/test") as client:
            for number in (1, 2, 3):
                await client.publish_and_wait("node", "adopt", f"c1/p/n{number}", {"phase": "Running"})
            async with notifying(client, notices, RULES):
                await client.publish_and_wait("node", "not_ready", "c1/p/n1")
                await until(notices, kept, is_in("Open"))
                await until_decided(wire, layout)
                backups = [await backed_up(wire, name) for name in (layout.log, layout.events, layout.state)]
                await client.publish_and_wait("node", "not_ready", "c1/p/n2")
                await until(notices, lost, is_in("Open"))
        for backup in backups:
            await restore(wire, backup)
        await provision(wire, one)
        async with (
            at_work(one, wire),
            Client.open(one, source="/test") as client,
            notifying(client, notices, RULES),
            notifying(client, notices, RULES),
        ):
            ended = await until(notices, lost, is_in("Closed"))
            assert ended.entity.attributes["ended_as"] == "log put back"
            await until(notices, f"{lost}/ops", lambda each: each.entity.attributes["word"] == "end", "delivery")
            assert is_in("Open")(await notices.last("notice", kept))
            for trigger in ("ready", "not_ready"):
                await client.publish_and_wait("node", trigger, "c1/p/n1")
            await client.publish_and_wait("node", "not_ready", "c1/p/n2")
            log = await client.log_identity()
            for notice in (kept, lost):
                await until(
                    notices, notice, lambda each: is_in("Open")(each) and each.entity.attributes["log_identity"] == log
                )
                await until(
                    notices, f"{notice}/ops", lambda each: each.entity.attributes["word"] == "begin", "delivery"
                )
        words = Counter(
            (each.entity.id, each.entity.attributes["word"])
            for each in await records_of(notices, "delivery")
            if each.trigger == "queued" and each.entity.id.startswith("nodes/")
        )
        assert words == {
            (f"{kept}/ops", "begin"): 2, (f"{kept}/ops", "end"): 1, (f"{lost}/ops", "begin"): 2, (f"{lost}/ops", "end"): 1
        }  # fmt: skip
