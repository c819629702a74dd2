"""Several installations read as one: the reading half of a client, over all of them.

Belongs here: `Cells`, which asks every cell, and what becomes of one that does not answer. Does not: following all of
them (`merging`), reading one installation (`surfaces.client`).
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal, Self, TypeVar, overload

from phaseline.engine.log.changes import Change
from phaseline.engine.log.when import NOW, When
from phaseline.engine.surfaces.cells import places
from phaseline.engine.surfaces.cells.merging import CellsWatch, Merged
from phaseline.engine.surfaces.cells.places import Places
from phaseline.engine.surfaces.cells.reading import (
    AwayListener,
    CellRecord,
    InCell,
    Make,
    Reading,
    is_of_the_request,
)
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.connecting import Connecting
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.schemas.errors import (
    AmbiguousId,
    BadSetting,
    EntityUnknown,
    NameUnknown,
    NoAnswer,
    PhaselineError,
)
from phaseline.schemas.records import Entity, Rejection, Transition
from phaseline.schemas.subjects import natural

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
T = TypeVar("T")


class Cells:
    """Several installations (cells), read as one. Each answer comes with the name of its cell.

    cells: a connection by name: `phaseline.Cells({"east": phaseline.connect(URL), "west": phaseline.connect(URL2)})`.
    Use it in a block, or `await` its `open` and `close` it.

    A tree belongs to one cell. If two cells have a tree of the same name, both are given, each with its cell. Places
    belong to one log, so a moment of all cells is a time.

    A cell that cannot be read is left out of an answer: `away` says why. The next call tries it again, and a watch
    waits for it. If no cell can be read, a call raises `NoAnswer.cells_away`.
    """

    def __init__(self, cells: Mapping[str, Connecting]) -> None:
        """Nothing is connected yet. Raises `BadSetting` for a name that is none."""
        for name in cells:
            check_name(name)
        if not cells:
            raise BadSetting(name="cell", problem="no cell is named")
        self._cells = dict(cells)
        self._clients: dict[str, Client] = {}
        self._opening = {name: asyncio.Lock() for name in cells}
        self._away: dict[str, PhaselineError] = {}

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> Self:
        """Connect to all cells at once; raises `NoAnswer.cells_away` if none can be reached."""

        async def nothing(_: Client) -> None:
            pass

        await self.each(nothing)
        return self

    async def close(self) -> None:
        """Disconnect. A second call does nothing."""
        clients, self._clients = self._clients, {}
        await asyncio.gather(*(client.close() for client in clients.values()))

    @property
    def names(self) -> Sequence[str]:
        """The names of all cells, in the order in which they were given."""
        return tuple(self._cells)

    @property
    def away(self) -> Mapping[str, PhaselineError]:
        """The cells that could not be read when they were last asked, each with the reason."""
        return dict(self._away)

    async def client(self, name: str) -> Client:
        """The client of one cell, for all that it alone can do. It is connected now if it was not.

        Raises `NameUnknown`, and what `phaseline.connect` raises.
        """
        if name not in self._cells:
            raise NameUnknown.among("cell", name, self._cells)
        async with self._opening[name]:
            if name not in self._clients:
                self._clients[name] = await self._cells[name]
            return self._clients[name]

    async def each(self, read: Callable[[Client], Coroutine[Any, Any, T]]) -> Sequence[InCell[T]]:
        """Ask all cells at once by a function of yours; the answers of those that can be read, in the cells' order.

        Raises `NoAnswer` if none can be, and the errors that say something about the request, such as `NameUnknown`.
        """
        found = await asyncio.gather(*(self._asked(name, read) for name in self._cells))
        for name, one in zip(self._cells, found, strict=True):
            self._away.pop(name, None)
            if isinstance(one, PhaselineError):
                if is_of_the_request(one):
                    raise one
                self._away[name] = one
        if len(self._away) == len(self._cells):
            raise self._none()
        return [one for one in found if isinstance(one, InCell)]

    def _none(self) -> NoAnswer:
        problems = "; ".join(f"{name}: {error}" for name, error in self._away.items())
        return NoAnswer.cells_away(problems=problems)

    async def _asked(self, name: str, read: Callable[[Client], Coroutine[Any, Any, T]]) -> InCell[T] | PhaselineError:
        """The answer of a cell, or its error."""
        try:
            client = await self.client(name)
            return InCell(name, await read(client))
        except PhaselineError as error:
            return error

    # Reading

    async def having(self, entity_id: str) -> Sequence[str]:
        """The names of the cells that have an entity with this id; of a tree usually one. Raises `InvalidInput`."""

        async def known(client: Client) -> bool:
            try:
                await client.kind_of(entity_id)
            except AmbiguousId:  # of several kinds
                return True
            except EntityUnknown:
                return False
            return True

        return [name for name, has in await self.each(known) if has]

    async def get(self, kind: str, entity_id: str, *, at: When | None = None) -> Sequence[InCell[Entity]]:
        """One entity, from the cell that has it; from several if several have it. Raises `EntityUnknown`.

        Where a cell is `away`, nothing is raised: the list is empty, because that cell may have it.
        """
        places.check_common(self.names, at)

        async def read(client: Client) -> Entity | EntityUnknown:
            try:
                return await client.get(kind, entity_id, at=at)
            except EntityUnknown as error:
                return error

        found = await self.each(read)
        known = [InCell(name, one) for name, one in found if isinstance(one, Entity)]
        unknown = [one for _, one in found if isinstance(one, EntityUnknown)]
        if not known and not self._away:
            raise unknown[0]
        return known

    async def list(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None,
        condition: str | Sequence[str] = (), deleted: bool = False, at: When | None = None,
    ) -> AsyncIterator[InCell[Entity]]:  # fmt: skip
        """The entities of all cells that fit, ids in natural order. Each word is as in `EntityView.list`."""
        places.check_common(self.names, at)

        async def read(client: Client) -> Sequence[Transition]:
            view = await client.at(at)
            return await view.last_of(kind, tree=tree, state=state, condition=condition, deleted=deleted)

        found = [InCell(cell, record.entity) for cell, records in await self.each(read) for record in records]
        for one in sorted(found, key=lambda one: (natural(one.value.id), one.value.kind)):
            yield one

    async def changes(
        self, start: When, end: When | None = None, *, tree: str | None = None, kind: str | None = None
    ) -> Sequence[InCell[Change]]:
        """How entities of all cells differ between two times, as `Client.changes` says it, ids in natural order."""
        for when in (start, end):
            places.check_common(self.names, when)
        answers = await self.each(lambda client: client.changes(start, end, tree=tree, kind=kind))
        found = [InCell(cell, change) for cell, changes in answers for change in changes]
        return sorted(found, key=lambda one: (natural(one.value.id), one.value.kind))

    @overload
    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        condition: str | Sequence[str] = (), start: When | Places = NOW, rejections: Literal[False] = False,
        follow: bool = True, told: AwayListener | None = None,
    ) -> CellsWatch[Transition]: ...  # fmt: skip

    @overload
    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        condition: str | Sequence[str] = (), start: When | Places = NOW, rejections: bool, follow: bool = True,
        told: AwayListener | None = None,
    ) -> CellsWatch[Transition | Rejection]: ...  # fmt: skip

    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        condition: str | Sequence[str] = (), start: When | Places = NOW, rejections: bool = False, follow: bool = True,
        told: AwayListener | None = None,
    ) -> CellsWatch[Any]:  # fmt: skip
        """The transitions (and `rejections`) of all cells from `start` on: of each cell once, and in its log's order.

        Between cells there is no order. start: a time for all, or by name of the cell a time or a place; the `places`
        of an earlier watch continue it. told: called with a cell's name and an error when the cell can no longer be
        read, and with None when it can be read again. The other words are as in `Client.watch`.
        """

        def begun(client: ReadingClient, first: When) -> Any:
            return client.watch(
                kind, facet=facet, state=state, tree=tree, condition=condition, start=first, rejections=rejections,
                follow=follow,
            )  # fmt: skip

        starts = places.for_each(self.names, start)
        return CellsWatch(
            self.names, self.client, begun, starts, late=self._away, follow=follow, told=self._teller(told)
        )

    def _teller(self, told: AwayListener | None) -> AwayListener:
        """Notes which cells are away, and tells of it."""

        def tell(name: str, error: PhaselineError | None) -> None:
            self._away.pop(name, None)
            if error is not None:
                self._away[name] = error
            if told is not None:
                told(name, error)

        return tell


def check_name(name: str) -> None:
    """Raise `BadSetting` unless a cell can have this name."""
    if not NAME.fullmatch(name):
        problem = f"{name[:80]!r} is no name of a cell: up to 64 letters, digits, `_`, `-` and dots"
        raise BadSetting(name="cell", problem=problem)


class ReadingCells(Reading):
    """Several cells, as a command reads them."""

    def __init__(self, cells: Cells) -> None:
        """Read these, which are open."""
        self._cells = cells
        self._watch: CellsWatch[Any] | None = None

    @property
    def away(self) -> Mapping[str, PhaselineError]:  # noqa: D102  # as `Reading` says, and so are all below
        return self._cells.away

    @property
    def names(self) -> Sequence[str]:  # noqa: D102
        return self._cells.names

    def in_order(self, found: list[T], key: Callable[[T], Any]) -> list[T]:  # noqa: D102
        return sorted(found, key=key)

    async def clients(self) -> Mapping[str, Client]:  # noqa: D102
        cells = self._cells
        return {name: await cells.client(name) for name in cells.names if name not in cells.away}

    async def each(self, read: Callable[[Client], Coroutine[Any, Any, T]]) -> Sequence[InCell[T]]:  # noqa: D102
        return await self._cells.each(read)

    async def follow(self, make: Make[T], told: AwayListener) -> AsyncIterator[InCell[T]]:  # noqa: D102
        async with Merged(self._cells.names, self._cells.client, make, follow=True, told=told) as values:
            async for one in values:
                yield one

    async def watch(  # noqa: D102
        self, kind: str | None, told: AwayListener, *, start: Any, **which: Any
    ) -> AsyncGenerator[list[CellRecord[Any]], None]:
        async with self._cells.watch(kind, start=start, told=told, **which) as watch:
            self._watch = watch
            async for one in watch:
                yield [one]

    @property
    def places(self) -> Places:  # noqa: D102
        return {} if self._watch is None else self._watch.places
