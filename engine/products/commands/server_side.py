"""The API server's own answer to what would follow if desired objects were applied (needs `phaseline[kubernetes]`).

Belongs here: reading live objects, dry-run applies. Does not: the comparison of the answers
(`kinds.kubernetes.diff`), the connection (`observe.kubernetes_api`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from phaseline.engine.products.observe import discovery
from phaseline.engine.products.observe.discovery import Resource
from phaseline.engine.products.observe.kubernetes_api import Unavailable, exchange, said
from phaseline.machines.kinds.kubernetes.manifest_id import Manifest
from phaseline.machines.kinds.kubernetes.masking import is_secret
from phaseline.machines.kinds.kubernetes.pairs import key_of
from phaseline.schemas.errors import SetupError

OK, NOT_FOUND = 200, 404


class ServerAnswer(NamedTuple):
    """What the API server says of one desired object.

    live: the object in the cluster, None if it is not there. applied: the answer to a dry-run apply, None if there is
    none. problem: why there is none.
    """

    live: Manifest | None = None
    applied: Manifest | None = None
    problem: str = ""


async def ask(api: Any, desired: Sequence[Manifest], namespace: str, manager: str) -> list[ServerAnswer]:
    """An answer for each object. Nothing is changed. Raises `SetupError` if the server cannot be reached.

    namespace: that of objects that name none. manager: the field manager in whose name is asked.
    """
    known: dict[tuple[str, str], Resource | str] = {}
    try:
        return [await _answer(api, one, namespace, manager, known) for one in desired]
    except Unavailable as error:
        raise SetupError.cluster_unusable(problem=f"its API server does not answer: {error}", answered=None) from error


async def _answer(
    api: Any, desired: Manifest, namespace: str, manager: str, known: dict[tuple[str, str], Resource | str]
) -> ServerAnswer:
    version, kind = str(desired.get("apiVersion")), str(desired.get("kind"))
    if (version, kind) not in known:
        known[version, kind] = await _resource(api, version, kind)
    resource, key = known[version, kind], key_of(desired)
    if isinstance(resource, str):
        return ServerAnswer(problem=resource)
    within = f"/namespaces/{key.namespace or namespace}" if resource.namespaced else ""
    path = f"{resource.path}{within}/{resource.plural}/{key.name}"
    status, live = await exchange(api, "GET", path)
    if status == NOT_FOUND:
        return ServerAnswer()
    if status != OK:
        return ServerAnswer(problem=_refusal(api, status, live, desired))
    query = (("dryRun", "All"), ("fieldManager", manager), ("force", "true"))
    status, applied = await exchange(api, "PATCH", path, query, {k: v for k, v in desired.items() if k != "status"})
    if status != OK:
        return ServerAnswer(live, None, _refusal(api, status, applied, desired))
    return ServerAnswer(live, applied)


async def _resource(api: Any, version: str, kind: str) -> Resource | str:
    """The resource of a kind, or why there is none."""
    try:
        return await discovery.resource_of(api, version, kind) or f"the cluster has no {kind} in {version}"
    except SetupError as error:
        return f"the cluster has no {version}" if error.details.get("answered") == NOT_FOUND else str(error)


def _refusal(api: Any, status: int, found: Manifest, desired: Manifest) -> str:
    """What the server said. Of a Secret only the status: a message may quote a value."""
    told = "" if is_secret(desired) else f": {said(api, found.get('message') or found.get('reason') or '')}"
    return f"the API server refuses it with {status}{told}"
