"""Lists and watches the objects of a Kubernetes API server (needs the extra `kubernetes`).

Belongs here: list and watch, retrying when the server is away or a version has expired, asking for one object. Does
not: requests (`kubernetes_api`), finding resources (`discovery`), turning objects into events (`observer`).
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from phaseline.engine import logs
from phaseline.engine.observe.discovery import Resource
from phaseline.engine.observe.events import mapping, maps, text
from phaseline.engine.observe.kubernetes_api import (
    GONE,
    NOT_FOUND,
    OK,
    UNAVAILABLE,
    VersionExpired,
    exchange,
    get,
    request,
)
from phaseline.engine.observe.ownership import GROUP
from phaseline.engine.observe.stream import ObjectChange
from phaseline.schemas import bounds, codec

PAGE = 500
"""Objects in one page of a list."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds before each further try while the server is not available."""
WATCH_SECONDS = 300
"""Seconds after which the server ends a watch. The watch then continues from the last version."""
log = logs.get_logger(__name__)


class Listed(NamedTuple):
    """All objects of a resource were seen, at the beginning or anew. complete: so were those of all others."""

    resource: Resource
    complete: bool = False


Found = ObjectChange | Listed


async def follow(
    api: Any, resource: Resource, namespace: str | None, away: set[str] | None = None
) -> AsyncIterator[Found]:
    """Every existing object of a resource and every change from then on. Ends only with `SetupError.cluster_unusable`.

    Yields a `Listed` after the objects of a list. away: holds the resource's name while the server does not answer.
    """
    away = set() if away is None else away
    known: dict[tuple[str, str], Mapping[str, Any]] = {}
    version: str | None = None
    tries = 0
    while True:
        try:
            if version is None:
                found, version = await _list(api, resource, namespace)
                for key in [key for key in known if key not in found]:
                    yield ObjectChange(known.pop(key), gone=True)
                for key, one in found.items():
                    known[key] = _identity(one)
                    yield ObjectChange(one)
                away.discard(resource.plural)
                yield Listed(resource)
            async for kind, one in _watch(api, resource, namespace, version, away):
                version = text(mapping(one, "metadata"), "resourceVersion") or version
                tries = 0
                if kind == "DELETED":
                    known.pop(_key(one), None)
                elif kind != "BOOKMARK":
                    known[_key(one)] = _identity(one)
                if kind != "BOOKMARK":
                    yield ObjectChange(one, gone=kind == "DELETED")
        except VersionExpired:
            version = None
        except UNAVAILABLE as error:
            away.add(resource.plural)
            pause = PAUSES[min(tries, len(PAUSES) - 1)]
            tries += 1
            log.warning(
                "cluster_away", resource=resource.plural, error=str(error) or type(error).__name__, seconds=pause
            )
            await asyncio.sleep(pause)


async def is_gone(api: Any, resource: Resource, named: str) -> bool:
    """Whether the server says that it has no object of this name (`<namespace>/<name>`)."""
    namespace, _, name = named.partition("/")
    try:
        status, answer = await exchange(api, "GET", f"{_path(resource, namespace or None)}/{quote(name, safe='')}")
    except UNAVAILABLE as error:
        log.warning("object_not_confirmed", object=named, error=str(error) or type(error).__name__)
        return False
    if status not in (OK, NOT_FOUND):
        log.warning("object_not_confirmed", object=named, error=f"{status}: {text(answer, 'message')}")
    return status == NOT_FOUND and text(answer, "reason") == "NotFound"


def _key(found: Mapping[str, Any]) -> tuple[str, str]:
    metadata = mapping(found, "metadata")
    return text(metadata, "namespace"), text(metadata, "name")


def _identity(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of an object that is needed when it is deleted."""
    return {name: found.get(name) for name in ("apiVersion", "kind", "metadata")}


def _path(resource: Resource, namespace: str | None) -> str:
    within = f"/namespaces/{namespace}" if namespace is not None and resource.namespaced else ""
    return f"{resource.path}{within}/{resource.plural}"


async def _list(
    api: Any, resource: Resource, namespace: str | None
) -> tuple[dict[tuple[str, str], Mapping[str, Any]], str]:
    """All objects, read page by page, and the version from which to watch."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    more = ""
    while True:
        query = [("limit", str(PAGE)), *([("continue", more)] if more else [])]
        page = await get(api, _path(resource, namespace), query)
        for item in maps(page, "items"):
            # The items of a list have no apiVersion and kind.
            one = {"apiVersion": resource.version, "kind": resource.kind, **item}
            found[_key(one)] = one
        metadata = mapping(page, "metadata")
        more = text(metadata, "continue")
        if not more:
            return found, text(metadata, "resourceVersion")


async def _watch(
    api: Any, resource: Resource, namespace: str | None, version: str, away: set[str]
) -> AsyncIterator[tuple[str, Mapping[str, Any]]]:
    query = [
        ("watch", "1"),
        ("resourceVersion", version),
        ("allowWatchBookmarks", "true"),
        ("timeoutSeconds", str(WATCH_SECONDS)),
    ]
    async with request(api, _path(resource, namespace), query, WATCH_SECONDS + 30) as response:
        away.discard(resource.plural)
        rest = b""
        async for piece in response.content.iter_any():
            *lines, rest = (rest + piece).split(b"\n")
            for line in filter(None, lines):
                event = codec.decode_text(line, bounds.FOREIGN)
                kind, found = text(event, "type"), mapping(event, "object")
                if kind == "ERROR":
                    if found.get("code") == GONE:
                        raise VersionExpired
                    raise ValueError(f"the API server reports an error: {text(found, 'message') or dict(found)}")
                yield kind, {"apiVersion": resource.version, "kind": resource.kind, **found}


async def changes(
    api: Any, resources: Sequence[Resource], namespace: str | None, away: set[str] | None = None
) -> AsyncGenerator[Found, None]:
    """The changes of all resources as they come. Argo CD's own objects are listed first: others belong to them."""
    queue: asyncio.Queue[Found | BaseException] = asyncio.Queue(maxsize=1_000)
    first = [one for one in resources if one.version.partition("/")[0] == GROUP]
    waiting, begun = {one.path + one.plural for one in resources}, asyncio.Event()

    async def pump(resource: Resource) -> None:
        try:
            async for found in follow(api, resource, namespace, away):
                if isinstance(found, ObjectChange):
                    await queue.put(found)
                    continue
                waiting.discard(resource.path + resource.plural)
                if waiting.isdisjoint(one.path + one.plural for one in first):
                    begun.set()
                await queue.put(found._replace(complete=not waiting))
        except Exception as raised:  # noqa: BLE001  # the reader of the queue raises it
            await queue.put(raised)

    async def pump_later(resource: Resource) -> None:
        await begun.wait()
        await pump(resource)

    if not first:
        begun.set()
    tasks = [asyncio.create_task((pump if one in first else pump_later)(one)) for one in resources]
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
