"""Whether EVENTS has stored what it took from an inlet.

Belongs here: which messages of an inlet are not in EVENTS. Does not: when to look, removing what is there
(`inlet_keeping`).
EVENTS drops a message whose `Nats-Msg-Id` it has seen within its dedupe window, and acknowledges it as if it had stored
it. If two publishers use the same id, at two edges or at an edge and the hub, the second event is lost, and only the
gap in the sequences of the inlet shows it: each event names its own (`origins`).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from phaseline.engine.nats.reader import Reader
from phaseline.engine.nats.streams import Layout
from phaseline.engine.worker.sites import origins
from phaseline.engine.worker.sites.uplink import Uplink
from phaseline.schemas import subjects
from phaseline.schemas.records import SECOND, nanoseconds, timestamp

AT_ONCE = 500
CLOCKS = 10 * SECOND
"""How far the clocks of two servers of the hub may be apart, ns."""
SILENCE = 5.0
"""Seconds without an event after which nothing more is expected of a reader."""


class _Known(NamedTuple):
    """What is known of an inlet. checked: up to which of its sequences; place: up to where EVENTS was read for that.

    further: its sequences above, which were seen there.
    """

    checked: int
    place: int | str
    further: frozenset[int] = frozenset()


class Arrivals:
    """The events of edges in EVENTS, read once from where the last look ended."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known: dict[tuple[str, str], _Known] = {}
        """By edge, and by when its inlet was made."""

    async def missing(self, way: Uplink, inlet: dict[str, Any], trees: Iterable[str], until: int) -> list[int]:
        """The sequences of the inlet, up to the given one, whose messages EVENTS has not stored; each is given once.

        inlet: its information. trees: those of the edge. A worker removes what was looked at, but for the last message.
        """
        key, state = (way.names.name, str(inlet["created"])), inlet["state"]
        known = self._known.get(key) or _first(state)
        if until <= known.checked:
            return []
        events = (await way.wire.api(f"STREAM.INFO.{self._layout.events}"))["state"]
        filters = [f"{way.names.prefix}.inbox.*.{subjects.quote(tree)}.>" for tree in trees]
        found = await self._read(way, filters, known.place)
        if found is None:
            return []  # the next look begins at the same place
        found |= known.further
        further = frozenset(one for one in found if one > until)
        self._known[key] = _Known(until, int(events["last_seq"]), further)
        return sorted(set(range(known.checked + 1, until + 1)) - found) if _has_all(events, known.place, state) else []

    async def _read(self, way: Uplink, filters: list[str], place: int | str) -> set[int] | None:
        """The sequences in the inlet of the events after a place in EVENTS; None if they could not be read."""
        found = set[int]()
        start = place + 1 if isinstance(place, int) else place
        async with Reader(way.wire, self._layout.events, filters, start) as reader:
            while not reader.caught_up:
                taken = await reader.take(AT_ONCE, SILENCE)
                if not taken and not reader.caught_up:
                    return None
                for event in taken:
                    origin = event.block and origins.read(way.names.prefix, event.block)
                    if origin and origin[0] == way.names.name:
                        found.add(origin[1].sequence)
        return found


def _first(state: dict[str, Any]) -> _Known:
    """What is known of an inlet at the first look: its first message was looked at before, unless it is number 1.

    One without messages says that the first of them is of the year 1.
    """
    first = int(state["first_seq"])
    start = timestamp(nanoseconds(state["first_ts"]) - CLOCKS) if state["messages"] else "start"
    return _Known(first if first > 1 else 0, start)


def _has_all(events: dict[str, Any], place: int | str, inlet: dict[str, Any]) -> bool:
    """Whether EVENTS has not yet given up anything of what was to be read. events, inlet: their states."""
    first = int(events["first_seq"])
    if isinstance(place, int):
        return first <= place + 1
    return first <= 1 or (
        bool(events["messages"]) and nanoseconds(events["first_ts"]) <= nanoseconds(inlet["first_ts"])
    )
