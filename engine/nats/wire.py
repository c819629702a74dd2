"""Talking to NATS: publish, request, JetStream API, subscribe. Failures are our own errors.

Belongs here: requests and their replies over one connection, which requests of others are answered. Does not: the use
of nats-py (`connection`), streams (`streams`), commits (`worker.ownership.fenced_commit`).
"""

import asyncio
import json
import re
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, Self

from phaseline.engine import logs
from phaseline.engine.nats import frames
from phaseline.engine.nats.accounts import roles
from phaseline.engine.nats.api_reply import Ack, Reply, read_ack, read_reply
from phaseline.engine.nats.connection import Callback, Connection, Taker, one_by_one
from phaseline.engine.nats.frames import Headers
from phaseline.engine.settings import Settings
from phaseline.schemas.errors import (
    NatsUnreachable,
    NoAnswer,
    NoJetStream,
    NoResponders,
    NoSuchStream,
    NotPermitted,
    RequestTimedOut,
    ServerRefused,
    SetupError,
)

WHOLE_API = re.compile(r"\$JS(\.[^.]+)?\.API")
"""The prefix of the whole API: of this server, or of a JetStream domain."""
SILENT_STREAM = "; the stream has no leader now, or the server cannot write to its disk (see the server's log)"
"""Why a server that is connected does not answer. After a failed write it is silent until it is started again."""

FLUSH, FLUSH_SILENT = 2.0, 0.1
"""Seconds to send the last bytes; and the same where the server has not answered lately."""

log = logs.get_logger(__name__)


Answering = Callable[[str, bytes, bytes | None, str], Awaitable[None]]
"""Answers a request. Called as a `Callback`, with the subject to which the answer goes at the end."""
INBOXES = ("_INBOX.", "_INBOX_", "_R_.")
"""The beginnings of inboxes: plain ones, those with a user's prefix, and those of requests from another account."""
QUIET = 60.0
"""Seconds in which one refusal to answer is logged."""
MOST_ANSWERED = 200
"""The most requests that are answered at the same time. Answering more would delay whatever else this process does."""
TOO_BUSY, AGAIN, TRIES = "429", 0.3, 3
"""How one says that it has too much to do; seconds until it is asked again; and how often."""
BUSY = {frames.ERROR: "as many requests are answered here as may be: ask again", frames.CODE: TOO_BUSY}
"""The headers of the answer to a request beyond what is answered at once."""


class ReplySubjects:
    """Says which requests may be answered: those that name an inbox for the answer. Counts the others.

    The server does not check the reply subject of a request, and answers are sent with the rights of the worker. So a
    request could have an answer stored in the log, or make it a call of the JetStream API.
    """

    def __init__(self, inbox_prefix: str) -> None:
        """`inbox_prefix`: the prefix of the inboxes that workers of this installation use."""
        self._inboxes = (*INBOXES, f"{inbox_prefix}.")
        self.refused = self.turned_away = 0
        self._logged = self._told = -QUIET

    def may_answer(self, subject: str, reply: str) -> bool:
        """Whether a request on `subject` that names `reply` is answered. If not, it is counted, and logged at times."""
        if reply.startswith(self._inboxes):
            return True
        self.refused += 1
        if time.monotonic() - self._logged >= QUIET:
            self._logged = time.monotonic()
            log.warning("reply_refused", subject=subject, reply=reply, refused=self.refused)
        return False

    def turn_away(self, subject: str) -> None:
        """Count a request that is not answered because too many are; log that at times."""
        self.turned_away += 1
        if time.monotonic() - self._told >= QUIET:
            self._told = time.monotonic()
            log.warning("request_turned_away", subject=subject, turned_away=self.turned_away)


class _Waiting(NamedTuple):
    """A request that waits. more: as for `Wire.request`."""

    subject: str
    future: asyncio.Future[Reply]
    more: Callable[[Reply], bool] | None


class Wire:
    """The connection of a process to NATS, with requests and subscriptions. It belongs to one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._connection = Connection(settings, self._down, self._back, self._denied)
        self._inbox = self.inbox()
        self.replies = ReplySubjects(settings.inbox_prefix)
        self._answering: set[asyncio.Future[None]] = set()
        self._serial = 0
        self._waiting: dict[str, _Waiting] = {}
        """By inbox, the requests that have no answer yet."""
        self._up = asyncio.Event()
        self._down_hooks: list[Callable[[], None]] = []
        self._up_hooks: list[Callable[[], None]] = []
        self._refusal_hooks: list[Callable[[str], bool]] = []
        self._violation = (0.0, "")
        self._inbox_refused = False
        """Whether this user may not subscribe to our inbox, so that no answer arrives."""
        self._closing = False
        self._opening = False
        self._silent = False
        """Whether the last request was not answered."""
        self.reconnects = 0
        """How often the connection came back."""

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, name: str = "phaseline", *, patient: bool = False) -> AsyncIterator[Self]:
        """Open a connection that always reconnects. Raises `NatsUnreachable`, unless `patient` waits for a server."""
        wire = await cls.start(settings, name, patient=patient)
        try:
            yield wire
        finally:
            await wire.close()

    @classmethod
    async def start(cls, settings: Settings, name: str = "phaseline", *, patient: bool = False) -> Self:
        """As `open`; it stays open until `close`."""
        wire = cls(settings)
        # Where the first connection fails the caller gets an error, so nothing is logged.
        wire._opening = not patient
        await wire._connection.open(name, patient=patient)
        wire._opening = False
        wire._up.set()
        try:
            await wire.subscribe(f"{wire._inbox}.*", wire._on_reply)
        except BaseException:
            await wire.close()
            raise
        return wire

    async def close(self) -> None:
        """Send the pending bytes and close the connection. A second call does nothing."""
        if not self._closing:
            self._closing = True
            for task in self._answering - {asyncio.current_task()}:
                task.cancel()
            await self._connection.flush_and_close(FLUSH_SILENT if self._silent else FLUSH)
            self._up.clear()
            self._fail_waiting()

    def _check_open(self) -> None:
        """Raise `RuntimeError` after `close`: it is a mistake in the program, which waiting does not mend."""
        if self._closing:
            raise RuntimeError("this connection is closed: open another one")

    # ---- the connection

    @property
    def connected(self) -> bool:
        """Whether the connection is up, so that frames can be sent."""
        return self._up.is_set()

    @property
    def heard(self) -> int:
        """How often bytes came from the server: a number that stands still while it is frozen."""
        return self._connection.heard

    @property
    def max_payload(self) -> int:
        """The largest size of headers and data that the server accepts in one message, in bytes."""
        return self._connection.max_payload

    @property
    def clustered(self) -> bool:
        """Whether the server is a member of a cluster, where the leader of a stream may change at any moment."""
        return self._connection.clustered

    @property
    def pending(self) -> int:
        """Bytes that wait to be written to the socket."""
        return self._connection.pending_data_size

    @property
    def version(self) -> str:
        """The version of the server; empty if it does not say."""
        return self._connection.version

    def require(self, major: int, minor: int) -> None:
        """Raise `SetupError.server_too_old` unless the server has at least that version."""
        if tuple(int(number) for number in re.findall(r"\d+", self.version)[:2]) < (major, minor):
            raise SetupError.server_too_old(version=self.version or "unknown", needed=f"{major}.{minor}")

    async def until_connected(self, timeout: float | None = None) -> None:
        """Wait for the connection; raises `NatsUnreachable` after `timeout` seconds, `RuntimeError` after `close`."""
        self._check_open()
        try:
            async with asyncio.timeout(timeout):
                await self._up.wait()
        except TimeoutError as error:
            raise self._connection.unreachable() from error

    def on_disconnect(self, hook: Callable[[], None]) -> Callable[[], None]:
        """Call `hook` whenever the connection breaks. Returns a function that removes the hook."""
        self._down_hooks.append(hook)
        return lambda: self._down_hooks.remove(hook)

    def on_reconnect(self, hook: Callable[[], None]) -> Callable[[], None]:
        """Call `hook` whenever connection and subscriptions are back. Returns a function that removes the hook."""
        self._up_hooks.append(hook)
        return lambda: self._up_hooks.remove(hook)

    def on_refusal(self, hook: Callable[[str], bool]) -> Callable[[], None]:
        """Call `hook` with each subject to which this user may not publish. It says whether it tells its caller.

        Returns a function that removes the hook.
        """
        self._refusal_hooks.append(hook)
        return lambda: self._refusal_hooks.remove(hook)

    def _down(self, cause: str) -> None:
        self._up.clear()
        self._fail_waiting()
        if not self._closing and not self._opening:
            log.warning("nats_disconnected", error=cause)
            for hook in tuple(self._down_hooks):
                hook()

    def _back(self) -> None:
        self._up.set()
        self.reconnects += 1
        log.info("nats_reconnected", url=self.settings.shown)
        for hook in tuple(self._up_hooks):
            hook()

    def _denied(self, violation: str) -> None:
        self._violation = (time.monotonic(), violation)
        quoted = re.search(r'"(.*)"', violation)
        denied = quoted[1] if quoted else ""
        told = False
        if denied == f"{self._inbox}.*":
            self._inbox_refused = told = True
        for subject, future, _ in self._waiting.values():
            if (subject == denied or self._inbox_refused) and not future.done():
                future.set_exception(self.refusal(subject))
                told = True
        told = any(hook(denied) for hook in tuple(self._refusal_hooks)) or told
        if not told:
            log.error("nats_permission_denied", error=violation)

    def refusal(self, subject: str) -> NotPermitted:
        """The error for a request to `subject` that the server does not permit, or whose answer cannot arrive."""
        if self._inbox_refused:
            return NotPermitted.inbox_refused(subject=f"{self._inbox}.*", violation=self._violation[1], who_may="")
        who_may = roles.who_may(subject, self.settings.prefix)
        return NotPermitted(subject=subject, violation=self._violation[1], who_may=who_may)

    # ---- sending

    def frame(self, subject: str, data: bytes, headers: Headers | None = None, reply: str = "") -> bytes:
        """One frame for `send`; several can be joined. Raises `ServerRefused`, or `frames.BadFrame`."""
        buffer = frames.frame(subject, data, headers, reply)
        limit = self._connection.max_payload
        if len(buffer) > limit and (size := len(buffer) - buffer.index(b"\n") - 3) > limit:
            raise ServerRefused.payload_too_large(subject=subject, size=size, limit=limit)
        return buffer

    def send(self, buffer: bytes) -> None:
        """Send frames as one buffer; raises `NatsUnreachable` while the connection is down."""
        self._check_open()
        self._connection.send(buffer)

    def publish(self, subject: str, data: bytes, headers: Headers | None = None) -> None:
        """Publish a message without waiting for an acknowledgement."""
        self.send(self.frame(subject, data, headers))

    async def flush(self, timeout: float = 5.0) -> None:
        """Wait until the server has read all frames sent before; raises `NoAnswer`."""
        await self.until_connected(timeout)
        try:
            await self._connection.ping(timeout)
        except TimeoutError as error:
            raise RequestTimedOut(subject="PING", seconds=timeout, hint="") from error

    # ---- requests

    async def ask(self, subject: str, payload: bytes = b"", timeout: float | None = None) -> Reply:
        """As `request`, again and again while who answers is busy; raises as it does, and `NoAnswer.too_busy`."""
        for before in range(TRIES):
            await asyncio.sleep(AGAIN if before else 0)
            reply = await self.request(subject, payload, timeout=timeout)
            if reply.headers.get(frames.CODE) != TOO_BUSY:
                return reply
        raise NoAnswer.too_busy(subject=subject)

    async def request(
        self,
        subject: str,
        payload: bytes = b"",
        headers: Headers | None = None,
        timeout: float | None = None,
        ahead: bytes = b"",
        more: Callable[[Reply], bool] | None = None,
    ) -> Reply:
        """Send a request and wait for its reply. `ahead`: frames that are sent in the same buffer, before the request.

        more: takes each reply, and says whether another one follows; the last one is returned.
        Raises a subclass of `NoAnswer` if the outcome is unknown, `NotPermitted`, `ServerRefused.payload_too_large`.
        """
        seconds = self.settings.request_timeout if timeout is None else timeout
        started = time.monotonic()
        if self._inbox_refused:
            raise self.refusal(subject)
        if not self._up.is_set():
            await self.until_connected(seconds)
        self._serial += 1
        inbox = f"{self._inbox}.{self._serial}"
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Reply] = loop.create_future()
        self._waiting[inbox] = _Waiting(subject, future, more)
        timer = loop.call_later(seconds - (time.monotonic() - started), _time_out, future)
        try:
            self.send(ahead + self.frame(subject, payload, headers, inbox))
            reply = await future
        except TimeoutError as error:
            self._silent = True
            raise RequestTimedOut(subject=subject, seconds=seconds, hint=self._hint(started)) from error
        finally:
            timer.cancel()
            del self._waiting[inbox]
        if not reply.data and reply.headers.get(frames.STATUS) == "503":
            if subject.startswith(f"{self.settings.prefix}.status."):
                raise NoResponders.no_worker(subject=subject)
            raise NoResponders(subject=subject)
        return reply

    async def publish_acked(self, subject: str, payload: bytes, headers: Headers | None = None) -> Ack:
        """Store a message in a stream; raises `Fenced`, `ApiFailed`, `NoSuchStream`, or as `request` does."""
        try:
            reply = await self.request(subject, payload, headers)
        except NoResponders as error:
            raise NoSuchStream(subject=subject) from error
        except RequestTimedOut as error:
            if error.hint or not self.connected:
                raise
            raise RequestTimedOut(subject=subject, seconds=error.seconds, hint=SILENT_STREAM) from error
        return read_ack(subject, reply.data)

    async def api(self, suffix: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call the JetStream API, for example `STREAM.INFO.x`; raises `ApiFailed`, or as `request` does."""
        subject = self.api_subject(suffix)
        try:
            reply = await self.request(subject, b"" if body is None else json.dumps(body).encode())
        except NoResponders as error:
            if self._connection.has_jetstream or not self.has_consumers:
                raise
            raise NoJetStream(subject=subject, url=self.settings.shown) from error
        return read_reply(subject, reply.data)

    def api_subject(self, suffix: str) -> str:
        """The subject of a call of the JetStream API, for example of `DIRECT.GET.x`."""
        return f"{self.settings.api_prefix}.{suffix}"

    @property
    def has_consumers(self) -> bool:
        """Whether consumers may be used. They cannot be offered to other accounts safely (`accounts.roles`)."""
        return WHOLE_API.fullmatch(self.settings.api_prefix) is not None

    def _on_reply(self, subject: str, data: bytes, block: bytes | None, _: str) -> None:
        waiting = self._waiting.get(subject)
        if waiting is not None and not waiting.future.done():
            self._silent = False
            reply = Reply(data, frames.read_headers(block) if block else {}, block)
            if waiting.more is None or not waiting.more(reply):
                waiting.future.set_result(reply)

    def _fail_waiting(self) -> None:
        for subject, future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(NoAnswer.connection_lost(subject=subject))

    def _hint(self, since: float) -> str:
        """The permission violation that the server reported since then, if any, as the end of an error message."""
        when, violation = self._violation
        return f"; meanwhile the server said: {violation}" if when >= since else ""

    # ---- subscribing

    def inbox(self) -> str:
        """A new subject prefix of our own, for replies."""
        return f"{self.settings.inbox_prefix}.{secrets.token_hex(8)}"

    async def subscribe(self, subject: str, callback: Callback, queue: str = "") -> int:
        """Call `callback` for each message, as it is received. Returns the id for `unsubscribe`. Survives reconnects.

        queue: of all subscriptions with this queue name, one gets each message.
        """
        self._check_open()
        return await self._connection.subscribe_with(subject, one_by_one(callback), queue)

    async def serve(self, subject: str, answer: Answering, queue: str = "", *, most: int | None = MOST_ANSWERED) -> int:
        """As `subscribe`, for requests: await `answer` for each that may be answered, in a task of its own.

        most: so many are answered at the same time, of all that ask on this connection; others get `BUSY` at once.
        """

        def take(subject: str, data: bytes, block: bytes | None, reply: str) -> None:
            if not self.replies.may_answer(subject, reply):
                return
            if most is not None and len(self._answering) >= most:
                self.replies.turn_away(subject)
                with suppress(NatsUnreachable):
                    self.publish(reply, b"{}", BUSY)
                return
            task = asyncio.ensure_future(answer(subject, data, block, reply))
            self._answering.add(task)
            task.add_done_callback(self._answered)

        return await self.subscribe(subject, take, queue)

    def _answered(self, task: asyncio.Future[None]) -> None:
        self._answering.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("request_unanswered", error=f"{type(error).__name__}: {error}", exc_info=error)

    async def subscribe_to_many(self, subject: str, take: Taker) -> int:
        """As `subscribe`, for who gets thousands of messages: `take` gets those that came together."""
        self._check_open()
        return await self._connection.subscribe_with(subject, take)

    async def unsubscribe(self, sid: int) -> None:
        """End a subscription. Its callback is not called again."""
        await self._connection.unsubscribe_from(sid)


def _time_out(future: asyncio.Future[Reply]) -> None:
    """Let a request wait no longer."""
    if not future.done():
        future.set_exception(TimeoutError())
