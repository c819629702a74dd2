"""`phaseline serve` on a server with accounts: what a gateway can do as a reader, and as an operator.

Belongs here: the two users that deploy/helm and docs/deploy.md speak of. Does not: what the API answers otherwise.
"""

import asyncio

import pytest

from tests.support.accounts_server import accounts_installation
from tests.support.http_server import http_server
from tests.support.installation import LIMIT
from tests.support.own_installation import Client

EVENT = {"specversion": "1.0", "id": "e1", "source": "/test", "type": "cluster.adopt", "subject": "cluster/c2"}


@pytest.mark.parametrize(("user", "stored"), [("reader", False), ("operator", True)])
async def test_a_gateway_reads_and_follows_and_publishes_only_as_operator(user: str, *, stored: bool) -> None:
    async with (
        accounts_installation() as server,
        Client.open(server.settings("tree-c1"), source="/agent/c1") as agent,
        http_server(server.settings(user)) as api,
    ):
        assert (await api.get("/readyz"))["status"] == "ok"
        await agent.publish("cluster", "adopt", "c1", {"phase": "Running"})
        while "c1" not in [one["id"] for one in (await api.get("/v1/entities"))["items"]]:
            pass
        history = await api.get("/v1/history/cluster/c1")
        assert [one["data"]["to"]["state"] for one in history["items"]] == ["Running"]
        sent = await api.http.post(
            "/v1/events", json={**EVENT, "data": {"phase": "Running"}},
            headers={"content-type": "application/cloudevents+json", "prefer": "wait=30"},
        )  # fmt: skip
        assert sent.status_code == (200 if stored else 403), sent.text


@pytest.mark.parametrize(("user", "without"), [("reader", "some"), ("operator", "none")])
async def test_a_gateway_says_that_events_wait_as_far_as_its_user_sees(user: str, without: str) -> None:
    async with (
        accounts_installation() as server,
        Client.open(server.settings("tree-c1"), source="/agent/c1") as agent,
        http_server(server.settings(user)) as api,
    ):
        for wanted in ("all", without):
            async with asyncio.timeout(LIMIT):
                while (await api.get("/v1/overview"))["deciding"] != wanted:
                    await asyncio.sleep(0.1)
            await server.stop_worker()
            await agent.publish("cluster", "adopt", "c1", {"phase": "Running"})
