"""Somebody who took over the machine of an edge: speaks the protocol of leaf nodes to the hub, with the edge's key.

Belongs here: connecting, and messages that no real server would send. Does not: what must become of them (the tests).
"""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from phaseline.engine.worker.sites.edge_names import EdgeNames
from tests.support.edge_site import Hub

CONSUMER = "hub"


class HostileLeaf:
    """A connection to the hub's port for leaf nodes. It answers as the edge's consumer would."""

    def __init__(self, names: EdgeNames, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.names, self._reader, self._writer = names, reader, writer
        self._sent = self._delivered = 0
        self._up = ""
        """Where the hub listens for the store's messages; empty if it has not asked for them."""
        self._heard, self.refused = asyncio.Event(), asyncio.Event()
        """`refused`: the hub has closed the connection."""

    async def connect(self, hub: Hub) -> None:
        """Say hello, with the edge's key."""
        info = json.loads((await self._reader.readline()).removeprefix(b"INFO "))
        user = f"edge-{self.names.name}"
        signature = hub.keys.sign(user, info["nonce"].encode())
        hello = {
            "nkey": hub.keys.public(user), "sig": base64.urlsafe_b64encode(signature).decode().rstrip("="),
            "name": "hostile", "server_id": "HOSTILE", "domain": self.names.domain, "jetstream": True, "headers": True,
            "version": "2.15.1", "compression": "off",
        }  # fmt: skip
        self._writer.write(f"CONNECT {json.dumps(hello)}\r\nLS+ {self.names.domain_api}.>\r\n".encode())

    async def listen(self) -> None:
        """Read what the hub sends, and answer where a server would."""
        while line := (await self._reader.readline()).decode():
            if line.startswith("PING"):
                self._writer.write(b"PONG\r\n")
            elif line.startswith("PONG"):
                self._heard.set()
            elif line.startswith(("LMSG", "HMSG")):
                words = line.split()
                body = await self._reader.readexactly(int(words[-1]) + 2)
                if ".CONSUMER.CREATE." in words[1]:
                    head = int(words[-2]) if line.startswith("HMSG") else 0
                    self._begin(words[2], json.loads(body[head:]))
        self.refused.set()

    def _begin(self, reply: str, wanted: dict[str, Any]) -> None:
        """Say that the consumer that the hub wants begins."""
        nowhere, config = {"consumer_seq": 0, "stream_seq": 0}, wanted["config"]
        answer = {"stream_name": self.names.store, "name": CONSUMER, "config": config, "delivered": nowhere}
        self._up, self._delivered = config["deliver_subject"], 0
        self.say(reply, json.dumps({**answer, "ack_floor": nowhere}).encode())

    async def settle(self) -> None:
        """Wait until the hub has read all that was sent."""
        self._heard.clear()
        self._writer.write(b"PING\r\n")
        async with asyncio.timeout(60):
            await self._heard.wait()

    def say(self, subject: str, body: bytes = b"{}", reply: str = "", block: bytes = b"") -> None:
        """Send a message. block: its headers."""
        size = f"{len(block)} {len(block) + len(body)}" if block else f"{len(body)}"
        words = " ".join(filter(None, ("HMSG" if block else "LMSG", subject, reply, size)))
        self._writer.write(words.encode() + b"\r\n" + block + body + b"\r\n")

    def deliver(self, subject: str, body: bytes = b"{}") -> None:
        """Send a message as if the store held it under that subject."""
        if self._up:
            self._sent, self._delivered = self._sent + 1, self._delivered + 1
            place = f"{CONSUMER}.1.{1000 + self._sent}.{self._delivered}.1700000000000000000.0@{subject}"
            self.say(self._up, body, f"$JS.ACK.{self.names.store}.{place}")

    def ask_for_answer(self, subject: str) -> None:
        """Ask the stream at the hub to acknowledge to this subject."""
        self.say(self._up, b"", subject, b"NATS/1.0 100 FlowControl Request\r\n\r\n")


@asynccontextmanager
async def hostile_leaf(hub: Hub, names: EdgeNames) -> AsyncIterator[HostileLeaf]:
    """Such a connection, in place of the edge's server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", hub.leaf_port)
    leaf = HostileLeaf(names, reader, writer)
    await leaf.connect(hub)
    listening = asyncio.create_task(leaf.listen())
    try:
        yield leaf
    finally:
        listening.cancel()
        writer.close()
