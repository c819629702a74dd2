"""An HTTP server that answers whatever a test wants, byte by byte, without a library that would keep it honest.

Belongs here: the server, bodies without end. Does not: the tests that use it.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress

Answer = Callable[[bytes], AsyncIterator[bytes]]
"""From the head of a request to the bytes of the answer, head included."""


def head(status: str, *lines: str) -> bytes:
    """The head of an answer. Its body ends with the connection unless a line says otherwise."""
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "Connection: close", "", ""]).encode()


async def endless(start: bytes, piece: bytes = b" " * 65_536) -> AsyncIterator[bytes]:
    """A body that never ends."""
    yield start
    while True:
        yield piece


async def unfolding(start: bytes) -> AsyncIterator[bytes]:
    """A body packed by gzip that unfolds without end, a thousand times what is sent."""
    packed, zeros = zlib.compressobj(wbits=31), bytes(1 << 22)
    yield start + packed.compress(zeros) + packed.flush(zlib.Z_FULL_FLUSH)
    piece = packed.compress(zeros) + packed.flush(zlib.Z_FULL_FLUSH)  # after a full flush it can be repeated
    while True:
        yield piece
        await asyncio.sleep(0)


async def dripping(start: bytes) -> AsyncIterator[bytes]:
    """An answer that comes a byte at a time, and never as a whole."""
    yield start
    while True:
        await asyncio.sleep(0.02)
        yield b"x"


@asynccontextmanager
async def lying(answer: Answer) -> AsyncIterator[int]:
    """The server; yields its port."""

    serving = set[asyncio.Task[None]]()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(serve(reader, writer)))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError), closing(writer):
            asked = await reader.readuntil(b"\r\n\r\n")
            async for piece in answer(asked):
                writer.write(piece)
                await writer.drain()

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
