"""A record in a log that a newer version wrote: its `schemaversion` is one that this version does not know.

Belongs here: storing one as workers store records. Does not: what readers make of it (the tests).
"""

from phaseline.schemas import codec
from tests.support.installation import Layout, Wire
from tests.support.streams import EXPECTED, last_message_from_leader

NEWER = 99


async def newer_record(wire: Wire, layout: Layout) -> int:
    """Store the last transition again, as one of a newer version; its place."""
    last = await last_message_from_leader(wire, layout.log, f"{layout.prefix}.log.*.transition.>")
    assert last is not None
    body = codec.encode({**codec.decode(last.data), "schemaversion": NEWER})
    fence = {EXPECTED: str(last.sequence), f"{EXPECTED}-Subject": last.subject}
    return (await wire.publish_acked(last.subject, body, fence)).seq
