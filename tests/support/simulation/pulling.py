"""Pull consumers of the virtual server: ephemeral, without acknowledgements.

Belongs here: what a consumer still has to deliver, requests for messages, heartbeats and the end of requests. Does not:
consumers by which another stream takes its messages (`links`).
The bytes of a request are not counted: no schedule has so many.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec import json

from phaseline.schemas.records import nanoseconds
from tests.support.simulation.stream import SECOND, Kept, VirtualStream, matches
from tests.support.simulation.world import World

Send = Callable[[str, str, bytes, bytes | None, str], bool]
"""Delivers a message to an inbox: its subject, body, headers and reply subject; whether anybody listens there."""


@dataclass
class Pull:
    """A request for messages."""

    inbox: str
    left: int
    ends: float
    beat: float


class Puller:
    """One consumer."""

    def __init__(
        self, world: World, stream: VirtualStream, config: dict[str, Any], send: Send, behind: float = 0.0
    ) -> None:
        """behind: how many seconds the replica that holds it is behind the leader."""
        self._world, self._stream, self._send, self.config = world, stream, send, config
        one = config.get("filter_subject")
        self._filters = (one,) if one else tuple[str, ...](config.get("filter_subjects") or ())
        first = int(config.get("opt_start_seq") or 0)
        policy = config.get("deliver_policy", "all")
        start_ns = nanoseconds(config["opt_start_time"]) if policy == "by_start_time" else 0
        self._behind, self._unseen = behind, deque[Kept]()
        """What the replica does not have yet."""
        seen = world.time_ns() - int(behind * SECOND)
        held = [] if policy == "new" else [*(stream.held_at(seen) if behind else stream.messages).values()]
        for one in stream.messages.values() if behind else ():
            if one.time_ns > seen:
                self._see_later(one, (one.time_ns - seen) / SECOND)
        self.waiting = deque(
            one.sequence
            for one in held
            if one.sequence >= first and one.time_ns >= start_ns and matches(self._filters, one.subject)
        )
        self._from, self._since = first, start_ns
        self._pulls: deque[Pull] = deque()
        self._delivered = 0
        self._beats = False
        self.is_over = False
        stream.listeners.append(self)

    def end(self) -> None:
        """Deliver nothing more."""
        self.is_over = True
        if self in self._stream.listeners:
            self._stream.listeners.remove(self)

    def stored(self, found: Kept) -> None:
        """A message was stored."""
        if self._behind:
            self._see_later(found, self._behind)
        else:
            self._take(found)

    def _see_later(self, found: Kept, seconds: float) -> None:
        self._unseen.append(found)
        self._world.later(seconds, self._see)

    def _see(self) -> None:
        """Let the replica have the next message."""
        if not self.is_over:
            self._take(self._unseen.popleft())

    def _take(self, found: Kept) -> None:
        if found.sequence >= self._from and found.time_ns >= self._since and matches(self._filters, found.subject):
            self.waiting.append(found.sequence)
            self._world.later(0.0, self._deliver)

    def dropped(self, sequence: int) -> None:
        """A message is gone."""
        if sequence in self.waiting:
            self.waiting.remove(sequence)

    def pull(self, inbox: str, body: bytes) -> None:
        """Take a request."""
        ask = json.decode(body)
        beat = ask.get("idle_heartbeat", 2 * SECOND) / SECOND
        self._pulls.append(Pull(inbox, int(ask["batch"]), self._world.now + ask["expires"] / SECOND, beat))
        self._deliver()
        if not self._beats:
            self._beats = True
            self._world.later(beat, self._beat, self._delivered)

    def _deliver(self) -> None:
        name, stream = self.config["name"], self._stream
        while self.waiting and self._pulls and not self.is_over:
            pull = self._pulls[0]
            found = stream.stored[self.waiting[0]]
            place = f"{found.sequence}.{self._delivered + 1}.{found.time_ns}.{len(self.waiting) - 1}"
            reply = f"$JS.ACK.{stream.name}.{name}.1.{place}"
            if not self._send(pull.inbox, found.subject, found.data, found.block, reply):
                self._pulls.popleft()
                continue
            self.waiting.popleft()
            self._delivered += 1
            pull.left -= 1
            if not pull.left:
                self._pulls.popleft()

    def _beat(self, delivered: int) -> None:
        """Tell whoever waits that nothing comes, and that a request has ended."""
        if self.is_over or not self._pulls:
            self._beats = False
            return
        while self._pulls and self._pulls[0].ends <= self._world.now:
            self._status(self._pulls.popleft(), "408 Request Timeout")
        if self._pulls and delivered == self._delivered and not self._status(self._pulls[0], "100 Idle Heartbeat"):
            self._pulls.popleft()
        beat = self._pulls[0].beat if self._pulls else 2.0
        self._world.later(beat, self._beat, self._delivered)

    def _status(self, pull: Pull, status: str) -> bool:
        left = f"Nats-Pending-Messages: {pull.left}\r\nNats-Pending-Bytes: 0\r\n"
        if status.startswith("100"):
            left = f"Nats-Last-Consumer: {self._delivered}\r\n"
        return self._send(pull.inbox, pull.inbox, b"", f"NATS/1.0 {status}\r\n{left}\r\n".encode(), "")
