"""The entities at one moment: the view that `ReadingClient.at` gives.

Belongs here: one method for each read that is about one moment. Does not: the reads themselves (`engine.log`,
`log.explain`), ranges of time and records to come (`client`), reads of one product
(`product_views`).
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from time import time_ns
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from phaseline.engine.log import latest
from phaseline.engine.log.explain.model import Contradiction, Explanation, GivenReason
from phaseline.engine.log.explain.shut import ShutBy, Shutters
from phaseline.engine.log.explain.staleness import Stale, Staleness
from phaseline.engine.log.explain.unknown_parts import PartsOf, PartsReader
from phaseline.engine.log.state_view import StateView
from phaseline.engine.log.when import Moment
from phaseline.engine.surfaces.client import product_views
from phaseline.engine.surfaces.overview.overview import Overview, OverviewMaker
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import OK, PROGRESSING
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Entity, Transition, own_facets, utc

if TYPE_CHECKING:
    from phaseline.engine.log.questions.asking import WorkersView
    from phaseline.engine.log.questions.selection import Selection
    from phaseline.engine.products.emco.views import EmcoView
    from phaseline.engine.products.fleet.views import FleetView

M_co = TypeVar("M_co", bound=Moment | None, covariant=True)


class EntityView(Generic[M_co]):
    """The entities at one moment: all reads of a view show the same moment. `client.at` makes it.

    The view of the latest states has no moment. Each read shows the newest copied state, a few milliseconds old.
    """

    def __init__(self, states: StateView, moment: M_co) -> None:
        """Read from these states, which show `moment`."""
        self._states, self._moment = states, moment

    @property
    def moment(self) -> M_co:
        """The moment of the view: a place in the log, and its time. None: the latest states."""
        return self._moment

    @property
    def now_ns(self) -> int:
        """The time that the view shows, ns: durations end there."""
        return time_ns() if self._moment is None else self._moment.time_ns

    @property
    def now(self) -> datetime:
        """The time that the view shows."""
        return utc(self.now_ns)

    @property
    def kinds(self) -> Kinds:
        """The tables of the kinds."""
        return self._states.installation.kinds

    if TYPE_CHECKING:  # of each product a name, which is looked up when it is asked for
        emco: EmcoView
        fleet: FleetView
    else:

        def __getattr__(self, name: str) -> Any:
            """The reads of a product."""
            return product_views.of_view(self, name)

    def __dir__(self) -> Iterable[str]:
        """The names of methods, and of the reads of products."""
        return [*super().__dir__(), *product_views.names(self.kinds, of_moments=True)]

    async def get(self, kind: str, entity_id: str) -> Entity:
        """One entity; raises `EntityUnknown`."""
        return (await self.last(kind, entity_id)).entity

    async def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity: its state, the reason, and the time. Raises `EntityUnknown`."""
        latest.check_name(self.kinds, kind, entity_id)
        return await self._states.last(kind, entity_id)

    async def list(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None,
        condition: str | Sequence[str] = (), class_: str | Sequence[str] = (), lasting: float = 0,
        deleted: bool = False,
    ) -> AsyncIterator[Entity]:  # fmt: skip
        """The entities that fit, ids in natural order.

        tree: this id and those below it. state: a phase, or `{Failed,[Balance,*]}`. condition: one that stands, or
        several that stand together. class_: `bad`, or several of the classes; with one, what is left behind counts.
        lasting: seconds for which they have been in their class at least, whatever states they had in it. deleted:
        deleted ones too. Raises `InvalidInput.no_state`, `NameUnknown`.
        """
        from phaseline.engine.log.questions import listing  # noqa: PLC0415  # not all commands select

        wanted = listing.selection(
            self.kinds, kind, tree=tree, state=state, condition=condition, class_=class_, lasting=lasting,
            deleted=deleted,
        )  # fmt: skip
        async for records in listing.each_selected(self._states, wanted, self.now_ns, in_order=True):
            for record in records:
                yield record.entity

    async def last_of(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None,
        condition: str | Sequence[str] = (), class_: str | Sequence[str] = (), lasting: float = 0,
        deleted: bool = False,
    ) -> Sequence[Transition]:  # fmt: skip
        """The last transition of each entity that `list` gives, in the same order: it tells the reason too."""
        from phaseline.engine.log.questions import listing  # noqa: PLC0415  # not all commands select

        wanted = listing.selection(
            self.kinds, kind, tree=tree, state=state, condition=condition, class_=class_, lasting=lasting,
            deleted=deleted,
        )  # fmt: skip
        return await listing.selected(self._states, wanted, self.now_ns)

    async def unsorted(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None,
        condition: str | Sequence[str] = (), class_: str | Sequence[str] = (), lasting: float = 0,
        deleted: bool = False,
    ) -> AsyncIterator[Transition]:  # fmt: skip
        """What `last_of` gives, in no order: of the latest states each as soon as it is read."""
        from phaseline.engine.log.questions import listing  # noqa: PLC0415  # not all commands select

        wanted = listing.selection(
            self.kinds, kind, tree=tree, state=state, condition=condition, class_=class_, lasting=lasting,
            deleted=deleted,
        )  # fmt: skip
        async for records in listing.each_selected(self._states, wanted, self.now_ns):
            for record in records:
                yield record

    @property
    def unanswered(self) -> frozenset[int]:
        """The partitions that were read from STATE because no worker answered for them. Nothing is missing."""
        return frozenset() if (asked := self._asked) is None else frozenset(asked.unanswered)

    @property
    def _asked(self) -> "WorkersView | None":
        """The latest states, which workers are asked about; None for those of a moment, and of who asks nobody."""
        from phaseline.engine.log.questions.asking import WorkersView  # noqa: PLC0415  # not all commands read states

        return self._states if isinstance(self._states, WorkersView) else None

    async def tree(self, root: str, *, deleted: bool = False) -> Sequence[Entity]:
        """`root` and all entities below it, ids in natural order; raises `TreeUnknown`."""
        return [record.entity for record in await self.last_of_tree(root, deleted=deleted)]

    async def last_of_tree(self, root: str, *, deleted: bool = False) -> Sequence[Transition]:
        """The last transition of each entity that `tree` gives, in the same order; raises `TreeUnknown`."""
        latest.check_tree(root)
        return await self._states.tree(root, deleted=deleted)

    async def overview(self, *, tree: str | None = None) -> Overview:
        """What is bad and because of what, the longest first; and what else calls for somebody (docs/overview.md).

        tree: only this id and those below it. Raises `InvalidInput`.
        """
        from phaseline.engine.log.questions.selection import Selection  # noqa: PLC0415  # not all commands select

        maker, asked = OverviewMaker(self.kinds, self.now_ns), self._asked
        looked: Selection | None = None
        if asked is None or (tree is not None and "/" in tree):  # workers count whole trees
            async for record in self.unsorted(tree=tree, deleted=True):
                maker.take(record)
            looked = Selection(below=tree)
        else:
            troubled = Selection(below=tree, troubled=True)
            found = await asked.find(troubled, self.now_ns, counts=True)
            for counts in found.counts:
                maker.add(counts)
            async for records in asked.named(found.names, troubled, self.now_ns):
                for record in records:
                    maker.notice(record)
            async for records in asked.rest(found):
                for record in records:
                    maker.take(record)
        await self._look_beside(maker, looked)
        return maker.made()

    async def _look_beside(self, maker: OverviewMaker, looked: "Selection | None") -> None:
        """Look at what may explain the bad ones, and at what may explain that. looked: at what was looked before."""
        known = set[tuple[str, str]]()
        while lacking := maker.lacking() - known:
            known |= lacking
            names = sorted(name for name in lacking if looked is None or not looked.is_at_or_below(name[1]))
            for record in await self._last_of(names):
                maker.consider(record)

    async def _last_of(self, names: Sequence[tuple[str, str]]) -> Sequence[Transition]:
        """The last transitions of those of these entities that there are."""
        if (asked := self._asked) is not None:
            return await asked.last_of(names)
        found = list[Transition]()
        for name in names:
            with suppress(EntityUnknown):
                found.append(await self._states.last(*name))
        return found

    async def next_place(self) -> int:
        """Where a watch must start to go on from this view without a gap. Ask for it before you read.

        Of the latest states it can return records that the reads have seen: leave out those whose version is not newer.
        """
        moment = self._states.moment
        return 1 + (await latest.copied(self._states.installation) if moment is None else moment.place)

    async def stale_since(self, entities: Sequence[Entity]) -> Mapping[tuple[str, str], datetime]:
        """By kind and id, the entities whose states are stale, and since when: something at or above fell silent."""
        return {key: stale.since for key, stale in (await self.stale(entities)).items()}

    async def stale(self, entities: Sequence[Entity]) -> Mapping[tuple[str, str], Stale]:
        """By kind and id, the entities whose states are stale: by what, since when, and when each was recorded last."""
        return await Staleness(self._states).of(entities)

    async def unknown_parts(self, entities: Sequence[Entity]) -> PartsOf:
        """By kind and id, and by facet, of how many parts of these wholes nothing is known (`3 of 11 not assessed`)."""
        return await PartsReader(self._states).of(entities)

    async def shut(self, entities: Sequence[Entity]) -> ShutBy:
        """By kind and id, and by facet, what shuts these entities to new work (`the cluster is Stopped [Balance]`)."""
        return await Shutters(self._states).of(entities)

    async def kind_of(self, entity_id: str, kind: str | None = None) -> str:
        """The kind of the only entity with that id, or `kind` if it exists.

        Raises `EntityUnknown`, `AmbiguousId`, `InvalidInput.invalid_id`.
        """
        return await latest.find_kind(self._states, entity_id, kind)

    async def said(self, entity: Entity) -> tuple[GivenReason, ...]:
        """What was said of the conditions that an entity stands in: the reason of each, by whom, how often."""
        given = entity.memory is not None and entity.memory.reasons
        if not given and all({*one.base.conditions} <= {OK, PROGRESSING} for one in own_facets(entity)):
            return ()
        from phaseline.engine.log.explain import said  # noqa: PLC0415  # most entities are well

        found = await said.said_of(self._states, entity, await self._states.history(entity.kind, entity.id))
        return tuple(one for facet in found.said.values() for one in facet)

    async def refused(self, last: Transition) -> tuple[Contradiction, ...]:
        """What was said of an entity since its last record and was refused, unless a later word has replaced it.

        Nothing as of a moment of the past.
        """
        from phaseline.engine.log.explain import refused  # noqa: PLC0415  # lists do not ask

        return await refused.refused_of(self._states, last)

    async def why(self, kind: str, entity_id: str) -> Explanation:
        """Why an entity is in its state: back to the events from outside. Raises `EntityUnknown`."""
        latest.check_name(self.kinds, kind, entity_id)
        from phaseline.engine.log.explain import fetch  # noqa: PLC0415  # few ask why

        return await fetch.explain(self._states, kind, entity_id)


def states_of(view: EntityView[Any]) -> StateView:
    """The states that a view reads, for the reads of products."""
    return view._states  # noqa: SLF001  # users of a view need none of its parts
