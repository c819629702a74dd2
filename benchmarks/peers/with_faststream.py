"""FastStream on JetStream: a durable pull subscriber, one handler call an event, states in a key-value bucket.

It delivers at least once: a crash between the publication and the acknowledgement repeats a transition.
"""

import asyncio
from pathlib import Path
from typing import Any

import nats
from faststream.nats import JStream, NatsBroker, PullSub

from benchmarks.peers.broker import EVENTS, STREAM, Broker, token
from benchmarks.peers.peer import AFTER, Event, Found, Peer, main

FETCH = 100


async def prepare(events: list[Event], _: Path, url: str) -> Peer:
    """Store the events. The handler publishes the transition, stores the state, and acknowledges the event."""
    client = await nats.connect(url)
    stream = client.jetstream()
    await Broker.filled(url, events, {"content-type": "application/json"})
    await stream.add_stream(name="peer-log", subjects=["peer.log.>"])
    bucket = await stream.create_key_value(bucket="peer-states")
    broker = NatsBroker(url, logger=None)
    states: dict[str, str] = {}
    done = asyncio.Event()
    decided = 0

    @broker.subscriber(f"{EVENTS}.>", stream=JStream(STREAM, declare=False), durable="peer", pull_sub=PullSub(FETCH))
    async def decide(body: list[Any]) -> None:
        nonlocal decided
        event = Event(*body)
        if (event.entity in states) == (event.trigger == "create"):
            raise ValueError(f"{event.trigger} is illegal in {states.get(event.entity, 'Absent')}")
        state = states[event.entity] = AFTER[event.trigger]
        await broker.publish([*body, state], f"peer.log.{token(event)}", stream="peer-log")
        await bucket.put(token(event), state.encode())
        decided += 1
        if decided == len(events):
            done.set()

    async def work() -> None:
        await broker.start()
        await done.wait()

    async def read() -> Found:
        await broker.stop()
        keys = await bucket.keys()
        entities = {token(event): event.entity for event in events}
        found = {entities[key]: ((await bucket.get(key)).value or b"").decode() for key in keys}
        return Found(found, (await stream.stream_info("peer-log")).state.messages)

    return Peer(work, read)


if __name__ == "__main__":
    main(prepare)
