"""Records of the log as they come: from an earlier moment on if asked for, then live, without a gap between.

Belongs here: the choice of subjects, and the iterator. Does not: states (`queries`).
"""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar, cast, get_args

from phaseline.engine.errors import EntityUnknown, NameUnknown
from phaseline.engine.jetstream.reader import Reader, Stored
from phaseline.engine.log import latest
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import read_record
from phaseline.engine.log.when import NOW, START, Moment, Time, When, parse
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.records import Reason, Rejection, Transition, timestamp
from phaseline.schemas.subjects import SHORTENED, quote, quoted_id

SLICE = 500

R = TypeVar("R", bound=Transition | Rejection)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Selects records; None takes all. `below`: this id and what is under it. `id`: this entity alone."""

    kind: str | None = None
    facet: str | None = None
    state: str | None = None
    below: str | None = None
    id: str | None = None
    reason: str | None = None
    transitions: bool = True
    rejections: bool = False

    def check(self, kinds: Kinds) -> None:
        """Raise `NameUnknown` or `InvalidId` where no record can ever fit."""
        among = [latest.check_kind(kinds, self.kind)] if self.kind else list(kinds.values())
        _check("facet", self.facet, [name for kind in among for name in kind.names])
        _check(
            "state", self.state, [phase for kind in among for machine in kind.machines for phase in machine.phases[1:]]
        )
        _check("reason", self.reason, list(get_args(Reason)))
        if self.below is not None:
            latest.check_tree(self.below)
        if self.id is not None:
            latest.check_name(kinds, self.kind or "", self.id)

    def filters(self, installation: Installation) -> list[str]:
        """The log's subjects that hold these records."""
        everything = self.kind is self.facet is self.state is self.below is self.reason is self.id is None
        if everything and self.transitions and self.rejections:
            return [f"{installation.prefix}.log.*.*.*.>"]
        root, found = self.id or self.below, []
        start = f"{installation.prefix}.log.{'*' if root is None else installation.partition_of(root)}"
        if self.transitions:
            words = f"{self.kind or '*'}.{self.facet or '*'}.{self.state or '*'}"
            found += [f"{start}.transition.{words}.{end}" for end in self._ends(installation.kinds)]
        if self.rejections:
            words = f"{self.kind or '*'}.{self.reason or '*'}"
            found += [f"{start}.rejection.{words}.{end}" for end in self._rejected_ends()]
        return found

    def _ends(self, kinds: Kinds) -> list[str]:
        if self.id is not None:
            return [quoted_id(self.id)]
        if self.below is None:
            return [">"]
        return [f"{quoted_id(self.below)}{end}" for end in latest.ends(kinds, self.kind, self.below)]

    def _rejected_ends(self) -> list[str]:
        if self.below is None:
            return [">"]
        tokens = ".".join(quote(part)[:SHORTENED] for part in self.below.split("/"))
        return [tokens, f"{tokens}.>"]


def _check(what: str, word: str | None, known: list[str]) -> None:
    if word is not None and word not in known:
        raise NameUnknown(what=what, name=word, known=", ".join(dict.fromkeys(known)))


class Watch(Generic[R]):
    """`async for record in watch`. `sequence` is the place in the log of the last record, `wire` its map on the wire.

    `start=watch.sequence + 1` continues after it. `async with watch:` begins at once and ends at the end of the block;
    without it the watch begins when the first record is asked for.
    """

    def __init__(
        self,
        reader: Callable[[Wanted, int | str], Awaitable[Reader]],
        wanted: Wanted,
        start: When,
        *,
        follow: bool,
    ) -> None:
        """`reader` makes a reader, not yet opened. follow: whether to go on after the last record that was there."""
        self._make, self._wanted, self._start, self._follow = reader, wanted, first(start), follow
        self._reader: Reader | None = None
        self._held: deque[Stored] = deque()
        self.over = False
        self.sequence = 0
        self.wire: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def _open(self) -> Reader:
        if self._reader is None:
            reader = await self._make(self._wanted, self._start)
            self._reader = await reader.__aenter__()
        return self._reader

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the watch: there are no further records."""
        self.over = True
        reader, self._reader = self._reader, None
        if reader is not None:
            await reader.__aexit__()

    @property
    def caught_up(self) -> bool:
        """Whether all that was in the log has been handed out, as far as is known."""
        return not self._held and self._reader is not None and self._reader.caught_up

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> R:
        while not self._held:
            if self.over:
                raise StopAsyncIteration
            reader = await self._open()
            if not self._follow and reader.caught_up:
                await self.close()
                self._miss()
                raise StopAsyncIteration
            self._held.extend(await reader.take(SLICE))
        stored = self._held.popleft()
        self.sequence, self.wire = stored.sequence, codec.decode(stored.data)
        return cast("R", read_record(self.wire))

    def _miss(self) -> None:
        kind, entity_id = self._wanted.kind, self._wanted.id
        if kind is not None and entity_id is not None and not self.sequence:
            raise EntityUnknown(kind=kind, id=entity_id)


def first(start: When) -> int | str:
    """Where a reader of the log begins: at a place or a time, or after a `Moment`; raises `NameUnknown`."""
    if isinstance(start, Moment):
        return start.place + 1
    if isinstance(start, str) and start in (NOW, START):
        return start
    found = parse(start)
    return timestamp(found.ns) if isinstance(found, Time) else found
