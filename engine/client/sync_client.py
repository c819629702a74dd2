"""The client without asyncio: connecting, publishing, reading.

Made by `python -m phaseline.engine.generate` from `connecting` and `client`.
Belongs here: what `generate_sync` writes. Does not: anything written by hand, what runs the calls (`portal`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload

from phaseline.engine.client import client, connecting, product_views
from phaseline.engine.client.client import WAIT
from phaseline.engine.client.portal import Opened, Watch
from phaseline.engine.client.rejection_counts import RejectionCount
from phaseline.engine.client.sync_views import EntityView
from phaseline.engine.explain.model import Explanation
from phaseline.engine.log.changes import Change
from phaseline.engine.log.event_order import SERVER, Clock
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.timeline import Timeline
from phaseline.engine.log.when import NOW, START, Moment, When
from phaseline.engine.publish.compose import EventDetails
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.publish.pipeline import PATIENCE, WINDOW, PublishResult
from phaseline.engine.publish.single import Receipt
from phaseline.engine.replay.dry_run_result import DryRun
from phaseline.engine.settings import DEFAULT_URL, ConnectionSettings, Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.product import BrokenKind
from phaseline.schemas.envelope import Event
from phaseline.schemas.records import Entity, Rejection, Transition

if TYPE_CHECKING:
    from phaseline.engine.products.emco.plain_views import Emco
    from phaseline.engine.products.fleet.plain_views import Fleet
    from phaseline.engine.products.gitops.plain_views import Gitops


def connect(
    url: str | Sequence[str] = DEFAULT_URL, *, source: str | None = None, kinds: Kinds | None = None,
    context: str | None = None, **settings: Unpack[ConnectionSettings],
) -> "Client":  # fmt: skip
    """Connect to an installation: `with phaseline.sync.connect(...) as client`.

    url: one server or several of one cluster. source: where the client's events come from. kinds: the tables to check
    against; by default those installed here. Raises `BadSetting`, `NatsUnreachable`, `SetupError`.
    """
    return Client(Opened(connecting.connect(url, source=source, kinds=kinds, context=context, **settings)))


class Client:
    """One connection to one installation, for programs without asyncio: `phaseline.Client` with plain methods.

    A call returns when its answer is there. `list`, `watch`, `history` and `rejections` give iterators. Use the client
    in a `with` block, or call `close`. It runs asyncio in a thread of its own, so it also works in a notebook;
    `progress` functions are called from that thread. Ctrl-C ends a call in good order.
    """

    def __init__(self, opened: Opened[client.Client]) -> None:
        """Use a connection that is open; `connect` makes one."""
        self._opened, self._portal, self._source = opened, opened.portal, opened.client

    @classmethod
    def open(cls, settings: Settings, *, source: str | None = None, kinds: Kinds | None = None) -> Self:
        """Connect by complete settings, as `connect` does."""
        return cls(Opened(client.Client.open(settings, source=source, kinds=kinds)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect. A second call does nothing."""
        self._opened.close()

    @property
    def kinds(self) -> Kinds:
        """The tables of the kinds."""
        return self._source.kinds

    @property
    def broken_kinds(self) -> Sequence[BrokenKind]:
        """The kinds of installed packages that cannot be used and are left out, each with the reason."""
        return self._source.broken_kinds

    @property
    def source(self) -> str:
        """The source of events for which the publisher gives no other."""
        return self._source.source

    if TYPE_CHECKING:  # of each product a name, which is looked up when it is asked for
        emco: Emco
        fleet: Fleet
        gitops: Gitops
    else:

        def __getattr__(self, name: str) -> Any:
            """The reads of a product."""
            return product_views.plain(self._portal, self._source, name)

    def __dir__(self) -> Iterable[str]:
        """The names of methods, and of the reads of products."""
        return [*super().__dir__(), *product_views.names(self.kinds)]

    def publish(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *, check: bool = True,
        **details: Unpack[EventDetails],
    ) -> Receipt:  # fmt: skip
        """Store one event; `details`: `source`, `event_id`, `sequence`, `time`, `extensions` (`EventDetails`).

        Sent again with the same `source` and `event_id` it is stored once (within ten minutes). Raises `Unconfirmed`
        when no answer came: send it again under the same `event_id`.
        check: judge it first as a worker would, and raise `EventRefused` instead of sending what would be rejected.
        """
        return self._portal.run(self._source.publish(kind, trigger, entity_id, data, check=check, **details))

    def publish_and_wait(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *, check: bool = True,
        timeout: float = WAIT, **details: Unpack[EventDetails],
    ) -> Outcome:  # fmt: skip
        """Store one event as `publish` does, and wait for its outcome: its transitions, its rejection, or nothing.

        Raises `Undecided` when no worker has answered after `timeout` seconds; the event stays stored.
        """
        return self._portal.run(
            self._source.publish_and_wait(kind, trigger, entity_id, data, check=check, timeout=timeout, **details)
        )

    def outcome(self, receipt: Receipt, *, timeout: float = WAIT) -> Outcome:
        """The outcome of an event that was stored before. timeout: the seconds to wait for it.

        Raises `Undecided`, and `NotFound.event_gone` if the event is no longer stored.
        """
        return self._portal.run(self._source.outcome(receipt, timeout=timeout))

    def publish_many(
        self, events: Iterable[Event | Mapping[str, Any]], *, window: int = WINDOW, patience: float = PATIENCE,
        check: bool = True, progress: Callable[[PublishResult], None] | None = None,
    ) -> PublishResult:  # fmt: skip
        """Store events in order. The answer counts the events that are new, and those that were stored before.

        events: each an `Event` or a CloudEvents map, with `type` `<kind>.<trigger>` and `subject` `<kind>/<id>`.
        window: how many may be in flight. On a cluster only one of each tree is, so that the order of each tree
        survives a change of leader. patience: after trouble with the servers the client sends again; it raises
        `Unconfirmed` once nothing has moved for so many seconds. check: as for `publish`. The first event that would
        be rejected raises `EventRefused`; all events before it are stored then. progress: called with the counts.
        """
        return self._portal.run(
            self._source.publish_many(events, window=window, patience=patience, check=check, progress=progress)
        )

    def snapshot(
        self, kind: str, entity_id: str, below: str, items: Iterable[Mapping[str, Any]], *, seen: int | None = None,
        after: str | None = None, upto: str | None = None, wait: float | None = None,
        progress: Callable[[int, int], None] | None = None, **details: Unpack[EventDetails],
    ) -> Sequence[Outcome]:  # fmt: skip
        """Publish all that there is of the kind `below` under an entity, in as many events as it needs.

        items: maps with `id` (the part below the entity), `phase`, and what else a report has. seen: the highest
        `cause.sequence` that the reporter has read in this tree. after, upto: the snapshot speaks of ids above `after`
        and up to `upto` only, in byte order. wait: the seconds to wait for the outcome of each event; None does not
        wait. progress: called with the number of events sent, and of all. Raises as `publish` and `publish_and_wait`
        do.
        """
        return self._portal.run(
            self._source.snapshot(
                kind,
                entity_id,
                below,
                items,
                seen=seen,
                after=after,
                upto=upto,
                wait=wait,
                progress=progress,
                **details,
            )
        )

    def resend(self, sequence: int) -> Receipt:
        """Store again the event whose rejection is at the place `sequence` of the log, once the reason for it is gone.

        Raises `NotFound.record_not_found`, `NotFound.not_rejected`, `NotFound.event_gone`, and what `publish` raises.
        """
        return self._portal.run(self._source.resend(sequence))

    def dry_run(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        progress: Callable[[int], None] | None = None, **details: Unpack[EventDetails],
    ) -> DryRun:  # fmt: skip
        """What one event would do to its tree now: its records, its rejection, or nothing. Nothing is sent.

        progress: called with the number of states read so far. Raises `SetupError`, `EventRefused`.
        """
        return self._portal.run(self._source.dry_run(kind, trigger, entity_id, data, progress=progress, **details))

    def ask(self, kind: str, entity_id: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the service of a product says about an entity (docs/own-kinds.md, Services).

        Raises `EntityUnknown`, `InvalidInput`; `InvalidInput` if the service does not take `data`; `NoAnswer` if no
        worker answers such questions; `ServiceRefused`.
        """
        return self._portal.run(self._source.ask(kind, entity_id, data))

    def moment(self, when: When) -> Moment:
        """The moment that `when` names: its place in the log and its time. Pass it on to read the same moment again.

        Raises `NameUnknown`.
        """
        return self._portal.run(self._source.moment(when))

    @overload
    def at(self, when: When) -> EntityView[Moment]: ...

    @overload
    def at(self, when: None = None) -> EntityView[None]: ...

    @overload
    def at(self, when: When | None) -> EntityView[Moment | None]: ...

    def at(self, when: When | None = None) -> EntityView[Moment | None]:
        """The entities at a moment; without one the latest states. The moment is resolved here, once.

        Raises `NameUnknown`.
        """
        source = self._portal.run(self._source.at(when))
        return EntityView(self._portal, source)

    def get(self, kind: str, entity_id: str, *, at: When | None = None) -> Entity:
        """One entity; raises `EntityUnknown`. Without `at` it may be milliseconds behind the log."""
        return self._portal.run(self._source.get(kind, entity_id, at=at))

    def last(self, kind: str, entity_id: str, *, at: When | None = None) -> Transition:
        """The last transition of an entity: its state, the reason, and the time. Raises `EntityUnknown`."""
        return self._portal.run(self._source.last(kind, entity_id, at=at))

    def list(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None,
        condition: str | Sequence[str] = (), deleted: bool = False, at: When | None = None,
    ) -> Iterator[Entity]:  # fmt: skip
        """The entities that fit, ids in natural order. Each word is as in `EntityView.list`."""
        return self._portal.iterate(
            self._source.list(kind, tree=tree, state=state, condition=condition, deleted=deleted, at=at)
        )

    def tree(self, root: str, *, deleted: bool = False, at: When | None = None) -> Sequence[Entity]:
        """`root` and all entities below it, ids in natural order; raises `TreeUnknown`."""
        return self._portal.run(self._source.tree(root, deleted=deleted, at=at))

    def stale_since(self, entities: Sequence[Entity], *, at: When | None = None) -> Mapping[tuple[str, str], datetime]:
        """Those of these entities whose states are stale, by kind and id, and since when (`EntityView.stale_since`)."""
        return self._portal.run(self._source.stale_since(entities, at=at))

    def kind_of(self, entity_id: str, kind: str | None = None, *, at: When | None = None) -> str:
        """The kind of the only entity with that id, or `kind` if it exists.

        Raises `EntityUnknown`, `AmbiguousId`, `InvalidInput.invalid_id`.
        """
        return self._portal.run(self._source.kind_of(entity_id, kind, at=at))

    def why(self, kind: str, entity_id: str, *, at: When | None = None) -> Explanation:
        """Why an entity is in its state: back to the events from outside. Raises `EntityUnknown`."""
        return self._portal.run(self._source.why(kind, entity_id, at=at))

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

    def watch(
        self, kind: str | None = None, *, facet: str | None = None, state: str | None = None, tree: str | None = None,
        condition: str | Sequence[str] = (), start: When = NOW, rejections: bool = False, follow: bool = True,
    ) -> Watch[Any]:  # fmt: skip
        """Transitions into `state` (and `rejections`) from `start` on, each once and in the log's order.

        state: a phase, or `{Failed,[Balance,*]}`. condition: one that stands then, or several that stand together.
        tree: this id and those below it. start: a place or a time, included; after a `Moment`, so that a watch
        continues a view without a gap. follow: go on after the last record that is there. Raises `InvalidInput`.
        """
        source = self._source.watch(
            kind,
            facet=facet,
            state=state,
            tree=tree,
            condition=condition,
            start=start,
            rejections=rejections,
            follow=follow,
        )
        return Watch(self._portal, source)

    def history(self, kind: str, entity_id: str, *, follow: bool = False, clock: Clock = SERVER) -> Watch[Transition]:
        """All transitions of one entity, oldest first. clock: `event` orders them by the publishers' times.

        follow: go on after the last one that is there. Raises `EntityUnknown` when the first one is asked for.
        """
        source = self._source.history(kind, entity_id, follow=follow, clock=clock)
        return Watch(self._portal, source)

    def rejections(
        self, kind: str | None = None, *, tree: str | None = None, reason: str | None = None, start: When = START,
        follow: bool = False,
    ) -> Watch[Rejection]:  # fmt: skip
        """The rejections from `start` on, in the log's order; `watch.sequence` is what `resend` takes.

        tree: this id and those below it. reason: such as `guard`. follow: go on after the last one that is there.
        """
        source = self._source.rejections(kind, tree=tree, reason=reason, start=start, follow=follow)
        return Watch(self._portal, source)

    def rejection_counts(
        self, kind: str | None = None, *, tree: str | None = None, reason: str | None = None, start: When = START
    ) -> Sequence[RejectionCount]:
        """How many rejections there are from `start` on, by reason, kind and source, the most frequent first."""
        return self._portal.run(self._source.rejection_counts(kind, tree=tree, reason=reason, start=start))

    def record(self, sequence: int) -> Logged:
        """The record at the place `sequence` of the log; raises `NotFound.record_not_found`."""
        return self._portal.run(self._source.record(sequence))

    def event(self, sequence: int) -> bytes | None:
        """The body of a stored event, by its sequence in EVENTS; None if the stream no longer keeps it."""
        return self._portal.run(self._source.event(sequence))

    def timeline(
        self, entity_id: str, *, kind: str | None = None, start: When | None = None, end: When | None = None,
        depth: int | None = None, clock: Clock = SERVER,
    ) -> Timeline:  # fmt: skip
        """The states of an entity and of those below it from `start` to `end`, a lane for each facet.

        start: None for the first state. end: None for now. depth: how many levels below; None for all. clock: `event`
        for the publishers' times; without `end` it ends with the last of them. Raises `TreeUnknown`, `InvalidInput`,
        `InvalidInput.start_after_end`, `InvalidInput.wrong_clock`.
        """
        return self._portal.run(
            self._source.timeline(entity_id, kind=kind, start=start, end=end, depth=depth, clock=clock)
        )

    def changes(
        self, start: When, end: When | None = None, *, tree: str | None = None, kind: str | None = None
    ) -> Sequence[Change]:
        """How entities differ between `start` and `end` (None: now), and how they changed; ids in natural order.

        tree: this id and those below it. Raises `InvalidInput.start_after_end`.
        """
        return self._portal.run(self._source.changes(start, end, tree=tree, kind=kind))
