"""What the Python client reads of Acme's releases: `client.acme`."""

from collections.abc import AsyncIterator
from typing import Any

from acme_kinds.release import WAITING
from phaseline import Client


class Acme:
    """Acme's releases: `client.acme`. Programs with types write `Acme(client)`."""

    def __init__(self, client: Client) -> None:
        """Read by this client."""
        self._client = client

    async def readiness(self, release: str) -> dict[str, Any]:
        """Whether a release may start, as the worker says that owns it."""
        found: dict[str, Any] = await self._client.ask("release", release)
        return found

    async def waiting(self) -> AsyncIterator[str]:
        """The releases that wait for an approval."""
        async for release in self._client.list("release", state=WAITING):
            yield release.id
