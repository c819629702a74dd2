"""Finds what Fleet has deployed to one cluster, across all trees.

Belongs here: `on_cluster`. Does not: counting (`fleet_counts`), reading one tree (`engine.log`).
"""

from phaseline.engine.errors import EntityUnknown
from phaseline.engine.log.latest import in_order
from phaseline.engine.log.state_view import Pattern, StateView
from phaseline.schemas.records import Entity
from phaseline.schemas.subjects import quote


async def on_cluster(view: StateView, cluster: str) -> list[Entity]:
    """The bundle deployments on that cluster and their resources; raises `EntityUnknown`.

    The server selects them by subject: nothing of other clusters is read.
    """
    token = quote(cluster)
    wanted = [
        Pattern("*", "bundle_deployment", f"*.*.{token}"),
        Pattern("*", "bundle_resource", f"*.*.{token}.>"),
    ]
    found = await view.matching(wanted)
    if not found:
        raise EntityUnknown(kind="bundle_deployment on the cluster", id=cluster)
    return [record.entity for record in in_order(found, None, deleted=False)]
