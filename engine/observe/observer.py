"""One observation of a cluster: each object as it comes, told once for each real change.

Belongs here: which sort of object it is, whose, whether it says anything new, and the event. Does not: what it says.
"""

import hashlib
import itertools
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from phaseline.engine.observe import argo, fleet, generic
from phaseline.engine.observe.events import Manifest, ObservedEvent, part, word
from phaseline.engine.observe.generic import DesiredObjects
from phaseline.engine.observe.stream import ObjectChange
from phaseline.machines.kubernetes.manifest_id import group_kind
from phaseline.machines.kubernetes.pairs import key_of

ADAPTERS: Mapping[tuple[str, str], Callable[..., Iterator[ObservedEvent]]] = {
    (argo.GROUP, "Application"): argo.application,
    (argo.GROUP, "ApplicationSet"): argo.application_set,
    (fleet.GROUP, "GitRepo"): fleet.git_repo,
    (fleet.GROUP, "Bundle"): fleet.bundle,
    (fleet.GROUP, "BundleDeployment"): fleet.bundle_deployment,
}
"""Objects that speak for themselves; all others are observed."""
MAX_IDENT = 256
"""Bytes of an event's id."""


class Observer:
    """application: whose all objects are; None: as each says itself. desired: what Git declares; None: not known."""

    def __init__(self, source: str, application: str | None = None, desired: Iterable[Manifest] | None = None) -> None:
        """Nothing has been seen."""
        self.source, self.application = source, application
        self.wanted = DesiredObjects(None if desired is None else {key_of(one): one for one in desired})
        self.unowned: set[str] = set()
        """Objects of which it is not known whose they are."""
        self._told: dict[tuple[str, str, str], str] = {}
        self._run, self._number = secrets.token_hex(4), itertools.count(1)

    def see(self, change: ObjectChange) -> Iterator[dict[str, Any]]:
        """The events of one change: none where it says what was said before."""
        found = change.found
        for said in self._said(found, gone=change.gone):
            key = (said.kind, said.trigger, said.id)
            digest = _digest(json.dumps(said.about if said.about is not None else said.data))
            if self._told.get(key) == digest:
                continue
            self._forget_others(said)
            self._told[key] = digest
            yield self._event(said, part(found, "metadata"), gone=change.gone)

    def missing(self) -> Iterator[dict[str, Any]]:
        """What Git declares and has not been seen, once all that there is has been."""
        for desired in self.wanted.missing():
            application = self.application or generic.application_of(desired)
            if application is not None:
                yield self._event(generic.absent(desired, application), {}, gone=True)

    def _said(self, found: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
        speaker = ADAPTERS.get(group_kind(found))
        if speaker is not None:
            yield from speaker(found, gone=gone)
            return
        application = self.application or generic.application_of(found)
        if application is None:
            self.unowned.add(str(key_of(found)))
            return
        said = generic.observed(found, application, self.wanted, gone=gone)
        if said is not None:
            yield said

    def _forget_others(self, said: ObservedEvent) -> None:
        """Of triggers that answer one question, the last is true: ready, then missing, then ready again is three events."""
        for words in QUESTIONS:
            for trigger in words - {said.trigger} if said.trigger in words else ():
                self._told.pop((said.kind, trigger, said.id), None)

    def _event(self, said: ObservedEvent, metadata: Mapping[str, Any], *, gone: bool) -> dict[str, Any]:
        uid, version = word(metadata, "uid"), word(metadata, "resourceVersion")
        # What is gone may bear the version that it had while it was there.
        words = (uid, version, *(("gone",) if gone else ()), said.trigger, said.id)
        # What Git declares has no version here: it may change, and change back, while the object bears the one that it had.
        is_told_by_version = uid and version and "desired" not in (said.data or {})
        ident = "-".join(words) if is_told_by_version else f"{self._run}-{next(self._number)}"
        if len(ident.encode()) > MAX_IDENT:  # cut off, two of them could be one
            ident = "-".join([*words[:2], _digest(ident)])
        event = {
            "specversion": "1.0", "id": ident, "source": self.source, "type": f"{said.kind}.{said.trigger}",
            "subject": f"{said.kind}/{said.id}",
        }  # fmt: skip
        return event if said.data is None else {**event, "data": said.data}


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


QUESTIONS = (
    {"ready", "not_ready", "modified", "missing", "orphaned"},
    {"fetched", "fetch_failed"},
    {"sync", "sync_finished"},
    {"created", "removed", "observed"},
)
