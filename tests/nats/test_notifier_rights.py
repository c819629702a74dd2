"""A notifier with the narrow rights that docs/notices.md names, on a real server."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

from phaseline import Client
from phaseline.machines.built_in import installed
from tests.support.installation import EmbeddedServer, Settings, Wire, at_work
from tests.support.notified import DeliveryCounts, of_notices, read_rules, running, sending, until

PAGE = Path(__file__).parents[2] / "docs" / "notices.md"
RULES = """
receivers: {ops: {nats: {subject: told.ops}}}
rules: [{name: nodes, when: {kinds: [node]}, group: tree, for: 1s, to: [ops]}]
"""


def listed(word: str) -> list[str]:
    """The subjects that the page names behind a word."""
    [line] = re.findall(rf"^{word}: \[(.*?)\]", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return re.findall(r'"([^"]+)"', line)


class NarrowServer(EmbeddedServer):
    """A server with a user for the notifier, and one for all else."""

    def _config(self) -> str:
        publish, subscribe = (", ".join(f'"{one}"' for one in listed(word)) for word in ("publish", "subscribe"))
        users = [
            f'{{user: notify, password: x, permissions: {{publish: [{publish}, "told.ops"], subscribe: [{subscribe}], '
            "allow_responses: true}}",
            "{user: all, password: x}",
        ]
        return f"{super()._config()}authorization {{ users: [ {', '.join(users)} ], timeout: 60 }}\n"

    def settings(self, user: str) -> Settings:
        """The settings of a user."""
        url = self.url.replace("//", f"//{user}:x@")
        return Settings(nats=(url,), inbox_prefix=f"_INBOX_{user}", partitions=2, request_timeout=30.0)


async def test_a_notifier_needs_no_more_than_the_page_says() -> None:
    async with NarrowServer() as server:
        everything, narrow = server.settings("all"), server.settings("notify")
        async with (
            Wire.open(everything, name="test") as wire,
            at_work(everything, wire, installed()),
            Client.open(everything, source="/test") as main,
            Client.open(replace(of_notices(everything), partitions=None)) as notices,
        ):
            told: asyncio.Queue[str] = asyncio.Queue()
            await wire.subscribe("told.ops", lambda subject, *_: told.put_nowait(subject))
            await main.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"}, timeout=120)
            rules, stop, ready = read_rules.read(RULES, main.kinds), asyncio.Event(), asyncio.Event()

            async def send(own: Settings, _: object, ending: asyncio.Event) -> None:
                await sending(own, rules.receivers, DeliveryCounts(), ending)

            work = asyncio.create_task(running.run(narrow, rules, stop, parts=[send], following=ready.set))
            waiting = asyncio.create_task(ready.wait())
            await asyncio.wait({waiting, work}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
            await main.publish_and_wait("node", "not_ready", "c1/p/n1", timeout=120)
            async with asyncio.timeout(120):
                assert await told.get() == "told.ops"
            await until(notices, "nodes/c1/ops", lambda one: one.entity.attributes.get("told") == "begin", "delivery")
            stop.set()
            await work
