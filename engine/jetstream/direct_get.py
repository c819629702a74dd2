"""Reads of stored messages by subject: the last one of a subject, or several in one request.

Belongs here: the requests and how their replies end. Does not: the meaning of the messages.
"""

import asyncio
import base64
import json
from typing import Any, NamedTuple

from phaseline.engine.errors import ApiFailed, NoResponders, RequestTimedOut
from phaseline.engine.jetstream import frames
from phaseline.engine.jetstream.api_reply import Reply
from phaseline.engine.jetstream.wire import Wire

PENDING = "Nats-Num-Pending"
"""What each of many answers has, and a single one does not."""
OVER = "204"
NO_MESSAGE = 10037
"""The server's error code where the subject has no message."""


class Last(NamedTuple):
    """The last message on a subject."""

    data: bytes
    sequence: int


async def last_message(wire: Wire, stream: str, subject: str) -> Last | None:
    """Read the last message on `subject` from the stream's leader; None where there is none."""
    try:
        found = (await wire.api(f"STREAM.MSG.GET.{stream}", {"last_by_subj": subject}))["message"]
    except ApiFailed as error:
        if error.err_code == NO_MESSAGE:
            return None
        raise
    return Last(base64.b64decode(found.get("data", "")), int(found["seq"]))


async def gather(wire: Wire, subject: str, body: dict[str, Any], timeout: float = 10.0) -> list[Reply]:
    """Ask `subject`, and take all answers; one with another status than 204 is the last of them. Raises `NoAnswer`."""
    found, over, inbox = list[Reply](), asyncio.Event(), wire.inbox()

    def take(_: str, data: bytes, block: bytes | None, __: str) -> None:
        found.append(Reply(data, frames.read_headers(block) if block else {}))
        if frames.STATUS in found[-1].headers or PENDING not in found[-1].headers:
            over.set()

    sid = await wire.subscribe(inbox, take)
    try:
        wire.send(wire.frame(subject, json.dumps(body).encode(), None, inbox))
        async with asyncio.timeout(timeout):
            await over.wait()
    except TimeoutError as error:
        raise RequestTimedOut(subject=subject, seconds=timeout, hint="") from error
    finally:
        await wire.unsubscribe(sid)
    if found[-1].headers.get(frames.STATUS) == "503":
        raise NoResponders(subject=subject)
    return [reply for reply in found if reply.headers.get(frames.STATUS) != OVER]
