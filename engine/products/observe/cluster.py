"""Lists and watches the objects of a Kubernetes API server (needs `phaseline[kubernetes]`).

Belongs here: list and watch, retrying when the server is away or a version has expired, asking for one object. Does
not: requests (`kubernetes_api`), finding resources (`discovery`), turning objects into events (`observer`).
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from phaseline.engine import logs
from phaseline.engine.products.observe import discovery
from phaseline.engine.products.observe.discovery import Resource
from phaseline.engine.products.observe.events import mapping, text, uid_of
from phaseline.engine.products.observe.kubernetes_api import (
    GONE,
    NOT_FOUND,
    OK,
    UNAUTHORIZED,
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
SHORTEST = 1.0
"""A watch that ends sooner, and has told nothing, has failed."""
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

    Yields `AllSeen` after the objects of a list. away: holds `Resource.in_ids` while the server does not answer, or
    refuses what it has allowed before.
    """
    at = _Following(api, resource, namespace, set() if away is None else away)
    while True:
        try:
            async for one in at.listed():
                yield one
            async for one in at.watched():
                yield one
        except VersionExpired:
            await at.begin_anew()
        except (Unavailable, SetupError) as error:
            await at.wait(error)
        if at.has_heard_nothing():
            at.version = ""


class _Following:
    """How far a resource was followed. version: from which it is watched; empty if it is to be listed."""

    def __init__(self, api: Any, resource: Resource, namespace: str | None, away: set[str]) -> None:
        self.api, self.resource, self.namespace, self.away = api, resource, namespace, away
        self.version, self.tries, self.heard = "", 0, 0.0
        self.known: dict[tuple[str, str], Mapping[str, Any]] = {}
        """What is there, as far as it was told."""
        self.was_listed = False
        """Whether a list was read to its end."""
        self.keeps = resource.kind != EVENT
        """Whether it matters when an object is gone."""

    async def listed(self) -> AsyncIterator[ClusterReport]:
        """What a list says, if one is needed: what is there, what is there no more, and that this was all."""
        if self.version:
            return
        found, listed_at = set[tuple[str, str]](), ""
        async for page, at in _pages(self.api, self.resource, self.namespace):
            listed_at = at
            for one in page:
                found.add(_key(one))
                self._know(one, gone=False)
                yield ObjectChange(one, listed=True)
        for key in [key for key in self.known if key not in found]:
            yield ObjectChange(self.known.pop(key), gone=True, listed=True)
        self.version, self.heard, self.was_listed = listed_at, time.monotonic(), True
        self.away.discard(self.resource.in_ids)
        yield AllSeen(self.resource)

    async def watched(self) -> AsyncIterator[ClusterReport]:
        """The changes of one watch, until it ends."""
        began, changed = time.monotonic(), False
        async for kind, one in _watch(self.api, self.resource, self.namespace, self.version, self.away):
            self._go_on(kind, text(mapping(one, "metadata"), "resourceVersion"))
            if kind != "BOOKMARK":
                changed = True
                self._know(one, gone=kind == "DELETED")
                yield ObjectChange(one, gone=kind == "DELETED")
        if not changed and time.monotonic() - began < SHORTEST:
            raise Unavailable("the API server ends each watch at once")

    def _go_on(self, kind: str, version: str) -> None:
        """Note the version that a watch has come to. Raises `VersionExpired` if it is older than what was asked for."""
        if kind == "DELETED" and _is_before(version, self.version):
            version = ""  # that of the object while it existed
        if _is_before(version, self.version):
            log.warning("versions_went_back", resource=self.resource.named, version=self.version, found=version)
            raise VersionExpired
        self.version, self.tries, self.heard = version or self.version, 0, time.monotonic()

    def _know(self, one: Mapping[str, Any], *, gone: bool) -> None:
        key, uid = _key(one), uid_of(one)
        if not gone and self.keeps:
            self.known[key] = _identity(one)
        elif gone and (not uid or uid_of(self.known.get(key, {})) in ("", uid)):  # or it has a successor of its name
            self.known.pop(key, None)

    async def begin_anew(self) -> None:
        """List everything again. If the server forgets at once what it has listed, wait before."""
        self.version = ""
        await asyncio.sleep(_pause(self.tries) if self.tries else 0)
        self.tries += 1

    async def wait(self, error: Unavailable | SetupError) -> None:
        """Wait until a further try may help. Raises what no try helps against: what was refused from the beginning."""
        if isinstance(error, SetupError):
            answered = error.details.get("answered")
            if not self.was_listed or answered == UNAUTHORIZED:  # who we are is read at the start
                raise error
            self.version = ""
            if answered == NOT_FOUND:
                self.resource = await discovery.present(self.api, self.resource)
        self.away.add(self.resource.in_ids)
        pause = _pause(self.tries)
        self.tries += 1
        log.warning("cluster_away", resource=self.resource.named, error=str(error), seconds=pause)
        await asyncio.sleep(pause)

    def has_heard_nothing(self) -> bool:
        """Whether for the time of a whole watch not even a bookmark came: such a server may never tell any change."""
        return time.monotonic() - self.heard >= WATCH_SECONDS


def _is_before(version: str, other: str) -> bool:
    """Whether a version is older than another one, as that of an API server that was put back; no if none can tell."""
    return version.isdecimal() and other.isdecimal() and int(version) < int(other)


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
    more, limit, path = "", PAGE, _path(resource, namespace)
    rests = set[str]()
    while True:
        query = [("limit", str(limit)), *([("continue", more)] if more else [])]
        try:
            page = await get(api, path, query)
        except AnswerTooLarge:
            if limit == 1:
                raise
            limit = max(1, limit // FEWER)
            continue
        items = _items(page, resource)
        if items is None:  # what is no list must not end what is there
            found = " ".join(filter(None, (text(page, "kind"), text(page, "message")))) or "nothing"
            raise Unavailable(f"{path}: the answer must be a list of objects, found {said(api, found)}")
        metadata = mapping(page, "metadata")
        more = text(metadata, "continue")
        if more in rests:
            raise Unavailable(f"{path}: the list has no end: two of its pages name the same rest")
        rests.add(more)
        yield items, "" if more else text(metadata, "resourceVersion")
        if not more:
            return


def _items(page: Mapping[str, Any], resource: Resource) -> list[Mapping[str, Any]] | None:
    """The objects of a page, with the apiVersion and kind that they lack there; None if it is no page of a list."""
    found = page.get("items", "")
    if found is None:  # as some servers write an empty list
        return []
    if not isinstance(found, list) or not all(isinstance(one, Mapping) and _key(one)[1] for one in found):
        return None
    return [{"apiVersion": resource.version, "kind": resource.kind, **one} for one in found]


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
        away.discard(resource.in_ids)
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
        log.warning("not_followed", resource=resource.named, error=str(error))
        yield AllSeen(resource, denied=True)
