"""The adapter for all other objects: resource.observed, with the live and the desired manifest (docs/spec/gitops.md).

Belongs here: pairing with desired objects, removing secrets from manifests. Does not: whose an object is (`ownership`),
health and comparison, which the worker computes.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any

from phaseline.engine.products.observe.events import (
    Manifest,
    ObservedEvent,
    id_suffix,
    identified,
    mapping,
    maps,
    uid_of,
)
from phaseline.machines.kinds.kubernetes.diff.managed_fields import claims
from phaseline.machines.kinds.kubernetes.kind_facts import FIELD, UNTOLD, KindFacts, KindsTold
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind, made_name
from phaseline.machines.kinds.kubernetes.pairs import ObjectKey, is_owned, key_of, made_from
from phaseline.machines.kinds.kubernetes.secret_values import COPIES, FIELDS, MASK, raw_secret_in

TIMES = ("lastUpdateTime", "lastTransitionTime", "lastHeartbeatTime", "lastProbeTime", "lastScheduleTime", "renewTime")
"""Fields that change while nothing happens."""
SKIPPED = {
    ("", "Event"),
    ("events.k8s.io", "Event"),
    ("coordination.k8s.io", "Lease"),
    ("", "Endpoints"),
    ("discovery.k8s.io", "EndpointSlice"),
}
"""Kinds of objects that change all the time and that nobody deploys."""
_KEY = secrets.token_bytes(32)


class DesiredObjects:
    """The objects that Git declares, by the key by which they are paired. `known`: whether they are known at all."""

    def __init__(self, desired: Mapping[ObjectKey, Manifest] | None) -> None:
        """desired: the objects; None if they are not known."""
        self.known = desired is not None
        self.desired = dict(desired or {})
        self.seen: set[ObjectKey] = set()
        self._named: dict[ObjectKey, list[ObjectKey]] = {}
        """The keys by what they are but for the namespace."""
        for key in self.desired:
            self._named.setdefault(key._replace(namespace=""), []).append(key)

    def match(self, manifest: Manifest) -> tuple[ObjectKey, Manifest | None]:
        """The key of a live object, and the desired object for it, if any; marks that one as seen.

        A desired object without a namespace matches one in any namespace. A live object without one is of a
        cluster-wide kind: then a namespace of the desired object says nothing.
        """
        key = key_of(manifest)
        matched = key.paired if key.paired in self.desired else None
        if matched is None:
            named = self._named.get(key.paired._replace(namespace=""), [])
            matched = next((one for one in named if not one.namespace or not key.namespace), None)
        if matched is not None:
            self.seen.add(matched)
        return key, self.desired.get(matched) if matched is not None else None

    def declares(self, key: ObjectKey) -> bool:
        """Whether Git declares an object of that name."""
        return key.paired in self.desired or key.paired._replace(namespace="") in self.desired

    def makes(self, manifest: Manifest) -> bool:
        """Whether a live object may have been made from a desired one that has no name, only a generateName."""
        return made_from(manifest) in self.desired

    def take_missing(self) -> list[Manifest]:
        """The desired objects that were not seen. Each call returns only new ones."""
        missing = [one for key, one in self.desired.items() if key not in self.seen and not made_name(one)]
        self.seen.update(self.desired)
        return missing


def observed(
    manifest: Manifest, application: str, wanted: DesiredObjects, facts: KindFacts = UNTOLD, *, gone: bool
) -> ObservedEvent | None:
    """The event of a live object, with what is known of its kind; None for the kinds in `SKIPPED`."""
    if group_kind(manifest) in SKIPPED:
        return None
    key, desired = wanted.match(manifest)
    whose = identified(uid_of(manifest))
    if gone and desired is None and not wanted.known:
        return ObservedEvent("resource", "removed", f"{application}/{id_suffix(key)}", whose or None)
    data: dict[str, Any] = {"live": None if gone else _without_secrets(manifest), **whose}
    if wanted.known and not (desired is None and (is_owned(manifest) or wanted.makes(manifest))):
        data["desired"] = None if desired is None else _without_secrets(desired)
    told = {} if gone else facts.about(desired)
    if desired is not None and not key.namespace and key_of(desired).namespace:
        told["namespaced"] = False
    if told:
        data[FIELD] = told
    return ObservedEvent(
        "resource",
        "observed",
        f"{application}/{id_suffix(key)}",
        data,
        [_steady(data["live"]), data.get("desired", "?"), data.get(FIELD)],
    )


def missing(desired: Manifest, application: str, kinds: KindsTold) -> ObservedEvent:
    """The event of an object that Git declares and that does not exist. kinds: tells what is known of kinds."""
    data: dict[str, Any] = {"live": None, "desired": _without_secrets(desired)}
    key = key_of(desired, kinds)
    if not key.namespace and key != key_of(desired):
        data[FIELD] = {"namespaced": False}
    return ObservedEvent("resource", "observed", f"{application}/{id_suffix(key)}", data)


def owned(manifest: Manifest, entity_id: str, facts: KindFacts = UNTOLD) -> ObservedEvent:
    """The event of a live object that another object made."""
    data: dict[str, Any] = {"live": _without_secrets(manifest), **identified(uid_of(manifest))}
    if facts != UNTOLD:
        data[FIELD] = {"status": facts.status}
    return ObservedEvent("owned_object", "observed", entity_id, data, [_steady(data["live"]), data.get(FIELD)])


def _without_secrets(manifest: Manifest) -> Manifest:
    """The manifest, with fingerprints for the values of a Secret, also of one that stands inside another object.

    They are equal for equal values in one process, and `is_masked` accepts them. Copies of a Secret in its annotations
    are left out.
    """
    found = _masked(manifest) if group_kind(manifest) == ("", "Secret") else manifest
    return _masked_inside(found) if raw_secret_in(found) is not None else found


def _masked(secret: Manifest) -> dict[str, Any]:
    """A Secret with fingerprints for its values, without copies of itself."""
    cleaned = deepcopy(dict(secret))
    if mapping(cleaned, "metadata", "annotations"):
        for copy in COPIES:
            cleaned["metadata"]["annotations"].pop(copy, None)
    for name in FIELDS:
        inside = cleaned.get(name)
        if isinstance(inside, Mapping):
            cleaned[name] = {key: _fingerprint(name, value) for key, value in inside.items()}
        elif inside is not None:  # not a map, but it may hold a secret
            cleaned[name] = _fingerprint(name, inside)
    return cleaned


def _masked_inside(found: Any) -> Any:
    """A value, with a fingerprint in the place of each smallest part of it that shows a value of a Secret.

    An object that is refused as a whole would look as it did before, whatever has become of it.
    """
    if raw_secret_in(found) is None:
        return found
    if isinstance(found, list):
        return [_masked_inside(one) for one in found]
    if not isinstance(found, Mapping):
        return _fingerprint("", found)
    made = {name: _masked_inside(value) for name, value in found.items()}
    if group_kind(made) == ("", "Secret"):
        made = _masked(made)
    # Some lists hold Secrets that do not say so.
    own = {name: made[name] for name in ("apiVersion", "kind", "group") if name in made}
    return {
        name: one if raw_secret_in({**own, name: one}) is None else _fingerprint("", one) for name, one in made.items()
    }


def _fingerprint(name: str, value: Any) -> Any:
    """The fingerprint of a value of a Secret. It is the same in `data` (in base64) and in `stringData`."""
    if value is None:
        return None
    # A password of digits without quotes in Git is a number.
    string = value if isinstance(value, str) else json.dumps(value)
    plain = string.encode(errors="surrogatepass")
    if name == "data":
        with suppress(ValueError):  # a value that is not base64 stays as it is
            plain = base64.b64decode(string, validate=True)
    fingerprint = MASK + hmac.new(_KEY, plain, hashlib.sha256).hexdigest()[:32]
    return base64.b64encode(fingerprint.encode()).decode() if name == "data" else fingerprint


def shortened(found: Any, longest: int) -> Any:
    """A value, with a digest in the place of each text of more characters. It is equal for equal texts."""
    if isinstance(found, Mapping):
        return {name: shortened(value, longest) for name, value in found.items()}
    if isinstance(found, list):
        return [shortened(one, longest) for one in found]
    if not isinstance(found, str) or len(found) <= longest:
        return found
    digest = hashlib.sha256(found.encode(errors="surrogatepass")).hexdigest()[:32]
    return f"sha256:{digest} of {len(found):,} characters"


def _steady(live: Manifest | None) -> Any:
    """An object without the fields that change while nothing happens to it. Of managed fields, who claims what."""
    if live is None:
        return None
    rest = {name: value for name, value in live.items() if name not in ("metadata", "status")}
    metadata = {
        name: value
        for name, value in mapping(live, "metadata").items()
        if name not in ("managedFields", "resourceVersion")
    }
    status = dict(mapping(live, "status"))
    if "conditions" in status:
        status["conditions"] = [
            {name: value for name, value in one.items() if name not in TIMES} for one in maps(status, "conditions")
        ]
    return [rest, metadata, {name: value for name, value in status.items() if name not in TIMES}, claims(live)]
