"""Transitions, and rejections: as server-sent events that go on, or a range of them at once.

Belongs here: the handler, the forms of its answer, and where a stream begins. Does not: making frames (`live`).
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.responses import Response, StreamingResponse

from phaseline.engine.log import as_of, latest
from phaseline.engine.log.log import Log
from phaseline.engine.log.restored import identity
from phaseline.engine.log.watch import RecordFilter, chosen
from phaseline.engine.log.when import NOW, START, Moment, PlaceOf, check_order, check_reached, parse
from phaseline.engine.surfaces.http import problems
from phaseline.engine.surfaces.http.away import AWAY
from phaseline.engine.surfaces.http.call import AnyCall, Call, HttpAnswer
from phaseline.engine.surfaces.http.live import frames, replay
from phaseline.engine.surfaces.http.live.frames import COLUMNS, Form
from phaseline.engine.surfaces.http.live.hub import Channel, Topic
from phaseline.engine.surfaces.http.service import REACH, Service
from phaseline.schemas import codec
from phaseline.schemas.errors import InvalidInput, NoAnswer, PhaselineError
from phaseline.schemas.records import timestamp

EVENTS, LINES = "text/event-stream", "application/x-ndjson"
BATCH, JSON = "application/cloudevents-batch+json", "application/json"
HEARTBEAT = 15.0
"""Seconds without anything after which the place is sent again, so that a reader knows that the server is there."""
RETRY = (1_000, 4_000)
"""The bounds of the milliseconds after which a reader comes again. At random, so that not all come at once."""
STREAM_HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
PLACE = "Phaseline-Place"
"""The header of a range: the place up to which it is complete."""


async def transitions(call: Call) -> HttpAnswer | Response:
    """What happened from a place on, and what happens."""
    topic = topic_of(call)
    service = call.service
    resumed, start, end_named = call.request.headers.get("last-event-id"), call.values["from"] or NOW, call.values["to"]
    after = await begins(service, resumed, start)
    up_to = await ends(service, START if resumed else start, end_named, after)
    form = media_type(call.request.headers.get("accept", ""))
    if form == EVENTS:
        return streamed(call, topic, Stream(call, topic, after, up_to).run())
    fleet = await service.fleet()
    end = fleet.place if up_to is None else min(up_to, fleet.place)
    if form == LINES:
        headers = {**STREAM_HEADERS, PLACE: str(max(after, end))}
        return StreamingResponse(lines(call, topic, after, end), headers=headers, media_type=LINES)
    place, found = await _range(call, topic, after, end)
    if form == BATCH:
        return Response(frames.joined(found), headers={PLACE: str(place)}, media_type=BATCH)
    body = b'{"%s":%s}' % (frames.KEYS[topic.form], frames.joined(found))
    return HttpAnswer(body, Moment(place, fleet.time_ns), headers={PLACE: str(place)})


def streamed(call: AnyCall, topic: Topic, events: AsyncIterator[bytes]) -> Response:
    """The answer with a stream of server-sent events; raises `InvalidInput`, `NoAnswer`."""
    seats, sender = call.service.traffic.seats, call.sender
    seats.check(sender, topic)

    async def seated() -> AsyncIterator[bytes]:
        try:
            with seats.taken(sender, topic):
                async for data in events:
                    yield data
        except PhaselineError as error:
            if not (InvalidInput.too_many_streams.made(error) or NoAnswer.server_full.made(error)):
                raise  # else others were faster; the reader comes again, and is told

    return StreamingResponse(seated(), headers=STREAM_HEADERS, media_type=EVENTS)


def topic_of(call: AnyCall) -> Topic:
    """Which records are wanted, in which form."""
    values = call.values
    choice = chosen(call.service.kinds, values["kind"], values["state"], values["condition"])
    tree, *more = call.trees or (None,)
    wanted = RecordFilter(
        kind=values["kind"], facet=values["facet"], state=choice.phase, below=None if more else tree,
        rejections=values["rejections"], choice=choice if choice.looks_at_conditions else None,
    )  # fmt: skip
    wanted.check(call.service.kinds)
    for one in call.trees:
        latest.check_tree(one)
    form: Form = values["form"]
    if form == COLUMNS and values["rejections"]:
        raise InvalidInput.bad_parameter(name="form", problem="columns have no rejections: leave `rejections` out")
    return Topic(wanted, form, call.trees if more else ())


def media_type(accept: str) -> str:
    """The form that a client prefers; server-sent events if it does not say."""
    for wanted in accept.split(","):
        name = wanted.partition(";")[0].strip().lower()
        if name in (EVENTS, LINES, BATCH, JSON):
            return name
    return EVENTS


async def begins(service: Service, resumed: str | None, start: str | None) -> int:
    """The place after which the records begin; waits until the fleet has reached it. resumed: the last place sent."""
    fleet = await service.fleet()
    if resumed is not None:
        if (place := PlaceOf.read(resumed)) is not None:
            await as_of.check_place(service.installation, place)
            resumed = str(int(place))
        elif (note := service.follower.note) is not None and note.was_restored and resumed.isdecimal():
            identity.check_bare_place(note, int(resumed))
        if not (resumed.isascii() and resumed.isdecimal() and len(resumed) < 19):
            raise InvalidInput.bad_parameter(name="Last-Event-ID", problem=f"must be a place, found {resumed[:64]!r}")
        after = int(resumed)
    elif start in (None, NOW):
        return fleet.place
    elif start == START:
        after = 0
    else:
        named = parse(start)
        if isinstance(named, PlaceOf):
            await as_of.check_place(service.installation, named)
        moment = Moment(named - 1, 0) if isinstance(named, int) else await service.moment(start)
        check_reached(start, moment)
        after = moment.place
    if after > fleet.place:
        await service.follower.reach(after, REACH)
    elif after < fleet.place:  # who begins where the fleet stands needs nothing of the log, and so no NATS
        await Log(service.installation).check_held(after + 1)
    return max(after, 0)


async def ends(service: Service, start: str, to: str | None, after: int) -> int | None:
    """The last place of a range that begins at `start`, after a place; None without `to`. Raises `InvalidInput`.

    Who goes on from a place may ask for what is behind the end: for nothing.
    """
    if to is None:
        return None
    named = parse(to)
    if isinstance(named, PlaceOf):
        await as_of.check_place(service.installation, named)
    up_to = named if isinstance(named, int) else (await service.moment(to)).place
    check_order(start, to, Moment(after, 0), Moment(up_to, 0))
    return up_to


async def lines(call: Call, topic: Topic, after: int, end: int, cell: str = "") -> AsyncIterator[bytes]:
    """The records of a range, a line each; in each the name of the cell, if there is one.

    A range that cannot be read to its end has a last line that says so.
    """
    head = b'{"cell":%s,' % codec.encode_json(cell) if cell else b"{"
    try:
        async for _, found in replay.pieces(call.service, topic, after, end, who=call.sender):
            data = b"".join(b"%s%s\n" % (head, one.data[1:]) for one in found)
            found.clear()
            yield data
    except NoAnswer as error:
        said = codec.encode_json({"problem": problems.problem(error, call.request.scope["path"])})
        yield b"%s%s\n" % (head, said[1:])


async def _range(call: Call, topic: Topic, after: int, end: int) -> tuple[int, list[frames.PlacedJson]]:
    """The records of a range, at most `limit` and the rest of the last event; and how far they are complete."""
    found: list[frames.PlacedJson] = []
    place = max(after, end)
    async for reached, pieces in replay.pieces(call.service, topic, after, end, who=call.sender):
        found += pieces
        if len(found) >= call.values["limit"]:
            place = reached
            break
    return place, found


@dataclass
class Stream:
    """One stream of server-sent events. place: everything up to it is sent. is_away: whether it says so of NATS."""

    call: Call
    topic: Topic
    place: int
    up_to: int | None
    is_away: bool = False

    async def run(self) -> AsyncIterator[bytes]:
        """The frames, until the reader or the server goes, or `up_to` is reached."""
        note = self.call.service.follower.note
        async for frame in self._frames():
            yield frames.of_log(frame, note.number if note is not None and note.was_restored else 0)

    async def _frames(self) -> AsyncIterator[bytes]:
        service, who = self.call.service, self.call.sender
        yield b"retry: %d\n\n" % random.randint(*RETRY)  # noqa: S311  # no secret
        with service.hub.reading(self.topic) as channel:
            while not self._is_over and self.place < (begins := self._end_of(channel)):
                try:
                    async for place, data in replay.replayed(service, self.topic, self.place, begins, who):
                        yield data
                        self.place = place
                    self.place = begins
                except NoAnswer as error:
                    yield frames.HEARTBEAT if self.is_away else frames.away(str(error), service.unread_for)
                    self.is_away = True
                    await asyncio.sleep(service.limits.again)
            yield self._bookmark()
            async for data in self._live(channel):
                yield data
        yield frames.bye(self.place)

    async def _live(self, channel: Channel) -> AsyncIterator[bytes]:
        hub, bookmark = self.call.service.hub, self.call.service.limits.bookmark
        sent = marked = time.monotonic()
        while not self._is_over and (self.up_to is None or self.place < self.up_to):
            if self.place < channel.begins:
                self.place = channel.place
                self.call.service.traffic.resyncs += 1
                yield frames.resync(self.place)
                continue
            if self.is_away == self.call.service.is_connected:
                self.is_away = not self.is_away
                yield frames.away(AWAY if self.is_away else None, self.call.service.unread_for)
            found = channel.after(self.place)
            now = time.monotonic()
            if found is not None:
                part = found.between(self.place, self.up_to)
                self.place = part.place
                yield part.data
                sent = now
            elif self.place < channel.place and now - marked >= bookmark:
                self.place = channel.place
                yield self._bookmark()
                sent = marked = now
            elif now - sent >= HEARTBEAT:
                yield self._bookmark()
                sent = marked = now
            elif self.up_to is not None and channel.place >= self.up_to:
                self.place = self.up_to
            else:
                await hub.news(bookmark)

    @property
    def _is_over(self) -> bool:
        """Whether the server ends, or the reader may read no more."""
        return self.call.service.hub.is_closing or self.call.caller.is_over

    def _end_of(self, channel: Channel) -> int:
        """The place up to which the log is read, because the channel begins there."""
        return channel.begins if self.up_to is None else min(channel.begins, self.up_to)

    def _bookmark(self) -> bytes:
        return frames.at_place(self.place, timestamp(self.call.service.follower.fleet.time_ns))
