"""Watching the log: records from a chosen moment on, then live ones, without a gap.

Belongs here: the choice of subjects, and the iterator. Does not: states (`latest`, `as_of`).
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, Self, TypeVar, cast, get_args

import msgspec

from phaseline.engine.log import latest, state_view
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import Logged, take_logged
from phaseline.engine.log.when import NOW, START, Moment, Time, When, parse
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import StreamReader
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.labels import phase_meant, states_labelled
from phaseline.schemas import codec
from phaseline.schemas.errors import EntityUnknown, InvalidInput, NameUnknown, did_you_mean
from phaseline.schemas.records import SIGNALS, Reason, Rejection, Transition, timestamp
from phaseline.schemas.state_choice import StateChoice
from phaseline.schemas.subjects import SHORTENED, quote, quoted_id

Clock = Literal["server", "event"]
"""Which time of a record counts: when the server stored its event, or what the publisher gave (`event_order`)."""
SERVER: Clock = "server"
SLICE = 500
"""Records taken from the reader at once, at most."""

ALIKE = 0.85
"""How much a name must be like a known one to be taken for a mistake where names are open."""
R = TypeVar("R", bound=Transition | Rejection)


class RecordFilter(msgspec.Struct, frozen=True):
    """Selects records; None selects all. `below`: this entity and those below it. `id`: this entity alone."""

    kind: str | None = None
    facet: str | None = None
    state: str | None = None
    below: str | None = None
    id: str | None = None
    reason: str | None = None
    transitions: bool = True
    rejections: bool = False
    choice: StateChoice | None = None
    """Selects transitions further, by the conditions after them."""

    def check(self, kinds: Kinds) -> None:
        """Raise `NameUnknown` or `InvalidInput.invalid_id` if no record can ever match."""
        among = [latest.check_kind(kinds, self.kind)] if self.kind else list(kinds.values())
        # Each list is made only if it is needed: a kind that nobody asks for need not be compiled.
        _check("facet", self.facet, (name for kind in among for name in kind.names))
        known_phases = (phase for kind in among for phases in kind.phases for phase in phases[1:])
        _check("state", self.state, known_phases)
        for condition in sorted(self.choice.conditions) if self.choice is not None else ():
            known = [*conditions_of(among)]
            if not any(kind.table.signals for kind in among) or did_you_mean(condition, known, ALIKE):
                _check("condition", condition, known)
        _check("reason", self.reason, list(get_args(Reason)))
        if self.below is not None:
            latest.check_tree(self.below)
        if self.id is not None:
            latest.check_name(kinds, self.kind or "", self.id)

    def fits(self, record: Transition | Rejection) -> bool:
        """Whether a record on one of the `filters` is selected."""
        if isinstance(record, Rejection):  # subjects shorten long ids, so there may be others on the filter
            return self.below is None or f"{record.id}/".startswith(f"{self.below}/")
        return self.choice is None or self.choice.selects(record.after, record.entity.attributes.get(SIGNALS, ()))

    def selects(self, record: Transition | Rejection) -> bool:
        """Whether a record is selected, without the help of the `filters`."""
        if isinstance(record, Rejection):
            kind, entity_id = record.kind, record.id
            wanted = self.rejections and self.reason in (None, record.reason)
        else:
            kind, entity_id = record.entity.kind, record.entity.id
            wanted = (
                self.transitions and self.facet in (None, record.facet) and self.state in (None, record.after.phase)
            )
        return (
            wanted
            and self.kind in (None, kind)
            and self.id in (None, entity_id)
            and (self.below is None or f"{entity_id}/".startswith(f"{self.below}/"))
            and self.fits(record)
        )

    def filters(self, installation: Installation) -> list[str]:
        """The filter subjects of LOG for these records."""
        everything = self.kind is self.facet is self.state is self.below is self.reason is self.id is None
        if everything and self.transitions and self.rejections:
            return [f"{installation.prefix}.log.*.*.*.>"]
        root, filters = self.id or self.below, []
        start = f"{installation.prefix}.log.{'*' if root is None else installation.partition_of(root)}"
        if self.transitions:
            tokens = f"{self.kind or '*'}.{self.facet or '*'}.{self.state or '*'}"
            filters += [f"{start}.transition.{tokens}.{end}" for end in self._ends(installation.kinds)]
        if self.rejections:
            tokens = f"{self.kind or '*'}.{self.reason or '*'}"
            filters += [f"{start}.rejection.{tokens}.{end}" for end in self._rejection_ends()]
        return filters

    def _ends(self, kinds: Kinds) -> list[str]:
        if self.id is not None:
            return [quoted_id(self.id)]
        if self.below is None:
            return [">"]
        return [f"{quoted_id(self.below)}{end}" for end in state_view.ends(kinds, self.kind, self.below)]

    def _rejection_ends(self) -> list[str]:
        if self.below is None:
            return [">"]
        tokens = ".".join(quote(part)[:SHORTENED] for part in self.below.split("/"))
        return [tokens, f"{tokens}.>"]


def conditions_of(kinds: Iterable[Kind]) -> Iterator[str]:
    """The conditions and the signals of which the tables of kinds know. Other signals may stand too."""
    for kind in kinds:
        labels = (label for facet in kind.table.facets for label in facet.labels)
        yield from (label.condition for label in labels if label.condition is not None)
        yield from (signal.name for signal in kind.table.signal_names)


def chosen(
    kinds: Mapping[str, Kind], kind: str | None, state: str | None, conditions: str | Sequence[str]
) -> StateChoice:
    """The states of a kind, or of all, that a text and conditions select; raises `InvalidInput.no_state`.

    A phase may be named by an alias, such as Suspended for Paused. What is no phase may be a label of states, in any
    language, as consoles show it: `Abnormal`, `Stopped (overdue)`.
    """
    named = (conditions,) if isinstance(conditions, str) else conditions
    try:
        if state is not None and (labelled := states_labelled(kinds, kind, state)):
            phases = {one.phase for one in labelled}
            phase = phases.pop() if len(phases) == 1 else None
            return StateChoice(phase, frozenset(named), labelled=labelled)
        found = StateChoice.read(state, named)
    except ValueError as error:
        raise InvalidInput.no_state(problem=str(error)) from None
    return found._replace(phase=phase_meant(kinds, kind, found.phase))


def feed_of(prefix: str, filters: list[str]) -> list[str]:
    """Subjects of the live feed on which all records of these filters of LOG arrive."""
    found = (filter_.removeprefix(f"{prefix}.log.").partition(".")[2] for filter_ in filters)
    feed = [tokens for tokens in found if not tokens.startswith("*")]
    return [f"{prefix}.{tokens}" for tokens in (feed if len(feed) == len(filters) else ("transition.>", "rejection.>"))]


def _check(what: str, word: str | None, known: Iterable[str]) -> None:
    if word is not None and word not in (names := [*known]):
        raise NameUnknown.among(what, word, names)


class Watch(Generic[R]):
    """An iterator over records: `async for record in watch`.

    `sequence` is the place of the last record. A watch with `start=watch.sequence + 1`
    continues after it. `async with watch:` starts to read at once and ends with the block. Without it the watch starts
    when the first record is requested.
    """

    def __init__(
        self,
        reader: Callable[[RecordFilter, int | str, bool], Awaitable[StreamReader]],
        wanted: RecordFilter,
        start: When,
        *,
        follow: bool,
    ) -> None:
        """`reader` makes a reader that is not open yet. follow: whether to wait for further records at the end.

        Such a watch waits for its server too. One that ends gives up instead (`stream_reader.reader_of`).
        """
        self._make, self._wanted, self._start, self._follow = reader, wanted, first(start), follow
        self._reader: StreamReader | None = None
        self._messages = deque[Stored]()
        self._records = deque[Logged]()
        self._has_found = False
        self.over = False
        self.sequence = self.read_to = 0
        """The place of the last record, and of the last message that was read."""
        self._body = b""
        """The message of the last record."""

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def _open(self) -> StreamReader:
        if self._reader is None:
            reader = await self._make(self._wanted, self._start, self._follow)
            self._reader = await reader.__aenter__()
        return self._reader

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the watch. It yields no further record."""
        self.over = True
        self._messages.clear()
        self._records.clear()
        reader, self._reader = self._reader, None
        if reader is not None:
            await reader.__aexit__()

    @property
    def wire(self) -> dict[str, Any]:
        """The decoded message of the last record; empty before the first. It is decoded when it is asked for."""
        return codec.decode(self._body) if self._body else {}

    @property
    def caught_up(self) -> bool:
        """Whether all records that were in the log at the start have been returned; False while that is not known."""
        waits = not self._records and not self._messages
        return waits and self._reader is not None and self._reader.caught_up

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> R:
        if not self._records:
            self._records.extend(await self._next())
        found = self._records.popleft()
        self.sequence, self._body = found.sequence, found.body
        return cast("R", found.record)

    async def batch(self) -> list[Logged]:
        """The next records, with their places: as many as are there, at least one. Empty at the end."""
        try:
            found = [*self._records] or await self._next()
        except StopAsyncIteration:
            return []
        self._records.clear()
        self.sequence, self._body = found[-1].sequence, found[-1].body
        return found

    async def _next(self) -> list[Logged]:
        """The next records; raises `StopAsyncIteration` at the end."""
        while True:
            reader = await self._filled()
            read = take_logged(reader.stream, self._messages)
            if found := [one for one in read if self._wanted.fits(one.record)]:
                self._has_found = True
                return found

    async def _filled(self) -> StreamReader:
        """Wait for messages; raises `StopAsyncIteration` at the end."""
        while True:
            if self.over and not self._messages:
                raise StopAsyncIteration
            reader = await self._open()
            if self._messages:
                return reader
            if not self._follow and reader.caught_up:
                await self.close()
                self._check_found()
                raise StopAsyncIteration
            if taken := await reader.take(SLICE):
                self._messages.extend(taken)
                self.read_to = taken[-1].sequence

    def _check_found(self) -> None:
        """Raise `EntityUnknown` if the history of one entity has no record."""
        kind, entity_id = self._wanted.kind, self._wanted.id
        if kind is not None and entity_id is not None and not self._has_found:
            raise EntityUnknown(kind=kind, id=entity_id)


def first(start: When) -> int | str:
    """Where a reader of the log starts: at a place or a time, or after a `Moment`; raises `NameUnknown`."""
    if isinstance(start, Moment):
        return start.place + 1
    if isinstance(start, str) and start in (NOW, START):
        return start
    found = parse(start)
    return timestamp(found.ns) if isinstance(found, Time) else found
