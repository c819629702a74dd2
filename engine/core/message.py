"""A message for the log, as the core hands it to the shell.

Belongs here: the shape of a message, what its headers say, how many are stored together. Does not: its content
(`core.process`, `core.timers`), sending it (`worker.ownership.fenced_commit`).
"""

import msgspec

from phaseline.schemas.cloudevents import content_types

Headers = tuple[tuple[str, str], ...]
NO_EVENT: Headers = tuple(content_types.AS_MSGPACK.items())
"""The headers of a message whose body is msgpack, but no event."""
COPY = b"\r\nNats-Stream:"
"""A header of every answer to a direct get. The server stores such an answer where a request's reply subject says."""
BATCH_LIMIT = 999
"""The most log messages of one atomic batch beside its checkpoint (the server's limit is 1,000)."""


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message for the log. `headers`: which schedule the server sets or cancels when it stores the message.

    The body is an event or a record, unless `headers` has the `content-type` of something else.
    """

    subject: str
    body: bytes
    headers: Headers = ()
