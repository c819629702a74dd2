"""A source that counts: it is heard again after a restart, and its repeats are named."""

import json

from phaseline.schemas.records import Transition
from tests.support.installation import Settings, at_work
from tests.support.own_installation import Client


async def test_a_source_that_starts_again_is_heard_at_once(wire, settings: Settings) -> None:  # type: ignore[no-untyped-def]
    async with at_work(settings, wire), Client.open(settings) as client:
        first = await client.source("/agent/c1")
        await first.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
        await first.publish_and_wait("cluster", "error", "c1", {"reason": "A"})
        again = await client.source("/agent/c1")
        assert again.epoch is not None
        assert first.epoch is not None
        assert (again.epoch > first.epoch, again.number) == (True, 0)
        found = await again.publish_and_wait("cluster", "reported", "c1", {"phase": "Running", "seen": again.epoch})
        assert [str(one.after) for one in found.transitions] == ["Running [Ok]"]

        late = await first.publish_and_wait("cluster", "error", "c1", {"reason": "B"})
        assert late.rejection is not None
        assert late.rejection.reason == "repeat"
        assert f"is older than number 1 of epoch {again.epoch}, heard at " in late.rejection.message
        second = await first.publish_and_wait("cluster", "error", "c1", {"reason": "C"})
        assert (second.effect, second.records) == ("none", ())
        assert second.why_none.startswith(f"repeat of number 1 of epoch {again.epoch}, heard at 20")

        many = await again.publish_many(
            [
                {
                    "specversion": "1.0",
                    "id": str(n),
                    "source": "/x",
                    "type": "cluster.heartbeat",
                    "subject": "cluster/c1",
                }
                for n in range(3)
            ]
        )
        assert (many.stored, again.number) == (3, 4)


async def test_an_intent_that_comes_again_is_named_by_its_event(wire, settings: Settings) -> None:  # type: ignore[no-untyped-def]
    async with at_work(settings, wire), Client.open(settings, source="/console") as client:
        asked = await client.publish_and_wait("cluster", "create", "c1", event_id="d-1")
        assert isinstance(asked.transitions[0], Transition)
        body = json.dumps(
            {"specversion": "1.0", "id": "d-1", "source": "/console", "type": "cluster.create", "subject": "cluster/c1"}
        ).encode()
        ack = await wire.publish_acked("pl.events.c1.cluster.create".replace("pl.", f"{settings.prefix}.", 1), body, ())
        found = await client.outcome(asked.receipt._replace(sequence=ack.seq))
        assert (found.effect, found.why_none) == (
            "none", f"repeat of event {asked.receipt.sequence}, which has its id and source",
        )  # fmt: skip
        told = await client.dry_run("cluster", "create", "c1", event_id="d-1")
        assert told.repeated == f"event {asked.receipt.sequence}, which has its id and source"
