"""The messages of many entities in the order of their ids, in little memory. Pure.

Belongs here: sorting them in runs, which are held compressed and merged at the end. Does not: reading messages
(`log.latest`), what they mean (`log.log_records`).
Records of entities with neighbouring ids have most bytes in common: a run takes a tenth of what its messages take. It
is unpacked piece by piece while it is merged.
"""

import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import NamedTuple

import msgspec

from phaseline.engine.nats.reader import Stored
from phaseline.schemas.subjects import natural

RUN, PIECE = 16_000, 200
"""Messages of a run, and of a piece of it, which is unpacked at once."""
GIVEN = 1_000
"""Messages that are given together: what is beside their entities is read for all of them."""
RUN_BYTES = 16 << 20
"""The size of messages at which a run ends before it has so many."""
FAST = 1
"""The level of compression: higher ones take three times as long, and save a tenth."""


class SortedMessage(NamedTuple):
    """A message of STATE about an entity, and what sorts it: of one entity, the newest comes first."""

    natural_id: str
    kind: str
    subject: str
    age: int
    data: bytes
    block: bytes | None

    @classmethod
    def of(cls, kind: str, entity_id: str, stored: Stored, block: bytes | None) -> "SortedMessage":
        """The message of an entity. block: the headers, as far as somebody asks for them."""
        return cls(natural(entity_id), kind, stored.subject, -stored.sequence, stored.data, block)

    @property
    def stored(self) -> Stored:
        """The message as it was read, without what nobody asks for."""
        return Stored(self.subject, self.data, -self.age, 0, 0, self.block)


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(list[SortedMessage]).decode


class SortedMessages:
    """Messages that come in any order, and go in that of their entities."""

    def __init__(self, run: int = RUN, piece: int = PIECE, given: int = GIVEN) -> None:
        """run, piece: messages of a run, and of a piece of it. given: messages that are given together."""
        self._run, self._piece, self._given = run, piece, given
        self._held: list[SortedMessage] = []
        self._size = 0
        self._runs: list[deque[bytes]] = []

    def add(self, found: Iterable[SortedMessage]) -> None:
        """Take further messages."""
        for one in found:
            self._held.append(one)
            self._size += len(one.data)
            if len(self._held) == self._run or self._size > RUN_BYTES:
                self._end_run()

    def _end_run(self) -> None:
        held, self._held, self._size = sorted(self._held), [], 0
        pieces = (held[start : start + self._piece] for start in range(0, len(held), self._piece))
        self._runs.append(deque(zlib.compress(_pack(piece), FAST) for piece in pieces))

    def merged(self) -> Iterator[Sequence[Stored]]:
        """The newest message of each entity, some at a time. Each is forgotten when it was given."""
        held, self._held = sorted(self._held), []
        found, last = list[Stored](), ""
        for one in merge(held, *map(_unpacked, self._runs)):
            if one.subject != last:
                last = one.subject
                found.append(one.stored)
                if len(found) == self._given:
                    yield found
                    found = []
        yield found


def _unpacked(run: deque[bytes]) -> Iterator[SortedMessage]:
    while run:
        yield from _unpack(zlib.decompress(run.popleft()))
