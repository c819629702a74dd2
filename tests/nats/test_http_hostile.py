"""What no well-behaved client sends: smuggled bodies, broken headers, hostile names, connections that end midway.

Also what a server without NATS answers. Requests are written byte by byte, because client libraries refuse to.
"""

import asyncio
import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
import pytest
from structlog.testing import capture_logs

from phaseline.engine.surfaces.http.fleet.cascades import Cascades
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.http_events import event, send
from tests.support.http_server import LIMIT, LIMITS, Api, Hub, http_server, serving
from tests.support.installation import Settings
from tests.support.own_installation import Client, OwnInstallation
from tests.support.tcp_proxy import proxy_to

SCRIPT = "<script>alert(1)</script>"
BIDI = "c\u202e1\u2066x"
EVENT = json.dumps(event()).encode()
HEAD = b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/cloudevents+json\r\n"
NEXT = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


async def raw(fresh: Api, sent: bytes) -> list[int]:
    """The statuses of all answers to what is sent on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(fresh.url).port)
    writer.write(sent)
    writer.write_eof()
    try:
        found = await asyncio.wait_for(reader.read(), LIMIT)
    except ConnectionResetError:
        found = b""
    writer.close()
    return [int(part[:3]) for part in found.split(b"HTTP/1.1 ")[1:]]


SMUGGLED = {
    "two lengths": b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(EVENT) + EVENT,
    "a length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + NEXT,
    "an unknown coding": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + NEXT,
    "a coding twice": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + NEXT,
    "a negative length": b"Content-Length: -1\r\n\r\n" + NEXT,
    "a length with a sign": b"Content-Length: +5\r\n\r\n12345" + NEXT,
    "a huge length": b"Content-Length: 99999999999999999999999\r\n\r\n" + NEXT,
    "a blank before the colon": b"Content-Length : 5\r\n\r\n12345" + NEXT,
    "a line that begins with a blank": b"X: 1\r\n Content-Length: 5\r\n\r\n12345" + NEXT,
    "a bare line feed": b"X: 1\nContent-Length: 0\r\n\r\n" + NEXT,
    "a bare carriage return": b"X: 1\rContent-Length: 0\r\n\r\n" + NEXT,
    "a null byte": b"X: \0\r\nContent-Length: 0\r\n\r\n" + NEXT,
    "a chunk with a wrong length": b"Transfer-Encoding: chunked\r\n\r\nZ\r\n" + NEXT,
}


@pytest.mark.parametrize("case", SMUGGLED)
async def test_no_second_request_is_smuggled(fresh: Api, case: str) -> None:
    """Whatever the lengths say: no event is stored, and bytes in doubt are no second request."""
    statuses = await raw(fresh, HEAD + SMUGGLED[case])
    assert 202 not in statuses, case
    assert all(one >= 400 for one in statuses[:1]), (case, statuses)
    assert (await fresh.get("/livez"))["status"] == "ok"
    assert (await fresh.http.get("/v1/events/1")).status_code == 404


async def test_line_ends_in_a_value_stay_a_value(fresh: Api) -> None:
    """Percent-encoded, a line end is part of the attribute; it makes no header of its own for NATS."""
    headers = {
        "ce-specversion": "1.0", "ce-id": "x%0D%0ANats-Rollup:%20all", "ce-source": "/s%0D%0Aa", "ce-type": "cluster.create",
        "ce-subject": "cluster/c1", "prefer": "wait=60",
    }  # fmt: skip
    answer = await fresh.http.post("/v1/events", headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.json()["event"] == "x\r\nNats-Rollup: all"
    stored = await fresh.get(f"/v1/events/{answer.json()['sequence']}")
    assert stored["event"]["source"] == "/s\r\na"


@pytest.mark.parametrize("name", [SCRIPT, BIDI, "a'b\"c", "*", "..", "\U0001f600", "% 41"])
async def test_hostile_names_are_kept_as_they_are(fresh: Api, name: str) -> None:
    answer = await send(fresh, event(f"cluster/{name}"), prefer="wait=60")
    if "/" in name:  # the slash of `</script>` separates parts of an id
        assert answer.status_code == 422
        assert "application/problem+json" in answer.headers["content-type"]
        return
    assert answer.status_code == 200, answer.text
    for path in (
        f"/v1/entities/cluster/{quote(name, safe='').replace('.', '%2E')}",
        f"/v1/why/cluster/{quote(name, safe='').replace('.', '%2E')}",
    ):
        found = await fresh.http.get(path, params={"min": answer.json()["last"]})
        assert (found.status_code, found.headers["content-type"]) == (200, "application/json"), path
        assert found.headers["x-content-type-options"] == "nosniff"
    listed = await fresh.get("/v1/entities", tree=name)
    assert [one["id"] for one in listed["items"]] == [name]


async def test_names_that_are_too_long(fresh: Api) -> None:
    long = "x" * 10_000
    refused = await send(fresh, event(f"cluster/{long}"))
    assert (refused.status_code, refused.json()["type"]) == (400, "urn:phaseline:problem:unsendable")
    for path in (f"/v1/entities/cluster/{long}", f"/v1/entities?tree={long}", f"/{long}"):
        answer = await fresh.http.get(path)
        assert answer.status_code in (400, 404, 405), path[:40]
        assert len(answer.content) < 2_000, path[:40]
    assert (await raw(fresh, b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"))[:1] in (
        [],
        [400],
        [404],
        [414],
    )


@pytest.mark.parametrize(
    "sent", [HEAD + b"Content-Length: 500\r\n\r\n{", HEAD[:40], b"", b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n"]
)
async def test_a_connection_that_ends_midway_disturbs_nobody(fresh: Api, sent: bytes, capfd: Any) -> None:
    assert 202 not in await raw(fresh, sent)
    assert (await fresh.http.get("/v1/events/1")).status_code == 404
    assert "request_failed" not in capfd.readouterr().out


async def test_a_reader_that_leaves_a_stream(fresh: Api) -> None:
    for _ in range(3):
        async with fresh.http.stream("GET", "/v1/transitions") as answer:
            async for _line in answer.aiter_lines():
                break
    assert (await fresh.get("/livez"))["status"] == "ok"


async def test_without_nats_events_are_refused(settings: Settings) -> None:
    away = replace(settings, nats=("nats://127.0.0.1:9",))
    async with (
        serving(away, BUILT_IN_KINDS, "127.0.0.1:0") as served,
        httpx2.AsyncClient(base_url=served.url, timeout=LIMIT, trust_env=False) as http,
    ):
        given = {"content-type": "application/cloudevents+json"}
        for path in ("/v1/events", "/v1/events?dry-run=1"):
            answer = await http.post(path, content=EVENT, headers=given)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert (await http.get("/v1/events/1")).status_code == 503


async def test_it_recovers_as_soon_as_there_is_an_installation(installation: OwnInstallation) -> None:
    given = {"content-type": "application/cloudevents+json", "prefer": "wait=60"}
    async with (
        serving(installation.settings, BUILT_IN_KINDS, "127.0.0.1:0") as served,
        httpx2.AsyncClient(base_url=served.url, timeout=LIMIT, trust_env=False) as http,
    ):
        assert (await http.post("/v1/events", content=EVENT, headers=given)).status_code == 503
        async with installation.worker(), asyncio.timeout(LIMIT):
            while (answer := await http.post("/v1/events", content=EVENT, headers=given)).status_code == 503:
                assert answer.headers["retry-after"] == "1"
                await asyncio.sleep(0.05)
            assert (answer.status_code, answer.json()["effect"]) == (200, "transitions")


async def test_a_refusal_that_passes_does_not_end_it(client: Client, working: Settings) -> None:
    """At its start there is no leader for a moment: it waits, as it does without a server."""
    await client.publish_and_wait("cluster", "create", "c1")
    refused = list[object]()

    def change(data: bytes) -> bytes:
        """Let the server refuse, three times, to say anything about STATE."""
        found = re.search(rb'\{"type":"[^\r\n]*?"name":"[^"]*-STATE"[^\r\n]*', data)
        if found is None or len(refused) == 3:
            return data
        refused.append(found)
        says = b'{"error":{"code":503,"err_code":10008,"description":"JetStream system temporarily unavailable"}}'
        return data.replace(found[0], says.ljust(len(found[0])))

    async with proxy_to(urlsplit(working.nats[0]).port or 0) as proxy:
        proxy.change = change
        async with http_server(replace(working, nats=(f"nats://127.0.0.1:{proxy.port}",))) as fresh:
            assert (await fresh.get("/v1/entities"))["total"] == 1
    assert len(refused) == 3


@pytest.mark.parametrize(("part", "method"), [(Cascades, "take"), (Hub, "tick")])
async def test_it_begins_anew_after_an_error_of_ours(
    client: Client, working: Settings, monkeypatch: pytest.MonkeyPatch, part: type, method: str
) -> None:
    """While it does not follow the log, it must not say that it is ready, nor answer with states that grow old."""

    def fail(*_: Any) -> None:
        raise ZeroDivisionError

    async with http_server(working, limits=LIMITS._replace(mending=0.5)) as fresh:
        with capture_logs() as logged, monkeypatch.context() as broken:
            broken.setattr(part, method, fail)
            await client.publish("cluster", "create", "c1")
            async with asyncio.timeout(LIMIT):
                while (await fresh.http.get("/readyz")).status_code != 503:
                    await asyncio.sleep(0.01)
            assert (await fresh.http.get("/v1/entities")).status_code == 503
        assert {one["error"] for one in logged if one["event"] == "serve_broken"} == {"ZeroDivisionError()"}
        async with asyncio.timeout(LIMIT):
            while (await fresh.http.get("/readyz")).status_code != 200:
                await asyncio.sleep(0.01)
        assert (await fresh.get("/v1/entities"))["total"] == 1
