"""The shape `emco` of an answer, as later EMCO prints it: camelCase keys, deployed and ready (docs/spec/emco.md).

Belongs here: making an answer of that shape, its words for states, its counts of readiness. Does not: selecting the
resources (`select`).
Two faults of EMCO are not copied: a resource on an unreachable cluster is not NotReady, an empty set is not Ready.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from phaseline.engine.log.explain import staleness
from phaseline.engine.products.emco.design_shape import Objects, header, left_behind
from phaseline.engine.products.emco.query import Query
from phaseline.engine.products.emco.select import AppCluster, StatusItem, StatusSelection
from phaseline.machines.kinds.emco.bundle_state import KEY_KINDS
from phaseline.schemas.records import Transition, timestamp

CONTEXT = {"PreTerminate": "Instantiating", "UpdateFailed": "UpdatedFailed"}
STOPPED = {"Instantiating": "InstantiateFailed", "Terminating": "TerminateFailed", "Updating": "UpdatedFailed"}
"""What later EMCO says of a run that was stopped: its stop is an error of whatever runs."""
RSYNC = {"Terminated": "Deleted"}
CONNECTIVITY = {"Unreachable": "Retrying"}
"""EMCO's words for states, where they differ from ours."""
HEADER = {
    "project": "project",
    "composite-app-name": "compositeApp",
    "composite-app-version": "compositeAppVersion",
    "composite-profile-name": "compositeProfile",
    "name": "name",
}


def answer(selection: StatusSelection, query: Query, objects: Objects, history: Sequence[Transition]) -> dict[str, Any]:
    """The body of an answer. `history`: the transitions of the resource, in order.

    objects: for the output `detail`, the known resources.
    """
    named = header(selection)
    body: dict[str, Any] = {key: named[name] for name, key in HEADER.items() if name in named}
    if query.lists is not None:
        return {**body, **_names(selection, query)}
    status_context = selection.resource.attributes.get("status_context") or selection.name
    body["states"] = {"statusctxid": status_context or "", "actions": actions(history)}
    if selection.resource.attributes.get("type") == "cluster_network_intents":
        body["cluster"] = {}
    beside = {"leftBehind": left_behind(selection)} if selection.left_behind else {}
    if selection.context is None:
        return body | beside
    body |= staleness.shown_since(selection.stale_since_ns)
    form = query.status or (query.type[0] if query.type else _usual(selection))
    body["deployedStatus" if form in ("deployed", "ready") else "status"] = _context_word(selection)
    if form in ("ready", "cluster"):
        body["readyStatus"] = readiness(selection.app_clusters)
    body[
        {"deployed": "deployedCounts", "ready": "readyCounts", "rsync": "rsyncStatus", "cluster": "clusterStatus"}[form]
    ] = (
        _ready_counts(selection.app_clusters)
        if form in ("ready", "cluster")
        else _deployed_counts(selection.app_clusters)
    )
    if query.output != "summary":
        body |= _resources(selection, _apps(selection, form, objects if query.output == "detail" else None))
    if selection.previous:
        body["previous"] = [_previous(one) for one in selection.previous]
    return body | beside


def _previous(selection: StatusSelection) -> dict[str, Any]:
    """An older context that is under way: its state, its counts and its failures."""
    counts = _deployed_counts(selection.app_clusters)
    body: dict[str, Any] = {"instance": selection.name, "status": _context_word(selection), "rsyncStatus": counts}
    if failures := selection.failures():
        body["failures"] = [
            {**_where(at), "app": at.app, "name": one.name, "GVK": _gvk(one), "message": one.failure}
            for at, one in failures
        ]
    return body


def _context_word(selection: StatusSelection) -> str:
    """EMCO's word for the state of the context. What was stopped ended in its error state, as far as EMCO says."""
    if selection.context is None:
        return ""
    phase, conditions = selection.context.facets[0].state
    phase = CONTEXT.get(phase, phase)
    return STOPPED.get(phase, phase) if "Stopped" in conditions else phase


def _usual(selection: StatusSelection) -> str:
    return "ready" if selection.resource.attributes.get("type") == "logical_cloud" else "rsync"


def actions(history: Sequence[Transition]) -> list[dict[str, Any]]:
    """The actions of the user since the resource was created.

    An update is two actions: Updated for the context that is left, Instantiated for the new one.
    """
    found: list[dict[str, Any]] = []
    for record in history:
        attributes, phase = record.entity.attributes, record.after.phase
        revision, moment = attributes.get("revision", 0), timestamp(record.time_ns)
        if record.trigger == "create":
            found = []
        if record.trigger in ("update", "rollback"):
            found.append(_action("Updated", attributes.get("previous", ""), moment, revision - 1))
        named = "" if phase in ("Created", "Approved") else attributes.get("context", "")
        if phase != "Deleted":
            found.append(_action(phase, named, moment, 0 if named == "" else revision))
    return found


def _action(state: str, instance: str, moment: str, revision: int) -> dict[str, Any]:
    return {"state": state, "instance": instance, "time": moment, "revision": revision}


def rsync_word(item: StatusItem) -> str:
    """The last result of rsync for a resource. An unreachable cluster does not change it."""
    base = item.rsync.base.phase if item.rsync is not None else ""
    return RSYNC.get(base, base)


def ready_word(item: StatusItem) -> str | None:
    """`Ready`, `NotReady`, `NotPresent`, or None for a resource that does not count.

    A resource that the report does not list is `NotPresent` if its kind is a key kind, or if it is known to be absent.
    """
    if item.ready is not None:
        return item.ready
    return "NotPresent" if item.kind in KEY_KINDS or item.cluster == "NotPresent" else None


def readiness(app_clusters: Sequence[AppCluster]) -> str:
    """`Ready`, `NotReady` or `Unknown`.

    Unknown: nothing is known, or all resources are ready except those on unreachable clusters.
    """
    unreachable, counted = False, False
    for on_cluster in app_clusters:
        is_away = on_cluster.connectivity == "Unreachable"
        for word in map(ready_word, on_cluster.items):
            counted = counted or word is not None
            if word in ("NotReady", "NotPresent") and not is_away:
                return "NotReady"
        unreachable = unreachable or (is_away and bool(on_cluster.items))
    return "Ready" if counted and not unreachable else "Unknown"


def _ready_counts(app_clusters: Sequence[AppCluster]) -> dict[str, int]:
    found = Counter(word for one in app_clusters for word in map(ready_word, one.items) if word is not None)
    return dict(sorted(found.items()))


def _deployed_counts(app_clusters: Sequence[AppCluster]) -> dict[str, int]:
    found = Counter(rsync_word(item) for one in app_clusters for item in one.items if item.rsync is not None)
    return dict(sorted(found.items()))


def _apps(selection: StatusSelection, form: str, objects: Objects | None) -> list[dict[str, Any]]:
    apps: dict[str, list[dict[str, Any]]] = {}
    for on_cluster in selection.app_clusters:
        resources = [_resource(on_cluster, item, form, objects) for item in on_cluster.items if _is_shown(item, form)]
        if resources:
            apps.setdefault(on_cluster.app, []).append({**_cluster(on_cluster, form), "resources": resources})
    return [{"name": app, "clusters": clusters} for app, clusters in apps.items()]


def _is_shown(item: StatusItem, form: str) -> bool:
    return item.rsync is not None or form in ("ready", "cluster")


def _cluster(on_cluster: AppCluster, form: str) -> dict[str, Any]:
    word = CONNECTIVITY.get(on_cluster.connectivity, on_cluster.connectivity)
    stale = staleness.shown_since(on_cluster.stale_since_ns)
    return {**_where(on_cluster), "readyStatus" if form in ("rsync", "cluster") else "connectivity": word, **stale}


def _where(on_cluster: AppCluster) -> dict[str, str]:
    provider, _, cluster = on_cluster.cluster.rpartition("+")
    return {"clusterProvider": provider, "cluster": cluster}


def _resource(on_cluster: AppCluster, item: StatusItem, form: str, objects: Objects | None) -> dict[str, Any]:
    body: dict[str, Any] = {"GVK": _gvk(item), "name": item.name}
    detail = None if objects is None else objects.get((on_cluster.app, on_cluster.cluster, item.token))
    if detail:
        body["detail"] = dict(detail)
    key = {"deployed": "deployedStatus", "ready": "readyStatus", "rsync": "rsyncStatus", "cluster": "clusterStatus"}[
        form
    ]
    word = ready_word(item) if form in ("ready", "cluster") else rsync_word(item)
    return body if word is None else {**body, key: word}


def _gvk(item: StatusItem) -> dict[str, str]:
    return {"Group": item.group, "Version": item.version, "Kind": item.kind}


def _resources(selection: StatusSelection, apps: list[dict[str, Any]]) -> dict[str, Any]:
    """The resources under their key: a group has apps, a logical cloud clusters, network intents one cluster.

    EMCO prints the one cluster of network intents in every answer, empty where there is nothing.
    """
    kind = selection.resource.attributes.get("type")
    if kind == "deployment_intent_group":
        return {"apps": apps}
    clusters = [cluster for app in apps for cluster in app["clusters"]]
    if kind == "logical_cloud":
        return {"clusters": clusters}
    return {"cluster": clusters[0]} if clusters else {}


def _names(selection: StatusSelection, query: Query) -> Mapping[str, Any]:
    apps = dict.fromkeys(on_cluster.app for on_cluster in selection.app_clusters)
    if query.lists == "apps":
        return {"apps": list(apps)}
    if query.lists == "clusters":
        where = {
            app: [_where(on_cluster) for on_cluster in selection.app_clusters if on_cluster.app == app] for app in apps
        }
        return {"clustersByApp": [{"app": app, "clusters": clusters} for app, clusters in where.items()]}
    form = query.status or (query.type[0] if query.type else _usual(selection))
    return {
        "resourcesByApp": [
            {
                "app": on_cluster.app,
                **_where(on_cluster),
                "resources": [
                    {"name": item.name, "GVK": _gvk(item)} for item in on_cluster.items if _is_shown(item, form)
                ],
            }
            for on_cluster in selection.app_clusters
        ]
    }
