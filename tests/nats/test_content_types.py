"""Every message with a body says its content type: in each stream, on the live feed, in replies of services."""

import asyncio

from tests.support.installation import Layout, Settings, Wire, inspect
from tests.support.own_installation import Client, OwnInstallation
from tests.support.owners import NO_EVENT, Message, batch_frames
from tests.support.streams import read_all, read_headers

EVENT, RECORD = "application/cloudevents+msgpack", "application/cloudevents+json"
"""The type of what the client and timers send, and of the records of a feed in JSON."""
LIMIT = 120
"""Seconds until a test gives up."""


def branch(prefix: str, subject: str) -> str:
    """`log`, `mark`, ...: the word behind the prefix."""
    return subject.removeprefix(f"{prefix}.").partition(".")[0]


async def types_of(wire: Wire, layout: Layout) -> dict[str, set[str | None]]:
    """By the word behind the prefix of a stored subject, the content types of those messages."""
    found: dict[str, set[str | None]] = {}
    for stream in (layout.events, layout.log, layout.state, layout.live, layout.lease):
        async for slice_ in read_all(wire, stream, []):
            for stored in slice_:
                word = "checkpoint" if ".checkpoint." in stored.subject else branch(layout.prefix, stored.subject)
                found.setdefault(word, set()).add(stored.headers.get("content-type"))
    return found


async def test_every_stored_message_says_its_type(client: Client, wire: Wire, settings: Settings) -> None:
    layout = await inspect(wire, settings)
    for name, seconds in (("c1", 0.3), ("c2", 900.0)):
        await client.publish("cluster", "adopt", name, {"phase": "Running"})
        await client.publish("cluster", "configure", name, {"silence_after": seconds})
        await client.publish("cluster", "heartbeat", name)
    await client.publish("cluster", "recovered", "c2", sequence=1)
    await client.publish("cluster", "created", "c9")
    observed = {"id": "1", "source": "/x", "type": "resource.observed", "specversion": "1.0", "data": {"live": None}}
    await client.publish_many([{**observed, "subject": "resource/s/a/c:Secret/n/x"}])
    async with asyncio.timeout(LIMIT):
        while "due" not in (found := await types_of(wire, layout)) or "live" not in found:
            await asyncio.sleep(0.05)
    assert found.pop("lease") == {"text/plain; charset=utf-8"}
    assert found.pop("checkpoint") == found.pop("tables") == {"application/msgpack"}
    assert {word for word, types in found.items() if types == {RECORD}} == {"log", "mark", "state"}
    assert {word for word, types in found.items() if types == {EVENT}} == {"inbox", "due", "timer", "fired", "live"}


async def test_the_live_feed_says_its_type(client: Client, installation: OwnInstallation) -> None:
    heard: list[str | None] = []

    def take(_: str, __: bytes, block: bytes | None, ___: str) -> None:
        heard.append(read_headers(block or b"").get("content-type"))

    for feed in ("transition", "rejection"):
        await installation.wire.subscribe(f"{installation.settings.prefix}.{feed}.>", take)
    await client.publish("cluster", "adopt", "c1", {"phase": "Running"})
    await client.publish("cluster", "created", "c9")
    async with asyncio.timeout(LIMIT):
        while len(heard) < 2:
            await asyncio.sleep(0.05)
    assert heard == [RECORD, RECORD]


async def test_a_service_says_the_type_of_its_replies(working: Settings, wire: Wire) -> None:
    for subject in ("$SRV.INFO.phaseline", f"{working.prefix}.status.emco_resource.none"):
        reply = await wire.request(subject)
        assert (reply.headers["content-type"], reply.data[:1]) == ("application/json", b"{")


def test_a_batch_gives_each_body_its_type() -> None:
    message = Message("a", b"\x80", (("Nats-Schedule", "@at x"),))
    frames = batch_frames("b", [message, Message("c", b"{}"), Message("d", b"\x80", NO_EVENT)], 1_000)
    types = [line.decode().partition(": ")[2] for line in frames.split(b"\r\n") if line.startswith(b"content-type")]
    assert types == [EVENT, "application/cloudevents+json", "application/msgpack"]
