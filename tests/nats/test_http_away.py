"""NATS goes away while requests wait for it: they are answered within a bounded time, and streams say it and go on."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from phaseline.engine.surfaces.http.away import AWAY, Pulse, unless_away
from phaseline.schemas.errors import ApiFailed, NatsUnreachable, NoResponders
from tests.support.http_server import LIMIT, LIMITS, Api, http_server
from tests.support.installation import Settings
from tests.support.own_installation import Client
from tests.support.reading import Log
from tests.support.tcp_proxy import Proxy, proxy_to

IMPATIENT = LIMITS._replace(patience=0.2, beat=0.05, again=0.05, bookmark=0.1)


@pytest_asyncio.fixture
async def behind(client: Client, working: Settings) -> AsyncIterator[tuple[Api, Proxy]]:
    """A server of an installation with one cluster, and what is between it and NATS."""
    await client.publish_and_wait("cluster", "create", "c1")
    await client.publish_and_wait("cluster", "created", "c1")
    async with proxy_to(urlsplit(working.nats[0]).port or 0) as proxy:
        url = f"nats://127.0.0.1:{proxy.port}"
        async with http_server(replace(working, nats=(url,)), limits=IMPATIENT) as api:
            await api.place()
            async with asyncio.timeout(LIMIT):
                while api.service.history.history is None:
                    await asyncio.sleep(0.01)
            yield api, proxy


async def mend(proxy: Proxy) -> None:
    """Let everything through again."""
    proxy.change = lambda data: data
    proxy.answers.set()
    await proxy.listen()


def hang_up_once_it_reads(proxy: Proxy) -> None:
    """Hang up as soon as a consumer is made: whoever made it waits for messages then."""

    def change(data: bytes) -> bytes:
        if b'"num_pending"' in data:
            proxy.answers.clear()
            asyncio.get_running_loop().call_later(0.1, proxy.hang_up)
        return data

    proxy.change = change


LATER = ("/v1/history/cluster/c1", "/v1/transitions?from=start")


@pytest.mark.parametrize("path", LATER)
async def test_a_get_that_waits_for_nats_is_answered(behind: tuple[Api, Proxy], path: str) -> None:
    api, proxy = behind
    hang_up_once_it_reads(proxy)
    answer = await api.http.get(path, headers={"accept": "application/json"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1"), answer.text
    problem = answer.json()
    assert (problem["type"], "no connection for" in problem["detail"]) == (
        "urn:phaseline:problem:nats-unreachable",
        True,
    )
    assert (await api.get("/v1/entities"))["total"] == 1
    await mend(proxy)
    async with asyncio.timeout(LIMIT):
        while (await api.http.get(path, headers={"accept": "application/json"})).status_code != 200:
            await asyncio.sleep(0.05)


async def test_a_range_of_lines_says_that_it_is_not_whole(behind: tuple[Api, Proxy]) -> None:
    api, proxy = behind
    hang_up_once_it_reads(proxy)
    answer = await api.http.get("/v1/transitions?from=1", headers={"accept": "application/x-ndjson"})
    assert answer.status_code == 200
    [last] = map(json.loads, answer.text.splitlines())
    assert last["problem"]["type"] == "urn:phaseline:problem:nats-unreachable"


async def test_a_stream_says_it_and_goes_on(behind: tuple[Api, Proxy], client: Client) -> None:
    api, proxy = behind
    told, places = list[Any](), list[int]()
    async with asyncio.timeout(LIMIT), api.http.stream("GET", "/v1/transitions?from=start") as answer:
        lines = answer.aiter_lines()

        async def until(name: str) -> Any:
            """The data of the next event of that name."""
            event = ""
            async for line in lines:
                event = line.removeprefix("event: ") if line.startswith("event: ") else event
                if line.startswith("data: "):
                    data = json.loads(line.removeprefix("data: "))
                    if event == "batch":
                        places.extend(one["logsequence"] for one in data["records"])
                    if event == name:
                        return data
            raise AssertionError(told)

        await until("place")
        proxy.hang_up()
        said = await until("away")
        assert (said["away"], said["seconds"] >= 0) == (AWAY, True)
        await client.publish_and_wait("cluster", "overdue", "c1")
        await mend(proxy)
        assert await until("away") == {"away": None}
        while len(places) < 3:  # the log may be read again before that is noticed: what is new comes at once
            await until("batch")
    assert (len(places), places) == (3, sorted(set(places)))


async def test_a_frozen_server_is_away_although_its_connection_stands(behind: tuple[Api, Proxy]) -> None:
    """Nothing is said about it by TCP, and nats-py would notice it after several of its pings."""
    api, proxy = behind

    async def said(path: str) -> list[Any]:
        """What a stream says of NATS, until it can be read again."""
        found = list[Any]()
        async with api.http.stream("GET", path) as answer:
            async for line in answer.aiter_lines():
                if line.startswith('data: {"away"'):
                    found.append(json.loads(line.removeprefix("data: ")))
                    if found[-1]["away"] is None:
                        break
                    if len(found) == 1 and path == "/v1/transitions":
                        later.append(asyncio.create_task(said("/v1/transitions?kind=cluster")))
                        await asyncio.sleep(0.5)
                        assert api.service.pulse.wire.connected
                        proxy.answers.set()
        return found

    later = list[asyncio.Task[list[Any]]]()
    proxy.answers.clear()
    async with asyncio.timeout(LIMIT):
        first, end = await said("/v1/transitions")
        again, _ = await later[0]
    assert (first["away"], end) == (AWAY, {"away": None})
    assert again["seconds"] >= first["seconds"]  # a reader that comes later is told the same age, not a new one


async def test_a_stream_that_begins_while_nats_is_away(
    behind: tuple[Api, Proxy], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has to read the log first, says why it waits, and leaves nothing out once it can."""
    api, proxy = behind

    async def kept(*_: object) -> None:
        """What asks the log whether it goes back so far."""

    monkeypatch.setattr(Log, "check_held", kept)
    proxy.hang_up()
    async with asyncio.timeout(LIMIT):
        while api.service.is_connected:
            await asyncio.sleep(0.01)
        async with api.http.stream("GET", "/v1/transitions?from=1") as answer:
            heard = list[str]()
            async for line in answer.aiter_lines():
                heard.append(line)
                if line == "event: away" and heard.count(line) == 1:
                    await mend(proxy)
                if line == "event: place":
                    break
    assert heard.count("event: batch") == 1
    assert heard.index("event: away") < heard.index("event: batch")


async def test_what_ends_in_time_is_left_alone(behind: tuple[Api, Proxy]) -> None:
    api, proxy = behind
    pulse = api.service.pulse
    async with unless_away(pulse):
        await asyncio.sleep(0.3)
    with pytest.raises(TimeoutError, match="own"):
        async with unless_away(pulse):
            raise TimeoutError("own")
    proxy.hang_up()
    with pytest.raises(NatsUnreachable, match="no connection for"):
        async with unless_away(pulse):
            await asyncio.Event().wait()


async def test_a_log_without_a_leader_is_away_while_the_connection_stands(behind: tuple[Api, Proxy]) -> None:
    """A server without a majority answers so. `test_cluster` has a real one, which takes long to notice."""
    api, proxy = behind
    async with asyncio.timeout(LIMIT), api.http.stream("GET", "/v1/transitions?from=now") as answer:
        said = (line async for line in answer.aiter_lines() if "away" in line)
        proxy.change = lambda data: data.replace(b'"leader":"', b'"nobody":"')
        waiting = asyncio.create_task(_wait_for_ever(api.service.pulse))
        assert await anext(said) == "event: away"
        assert (await anext(said)).startswith(f'data: {{"away":"{AWAY}","seconds":')
        with pytest.raises(NoResponders, match="without a leader just now"):
            await waiting
        assert (await api.get("/readyz", verbose=1))["connected"] is False
        proxy.change = lambda data: data
        assert [await anext(said), await anext(said)] == ["event: away", 'data: {"away":null}']


async def test_a_request_that_is_refused_without_a_leader(behind: tuple[Api, Proxy]) -> None:
    pulse = behind[0].service.pulse
    for code, error, becomes in ((503, 10008, NoResponders), (404, 10059, ApiFailed)):
        with pytest.raises(becomes):
            async with unless_away(pulse):
                raise ApiFailed(subject="$JS.API.X", nats_code=code, err_code=error, description="no")


async def _wait_for_ever(pulse: Pulse) -> None:
    async with unless_away(pulse):
        await asyncio.Event().wait()
