"""Reading stored messages by subject: the last message of a subject, or several messages with one request.

Belongs here: the requests, and recognising the last reply.
"""

import asyncio
import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.engine.nats import frames
from phaseline.engine.nats.api_reply import Reply
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.errors import ApiFailed, NoAnswer, NoResponders, RequestTimedOut
from phaseline.schemas.records import nanoseconds

PENDING = "Nats-Num-Pending"
"""A header that every reply to a request for several messages has, and the only reply to other requests does not."""
END_OF_BATCH = "204"
"""The status that ends the replies to a request for several messages."""
SOURCE = b"\r\nNats-Stream-Source:"
"""The header of a message that a stream copied from another one."""
NOT_FOUND = "404"
"""The status where there is no such message."""
NO_MESSAGE = 10037
"""The error code where the subject has no message."""


class LastMessage(NamedTuple):
    """One message, such as the last one on a subject.

    block: its raw header block, or None. time_ns: when it was stored, if the leader has told.
    """

    data: bytes
    sequence: int
    subject: str
    block: bytes | None
    time_ns: int = 0


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


def origin(block: bytes | None) -> int:
    """The sequence that a message had in the stream from which its own stream copied it; 0 if it is no such copy."""
    if block is None or SOURCE not in block:
        return 0
    words = block.partition(SOURCE)[2].split(None, 2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


async def gather(wire: Wire, subject: str, wanted: Mapping[str, Any], timeout: float = 10.0) -> list[Reply]:
    """Send a request to `subject` and return all messages in the replies; raises `NoAnswer`, `ApiFailed`."""
    replies, over, inbox = list[Reply](), asyncio.Event(), wire.inbox()

    def take(_: str, data: bytes, block: bytes | None, __: str) -> None:
        replies.append(Reply(data, frames.read_headers(block) if block else {}, block))
        if frames.STATUS in replies[-1].headers or PENDING not in replies[-1].headers:
            over.set()

    lost = asyncio.Event()

    def on_disconnect() -> None:
        lost.set()
        over.set()

    sid, forget = await wire.subscribe(inbox, take), wire.on_disconnect(on_disconnect)
    try:
        wire.send(wire.frame(subject, json.dumps(wanted).encode(), None, inbox))
        async with asyncio.timeout(timeout):
            await over.wait()
    except TimeoutError as error:
        raise RequestTimedOut(subject=subject, seconds=timeout, hint="") from error
    finally:
        forget()
        await wire.unsubscribe(sid)
    if lost.is_set():
        raise NoAnswer.connection_lost(subject=subject)
    if replies[-1].headers.get(frames.STATUS) == "503":
        raise NoResponders(subject=subject)
    return [*_messages_in(replies, subject)]


async def direct(wire: Wire, where: str, wanted: Mapping[str, Any] | None = None) -> Reply | None:
    """The message on `<stream>.<subject>`, or the one of `<stream>` that is wanted; None if there is none.

    Raises `ApiFailed`, and as `Wire.request`.
    """
    subject = wire.api_subject(f"DIRECT.GET.{where}")
    reply = await wire.request(subject, b"" if wanted is None else json.dumps(wanted).encode())
    return next(_messages_in([reply], subject), None)


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
