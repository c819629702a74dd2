"""uvicorn's protocol within limits: it reads no more than it can answer, and sends no more than is taken.

Belongs here: one connection, from its first byte to its end. Does not: the limits, and all connections together
(`guard`). With `server` the only importer of `uvicorn`.
"""

import asyncio
import functools
import time
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import httptools
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from phaseline.engine.surfaces.http import problems
from phaseline.engine.surfaces.http.access.access import PROBES
from phaseline.engine.surfaces.http.connections import guard as limits
from phaseline.engine.surfaces.http.connections.guard import Ending, Guard, Phase
from phaseline.schemas import codec

HEAD_ENDS = b"\r\n\r\n"


class _Flow(FlowControl):
    """Pauses reading also while requests wait that were read already. holds: whether there are any."""

    holds = False

    def resume_reading(self) -> None:
        if not self.holds:
            super().resume_reading()


class GuardedConnection(HttpToolsProtocol, asyncio.BufferedProtocol):
    """uvicorn's protocol within the limits."""

    flow: _Flow

    def __init__(self, guard: Guard, *arguments: Any, **named: Any) -> None:
        """guard: that of all connections. The rest is uvicorn's."""
        super().__init__(*arguments, **named)
        self.guard, self.app, self.peer = guard, self._answer, ""
        self.is_extra = False
        """Whether it is beyond the room, and only probes are answered."""
        self.since = time.monotonic()
        self.unread = 0
        """Bytes of the answer that is being sent."""
        self.body = 0
        """Bytes of the body that is held until the answer begins."""
        self.turn: asyncio.Future[bool] | None = None
        """The turn that the request waits for, or has had."""
        self._phase = limits.IDLE
        self._held = b""
        """What was read and not parsed, because requests before it wait for their answers."""
        self._framing = self._body = 0
        """Bytes of the request that is being read: in all but its body, and in its body."""
        self._in_head = self._in_body = self._is_deaf = False

    # what the connection does

    def phase(self) -> Phase:
        """What it does now."""
        if self.transport.is_closing():
            return limits.CLOSING
        if self.flow.write_paused:
            return limits.BLOCKED
        if self._in_body and not self.pipeline:
            return limits.BODY
        if self._is_busy:
            return limits.ANSWER
        return limits.HEAD if self._in_head or self._framing else limits.IDLE

    def note(self) -> Phase:
        """The same, and remember since when."""
        phase = self.phase()
        if phase is not self._phase:
            self._phase, self.since = phase, time.monotonic()
        return phase

    @property
    def _is_busy(self) -> bool:
        """Whether the answer to a request is not complete."""
        return bool(self.pipeline) or (self.cycle is not None and not self.cycle.response_complete)

    # asyncio's calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's
        """Begin."""
        super().connection_made(transport)
        self.flow = _Flow(transport)
        transport.set_write_buffer_limits(limits.PIECE)
        self.peer = limits.network(self.client[0] if self.client else "")
        self.since = time.monotonic()
        self.guard.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self.guard.forget(self)
        self._held = b""
        super().connection_lost(exc)
        self._give_up()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  # asyncio's signature
        """Where the next bytes go."""
        return self.guard.place()

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes have come."""
        self.data_received(bytes(self.guard.taken[:nbytes]))

    def pause_writing(self) -> None:
        """The client does not take what is sent."""
        super().pause_writing()
        self.note()

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        self.note()

    # reading

    def data_received(self, data: bytes) -> None:
        """Parse what has come; requests beyond the next one wait until it is answered."""
        if not self._is_over:
            self._held += data
            self._parse()

    def _parse(self) -> None:
        data, self._held = self._held, b""
        at = self._blank(data)
        while at < len(data) and not self._is_over and (self._in_body or not self._is_busy):
            ends = -1 if self._in_body else data.find(HEAD_ENDS, at, at + limits.SLICE)
            size = limits.SLICE if ends < 0 else ends + len(HEAD_ENDS) - at
            self._feed(data[at : at + size])
            at += size
            at += self._blank(data[at:])
        self._held = b"" if self._is_over else data[at:]
        held, self.flow.holds = self.flow.holds, bool(self._held)
        if self.flow.holds:
            self.flow.pause_reading()
        elif held:
            self.flow.resume_reading()
        self.note()

    def _blank(self, data: bytes) -> int:
        """How many bytes of empty lines stand before the next request. The parser would skip them, four at a time."""
        if self._in_head or self._in_body or data[:1] not in (b"\r", b"\n"):
            return 0
        blank = len(data) - len(data.lstrip(b"\r\n"))
        self._framing += blank
        self._check()
        return blank

    @property
    def _is_over(self) -> bool:
        """Whether nothing more is read."""
        return self.parser is None or self._is_deaf or self.transport.is_closing()

    def _feed(self, piece: bytes) -> None:
        self._framing += len(piece)
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade:  # it is answered as any request, and what follows is not read
            self._is_deaf, self.cycle.keep_alive = True, False
        except httptools.HttpParserError:
            self.end(limits.MALFORMED)
        else:
            self._check()

    def _check(self) -> None:
        """End the connection if the request that is being read is beyond a limit."""
        if (
            self._framing > limits.LARGEST_HEAD + limits.FRAMING * self._body
            or len(self.headers or ()) > limits.MOST_HEADERS
        ):
            self.end(limits.URL_LONG if self._in_head and len(self.url) > limits.LONGEST_URL else limits.HEAD_LARGE)
        elif self._body > limits.UNWANTED:
            self.end(limits.BODY_LARGE)
        elif self.body:
            self.guard.relieve_bodies()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._in_head = True

    def on_headers_complete(self) -> None:
        """A head has ended."""
        super().on_headers_complete()
        self._in_head, self._in_body, self._framing, self._body = False, True, 0, 0

    def on_body(self, body: bytes) -> None:
        """A part of a body has come."""
        self._framing -= len(body)
        self._body += len(body)
        if not self.cycle.response_started:  # else nobody reads it any more
            self.body += len(body)
            self.guard.bodies += len(body)
            super().on_body(body)

    def _let_go(self) -> None:
        """Hold nothing of a body any more."""
        self.guard.bodies -= self.body
        self.body = 0

    def _give_up(self) -> None:
        """Let the request that waits end, because the connection has."""
        self._let_go()
        if self.turn is not None and not self.turn.done():
            self.turn.set_result(False)

    def on_message_complete(self) -> None:
        """A request has ended."""
        self._in_body, self._framing, self._body = False, 0, 0
        super().on_message_complete()

    # answering

    def on_response_complete(self) -> None:
        """An answer is sent: go on with what waits."""
        self._answered()
        super().on_response_complete()
        self._parse()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, in pieces that the client takes one after the other."""
        self.is_extra = self.is_extra and not self.guard.has_place  # others may have gone since it came
        if self.is_extra:
            self.cycle.keep_alive = False
        is_probe = scope["path"] in PROBES
        if self.is_extra and not is_probe and not await self.guard.make_room(is_whole=not self._in_body):
            self.guard.clients.refuse(limits.FULL.reason, self.peer)
            await send({"type": "http.response.start", "status": limits.FULL.status, "headers": _headers(limits.FULL)})
            await send({"type": "http.response.body", "body": _body(limits.FULL)})
            return
        if not is_probe and not await self.guard.turns.take(self):
            return
        await self.guard.app(scope, receive, functools.partial(self._in_pieces, send))

    async def _in_pieces(self, send: Send, message: Message) -> None:
        self._answered()
        body, more = message.get("body", b""), message.get("more_body", False)
        if len(body) <= limits.PIECE:
            await self._send(send, message)
            return
        self.unread = len(body)
        self.guard.unread += len(body)
        try:
            self.guard.relieve()
            for at in range(0, len(body), limits.PIECE):
                piece = bytes(body[at : at + limits.PIECE])
                last = at + limits.PIECE >= len(body)
                await self._send(send, {"type": "http.response.body", "body": piece, "more_body": more or not last})
        finally:
            self.guard.unread -= self.unread
            self.unread = 0

    async def _send(self, send: Send, message: Message) -> None:
        if self.transport.is_closing():  # asyncio would log it: let it tell uvicorn first, which sends no more then
            await asyncio.sleep(0)
        await send(message)

    def _answered(self) -> None:
        """An answer has begun, so nobody reads the body any more, unless it is that of a later request."""
        if not self.pipeline:
            self._let_go()
            self.cycle.body = bytearray()

    def end(self, why: Ending | None) -> None:
        """End the connection, with an answer if the client waits for one. why: None for no refusal."""
        if why is not None:
            self.guard.clients.refuse(why.reason, self.peer)
            if why.status and self._is_asking:
                self.transport.write(refusal(why))
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.guard.unread -= self.unread
        self.unread, self._held = 0, b""
        self._give_up()
        self.guard.forget(self)
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    @property
    def _is_asking(self) -> bool:
        """Whether a request has begun to come, and nothing was answered to it, and nothing is owed to those before."""
        if self.transport.is_closing() or self.pipeline:
            return False
        if self._in_body:
            return not self.cycle.response_started
        return not self._is_busy and bool(self._in_head or self._framing)


@functools.cache
def refusal(why: Ending) -> bytes:
    """The answer to a request that is not heard to its end."""
    head = f"HTTP/1.1 {why.status} {HTTPStatus(why.status).phrase}\r\n".encode()
    lines = b"".join(b"%s: %s\r\n" % pair for pair in _headers(why))
    return b"%s%s\r\n%s" % (head, lines, _body(why))


def _headers(why: Ending) -> Iterable[tuple[bytes, bytes]]:
    return (
        (b"content-type", problems.MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(_body(why))),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ) + (((b"retry-after", problems.RETRY_AFTER.encode()),) if why.status == limits.FULL.status else ())


def _body(why: Ending) -> bytes:
    title = HTTPStatus(why.status).phrase.lower()
    return codec.encode_json({"type": "about:blank", "title": title, "status": why.status, "detail": why.detail})
