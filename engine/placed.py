"""What Fleet has put on one cluster, out of all its trees, now or then.

Belongs here: reading across trees. Does not: counting (`counting`), reading one tree (`queries`, `past`).
"""

from phaseline.engine import past, queries
from phaseline.engine.errors import NameUnknown
from phaseline.engine.streams import Layout
from phaseline.engine.wire import Wire
from phaseline.schemas.records import Entity
from phaseline.schemas.subjects import quote


async def on_cluster(wire: Wire, layout: Layout, cluster: str, place: int | None) -> list[Entity]:
    """Bundle deployments and their resources on that cluster, at a place of the log or now; raises `NameUnknown`.

    The server picks them by subject: what is on other clusters is not read.
    """
    ends = [("bundle_deployment", f"*.*.{quote(cluster)}"), ("bundle_resource", f"*.*.{quote(cluster)}.>")]
    if place is None:
        found = await queries.under(wire, layout, [f"{layout.prefix}.state.*.{kind}.{end}" for kind, end in ends])
    else:
        subjects = [f"{layout.prefix}.log.*.transition.{kind}.*.*.{end}" for kind, end in ends]
        found = await past.under(wire, layout, subjects, place)
    if not found:
        raise NameUnknown(kinds="bundle_deployment on a cluster", id=cluster)
    return [record.entity for record in queries.in_order(found, None, deleted=False)]
