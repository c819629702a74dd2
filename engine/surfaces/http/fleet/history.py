"""The transitions of the log in memory, a few numbers each: what happened when, and all states at an earlier place.

Belongs here: `FleetHistory`, which takes transitions in their order; counts of a range; states at a place. Pure. Does
not: reading the log (`history_loader`), the present states (`fleet`).
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, compress, pairwise
from typing import NamedTuple

from phaseline.engine.surfaces.http.fleet.fleet import GONE, NONE, LiveFleet, flags_of
from phaseline.machines.language.endings import state_for_people
from phaseline.machines.language.table import CLASSES
from phaseline.schemas.records import SECOND, Transition, facets_of

QUIET = 12
"""Buckets without a transition that a folded strip still shows."""
SHORT, FINE = 8, 30
"""Percent of the buckets: where less is busy, so many are made of it."""
BLOCK = 256
"""Transitions of which the classes are counted together."""
SPACING = 20_000
"""Transitions between two states that are kept whole, at first."""
KEPT = 32
"""The most states that are kept whole. Above that every second one goes, and the spacing doubles."""


class StateColumns(NamedTuple):
    """The states of all entities at a place, by number: for each facet a column, and since when, and flags."""

    states: "list[array[int]]"
    since: "array[int]"
    flags: "array[int]"

    def copy(self, size: int) -> "StateColumns":
        """The same, for so many entities at least."""
        states = [_grown(column, size, NONE) for column in self.states]
        return StateColumns(states, _grown(self.since, size, 0), _grown(self.flags, size, 0))


class TransitionStrip(NamedTuple):
    """How many transitions there were in buckets of equal time. times: when each begins, ns; places: and at which.

    gaps: the buckets before which a quiet time is left out.
    """

    times: list[int]
    places: list[int]
    classes: dict[str, list[int]]
    gaps: Sequence[int] = ()

    def cut(self, first: int, end: int) -> "TransitionStrip":
        """The buckets from one to before another."""
        classes = {name: counts[first:end] for name, counts in self.classes.items()}
        return TransitionStrip(self.times[first:end], self.places[first:end], classes)

    def busy(self) -> list[tuple[int, int]]:
        """The runs of buckets, each as first and end, between which more than `QUIET` are empty."""
        found: list[tuple[int, int]] = []
        for at, counts in enumerate(zip(*self.classes.values(), strict=True)):
            if any(counts):
                first = found.pop()[0] if found and at - found[-1][1] <= QUIET else at
                found.append((first, at + 1))
        return found


class FleetHistory:
    """Transitions by their order. begins: the place after which all are here.

    An entity with several facets has a row for each of them, whichever moved: those that did not are not counted.
    """

    def __init__(self, begins: int) -> None:
        self.begins = begins
        self.places, self.times = array("q"), array("q")
        self._numbers, self._states, self._since = array("i"), array("i"), array("q")
        self._facets, self._flags, self._classes = array("b"), array("B"), array("b")
        self._sums: list[tuple[int, ...]] = [(0,) * len(CLASSES)]
        self._spacing = SPACING
        self._whole: dict[int, StateColumns] = {0: StateColumns([], array("q"), array("B"))}

    def __len__(self) -> int:
        return len(self.places)

    def take(self, fleet: LiveFleet, place: int, time_ns: int, record: Transition) -> None:
        """Take the next transition."""
        entity = record.entity
        number = fleet.number(entity.kind, entity.id)
        if number is None:
            return
        since, flags = entity.facets[0].since_ns // SECOND, flags_of(entity)
        for name, facet in facets_of(entity):
            state = fleet.index.number(entity.kind, name, state_for_people(facet.state, entity.attributes))
            counted = CLASSES.index(fleet.index.known[state].state_class) if name == record.facet else NONE
            self.places.append(place)
            self.times.append(time_ns)
            self._numbers.append(number)
            self._facets.append(entity.names.index(name))
            self._states.append(state)
            self._since.append(since)
            self._flags.append(flags)
            self._classes.append(counted)
            if not len(self.places) % BLOCK:
                self._sum_up(len(self.places))

    def rest_on(self, base: StateColumns) -> None:
        """These were the states at the place where it begins."""
        self._whole = {0: base}

    def copy(self) -> "FleetHistory":
        """The same, for counting only: it can be read in a thread while this one goes on."""
        found = FleetHistory(self.begins)
        found.places, found.times = self.places[:], self.times[:]
        found._numbers, found._classes = self._numbers[:], self._classes[:]
        return found

    def of(self, numbers: Iterable[int], size: int) -> "FleetHistory":
        """The transitions of these entities only, of so many, for counting. It looks at each one."""
        wanted = bytearray(size)
        for number in numbers:
            wanted[number] = 1
        chosen = bytes(map(wanted.__getitem__, self._numbers))
        found = FleetHistory(self.begins)
        found.places, found.times = array("q", compress(self.places, chosen)), array("q", compress(self.times, chosen))
        found._classes = array("b", compress(self._classes, chosen))
        for end in range(BLOCK, len(found) + 1, BLOCK):
            found._sum_up(end)
        return found

    def _sum_up(self, end: int) -> None:
        """Count the classes of the block that ends here."""
        counted = self._counted(end - BLOCK, end)
        self._sums.append(tuple(a + b for a, b in zip(self._sums[-1], counted, strict=True)))

    def row_after(self, place: int) -> int:
        """The index of the first transition after a place."""
        return bisect_right(self.places, place)

    def _counted(self, first: int, end: int) -> list[int]:
        """How many transitions of each class are between two indexes, counted one by one."""
        classes = self._classes[first:end].tobytes()
        return [classes.count(number) for number in range(len(CLASSES))]

    def _up_to(self, end: int) -> list[int]:
        """How many transitions of each class come before an index."""
        block = end // BLOCK
        return [a + b for a, b in zip(self._sums[block], self._counted(block * BLOCK, end), strict=True)]

    def strip(self, first_ns: int, last_ns: int, buckets: int) -> TransitionStrip:
        """The transitions from one time to another, counted in so many buckets."""
        width = max(1, -(-(last_ns - first_ns + 1) // buckets))
        times = [first_ns + width * bucket for bucket in range(buckets)]
        rows = [bisect_left(self.times, time) for time in (*times, last_ns + 1)]
        sums = [self._up_to(row) for row in rows]
        counts = [[b - a for a, b in zip(low, high, strict=True)] for low, high in pairwise(sums)]
        places = [self.places[row - 1] if row else self.begins for row in rows[:-1]]
        classes: dict[str, list[int]] = {name: [one[at] for one in counts] for at, name in enumerate(CLASSES)}
        return TransitionStrip(times, places, classes)

    def folded(self, first_ns: int, last_ns: int, buckets: int) -> TransitionStrip:
        """The same without long quiet times. What took little time is counted in finer buckets."""
        whole = self.strip(first_ns, last_ns, buckets)
        runs, ends = whole.busy(), [*whole.times, last_ns + 1]
        fine = max(1, buckets * FINE // max(1, len(runs)) // 100)
        is_short = sum(end - first for first, end in runs) < buckets * SHORT // 100
        parts = [
            self.strip(ends[first], ends[end] - 1, fine) if is_short else whole.cut(first, end) for first, end in runs
        ]
        sizes = [len(part.times) for part in parts]
        return TransitionStrip(
            [time for part in parts for time in part.times],
            [place for part in parts for place in part.places],
            {name: [count for part in parts for count in part.classes[name]] for name in CLASSES},
            [*accumulate(sizes)][:-1],
        )

    def columns_at(self, place: int, size: int) -> StateColumns:
        """The states at a place, which must not be before `begins`, of so many entities."""
        end = self.row_after(place)
        start = max(row for row in self._whole if row <= end)
        found = self._whole[start].copy(size)
        for first in range(start, end, self._spacing):
            last = min(end, first + self._spacing)
            self._apply(found, first, last)
            if last - first == self._spacing and not last % self._spacing:
                self._keep(last, found)
        return found

    def _apply(self, columns: StateColumns, first: int, end: int) -> None:
        rows = slice(first, end)
        while len(columns.states) <= max(self._facets[rows], default=0):
            columns.states.append(array("i", [NONE]) * len(columns.flags))
        states, since, flags = columns
        for number, facet, state, began, flag in zip(
            self._numbers[rows], self._facets[rows], self._states[rows], self._since[rows], self._flags[rows],
            strict=True,
        ):  # fmt: skip
            states[facet][number] = state
            since[number] = began
            flags[number] = flag

    def _keep(self, row: int, columns: StateColumns) -> None:
        """Keep the states before the transition at an index, so that later places are near them."""
        self._whole.setdefault(row, columns.copy(len(columns.flags)))
        if len(self._whole) > KEPT:
            self._spacing *= 2
            self._whole = {row: kept for row, kept in self._whole.items() if not row % self._spacing}

    def forget(self, most: int, size: int) -> None:
        """Let the oldest transitions go, so that at most so many are left. size: how many entities there are."""
        gone = (len(self) - most) // BLOCK * BLOCK
        if gone <= 0:
            return
        while gone < len(self) and self.places[gone] == self.places[gone - 1]:
            gone += BLOCK  # no record may be cut
        gone = min(gone, len(self) // BLOCK * BLOCK)
        base, begins = self.columns_at(self.places[gone - 1], size), self.places[gone - 1]
        for column in (
            self.places, self.times, self._numbers, self._states, self._since, self._facets, self._flags, self._classes,
        ):  # fmt: skip
            del column[:gone]
        self.begins, self._whole = begins, {0: base}
        first = self._sums[gone // BLOCK]
        self._sums = [tuple(a - b for a, b in zip(one, first, strict=True)) for one in self._sums[gone // BLOCK :]]


class PastFleet(LiveFleet):
    """The fleet at an earlier place: its entities by the same numbers, with the states that they had."""

    def __init__(self, fleet: LiveFleet, columns: StateColumns, place: int) -> None:
        """Everything that never changes is that of the fleet."""
        vars(self).update(vars(fleet))
        self.place = place
        self.states, self.since, self.flags = columns.states, columns.since, columns.flags
        self._known = columns.states[0] if columns.states else array("i")
        self.silent = _silent(fleet, columns)

    def order(self, root: str | None = None) -> Sequence[int]:
        """The numbers of what was known then."""
        known = self._known
        return [number for number in super().order(root) if number < len(known) and known[number] != NONE]


def _silent(fleet: LiveFleet, columns: StateColumns) -> dict[tuple[str, str], int]:
    """The places that were silent."""
    silent = {number for number, known in enumerate(fleet.index.known) if known.is_silent}
    if not silent:
        return {}
    return {
        (entity.kind, entity.id): columns.since[number] * SECOND
        for column in columns.states
        for number, state in enumerate(column)
        if state in silent
        for entity in (fleet.last[number].entity,)
    }


class HistoryBegin:
    """Finds the states at the place where a history begins: what the first transition of each facet left."""

    def __init__(self) -> None:
        self._before: dict[tuple[int, int], int] = {}

    def take(self, fleet: LiveFleet, record: Transition) -> None:
        """See a transition. The first one of each facet counts."""
        entity = record.entity
        number = fleet.number(entity.kind, entity.id)
        if number is None:
            return
        if entity.version == 1:  # it was not known before
            for position in range(len(fleet.kinds[entity.kind].names) if entity.kind in fleet.kinds else 1):
                self._before.setdefault((number, position), NONE)
        key = (number, entity.names.index(record.facet))
        if key not in self._before:
            before = record.before
            self._before[key] = NONE if before is None else fleet.index.number(entity.kind, record.facet, before)

    def unknown(self) -> list[int]:
        """The numbers of the entities that were there and have changed: since when they were so is not known."""
        return sorted({number for (number, _), state in self._before.items() if state != NONE})

    def columns(self, fleet: LiveFleet, records: Mapping[int, Transition | None]) -> StateColumns:
        """The states. What had no transition since is as it is now.

        records: the last record of others at that place, by number. Without it they are since 0, which is not known.
        """
        states = [array("i", column) for column in fleet.states]
        since, flags = array("q", fleet.since), array("B", fleet.flags)
        for (number, facet), state in self._before.items():
            if facet >= len(states):
                continue
            states[facet][number] = state
            since[number], flags[number] = 0, 0
            if state != NONE and fleet.index.known[state].state_class == "gone":
                flags[number] = GONE
        for number, record in records.items():
            if record is not None:
                entity = record.entity
                since[number], flags[number] = entity.facets[0].since_ns // SECOND, flags_of(entity)
                for name, shown in facets_of(entity):
                    known = fleet.index.number(entity.kind, name, state_for_people(shown.state, entity.attributes))
                    states[entity.names.index(name)][number] = known
        return StateColumns(states, since, flags)


def _grown(column: "array[int]", size: int, value: int) -> "array[int]":
    """A copy with so many values at least."""
    missing = size - len(column)
    return column + array(column.typecode, [value]) * missing if missing > 0 else column[:]
