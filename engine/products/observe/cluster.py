"""Lists and watches the objects of a Kubernetes API server (needs `phaseline[kubernetes]`).

Belongs here: list and watch, retrying when the server is away or a version has expired, asking for one object. Does
not: requests (`kubernetes_api`), finding resources (`discovery`), turning objects into events (`observer`).
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from phaseline.engine import logs
from phaseline.engine.products.observe.discovery import Resource
from phaseline.engine.products.observe.events import mapping, maps, text
from phaseline.engine.products.observe.kubernetes_api import (
    GONE,
    NOT_FOUND,
    OK,
    AnswerTooLarge,
    Unavailable,
    VersionExpired,
    exchange,
    get,
    pieces,
    request,
    said,
)
from phaseline.engine.products.observe.ownership import GROUP
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.schemas import bounds, codec
from phaseline.schemas.errors import SetupError

PAGE = 500
"""Objects in one page of a list."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds before each further try while the server is not available."""
FEWER = 8
"""By what the objects of a page are divided, if a page was larger than we take."""
EVENT = "Event"
WATCH_SECONDS = 300
"""Seconds after which the server ends a watch. The watch then continues from the last version."""
log = logs.get_logger(__name__)


class AllSeen(NamedTuple):
    """All objects of a resource were seen, at the beginning or anew. complete: so were those of all others.

    denied: they may not be listed, so nothing is known of them.
    """

    resource: Resource
    complete: bool = False
    denied: bool = False


ClusterReport = ObjectChange | AllSeen


async def follow(
    api: Any, resource: Resource, namespace: str | None, away: set[str] | None = None
) -> AsyncIterator[ClusterReport]:
    """Every existing object of a resource and every change from then on. Ends only with `SetupError.cluster_unusable`.

    Yields `AllSeen` after the objects of a list. away: holds the resource's name while the server does not answer.
    """
    away = set() if away is None else away
    known: dict[tuple[str, str], Mapping[str, Any]] = {}
    keeps = resource.kind != EVENT
    """Whether it matters when an object is gone."""
    version = ""
    tries = 0
    while True:
        try:
            if not version:
                found: set[tuple[str, str]] = set()
                async for page, listed_at in _pages(api, resource, namespace):
                    for one in page:
                        found.add(_key(one))
                        if keeps:
                            known[_key(one)] = _identity(one)
                        yield ObjectChange(one, listed=True)
                    version = listed_at
                for key in [key for key in known if key not in found]:
                    yield ObjectChange(known.pop(key), gone=True, listed=True)
                away.discard(resource.plural)
                yield AllSeen(resource)
            async for kind, one in _watch(api, resource, namespace, version, away):
                version = text(mapping(one, "metadata"), "resourceVersion") or version
                tries = 0
                if kind == "DELETED":
                    known.pop(_key(one), None)
                elif kind != "BOOKMARK" and keeps:
                    known[_key(one)] = _identity(one)
                if kind != "BOOKMARK":
                    yield ObjectChange(one, gone=kind == "DELETED")
        except VersionExpired:
            version = ""
            await asyncio.sleep(_pause(tries) if tries else 0)  # not even what was just listed is remembered
            tries += 1
        except Unavailable as error:
            away.add(resource.plural)
            pause = _pause(tries)
            tries += 1
            log.warning("cluster_away", resource=resource.plural, error=str(error), seconds=pause)
            await asyncio.sleep(pause)


def _pause(tries: int) -> float:
    return PAUSES[min(tries, len(PAUSES) - 1)]


async def is_gone(api: Any, resource: Resource, named: str) -> bool:
    """Whether the server says that it has no object of this name (`<namespace>/<name>`)."""
    namespace, _, name = named.partition("/")
    try:
        status, answer = await exchange(api, "GET", f"{_path(resource, namespace or None)}/{quote(name, safe='')}")
    except Unavailable as error:
        log.warning("object_not_confirmed", object=named, error=str(error))
        return False
    if status not in (OK, NOT_FOUND):
        log.warning("object_not_confirmed", object=named, error=f"{status}: {said(api, text(answer, 'message'))}")
    return status == NOT_FOUND and text(answer, "reason") == "NotFound"


def _key(found: Mapping[str, Any]) -> tuple[str, str]:
    metadata = mapping(found, "metadata")
    return text(metadata, "namespace"), text(metadata, "name")


def _identity(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of an object that is needed when it is deleted."""
    metadata = {name: value for name, value in mapping(found, "metadata").items() if name != "managedFields"}
    return {"apiVersion": found.get("apiVersion"), "kind": found.get("kind"), "metadata": metadata}


def _path(resource: Resource, namespace: str | None) -> str:
    within = f"/namespaces/{namespace}" if namespace is not None and resource.namespaced else ""
    return f"{resource.path}{within}/{resource.plural}"


async def _pages(
    api: Any, resource: Resource, namespace: str | None
) -> AsyncIterator[tuple[list[Mapping[str, Any]], str]]:
    """All objects page by page; with the last one, the version from which to watch."""
    more, limit = "", PAGE
    while True:
        query = [("limit", str(limit)), *([("continue", more)] if more else [])]
        try:
            page = await get(api, _path(resource, namespace), query)
        except AnswerTooLarge:
            if limit == 1:
                raise
            limit = max(1, limit // FEWER)
            continue
        if "items" not in page:  # what is no list must not end what is there
            found = " ".join(filter(None, (text(page, "kind"), text(page, "message")))) or "nothing"
            raise Unavailable(f"{_path(resource, namespace)}: the answer must be a list, found {said(api, found)}")
        # The items of a list have no apiVersion and kind.
        items: list[Mapping[str, Any]] = [
            {"apiVersion": resource.version, "kind": resource.kind, **item} for item in maps(page, "items")
        ]
        metadata = mapping(page, "metadata")
        more = text(metadata, "continue")
        yield items, "" if more else text(metadata, "resourceVersion")
        if not more:
            return


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
        async for line in _lines(pieces(response, None)):
            event = codec.decode_text(line, bounds.FOREIGN)
            kind, found = text(event, "type"), mapping(event, "object")
            if kind == "ERROR":
                if found.get("code") == GONE:
                    raise VersionExpired
                reported = said(api, text(found, "message") or dict(found))
                raise Unavailable(f"the API server reports an error: {reported}")
            yield kind, {"apiVersion": resource.version, "kind": resource.kind, **found}


async def _lines(found: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a watch that are not empty; raises `ValueError` for one that is larger than any object."""
    begun: list[bytes] = []
    size = 0
    async for piece in found:
        first, *others = piece.split(b"\n")
        begun.append(first)
        size += len(first)
        if size > bounds.LARGEST:
            raise ValueError(f"a change has more than {bounds.LARGEST:,} bytes")
        if others:
            for line in (b"".join(begun), *others[:-1]):
                if line:
                    yield line
            begun, size = [others[-1]], len(others[-1])


async def changes(
    api: Any, resources: Sequence[Resource], namespace: str | None, away: set[str] | None = None,
    followed: Sequence[Resource] = (),
) -> AsyncGenerator[ClusterReport, None]:  # fmt: skip
    """The changes of all resources as they come.

    Argo CD's own objects are listed first: others belong to them. followed: resources that are listed after all others,
    one after the other. One that may not be read is left out.
    """
    queue: asyncio.Queue[ClusterReport | BaseException] = asyncio.Queue(maxsize=1_000)
    first = [one for one in resources if one.sort[0] == GROUP]
    stages = [first, [one for one in resources if one not in first], *([one] for one in followed)]
    turns = [_Turn({one.path + one.plural for one in stage}) for stage in stages]

    async def pump(resource: Resource, at: int) -> None:
        try:
            for turn in turns[:at]:
                await turn.over.wait()
            async for one in _readable(follow(api, resource, namespace, away), resource, one_of_many=at > 1):
                if not isinstance(one, AllSeen):
                    await queue.put(one)
                    continue
                turns[at].end(resource.path + resource.plural)
                await queue.put(one._replace(complete=all(turn.over.is_set() for turn in turns)))
        except Exception as raised:  # noqa: BLE001  # the reader of the queue raises it
            await queue.put(raised)

    tasks = [asyncio.create_task(pump(one, at)) for at, stage in enumerate(stages) for one in stage]
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


class _Turn:
    """Resources that are listed at the same time. over: set once all are."""

    def __init__(self, waiting: set[str]) -> None:
        self.waiting, self.over = waiting, asyncio.Event()
        self.end("")

    def end(self, name: str) -> None:
        """One of them was listed."""
        self.waiting.discard(name)
        if not self.waiting:
            self.over.set()


async def _readable(
    found: AsyncIterator[ClusterReport], resource: Resource, *, one_of_many: bool
) -> AsyncIterator[ClusterReport]:
    """What is found of a resource. One of many that may not be read is told as listed, with nothing known of it."""
    listed = False
    try:
        async for one in found:
            listed = listed or isinstance(one, AllSeen)
            yield one
    except SetupError as error:
        if listed or not one_of_many:
            raise
        log.warning("not_followed", resource=resource.plural, error=str(error))
        yield AllSeen(resource, denied=True)
