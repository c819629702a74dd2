"""The health check of the image, asked of a server that lives and where nothing listens."""

import asyncio
import runpy
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.closed_port import ADDRESS
from tests.support.http_server import http_server
from tests.support.installation import Settings

HEALTH = Path(__file__).parents[2] / "deploy" / "image" / "health.py"


async def test_it_tells_who_lives(working: Settings) -> None:
    answers = runpy.run_path(str(HEALTH))["answers"]
    async with http_server(working) as served:
        assert await asyncio.to_thread(answers, urlsplit(served.url).port)
    assert not await asyncio.to_thread(answers, int(ADDRESS.rpartition(":")[2]))
