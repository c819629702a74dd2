"""What sorts of objects a Kubernetes API server has (extra: `kubernetes`).

Belongs here: their names and where they are found. Does not: the objects (`cluster`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import structlog

from phaseline.engine.errors import ClusterUnusable
from phaseline.engine.observe.events import members, part, word
from phaseline.engine.observe.kubernetes_api import AWAY, get

log = structlog.get_logger(__name__)


class Resource(NamedTuple):
    """A sort of object that the server has: `/apis/apps/v1`, `deployments`, `apps/v1`, `Deployment`."""

    path: str
    plural: str
    version: str
    kind: str
    namespaced: bool


Called = tuple[Resource, frozenset[str]]
"""With the words, in small letters, that mean it."""


async def discovered(api: Any, names: Sequence[str]) -> list[Resource]:
    """The resources of these names (`deployments`, `deploy`, `Deployment`, `deployments.apps`); raises `ClusterUnusable`."""
    try:
        core, offered = await _resources(api, "/api/v1"), await get(api, "/apis")
    except AWAY as error:
        raise ClusterUnusable(
            problem=f"its API server does not answer: {str(error) or type(error).__name__}"
        ) from error
    groups = [word(part(group, "preferredVersion"), "groupVersion") for group in members(offered, "groups")]
    return [await _resource(api, name, core, groups) for name in names]


async def _resource(api: Any, name: str, core: Sequence[Called], groups: Sequence[str]) -> Resource:
    """The first of that name, in the core before the groups, as kubectl looks."""
    plural, _, group = name.partition(".")
    found = None if group else _called(core, plural)
    for version in groups:
        if found is None and group in {"", version.partition("/")[0]}:
            found = _called(await _of_group(api, version), plural)
    if found is None:
        raise ClusterUnusable(problem=f"the cluster has no resource {name!r}: see `kubectl api-resources`")
    return found


async def _of_group(api: Any, version: str) -> list[Called]:
    """None of a group whose own server is away, as those of metrics often are: the others are not to suffer."""
    try:
        return await _resources(api, f"/apis/{version}")
    except AWAY as error:
        log.warning("api_group_away", group=version, error=str(error) or type(error).__name__)
        return []


async def _resources(api: Any, path: str) -> list[Called]:
    version = path.removeprefix("/apis/").removeprefix("/api/")
    found = []
    for one in members(await get(api, path), "resources"):
        name, kind = word(one, "name"), word(one, "kind")
        if "/" not in name and {"list", "watch"} <= set(one.get("verbs") or ()):
            words = (name, kind, word(one, "singularName"), *(one.get("shortNames") or ()))
            resource = Resource(path, name, version, kind, bool(one.get("namespaced")))
            found.append((resource, frozenset(str(each).lower() for each in words if each)))
    return found


def _called(known: Sequence[Called], name: str) -> Resource | None:
    return next((resource for resource, words in known if name.lower() in words), None)
