"""The client's half that asks: states now and then, records as they come, explanations.

Belongs here: one method for each thing a reader does. Does not: how it is done (`queries`, `past`, `watching`, `inquiry`).
"""

from collections.abc import AsyncIterator, Sequence
from time import time_ns
from typing import Any, Literal, overload

from phaseline.engine import counting, inquiry, naming, observation, past, placed, queries, statusing
from phaseline.engine.changes import Change, Changes
from phaseline.engine.errors import EntityUnknown, IdUnfit, TreeUnknown
from phaseline.engine.explanation import Explanation
from phaseline.engine.observation import Judged
from phaseline.engine.past import LATEST, Moment
from phaseline.engine.queries import Logged
from phaseline.engine.reader import Reader
from phaseline.engine.session import Session
from phaseline.engine.status.selection import Selection
from phaseline.engine.timeline import Timeline, timeline
from phaseline.engine.watching import Start, Wanted, Watch
from phaseline.schemas.records import Entity, Rejection, Transition


class Asking(Session):
    """What a reader does."""

    async def get(self, kind: str, entity_id: str, *, at: Moment | None = None) -> Entity:
        """An entity as it stands, or as it was at a moment (a place in the log, or a time); raises `EntityUnknown`.

        As all states now, it may be milliseconds behind the log.
        """
        return (await self.last(kind, entity_id, at=at)).entity

    async def last(self, kind: str, entity_id: str, *, at: Moment | None = None) -> Transition:
        """The last transition of an entity, until a moment: what it is, why, and since when; raises `EntityUnknown`."""
        queries.check_name(self.kinds, kind, entity_id)
        layout, place = await self.layout(), await self._place(at)
        if place is not None:
            return await past.last(self._wire, layout, kind, entity_id, place)
        return await queries.last(self._wire, layout, kind, entity_id)

    async def list(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None, deleted: bool = False,
        at: Moment | None = None,
    ) -> AsyncIterator[Entity]:  # fmt: skip
        """Entities as they stand, or stood, ids in natural order.

        tree: this id and what is under it. deleted: gone ones too. at: a place in the log, or a time.
        """
        Wanted(kind=kind, state=state, below=tree).check(self.kinds)
        layout, place = await self.layout(), await self._place(at)
        if place is None:
            found = await queries.states(self._wire, layout, self.kinds, kind, tree, state, deleted=deleted)
        else:
            found = await past.states(self._wire, layout, self.kinds, kind, tree, state, deleted=deleted, place=place)
        for record in found:
            yield record.entity

    async def tree(self, root: str, *, deleted: bool = False, at: Moment | None = None) -> Sequence[Entity]:
        """`root` and all that is under it, now or at a moment, ids in natural order; raises `TreeUnknown`."""
        queries.check_tree(root)
        layout, place = await self.layout(), await self._place(at)
        if place is None:
            found = await queries.tree(self._wire, layout, self.kinds, root, deleted=deleted)
        else:
            found = await past.tree(self._wire, layout, self.kinds, root, deleted=deleted, place=place)
        return [record.entity for record in found]

    @overload
    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        start: Start = "now", rejections: Literal[False] = False, follow: bool = True,
    ) -> Watch[Transition]: ...  # fmt: skip

    @overload
    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        start: Start = "now", rejections: bool, follow: bool = True,
    ) -> Watch[Transition | Rejection]: ...  # fmt: skip

    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        start: Start = "now", rejections: bool = False, follow: bool = True,
    ) -> Watch[Any]:  # fmt: skip
        """Transitions into `state` (and `rejections`), from `start` on, each once and in the log's order.

        start: "now", "start", a place in the log, or a time. follow: go on when all that is there has come.
        """
        wanted = Wanted(kind=kind, facet=facet, state=state, below=tree, rejections=rejections)
        return self._watch(wanted, start, follow=follow)

    def history(self, kind: str, entity_id: str, *, follow: bool = False) -> Watch[Transition]:
        """All transitions of one entity; raises `EntityUnknown` where there is none."""
        return self._watch(Wanted(kind=kind, id=entity_id), "start", follow=follow)

    def rejections(
        self, kind: str | None = None, *, tree: str | None = None, reason: str | None = None,
        start: Start = "start", follow: bool = False,
    ) -> Watch[Rejection]:  # fmt: skip
        """What was refused, in order; `watch.sequence` is what `resend` takes."""
        wanted = Wanted(kind=kind, below=tree, reason=reason, transitions=False, rejections=True)
        return self._watch(wanted, start, follow=follow)

    async def record(self, sequence: int) -> Logged:
        """The record that stands at `sequence` in the log; raises `RecordGone`."""
        return await queries.record_at(self._wire, await self.layout(), sequence)

    async def event(self, sequence: int) -> bytes | None:
        """The body of an event as it was stored, by its sequence; None where it is no longer kept."""
        found = await queries.event_at(self._wire, await self.layout(), sequence)
        return None if found is None else found.body

    def _watch(self, wanted: Wanted, start: Start, *, follow: bool) -> Watch[Any]:
        wanted.check(self.kinds)
        watch: Watch[Any] = Watch(self._reader, wanted, start, follow=follow)
        self._watches = [*(other for other in self._watches if not other.over), watch]
        return watch

    async def _reader(self, wanted: Wanted, start: int | str) -> Reader:
        layout = await self.layout()
        return Reader(self._wire, layout.log, wanted.filters(layout, self.kinds), start)

    async def kind_of(self, entity_id: str, kind: str | None = None, *, at: Moment | None = None) -> str:
        """The kind of the only entity of that id, or `kind` if it is there; raises `NameUnknown`, `KindUnsaid` and others."""
        layout = await self.layout()
        place = await self._place(at)
        return await naming.find(self._wire, layout, self.kinds, entity_id, kind, place)

    async def why(self, kind: str, entity_id: str, *, at: Moment | None = None) -> Explanation:
        """Why an entity is as it is, or was at a place in the log or a time: back to the events from outside.

        Raises `EntityUnknown`.
        """
        queries.check_name(self.kinds, kind, entity_id)
        layout = await self.layout()
        place = await self._place(at)
        return await inquiry.explain(self._wire, layout, self.kinds, kind, entity_id, place)

    async def status(self, resource_id: str, /, *, at: Moment | None = None, **query: Any) -> dict[str, Any]:
        """What became of an EMCO resource: `output`, `type`, `app`, `cluster`, `resource`, `instance`, `shape` and so on.

        Answered by the worker that owns its tree, in one round trip; from the streams where none does, where the answer
        is too large for a message, and for a moment (`at`). Raises `EntityUnknown`, `BadStatusQuery`.
        """
        return await statusing.status(
            self._wire, await self.layout(), self.kinds, resource_id, query, await self._place(at)
        )

    async def counts(self, entity_id: str, *, at: Moment | None = None) -> dict[str, Any]:
        """Fleet's counts of a repository, a bundle or a deployment, now or then.

        Raises `TreeUnknown`, `EntityUnknown`, `IdUnfit`.
        """
        place = entity_id.count("/")
        if place >= len(counting.KINDS):
            raise IdUnfit(problem=f"{entity_id!r} is longer than <repo>/<bundle>/<cluster>")
        kind = counting.KINDS[place]
        queries.check_name(self.kinds, kind, entity_id)
        found = [one for one in await self.tree(entity_id, at=at) if one.kind in counting.COUNTED]
        top = next((one for one in found if (one.kind, one.id) == (kind, entity_id)), None)
        if top is None:
            raise EntityUnknown(kind=kind, id=entity_id)
        return counting.counts(top, found)

    async def cluster_counts(self, cluster: str, *, at: Moment | None = None) -> dict[str, Any]:
        """Fleet's counts of one cluster, out of all repositories, now or then; raises `NameUnknown`, `IdUnfit`."""
        queries.check_tree(cluster)
        layout, place = await self.layout(), await self._place(at)
        found = await placed.on_cluster(self._wire, layout, cluster, place)
        return counting.cluster_counts(cluster, found)

    async def diff(self, resource_id: str) -> Judged:
        """The last observation of a Kubernetes object, and what it says by its application's settings as they are now.

        Raises `NotObserved`, `IdUnfit`.
        """
        return await observation.judged(self._wire, await self.layout(), self.kinds, resource_id)

    async def selected(self, resource_id: str, /, *, at: Moment | None = None, **query: Any) -> Selection:
        """What a status is made of, read from the streams: entities, counts, resources with why they failed."""
        return await statusing.selected(
            self._wire, await self.layout(), self.kinds, resource_id, query, await self._place(at)
        )

    async def timeline(
        self, entity_id: str, *, kind: str | None = None, start: Moment | None = None, end: Moment | None = None,
        depth: int | None = None,
    ) -> Timeline:  # fmt: skip
        """The states of `entity_id` and what is under it (`depth` levels) between two moments; raises `TreeUnknown`."""
        Wanted(kind=kind, below=entity_id).check(self.kinds)
        layout, after = await self.layout(), 0 if start is None else await self.place(start)
        up_to = await self.place(LATEST if end is None else end)
        before = await past.states(self._wire, layout, self.kinds, kind, entity_id, None, deleted=True, place=after)
        found = [
            logged.record
            for subject in past.filters(layout, self.kinds, kind, entity_id)
            async for logged in past.records(self._wire, layout, subject, after, up_to)
            if isinstance(logged.record, Transition)
        ]
        if not before and not found:
            raise TreeUnknown(root=entity_id)
        first = min(record.time for record in (*before, *found)) if start is None else await self._time(start)
        last = time_ns() if end is None else await self._time(end)
        return timeline(before, found, first, max(first, last), depth)

    async def changes(
        self, start: Moment, end: Moment | None = None, *, tree: str | None = None, kind: str | None = None
    ) -> Sequence[Change]:
        """How entities differ between two moments (`end` None: now), and what happened to them in between."""
        Wanted(kind=kind, below=tree).check(self.kinds)
        layout, after = await self.layout(), await self.place(start)
        up_to = await self.place(LATEST if end is None else end)
        found = Changes()
        for subject in past.filters(layout, self.kinds, kind, tree):
            async for logged in past.records(self._wire, layout, subject, after, up_to):
                found.take(logged.record)
        return found.sorted()
