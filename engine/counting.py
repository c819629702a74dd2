"""Fleet's counts of a repository, a bundle or a deployment, from the states below it (spec: Fleet).

Belongs here: adding up, per cluster too, and naming what is not ready. Does not: what counts as what (`fleet_counts`), reading
states.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from phaseline.machines.fleet_counts import fraction, of_deployments, of_resources
from phaseline.machines.table import DELETED
from phaseline.schemas.records import Entity

KINDS = ("git_repo", "bundle", "bundle_deployment")
COUNTED = (*KINDS, "bundle_resource")
NAMED = 10
"""Things that are not ready and are named; of more, only how many."""
FINE = ("Ready", DELETED)


def counts(top: Entity, below: Sequence[Entity]) -> dict[str, Any]:
    """Counts of `top`, whose descendants are `below` (itself may be among them): deployments, resources, each per cluster."""
    deployments = [one for one in below if one.kind == "bundle_deployment"]
    resources = [one for one in below if one.kind == "bundle_resource"]
    clusters = sorted({_cluster(one) for one in (*deployments, *resources)})
    whole = _both(deployments, resources)
    return {
        "kind": top.kind,
        "id": top.id,
        "state": top.facets[0].state.phase,
        "conditions": list(top.facets[0].state.conditions),
        **whole,
        "per_cluster": {
            cluster: _both(*([one for one in found if _cluster(one) == cluster] for found in (deployments, resources)))
            for cluster in clusters
        },
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


def _cluster(found: Entity) -> str:
    return found.id.split("/")[2]


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
