"""The bridge from a cluster: snapshots after each list, what vanished meanwhile, heartbeats.

See docs/spec/gitops.md, Snapshots and heartbeats.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

from phaseline.schemas.records import Entity
from tests.support.kubernetes_server import Kube
from tests.support.manifests import config
from tests.support.observing import Observer, Ownership, bridge, cluster, discovery, kubernetes_api

TRACKING = "argocd.argoproj.io/tracking-id"


class Bridge:
    """The events of a bridge, one by one, in short: `<type> <id>`, and the names that a snapshot lists."""

    def __init__(self, events: AsyncIterator[dict[str, Any]]) -> None:
        self.events = events

    async def next(self) -> str:
        async with asyncio.timeout(60):
            event = await anext(self.events)
        data = event.get("data") or {}
        listed = f" {[item['id'] for item in data['items']]}" if "items" in data else ""
        return f"{event['type']} {event['subject'].partition('/')[2]}{listed}"

    async def take(self, count: int) -> list[str]:
        return [await self.next() for _ in range(count)]

    async def until(self, wanted: str) -> list[str]:
        """The events up to one that begins so."""
        found = [await self.next()]
        while not found[-1].startswith(wanted):
            found.append(await self.next())
        return found


async def bridged(
    path: Path,
    names: list[str],
    observer: Observer,
    *,
    heartbeat: float = 0,
    namespace: str | None = None,
    past: bridge.Past | None = None,
) -> AsyncGenerator[dict[str, Any], None]:
    async with kubernetes_api.connected(path, None) as api:
        resources, away = await discovery.discover(api, names), set[str]()
        found = cluster.changes(api, resources, namespace, away)
        async for event in bridge.events(observer, found, namespace, heartbeat=heartbeat, away=away, past=past):
            yield event


async def track(server: Kube, name: str, app: str = "web", **data: Any) -> None:
    await server.put("ConfigMap", name, {"annotations": {TRACKING: f"{app}:/ConfigMap:shop/{name}"}}, **data)


async def test_a_snapshot_after_the_start_and_after_each_list(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    for name in "abc":
        await server.put("ConfigMap", name)
    events = bridged(path, ["cm", "deploy"], Observer("/o", "shop/shop"), namespace="shop")
    told = Bridge(events)
    first = await told.take(5)
    assert sorted(first) == sorted([
        *(f"resource.observed shop/shop/core:ConfigMap/shop/{name}" for name in "abc"),
        "application.snapshot shop/shop ['core:ConfigMap/shop/a', 'core:ConfigMap/shop/b', 'core:ConfigMap/shop/c']",
        "application.snapshot shop/shop []",  # there are no Deployments
    ])  # fmt: skip
    server.down = 10_000
    server.pull()
    await server.delete("ConfigMap", "a")
    await server.put("ConfigMap", "d")
    server.forget()
    server.down = 0
    found = await told.until("application.snapshot shop/shop ['core")
    assert [one for one in found if "[]" not in one] == [
        "resource.observed shop/shop/core:ConfigMap/shop/d",
        "resource.removed shop/shop/core:ConfigMap/shop/a",
        "application.snapshot shop/shop ['core:ConfigMap/shop/b', 'core:ConfigMap/shop/c', 'core:ConfigMap/shop/d']",
    ]
    await events.aclose()


async def test_what_it_says_is_about_the_kinds_and_the_namespace_that_it_watches(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    await server.put("ConfigMap", "a")
    for namespace, bounds in (
        ("shop", ("core:ConfigMap/shop/", "core:ConfigMap/shop0")),
        (None, ("core:ConfigMap/", "core:ConfigMap0")),
    ):
        events = bridged(path, ["cm"], Observer("/o", "shop/shop"), namespace=namespace)
        [event] = [one async for one in _first(events, 2) if one["type"].endswith("snapshot")]
        assert (event["data"]["after"], event["data"]["upto"]) == bounds
        assert event["data"]["kind"] == "resource"


async def _first(events: AsyncGenerator[dict[str, Any], None], count: int) -> AsyncIterator[dict[str, Any]]:
    async with asyncio.timeout(60):
        for _ in range(count):
            yield await anext(events)
    await events.aclose()


async def test_applications_are_listed_before_their_objects(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    for name in "abcd":
        await track(server, name)
    await track(server, "stray", "nobody")
    owner = {"ownerReferences": [{"kind": "ApplicationSet", "name": "all"}], "namespace": "argocd"}
    await server.put("Application", "web", owner)
    await server.put("Application", "idle", owner)
    await server.put("ApplicationSet", "all", {"namespace": "argocd"})
    observer = Observer("/o", whose=Ownership(complete=True))
    told = Bridge(bridged(path, ["cm", "applications", "applicationsets"], observer))
    names = [f"core:ConfigMap/shop/{name}" for name in "abcd"]
    awaited = {
        "application_set.snapshot all ['idle', 'web']", f"application.snapshot all/web {names}",
        "application.snapshot all/idle []",
    }  # fmt: skip
    found: list[str] = []
    while not awaited <= set(found):
        found.append(await told.next())
    assert not [one for one in found if "web/web" in one or "nobody" in one]


async def test_an_application_that_marks_alone_named_before_is_spoken_of_again(kube: tuple[Kube, Path]) -> None:
    async def known(kind: str) -> AsyncIterator[Entity]:
        yield Entity(kind, "web/web", 1, (), (), {"observer": "me"}, {}, {}, 0)

    async def is_gone(*_: Any) -> bool:
        raise AssertionError

    _, path = kube
    observer = Observer("/o", whose=Ownership())
    observer.roots.observer, observer.by_marks = "me", True
    events = bridged(path, ["cm"], observer, past=bridge.Past(known, is_gone))
    assert await Bridge(events).take(1) == ["application.snapshot web/web []"]
    await events.aclose()


async def test_heartbeats_go_out_while_the_server_answers_and_nothing_else_is_told(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    await server.put("ConfigMap", "a")
    told = Bridge(bridged(path, ["cm"], Observer("/o", "shop/shop"), heartbeat=0.05))
    beat = "application.heartbeat shop/shop"
    first = await told.until("resource.observed")  # a slow first list comes after a heartbeat
    first += await told.until(beat)
    once = "application.configure shop/shop"  # that everything is looked at
    first += [] if once in first else await told.take(1)
    assert first.count(once) == 1
    assert await told.take(2) == [beat] * 2
    await server.bookmark("ConfigMap")
    assert await told.take(2) == [beat] * 2
    server.down = 10_000
    server.pull()
    await told.until(once)  # which names what nobody looks at
    waiting = asyncio.ensure_future(told.next())
    await asyncio.sleep(0.5)
    assert not waiting.done()
    server.down = 0
    assert {await waiting, *await told.take(1)} == {beat, once}


async def test_ticks_come_whatever_else_comes() -> None:
    async def source() -> AsyncIterator[int]:
        for number in range(30):
            await asyncio.sleep(0.005)
            yield number

    found = [one async for one in bridge.with_ticks(source(), 0.02)]
    assert [one for one in found if one is not None] == [*range(30)]
    assert found.count(None) >= 3
    assert [one async for one in bridge.with_ticks(source(), 0)] == [*range(30)]


def test_what_was_missing_in_the_cluster_is_listed_all_the_same() -> None:
    observer = Observer("/o", "shop/shop", [config("a"), config("b")])
    [*observer.missing()]
    [event] = observer.relisted("", "ConfigMap", None)
    assert event["data"]["items"] == [{"id": "core:ConfigMap/shop/a"}, {"id": "core:ConfigMap/shop/b"}]
