"""Reading stored messages by subject: the last message of a subject, or several messages with one request.

Belongs here: the requests, recognising the last reply, whose word counts in a cluster where a message is not there.
Does not: a former leader's word about LOG, behind a message of one's own (`log.foreign`).
"""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from phaseline.engine.nats import frames
from phaseline.engine.nats.api_reply import Reply
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.errors import ApiFailed, NotPermitted
from phaseline.schemas.records import nanoseconds, timestamp

PENDING = "Nats-Num-Pending"
"""A header that every reply to a request for several messages has, and the only reply to other requests does not."""
END_OF_BATCH = "204"
"""The status that ends the replies to a request for several messages."""
SOURCE = b"\r\nNats-Stream-Source:"
"""The header of a message that a stream copied from another one."""
STORED = "Nats-Time-Stamp"
"""The header of a reply that says when its message was stored."""
NOT_FOUND = "404"
"""The status where there is no such message."""
NO_MESSAGE = 10037
"""The error code where the subject has no message."""
LOOKS, PAUSE = 8, 0.25
"""How often a cluster must say something before it is believed that a former leader did not; seconds between these."""

T = TypeVar("T")


class LastMessage(NamedTuple):
    """One message, such as the last one on a subject.

    block: its raw header block, or None. time_ns: when it was stored, if the leader has told.
    """

    data: bytes
    sequence: int
    subject: str
    block: bytes | None
    time_ns: int = 0


def stored_ns(reply: Reply) -> int:
    """When the message in the reply to a direct get was stored, ns."""
    return nanoseconds(reply.headers[STORED])


async def last_message_from_leader(wire: Wire, stream: str, subject: str) -> LastMessage | None:
    """Read the last message on `subject` from the stream's leader; None if there is none."""
    return await message_from_leader(wire, stream, {"last_by_subj": subject})


async def message_from_leader(wire: Wire, stream: str, wanted: Mapping[str, Any]) -> LastMessage | None:
    """Read one message from the stream's leader; None if there is none. wanted: as the server's API takes it."""
    try:
        message = (await wire.api(f"STREAM.MSG.GET.{stream}", dict(wanted)))["message"]
    except ApiFailed as error:
        if error.err_code == NO_MESSAGE:
            return None
        raise
    data, block = (base64.b64decode(message.get(name, "")) for name in ("data", "hdrs"))
    return LastMessage(data, int(message["seq"]), message["subject"], block or None, nanoseconds(message["time"]))


async def last_sequence(wire: Wire, stream: str) -> int:
    """The sequence of the last message that a stream has had; 0 if it never had one."""
    return int((await wire.api(f"STREAM.INFO.{stream}"))["state"]["last_seq"])


def origin(block: bytes | None) -> int:
    """The sequence that a message had in the stream from which its own stream copied it; 0 if it is no such copy."""
    if block is None or SOURCE not in block:
        return 0
    words = block.partition(SOURCE)[2].split(None, 2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


async def gather(wire: Wire, subject: str, wanted: Mapping[str, Any], timeout: float = 10.0) -> list[Reply]:
    """Send a request to `subject` and return all messages in the replies; raises as `Wire.request`, and `ApiFailed`."""
    replies = list[Reply]()

    def take(reply: Reply) -> bool:
        replies.append(reply)
        return frames.STATUS not in reply.headers and PENDING in reply.headers

    await wire.request(subject, json.dumps(wanted).encode(), timeout=timeout, more=take)
    return [*_messages_in(replies, subject)]


async def until_settled(wire: Wire, ask: Callable[[], Awaitable[T]], settles: Callable[[T], bool]) -> T:
    """The first answer that settles a question; the last of several if none does, and the only one without a cluster.

    For what is done, or said, because a stream lacks something, where no message of one's own can tell: an answer that
    it has it is true, an answer that it has not may be that of a leader that was replaced just now.
    """
    found = await ask()
    for _ in range(LOOKS - 1 if wire.clustered else 0):
        if settles(found):
            break
        await asyncio.sleep(PAUSE)
        found = await ask()
    return found


async def direct(wire: Wire, where: str, wanted: Mapping[str, Any] | None = None) -> Reply | None:
    """The message on `<stream>.<subject>`, or the one of `<stream>` that is wanted; None if there is none.

    In a cluster any replica answers, and may lag. That there is no such message is believed if the leader says so.
    Raises `ApiFailed`, and as `Wire.request`.
    """
    subject = wire.api_subject(f"DIRECT.GET.{where}")
    reply = await wire.request(subject, b"" if wanted is None else json.dumps(wanted).encode())
    found = next(_messages_in([reply], subject), None)
    return await _direct_from_leader(wire, where, wanted) if found is None and wire.clustered else found


async def _direct_from_leader(wire: Wire, where: str, wanted: Mapping[str, Any] | None) -> Reply | None:
    """What `direct` returns, from the stream's leader; None also for who may not ask it."""
    stream, _, subject = where.partition(".")
    try:
        found = await message_from_leader(wire, stream, wanted or {"last_by_subj": subject})
    except NotPermitted:
        return None
    if found is None:
        return None
    added = {"Stream": stream, "Subject": found.subject, "Sequence": found.sequence}
    lines = "".join(f"\r\nNats-{name}: {value}" for name, value in added.items())
    lines += f"\r\n{STORED}: {timestamp(found.time_ns)}\r\n\r\n"
    block = (found.block or b"NATS/1.0\r\n\r\n")[:-4] + lines.encode()
    return Reply(found.data, frames.read_headers(block), block)


def _messages_in(replies: Iterable[Reply], subject: str) -> Iterator[Reply]:
    """The messages in replies, up to the one that says that there is nothing more; raises `ApiFailed`."""
    for reply in replies:
        status = reply.headers.get(frames.STATUS)
        if status in (NOT_FOUND, END_OF_BATCH):
            return
        if status is not None:
            description = reply.headers.get(frames.DESCRIPTION, "")
            raise ApiFailed(subject=subject, nats_code=int(status), err_code=0, description=description)
        yield reply
