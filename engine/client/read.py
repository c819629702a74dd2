"""The half of the client that reads: states at a moment, records as they come, explanations.

Belongs here: one method for each thing that a reader does. Does not: the work itself (`entity_view`, `watching`, `changes`,
`timeline`).
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, overload

from phaseline.engine.client.entity_view import EntityView
from phaseline.engine.client.session import Session
from phaseline.engine.emco_status.select import Selection
from phaseline.engine.errors import TreeUnknown
from phaseline.engine.explain.model import Explanation
from phaseline.engine.jetstream.reader import Reader
from phaseline.engine.log import as_of, last_observation, latest, log_records
from phaseline.engine.log.as_of import AsOf
from phaseline.engine.log.changes import Change, Changes
from phaseline.engine.log.last_observation import Judged
from phaseline.engine.log.latest import Latest
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.timeline import Timeline, timeline
from phaseline.engine.log.watch import Wanted, Watch
from phaseline.engine.log.when import NOW, START, Moment, When
from phaseline.schemas.records import Entity, Rejection, Transition


class Asking(Session):
    """What a reader does. Each method with `at` is short for the same method of `await client.at(when)`."""

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
        installation = await self.installation()
        if when is None:
            return EntityView(Latest(installation), None)
        states = await AsOf.at(installation, when)
        return EntityView(states, states.moment)

    async def get(self, kind: str, entity_id: str, *, at: When | None = None) -> Entity:
        """One entity; raises `EntityUnknown`. Without `at` it may be milliseconds behind the log, as all latest states."""
        return await (await self.at(at)).get(kind, entity_id)

    async def last(self, kind: str, entity_id: str, *, at: When | None = None) -> Transition:
        """The last transition of an entity: its state, the reason, and the time. Raises `EntityUnknown`."""
        return await (await self.at(at)).last(kind, entity_id)

    async def list(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None, deleted: bool = False,
        at: When | None = None,
    ) -> AsyncIterator[Entity]:  # fmt: skip
        """The entities that fit, ids in natural order. tree: this id and what is under it. deleted: gone ones too."""
        async for entity in (await self.at(at)).list(kind, tree=tree, state=state, deleted=deleted):
            yield entity

    async def tree(self, root: str, *, deleted: bool = False, at: When | None = None) -> Sequence[Entity]:
        """`root` and all entities under it, ids in natural order; raises `TreeUnknown`."""
        return await (await self.at(at)).tree(root, deleted=deleted)

    async def kind_of(self, entity_id: str, kind: str | None = None, *, at: When | None = None) -> str:
        """The kind of the only entity with that id, or `kind` if it exists.

        Raises `EntityUnknown`, `AmbiguousId` or `InvalidId`.
        """
        return await (await self.at(at)).kind_of(entity_id, kind)

    async def why(self, kind: str, entity_id: str, *, at: When | None = None) -> Explanation:
        """Why an entity is in its state: back to the events from outside. Raises `EntityUnknown`."""
        return await (await self.at(at)).why(kind, entity_id)

    async def status(self, resource_id: str, /, *, at: When | None = None, **query: Any) -> dict[str, Any]:
        """The status of an EMCO resource. `query`: `output`, `type`, `app`, `cluster`, `resource`, `instance`, `shape` and so on.

        The worker that owns its tree answers, in one round trip. The streams answer where no worker does, where the answer
        is too large for a message, and with `at`. Raises `EntityUnknown`, `BadStatusQuery`, `ServiceRefused`.
        """
        return await (await self.at(at)).status(resource_id, **query)

    async def selected(self, resource_id: str, /, *, at: When | None = None, **query: Any) -> Selection:
        """What a status is made of: entities, counts, resources and why they failed. Raises as `status` does."""
        return await (await self.at(at)).selected(resource_id, **query)

    async def counts(self, entity_id: str, *, at: When | None = None) -> dict[str, Any]:
        """Fleet's counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidId`."""
        return await (await self.at(at)).counts(entity_id)

    async def cluster_counts(self, cluster: str, *, at: When | None = None) -> dict[str, Any]:
        """Fleet's counts of one cluster, across all repositories; raises `EntityUnknown`, `InvalidId`."""
        return await (await self.at(at)).cluster_counts(cluster)

    @overload
    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        start: When = NOW, rejections: Literal[False] = False, follow: bool = True,
    ) -> Watch[Transition]: ...  # fmt: skip

    @overload
    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        start: When = NOW, rejections: bool, follow: bool = True,
    ) -> Watch[Transition | Rejection]: ...  # fmt: skip

    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        start: When = NOW, rejections: bool = False, follow: bool = True,
    ) -> Watch[Any]:  # fmt: skip
        """Transitions into `state` (and `rejections`) from `start` on, each once and in the log's order.

        start: a place or a time, included; after a `Moment`, so that a watch continues a view without a gap. follow: go on
        after the last record that is there.
        """
        wanted = Wanted(kind=kind, facet=facet, state=state, below=tree, rejections=rejections)
        return self._watch(wanted, start, follow=follow)

    def history(self, kind: str, entity_id: str, *, follow: bool = False) -> Watch[Transition]:
        """All transitions of one entity; raises `EntityUnknown` where there is none."""
        return self._watch(Wanted(kind=kind, id=entity_id), START, follow=follow)

    def rejections(
        self, kind: str | None = None, *, tree: str | None = None, reason: str | None = None,
        start: When = START, follow: bool = False,
    ) -> Watch[Rejection]:  # fmt: skip
        """The rejections, in order; `watch.sequence` is what `resend` takes."""
        wanted = Wanted(kind=kind, below=tree, reason=reason, transitions=False, rejections=True)
        return self._watch(wanted, start, follow=follow)

    def _watch(self, wanted: Wanted, start: When, *, follow: bool) -> Watch[Any]:
        wanted.check(self.kinds)
        watch: Watch[Any] = Watch(self._reader, wanted, start, follow=follow)
        self._watches = [*(other for other in self._watches if not other.over), watch]
        return watch

    async def _reader(self, wanted: Wanted, start: int | str) -> Reader:
        installation = await self.installation()
        return Reader(installation.wire, installation.layout.log, wanted.filters(installation), start)

    async def record(self, sequence: int) -> Logged:
        """The record at `sequence` of the log; raises `RecordNotFound`."""
        return await log_records.record_at(await self.installation(), sequence)

    async def event(self, sequence: int) -> bytes | None:
        """The body of a stored event, by its sequence; None where it is no longer kept."""
        found = await log_records.event_at(await self.installation(), sequence)
        return None if found is None else found.body

    async def diff(self, resource_id: str) -> Judged:
        """The last observation of a Kubernetes object, assessed by the settings that its application has now.

        Raises `NotObserved`, `InvalidId`.
        """
        return await last_observation.judged(await self.installation(), resource_id)

    async def timeline(
        self, entity_id: str, *, kind: str | None = None, start: When | None = None, end: When | None = None,
        depth: int | None = None,
    ) -> Timeline:  # fmt: skip
        """The states of `entity_id` and of what is under it (`depth` levels) from `start` to `end`; raises `TreeUnknown`.

        Without `start` it begins with the first state; without `end` it ends now.
        """
        Wanted(kind=kind, below=entity_id).check(self.kinds)
        after, up_to = await self._range(start, end)
        before = await AsOf(await self.installation(), after).states(kind, entity_id, deleted=True)
        records = [logged.record async for logged in self._between(kind, entity_id, after, up_to)]
        found = [record for record in records if isinstance(record, Transition)]
        if not before and not found:
            raise TreeUnknown(root=entity_id)
        first = after.time or min(record.time for record in (*before, *found))
        return timeline(before, found, first, max(first, up_to.time), depth)

    async def changes(
        self, start: When, end: When | None = None, *, tree: str | None = None, kind: str | None = None
    ) -> Sequence[Change]:
        """How entities differ between `start` and `end` (None: now), and what happened to them in between."""
        Wanted(kind=kind, below=tree).check(self.kinds)
        after, up_to = await self._range(start, end)
        found = Changes()
        async for logged in self._between(kind, tree, after, up_to):
            found.take(logged.record)
        return found.sorted()

    async def _range(self, start: When | None, end: When | None) -> tuple[Moment, Moment]:
        """Both ends, each resolved once. The beginning of the log has no time: 0."""
        after = Moment(0, 0) if start in (None, START) else await self.moment(start)
        return after, await self.moment(NOW if end is None else end)

    async def _between(self, kind: str | None, tree: str | None, after: Moment, up_to: Moment) -> AsyncIterator[Logged]:
        """The transitions of a kind, of a tree, of both or of all, after one moment and up to another."""
        installation = await self.installation()
        for pattern in latest.patterns(installation.layout, self.kinds, kind, tree):
            subject = as_of.transition_filter(installation, pattern)
            async for logged in log_records.records(installation, subject, after.place, up_to.place):
                yield logged
