"""Objects that other objects made: below which resource each stands, as its ownerReferences say.

Belongs here: where an object has its place, which objects wait for their owners, how many are shown of one resource.
Does not: the events (`observer`), whose a resource is (`ownership`), what they look like to the core
(`kinds.gitops.owned_object`).

An owner is found by its uid, so that an object of an earlier life owns nothing. Where one side has no uid, its name
counts: in the same namespace, or cluster-wide.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from phaseline.engine.products.observe.events import Manifest, ObservedEvent, id_suffix, mapping, maps, text
from phaseline.machines.kinds.gitops.owned_object import NESTED_BY, PARTED_BY
from phaseline.machines.kinds.kubernetes.health.registry import assess_health
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.pairs import ObjectKey, key_of
from phaseline.machines.kinds.kubernetes.profiles import DEGRADED
from phaseline.schemas.subjects import BadSubject, check_id

RESOURCE, OWNED = "resource", "owned_object"
REPLICA_SETS, JOBS, PODS = ("apps", "ReplicaSet"), ("batch", "Job"), ("", "Pod")
MAKES: Mapping[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("apps", "Deployment"): (REPLICA_SETS, PODS),
    ("argoproj.io", "Rollout"): (REPLICA_SETS, PODS),
    ("apps", "StatefulSet"): (PODS,),
    ("apps", "DaemonSet"): (PODS,),
    REPLICA_SETS: (PODS,),
    ("", "ReplicationController"): (PODS,),
    ("batch", "CronJob"): (JOBS, PODS),
    JOBS: (PODS,),
}
"""What the objects of a sort make, directly or through what they make."""
MOST, MOST_FAILED = 50, 50
"""The most objects below one resource that are shown, and how many more of those that have failed."""
DEEPEST = 16
"""The most owners above each other that are followed."""


class OwnerReference(NamedTuple):
    """One of the owners that an object names."""

    uid: str
    key: ObjectKey
    """Its namespace is that of the object, though the owner may be cluster-wide."""

    def __str__(self) -> str:
        return self.key._replace(namespace="").short()


class Place(NamedTuple):
    """The entity that an object is. root: the id of the resource at or above it."""

    kind: str
    id: str
    root: str


class KnownObject(NamedTuple):
    """An object that has a place. above: the key of its owner; None for a resource."""

    key: ObjectKey
    uid: str
    place: Place
    above: ObjectKey | None = None


def owners_of(manifest: Manifest) -> list[OwnerReference]:
    """The other objects that an object names as its owners, the one that controls it first."""
    metadata, own = mapping(manifest, "metadata"), key_of(manifest)
    found = []
    for one in sorted(maps(metadata, "ownerReferences"), key=lambda each: each.get("controller") is not True):
        key = ObjectKey.of(*group_kind(one), text(metadata, "namespace"), text(one, "name"))
        if key.kind and key.name and key != own:
            found.append(OwnerReference(text(one, "uid"), key))
    return found


class Owners:
    """The objects that have a place, by uid and by name."""

    def __init__(self) -> None:
        self._known: dict[ObjectKey, KnownObject] = {}
        self._keys: dict[str, ObjectKey] = {}
        """By uid, the object."""
        self._below: dict[ObjectKey, set[ObjectKey]] = {}
        self.sorts: set[tuple[str, str]] = set()
        """The sorts of which an object had a place: an owner of such a sort is waited for."""

    def get(self, key: ObjectKey) -> KnownObject | None:
        """The object of that name."""
        return self._known.get(key)

    def find(self, uid: str, key: ObjectKey) -> KnownObject | None:
        """The object of a uid; without one on either side, that of the name. None if that is of another life."""
        if uid and uid in self._keys:
            return self._known[self._keys[uid]]
        found = self._known.get(key) or self._known.get(key._replace(namespace=""))
        return found if found is not None and not (uid and found.uid) else None

    def owner(self, manifest: Manifest) -> KnownObject | None:
        """The first of its owners that has a place, unless that stands below the object itself."""
        key = key_of(manifest)
        for one in owners_of(manifest):
            found = self.find(one.uid, one.key)
            if found is not None and not self._is_below(found, key):
                return found
        return None

    def _is_below(self, found: KnownObject, key: ObjectKey) -> bool:
        """Whether an object is another one, or stands below it."""
        at: KnownObject | None = found
        for _ in range(DEEPEST):
            if at is None:
                return False
            if at.key == key:
                return True
            at = None if at.above is None else self._known.get(at.above)
        return True

    def note(self, known: KnownObject) -> None:
        """Learn where an object is."""
        self.forget(known.key)
        self._known[known.key] = known
        self.sorts.add(known.key[:2])
        if known.uid:
            self._keys[known.uid] = known.key
        if known.above is not None:
            self._below.setdefault(known.above, set()).add(known.key)

    def forget(self, key: ObjectKey) -> None:
        """Forget an object. What stands below it stays."""
        found = self._known.pop(key, None)
        if found is not None:
            self._keys.pop(found.uid, None)
            if found.above is not None and (others := self._below.get(found.above)) is not None:
                others.discard(key)
                if not others:
                    del self._below[found.above]

    def below(self, key: ObjectKey) -> Iterator[KnownObject]:
        """Everything that stands below an object."""
        for one in [*self._below.get(key, ())]:
            if (found := self._known.get(one)) is not None:
                yield found
                yield from self.below(one)

    def within(self, application: str) -> list[KnownObject]:
        """The objects that have a place in an application."""
        return [one for one in self._known.values() if one.place.id.startswith(f"{application}/")]

    def has_below(self, key: ObjectKey) -> bool:
        """Whether something stands below an object."""
        return bool(self._below.get(key))


def place_below(owner: KnownObject, key: ObjectKey) -> Place | None:
    """The place of an object below its owner; None if no id can name it.

    If the names of all owners are too long together, it stands below the resource itself.
    """
    own = PARTED_BY.join((key.group or "core", key.kind, key.namespace or "-", key.name))
    root = owner.place.root
    names = [f"{root}/{own}"]
    if owner.place.kind == OWNED:
        names.insert(0, f"{owner.place.id}{NESTED_BY}{own}")
    for name in names:
        try:
            check_id(name)
        except BadSubject:
            continue
        return Place(OWNED, name, root)
    return None


def resource_place(application: str, key: ObjectKey) -> Place:
    """The place of an object that nothing else made."""
    name = f"{application}/{id_suffix(key)}"
    return Place(RESOURCE, name, name)


class Admission(NamedTuple):
    """Whether an object is shown, and another one that makes room for it."""

    shown: bool
    instead_of: KnownObject | None = None


class ShownObjects:
    """Which objects below each resource are shown: the first `MOST`, and some that have failed."""

    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self._shown: dict[str, dict[ObjectKey, bool]] = {}
        """By resource, the objects that are shown, and whether each has failed."""
        self._left_out: dict[str, set[ObjectKey]] = {}
        self._told: dict[str, int] = {}

    def admit(self, known: KnownObject, manifest: Manifest) -> Admission:
        """Whether an object is shown."""
        root, key = known.place.root, known.key
        shown, failed = self._shown.setdefault(root, {}), assess_health(manifest).status == DEGRADED
        if key in shown or len(shown) < MOST or (failed and len(shown) < MOST + MOST_FAILED):
            shown[key] = failed
            self._left_out.get(root, set()).discard(key)
            return Admission(shown=True)
        left_out = self._left_out.setdefault(root, set())
        spared = next((one for one, bad in shown.items() if not bad and not self._owners.has_below(one)), None)
        if not failed or spared is None:
            left_out.add(key)
            return Admission(shown=False)
        del shown[spared]
        shown[key] = True
        left_out.discard(key)
        left_out.add(spared)
        return Admission(shown=True, instead_of=self._owners.get(spared))

    def is_shown(self, known: KnownObject) -> bool:
        """Whether an object that has a place is shown."""
        return known.place.kind == RESOURCE or known.key in self._shown.get(known.place.root, {})

    def forget(self, known: KnownObject) -> None:
        """Forget an object that is gone."""
        root = known.place.root
        self._shown.get(root, {}).pop(known.key, None)
        self._left_out.get(root, set()).discard(known.key)
        if known.place.kind == RESOURCE:
            for found in (self._shown, self._left_out, self._told):
                found.pop(root, None)

    def roots(self) -> list[str]:
        """The resources of which some objects are left out."""
        return [*self._left_out]

    def left_out(self, root: str) -> ObservedEvent | None:
        """The event that says how many are left out, if that is about another number than before."""
        number = about(len(self._left_out.get(root, ())))
        if number == self._told.get(root, 0):
            return None
        self._told[root] = number
        return ObservedEvent(RESOURCE, "owns", root, {"left_out": number})


def about(number: int) -> int:
    """At least how many: the number without all digits but the first, so that it seldom changes."""
    digits = str(number)
    return int(digits[0]) * int("1" + "0" * (len(digits) - 1))
