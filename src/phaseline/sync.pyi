# Written by `python -m phaseline.engine.surfaces.generate` from surfaces/client/sync_client.py, surfaces/client/entity_view.py, surfaces/client/numbered_source.py, surfaces/client/client.py, surfaces/client/reading_client.py, products/emco/views.py, products/gitops/views.py, products/fleet/views.py, products/levels/views.py in engine.

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from phaseline.engine.log.changes import Change
from phaseline.engine.log.explain.model import Contradiction
from phaseline.engine.log.explain.model import Explanation
from phaseline.engine.log.explain.model import GivenReason
from phaseline.engine.log.explain.shut import ShutBy
from phaseline.engine.log.explain.staleness import Stale
from phaseline.engine.log.explain.unknown_parts import PartsOf
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.timeline import Timeline
from phaseline.engine.log.watch import Clock
from phaseline.engine.log.watch import SERVER
from phaseline.engine.log.when import Moment
from phaseline.engine.log.when import NOW
from phaseline.engine.log.when import START
from phaseline.engine.log.when import When
from phaseline.engine.products.emco.query import EmcoNamesQuery
from phaseline.engine.products.emco.query import EmcoStatusQuery
from phaseline.engine.products.emco.query import SourceStatusQuery
from phaseline.engine.products.emco.query import StatusQuery
from phaseline.engine.products.emco.schema import EmcoNames
from phaseline.engine.products.emco.schema import EmcoStatus
from phaseline.engine.products.emco.schema import SourceStatus
from phaseline.engine.products.emco.select import StatusSelection
from phaseline.engine.products.fleet.counts import FleetClusterCounts
from phaseline.engine.products.fleet.counts import FleetCounts
from phaseline.engine.products.gitops.last_observation import ObjectDiff
from phaseline.engine.products.levels.fold.reckoning import ENTITY
from phaseline.engine.products.levels.fold.reckoning import LevelsReport
from phaseline.engine.products.levels.fold.reckoning import OBJECTIVE
from phaseline.engine.products.levels.fold.spared import Excuse
from phaseline.engine.publish.compose import EventDetails
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.publish.pipeline import PATIENCE
from phaseline.engine.publish.pipeline import PublishResult
from phaseline.engine.publish.pipeline import WINDOW
from phaseline.engine.publish.single import Receipt
from phaseline.engine.publish.source_counts import SourceReport
from phaseline.engine.replay.dry_run_result import DryRun
from phaseline.engine.settings import ConnectionSettings
from phaseline.engine.settings import DEFAULT_URL
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client import client
from phaseline.engine.surfaces.client.client import WAIT
from phaseline.engine.surfaces.client.entity_view import M_co
from phaseline.engine.surfaces.client.portal import DwellWatch as DwellWatch
from phaseline.engine.surfaces.client.portal import Follow as Follow
from phaseline.engine.surfaces.client.portal import OpenClient
from phaseline.engine.surfaces.client.portal import Portal
from phaseline.engine.surfaces.client.portal import Watch as Watch
from phaseline.engine.surfaces.client.rejection_counts import RejectionCount
from phaseline.engine.surfaces.follow.follower import FollowerState
from phaseline.engine.surfaces.overview.overview import Overview
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.product import BrokenKind
from phaseline.schemas.envelope import Event
from phaseline.schemas.records import Entity
from phaseline.schemas.records import Rejection
from phaseline.schemas.records import Transition
from typing import Any
from typing import Generic
from typing import Literal
from typing import Self
from typing import Unpack
from typing import overload

__all__: list[str]

class _Mirror:
    """Runs the reads of `source` in the portal."""

    def __init__(self, portal: Portal, source: Any) -> None:
        ...

class Emco(_Mirror):
    """EMCO's status query: `client.emco`."""

    @overload
    def status(self, resource_id: str, /, *, at: When | None=None, **query: Unpack[SourceStatusQuery]) -> SourceStatus:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`.

The worker that owns the tree answers in one round trip. The client reads the streams instead when no worker
answers, when the answer is too large for one message, and with `at`."""

    @overload
    def status(self, resource_id: str, /, *, at: When | None=None, **query: Unpack[EmcoStatusQuery]) -> EmcoStatus:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`.

The worker that owns the tree answers in one round trip. The client reads the streams instead when no worker
answers, when the answer is too large for one message, and with `at`."""

    @overload
    def status(self, resource_id: str, /, *, at: When | None=None, **query: Unpack[EmcoNamesQuery]) -> EmcoNames:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`.

The worker that owns the tree answers in one round trip. The client reads the streams instead when no worker
answers, when the answer is too large for one message, and with `at`."""

    @overload
    def status(self, resource_id: str, /, *, at: When | None=None, **query: Unpack[StatusQuery]) -> SourceStatus | EmcoStatus | EmcoNames:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`.

The worker that owns the tree answers in one round trip. The client reads the streams instead when no worker
answers, when the answer is too large for one message, and with `at`."""

    def selection(self, resource_id: str, /, *, at: When | None=None, **query: Unpack[StatusQuery]) -> StatusSelection:
        """The entities and counts that a status consists of, with the reasons of failures; raises as `status` does."""

class EmcoView(_Mirror):
    """What a view shows of EMCO: `view.emco`."""

    @overload
    def status(self, resource_id: str, /, **query: Unpack[SourceStatusQuery]) -> SourceStatus:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`."""

    @overload
    def status(self, resource_id: str, /, **query: Unpack[EmcoStatusQuery]) -> EmcoStatus:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`."""

    @overload
    def status(self, resource_id: str, /, **query: Unpack[EmcoNamesQuery]) -> EmcoNames:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`."""

    @overload
    def status(self, resource_id: str, /, **query: Unpack[StatusQuery]) -> SourceStatus | EmcoStatus | EmcoNames:
        """The status of an EMCO resource; raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`."""

    def selection(self, resource_id: str, /, **query: Unpack[StatusQuery]) -> StatusSelection:
        """The entities and counts that a status consists of, with the reasons of failures; raises as `status` does."""

class Gitops(_Mirror):
    """Kubernetes objects and Git: `client.gitops`. The server keeps the last observation only, so no view has it."""

    def diff(self, resource_id: str) -> ObjectDiff:
        """The last observation of a Kubernetes object, assessed by the settings that its application has now.

Raises `NotFound.not_observed`, `InvalidInput.invalid_id`."""

    def manifest(self, kind: str, object_id: str) -> Mapping[str, Any] | None:
        """The manifest of a Kubernetes object as it was observed last; None if it was not there.

kind: `resource` or `owned_object`. Values of Secrets are masked, and so are those of a Secret that stands
inside another object. Raises as `diff` does, and `InvalidInput.no_manifest` for other kinds."""

class Fleet(_Mirror):
    """Fleet's counts: `client.fleet`."""

    def counts(self, entity_id: str, *, condition: str | Sequence[str]=(), at: When | None=None) -> FleetCounts:
        """Counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidInput`."""

    def cluster_counts(self, *clusters: str, condition: str | Sequence[str]=(), at: When | None=None) -> FleetClusterCounts:
        """Counts of clusters, across all repositories. Names may be globs. Raises `EntityUnknown`, `InvalidInput`."""

class FleetView(_Mirror):
    """What a view shows of Fleet: `view.fleet`."""

    def counts(self, entity_id: str, *, condition: str | Sequence[str]=()) -> FleetCounts:
        """Counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidInput`."""

    def cluster_counts(self, *clusters: str, condition: str | Sequence[str]=()) -> FleetClusterCounts:
        """Counts of clusters, across all repositories. Names may be globs. Raises `EntityUnknown`, `InvalidInput`."""

class Levels(_Mirror):
    """Availability, outages and time in each class: `client.levels`."""

    def measure(self, start: When='30d', end: When | None=None, *, tree: str | Sequence[str]=(), kind: str | None=None, by: str=ENTITY, objective: float=OBJECTIVE, windows: Path | str | None=None, slices: float=0, flaps: bool=False, progress: Callable[[int], None]=lambda _: None) -> LevelsReport:
        """How available entities were from `start` to `end` (None: now), the worst first.

tree: these ids and those below them. by: what makes a row: `entity`, `tree`, `kind` or `label=NAME`.
objective: in percent. windows: a file of rules of notices, or its text, whose windows are excused. slices: the
seconds of the slices of which the times are wanted too, such as 86400. flaps: only who flaps, the most often
first. progress: called with the number of records read so far. Raises `TreeUnknown`, `NotInLog`."""

    def excuse(self, tree: str, start: When, end: When, why: str) -> Excuse:
        """Excuse a time of an entity and all below it, by a note in the log. Raises `InvalidInput`, `NotPermitted`."""

    def excuses(self) -> Sequence[Excuse]:
        """The excuses that stand, oldest first."""

    def withdraw(self, place: int, why: str) -> Excuse:
        """Withdraw the excuse that stands at a place of the log. Raises `NotFound.no_excuse`, `NotPermitted`."""

class EntityView(_Mirror, Generic[M_co]):
    """The entities at one moment: all reads of a view show the same moment. `client.at` makes it.

The view of the latest states has no moment. Each read shows the newest copied state, a few milliseconds old."""

    @property
    def moment(self) -> M_co:
        """The moment of the view: a place in the log, and its time. None: the latest states."""

    @property
    def now_ns(self) -> int:
        """The time that the view shows, ns: durations end there."""

    @property
    def now(self) -> datetime:
        """The time that the view shows."""

    @property
    def kinds(self) -> Kinds:
        """The tables of the kinds."""

    def get(self, kind: str, entity_id: str) -> Entity:
        """One entity; raises `EntityUnknown`."""

    def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity: its state, the reason, and the time. Raises `EntityUnknown`."""

    def list(self, kind: str | None=None, *, tree: str | None=None, state: str | None=None, condition: str | Sequence[str]=(), class_: str | Sequence[str]=(), lasting: float=0, deleted: bool=False) -> Iterator[Entity]:
        """The entities that fit, ids in natural order.

tree: this id and those below it. state: a phase, or `{Failed,[Balance,*]}`. condition: one that stands, or
several that stand together. class_: `bad`, or several of the classes; with one, what is left behind counts.
lasting: seconds for which they have been in their class at least, whatever states they had in it. deleted:
deleted ones too. Raises `InvalidInput.no_state`, `NameUnknown`."""

    def last_of(self, kind: str | None=None, *, tree: str | None=None, state: str | None=None, condition: str | Sequence[str]=(), class_: str | Sequence[str]=(), lasting: float=0, deleted: bool=False) -> Sequence[Transition]:
        """The last transition of each entity that `list` gives, in the same order: it tells the reason too."""

    def unsorted(self, kind: str | None=None, *, tree: str | None=None, state: str | None=None, condition: str | Sequence[str]=(), class_: str | Sequence[str]=(), lasting: float=0, deleted: bool=False) -> Iterator[Transition]:
        """What `last_of` gives, in no order: of the latest states each as soon as it is read."""

    @property
    def unanswered(self) -> frozenset[int]:
        """The partitions that were read from STATE because no worker answered for them. Nothing is missing."""

    def tree(self, root: str, *, deleted: bool=False) -> Sequence[Entity]:
        """`root` and all entities below it, ids in natural order; raises `TreeUnknown`."""

    def last_of_tree(self, root: str, *, deleted: bool=False) -> Sequence[Transition]:
        """The last transition of each entity that `tree` gives, in the same order; raises `TreeUnknown`."""

    def overview(self, *, tree: str | None=None) -> Overview:
        """What is bad and because of what, the longest first; and what else calls for somebody (docs/overview.md).

tree: only this id and those below it. Raises `InvalidInput`."""

    def next_place(self) -> int:
        """Where a watch must start to go on from this view without a gap. Ask for it before you read.

Of the latest states it can return records that the reads have seen: leave out those whose version is not newer."""

    def stale_since(self, entities: Sequence[Entity]) -> Mapping[tuple[str, str], datetime]:
        """By kind and id, the entities whose states are stale, and since when: something at or above fell silent."""

    def stale(self, entities: Sequence[Entity]) -> Mapping[tuple[str, str], Stale]:
        """By kind and id, the entities whose states are stale: by what, since when, and when each was recorded last."""

    def unknown_parts(self, entities: Sequence[Entity]) -> PartsOf:
        """By kind and id, and by facet, of how many parts of these wholes nothing is known (`3 of 11 not assessed`)."""

    def shut(self, entities: Sequence[Entity]) -> ShutBy:
        """By kind and id, and by facet, what shuts these entities to new work (`the cluster is Stopped [Balance]`)."""

    def kind_of(self, entity_id: str, kind: str | None=None) -> str:
        """The kind of the only entity with that id, or `kind` if it exists.

Raises `EntityUnknown`, `AmbiguousId`, `InvalidInput.invalid_id`."""

    def said(self, entity: Entity) -> tuple[GivenReason, ...]:
        """What was said of the conditions that an entity stands in: the reason of each, by whom, how often."""

    def refused(self, last: Transition) -> tuple[Contradiction, ...]:
        """What was said of an entity since its last record and was refused, unless a later word has replaced it.

Nothing as of a moment of the past."""

    def why(self, kind: str, entity_id: str) -> Explanation:
        """Why an entity is in its state: back to the events from outside. Raises `EntityUnknown`."""

    @property
    def emco(self) -> EmcoView:
        """What a view shows of EMCO: `view.emco`."""

    @property
    def fleet(self) -> FleetView:
        """What a view shows of Fleet: `view.fleet`."""

class NumberedSource(_Mirror):
    """One source of events, which numbers them: `sequence` counts in `epoch`, and what is not newer counts as a repeat.

Its methods are those of the client. Events of one tree are sent one after the other, as they are numbered."""

    @property
    def name(self) -> str:
        """The source of its events."""

    @property
    def epoch(self) -> int | None:
        """The epoch in which it counts; None before the first event of a user who may not ask for one."""

    @property
    def number(self) -> int:
        """The number of the last event; 0 before the first."""

    def publish(self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None=None, *, check: bool=True, until_stored: bool | float=False, **details: Unpack[EventDetails]) -> Receipt:
        """Number one event and store it, as `Client.publish` does."""

    def publish_and_wait(self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None=None, *, check: bool=True, timeout: float=10.0, **details: Unpack[EventDetails]) -> Outcome:
        """Number one event, store it, and wait for its outcome, as `Client.publish_and_wait` does."""

    def publish_many(self, events: Iterable[Event | Mapping[str, Any]]) -> PublishResult:
        """Number events and store them in order, as `Client.publish_many` does. Other calls must wait meanwhile."""

    def snapshot(self, kind: str, entity_id: str, below: str, items: Iterable[Mapping[str, Any]], *, seen: int | None=None, after: str | None=None, upto: str | None=None, confirm: bool=False, wait: float | None=None, **details: Unpack[EventDetails]) -> Sequence[Outcome]:
        """Number and publish all that there is of the kind `below` under an entity, as `Client.snapshot` does."""

class Client:
    """One connection to one installation, for programs without asyncio: `phaseline.Client` with plain methods.

A call returns when its answer is there. `list`, `watch`, `follow`, `history` and `rejections` give iterators. Use
the client in a `with` block, or call `close`. It runs asyncio in a thread of its own, so it also works in a
notebook; `progress` functions are called from that thread. Ctrl-C ends a call in good order."""

    def __init__(self, opened: OpenClient[client.Client]) -> None:
        """Use a connection that is open; `connect` makes one."""

    @classmethod
    def open(cls, settings: Settings, *, source: str | None=None, kinds: Kinds | None=None) -> Self:
        """Connect by complete settings, as `connect` does."""

    def __enter__(self) -> Self:
        ...

    def __exit__(self, *_: object) -> None:
        ...

    def close(self) -> None:
        """Disconnect. A second call does nothing."""

    def source(self, name: str | None=None) -> NumberedSource:
        """A source that numbers its events from now on, so that its repeats are recognised however late they come.

Its epoch is the last position of EVENTS: a program that starts again is heard at once, whatever its clock says,
and keeps no file. In a log that was put back it is greater than every one before. name: by default the client's
own source. Two programs need two names."""

    def publish(self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None=None, *, check: bool=True, until_stored: bool | float=False, **details: Unpack[EventDetails]) -> Receipt:
        """Store one event; `details` (`EventDetails`): `source`, `event_id`, `sequence`, `epoch`, `time`, ...

Sent again with the same `source` and `event_id` it is stored once (within ten minutes). Raises `Unconfirmed`
when no answer came: send it again under the same `event_id`.
check: judge it first as a worker would, and raise `EventRefused` instead of sending what would be rejected.
until_stored: send it again through lost connections and restarts of the server until it is stored; or for so
many seconds."""

    def publish_and_wait(self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None=None, *, check: bool=True, timeout: float=WAIT, **details: Unpack[EventDetails]) -> Outcome:
        """Store one event as `publish` does, and wait for its outcome: its transitions, its rejection, or nothing.

Raises `Undecided` when no worker has answered after `timeout` seconds; the event stays stored."""

    def outcome(self, receipt: Receipt, *, timeout: float=WAIT) -> Outcome:
        """The outcome of an event that was stored before. timeout: the seconds to wait for it.

Raises `Undecided`, and `NotFound.event_gone` if the event is no longer stored."""

    def publish_many(self, events: Iterable[Event | Mapping[str, Any]], *, window: int=WINDOW, patience: float=PATIENCE, check: bool=True, progress: Callable[[PublishResult], None] | None=None) -> PublishResult:
        """Store events in order. The answer counts the events that are new, and those that were stored before.

events: each an `Event` or a CloudEvents map, with `type` `<kind>.<trigger>` and `subject` `<kind>/<id>`.
window: how many may be in flight. On a cluster only one of each tree is, so that the order of each tree
survives a change of leader. patience: after trouble with the servers the client sends again; it raises
`Unconfirmed` once nothing has moved for so many seconds. check: as for `publish`. The first event that would
be rejected raises `EventRefused`; all events before it are stored then. progress: called with the counts."""

    def snapshot(self, kind: str, entity_id: str, below: str, items: Iterable[Mapping[str, Any]], *, seen: int | None=None, after: str | None=None, upto: str | None=None, confirm: bool=False, about: Sequence[str] | None=None, log: int | None=None, wait: float | None=None, progress: Callable[[int, int], None] | None=None, **details: Unpack[EventDetails]) -> Sequence[Outcome]:
        """Publish all that there is of the kind `below` under an entity, in as many events as it needs.

items: maps with `id` (the part below the entity), `phase`, and what else a report has. seen: the highest
`cause.sequence` that the reporter has read in this tree; log: in which log (`log_identity`). after, upto: the
snapshot speaks of ids above `after` and up to `upto` only, in byte order. confirm: end what is not listed even
if that is more than the brake allows; it needs `seen`. wait: the seconds to wait for the outcome of each event;
None does not wait. about: the conditions that it speaks of, the only ones that it clears. progress: called with
the number of events sent, and of all. Raises as `publish` and `publish_and_wait` do; `EventRefused` before
anything is sent if several events together would end more than the brake allows."""

    def resend(self, sequence: int) -> Receipt:
        """Store again the event whose rejection is at the place `sequence` of the log, once the reason for it is gone.

Raises `NotFound.record_not_found`, `NotFound.not_rejected`, `NotFound.event_gone`, and what `publish` raises."""

    def dry_run(self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None=None, *, progress: Callable[[int], None] | None=None, **details: Unpack[EventDetails]) -> DryRun:
        """What one event would do to its tree now: its records, its rejection, or nothing. Nothing is sent.

progress: called with the number of states read so far. Raises `SetupError`, `EventRefused`."""

    def follow(self, name: str, kind: str | None=None, *, facet: str | None=None, state: str | None=None, tree: str | None=None, condition: str | Sequence[str]=(), start: When=NOW, at_once: int=1, patience: float=30.0) -> Follow:
        """Transitions, whose place the server keeps under `name`; each goes to one of those who follow under it.

Who asks for the next one has acknowledged the one before; what was not acknowledged is handed out again. What
is selected is as in `watch`. start: where it begins if there is no follower of that name yet. at_once: how many
all programs together may have in hand; with 1 they come in the order of the log. patience: seconds after which
what a lost program has in hand is handed out again. Raises `InvalidInput`, and when the first one is asked for
`InvalidInput.follower_differs`, `NotFound.follower_lost`, `NotFound.follower_gone`, `NotPermitted`."""

    def followers(self) -> Sequence[FollowerState]:
        """Those who follow under a name, with their places, and how far they are behind."""

    def unfollow(self, name: str) -> FollowerState:
        """Delete a follower, and return what it was; raises `NameUnknown`. Programs that follow under this name end.

Its place is forgotten: who follows under this name again begins anew. `start=` the place + 1 goes on from it."""

    def sources(self) -> SourceReport:
        """What became of the events of each source, as the workers have counted since they own their partitions.

Raises `NoAnswer` if no worker answers."""

    @property
    def kinds(self) -> Kinds:
        """The tables of the kinds."""

    @property
    def broken_kinds(self) -> Sequence[BrokenKind]:
        """The kinds of installed packages that cannot be used and are left out, each with the reason."""

    @property
    def default_source(self) -> str:
        """The source of events for which the publisher gives no other."""

    def log_identity(self) -> int:
        """Which log this is: a whole number, that is greater each time the log was put back from a backup.

Keep it beside whatever counts in this log: a `place`, or a `seen` (`data.log`). As the `epoch` of events that
are made of this log it keeps those of a log that was put back from being taken for repeats. 0 before a worker
has made it. Raises `NotPermitted`."""

    def ask(self, kind: str, entity_id: str, data: Mapping[str, Any] | None=None) -> dict[str, Any]:
        """What the service of a product says about an entity (docs/own-kinds.md, Services).

Raises `EntityUnknown`, `InvalidInput`; `InvalidInput` if the service does not take `data`; `NoAnswer` if no
worker answers such questions; `ServiceRefused`."""

    def moment(self, when: When) -> Moment:
        """The moment that `when` names: its place in the log and its time. Pass it on to read the same moment again.

Raises `NameUnknown`."""

    @overload
    def at(self, when: When) -> EntityView[Moment]:
        """The entities at a moment; without one the latest states. The moment is resolved here, once.

Raises `NameUnknown`."""

    @overload
    def at(self, when: None=None) -> EntityView[None]:
        """The entities at a moment; without one the latest states. The moment is resolved here, once.

Raises `NameUnknown`."""

    @overload
    def at(self, when: When | None) -> EntityView[Moment | None]:
        """The entities at a moment; without one the latest states. The moment is resolved here, once.

Raises `NameUnknown`."""

    def get(self, kind: str, entity_id: str, *, at: When | None=None) -> Entity:
        """One entity; raises `EntityUnknown`. Without `at` it may be milliseconds behind the log."""

    def last(self, kind: str, entity_id: str, *, at: When | None=None) -> Transition:
        """The last transition of an entity: its state, the reason, and the time. Raises `EntityUnknown`."""

    def list(self, kind: str | None=None, *, tree: str | None=None, state: str | None=None, condition: str | Sequence[str]=(), class_: str | Sequence[str]=(), lasting: float=0, deleted: bool=False, at: When | None=None) -> Iterator[Entity]:
        """The entities that fit, ids in natural order. Each word is as in `EntityView.list`."""

    def tree(self, root: str, *, deleted: bool=False, at: When | None=None) -> Sequence[Entity]:
        """`root` and all entities below it, ids in natural order; raises `TreeUnknown`."""

    def overview(self, *, tree: str | None=None, at: When | None=None) -> Overview:
        """What is bad and because of what, the longest first, and what else calls for somebody (docs/overview.md)."""

    def stale_since(self, entities: Sequence[Entity], *, at: When | None=None) -> Mapping[tuple[str, str], datetime]:
        """Those of these entities whose states are stale, by kind and id, and since when (`EntityView.stale_since`)."""

    def kind_of(self, entity_id: str, kind: str | None=None, *, at: When | None=None) -> str:
        """The kind of the only entity with that id, or `kind` if it exists.

Raises `EntityUnknown`, `AmbiguousId`, `InvalidInput.invalid_id`."""

    def why(self, kind: str, entity_id: str, *, at: When | None=None) -> Explanation:
        """Why an entity is in its state: back to the events from outside. Raises `EntityUnknown`."""

    @overload
    def watch(self, kind: str | None=None, *, facet: str | None=None, state: str | None=None, tree: str | None=None, condition: str | Sequence[str]=(), start: When=NOW, rejections: Literal[False]=False, follow: bool=True) -> Watch[Transition]:
        """Transitions into `state` (and `rejections`) from `start` on, each once and in the log's order.

state: a phase, or `{Failed,[Balance,*]}`. condition: one that stands then, or several that stand together.
tree: this id and those below it. start: a place or a time, included; after a `Moment`, so that a watch
continues a view without a gap. follow: go on after the last record that is there. Raises `InvalidInput`.

With `class_`, `bad` or several of the classes, it gives a `Dwell` for each entity that has been in the class
for `lasting` seconds, whatever states it had in it, and another one when that is over. What is so at the start
counts as well; what ends before is not given."""

    @overload
    def watch(self, kind: str | None=None, *, facet: str | None=None, state: str | None=None, tree: str | None=None, condition: str | Sequence[str]=(), start: When=NOW, rejections: bool, follow: bool=True) -> Watch[Transition | Rejection]:
        """Transitions into `state` (and `rejections`) from `start` on, each once and in the log's order.

state: a phase, or `{Failed,[Balance,*]}`. condition: one that stands then, or several that stand together.
tree: this id and those below it. start: a place or a time, included; after a `Moment`, so that a watch
continues a view without a gap. follow: go on after the last record that is there. Raises `InvalidInput`.

With `class_`, `bad` or several of the classes, it gives a `Dwell` for each entity that has been in the class
for `lasting` seconds, whatever states it had in it, and another one when that is over. What is so at the start
counts as well; what ends before is not given."""

    @overload
    def watch(self, kind: str | None=None, *, class_: str | Sequence[str], lasting: float=0, state: str | None=None, tree: str | None=None, condition: str | Sequence[str]=(), start: When=NOW, follow: bool=True) -> DwellWatch:
        """Transitions into `state` (and `rejections`) from `start` on, each once and in the log's order.

state: a phase, or `{Failed,[Balance,*]}`. condition: one that stands then, or several that stand together.
tree: this id and those below it. start: a place or a time, included; after a `Moment`, so that a watch
continues a view without a gap. follow: go on after the last record that is there. Raises `InvalidInput`.

With `class_`, `bad` or several of the classes, it gives a `Dwell` for each entity that has been in the class
for `lasting` seconds, whatever states it had in it, and another one when that is over. What is so at the start
counts as well; what ends before is not given."""

    def history(self, kind: str, entity_id: str, *, follow: bool=False, clock: Clock=SERVER) -> Watch[Transition]:
        """All transitions of one entity, oldest first. clock: `event` orders them by the publishers' times.

follow: go on after the last one that is there. Raises `EntityUnknown` when the first one is asked for."""

    def rejections(self, kind: str | None=None, *, tree: str | None=None, reason: str | None=None, start: When=START, follow: bool=False) -> Watch[Rejection]:
        """The rejections from `start` on, in the log's order; `watch.sequence` is what `resend` takes.

tree: this id and those below it. reason: such as `guard`. follow: go on after the last one that is there."""

    def rejection_counts(self, kind: str | None=None, *, tree: str | None=None, reason: str | None=None, start: When=START) -> Sequence[RejectionCount]:
        """How many rejections there are from `start` on, by reason, kind and source, the most frequent first."""

    def record(self, sequence: int) -> Logged:
        """The record at the place `sequence` of the log; raises `NotFound.record_not_found`, `NotFound.no_record`."""

    def way_out(self, sequence: int) -> str:
        """What could be done about the rejection at the place `sequence` of the log, as things stood there.

Empty if nothing is known. It offers requests, and a report of the state that somebody sees. Raises
`NotFound.record_not_found`."""

    def event(self, sequence: int) -> bytes | None:
        """The body of a stored event, by its sequence in EVENTS; None if the stream no longer keeps it."""

    def timeline(self, entity_id: str, *, kind: str | None=None, start: When | None=None, end: When | None=None, depth: int | None=None, clock: Clock=SERVER) -> Timeline:
        """The states of an entity and of those below it from `start` to `end`, a lane for each facet.

start: None for the first state. end: None for now. depth: how many levels below; None for all. clock: `event`
for the publishers' times; without `end` it ends with the last of them. Raises `TreeUnknown`, `InvalidInput`,
`InvalidInput.start_after_end`, `InvalidInput.wrong_clock`."""

    def changes(self, start: When, end: When | None=None, *, tree: str | None=None, kind: str | None=None) -> Sequence[Change]:
        """How entities differ between `start` and `end` (None: now), and how they changed; ids in natural order.

tree: this id and those below it. Raises `InvalidInput.start_after_end`."""

    @property
    def emco(self) -> Emco:
        """EMCO's status query: `client.emco`."""

    @property
    def gitops(self) -> Gitops:
        """Kubernetes objects and Git: `client.gitops`. The server keeps the last observation only, so no view has it."""

    @property
    def fleet(self) -> Fleet:
        """Fleet's counts: `client.fleet`."""

    @property
    def levels(self) -> Levels:
        """Availability, outages and time in each class: `client.levels`."""

def connect(url: str | Sequence[str]=DEFAULT_URL, *, source: str | None=None, kinds: Kinds | None=None, context: str | None=None, **settings: Unpack[ConnectionSettings]) -> Client:
    """Connect to an installation: `with phaseline.sync.connect(...) as client`.

url: one server or several of one cluster. source: where the client's events come from. kinds: the tables to check
against; by default those installed here. context: the name of a context of the `nats` command that describes the
connection, or `@selected`. Raises `BadSetting`, `NatsUnreachable`, `SetupError`."""
