"""`phaseline serve` as a process with few handles, and clients that take more of it than they should.

Belongs here: starting it, what it costs, the attacks. Does not: what it must withstand (`test_serve_attacked`).
"""

import asyncio
import os
import re
import socket
import struct
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import httpx2

from phaseline.engine.settings import Settings
from tests.support.command import ENVIRONMENT, LIMIT, MODULE, ROOT, ended, line_with

HANDLES = 256
MANY = 300
"""Connections of an attack: more than there are handles."""
HEAD = b"GET /v1/counts HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/cloudevents+json\r\n"
RESET, CLOSED = struct.pack("ii", 1, 0), struct.pack("ii", 0, 0)
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


class Attacked(NamedTuple):
    """The process, and where it answers. log: the file that it logs to."""

    process: asyncio.subprocess.Process
    url: str
    log: Path

    @property
    def megabytes(self) -> int:
        """Its resident memory."""
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        assert found
        return int(found[1]) // 1024

    def client(self) -> httpx2.AsyncClient:
        """A client that behaves."""
        return httpx2.AsyncClient(base_url=self.url, timeout=LIMIT, trust_env=False, verify=False)

    @property
    def computed(self) -> float:
        """The seconds of computing that it has taken."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def waited(self) -> float:
        """The seconds for which it could have computed, and had to wait for a CPU that others used."""
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[1]) / 1e9

    async def connect(self, sent: bytes, window: int = 4096, source: str = "") -> socket.socket:
        """A socket on which something was sent; raises `OSError`. window: the bytes that the kernel may take for us.

        source: our address.
        """
        parts, loop = urlsplit(self.url), asyncio.get_running_loop()
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        one.setblocking(False)
        try:
            if source:
                one.bind((source, 0))
            async with asyncio.timeout(LIMIT):
                await loop.sock_connect(one, (parts.hostname, parts.port))
                await loop.sock_sendall(one, sent)
        except BaseException:
            one.close()
            raise
        return one


@asynccontextmanager
async def attacked(settings: Settings, folder: Path, *options: str, handles: int = HANDLES) -> AsyncIterator[Attacked]:
    """`phaseline serve` of an installation, ready, with so many handles."""
    log = folder / "serve.log"
    words = ["serve", "--nats", settings.nats[0], "--prefix", settings.prefix, "--listen", "127.0.0.1:0", *options]
    command = ["sh", "-c", f'ulimit -n {handles} && exec "$@"', "sh", sys.executable, "-m", MODULE, *words]
    with log.open("wb") as file:
        started = await asyncio.create_subprocess_exec(
            *command, env={**ENVIRONMENT, "PYTHONPATH": str(ROOT)}, cwd=ROOT, stdout=file, stderr=asyncio.subprocess.PIPE
        )  # fmt: skip
    async with ended(started):
        assert started.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", await line_with(started.stderr, "Ctrl-C"))
        assert found
        kept = asyncio.create_task(_kept(started.stderr, log))
        served = Attacked(started, found[0], log)
        async with served.client() as http, asyncio.timeout(LIMIT):
            while (await http.get("/readyz")).status_code != 200:
                await asyncio.sleep(0.05)
        try:
            yield served
        finally:
            kept.cancel()


async def _kept(stream: asyncio.StreamReader, log: Path) -> None:
    with log.open("ab", buffering=0) as file:
        while data := await stream.read(1 << 16):
            file.write(data)


class Attack:
    """Sockets that are held, and tasks that send, while the block runs."""

    def __init__(self, server: Attacked) -> None:
        self.server = server
        self.sockets: list[socket.socket] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for one in self.sockets:
            one.close()

    async def hold(self, *sent: bytes, addresses: int = 0) -> None:
        """A connection for each, which sends this and then nothing; from so many addresses in turn, if any."""
        for number, each in enumerate(sent):
            with suppress(OSError):
                self.sockets.append(await self.server.connect(each, source=_address(number, addresses)))

    async def hold_again(self, sent: bytes, number: int, addresses: int) -> None:
        """So many connections from so many addresses, which send this; each begins anew when it is ended."""
        self.tasks += [asyncio.create_task(self._held(sent, _address(one, addresses))) for one in range(number)]

    async def _held(self, sent: bytes, source: str) -> None:
        loop = asyncio.get_running_loop()
        while True:
            with suppress(OSError), await self.server.connect(sent, source=source) as one:
                while await loop.sock_recv(one, 1 << 12):
                    pass
            await asyncio.sleep(0.01)

    async def leave(self, number: int, sent: bytes, addresses: int, how: bytes) -> None:
        """So many at a time connect, send this, and leave at once, as fast as they can. how: the option `SO_LINGER`."""
        self.tasks += [asyncio.create_task(self._left(sent, _address(one, addresses), how)) for one in range(number)]

    async def _left(self, sent: bytes, source: str, how: bytes) -> None:
        while True:
            with suppress(OSError), await self.server.connect(sent, source=source) as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, how)
            await asyncio.sleep(0)

    async def flood(self, number: int, head: bytes, again: Callable[[int], bytes], pause: float = 0.0) -> None:
        """So many connections that send more and more, and begin anew when they are ended."""
        self.tasks += [asyncio.create_task(self._flood(head, again, pause)) for _ in range(number)]

    async def _flood(self, head: bytes, again: Callable[[int], bytes], pause: float) -> None:
        loop, number = asyncio.get_running_loop(), 0
        while True:
            with suppress(OSError):
                one = await self.server.connect(head)
                self.sockets.append(one)
                while True:
                    await loop.sock_sendall(one, again(number := number + 1))
                    await asyncio.sleep(pause)
            await asyncio.sleep(0.01)


def get(path: str, number: int = 0) -> bytes:
    """A request that follows nothing, or something else each time."""
    return f"GET {path.replace('NUMBER', str(number))} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def _address(number: int, addresses: int) -> str:
    """One of so many addresses of this machine, in turn; none if there are to be none."""
    return f"127.0.{1 + number % addresses // 250}.{1 + number % addresses % 250}" if addresses else ""


def _hold(sent: Callable[[int], bytes], number: int = MANY, addresses: int = 0) -> Callable[[Attack], Awaitable[None]]:
    return lambda attack: attack.hold(*(sent(one) for one in range(number)), addresses=addresses)


def _hold_again(sent: bytes, addresses: int = 0) -> Callable[[Attack], Awaitable[None]]:
    return lambda attack: attack.hold_again(sent, MANY, addresses)


def _leave(sent: bytes, addresses: int, how: bytes) -> Callable[[Attack], Awaitable[None]]:
    return lambda attack: attack.leave(20, sent, addresses, how)


def _flood(
    number: int, head: bytes, again: Callable[[int], bytes], pause: float = 0.0
) -> Callable[[Attack], Awaitable[None]]:
    return lambda attack: attack.flood(number, head, again, pause)


# fmt: off
ATTACKS: dict[str, Callable[[Attack], Awaitable[None]]] = {
    "silent connections":       _hold(lambda _: b""),
    "half a head":              _hold(lambda _: HEAD),
    "half a head, half a TLS":  _hold(lambda n: HEAD if n % 2 else b"\x16\x03\x01\x02\x00\x01\x00"),
    "half a head, many addresses": _hold(lambda _: HEAD, addresses=MANY),
    "half a head, again":       _hold_again(HEAD),
    "half a head, again, many addresses": _hold_again(HEAD, addresses=MANY),
    "silent, again, many addresses": _hold_again(b"", addresses=MANY),
    "half a body, again, many addresses": _hold_again(POST + b"Content-Length: 1000000\r\n\r\n{", addresses=MANY),
    "reset at once":            _leave(b"", 0, RESET),
    "reset at once, many addresses": _leave(HEAD, MANY, RESET),
    "closed at once":           _leave(b"", 0, CLOSED),
    "closed at once, many addresses": _leave(HEAD, MANY, CLOSED),
    "half a body":              _hold(lambda _: POST + b"Content-Length: 1000000\r\n\r\n{"),
    "no body after Expect":     _hold(lambda _: POST + b"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n"),
    "a head byte by byte":      _flood(MANY, b"GET / HT", lambda _: b"T", 0.2),
    "headers without end":      _flood(20, HEAD, lambda n: b"X-%d: %s\r\n" % (n, b"a" * 60_000)),
    "small headers":            _flood(20, HEAD, lambda n: b"X-%d: a\r\n" % n * 1_000),
    "a URL without end":        _flood(20, b"GET /", lambda _: b"a" * 60_000),
    "empty lines":              _flood(20, b"", lambda _: b"\r\n" * 30_000),
    "large bodies":             _flood(MANY, POST + b"Content-Length: 1000000\r\n\r\n", lambda _: b" " * 60_000, 0.5),
    "large bodies, complete":   _flood(20, b"", lambda _: POST + b"Content-Length: 1000000\r\n\r\n[" + b" " * 999_999, 0.2),
    "streams with bodies":      _hold(lambda _: get("/v1/transitions")[:-2] + b"Content-Length: 1000000\r\n\r\n" + b"a" * 65_000),
    "chunks without end":       _flood(20, CHUNKED, lambda _: b"1\r\n{\r\n" * 5_000),
    "a chunk's extension":      _flood(20, CHUNKED + b"1;", lambda _: b"a" * 60_000),
    "trailers without end":     _flood(20, CHUNKED + b"1\r\n{\r\n0\r\n", lambda n: b"X-%d: %s\r\n" % (n, b"a" * 60_000)),
    "a body that nobody reads": _flood(20, get("/livez")[:-2] + b"Content-Length: 999999999\r\n\r\n", lambda _: b"a" * 60_000),
    "pipelined":                _flood(20, b"", lambda _: get("/v1/counts") * 1_000),
    "pipelined after a stream": _flood(100, get("/v1/transitions"), lambda _: get("/v1/counts") * 100, 0.05),
    "upgrades":                 _flood(20, b"", lambda _: HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 0.01),
    "no HTTP":                  _flood(20, b"", lambda _: b"BREW / COFFEE/1.0\r\n\r\n", 0.01),
    "answers that nobody reads": _hold(lambda n: get("/v1/columns?deleted=NUMBER", n % 2)),
    "many answers, not read":   _flood(20, b"", lambda n: get("/v1/entities?limit=10000&min=NUMBER", n % 100), 0.1),
    "ranges that nobody reads": _hold(lambda n: get("/v1/transitions?from=1&limit=NUMBER", 10_000 - n)
                                      .replace(b"Host", b"Accept: application/json\r\nHost")),
    "states of the past":       _hold(lambda n: get("/v1/entities?limit=10000&at=NUMBER", n + 1)),
    "timelines":                _hold(lambda n: get("/v1/timeline/cluster/c1?from=NUMBER", n + 1)),
    "changes":                  _hold(lambda n: get("/v1/changes?limit=10000&from=NUMBER", n + 1)),
    "answers and no more":      _hold(lambda _: get("/page/main.js").replace(b"1.1", b"1.0")),
    "streams":                  _hold(lambda _: get("/v1/transitions")),
    "streams of the past":      _hold(lambda n: get("/v1/transitions?from=NUMBER", n + 1)),
    "streams of many filters":  _hold(lambda n: get("/v1/transitions?from=1&kind=node&tree=c0/p/nNUMBER&tree=c1", n)),
}
# fmt: on


async def answers(server: Attacked, path: str) -> int:
    """The status of a request on a connection of its own; 0 if that was ended before the request came."""
    with suppress(httpx2.RemoteProtocolError, httpx2.ReadError):
        async with server.client() as http:
            return (await http.get(path)).status_code
    return 0
