"""A tenant who may publish events and read, and who has the server's answers delivered to subjects of the engine.

Belongs here: the injections, on raw NATS. Does not: innocent events, checks (`raw_checker`). On a server without
accounts all of them arrive.
"""

import json
import random

import msgpack  # type: ignore[import-untyped]  # it ships no types
from nats.aio.client import Client

TREE = "evil"


class Tenant:
    """A connection that misuses reply subjects. dice: chooses among what is possible."""

    def __init__(self, client: Client, prefix: str, partitions: int, dice: random.Random) -> None:
        self.client, self.prefix, self.partitions, self.dice = client, prefix, partitions, dice
        self.sent = 0

    def target(self) -> str:
        """A subject that only the engine or the server should write."""
        p = self.dice.randrange(self.partitions)
        node = f"c{self.dice.randrange(4)}.p.n{self.dice.randrange(4)}"
        return f"{self.prefix}." + self.dice.choice(
            [
                f"mark.{p}.transition.checkpoint.-.-.-",
                f"mark.{p}.transition.checkpoint.-.-.-",
                f"mark.{p}.transition.mark.-.-.node.{node}",
                f"log.{p}.transition.node.phase.Running.{node}",
                f"log.{p}.transition.node.phase.Failed.{node}",
                f"log.{p}.rejection.node.illegal.{node}",
                f"log.{p}.nonsense",
                f"tables.{p}",
                f"plan.{p}.0",
                f"lease.partition.{p}",
                "lease.worker.evil",
                f"fired.{TREE}.node.ready.p.n1",
                f"transition.node.phase.Running.{node}",
            ]
        )

    async def acknowledged_elsewhere(self) -> str:
        """Publish an event whose acknowledgement goes to a subject of the engine."""
        self.sent += 1
        target = self.target()
        event = {"specversion": "1.0", "id": f"evil-{self.sent}", "source": "/evil", "type": "node.ready", "data": {}}
        body = msgpack.packb(event) if self.dice.random() < 0.5 else b"\xc1"
        subject = f"{self.prefix}.events.{TREE}.node.ready.p.n{self.dice.randrange(3)}"
        await self.client.publish(subject, body, reply=target)
        await self.client.flush()
        return target

    async def copied_elsewhere(self) -> str:
        """Have the answer to a direct get, a copy of a stored message, delivered to a subject of the engine."""
        p, target = self.dice.randrange(self.partitions), self.target()
        stream, subject = self.dice.choice(
            [
                ("LOG", f"{self.prefix}.mark.{p}.transition.checkpoint.-.-.-"),
                ("LOG", f"{self.prefix}.log.{p}.>"),
                ("LOG", f"{self.prefix}.tables.{p}"),
                ("STATE", f"{self.prefix}.state.{p}.checkpoint.-"),
                ("STATE", f"{self.prefix}.state.{p}.node.>"),
                ("EVENTS", f"{self.prefix}.inbox.{p}.>"),
            ]
        )
        name = f"{self.prefix.replace('.', '_')}-{stream}"
        wanted = json.dumps({"last_by_subj": subject}).encode()
        if stream == "LOG" and "checkpoint" in subject and self.dice.random() < 0.5:
            target = subject
        await self.client.publish(f"$JS.API.DIRECT.GET.{name}", wanted, reply=target)
        await self.client.flush()
        return target

    async def take_id(self, message_id: str) -> None:
        """Publish an event of the own tree under the message id that somebody else is about to send."""
        self.sent += 1
        event = {"specversion": "1.0", "id": f"evil-{self.sent}", "source": "/evil", "type": "node.ready", "data": {}}
        subject = f"{self.prefix}.events.{TREE}.node.ready.p.n0"
        await self.client.jetstream().publish(subject, msgpack.packb(event), headers={"Nats-Msg-Id": message_id})
