"""The half of a client that reads: states at a moment, records of the log, ranges of time.

Belongs here: one method for each task of a reader. Does not: publishing and following under a name (`client`), the work
behind a method (`entity_view`, `ranges`, `product_views`, `engine.log`, `log.explain`).
Commands that only read open this one: it loads nothing of what publishing needs.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from phaseline.engine.log import latest, log_records
from phaseline.engine.log.changes import Change
from phaseline.engine.log.explain.model import Explanation
from phaseline.engine.log.log import Log
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.timeline import Timeline
from phaseline.engine.log.watch import SERVER, Clock, RecordFilter, Watch, chosen
from phaseline.engine.log.when import NOW, START, Moment, When
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client import product_views
from phaseline.engine.surfaces.client.entity_view import EntityView
from phaseline.engine.surfaces.client.rejection_counts import RejectionCount, RejectionCounts
from phaseline.engine.surfaces.client.session import Session
from phaseline.engine.surfaces.overview.dwell_watch import DwellWatch
from phaseline.engine.surfaces.overview.overview import Overview
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.product import BrokenKind
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import Entity, Rejection, Transition

if TYPE_CHECKING:
    from phaseline.engine.products.emco.views import Emco
    from phaseline.engine.products.fleet.views import Fleet
    from phaseline.engine.products.gitops.views import Gitops
    from phaseline.engine.products.levels.views import Levels


class ReadingClient:
    """One connection to one installation, to read from it. `Client` adds publishing."""

    def __init__(self, session: Session) -> None:
        """Use an open session; `connecting.connect` and `Client.open` make one."""
        self._session = session

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Disconnect. A second call does nothing."""
        await self._session.close()

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings, *, source: str | None = None, kinds: Kinds | None = None
    ) -> AsyncIterator[Self]:
        """Connect by complete settings, as `connecting.connect` does."""
        async with cls(await Session.start(settings, source, kinds)) as client:
            yield client

    @property
    def kinds(self) -> Kinds:
        """The tables of the kinds."""
        return self._session.kinds

    @property
    def broken_kinds(self) -> Sequence[BrokenKind]:
        """The kinds of installed packages that cannot be used and are left out, each with the reason."""
        return self.kinds.broken

    @property
    def default_source(self) -> str:
        """The source of events for which the publisher gives no other."""
        return self._session.source

    if TYPE_CHECKING:  # of each product a name, which is looked up when it is asked for
        emco: Emco
        fleet: Fleet
        gitops: Gitops
        levels: Levels
    else:

        def __getattr__(self, name: str) -> Any:
            """The reads of a product."""
            return product_views.of_client(self, name)

    def __dir__(self) -> Iterable[str]:
        """The names of methods, and of the reads of products."""
        return [*super().__dir__(), *product_views.names(self.kinds)]

    async def log_identity(self) -> int:
        """Which log this is: a whole number, that is greater each time the log was put back from a backup.

        Keep it beside whatever counts in this log: a `place`, or a `seen` (`data.log`). As the `epoch` of events that
        are made of this log it keeps those of a log that was put back from being taken for repeats. 0 before a worker
        has made it. Raises `NotPermitted`.
        """
        from phaseline.engine.log.restored.identity import log_identity  # noqa: PLC0415  # few ask

        return await log_identity(await self._session.installation())

    async def ask(self, kind: str, entity_id: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the service of a product says about an entity (docs/own-kinds.md, Services).

        Raises `EntityUnknown`, `InvalidInput`; `InvalidInput` if the service does not take `data`; `NoAnswer` if no
        worker answers such questions; `ServiceRefused`.
        """
        from phaseline.engine.log.questions.asking import ask_owner  # noqa: PLC0415  # few ask

        latest.check_name(self.kinds, kind, entity_id)
        return await ask_owner(await self._session.installation(), kind, entity_id, data or {})

    # States at a moment

    async def moment(self, when: When) -> Moment:
        """The moment that `when` names: its place in the log and its time. Pass it on to read the same moment again.

        Raises `NameUnknown`.
        """
        return await self._session.moment(when)

    @overload
    async def at(self, when: When) -> EntityView[Moment]: ...

    @overload
    async def at(self, when: None = None) -> EntityView[None]: ...

    @overload
    async def at(self, when: When | None) -> EntityView[Moment | None]: ...

    async def at(self, when: When | None = None) -> EntityView[Moment | None]:
        """The entities at a moment; without one the latest states. The moment is resolved here, once.

        Raises `NameUnknown`.
        """
        states = await self._session.states(when)
        return EntityView(states, states.moment)

    async def get(self, kind: str, entity_id: str, *, at: When | None = None) -> Entity:
        """One entity; raises `EntityUnknown`. Without `at` it may be milliseconds behind the log."""
        return await (await self.at(at)).get(kind, entity_id)

    async def last(self, kind: str, entity_id: str, *, at: When | None = None) -> Transition:
        """The last transition of an entity: its state, the reason, and the time. Raises `EntityUnknown`."""
        return await (await self.at(at)).last(kind, entity_id)

    async def list(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None,
        condition: str | Sequence[str] = (), class_: str | Sequence[str] = (), lasting: float = 0,
        deleted: bool = False, at: When | None = None,
    ) -> AsyncIterator[Entity]:  # fmt: skip
        """The entities that fit, ids in natural order. Each word is as in `EntityView.list`."""
        view = await self.at(at)
        async for entity in view.list(
            kind, tree=tree, state=state, condition=condition, class_=class_, lasting=lasting, deleted=deleted
        ):
            yield entity

    async def tree(self, root: str, *, deleted: bool = False, at: When | None = None) -> Sequence[Entity]:
        """`root` and all entities below it, ids in natural order; raises `TreeUnknown`."""
        return await (await self.at(at)).tree(root, deleted=deleted)

    async def overview(self, *, tree: str | None = None, at: When | None = None) -> Overview:
        """What is bad and because of what, the longest first, and what else calls for somebody (docs/overview.md)."""
        return await (await self.at(at)).overview(tree=tree)

    async def stale_since(
        self, entities: Sequence[Entity], *, at: When | None = None
    ) -> Mapping[tuple[str, str], datetime]:
        """Those of these entities whose states are stale, by kind and id, and since when (`EntityView.stale_since`)."""
        return await (await self.at(at)).stale_since(entities)

    async def kind_of(self, entity_id: str, kind: str | None = None, *, at: When | None = None) -> str:
        """The kind of the only entity with that id, or `kind` if it exists.

        Raises `EntityUnknown`, `AmbiguousId`, `InvalidInput.invalid_id`.
        """
        return await (await self.at(at)).kind_of(entity_id, kind)

    async def why(self, kind: str, entity_id: str, *, at: When | None = None) -> Explanation:
        """Why an entity is in its state: back to the events from outside. Raises `EntityUnknown`."""
        return await (await self.at(at)).why(kind, entity_id)

    # Records of the log

    @overload
    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        condition: str | Sequence[str] = (), start: When = NOW, rejections: Literal[False] = False, follow: bool = True,
    ) -> Watch[Transition]: ...  # fmt: skip

    @overload
    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        condition: str | Sequence[str] = (), start: When = NOW, rejections: bool, follow: bool = True,
    ) -> Watch[Transition | Rejection]: ...  # fmt: skip

    @overload
    def watch(
        self, kind: str | None = None, *, class_: str | Sequence[str], lasting: float = 0, state: str | None = None,
        tree: str | None = None, condition: str | Sequence[str] = (), start: When = NOW, follow: bool = True,
    ) -> DwellWatch: ...  # fmt: skip

    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        condition: str | Sequence[str] = (), class_: str | Sequence[str] = (), lasting: float = 0, start: When = NOW,
        rejections: bool = False, follow: bool = True,
    ) -> Watch[Any] | DwellWatch:  # fmt: skip
        """Transitions into `state` (and `rejections`) from `start` on, each once and in the log's order.

        state: a phase, or `{Failed,[Balance,*]}`. condition: one that stands then, or several that stand together.
        tree: this id and those below it. start: a place or a time, included; after a `Moment`, so that a watch
        continues a view without a gap. follow: go on after the last record that is there. Raises `InvalidInput`.

        With `class_`, `bad` or several of the classes, it gives a `Dwell` for each entity that has been in the class
        for `lasting` seconds, whatever states it had in it, and another one when that is over. What is so at the start
        counts as well; what ends before is not given.
        """
        if class_ or lasting:
            if facet is not None or rejections:
                raise InvalidInput.bad_parameter(name="class_", problem="is of whole entities: no facet, no rejections")
            from phaseline.engine.log.questions.selection import ClassChoice  # noqa: PLC0415  # the same
            from phaseline.engine.surfaces.client import dwelling  # noqa: PLC0415  # few watch by class

            of_class = ClassChoice.read(class_, lasting)
            wanted = dwelling.WantedClass(of_class, kind, tree, state, condition)
            return dwelling.watched(self, wanted, start, follow=follow)
        choice = chosen(self.kinds, kind, state, condition)
        records = RecordFilter(
            kind=kind, facet=facet, state=choice.phase, below=tree, rejections=rejections,
            choice=choice if choice.looks_at_conditions else None,
        )  # fmt: skip
        return self._session.watch(records, start, follow=follow)

    def history(self, kind: str, entity_id: str, *, follow: bool = False, clock: Clock = SERVER) -> Watch[Transition]:
        """All transitions of one entity, oldest first. clock: `event` orders them by the publishers' times.

        follow: go on after the last one that is there. Raises `EntityUnknown` when the first one is asked for.
        """
        return self._session.watch(RecordFilter(kind=kind, id=entity_id), START, follow=follow, clock=clock)

    def rejections(
        self, kind: str | None = None, *, tree: str | None = None, reason: str | None = None,
        start: When = START, follow: bool = False,
    ) -> Watch[Rejection]:  # fmt: skip
        """The rejections from `start` on, in the log's order; `watch.sequence` is what `resend` takes.

        tree: this id and those below it. reason: such as `guard`. follow: go on after the last one that is there.
        """
        wanted = RecordFilter(kind=kind, below=tree, reason=reason, transitions=False, rejections=True)
        return self._session.watch(wanted, start, follow=follow)

    async def rejection_counts(
        self, kind: str | None = None, *, tree: str | None = None, reason: str | None = None, start: When = START,
    ) -> Sequence[RejectionCount]:  # fmt: skip
        """How many rejections there are from `start` on, by reason, kind and source, the most frequent first."""
        found = RejectionCounts()
        async with self.rejections(kind, tree=tree, reason=reason, start=start) as watch:
            async for record in watch:
                found.take(watch.sequence, record)
        return found.sorted()

    async def record(self, sequence: int) -> Logged:
        """The record at the place `sequence` of the log; raises `NotFound.record_not_found`, `NotFound.no_record`."""
        return await log_records.record_at(await self._session.installation(), sequence)

    async def way_out(self, sequence: int) -> str:
        """What could be done about the rejection at the place `sequence` of the log, as things stood there.

        Empty if nothing is known. It offers requests, and a report of the state that somebody sees. Raises
        `NotFound.record_not_found`.
        """
        from phaseline.engine.log.explain import fetch  # noqa: PLC0415  # as `why`

        return await fetch.way_out_of(await self._session.installation(), await self.record(sequence))

    async def event(self, sequence: int) -> bytes | None:
        """The body of a stored event, by its sequence in EVENTS; None if the stream no longer keeps it."""
        found = await Log(await self._session.installation()).event(sequence)
        return None if found is None else found.body

    # Ranges of time

    async def timeline(
        self, entity_id: str, *, kind: str | None = None, start: When | None = None, end: When | None = None,
        depth: int | None = None, clock: Clock = SERVER,
    ) -> Timeline:  # fmt: skip
        """The states of an entity and of those below it from `start` to `end`, a lane for each facet.

        start: None for the first state. end: None for now. depth: how many levels below; None for all. clock: `event`
        for the publishers' times; without `end` it ends with the last of them. Raises `TreeUnknown`, `InvalidInput`,
        `InvalidInput.start_after_end`, `InvalidInput.wrong_clock`.
        """
        from phaseline.engine.surfaces.client import ranges  # noqa: PLC0415  # few ask for ranges

        return await ranges.timeline_between(self._session, entity_id, kind, start, end, depth, clock)

    async def changes(
        self, start: When, end: When | None = None, *, tree: str | None = None, kind: str | None = None
    ) -> Sequence[Change]:
        """How entities differ between `start` and `end` (None: now), and how they changed; ids in natural order.

        tree: this id and those below it. Raises `InvalidInput.start_after_end`.
        """
        from phaseline.engine.surfaces.client import ranges  # noqa: PLC0415  # few ask for ranges

        return await ranges.changes_between(self._session, kind, tree, start, end)


def session_of(client: ReadingClient) -> Session:
    """The session that a client reads in, for the reads of other modules."""
    return client._session  # noqa: SLF001  # users of a client need none of its parts
