"""Bytes that no real server sends, or not at that moment: a small server of our own sends them."""

import asyncio

import pytest

from tests.support.installation import Settings, Wire

pytestmark = pytest.mark.asyncio
INFO = b'INFO {"server_id":"x","version":"2.12.0","max_payload":1000000,"headers":true}\r\n'


class OddServer:
    """Answers each connection with the next one of these bytes, right behind the answer to its first ping."""

    def __init__(self, *answers: tuple[bytes, ...]) -> None:
        self.answers = list(answers)
        self.lines: list[bytes] = []

    async def __aenter__(self) -> Settings:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        return Settings(nats=(f"nats://127.0.0.1:{port}",))

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(INFO)
        behind, *later = self.answers.pop(0) if self.answers else (b"",)
        async for line in reader:
            self.lines.append(line)
            if line == b"PING\r\n":
                writer.write(b"PONG\r\n" + behind)
                behind = b""
            elif line.startswith(b"SUB ") and later:
                for piece in later:
                    writer.write(piece)
                    await asyncio.sleep(0.02)
                later = []
        writer.close()


@pytest.mark.parametrize(
    "pieces",
    [
        (b"", b"NONSENSE\r\n"),
        (b"", b"MSG a.b 1 x\r\n"),
        (b"", b"MSG a.b 1 9\r\nwhole mes", b"\r\nMSG a.b 1 x\r\nMSG a.b 1 9\r\nhalf"),
        (b"", b"-ERR 'Stale Connection'\r\nMSG a.b 1 9\r\nhalf"),
        (b"-ERR 'Stale Connection'\r\n",),
        (b"NONSENSE\r\n",),
    ],
)
async def test_after_bytes_that_cannot_be_read_a_connection_comes_back(pieces: tuple[bytes, ...]) -> None:
    good = b"MSG _INBOX.x 1 5\r\nhello\r\n"
    server = OddServer(pieces, (b"", good[:9], good[9:20], good[20:]))
    async with server as settings, Wire.open(settings) as wire:
        got: asyncio.Queue[bytes] = asyncio.Queue()
        back = asyncio.Event()
        wire.on_reconnect(back.set)
        wire._connection._takers[1] = lambda some: got.put_nowait(some[-1][1])
        async with asyncio.timeout(20):
            while await got.get() != b"hello":
                pass
            await back.wait()
        assert wire.reconnects == 1


async def test_lines_that_are_cut_while_the_connection_begins_are_read_whole() -> None:
    server = OddServer((b'PING\r\nINFO {"server_id":', b'"x", "ldm": true}\r\nPI', b"NG\r\n"))
    async with server as settings, Wire.open(settings) as wire, asyncio.timeout(20):
        while server.lines.count(b"PONG\r\n") < 2:
            await asyncio.sleep(0.01)
        assert wire.reconnects == 0
