"""Hands new records to all readers: at each tick one frame for each filter that somebody reads, made once.

Belongs here: the tick, the recent frames of each filter, and what a reader who fell behind gets. Does not: the bytes of
a frame (`frames`), what came before (`replay`), sending (`reading.transitions`).
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from phaseline.engine.http.fleet.cascades import Placed
from phaseline.engine.http.fleet.follower import Follower
from phaseline.engine.http.live import frames
from phaseline.engine.http.live.frames import Form, Frame, Piece
from phaseline.engine.log.watch import RecordFilter
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Rejection, Transition

TICK = 0.15
"""Seconds between two frames."""
FRAMES, BYTES = 400, 8 << 20
"""The most frames, and bytes, that are kept for readers of one filter: what a slow one can be behind."""


class Topic(NamedTuple):
    """What a reader wants: which records, in which form. trees: only of these, where there are several."""

    wanted: RecordFilter
    form: Form
    trees: tuple[str, ...] = ()

    def selects(self, record: Transition | Rejection) -> bool:
        """Whether a reader wants a record."""
        if not self.wanted.selects(record):
            return False
        if not self.trees:
            return True
        entity_id = record.id if isinstance(record, Rejection) else record.entity.id
        return f"{entity_id}/".startswith(tuple(f"{tree}/" for tree in self.trees))


class Channel:
    """The recent frames of a topic. begins: all records after this place are in its frames. place: the last tick's."""

    def __init__(self, begins: int) -> None:
        """Frames are kept from this place on."""
        self.begins = self.place = begins
        self.readers = 0
        self._frames: deque[Frame] = deque()
        self._bytes = 0

    def add(self, found: Frame) -> None:
        """Keep a frame; the oldest ones go if there are too many."""
        self._frames.append(found)
        self._bytes += len(found.data)
        while len(self._frames) > FRAMES or (self._bytes > BYTES and len(self._frames) > 1):
            gone = self._frames.popleft()
            self._bytes -= len(gone.data)
            self.begins = gone.place

    def after(self, place: int) -> Frame | None:
        """The first frame with records after a place; None if there is none yet."""
        if not self._frames or self._frames[-1].place <= place:
            return None
        return next(found for found in self._frames if found.place > place)


class Hub:
    """Takes what the fleet has taken, and makes frames of it. `run` ticks."""

    def __init__(self, kinds: Kinds, follower: Follower) -> None:
        """Nobody reads yet."""
        self._kinds, self._follower = kinds, follower
        self._channels: dict[Topic, Channel] = {}
        self._new: list[Placed] = []
        self._ticked = 0
        self._news = asyncio.Event()
        self.is_closing = False

    def take(self, group: Sequence[Placed]) -> None:
        """New messages of whole events, which the fleet has taken."""
        self._new += [placed for placed in group if placed.record is not None]

    async def run(self) -> None:
        """Tick, until cancelled."""
        await self._follower.is_exact.wait()
        while True:
            await asyncio.sleep(TICK)
            self.tick()

    def tick(self) -> None:
        """Make the frames of what is new."""
        new, self._new = self._new, []
        place = self._ticked = self._follower.fleet.place
        pieces: dict[tuple[int, Form], Piece | None] = {}
        for topic, channel in self._channels.items():
            channel.place = place
            found = [self._piece(pieces, placed, topic.form) for placed in new if _selects(topic, placed)]
            shown = [one for one in found if one is not None]
            if shown:
                channel.add(frames.frame(place, shown, topic.form))
        if new:
            self.wake()

    def _piece(self, made: dict[tuple[int, Form], Piece | None], placed: Placed, form: Form) -> Piece | None:
        """A record in a form, made once for all topics."""
        key = (placed.place, form)
        if key not in made:
            made[key] = frames.piece(self._kinds, placed, form)
        return made[key]

    @contextmanager
    def reading(self, topic: Topic) -> Iterator[Channel]:
        """The channel of a topic, while somebody reads it."""
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._channels[topic] = Channel(max(self._ticked, self._follower.exact_at))
        channel.readers += 1
        try:
            yield channel
        finally:
            channel.readers -= 1
            if not channel.readers and self._channels.get(topic) is channel:
                del self._channels[topic]

    async def news(self, timeout: float) -> None:
        """Wait until there may be a new frame, at most so many seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self._news.wait()
        except TimeoutError:
            pass

    def wake(self) -> None:
        """Wake all readers."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    @property
    def readers(self) -> int:
        """How many readers there are."""
        return sum(channel.readers for channel in self._channels.values())

    def close(self) -> None:
        """Let all readers end."""
        self.is_closing = True
        self.wake()


def _selects(topic: Topic, placed: Placed) -> bool:
    return placed.record is not None and topic.selects(placed.record)
