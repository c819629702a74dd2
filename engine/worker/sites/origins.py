"""Where events of edges come from: up to which message of each inlet a partition has had them. Pure.

Belongs here: reading the origin of a stored event, knowing one that came before. Does not: removing it
(`worker.inbox`), keeping the memory in the log (`ownership.claim`).
EVENTS takes the messages of an inlet in their order. So a partition sees rising sequences, and one that is not higher
than the last is a message that EVENTS has taken twice: after a crash that took the position of the source with it, or
after a change of the source. An inlet that was made anew counts from 1 again; the server names it by another identity.

The origin is the word of the server that holds EVENTS: it writes the header when it copies a message, and refuses every
published message that has it (error 10227). Servers before 2.15 name no identity; there nothing is remembered.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from phaseline.engine.log.checkpoint import EdgeOrigin
from phaseline.engine.nats.direct_get import SOURCE
from phaseline.engine.nats.reader import Stored
from phaseline.engine.worker.sites.edge_names import edge_of, inlets

FIELDS = 6
"""Of the header: stream, sequence, filters, subjects there after them, subject, identity of the stream."""
UNSAVED = 100
"""After how many events whose origins no checkpoint has, the next commit must have one."""


class SavedOrigins(NamedTuple):
    """What a checkpoint says: the origins by edge, and up to which position they are complete."""

    origins: dict[str, EdgeOrigin]
    until: int


class Origins:
    """What one partition remembers of the edges."""

    def __init__(self, prefix: str, saved: SavedOrigins) -> None:
        """prefix: of the installation. saved: by the last checkpoint."""
        self._prefix, self._mark = prefix, SOURCE + b" " + inlets(prefix).encode()
        self._saved, self._seen = dict(saved.origins), dict(saved.origins)
        self._unsaved: deque[tuple[int, str, EdgeOrigin]] = deque()
        """The origins that no checkpoint has, by position."""
        self.until = saved.until
        """The position up to which all events were looked at."""

    def start(self, position: int) -> int:
        """From where to read, so that nothing is missing: the event after a position, or one before it."""
        return min(position, self.until) + 1 if self._saved else position + 1

    def repeats(self, events: Sequence[Stored]) -> list[tuple[str, Stored]]:
        """Note the origins of the next events. Returns those that came before, each with its edge."""
        mark, found = self._mark, list[tuple[str, Stored]]()
        for event in events:
            block = event.block
            if block is not None and mark in block and (origin := read(self._prefix, block)) is not None:
                edge, new = origin
                if self._take(event.sequence, edge, new):
                    found.append((edge, event))
        self.until = max(self.until, events[-1].sequence if events else 0)
        return found

    def _take(self, position: int, edge: str, new: EdgeOrigin) -> bool:
        """Note the origin of the event at a position. Returns whether it came before."""
        known = self._seen.get(edge)
        is_repeat = known is not None and known.identity == new.identity and new.sequence <= known.sequence
        if known is not None:
            kept = known if is_repeat else new
            new = EdgeOrigin(kept.identity, kept.sequence, known.repeats + is_repeat)
        self._seen[edge] = new
        self._unsaved.append((position, edge, new))
        return is_repeat

    def save(self, position: int) -> SavedOrigins:
        """What the checkpoint of a position has to say."""
        while self._unsaved and self._unsaved[0][0] <= position:
            _, edge, origin = self._unsaved.popleft()
            self._saved[edge] = origin
        return SavedOrigins(dict(self._saved), min(self.until, position))

    @property
    def must_be_saved(self) -> bool:
        """Whether the next commit must have a checkpoint: there is much to read again, or an edge is not known yet."""
        unsaved = self._unsaved
        return len(unsaved) >= UNSAVED or any(_is_new(self._saved.get(edge), new) for _, edge, new in unsaved)


def read(prefix: str, block: bytes) -> tuple[str, EdgeOrigin] | None:
    """The edge of an event with this header block, and its origin; None if it has none that can be remembered."""
    start = block.find(SOURCE)
    line = block[start + len(SOURCE) : block.find(b"\r\n", start + 2)]
    fields = line.decode("latin-1").strip().split(" ")  # a form feed stands between the filters of several trees
    if start < 0 or len(fields) != FIELDS or not fields[1].isdigit():
        return None
    edge = edge_of(prefix, fields[0].partition(":")[0])
    return None if edge is None else (edge, EdgeOrigin(fields[5], int(fields[1])))


def _is_new(known: EdgeOrigin | None, new: EdgeOrigin) -> bool:
    return known is None or known.identity != new.identity
