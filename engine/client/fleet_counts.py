"""Fleet's counts of a repository, a bundle, a deployment or a cluster, from the states below it (docs/spec/fleet.md).

Belongs here: reading the states, adding up, per cluster or repository too, and naming what is not ready. Does not: what
counts as what (`machines.fleet.counts`), which entities are on a cluster (`fleet_placement`).
"""

from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

from phaseline.engine.client import fleet_placement
from phaseline.engine.errors import EntityUnknown, IdUnfit
from phaseline.engine.log import latest
from phaseline.engine.log.state_view import StateView
from phaseline.machines.fleet.bundle import RANKED
from phaseline.machines.fleet.counts import fraction, of_deployments, of_resources
from phaseline.machines.language.table import DELETED
from phaseline.schemas.records import Entity

KINDS = ("git_repo", "bundle", "bundle_deployment")
COUNTED = (*KINDS, "bundle_resource")
NAMED = 10
"""The most entities that a message names; of the others it gives the number."""
REPO, CLUSTER = 0, 2
"""The parts of an id that name the repository and the cluster."""
FINE = ("Ready", DELETED)


class FleetPart(TypedDict):
    """Counts of deployments and of resources, by word: `desired_ready`, `ready`, `not_ready` and so on."""

    deployments: dict[str, int]
    resources: dict[str, int]


class FleetDisplay(TypedDict):
    """The texts that Fleet shows: fractions such as `10/11`, and what is not ready."""

    ready_deployments: str
    ready_resources: str
    message: str


class FleetCounts(FleetPart):
    """Counts of a repository, a bundle or a deployment, over all clusters and for each."""

    kind: str
    id: str
    state: str
    conditions: list[str]
    per_cluster: dict[str, FleetPart]
    display: FleetDisplay


class FleetClusterCounts(FleetPart):
    """Counts of one cluster, over all repositories and for each. `state`: the worst of its deployments."""

    cluster: str
    state: str
    per_git_repo: dict[str, FleetPart]
    display: FleetDisplay


async def counts_of(view: StateView, entity_id: str) -> FleetCounts:
    """Counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `IdUnfit`."""
    depth = entity_id.count("/")
    if depth >= len(KINDS):
        raise IdUnfit(problem=f"{entity_id!r} is longer than <repo>/<bundle>/<cluster>")
    kind = KINDS[depth]
    latest.check_name(view.installation.kinds, kind, entity_id)
    tree = [record.entity for record in await view.tree(entity_id)]
    counted = [entity for entity in tree if entity.kind in COUNTED]
    top = next((entity for entity in counted if (entity.kind, entity.id) == (kind, entity_id)), None)
    if top is None:
        raise EntityUnknown(kind=kind, id=entity_id)
    return counts(top, counted)


async def counts_of_cluster(view: StateView, cluster: str) -> FleetClusterCounts:
    """Counts of one cluster, across all repositories; raises `NameUnknown`, `IdUnfit`."""
    latest.check_tree(cluster)
    return cluster_counts(cluster, await fleet_placement.on_cluster(view, cluster))


def counts(top: Entity, below: Sequence[Entity]) -> FleetCounts:
    """Counts of `top`, whose descendants are `below` (`top` may be among them)."""
    state = top.facets[0].state
    whole = _both(below)
    return {
        "kind": top.kind,
        "id": top.id,
        "state": state.phase,
        "conditions": list(state.conditions),
        **whole,
        "per_cluster": _by_part(below, CLUSTER),
        "display": _display(below, whole),
    }


def cluster_counts(cluster: str, entities: Sequence[Entity]) -> FleetClusterCounts:
    """Counts of the entities on one cluster. Its state is the worst of the deployments' states; Pending without any."""
    phases = {one.facets[0].state.phase for one in entities if one.kind == "bundle_deployment"}
    whole = _both(entities)
    return {
        "cluster": cluster,
        "state": min(phases & {*RANKED}, key=RANKED.index, default="Pending"),
        **whole,
        "per_git_repo": _by_part(entities, REPO),
        "display": _display(entities, whole),
    }


def _by_part(entities: Sequence[Entity], part: int) -> dict[str, FleetPart]:
    """Counts by one part of the ids; the parts in alphabetical order."""
    groups: dict[str, list[Entity]] = {}
    for one in _deployments(entities) + _resources(entities):
        groups.setdefault(one.id.split("/")[part], []).append(one)
    return {name: _both(groups[name]) for name in sorted(groups)}


def _display(entities: Sequence[Entity], whole: FleetPart) -> FleetDisplay:
    return {
        "ready_deployments": fraction(whole["deployments"]),
        "ready_resources": fraction(whole["resources"]),
        "message": message(_deployments(entities), _resources(entities)),
    }


def _deployments(entities: Sequence[Entity]) -> list[Entity]:
    return [one for one in entities if one.kind == "bundle_deployment"]


def _resources(entities: Sequence[Entity]) -> list[Entity]:
    return [one for one in entities if one.kind == "bundle_resource"]


def _both(entities: Sequence[Entity]) -> FleetPart:
    return {
        "deployments": of_deployments(_phases(_deployments(entities))),
        "resources": of_resources(_phases(_resources(entities))),
    }


def _phases(entities: Sequence[Entity]) -> Counter[str]:
    return Counter(one.facets[0].state.phase for one in entities)


def message(deployments: Sequence[Entity], resources: Sequence[Entity]) -> str:
    """The entities that are not ready, with states and reasons; a deployment only if none of its resources is named."""
    unwell = [one for one in resources if one.facets[0].state.phase not in FINE]
    explained = {one.id.rsplit("/", 3)[0] for one in unwell}
    unwell += [one for one in deployments if one.facets[0].state.phase not in FINE and one.id not in explained]
    named = []
    for one in unwell[:NAMED]:
        why = one.attributes.get("why")
        named.append(f"{one.id} {one.facets[0].state}{f' ({why})' if why else ''}")
    more = f"; and {len(unwell) - NAMED} more" if len(unwell) > NAMED else ""
    return "; ".join(named) + more
