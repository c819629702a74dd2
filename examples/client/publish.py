"""Publish events, wait for an outcome, see what was refused."""

import asyncio
from collections.abc import Iterator

import phaseline
from phaseline import errors


def boots(count: int) -> Iterator[phaseline.Event]:
    for number in range(count):
        yield phaseline.Event(
            id=f"boot-{number}",
            source="/agent/c1",
            type="node.adopt",
            specversion="1.0",
            subject=f"node/c1/pool-a/n{number}",
            data={"phase": "Running"},
        )


async def main(url: str, prefix: str) -> None:
    async with phaseline.connect(url, prefix=prefix, source="/example", request_timeout=3.0) as client:
        receipt = await client.publish("cluster", "adopt", "c1", {"phase": "Running"}, event_id="first")
        print("stored at", receipt.sequence)
        sent = await client.publish_many(boots(3))
        print("stored", sent.stored)
        outcome = await client.publish_and_wait("node", "create", "c1/pool-a/n1", timeout=20.0)
        if outcome.rejection is not None:
            print("refused:", outcome.rejection.reason)
        for transition in outcome.transitions:
            print(transition.entity.id, transition.after)
        try:
            await client.publish("cluster", "crate", "c1")
        except errors.EventRefused as error:
            print("not sent:", error.reason)


if __name__ == "__main__":
    asyncio.run(main("nats://127.0.0.1:4222", "pl"))
