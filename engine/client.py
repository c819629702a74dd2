"""The Python client: everything a publisher or a watcher does, over one connection.

Belongs here: one method for each thing one can do. Does not: how it is done (`publishing`, `pipeline`, `outcomes`,
`queries`, `watching`).
"""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, Self, Unpack, overload

from phaseline.engine import inquiry, naming, outcomes, outgoing, past, pipeline, publishing, queries
from phaseline.engine.errors import NotPermitted
from phaseline.engine.explanation import Explanation
from phaseline.engine.outcomes import Outcome
from phaseline.engine.outgoing import Details, Outgoing
from phaseline.engine.past import Moment
from phaseline.engine.pipeline import PATIENCE, WINDOW, Sent
from phaseline.engine.publishing import Receipt
from phaseline.engine.queries import Logged
from phaseline.engine.reader import Reader
from phaseline.engine.rehearsal import Rehearsed, rehearse
from phaseline.engine.settings import Settings, from_words
from phaseline.engine.streams import Layout, inspect, layout_of
from phaseline.engine.watching import Start, Wanted, Watch
from phaseline.engine.wire import Wire
from phaseline.machines.kinds import Kinds, installed
from phaseline.schemas.envelope import Event
from phaseline.schemas.records import Entity, Rejection, Transition
from phaseline.schemas.subjects import Subjects

WAIT = 10.0
"""Seconds to wait for what comes of an event."""


@asynccontextmanager
async def connect(
    url: str | Sequence[str] = "nats://127.0.0.1:4222",
    *,
    prefix: str = "pl",
    source: str | None = None,
    kinds: Kinds | None = None,
    **settings: Any,
) -> AsyncIterator["Client"]:
    """A client of the installation `prefix` on these servers; `settings` are those of `phaseline.engine.settings`.

    source: who its events come from. kinds: the tables to check against; those installed here by default.
    Raises `BadSetting`, `NatsUnreachable`.
    """
    chosen = from_words(nats=url, prefix=prefix, **settings)
    async with Client.open(chosen, source=source, kinds=kinds) as client:
        yield client


class Client:
    """One connection to one installation. Ids are written `c1/pool-a/n7`; all methods raise `phaseline.errors`."""

    def __init__(self, wire: Wire, settings: Settings, kinds: Kinds, source: str) -> None:
        """Use an open connection."""
        self._wire, self._settings, self.kinds, self.source = wire, settings, kinds, source
        self._subjects = Subjects(settings.prefix)
        self._layout: Layout | None = None
        self._watches: list[Watch[Any]] = []

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings, *, source: str | None = None, kinds: Kinds | None = None
    ) -> AsyncIterator[Self]:
        """A client with a connection of its own."""
        async with Wire.open(settings, name="phaseline-client") as wire:
            client = cls(wire, settings, kinds or installed(), source or outgoing.default_source("python"))
            try:
                yield client
            finally:
                for watch in client._watches:
                    await watch.close()

    async def layout(self) -> Layout:
        """The installation as it stands, asked for once; raises `NotProvisioned`.

        Users who may not ask the server for it give `partitions` in their settings.
        """
        if self._layout is None:
            try:
                self._layout = await inspect(self._wire, self._settings)
            except NotPermitted:
                if self._settings.partitions is None:
                    raise
                self._layout = layout_of(self._settings, self._settings.partitions)
        return self._layout

    # ---- publishing

    async def publish(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        check: bool = True, **details: Unpack[Details],
    ) -> Receipt:  # fmt: skip
        """Store one event; `details`: `source`, `event_id`, `sequence`, `time` (`outgoing.Details`).

        Sent again with the same `source` and `event_id` it is stored once (within ten minutes). Raises `Unconfirmed`
        when no answer came: send it again under the same `event_id`.
        check: judge it first as a worker would, and raise `EventRefused` instead of sending what would be rejected.
        """
        message = self._message(kind, trigger, entity_id, data, check, details)
        return await publishing.publish(self._wire, message, self._settings.request_timeout)

    async def publish_and_wait(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        check: bool = True, timeout: float = WAIT, **details: Unpack[Details],
    ) -> Outcome:  # fmt: skip
        """Store one event as `publish` does, and wait for what comes of it: its transitions, its rejection, or nothing.

        Raises `Undecided` when no worker has answered after `timeout` seconds; the event stays stored.
        """
        message = self._message(kind, trigger, entity_id, data, check, details)
        layout = await self.layout()
        async with outcomes.follow(self._wire, layout, entity_id.partition("/")[0]) as reader:
            receipt = await publishing.publish(self._wire, message, self._settings.request_timeout)
            if not receipt.duplicate:
                return await outcomes.outcome(reader, layout, receipt, timeout)
        return await self.outcome(receipt, timeout=timeout)

    async def outcome(self, receipt: Receipt, *, timeout: float = WAIT) -> Outcome:
        """What came of an event that was stored before; waits as `publish_and_wait` does."""
        layout = await self.layout()
        root, start = await outcomes.whereabouts(self._wire, layout, receipt.sequence)
        async with outcomes.follow(self._wire, layout, root, start) as reader:
            return await outcomes.outcome(reader, layout, receipt, timeout)

    async def publish_many(
        self,
        events: Iterable[Event | Mapping[str, Any]] | AsyncIterable[Event | Mapping[str, Any]],
        *,
        window: int = WINDOW,
        patience: float = PATIENCE,
        check: bool = True,
        progress: Callable[[Sent], None] | None = None,
    ) -> Sent:
        """Store events in order, `window` of them in flight, and return how many are stored and how many were already.

        An event is an `Event` or a CloudEvents map, with `type` `<kind>.<trigger>` and `subject` `<kind>/<id>`.
        The first one that would be rejected raises `EventRefused`; all before it are stored then. Trouble with the
        servers is overcome by sending again, until nothing has moved for `patience` seconds: `Unconfirmed`.
        """
        subjects, kinds = self._subjects, self.kinds if check else None
        messages: Iterable[Outgoing] | AsyncIterable[Outgoing]
        if isinstance(events, AsyncIterable):
            messages = (outgoing.pack(subjects, event, kinds) async for event in events)
        else:
            messages = (outgoing.pack(subjects, event, kinds) for event in events)
        return await pipeline.publish_many(self._wire, messages, window, patience, progress)

    async def resend(self, sequence: int) -> Receipt:
        """Store again the event whose rejection stands at `sequence` in the log: what refused it is put right now."""
        return await publishing.resend(self._wire, await self.layout(), sequence, self._settings.request_timeout)

    async def rehearse(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        progress: Callable[[int], None] | None = None, **details: Unpack[Details],
    ) -> Rehearsed:  # fmt: skip
        """What one event would do to its tree as it stands: its records, its rejection, or nothing. Nothing is sent.

        progress: called with the number of states read so far. Raises `KindMissing`, `Unsendable`.
        """
        message = self._message(kind, trigger, entity_id, data, False, details)
        return await rehearse(self._wire, await self.layout(), self.kinds, message, progress)

    def _message(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None, check: bool, details: Details
    ) -> Outgoing:
        event = outgoing.compose(kind, trigger, entity_id, data, {"source": self.source, **details})
        return outgoing.pack(self._subjects, event, self.kinds if check else None)

    # ---- states now

    async def get(self, kind: str, entity_id: str) -> Entity:
        """An entity as it stands; raises `EntityUnknown`. As all states, it may be milliseconds behind the log."""
        return (await self.last(kind, entity_id)).entity

    async def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity: what it is, why, and since when; raises `EntityUnknown`."""
        queries.check_name(self.kinds, kind, entity_id)
        return await queries.last(self._wire, await self.layout(), kind, entity_id)

    async def list(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None, deleted: bool = False
    ) -> AsyncIterator[Entity]:
        """Entities as they stand, ids in natural order. tree: this id and what is under it. deleted: gone ones too."""
        Wanted(kind=kind, state=state, below=tree).check(self.kinds)
        layout = await self.layout()
        for record in await queries.states(self._wire, layout, self.kinds, kind, tree, state, deleted=deleted):
            yield record.entity

    async def tree(self, root: str, *, deleted: bool = False) -> Sequence[Entity]:
        """`root` and all that is under it, ids in natural order; raises `TreeUnknown`."""
        queries.check_tree(root)
        found = await queries.tree(self._wire, await self.layout(), self.kinds, root, deleted=deleted)
        return [record.entity for record in found]

    # ---- records

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

    # ---- why

    async def kind_of(self, entity_id: str, kind: str | None = None, *, at: Moment | None = None) -> str:
        """The kind of the only entity of that id, or `kind` if it is there; raises `NameUnknown`, `KindUnsaid` and others."""
        layout = await self.layout()
        place = None if at is None else await past.place_of(self._wire, layout, at)
        return await naming.find(self._wire, layout, self.kinds, entity_id, kind, place)

    async def why(self, kind: str, entity_id: str, *, at: Moment | None = None) -> Explanation:
        """Why an entity is as it is, or was at a place in the log or a time: back to the events from outside.

        Raises `EntityUnknown`.
        """
        queries.check_name(self.kinds, kind, entity_id)
        layout = await self.layout()
        place = None if at is None else await past.place_of(self._wire, layout, at)
        return await inquiry.explain(self._wire, layout, self.kinds, kind, entity_id, place)
