"""Sends requests to a Kubernetes API server and sorts its errors (needs the extra `kubernetes`).

Belongs here: the connection, requests, error responses. Does not: which objects to request (`discovery`, `cluster`).
"""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from phaseline.schemas import bounds, codec, libraries
from phaseline.schemas.errors import SetupError

with libraries.needed("kubernetes_asyncio", "observe --cluster"):
    from kubernetes_asyncio import client, config

import aiohttp

OK, NOT_FOUND, GONE, TOO_MANY = 200, 404, 410, 429
UNAVAILABLE = (aiohttp.ClientError, TimeoutError, OSError, ValueError)
"""The exceptions after which a further try may help: the server is away, or has trouble of its own."""


class VersionExpired(Exception):
    """The server no longer has the changes since a version: list everything again."""


@asynccontextmanager
async def connected(kubeconfig: Path | None, context: str | None) -> AsyncIterator[Any]:
    """A client of the cluster in the kubeconfig; without a kubeconfig, of the cluster in which this process runs."""
    settings = client.Configuration()
    try:
        if kubeconfig is None and "KUBERNETES_SERVICE_HOST" in os.environ:
            config.load_incluster_config(client_configuration=settings)  # type: ignore[no-untyped-call]  # no types
        else:
            file = None if kubeconfig is None else str(kubeconfig)
            await config.load_kube_config(config_file=file, context=context, client_configuration=settings)
    # An empty or malformed file makes the loader raise any of these.
    except (config.ConfigException, TypeError, AttributeError, KeyError, OSError, ValueError) as error:
        raise SetupError.cluster_unusable(problem=f"the kubeconfig cannot be used: {error}") from error
    async with client.ApiClient(settings) as api:
        yield api


async def get(api: Any, path: str, query: Sequence[tuple[str, str]] = ()) -> Mapping[str, Any]:
    """The mapping in the answer to one request. Raises what `request` raises."""
    async with request(api, path, query, 60) as response:
        found = codec.decode_text(await response.read(), bounds.FOREIGN)
    return found if isinstance(found, Mapping) else {}


async def exchange(
    api: Any, method: str, path: str, query: Sequence[tuple[str, str]] = (), body: Any = None
) -> tuple[int, Mapping[str, Any]]:
    """The status and the mapping of an answer, whatever the status. body: is applied on the server's side.

    Raises `UNAVAILABLE`.
    """
    headers = {"Accept": "application/json"}
    if body is not None:
        headers["Content-Type"] = "application/apply-patch+yaml"
    response = await api.call_api(
        path, method, query_params=list(query), header_params=headers, auth_settings=["BearerToken"],
        body=body, _preload_content=False,
        _request_timeout=aiohttp.ClientTimeout(total=60),
    )  # fmt: skip
    async with response:
        found = codec.decode_text(await response.read(), bounds.FOREIGN)
    return response.status, found if isinstance(found, Mapping) else {}


@asynccontextmanager
async def request(api: Any, path: str, query: Sequence[tuple[str, str]], seconds: float) -> AsyncIterator[Any]:
    """A successful response, whose body is still to be read.

    seconds: the longest silence of the server. Raises `UNAVAILABLE`, `VersionExpired`, `SetupError.cluster_unusable`.
    """
    response = await api.call_api(
        path, "GET", query_params=list(query), header_params={"Accept": "application/json"},
        auth_settings=["BearerToken"], _preload_content=False,
        _request_timeout=aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=seconds),
    )  # fmt: skip
    async with response:
        await _checked(response, path)
        yield response


async def _checked(response: Any, path: str) -> None:
    """Raise for an error response: `VersionExpired`, `SetupError`, or `ValueError` if it is temporary."""
    if response.status == GONE:
        raise VersionExpired
    if response.status >= 500 or response.status == TOO_MANY:  # the server's own trouble
        raise ValueError(f"{path}: {response.status} {response.reason}")
    if response.status != OK:
        text = (await response.text())[:400]
        raise SetupError.cluster_unusable(problem=f"{path}: {response.status} {response.reason}: {text}")
