"""Programs of other makers on `phaseline serve`: the CloudEvents SDKs, and tools that judge an API by its description.

`python3 dev.py foreign` installs them; without them these tests are skipped.
"""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.foreign_programs import FOREIGN, INSTALLED, run
from tests.support.http_server import Api, http_server
from tests.support.installation import Settings
from tests.support.own_installation import Client


@pytest_asyncio.fixture
async def api(client: Client, working: Settings) -> AsyncIterator[Api]:
    """A server of an installation without entities."""
    async with http_server(working) as served:
        yield served


@pytest.mark.parametrize("sdk", ["http.mjs", "http_sdk.py"])
async def test_the_cloudevents_sdks(request: pytest.FixtureRequest, api: Api, sdk: str) -> None:
    is_node = sdk.endswith(".mjs")
    program = request.getfixturevalue("node" if is_node else "python")
    said = await run(program, (INSTALLED if is_node else FOREIGN) / sdk, api.url)
    found = {one["data"]["id"]: one for one in json.loads(said)}
    assert set(found) == {"binary", "structured"}
    for cluster, record in found.items():
        assert record["type"] == "cluster.transitioned"
        assert record["data"]["message"] == f"adopted by {cluster} \u8d26"
        assert record["data"]["cause"]["extensions"] == {"traceparent": f"00-{cluster}"}


async def test_the_server_keeps_what_its_description_says(python: str, api: Api, client: Client) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    found = json.loads(await run(python, FOREIGN / "openapi_checks.py", api.url))
    assert found["problems"] == []
    assert found["asked"] > 100
