"""Fixtures of the tests that need a NATS server with users."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.support.guarded_server import guarded_installation


@pytest_asyncio.fixture
async def guarded() -> AsyncIterator[str]:
    """The URL of a server with users, where a worker works."""
    async with guarded_installation() as url:
        yield url
