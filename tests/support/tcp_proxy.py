"""A proxy between client and server that holds back answers on demand, to test a bad network.

Belongs here: forwarding, holding and cutting off. Does not: the protocol.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Proxy:
    """Forwards to a server's port. While `answers` is cleared, the client gets no answers."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.port = 0
        self.answers = asyncio.Event()
        self.answers.set()
        self.swallow_next = False
        self.change: Callable[[bytes], bytes] = lambda data: data
        """What the client gets of what the server sends."""
        self._lines: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def listen(self) -> None:
        """Take connections: on a free port, or again on the former one."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def hang_up(self) -> None:
        """Close all connections, and take none until `listen`."""
        if self._server is not None:
            self._server.close()
        self.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers |= {writer, up_writer}
        if self._server is None or not self._server.is_serving():  # it was hung up meanwhile
            self.close()
            return
        self._keep(asyncio.create_task(self._up(reader, up_writer)))
        self._keep(asyncio.create_task(self._down(up_reader, writer)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._lines.add(task)
        task.add_done_callback(self._lines.discard)

    async def _up(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def _down(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            await self.answers.wait()
            if self.swallow_next and b'"seq"' in data:
                self.swallow_next = False
                break
            writer.write(self.change(data))
            await writer.drain()
        writer.close()

    def close(self) -> None:
        """Close all connections."""
        for task in self._lines:
            task.cancel()
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def proxy_to(port: int) -> AsyncIterator[Proxy]:
    """A proxy in front of the server on `port`."""
    proxy = Proxy(port)
    await proxy.listen()
    try:
        yield proxy
    finally:
        proxy.hang_up()
        await asyncio.sleep(0)
