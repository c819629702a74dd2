"""Records as they come, out of the log: caught up from the past where asked for, then live, without a gap between.

Belongs here: which subjects to read, and the iterator. Does not: states (`queries`).
"""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Self, TypeVar, cast, get_args

from phaseline.engine import queries
from phaseline.engine.errors import EntityUnknown, WordUnknown
from phaseline.engine.reader import Reader, Stored
from phaseline.engine.streams import Layout
from phaseline.machines.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.envelope import Invalid, check_time
from phaseline.schemas.records import Reason, Rejection, Transition
from phaseline.schemas.subjects import SHORTENED, partition_of_id, quote, quoted_id

Start = str | int | datetime
"""Where to begin: "now", "start", a place in the log, or a time (RFC 3339 where it is text)."""
SLICE = 500

R = TypeVar("R", bound=Transition | Rejection)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records; None takes all. `below`: an id, it and what is under it. `id`: this entity alone."""

    kind: str | None = None
    facet: str | None = None
    state: str | None = None
    below: str | None = None
    id: str | None = None
    reason: str | None = None
    transitions: bool = True
    rejections: bool = False

    def check(self, kinds: Kinds) -> None:
        """Raise `WordUnknown` or `IdUnfit` where nothing could ever fit."""
        among = [queries.check_kind(kinds, self.kind)] if self.kind else list(kinds.values())
        _check("facet", self.facet, [name for kind in among for name in kind.names])
        _check(
            "state", self.state, [phase for kind in among for machine in kind.machines for phase in machine.phases[1:]]
        )
        _check("reason", self.reason, list(get_args(Reason)))
        if self.below is not None:
            queries.check_tree(self.below)
        if self.id is not None:
            queries.check_name(kinds, self.kind or "", self.id)

    def filters(self, layout: Layout, kinds: Kinds) -> list[str]:
        """The log's subjects that hold them."""
        everything = self.kind is self.facet is self.state is self.below is self.reason is self.id is None
        if everything and self.transitions and self.rejections:
            return [f"{layout.prefix}.log.*.*.*.>"]
        found = []
        if self.transitions:
            words = f"{self.kind or '*'}.{self.facet or '*'}.{self.state or '*'}"
            found += [f"{self._place(layout)}.transition.{words}.{end}" for end in self._ends(kinds)]
        if self.rejections:
            words = f"{self.kind or '*'}.{self.reason or '*'}"
            found += [f"{self._place(layout)}.rejection.{words}.{end}" for end in self._rejected_ends()]
        return found

    def _place(self, layout: Layout) -> str:
        root = self.id or self.below
        return f"{layout.prefix}.log.{'*' if root is None else partition_of_id(root, layout.partitions)}"

    def _ends(self, kinds: Kinds) -> list[str]:
        if self.id is not None:
            return [quoted_id(self.id)]
        if self.below is None:
            return [">"]
        return [f"{quoted_id(self.below)}{end}" for end in queries.ends(kinds, self.kind, self.below)]

    def _rejected_ends(self) -> list[str]:
        if self.below is None:
            return [">"]
        tokens = ".".join(quote(part)[:SHORTENED] for part in self.below.split("/"))
        return [tokens, f"{tokens}.>"]


def _check(what: str, word: str | None, known: list[str]) -> None:
    if word is not None and word not in known:
        raise WordUnknown(what=what, word=word, known=", ".join(dict.fromkeys(known)))


class Watch(Generic[R]):
    """`async for record in watch`. Of the last one, `sequence` is its place in the log and `wire` its map on the wire.

    `start=watch.sequence + 1` goes on after it. `async with watch:` begins at once and ends at the end of the block;
    without it the watch begins with the first record asked for.
    """

    def __init__(
        self,
        reader: Callable[[Wanted, int | str], Awaitable[Reader]],
        wanted: Wanted,
        start: Start,
        *,
        follow: bool,
    ) -> None:
        """`reader` makes an unopened one. follow: whether to go on when what was there is read."""
        self._make, self._wanted, self._start, self._follow = reader, wanted, _start(start), follow
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
        """End it; what asks for a further record finds none."""
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
        return cast("R", queries.read_record(self.wire))

    def _miss(self) -> None:
        if self._wanted.id is not None and not self.sequence:
            raise EntityUnknown(kind=self._wanted.kind, id=self._wanted.id)


def _start(start: Start) -> int | str:
    if isinstance(start, datetime):
        return start.astimezone().isoformat()
    if isinstance(start, str) and start not in ("now", "start"):
        try:
            check_time(start)
        except Invalid as error:
            known = "now, start, a place in the log, an RFC 3339 time with its offset"
            raise WordUnknown(what="start", word=start, known=known) from error
        return start
    named: dict[Any, int | str] = {"now": "new", "start": "first"}
    return named.get(start, start)
