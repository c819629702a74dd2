"""Finds the resources of a Kubernetes API server by their names (needs `phaseline[kubernetes]`).

Belongs here: the names and paths of resources, what identifies the cluster, what defines its kinds. Does
not: their objects (`cluster`).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from phaseline.engine import logs
from phaseline.engine.products.observe.events import mapping, maps, text
from phaseline.engine.products.observe.kubernetes_api import OK, Unavailable, exchange, get
from phaseline.engine.products.observe.owned import JOBS, MAKES, PODS, REPLICA_SETS
from phaseline.schemas.errors import SetupError

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EVENTS = ("", "Event")
FOLLOWED: Mapping[tuple[str, str], tuple[str, str]] = {
    REPLICA_SETS: ("apps/v1", "ReplicaSet"), JOBS: ("batch/v1", "Job"), PODS: ("v1", "Pod"), EVENTS: ("v1", "Event"),
}  # fmt: skip
"""What is followed beside the resources that are named: apiVersion and kind."""
OWN_GROUPS = ("argoproj.io", "fleet.cattle.io")
"""The groups of objects that are no resources of applications."""
log = logs.get_logger(__name__)


class Resource(NamedTuple):
    """A resource of the API server: `/apis/apps/v1`, `deployments`, `apps/v1`, `Deployment`."""

    path: str
    plural: str
    version: str
    kind: str
    namespaced: bool

    @property
    def sort(self) -> tuple[str, str]:
        """The group (empty for core) and the kind of its objects."""
        return self.version.rpartition("/")[0], self.kind

    @property
    def in_ids(self) -> str:
        """How the ids of its objects begin below their application: `apps:Deployment`, `core:Pod`."""
        group, kind = self.sort
        return f"{group or 'core'}:{kind}"

    @property
    def named(self) -> str:
        """The name that tells it from all others of the server: `deployments.apps`, `pods`."""
        return ".".join(filter(None, (self.plural, self.sort[0])))


NamedResource = tuple[Resource, frozenset[str]]
"""A resource with its names in lower case."""


async def discover(api: Any, names: Sequence[str]) -> list[Resource]:
    """The resources of names like `deploy`, `Deployment` or `deployments.apps`. Raises `SetupError`."""
    try:
        core, offered = await _resources(api, "/api/v1"), await get(api, "/apis")
    except Unavailable as error:
        raise _silent(error) from error
    return [await _resource(api, name, core, _versions(offered)) for name in names]


async def definitions(api: Any, resources: Sequence[Resource]) -> list[Mapping[str, Any]]:
    """The CustomResourceDefinitions of resources, as far as there are any and they may be read."""
    found = []
    for one in resources:
        group, slash, _ = one.version.partition("/")
        if slash and "." in group:
            try:
                status, answer = await exchange(api, "GET", f"{DEFINITIONS}/{one.plural}.{group}")
            except Unavailable as error:
                log.warning("definition_not_read", resource=one.plural, error=str(error))
                continue
            found += [answer] if status == OK else []
    return found


async def cluster_of(api: Any, namespace: str | None) -> str:
    """What tells this cluster from others: the uid of the namespace kube-system, else of the one that is observed.

    Empty if neither may be read. Raises `SetupError.cluster_unusable`.
    """
    for name in ("kube-system", *([] if namespace is None else [namespace])):
        try:
            status, found = await exchange(api, "GET", f"/api/v1/namespaces/{name}")
        except Unavailable as error:
            raise _silent(error) from error
        if status == OK and (uid := text(mapping(found, "metadata"), "uid")):
            return uid
    return ""


def _silent(error: BaseException) -> SetupError:
    return SetupError.cluster_unusable(problem=f"its API server does not answer: {error}", answered=None)


async def followed(api: Any, resources: Sequence[Resource]) -> list[Resource]:
    """The resources of what these make, and of the Events about them, as far as the cluster has them.

    In the order in which they are to be listed: an owner before what it makes, and Events last.
    """
    named = {one.sort for one in resources}
    made = {sort for one in named for sort in MAKES.get(one, ())}
    about = any(group not in OWN_GROUPS for group, _ in named)
    wanted = [version_kind for sort, version_kind in FOLLOWED.items() if sort in made or (about and sort == EVENTS)]
    found = []
    for version, kind in wanted:
        if (version.rpartition("/")[0], kind) in named:
            continue
        try:
            one = await resource_of(api, version, kind)
        except (SetupError, Unavailable) as error:
            log.warning("not_followed", resource=kind, error=str(error))
            continue
        found += [] if one is None else [one]
    return found


async def resource_of(api: Any, version: str, kind: str) -> Resource | None:
    """The resource of an apiVersion and a kind; None if the server has none. Raises what `get` raises."""
    path = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return next((one for one, _ in await _resources(api, path) if one.kind == kind), None)


async def present(api: Any, resource: Resource) -> Resource:
    """The same resource in the version that the server has now: its definition may have been changed, or made anew."""
    with suppress(Unavailable, SetupError):
        for one in _versions(await get(api, "/apis")):
            if one.partition("/")[0] == resource.sort[0] and (found := await resource_of(api, one, resource.kind)):
                return found
    return resource


def _versions(offered: Mapping[str, Any]) -> list[str]:
    """The versions of each group: those that the server prefers, then all others, which may have kinds of their own."""
    groups = [*maps(offered, "groups")]
    preferred = [text(mapping(group, "preferredVersion"), "groupVersion") for group in groups]
    others = [text(one, "groupVersion") for group in groups for one in maps(group, "versions")]
    return [*dict.fromkeys(filter(None, (*preferred, *others)))]


async def _resource(api: Any, name: str, core: Sequence[NamedResource], groups: Sequence[str]) -> Resource:
    """The first resource of that name. Like kubectl, it looks in the core API first, then in the groups."""
    plural, _, group = name.partition(".")
    found = None if group else _by_name(core, plural)
    away = []
    for version in groups:
        if found is None and group in {"", version.partition("/")[0]}:
            try:
                found = _by_name(await _resources(api, f"/apis/{version}"), plural)
            except (Unavailable, SetupError) as error:  # its own server may be away, as that of metrics often is
                log.warning("api_group_away", group=version, error=str(error))
                away.append(version)
    if found is None:
        problem = f"the cluster has no resource {name!r}"
        if away:
            problem += f", unless it is one of {', '.join(away)}, which cannot be read now"
        raise SetupError.cluster_unusable(problem=f"{problem}: see `kubectl api-resources`", answered=None)
    return found


async def _resources(api: Any, path: str) -> list[NamedResource]:
    version = path.removeprefix("/apis/").removeprefix("/api/")
    found = []
    for one in maps(await get(api, path), "resources"):
        name, kind = text(one, "name"), text(one, "kind")
        if "/" not in name and {"list", "watch"} <= set(one.get("verbs") or ()):
            words = (name, kind, text(one, "singularName"), *(one.get("shortNames") or ()))
            resource = Resource(path, name, version, kind, bool(one.get("namespaced")))
            found.append((resource, frozenset(str(each).lower() for each in words if each)))
    return found


def _by_name(known: Sequence[NamedResource], name: str) -> Resource | None:
    return next((resource for resource, words in known if name.lower() in words), None)
