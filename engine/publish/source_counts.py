"""What became of the events of each source: what the owners of partitions counted, together.

Belongs here: asking them, the shape of their answers. Does not: counting (`core.counts.by_source`), how it is shown.
"""

import asyncio
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from phaseline.engine.core.counts.by_source import BySource, SourceCounts
from phaseline.engine.log.installation import Installation
from phaseline.engine.publish.backlog import PATIENCE
from phaseline.schemas import codec
from phaseline.schemas.errors import NoAnswer, NoResponders
from phaseline.schemas.records import timestamp

ASKED = b"sources"
"""The body of a request for a backlog that asks for the counts by source too."""
LONGEST = 256
"""The most characters of a source in an answer."""
NOT_READ = "-"
"""The name of the source of events that could not be read."""


class SourceRow(NamedTuple):
    """A source, and what became of its events."""

    source: str
    counts: SourceCounts


class SourceReport(NamedTuple):
    """What the owners of partitions counted.

    silent: the partitions whose owner did not answer, or that have none; their counts are missing.
    """

    by_source: BySource
    silent: tuple[int, ...]

    def rows(self) -> Iterator[SourceRow]:
        """The sources with their counts: those in trouble first, then those that sent most."""
        found = (SourceRow(source, counts) for source, counts in self.by_source.counts.items())
        yield from sorted(found, key=lambda one: (not one.counts.is_in_trouble, -one.counts.events, one.source))


class _Counts(msgspec.Struct, array_like=True):
    source: str
    since_ns: int
    heard_ns: int
    events: int
    rejected: int
    repeats: int
    runs: int
    streak: int
    repeating_ns: int
    epoch: int
    number: int | None


class _Answer(msgspec.Struct):
    sources: list[_Counts]
    others: _Counts | None


def answer(found: BySource) -> dict[str, Any]:
    """The counts of a partition, as its owner answers them."""
    sources = [_counts(source, counts) for source, counts in found.counts.copy().items()]
    return {
        "sources": msgspec.to_builtins(sources),
        "others": None if found.others is None else msgspec.to_builtins(_counts("", found.others)),
    }


def _counts(source: str, of: SourceCounts) -> _Counts:
    return _Counts(source[:LONGEST], *(getattr(of, name) for name in _Counts.__struct_fields__[1:]))


async def source_counts(installation: Installation) -> SourceReport:
    """Ask the owners of all partitions. Raises `NotPermitted`, and `NoResponders` if no worker answers."""
    numbers = range(installation.layout.partitions)
    found = await asyncio.gather(*(_ask(installation, number) for number in numbers), return_exceptions=True)
    together, silent = BySource(), []
    for number, said in zip(numbers, found, strict=True):
        if isinstance(said, _Answer):
            for one in said.sources:
                together.add(one.source or NOT_READ, _read(one))
            if said.others is not None:
                together.add_others(_read(said.others))
        elif isinstance(said, NoAnswer | ValueError):
            silent.append(number)
        elif isinstance(said, BaseException):
            raise said
    if len(silent) == len(found) and isinstance(found[0], NoResponders):
        raise found[0]
    return SourceReport(together, tuple(silent))


async def _ask(installation: Installation, partition: int) -> _Answer:
    wire = installation.wire
    seconds = min(PATIENCE, wire.settings.request_timeout)
    reply = await wire.ask(installation.subjects.backlog(partition), ASKED, timeout=seconds)
    return msgspec.convert(codec.decode(reply.data), _Answer)


def _read(found: _Counts) -> SourceCounts:
    return SourceCounts(*(getattr(found, name) for name in _Counts.__struct_fields__[1:]))


def counts_map(source: str, found: SourceCounts) -> dict[str, Any]:
    """The counts of a source, as JSON output shows them."""
    return {
        "source": source, "events": found.events, "taken": found.taken, "rejected": found.rejected,
        "repeats": found.repeats, "runs": found.runs, "streak": found.streak, "epoch": found.epoch,
        "number": found.number, "heard": timestamp(found.heard_ns), "since": timestamp(found.since_ns),
        "trouble": found.trouble,
    }  # fmt: skip
