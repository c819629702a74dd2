"""The answer as later EMCO prints it: camelCase keys, deployed and ready (docs/spec/emco.md, The shape emco).

Belongs here: that shape, its words for states, its counting of readiness. Does not: what is chosen (`selection`).
EMCO's own faults are left out: what cannot be reached is not NotReady, an empty set is not Ready.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from phaseline.engine.emco_status.design_shape import Objects, head
from phaseline.engine.emco_status.query import Query
from phaseline.engine.emco_status.select import AppCluster, StatusItem, StatusSelection
from phaseline.machines.emco.bundle_state import KEY_KINDS
from phaseline.schemas.records import Transition, timestamp

CONTEXT = {"PreTerminate": "Instantiating", "UpdateFailed": "UpdatedFailed"}
RSYNC = {"Terminated": "Deleted"}
CONNECTIVITY = {"Unreachable": "Retrying"}
"""Where EMCO has another word for a state."""
HEADER = {
    "project": "project",
    "composite-app-name": "compositeApp",
    "composite-app-version": "compositeAppVersion",
    "composite-profile-name": "compositeProfile",
    "name": "name",
}


def answer(found: StatusSelection, query: Query, objects: Objects, history: Sequence[Transition]) -> dict[str, Any]:
    """The body. `history`: the resource's transitions, in order; `objects`: for `detail`, what is known of each resource."""
    named = head(found)
    body: dict[str, Any] = {key: named[name] for name, key in HEADER.items() if name in named}
    if query.lists is not None:
        return {**body, **_names(found, query)}
    body["states"] = {"statusctxid": found.name or "", "actions": actions(history)}
    if found.context is None:
        return body
    form = query.status or (query.type[0] if query.type else _usual(found))
    phase = found.context.facets[0].state.phase
    body["deployedStatus" if form in ("deployed", "ready") else "status"] = CONTEXT.get(phase, phase)
    if form in ("ready", "cluster"):
        body["readyStatus"] = readiness(found.placed)
    body[
        {"deployed": "deployedCounts", "ready": "readyCounts", "rsync": "rsyncStatus", "cluster": "clusterStatus"}[form]
    ] = _ready_counts(found.placed) if form in ("ready", "cluster") else _deployed_counts(found.placed)
    if query.output != "summary":
        body |= _placed(found, _apps(found, form, objects if query.output == "detail" else None))
    return body


def _usual(found: StatusSelection) -> str:
    return "ready" if found.resource.attributes.get("type") == "logical_cloud" else "rsync"


def actions(history: Sequence[Transition]) -> list[dict[str, Any]]:
    """What the user did since the resource was created; an update is two: what is left is Updated, what comes Instantiated."""
    found: list[dict[str, Any]] = []
    for record in history:
        attributes, phase = record.entity.attributes, record.after.phase
        revision, moment = attributes.get("revision", 0), timestamp(record.time)
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
    """What rsync did last with a resource. That its cluster cannot be reached is the cluster's, not the resource's."""
    base = item.rsync.base.phase if item.rsync is not None else ""
    return RSYNC.get(base, base)


def ready_word(item: StatusItem) -> str | None:
    """Ready, NotReady, or NotPresent where its kind is one that is missed; None for what is not counted."""
    if item.ready is not None:
        return item.ready
    return "NotPresent" if item.kind in KEY_KINDS or item.cluster == "NotPresent" else None


def readiness(placed: Sequence[AppCluster]) -> str:
    """Ready, NotReady, or Unknown: where nothing is known, and where only what cannot be reached stands against Ready."""
    doubt, counted = False, False
    for one in placed:
        away = one.connectivity == "Unreachable"
        for word in map(ready_word, one.items):
            counted = counted or word is not None
            if word in ("NotReady", "NotPresent") and not away:
                return "NotReady"
        doubt = doubt or (away and bool(one.items))
    return "Ready" if counted and not doubt else "Unknown"


def _ready_counts(placed: Sequence[AppCluster]) -> dict[str, int]:
    found = Counter(word for one in placed for word in map(ready_word, one.items) if word is not None)
    return dict(sorted(found.items()))


def _deployed_counts(placed: Sequence[AppCluster]) -> dict[str, int]:
    found = Counter(rsync_word(item) for one in placed for item in one.items if item.rsync is not None)
    return dict(sorted(found.items()))


def _apps(found: StatusSelection, form: str, objects: Objects | None) -> list[dict[str, Any]]:
    apps: dict[str, list[dict[str, Any]]] = {}
    for placed in found.placed:
        resources = [_resource(placed, item, form, objects) for item in placed.items if _told(item, form)]
        if resources:
            apps.setdefault(placed.app, []).append({**_cluster(placed, form), "resources": resources})
    return [{"name": app, "clusters": clusters} for app, clusters in apps.items()]


def _told(item: StatusItem, form: str) -> bool:
    return item.rsync is not None or form in ("ready", "cluster")


def _cluster(placed: AppCluster, form: str) -> dict[str, Any]:
    word = CONNECTIVITY.get(placed.connectivity, placed.connectivity)
    return {**_where(placed), "readyStatus" if form in ("rsync", "cluster") else "connectivity": word}


def _where(placed: AppCluster) -> dict[str, str]:
    provider, _, cluster = placed.cluster.rpartition("+")
    return {"clusterProvider": provider, "cluster": cluster}


def _resource(placed: AppCluster, item: StatusItem, form: str, objects: Objects | None) -> dict[str, Any]:
    body: dict[str, Any] = {"GVK": _gvk(item), "name": item.name}
    detail = None if objects is None else objects.get((placed.app, placed.cluster, item.token))
    if detail:
        body["detail"] = dict(detail)
    key = {"deployed": "deployedStatus", "ready": "readyStatus", "rsync": "rsyncStatus", "cluster": "clusterStatus"}[
        form
    ]
    word = ready_word(item) if form in ("ready", "cluster") else rsync_word(item)
    return body if word is None else {**body, key: word}


def _gvk(item: StatusItem) -> dict[str, str]:
    return {"Group": item.group, "Version": item.version, "Kind": item.kind}


def _placed(found: StatusSelection, apps: list[dict[str, Any]]) -> dict[str, Any]:
    """Apps of a group; a logical cloud has its clusters at once, network intents the one cluster that they are about."""
    kind = found.resource.attributes.get("type")
    if kind == "deployment_intent_group":
        return {"apps": apps}
    clusters = [cluster for app in apps for cluster in app["clusters"]]
    if kind == "logical_cloud":
        return {"clusters": clusters}
    return {"cluster": clusters[0]} if clusters else {}


def _names(found: StatusSelection, query: Query) -> Mapping[str, Any]:
    apps = dict.fromkeys(placed.app for placed in found.placed)
    if query.lists == "apps":
        return {"apps": list(apps)}
    if query.lists == "clusters":
        where = {app: [_where(placed) for placed in found.placed if placed.app == app] for app in apps}
        return {"clustersByApp": [{"app": app, "clusters": clusters} for app, clusters in where.items()]}
    form = query.status or (query.type[0] if query.type else _usual(found))
    return {
        "resourcesByApp": [
            {
                "app": placed.app,
                **_where(placed),
                "resources": [{"name": item.name, "GVK": _gvk(item)} for item in placed.items if _told(item, form)],
            }
            for placed in found.placed
        ]
    }
