"""Helpers for the output of `phaseline why`: when it is complete, and which parts differ in each run."""

import re

from phaseline.engine.surfaces.client.client import Client
from phaseline.schemas.records import Entity
from tests.support.state_stream import until_answer

TIME = re.compile(r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d")


async def known(client: Client) -> None:
    """Wait until the states, which are a copy, are those of the log."""
    found = {(r.entity.kind, r.entity.id): r.entity async for r in client.watch(start="start", follow=False)}

    async def copy() -> dict[tuple[str, str], Entity]:
        return {(entity.kind, entity.id): entity async for entity in client.list(deleted=True)}

    await until_answer(copy, found)
