"""One question to the server that has many answers: a direct get of several messages.

Belongs here: taking all answers up to the one that ends them. Does not: what is asked, what the answers mean.
"""

import asyncio
import json
from typing import Any

from phaseline.engine import frames
from phaseline.engine.answers import Reply
from phaseline.engine.errors import NoResponders, RequestTimedOut
from phaseline.engine.wire import Wire

PENDING = "Nats-Num-Pending"
"""What each of many answers has, and a single one does not."""
OVER = "204"


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
