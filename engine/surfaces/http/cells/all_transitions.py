"""What happens in all cells: server-sent events that go on at a place of each cell, or a range as lines.

Belongs here: the handler, joining the cells' streams. Does not: the stream of one cell (`reading.transitions`).
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from starlette.responses import Response, StreamingResponse

from phaseline.engine.log.when import NOW, Time, When, parse
from phaseline.engine.surfaces.cells import places
from phaseline.engine.surfaces.http.away import AWAY
from phaseline.engine.surfaces.http.call import HttpAnswer
from phaseline.engine.surfaces.http.cells.cells_about import CellsCall
from phaseline.engine.surfaces.http.live.frames import HEARTBEAT
from phaseline.engine.surfaces.http.live.hub import Topic
from phaseline.engine.surfaces.http.reading import parts
from phaseline.engine.surfaces.http.reading import transitions as one_cell
from phaseline.engine.surfaces.http.reading.transitions import EVENTS, LINES, PLACE, STREAM_HEADERS, Stream
from phaseline.schemas import codec
from phaseline.schemas.errors import BadSetting, InvalidInput, NameUnknown, PhaselineError
from phaseline.schemas.records import timestamp

LOOK = 0.5
"""Seconds between two looks whether a cell can be read."""
HELD = 4
"""Frames that wait to be sent. A reader that takes no more lets the cells' streams wait."""


async def transitions(call: CellsCall) -> HttpAnswer | Response:
    """What happened in all cells from a time or from places on, and what happens."""
    topic = one_cell.topic_of(call)
    form = one_cell.media_type(call.request.headers.get("accept", ""))
    if form not in (EVENTS, LINES):
        problem = f"of several cells there are {EVENTS} and {LINES}, not {form}"
        raise InvalidInput.bad_parameter(name="Accept", problem=problem)
    starts, to = _starts(call), call.values["to"]
    places.check_common(call.service.cells, to, "to")
    to = None if to is None else _fixed(to)
    loaded = call.service.loaded()
    after = {name: await one_cell.begins(one, None, starts[name]) for name, one in loaded.items()}
    up_to = {name: await one_cell.ends(one, starts[name], to, after[name]) for name, one in loaded.items()}
    if form == EVENTS:
        return one_cell.streamed(call, topic, _CellsStream(call, topic, starts, after, to).run())
    present = {name: (await one.fleet()).place for name, one in loaded.items()}
    ends = {name: place if (end := up_to[name]) is None else min(end, place) for name, place in present.items()}
    reached = {name: max(after[name], end) for name, end in ends.items()}
    headers = {**STREAM_HEADERS, PLACE: places.written(reached)}
    return StreamingResponse(_lines(call, topic, after, ends), headers=headers, media_type=LINES)


def _starts(call: CellsCall) -> dict[str, str]:
    """Where each cell begins, as text. A stream that is resumed has its places in `Last-Event-ID`."""
    resumed, start = call.request.headers.get("last-event-id"), call.values["from"]
    names = [*call.service.cells]
    try:
        if resumed is not None:
            stood = {name: str(int(place) + 1) for name, place in places.read(resumed).items()}
            found = places.for_each(names, stood)
        else:
            found = places.for_each(names, places.read(start or "") or start or NOW)
            found = {name: _fixed(when) for name, when in found.items()}
    except (InvalidInput, NameUnknown, ValueError) as error:
        problem = error.problem if isinstance(error, BadSetting) else str(error)
        raise InvalidInput.bad_parameter(name="from" if resumed is None else "Last-Event-ID", problem=problem) from None
    now = datetime.now(UTC).isoformat()
    late = {name for name, one in call.service.cells.items() if one.problem is not None}
    return {name: now if when == NOW and name in late else str(when) for name, when in found.items()}


def _fixed(when: When) -> str:
    """The same moment in words that mean the same later; raises as `parse`. A place, and `now`, stay as they are."""
    named = parse(when)
    return timestamp(named.ns) if isinstance(named, Time) else str(when)


async def _lines(call: CellsCall, topic: Topic, after: dict[str, int], ends: dict[str, int]) -> AsyncIterator[bytes]:
    """The records as lines, cell by cell. A cell that has no part in them has a line that says so."""
    for name, first in after.items():
        async for data in one_cell.lines(call.within(name), topic, first, ends[name], name):
            yield data
    for name, service in call.service.cells.items():
        if name not in after:
            yield b"%s\n" % codec.encode_json({"cell": name, **parts.away(service)})


class _Sent(NamedTuple):
    """A part of the joined stream. place: where its cell stands after it; None for what has no place."""

    cell: str
    place: int | None
    data: bytes


@dataclass
class _CellsStream:
    """One stream of server-sent events. starts: where each cell begins. after: the same as places, of those loaded.

    to: where it ends, if it does.
    """

    call: CellsCall
    topic: Topic
    starts: dict[str, str]
    after: dict[str, int]
    to: str | None
    sent: dict[str, int] = field(default_factory=dict)
    """By cell, the place up to which everything is sent."""

    def __post_init__(self) -> None:
        self.service = self.call.service
        self.sent = dict(self.after)
        self._waiting = asyncio.Queue[_Sent | None](HELD)

    async def run(self) -> AsyncIterator[bytes]:
        """The frames of all cells, until the reader or the server goes."""
        tasks = [asyncio.create_task(self._read(name)) for name in self.service.cells]
        tasks.append(asyncio.create_task(self._look()))
        ended = 0
        yield b"retry: %d\n\n" % one_cell.RETRY[0]
        try:
            while ended < len(self.service.cells):
                found = await self._waiting.get()
                if found is None:
                    ended += 1
                elif found.place is None:
                    yield found.data
                else:
                    self.sent[found.cell] = found.place
                    yield b"id: %s\n%s" % (places.written(self.sent).encode(), found.data)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        yield b"id: %s\nevent: bye\ndata: {}\n\n" % places.written(self.sent).encode()

    async def _read(self, name: str) -> None:
        """Take the frames of a cell, from when its states are loaded, to its end."""
        service = self.service.cells[name]
        try:
            while service.problem is not None:  # noqa: ASYNC110  # a service can be read again in several ways
                await asyncio.sleep(LOOK)
            after = self.after.get(name)
            after = await one_cell.begins(service, None, self.starts[name]) if after is None else after
            up_to = await one_cell.ends(service, self.starts[name], self.to, after)
            async for data in Stream(self.call.within(name), self.topic, after, up_to).run():
                await self._take(name, data)
        except PhaselineError as error:
            await self._tell(name, str(error))
        await self._waiting.put(None)

    async def _take(self, name: str, data: bytes) -> None:
        if data == HEARTBEAT:
            await self._waiting.put(_Sent(name, None, data))
            return
        head, _, rest = data.partition(b"\n")
        if head.startswith(b"id: ") and not rest.startswith(b"event: bye"):
            named = rest.replace(b"data: {", b'data: {"cell":%s,' % codec.encode_json(name), 1)
            await self._waiting.put(_Sent(name, int(head[4:]), named))

    async def _look(self) -> None:
        """Tell of each cell that cannot be read, and when it can be read again."""
        known: dict[str, str | None] = dict.fromkeys(self.service.cells)
        while True:
            for name, service in self.service.cells.items():
                away = service.problem
                if away is None and not service.is_connected:
                    away = AWAY
                if (away is None) != (known[name] is None):
                    await self._tell(name, away)
                known[name] = away
            await asyncio.sleep(LOOK)

    async def _tell(self, name: str, away: str | None) -> None:
        told: dict[str, Any] = {"cell": name, "away": away}
        if away is not None:
            told["seconds"] = round(self.service.cells[name].unread_for, 1)
        body = codec.encode_json(told)
        await self._waiting.put(_Sent(name, None, b"event: cell\ndata: %s\n\n" % body))
