"""How states, times and records look on stdout.

Belongs here: texts and colours that several commands share. Does not: the columns of one command, fitting lines into a
terminal (`layout`, `styled`), printing and formats for programs (`output`).
"""

import json
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from phaseline.engine.log.explain.causes import is_of_snapshot
from phaseline.engine.log.explain.staleness import Stale
from phaseline.engine.log.explain.unknown_parts import Parts
from phaseline.engine.log.when import Moment
from phaseline.engine.surfaces.cli import terminal
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import JSON, Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client.entity_view import EntityView
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, facet_named, label_of, message_of
from phaseline.machines.language.endings import LABELS as OF_ENDS
from phaseline.machines.language.endings import is_left_behind, is_unseen, shown_state, state_for_people
from phaseline.machines.language.table import DELETED, Facet
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import actors
from phaseline.schemas.records import SECOND, Entity, Rejection, State, Transition, facets_of, nanoseconds

CLASS_COLOURS: Final[Mapping[str, str]] = {
    "bad": "red", "busy": "yellow", "good": "green", "unknown": "magenta", "excused": "magenta", "gone": "bright_black",
}  # fmt: skip
"""By class of states, the colour in which it is shown everywhere."""
DAY, HOUR, MINUTE = 86_400, 3_600, 60
NEW, COMMA, NOTHING = Text("new", "bright_black"), Text(", "), Text()
UNITS = ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "m"), (MINUTE, "m", 1, "s"))
"""Of a duration: the larger unit in seconds and its name, then the smaller one."""
NARROW = 100
"""In a narrower terminal a line about a record has a shorter time."""


def show_line(line: Text | str) -> None:
    """Print a text on stdout, on several lines if the terminal is narrow, and flush it."""
    with Output() as out:
        out.line(line)


def show_json(value: Any) -> None:
    """Print one line of JSON and flush it; bytes become base64, and characters that steer a terminal are escaped."""
    with Output(JSON) as out:
        out.show(value)


def counted(number: int, word: str, words: str = "") -> str:
    """`1 tree`, `2 trees`, `1,200 entities`. words: of several, where that is not the word with an s."""
    return f"{number:,} {word if number == 1 else words or f'{word}s'}"


def text_of(value: object, style: str = "") -> Text:
    """A value as text."""
    return Text(value if isinstance(value, str) else str(value), style)


@lru_cache(maxsize=4096)
def word(text: str, style: str = "") -> Text:
    """As `text_of`, for a text that stands in many rows: they share one."""
    return text_of(text, style)


def colour(state: State, facet: Facet | None) -> str:
    """The colour of a state: that of its class, which says how it is, not which one."""
    return CLASS_COLOURS["unknown" if facet is None else class_of(facet, state)]


def state(kinds: Kinds, kind: str, facet: str, found: State) -> Text:
    """`Failed [Balance]` in its colour."""
    return _state(facet_named(kinds, kind, facet), found)


@lru_cache(maxsize=4096)
def _state(facet: Facet | None, found: State) -> Text:
    return text_of(found, colour(found, facet))


def label(kinds: Kinds, kind: str, facet: str, found: State, language: Language) -> Text:
    """The label of the state, if it says more than the phase does."""
    return _label(facet_named(kinds, kind, facet), found, language)


@lru_cache(maxsize=4096)
def _label(facet: Facet | None, found: State, language: Language) -> Text:
    text = found.phase if facet is None else label_of(facet, found, language)
    return text_of("" if text == found.phase else text, "italic")


def named_states(kinds: Kinds, kind: str, found: Iterable[tuple[str, State]]) -> Text:
    """The states of facets, each with the facet's name if there are several: `health: Healthy, sync: Synced`."""
    pairs = [*found]
    if len(pairs) == 1:
        return state(kinds, kind, *pairs[0])
    return COMMA.join(Text.assemble(f"{name}: ", state(kinds, kind, name, one)) for name, one in pairs)


def plain(found: State) -> State:
    """A state without how the life ended that people are told of."""
    return State(found.phase) if found in OF_ENDS else found


def left_behind(entity: Entity) -> Text:
    """`, last shown Running [Ok]`: what was reported last of an entity that is Deleted."""
    if not is_left_behind(entity.facets[0].state.phase, entity.attributes):
        return NOTHING
    return text_of(f", last shown {shown_state(entity.attributes)}", "red")


def last_shown(shows: Mapping[str, Any]) -> Text:
    """`Running [Ok] at 2026-03-02 08:12:05.000, event 412`: the same with its time."""
    found = State(shows["phase"], tuple(shows["conditions"]))
    return text_of(f"{found} at {local_time(nanoseconds(shows['time']))}, event {shows['event']}", "red")


class Described(dict[tuple[str, tuple[str, ...], tuple[State, ...]], tuple[Text, Text]]):
    """What many rows say: by a kind, names of facets and their states, the states as text, and their labels."""

    def __init__(self, kinds: Kinds, language: Language) -> None:
        super().__init__()
        self.kinds, self._language = kinds, language

    def __missing__(self, key: tuple[str, tuple[str, ...], tuple[State, ...]]) -> tuple[Text, Text]:
        kind, names, found = key
        labels = [label(self.kinds, kind, name, one, self._language) for name, one in zip(names, found, strict=True)]
        called = labels[0] if len(labels) == 1 else COMMA.join(dict.fromkeys(filter(None, labels)))
        self[key] = named_states(self.kinds, kind, zip(names, map(plain, found), strict=True)), called
        return self[key]


def partly(unknown: Parts | None, language: Language) -> Text:
    """`, 3 of 11 not assessed`: of how many parts nothing is known, or what is lacking."""
    return text_of("" if unknown is None else f", {unknown.text(language)}", "yellow")


def states(kinds: Kinds, entity: Entity, language: Language, parts: Mapping[str, Parts] = {}) -> Text:
    """All facets of an entity, with their labels. parts: by facet, of how many of its parts nothing is known."""
    pieces = []
    facets = [*facets_of(entity)]
    for name, facet in facets:
        title = text_of(f"{name}: " if len(facets) > 1 else "")
        called = label(kinds, entity.kind, name, state_for_people(facet.state, entity.attributes), language)
        shown = state(kinds, entity.kind, name, facet.state)
        message = facet_message(kinds, entity, name, facet.state)
        pieces.append(
            Text.assemble(title, shown, partly(parts.get(name), language), "  " if called else "", called, message)
        )
    return Text.assemble(COMMA.join(pieces), left_behind(entity))


def evidence(one: Mapping[str, Any], *, says: bool = False) -> str:
    """`condition Ready is False (InvalidResource) since 2026-03-02T08:00:00Z`, `container app is waiting`.

    says: with its own message.
    """
    reason = f" ({one['reason']})" if one.get("reason") else ""
    since = f" since {one['since']}" if one.get("since") else ""
    message = f": {one['message']}" if says and one.get("message") else ""
    name = str(one.get("condition"))
    return f"{'' if ' ' in name else 'condition '}{name} is {one.get('status')}{reason}{since}{message}"


def happening(one: Mapping[str, Any]) -> str:
    """`Warning BackOff, 12 times, last at 2026-03-02T08:00:00Z: Back-off restarting failed container`."""
    named = " ".join(filter(None, (one.get("type"), one.get("reason"))))
    count, last, message = one.get("count", 1), one.get("last"), one.get("message")
    parts = (named, f"{count:,} times" if count > 1 else "", f"last at {last}" if last else "")
    return f"{', '.join(filter(None, parts))}{f': {message}' if message else ''}"


def facet_message(kinds: Kinds, entity: Entity, name: str, found: State) -> Text:
    """` (1 of 3 replicas are new)`: why a facet is not healthy, if its table keeps a message."""
    facet = facet_named(kinds, entity.kind, name)
    if facet is None or found.phase in (facet.healthy, DELETED):
        return Text()
    shown = next(one for of, one in facets_of(entity) if of == name)
    message = message_of(facet, entity.kind, entity.attributes, shown) if shown.state == found else ""
    return text_of(f" ({message})" if message else "", "italic")


def local_time(time_ns: int) -> str:
    """`2026-03-02 08:00:05.123`, in the local time zone."""
    minute, rest = divmod(time_ns, MINUTE * SECOND)
    if head := _local_minute(minute):
        digits = str(rest // 1_000_000 + 100_000)  # takes less time than formats with zeros in front
        return f"{head}{digits[1:3]}.{digits[3:]}"
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time_ns // SECOND))
    return f"{text}.{rest // 1_000_000 % 1_000:03d}"


@lru_cache(maxsize=64)
def _local_minute(minute: int) -> str:
    """How all seconds of a minute begin; empty in a zone that is not whole minutes from UTC (as some were long ago)."""
    begin = time.localtime(minute * MINUTE)
    return "" if begin.tm_sec else time.strftime("%Y-%m-%d %H:%M:", begin)


def short_time(time_ns: int, now: int) -> str:
    """`08:00:05.123` today, `03-02 08:00:05` on another day."""
    text = local_time(time_ns)
    return text[11:] if text[:10] == local_time(now)[:10] else text[5:19]


def time_within(time_ns: int, width: int | None) -> str:
    """The time for a line of that width: short if it is narrow."""
    return short_time(time_ns, now_ns()) if width is not None and width < NARROW else local_time(time_ns)


def duration(ns: int) -> str:
    """A duration as text: `350 ms`, `4.2 s`, `3 m 12 s`, `5 h 2 m`, `12 d 3 h`."""
    seconds = max(0, ns) / 1e9
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, name, below, under in UNITS:
        if whole >= unit:
            return f"{whole // unit} {name} {whole % unit // below} {under}"
    return f"{whole} s"


def as_of(stale: int | None, now: int) -> Text:
    """`~ as of 12 m 3 s ago`, for states that may have changed since `stale` (ns); empty for None."""
    return NOTHING if stale is None else text_of(f"~ as of {duration(now - stale)} ago", "yellow")


def stale(mark: Stale | None, entity: Entity, now: int) -> Text:
    """`~ as of 12 s ago, cluster c1 heard 5.3 s ago`, for an entity that is stale; empty for None."""
    if mark is None:
        return Text()
    if mark.is_of_backup:
        return text_of(f"~ as of the backup of {local_time(mark.as_of_ns)}", "yellow")
    heard = "" if mark.is_itself(entity) else f", {mark.text()} heard {duration(now - mark.since_ns)} ago"
    return Text.assemble(as_of(mark.as_of_ns, now), text_of(heard, "yellow"))


def now_ns() -> int:
    """The current time, ns."""
    return int(datetime.now(UTC).timestamp() * 1e9)


def cause(record: Transition) -> Text:
    """The cause of a transition: `created by /agent/c1`, `started (view of cluster/c1)`, `deleted by /a, unasked`."""
    how = "snapshot" if is_of_snapshot(record) else record.cause.by
    found = _cause(record.trigger, how, actors.sender(record.cause), record.cause.origin, unasked=record.unasked)
    return Text.assemble(found, *in_place_of(record)) if record.noted.replaced else found


def in_place_of(record: Transition) -> tuple[Text, ...]:
    """`, in place of aws:i-0abc`: the thing whose place another one has taken."""
    return (text_of(f", in place of {record.noted.replaced}", "yellow"),) if record.noted.replaced else ()


@lru_cache(maxsize=4096)
def _cause(trigger: str, how: str, source: str, origin: str | None, *, unasked: bool) -> Text:
    """The text of a cause. Many rows share one."""
    what, also = text_of(trigger, "bold"), Text(", unasked" if unasked else "", "yellow")
    if how == "event":
        return Text.assemble(what, " by ", text_of(source), also)
    if origin is None:
        return Text.assemble(what, also)
    return Text.assemble(what, f" ({how} of ", text_of(origin), ")", also)


def unasked(record: Transition) -> Text:
    """`, unasked`: no request and no single observation leads there, so somebody acted outside."""
    return text_of(", unasked" if record.unasked else "", "yellow")


@lru_cache(maxsize=4096)
def reason_and_message(reason: str | None, message: str | None) -> Text:
    """The reason and the message of an event: `KubeletStopped: no heartbeat`."""
    return text_of(": ".join(part for part in (reason, message) if part), "italic")


class RecordRow(NamedTuple):
    """A record of the log, and where it is shown. cell: empty where there is one installation."""

    kinds: Kinds
    place: int
    record: Transition | Rejection
    width: int | None = None
    cell: str = ""


def _entity_of(row: RecordRow) -> Text:
    record = row.record
    if isinstance(record, Rejection):
        return text_of(f"{record.kind} {record.id}", "bold")
    entity = record.entity
    facet = f" {record.facet}" if len(entity.names) > 1 and len([*facets_of(entity)]) > 1 else ""
    return text_of(f"{entity.kind} {entity.id}{facet}", "bold")


def _change_of(row: RecordRow) -> Text:
    record = row.record
    if isinstance(record, Rejection):
        return Text.assemble(word(f"{record.trigger} rejected, {record.reason}: ", "red"), record.message)
    return change(row.kinds, record)


def _cause_of(row: RecordRow) -> Text:
    record = row.record
    if isinstance(record, Rejection):
        return Text.assemble("by ", text_of(actors.sender(record.cause))) if record.cause.actor else NOTHING
    message = reason_and_message(record.reason, record.message)
    return Text.assemble(cause(record), ": ", message) if message else cause(record)


RECORD: Final[tuple[Column[RecordRow], ...]] = (
    Column("CELL", lambda row: word(row.cell, "cyan")),
    Column("PLACE", lambda row: Text(f"{row.place:>7}", "bright_black")),
    Column("TIME", lambda row: Text(time_within(row.record.time_ns, row.width), "bright_black")),
    Column("ENTITY", _entity_of),
    Column("CHANGE", _change_of),
    Column("CAUSE", _cause_of),
)
"""What `phaseline watch` shows of a record, one after the other. In a narrow terminal the time is short."""


def show_record(output: Output, row: RecordRow) -> None:
    """Print a record of the log."""
    output.record(RECORD, row._replace(width=output.width))


def change(kinds: Kinds, record: Transition) -> Text:
    """The change of a transition: `Creating [Progressing] -> Running [Ok]`; or the new base, if only that changed.

    Where the state is the base and stays, only attributes changed: `stays Instantiated`.
    """
    entity, before, after = record.entity, record.before, record.after
    base = entity.facets[entity.names.index(record.facet)].base if before == after else after
    shown = _change(facet_named(kinds, entity.kind, record.facet), before, after, base)
    if after.phase != DELETED:
        return shown
    end = "seen now" if before == after and not is_unseen(entity.attributes) else ""
    unseen = "not seen" if is_unseen(entity.attributes) else end
    return Text.assemble(shown, text_of(f" ({unseen})" if unseen else "", "yellow"), left_behind(entity))


@lru_cache(maxsize=4096)
def _change(facet: Facet | None, before: State | None, after: State, base: State) -> Text:
    """The text of a change. Many lines share one."""
    to = _state(facet, after)
    if before == after:
        return (
            Text.assemble("stays ", to)
            if base == after
            else Text.assemble(to, " (the base is now ", _state(facet, base), ")")
        )
    return Text.assemble(NEW if before is None else _state(facet, before), " -> ", to)


def pretty(body: bytes) -> str | None:
    """A decoded body on several lines; None if it cannot be decoded."""
    try:
        return json.dumps(codec.decode(body), indent=2, ensure_ascii=False, default=repr)
    except codec.Undecodable:
        return None


def hex_dump(body: bytes) -> str:
    """A hexadecimal dump: sixteen bytes a line, with their printable characters."""
    lines = []
    for start in range(0, len(body), 16):
        row = body[start : start + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"{start:08x}  {row.hex(' '):<47}  {shown}")
    return "\n".join(lines)


def time_of(view: EntityView[Moment | None]) -> int:
    """The time of the view, ns. If it does not show the latest states, print its moment on stderr."""
    return time_at(view.moment)


def time_at(moment: Moment | None, cell: str = "") -> int:
    """The time of a moment, ns, or the present one. A moment is printed on stderr, with the name of its cell."""
    if moment is None:
        return now_ns()
    log = f"the log of {cell}" if cell else "the log"
    terminal.say(f"as of {local_time(moment.time_ns)}, place {moment.place} of {log}")
    return moment.time_ns


TELLING: Final = ("bad", "unknown", "busy")
"""The classes of which a tree says for how long: those that call for somebody, or will end."""


def lasting(found: str, ns: int) -> Text:
    """`bad for 12 m 4 s`, in the colour of the class."""
    return word(f"{found} for {duration(ns)}", CLASS_COLOURS[found])


def dwell(kinds: Kinds, entity: Entity, now: int) -> Text:
    """`bad for 12 m 4 s`: the class of an entity, and for how long it has been in it, until `now`, ns."""
    return lasting(class_of_entity(kinds, entity), now - class_since(kinds, entity))


def telling_dwell(kinds: Kinds, entity: Entity, now: int) -> Text:
    """The same, where it tells something: empty for what is good, excused or gone."""
    return dwell(kinds, entity, now) if class_of_entity(kinds, entity) in TELLING else NOTHING
