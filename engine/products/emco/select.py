"""Selects what a status query asks for: the resource, its context, its apps on clusters, their resources. Pure.

Belongs here: selecting by instance and filters, counting. Does not: the shapes of the answer (`design_shape`,
`emco_shape`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from phaseline.engine.core.tree import Tree
from phaseline.engine.log.explain.staleness import Nearest
from phaseline.engine.products.emco.query import Query
from phaseline.machines.kinds.emco.between_contexts import in_charge
from phaseline.machines.language.endings import END, SHOWS
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import Entity, FacetState, utc

SOME = 10
"""Names that an error lists."""
GONE = (ABSENT, DELETED)


class StatusItem(NamedTuple):
    """A resource in a cluster. `rsync`: the facet of its rsync resource; None if it has none.

    cluster: `Present`, `NotPresent` or `Unknown`. ready: `Ready` or `NotReady`; None if the report does not list it.
    added: the position of the event that holds its manifest.
    """

    group: str
    version: str
    kind: str
    name: str
    rsync: FacetState | None
    cluster: str
    ready: str | None
    added: int | None = None
    failure: str | None = None

    @property
    def token(self) -> str:
        """Its name in the last part of an id."""
        return f"{self.name}+{self.kind}"


class AppCluster(msgspec.Struct):
    """One app on one cluster. `report`: the position of the event that holds the last ResourceBundleState."""

    app: str
    cluster: str
    connectivity: str
    report: int | None
    counts: Mapping[str, int]
    """How many rsync resources are in which state."""
    presence: Mapping[str, int]
    """How many cluster resources are present, with or without an rsync resource."""
    items: list[StatusItem] = msgspec.field(default_factory=list)
    stale_since_ns: int | None = None
    """When the cluster was heard last, in ns, if it is silent."""

    @property
    def stale_since(self) -> datetime | None:
        """When the cluster was heard last, if it is silent."""
        return None if self.stale_since_ns is None else utc(self.stale_since_ns)


class LeftItem(NamedTuple):
    """An rsync resource that is Deleted, and may still be in its cluster. ended: how it is known that its life ended.

    shows: what it was last, as its attribute says.
    """

    context: str
    app: str
    cluster: str
    name: str
    kind: str
    ended: str
    shows: Mapping[str, Any]


class StatusSelection(msgspec.Struct):
    """What an answer shows. `context`, and its `name`, are None before the resource has its first context.

    previous: the older contexts that are still under way, where the current one is shown, the newest first.
    left_behind: what may still be in clusters although it is Deleted. It counts in nothing.
    """

    resource: Entity
    context: Entity | None
    name: str | None
    app_clusters: list[AppCluster]
    previous: list["StatusSelection"] = msgspec.field(default_factory=list)
    left_behind: list[LeftItem] = msgspec.field(default_factory=list)

    def failures(self) -> list[tuple[AppCluster, StatusItem]]:
        """What failed, with where it is."""
        return [(at, one) for at in self.app_clusters for one in at.items if one.failure is not None]

    def counts(self) -> dict[str, int]:
        """How many rsync resources are in which state; states without any are left out."""
        return _sum(on_cluster.counts for on_cluster in self.app_clusters)

    @property
    def stale_since_ns(self) -> int | None:
        """When the first of the silent clusters was heard last, in ns; None if none is silent."""
        return min((one.stale_since_ns for one in self.app_clusters if one.stale_since_ns is not None), default=None)

    @property
    def stale_since(self) -> datetime | None:
        """When the first of the silent clusters was heard last; None if none is silent."""
        return None if self.stale_since_ns is None else utc(self.stale_since_ns)

    def presence(self) -> dict[str, int]:
        """How many cluster resources are present or not; numbers of zero are left out."""
        return _sum(on_cluster.presence for on_cluster in self.app_clusters)


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for found in counts:
        total.update(found)
    return {name: count for name, count in sorted(total.items()) if count}


def select(tree: Tree, resource_id: str, query: Query, *, items: bool) -> StatusSelection | None:
    """What `query` asks for; None if the resource does not exist, and left nothing behind. Raises `InvalidInput`.

    items: whether to list every resource. If not, and the query names no resource, the counts come from tallies, and
    the cost is O(apps on clusters).
    """
    resource = tree.get("emco_resource", resource_id)
    if resource is None:
        return None
    left_behind = sorted(_left_behind(tree, resource_id, query))
    if resource.facets[0].state.phase in GONE:
        return StatusSelection(resource, None, None, [], left_behind=left_behind) if left_behind else None
    name = _instance(tree, resource, query)
    if name is None:
        return StatusSelection(resource, None, None, [], left_behind=left_behind)
    found = _of_context(tree, resource, name, query, items=items, checked=True)
    if query.instance is None:
        older = [one for one in _older(tree, resource) if one != name]
        found.previous = [_of_context(tree, resource, one, query, items=True, checked=False) for one in older]
    found.left_behind = left_behind
    return found


def _older(tree: Tree, resource: Entity) -> list[str]:
    """The contexts that are under way, or own what may be in a cluster, the newest first."""
    named: Sequence[str] = resource.attributes.get("contexts", ())
    there = {
        one for one in _live(tree, "emco_resource", resource.id, "app_context") if in_charge(tree, resource.id, one)
    }
    names = {one.rpartition("/")[2] for one in there}
    return sorted(names, key=lambda one: (-named.index(one) if one in named else 1, one))


def _left_behind(tree: Tree, resource_id: str, query: Query) -> Iterator[LeftItem]:
    """What of any context is Deleted and may still be in its cluster."""
    if not tree.tally(resource_id, "emco_resource", "rsync_resource", 0).get(DELETED):
        return
    for one in tree.descendants("emco_resource", resource_id, "rsync_resource"):
        attributes = tree.entities["rsync_resource"][one].attributes
        if SHOWS in attributes and tree.entities["rsync_resource"][one].facets[0].base.phase == DELETED:
            _, context, app, cluster, token = one.split("/", 4)
            name, _, kind = token.rpartition("+") if "+" in token else (token, "", "")
            if _is_wanted(one.rpartition("/")[0], query):
                yield LeftItem(context, app, cluster, name, kind, attributes.get(END, ""), attributes[SHOWS])


def _of_context(
    tree: Tree, resource: Entity, name: str, query: Query, *, items: bool, checked: bool
) -> StatusSelection:
    """What is asked for of one context. checked: whether names that occur nowhere in it are an error."""
    context_id = f"{resource.id}/{name}"
    clusters = sorted(_live(tree, "app_context", context_id, "app_cluster"))
    current = name == resource.attributes.get("context")
    if checked:
        _check_filters(tree, clusters, query, whole=current)
    wanted = [found for found in clusters if _is_wanted(found, query)]
    found = [
        _on_cluster(tree, cluster_id, query, items=items or bool(query.resource), whole=current)
        for cluster_id in wanted
    ]
    kept = [one for one in found if one.items or (not query.resource and (current or any(one.counts.values())))]
    return StatusSelection(resource, tree.get("app_context", context_id), name, kept)


def _instance(tree: Tree, resource: Entity, query: Query) -> str | None:
    there = [found.rpartition("/")[2] for found in _live(tree, "emco_resource", resource.id, "app_context")]
    if query.instance is None:
        current = resource.attributes.get("context")
        return current if current in there else None
    if query.instance not in there:
        raise InvalidInput.bad_status_query(
            problem=f"instance {query.instance!r} is not a context of {resource.id}; it has {_known(there)}"
        )
    return query.instance


def _live(tree: Tree, kind: str, entity_id: str, below: str) -> Iterator[str]:
    for found in tree.descendants(kind, entity_id, below):
        if tree.entities[below][found].facets[0].state.phase not in GONE:
            yield found


def _check_filters(tree: Tree, clusters: list[str], query: Query, *, whole: bool) -> None:
    """Raise `InvalidInput` for a name that occurs nowhere in the context: an empty answer would mislead."""
    parts = [found.split("/") for found in clusters]
    for wanted, index, what in ((query.app, 2, "app"), (query.cluster, 3, "cluster")):
        there = dict.fromkeys(found[index] for found in parts)
        for name in wanted:
            if name not in there:
                raise InvalidInput.bad_status_query(
                    problem=f"{what} {name!r} is not in this context; it has {_known(list(there))}"
                )
    if query.resource:
        there = dict.fromkeys(item.name for found in clusters for item in _items(tree, found, whole=whole))
        for name in query.resource:
            if name not in there and name.rpartition("+")[0] not in there:
                raise InvalidInput.bad_status_query(
                    problem=f"resource {name!r} is not in this context; it has {_known(list(there))}"
                )


def _is_wanted(cluster_id: str, query: Query) -> bool:
    _, _, app, cluster = cluster_id.split("/")
    return (not query.app or app in query.app) and (not query.cluster or cluster in query.cluster)


def _known(names: list[str]) -> str:
    more = f" and {len(names) - SOME} more" if len(names) > SOME else ""
    return f"{', '.join(sorted(names)[:SOME])}{more}" if names else "none yet"


def _on_cluster(tree: Tree, cluster_id: str, query: Query, *, items: bool, whole: bool) -> AppCluster:
    """One app on one cluster. `whole`: with what a report lists beside rsync resources.

    A cluster's reports go on to the current context. So what they list there is not an old context's.
    """
    entity = tree.entities["app_cluster"][cluster_id]
    _, _, app, cluster = cluster_id.split("/")
    on_cluster = AppCluster(app, cluster, entity.facets[0].state.phase, entity.attributes.get("report"), {}, {})
    stale = Nearest(tree.kinds, tree.get).stale(entity)
    on_cluster.stale_since_ns = None if stale is None else stale.since_ns
    if items:
        wanted = query.resource
        found = (
            item
            for item in _items(tree, cluster_id, whole=whole)
            if not wanted or item.name in wanted or item.token in wanted
        )
        on_cluster.items = sorted(found, key=lambda item: (item.rsync is None, item.name, item.kind))
        on_cluster.counts = Counter(item.rsync.state.phase for item in on_cluster.items if item.rsync is not None)
        on_cluster.presence = Counter(item.cluster for item in on_cluster.items)
    else:
        on_cluster.counts = _of_tally(tree, cluster_id, 0)
        presence = _of_tally(tree, cluster_id, 1)
        # A listed resource is present, with or without an rsync resource. Others are no cluster resources.
        listed = len(entity.attributes.get("listed") or ()) if whole else 0
        on_cluster.presence = {**presence, "Present": max(listed, presence.get("Present", 0))}
    return on_cluster


def _of_tally(tree: Tree, cluster_id: str, facet: int) -> dict[str, int]:
    found = tree.tally(cluster_id, "app_cluster", "rsync_resource", facet)
    return {phase: count for phase, count in found.items() if phase not in GONE}


def _failure(entity: Entity) -> str | None:
    """Why an rsync resource is Failed. A report keeps no text of it; what is kept may be of an earlier failure then."""
    kept: str | None = entity.attributes.get("failure")
    reason = None if entity.memory is None else entity.memory.reasons.get("Failed")
    return kept if reason is None or (kept or "").startswith(reason) else reason


def _items(tree: Tree, cluster_id: str, *, whole: bool) -> Iterator[StatusItem]:
    """Every rsync resource, then, if `whole`, the other resources that the report lists."""
    listed = dict(tree.entities["app_cluster"][cluster_id].attributes.get("listed") or {})
    for found in _live(tree, "app_cluster", cluster_id, "rsync_resource"):
        entity = tree.entities["rsync_resource"][found]
        token = found.rpartition("/")[2]
        name, _, kind = token.rpartition("+") if "+" in token else (token, "", "")
        group, version, ready = listed.pop(token, ("", "", None))
        attributes, rsync = entity.attributes, entity.facets[0]
        failure = _failure(entity) if rsync.base.phase == "Failed" else None
        yield StatusItem(
            attributes.get("group", group), attributes.get("version", version), kind, name,
            rsync, entity.facets[1].state.phase, ready, attributes.get("added"), failure,
        )  # fmt: skip
    for token, (group, version, ready) in listed.items() if whole else ():
        name, _, kind = token.rpartition("+")
        yield StatusItem(group, version, kind, name, None, "Present", ready)
