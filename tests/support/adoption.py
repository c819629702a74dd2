"""Publishes `adopt` events, so that a test can start with entities in any phase."""

from collections.abc import Iterable

from phaseline.engine.surfaces.client.client import Client

CAUSES = {
    ("node", "Failed"): {"conditions": ["NotReady"]},
    ("component", "Failed"): {"conditions": ["Degraded"]},
}


async def adopt(client: Client, fleet: Iterable[tuple[str, str, str]]) -> None:
    await client.publish_many(
        {
            "specversion": "1.0", "id": f"{kind}/{name}", "source": "/x", "type": f"{kind}.adopt",
            "subject": f"{kind}/{name}", "data": {"phase": phase, **CAUSES.get((kind, phase), {})},
        }
        for kind, name, phase in fleet
    )  # fmt: skip
    kind, name, _ = list(fleet)[-1]
    async with client.watch(kind, tree=name, start="start") as watch:
        async for _ in watch:
            break
