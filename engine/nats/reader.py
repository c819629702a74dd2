"""Reading a stream in order, without acknowledgements and through interruptions.

Belongs here: requesting messages, noticing a gap or silence, starting again after the last message.
In a cluster the server puts a consumer on any replica of the stream, which may lag behind. It skips nothing; but that
there is nothing more is believed only if the leader says so.
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Self

import msgspec

from phaseline.engine import logs
from phaseline.engine.nats import consumer, frames
from phaseline.engine.nats.direct_get import last_message_from_leader, last_sequence
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.errors import ApiFailed, NatsUnreachable, NoAnswer, NotPermitted, PhaselineError, RequestTimedOut
from phaseline.schemas.records import nanoseconds

BUFFER = 3_000
"""Messages that are buffered or requested, at most."""
BUFFER_BYTES = 16 << 20
"""Buffered bytes above which no more messages are requested."""
_BYTES_EACH = BUFFER_BYTES // BUFFER
LEAST_BUFFER = 300
"""The least messages that are buffered or requested, where many readers share the memory of one."""
OVERHEAD = 64 << 10
"""Bytes that subject, reply and framing can add to the largest payload."""
CHECK = 1.25
"""Seconds between two checks for silence."""
SILENT_CHECKS = 4
"""Checks in a row without a message or a heartbeat after which the consumer counts as dead."""
RETRY = 0.25
"""Seconds before the next try to start again."""
LOOKS = 8
"""How often a stream must lack what was read of it, or was there, until that is believed."""

log = logs.get_logger(__name__)


class Stored(msgspec.Struct, frozen=True, gc=False):
    """A message of a stream. `time_ns`: when it was stored. `pending`: how many messages for the reader followed it.

    block: the raw header block, or None.
    """

    subject: str
    data: bytes
    sequence: int
    time_ns: int
    pending: int
    block: bytes | None

    @property
    def headers(self) -> dict[str, str]:
        """The headers, parsed at each access."""
        return frames.read_headers(self.block) if self.block else {}


class Reader:
    """Reads each message once, in the order of the stream: `async with Reader(...) as reader: await reader.take(500)`.

    start: a sequence, an RFC 3339 time, "start", or "now" (after the messages that are in the stream on entry).
    """

    def __init__(
        self, wire: Wire, stream: str, filters: Sequence[str], start: int | str = "start", least: int = 0,
        room: int = BUFFER, patience: float | None = None,
    ) -> None:  # fmt: skip
        """Read the messages whose subject matches one of `filters`; all messages if there is none.

        least: a message of them that was there. In a cluster the end is not before it, whoever answers for the leader;
        if it was deleted since, that is believed after a while.
        room: how many messages are buffered or requested, at most.
        patience: seconds of trying in vain to go on, after which `take` raises why; None: it waits for ever.
        """
        self._room = max(LEAST_BUFFER, room)
        self._batch, self._most_bytes = min(consumer.BATCH, self._room // 3), min(BUFFER_BYTES, _BYTES_EACH * room)
        self._wire, self.stream, self._filters, self._start = wire, stream, list(filters), start
        self._patience = patience
        self._buffer: deque[Stored] = deque()
        self._arrived = asyncio.Event()
        self._name, self._inbox, self._sid = "", "", 0
        self._before_numbers: str | None = None
        """With what the reply subjects of messages of the consumer begin; None before the first one."""
        self._requested = 0
        """Messages that are requested and have not come."""
        self._request_bytes = 0
        self._buffered_bytes = 0
        self._last = self._taken = 0
        """The sequences of the last message that came, and of the last one that was taken."""
        self._delivered = 0
        """How many messages this consumer has delivered."""
        self._silent_checks = 0
        self.backlog = 0
        """How many messages the consumer had when it was created: those that were to be read."""
        self.pending = 0
        """How many messages followed the last one that came, at the time when the server sent it."""
        self.idle = False
        """Whether the server has said since then that it has nothing to send."""
        self.interrupted = False
        """Whether `take` waits no more."""
        self._known, self._looks = least if not isinstance(start, int) or least >= start else 0, 0
        """A message that was there; how often the leader was asked again for the end."""
        self._least = 0
        """The sequence of the last message that is to be read, as the leader had it; 0 if there was none."""
        self._end: int | None = None
        """The sequence of the last message that was in the stream at the start; None while it is not known."""
        self._failure: Exception | None = None
        self._broken = asyncio.Event()
        self._since: float | None = None
        """Since when the reader is broken, and nothing of the stream has come; None if it is not."""
        self._leaderless: float | None = None
        """Since when the leader does not say where the stream ends; None if it does, or nobody asks it."""
        self._tasks: list[asyncio.Task[None]] = []
        self._unhook: Sequence[Callable[[], None]] = ()

    async def __aenter__(self) -> Self:
        """Create the consumer; raises as `Wire.api` does."""
        if self._start == "now":
            self._start = await last_sequence(self._wire, self.stream) + 1
        self._least = max(self._known if self._wire.clustered else 0, await self._last_of_leader())
        await self._open()
        self._arrived.clear()  # an empty stream has set it, but the first `take` must wait for a message
        self._unhook = [
            self._wire.on_disconnect(self._broken.set), self._wire.on_reconnect(self._broken.set),
            self._wire.on_refusal(self._on_refusal),
        ]  # fmt: skip
        self._tasks = [asyncio.create_task(self._check_silence()), asyncio.create_task(self._restart())]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Delete the consumer. Where that fails the server deletes it later."""
        # Not kept: hooks and the errors of cancelled tasks lead back here, and garbage in circles is collected rarely.
        unhook, self._unhook = self._unhook, ()
        for one in unhook:
            one()
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._close()

    @property
    def buffered(self) -> int:
        """How many messages `take` can return at once."""
        return len(self._buffer)

    @property
    def oldest(self) -> Stored | None:
        """The message that `take` returns first; None if none has come."""
        return self._buffer[0] if self._buffer else None

    @property
    def delivered(self) -> int:
        """The sequence of the last message that came; 0 if none has."""
        return self._last

    @property
    def caught_up(self) -> bool:
        """Whether all messages that were in the stream on entry have been taken. Once true it stays true."""
        return self._end is not None and self._taken >= self._end

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:
        """Wait for messages and return at most `limit`. Raises the error that ended the reader.

        Returns an empty list after `timeout` seconds. Also where the reader has caught up because the messages that it
        waited for have been deleted.
        """
        if not self._buffer and not self.interrupted:
            timer = None if timeout is None else asyncio.get_running_loop().call_later(timeout, self._arrived.set)
            try:
                await self._arrived.wait()
            finally:
                if timer is not None:
                    timer.cancel()
        if self._failure is not None and not self._buffer:
            raise self._failure
        buffer = self._buffer
        if len(buffer) <= limit:
            taken = [*buffer]
            buffer.clear()
            self._buffered_bytes = 0
        else:
            taken = [buffer.popleft() for _ in range(limit)]
            self._buffered_bytes -= sum([len(message.data) for message in taken])
        if taken:
            self._taken = taken[-1].sequence
        if not buffer and self._failure is None:
            self._arrived.clear()
        self._request()
        return taken

    def interrupt(self) -> None:
        """Let `take` wait no more: the one that waits now, and those that follow."""
        self.interrupted = True
        self._arrived.set()

    async def _open(self) -> None:
        """Create a consumer that starts after the last message that came."""
        self._name = f"r{secrets.token_hex(6)}"
        self._inbox = self._wire.inbox()
        self._requested = self._delivered = 0
        self._sid = await self._wire.subscribe_to_many(self._inbox, self._received)
        created = await self._wire.api(
            f"CONSUMER.CREATE.{self.stream}.{self._name}",
            consumer.create_request(self.stream, self._name, self._filters, self._start, self._last),
        )
        self.backlog = self.pending = int(created["num_pending"])
        if not self.backlog:
            self._end_known()
        self._silent_checks = 0
        self._request_bytes = max(self._request_bytes, self._wire.max_payload + OVERHEAD)
        self._request()

    async def _close(self) -> None:
        sid, self._sid = self._sid, 0
        if sid:
            await self._wire.unsubscribe(sid)
        if self._wire.connected:
            try:
                await self._wire.api(f"CONSUMER.DELETE.{self.stream}.{self._name}")
            except (ApiFailed, NoAnswer, NotPermitted) as error:
                log.debug("consumer_left", consumer=self._name, error=str(error))

    @property
    def _pull_subject(self) -> str:
        """The subject on which messages are requested."""
        return self._wire.api_subject(f"CONSUMER.MSG.NEXT.{self.stream}.{self._name}")

    def _on_refusal(self, subject: str) -> bool:
        """End, if this user may not request messages: nothing would ever come."""
        if subject == self._pull_subject:
            self._fail(self._wire.refusal(subject))
        return subject == self._pull_subject

    def _request(self) -> None:
        """Request messages until the buffer and the open requests are full."""
        most = self._room - self._batch
        while self._requested + len(self._buffer) <= most and self._buffered_bytes < self._most_bytes:
            subject = self._pull_subject
            request = consumer.pull_request(self._batch, self._request_bytes)
            try:
                self._wire.send(self._wire.frame(subject, request, reply=self._inbox))
            except NatsUnreachable:
                return  # after the reconnect a new consumer is created
            self._requested += self._batch

    def _received(self, messages: list[frames.Received]) -> None:
        """Buffer messages. Their reply subjects hold the consumer, the sequences, the time and what is pending."""
        found, delivered = list[Stored](), self._delivered
        for subject, data, block, reply in messages:
            numbers = reply.rsplit(".", 4)
            if numbers[0] != self._before_numbers:
                if subject == self._inbox:
                    self._keep(found)
                    self._on_status(block)
                    found, delivered = [], self._delivered
                    continue
                numbers = self._numbers_in(reply)
                if not numbers:
                    continue
            delivered += 1
            if int(numbers[2]) != delivered:
                self._keep(found)
                self._note_gap(int(numbers[2]))
                return
            found.append(Stored(subject, data, int(numbers[1]), int(numbers[3]), int(numbers[4]), block))
        self._keep(found)

    def _numbers_in(self, reply: str) -> list[str]:
        """The reply subject of a message, cut before its sequences, its time and what is pending; empty if not ours."""
        tokens = reply.split(".")
        first = 5 if len(tokens) == 9 else 7
        if tokens[first - 2] != self._name:
            return []
        self._before_numbers = ".".join(tokens[:first])
        return [self._before_numbers, *tokens[first : first + 4]]

    def _keep(self, found: list[Stored]) -> None:
        """Buffer messages that followed each other."""
        if not found:
            return
        last = found[-1]
        self._delivered += len(found)
        self._requested -= len(found)
        self._silent_checks, self._since = 0, None
        self._last, self.pending, self.idle = last.sequence, last.pending, False
        self._buffered_bytes += sum([len(one.data) for one in found])
        self._buffer.extend(found)
        if self._end is None and (not last.pending or self._delivered >= self.backlog):
            self._end_known()
        self._arrived.set()

    def _note_gap(self, sent: int) -> None:
        """Start again, because messages were lost on their way. sent: how many the consumer has delivered."""
        log.info("reader_gap", stream=self.stream, expected=self._delivered, found=sent)
        self._broken.set()

    def _end_known(self) -> None:
        """The last message that came is the last one that the replica had at the start. That may be too little."""
        if self._end is None and self._last >= self._least:
            self._end = self._last
            self._arrived.set()

    async def _last_of_leader(self) -> int:
        """The sequence of the last message that is to be read, as the leader has it; 0 if there is none.

        Without a cluster there is one replica. Who may not ask is told nothing.
        """
        if not self._wire.clustered:
            return 0
        try:
            asked = [last_message_from_leader(self._wire, self.stream, one) for one in self._filters or [">"]]
            found = [one for one in await asyncio.gather(*asked) if one is not None]
        except NotPermitted:
            return 0
        start = self._start
        if isinstance(start, int):
            return max([one.sequence for one in found if one.sequence >= start], default=0)
        since = 0 if start == "start" else nanoseconds(start)
        return max([one.sequence for one in found if one.time_ns >= since], default=0)

    async def _look_for_end(self) -> None:
        """Ask again up to where to read, because what was to come may have been deleted before the replica had it."""
        self._looks += 1
        try:
            self._least = max(self._known if self._looks < LOOKS else 0, await self._last_of_leader())
        except PhaselineError as error:
            self._leaderless = time.monotonic() if self._leaderless is None else self._leaderless
            if is_over(self._patience, self._leaderless):
                self._fail(error)
        else:
            self._leaderless = None
            self._end_known()

    def _on_status(self, block: bytes | None) -> None:
        headers = frames.read_headers(block) if block else {}
        status, description = headers.get(frames.STATUS, ""), headers.get(frames.DESCRIPTION, "")
        self._silent_checks = 0
        if status == consumer.IDLE:
            if (sent := int(headers.get(consumer.DELIVERED, 0))) > self._delivered:
                self._note_gap(sent)
                return
            # The server has nothing to send, so messages that it counted before have been deleted since.
            self.idle, self._since = True, None
            self._end_known()
        elif description in consumer.ENDED:
            self._since = None
            self._requested -= int(headers.get("Nats-Pending-Messages", 0))
            left = int(headers.get("Nats-Pending-Bytes", 0))
            if description == consumer.SIZE_EXCEEDED and left >= self._request_bytes:
                self._request_bytes *= 2  # not even one message fits the request
            self._request()
        else:
            log.info("reader_status", stream=self.stream, status=status, description=description)
            self._broken.set()

    async def _check_silence(self) -> None:
        """Notice silence: while requests are open the server sends at least heartbeats."""
        while True:
            await asyncio.sleep(CHECK)
            # Checks are counted, not seconds: after a pause of this process the server's messages are still unread.
            self._silent_checks += 1
            if self.idle and self._end is None:
                await self._look_for_end()
            if self._silent_checks > SILENT_CHECKS and self._requested > 0 and self._wire.connected:
                if is_over(self._patience, self._since):
                    self._fail(self._timed_out())
                    return
                log.info("reader_silence", stream=self.stream, seconds=self._silent_checks * CHECK)
                self._silent_checks = 0
                self._broken.set()

    def _timed_out(self) -> RequestTimedOut:
        return RequestTimedOut(subject=self._pull_subject, seconds=self._patience or 0.0, hint="")

    def _fail(self, error: Exception) -> None:
        """End the reader with an error."""
        self._failure = error
        self._arrived.set()

    async def _check_length(self) -> None:
        """Raise `NoAnswer.log_put_back` if the stream has less than was read of it, also after some looks.

        A new leader may know less for a moment. Who may not ask is told nothing.
        """
        for look in range(LOOKS if self._last else 0):
            try:
                last = await last_sequence(self._wire, self.stream)
            except NotPermitted:
                return
            if last >= self._last:
                return
            if look + 1 == LOOKS:
                raise NoAnswer.log_put_back(stream=self.stream, last=last, place=self._last)
            await asyncio.sleep(RETRY)

    async def _restart(self) -> None:
        """Start again with a new consumer whenever the reader is broken."""
        last: Exception | None = None
        while True:
            await self._broken.wait()
            if self._since is None:
                self._since = time.monotonic()
            elif is_over(self._patience, self._since):
                self._fail(last or self._timed_out())  # without an error the server answers, and sends nothing
                return
            else:
                await asyncio.sleep(RETRY)
            try:
                await self._wire.until_connected(self._patience)
                self._broken.clear()
                await self._close()
                await self._open()
                await self._check_length()
            except (NoAnswer, ApiFailed) as error:
                if NoAnswer.log_put_back.made(error) or is_over(self._patience, self._since):
                    self._fail(error)
                    return
                log.info("reader_retry", stream=self.stream, error=str(error))
                last = error
                self._broken.set()
            except PhaselineError as error:
                self._fail(error)
                return
            except Exception as error:
                if is_over(self._patience, self._since):
                    self._fail(error)
                    return
                log.exception("reader_failed", stream=self.stream, error=repr(error))
                last = error
                self._broken.set()
            else:
                last = None
                self._since = self._since if self._requested else None


def is_over(patience: float | None, since: float | None) -> bool:
    """Whether so many seconds have passed since a time of the monotonic clock; never where one of both is None."""
    return patience is not None and since is not None and time.monotonic() >= since + patience
