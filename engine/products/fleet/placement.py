"""Finds what Fleet has deployed to some clusters, across all trees.

Belongs here: `on_clusters`. Does not: counting (`counts`), reading one tree (`engine.log`).
"""

from collections.abc import Sequence

from phaseline.engine.log.state_view import Pattern, StateView, in_order
from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Entity
from phaseline.schemas.subjects import quote

SIGNS = frozenset("*?[{\\")
"""Characters of which each makes a name a glob."""


async def on_clusters(view: StateView, clusters: Sequence[str]) -> list[Entity]:
    """The bundle deployments on clusters and their resources. Raises `EntityUnknown` for a name that fits none.

    The server selects them by subject. For a glob, it is asked for all deployments first.
    """
    names = [cluster for cluster in clusters if not SIGNS & set(cluster)]
    globs = [cluster for cluster in clusters if SIGNS & set(cluster)]
    if globs:
        everywhere = await view.matching([Pattern("*", "bundle_deployment", "*.*.*")])
        there = {one.entity.id.rpartition("/")[2] for one in in_order(everywhere, None, deleted=False)}
        _check(globs, there)
        names += sorted(one for one in there if any(matches(glob, one) for glob in globs))
    tokens = [quote(name) for name in dict.fromkeys(names)]
    wanted = [Pattern("*", "bundle_deployment", f"*.*.{token}") for token in tokens]
    wanted += [Pattern("*", "bundle_resource", f"*.*.{token}.>") for token in tokens]
    found = await view.matching(wanted)
    _check(names, {one.entity.id.split("/")[2] for one in found})
    return [record.entity for record in in_order(found, None, deleted=False)]


def _check(wanted: Sequence[str], there: set[str]) -> None:
    for one in wanted:
        if one not in there and not any(matches(one, name) for name in there):
            raise EntityUnknown(kind="bundle_deployment on the cluster", id=one)
