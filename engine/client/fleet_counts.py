"""Fleet's counts of a repository, a bundle, a deployment or a cluster, from the states below it (docs/spec/fleet.md).

Belongs here: adding up, per cluster or repository too, and naming what is not ready. Does not: what counts as what
(`fleet_counts`), reading states.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from phaseline.machines.fleet.bundle import RANKED
from phaseline.machines.fleet.counts import fraction, of_deployments, of_resources
from phaseline.machines.language.table import DELETED
from phaseline.schemas.records import Entity

KINDS = ("git_repo", "bundle", "bundle_deployment")
COUNTED = (*KINDS, "bundle_resource")
NAMED = 10
"""Things that are not ready and are named; of more, only how many."""
REPO, CLUSTER = 0, 2
"""Which parts of ids name them."""
FINE = ("Ready", DELETED)


def counts(top: Entity, below: Sequence[Entity]) -> dict[str, Any]:
    """Counts of `top`, whose descendants are `below` (itself may be among them): deployments, resources, each per cluster."""
    state = top.facets[0].state
    return {
        "kind": top.kind,
        "id": top.id,
        "state": state.phase,
        "conditions": list(state.conditions),
        **_counted(below, "per_cluster", CLUSTER),
    }


def cluster_counts(cluster: str, found: Sequence[Entity]) -> dict[str, Any]:
    """Counts of what is on one cluster, as `counts`, each per repository; its state is the worst by rank, Pending of none."""
    phases = {one.facets[0].state.phase for one in found if one.kind == "bundle_deployment"}
    state = min(phases & {*RANKED}, key=RANKED.index, default="Pending")
    return {"cluster": cluster, "state": state, **_counted(found, "per_git_repo", REPO)}


def _counted(found: Sequence[Entity], by: str, part: int) -> dict[str, Any]:
    """All counts, over all and by a part of their ids, and what people are shown."""
    deployments = [one for one in found if one.kind == "bundle_deployment"]
    resources = [one for one in found if one.kind == "bundle_resource"]
    parts: dict[str, tuple[list[Entity], list[Entity]]] = {}
    for place, several in enumerate((deployments, resources)):
        for one in several:
            parts.setdefault(one.id.split("/")[part], ([], []))[place].append(one)
    whole = _both(deployments, resources)
    return {
        **whole,
        by: {name: _both(*parts[name]) for name in sorted(parts)},
        "display": {
            "ready_deployments": fraction(whole["deployments"]),
            "ready_resources": fraction(whole["resources"]),
            "message": message(deployments, resources),
        },
    }


def _both(deployments: Sequence[Entity], resources: Sequence[Entity]) -> dict[str, dict[str, int]]:
    return {"deployments": of_deployments(_phases(deployments)), "resources": of_resources(_phases(resources))}


def _phases(found: Sequence[Entity]) -> Counter[str]:
    return Counter(one.facets[0].state.phase for one in found)


def message(deployments: Sequence[Entity], resources: Sequence[Entity]) -> str:
    """What is not ready, with states and reasons; deployments only where no resource of theirs says why."""
    unwell = [one for one in resources if one.facets[0].state.phase not in FINE]
    told = {one.id.rsplit("/", 3)[0] for one in unwell}
    unwell += [one for one in deployments if one.facets[0].state.phase not in FINE and one.id not in told]
    named = []
    for one in unwell[:NAMED]:
        why = one.attributes.get("why")
        named.append(f"{one.id} {one.facets[0].state}{f' ({why})' if why else ''}")
    more = f"; and {len(unwell) - NAMED} more" if len(unwell) > NAMED else ""
    return "; ".join(named) + more
