"""`assess --server-side`: the API server's dry run against a server that answers like it, and stores nothing."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml
from aiohttp import web
from click.testing import CliRunner, Result

from tests.support.command_line import cli
from tests.support.manifests import deployment, kubernetes_object

VERBS = ["get", "list", "watch", "patch"]
TOKEN = "the-token"


def resource(name: str, kind: str, *, namespaced: bool = True) -> dict[str, Any]:
    return {"name": name, "kind": kind, "singularName": kind.lower(), "namespaced": namespaced, "verbs": VERBS}


GROUPS = {
    "/api/v1": [resource("configmaps", "ConfigMap"), resource("secrets", "Secret")],
    "/apis/apps/v1": [resource("deployments", "Deployment")],
}


class DryRunServer:
    """Objects by path. A dry-run apply answers with the merged object, defaults and what a webhook adds."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.asked: list[tuple[str, str]] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append((request.method, request.path_qs))
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.json_response({"message": "who are you?"}, status=401)
        if request.path in GROUPS:
            return web.json_response({"resources": GROUPS[request.path]})
        if request.path not in self.objects:
            return web.json_response({"kind": "Status", "message": "not found"}, status=404)
        found = deepcopy(self.objects[request.path])
        if request.method == "GET":
            return web.json_response(found)
        assert request.method == "PATCH"
        assert request.query["dryRun"] == "All"
        assert request.headers["Content-Type"] == "application/apply-patch+yaml"
        body = yaml.safe_load(await request.read())
        if body.get("data", {}).get("a") == "refused":
            return web.json_response({"message": 'data.a: Invalid value: "refused"'}, status=422)
        made = merged(found, body)
        made["metadata"].setdefault("annotations", {})["webhook"] = "was here"
        return web.json_response(made)


def merged(found: Any, body: Any) -> Any:
    if isinstance(found, dict) and isinstance(body, dict):
        return {**found, **{name: merged(found.get(name), value) for name, value in body.items()}}
    return body


@asynccontextmanager
async def serving(tmp_path: Path) -> AsyncIterator[tuple[DryRunServer, Path]]:
    server, app = DryRunServer(), web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": f"http://127.0.0.1:{runner.addresses[0][1]}"}}],
        "users": [{"name": "me", "user": {"token": TOKEN}}],
    }))  # fmt: skip
    try:
        yield server, path
    finally:
        await runner.cleanup()


async def run(tmp_path: Path, kubeconfig: Path, *desired: Any, more: tuple[str, ...] = ()) -> Result:
    file = tmp_path / "git.yaml"
    file.write_text(yaml.safe_dump_all(desired))
    words = ["--desired", str(file), "--server-side", "--kubeconfig", str(kubeconfig), "--json", *more]
    return await asyncio.to_thread(CliRunner().invoke, cli, ["gitops", "assess", *words])


SHOP = "/apis/apps/v1/namespaces/shop/deployments/it"


async def test_the_api_servers_answer_is_taken_for_every_object(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, kubeconfig):
        server.objects[SHOP] = deployment(replicas=3, paused=True)
        server.objects["/api/v1/namespaces/shop/configmaps/it"] = kubernetes_object("v1", "ConfigMap", data={"a": "1"})
        config = kubernetes_object("v1", "ConfigMap", data={"a": "1"})
        result = await run(tmp_path, kubeconfig, deployment(replicas=4), config)
        before = deepcopy(server.objects)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(one["kind"], one["sync"]) for one in answers[:2]] == [("Deployment", "OutOfSync"), ("ConfigMap", "Synced")]
    assert [one["path"] for one in answers[0]["differences"]] == ["/spec/replicas"]
    assert server.objects == before
    assert {method for method, _ in server.asked} == {"GET", "PATCH"}
    assert any(
        "fieldManager=phaseline" in path and "dryRun=All" in path for method, path in server.asked if method == "PATCH"
    )


async def test_what_the_server_refuses_is_said_and_compared_without_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, kubeconfig):
        for plural in ("configmaps", "secrets"):
            kind = {"configmaps": "ConfigMap", "secrets": "Secret"}[plural]
            server.objects[f"/api/v1/namespaces/shop/{plural}/it"] = kubernetes_object("v1", kind, data={"a": "b"})
        desired = [kubernetes_object("v1", kind, data={"a": "refused"}) for kind in ("ConfigMap", "Secret")]
        widget = kubernetes_object("example.io/v1", "Widget", spec={"a": 1})
        lacking = deployment(metadata={"name": "lacking"})
        result = await run(tmp_path, kubeconfig, *desired, widget, lacking)
    said = result.stderr.splitlines()
    assert (
        "ConfigMap:shop/it is compared without the API server: the API server refuses it with 422: data.a: " in said[0]
    )
    assert said[1] == "Secret:shop/it is compared without the API server: the API server refuses it with 422"
    assert said[2] == "example.io/Widget:shop/it is compared without the API server: the cluster has no example.io/v1"
    answers = [json.loads(line) for line in result.stdout.splitlines()][:4]
    assert [one["sync"] for one in answers] == ["OutOfSync"] * 4
    assert answers[3]["health"]["status"] == "Missing"


async def test_a_cluster_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, kubeconfig):
        pass
    result = await run(tmp_path, kubeconfig, deployment())
    assert "its API server does not answer" in result.stderr


async def test_it_needs_desired_objects(tmp_path: Path) -> None:
    result = await asyncio.to_thread(
        CliRunner().invoke, cli, ["gitops", "assess", "--live", str(tmp_path), "--server-side"]
    )
    assert "--server-side asks about --desired" in result.output
