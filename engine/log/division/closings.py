"""Where partitions of a former division were closed, and so where those of the next one begin.

Belongs here: reading the last checkpoints of former partitions, and what follows from them. Does not: closing a
partition (`ownership.claim`), the arithmetic of divisions (`schemas.partitions.divisions`).
"""

import asyncio
from collections.abc import Iterable, Mapping
from itertools import chain

import msgspec
from msgspec.structs import replace

from phaseline.engine.log import checkpoint
from phaseline.engine.log.checkpoint import Checkpoint
from phaseline.engine.log.division.division_errors import NotClosedYet
from phaseline.engine.log.installation import Installation
from phaseline.schemas.partitions.divisions import Deciders, Division
from phaseline.schemas.subjects import quote

AT_ONCE = 32
"""Checkpoints that are asked for at the same time."""


class Beginning(msgspec.Struct, frozen=True):
    """Where a partition begins: what the partitions decided from which its trees come.

    ends: for each former division, oldest first, by the numbers of its partitions the last event that each decided.
    One that was closed before it was past its own beginning ends before those from which its trees came.
    clear: the position up to which none of the last division had an event that waited.
    """

    ends: tuple[tuple[Division, Mapping[int, int]], ...]
    clear: int

    @property
    def positions(self) -> Mapping[int, int]:
        """By the numbers of the partitions of the last division, the last event that each of them decided."""
        return self.ends[-1][1]

    @property
    def first(self) -> int:
        """The position up to which all events of the trees are decided."""
        return min(self.positions.values())

    @property
    def since(self) -> int:
        """The position after which no event of the trees is decided."""
        return max(position for _, positions in self.ends for position in positions.values())

    def has_decided(self, root: str, position: int) -> bool:
        """Whether a former partition decided the event at a position, of the tree with the encoded token `root`."""
        return any(position <= positions[division.number_of(root)] for division, positions in self.ends)


async def opening(installation: Installation, number: int) -> Beginning:
    """Where a partition begins; raises `NotClosedYet` if a former partition may still decide events of its trees."""
    layout = installation.layout
    sources = {division: list(layout.division.sources(number, division)) for division in layout.all_divisions[:-1]}
    found = await checkpoints(installation, chain.from_iterable(sources.values()))
    # Earlier partitions were closed before those of the former division began; a log that was emptied has lost them.
    ended = {source: last for source, last in found.items() if last is not None and last.closed}
    former = [*sources.values()][-1]
    for source in former:
        if source not in ended:
            raise NotClosedYet(partition=number, former=source)
    ends = tuple(
        (division, {one: ended[one].position if one in ended else 0 for one in numbers})
        for division, numbers in sources.items()
    )
    return Beginning(ends, min(max(ended[one].position, ended[one].clear or 0) for one in former))


def begun(last: Checkpoint, found: Beginning, count: int) -> Checkpoint:
    """The checkpoint of a partition that begins. last: an empty one, or one that was made anew from the records."""
    position, clear = max(last.position, found.first), max(last.clear or 0, found.clear)
    return replace(last, position=position, clear=clear, of=count, since=found.since)


async def checkpoints(installation: Installation, numbers: Iterable[int]) -> dict[int, Checkpoint | None]:
    """The last checkpoint of each of these partitions, according to the leader of LOG."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> Checkpoint | None:
        async with gate:
            subject = installation.subjects.checkpoint(number)
            return await checkpoint.last(installation.wire, installation.layout.log, subject)

    wanted = list(numbers)
    return dict(zip(wanted, await asyncio.gather(*map(one, wanted)), strict=True))


async def deciders(installation: Installation) -> Deciders:
    """Which partition decided, or decides, which event."""
    divisions = installation.layout.all_divisions
    former = [number for division in divisions[:-1] for number in division.numbers]
    found = await checkpoints(installation, former)
    closed = {number: last.position for number, last in found.items() if last is not None and last.closed}
    return Deciders(divisions, closed)


async def is_decided(installation: Installation, entity_id: str, position: int) -> bool:
    """Whether a checkpoint says that the event at a position, of the tree of an entity, is decided.

    The records of the event may be there a little before.
    """
    root = quote(entity_id.partition("/")[0])
    numbers = [division.number_of(root) for division in installation.layout.all_divisions]
    found = await checkpoints(installation, numbers)
    return any(last is not None and last.position >= position for last in found.values())
