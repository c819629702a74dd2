"""What one client may take of `phaseline serve`: heads, bodies, answers, connections and streams, byte by byte.

Seconds are shortened here: the bounds are phases of a table. `test_serve_attacked` has crowds of clients.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from phaseline.engine.surfaces.http.connections import accepting, guard
from tests.support.http_server import LIMIT, LIMITS, Api, http_server, hub
from tests.support.installation import Settings
from tests.support.own_installation import Client

HOST = b"Host: localhost\r\n"
GET = b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n"
POST = b"POST /v1/events HTTP/1.1\r\n" + HOST + b"Content-Type: application/cloudevents+json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest_asyncio.fixture
async def api(client: Client, working: Settings) -> AsyncIterator[Api]:
    """A server of an installation with one cluster."""
    await client.publish_and_wait("cluster", "create", "c1")
    async with http_server(working) as served:
        yield served


class Raw:
    """One connection, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, data: bytes) -> None:
        """Send bytes, as fast as they go."""
        self.writer.write(data)

    async def rest(self) -> bytes:
        """All that comes until the server ends the connection."""
        found = b""
        async with asyncio.timeout(LIMIT):
            try:
                while data := await self.reader.read(1 << 16):
                    found += data
            except ConnectionError:
                return found
        return found

    async def statuses(self) -> list[int]:
        """The statuses of all answers until the server ends the connection."""
        return [int(part[:3]) for part in (await self.rest()).split(b"HTTP/1.1 ")[1:]]

    async def answer(self) -> int:
        """The status of the next answer."""
        async with asyncio.timeout(LIMIT):
            return int((await self.reader.readuntil(b"\r\n\r\n")).split()[1])


@asynccontextmanager
async def raw(api: Api, sent: bytes = b"") -> AsyncIterator[Raw]:
    """A connection on which something was sent."""
    parts = urlsplit(api.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(sent)
    try:
        yield Raw(reader, writer)
    finally:
        writer.close()


def limit(api: Api, **limits: Any) -> None:
    """Let a server have other limits from now on."""
    api.service.traffic.clients.limits = LIMITS._replace(**limits)


def refused(api: Api) -> dict[str, int]:
    """What was refused, by reason."""
    return dict(api.service.traffic.clients.refused)


# --- heads ---


async def test_a_head_that_does_not_end_is_answered_408(api: Api) -> None:
    limit(api, phases={"head": 1.0})
    async with raw(api, GET[:30]) as one:
        found = await one.rest()
    head, _, body = found.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b"connection: close" in head
    assert json.loads(body)["status"] == 408
    assert refused(api) == {"head_late": 1}


async def test_bytes_that_trickle_win_no_time(api: Api) -> None:
    limit(api, phases={"head": 1.0})
    async with raw(api, GET[:30]) as one:
        ending = asyncio.create_task(one.statuses())
        while not ending.done():
            one.send(b"a")
            await asyncio.sleep(0.05)
        assert await ending == [408]


async def test_the_second_head_has_a_time_of_its_own(api: Api) -> None:
    limit(api, phases={"head": 1.0})
    async with raw(api, GET + GET[:30]) as one:
        assert await one.statuses() == [200, 408]


@pytest.mark.parametrize(
    ("sent", "more", "statuses"),
    [
        (b"GET /livez HTTP/1.1\r\n" + HOST, b"X: %s\r\n" % (b"a" * 1_000), {431}),
        (b"GET /livez HTTP/1.1\r\n" + HOST + b"X: ", b"a" * 1_000, {431}),
        (b"GET /livez HTTP/1.1\r\n" + HOST, b"X: a\r\n" * 20, {431}),
        (b"GET /", b"a" * 1_000, {414}),
        (b"", b"\r\n" * 1_000, {431}),
        (GET + b"GET /", b"a" * 1_000, {200, 414}),
        (CHUNKED + b"1\r\n{\r\n0\r\n", b"X: %s\r\n" % (b"a" * 1_000), {431}),
        (CHUNKED + b"1;", b"a" * 1_000, {431}),
    ],
    ids=[
        "headers",
        "a header",
        "many headers",
        "a URL",
        "empty lines",
        "a second URL",
        "trailers",
        "a chunk's extension",
    ],
)
async def test_what_has_no_end_is_ended(api: Api, sent: bytes, more: bytes, statuses: set[int]) -> None:
    async with raw(api, sent) as one:
        ending = asyncio.create_task(one.statuses())
        while not ending.done():
            one.send(more)
            await asyncio.sleep(0)
        assert set(await ending) <= statuses  # none, where the kernel has dropped it because more was sent
    assert sum(refused(api).values()) == 1


async def test_a_head_of_an_honest_size_is_taken(api: Api) -> None:
    """Cookies and tokens of some kilobytes, and a request that comes in two halves."""
    async with raw(api, b"GET /livez HTTP/1.1\r\n" + HOST + b"Cookie: %s\r\n" % (b"a" * 15_000) * 2) as one:
        await asyncio.sleep(0.1)
        one.send(b"\r\n")
        assert await one.answer() == 200


# --- bodies ---


@pytest.mark.parametrize(
    "sent",
    [
        POST + b"Content-Length: 100000\r\n\r\n{",
        POST + b"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n",
        CHUNKED + b"1\r\n{\r\n",
        CHUNKED,
    ],
    ids=["half", "none after Expect", "chunks", "no chunk"],
)
async def test_a_body_that_does_not_end_is_answered_408(
    api: Api, sent: bytes
) -> None:  # fmt: skip
    limit(api, phases={"body": 1.0})
    async with raw(api, sent) as one:
        found = await one.rest()
    assert b"HTTP/1.1 408 " in found
    assert refused(api) == {"body_late": 1}


async def test_a_body_after_its_answer_ends_too(api: Api) -> None:
    limit(api, phases={"body": 1.0})
    async with raw(api, GET[:-2] + b"Transfer-Encoding: chunked\r\n\r\n") as one:
        ending = asyncio.create_task(one.statuses())
        while not ending.done():
            one.send(b"1\r\n{\r\n")
            await asyncio.sleep(0.02)
        assert await ending == [200]


async def test_small_chunks_of_an_honest_body_are_taken(api: Api) -> None:
    event = json.dumps(
        {"specversion": "1.0", "id": "x", "source": "/s", "type": "cluster.delete", "subject": "cluster/c1"}
    )
    body = b"".join(b"1\r\n%c\r\n" % byte for byte in event.encode() + b" " * 20_000) + b"0\r\n\r\n"
    async with raw(api, CHUNKED + body) as one:
        assert await one.answer() == 202


# --- many requests ---


async def test_pipelined_requests_are_answered_in_order(api: Api) -> None:
    """However many: they wait in the socket, not in the server."""
    many = 3_000
    paths = [b"/livez" if number % 3 else b"/v1/nothing" for number in range(many)]
    async with raw(api) as one:
        sending = asyncio.create_task(
            asyncio.to_thread(one.send, b"".join(b"GET %s HTTP/1.1\r\n%s\r\n" % (path, HOST) for path in paths))
        )
        for path in paths:
            assert await one.answer() == (200 if path == b"/livez" else 404)
            await _over_body(one)
        await sending
    assert not refused(api)


async def _over_body(one: Raw) -> None:
    """Read over a body: it is one JSON object."""
    async with asyncio.timeout(LIMIT):
        await one.reader.readuntil(b"}")


async def test_what_is_no_http_is_answered_once_and_not_logged_line_by_line(api: Api, capfd: Any) -> None:
    with capture_logs() as logged:
        for sent in (b"BREW / COFFEE/1.0\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/9.9\r\n\r\n") * 5:
            async with raw(api, sent) as one:
                assert await one.statuses() == [400]
    assert refused(api) == {"malformed": 15}
    lines = [one for one in logged if one["event"] == "http_refused"]
    assert 1 <= len(lines) < 15
    said = capfd.readouterr()
    assert "Invalid HTTP" not in said.out + said.err


@pytest.mark.parametrize(
    "asks", [b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"Upgrade: h2c\r\nConnection: upgrade\r\n"]
)
async def test_an_upgrade_is_answered_as_any_request(api: Api, asks: bytes, capfd: Any) -> None:
    async with raw(api, GET[:-2] + asks + b"\r\n" + b"\x00" * 10_000) as one:
        assert await one.statuses() == [200]
    said = capfd.readouterr()
    assert "upgrade" not in (said.out + said.err).lower()


# --- answers ---


async def test_an_answer_that_nobody_reads_ends(api: Api) -> None:
    limit(api, phases={"blocked": 1.0})
    async with raw(api, b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n") as one:
        assert await one.answer() == 200
    big = b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n"
    parts = urlsplit(api.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1_000)
    sending = asyncio.create_task(asyncio.to_thread(writer.write, big * 2_000))
    async with asyncio.timeout(LIMIT):
        while "not_read" not in refused(api):
            await asyncio.sleep(0.1)
    await sending
    writer.close()
    assert reader is not None
    assert (await api.get("/livez"))["status"] == "ok"


async def _narrow(address: SplitResult) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection that takes little before the other side has to wait."""
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    narrow.setblocking(False)
    await asyncio.get_running_loop().sock_connect(narrow, (address.hostname, address.port))
    return await asyncio.open_connection(sock=narrow, limit=1_000)


async def test_too_much_that_waits_ends_the_slowest(api: Api) -> None:
    """The deadline is far away, but what waits for clients has a bound of its own. Who reads gets all."""
    limit(api, unread=100_000)
    parts = urlsplit(api.url)
    opened = [await _narrow(parts) for _ in range(4)]
    for _, writer in opened:
        writer.write((b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n") * 500)
    async with asyncio.timeout(LIMIT):
        while "not_read" not in refused(api):
            assert (await api.http.get("/openapi.json")).status_code == 200
    for _, writer in opened:
        writer.close()


# --- connections ---


async def test_half_requests_give_way(client: Client, working: Settings) -> None:
    patient = LIMITS._replace(room=10, phases={"head": 600.0})  # none ends by itself on a busy machine
    async with http_server(working, limits=patient) as api:
        opened = [await asyncio.open_connection("127.0.0.1", urlsplit(api.url).port) for _ in range(40)]
        for _, writer in opened:
            writer.write(GET[:30])
        async with asyncio.timeout(LIMIT):
            while api.service.traffic.clients.connections < 10:
                await asyncio.sleep(0.02)
        for _ in range(5):
            async with raw(api, GET.replace(b"/livez", b"/v1/counts")) as one:
                assert await one.answer() == 200
        assert refused(api)["evicted"] >= 8
        assert api.service.traffic.clients.connections <= 10 + guard.EXTRA
        for _, writer in opened:
            writer.close()


async def test_probes_come_through_a_lobby_that_is_full(client: Client, working: Settings) -> None:
    """However many come who ask nothing: each refusal is counted, and no more handles are taken than are kept."""
    async with http_server(working, limits=LIMITS._replace(room=8)) as api:
        port, began = urlsplit(api.url).port, len(list(Path("/proc/self/fd").iterdir()))
        opened = []
        for number in range(300):
            local = (f"127.0.1.{1 + number % 200}", 0)
            opened.append(await asyncio.open_connection("127.0.0.1", port, local_addr=local))
            if number % 50 == 49:
                async with raw(api, GET) as probe:
                    assert await probe.answer() == 200
        ours = len(list(Path("/proc/self/fd").iterdir())) - began - len(opened)
        assert ours <= 8 + accepting.LOBBY + 1
        assert refused(api)["full"] + refused(api).get("evicted", 0) >= len(opened) - ours
        for _, writer in opened:
            writer.close()


async def test_a_request_is_heard_once_others_have_gone(client: Client, working: Settings) -> None:
    """A connection that came while there was no room is not told to come again when there is some."""
    body = b'{"id":"e-1","source":"/x","specversion":"1.0","type":"cluster.create","subject":"cluster/c1"}'
    head = POST + b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % len(body)
    async with http_server(working, limits=LIMITS._replace(room=4)) as api:
        await api.http.aclose()
        far = b"GET /v1/counts?min=999999999 HTTP/1.1\r\n" + HOST + b"\r\n"
        opened = [await asyncio.open_connection("127.0.0.1", urlsplit(api.url).port) for _ in range(4)]
        for _, writer in opened:
            writer.write(far)
        async with asyncio.timeout(LIMIT):
            while api.service.traffic.clients.connections < 4:
                await asyncio.sleep(0.02)
        async with raw(api, head) as one:
            await asyncio.sleep(0.1)
            for _, writer in opened:
                writer.close()
            one.writer.write(body)
            assert await one.answer() in (100, 202)
        assert "full" not in refused(api)


async def test_a_whole_request_waits_until_half_a_body_gives_way(client: Client, working: Settings) -> None:
    """Half bodies have a second. Nobody is told to come again meanwhile, and those beyond the room take no place."""
    async with http_server(working, limits=LIMITS._replace(room=10)) as api:
        opened = [await asyncio.open_connection("127.0.0.1", urlsplit(api.url).port) for _ in range(40)]
        for _, writer in opened:
            writer.write(POST + b"Content-Length: 1000\r\n\r\n{")
        async with asyncio.timeout(LIMIT):
            while api.service.traffic.clients.connections < 10:
                await asyncio.sleep(0.02)
        for _ in range(3):
            async with raw(api, GET.replace(b"/livez", b"/v1/counts")) as one:
                assert await one.answer() == 200
        for _, writer in opened:
            writer.close()


async def test_probes_have_room_while_all_are_busy(
    client: Client, working: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streams and requests that wait are not ended for others: those are told to come again."""
    connections, admit = list[Any](), guard.Guard.admit

    def noted(self: guard.Guard, one: Any) -> None:
        connections.append(one)
        admit(self, one)

    monkeypatch.setattr(guard.Guard, "admit", noted)
    async with http_server(working, limits=LIMITS._replace(room=8)) as api:
        await api.http.aclose()  # its connection would give way
        far = b"GET /v1/counts?min=999999999 HTTP/1.1\r\n" + HOST + b"\r\n"
        opened = [await asyncio.open_connection("127.0.0.1", urlsplit(api.url).port) for _ in range(8)]
        for _, writer in opened:
            writer.write(far)
        async with asyncio.timeout(LIMIT):
            while sum(one.phase() is guard.ANSWER for one in connections) < 8:
                await asyncio.sleep(0.02)
        statuses = []
        for path in (b"/livez", b"/v1/counts", b"/readyz", b"/v1/summary"):
            async with raw(api, b"GET %s HTTP/1.1\r\n%s\r\n" % (path, HOST)) as one:
                statuses += await one.statuses()
        assert statuses == [200, 503, 200, 503]
        for _, writer in opened:
            writer.close()


async def test_a_silent_connection_ends(api: Api) -> None:
    limit(api, phases={"idle": 1.0})
    async with raw(api) as one:
        assert await one.rest() == b""
    assert not refused(api)


async def test_what_is_refused_can_be_seen(api: Api) -> None:
    for _ in range(3):
        async with raw(api, b"nonsense\r\n\r\n") as one:
            await one.rest()
    found = (await api.http.get("/metrics")).text
    assert 'phaseline_http_refused_total{reason="malformed"} 3' in found
    assert "phaseline_http_connections 1" in found


# --- streams ---


async def test_a_caller_has_so_many_filters(api: Api) -> None:
    limit(api, filters=3)
    opened = []
    try:
        for number in range(5):
            one = raw(api, b"GET /v1/transitions?tree=c%d HTTP/1.1\r\n%s\r\n" % (number, HOST))
            opened.append(one)
            assert await (await one.__aenter__()).answer() == (200 if number < 3 else 429)
        for path in (b"/v1/transitions", b"/v1/transitions?tree=c0", b"/v1/transitions?form=columns"):
            async with raw(api, b"GET %s HTTP/1.1\r\n%s\r\n" % (path, HOST)) as more:
                assert await more.answer() == 200
    finally:
        for one in opened:
            await one.__aexit__(None, None, None)
    assert refused(api) == {"streams": 2}
    async with asyncio.timeout(LIMIT):
        while api.service.hub.readers:
            await asyncio.sleep(0.02)
    answer = await api.http.get("/v1/transitions?tree=c9&to=1&from=1")
    assert answer.status_code == 200  # the places of those who left are free again


async def test_streams_leave_room_for_requests(client: Client, working: Settings) -> None:
    async with http_server(working, limits=LIMITS._replace(room=8)) as api:
        opened = [raw(api, b"GET /v1/transitions HTTP/1.1\r\n%s\r\n" % HOST) for _ in range(6)]
        statuses = [await (await one.__aenter__()).answer() for one in opened]
        assert statuses == [200] * 4 + [429] * 2
        assert (await api.get("/v1/counts"))["total"] == 0
        for one in opened:
            await one.__aexit__(None, None, None)


async def test_what_is_kept_for_readers_has_one_bound(api: Api, client: Client) -> None:
    """However many filters there are: the oldest frames of all go."""
    kept = api.service.hub
    kept.limits = LIMITS._replace(frame_bytes=20_000)
    async with raw(api, b"GET /v1/transitions?tree=c1 HTTP/1.1\r\n%s\r\n" % HOST) as one:
        assert await one.answer() == 200
        await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
        for _ in range(60):
            for trigger in ("not_ready", "ready"):
                await client.publish_and_wait("node", trigger, "c1/p/n1")
        await asyncio.sleep(2 * hub.TICK)
        await client.publish_and_wait("node", "not_ready", "c1/p/n1")  # alone in its tick
        await api.place()
        await asyncio.sleep(2 * hub.TICK)
        assert 0 < kept._bytes <= 20_000 + 10_000  # one tick more at most
    async with asyncio.timeout(LIMIT):
        while kept.readers:
            await asyncio.sleep(0.02)
    assert kept._bytes == 0
