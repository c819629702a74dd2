"""Is what the log says what the events make? Both are read side by side, in order, and compared byte for byte.

Belongs here: folding the stored events again and holding the log and the states against it. Does not: words for people (`cli`).
Only what is there is read, and nothing is kept but the tree: a live system is not disturbed, and memory stays flat.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from phaseline.engine import checkpoint
from phaseline.engine.commit import last_message
from phaseline.engine.fold import Folder, Message, partition_of_id
from phaseline.engine.reader import Stored, read_all
from phaseline.engine.streams import Layout
from phaseline.engine.tree import Tree, evolve
from phaseline.engine.wire import Wire
from phaseline.machines.kinds import Kinds
from phaseline.schemas import codec, forms
from phaseline.schemas.records import Mark, Record, Rejection, Transition
from phaseline.schemas.subjects import Subjects, quote


class Divergence(NamedTuple):
    """The first place where the log and the fold differ on an entity. `sequence`: of the event, in EVENTS."""

    kind: str
    id: str
    sequence: int
    expected: str | None
    found: str | None


@dataclass(slots=True)
class Verdict:
    """What an audit found. `begins`: the first event that is still kept; `undecided`: events no worker has come to yet."""

    begins: int = 1
    events: int = 0
    records: int = 0
    entities: int = 0
    undecided: int = 0
    divergences: dict[tuple[str, str], Divergence] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the log is what the events make."""
        return not self.divergences

    def differ(self, sequence: int, expected: Record | None, found: Record | None) -> None:
        """Note a difference, unless one of that entity is noted already."""
        kind, entity_id = _entity(expected or found)
        told = Divergence(kind, entity_id, sequence, _told(expected), _told(found))
        self.divergences.setdefault((kind, entity_id), told)


def _entity(record: Record | None) -> tuple[str, str]:
    if record is None:
        return "-", "-"
    return (record.kind, record.id) if isinstance(record, Rejection) else (record.entity.kind, record.entity.id)


def _told(record: Record | None) -> str | None:
    """A record in a few words."""
    if isinstance(record, Transition):
        start = "new" if record.before is None else str(record.before)
        return f"version {record.entity.version}: {start} -> {record.after} by {record.trigger}"
    if isinstance(record, Rejection):
        return f"{record.trigger} rejected, {record.reason}"
    return f"a mark of {dict(record.entity.sequences)}" if isinstance(record, Mark) else None


class LogHead:
    """The log of one partition, one message at a time. `head`: the next one, None at the end."""

    def __init__(self, slices: AsyncIterator[list[Stored]]) -> None:
        """Read from these."""
        self._slices = slices
        self._held: deque[Stored] = deque()
        self.head: Message | None = None

    async def advance(self) -> None:
        """Go on to the next message."""
        if not self._held:
            self._held.extend(await anext(self._slices, []))
        found = self._held.popleft() if self._held else None
        self.head = None if found is None else Message(found.subject, found.data)

    def record(self) -> Record | None:
        """What the head says."""
        return None if self.head is None else forms.from_wire(codec.decode(self.head.body))

    async def take_up_to(self, sequence: int) -> list[Record]:
        """The records whose cause is at most `sequence`."""
        found = []
        while (record := self.record()) is not None and record.cause.sequence <= sequence:
            found.append(record)
            await self.advance()
        return found


async def audit(
    wire: Wire, layout: Layout, kinds: Kinds, root: str | None = None, progress: Callable[[int], None] | None = None
) -> Verdict:
    """Fold the events again and compare with log and states; only the tree `root` where one is named.

    progress: called with the number of events folded since the last call.
    """
    root = None if root is None else root.partition("/")[0]
    info = await wire.api(f"STREAM.INFO.{layout.events}")
    verdict = Verdict(begins=max(1, int(info["state"]["first_seq"])))
    partitions = range(layout.partitions) if root is None else [partition_of_id(root, layout.partitions)]
    for partition in partitions:
        await _Partition(wire, layout, kinds, partition, root, verdict).run(progress or (lambda _: None))
    return verdict


class _Partition:
    """The audit of one partition, or of one tree in it."""

    def __init__(
        self, wire: Wire, layout: Layout, kinds: Kinds, partition: int, root: str | None, verdict: Verdict
    ) -> None:
        self.wire, self.layout, self.partition, self.root, self.verdict = wire, layout, partition, root, verdict
        self.subjects = Subjects(layout.prefix)
        self.folder = Folder(Tree(kinds), self.subjects, partition)

    async def run(self, progress: Callable[[int], None]) -> None:
        """Compare event by event, then the states."""
        mark = await last_message(self.wire, self.layout.log, self.subjects.checkpoint(self.partition))
        decided = checkpoint.decode(mark.data).position if mark else 0
        log = LogHead(read_all(self.wire, self.layout.log, self._log_filters()))
        await log.advance()
        for record in await log.take_up_to(self.verdict.begins - 1):
            evolve(self.folder.tree, record)
        last = 0
        async for events in read_all(self.wire, self.layout.events, [self._inbox()]):
            for place, event in enumerate(events):
                if log.head is None and event.sequence > decided:
                    self.verdict.undecided += len(events) - place
                    break
                await self._compare(event, log)
                last = event.sequence
            progress(len(events))
        for record in await log.take_up_to(last):
            self.verdict.differ(record.cause.sequence, None, record)
        await self._compare_states()

    async def _compare(self, event: Stored, log: LogHead) -> None:
        records = [record for record in self.folder.answer(event) if self._is_wanted(record)]
        expected = self.folder.messages(records)
        for record in records:
            evolve(self.folder.tree, record)
        self.verdict.events += 1
        self.verdict.records += len(expected)
        for place, message in enumerate(expected):
            if log.head != message:
                await self._tell(event.sequence, records[place:], log)
                return
            await log.advance()

    async def _tell(self, sequence: int, expected: list[Record], log: LogHead) -> None:
        """What is expected of this event and what is found, entity by entity."""
        found = await log.take_up_to(sequence)
        wanted = {(_entity(record), getattr(record, "facet", "")): record for record in expected}
        for record in found:
            mine = None
            if record.cause.sequence == sequence:
                mine = wanted.pop((_entity(record), getattr(record, "facet", "")), None)
            if mine != record:
                self.verdict.differ(record.cause.sequence, mine, record)
        for record in wanted.values():
            self.verdict.differ(sequence, record, None)

    async def _compare_states(self) -> None:
        """The copy of the states may be newer than our reading of the log, but where it is as old it must be the same."""
        tree = self.folder.tree
        self.verdict.entities += len(tree)
        async for slice_ in read_all(self.wire, self.layout.state, self._state_filters()):
            for stored in slice_:
                record = forms.from_wire(codec.decode(stored.data))
                mine = None if isinstance(record, Rejection) else tree.get(record.entity.kind, record.entity.id)
                if isinstance(record, Rejection) or mine is None or record.entity.version != mine.version:
                    continue
                if isinstance(record, Transition) and record.entity.facets != mine.facets:
                    self.verdict.differ(record.cause.sequence, None, record)

    def _is_wanted(self, record: Record) -> bool:
        """Whether a record stands under the tree; what could not be read may name another."""
        return self.root is None or _entity(record)[1].partition("/")[0] == self.root

    def _ends(self) -> list[str]:
        if self.root is None:
            return [">"]
        token = quote(self.root)
        return [token, f"{token}.>"]

    def _inbox(self) -> str:
        return f"{self.layout.prefix}.inbox.{self.partition}.{self._ends()[-1]}"

    def _log_filters(self) -> list[str]:
        place, ends = f"{self.layout.prefix}.log.{self.partition}", self._ends()
        if self.root is None:
            return [f"{place}.transition.>", f"{place}.rejection.>", f"{self.layout.prefix}.mark.{self.partition}.>"]
        return [
            filter_
            for end in ends
            for filter_ in (
                f"{place}.transition.*.*.*.{end}",
                f"{place}.rejection.*.*.{end}",
                f"{self.layout.prefix}.mark.{self.partition}.*.{end}",
            )
        ]

    def _state_filters(self) -> list[str]:
        return [f"{self.layout.prefix}.state.{self.partition}.*.{end}" for end in self._ends()]
