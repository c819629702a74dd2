"""Fleet's objects from a file to every answer: `observe`; `list`, `tree`, `why`, `counts`, and the page's states."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import fleet_objects as fleet
from tests.support.command import Shell
from tests.support.conformance import FOLDER
from tests.support.fleet_objects import Resource, bundle_deployment, condition, status_of
from tests.support.http_server import http_server
from tests.support.installation import Settings, Wire, inspect, until_decided
from tests.support.own_installation import Client

NO_CHART = "no chart version found"
KUBE = "chart requires kubeVersion: < 1.25.0; this is 1.26"


def there(bundle: str = "web", repo: str = "infra", **spec: Any) -> dict[str, Any]:
    found = bundle_deployment(status_of([Resource("a"), Resource("b")], "v1"), bundle=bundle, repo=repo)
    return {**found, "spec": {**found["spec"], **spec}}


OBJECTS = [
    fleet.git_repo(commit="c1", gitJobStatus="Current", conditions=[condition("Ready", "True")]),
    fleet.bundle(), there(),
    fleet.bundle("longhorn", conditions=[condition("Ready", "True"), condition("Processed", "False", KUBE)]),
    fleet.git_repo("held", commit="c1"), fleet.bundle("held-web", "held"),
    there("held-web", "held", stagedDeploymentID="v2", paused=True),
    {
        "apiVersion": fleet.API, "kind": "HelmOp", "metadata": {"name": "broken", "namespace": "fleet-default"},
        "spec": {"helm": {"chart": "x", "repo": "https://charts.example"}},
        "status": {"conditions": [condition("Ready", "True"), condition("Accepted", "False", NO_CHART)]},
    },
    {"apiVersion": fleet.API, "kind": "ClusterGroup", "metadata": {"name": "all", "namespace": "fleet-default"}},
]  # fmt: skip


async def observed(shell: Shell, path: Path, wire: Wire, settings: Settings, objects: object) -> str:
    path.write_text(json.dumps(objects))
    answer = await shell("observe", "--file", str(path))
    assert answer.code == 0, answer.err
    await until_decided(wire, await inspect(wire, settings))
    return answer.err


async def test_what_fleet_says_is_told_everywhere(
    shell: Shell, client: Client, working: Settings, wire: Wire, tmp_path: Path
) -> None:
    objects = {"apiVersion": "v1", "kind": "List", "items": OBJECTS}
    left_out = await observed(shell, tmp_path / "objects.json", wire, working, objects)
    assert "of Fleet's objects only GitRepo, HelmOp" in left_out
    listed = (await shell("list", "git_repo", "--json")).lines
    found = {one["id"]: one["facets"]["state"]["state"] for one in listed}
    assert found == {"infra": "NotReady", "held": "OutOfSync", "broken": "NotReady"}
    assert (await shell("counts", "infra")).out.splitlines() == [
        "git_repo infra  NotReady [Error]", "  deployments  1/2 ready, 1 pending", "  resources    2/2 ready",
        f"  infra/longhorn NotReady [Error] ({KUBE})",
    ]  # fmt: skip
    assert (await shell("counts", "broken")).out.splitlines()[-1] == (
        "  broken NotReady [Error] (no chart version found)"
    )
    on = "held/held-web/fleet-default+c1"
    assert (await shell("counts", "held")).out.splitlines()[-1] == f"  {on} OutOfSync [Paused] (it is paused)"
    assert "OutOfSync (paused) (it is paused)" in (await shell("tree", "held")).out
    why = (await shell("why", "git_repo", "infra")).out
    assert "infra/longhorn  NotReady [Error]" in why
    assert f"because: {KUBE}" in why
    async with http_server(working) as api:
        [shown] = [one for one in (await api.get("/v1/entities", kind="git_repo"))["items"] if one["id"] == "infra"]
        assert shown["facets"]["state"]["state"] == "NotReady"


CASES = [*FOLDER.glob("public/gitops/fleet-*/objects.json")]


@pytest.mark.parametrize("path", [pytest.param(one, id=one.parent.name) for one in CASES])
async def test_the_cases_of_public_reports(
    path: Path, shell: Shell, client: Client, working: Settings, wire: Wire, tmp_path: Path
) -> None:
    await observed(shell, tmp_path / "objects.json", wire, working, json.loads(path.read_text()))
    repos = [one["id"] for one in (await shell("list", "git_repo", "--json")).lines]
    told = "\n".join([(await shell(verb, one)).out for one in repos for verb in ("counts", "tree")])
    for word in EXPECTED[path.parent.name]:
        assert word in told
    assert "Malformed" not in told
    assert not [one for one in repos if (await client.fleet.counts(one))["state"] == "Ready"]


EXPECTED = {
    "fleet-no-deployment": (
        "git_repo r5  NotReady [Error]",
        "r5/longhorn NotReady [Error] (chart requires kubeVersion",
    ),
    "fleet-helmop": ("broken NotReady [GitError, Error] (no chart", "check HelmOp status for more details: invalid"),
    "fleet-paused": ("OutOfSync [Paused] (it is paused)",),
    "fleet-offline-stale": ("git_repo re  WaitCheckIn",),
}
