"""Levels of a part of the past of an installation.

Belongs here: which states and records are read, in which order, and up to where. Does not: counting (`levels.fold`).
An event may be decided long after it was stored, if no worker was there. So beyond the end of the range the log is read
on, until each partition shows an event that was stored later.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import NamedTuple

from phaseline.engine.log import latest, state_view
from phaseline.engine.log.as_of import AsOf, transition_filter
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import Logged, batches_of
from phaseline.engine.log.state_view import Pattern
from phaseline.engine.log.when import END, NOW, START, Moment, When, check_order, parse
from phaseline.engine.products.levels.excuses import all_of
from phaseline.engine.products.levels.fold.fold import LevelsFold, LevelsRange
from phaseline.engine.products.levels.fold.reckoning import (
    ENTITY,
    OBJECTIVE,
    LevelsReport,
    flapping_first,
    grouped,
    summed,
)
from phaseline.engine.products.levels.fold.spans import Span, Spans
from phaseline.engine.products.levels.fold.spared import Excuse, Spared, is_at_or_below
from phaseline.engine.products.notices.fold.rules import QuietWindow
from phaseline.engine.publish import server_outages
from phaseline.engine.surfaces.client.entity_view import states_of
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import InvalidInput, NotInLog, TreeUnknown
from phaseline.schemas.records import Entity, Transition, timestamp
from phaseline.schemas.subjects import ancestor_id, quoted_id

MOST_SLICES = 1_000
Progress = Callable[[int], None]
"""Called with the number of records read so far."""


class LevelsQuestion(NamedTuple):
    """What somebody wants to know.

    trees: only these ids and those below them; empty for all. kind: only this kind. by: how entities are grouped:
    `entity`, `tree`, `kind`, or `label`, which is the name of an attribute then. objective: in percent. windows: times
    that are excused. slice_length: of the slices that are wanted too, ns; 0 for none. flaps: who flaps most goes first.
    """

    start: When = "30d"
    end: When | None = None
    trees: Sequence[str] = ()
    kind: str | None = None
    by: str = ENTITY
    label: str = ""
    objective: float = OBJECTIVE
    windows: Sequence[QuietWindow] = ()
    slice_length: int = 0
    flaps: bool = False


async def levels(client: ReadingClient, asked: LevelsQuestion, progress: Progress = lambda _: None) -> LevelsReport:
    """The levels of a part of the past. Raises `NameUnknown`, `InvalidInput`, `NotInLog`."""
    for tree in asked.trees:
        latest.check_tree(tree)
    if asked.kind is not None:
        latest.check_kind(client.kinds, asked.kind)
    installation = states_of(await client.at()).installation
    after = Moment(0, 0) if asked.start == START else await client.moment(asked.start)
    up_to = await client.moment(asked.end or NOW)
    check_order(asked.start, asked.end, after, up_to)
    return await _Reading(installation, client, asked, after, up_to, progress).levels()


@dataclass(slots=True)
class _Reading:
    """One reading of the log."""

    installation: Installation
    client: ReadingClient
    asked: LevelsQuestion
    after: Moment
    up_to: Moment
    progress: Progress

    async def levels(self) -> LevelsReport:
        """Read the states at the beginning, then the records, and add up."""
        asked, patterns = self.asked, self._patterns()
        first = await self._first()
        begin = self.after.time_ns or await self._oldest(patterns)
        end = max(begin, self.up_to.time_ns)
        if asked.slice_length and (end - begin) // asked.slice_length >= MOST_SLICES:
            raise InvalidInput.bad_parameter(name="slice", problem=f"makes more than {MOST_SLICES} of them: give more")
        excuses = [one for one in await all_of(self.installation) if self._concerns(one, begin, end)]
        away = Spans((one.begin_ns, one.end_ns) for one in await server_outages.notes(self.installation).all_of())
        away = away.clipped(begin, end)
        spared = Spared(begin, end, asked.windows, excuses, away)
        fold = LevelsFold(
            self.installation.kinds,
            LevelsRange(begin, end, asked.windows, asked.label, asked.slice_length),
            spared,
            self._fits,
        )
        known = await AsOf(self.installation, first).matching(patterns)
        fold.know(known)
        async for some in self._records(patterns, first, end):
            for one in some:
                if isinstance(one.record, Transition):
                    fold.take(one.sequence, one.record)
            self.progress(fold.records)
        if asked.trees and not known and not fold.records:
            await self._check_known(asked.trees)
        return self._result(fold, begin, end, [*away], excuses)

    async def _check_known(self, trees: Sequence[str]) -> None:
        """Raise `TreeUnknown` if there is nothing in these trees now either."""
        now = states_of(await self.client.at())
        for tree in trees:
            if await now.states(below=tree, deleted=True):
                return
        raise TreeUnknown(root=trees[0])

    def _result(
        self, fold: LevelsFold, begin: int, end: int, away: Sequence[Span], excuses: Sequence[Excuse]
    ) -> LevelsReport:
        asked, tallies = self.asked, fold.close()
        rows = grouped(tallies, asked.by)
        if asked.flaps:
            rows = sorted((one for one in rows if one.flaps), key=flapping_first)
        return LevelsReport(
            begin, end, self.up_to.place, asked.by, asked.objective, rows, summed(tallies),
            fold.longest, fold.outages, slice_length=asked.slice_length, away=away, excuses=excuses,
        )  # fmt: skip

    def _concerns(self, excuse: Excuse, begin: int, end: int) -> bool:
        """Whether an excuse is about something that is asked for."""
        pairs = ((excuse.tree, tree) for tree in self.asked.trees)
        is_here = any(is_at_or_below(*pair) or is_at_or_below(*pair[::-1]) for pair in pairs) or not self.asked.trees
        return is_here and excuse.begin_ns < end and excuse.end_ns > begin

    def _fits(self, entity: Entity) -> bool:
        """Whether an entity is asked for. What stands above those is read too, because it may be silent."""
        kind, trees = self.asked.kind, self.asked.trees
        if kind is not None and entity.kind != kind:
            return False
        return not trees or any(is_at_or_below(entity.id, tree) for tree in trees)

    def _patterns(self) -> list[Pattern]:
        """What is asked for, and what stands above: it may be silent, and intents open windows there."""
        asked = self.asked.trees
        trees: list[str | None] = [one for one in asked if not any(_is_below(one, other) for other in asked)]
        return [*dict.fromkeys(pattern for tree in trees or [None] for pattern in self._patterns_of(tree))]

    def _patterns_of(self, tree: str | None) -> Iterator[Pattern]:
        installation, kind, kinds = self.installation, self.asked.kind, self.installation.kinds
        yield from state_view.patterns(installation, kind, tree)
        parts = 0 if tree is None else tree.count("/") + 1
        if kind is not None:
            for name in _above(kinds, kind, opens=any(one.opened_by for one in self.asked.windows)):
                if kinds[name].arity > parts:
                    yield from state_view.patterns(installation, name, tree)
        for above in range(1, parts + (kind is not None and kinds[kind].arity != parts)):
            name = ancestor_id(str(tree), above)
            yield Pattern(installation.partition_of(name), "*", quoted_id(name))

    async def _first(self) -> Moment:
        """Where to begin to read: before the range, so that what intents opened then is known."""
        lead = max((one.longest for one in self.asked.windows if one.opened_by), default=0)
        if not lead or not self.after.time_ns:
            return self.after
        try:
            return await self.client.moment(timestamp(self.after.time_ns - lead))
        except NotInLog:  # the range itself can be read
            return self.after

    async def _oldest(self, patterns: Sequence[Pattern]) -> int:
        """When the first record happened, ns; the end of the range if there is none."""
        async with aclosing(batches_of(self.installation, self._filters(patterns), 0, self.up_to.place)) as batches:
            async for some in batches:
                for one in some:
                    return one.record.time_ns
        return self.up_to.time_ns

    def _filters(self, patterns: Sequence[Pattern]) -> list[str]:
        return [transition_filter(self.installation, one) for one in patterns]

    async def _records(self, patterns: Sequence[Pattern], first: Moment, end: int) -> AsyncIterator[list[Logged]]:
        """The records of events that were stored before the end, in the order of each tree."""
        async for some in batches_of(self.installation, self._filters(patterns), first.place, self.up_to.place):
            yield some
        if parse(self.asked.end or NOW) == END:
            return
        after, installation = max(first.place, self.up_to.place), self.installation
        for partition, own in self._by_partition(patterns):
            async with aclosing(batches_of(installation, self._filters(own), after, END)) as batches:
                async for some in batches:
                    # An archive has the records of all partitions side by side.
                    mine = [one for one in some if installation.partition_of(_id_of(one)) == partition]
                    yield mine
                    if mine and mine[-1].record.time_ns >= end:
                        break

    def _by_partition(self, patterns: Sequence[Pattern]) -> Iterator[tuple[int, list[Pattern]]]:
        """Each partition that the patterns are about, with those for it."""
        for partition in range(self.installation.layout.partitions):
            mine = [one for one in patterns if one.partition in ("*", partition)]
            if mine:
                yield partition, [one._replace(partition=partition) for one in mine]


def _id_of(one: Logged) -> str:
    return one.record.entity.id if isinstance(one.record, Transition) else one.record.id


def _is_below(entity_id: str, above: str) -> bool:
    return entity_id != above and is_at_or_below(entity_id, above)


def _above(kinds: Kinds, kind: str, *, opens: bool) -> list[str]:
    """The kinds whose entities say something about those of a kind below them. opens: whether intents open windows."""
    if opens:
        return [name for name, one in kinds.items() if one.arity < kinds[kind].arity]
    return [name for name, _ in kinds[kind].places if name != kind]
