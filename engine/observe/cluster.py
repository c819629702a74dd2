"""Objects straight from a Kubernetes API server: listed, then watched, for as long as it takes (extra: `kubernetes`).

Belongs here: list and watch, what to do when the server is away or has forgotten. Does not: requests (`asking`), which sorts
of objects there are (`discovery`), what objects say.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any

import structlog

from phaseline.engine.observe.discovery import Resource
from phaseline.engine.observe.events import members, part, word
from phaseline.engine.observe.kubernetes_api import AWAY, GONE, Forgotten, asked, get
from phaseline.engine.observe.stream import ObjectChange

PAGE = 500
"""Objects asked for at once."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds before each further try while the server cannot be had."""
WATCH_SECONDS = 300
"""After so long the server is asked to end a watch, which is then begun anew where it was."""
log = structlog.get_logger(__name__)


async def follow(api: Any, resource: Resource, namespace: str | None) -> AsyncIterator[ObjectChange | None]:
    """Every change of these objects from now on; None once all that there is has been told. Ends only by `ClusterUnusable`."""
    known: dict[tuple[str, str], Mapping[str, Any]] = {}
    version: str | None = None
    tries = 0
    while True:
        try:
            if version is None:
                found, version = await _listed(api, resource, namespace)
                for key in [key for key in known if key not in found]:
                    yield ObjectChange(known.pop(key), gone=True)
                for key, one in found.items():
                    known[key] = _named(one)
                    yield ObjectChange(one)
                yield None
            async for kind, one in _watched(api, resource, namespace, version):
                version = word(part(one, "metadata"), "resourceVersion") or version
                tries = 0
                if kind == "DELETED":
                    known.pop(_key(one), None)
                elif kind != "BOOKMARK":
                    known[_key(one)] = _named(one)
                if kind != "BOOKMARK":
                    yield ObjectChange(one, gone=kind == "DELETED")
        except Forgotten:
            version = None
        except AWAY as error:
            pause = PAUSES[min(tries, len(PAUSES) - 1)]
            tries += 1
            log.warning(
                "cluster_away", resource=resource.plural, error=str(error) or type(error).__name__, seconds=pause
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
        page = await get(api, _place(resource, namespace), query)
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
    async with asked(api, _place(resource, namespace), query, WATCH_SECONDS + 30) as response:
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


async def changes(
    api: Any, resources: Sequence[Resource], namespace: str | None
) -> AsyncGenerator[ObjectChange | None, None]:
    """The changes of all these resources as they come; None once, when all that there was has been told."""
    queue: asyncio.Queue[ObjectChange | BaseException | None] = asyncio.Queue(maxsize=1_000)
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
