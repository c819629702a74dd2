"""An HTTP server that answers list and watch like the Kubernetes API server. It can lose its memory and break watches.

Belongs here: the server. Does not: the tests that use it.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml
from aiohttp import web

VERBS = ["get", "list", "watch"]
CORE = [
    {
        "name": "configmaps",
        "singularName": "configmap",
        "kind": "ConfigMap",
        "namespaced": True,
        "shortNames": ["cm"],
        "verbs": VERBS,
    },
    {"name": "configmaps/status", "kind": "ConfigMap", "verbs": VERBS},
    {"name": "pods", "singularName": "pod", "kind": "Pod", "namespaced": True, "verbs": VERBS},
    {"name": "events", "singularName": "event", "kind": "Event", "namespaced": True, "verbs": VERBS},
]
ARGO = [
    {"name": name, "kind": kind, "namespaced": True, "verbs": VERBS}
    for name, kind in (("applications", "Application"), ("applicationsets", "ApplicationSet"))
]
FLEET: list[dict[str, Any]] = [
    {"name": name, "kind": kind, "namespaced": True, "verbs": VERBS}
    for name, kind in (("gitrepos", "GitRepo"), ("bundles", "Bundle"), ("bundledeployments", "BundleDeployment"))
]
APPS = [
    {
        "name": "deployments",
        "singularName": "deployment",
        "kind": "Deployment",
        "namespaced": True,
        "shortNames": ["deploy"],
        "verbs": VERBS,
    },
    {"name": "replicasets", "singularName": "replicaset", "kind": "ReplicaSet", "namespaced": True, "verbs": VERBS},
]
PATHS: dict[str, str] = {
    "/api/v1/namespaces/shop/configmaps": "ConfigMap",
    "/api/v1/configmaps": "ConfigMap",
    "/apis/apps/v1/namespaces/shop/deployments": "Deployment",
    "/apis/apps/v1/deployments": "Deployment",
    "/api/v1/namespaces/shop/pods": "Pod",
    "/api/v1/namespaces/shop/events": "Event",
    "/api/v1/pods": "Pod",
    "/api/v1/events": "Event",
    "/apis/apps/v1/namespaces/shop/replicasets": "ReplicaSet",
    "/apis/apps/v1/replicasets": "ReplicaSet",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": "CustomResourceDefinition",
    "/apis/argoproj.io/v1alpha1/applications": "Application",
    "/apis/argoproj.io/v1alpha1/applicationsets": "ApplicationSet",
    "/apis/argoproj.io/v1alpha1/namespaces/shop/applications": "Application",
    **{f"/apis/fleet.cattle.io/v1alpha1/{one['name']}": one["kind"] for one in FLEET},
}
VERSIONS = {
    "ConfigMap": "v1", "Pod": "v1", "Event": "v1", "Deployment": "apps/v1", "ReplicaSet": "apps/v1",
    **{str(one["kind"]): "fleet.cattle.io/v1alpha1" for one in FLEET}
}  # fmt: skip
"""The versions of the kinds; those of all others are Argo CD's."""


class Kube:
    """Objects by kind and name, and the changes that the server still remembers."""

    def __init__(self) -> None:
        self.version, self.oldest = 10, 10
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self.events: list[tuple[int, str, str, dict[str, Any]]] = []
        self.news = asyncio.Condition()
        self.asked: list[str] = []
        self.down = 0
        self.token = "secret-token"
        self.open: set[asyncio.Task[Any]] = set()
        self.uid = "cluster-1"
        self.hidden: set[tuple[str, str]] = set()
        """The objects that the one who asks may not see: they are in no list, and asking for one gets 403."""
        self.denied: set[str] = set()
        """The kinds that the one who asks may not list."""
        self.expired = 0
        """How many times the rest of a list is not to be had any more."""
        self.instead: list[dict[str, Any]] = []
        """What is answered in the place of the next lists."""
        self.refused: dict[str, int] = {}
        """By kind, the status with which lists and watches of it are answered."""
        self.groups = {"metrics.k8s.io": 503}
        """By API group, the status with which its resources are answered."""
        self.served = {"apps": "v1"}
        """By API group, the only version that is served, where it is another one than in `PATHS`."""
        self.more: dict[str, list[dict[str, Any]]] = {}
        """The resources of versions that are served beside the preferred one of their group: `apps/v2alpha1`."""
        self.ends_at_once = False
        """Whether each watch ends as soon as it has begun."""

    async def put(self, kind: str, name: str, metadata: dict[str, Any] | None = None, **data: Any) -> None:
        known = (kind, name) in self.objects
        self.version += 1
        named = {"name": name, "namespace": "shop", "uid": f"u-{name}", "resourceVersion": str(self.version)}
        found = {"metadata": {**named, **(metadata or {})}, **data}
        self.objects[kind, name] = found
        await self._tell("MODIFIED" if known else "ADDED", kind, found)

    async def delete(self, kind: str, name: str) -> None:
        self.version += 1
        await self._tell("DELETED", kind, self.objects.pop((kind, name)))

    async def _tell(self, what: str, kind: str, found: dict[str, Any]) -> None:
        async with self.news:
            self.events.append((self.version, what, kind, found))
            self.news.notify_all()

    def forget(self) -> None:
        """Forget the changes so far. A watch that asks for them gets 410."""
        self.oldest = self.version + 1
        self.events.clear()

    async def put_back(self, version: int, kind: str, names: str) -> None:
        """Put the server back to how it was at a version, when there were these objects: it counts from there again."""
        self.version, self.oldest = version, 0
        self.events.clear()
        for of, name in [*self.objects]:
            if of == kind and name not in names:
                del self.objects[of, name]
        self.pull()

    async def bookmark(self, kind: str) -> None:
        """Tell every watch the present version without any change."""
        self.version += 1
        await self._tell("BOOKMARK", kind, {"metadata": {"resourceVersion": str(self.version)}})

    def pull(self) -> None:
        """Break off every watch."""
        for task in list(self.open):
            task.cancel()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return web.json_response({"kind": "Status", "message": "who are you?"}, status=401)
        if self.down:
            self.down -= 1
            return web.json_response({}, status=503)
        if (version := request.path.removeprefix("/apis/")) in self.more:
            return web.json_response({"resources": self.more[version]})
        path = self._plain(request.path)
        if path is None:
            return web.json_response({"kind": "Status", "message": "no such page"}, status=404)
        if path == "/api/v1":
            return web.json_response({"resources": CORE})
        if path == "/apis":
            apps = f"apps/{self.served['apps']}"
            versions = ["metrics.k8s.io/v1beta1", apps, "argoproj.io/v1alpha1", "fleet.cattle.io/v1alpha1"]
            return web.json_response({"groups": [
                {"preferredVersion": {"groupVersion": one}, "versions": [
                    {"groupVersion": each} for each in (one, *self.more) if each.split("/")[0] == one.split("/")[0]
                ]}
                for one in versions
            ]})  # fmt: skip
        if path.count("/") == 3 and (status := self.groups.get(path.split("/")[2])):
            return web.json_response({"message": "its server is away"}, status=status)
        if path == "/apis/apps/v1":
            return web.json_response({"resources": APPS})
        if path == "/apis/argoproj.io/v1alpha1":
            return web.json_response({"resources": ARGO})
        if path == "/apis/fleet.cattle.io/v1alpha1":
            return web.json_response({"resources": FLEET})
        if path.startswith("/api/v1/namespaces/") and path.count("/") == 4:
            named = {"name": path.rpartition("/")[2], "uid": self.uid}
            return web.json_response({"metadata": named} if self.uid else {}, status=200 if self.uid else 403)
        if path not in PATHS:
            return self._one(path)
        if (status := self.refused.get(PATHS[path], 0)) > 0:
            return web.json_response({"kind": "Status", "message": f"refused with {status}"}, status=status)
        if PATHS[path] in self.denied:
            return web.json_response({"kind": "Status", "reason": "Forbidden", "message": "not yours"}, status=403)
        return await (self._watch if "watch" in request.query else self._list)(request, PATHS[path])

    def _plain(self, path: str) -> str | None:
        """A path as in `PATHS`; None of a version that is not served."""
        for group, version in self.served.items():
            if path.startswith(f"/apis/{group}/"):
                if path.split("/")[3] != version:
                    return None
                return path.replace(f"/{group}/{version}", f"/{group}/v1", 1)
        return path

    def _one(self, path: str) -> web.StreamResponse:
        """The answer to a request for one object."""
        above, _, name = path.rpartition("/")
        kind = PATHS.get(re.sub("/namespaces/[^/]+", "", above))
        if kind is None:
            return web.json_response({"message": "no such page"}, status=404)
        if (kind, name) in self.hidden:
            return web.json_response({"kind": "Status", "reason": "Forbidden", "message": "not yours"}, status=403)
        found = self.objects.get((kind, name))
        missing = {"kind": "Status", "reason": "NotFound", "message": f"{name} not found"}
        return web.json_response(found or missing, status=200 if found else 404)

    async def _list(self, request: web.Request, kind: str) -> web.StreamResponse:
        found = [one for key, one in sorted(self.objects.items()) if key[0] == kind and key not in self.hidden]
        start, limit = int(request.query.get("continue") or 0), 2
        if self.instead:
            return web.json_response(self.instead.pop())
        if start and self.expired:
            self.expired -= 1
            return web.json_response({"kind": "Status", "reason": "Expired", "metadata": {"continue": "2"}}, status=410)
        more = {"continue": str(start + limit)} if start + limit < len(found) else {}
        return web.json_response(
            {
                "kind": f"{kind}List",
                "items": found[start : start + limit],
                "metadata": {"resourceVersion": str(self.version), **more},
            }
        )

    async def _watch(self, request: web.Request, kind: str) -> web.StreamResponse:
        after = int(request.query["resourceVersion"])
        response = web.StreamResponse()
        await response.prepare(request)
        if after < self.oldest - 1:
            await response.write(
                json.dumps({"type": "ERROR", "object": {"code": 410, "message": "too old"}}).encode() + b"\n"
            )
            return response
        if self.ends_at_once:
            return response
        task = asyncio.current_task()
        assert task is not None
        self.open.add(task)
        try:
            while True:
                for version, what, of, found in [one for one in self.events if one[0] > after]:
                    after = version
                    if of == kind:
                        line = (
                            json.dumps(
                                {
                                    "type": what,
                                    "object": {
                                        **found,
                                        "apiVersion": VERSIONS.get(kind, "argoproj.io/v1alpha1"),
                                        "kind": kind,
                                    },
                                }
                            ).encode()
                            + b"\n"
                        )
                        await response.write(line[:7])
                        await response.write(line[7:])
                async with self.news:
                    if not any(one[0] > after for one in self.events):
                        await self.news.wait()
        finally:
            self.open.discard(task)


@asynccontextmanager
async def serving(tmp_path: Path) -> AsyncIterator[tuple[Kube, Path]]:
    """The server, and a kubeconfig for it."""
    kube = Kube()
    app = web.Application()
    app.router.add_route("GET", "/{path:.*}", kube.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": "here", "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": f"http://127.0.0.1:{port}"}}], "users": [{"name": "me", "user": {"token": kube.token}}],
    }))  # fmt: skip
    try:
        yield kube, path
    finally:
        kube.pull()
        await runner.cleanup()
