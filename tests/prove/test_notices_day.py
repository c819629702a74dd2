"""A day of 5,000 entities, quickly, on a server: what each receiver gets, with its reasons; `try` says the same.

The arrears of a cluster, a node that comes and goes, a site that falls silent, a rolling update in a window, a chart
that fails. `pytest -s -m slow` on this file prints the messages. PROVE_SCALE makes the fleet smaller.
"""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.telling import sentence
from phaseline.engine.products.notices.past import tried
from phaseline.engine.publish.compose import compose
from phaseline.engine.surfaces.client.client import Client
from phaseline.schemas import codec
from phaseline.schemas.records import Transition
from tests.support.installation import Settings, Wire, at_work
from tests.support.notified import notices_of, notifying, records_of
from tests.support.patience import wait_for
from tests.support.prove_scale import scaled

CLUSTERS, NODES = 20, scaled(247, least=5)
RULES = """
receivers: {ops: {nats: {subject: told.ops}}, billing: {nats: {subject: told.billing}}}
rules:
- {name: arrears, when: {kinds: [cluster], states: ["{Stopped,[Balance]}"]}, severity: critical, to: [billing, ops]}
- {name: cluster-down, when: {kinds: [cluster]}, severity: critical, to: [ops]}
- {name: node-down, when: {kinds: [node]}, for: 2s, clear-after: 1s, group: parent, to: [ops],
   flapping: {changes: 6, within: 60s, quiet: 3s}}
- {name: charts, when: {kinds: [component]}, for: 1s, to: [ops]}
- {name: silent, when: {kinds: [cluster], silent: true}, to: [ops]}
windows: [{name: rollout, opened-by: [update], up-to: 1h}]
"""
SILENT = 3
"""Seconds after which the site counts as silent."""
SIZE = CLUSTERS * (NODES + 3)


async def adopted(client: Client) -> None:
    """A fleet, in which all runs."""
    names = [
        *(("cluster", f"c{one}") for one in range(CLUSTERS)),
        *(("node_pool", f"c{one}/p") for one in range(CLUSTERS)),
        *(("component", f"c{one}/dns") for one in range(CLUSTERS)),
        *(("node", f"c{one}/p/n{number}") for one in range(CLUSTERS) for number in range(NODES)),
    ]
    await client.publish_many([
        compose(kind, "adopt", name, {"phase": "Running"}, {"source": "/test"}) for kind, name in names
    ])  # fmt: skip
    found: list[str] = []

    async def are_all_there() -> bool:
        view = await client.at("now")
        found[:] = [one.entity.id async for one in view.unsorted()]
        return len(found) == SIZE

    async def moved() -> object:
        return len(found)

    await wait_for(are_all_there, moved, pause=0.5)


async def lived(client: Client) -> None:
    """What happens in the day."""

    async def say(kind: str, trigger: str, entity: str, data: dict[str, Any] | None = None) -> None:
        await client.publish_and_wait(kind, trigger, entity, data, timeout=600)

    async def all_nodes(trigger: str, cluster: str, reason: str) -> None:
        for number in range(NODES):
            await client.publish("node", trigger, f"{cluster}/p/n{number}", {"reason": reason})

    await say("cluster", "overdue", "c1", {"reason": "Arrears"})
    await all_nodes("not_ready", "c1", "SwitchedOff")
    await say("cluster", "configure", "c5", {"silence_after": SILENT})
    for trigger in ("not_ready", "ready") * 4:  # a node comes and goes
        await say("node", trigger, "c2/p/n1", {"reason": "Flaky"})
    await say("cluster", "update", "c4")
    for number in range(NODES):  # one after the other; one does not come back
        await client.publish("node", "not_ready", f"c4/p/n{number}", {"reason": "Rebooting"})
        if number != 2:
            await client.publish("node", "ready", f"c4/p/n{number}")
    await say("component", "degraded", "c3/dns", {"reason": "ReplicasMissing"})
    await asyncio.sleep(SILENT + 2)
    await say("cluster", "updated", "c4")
    await say("cluster", "renewed", "c1")
    await all_nodes("ready", "c1", "SwitchedOn")
    await say("cluster", "started", "c1")
    await say("component", "recovered", "c3/dns")
    await asyncio.sleep(4)
    await say("node", "ready", "c4/p/n2")


async def transitions_after(client: Client, place: int) -> int:
    """How many transitions a log has after a place."""
    async with client.watch(start=place + 1, follow=False) as watch:
        return len([record async for record in watch])


def packed(notice: str, trigger: str, sequence: int, data: dict[str, Any]) -> bytes:
    """What one message is made of."""
    return codec.encode([notice, trigger, sequence, dict(sorted(data.items()))])


def committed(records: Iterable[Transition], words: set[tuple[str, int]]) -> list[bytes]:
    """The same of the records of notices. words: those of which receivers are told, by notice and number."""
    found = []
    for one in records:
        said = dict(one.entity.attributes)
        sequence = said.pop("sequence")
        for name in ("log_identity", "due", "hold_seconds", "taken_by"):
            said.pop(name, None)
        if one.facet == "phase" and (one.entity.id, sequence) in words:
            found.append(packed(one.entity.id, one.trigger, sequence, said))
    return sorted(found)


def shown(told: Iterable[NoticeEvent]) -> str:
    """The messages of each receiver: when, the word, the notice, what it is about, the reason and the cause."""
    of = defaultdict[str, list[str]](list)
    for one in told:
        said, cause = one.data["said"], one.data["cause"]
        why = f"{said['reason'] or one.data['trigger']} by {cause['source']}, event {cause['event']}"
        for receiver in one.to:
            of[receiver].append(f"  {one.time[11:19]} {one.word:8} {one.id}: {sentence(one.data)} ({why})")
    return "\n".join(f"{name}: {len(some)} messages\n" + "\n".join(some) for name, some in sorted(of.items()))


@pytest.mark.slow
async def test_a_day_is_a_few_messages_and_try_says_the_same(wire: Wire, settings: Settings) -> None:
    async with (
        notices_of(settings) as notices,
        at_work(settings, wire),
        Client.open(settings, source="/test") as client,
    ):
        await adopted(client)
        rules = read_rules.read(RULES, client.kinds)
        place = (await client.moment("now")).place
        async with notifying(client, notices, rules):
            await lived(client)
            records: list[Transition] = []

            async def is_quiet() -> bool:
                records[:] = await records_of(notices, "notice")
                last = {one.entity.id: one.trigger for one in records if one.facet == "phase"}
                over = [one for one, trigger in last.items() if trigger in ("closed", "lapsed", "happened")]
                return len(over) == len(last) - 1 and any(one.startswith("silent/") for one in last)

            async def moved() -> object:
                return len(records)

            await wait_for(is_quiet, moved, pause=1.0)
        found = await tried(client, rules, str(place))
        queued = [one for one in await records_of(notices, "delivery") if one.trigger == "queued"]
        happened = await transitions_after(client, place)
        sys.stdout.write(
            f"\n{shown(found.told)}\n{SIZE:,} entities, {happened:,} transitions, {len(queued)} messages\n"
        )
        told = [one for one in found.told if one.word]
        words = {(one.id, one.sequence) for one in told}
        assert committed(records, words) == sorted(
            packed(one.id, one.trigger, one.sequence, dict(one.data)) for one in told
        )
        assert sum(len(one.to) for one in told) == len(queued)
        assert len(queued) < 20
        assert happened > 3 * NODES
