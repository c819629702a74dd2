"""One connection to NATS: the client of nats-py, changed so that it always reconnects.

Belongs here: connecting with TLS, reconnecting, sending bytes, delivering messages. Does not: requests and JetStream
(`wire`).
nats-py connects, authenticates, pings and reconnects. We receive messages ourselves: nats-py takes four times as long
per message, and it stops silently at the first message that it cannot parse, while its client still says that it is
connected (docs/decisions/01-own-receive-path.md). This module uses private parts of nats-py, so pyproject.toml pins its
minor version.
"""

import asyncio
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from phaseline.engine import logs
from phaseline.engine.nats import frames, nats_library
from phaseline.engine.nats.connect_failures import (
    HUNG_UP,
    NO_TLS,
    check_user_files,
    first_failure,
    is_refusal,
    text_of,
    tls_context,
)
from phaseline.engine.nats.nats_library import Client
from phaseline.engine.nats.nats_library import errors as nats_errors
from phaseline.engine.settings import Settings
from phaseline.schemas import libraries
from phaseline.schemas.errors import NatsUnreachable, PhaselineError

PENDING_LIMIT = 64 << 20
"""Bytes that may wait to be sent."""
SAY_AGAIN = 30.0
"""Seconds between two log lines that say that no server is reached."""
Callback = Callable[[str, bytes, bytes | None, str], None]
"""Called with the subject, the data, the raw header block or None (`frames.read_headers`), the reply subject or ""."""
Taker = Callable[[list[frames.Received]], None]
"""Called with the messages of a subscription that came together."""

log = logs.get_logger(__name__)


def one_by_one(callback: Callback) -> Taker:
    """What calls `callback` for each message. One on which it fails does not keep the next one from it."""

    def take(messages: list[frames.Received]) -> None:
        for one in messages:
            try:
                callback(*one)
            except Exception:
                log.exception("subscriber_failed", subject=one[0])

    return take


class Connection(Client):
    """A connection that reconnects. It calls `down(cause)`, `up()` and `denied(violation)` when these things happen."""

    def __init__(
        self, settings: Settings, down: Callable[[str], None], up: Callable[[], None], denied: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._settings = settings
        self._down, self._up, self._denied = down, up, denied
        self._takers: dict[int, Taker] = {}
        self._first_failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._failures = 0
        self._patient = False
        self._has_written = False
        """Whether `send` has written in this turn of the event loop."""
        self._informing: asyncio.Task[None] | None = None
        """Reads what the server says about itself."""
        self._leaving = False
        """Whether this side closes the connection, or gives up the first one."""
        self._say_again = 0.0
        """From when on to say again that no server is reached."""
        self._error: Exception | None = None
        """The last error of the connection."""
        self.heard = 0
        """How often bytes came from the server."""
        self.cause = "what listens there does not answer"
        """The same in words."""

    # ---- connecting and closing

    async def open(self, name: str, *, patient: bool) -> None:
        """Connect; raises `SetupError`; unless `patient` also `NatsUnreachable`, if nothing answers."""
        check_user_files(self._settings)
        self._patient = patient
        connecting = asyncio.ensure_future(self.connect(**self._options(name)))
        try:
            limit = None if patient else self._settings.connect_timeout
            await asyncio.wait({connecting, self._first_failed}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                raise self._first_failure()  # noqa: TRY301  # this error needs the clean-up below too
            try:
                connecting.result()
            except (OSError, nats_errors.Error, ValueError, ImportError) as error:
                raise first_failure(self._settings, error) from None
        except BaseException:
            self._leaving = True
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
            await self.flush_and_close()
            raise

    def _options(self, name: str) -> dict[str, Any]:
        settings = self._settings
        if any(url.startswith(("ws://", "wss://")) for url in settings.nats):
            nats_library.load_websockets()
        options: dict[str, Any] = {
            "servers": list(settings.nats),
            "name": name,
            "error_cb": self._on_error,
            "disconnected_cb": self._on_down,
            "reconnected_cb": self._on_up,
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": 0.25,
            "connect_timeout": min(2.0, settings.connect_timeout),
            "ping_interval": 5,
            "max_outstanding_pings": 2,
            "pending_size": PENDING_LIMIT,
        }
        if settings.creds is not None or settings.nkey is not None:
            libraries.require("nkeys", "a user with a key")
        if settings.creds is not None:
            options["user_credentials"] = str(settings.creds)
        if settings.nkey is not None:
            options["nkeys_seed"] = str(settings.nkey)
        if settings.wants_tls:
            options["tls"] = tls_context(settings)
        return options

    async def flush_and_close(self, timeout: float = 2.0) -> None:
        """Send the pending bytes and close. Errors are logged, not raised."""
        self._leaving = True
        try:
            try:
                if self.is_connected:
                    await self.flush(timeout)
            finally:
                await self.close()
        except (OSError, nats_errors.Error) as error:
            log.warning("nats_close_failed", error=text_of(error))
        except asyncio.CancelledError:
            # nats-py cancels its reconnecting task and so the future that both wait for. That does not cancel our task.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise

    def _first_failure(self) -> PhaselineError:
        """The error of a first connection that failed."""
        error = self._error
        if isinstance(error, HUNG_UP) and self._server_info.get("auth_required"):
            error = nats_errors.AuthorizationError()  # the end of the connection overtook the words of the server
        return self.unreachable() if error is None else first_failure(self._settings, error)

    def unreachable(self) -> NatsUnreachable:
        """The error that says why the connection is down."""
        return NatsUnreachable(url=self._settings.shown, cause=self.cause)

    @property
    def version(self) -> str:
        """The version of the server."""
        return str(self._server_info.get("version", ""))

    @property
    def has_jetstream(self) -> bool:
        """Whether the server itself has JetStream. Other servers of its cluster may have it."""
        return bool(self._server_info.get("jetstream"))

    @property
    def clustered(self) -> bool:
        """Whether the server is a member of a cluster."""
        return bool(self._server_info.get("cluster"))

    # ---- sending and receiving

    def send(self, buffer: bytes) -> None:
        """Write bytes at once; raises `NatsUnreachable` while the connection is down.

        What follows in the same turn of the event loop is joined and written in the next one, by nats-py's task.
        """
        queue = self._flush_queue
        if queue is None or not self.is_connected:
            raise self.unreachable()
        if not self._has_written and not self._pending and (socket := self._idle_socket()) is not None:
            self._has_written = True
            asyncio.get_running_loop().call_soon(setattr, self, "_has_written", False)
            socket.write(buffer)
            return
        self._pending.append(buffer)
        self._pending_data_size += len(buffer)
        if queue.empty():
            queue.put_nowait(asyncio.get_running_loop().create_future())

    def _idle_socket(self) -> asyncio.WriteTransport | None:
        """What takes bytes at once; None while others wait to be written, and for a WebSocket."""
        writer: asyncio.StreamWriter | None = getattr(self._transport, "_io_writer", None)
        return None if writer is None or writer.transport.get_write_buffer_size() else writer.transport

    async def ping(self, timeout: float) -> None:
        """Wait until the server has read all bytes sent before; raises `TimeoutError`, or as `send` does."""
        try:
            await self.flush(timeout)
        except nats_errors.TimeoutError as error:
            raise TimeoutError from error
        except nats_errors.Error as error:
            raise self.unreachable() from error

    async def flush(self, timeout: float = 10.0) -> None:
        """As nats-py's. That one loses a cancellation that comes together with the answer, as `asyncio.wait_for` does.

        Whoever cancels a task that pings, and waits for its end, would wait for ever.
        """
        if self.is_closed:
            raise nats_errors.ConnectionClosedError
        if any(task is None or task.done() for task in (self._reading_task, self._flusher_task)):
            await self._flush_pending()
            return
        future = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout):
                await self._send_ping(future)
                await future
        except TimeoutError:
            raise nats_errors.FlushTimeoutError from None

    async def _send_ping(self, future: asyncio.Future[None] | None = None) -> None:
        """Send a ping behind the bytes that wait to be written. nats-py alone would send it before them."""
        if self.is_connected and self._pending and self._transport is not None:
            self._transport.writelines(self._pending)
            self._pending, self._pending_data_size = [], 0
        await super()._send_ping(future)

    async def subscribe_with(self, subject: str, take: Taker, queue: str = "") -> int:
        """Call `take` with the messages that come, in the read loop. Returns the id for `unsubscribe_from`.

        queue: of all subscriptions with this queue name, one gets each message.
        """
        self._takers[self._sid + 1] = take
        # With a future nats-py starts no task for the messages of a subscription. They never reach nats-py.
        sub = await self.subscribe(subject, queue, future=asyncio.get_running_loop().create_future())
        return sub._id  # noqa: SLF001  # nats-py has no public id of a subscription

    async def unsubscribe_from(self, sid: int) -> None:
        """End a subscription. Its callback is not called again."""
        self._takers.pop(sid, None)
        if self._subs.pop(sid, None) is not None and self.is_connected:
            await self._send_unsubscribe(sid)

    def _deliver(self, sid: int, messages: list[frames.Received]) -> None:
        take = self._takers.get(sid)
        if take is None:
            return
        try:
            take(messages)
        except Exception:
            log.exception("subscriber_failed", subject=messages[0][0])

    async def _read_loop(self) -> None:
        receiving = _Receiving(frames.Parser(self._deliver, self._control), self)
        self._ps = receiving  # type: ignore[assignment]  # only parse and reset are used
        await super()._read_loop()

    def _control(self, line: bytes) -> None:
        if line == b"PING":
            if self.is_connected:
                self.send(b"PONG\r\n")
        elif line == b"PONG":
            self._on_pong()
        elif line.startswith(b"-ERR"):
            self._on_refusal(line[4:].decode(errors="replace").strip(" '"))
        elif line.startswith(b"INFO "):
            self._informing = asyncio.create_task(self._process_info(json.loads(line[5:])))
        elif line != b"+OK":
            raise frames.BadFrame(f"unknown line {line[:80]!r}")

    def _on_pong(self) -> None:
        # The server answers a ping whose waiter timed out, too.
        self._pings_outstanding = 0
        if self._pongs and not (waiting := self._pongs.pop(0)).done():
            waiting.set_result(True)

    def _on_refusal(self, said: str) -> None:
        """What the server refuses. After all but missing permissions it closes the connection."""
        if "permissions violation" in said.lower():
            self._denied(said)
            return
        self._note(nats_errors.Error(f"nats: {said}"))
        raise nats_errors.ProtocolError

    # ---- staying connected: methods of nats-py that would end the connection

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        # Checked before any secret is sent: nats-py connects without TLS where the server does not require it.
        if initial_connection and self._settings.wants_tls and not info.get("tls_required"):
            raise ConnectionError(NO_TLS)
        await super()._process_info(info, initial_connection)

    async def _connect_to_server(self, s: Any) -> None:
        # Until Python 3.12, `asyncio.wait_for` loses a cancellation that comes together with the result. nats-py would
        # then go on connecting for ever, and the process would not end.
        if self._leaving:
            raise asyncio.CancelledError
        # The socket of a try that failed before the server had said who it is: nats-py forgets it.
        former: asyncio.StreamWriter | None = getattr(self._transport, "_io_writer", None)
        if former is not None:
            former.close()
        await super()._connect_to_server(s)

    async def _attempt_reconnect(self) -> None:
        try:
            await super()._attempt_reconnect()
        except Exception as error:
            log.exception("nats_reconnect_failed", error=text_of(error))
            await self._on_error(error)
            await asyncio.sleep(1)
            self._status = Client.RECONNECTING
            self._reconnection_task = asyncio.get_running_loop().create_task(self._attempt_reconnect())

    async def _on_down(self) -> None:
        # Bytes that were not sent must not arrive over the next connection: their senders already got an error.
        self._pending.clear()
        self._pending_data_size = 0
        self._down(self.cause)

    async def _on_up(self) -> None:
        self._up()

    async def _on_error(self, error: Exception) -> None:
        self._note(error)

    def _note(self, error: Exception) -> None:
        """Note an error of the connection, as its cause."""
        # A server that refuses us says why, then closes: the broken pipe that may follow is not the cause.
        follows = isinstance(error, HUNG_UP) and self._is_refusal(self._error)
        if not follows:
            self._error, self.cause = error, text_of(error)
        log.debug("nats_trouble", error=str(error) or type(error).__name__)
        self._failures += 1
        if self._patient and not self.is_connected and time.monotonic() > self._say_again:
            self._say_again = time.monotonic() + SAY_AGAIN
            log.warning("nats_unreachable", url=self._settings.shown, error=self.cause)
        tried_all = not self._patient and self._failures >= len(self._settings.nats)
        if (tried_all or self._is_refusal(self._error)) and not self._first_failed.done():
            self._first_failed.set_result(None)

    @staticmethod
    def _is_refusal(error: Exception | None) -> bool:
        """Whether the server refuses the user."""
        return error is not None and is_refusal(str(error))


class _Receiving:
    """The bytes of one connection, parsed as the socket reads them.

    nats-py's read loop would copy them twice, and take one more turn of the event loop. What is left to it are bytes
    that came before it started, errors, and the end.
    """

    def __init__(self, parser: frames.Parser, connection: Connection) -> None:
        """A WebSocket's transport has no stream; there the read loop passes all bytes to `parse`."""
        self._parser, self._connection = parser, connection
        self._is_over = False
        stream: asyncio.StreamReader | None = getattr(connection._transport, "_io_reader", None)  # noqa: SLF001
        if stream is not None:
            stream.feed_data = partial(self._feed, stream)  # type: ignore[method-assign]

    def _feed(self, stream: asyncio.StreamReader, data: bytes) -> None:
        if not self._is_over:
            try:
                self._parse(data)
            except nats_errors.ProtocolError as error:
                self.reset()
                stream.set_exception(error)

    async def parse(self, data: bytes) -> None:
        """Parse what the read loop has read. It reconnects after `ProtocolError`; after other errors it would end."""
        self._parse(data)

    def _parse(self, data: bytes) -> None:
        self._connection.heard += 1
        try:
            self._parser.parse(data)
        except nats_errors.ProtocolError:
            raise
        except Exception as error:
            log.exception("nats_bad_frame", error=text_of(error))
            raise nats_errors.ProtocolError from error

    def reset(self) -> None:
        """Drop what else comes through this connection, because another one follows."""
        self._is_over = True
