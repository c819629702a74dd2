"""Erasing stored messages for good: the server writes over their bytes, and no reader gets them any more.

Belongs here: erasing one message of a stream, and the copy of an event in LIVE. Does not: which messages to erase
(`worker.erasure`, `log.purge`).
On one node the bytes in the file are overwritten at once. With replicas each node does the same in its own copy; the
servers' replication logs hold a message until the servers compact them.
"""

import base64

from phaseline.engine.errors import ApiFailed
from phaseline.engine.jetstream import frames
from phaseline.engine.jetstream.direct_get import NO_MESSAGE
from phaseline.engine.jetstream.wire import Wire

GONE = (NO_MESSAGE, 10057, 10043)
"""The error codes where the message does not exist."""
SOURCE = "Nats-Stream-Source"
"""The header of a copied message: the stream that it comes from, and its sequence there."""


async def erase(wire: Wire, stream: str, sequence: int) -> bool:
    """Erase one message; False if it does not exist. Raises as `Wire.api` does."""
    try:
        await wire.api(f"STREAM.MSG.DELETE.{stream}", {"seq": sequence, "no_erase": False})
    except ApiFailed as error:
        if error.err_code in GONE:
            return False
        raise
    return True


async def erase_copy(wire: Wire, stream: str, subject: str, position: int) -> bool:
    """Erase the last message on `subject` if it is the copy of the event at `position`.

    False if there is no message yet. True also if the message is the copy of a later event.
    """
    try:
        message = (await wire.api(f"STREAM.MSG.GET.{stream}", {"last_by_subj": subject}))["message"]
    except ApiFailed as error:
        if error.err_code in GONE:
            return False
        raise
    source = frames.read_headers(base64.b64decode(message.get("hdrs", ""))).get(SOURCE, "").split(" ")
    copied = int(source[1]) if len(source) > 1 and source[1].isdigit() else 0
    if copied == position:
        await erase(wire, stream, int(message["seq"]))
    return copied >= position
