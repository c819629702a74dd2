"""nats-py's client, made to stay up. The only importer of `nats`, whose private parts are used on purpose: pin its minor version.

Belongs here: dialling, staying connected, bytes handed over, messages handed on. Does not: requests, JetStream (`wire`).
nats-py connects, authenticates, pings and reconnects. The receiving side is ours: its own costs four times as much per
message, and ends without a word, `is_connected` still true, on the first message it cannot read.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import structlog
from nats import errors as nats_errors
from nats.aio.client import Client

from phaseline.engine.errors import NatsUnreachable
from phaseline.engine.jetstream import frames, tls
from phaseline.engine.settings import Settings

PENDING_LIMIT = 64 << 20
Callback = Callable[[str, bytes, bytes | None, str], None]
"""Called with subject, data, raw header block or None (`frames.read_headers`), reply subject or ""."""

log = structlog.get_logger(__name__)


class Connection(Client):
    """One connection. `down(cause)`, `up()` and `denied(violation)` are called as it happens."""

    def __init__(
        self, settings: Settings, down: Callable[[str], None], up: Callable[[], None], denied: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._settings = settings
        self._down, self._up, self._denied = down, up, denied
        self._callbacks: dict[int, Callback] = {}
        self._ps = _Parser(self._deliver, self._control)  # type: ignore[assignment]  # parse and reset are all that is used
        self._hopeless: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._failures = 0
        self._patient = False
        self.cause = "no answer yet"

    # ---- dialling and hanging up

    async def dial(self, name: str, *, patient: bool) -> None:
        """Connect; raises `NatsUnreachable` when refused, or when no server answers in time and we are not `patient`."""
        self._patient = patient
        trying = asyncio.ensure_future(self.connect(**self._options(name)))
        try:
            limit = None if patient else self._settings.connect_timeout
            await asyncio.wait({trying, self._hopeless}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if not trying.done():
                raise self.unreachable()  # noqa: TRY301  # the clean-up below is for this too
            try:
                trying.result()
            except (OSError, nats_errors.Error, ValueError, ImportError) as error:
                raise NatsUnreachable(url=self._settings.shown, cause=str(error)) from error
        except BaseException:
            trying.cancel()
            await asyncio.gather(trying, return_exceptions=True)
            await self.hang_up()
            raise

    def _options(self, name: str) -> dict[str, Any]:
        settings = self._settings
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
        if settings.creds is not None:
            options["user_credentials"] = str(settings.creds)
        if settings.nkey is not None:
            options["nkeys_seed"] = str(settings.nkey)
        if settings.wants_tls:
            options["tls"] = tls.context_of(settings)
        return options

    async def hang_up(self) -> None:
        """Send what is pending and close; what goes wrong then is logged, not raised."""
        try:
            if self.is_connected:
                await self.flush(timeout=2)
            await self.close()
        except (OSError, nats_errors.Error) as error:
            log.warning("closing the connection to NATS failed", cause=_text(error))
        except asyncio.CancelledError:
            # nats-py cancels its reconnecting task, and with it the future both wait for: that is not us being cancelled.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise

    def unreachable(self) -> NatsUnreachable:
        """The error that says why there is no connection."""
        return NatsUnreachable(url=self._settings.shown, cause=self.cause)

    @property
    def version(self) -> str:
        """The server's, as it said."""
        return str(self._server_info.get("version", ""))

    # ---- sending and receiving

    def hand_over(self, buffer: bytes) -> None:
        """Queue bytes and wake the task that writes them; raises `NatsUnreachable` while there is no connection."""
        queue = self._flush_queue
        if queue is None or not self.is_connected:
            raise self.unreachable()
        self._pending.append(buffer)
        self._pending_data_size += len(buffer)
        if queue.empty():
            queue.put_nowait(asyncio.get_running_loop().create_future())

    async def ping(self, timeout: float) -> None:
        """Wait until the server has read all that was handed over; raises `TimeoutError`, or as `hand_over` does."""
        try:
            await self.flush(timeout)  # type: ignore[arg-type]  # seconds, and they may be fractions
        except nats_errors.TimeoutError as error:
            raise TimeoutError from error
        except nats_errors.Error as error:
            raise self.unreachable() from error

    async def subscribe_with(self, subject: str, callback: Callback, queue: str = "") -> int:
        """Call `callback` for each message, from the read loop; the id is for `unsubscribe_from`.

        queue: of all that subscribe with it, one gets each message.
        """
        self._callbacks[self._sid + 1] = callback
        # The future keeps nats-py from starting a task for messages that never pass through it.
        sub = await self.subscribe(subject, queue, future=asyncio.get_running_loop().create_future())
        return sub._id  # noqa: SLF001  # there is no public way to name a subscription

    async def unsubscribe_from(self, sid: int) -> None:
        """Let no further message come."""
        self._callbacks.pop(sid, None)
        if self._subs.pop(sid, None) is not None and self.is_connected:
            await self._send_unsubscribe(sid)

    def _deliver(self, sid: int, subject: str, data: bytes, block: bytes | None, reply: str) -> None:
        callback = self._callbacks.get(sid)
        if callback is None:
            return
        try:
            callback(subject, data, block, reply)
        except Exception:
            log.exception("a subscriber failed", subject=subject)

    async def _control(self, line: bytes) -> None:
        if line == b"PING":
            await self._process_ping()
        elif line == b"PONG":
            await self._process_pong()
        elif line.startswith(b"-ERR"):
            await self._process_err(line[4:].decode(errors="replace").strip(" '"))
        elif line.startswith(b"INFO "):
            await self._process_info(json.loads(line[5:]))
        elif line != b"+OK":
            raise frames.BadFrame(f"unknown line {line[:80]!r}")

    # ---- staying connected: nats-py's own steps, where they would stop

    async def _process_pong(self) -> None:
        # A ping given up on is still answered: nats-py would raise here and its read loop would end.
        self._pings_outstanding = 0
        if self._pongs and not (waiting := self._pongs.pop(0)).done():
            waiting.set_result(True)

    async def _process_err(self, err_msg: str) -> None:
        # nats-py closes for good on most of these; a connection that comes back is what all here rely on.
        if "permissions violation" in err_msg.lower():
            self._denied(err_msg)
            return
        error = nats_errors.Error(f"nats: {err_msg}")
        await self._on_error(error)
        await self._process_op_err(error)

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        # Before any secret is sent: nats-py connects in clear where the server does not insist on TLS.
        if initial_connection and self._settings.wants_tls and not info.get("tls_required"):
            raise ConnectionError("TLS was asked for and the server does not require it: refusing to talk in clear")
        await super()._process_info(info, initial_connection)

    async def _attempt_reconnect(self) -> None:
        try:
            await super()._attempt_reconnect()
        except Exception as error:
            log.exception("reconnecting to NATS failed in an unforeseen way")
            await self._on_error(error)
            await asyncio.sleep(1)
            self._status = Client.RECONNECTING
            self._reconnection_task = asyncio.get_running_loop().create_task(self._attempt_reconnect())

    async def _on_down(self) -> None:
        # What was not sent yet must not arrive late, as a stranger's word, over the next connection.
        self._pending.clear()
        self._pending_data_size = 0
        self._down(self.cause)

    async def _on_up(self) -> None:
        self._up()

    async def _on_error(self, error: Exception) -> None:
        self.cause = _text(error)
        log.debug("trouble with the connection to NATS", cause=self.cause)
        self._failures += 1
        refused = "authorization" in self.cause.lower()
        impatient = not self._patient and self._failures >= len(self._settings.nats)
        if (refused or impatient) and not self._hopeless.done():
            self._hopeless.set_result(None)


class _Parser(frames.Parser):
    async def parse(self, data: bytes = b"") -> None:
        try:
            await super().parse(data)
        except Exception as error:
            log.exception("what the NATS server sent makes no sense")
            # The one error on which nats-py's read loop reconnects instead of ending.
            raise nats_errors.ProtocolError from error


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__
