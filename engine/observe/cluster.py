"""Objects straight from a Kubernetes API server: listed, then watched, for as long as it takes (extra: `kubernetes`).

Belongs here: discovery, list and watch, what to do when the server is away or has forgotten. Does not: what objects say.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import structlog

from phaseline.engine.errors import ClusterRefused, ExtraMissing
from phaseline.engine.observe.incoming import Change
from phaseline.engine.observe.saying import members, part, word

try:
    import aiohttp
    from kubernetes_asyncio import client, config
except ImportError as error:  # the extra is not installed
    raise ExtraMissing(what="observe --cluster", extra="kubernetes") from error

PAGE = 500
"""Objects asked for at once."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds before each further try while the server cannot be had."""
WATCH_SECONDS = 300
"""After so long the server is asked to end a watch, which is then begun anew where it was."""
GONE, TOO_MANY = 410, 429
log = structlog.get_logger(__name__)


class Resource(NamedTuple):
    """A sort of object that the server has: `/apis/apps/v1`, `deployments`, `apps/v1`, `Deployment`."""

    path: str
    plural: str
    version: str
    kind: str
    namespaced: bool


class Forgotten(Exception):
    """The server knows no more what happened since then: everything must be listed anew."""


@asynccontextmanager
async def connected(kubeconfig: Path | None, context: str | None) -> AsyncIterator[Any]:
    """A client of the cluster that the kubeconfig names; of the one that this process runs in where there is none."""
    settings = client.Configuration()
    try:
        if kubeconfig is None and "KUBERNETES_SERVICE_HOST" in os.environ:
            config.load_incluster_config(client_configuration=settings)  # type: ignore[no-untyped-call]  # it has no types
        else:
            file = None if kubeconfig is None else str(kubeconfig)
            await config.load_kube_config(config_file=file, context=context, client_configuration=settings)
    # An empty or odd file makes the loader fail in its own ways.
    except (config.ConfigException, TypeError, AttributeError, KeyError, OSError, ValueError) as error:
        raise ClusterRefused(problem=f"the kubeconfig cannot be used: {error}") from error
    async with client.ApiClient(settings) as api:
        yield api


async def discovered(api: Any, names: Sequence[str]) -> list[Resource]:
    """The resources of these names (`deployments`, `deploy`, `Deployment`, `deployments.apps`); raises `ClusterRefused`."""
    core = await _resources(api, "/api/v1")
    groups = [
        word(part(group, "preferredVersion"), "groupVersion") for group in members(await _get(api, "/apis"), "groups")
    ]
    found = []
    for name in names:
        plural, _, group = name.partition(".")
        places = [] if group else [core]
        wanted = [version for version in groups if not group or version.partition("/")[0] == group]
        match = next((one for place in places for one in place if _is_called(one, plural)), None)
        for version in wanted if match is None else ():
            match = next((one for one in await _resources(api, f"/apis/{version}") if _is_called(one, plural)), None)
            if match is not None:
                break
        if match is None:
            raise ClusterRefused(problem=f"the cluster has no resource {name!r}: see `kubectl api-resources`")
        found.append(match[0])
    return found


Called = tuple[Resource, frozenset[str]]


async def _resources(api: Any, path: str) -> list[Called]:
    version = path.removeprefix("/apis/").removeprefix("/api/")
    found = []
    for one in members(await _get(api, path), "resources"):
        name, kind = word(one, "name"), word(one, "kind")
        if "/" not in name and {"list", "watch"} <= set(one.get("verbs") or ()):
            words = (name, kind, word(one, "singularName"), *(one.get("shortNames") or ()))
            resource = Resource(path, name, version, kind, bool(one.get("namespaced")))
            found.append((resource, frozenset(str(each).lower() for each in words if each)))
    return found


def _is_called(one: Called, name: str) -> bool:
    return name.lower() in one[1]


async def follow(api: Any, resource: Resource, namespace: str | None) -> AsyncIterator[Change | None]:
    """Every change of these objects from now on; None once all that there is has been told. Ends only by `ClusterRefused`."""
    known: dict[tuple[str, str], Mapping[str, Any]] = {}
    version: str | None = None
    tries = 0
    while True:
        try:
            if version is None:
                found, version = await _listed(api, resource, namespace)
                for key in [key for key in known if key not in found]:
                    yield Change(known.pop(key), gone=True)
                for key, one in found.items():
                    known[key] = _named(one)
                    yield Change(one)
                yield None
            async for kind, one in _watched(api, resource, namespace, version):
                version = word(part(one, "metadata"), "resourceVersion") or version
                tries = 0
                if kind == "DELETED":
                    known.pop(_key(one), None)
                elif kind != "BOOKMARK":
                    known[_key(one)] = _named(one)
                if kind != "BOOKMARK":
                    yield Change(one, gone=kind == "DELETED")
        except Forgotten:
            version = None
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            pause = PAUSES[min(tries, len(PAUSES) - 1)]
            tries += 1
            log.warning(
                "cluster_away", resource=resource.plural, why=str(error) or type(error).__name__, again_in=pause
            )
            await asyncio.sleep(pause)


def _key(found: Mapping[str, Any]) -> tuple[str, str]:
    metadata = part(found, "metadata")
    return word(metadata, "namespace"), word(metadata, "name")


def _named(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is needed to tell of its end."""
    return {name: found.get(name) for name in ("apiVersion", "kind", "metadata")}


def _place(resource: Resource, namespace: str | None) -> str:
    within = f"/namespaces/{namespace}" if namespace is not None and resource.namespaced else ""
    return f"{resource.path}{within}/{resource.plural}"


async def _listed(
    api: Any, resource: Resource, namespace: str | None
) -> tuple[dict[tuple[str, str], Mapping[str, Any]], str]:
    """All objects, page by page, and the version from which to watch."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    more = ""
    while True:
        query = [("limit", str(PAGE)), *([("continue", more)] if more else [])]
        page = await _get(api, _place(resource, namespace), query)
        for item in members(page, "items"):
            # Lists leave out what their members are.
            one = {"apiVersion": resource.version, "kind": resource.kind, **item}
            found[_key(one)] = one
        metadata = part(page, "metadata")
        more = word(metadata, "continue")
        if not more:
            return found, word(metadata, "resourceVersion")


async def _watched(
    api: Any, resource: Resource, namespace: str | None, version: str
) -> AsyncIterator[tuple[str, Mapping[str, Any]]]:
    query = [
        ("watch", "1"),
        ("resourceVersion", version),
        ("allowWatchBookmarks", "true"),
        ("timeoutSeconds", str(WATCH_SECONDS)),
    ]
    response = await _asked(api, _place(resource, namespace), query, WATCH_SECONDS + 30)
    async with response:
        await _checked(response, _place(resource, namespace))
        rest = b""
        async for piece in response.content.iter_any():
            *lines, rest = (rest + piece).split(b"\n")
            for line in filter(None, lines):
                event = json.loads(line)
                kind, found = word(event, "type"), part(event, "object")
                if kind == "ERROR":
                    if found.get("code") == GONE:
                        raise Forgotten
                    raise ValueError(f"the API server says: {word(found, 'message') or dict(found)}")
                yield kind, {"apiVersion": resource.version, "kind": resource.kind, **found}


async def _get(api: Any, path: str, query: Sequence[tuple[str, str]] = ()) -> Mapping[str, Any]:
    response = await _asked(api, path, list(query), 60)
    async with response:
        await _checked(response, path)
        found = json.loads(await response.read())
    return found if isinstance(found, Mapping) else {}


async def _asked(api: Any, path: str, query: list[tuple[str, str]], seconds: float) -> Any:
    return await api.call_api(
        path, "GET", query_params=query, header_params={"Accept": "application/json"}, auth_settings=["BearerToken"],
        _preload_content=False, _request_timeout=aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=seconds),
    )  # fmt: skip


async def _checked(response: Any, path: str) -> None:
    """Raise for what is no answer: `Forgotten`, what may pass, or `ClusterRefused`."""
    if response.status == GONE:
        raise Forgotten
    if response.status >= 500 or response.status == TOO_MANY:  # the server's own trouble
        raise ValueError(f"{path}: {response.status} {response.reason}")
    if response.status != 200:  # OK
        text = (await response.text())[:400]
        raise ClusterRefused(problem=f"{path}: {response.status} {response.reason}: {text}")


async def changes(
    api: Any, resources: Sequence[Resource], namespace: str | None
) -> AsyncGenerator[Change | None, None]:
    """The changes of all these resources as they come; None once, when all that there was has been told."""
    queue: asyncio.Queue[Change | BaseException | None] = asyncio.Queue(maxsize=1_000)
    waiting = {resource.plural for resource in resources}

    async def pump(resource: Resource) -> None:
        try:
            async for change in follow(api, resource, namespace):
                if change is not None:
                    await queue.put(change)
                elif waiting:
                    waiting.discard(resource.plural)
                    if not waiting:
                        await queue.put(None)
        except Exception as raised:  # noqa: BLE001  # whoever reads the queue raises it
            await queue.put(raised)

    tasks = [asyncio.create_task(pump(resource)) for resource in resources]
    try:
        while True:
            found = await queue.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
