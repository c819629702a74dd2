"""The service of the kind `release`: whether a release may start, and what is missing."""

from typing import Any

from acme_kinds.release import APPROVED
from phaseline.errors import EntityUnknown
from phaseline.types import ServiceQuery


async def answer(query: ServiceQuery) -> dict[str, Any]:
    """Whether a release may start, by what is committed."""
    release = await query.look(lambda tree: tree.get("release", query.id))
    if release is None:
        raise EntityUnknown(kind="release", id=query.id)
    phases = {name: facet.state.phase for name, facet in zip(release.names, release.facets, strict=True)}
    missing = [] if phases["approval"] == APPROVED else [f"the approval is {phases['approval']}"]
    return {"release": query.id, "may_start": not missing, "missing": missing}
