"""The bridge from a cluster: entities without anything above them whose objects vanished while nobody looked.

See docs/spec/gitops.md, Snapshots and heartbeats.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from phaseline.schemas.errors import NatsUnreachable
from phaseline.schemas.records import Entity
from tests.support.command import Shell
from tests.support.installation import Settings
from tests.support.kubernetes_server import Kube
from tests.support.observing import ObservedEvent, Roots, cluster, discovery, kubernetes_api
from tests.support.own_installation import Client

ME = "/observe/me cluster-1"
APPLICATION = ("argoproj.io", "Application")


# ---- the command, against a server that forgets


ROOTS = ("applications", "applicationsets", "gitrepos", "bundles", "bundledeployments")


async def test_what_has_nothing_above_it_and_vanished_while_nobody_looked_is_gone(
    kube: tuple[Kube, Path], shell: Shell, client: Client, working: Settings
) -> None:
    server, path = kube
    argo, fleet = {"namespace": "argocd"}, {"labels": {"fleet.cattle.io/repo-name": "lone"}}
    for name in ("kept", "lost", "hidden"):
        await server.put("Application", name, argo)
        await server.put("ApplicationSet", f"set-{name}", argo)
        await server.put("GitRepo", f"repo-{name}", spec={"repo": "https://git.example"})
        await server.put("Bundle", f"bundle-{name}")
    await server.put("BundleDeployment", "dep", fleet, spec={"deploymentID": "d1"})
    await client.publish("git_repo", "fetched", "by-others", {"commit": "c1"}, source="/other")
    words = ("observe", "--cluster", "--kubeconfig", str(path), "--resources", ",".join(ROOTS), "--heartbeat", "0")

    async def there() -> set[str]:
        kinds = ("application", "application_set", "git_repo", "bundle", "bundle_deployment")
        return {f"{one.kind} {one.id}" for kind in kinds async for one in client.list(kind)}

    async def until(wanted: set[str], gone: set[str]) -> None:
        async with asyncio.timeout(60):
            while not (wanted <= (found := await there()) and gone.isdisjoint(found)):
                await asyncio.sleep(0.05)

    def told(name: str) -> set[str]:
        return {
            f"application {name}/{name}", f"application_set set-{name}", f"git_repo repo-{name}",
            f"bundle bundle-{name}/bundle-{name}",
        }  # fmt: skip

    process = await shell.start(*words)
    await until({*told("kept"), *told("lost"), *told("hidden"), "bundle_deployment lone/dep/shop"}, set())
    process.kill()
    await process.wait()
    for kind, name in (("Application", "lost"), ("ApplicationSet", "set-lost"), ("GitRepo", "repo-lost"),
                       ("Bundle", "bundle-lost"), ("BundleDeployment", "dep")):  # fmt: skip
        await server.delete(kind, name)
    server.hidden = {("Application", "hidden"), ("ApplicationSet", "set-hidden"), ("GitRepo", "repo-hidden"),
                     ("Bundle", "bundle-hidden")}  # fmt: skip
    server.forget()
    process = await shell.start(*words)
    await until(
        {*told("kept"), *told("hidden"), "git_repo by-others"}, {*told("lost"), "bundle_deployment lone/dep/shop"}
    )
    process.kill()
    await process.wait()


# ---- what the API server is asked


async def test_what_identifies_the_cluster(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    async with kubernetes_api.connected(path, None) as api:
        assert await discovery.cluster_of(api, None) == "cluster-1"
        server.uid = ""
        assert await discovery.cluster_of(api, "shop") == ""
        assert server.asked[-2:] == ["/api/v1/namespaces/kube-system", "/api/v1/namespaces/shop"]


async def test_an_object_is_gone_if_the_server_says_that_it_is_not_found(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    await server.put("Application", "web")
    async with kubernetes_api.connected(path, None) as api:
        [applications, lists] = await discovery.discover(api, ["applications", "configmaps"])
        assert not await cluster.is_gone(api, applications, "shop/web")
        server.hidden = {("Application", "web")}
        assert not await cluster.is_gone(api, applications, "shop/web")
        server.down = 1
        assert not await cluster.is_gone(api, applications, "shop/other")
        assert await cluster.is_gone(api, applications, "shop/other")
        assert not await cluster.is_gone(api, lists._replace(plural="nothing"), "shop/other")  # no such page


# ---- which entities an observer answers for


def application(name: str, observer: str | None, observed_as: str | None = "shop/web") -> Entity:
    given: dict[str, Any] = {"observer": observer, "observed_as": observed_as}
    attributes = {key: value for key, value in given.items() if value is not None}
    return Entity("application", name, 1, (), (), attributes, {}, {}, 0)


async def gone(roots: Roots, *known: Entity, is_gone: bool = True) -> list[str]:
    async def entities(kind: str) -> AsyncIterator[Entity]:
        for one in known:
            if one.kind == kind:
                yield one

    async def answer(_: str) -> bool:
        return is_gone

    return [one.id async for one in roots.gone(APPLICATION, entities, answer)]


def named(observer: str = ME) -> Roots:
    roots = Roots()
    roots.observer = observer
    return roots


def seen(name: str, of: str) -> tuple[tuple[str, str], ObservedEvent, dict[str, Any]]:
    return APPLICATION, ObservedEvent("application", "configure", name, {}), {
        "metadata": {"name": of, "namespace": "shop"}
    }  # fmt: skip


@pytest.mark.parametrize(("observer", "is_mine"), [
    (ME, True), (f"{ME}/shop", True), (None, False), ("/observe/me cluster-2", False), ("/observe/you cluster-1", False),
    ("/observe/me cluster-10", False), (7, False),
])  # fmt: skip
async def test_only_what_it_has_reported_itself(observer: Any, *, is_mine: bool) -> None:
    assert await gone(named(), application("web/web", observer)) == ["web/web"] * is_mine


async def test_the_observer_of_a_namespace_leaves_others_alone() -> None:
    known = [application(name, f"{ME}{scope}") for name, scope in (("a/a", ""), ("b/b", "/shop"), ("c/c", "/other"))]
    assert await gone(named(f"{ME}/shop"), *known) == ["b/b"]
    assert await gone(named(), *known) == ["a/a", "b/b", "c/c"]
    assert await gone(named(""), *known) == []


async def test_an_object_that_is_not_in_the_list_and_not_gone_stays() -> None:
    assert await gone(named(), application("web/web", ME), is_gone=False) == []


async def test_an_object_that_is_there_under_another_id_has_moved() -> None:
    roots = named()
    event = roots.note(*seen("all/web", "web"))
    assert event.data == {"observer": ME, "observed_as": "shop/web"}
    assert await gone(roots, application("web/web", ME), application("all/web", ME), is_gone=False) == ["web/web"]
    roots.note(APPLICATION, ObservedEvent("application", "removed", "all/web"), {})
    assert await gone(roots, application("all/web", ME)) == ["all/web"]


async def test_an_application_that_marks_alone_name_is_remembered_and_not_removed() -> None:
    roots = named()
    announced = roots.announced("web/web")
    assert announced == ObservedEvent("application", "configure", "web/web", {"observer": ME})
    assert roots.announced("web/web") is None

    async def entities(_: str) -> AsyncIterator[Entity]:
        yield application("web/web", ME, None)
        yield application("all/web", ME)

    assert await roots.marked(entities) == ["web/web"]
    assert await gone(roots, application("web/web", ME, None)) == []
    assert Roots().announced("web/web") is None


async def test_states_that_cannot_be_read_leave_everything_as_it_is() -> None:
    async def entities(_: str) -> AsyncIterator[Entity]:
        raise NatsUnreachable(url="nats://nowhere", cause="it is away")
        yield

    async def answer(_: str) -> bool:
        return True

    assert [one async for one in named().gone(APPLICATION, entities, answer)] == []
