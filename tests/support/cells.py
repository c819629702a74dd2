"""Two installations on one server, read as cells of one.

Belongs here: making them. Does not: commands and servers that read them.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import working

CLUSTERS = (("east", "c1"), ("east", "c10"), ("west", "c2"), ("west", "c1"))
"""The clusters of each cell, in the order in which they became known."""


@asynccontextmanager
async def two_cells(settings: Settings) -> AsyncIterator[dict[str, Settings]]:
    """The cells `east` and `west`, each with a worker and two clusters; both have c1."""
    found = {name: replace(settings, prefix=f"{settings.prefix}-{name}") for name in ("east", "west")}
    async with (
        Wire.open(settings, name="test") as wire,
        working(found["east"], wire, BUILT_IN_KINDS, 1),
        working(found["west"], wire, BUILT_IN_KINDS, 1),
    ):
        for cell, name in CLUSTERS:
            async with Client.open(found[cell], source="/test") as client:
                await client.publish_and_wait("cluster", "adopt", name, {"phase": "Running"})
        yield found
