"""What the engine says to NATS: send, ask, publish, call the JetStream API, subscribe; failures come as our errors.

Belongs here: requests and their answers over one connection. Does not: `nats` itself (`connection`), streams, commits.
"""

import asyncio
import json
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

import structlog

from phaseline.engine.errors import (
    ConnectionLost,
    NoResponders,
    NoSuchStream,
    NotPermitted,
    PayloadTooLarge,
    RequestTimedOut,
    ServerTooOld,
)
from phaseline.engine.jetstream import frames
from phaseline.engine.jetstream.api_reply import Ack, Reply, acknowledged, read_answer
from phaseline.engine.jetstream.connection import Callback, Connection
from phaseline.engine.jetstream.frames import Headers
from phaseline.engine.settings import Settings

log = structlog.get_logger(__name__)


class Wire:
    """One connection, shared by all of a process; it belongs to one event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._connection = Connection(settings, self._down, self._back, self._denied)
        self._inbox = self.inbox()
        self._serial = 0
        self._waiting: dict[str, tuple[str, asyncio.Future[Reply]]] = {}
        self._up = asyncio.Event()
        self._down_hooks: list[Callable[[], None]] = []
        self._up_hooks: list[Callable[[], None]] = []
        self._violation = (0.0, "")
        self._closing = False
        self._dialling = False

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, name: str = "phaseline", *, patient: bool = False) -> AsyncIterator[Self]:
        """A connection that comes back for ever. `patient` waits for the first one too; else `NatsUnreachable`."""
        wire = cls(settings)
        # A first connection that fails is the caller's to tell, not the log's.
        wire._dialling = not patient
        await wire._connection.dial(name, patient=patient)
        wire._dialling = False
        wire._up.set()
        try:
            await wire.subscribe(f"{wire._inbox}.*", wire._replied)
            yield wire
        finally:
            await wire.close()

    async def close(self) -> None:
        """Send what is pending and hang up."""
        self._closing = True
        await self._connection.hang_up()
        self._fail_waiting()

    # ---- the connection

    @property
    def connected(self) -> bool:
        """Whether frames can be sent now."""
        return self._up.is_set()

    @property
    def max_payload(self) -> int:
        """Bytes of headers and data that the server takes in one message."""
        return self._connection.max_payload

    @property
    def pending(self) -> int:
        """Bytes handed over that the operating system has not taken yet."""
        return self._connection.pending_data_size

    def require(self, major: int, minor: int) -> None:
        """Raise `ServerTooOld` unless the server is at least that version."""
        found = self._connection.version
        if tuple(int(number) for number in re.findall(r"\d+", found)[:2]) < (major, minor):
            raise ServerTooOld(version=found or "unknown", needed=f"{major}.{minor}")

    async def until_connected(self, timeout: float | None = None) -> None:
        """Wait for the connection; raises `NatsUnreachable` after `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self._up.wait()
        except TimeoutError as error:
            raise self._connection.unreachable() from error

    def on_disconnect(self, hook: Callable[[], None]) -> Callable[[], None]:
        """Call `hook` whenever the connection breaks; the answer takes it back."""
        self._down_hooks.append(hook)
        return lambda: self._down_hooks.remove(hook)

    def on_reconnect(self, hook: Callable[[], None]) -> Callable[[], None]:
        """Call `hook` whenever the connection is back, subscriptions included; the answer takes it back."""
        self._up_hooks.append(hook)
        return lambda: self._up_hooks.remove(hook)

    def _down(self, cause: str) -> None:
        self._up.clear()
        self._fail_waiting()
        if not self._closing and not self._dialling:
            log.warning("disconnected from NATS", cause=cause)
            for hook in tuple(self._down_hooks):
                hook()

    def _back(self) -> None:
        self._up.set()
        log.info("connected to NATS again", url=self._settings.shown)
        for hook in tuple(self._up_hooks):
            hook()

    def _denied(self, violation: str) -> None:
        log.error("NATS denied permission", violation=violation)
        self._violation = (time.monotonic(), violation)
        quoted = re.search(r'"(.*)"', violation)
        for subject, future in self._waiting.values():
            if quoted and subject == quoted[1] and not future.done():
                future.set_exception(NotPermitted(subject=subject, violation=violation))

    # ---- sending

    def frame(self, subject: str, data: bytes, headers: Headers | None = None, reply: str = "") -> bytes:
        """One frame, to be joined with others for `send`; raises `PayloadTooLarge`, or `frames.BadFrame`."""
        found = frames.frame(subject, data, headers, reply)
        limit = self._connection.max_payload
        if len(found) > limit and (size := len(found) - found.index(b"\n") - 3) > limit:
            raise PayloadTooLarge(subject=subject, size=size, limit=limit)
        return found

    def send(self, buffer: bytes) -> None:
        """Hand over frames in one piece; raises `NatsUnreachable` while there is no connection."""
        self._connection.hand_over(buffer)

    def publish(self, subject: str, data: bytes, headers: Headers | None = None) -> None:
        """One plain message, unacknowledged."""
        self.send(self.frame(subject, data, headers))

    async def flush(self, timeout: float = 5.0) -> None:
        """Wait until the server has read all that was sent; raises `NoAnswer`."""
        await self.until_connected(timeout)
        try:
            await self._connection.ping(timeout)
        except TimeoutError as error:
            raise RequestTimedOut(subject="PING", seconds=timeout, hint="") from error

    # ---- asking

    async def request(
        self,
        subject: str,
        payload: bytes = b"",
        headers: Headers | None = None,
        timeout: float | None = None,
        ahead: bytes = b"",
    ) -> Reply:
        """Ask and wait for one answer. `ahead`: frames that go out in the same piece, just before.

        Raises `NoAnswer` (its subclasses say why) where the outcome is unknown, `NotPermitted`, `PayloadTooLarge`.
        """
        seconds = self._settings.request_timeout if timeout is None else timeout
        begun = time.monotonic()
        if not self._up.is_set():
            await self.until_connected(seconds)
        self._serial += 1
        inbox = f"{self._inbox}.{self._serial}"
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[inbox] = (subject, future)
        try:
            self.send(ahead + self.frame(subject, payload, headers, inbox))
            async with asyncio.timeout(seconds - (time.monotonic() - begun)):
                reply = await future
        except TimeoutError as error:
            raise RequestTimedOut(subject=subject, seconds=seconds, hint=self._hint(begun)) from error
        finally:
            del self._waiting[inbox]
        if not reply.data and reply.headers.get(frames.STATUS) == "503":
            raise NoResponders(subject=subject)
        return reply

    async def publish_acked(self, subject: str, payload: bytes, headers: Headers | None = None) -> Ack:
        """One message into a stream; raises `Fenced`, `ApiFailed`, `NoSuchStream`, or as `request` does."""
        try:
            reply = await self.request(subject, payload, headers)
        except NoResponders as error:
            raise NoSuchStream(subject=subject) from error
        return acknowledged(subject, reply.data)

    async def api(self, suffix: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """A JetStream API call, `STREAM.INFO.x` and the like; raises `ApiFailed`, or as `request` does."""
        subject = f"$JS.API.{suffix}"
        reply = await self.request(subject, b"" if body is None else json.dumps(body).encode())
        return read_answer(subject, reply.data)

    def _replied(self, subject: str, data: bytes, block: bytes | None, _: str) -> None:
        waiting = self._waiting.get(subject)
        if waiting is not None and not waiting[1].done():
            waiting[1].set_result(Reply(data, frames.read_headers(block) if block else {}))

    def _fail_waiting(self) -> None:
        for subject, future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionLost(subject=subject))

    def _hint(self, since: float) -> str:
        when, violation = self._violation
        return f"; meanwhile the server said: {violation}" if when >= since else ""

    # ---- subscribing

    def inbox(self) -> str:
        """A subject prefix of our own, for answers that come in many pieces."""
        return f"{self._settings.inbox_prefix}.{secrets.token_hex(8)}"

    async def subscribe(self, subject: str, callback: Callback, queue: str = "") -> int:
        """Call `callback` at once for each message; the answer is what `unsubscribe` takes. Survives reconnects.

        queue: of all that subscribe with it, one gets each message.
        """
        return await self._connection.subscribe_with(subject, callback, queue)

    async def unsubscribe(self, sid: int) -> None:
        """Let no further message come."""
        await self._connection.unsubscribe_from(sid)
