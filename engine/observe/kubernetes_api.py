"""Asking a Kubernetes API server, and what it means when there is no answer (extra: `kubernetes`).

Belongs here: the connection, requests, refusals. Does not: which objects are asked for (`discovery`, `cluster`).
"""

import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from phaseline.engine.errors import ClusterUnusable
from phaseline.schemas import libraries

with libraries.needed("kubernetes_asyncio", "observe --cluster"):
    from kubernetes_asyncio import client, config

import aiohttp

GONE, TOO_MANY = 410, 429
AWAY = (aiohttp.ClientError, TimeoutError, OSError, ValueError)
"""What is raised while the server cannot be had, or has trouble of its own: trying again may help."""


class Forgotten(Exception):
    """The server knows no more what happened since then: everything must be listed anew."""


@asynccontextmanager
async def connected(kubeconfig: Path | None, context: str | None) -> AsyncIterator[Any]:
    """A client of the cluster that the kubeconfig names; of the one that this process runs in where there is none."""
    settings = client.Configuration()
    try:
        if kubeconfig is None and "KUBERNETES_SERVICE_HOST" in os.environ:
            config.load_incluster_config(client_configuration=settings)  # type: ignore[no-untyped-call]  # it has no types
        else:
            file = None if kubeconfig is None else str(kubeconfig)
            await config.load_kube_config(config_file=file, context=context, client_configuration=settings)
    # An empty or odd file makes the loader fail in its own ways.
    except (config.ConfigException, TypeError, AttributeError, KeyError, OSError, ValueError) as error:
        raise ClusterUnusable(problem=f"the kubeconfig cannot be used: {error}") from error
    async with client.ApiClient(settings) as api:
        yield api


async def get(api: Any, path: str, query: Sequence[tuple[str, str]] = ()) -> Mapping[str, Any]:
    """The answer to one request, a mapping; raises as `asked` does."""
    async with asked(api, path, query, 60) as response:
        found = json.loads(await response.read())
    return found if isinstance(found, Mapping) else {}


@asynccontextmanager
async def asked(api: Any, path: str, query: Sequence[tuple[str, str]], seconds: float) -> AsyncIterator[Any]:
    """A response that is one, still to be read, silent for `seconds` at most; raises `AWAY`, `Forgotten`, `ClusterUnusable`."""
    response = await api.call_api(
        path, "GET", query_params=list(query), header_params={"Accept": "application/json"}, auth_settings=["BearerToken"],
        _preload_content=False, _request_timeout=aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=seconds),
    )  # fmt: skip
    async with response:
        await _checked(response, path)
        yield response


async def _checked(response: Any, path: str) -> None:
    """Raise for what is no answer: `Forgotten`, what may pass, or `ClusterUnusable`."""
    if response.status == GONE:
        raise Forgotten
    if response.status >= 500 or response.status == TOO_MANY:  # the server's own trouble
        raise ValueError(f"{path}: {response.status} {response.reason}")
    if response.status != 200:  # OK
        text = (await response.text())[:400]
        raise ClusterUnusable(problem=f"{path}: {response.status} {response.reason}: {text}")
