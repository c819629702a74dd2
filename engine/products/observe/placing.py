"""Places the objects of applications: each is a resource, or stands below the object that made it.

Belongs here: which of both, waiting for owners that were not seen yet, what changes when an object is another entity
than before. Does not: whose a resource is (`ownership`), the graph of owners (`owned`), envelopes (`observer`).
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from phaseline.engine.products.observe import generic
from phaseline.engine.products.observe.events import Manifest, ObservedEvent, identified, mapping, uid_of
from phaseline.engine.products.observe.happenings import Happening, Happenings
from phaseline.engine.products.observe.owned import (
    MAKES,
    OWNED,
    RESOURCE,
    KnownObject,
    OwnerReference,
    Owners,
    Place,
    ShownObjects,
    owners_of,
    place_below,
    resource_place,
)
from phaseline.engine.products.observe.ownership import OwningEntity, names_itself
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.machines.kinds.kubernetes.kind_facts import KindFacts
from phaseline.machines.kinds.kubernetes.pairs import ObjectKey, key_of
from phaseline.machines.language.endings import MOVED

HELD = 2_000
"""The most objects that wait for an owner."""
PATIENCE = 5.0
"""Seconds for which an object waits for an owner of a sort that was seen. Then it stands for itself."""
OWNING = frozenset(f"{group or 'core'}:{kind}" for group, kind in MAKES)
"""The sorts of resources that own objects, as in ids."""


class WaitingObject(NamedTuple):
    """An object whose owner has no place yet. since: monotonic. alone: whether it stands for itself meanwhile."""

    change: ObjectChange
    whose: OwningEntity
    owners: tuple[OwnerReference, ...]
    since: float
    alone: bool = False


class Placing:
    """Which entity each object is. `whose` and the desired objects are asked of their owners."""

    def __init__(self, wanted: generic.DesiredObjects, facts: Callable[[Manifest], KindFacts]) -> None:
        """facts: what is known of the kind of an object."""
        self._wanted, self._facts = wanted, facts
        self.owners, self.happenings = Owners(), Happenings()
        self.shares = ShownObjects(self.owners)
        self.is_whole = False
        """Whether all objects were seen that were there at first."""
        self.unowned: dict[str, str] = {}
        """The objects that are nobody's, and why."""
        self.unnamed: frozenset[tuple[str, str]] = frozenset()
        """Sorts of which most objects are nobody's, so that they are not named."""
        self.ended: list[Place] = []
        """The entities that were forgotten, which no event of their own has ended, until somebody has read them."""
        self._waiting: dict[ObjectKey, WaitingObject] = {}
        self._hoped: dict[str | ObjectKey, set[ObjectKey]] = {}
        """By uid and by name of an owner, what waits for it."""

    def see(self, change: ObjectChange, whose: OwningEntity) -> Iterator[ObservedEvent]:
        """The events of a change of an object; none while it waits for its owner, or where it is nobody's."""
        key = key_of(change.manifest)
        if change.gone:
            self._stop_waiting(key)
            yield from self._gone(change.manifest, key, whose)
            return
        place, above = self._place(change.manifest, key, whose)
        if place is not None:
            self._stop_waiting(key)
            yield from self._at(change.manifest, KnownObject(key, uid_of(change.manifest), place, above))
            return
        owners = owners_of(change.manifest)
        if whose.id is None and key[:2] not in self.unnamed:
            self.unowned[str(key)] = f"its owner {owners[0]} was not seen" if owners else whose.why
        if owners:
            yield from self._wait(key, WaitingObject(change, whose, (*owners,), time.monotonic()))
        elif (before := self.owners.get(key)) is not None:
            yield from self._ended(before, moved=True)

    def event(self, manifest: Manifest) -> Iterator[ObservedEvent]:
        """What an Event says of the object that it is about."""
        if (found := Happening.of(manifest)) is not None:
            known = self.owners.find(found.uid, found.key)
            if known is None or self.shares.is_shown(known):
                told = self.happenings.take(found, known)
                yield from () if told is None else (told,)

    def whole(self) -> Iterator[ObservedEvent]:
        """The events of what waits for an owner in vain, once all objects have been seen."""
        self.is_whole = True
        yield from self._alone(0.0)
        for root in self.shares.roots():
            yield from self._counted(root)

    def overdue(self) -> Iterator[ObservedEvent]:
        """The same of what has waited for long enough."""
        if self.is_whole and self._waiting:
            yield from self._alone(PATIENCE)

    def moved(self, application: str) -> None:
        """Forget the places below an application that is another one from now on, and ended."""
        for known in self.owners.within(application):
            self._forget(known)

    def _place(self, manifest: Manifest, key: ObjectKey, whose: OwningEntity) -> tuple[Place | None, ObjectKey | None]:
        """Where an object stands, and below which other one; nowhere while that is not known."""
        own = None if whose.id is None else resource_place(whose.id, key)
        before = self.owners.get(key)
        if own is not None and (self._wanted.declares(key) or names_itself(manifest)):
            return own, None
        if not owners_of(manifest):
            return own, None
        if before is not None and before.place.kind == RESOURCE and self.owners.has_below(key):
            return before.place, None  # what stands below it would have to move with it
        owner = self.owners.owner(manifest)
        if owner is not None:
            return place_below(owner, key), owner.key
        if before is not None and before.place.kind == OWNED:
            return before.place, before.above  # its owner is gone, and so it will be
        return None, None

    def _at(self, manifest: Manifest, known: KnownObject) -> Iterator[ObservedEvent]:
        """The events of an object that has a place."""
        before, root = self.owners.get(known.key), known.place.root
        if before is not None and before.place != known.place:
            yield from self._ended(before)
        self.owners.note(known)
        self.unowned.pop(str(known.key), None)
        yield from self._shown(manifest, known)
        yield from self._counted(root)
        yield from self._brought_home(known)

    def _shown(self, manifest: Manifest, known: KnownObject) -> Iterator[ObservedEvent]:
        """The events of an object at its place, unless there are too many of them."""
        if known.place.kind == OWNED:
            admission = self.shares.admit(known, manifest)
            if (other := admission.instead_of) is not None:
                yield _left(other)
            if not admission.shown:
                return
            yield generic.owned(manifest, known.place.id, self._facts(manifest))
        else:
            seen = generic.observed(
                manifest, _application(known.place.id), self._wanted, self._facts(manifest), gone=False
            )
            yield from () if seen is None else (seen,)
        brought = self.happenings.brought(known)
        yield from () if brought is None else (brought,)

    def _gone(self, manifest: Manifest, key: ObjectKey, whose: OwningEntity) -> Iterator[ObservedEvent]:
        """The events of an object that is gone."""
        known = self.owners.get(key)
        if known is not None and known.uid and known.uid != (uid_of(manifest) or known.uid):
            return  # it has a successor of the same name, which was seen already
        if known is not None and known.place.kind == OWNED:
            yield from self._ended(known)
            return
        application = _application(known.place.id) if known is not None else whose.id
        if application is None or (known is None and owners_of(manifest) and not self._wanted.declares(key)):
            return
        seen = generic.observed(manifest, application, self._wanted, self._facts(manifest), gone=True)
        if known is not None and seen is not None and seen.trigger == "removed":
            yield from self._ended(known, told=True)
        elif known is not None:
            self._forget(known)
        yield from () if seen is None else (seen,)

    def _ended(self, known: KnownObject, *, told: bool = False, moved: bool = False) -> Iterator[ObservedEvent]:
        """The event that ends the entity that an object was. What is below a resource ends with it.

        told: whether another event says so. moved: whether the object is at another place.
        """
        shown = self.shares.is_shown(known)
        for one in [*self.owners.below(known.key)] if known.place.kind == RESOURCE else ():
            self._forget(one)
        self._forget(known)
        if shown and not told:
            yield _left(known) if moved else _removed(known)
        if known.place.kind == OWNED:
            yield from self._counted(known.place.root)

    def _forget(self, known: KnownObject) -> None:
        self.ended.append(known.place)
        self.owners.forget(known.key)
        self.shares.forget(known)
        self.happenings.forget(known.key)

    def _counted(self, root: str) -> Iterator[ObservedEvent]:
        """What is left out of what a resource owns. At first, that is told when all is seen."""
        told = self.shares.left_out(root) if self.is_whole else None
        yield from () if told is None else (told,)

    def _wait(self, key: ObjectKey, waiting: WaitingObject) -> Iterator[ObservedEvent]:
        """Let an object wait for its owner, if that may come; otherwise it stands for itself."""
        before = self._stop_waiting(key)
        alone = before is not None and before.alone
        if self.is_whole and not any(one.key[:2] in self.owners.sorts for one in waiting.owners):
            alone = True
        since = waiting.since if before is None else before.since
        self._waiting[key] = waiting._replace(alone=alone, since=since)
        for name in _names(waiting):
            self._hoped.setdefault(name, set()).add(key)
        if len(self._waiting) > HELD:
            self._stop_waiting(next(iter(self._waiting)))
        if alone:
            yield from self._by_itself(key, waiting)

    def _stop_waiting(self, key: ObjectKey) -> WaitingObject | None:
        """Forget that an object waits."""
        found = self._waiting.pop(key, None)
        for name in () if found is None else _names(found):
            if (hopeful := self._hoped.get(name)) is not None:
                hopeful.discard(key)
                if not hopeful:
                    del self._hoped[name]
        return found

    def _alone(self, seconds: float) -> Iterator[ObservedEvent]:
        """Let those that have waited for so long stand for themselves, until their owner comes."""
        until = time.monotonic() - seconds
        for key, one in [(key, one) for key, one in self._waiting.items() if not one.alone and one.since <= until]:
            if key in self._waiting:  # not brought home by the one before
                self._waiting[key] = one._replace(alone=True)
                yield from self._by_itself(key, one)

    def _by_itself(self, key: ObjectKey, one: WaitingObject) -> Iterator[ObservedEvent]:
        """The events of an object whose owner is not there: it is a resource, unless it is about to go itself."""
        manifest = one.change.manifest
        if one.whose.id is not None and not mapping(manifest, "metadata").get("deletionTimestamp"):
            yield from self._at(manifest, KnownObject(key, uid_of(manifest), resource_place(one.whose.id, key)))

    def _brought_home(self, known: KnownObject) -> Iterator[ObservedEvent]:
        """The events of what waited for this owner."""
        for key in sorted({*self._hoped.get(known.uid, ()), *self._hoped.get(known.key, ())}):
            if (one := self._waiting.get(key)) is not None:
                yield from self.see(one.change, one.whose)


def _removed(known: KnownObject) -> ObservedEvent:
    """The event that an object is gone."""
    return ObservedEvent(known.place.kind, "removed", known.place.id, identified(known.uid) or None)


def _left(known: KnownObject) -> ObservedEvent:
    """The event that an object is not shown at its place any more; it may come back there."""
    return _removed(known)._replace(data={**identified(known.uid), MOVED.name: True})


def _application(resource_id: str) -> str:
    return "/".join(resource_id.split("/", 2)[:2])


def _names(waiting: WaitingObject) -> Iterator[str | ObjectKey]:
    """The uids and names by which the owners of an object would be known."""
    for one in waiting.owners:
        yield from (one.uid,) if one.uid else ()
        yield from (one.key, one.key._replace(namespace=""))
