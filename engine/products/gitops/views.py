"""Kubernetes objects and Git in the Python client.

Belongs here: `Gitops`. Does not: reading and assessing (`last_observation`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.products.gitops import last_observation
from phaseline.engine.products.gitops.last_observation import ObjectDiff
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.entity_view import states_of
from phaseline.machines.kinds.kubernetes.masking import shown
from phaseline.schemas.errors import InvalidInput


class Gitops:
    """Kubernetes objects and Git: `client.gitops`. The server keeps the last observation only, so no view has it."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def diff(self, resource_id: str) -> ObjectDiff:
        """The last observation of a Kubernetes object, assessed by the settings that its application has now.

        Raises `NotFound.not_observed`, `InvalidInput.invalid_id`.
        """
        return await last_observation.object_diff(states_of(await self._client.at()).installation, resource_id)

    async def manifest(self, kind: str, object_id: str) -> Mapping[str, Any] | None:
        """The manifest of a Kubernetes object as it was observed last; None if it was not there.

        kind: `resource` or `owned_object`. Values of Secrets are masked, and so are those of a Secret that stands
        inside another object. Raises as `diff` does, and `InvalidInput.no_manifest` for other kinds.
        """
        if kind not in last_observation.KINDS:
            raise InvalidInput.no_manifest(kind=kind, kinds=" or ".join(last_observation.KINDS))
        view = states_of(await self._client.at())
        return shown((await last_observation.last(view.installation, object_id, kind)).live)
