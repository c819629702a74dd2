"""The Python client: everything that a publisher or a reader does, over one connection.

Belongs here: one method for each task. Does not: connecting (`connecting`), the work behind a method (`entity_view`,
`ranges`, `product_views`, `engine.publish`, `engine.log`, `log.explain`, `engine.replay`).
"""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from math import inf
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload

from phaseline.engine.log import latest, log_records
from phaseline.engine.log.changes import Change
from phaseline.engine.log.event_order import SERVER, Clock
from phaseline.engine.log.explain.model import Explanation
from phaseline.engine.log.log import Log
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.timeline import Timeline
from phaseline.engine.log.watch import RecordFilter, Watch, chosen
from phaseline.engine.log.when import NOW, START, Moment, When
from phaseline.engine.publish import compose, outcomes, pipeline, single
from phaseline.engine.publish.compose import EventDetails, EventMessage
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.publish.pipeline import PATIENCE, WINDOW, PublishResult
from phaseline.engine.publish.single import Receipt
from phaseline.engine.publish.source_counts import SourceReport, source_counts
from phaseline.engine.replay.dry_run_result import DryRun
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client import numbered_source, product_views
from phaseline.engine.surfaces.client.entity_view import EntityView
from phaseline.engine.surfaces.client.numbered_source import NumberedSource
from phaseline.engine.surfaces.client.rejection_counts import RejectionCount, RejectionCounts
from phaseline.engine.surfaces.client.session import Session
from phaseline.engine.surfaces.follow import follower
from phaseline.engine.surfaces.follow.follow import Follow
from phaseline.engine.surfaces.follow.follower import FollowerState
from phaseline.engine.surfaces.overview.dwell_watch import DwellWatch
from phaseline.engine.surfaces.overview.overview import Overview
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.product import BrokenKind
from phaseline.schemas.envelope import Event
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import Entity, Rejection, Transition

if TYPE_CHECKING:
    from phaseline.engine.products.emco.views import Emco
    from phaseline.engine.products.fleet.views import Fleet
    from phaseline.engine.products.gitops.views import Gitops
    from phaseline.engine.products.levels.views import Levels

WAIT = 10.0
"""Seconds to wait for the outcome of an event."""


class Client:
    """One connection to one installation. Ids are written `c1/pool-a/n7`.

    Errors: all are in `phaseline.errors`. Methods raise `NameUnknown` for a kind, a state or a moment that does not
    exist, `InvalidInput` for an id that no entity can have, `NoAnswer` (as `NatsUnreachable`) where the server does not
    answer, `NotProvisioned` and `NotPermitted`. Each method names what it raises beside these.

    Answers and iterators: `await` gives an answer that is read whole; several results come as a list (`tree`,
    `changes`). What may be of any length is an iterator, without `await`: `list`, `watch`, `history`, `rejections`.

    When: `at` is one moment, `start` and `end` are a range. Each takes a place in the log, a `datetime`, text ("15m",
    "03:12", "2026-03-02T08:00Z", "start", "now"), or a `Moment`, and is resolved once per call. `client.at("15m")`
    gives a view of the entities at that moment; `view.moment` is what all its reads show.

    Reads of one product are in `emco`, `fleet`, `gitops` and `levels`, and in the names that installed packages add.
    """

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

    async def source(self, name: str | None = None) -> NumberedSource:
        """A source that numbers its events from now on, so that its repeats are recognised however late they come.

        Its epoch is the last position of EVENTS: a program that starts again is heard at once, whatever its clock says,
        and keeps no file. In a log that was put back it is greater than every one before. name: by default the client's
        own source. Two programs need two names.
        """
        return await numbered_source.begin(self, self._session, name or self.default_source)

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

    # Publishing

    async def publish(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        check: bool = True, until_stored: bool | float = False, **details: Unpack[EventDetails],
    ) -> Receipt:  # fmt: skip
        """Store one event; `details` (`EventDetails`): `source`, `event_id`, `sequence`, `epoch`, `time`, ...

        Sent again with the same `source` and `event_id` it is stored once (within ten minutes). Raises `Unconfirmed`
        when no answer came: send it again under the same `event_id`.
        check: judge it first as a worker would, and raise `EventRefused` instead of sending what would be rejected.
        until_stored: send it again through lost connections and restarts of the server until it is stored; or for so
        many seconds.
        """
        message = self._message(kind, trigger, entity_id, data, check, details)
        seconds = inf if until_stored is True else until_stored or self._session.settings.request_timeout
        return await single.publish(self._session.wire, message, seconds, patient=bool(until_stored))

    async def publish_and_wait(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        check: bool = True, timeout: float = WAIT, **details: Unpack[EventDetails],
    ) -> Outcome:  # fmt: skip
        """Store one event as `publish` does, and wait for its outcome: its transitions, its rejection, or nothing.

        Raises `Undecided` when no worker has answered after `timeout` seconds; the event stays stored.
        """
        message = self._message(kind, trigger, entity_id, data, check, details)
        installation, root = await self._session.installation(), entity_id.partition("/")[0]
        patience = self._session.settings.request_timeout
        return await outcomes.of_message(installation, message, root, patience, timeout)

    async def outcome(self, receipt: Receipt, *, timeout: float = WAIT) -> Outcome:
        """The outcome of an event that was stored before. timeout: the seconds to wait for it.

        Raises `Undecided`, and `NotFound.event_gone` if the event is no longer stored.
        """
        return await outcomes.of_receipt(await self._session.installation(), receipt, timeout)

    async def publish_many(
        self,
        events: Iterable[Event | Mapping[str, Any]] | AsyncIterable[Event | Mapping[str, Any]],
        *,
        window: int = WINDOW,
        patience: float = PATIENCE,
        check: bool = True,
        progress: Callable[[PublishResult], None] | None = None,
    ) -> PublishResult:
        """Store events in order. The answer counts the events that are new, and those that were stored before.

        events: each an `Event` or a CloudEvents map, with `type` `<kind>.<trigger>` and `subject` `<kind>/<id>`.
        window: how many may be in flight. On a cluster only one of each tree is, so that the order of each tree
        survives a change of leader. patience: after trouble with the servers the client sends again; it raises
        `Unconfirmed` once nothing has moved for so many seconds. check: as for `publish`. The first event that would
        be rejected raises `EventRefused`; all events before it are stored then. progress: called with the counts.
        """
        subjects, kinds = self._session.subjects, self.kinds if check else None
        messages: Iterable[EventMessage] | AsyncIterable[EventMessage]
        if isinstance(events, AsyncIterable):
            messages = (compose.pack(subjects, event, kinds) async for event in events)
        else:
            messages = (compose.pack(subjects, event, kinds) for event in events)
        return await pipeline.publish_many(self._session.wire, messages, window, patience, progress)

    async def snapshot(
        self, kind: str, entity_id: str, below: str, items: Iterable[Mapping[str, Any]], *, seen: int | None = None,
        after: str | None = None, upto: str | None = None, confirm: bool = False, about: Sequence[str] | None = None,
        log: int | None = None, wait: float | None = None, progress: Callable[[int, int], None] | None = None,
        **details: Unpack[EventDetails],
    ) -> Sequence[Outcome]:  # fmt: skip
        """Publish all that there is of the kind `below` under an entity, in as many events as it needs.

        items: maps with `id` (the part below the entity), `phase`, and what else a report has. seen: the highest
        `cause.sequence` that the reporter has read in this tree; log: in which log (`log_identity`). after, upto: the
        snapshot speaks of ids above `after` and up to `upto` only, in byte order. confirm: end what is not listed even
        if that is more than the brake allows; it needs `seen`. wait: the seconds to wait for the outcome of each event;
        None does not wait. about: the conditions that it speaks of, the only ones that it clears. progress: called with
        the number of events sent, and of all. Raises as `publish` and `publish_and_wait` do; `EventRefused` before
        anything is sent if several events together would end more than the brake allows.
        """
        from phaseline.engine.publish import snapshots  # noqa: PLC0415  # few send snapshots
        from phaseline.engine.surfaces.client import braking  # noqa: PLC0415

        parts = snapshots.events(below, items, seen, after, upto, confirm=confirm, about=about, log=log)
        if len(parts) > 1 and not confirm:
            listed = [item["id"] for part in parts for item in part["items"]]
            await braking.check(await self.at(), kind, entity_id, below, listed, after, upto, seen)
        found: list[Outcome] = []
        for index, data in enumerate(parts):
            if progress is not None:
                progress(index, len(parts))
            mine = snapshots.details_of(details, index, len(parts))
            if wait is None:
                found.append(Outcome(await self.publish(kind, "snapshot", entity_id, data, **mine)))
            else:
                found.append(await self.publish_and_wait(kind, "snapshot", entity_id, data, timeout=wait, **mine))
        return found

    async def resend(self, sequence: int) -> Receipt:
        """Store again the event whose rejection is at the place `sequence` of the log, once the reason for it is gone.

        Raises `NotFound.record_not_found`, `NotFound.not_rejected`, `NotFound.event_gone`, and what `publish` raises.
        """
        installation = await self._session.installation()
        return await single.resend(installation, sequence, self._session.settings.request_timeout)

    async def dry_run(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        progress: Callable[[int], None] | None = None, **details: Unpack[EventDetails],
    ) -> DryRun:  # fmt: skip
        """What one event would do to its tree now: its records, its rejection, or nothing. Nothing is sent.

        progress: called with the number of states read so far. Raises `SetupError`, `EventRefused`.
        """
        from phaseline.engine.replay.dry_run import dry_run  # noqa: PLC0415  # it decides; other reads need no core

        message = self._message(kind, trigger, entity_id, data, False, details)
        installation = await self._session.installation()
        return await dry_run(installation, message, progress)

    async def ask(self, kind: str, entity_id: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the service of a product says about an entity (docs/own-kinds.md, Services).

        Raises `EntityUnknown`, `InvalidInput`; `InvalidInput` if the service does not take `data`; `NoAnswer` if no
        worker answers such questions; `ServiceRefused`.
        """
        from phaseline.engine.log.questions.entity_questions import ask  # noqa: PLC0415  # few ask

        latest.check_name(self.kinds, kind, entity_id)
        return await ask(await self._session.installation(), kind, entity_id, data or {})

    def _message(
        self,
        kind: str,
        trigger: str,
        entity_id: str,
        data: Mapping[str, Any] | None,
        check: bool,
        details: EventDetails,
    ) -> EventMessage:
        event = compose.compose(kind, trigger, entity_id, data, {"source": self.default_source, **details})
        return compose.pack(self._session.subjects, event, self.kinds if check else None)

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

    def follow(
        self, name: str, kind: str | None = None, *, facet: str | None = None, state: str | None = None,
        tree: str | None = None, condition: str | Sequence[str] = (), start: When = NOW, at_once: int = 1,
        patience: float = 30.0,
    ) -> Follow:  # fmt: skip
        """Transitions, whose place the server keeps under `name`; each goes to one of those who follow under it.

        Who asks for the next one has acknowledged the one before; what was not acknowledged is handed out again. What
        is selected is as in `watch`. start: where it begins if there is no follower of that name yet. at_once: how many
        all programs together may have in hand; with 1 they come in the order of the log. patience: seconds after which
        what a lost program has in hand is handed out again. Raises `InvalidInput`, and when the first one is asked for
        `InvalidInput.follower_differs`, `NotFound.follower_lost`, `NotFound.follower_gone`, `NotPermitted`.
        """
        conditions = (condition,) if isinstance(condition, str) else (*condition,)
        words = follower.FollowChoice(kind=kind, facet=facet, state=state, tree=tree, condition=conditions)
        wanted = follower.wanted(self.kinds, name, words, start, at_once, patience)
        return self._session.keep(Follow(self._session.installation, wanted))

    async def followers(self) -> Sequence[FollowerState]:
        """Those who follow under a name, with their places, and how far they are behind."""
        return await follower.all_of(await self._session.installation())

    async def unfollow(self, name: str) -> FollowerState:
        """Delete a follower, and return what it was; raises `NameUnknown`. Programs that follow under this name end.

        Its place is forgotten: who follows under this name again begins anew. `start=` the place + 1 goes on from it.
        """
        return await follower.delete(await self._session.installation(), name)

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

    async def sources(self) -> SourceReport:
        """What became of the events of each source, as the workers have counted since they own their partitions.

        Raises `NoAnswer` if no worker answers.
        """
        return await source_counts(await self._session.installation())

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
        """The record at the place `sequence` of the log; raises `NotFound.record_not_found`."""
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
