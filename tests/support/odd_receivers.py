"""Receivers of notices as they are in the world: HTTP servers that refuse, hang, break off, and a mail server.

Belongs here: servers on loopback that keep what they got. Does not: what is sent to them.
"""

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class GotRequest:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)

    def is_signed_by(self, secret: bytes) -> bool:
        """Whether the body is signed as GitHub signs webhooks."""
        return self.headers["x-hub-signature-256"] == f"sha256={hmac.new(secret, self.body, 'sha256').hexdigest()}"


def answer(status: int, body: bytes = b"", **headers: str) -> bytes:
    """The bytes of an answer. headers: with `_` for `-`."""
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


Behaviour = Callable[[GotRequest, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class OddReceiver:
    """An HTTP server. answers: what it answers, one after the other; the last one again and again."""

    answers: list[bytes | Behaviour] = field(default_factory=lambda: [answer(200, b"ok")])
    got: list[GotRequest] = field(default_factory=list)
    port: int = 0
    connections: int = 0

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}/hook/T0PSECRETPART?x=1"

    async def until(self, number: int) -> None:
        """Wait for so many requests."""
        async with asyncio.timeout(30):
            while len(self.got) < number:
                await asyncio.sleep(0.01)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            request = GotRequest(first.split(" ")[1], headers, body)
            self.got.append(request)
            chosen = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if isinstance(chosen, bytes):
                writer.write(chosen)
                await writer.drain()
            else:
                await chosen(request, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def receiving(*answers: bytes | Behaviour) -> AsyncIterator[OddReceiver]:
    """A server that gives these answers."""
    found = OddReceiver([*answers]) if answers else OddReceiver()
    async with _serving(found.serve) as found.port:
        yield found


@asynccontextmanager
async def _serving(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[int]:
    """A server on a free port of loopback. What it still does at the end is cut off."""
    tasks = set[asyncio.Task[Any]]()

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await serve(reader, writer)
        except asyncio.CancelledError:
            writer.close()
        finally:
            tasks.discard(task)

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in [*tasks]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def hang(_: GotRequest, writer: asyncio.StreamWriter) -> None:
    """Say nothing, for ever."""
    await asyncio.Event().wait()


async def close(_: GotRequest, writer: asyncio.StreamWriter) -> None:
    """Close the connection without an answer."""


async def never_end(_: GotRequest, writer: asyncio.StreamWriter) -> None:
    """Answer 200, and a body without end."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
        await writer.drain()


async def drip(_: GotRequest, writer: asyncio.StreamWriter) -> None:
    """Answer the head byte by byte, without end."""
    writer.write(b"HTTP/1.1 200 OK\r\nX-A: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


@dataclass
class MailReceiver:
    """A mail server that keeps mails.

    refuses: by command, or by a whole line, what it answers instead of yes: `hang` is nothing, `endless` lines without
    end, `echo` refuses with the command itself.
    """

    refuses: dict[str, str] = field(default_factory=dict)
    mails: list[bytes] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        writer.write(b"220 here\r\n")
        try:
            while line := (await reader.readline()).decode().strip():
                self.commands.append(line)
                word = line.split(" ", maxsplit=1)[0].upper()
                if (refused := self.refuses.get(line) or self.refuses.get(word)) is not None:
                    await self._refuse(writer, refused, line)
                elif word == "DATA":
                    writer.write(b"354 go on\r\n")
                    self.mails.append(await reader.readuntil(b"\r\n.\r\n"))
                    writer.write(b"250 taken as 17\r\n")
                elif word == "QUIT":
                    writer.write(b"221 bye\r\n")
                    break
                else:
                    writer.write(b"250 ok\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _refuse(self, writer: asyncio.StreamWriter, how: str, line: str) -> None:
        if how == "hang":
            await asyncio.Event().wait()
        while how == "endless":
            writer.write((b"250-" + b"x" * 500 + b"\r\n") * 100)
            await writer.drain()
        writer.write(f"535 no {line}\r\n".encode() if how == "echo" else f"{how}\r\n".encode())


@asynccontextmanager
async def receiving_mail(**refuses: str) -> AsyncIterator[MailReceiver]:
    """A mail server that refuses these commands."""
    found = MailReceiver(refuses)
    async with _serving(found.serve) as found.port:
        yield found
