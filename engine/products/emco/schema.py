"""The JSON Schemas (2020-12) of status queries and their answers.

Belongs here: the shapes as types, from which the schemas are made. Does not: making answers.
"""

import json
from functools import cache
from typing import Any, NotRequired, TypedDict

import msgspec

from phaseline.engine.products.emco.query import CHOICES, FILTERS, LISTS, NAMES, TYPES

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
DOCS = {
    "shape": "the form of the answer",
    "output": "how much to show: counts only, resources too, all that is known of them, or their manifests",
    "type": "whose status to show; both if omitted",
    "status": "shape emco: what was deployed, or what is ready",
    "app": "only these apps",
    "cluster": "only these clusters, each `<provider>+<cluster>`",
    "resource": "only resources of these names",
    "instance": "the app context; the current one if omitted",
    "apps": "shape emco: only the names of the apps",
    "clusters": "shape emco: only the names of the clusters, by app",
    "resources": "shape emco: only the names of the resources, by app and cluster",
}
GroupVersionKind = TypedDict("GroupVersionKind", {"Group": str, "Version": str, "Kind": str})  # noqa: UP013
SourceResource = TypedDict(
    "SourceResource",
    {
        "GVK": GroupVersionKind,
        "Name": str,
        "metadata": NotRequired[dict[str, Any]],
        "spec": NotRequired[dict[str, Any]],
        "status": NotRequired[dict[str, Any]],
        "rsync-status": NotRequired[str],
        "cluster-status": NotRequired[str],
    },
)
SourceCluster = TypedDict(  # noqa: UP013
    "SourceCluster", {"name": str, "stale_since": NotRequired[str], "resources": list[SourceResource]}
)
SourceApp = TypedDict("SourceApp", {"app-name": str, "clusters": list[SourceCluster]})
SourceFailure = TypedDict("SourceFailure", {"app-name": str, "cluster": str, "Name": str, "Kind": str, "message": str})
SourcePrevious = TypedDict(
    "SourcePrevious",
    {
        "instance": str,
        "status": str,
        "rsync-status": dict[str, int],
        "failures": NotRequired[list[SourceFailure]],
        "resources": NotRequired[list[SourceApp]],
    },
)


class Shows(TypedDict):
    """What an entity was when it was heard of last."""

    phase: str
    conditions: list[str]
    time: str
    event: int


LeftBehind = TypedDict(
    "LeftBehind",
    {"instance": str, "app-name": str, "cluster": str, "Name": str, "Kind": str, "end": str, "shows": Shows},
)
SourceStatus = TypedDict(
    "SourceStatus",
    {
        "name": str,
        "project": NotRequired[str],
        "composite-app-name": NotRequired[str],
        "composite-app-version": NotRequired[str],
        "composite-profile-name": NotRequired[str],
        "state": str,
        "stale_since": NotRequired[str],
        "status": NotRequired[str],
        "rsync-status": NotRequired[dict[str, int]],
        "cluster-status": NotRequired[dict[str, int]],
        "resources": NotRequired[list[SourceApp]],
        "previous": NotRequired[list[SourcePrevious]],
        "left_behind": NotRequired[list[LeftBehind]],
    },
)


class EmcoAction(TypedDict):
    """One of the user's actions."""

    state: str
    instance: str
    time: str
    revision: int


class EmcoStates(TypedDict):
    """The actions of the user."""

    statusctxid: str
    actions: list[EmcoAction]


class EmcoResource(TypedDict):
    """A resource in the shape `emco`."""

    GVK: GroupVersionKind
    name: str
    detail: NotRequired[dict[str, Any]]
    rsyncStatus: NotRequired[str]
    clusterStatus: NotRequired[str]
    deployedStatus: NotRequired[str]
    readyStatus: NotRequired[str]


class EmcoCluster(TypedDict):
    """A cluster in the shape `emco`."""

    clusterProvider: str
    cluster: str
    readyStatus: NotRequired[str]
    connectivity: NotRequired[str]
    stale_since: NotRequired[str]
    resources: list[EmcoResource]


class EmcoOneCluster(TypedDict, total=False):
    """The cluster of network intents. All of it is absent in a summary, and where nothing was applied yet."""

    clusterProvider: str
    cluster: str
    readyStatus: str
    connectivity: str
    resources: list[EmcoResource]


class EmcoApp(TypedDict):
    """An app in the shape `emco`."""

    name: str
    clusters: list[EmcoCluster]


class EmcoFailure(TypedDict):
    """What failed in an older context."""

    clusterProvider: str
    cluster: str
    app: str
    name: str
    GVK: GroupVersionKind
    message: str


class EmcoPrevious(TypedDict):
    """An older context that is still under way."""

    instance: str
    status: str
    rsyncStatus: dict[str, int]
    failures: NotRequired[list[EmcoFailure]]


class EmcoStatus(TypedDict):
    """The answer in the shape `emco`, unless the query asks for names only."""

    project: NotRequired[str]
    compositeApp: NotRequired[str]
    compositeAppVersion: NotRequired[str]
    compositeProfile: NotRequired[str]
    name: str
    states: EmcoStates
    stale_since: NotRequired[str]
    status: NotRequired[str]
    deployedStatus: NotRequired[str]
    readyStatus: NotRequired[str]
    rsyncStatus: NotRequired[dict[str, int]]
    clusterStatus: NotRequired[dict[str, int]]
    deployedCounts: NotRequired[dict[str, int]]
    readyCounts: NotRequired[dict[str, int]]
    apps: NotRequired[list[EmcoApp]]
    clusters: NotRequired[list[EmcoCluster]]
    cluster: NotRequired[EmcoOneCluster]
    previous: NotRequired[list[EmcoPrevious]]
    leftBehind: NotRequired[list[LeftBehind]]


class EmcoNamedResource(TypedDict):
    """The name of a resource."""

    name: str
    GVK: GroupVersionKind


class EmcoClusterName(TypedDict):
    """The name of a cluster."""

    clusterProvider: str
    cluster: str


class EmcoAppClusters(TypedDict):
    """The clusters of one app."""

    app: str
    clusters: list[EmcoClusterName]


class EmcoAppResources(TypedDict):
    """The resources of one app on one cluster."""

    app: str
    clusterProvider: str
    cluster: str
    resources: list[EmcoNamedResource]


class EmcoNames(TypedDict):
    """The answer in later EMCO's form, where only names are asked for."""

    project: NotRequired[str]
    compositeApp: NotRequired[str]
    compositeAppVersion: NotRequired[str]
    compositeProfile: NotRequired[str]
    name: str
    apps: NotRequired[list[str]]
    clustersByApp: NotRequired[list[EmcoAppClusters]]
    resourcesByApp: NotRequired[list[EmcoAppResources]]


def request() -> Schema:
    """The schema of a query."""
    return {
        "$schema": DIALECT,
        "title": "A status query",
        "type": "object",
        "properties": {name: {"description": DOCS[name], **_type(name)} for name in NAMES},
        "additionalProperties": False,
    }


def _type(name: str) -> Schema:
    if name in LISTS:
        return {"type": "boolean", "default": False}
    if name in FILTERS or name == "type":
        string: Schema = {"type": "string", **({"enum": list(TYPES)} if name == "type" else {})}
        return {"anyOf": [string, {"type": "array", "items": string}]}
    return {"type": "string", **({"enum": list(CHOICES[name])} if name in CHOICES else {})}


def response(shape: Any) -> Schema:
    """The schema of an answer of one shape."""
    return {"$schema": DIALECT, **msgspec.json.schema(shape)}


@cache
def service() -> dict[str, str]:
    """The schemas that the service announces, as JSON."""
    found = {"request": request(), "response": response(SourceStatus), "response-emco": response(EmcoStatus)}
    return {name: json.dumps(schema, separators=(",", ":")) for name, schema in found.items()}
