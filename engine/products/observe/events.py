"""The form of observed events, and helpers that read Kubernetes manifests.

Belongs here: what all adapters share. Does not: code for one sort of object (`argo`, `fleet`, `generic`).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.pairs import ObjectKey

Manifest = Mapping[str, Any]
LONGEST_OF_MANY = 1_024
"""The most characters of what is said where there may be more of it."""
HELM = ("HelmOp", "HelmApp")
"""The kinds of objects that share their names with GitRepos."""
PRINTED = re.compile("[!-~]{1,200}")
"""What the uid of an object looks like, if an event can hold it."""


class ObservedEvent(NamedTuple):
    """An event that an adapter makes of an object, before it has an envelope.

    compared: the event is published only if this differs from the last one; if None, `data` is compared.
    """

    kind: str
    trigger: str
    id: str
    data: Mapping[str, Any] | None = None
    compared: Any = None


def mapping(manifest: Manifest, *path: str) -> Mapping[str, Any]:
    """The map at a path in an object; empty if there is none."""
    here: Any = manifest
    for name in path:
        here = here.get(name) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else {}


def maps(manifest: Manifest, name: str) -> Iterator[Mapping[str, Any]]:
    """The maps in a list of an object."""
    listed = manifest.get(name)
    yield from (one for one in listed if isinstance(one, Mapping)) if isinstance(listed, list) else ()


def text(manifest: Manifest, name: str) -> str:
    """A string in an object; empty if there is none."""
    value = manifest.get(name)
    return value if isinstance(value, str) else ""


def conditions(manifest: Manifest) -> dict[str, Mapping[str, Any]]:
    """The conditions of an object by their type."""
    return {text(one, "type"): one for one in maps(mapping(manifest, "status"), "conditions")}


def named_key(one: Manifest) -> ObjectKey:
    """The key of the object that a map names, by its group or its apiVersion; without a kind or a name of none."""
    group, kind = group_kind(one)
    return ObjectKey.of(text(one, "group") or group, kind, text(one, "namespace"), text(one, "name"))


def id_suffix(key: ObjectKey) -> str:
    """The end of the id of a resource: `<group:Kind>/<namespace>/<name>`."""
    return f"{key.group or 'core'}:{key.kind}/{key.namespace or '-'}/{key.name}"


def being_deleted(manifest: Manifest, *told: str) -> str:
    """`being deleted since 2026-03-02T08:00:00Z; it waits for a.io/x`; empty of an object that is not.

    told: what is said of it in place of the finalizers.
    """
    metadata = mapping(manifest, "metadata")
    since, kept = text(metadata, "deletionTimestamp"), metadata.get("finalizers")
    waits = ", ".join([one for one in kept if isinstance(one, str)] if isinstance(kept, list) else [])
    words = told or ((f"it waits for {waits}"[:LONGEST_OF_MANY],) if waits else ())
    return "; ".join((f"being deleted since {since}", *words)) if since else ""


def without_empty(**data: Any) -> dict[str, Any]:
    """The given values without those that are empty."""
    return {name: value for name, value in data.items() if value not in (None, "", [], {})}


def uid_of(manifest: Manifest) -> str:
    """The uid of an object; empty if it has none."""
    return text(mapping(manifest, "metadata"), "uid")


def identity(uid: str, kind: str = "") -> str:
    """The identity of an object as events name it; empty without a uid. kind: of the object.

    A GitRepo and a HelmOp of one name are one entity, so they are told apart by their schemes.
    """
    scheme = "k8s.helmop" if kind in HELM else "k8s"
    return f"{scheme}:{uid}" if uid and PRINTED.fullmatch(uid) else ""


def identified(uid: str, kind: str = "") -> dict[str, str]:
    """The data that names the object that an event is about, if it has a uid. kind: as in `identity`."""
    found = identity(uid, kind)
    return {"uid": found} if found else {}
