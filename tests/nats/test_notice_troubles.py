"""Notices about notices: a receiver to whom deliveries fail for long, and a notifier that lags."""

from phaseline.engine.products.notices.troubles import FAILING, OwnTroubles
from phaseline.schemas.records import SECOND
from tests.support.installation import Settings
from tests.support.notified import Notifier, is_in, notices_of, read_rules, until
from tests.support.own_installation import Client

RULES = (
    "receivers: {ops: {nats: {subject: a}}, dev: {nats: {subject: b}}}\nrules: [{name: r, when: {}, to: [ops, dev]}]"
)


class Lagging(Notifier):
    """A notifier whose lag a test says."""

    seconds = 0.0

    @property
    def lag(self) -> float:
        return self.seconds


async def test_every_other_receiver_is_told_of_one_that_fails_and_of_a_notifier_that_lags(
    client: Client, working: Settings
) -> None:
    rules = read_rules.read(RULES, client.kinds)
    async with notices_of(working) as notices:
        notifier = Lagging(client, notices, working.prefix, rules, lambda _: False)
        troubles = OwnTroubles(notices, notifier, working.prefix, rules.receivers)
        await notices.publish("notice", "opened", "r/1", {"number": 1})
        await notices.publish("delivery", "queued", "r/1/ops", {"word": "begin"})
        await notices.publish("delivery", "send", "r/1/ops")
        failure = {"error": "503", "tries": 1, "wait": 3600.0}
        outcome = await notices.publish_and_wait("delivery", "failed", "r/1/ops", failure)
        since = outcome.transitions[0].time_ns
        await until(notices, "r/1/ops", is_in("Failed"), "delivery")
        await troubles.look(since + round((FAILING - 1) * SECOND))
        assert [one async for one in notices.list("notice", tree="_notices")] == []
        late = since + round((FAILING + 1) * SECOND)
        for _ in range(2):  # two notifiers see it
            await troubles.look(late)
        opened = await until(notices, "_notices/ops", is_in("Open"))
        assert opened.entity.attributes["said"]["message"] == "503"
        await until(notices, "_notices/ops/dev", is_in("Queued"), "delivery")
        assert [one.id async for one in notices.list("delivery", tree="_notices")] == ["_notices/ops/dev"]
        notifier.seconds = 61.0
        await troubles.look(late)
        await until(notices, "_notices/notifier/ops", is_in("Queued"), "delivery")
        await until(notices, "_notices/notifier/dev", is_in("Queued"), "delivery")
        notifier.seconds = 0.0
        await notices.publish("delivery", "retry", "r/1/ops")
        await notices.publish("delivery", "send", "r/1/ops")
        await notices.publish_and_wait("delivery", "sent", "r/1/ops", {"told": "begin"})
        await until(notices, "r/1/ops", is_in("Sent"), "delivery")
        await troubles.look(late)
        closed = await until(notices, "_notices/ops", is_in("Closed"))
        assert closed.entity.attributes["said"]["was"]["message"] == "503"
        await until(notices, "_notices/notifier", is_in("Closed"))
        records = [one async for one in notices.history("notice", "_notices/ops")]
        assert [one.trigger for one in records if one.facet == "phase"] == ["opened", "closed"]
