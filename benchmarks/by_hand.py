"""A hand-written contender: nats-py, one `transitions` machine per entity in a dict, KV put, publish, acknowledge."""

import json
from collections.abc import Awaitable, Callable

import nats
from nats.js.api import ConsumerConfig
from transitions import Machine

from phaseline.schemas import codec

STATES = ["Absent", "Creating", "Running", "Updating", "Failed", "Unschedulable"]
ROWS = [
    ["create", "Absent", "Creating"],
    ["created", "Creating", "Running"],
    ["not_ready", "*", "Failed"],
    ["ready", "*", "Running"],
    ["cordon", "*", "Unschedulable"],
    ["uncordon", "*", "Running"],
    ["update", "*", "Updating"],
    ["updated", "*", "Running"],
    ["overdue", "*", "Failed"],
    ["renewed", "*", "Running"],
]


async def prepare(url: str, prefix: str, count: int, size: int) -> Callable[[], Awaitable[None]]:
    """The loop alone: it keeps no order after a crash, commits nothing atomically, and knows no parents."""
    client = await nats.connect(url)
    stream = client.jetstream()
    states = await stream.create_key_value(bucket=f"{prefix}-hand")
    body = b"x" * size

    async def work() -> None:
        machines: dict[str, Machine] = {}
        durable = ConsumerConfig(durable_name="hand")
        inbox = await stream.pull_subscribe(f"{prefix}.inbox.>", "hand", stream=f"{prefix}-EVENTS", config=durable)
        done = 0
        while done < count:
            for message in await inbox.fetch(min(100, count - done), timeout=5):
                event = codec.decode(message.data)
                root, kind, _, *rest = message.subject.split(".")[3:]
                entity = ".".join([kind, root, *rest])
                machine = machines.get(entity)
                if machine is None:
                    machine = machines[entity] = Machine(
                        states=STATES, transitions=ROWS, initial="Absent", auto_transitions=False
                    )
                machine.trigger(event["type"].partition(".")[2])
                await states.put(entity, json.dumps({"state": machine.state}).encode())
                await stream.publish(f"{prefix}.log.0.transition.node.phase.{machine.state}.{entity}", body)
                await message.ack()
                done += 1
        await client.close()

    return work
