"""What any other object says: `resource.observed`, with what Git declares of it (docs/spec/gitops.md, What arrives).

Belongs here: whose it is, its manifests as an event may carry them. Does not: health, comparison: the worker does that.
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

from phaseline.engine.observe.events import Manifest, ObservedEvent, members, part, token, word
from phaseline.machines.kubernetes.diff.normalize import LAST_APPLIED
from phaseline.machines.kubernetes.manifest_id import group_kind
from phaseline.machines.kubernetes.pairs import ObjectKey, is_owned, key_of

TRACKING, INSTANCE = "argocd.argoproj.io/tracking-id", "app.kubernetes.io/instance"
TIMES = ("lastUpdateTime", "lastTransitionTime", "lastHeartbeatTime", "lastProbeTime", "lastScheduleTime", "renewTime")
"""Fields that tick while nothing happens."""
SKIPPED = {
    ("", "Event"),
    ("events.k8s.io", "Event"),
    ("coordination.k8s.io", "Lease"),
    ("", "Endpoints"),
    ("discovery.k8s.io", "EndpointSlice"),
}
"""Kinds that change all the time and that nobody deploys."""
_KEY = secrets.token_bytes(32)


def application_of(found: Manifest) -> str | None:
    """The id of the application that an object says it belongs to, in Argo CD's tracking annotation or label."""
    metadata = part(found, "metadata")
    name = word(part(metadata, "annotations"), TRACKING).partition(":")[0] or word(part(metadata, "labels"), INSTANCE)
    return f"{name}/{name}" if name else None


class DesiredObjects:
    """What Git declares, by key. `known`: whether anything is known of that at all."""

    def __init__(self, desired: Mapping[ObjectKey, Manifest] | None) -> None:
        """None: nothing is known."""
        self.known = desired is not None
        self.desired = dict(desired or {})
        self.seen: set[ObjectKey] = set()

    def of(self, found: Manifest) -> tuple[ObjectKey, Manifest | None]:
        """The key under which an object is wanted, and what is wanted; a desired one without a namespace fits in any."""
        key = key_of(found)
        fit = next((one for one in (key, key._replace(namespace="")) if one in self.desired), None)
        if fit is not None:
            self.seen.add(fit)
        return key, self.desired.get(fit) if fit is not None else None

    def missing(self) -> list[Manifest]:
        """What is wanted and was not seen; told once."""
        found = [one for key, one in self.desired.items() if key not in self.seen]
        self.seen.update(self.desired)
        return found


def observed(found: Manifest, application: str, wanted: DesiredObjects, *, gone: bool) -> ObservedEvent | None:
    """What is to be said of an object; None where it is nobody's business."""
    if group_kind(found) in SKIPPED:
        return None
    key, desired = wanted.of(found)
    if gone and desired is None and not wanted.known:
        return ObservedEvent("resource", "removed", f"{application}/{token(key)}")
    data: dict[str, Any] = {"live": None if gone else _without_secrets(found)}
    if wanted.known and not (desired is None and is_owned(found)):
        data["desired"] = None if desired is None else _without_secrets(desired)
    return ObservedEvent(
        "resource", "observed", f"{application}/{token(key)}", data, [_steady(data["live"]), data.get("desired", "?")]
    )


def absent(desired: Manifest, application: str) -> ObservedEvent:
    """What is to be said of something that Git declares and nobody has seen."""
    data = {"live": None, "desired": _without_secrets(desired)}
    return ObservedEvent("resource", "observed", f"{application}/{token(key_of(desired))}", data)


def _without_secrets(found: Manifest) -> Manifest:
    """A Secret with its values' fingerprints in place of them: equal ones stay equal while this process lives."""
    if group_kind(found) != ("", "Secret"):
        return found
    made = deepcopy(dict(found))
    if part(made, "metadata", "annotations"):
        made["metadata"]["annotations"].pop(LAST_APPLIED, None)
    for name in ("data", "stringData"):
        inside = made.get(name)
        if isinstance(inside, Mapping):
            made[name] = {key: _fingerprint(name, value) for key, value in inside.items()}
        elif inside is not None:  # no map, so nobody knows what it gives away
            made[name] = _fingerprint(name, inside)
    return made


def _fingerprint(name: str, value: Any) -> Any:
    """Of `data` and `stringData` alike, so that the two can be compared: as the worker will, in base64 or not."""
    if value is None:
        return None
    # A password of digits that Git has without quotes is a number there.
    text = value if isinstance(value, str) else json.dumps(value)
    plain = text.encode(errors="surrogatepass")
    if name == "data":
        with suppress(ValueError):  # what is no base64 stays as it is
            plain = base64.b64decode(text, validate=True)
    word_ = hmac.new(_KEY, plain, hashlib.sha256).hexdigest()[:32]
    return base64.b64encode(word_.encode()).decode() if name == "data" else word_


def _steady(live: Manifest | None) -> Any:
    """An object without what ticks while nothing happens to it."""
    if live is None:
        return None
    made = {name: value for name, value in live.items() if name not in ("metadata", "status")}
    metadata = {
        name: value
        for name, value in part(live, "metadata").items()
        if name not in ("managedFields", "resourceVersion")
    }
    status = dict(part(live, "status"))
    if "conditions" in status:
        status["conditions"] = [
            {name: value for name, value in one.items() if name not in TIMES} for one in members(status, "conditions")
        ]
    return [made, metadata, {name: value for name, value in status.items() if name not in TIMES}]
