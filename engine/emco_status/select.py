"""What a status question is about: the resource, its context, the apps on their clusters, and what is in each. Pure.

Belongs here: choosing by instance and filters, counting. Does not: the shapes in which it is told.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from phaseline.engine.core.tree import Tree
from phaseline.engine.emco_status.query import BadQuery, Query
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import Entity, FacetState

SOME = 10
"""Names that an error gives."""
GONE = (ABSENT, DELETED)


class StatusItem(NamedTuple):
    """A resource in a cluster. `rsync`: that facet, None for a cluster resource that no rsync resource stands for.

    cluster: `Present`, `NotPresent` or `Unknown`. ready: of what is listed, `Ready` or `NotReady`.
    added: the sequence of the event that holds its manifest.
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
        """As the last part of an id names it."""
        return f"{self.name}+{self.kind}"


@dataclass(slots=True)
class AppCluster:
    """One app on one cluster. `report`: the sequence of the event that holds the last ResourceBundleState."""

    app: str
    cluster: str
    connectivity: str
    report: int | None
    counts: Mapping[str, int]
    """Of its rsync resources, by state."""
    presence: Mapping[str, int]
    """Of its cluster resources, by presence, those without an rsync resource too."""
    items: list[StatusItem] = field(default_factory=list)


@dataclass(slots=True)
class StatusSelection:
    """What is to be told. `context` is None before the first; `name` is the context's."""

    resource: Entity
    context: Entity | None
    name: str | None
    placed: list[AppCluster]

    def counts(self) -> dict[str, int]:
        """Rsync resources by state, none without any."""
        return _sum(placed.counts for placed in self.placed)

    def presence(self) -> dict[str, int]:
        """Cluster resources by presence, none without any."""
        return _sum(placed.presence for placed in self.placed)


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for found in counts:
        total.update(found)
    return {name: count for name, count in sorted(total.items()) if count}


def select(tree: Tree, resource_id: str, query: Query, *, items: bool) -> StatusSelection | None:
    """What `query` asks about; None where there is no such resource. Raises `BadQuery`.

    items: whether every resource is wanted. Where not, and none is asked for by name, tallies tell all: O(apps on clusters).
    """
    resource = tree.get("emco_resource", resource_id)
    if resource is None or resource.facets[0].state.phase in GONE:
        return None
    name = _instance(tree, resource, query)
    if name is None:
        return StatusSelection(resource, None, None, [])
    context_id = f"{resource_id}/{name}"
    clusters = sorted(_live(tree, "app_context", context_id, "app_cluster"))
    _check_filters(tree, clusters, query)
    wanted = [found for found in clusters if _is_wanted(found, query)]
    found = [_placed(tree, cluster_id, query, items=items or bool(query.resource)) for cluster_id in wanted]
    kept = [placed for placed in found if placed.items or not query.resource]
    return StatusSelection(resource, tree.get("app_context", context_id), name, kept)


def _instance(tree: Tree, resource: Entity, query: Query) -> str | None:
    there = [found.rpartition("/")[2] for found in _live(tree, "emco_resource", resource.id, "app_context")]
    if query.instance is None:
        current = resource.attributes.get("context")
        return current if current in there else None
    if query.instance not in there:
        raise BadQuery(f"instance {query.instance!r} is no context of {resource.id}: {_known(there)}")
    return query.instance


def _live(tree: Tree, kind: str, entity_id: str, below: str) -> Iterator[str]:
    for found in tree.descendants(kind, entity_id, below):
        if tree.entities[below][found].facets[0].state.phase not in GONE:
            yield found


def _check_filters(tree: Tree, clusters: list[str], query: Query) -> None:
    """A name that occurs nowhere in the context is a slip, and an empty answer to it would be half a truth."""
    parts = [found.split("/") for found in clusters]
    for wanted, place, what in ((query.app, 2, "app"), (query.cluster, 3, "cluster")):
        there = dict.fromkeys(found[place] for found in parts)
        for name in wanted:
            if name not in there:
                raise BadQuery(f"{what} {name!r} is not in this context: {_known(list(there))}")
    if query.resource:
        there = dict.fromkeys(item.name for found in clusters for item in _items(tree, found))
        for name in query.resource:
            if name not in there and name.rpartition("+")[0] not in there:
                raise BadQuery(f"resource {name!r} is not in this context: {_known(list(there))}")


def _is_wanted(cluster_id: str, query: Query) -> bool:
    _, _, app, cluster = cluster_id.split("/")
    return (not query.app or app in query.app) and (not query.cluster or cluster in query.cluster)


def _known(names: list[str]) -> str:
    more = f" and {len(names) - SOME} more" if len(names) > SOME else ""
    return f"there are {', '.join(sorted(names)[:SOME])}{more}" if names else "there are none yet"


def _placed(tree: Tree, cluster_id: str, query: Query, *, items: bool) -> AppCluster:
    entity = tree.entities["app_cluster"][cluster_id]
    _, _, app, cluster = cluster_id.split("/")
    placed = AppCluster(app, cluster, entity.facets[0].state.phase, entity.attributes.get("report"), {}, {})
    if items:
        wanted = query.resource
        found = (item for item in _items(tree, cluster_id) if not wanted or item.name in wanted or item.token in wanted)
        placed.items = sorted(found, key=lambda item: (item.rsync is None, item.name, item.kind))
        placed.counts = Counter(item.rsync.state.phase for item in placed.items if item.rsync is not None)
        placed.presence = Counter(item.cluster for item in placed.items)
    else:
        placed.counts = _of_tally(tree, cluster_id, 0)
        presence = _of_tally(tree, cluster_id, 1)
        # What the report lists is there, be it an rsync resource's or not; what it does not list is no cluster resource.
        listed = len(entity.attributes.get("listed") or ())
        placed.presence = {**presence, "Present": max(listed, presence.get("Present", 0))}
    return placed


def _of_tally(tree: Tree, cluster_id: str, facet: int) -> dict[str, int]:
    found = tree.tally(cluster_id, "app_cluster", "rsync_resource", facet)
    return {phase: count for phase, count in found.items() if phase not in GONE}


def _items(tree: Tree, cluster_id: str) -> Iterator[StatusItem]:
    """Every rsync resource, then what the report lists beside them."""
    listed = dict(tree.entities["app_cluster"][cluster_id].attributes.get("listed") or {})
    for found in _live(tree, "app_cluster", cluster_id, "rsync_resource"):
        entity = tree.entities["rsync_resource"][found]
        token = found.rpartition("/")[2]
        name, _, kind = token.rpartition("+") if "+" in token else (token, "", "")
        group, version, ready = listed.pop(token, ("", "", None))
        attributes, rsync = entity.attributes, entity.facets[0]
        failure = attributes.get("failure") if rsync.base.phase == "Failed" else None
        yield StatusItem(
            attributes.get("group", group), attributes.get("version", version), kind, name,
            rsync, entity.facets[1].state.phase, ready, attributes.get("added"), failure,
        )  # fmt: skip
    for token, (group, version, ready) in listed.items():
        name, _, kind = token.rpartition("+")
        yield StatusItem(group, version, kind, name, None, "Present", ready)
