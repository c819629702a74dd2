"""Reading a stream in order, in the way that this user may.

Belongs here: the choice between a consumer and direct gets, and reading what is there now. Does not: the reading itself
(`reader`, `direct_reader`).
"""

from collections.abc import AsyncIterator, Sequence

from phaseline.engine.jetstream.direct_reader import DirectReader
from phaseline.engine.jetstream.reader import BUFFER, Reader, Stored
from phaseline.engine.jetstream.wire import Wire

StreamReader = Reader | DirectReader


def reader_of(
    wire: Wire, stream: str, filters: Sequence[str], start: int | str = "start", feed: Sequence[str] = ()
) -> StreamReader:
    """A reader, not open yet. feed: where the server tells of new messages, for users without consumers."""
    if wire.has_consumers:
        return Reader(wire, stream, filters, start)
    return DirectReader(wire, stream, filters, start, feed)


async def read_all(
    wire: Wire, stream: str, filters: Sequence[str], start: int | str = "start"
) -> AsyncIterator[list[Stored]]:
    """The messages that are in the stream now, as lists, in order. The last list can hold newer messages too."""
    async with reader_of(wire, stream, filters, start) as reader:
        while not reader.caught_up:
            if messages := await reader.take(BUFFER):
                yield messages
