"""Observes the objects of one cluster, and makes one event for each real change.

Belongs here: choosing the adapter of an object, dropping repeated events, event envelopes. Does not: the adapters
(`argo`, `fleet`, `generic`), whose an object is (`ownership`).
"""

import hashlib
import itertools
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any

from phaseline.engine import logs
from phaseline.engine.products.observe import generic, ownership
from phaseline.engine.products.observe.argo import objects as argo
from phaseline.engine.products.observe.argo.projects import Projects
from phaseline.engine.products.observe.events import Manifest, ObservedEvent, mapping, text
from phaseline.engine.products.observe.fleet import objects as fleet
from phaseline.engine.products.observe.generic import SKIPPED, DesiredObjects
from phaseline.engine.products.observe.happenings import is_event
from phaseline.engine.products.observe.ownership import (
    APPLICATION,
    APPLICATION_SET,
    PROJECT,
    MovedApplication,
    Ownership,
    OwningEntity,
)
from phaseline.engine.products.observe.placing import OWNING, Placing
from phaseline.engine.products.observe.roots import IsGone, Known, Roots
from phaseline.engine.products.observe.snapshots import Presence
from phaseline.engine.products.observe.stream import ObjectChange, Versions
from phaseline.machines.kinds.kubernetes.kind_facts import KindsTold
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.observation import LISTED
from phaseline.machines.kinds.kubernetes.pairs import ObjectKey, key_of
from phaseline.machines.kinds.kubernetes.secret_values import without_values
from phaseline.machines.language.endings import MOVED
from phaseline.machines.language.fields import UNWATCHED
from phaseline.schemas import bounds

log = logs.get_logger(__name__)

ADAPTERS: Mapping[tuple[str, str], Callable[..., Iterator[ObservedEvent]]] = {
    APPLICATION: argo.application,
    APPLICATION_SET: argo.application_set,
}
"""The adapters of Argo CD's objects. `FleetObjects` has those of Fleet's. All other objects have `generic`."""
LISTS = {
    APPLICATION: ("application_set", "application"),
    (fleet.GROUP, "Bundle"): ("git_repo", "bundle"),
    (fleet.GROUP, "BundleDeployment"): ("bundle", "bundle_deployment"),
}
"""After all objects of a sort were listed: the kind whose entities get a snapshot, and the kind of its items."""
HELD = 2_000
"""The most objects that are kept for an Application that was not seen yet."""
NO_CHANGE = ObjectChange({})
BESIDE = ("owns", "events_seen")
"""Triggers that say more than the version of an object does."""
LONGEST = 1_000
"""The most characters of the free attribute `unwatched`."""
MAX_ID = 256
"""The most bytes of an event id."""
VERSIONED = ("resource", "owned_object")
"""The kinds whose observations are held against the version of their object."""
MOST_LEVELS = bounds.LEVELS - 2
"""How deep an object may be nested, which stands in the data of an event."""


class Observer:
    """Turns changes of objects into events."""

    def __init__(
        self, source: str, application: str | None = None, desired: Iterable[Manifest] | None = None,
        whose: Ownership | None = None,
    ) -> None:  # fmt: skip
        """source: the source of the events. desired: the objects that Git declares; None if not known.

        application: the application of all objects; if None, that in Argo CD's marks, as `whose` reads them.
        """
        self.source = source
        self.ownership = whose or Ownership(application=application)
        desired = None if desired is None else [*desired]
        self.desired = DesiredObjects(None if desired is None else {key_of(one).paired: one for one in desired})
        self.kinds = KindsTold(desired or ())
        self.placing = Placing(self.desired, self.kinds.of)
        self.presence, self.roots, self._projects = Presence(), Roots(), Projects()
        self._versions = Versions()
        self._fleet = fleet.FleetObjects().adapters()
        if self.ownership.application is not None:
            self.presence.note(ObservedEvent("application", "observed", self.ownership.application))
        self._held: dict[ObjectKey, tuple[str, ObjectChange]] = {}
        """Objects whose Application was not seen yet, with its instance name."""
        self._guessed: dict[str, str] = {}
        """The applications that were guessed for objects, with that name."""
        self._published: dict[tuple[str, str, str], str] = {}
        """The digest of the last event of each kind, trigger and id."""
        self.sees_owned = True
        """Whether all that owners make can be seen."""
        self.by_marks = False
        """Whether the marks of objects alone say which applications there are: Applications themselves are not seen."""
        self._away: set[str] = set()
        self._unwatched: dict[str, str] = {}
        """By application, what was told of the resources that nobody looks at."""
        self._run, self._number = secrets.token_hex(4), itertools.count(1)

    @property
    def unowned(self) -> dict[str, str]:
        """The objects without a known application, and why."""
        return self.placing.unowned

    def see(self, change: ObjectChange) -> Iterator[dict[str, Any]]:
        """The events of one change; none if they would repeat the last ones, or if it is older than what was seen."""
        yield from self.overdue()
        manifest = change.manifest
        try:
            bounds.check_depth(manifest, MOST_LEVELS)
        except bounds.Unbounded as error:
            log.warning("object_left_out", object=str(key_of(manifest)), error=str(error))
            return
        if self._versions.is_older(change):
            version = text(mapping(manifest, "metadata"), "resourceVersion")
            log.warning("older_version_left_out", object=str(key_of(manifest)), version=version)
            return
        self.kinds.note(manifest)
        moved = self.ownership.note(manifest, gone=change.gone)
        if moved is not None:
            yield from self._left(moved)
        yield from self._told(change)
        if moved is not None:
            yield from self._brought_home(moved.instance)

    def missing(self) -> Iterator[dict[str, Any]]:
        """The events of desired objects that were not seen, and of objects whose owners were not.

        Call it when all existing objects have been seen.
        """
        yield from self._sent(self.placing.whole())
        for desired in self.desired.take_missing():
            application = self.ownership.whose(desired).id
            if application is not None:
                lacking = generic.missing(desired, application, self.kinds)
                self.presence.note(lacking)
                yield self._event(lacking, {}, gone=True)

    def overdue(self) -> Iterator[dict[str, Any]]:
        """The events of objects that have waited for their owners for long enough."""
        yield from self._sent(self.placing.overdue())

    def owned(self) -> Iterator[dict[str, Any]]:
        """The snapshots to send after all objects were listed that others made: what each resource owns."""
        yield from (self._event(one, {}, gone=False) for one in self.presence.of_owners(OWNING))

    def relisted(
        self, group: str, kind: str, namespace: str | None, *, whole: bool = False
    ) -> Iterator[dict[str, Any]]:
        """The snapshots to send after all objects of a sort were listed, in one namespace or in all.

        whole: all others were listed, too.
        """
        if whole and self.sees_owned:
            yield from self.owned()
        if (group, kind) in LISTS:
            found = self.presence.snapshots(*LISTS[group, kind]) if namespace is None else iter(())
        elif (group, kind) in SKIPPED or group in (ownership.GROUP, fleet.GROUP):
            found = iter(())
        else:
            within = f"{namespace}/" if namespace is not None else ""
            found = self.presence.snapshots("application", "resource", f"{group or 'core'}:{kind}/{within}")
        yield from (self._event(one, {}, gone=False) for one in found)

    async def vanished(self, sort: tuple[str, str], known: Known, is_gone: IsGone) -> AsyncIterator[dict[str, Any]]:
        """The events of what earlier runs reported, and what is gone, after all objects of a sort were listed."""
        async for one in self.roots.gone(sort, known, is_gone):
            self.presence.forget(one.kind, one.id)
            self._forget(one.id)
            yield self._event(one, {}, gone=True)

    async def remember(self, known: Known) -> None:
        """Learn the applications of earlier runs that are known by marks alone, so that snapshots speak of them."""
        for application in await self.roots.marked(known):
            self.presence.note(ObservedEvent("application", "observed", application))

    def heartbeats(self) -> Iterator[dict[str, Any]]:
        """The heartbeats to send: of each place of which nothing was told since the last ones."""
        yield from (self._event(one, {}, gone=False) for one in self.presence.heartbeats())

    def unwatched(self, away: set[str]) -> Iterator[dict[str, Any]]:
        """The events that tell each application which resources nobody looks at, where that has changed.

        away: those whose server does not answer now. What was away at the last look too counts: a watch may break off.
        What an earlier run has told, or of an earlier life, is not known, so each application is told once.
        """
        named, self._away = ", ".join(sorted(away & self._away)), {*away}
        for application in self.presence.ids("application"):
            if self._unwatched.get(application) != named:
                self._unwatched[application] = named
                data = {"attributes": {UNWATCHED: named[:LONGEST] or None}}
                yield self._event(ObservedEvent("application", "configure", application, data), {}, gone=False)

    def _told(self, change: ObjectChange) -> Iterator[dict[str, Any]]:
        yield from self._sent(self._observed(change), change)

    def _sent(self, told: Iterable[ObservedEvent], change: ObjectChange = NO_CHANGE) -> Iterator[dict[str, Any]]:
        """The events that do not repeat the last ones. change: what they tell of."""
        sort = group_kind(change.manifest)
        for observed in told:
            key = (observed.kind, observed.trigger, observed.id)
            named = self.roots.note(sort, observed, change.manifest, is_listed=change.listed)
            uid = (named.data or {}).get("uid", "")
            if self.presence.note(named):
                self._forget(observed.id)
            if key[:2] == ("application", "named"):
                for one in self.presence.named(observed):
                    self._published.pop(("resource", "named", one), None)
            compared = observed.compared if observed.compared is not None else observed.data
            digest = _digest(json.dumps([compared, uid]))
            if self._published.get(key) == digest:
                continue
            self._forget_opposites(observed)
            self._forget_left(observed)
            self._forget_ended()
            if key[:2] == ("resource", "removed"):
                self._published.pop(("application", "named", "/".join(observed.id.split("/")[:2])), None)
            self._published[key] = digest
            if change.listed and observed.kind in VERSIONED and observed.trigger == "observed":
                named = named._replace(data={**(named.data or {}), LISTED.name: True})
            beside = key[1] in BESIDE or (key[1] == "removed" and not change.gone)
            yield self._event(named, {} if beside else mapping(change.manifest, "metadata"), gone=change.gone)

    def _observed(self, change: ObjectChange) -> Iterator[ObservedEvent]:
        manifest, gone = change.manifest, change.gone
        sort, key = group_kind(manifest), key_of(manifest)
        if sort in self._fleet:
            yield from self._fleet[sort](without_values(manifest), gone=gone)
            return
        whose = self.ownership.whose(manifest)
        if sort == PROJECT:
            yield from self._projects.project(manifest, gone=gone)
            return
        if sort in ADAPTERS:
            windows = self._projects.application(manifest, str(whose.id), gone=gone) if sort == APPLICATION else {}
            for event in ADAPTERS[sort](without_values(manifest), whose.id, gone=gone):
                is_settings = bool(windows) and event.trigger == "configure"
                yield event._replace(data={**(event.data or {}), **windows}) if is_settings else event
            return
        if is_event(manifest):
            yield from () if gone else self.placing.event(manifest)
            return
        if sort in SKIPPED:
            return
        if whose.id is None and sort[0] == fleet.GROUP:
            whose = whose._replace(why=fleet.LEFT_OUT)
        self._held.pop(key, None)
        for seen in self.placing.see(change, whose):
            application = "/".join(seen.id.split("/")[:2])
            if self.by_marks and (announced := self.roots.announced(application)) is not None:
                yield announced
            yield seen
        self._hold(key, whose, change)

    def _hold(self, key: ObjectKey, whose: OwningEntity, change: ObjectChange) -> None:
        """Keep an object whose Application was not seen yet, or whose owner's was not, and only the latest of these."""
        instance = "" if whose.known else whose.instance
        if instance and whose.id is not None:
            self._guessed[whose.id] = instance
        elif self._guessed and (known := self.placing.owners.get(key)) is not None:
            instance = self._guessed.get("/".join(known.place.id.split("/")[:2]), "")
        if instance and not change.gone:
            self._held[key] = instance, change
            if len(self._held) > HELD:
                self._held.pop(next(iter(self._held)))

    def _left(self, moved: MovedApplication) -> Iterator[dict[str, Any]]:
        """The event that ends the place in which an Application or its objects were before, if anything was there."""
        if moved.before is not None and self._forget(moved.before):
            self._projects.forget(moved.before)
            self.placing.moved(moved.before)
            self.presence.forget(moved.kind, moved.ends)
            yield self._event(ObservedEvent(moved.kind, "removed", moved.ends, {MOVED.name: True}), {}, gone=True)

    def _brought_home(self, instance: str) -> Iterator[dict[str, Any]]:
        """The events of the objects that were seen before their Application was."""
        self._guessed = {one: name for one, name in self._guessed.items() if name != instance}
        for key, change in [(key, change) for key, (name, change) in self._held.items() if name == instance]:
            del self._held[key]
            yield from self._told(change)

    def _forget_opposites(self, observed: ObservedEvent) -> None:
        """Forget the events that this one makes untrue, so that ready, missing and ready again become three events."""
        kind, trigger, entity_id = observed[:3]
        if trigger != "removed":
            self._published.pop((kind, "removed", entity_id), None)
        elif kind in PARENTS:
            self._forget(entity_id)
        for triggers in OPPOSITES:
            for other in triggers - {trigger} if trigger in triggers else ():
                self._published.pop((kind, other, entity_id), None)

    def _forget_ended(self) -> None:
        """Forget the events of objects that have no place any more."""
        while self.placing.ended:
            kind, entity_id, _ = self.placing.ended.pop()
            for trigger in ("observed", *BESIDE):
                self._published.pop((kind, trigger, entity_id), None)

    def _forget_left(self, observed: ObservedEvent) -> None:
        """Forget the steps of the applications that a set says are in its rollout no more."""
        stepping = (observed.data or {}).get("stepping")
        if stepping is not None and observed.kind == "application_set":
            there = {f"{observed.id}/{name}" for name in stepping}
            for key in [one for one in self._published if one[:2] == ("application", "stepped")]:
                if key[2].startswith(f"{observed.id}/") and key[2] not in there:
                    del self._published[key]

    def _forget(self, entity_id: str) -> bool:
        """Forget what was told of an entity and of all below it; whether there were any events."""
        for one in [one for one in self._unwatched if f"{one}/".startswith(f"{entity_id}/")]:
            del self._unwatched[one]
        found = [key for key in self._published if f"{key[2]}/".startswith(f"{entity_id}/")]
        for key in found:
            del self._published[key]
        return bool(found)

    def _event(self, observed: ObservedEvent, metadata: Mapping[str, Any], *, gone: bool) -> dict[str, Any]:
        self.presence.heard(observed)
        event = {
            "specversion": "1.0", "id": self._event_id(observed, metadata, gone=gone), "source": self.source,
            "type": f"{observed.kind}.{observed.trigger}", "subject": f"{observed.kind}/{observed.id}",
        }  # fmt: skip
        return event if observed.data is None else {**event, "data": observed.data}

    def _event_id(self, observed: ObservedEvent, metadata: Mapping[str, Any], *, gone: bool) -> str:
        """An id from the version of the object where that identifies the event; otherwise from a counter."""
        uid, version = text(metadata, "uid"), text(metadata, "resourceVersion")
        # A deleted object may have the version that it had while it existed.
        parts = (uid, version, *(("gone",) if gone else ()), observed.trigger, observed.id)
        # A desired manifest has no version: it may change, and change back, while the version of the object stays.
        has_version = uid and version and "desired" not in (observed.data or {})
        event_id = "-".join(parts) if has_version else f"{self._run}-{next(self._number)}"
        if len(event_id.encode()) > MAX_ID:  # two long ids that are cut off could be equal
            event_id = "-".join([*parts[:2], _digest(event_id)])
        return event_id


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


PARENTS = ("application", "application_set")
"""Kinds with which all below them goes."""
OPPOSITES = (
    {"ready", "not_ready", "modified", "missing", "orphaned", "not_owned", "counted", "unknown", "undeclared"},
    {"fetched", "fetch_failed", "removed"},
    {"failed", "recovered", "removed"},
    {"created", "removed", "observed"},
    {"named", "removed"},
    {"rollout", "removed"},
    {"checked_in", "removed"},
    {"owns", "removed"},
    {"events_seen", "removed"},
)
"""Groups of triggers that contradict each other. Of each group only the latest event is true."""
