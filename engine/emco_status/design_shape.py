"""The answer as EMCO's design notes have it: hyphenated keys, four outputs (docs/spec/emco.md, The status query).

Belongs here: that shape. Does not: what is chosen (`selection`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.emco_status.query import Query
from phaseline.engine.emco_status.select import AppCluster, StatusItem, StatusSelection

HEADER = {
    "project": "project",
    "composite-app-name": "composite_app",
    "composite-app-version": "composite_app_version",
    "composite-profile-name": "composite_profile",
}
"""Keys of the head, and the attributes they come from."""
Objects = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""By app, cluster and `<name>+<kind>`: a resource as the ResourceBundleState, or as the manifest has it."""


def answer(found: StatusSelection, query: Query, objects: Objects) -> dict[str, Any]:
    """The body. `objects`: for `detail` and `rsync`, what is known of each resource."""
    body = {**head(found), "state": found.resource.facets[0].state.phase}
    if found.context is not None:
        body["status"] = found.context.facets[0].state.phase
    if "cluster" not in query.type or "rsync" in query.type:
        body["rsync-status"] = found.counts()
    if _tells_clusters(query):
        body["cluster-status"] = found.presence()
    if query.output != "summary":
        body["resources"] = _by_app(found, query, objects)
    return body


def head(found: StatusSelection) -> dict[str, Any]:
    """Whose status it is: from the attributes; a group's id `<project>+<app>+<version>+<name>` tells what they leave out."""
    attributes, parts = found.resource.attributes, found.resource.id.split("+")
    told = {key: attributes.get(name) for key, name in HEADER.items()}
    if attributes.get("type") == "deployment_intent_group" and len(parts) == 4:
        implied = dict(zip(("project", "composite-app-name", "composite-app-version"), parts, strict=False))
        told = {key: value or implied.get(key) for key, value in told.items()}
    whole = attributes.get("type") == "cluster_network_intents"
    return {"name": found.resource.id if whole else parts[-1], **{key: v for key, v in told.items() if v is not None}}


def _tells_clusters(query: Query) -> bool:
    return query.output != "rsync" and ("rsync" not in query.type or "cluster" in query.type)


def _by_app(found: StatusSelection, query: Query, objects: Objects) -> list[dict[str, Any]]:
    apps: dict[str, list[dict[str, Any]]] = {}
    for placed in found.placed:
        resources = [_resource(placed, item, query, objects) for item in placed.items if told(item, query)]
        if resources:
            apps.setdefault(placed.app, []).append({"name": placed.cluster, "resources": resources})
    return [{"app-name": app, "clusters": clusters} for app, clusters in apps.items()]


def told(item: StatusItem, query: Query) -> bool:
    """Whether an item is of the type that is asked about."""
    return item.rsync is not None or _tells_clusters(query)


def _resource(placed: AppCluster, item: StatusItem, query: Query, objects: Objects) -> dict[str, Any]:
    body: dict[str, Any] = {
        "GVK": {"Group": item.group, "Version": item.version, "Kind": item.kind},
        "Name": item.name,
    }
    keys = {"detail": ("metadata", "spec", "status"), "rsync": ("metadata", "spec")}.get(query.output, ())
    known = objects.get((placed.app, placed.cluster, item.token), {}) if keys else {}
    body |= {key: known[key] for key in keys if known.get(key) is not None}
    if item.rsync is not None and ("cluster" not in query.type or "rsync" in query.type):
        body["rsync-status"] = item.rsync.state.phase
    if _tells_clusters(query):
        body["cluster-status"] = item.cluster
    return body
