"""Kubernetes objects and Git in the Python client.

Belongs here: `Gitops`. Does not: reading and assessing (`last_observation`).
"""

from phaseline.engine.client.client import Client
from phaseline.engine.client.entity_view import states_of
from phaseline.engine.products.gitops import last_observation
from phaseline.engine.products.gitops.last_observation import ObjectDiff


class Gitops:
    """Kubernetes objects and Git: `client.gitops`. The server keeps the last observation only, so no view has it."""

    def __init__(self, client: Client) -> None:
        """Read by this client."""
        self._client = client

    async def diff(self, resource_id: str) -> ObjectDiff:
        """The last observation of a Kubernetes object, assessed by the settings that its application has now.

        Raises `NotFound.not_observed`, `InvalidInput.invalid_id`.
        """
        return await last_observation.object_diff(states_of(await self._client.at()).installation, resource_id)
