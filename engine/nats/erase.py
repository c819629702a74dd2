"""Erasing stored messages for good: the server writes over their bytes, and no reader gets them any more.

Belongs here: erasing one message of a stream, finding the copy of an event in LIVE. Does not: which messages to erase
(`worker.erasure`, `log.purge`).
On one node the bytes in the file are overwritten at once. With replicas each node does the same in its own copy; the
servers' replication logs hold a message until the servers compact them.
"""

import base64
from typing import NamedTuple

from phaseline.engine.nats import frames
from phaseline.engine.nats.direct_get import NO_MESSAGE
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.cloudevents import binary_mode
from phaseline.schemas.errors import ApiFailed

GONE = (NO_MESSAGE, 10057, 10043)
"""The error codes where the message does not exist."""
SOURCE = "Nats-Stream-Source"
"""The header of a copied message: the stream that it comes from, and its sequence there."""


class Copy(NamedTuple):
    """The copy of an event in LIVE: its sequence there, the position of the event, its whole envelope."""

    sequence: int
    position: int
    body: bytes


async def erase(wire: Wire, stream: str, sequence: int) -> bool:
    """Erase one message; False if it does not exist. Raises as `Wire.api` does."""
    return await _remove(wire, stream, sequence, keep_bytes=False)


async def delete(wire: Wire, stream: str, sequence: int) -> bool:
    """Delete one message, as `erase` does, but leave its bytes to the file until the server compacts that."""
    return await _remove(wire, stream, sequence, keep_bytes=True)


async def _remove(wire: Wire, stream: str, sequence: int, *, keep_bytes: bool) -> bool:
    try:
        await wire.api(f"STREAM.MSG.DELETE.{stream}", {"seq": sequence, "no_erase": keep_bytes})
    except ApiFailed as error:
        if error.err_code in GONE:
            return False
        raise
    return True


async def copy_on(wire: Wire, stream: str, subject: str) -> Copy | None:
    """The copy of an event on a subject of LIVE, read from the stream's leader; None if there is none."""
    try:
        message = (await wire.api(f"STREAM.MSG.GET.{stream}", {"last_by_subj": subject}))["message"]
    except ApiFailed as error:
        if error.err_code in GONE:
            return None
        raise
    block = base64.b64decode(message.get("hdrs", ""))
    source = frames.read_headers(block).get(SOURCE, "").split(" ")
    position = int(source[1]) if len(source) > 1 and source[1].isdigit() else 0
    body = binary_mode.structured(base64.b64decode(message.get("data", "")), block)
    return Copy(int(message["seq"]), position, body)
