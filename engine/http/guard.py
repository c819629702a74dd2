"""What one client may take of the server: bytes, requests and seconds of a connection, and connections of all.

Belongs here: the limits, uvicorn's protocol with them, whose connection gives way. Does not: accepting (`server`),
counting what was refused (`clients`), readers of transitions (`live.seats`).
"""

import asyncio
import functools
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from heapq import nsmallest
from http import HTTPStatus
from typing import Any, NamedTuple

import httptools
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from phaseline.engine.http import problems
from phaseline.engine.http.access.access import PROBES
from phaseline.engine.http.clients import Clients
from phaseline.schemas import codec

LARGEST_HEAD, MOST_HEADERS, LONGEST_URL = 32 << 10, 100, 24 << 10
"""Bytes of a head, and lines in it; bytes of the URL above which it is the URL that is too long."""
FRAMING = 8
"""Bytes of chunk sizes and the like that each byte of a body may have, beside those that a head may have."""
UNWANTED = 16 << 20
"""Bytes of a body above which the connection ends: the answer, that it is too large, was sent long before."""
TAKEN, SLICE = 4 << 10, 256
"""Bytes that are read from a socket at once, and that are parsed at once: no more than a dozen requests."""
PIECE = 16 << 10
"""Bytes of an answer that are handed to a socket at once."""
UNREAD, TARDY = 32 << 20, 1.0
"""Bytes of answers that all clients have not taken; beyond that, who took nothing for so many seconds gives way."""
EXTRA, GIVING_WAY, GRACE = 16, 16, 0.2
"""Connections beyond the room, for probes; how many give way at once when the room is full, and after how long."""


HEAD_ENDS = b"\r\n\r\n"


class Refusal(NamedTuple):
    """Why a connection ends. status: of the answer, if there is one."""

    reason: str
    status: int = 0
    detail: str = ""


EVICTED = Refusal("evicted", 503, "others need this connection: try again, and send the request at once")
FULL = Refusal("full", 503, "this server has too many connections: try again in a moment")
HEAD_LATE = Refusal("head_late", 408, "the head of the request did not come to its end in time: send it at once")
BODY_LATE = Refusal("body_late", 408, "the body of the request did not come to its end in time: send it at once")
HEAD_LARGE = Refusal("head_large", 431, f"a head has at most {LARGEST_HEAD} bytes and {MOST_HEADERS} headers")
URL_LONG = Refusal("url_long", 414, f"a URL has at most {LONGEST_URL} bytes")
BODY_LARGE = Refusal("body_large")
MALFORMED = Refusal("malformed", 400, "this is no HTTP request")
NOT_READ = Refusal("not_read")
NO_HANDLES = Refusal("no_handles")


class Phase(NamedTuple):
    """What a connection does. seconds: how long it may. rank: who gives way first to others; None: nobody."""

    name: str
    seconds: float | None
    rank: int | None
    refusal: Refusal | None


# fmt: off
#               name        seconds rank  refusal
CLOSING = Phase("closing",  10.0,   2,    NOT_READ)   # the answer is sent, and not taken
BLOCKED = Phase("blocked",  30.0,   2,    NOT_READ)   # a piece of an answer waits to be taken
BODY    = Phase("body",     30.0,   2,    BODY_LATE)  # a body comes
ANSWER  = Phase("answer",   None,   None, None)       # we work, or a reader follows transitions
HEAD    = Phase("head",     10.0,   0,    HEAD_LATE)  # a head comes
IDLE    = Phase("idle",     75.0,   1,    None)       # nothing was asked yet, or all is answered
# fmt: on


class _Flow(FlowControl):
    """Pauses reading also while requests wait that were read already. holds: whether there are any."""

    holds = False

    def resume_reading(self) -> None:
        if not self.holds:
            super().resume_reading()


class Turns:
    """Lets one request after the other begin, in turn by peer, with a look at all sockets in between.

    An answer takes milliseconds of computing. Without turns a probe would wait for all requests that came before it.
    """

    def __init__(self) -> None:
        """Nobody waits."""
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._is_taken = False

    async def take(self, peer: str) -> None:
        """Wait for a turn."""
        loop = asyncio.get_running_loop()
        if self._is_taken:
            turn = loop.create_future()
            self._waiting.setdefault(peer, deque()).append(turn)
            await turn
        else:
            self._is_taken = True
            loop.call_soon(self._next)

    def _next(self) -> None:
        while self._waiting:
            peer, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[peer] = turns
            if not turn.done():  # its request was given up
                turn.set_result(None)
                asyncio.get_running_loop().call_soon(self._next)
                return
        self._is_taken = False


class Guard:
    """All connections of a server."""

    def __init__(self, app: ASGIApp, clients: Clients) -> None:
        """app: what answers. clients: what is counted, and how many connections there is room for."""
        self.app, self.clients, self.turns = app, clients, Turns()
        self.taken = memoryview(bytearray(TAKEN))
        """Where every connection reads to; its bytes are copied at once."""
        self.unread = 0
        """Bytes of answers that are being sent."""
        self._open: set[Connection] = set()
        self._peers: Counter[str] = Counter()

    def admit(self, one: "Connection") -> None:
        """A connection that begins. If there is no room, it may ask for probes only."""
        one.is_extra = len(self._open) >= self.clients.room
        self._open.add(one)
        self._peers[one.peer] += 1
        self.clients.connections = len(self._open)

    def forget(self, one: "Connection") -> None:
        """A connection that ends."""
        if one in self._open:
            self._open.remove(one)
            self._peers -= Counter((one.peer,))
            self.clients.connections = len(self._open)

    def has_room(self, opening: int) -> bool:
        """Whether one more can be accepted. Makes room. opening: connections that are accepted, and not here yet."""
        missing = len(self._open) + opening - self.clients.room + 1
        if missing <= 0:
            return True
        missing -= self.give_way()
        if missing <= 0:
            return True
        # Who has asked nothing yet gives way soon, unless it asks: that is worth waiting for.
        return missing <= EXTRA and not opening and not any(one.is_new for one in self._open)

    def give_way(self) -> int:
        """End some connections that wait for their clients: those of the peers that have most, the oldest first.

        Of those that send or take something, only one at a time, and none that has done so lately.
        """
        now = time.monotonic()
        for rank, number, grace in ((0, GIVING_WAY, GRACE), (1, GIVING_WAY, GRACE), (2, 1, TARDY)):
            found = [one for one in self._open if one.phase().rank == rank and now - one.since >= grace]
            if found:
                gone = nsmallest(number, found, key=lambda one: (-self._peers[one.peer], one.since))
                for one in gone:
                    one.end(EVICTED)
                return len(gone)
        return 0

    def relieve_handles(self) -> None:
        """No handle is left for a connection: end some that wait."""
        self.clients.refuse(NO_HANDLES.reason, "")
        self.give_way()

    def sweep(self) -> None:
        """End the connections whose time is over."""
        now = time.monotonic()
        for one in tuple(self._open):
            phase = one.note()
            if phase.seconds is not None and now - one.since > phase.seconds:
                one.end(phase.refusal)
        self.relieve()

    def relieve(self) -> None:
        """End the connections of those who take their answers too slowly, if too much waits for them."""
        if self.unread <= UNREAD:
            return
        before = time.monotonic() - (TARDY if self.unread < 2 * UNREAD else 0.0)
        blocked = [one for one in self._open if one.unread and one.phase() is BLOCKED and one.since <= before]
        for one in sorted(blocked, key=lambda one: one.since):
            if self.unread > UNREAD:
                one.end(NOT_READ)


class Connection(HttpToolsProtocol, asyncio.BufferedProtocol):
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
        self._phase = IDLE
        self._held = b""
        """What was read and not parsed, because requests before it wait for their answers."""
        self._framing = self._body = 0
        """Bytes of the request that is being read: in all but its body, and in its body."""
        self._in_head = self._in_body = self._is_deaf = False

    # what the connection does

    def phase(self) -> Phase:
        """What it does now."""
        if self.transport.is_closing():
            return CLOSING
        if self.flow.write_paused:
            return BLOCKED
        if self._in_body and not self.pipeline:
            return BODY
        if self._is_busy:
            return ANSWER
        return HEAD if self._in_head or self._framing else IDLE

    def note(self) -> Phase:
        """The same, and remember since when."""
        phase = self.phase()
        if phase is not self._phase:
            self._phase, self.since = phase, time.monotonic()
        return phase

    @property
    def is_new(self) -> bool:
        """Whether no request has come yet."""
        return self.cycle is None and not self.is_extra

    @property
    def _is_busy(self) -> bool:
        """Whether the answer to a request is not complete."""
        return bool(self.pipeline) or (self.cycle is not None and not self.cycle.response_complete)

    # asyncio's calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's
        """Begin."""
        super().connection_made(transport)
        self.flow = _Flow(transport)
        transport.set_write_buffer_limits(PIECE)
        self.peer = _network(self.client)
        self.since = time.monotonic()
        self.guard.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self.guard.forget(self)
        self._held = b""
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  # asyncio's signature
        """Where the next bytes go."""
        return self.guard.taken

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
        at = 0
        while at < len(data) and not self._is_over and (self._in_body or not self._is_busy):
            ends = -1 if self._in_body else data.find(HEAD_ENDS, at, at + SLICE)
            size = SLICE if ends < 0 else ends + len(HEAD_ENDS) - at
            self._feed(data[at : at + size])
            at += size
        self._held = b"" if self._is_over else data[at:]
        held, self.flow.holds = self.flow.holds, bool(self._held)
        if self.flow.holds:
            self.flow.pause_reading()
        elif held:
            self.flow.resume_reading()
        self.note()

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
            self.end(MALFORMED)
        else:
            self._check()

    def _check(self) -> None:
        """End the connection if the request that is being read is beyond a limit."""
        if self._framing > LARGEST_HEAD + FRAMING * self._body or len(self.headers or ()) > MOST_HEADERS:
            self.end(URL_LONG if self._in_head and len(self.url) > LONGEST_URL else HEAD_LARGE)
        elif self._body > UNWANTED:
            self.end(BODY_LARGE)

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
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request has ended."""
        self._in_body, self._framing, self._body = False, 0, 0
        super().on_message_complete()

    # answering

    def on_response_complete(self) -> None:
        """An answer is sent: go on with what waits."""
        super().on_response_complete()
        self._parse()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, in pieces that the client takes one after the other."""
        if self.is_extra:
            self.cycle.keep_alive = False
        if self.is_extra and scope["path"] not in PROBES:
            self.guard.clients.refuse(FULL.reason, self.peer)
            await send({"type": "http.response.start", "status": FULL.status, "headers": _headers(FULL)})
            await send({"type": "http.response.body", "body": _body(FULL)})
            return
        if scope["path"] not in PROBES:
            await self.guard.turns.take(self.peer)
        await self.guard.app(scope, receive, functools.partial(self._in_pieces, send))

    async def _in_pieces(self, send: Send, message: Message) -> None:
        body, more = message.get("body", b""), message.get("more_body", False)
        if len(body) <= PIECE:
            await send(message)
            return
        self.unread = len(body)
        self.guard.unread += len(body)
        try:
            self.guard.relieve()
            for at in range(0, len(body), PIECE):
                piece = bytes(body[at : at + PIECE])
                last = at + PIECE >= len(body)
                await send({"type": "http.response.body", "body": piece, "more_body": more or not last})
        finally:
            self.guard.unread -= self.unread
            self.unread = 0

    def end(self, why: Refusal | None) -> None:
        """End the connection, with an answer if the client waits for one. why: None for no refusal."""
        if why is not None:
            self.guard.clients.refuse(why.reason, self.peer)
            if why.status and self._is_asking:
                head = f"HTTP/1.1 {why.status} {HTTPStatus(why.status).phrase}\r\n".encode()
                lines = b"".join(b"%s: %s\r\n" % pair for pair in _headers(why))
                self.transport.write(b"%s%s\r\n%s" % (head, lines, _body(why)))
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.guard.unread -= self.unread
        self.unread, self._held = 0, b""
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


def _headers(why: Refusal) -> Iterable[tuple[bytes, bytes]]:
    return (
        (b"content-type", problems.MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(_body(why))),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ) + (((b"retry-after", problems.RETRY_AFTER.encode()),) if why.status == FULL.status else ())


def _body(why: Refusal) -> bytes:
    title = HTTPStatus(why.status).phrase.lower()
    return codec.encode_json({"type": "about:blank", "title": title, "status": why.status, "detail": why.detail})


def _network(client: tuple[str, int] | None) -> str:
    """Whose connection it is: the address; of IPv6 the network, of which anybody has all addresses."""
    host = "" if client is None else client[0]
    return ":".join(host.split(":")[:4]) if ":" in host else host
