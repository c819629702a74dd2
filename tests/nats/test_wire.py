"""The connection: requests, our own errors, reconnecting."""

import asyncio
import gc
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from phaseline.schemas.errors import (
    ApiFailed,
    Fenced,
    NatsUnreachable,
    NoAnswer,
    NoResponders,
    NoSuchStream,
    RequestTimedOut,
    ServerRefused,
    SetupError,
)
from tests.support import free_ports
from tests.support.installation import EmbeddedServer, Settings, Wire
from tests.support.own_installation import OwnInstallation
from tests.support.patience import LIMIT
from tests.support.raising import raises
from tests.support.streams import gather
from tests.support.tcp_proxy import Proxy, proxy_to

pytestmark = pytest.mark.asyncio


async def test_a_stream_stores_a_message_once(wire: Wire, settings: Settings) -> None:
    await wire.api(
        f"STREAM.CREATE.{settings.prefix}", {"name": settings.prefix, "subjects": [f"{settings.prefix}.s.>"]}
    )
    subject = f"{settings.prefix}.s.a"
    first = await wire.publish_acked(subject, b"1", {"Nats-Msg-Id": "1"})
    again = await wire.publish_acked(subject, b"1", {"Nats-Msg-Id": "1"})
    assert (first.seq, first.duplicate, again.seq, again.duplicate) == (1, False, 1, True)
    with pytest.raises(Fenced, match=subject):
        await wire.publish_acked(subject, b"2", {"Nats-Expected-Last-Subject-Sequence": "7"})


class WebSockets(EmbeddedServer):
    def _config(self) -> str:
        return f"{super()._config()}websocket {{ listen: 127.0.0.1:{free_ports.some(1)[0]}, no_tls: true }}\n"


@pytest.mark.filterwarnings("ignore:parameter 'timeout'")  # how nats-py calls aiohttp
async def test_websockets(tmp_path: Path) -> None:
    async with WebSockets(tmp_path):
        [port] = re.findall(r"websocket .*?:(\d+)", (tmp_path / "nats-server.conf").read_text())
        async with Wire.open(Settings(nats=(f"ws://127.0.0.1:{port}",))) as wire:
            assert (await wire.api("INFO"))["streams"] == 0


async def test_refusals_become_our_errors(wire: Wire) -> None:
    with pytest.raises(NoResponders, match="nobody"):
        await wire.request("nobody.home")
    with pytest.raises(NoSuchStream, match=r"nobody\.home"):
        await wire.publish_acked("nobody.home", b"")
    with pytest.raises(ApiFailed, match="stream not found") as caught:
        await wire.api("STREAM.INFO.ABSENT")
    assert caught.value.err_code == 10059
    with raises(SetupError.server_too_old, match=r"99\.1"):
        wire.require(99, 1)
    wire.require(2, 15)
    with raises(ServerRefused.payload_too_large, match="1048577 bytes"):
        await wire.request("big", b"x" * (wire.max_payload + 1))
    with pytest.raises(ValueError, match="is empty or holds blanks"):
        wire.publish("a\r\nPUB b 0", b"")


async def test_a_request_without_a_reply_times_out(installation: OwnInstallation) -> None:
    await installation.wire.subscribe(f"{installation.settings.prefix}.silent", lambda *_: None)
    with pytest.raises(RequestTimedOut, match=r"silent within 0\.2 s"):
        await installation.wire.request(f"{installation.settings.prefix}.silent", timeout=0.2)


async def hang_up(proxy: Proxy, wire: Wire) -> None:
    """Break a connection, until it has noticed."""
    proxy.hang_up()
    async with asyncio.timeout(20):
        while wire.connected:
            await asyncio.sleep(0.01)


async def test_a_request_with_several_replies_waits_for_the_connection(wire: Wire, settings: Settings) -> None:
    stream = settings.prefix
    await wire.api(f"STREAM.CREATE.{stream}", {"name": stream, "subjects": [f"{stream}.>"], "allow_direct": True})
    for number in range(3):
        await wire.publish_acked(f"{stream}.{number}", b"x")
    async with (
        proxy_to(urlsplit(settings.nats[0]).port or 0) as proxy,
        Wire.open(replace(settings, nats=(f"nats://127.0.0.1:{proxy.port}",))) as far,
    ):
        where, wanted = far.api_subject(f"DIRECT.GET.{stream}"), {"multi_last": [f"{stream}.>"]}
        await hang_up(proxy, far)
        asking = asyncio.create_task(gather(far, where, wanted, 20))
        await asyncio.sleep(0.1)
        assert not asking.done()
        await proxy.listen()
        assert len(await asking) == 3
        await hang_up(proxy, far)
        with pytest.raises(NatsUnreachable):
            await gather(far, where, wanted, 0.2)


async def test_a_flush_that_is_cancelled_as_it_is_answered_is_cancelled(wire: Wire) -> None:
    """Else who cancels a task that pings again and again, and waits for its end, waits for ever."""
    for _ in range(5):
        heard, flushing = wire.heard, asyncio.create_task(wire.flush())
        async with asyncio.timeout(20):
            while wire.heard == heard:
                await asyncio.sleep(0)
        flushing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await flushing
    await wire.flush()


async def test_what_is_being_answered_ends_with_the_connection(wire: Wire, settings: Settings) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def answer(*_: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with Wire.open(settings) as serving:
        await serving.serve(f"{settings.prefix}.x", answer)
        await serving.flush()
        asking = asyncio.create_task(wire.request(f"{settings.prefix}.x", timeout=0.5))
        await begun.wait()
    async with asyncio.timeout(20):
        await ended.wait()
    with pytest.raises(RequestTimedOut):
        await asking


async def test_more_requests_than_may_be_answered_at_once_are_refused_at_once(wire: Wire, settings: Settings) -> None:
    subject, go_on, begun, most = f"{settings.prefix}.slow", asyncio.Event(), list[str](), 200

    async def answer(_: str, data: bytes, __: bytes | None, reply: str) -> None:
        begun.append(data.decode())
        await go_on.wait()
        wire.publish(reply, data)

    await wire.serve(subject, answer)
    await wire.serve(f"{subject}.own", answer, most=None)
    async with Wire.open(settings) as other, asyncio.timeout(LIMIT):
        asking = [asyncio.create_task(other.request(subject, b"%d" % n, timeout=LIMIT)) for n in range(1_000)]
        own = asyncio.create_task(other.request(f"{subject}.own", b"own", timeout=LIMIT))
        refused = await asyncio.gather(*asking[most:])
        assert {one.headers["Nats-Service-Error-Code"] for one in refused} == {"429"}
        while len(begun) < most + 1:  # what only workers ask is answered all the same
            await asyncio.sleep(0.01)
        go_on.set()
        found = await asyncio.gather(*asking[:most], own)
        assert [one.data.decode() for one in found] == [*map(str, range(most)), "own"] == begun
        assert (await other.request(subject, b"later", timeout=LIMIT)).data == b"later"
    assert wire.replies.turned_away == 800


async def test_who_is_busy_is_asked_again_a_few_times(wire: Wire, settings: Settings) -> None:
    subject, free_from, asked = f"{settings.prefix}.busy", 2, list[bytes]()

    async def answer(_: str, data: bytes, __: bytes | None, reply: str) -> None:
        asked.append(data)
        wire.publish(reply, data, None if len(asked) > free_from else {"Nats-Service-Error-Code": "429"})

    await wire.serve(subject, answer)
    assert (await wire.ask(subject, b"x", LIMIT)).data == b"x"
    assert len(asked) == free_from + 1
    free_from = 99
    with raises(NoAnswer.too_busy):
        await wire.ask(subject, b"x", LIMIT)


async def test_subscribers_get_unchanged_bytes(wire: Wire, settings: Settings) -> None:
    got: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()
    sid = await wire.subscribe(f"{settings.prefix}.>", lambda *message: got.put_nowait(message))
    odd = b"\xff\xfe".decode(errors="surrogateescape")
    wire.publish(f"{settings.prefix}.é.{odd}", b"\r\nMSG \x00", {"A": "1", "B": "ü: :"})
    subject, data, block, reply = await got.get()
    assert (subject, data, reply) == (f"{settings.prefix}.é.{odd}", b"\r\nMSG \x00", "")
    assert block == "NATS/1.0\r\nA: 1\r\nB: ü: :\r\n\r\n".encode()
    await wire.unsubscribe(sid)
    wire.publish(f"{settings.prefix}.x", b"")
    await wire.flush()
    assert got.empty()


async def test_frames_arrive_in_the_order_in_which_they_were_sent(installation: OwnInstallation) -> None:
    subject, found = f"{installation.settings.prefix}.order", list[int]()
    everything = asyncio.Event()
    sizes = [10, 400_000, 10, 10, 900_000, 10] * 4

    def note(_: str, data: bytes, *__: object) -> None:
        found.append(int(data[:4]))
        if len(found) == len(sizes):
            everything.set()

    await installation.wire.subscribe(subject, note)
    for number, size in enumerate(sizes):
        installation.wire.publish(subject, b"%04d" % number + b"." * size)
        if number % 4 == 0:
            await asyncio.sleep(0)
    await asyncio.wait_for(everything.wait(), 20)
    assert found == list(range(len(sizes)))


async def test_a_flush_ends_after_all_frames_that_were_sent_before(wire: Wire, settings: Settings) -> None:
    heard, body = 0, bytes(100_000)

    def hear(*_: object) -> None:
        nonlocal heard
        heard += 1

    await wire.subscribe(f"{settings.prefix}.x", hear)
    await wire.flush()
    async with Wire.open(settings) as other:
        for _ in range(200):
            other.publish(f"{settings.prefix}.x", body)
        await other.flush(30)
        await wire.flush(30)
        assert heard == 200


async def test_a_failing_subscriber_does_not_affect_others(wire: Wire, settings: Settings) -> None:
    got: asyncio.Queue[bytes] = asyncio.Queue()

    def fail(*_: object) -> None:
        raise RuntimeError("on purpose")

    await wire.subscribe(f"{settings.prefix}.a", fail)
    await wire.subscribe(f"{settings.prefix}.a", lambda _, data, *__: got.put_nowait(data))
    wire.publish(f"{settings.prefix}.a", b"1")
    assert await got.get() == b"1"


async def test_the_connection_survives_restarts_of_the_server(
    own_server: EmbeddedServer, own_settings: Settings
) -> None:
    async with Wire.open(own_settings) as wire:
        down, up = asyncio.Event(), asyncio.Event()
        wire.on_disconnect(down.set)
        wire.on_reconnect(up.set)
        got: asyncio.Queue[bytes] = asyncio.Queue()
        await wire.subscribe("a", lambda _, data, *__: got.put_nowait(data))
        await wire.subscribe("silent", lambda *_: None)
        asking = asyncio.ensure_future(wire.request("silent", timeout=60))
        await wire.flush()
        await own_server.kill()
        with raises(NoAnswer.connection_lost):
            await asking
        await down.wait()
        assert not wire.connected
        with pytest.raises(NatsUnreachable, match=r"127\.0\.0\.1"):
            wire.publish("a", b"lost")
        with pytest.raises(NoAnswer):
            await wire.request("a", timeout=0.1)
        patient = asyncio.ensure_future(wire.request("$JS.API.INFO", timeout=30))
        await own_server.start()
        assert (await patient).data
        await up.wait()
        wire.publish("a", b"kept")
        assert await got.get() == b"kept"


async def test_a_cancellation_that_is_lost_does_not_keep_a_closed_connection_reconnecting(
    own_server: EmbeddedServer, own_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `asyncio.wait_for` loses one when the connection has just come."""
    tried, lost = asyncio.Event(), asyncio.Event()

    async def connect(*_: object, **__: object) -> None:
        tried.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            lost.set()
        raise ConnectionRefusedError

    async with Wire.open(own_settings) as wire:
        monkeypatch.setattr(type(wire._connection._transport), "connect", connect)
        await own_server.kill()
        await tried.wait()
        reconnecting = wire._connection._reconnection_task
        assert reconnecting is not None
    assert lost.is_set()
    async with asyncio.timeout(60):
        await asyncio.wait({reconnecting})


async def test_a_violation_of_the_protocol_reconnects(wire: Wire) -> None:
    up = asyncio.Event()
    wire.on_reconnect(up.set)
    wire.send(b"NONSENSE\r\n")
    await up.wait()
    assert (await wire.api("INFO"))["type"] == "io.nats.jetstream.api.v1.account_info_response"


async def test_without_a_server_it_fails_at_once_and_hides_secrets(own_server: EmbeddedServer) -> None:
    await own_server.stop()
    url = own_server.url.replace("nats://", "nats://me:secret@")
    settings = Settings(nats=(url,))
    with pytest.raises(NatsUnreachable, match="127") as caught:
        async with Wire.open(settings):
            pass
    assert "secret" not in str(caught.value) + repr(settings)


async def test_a_patient_connection_waits_for_the_server(own_server: EmbeddedServer, own_settings: Settings) -> None:
    await own_server.stop()

    async def ask() -> dict[str, Any]:
        async with Wire.open(own_settings, patient=True) as wire:
            return await wire.api("INFO")

    asking = asyncio.ensure_future(ask())
    await asyncio.wait({asking}, timeout=0.5)
    await own_server.start()
    assert (await asking)["limits"] is not None


async def test_a_connection_that_wants_tls_never_goes_without(server: EmbeddedServer) -> None:
    with raises(SetupError.tls_failed, match="refusing to talk in clear"):
        async with Wire.open(Settings(nats=(server.url.replace("nats://", "tls://"),))):
            pass


async def test_a_try_that_fails_before_the_first_word_leaves_no_socket(settings: Settings) -> None:
    """Whoever listens there hangs up at once, again and again, while the connection is tried anew."""
    port, tries = urlsplit(settings.nats[0]).port or 0, list[asyncio.StreamWriter]()

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tries.append(writer)
        writer.close()

    async with (
        proxy_to(port) as proxy,
        Wire.open(replace(settings, nats=(f"nats://127.0.0.1:{proxy.port}",))) as wire,
        asyncio.timeout(60),
    ):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            proxy.hang_up()
            async with await asyncio.start_server(hang_up, "127.0.0.1", proxy.port):
                while len(tries) < 3:
                    await asyncio.sleep(0.02)
            await proxy.listen()
            await wire.until_connected()
            gc.collect()
        assert [one.message for one in warned if one.category is ResourceWarning] == []
