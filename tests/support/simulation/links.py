"""Streams that copy from other streams: on one server, and from a server at the other end of an uplink.

Belongs here: up to where a stream has the messages of its source, what it takes again after a crash. Does not: what
streams do with a message (`stream`).
A server that was killed finds the position of a source in the last message that its stream holds from there, and a
consumer that acknowledges may come back with a former state. Both are what docs/decisions/15-repeats-of-edges.md says.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from phaseline.schemas.records import SECOND
from tests.support.simulation.stream import Kept, VirtualStream, matches, transformed

if TYPE_CHECKING:
    from tests.support.simulation.server import VirtualServer

DROPPED = re.compile(rb"\r\nNats-(?:Stream-Source|Expected-[A-Za-z-]+|Batch-[A-Za-z-]+):[^\r]*")
"""The headers that a copy does not have."""
SOURCE = b"\r\nNats-Stream-Source: "
IDLE = 1.0
"""Seconds without a message after which a stream tells its source what it has."""
BEGINS, SLOW = (0.1, 0.2), 0.02
"""Seconds until a stream asks another one of its server; how often that does not answer, as the server starts."""
START, SILENCE, RETRY = 0.15, 10.0, 40.0
"""Seconds: from its start until a server asks another one, until it notices that one is lost, between two tries."""
UNTOLD = 1_000
"""The most messages on the way, or stored and not confirmed."""


class Way:
    """How the messages of one source become those of a stream."""

    def __init__(self, target: VirtualStream, source: dict[str, Any]) -> None:
        self._first = int(source.get("opt_start_seq") or 0)
        self.target, self.name = target, str(source["name"])
        transforms = source.get("subject_transforms") or []
        self._changes = [(str(one["src"]), str(one["dest"])) for one in transforms]
        self._filters = tuple(start for start, _ in self._changes)
        self._from = "\f".join(self._filters) or ">"
        self._to = "\f".join(end for _, end in self._changes) or ">"

    def place(self, origin: VirtualStream) -> int:
        """The sequence in the origin behind which the server begins: of the last message that the target has of it.

        Where there is none, and the first messages of the target are gone, it begins with what the origin has stored
        since the last one of the target, unless the source says where to begin.
        """
        start, target = f"{self.name} ".encode(), self.target
        end = f"{self._from} {self._to} ".encode()
        for found in reversed([*target.messages.values()]):
            line = (found.block or b"").partition(SOURCE)[2].partition(b"\r\n")[0]
            if line.startswith(start) and end in line:
                return int(line.split()[1]) if line.endswith(origin.identity.encode()) else 0
        if self._first or target.first <= 1 or not target.last_ns:
            return 0
        since = (one.sequence for one in origin.messages.values() if one.time_ns >= target.last_ns)
        return next(since, origin.last + 1) - 1

    def takes(self, found: Kept) -> bool:
        """Whether the target takes a message of the origin."""
        return not self._changes or matches(self._filters, found.subject)

    def copy(self, origin: VirtualStream, found: Kept) -> bool:
        """Copy a message; False if the target knew its id."""
        block = DROPPED.sub(b"", found.block) if found.block else b"NATS/1.0\r\n\r\n"
        words = f"{self.name} {found.sequence} {self._from} {self._to} {found.subject} {origin.identity}"
        block = block[:-4] + SOURCE + words.encode() + b"\r\n\r\n"
        subject = found.subject
        for start, end in self._changes:
            if matches((start,), subject):
                subject = transformed(subject, start, end)
                break
        return self.target.copy(subject, found.data, block)


class CopyLink:
    """A stream copies from another stream of its server."""

    def __init__(self, server: "VirtualServer", way: Way, origin: VirtualStream) -> None:
        self._server, self.way, self._origin = server, way, origin
        self._round, self.is_over, self._is_due = 0, False, True
        origin.listeners.append(self)
        self._begin_later(0.0)

    def _begin_later(self, slow: float) -> None:
        """Ask the origin for its messages. slow: how often there is no answer; it asks again after a long time then."""
        world, self.place = self._server.world, self.way.place(self._origin)
        self._round += 1
        seconds = RETRY if world.dice.random() < slow else world.dice.uniform(*BEGINS)
        world.later(seconds, self._begin, self._round)

    def _begin(self, round_: int) -> None:
        if round_ == self._round:
            self.place = self.way.place(self._origin)
            self._copy(round_)

    def end(self) -> None:
        """Copy nothing more."""
        self.is_over = True
        self._origin.listeners.remove(self)

    def stored(self, _: Kept) -> None:
        """The origin has another message."""
        self._soon()

    def dropped(self, _: int) -> None:
        """A message of the origin is gone."""

    def _soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            dice = self._server.world.dice
            self._server.world.later(
                dice.uniform(0.1, 2.0) if dice.random() < self._server.network.busy else self._server.network.delay(),
                self._copy,
                self._round,
            )

    def _copy(self, round_: int) -> None:
        if round_ != self._round:
            return
        self._is_due = False
        if self.is_over or not self._server.is_up:
            return
        held, dice = self._origin.messages, self._server.world.dice
        while self.place < self._origin.last:
            self.place += 1
            if (found := held.get(self.place)) is not None and self.way.takes(found):
                self.way.copy(self._origin, found)
                if dice.random() < 0.1:
                    self._soon()
                    return

    def crash(self) -> None:
        """Begin again where the target says."""
        self._is_due = True
        self._begin_later(SLOW)

    @property
    def is_behind(self) -> bool:
        """Whether the stream lacks something of its source, or does not know that yet."""
        return self._is_due or self.place < self._origin.last

    def info(self) -> dict[str, Any]:
        """What the server says of this source."""
        return {"name": self.way.name, "lag": max(0, self._origin.last - self.place), "seq": self.place, "active": 0}


class Durable:
    """The consumer that a server makes when another one takes a stream. It is told what is stored there."""

    def __init__(self, stream: VirtualStream, place: int) -> None:
        """place: up to which message the other server has the stream."""
        self.stream = stream
        self.floor = self._saved = self.sent = place
        """Up to where all is confirmed, what of that a killed server remembers, and what was sent."""

    def next(self) -> Kept | None:
        """The next message to send."""
        if self.sent - self.floor >= UNTOLD:
            return None
        return next((one for one in self.stream.messages.values() if one.sequence > self.sent), None)

    def confirm(self, sequence: int, *, is_saved: bool) -> None:
        """The other side has all up to this one. A stream that is a queue gives it up."""
        if sequence <= self.floor:
            return
        self.floor = sequence
        if is_saved:
            self._saved = sequence
        if self.stream.config.get("retention") in ("workqueue", "interest"):
            for one in [*self.stream.messages.values()]:
                if one.sequence <= sequence:
                    self.stream.remove(one.sequence)

    def crash(self) -> None:
        """Come back with a former state."""
        self.floor = self.sent = self._saved

    def again(self) -> None:
        """Send again what is not confirmed."""
        self.sent = self.floor


class FlowLink:
    """A stream takes from a stream of another server, and confirms what it has stored.

    A server that finds the other one away asks again after a long time, unless the source is taken away and given back.
    """

    def __init__(self, server: "VirtualServer", way: Way, find: Callable[[], "VirtualServer | None"]) -> None:
        """find: returns the other server, if it can be reached now."""
        self._server, self.way, self._find = server, way, find
        self._durable: Durable | None = None
        self._known = 0
        """The last message of the origin that the target has."""
        self._round = 0
        self._unsaid, self._busy_at, self._arrives_at = 0, 0.0, 0.0
        self._lost_at: float | None = None
        self._ask_at = self._patient_until = server.world.now + START
        self.is_over = False
        server.world.later(server.network.delay(), self._look)

    def end(self) -> None:
        """Take nothing more. The server deletes its consumer, if it reaches it."""
        self.is_over = True
        if self._durable is not None and (far := self._find()) is not None:
            far.durables.pop(self.way.name, None)
        self._drop()

    def crash(self) -> None:
        """Forget what only the memory of the server of the target knew."""
        self._lost_at = None
        self._drop()

    def _drop(self) -> None:
        """Lose what is under way."""
        self._round += 1
        if self._durable is not None:
            self._durable.stream.listeners.remove(self)
            self._durable = None

    def _look(self) -> None:
        """See whether the origin can be reached, where the server would."""
        if self.is_over:
            return
        world, far = self._server.world, self._find()
        if not self._server.is_up:
            self._ask_at = self._patient_until = world.now + START
        elif self._durable is None:
            self._ask(far)
        elif far is None or far.durables.get(self.way.name) is not self._durable:
            self._lose()
        elif self._unsaid and world.now - self._busy_at >= IDLE:
            self._confirm()
        world.later(world.dice.uniform(0.2, 0.4), self._look)

    def _lose(self) -> None:
        """Find that the other server is away, or that messages are missing: ask it again."""
        self._drop()
        now = self._server.world.now
        self._lost_at, self._ask_at, self._patient_until = now, now, now + SILENCE

    def _ask(self, far: "VirtualServer | None") -> None:
        """Ask for messages, if it is time to."""
        now = self._server.world.now
        if now < self._ask_at:
            return
        stream = None if far is None else far.streams.get(self.way.name)
        if far is not None and stream is not None:
            self._known = self.way.place(stream)
            self._begin(far.durables.setdefault(self.way.name, Durable(stream, self._known)))
        elif now >= self._patient_until:
            self._ask_at = now + RETRY

    def _begin(self, found: Durable) -> None:
        self._durable, self._unsaid, self._lost_at = found, 0, None
        found.again()
        found.stream.listeners.append(self)
        self._send()

    def stored(self, _: Kept) -> None:
        """The origin has another message."""
        self._send()

    def dropped(self, _: int) -> None:
        """A message of the origin is gone."""

    def _send(self) -> None:
        durable, world = self._durable, self._server.world
        while durable is not None and (found := durable.next()) is not None:
            durable.sent = found.sequence
            self._arrives_at = max(self._arrives_at, world.now + self._server.network.delay())
            world.later(self._arrives_at - world.now, self._arrived, self._round, found)

    def _arrived(self, round_: int, found: Kept) -> None:
        if round_ != self._round or self._durable is None:
            return
        far = self._find()
        if far is None or far.durables.get(self.way.name) is not self._durable:
            self._lose()  # on the way: the number of the next message, or a heartbeat, shows the gap
            return
        self._busy_at, self._unsaid = self._server.world.now, self._unsaid + 1
        if found.sequence > self._known:
            self.way.copy(self._durable.stream, found)
            self._known = found.sequence
        if self._unsaid >= UNTOLD:
            self._confirm()

    def _confirm(self) -> None:
        assert self._durable is not None
        self._unsaid = 0
        self._server.world.later(self._server.network.delay(), self._confirmed, self._round, self._known)

    def _confirmed(self, round_: int, sequence: int) -> None:
        if round_ == self._round and self._durable is not None:
            self._durable.confirm(sequence, is_saved=self._server.world.dice.random() < 0.5)
            self._send()

    @property
    def is_behind(self) -> bool:
        """Whether the stream lacks something of its source, or may: its server says 0 of one that it has just lost."""
        return self._durable is None or self.info()["lag"] > 0

    def info(self) -> dict[str, Any]:
        """What the server says of this source."""
        found, world = self._durable, self._server.world
        lag = 0 if found is None else sum(one.sequence > self._known for one in found.stream.messages.values())
        silent = -1 if self._lost_at is None else int((world.now - self._lost_at) * SECOND)
        return {"name": self.way.name, "lag": lag, "seq": self._known, "active": silent if found is None else 0}
