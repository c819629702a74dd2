"""The containers of the kustomize base as processes, asked by their probes, as a kubelet does it.

Belongs here: commands, variables, probes and the end by SIGTERM, on a NATS server with the accounts of
`phaseline admin accounts`. Does not: what Kubernetes would refuse (`tests/pure/test_deploy.py`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support import free_ports
from tests.support.command import Shell, ended
from tests.support.deploy_files import base, environment, pods
from tests.support.installation import find_binary
from tests.support.patience import LIMIT

CONTAINERS = {found["name"]: found for pod in pods(base()) for found in pod["containers"]}
GRACE = min(pod["terminationGracePeriodSeconds"] for pod in pods(base()))
CONFIGURATION = "listen: {listen}\njetstream {{ store_dir: {folder}/data }}\ninclude accounts.conf\n"
Places = dict[str, str]


@asynccontextmanager
async def nats(at: Places, folder: Path) -> AsyncIterator[None]:
    """The server, as docs/security.md says."""
    path = folder / "nats.conf"
    path.write_text(CONFIGURATION.format(listen=at["nats"], folder=folder))
    with (folder / "nats.log").open("wb") as log:
        started = await asyncio.create_subprocess_exec(find_binary(), "-c", path, stdout=log, stderr=log)
    async with ended(started):
        yield


async def start(name: str, at: Places, folder: Path) -> asyncio.subprocess.Process:
    """A container as a process: its files are in the folder, its ports are free ones."""
    container = CONTAINERS[name]
    variables = environment(container) | {"PHASELINE_NATS": f"nats://{at['nats']}", "PHASELINE_REPLICAS": "1"}
    for mount in container["volumeMounts"]:
        place = folder / ("keys" if mount["name"] == "user" else ".")
        variables = {key: value.replace(mount["mountPath"], str(place)) for key, value in variables.items()}
    words = list(container["args"])
    for port in container["ports"]:
        words = [word.replace(f"0.0.0.0:{port['containerPort']}", at[f"{name} {port['name']}"]) for word in words]
    return await Shell(**variables).start(*words)


async def asked(name: str, probe: str, at: Places) -> int:
    """The status of the answer to a probe; 0 if nothing answers."""
    wanted: dict[str, Any] = CONTAINERS[name][probe]["httpGet"]
    address = at[f"{name} {wanted['port']}"]
    async with httpx2.AsyncClient(trust_env=False, timeout=LIMIT) as http:
        try:
            return (await http.get(f"http://{address}{wanted['path']}")).status_code
        except httpx2.TransportError:
            return 0


async def until(name: str, probe: str, at: Places, *, status: int = 200) -> None:
    async with asyncio.timeout(LIMIT):
        while await asked(name, probe, at) != status:
            await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_containers_wait_for_nats_become_ready_and_end_in_order(tmp_path: Path) -> None:
    ports = (f"{name} {port['name']}" for name, one in CONTAINERS.items() for port in one["ports"])
    at = free_ports.places(["nats", *ports])
    operator = Shell(
        PHASELINE_NATS=f"nats://{at['nats']}",
        PHASELINE_NKEY=str(tmp_path / "keys" / "operator.nk"),
        PHASELINE_INBOX_PREFIX="_INBOX_operator",
    )
    accounts = (
        "admin",
        "accounts",
        "--trees",
        "c1",
        "--keys",
        f"{tmp_path}/keys",
        "--output",
        f"{tmp_path}/accounts.conf",
    )
    assert (await operator(*accounts)).code == 0
    token = (await operator("admin", "token", "--tokens", f"{tmp_path}/tokens", "me", "read")).out.strip()
    async with AsyncExitStack() as running:
        processes = {name: await start(name, at, tmp_path) for name in CONTAINERS}
        for process in processes.values():
            await running.enter_async_context(ended(process))
        for name in CONTAINERS:
            await until(name, "livenessProbe", at)
            await until(name, "readinessProbe", at, status=503)
        await running.enter_async_context(nats(at, tmp_path))
        for name in CONTAINERS:
            await until(name, "readinessProbe", at)
        assert (await operator("publish", "cluster", "create", "c1", "--wait")).code == 0
        assert (await operator("doctor")).code == 0
        assert (await operator("log", "archive", "--before", "now", "--to", f"{tmp_path}/archive")).code == 0
        async with httpx2.AsyncClient(base_url=f"http://{at['gateway http']}", trust_env=False, timeout=LIMIT) as http:
            assert (await http.get("/v1/entities")).status_code == 401
            headers = {"authorization": f"Bearer {token}"}
            async with asyncio.timeout(LIMIT):
                while not (await http.get("/v1/entities", headers=headers)).json()["items"]:
                    pass
        for process in processes.values():
            process.terminate()
        async with asyncio.timeout(GRACE):
            assert [await process.wait() for process in processes.values()] == [0, 0]
