"""Observes the objects of one cluster, and makes one event for each real change.

Belongs here: choosing the adapter and the application of an object, dropping repeated events, event envelopes.
Does not: the adapters (`argo`, `fleet`, `generic`).
"""

import hashlib
import itertools
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import structlog

from phaseline.engine.observe import argo, fleet, generic
from phaseline.engine.observe.events import Manifest, ObservedEvent, mapping, text
from phaseline.engine.observe.generic import DesiredObjects
from phaseline.engine.observe.stream import ObjectChange
from phaseline.machines.kubernetes.manifest_id import group_kind
from phaseline.machines.kubernetes.pairs import key_of
from phaseline.schemas import bounds

log = structlog.get_logger(__name__)

ADAPTERS: Mapping[tuple[str, str], Callable[..., Iterator[ObservedEvent]]] = {
    (argo.GROUP, "Application"): argo.application,
    (argo.GROUP, "ApplicationSet"): argo.application_set,
}
"""The adapters of objects that have their own events, beside those of `FleetObjects`. All others have `generic`."""
MAX_ID = 256
"""The most bytes of an event id."""
MOST_LEVELS = bounds.LEVELS - 2
"""How deep an object may be nested, which stands in the data of an event."""


class Observer:
    """Turns changes of objects into events. `unowned`: the objects whose application is not known."""

    def __init__(self, source: str, application: str | None = None, desired: Iterable[Manifest] | None = None) -> None:
        """source: the source of the events. desired: the objects that Git declares; None if not known.

        application: the application of all objects; if None, that in Argo CD's tracking annotation or label.
        """
        self.source, self.application = source, application
        self.desired = DesiredObjects(None if desired is None else {key_of(one): one for one in desired})
        self.unowned: set[str] = set()
        self._adapters = {**ADAPTERS, **fleet.FleetObjects().adapters()}
        self._published: dict[tuple[str, str, str], str] = {}
        """The digest of the last event of each kind, trigger and id."""
        self._run, self._number = secrets.token_hex(4), itertools.count(1)

    def see(self, change: ObjectChange) -> Iterator[dict[str, Any]]:
        """The events of one change; none if they would repeat the last ones."""
        manifest = change.manifest
        try:
            bounds.check_depth(manifest, MOST_LEVELS)
        except bounds.Unbounded as error:
            log.warning("object_left_out", object=str(key_of(manifest)), error=str(error))
            return
        for observed in self._observed(manifest, gone=change.gone):
            key = (observed.kind, observed.trigger, observed.id)
            digest = _digest(json.dumps(observed.compared if observed.compared is not None else observed.data))
            if self._published.get(key) == digest:
                continue
            self._forget_opposites(observed)
            self._published[key] = digest
            yield self._event(observed, mapping(manifest, "metadata"), gone=change.gone)

    def missing(self) -> Iterator[dict[str, Any]]:
        """The events of desired objects that were not seen. Call it when all existing objects have been seen."""
        for desired in self.desired.take_missing():
            application = self.application or generic.application_of(desired)
            if application is not None:
                yield self._event(generic.missing(desired, application), {}, gone=True)

    def _observed(self, manifest: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
        adapter = self._adapters.get(group_kind(manifest))
        if adapter is not None:
            yield from adapter(manifest, gone=gone)
            return
        application = self.application or generic.application_of(manifest)
        if application is None:
            self.unowned.add(str(key_of(manifest)))
            return
        event = generic.observed(manifest, application, self.desired, gone=gone)
        if event is not None:
            yield event

    def _forget_opposites(self, observed: ObservedEvent) -> None:
        """Forget the events that this one makes untrue, so that ready, missing and ready again become three events."""
        for triggers in OPPOSITES:
            for trigger in triggers - {observed.trigger} if observed.trigger in triggers else ():
                self._published.pop((observed.kind, trigger, observed.id), None)

    def _event(self, observed: ObservedEvent, metadata: Mapping[str, Any], *, gone: bool) -> dict[str, Any]:
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


OPPOSITES = (
    {"ready", "not_ready", "modified", "missing", "orphaned", "not_owned", "counted", "unknown", "undeclared"},
    {"fetched", "fetch_failed", "removed"},
    {"failed", "recovered", "removed"},
    {"sync", "sync_finished"},
    {"created", "removed", "observed"},
    {"rollout", "removed"},
    {"checked_in", "removed"},
)
"""Groups of triggers that contradict each other. Of each group only the latest event is true."""
