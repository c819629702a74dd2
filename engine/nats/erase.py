"""Erasing stored messages for good: the server writes over their bytes, and no reader gets them any more.

Belongs here: erasing one message of a stream, finding the copy of an event in LIVE. Does not: which messages to erase
(`worker.erasure`, `log.purge`).
On one node the bytes in the file are overwritten at once. With replicas each node does the same in its own copy; the
servers' replication logs hold a message until the servers compact them.
"""

from typing import NamedTuple

from phaseline.engine.nats.direct_get import NO_MESSAGE, last_message_from_leader, origin
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
    found = await last_message_from_leader(wire, stream, subject)
    if found is None:
        return None
    return Copy(found.sequence, origin(found.block), binary_mode.structured(found.data, found.block))
