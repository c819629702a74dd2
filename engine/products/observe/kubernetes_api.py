"""Sends requests to a Kubernetes API server and sorts its errors (needs `phaseline[kubernetes]`).

Belongs here: the connection, requests, error responses. Does not: which objects to request (`discovery`, `cluster`),
how answers are bounded and masked (`engine.outgoing`).
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from phaseline.engine import outgoing
from phaseline.schemas import bounds, codec, libraries
from phaseline.schemas.errors import SetupError

with libraries.needed("kubernetes_asyncio", "observe --cluster"):
    from kubernetes_asyncio import client, config

import aiohttp

OK, UNAUTHORIZED, NOT_FOUND, GONE, TOO_MANY = 200, 401, 404, 410, 429
ACCEPTED = {"Accept": "application/json", "Accept-Encoding": "gzip"}
ANSWER = 64 << 20
"""The most bytes of one answer, unpacked: a page of a list, one object."""
TOTAL = 300.0
"""The most seconds of one answer; within them the server may be silent for `SILENT`."""
SILENT = 60.0
_FAILURES = (aiohttp.ClientError, TimeoutError, OSError, ValueError)


class Unavailable(Exception):
    """A further try may help: the server is away, or has trouble of its own. Its text may be shown (`said`)."""


class AnswerTooLarge(Unavailable):
    """The server answered with more than we take. A page with fewer objects may be taken."""


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
        problem = f"the kubeconfig cannot be used: {outgoing.problem(error)}"
        raise SetupError.cluster_unusable(problem=problem, answered=None) from None
    async with client.ApiClient(settings) as api:
        _unpack_ourselves(api)
        yield api


def _unpack_ourselves(api: Any) -> None:
    """Let answers come as they are sent: aiohttp would unpack them without a bound."""
    session = api.rest_client.pool_manager
    api.rest_client.pool_manager = aiohttp.ClientSession(
        connector=session.connector, trust_env=True, auto_decompress=False
    )
    session.detach()


def said(api: Any, text: object) -> str:
    """A text of the server for a message or a log: one bounded line, in which what we sent as secrets is masked."""
    settings = api.configuration
    words = [*settings.api_key.values(), settings.password or "", settings.get_basic_auth_token() or ""]
    words += (settings.proxy_headers or {}).values()
    return outgoing.said(text, [part for word in words for part in str(word).split()[-1:]])


@contextmanager
def _failures(api: Any) -> Iterator[None]:
    """Whatever goes wrong with a request is `Unavailable`, with a text that may be shown."""
    try:
        yield
    except outgoing.TooLarge as error:
        raise AnswerTooLarge(said(api, error)) from None
    except _FAILURES as error:
        raise Unavailable(said(api, str(error) or type(error).__name__)) from None


async def get(api: Any, path: str, query: Sequence[tuple[str, str]] = ()) -> Mapping[str, Any]:
    """The mapping in the answer to one request. Raises what `request` raises."""
    with _failures(api):
        async with asyncio.timeout(TOTAL), request(api, path, query, SILENT) as response:
            return await _mapping(response)


async def _mapping(response: Any) -> Mapping[str, Any]:
    found = codec.decode_text(b"".join([one async for one in pieces(response, ANSWER)]), bounds.FOREIGN)
    return found if isinstance(found, Mapping) else {}


async def pieces(response: Any, most: int | None) -> AsyncIterator[bytes]:
    """The body of an answer, unpacked. most: how many bytes it may have; None for a stream. Raises `TooLarge`."""
    unpacking = outgoing.Unpacking(response.headers.get("Content-Encoding") or "", most)
    async for piece in response.content.iter_any():
        for part in unpacking.take(piece):
            yield part


async def exchange(
    api: Any, method: str, path: str, query: Sequence[tuple[str, str]] = (), body: Any = None
) -> tuple[int, Mapping[str, Any]]:
    """The status and the mapping of an answer, whatever the status. body: is applied on the server's side.

    Raises `Unavailable`.
    """
    headers = {**ACCEPTED}
    if body is not None:
        headers["Content-Type"] = "application/apply-patch+yaml"
    with _failures(api):
        response = await api.call_api(
            path, method, query_params=list(query), header_params=headers, auth_settings=["BearerToken"],
            body=body, _preload_content=False,
            _request_timeout=aiohttp.ClientTimeout(total=SILENT),
        )  # fmt: skip
        async with response:
            return response.status, await _mapping(response)


@asynccontextmanager
async def request(api: Any, path: str, query: Sequence[tuple[str, str]], seconds: float) -> AsyncIterator[Any]:
    """A successful response, whose body is still to be read, by `pieces`.

    seconds: the longest silence of the server. Raises `Unavailable`, `VersionExpired`, `SetupError.cluster_unusable`.
    """
    with _failures(api):
        response = await api.call_api(
            path, "GET", query_params=list(query), header_params={**ACCEPTED}, auth_settings=["BearerToken"],
            _preload_content=False,
            _request_timeout=aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=seconds),
        )  # fmt: skip
        async with response:
            await _checked(api, response, path)
            yield response


async def _checked(api: Any, response: Any, path: str) -> None:
    """Raise for an error response: `VersionExpired`, `SetupError`, or `Unavailable` if it is temporary."""
    if response.status == GONE:
        raise VersionExpired
    status = f"{path}: {response.status} {said(api, response.reason)}"
    if response.status >= 500 or response.status == TOO_MANY:  # the server's own trouble
        raise Unavailable(status)
    if response.status != OK:
        problem = f"{status}: {said(api, await _excerpt(response))}"
        raise SetupError.cluster_unusable(problem=problem, answered=response.status)


async def _excerpt(response: Any) -> str:
    """The beginning of the body of an error, as text. Nobody waits long for it."""
    found = bytearray()
    with suppress(*_FAILURES):
        async with asyncio.timeout(10):
            async for piece in pieces(response, outgoing.EXCERPT):
                found += piece
    return found.decode(errors="replace")
