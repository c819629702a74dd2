"""FastStream with typed handlers: publishes a model, and receives records as models.

Arguments: the URL of the server, the prefix of the installation. Prints what the handler got as JSON.
"""

import asyncio
import json
import logging
import sys
from typing import Any, Literal

from faststream.nats import NatsBroker, NatsMessage
from pydantic import BaseModel


class State(BaseModel):
    """A phase and its conditions."""

    state: str
    conditions: list[str]


class Change(BaseModel):
    """The part of a record that this program uses."""

    id: str
    to: State
    trigger: str


class Record(BaseModel):
    """A transition."""

    type: str
    source: str
    data: Change


class Event(BaseModel):
    """An event."""

    specversion: Literal["1.0"] = "1.0"
    id: str
    source: str
    type: str
    data: dict[str, Any]


async def decode(message: NatsMessage) -> Any:
    """The body as JSON. FastStream itself takes only `application/json` for JSON."""
    return json.loads(message.body)


async def main(url: str, prefix: str) -> None:
    """Publish an event, and wait for its record."""
    broker = NatsBroker(url, logger=logging.getLogger("faststream"))
    got: asyncio.Future[Record] = asyncio.get_running_loop().create_future()

    @broker.subscriber(f"{prefix}.transition.>", decoder=decode)
    async def take(record: Record) -> None:
        got.set_result(record)

    async with broker:
        await broker.start()
        event = Event(id="1", source="/faststream", type="cluster.adopt", data={"phase": "Running"})
        await broker.publish(event, f"{prefix}.events.c1.cluster.adopt")
        print((await asyncio.wait_for(got, 20)).model_dump_json())


asyncio.run(main(*sys.argv[1:]))
