"""Three real servers with three replicas: the log stays right while servers are killed, and readers are told."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.http_server import Api, http_server
from tests.support.installation import Settings, Wire, at_work, until_decided
from tests.support.killable_worker import workers
from tests.support.log_check import assert_log_is_the_fold
from tests.support.nats_cluster import cluster, provisioned, until_whole
from tests.support.own_installation import Client
from tests.support.random_events import RandomEvents, publish


@pytest.mark.slow
async def test_three_replicas_lose_a_server_at_a_time(tmp_path: Path) -> None:
    async with cluster(tmp_path) as members:
        urls = tuple(member.url for member in members)
        settings = Settings(nats=urls, partitions=3, replicas=3, lease=2.0)
        async with Wire.open(settings, patient=True) as wire:
            layout = await provisioned(wire, settings)
            fleet = RandomEvents(settings.prefix)
            async with workers(settings, 2):
                await publish(wire, list(fleet.built(6, 6)))
                for member in members:
                    member.kill()
                    await publish(wire, list(fleet.life(200, 6, 6)))
                    member.start()
                    await publish(wire, list(fleet.life(200, 6, 6)))
                    await until_whole(wire, layout)
                await until_decided(wire, layout)
            await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


@pytest.mark.slow
async def test_one_server_of_three_cannot_be_read(tmp_path: Path) -> None:
    """Without a majority no stream has a leader; the connection to the server that is left stands."""
    async with cluster(tmp_path) as members:
        settings = Settings(nats=tuple(member.url for member in members), replicas=3)
        async with Wire.open(settings, patient=True) as wire:
            await until_whole(wire, await provisioned(wire, settings))
            async with at_work(settings, wire), Client.open(settings) as client:
                await client.publish_and_wait("cluster", "create", "c1")
        async with (
            asyncio.timeout(120),
            http_server(replace(settings, nats=(members[0].url,))) as api,
            api.http.stream("GET", "/v1/transitions?from=now") as answer,
        ):
            said = (line async for line in answer.aiter_lines() if line.startswith('data: {"away"'))
            for member in members[1:]:
                member.kill()
            assert "NATS is away" in await anext(said)
            # The server may go on answering for a while after it has noticed.
            assert await _status_other_than(200, api, "/v1/history/cluster/c1") == 503
            await api.get("/v1/entities")
            for member in members[1:]:
                member.start()
            assert await anext(said) == 'data: {"away":null}'
            assert await _status_other_than(503, api, "/v1/history/cluster/c1") == 200


async def _status_other_than(status: int, api: Api, path: str) -> int:
    while (found := (await api.http.get(path)).status_code) == status:
        await asyncio.sleep(0.5)
    return found
