"""How things look: states in colour, times, records in a line. Made of `rich` texts, so that names are never markup.

Belongs here: words and colours. Does not: what is shown where (each command).
"""

import json
import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, label_of
from phaseline.machines.language.table import ABSENT, DELETED, PROGRESSING, Facet
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Entity, Rejection, State, Transition

WIDE = 10_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
DAY, HOUR, MINUTE = 86_400, 3_600, 60


@lru_cache(maxsize=1)
def _console(file: TextIO) -> Console:
    """As wide as it must be where it is no terminal."""
    return Console(file=file, width=None if file.isatty() else WIDE, highlight=False)


def width() -> int:
    """Characters in a line: the terminal's, or 100 where it is none."""
    return _console(sys.stdout).width if sys.stdout.isatty() else 100


def show(part: Any, *, wrap: bool = True) -> None:
    """Print on standard output, without blanks at the ends of lines."""
    screen = _console(sys.stdout)
    with screen.capture() as captured:
        screen.print(part, soft_wrap=not wrap)
    sys.stdout.write("\n".join(line.rstrip() for line in captured.get().split("\n")))


def show_line(line: Text) -> None:
    """One line on standard output, however long, handed on at once."""
    show(line, wrap=False)
    sys.stdout.flush()


def columns(*titles: str) -> Table:
    """A table without lines: titles, then rows."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def show_pairs(pairs: Iterable[tuple[str, Text]]) -> None:
    """Names and what they stand for, one below the other."""
    found = list(pairs)
    width = max(len(name) for name, _ in found) + 2
    for name, value in found:
        show_line(Text.assemble(text_of(f"{name:<{width}}", "bright_black"), value))


def show_json(value: Any) -> None:
    """One line of JSON, handed on at once; bytes as base64."""
    sys.stdout.write(codec.encode_json(value).decode() + "\n")
    sys.stdout.flush()


def plain(text: str) -> str:
    """`text` as it may go to a terminal: control characters, which could forge or hide output, made visible."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


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
    """What a console calls the state, where it says more than the phase does."""
    known = facet_of(kinds, kind, facet)
    text = found.phase if known is None else label_of(known, found, language)
    return text_of("" if text == found.phase else text, "italic")


def states(kinds: Kinds, entity: Entity, language: Language) -> Text:
    """All facets of an entity, with their labels."""
    pieces = []
    for name, facet in zip(entity.names, entity.facets, strict=True):
        title = text_of(f"{name}: " if len(entity.names) > 1 else "")
        called = label(kinds, entity.kind, name, facet.state, language)
        why = reason(kinds, entity, name, facet.state)
        pieces.append(
            Text.assemble(title, state(kinds, entity.kind, name, facet.state), "  " if called else "", called, why)
        )
    return Text(", ").join(pieces)


def reason(kinds: Kinds, entity: Entity, name: str, found: State) -> Text:
    """` (1 of 3 replicas are new)`: why a facet is not well, where its table keeps that."""
    facet = facet_of(kinds, entity.kind, name)
    if facet is None or facet.message_from is None or found.phase in (facet.healthy, DELETED):
        return Text()
    said = entity.attributes.get(facet.message_from)
    return text_of(f" ({said})" if said else "", "italic")


def moment(time_ns: int) -> str:
    """`2026-03-02 08:00:05.123`, in the local time zone."""
    return datetime.fromtimestamp(time_ns / 1e9, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def span(ns: int) -> str:
    """How long: `350 ms`, `4.2 s`, `3 m 12 s`, `5 h 2 m`, `12 d 3 h`."""
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


def now_ns() -> int:
    """The clock."""
    return int(datetime.now(UTC).timestamp() * 1e9)


def because(record: Transition) -> Text:
    """What made it so: `created by /agent/c1`, `view of cluster/c1`."""
    cause = record.cause
    if cause.by == "event":
        return Text.assemble(text_of(record.trigger, "bold"), " by ", text_of(cause.source))
    return Text.assemble(text_of(record.trigger, "bold"), f" ({cause.by} of ", text_of(cause.origin), ")")


def words(reason: str | None, message: str | None) -> Text:
    """What the event itself said of it."""
    return text_of(": ".join(part for part in (reason, message) if part), "italic")


def line(kinds: Kinds, place: int, record: Transition | Rejection) -> Text:
    """A record in a line: where in the log, when, what, why."""
    head = Text.assemble(text_of(f"{place:>7}  {moment(record.time)}  ", "bright_black"))
    if isinstance(record, Rejection):
        who = text_of(f"{record.kind} {record.id}", "bold")
        said = text_of(f"{record.trigger} refused, {record.reason}: ", "red")
        return Text.assemble(head, who, "  ", said, text_of(record.message))
    entity = record.entity
    facet = f" {record.facet}" if len(entity.names) > 1 else ""
    said = words(record.reason, record.message)
    return Text.assemble(
        head, text_of(f"{entity.kind} {entity.id}{facet}", "bold"), "  ", change(kinds, record), "  ", because(record),
        ": " if said else "", said,
    )  # fmt: skip


def change(kinds: Kinds, record: Transition) -> Text:
    """`Creating [Progressing] -> Running [Ok]`; where only the base moved, that one."""
    kind, before, after = record.entity.kind, record.before, record.after
    to = state(kinds, kind, record.facet, after)
    if before == after:
        base = record.entity.facets[record.entity.names.index(record.facet)].base
        return Text.assemble(to, " (its base is now ", state(kinds, kind, record.facet, base), ")")
    start = text_of("new", "bright_black") if before is None else state(kinds, kind, record.facet, before)
    return Text.assemble(start, " -> ", to)


def entity_map(entity: Entity) -> dict[str, Any]:
    """An entity as JSON shows it: as in a record, with kind, id and version."""
    return {"kind": entity.kind, "id": entity.id, "version": entity.version, **wire_codec.entity_map(entity)}


def record_map(place: int, wire: dict[str, Any]) -> dict[str, Any]:
    """A record as JSON shows it: as on the wire, with its place in the log."""
    return {**wire, "logsequence": place}


def pretty(body: bytes) -> str | None:
    """A decoded body on several lines, or None where it does not decode."""
    try:
        return json.dumps(codec.decode(body), indent=2, ensure_ascii=False, default=repr)
    except codec.Undecodable:
        return None


def hex_dump(body: bytes) -> str:
    """Sixteen bytes to a line, with the characters they might be."""
    lines = []
    for start in range(0, len(body), 16):
        row = body[start : start + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"{start:08x}  {row.hex(' '):<47}  {shown}")
    return "\n".join(lines)
