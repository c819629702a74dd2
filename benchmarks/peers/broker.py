"""Where the peers get their events from and tell of their transitions: JetStream, as Phaseline does.

Belongs here: storing the events, reading them in batches with nats-py, publishing what became of them. Does not: what
needs no package (`peer`), FastStream, which does this itself.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Self

import nats
from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig

from benchmarks.peers.peer import Event

STREAM, EVENTS, NEWS = "peer-events", "peer.events", "peer.news"
FETCH = 500
"""Events of one fetch."""


def token(event: Event) -> str:
    """The end of an event's subjects."""
    return event.entity.replace("/", ".")


class Broker:
    """A stream with all events of a run, and subjects for the transitions."""

    def __init__(self, client: Client, count: int) -> None:
        """count: how many events the stream holds."""
        self._client, self._count = client, count

    @classmethod
    async def filled(cls, url: str, events: list[Event], headers: dict[str, str] | None = None) -> Self:
        """Store the events in a new stream. nats-py takes longer to read messages with headers."""
        client = await nats.connect(url)
        stream = client.jetstream()
        await stream.add_stream(name=STREAM, subjects=[f"{EVENTS}.>"])
        for event in events:
            await client.publish(f"{EVENTS}.{token(event)}", json.dumps(event).encode(), headers=headers)
        while (await stream.stream_info(STREAM)).state.messages < len(events):
            await asyncio.sleep(0.05)
        return cls(client, len(events))

    async def batches(self) -> AsyncIterator[list[Event]]:
        """All events in order. A batch is acknowledged, all at once, when the next one is asked for."""
        config = ConsumerConfig(ack_policy=AckPolicy.ALL)
        inbox = await self._client.jetstream().pull_subscribe(f"{EVENTS}.>", "peer", stream=STREAM, config=config)
        done = 0
        while done < self._count:
            messages = await inbox.fetch(min(FETCH, self._count - done), timeout=5)
            yield [Event(*json.loads(message.data)) for message in messages]
            await messages[-1].ack()
            done += len(messages)
        await self._client.flush()

    async def tell(self, event: Event, state: str) -> None:
        """Publish a transition to whoever listens. It is not stored, and lost with a crash."""
        await self._client.publish(f"{NEWS}.{token(event)}", json.dumps([*event, state]).encode())
