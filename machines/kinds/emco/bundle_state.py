"""A ResourceBundleState: EMCO's report of the resources of one app in one cluster.

Belongs here: reading a report, the presence and health that it shows for each resource. Does not: the tables
(`app_cluster`, `rsync_resource`), readiness (`readiness`).
"""

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.machines.kinds.emco.readiness import READINESS, is_ready
from phaseline.machines.kinds.kubernetes.health.registry import HEALTH, assess_health
from phaseline.machines.kinds.kubernetes.health.result import HealthResult
from phaseline.machines.kinds.kubernetes.observation import named, older, succeeding
from phaseline.machines.kinds.kubernetes.profiles import MISSING, NOT_ASSESSED, SOURCE_ORDER
from phaseline.machines.language.endings import known_of
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Refusal, RuleEvent
from phaseline.schemas import codec
from phaseline.schemas.value import Value

LISTS = {
    "podStatuses":         ("", "v1", "Pod"),
    "serviceStatuses":     ("", "v1", "Service"),
    "configMapStatuses":   ("", "v1", "ConfigMap"),
    "secretStatuses":      ("", "v1", "Secret"),
    "deploymentStatuses":  ("apps", "v1", "Deployment"),
    "daemonSetStatuses":   ("apps", "v1", "DaemonSet"),
    "statefulSetStatuses": ("apps", "v1", "StatefulSet"),
    "jobStatuses":         ("batch", "v1", "Job"),
    "ingressStatuses":     ("networking.k8s.io", "v1", "Ingress"),
    "csrStatuses":         ("certificates.k8s.io", "v1", "CertificateSigningRequest"),
}  # fmt: skip
"""The report's list for each kind, and the default group, version and kind of its members."""
OTHERS = "resourceStatuses"
"""The report's list of all other kinds: group, version, kind, name, and the resource as JSON in base64."""
KEY_KINDS = (
    "ConfigMap", "Service", "Pod", "DaemonSet", "Deployment", "StatefulSet", "Job", "CertificateSigningRequest",
)  # fmt: skip
"""Kinds that are supported if the report does not name any (EMCO's key kinds)."""
HELD = "Ready", "NotReady"
AROUND_STATUS = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
"""The parts of a CR. Data with one of them is a whole CR; other data is its status."""


class BadReport(ValueError):
    """A report is wrong. The message says what and where."""


class ListedResource(NamedTuple):
    """A resource in a report."""

    group: str
    version: str
    kind: str
    name: str
    found: Mapping[str, Any]

    @property
    def token(self) -> str:
        """`<name>+<kind>`, the last part of the id of an rsync resource."""
        return f"{self.name}+{self.kind}"


def listed_resources(data: Mapping[str, Any]) -> Iterator[ListedResource]:
    """Every resource of a report (the whole CR or its status alone); raises `BadReport`."""
    status = data.get("status", data)
    if not isinstance(status, Mapping):
        raise BadReport(f"data.status must be a map, found {type(status).__name__}")
    for name, (group, version, kind) in LISTS.items():
        for index, found in _members(status, name):
            where = f"{name}[{index}]"
            metadata = found.get("metadata")
            own = metadata.get("name") if isinstance(metadata, Mapping) else None
            own_group, _, own_version = str(found.get("apiVersion") or "").rpartition("/")
            group_version = (own_group, own_version) if own_version else (group, version)
            yield ListedResource(
                *group_version, str(found.get("kind") or kind), _name(own, f"{where}.metadata.name"), found
            )
    for index, found in _members(status, OTHERS):
        where = f"{OTHERS}[{index}]"
        words = [found.get(word) for word in ("group", "version", "kind")]
        if not all(isinstance(word, str) for word in words):
            raise BadReport(f"{where} must have group, version and kind, each a string")
        name = _name(found.get("name"), f"{where}.name")
        yield ListedResource(str(words[0]), str(words[1]), str(words[2]), name, _unpacked(found.get("res"), where))


def _members(status: Mapping[str, Any], name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    found = status.get(name)
    if found is not None and not isinstance(found, Sequence):
        raise BadReport(f"{name} must be a list, found {type(found).__name__}")
    for index, member in enumerate(found or ()):
        if not isinstance(member, Mapping):
            raise BadReport(f"{name}[{index}] must be a map, found {type(member).__name__}")
        yield index, member


def _name(found: object, where: str) -> str:
    if not isinstance(found, str) or not found:
        raise BadReport(f"{where} must be the resource's name")
    return found


def _unpacked(found: object, where: str) -> Mapping[str, Any]:
    """The resource itself, which EMCO's monitor packs as JSON in base64."""
    if found is None or isinstance(found, Mapping):
        return found or {}
    if not isinstance(found, str | bytes):
        raise BadReport(f"{where}.res must be JSON in base64, found {type(found).__name__}")
    try:
        unpacked = codec.decode_text(base64.b64decode(found, validate=True) if isinstance(found, str) else found)
    except (binascii.Error, codec.Undecodable) as error:
        raise BadReport(f"{where}.res must be JSON in base64: {error}") from error
    if not isinstance(unpacked, Mapping):
        raise BadReport(f"{where}.res must hold a map")
    return unpacked


# ---- the attributes that the tables keep of a report


@rule("emco.note_report", revision=4, uses=(HEALTH, READINESS))
def note_report(attributes: Mapping[str, Any], event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """Notes the listed resources, the supported kinds and the event of a report; a repeated report changes nothing.

    Nor does one without a status, of which nobody has said yet what is there. The result is the attributes of the
    app_cluster.
    """
    if event.data.get("status") is None and not AROUND_STATUS.isdisjoint(event.data):
        return attributes
    status, supports = event.data.get("status", event.data), event.data.get("supports")
    if (old := older(attributes, event.data)) is not None:
        return old
    try:
        digest = hashlib.blake2b(codec.encode([status, supports]), digest_size=8).hexdigest()
        if digest == attributes.get("digest"):
            return attributes
        found, healths = _as_listed(event.data)
    except (BadReport, OverflowError) as error:
        return Refusal(f"data: {error}", invalid=True)
    kept = {
        **attributes,
        **(named_now := named(event.data)),
        **(succeeding(attributes, named_now["uid"]) if named_now else {}),
        "report": event.sequence,
        "digest": digest,
        "listed": found,
        "health": healths,
    }
    return (
        {**kept, "supports": supports} if supports is not None else {n: v for n, v in kept.items() if n != "supports"}
    )


def _as_listed(data: Mapping[str, Any]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """By `<name>+<kind>`, what is listed, and its health. Of several in different namespaces or groups, the worst."""
    found: dict[str, list[str]] = {}
    healths: dict[str, str] = {}
    for one in listed_resources(data):
        name, other = one.token, found.get(one.token)
        ready = is_ready(one.kind, one.found) and (other is None or other[-1] == HELD[0])
        found[name] = [one.group, one.version, HELD[not ready]]
        if (health := _health(one)).is_assessed:
            healths[name] = min(health.status, healths.get(name, health.status), key=SOURCE_ORDER.index)
    return found, healths


def _health(one: ListedResource) -> HealthResult:
    """The health of a listed resource."""
    version = f"{one.group}/{one.version}" if one.group else one.version
    return assess_health({**one.found, "apiVersion": version, "kind": one.kind})


def presence(attributes: Mapping[str, Any], token: str) -> str:
    """Whether the last report lists the resource `<name>+<kind>`: `Present`, `NotPresent` or `Unknown`."""
    found = attributes.get("listed")
    if found is None:
        return "Unknown"
    if token in found:
        return "Present"
    supports = attributes.get("supports")
    return "NotPresent" if token.rpartition("+")[2] in (KEY_KINDS if supports is None else supports) else "Unknown"


TRIGGERS = {"Present": "present", "NotPresent": "not_present", "Unknown": "not_supported"}


@rule("emco.reported_presence", revision=1)
def reported_presence(scene: Scene, entity_id: str, _: Mapping[str, Any], below: str) -> str | None:
    """Whether the last report lists the resource."""
    return TRIGGERS[presence(known_of(scene, entity_id, "app_cluster"), below.rpartition("/")[2])]


HEALTHS = (*SOURCE_ORDER, NOT_ASSESSED)
ASSESSED = {health: f"assessed_{health.lower()}" for health in SOURCE_ORDER} | {NOT_ASSESSED: "not_assessed"}
"""By health, the trigger that reports it to a resource."""


def health(attributes: Mapping[str, Any], token: str) -> str:
    """The health of the resource `<name>+<kind>` in the last report; Missing if it is not present."""
    found = (attributes.get("health") or {}).get(token)
    if found is not None:
        return str(found)
    return MISSING if presence(attributes, token) == "NotPresent" else NOT_ASSESSED


@rule("emco.reported_health", revision=1)
def reported_health(scene: Scene, entity_id: str, _: Mapping[str, Any], below: str) -> str | None:
    """The health of the resource in the last report."""
    return ASSESSED[health(known_of(scene, entity_id, "app_cluster"), below.rpartition("/")[2])]


@rule("emco.health_is", revision=2)
class HealthIs(Value, frozen=True):
    """The rsync resource has this health in the last report of the app_cluster."""

    health: str

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """NotAssessed without a report."""
        return health(known_of(scene, entity_id, "app_cluster"), entity_id.rpartition("/")[2]) == self.health

    def text(self) -> str:
        """`the last ResourceBundleState says that its health is Healthy`."""
        return f"the last ResourceBundleState says that its health is {self.health}"


@rule("emco.presence_is", revision=2)
class PresenceIs(Value, frozen=True):
    """The rsync resource has this presence in the last report of the app_cluster."""

    presence: str

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Unknown without a report."""
        return presence(known_of(scene, entity_id, "app_cluster"), entity_id.rpartition("/")[2]) == self.presence

    def text(self) -> str:
        """`the last ResourceBundleState says Present of it`."""
        return f"the last ResourceBundleState says {self.presence} of it"
