"""The shape that a query calls source: after EMCO's design notes: hyphenated keys, four outputs (docs/spec/emco.md).

Belongs here: making an answer of that shape. Does not: selecting the resources (`select`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.log.explain import staleness
from phaseline.engine.products.emco.query import Query
from phaseline.engine.products.emco.select import AppCluster, StatusItem, StatusSelection

HEADER = {
    "project": "project",
    "composite-app-name": "composite_app",
    "composite-app-version": "composite_app_version",
    "composite-profile-name": "composite_profile",
}
"""The keys of the header, and the attributes that they come from."""
Objects = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Resources from a ResourceBundleState or from manifests, by app, cluster and `<name>+<kind>`."""


def answer(selection: StatusSelection, query: Query, objects: Objects) -> dict[str, Any]:
    """The body of an answer. `objects`: for the outputs `detail` and `rsync`, the known resources."""
    stale = staleness.shown_since(selection.stale_since_ns)
    body = {**header(selection), "state": selection.resource.facets[0].state.phase, **stale}
    if selection.context is not None:
        body["status"] = selection.context.facets[0].state.phase
    if "cluster" not in query.type or "rsync" in query.type:
        body["rsync-status"] = selection.counts()
    if _shows_clusters(query):
        body["cluster-status"] = selection.presence()
    if query.output != "summary":
        body["resources"] = _by_app(selection, query, objects)
    return {**body, **_beside(selection, query, objects)}


def _beside(selection: StatusSelection, query: Query, objects: Objects) -> dict[str, Any]:
    """What stands beside the context that is shown: older ones that are under way, and what is left behind."""
    body: dict[str, Any] = {}
    if selection.previous:
        body["previous"] = [_previous(one, query, objects) for one in selection.previous]
    if selection.left_behind:
        body["left_behind"] = left_behind(selection)
    return body


def _previous(selection: StatusSelection, query: Query, objects: Objects) -> dict[str, Any]:
    """An older context that is under way: its state, its counts, its failures and its resources."""
    body: dict[str, Any] = {
        "instance": selection.name,
        "status": state_of(selection),
        "rsync-status": selection.counts(),
    }
    if failures := selection.failures():
        body["failures"] = [
            {"app-name": at.app, "cluster": at.cluster, "Name": one.name, "Kind": one.kind, "message": one.failure}
            for at, one in failures
        ]
    if query.output != "summary":
        body["resources"] = _by_app(selection, query, objects)
    return body


def state_of(selection: StatusSelection) -> str:
    """The state of the context."""
    return "" if selection.context is None else selection.context.facets[0].state.phase


def left_behind(selection: StatusSelection) -> list[dict[str, Any]]:
    """What is Deleted and may still be in its cluster."""
    return [
        {
            "instance": one.context, "app-name": one.app, "cluster": one.cluster, "Name": one.name, "Kind": one.kind,
            "end": one.ended, "shows": one.shows,
        }
        for one in selection.left_behind
    ]  # fmt: skip


def header(selection: StatusSelection) -> dict[str, Any]:
    """The name and the owners of the resource, from its attributes.

    The id of a deployment intent group is `<project>+<app>+<version>+<name>`. It gives what the attributes lack.
    """
    attributes, parts = selection.resource.attributes, selection.resource.id.split("+")
    values = {key: attributes.get(name) for key, name in HEADER.items()}
    if attributes.get("type") == "deployment_intent_group" and len(parts) == 4:
        implied = dict(zip(("project", "composite-app-name", "composite-app-version"), parts, strict=False))
        values = {key: value or implied.get(key) for key, value in values.items()}
    name = selection.resource.id if attributes.get("type") == "cluster_network_intents" else parts[-1]
    return {"name": name, **{key: value for key, value in values.items() if value is not None}}


def _shows_clusters(query: Query) -> bool:
    return query.output != "rsync" and ("rsync" not in query.type or "cluster" in query.type)


def _by_app(selection: StatusSelection, query: Query, objects: Objects) -> list[dict[str, Any]]:
    apps: dict[str, list[dict[str, Any]]] = {}
    for on_cluster in selection.app_clusters:
        resources = [_resource(on_cluster, item, query, objects) for item in on_cluster.items if is_shown(item, query)]
        if resources:
            found = {
                "name": on_cluster.cluster,
                **staleness.shown_since(on_cluster.stale_since_ns),
                "resources": resources,
            }
            apps.setdefault(on_cluster.app, []).append(found)
    return [{"app-name": app, "clusters": clusters} for app, clusters in apps.items()]


def is_shown(item: StatusItem, query: Query) -> bool:
    """Whether a resource is of a type that the query asks for."""
    return item.rsync is not None or _shows_clusters(query)


def _resource(on_cluster: AppCluster, item: StatusItem, query: Query, objects: Objects) -> dict[str, Any]:
    body: dict[str, Any] = {
        "GVK": {"Group": item.group, "Version": item.version, "Kind": item.kind},
        "Name": item.name,
    }
    keys = {"detail": ("metadata", "spec", "status"), "rsync": ("metadata", "spec")}.get(query.output, ())
    known = objects.get((on_cluster.app, on_cluster.cluster, item.token), {}) if keys else {}
    body |= {key: known[key] for key in keys if known.get(key) is not None}
    if item.rsync is not None and ("cluster" not in query.type or "rsync" in query.type):
        body["rsync-status"] = item.rsync.state.phase
    if _shows_clusters(query):
        body["cluster-status"] = item.cluster
    return body
