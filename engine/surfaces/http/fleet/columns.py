"""Many entities as columns: one list for each fact, an entry for each entity. Pure.

Belongs here: the columns of a fleet, and counting by state. Does not: which entities are asked
for (`reading.entities`).

Columns of 100,000 entities take an eighth of the bytes of their records, and a browser reads them thirty times as fast.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from phaseline.engine.surfaces.http.fleet.fleet import GONE, LEFT, NONE, STALE, LiveFleet
from phaseline.engine.surfaces.http.fleet.state_index import IndexedState
from phaseline.machines.compiler.classes.entity_classes import BEGINS
from phaseline.machines.language.table import CLASSES, DELETED
from phaseline.schemas import codec
from phaseline.schemas.records import CONTACT, SIGNALS

NO_RANK = len(CLASSES)
"""The rank of a state by which no class is chosen."""


def chosen(fleet: LiveFleet, kind: str | None, trees: Sequence[str], *, deleted: bool) -> Sequence[int]:
    """The numbers of the entities of a kind and of some trees (none: all), in order."""
    numbers = fleet.order() if not trees else fleet.within(trees)
    if kind is not None:
        numbers = [number for number in numbers if fleet.last[number].entity.kind == kind]
    flags = fleet.flags
    return [number for number in numbers if deleted or not flags[number] & GONE]


def shown(fleet: LiveFleet, kind: str | None, trees: Sequence[str], *, deleted: bool) -> Sequence[int]:
    """As `chosen`, with what is left behind and what it was below."""
    if deleted:
        return chosen(fleet, kind, trees, deleted=True)
    everything = chosen(fleet, kind, trees, deleted=True)
    kept = {number for number in everything if fleet.flags[number] & LEFT}
    for number in list(kept):
        while (number := fleet.parents[number]) != NONE and number not in kept:
            kept.add(number)
    return [number for number in everything if number in kept or not fleet.flags[number] & GONE]


class FixedColumns(NamedTuple):
    """What of the columns stays as long as no entity comes or goes. lists: as JSON."""

    numbers: Sequence[int]
    kinds: list[str]
    lists: dict[str, msgspec.Raw]


def shape(fleet: LiveFleet, numbers: Sequence[int]) -> FixedColumns:
    """The shape of these entities."""
    kinds: dict[str, int] = {}
    entities = [fleet.last[number].entity for number in numbers]
    position = _positions(numbers, len(fleet))
    lists: dict[str, list[Any]] = {
        "id": [entity.id for entity in entities],
        "kind": [kinds.setdefault(entity.kind, len(kinds)) for entity in entities],
        "parent": [position[fleet.parents[number]] for number in numbers],
    }
    return FixedColumns(
        numbers, list(kinds), {name: msgspec.Raw(codec.encode_json(one)) for name, one in lists.items()}
    )


def columns(fleet: LiveFleet, shape: FixedColumns) -> dict[str, Any]:
    """The columns of these entities. What points to an entity or a state is its position in the answer, or -1."""
    numbers = shape.numbers
    every = [[column[number] for number in numbers] for column in fleet.states]
    known = sorted(set(chain.from_iterable(every)) - {NONE})
    state = _positions(known, len(fleet.index.known))
    states = [[state[one] for one in column] for column in every]
    return {
        "kinds": shape.kinds,
        "states": [fleet.index.known[number].as_map() for number in known],
        **shape.lists,
        "state": states[0] if states else [],
        "more": [column for column in states[1:] if any(one != NONE for one in column)],
        "flags": _flags(fleet, numbers),
        "since": [fleet.since[number] for number in numbers],
    }


def _positions(numbers: Sequence[int], size: int) -> "array[int]":
    """By each number below a size its position among these, or `NONE`; that of `NONE` stands at the end."""
    found = array("i", [NONE]) * (size + 1)
    for at, number in enumerate(numbers):
        found[number] = at
    return found


def _flags(fleet: LiveFleet, numbers: Sequence[int]) -> list[int]:
    """The flags of each entity, with `STALE`."""
    flags = [fleet.flags[number] for number in numbers]
    if fleet.silent:
        is_stale = _staleness(fleet)
        for at, number in enumerate(numbers):
            if is_stale(number):
                flags[at] |= STALE
    return flags


def _staleness(fleet: LiveFleet) -> Callable[[int], bool]:
    """Says of the number of an entity whether it is stale, as `staleness` does, out of the columns alone."""
    contact = {
        number: known.is_silent for number, known in enumerate(fleet.index.known) if known.is_silent or known.is_fresh
    }
    known: dict[int, bool] = {}

    def is_stale(number: int) -> bool:
        passed = []
        while number != NONE and number not in known:
            own = (
                contact[column[number]] for column in fleet.states if number < len(column) and column[number] in contact
            )
            found = next(own, None)
            if found is not None:
                known[number] = found
                break
            passed.append(number)
            number = fleet.above(number)
        found = known.get(number, False)
        known.update(dict.fromkeys(passed, found))
        return found

    return is_stale


def tally(fleet: LiveFleet, numbers: Sequence[int] | None = None) -> dict[str, Any]:
    """How many of these entities are in which state, by kind and facet; and in which class, each counted once.

    numbers: None for all that are not deleted.
    """
    if numbers is None:
        counted = Counter({one: count for one, count in fleet.in_state.items() if count})
    else:
        counted = Counter(column[number] for column in fleet.states for number in numbers)
        counted.pop(NONE, None)
    kinds: dict[str, dict[str, Counter[str]]] = {}
    total = 0
    for number, count in sorted(counted.items()):
        known = fleet.index.known[number]
        kinds.setdefault(known.kind, {}).setdefault(known.facet, Counter())[known.state.phase] += count
        total += count if _is_first(fleet, known) else 0
    return {"total": total, "classes": _classes(fleet, numbers, counted), "kinds": kinds}


def _classes(fleet: LiveFleet, numbers: Sequence[int] | None, counted: Mapping[int, int]) -> dict[str, int]:
    """How many entities are in which class: each by the worst of its states, as `entity_classes` has it.

    numbers: as for `tally`. counted: how many are in each state. Where only first facets count, that says it all.
    """
    known = fleet.index.known
    ranks = [_rank(fleet, one) for one in known]
    found = Counter[int]()
    if all(ranks[one] == NO_RANK or _is_first(fleet, known[one]) for one in counted):
        for one, count in counted.items():
            found[ranks[one]] += count
    else:
        if numbers is None:
            numbers = [number for number, flags in enumerate(fleet.flags) if not flags & GONE]
        ranks.append(NO_RANK)  # of `NONE`, the last one
        found.update(map(min, *([ranks[column[number]] for number in numbers] for column in fleet.states)))
    classes = Counter[str]()
    for rank, count in sorted(found.items()):
        if rank != NO_RANK:
            classes[CLASSES[rank % len(CLASSES)]] += count
    return dict(classes)


def _rank(fleet: LiveFleet, known: IndexedState) -> int:
    """Where the class of a state stands among those of an entity, the worst first. The end of a life stands before all.

    What does not count has `NO_RANK`: the contact, and signals that only stand beside the state.
    """
    rank = CLASSES.index(known.state_class)
    if known.facet == CONTACT or (known.facet == SIGNALS and known.state_class not in BEGINS):
        return NO_RANK
    return rank - len(CLASSES) if known.state.phase == DELETED and _is_first(fleet, known) else rank


def _is_first(fleet: LiveFleet, known: IndexedState) -> bool:
    """Whether a state is one of the first facet of its kind."""
    kind = fleet.kinds.get(known.kind)
    return known.facet != CONTACT if kind is None else known.facet == kind.names[0]
