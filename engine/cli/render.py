"""How states, times and records look on stdout. All are `rich` texts, so that names are never markup.

Belongs here: texts and colours that several commands share. Does not: the layout of one command.
"""

import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from phaseline.engine import staleness
from phaseline.engine.cli.controls import plain, plain_json
from phaseline.engine.explain.causes import is_of_snapshot
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, label_of
from phaseline.machines.language.table import ABSENT, DELETED, PROGRESSING, Facet
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Entity, Rejection, State, Transition, facets_of

WIDE = 10_000
DAY, HOUR, MINUTE = 86_400, 3_600, 60


@lru_cache(maxsize=1)
def _console(file: TextIO) -> Console:
    """A console for the file. If it is no terminal, no line is wrapped."""
    return Console(file=file, width=None if file.isatty() else WIDE, highlight=False)


def width() -> int:
    """Characters in a line: the width of the terminal, or 100 if stdout is none."""
    return _console(sys.stdout).width if sys.stdout.isatty() else 100


def show(part: Any, *, wrap: bool = True) -> None:
    """Print on stdout, without blanks at the ends of lines."""
    screen = _console(sys.stdout)
    with screen.capture() as captured:
        screen.print(part, soft_wrap=not wrap)
    sys.stdout.write("\n".join(line.rstrip() for line in captured.get().split("\n")))


def show_line(line: Text) -> None:
    """Print one line on stdout, however long, and flush it."""
    show(line, wrap=False)
    sys.stdout.flush()


def columns(*titles: str) -> Table:
    """A table without borders."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def show_pairs(pairs: Iterable[tuple[str, Text]]) -> None:
    """Print names and values, one pair a line."""
    lines = list(pairs)
    width = max(len(name) for name, _ in lines) + 2
    for name, value in lines:
        show_line(Text.assemble(text_of(f"{name:<{width}}", "bright_black"), value))


def show_json(value: Any) -> None:
    """Print one line of JSON and flush it; bytes become base64, and characters that steer a terminal are escaped."""
    sys.stdout.write(plain_json(codec.encode_json(value).decode()) + "\n")
    sys.stdout.flush()


def text_of(value: object, style: str = "") -> Text:
    """A value as text."""
    return Text(plain(str(value)), style)


def colour(state: State, facet: Facet | None) -> str:
    """The colour of a state: how it is, not which one."""
    if state.phase in (DELETED, ABSENT):
        return "bright_black"
    if facet is not None and state.phase == facet.accumulates_in:
        return "red"
    if PROGRESSING in state.conditions:
        return "yellow"
    if facet is not None and state.phase == facet.healthy:
        return "green" if state.conditions in ((), ("Ok",)) else "magenta"
    return "red" if state.phase.endswith("Failed") else "yellow" if state.phase.endswith("ing") else "magenta"


def state(kinds: Kinds, kind: str, facet: str, found: State) -> Text:
    """`Failed [Balance]` in its colour."""
    return text_of(found, colour(found, facet_of(kinds, kind, facet)))


def facet_of(kinds: Kinds, kind: str, name: str) -> Facet | None:
    """The facet of that name, where its kind is installed here."""
    known = kinds.get(kind)
    return next((facet for facet in known.table.facets if facet.name == name), None) if known else None


def label(kinds: Kinds, kind: str, facet: str, found: State, language: Language) -> Text:
    """The label of the state, if it says more than the phase does."""
    known = facet_of(kinds, kind, facet)
    text = found.phase if known is None else label_of(known, found, language)
    return text_of("" if text == found.phase else text, "italic")


def states(kinds: Kinds, entity: Entity, language: Language) -> Text:
    """All facets of an entity, with their labels."""
    pieces = []
    facets = [*facets_of(entity)]
    for name, facet in facets:
        title = text_of(f"{name}: " if len(facets) > 1 else "")
        called = label(kinds, entity.kind, name, facet.state, language)
        shown = state(kinds, entity.kind, name, facet.state)
        message = facet_message(kinds, entity, name, facet.state)
        pieces.append(Text.assemble(title, shown, "  " if called else "", called, message))
    return Text(", ").join(pieces)


def facet_message(kinds: Kinds, entity: Entity, name: str, found: State) -> Text:
    """` (1 of 3 replicas are new)`: why a facet is not healthy, if its table keeps a message."""
    facet = facet_of(kinds, entity.kind, name)
    if facet is None or facet.message_from is None or found.phase in (facet.healthy, DELETED):
        return Text()
    message = entity.attributes.get(facet.message_from)
    return text_of(f" ({message})" if message else "", "italic")


def local_time(time_ns: int) -> str:
    """`2026-03-02 08:00:05.123`, in the local time zone."""
    return datetime.fromtimestamp(time_ns / 1e9, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def duration(ns: int) -> str:
    """A duration as text: `350 ms`, `4.2 s`, `3 m 12 s`, `5 h 2 m`, `12 d 3 h`."""
    seconds = max(0, ns) / 1e9
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, name, below, under in ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "m"), (MINUTE, "m", 1, "s")):
        if whole >= unit:
            return f"{whole // unit} {name} {whole % unit // below} {under}"
    return f"{whole} s"


def as_of(stale: int | None, now: int) -> Text:
    """`~ as of 12 m 3 s ago`, for states that may have changed since `stale` (ns); empty for None."""
    return Text() if stale is None else text_of(f"~ as of {duration(now - stale)} ago", "yellow")


def now_ns() -> int:
    """The current time, ns."""
    return int(datetime.now(UTC).timestamp() * 1e9)


def cause(record: Transition) -> Text:
    """The cause of a transition: `created by /agent/c1`, `started (view of cluster/c1)`, `deleted by /a, unasked`."""
    trigger, by = text_of(record.trigger, "bold"), record.cause.by
    if by == "event":
        return Text.assemble(trigger, " by ", text_of(record.cause.source), unasked(record))
    how = "snapshot" if is_of_snapshot(record) else by
    return Text.assemble(trigger, f" ({how} of ", text_of(record.cause.origin), ")", unasked(record))


def unasked(record: Transition) -> Text:
    """`, unasked`: no request and no single observation leads there, so somebody acted outside."""
    return text_of(", unasked" if record.unasked else "", "yellow")


def reason_and_message(reason: str | None, message: str | None) -> Text:
    """The reason and the message of an event: `KubeletStopped: no heartbeat`."""
    return text_of(": ".join(part for part in (reason, message) if part), "italic")


def line(kinds: Kinds, place: int, record: Transition | Rejection) -> Text:
    """A record in a line: its place in the log, its time, what happened and why."""
    head = Text.assemble(text_of(f"{place:>7}  {local_time(record.time_ns)}  ", "bright_black"))
    if isinstance(record, Rejection):
        name = text_of(f"{record.kind} {record.id}", "bold")
        rejected = text_of(f"{record.trigger} rejected, {record.reason}: ", "red")
        return Text.assemble(head, name, "  ", rejected, text_of(record.message))
    entity = record.entity
    facet = f" {record.facet}" if len([*facets_of(entity)]) > 1 else ""
    message = reason_and_message(record.reason, record.message)
    return Text.assemble(
        head, text_of(f"{entity.kind} {entity.id}{facet}", "bold"), "  ", change(kinds, record), "  ", cause(record),
        ": " if message else "", message,
    )  # fmt: skip


def change(kinds: Kinds, record: Transition) -> Text:
    """The change of a transition: `Creating [Progressing] -> Running [Ok]`; or the new base, if only that changed.

    Where the state is the base and stays, only attributes changed: `stays Instantiated`.
    """
    kind, before, after = record.entity.kind, record.before, record.after
    to = state(kinds, kind, record.facet, after)
    if before == after:
        base = record.entity.facets[record.entity.names.index(record.facet)].base
        if base == after:
            return Text.assemble("stays ", to)
        return Text.assemble(to, " (the base is now ", state(kinds, kind, record.facet, base), ")")
    start = text_of("new", "bright_black") if before is None else state(kinds, kind, record.facet, before)
    return Text.assemble(start, " -> ", to)


def entity_map(entity: Entity, stale: int | None = None) -> dict[str, Any]:
    """An entity as JSON shows it: as in a record, with kind, id and version. `stale`: since when it is stale, ns."""
    known = {"kind": entity.kind, "id": entity.id, "version": entity.version}
    return {**known, **wire_codec.entity_map(entity), **staleness.shown(stale)}


def record_map(place: int, wire: dict[str, Any]) -> dict[str, Any]:
    """A record as JSON shows it: as on the wire, with its place in the log."""
    return {**wire, "logsequence": place}


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
