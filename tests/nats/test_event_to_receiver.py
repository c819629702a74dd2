"""The whole way of a notice: an event, a rule, a notice, a delivery, a message."""

from tests.support.installation import Settings
from tests.support.notified import notices_of, notifying, of_notices
from tests.support.odd_receivers import receiving
from tests.support.own_installation import Client
from tests.support.senders import LIMIT, at_send, web


async def test_from_an_event_to_a_phone(client: Client, working: Settings) -> None:
    rules = (
        "receivers: {ops: {webhook: {url: 'https://x.org/'}}}\nrules: [{name: down, when: {kinds: [node]}, to: [ops]}]"
    )
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"}, timeout=LIMIT)
    async with (
        notices_of(working) as notices,
        notifying(client, notices, rules),
        receiving() as found,
        at_send(of_notices(working), web("ops", found)),
    ):
        said = {"reason": "KubeletDown", "message": "no heartbeat"}
        await client.publish_and_wait("node", "not_ready", "c1/p/n1", said, timeout=LIMIT)
        await found.until(1)
        await client.publish_and_wait("node", "ready", "c1/p/n1", timeout=LIMIT)
        await found.until(2)
    begin, end = (one.json for one in found.got)
    assert begin["title"].startswith("WARNING: node c1/p/n1 Failed [NotReady] (KubeletDown)")
    assert end["title"].startswith("OVER: node c1/p/n1 good again after ")
    assert (begin["thread"], begin["cause"]["source"]) == (end["thread"], "/test")
