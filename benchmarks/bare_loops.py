"""Contenders without logic: they read the same messages and commit as many bytes, as fast as nats-py can.

`fetch`: nats-py's own fetch, and an atomic batch message by message. `pull`: a raw pull with a callback, and a batch in
one buffer.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import nats
from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig

BATCH = 900


async def prepare_fetch(url: str, prefix: str, count: int, size: int) -> Callable[[], Awaitable[None]]:
    """nats-py as in its documentation, without the acknowledgements."""
    client = await nats.connect(url)
    stream = client.jetstream()
    body = b"x" * size

    async def work() -> None:
        config = ConsumerConfig(ack_policy=AckPolicy.NONE)
        inbox = await stream.pull_subscribe(f"{prefix}.inbox.>", stream=f"{prefix}-EVENTS", config=config)
        done = 0
        while done < count:
            messages = await inbox.fetch(500, timeout=5)
            batch = secrets.token_hex(6)
            for number, _ in enumerate(messages, 1):
                headers = {"Nats-Batch-Id": batch, "Nats-Batch-Sequence": str(number)}
                await client.publish(_record(prefix, number), body, headers=headers)
            done += len(messages)
            await _commit(client, prefix, batch, len(messages) + 1)
        await client.close()

    return work


async def prepare_pull(
    url: str, prefix: str, count: int, size: int, most: int = BATCH, states_every: float | None = None
) -> Callable[[], Awaitable[None]]:
    """The fastest loop with nats-py that we found: no task and no future per message.

    most: messages of a batch. states_every: seconds after which it writes what changed to STATE; 0 after each batch.
    """
    client = await nats.connect(url)
    body = b"x" * size

    async def work() -> None:
        arrived: list[Any] = []
        wake = asyncio.Event()

        async def keep(message: Any) -> None:
            arrived.append(message.data)
            wake.set()

        await client.subscribe("bench.pull", cb=keep, pending_msgs_limit=-1, pending_bytes_limit=-1)
        config = {"name": "bench", "ack_policy": "none", "filter_subject": f"{prefix}.inbox.>", "mem_storage": True}
        create = f"$JS.API.CONSUMER.CREATE.{prefix}-EVENTS.bench"
        await client.request(create, json.dumps({"stream_name": f"{prefix}-EVENTS", "config": config}).encode())
        asked = done = 0
        changed, written = dict[str, bytes](), time.monotonic()
        while done < count:
            while asked - done < 3_000:
                body_of_pull = json.dumps({"batch": 1_000, "expires": 30_000_000_000}).encode()
                await client.publish(
                    f"$JS.API.CONSUMER.MSG.NEXT.{prefix}-EVENTS.bench", body_of_pull, reply="bench.pull"
                )
                asked += 1_000
            if not arrived:
                wake.clear()
                await wake.wait()
            taken = min(len(arrived), most)
            del arrived[:taken]
            done += taken
            batch = secrets.token_hex(6)
            await client._send_command(_frames(prefix, batch, taken, body))  # noqa: SLF001  # that is the trick
            await _commit(client, prefix, batch, taken + 1)
            if states_every is None:
                continue
            changed |= {_state(prefix, number): body for number in range(1, taken + 1)}
            if time.monotonic() - written >= states_every or done == count:
                await client._send_command(_plain_frames(changed))  # noqa: SLF001  # as above
                changed, written = {}, time.monotonic()
                await client.flush()
        await client.close()

    return work


def _state(prefix: str, number: int) -> str:
    return f"{prefix}.state.0.node.c{number % 50}.pool.node-{number // 50 % 20}"


def _plain_frames(messages: Mapping[str, bytes]) -> bytes:
    return b"".join(
        [b"PUB %b %d\r\n%b\r\n" % (subject.encode(), len(body), body) for subject, body in messages.items()]
    )


def _record(prefix: str, number: int) -> str:
    return f"{prefix}.log.0.transition.node.phase.Running.c{number % 50}.pool.node-{number // 50 % 20}"


def _frames(prefix: str, batch: str, count: int, body: bytes) -> bytes:
    parts = []
    for number in range(1, count + 1):
        block = f"NATS/1.0\r\nNats-Batch-Id: {batch}\r\nNats-Batch-Sequence: {number}\r\n\r\n"
        parts += [
            f"HPUB {_record(prefix, number)} {len(block)} {len(block) + len(body)}\r\n{block}".encode(),
            body,
            b"\r\n",
        ]
    return b"".join(parts)


async def _commit(client: Client, prefix: str, batch: str, number: int) -> None:
    headers = {
        "Nats-Batch-Id": batch,
        "Nats-Batch-Sequence": str(number),
        "Nats-Batch-Commit": "1",
        "Nats-Rollup": "sub",
    }
    answer = await client.request(f"{prefix}.log.0.checkpoint", b"position", timeout=30, headers=headers)
    if b'"error"' in answer.data:
        raise AssertionError(answer.data)
