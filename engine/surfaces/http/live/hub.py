"""Hands new records to all readers: at each tick one frame for each filter that somebody reads, made once.

Belongs here: the tick, the recent frames of each filter, and how many are kept. Does not: the bytes of a frame
(`frames`), how many may read (`traffic`), what came before (`replay`), sending (`reading.transitions`).
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from phaseline.engine.log.watch import RecordFilter
from phaseline.engine.surfaces.http.connections.clients import LIMITS, HttpLimits
from phaseline.engine.surfaces.http.fleet.cascades import PlacedMessage
from phaseline.engine.surfaces.http.fleet.follower import Follower
from phaseline.engine.surfaces.http.live import frames
from phaseline.engine.surfaces.http.live.frames import Form, Frame, PlacedJson
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Rejection, Transition

TICK = 0.15
"""Seconds between two frames."""
OF_PIECE, OF_FRAME, OF_ENTRY = 160, 160, 8
"""Bytes of memory of a record beside its data, of a frame, and of a record in a frame. All frames share the records."""


class Topic(NamedTuple):
    """What a reader wants: which records, in which form. trees: only of these, where there are several."""

    wanted: RecordFilter
    form: Form
    trees: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether nothing is left out that the form shows."""
        return not self.trees and self.wanted == RecordFilter(rejections=self.wanted.rejections)

    @property
    def roots(self) -> tuple[str, ...]:
        """The roots of the trees that it is about; empty: all."""
        trees = self.trees or (() if self.wanted.below is None else (self.wanted.below,))
        return tuple(dict.fromkeys(tree.partition("/")[0] for tree in trees))

    def selects(self, record: Transition | Rejection) -> bool:
        """Whether a reader wants a record."""
        if not self.wanted.selects(record):
            return False
        return not self.trees or f"{_id_of(record)}/".startswith(tuple(f"{tree}/" for tree in self.trees))


class Channel:
    """The recent frames of a topic. begins: all records after this place are in its frames. place: the last tick's."""

    def __init__(self, begins: int, roots: tuple[str, ...] = ()) -> None:
        """Frames are kept from this place on. roots: of the trees that it is about; empty: all."""
        self.begins = self.place = begins
        self.roots = roots
        self.readers = 0
        self._frames: deque[Frame] = deque()

    def add(self, found: Frame) -> None:
        """Keep a frame."""
        self._frames.append(found)

    def forget(self, place: int) -> None:
        """Keep the frames up to a place no longer."""
        while self._frames and self._frames[0].place <= place:
            self.begins = self._frames.popleft().place

    def after(self, place: int) -> Frame | None:
        """The first frame with records after a place; None if there is none yet."""
        if not self._frames or self._frames[-1].place <= place:
            return None
        return next(found for found in self._frames if found.place > place)


class Hub:
    """Takes what the fleet has taken, and makes frames of it. `run` ticks."""

    def __init__(self, kinds: Kinds, follower: Follower, limits: HttpLimits = LIMITS) -> None:
        self._kinds, self._follower, self.limits = kinds, follower, limits
        self._channels: dict[Topic, Channel] = {}
        self._new: list[PlacedMessage] = []
        self._ticked = 0
        self._kept: deque[tuple[int, int]] = deque()
        """The places of the ticks whose frames are kept, and the bytes of each."""
        self._bytes = 0
        self._news = asyncio.Event()
        self.is_closing = False

    def take(self, group: Sequence[PlacedMessage]) -> None:
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
        pieces: dict[tuple[int, Form], PlacedJson | None] = {}
        trees = _by_root(new) if any(one.roots for one in self._channels.values()) else {}
        size = 0
        for topic, channel in self._channels.items():
            channel.place = place
            about = _of_roots(trees, channel.roots) if channel.roots else new
            found = [self._piece(pieces, placed, topic.form) for placed in about if _selects(topic, placed)]
            shown = tuple(one for one in found if one is not None)
            if shown:
                channel.add(Frame(place, shown, topic.form))
                size += OF_FRAME + OF_ENTRY * len(shown)
        size += sum(OF_PIECE + len(one.data) for one in pieces.values() if one is not None)
        if size:
            self._keep(place, size)
        if new:
            self.wake()

    def _piece(
        self, made: dict[tuple[int, Form], PlacedJson | None], placed: PlacedMessage, form: Form
    ) -> PlacedJson | None:
        """A record in a form, made once for all topics."""
        key = (placed.place, form)
        if key not in made:
            made[key] = frames.piece(self._kinds, placed, form)
        return made[key]

    def _keep(self, place: int, size: int) -> None:
        """Keep the frames of a tick; those of the oldest ones go if there are too many."""
        self._kept.append((place, size))
        self._bytes += size
        while self._is_too_much():
            gone, freed = self._kept.popleft()
            self._bytes -= freed
            for channel in self._channels.values():
                channel.forget(gone)

    def _is_too_much(self) -> bool:
        """Whether more is kept than may be."""
        kept = len(self._kept)
        return kept > self.limits.frames or (self._bytes > self.limits.frame_bytes and kept > 1)

    @contextmanager
    def reading(self, topic: Topic) -> Iterator[Channel]:
        """The channel of a topic, while somebody reads it."""
        channel = self._channels.get(topic)
        if channel is None:
            begins = max(self._ticked, self._follower.exact_at)
            channel = self._channels[topic] = Channel(begins, topic.roots)
        channel.readers += 1
        try:
            yield channel
        finally:
            channel.readers -= 1
            if not channel.readers and self._channels.get(topic) is channel:
                del self._channels[topic]
            if not self._channels:
                self._kept.clear()
                self._bytes = 0

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


def _selects(topic: Topic, placed: PlacedMessage) -> bool:
    return placed.record is not None and topic.selects(placed.record)


def _id_of(record: Transition | Rejection) -> str:
    return record.id if isinstance(record, Rejection) else record.entity.id


def _by_root(new: Iterable[PlacedMessage]) -> dict[str, list[PlacedMessage]]:
    """The records by the roots of their trees, so that a reader of one tree costs nothing for the others."""
    found = defaultdict[str, list[PlacedMessage]](list)
    for placed in new:
        if placed.record is not None:
            found[_id_of(placed.record).partition("/")[0]].append(placed)
    return found


def _of_roots(trees: Mapping[str, list[PlacedMessage]], roots: Sequence[str]) -> list[PlacedMessage]:
    found = [placed for root in roots for placed in trees.get(root, ())]
    return found if len(roots) == 1 else sorted(found, key=lambda placed: placed.place)
