"""Records as the bytes that readers get: CloudEvents, or rows of columns.

Belongs here: both forms, and the frames of a stream of server-sent events. Does not: which records (`hub`, `replay`).
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.http.fleet.cascades import PlacedMessage
from phaseline.engine.surfaces.http.fleet.fleet import flags_of
from phaseline.machines.compiler.classes.entity_classes import class_in
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.endings import state_for_people
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND, Transition

Form = Literal["records", "columns"]
RECORDS: Form = "records"
COLUMNS: Form = "columns"
KEYS: dict[Form, bytes] = {RECORDS: b"records", COLUMNS: b"rows"}


class PlacedJson(NamedTuple):
    """A record as JSON, with its place."""

    place: int
    data: bytes


class Frame(NamedTuple):
    """Records of whole events, up to a place: everything up to it is in the frame or before it."""

    place: int
    pieces: tuple[PlacedJson, ...]
    form: Form

    @property
    def data(self) -> bytes:
        """The frame as a server-sent event. It is made for each reader: what is kept for all are the pieces."""
        body = b'{"place":%d,"%s":%s}' % (self.place, KEYS[self.form], joined(self.pieces))
        return b"id: %d\nevent: batch\ndata: %s\n\n" % (self.place, body)

    def between(self, after: int, up_to: int | None) -> "Frame":
        """What of it is after a place, and not after another one."""
        end = self.place if up_to is None else min(self.place, up_to)
        if end == self.place and (not self.pieces or self.pieces[0].place > after):
            return self
        return Frame(end, tuple(one for one in self.pieces if after < one.place <= end), self.form)


def piece(kinds: Kinds, placed: PlacedMessage, form: Form) -> PlacedJson | None:
    """A record in a form; None for what the form does not show."""
    record = placed.record
    if record is None:
        return None
    if form == RECORDS:
        shown: Any = maps.shown_record(kinds, placed.place, record, placed.body)
    elif isinstance(record, Transition):
        shown = row(kinds, placed.place, record)
    else:
        return None
    return PlacedJson(placed.place, codec.encode_json(shown))


def row(kinds: Kinds, place: int, record: Transition) -> list[Any]:
    """A transition as a row: place, kind, id, facet, phase, conditions, class, flags, since in seconds, event.

    event: the sequence of the event that led to it, so that a reader can step event by event.
    """
    entity, after = record.entity, record.after
    facet = entity.facets[entity.names.index(record.facet)]
    after = state_for_people(after, entity.attributes)
    state_class = class_in(kinds, entity.kind, record.facet, after)
    return [
        place, entity.kind, entity.id, record.facet, after.phase, after.conditions, state_class, flags_of(entity),
        facet.since_ns // SECOND, record.cause.sequence,
    ]  # fmt: skip


def joined(pieces: Iterable[PlacedJson]) -> bytes:
    """The pieces as a JSON list."""
    return b"[%s]" % b",".join(one.data for one in pieces)


def at_place(place: int, time: str) -> bytes:
    """The bookmark: nothing was left out up to this place."""
    return b'id: %d\nevent: place\ndata: {"place":%d,"time":"%s"}\n\n' % (place, place, time.encode())


def resync(place: int) -> bytes:
    """Tells a reader who was too slow that records are missing: read the states at this place, and go on."""
    return b'id: %d\nevent: resync\ndata: {"place":%d}\n\n' % (place, place)


def away(why: str | None, age: float = 0) -> bytes:
    """Tells that nothing new can come for a while, why, and since how many seconds; None: it can again."""
    told = {"away": why} if why is None else {"away": why, "seconds": round(age, 1)}
    return b"event: away\ndata: %s\n\n" % codec.encode_json(told)


def bye(place: int) -> bytes:
    """The end of a stream. The reader may go on from this place, elsewhere or later."""
    return b'id: %d\nevent: bye\ndata: {"place":%d}\n\n' % (place, place)


def of_log(frame: bytes, log: int) -> bytes:
    """A frame whose id, if it has one, names the log of its place too. log: 0 for one that was never put back."""
    if not log or not frame.startswith(b"id: "):
        return frame
    head, _, rest = frame.partition(b"\n")
    return b"%s@%d\n%s" % (head, log, rest)


HEARTBEAT = b":\n\n"
