"""An observation of a Kubernetes object, as the data of an `observed` event holds it.

Belongs here: reading both manifests from the data, checking that they belong to the entity, assessing them; the
attributes that name the object behind an entity, and those of the timer that ends its success. Does not: the states
that follow (the tables of `gitops` and `fleet`).
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import msgspec

from phaseline.machines.kinds.kubernetes.assess import Assessment, assess
from phaseline.machines.kinds.kubernetes.health.registry import passed
from phaseline.machines.kinds.kubernetes.health.result import HealthResult
from phaseline.machines.kinds.kubernetes.kind_facts import FIELD, UNTOLD, KindFacts
from phaseline.machines.kinds.kubernetes.manifest_id import MAPS, NO_NAMESPACE, Manifest, ManifestId
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.kinds.kubernetes.profiles import HEALTHY
from phaseline.machines.language.endings import is_seen_gone
from phaseline.machines.language.fields import ANOTHER, Field, Refusal
from phaseline.machines.language.predicates import SceneEntity
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.machines.language.table import DELETED, Attributes
from phaseline.schemas.records import SECOND
from phaseline.schemas.templates.shared_values import SHARED

OBSERVER = (
    Field("observer",    str, "the `phaseline observe --cluster` that watches its object: its source, the cluster, the "
                              "namespace"),
    Field("observed_as", str, "that object: `<namespace>/<name>`"),
)  # fmt: skip
"""The attributes of an entity that is a Kubernetes object itself, so that its observer can tell when that is gone."""
KIND_FACTS = Field(
    FIELD,
    dict,
    "what its observer knows of its kind: `status` is false if the type of the kind has no status, "
    "`namespaced` is false if its objects have no namespace, `schema` is the part of its schema that Git uses",
)
"""The field of an `observed` event beside the manifests."""
SEEN_BY = tuple(field.name for field in OBSERVER)


class ObservedPair(NamedTuple):
    """The manifests of an observed object; None if not there. is_known: whether `desired` is known.

    facts: what the observer knows of the kind.
    """

    live: Manifest | None
    desired: Manifest | None
    is_known: bool
    facts: KindFacts = UNTOLD

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "ObservedPair":
        """The manifests in the data of an event; without `desired`, it is not known what Git declares."""
        return cls(data.get("live"), data.get("desired"), "desired" in data, KindFacts.of(data))

    def mismatch(self, entity_id: str) -> Refusal | None:
        """Why the event cannot be taken: a manifest is not that of the entity."""
        end = entity_id.rsplit("/", 3)[-3:]
        live = None if self.live is None else ManifestId.of(self.live)
        if live is not None and (wrong := live.mismatch(*end)):
            return Refusal(f"data.live {wrong}", invalid=True)
        desired = None if self.desired is None else SHARED.once(self.desired, "id", ManifestId.of)
        if desired is None or desired == live:
            return None
        if end[1] == NO_NAMESPACE and (not self.facts.namespaced or (live is not None and not live.namespace)):
            desired = msgspec.structs.replace(desired, namespace=None)  # its kind is cluster-wide
        wrong = desired.mismatch(*end)
        return Refusal(f"data.desired {wrong}", invalid=True) if wrong else None

    def assess(
        self,
        overrides: Overrides,
        scripts: ScriptRunner,
        time_ns: int,
        *,
        compares: bool = True,
        explains: bool = False,
    ) -> Assessment:
        """Assess the pair as of the event's time. compares: False leaves out the comparison."""
        known = self.is_known and compares
        return assess(
            self.live,
            self.desired,
            overrides,
            scripts,
            now=time_ns // SECOND,
            is_known=known,
            explains=explains,
            facts=self.facts,
        )


OBJECT = Field("uid", str, "the uid of its object in the cluster")
VERSION = Field(
    "object_version", int, "the resourceVersion of its object, as it was when something of it changed here last"
)
FORMER = Field("former_uids", str, "the uids of the last objects that had its name before", many=True)
MOST_FORMER = 4
LISTED = Field(
    "listed", bool, "whether a list of what is there says so: that counts however old its version is, because an API "
    "server that was put back from a backup counts from lower numbers on"
)  # fmt: skip
LONGEST_UID = 128
LARGEST = 2**63


def named(live: Manifest | None) -> dict[str, Any]:
    """The attributes that name an object and its version, as far as its manifest says them."""
    metadata = {} if live is None else live.get("metadata")
    uid = metadata.get("uid") if isinstance(metadata, MAPS) else None
    if live is None or not isinstance(uid, str) or not uid:
        return {}
    version = version_of(live)
    return {"uid": uid[:LONGEST_UID], **({} if version is None else {VERSION.name: version})}


def version_of(live: Manifest) -> int | None:
    """The resourceVersion of an object, where it is a number: the API server counts it up."""
    metadata = live.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, MAPS) else None
    if not (isinstance(version, str) and version.isascii() and version.isdecimal() and len(version) < 20):
        return None
    return int(version) if int(version) < LARGEST else None


def object_of(before: SceneEntity | None, live: Manifest | None) -> dict[str, Any]:
    """The attributes that name an object, its version, and the objects that had its name before."""
    found = named(live)
    if not found or before is None:
        return found
    known, phase = before.attributes, before.facets[0].base.phase
    return (
        found if phase == DELETED and not is_seen_gone(phase, known) else {**found, **succeeding(known, found["uid"])}
    )


def succeeding(known: Mapping[str, Any], uid: str) -> dict[str, Any]:
    """The attribute that holds the uids of earlier objects, where these attributes are known of the last one."""
    last, former = known.get("uid"), known.get(FORMER.name, ())
    if last not in (None, uid):
        former = [*(one for one in former if one not in (uid, last)), last][-MOST_FORMER:]
    return {FORMER.name: [*former]} if former else {}


def late(before: SceneEntity | None, data: Mapping[str, Any], *, is_gone: bool = False) -> Refusal | None:
    """Why an observation is not taken: its object was seen later, or seen to be gone; None if nothing shows that.

    before: the entity. is_gone: whether what was seen last is that there is no object, though the entity lives.
    """
    if before is None or data.get(LISTED.name):
        return None
    phase, known, live = before.facets[0].base.phase, before.attributes, data.get("live")
    is_over = is_seen_gone(phase, known)
    if live is None and data.get(ANOTHER):
        return Refusal("the object that is gone is another one than the one that is there", stale=True)
    return None if phase == DELETED and not is_over else older(known, live, is_gone=is_gone or is_over)


def older(known: Mapping[str, Any], live: Manifest | None, *, is_gone: bool = False) -> Refusal | None:
    """Why a manifest is not taken where these attributes are known; None if it may be as new as they are.

    An API server never gives a uid again, and the versions of one object grow. is_gone: as in `late`.
    """
    found = named(live)
    if found and found["uid"] in known.get(FORMER.name, ()):
        return Refusal(
            f"the object of uid {found['uid']} is gone: that of uid {known.get('uid')} has its name", stale=True
        )
    if not found or found["uid"] != known.get("uid"):
        return None
    version, last = found.get(VERSION.name), known.get(VERSION.name)
    if not is_gone and (version is None or last is None or version >= last):
        return None
    shown = "the object" if version is None else f"version {version}"
    since = "it was seen to be gone" if is_gone else f"version {last} was seen"
    return Refusal(f"{shown} of uid {found['uid']} is late: {since} before; report what is there now", stale=True)


def with_version(before: Mapping[str, Any], after: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The attributes after an observation, with the version of the object if anything else of them has changed.

    An object gets new versions all the time. Noting each would make a record of each.
    """
    if VERSION.name not in data or after == before:
        return after
    return {**after, VERSION.name: data[VERSION.name]}


def gone(*, is_known: bool) -> Mapping[str, Any] | Refusal:
    """The answer for an object that is neither in Git nor in the cluster. is_known: whether the entity exists."""
    if is_known:
        return {"gone": True}
    return Refusal("it is neither in Git nor in the cluster: there is nothing to observe")


EXPIRED, EXPIRES, EXPIRES_IN = "expired", "expires", "expires_in"
UNTIL = (
    Field(EXPIRES, str, "the field, and the time in it, until which it is well: a certificate ends by itself"),
    Field(EXPIRES_IN, int, "seconds from when it became so until then"),
)
UNTIL_NAMES = (EXPIRES, EXPIRES_IN)


def until(
    health: HealthResult | None, before: Attributes, now: int, states: Collection[str] = (HEALTHY,), was: str = HEALTHY
) -> dict[str, Any]:
    """The attributes of an object that is in one of some states until a time; empty for any other. now: ns since 1970.

    The seconds stay while the time does, because they began with it, and begin anew with another state. was: the last
    one.
    """
    if health is None or health.status not in states or health.until is None:
        return {}
    words, at = health.until
    goes_on = before.get(EXPIRES) == words and was == health.status
    return {EXPIRES: words, EXPIRES_IN: before[EXPIRES_IN] if goes_on else at - now // SECOND}


def without_until(attributes: Attributes) -> dict[str, Any]:
    """The attributes of an object of which no such time is known any more."""
    return {name: value for name, value in attributes.items() if name not in UNTIL_NAMES}


def ended(attributes: Mapping[str, Any]) -> str:
    """What is said of an object whose time is over."""
    return passed(attributes.get(EXPIRES, ""))
