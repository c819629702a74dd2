"""The result of `publish --dry-run`, for people and for programs.

Belongs here: its layout. Does not: the option (`publish`), the dry run (`phaseline.engine.replay.dry_run`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from phaseline.engine.publish.outcomes import held_text, unread_text
from phaseline.engine.replay.dry_run_result import DryRun
from phaseline.engine.surfaces.cli import render, terminal
from phaseline.engine.surfaces.cli.controls import plain
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.cli.terminal import when_slow
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import DELETED, REPORTED
from phaseline.schemas import codec
from phaseline.schemas.errors import Exit
from phaseline.schemas.records import Entity, LeftOut, Record, Rejection, State, Transition, facets_of

SHOWN = 20
"""The largest number of transitions that are shown one by one. The others are counted."""


async def show_dry_run(
    client: Client,
    kind: str,
    trigger: str,
    entity_id: str,
    data: dict[str, Any] | None,
    details: Any,
    *,
    output: Output,
) -> int:
    """Make a dry run of one event and print the result; return the exit code."""
    progress = progress_when_slow(entity_id)
    found = await client.dry_run(kind, trigger, entity_id, data, progress=progress, **details)
    say_limits(found)
    source = str(details.get("source", client.default_source))
    if output.is_data:
        for message in found.messages:
            output.show(codec.decode(message.body))
        if found.effect == "none":
            terminal.say(headline(client.kinds, source, found).plain)
    else:
        render.show_line(headline(client.kinds, source, found))
        if found.unread:
            text = unread_text(client.kinds, f"{kind}.{trigger}", found.unread)
            render.show_line(render.text_of(text, "yellow"))
        if found.way_out:
            render.show_line(render.text_of(f"way out: {found.way_out}"))
        show_transitions(client.kinds, found.transitions)
    return Exit.NO if found.effect == "rejection" else 0


def say_limits(found: DryRun) -> None:
    """Say that nothing is stored, and why the result may differ from what a worker would decide."""
    terminal.say("dry run: nothing is stored")
    if found.table_differences:
        terminal.say(
            f"the tables installed here differ from those of the workers ({found.table_differences}): "
            "the result may differ too"
        )
    if found.behind:
        terminal.say("events of this tree are not decided yet: the result does not include them")


async def show_snapshots(
    client: Client, kind: str, entity_id: str, events: Sequence[dict[str, Any]], details: Any, *, output: Output
) -> int:
    """Make a dry run of the events of a snapshot, and print what they would take, end, leave out and hold back.

    Their ranges are apart, so each is decided on the states that are there now. Returns the exit code.
    """
    progress, records = progress_when_slow(entity_id), list[Record]()
    for number, data in enumerate(events):
        found = await client.dry_run(kind, "snapshot", entity_id, data, progress=progress, **details)
        if number == 0:
            say_limits(found)
        if found.repeated:
            terminal.say(f"event {number + 1} would have no effect: repeat of {found.repeated}")
        records += found.records
        for message in found.messages if output.is_data else ():
            output.show(codec.decode(message.body))
    moved = [record for record in records if isinstance(record, Transition)]
    left_out, held = (parts_not_taken(records, reason) for reason in ("left_out", "brake"))
    line = summary(sum(len(data["items"]) for data in events), moved, len(left_out), len(held))
    if output.is_data:
        terminal.say(line)
    else:
        render.show_line(line)
        for record in records:
            if isinstance(record, Rejection):
                render.show_line(rejected(record))
        show_transitions(client.kinds, moved)
        for one in held[:SHOWN]:
            render.show_line(render.text_of(f"  held back: {events[0]['kind']} {entity_id}/{one.id}"))
        if len(held) > SHOWN:
            render.show_line(render.text_of(f"  ... and {len(held) - SHOWN:,} more (--json shows them)"))
    return Exit.NO if any(isinstance(record, Rejection) for record in records) else 0


def summary(items: int, moved: Sequence[Transition], left_out: int, held: int) -> str:
    """`of 5 items 1 would be taken and 0 left out; 1 would end, 3 would be held back`."""
    ends = {(one.entity.kind, one.entity.id) for one in moved if one.entity.facets[0].base.phase == DELETED}
    taken = {(one.entity.kind, one.entity.id) for one in moved if one.trigger == REPORTED} - ends
    said = f"of {items:,} items {len(taken):,} would be taken as news, and {left_out:,} would be left out"
    return f"{said}; {len(ends):,} entities would end, and {held:,} endings would be held back"


def parts_not_taken(records: Iterable[Record], reason: str) -> list[LeftOut]:
    """What rejections of this reason list: what snapshots left out, or did not end."""
    return [one for each in records if isinstance(each, Rejection) and each.reason == reason for one in each.left_out]


def progress_when_slow(entity_id: str) -> Callable[[int], None]:
    """A callback that prints the number of entities read every few seconds; nothing if reading is fast."""
    return when_slow(f"reading the tree {plain(entity_id.partition('/')[0])}", "entities")


def headline(kinds: Kinds, source: str, found: DryRun) -> Text:
    """The result in a line. `source`: the source of the event."""
    start = f"event {found.sequence} would "
    if found.rejection is not None:
        beside = f", beside {len(found.transitions):,} transitions:" if found.transitions else ""
        return Text.assemble(start, rejected(found.rejection), beside)
    if found.effect == "transitions":
        count = len(found.transitions)
        return render.text_of(f"{start}lead to {render.counted(count, 'transition')}:")
    return Text.assemble(start, "have no effect: ", why_none(kinds, source, found))


def rejected(rejection: Rejection) -> Text:
    """The rejection in a line."""
    entity = render.text_of(f"{rejection.kind} {rejection.id}", "bold")
    trigger = render.text_of(f"{rejection.trigger}, {rejection.reason}: ", "red")
    return Text.assemble("be rejected: ", entity, "  ", trigger, render.text_of(rejection.message))


def why_none(kinds: Kinds, source: str, found: DryRun) -> Text:
    """Why the event would have no effect."""
    entity = found.entity
    if entity is None:
        return render.text_of("it changes nothing")
    if found.repeated:
        return Text.assemble(f"repeat of {found.repeated}, of {source} for ", name(entity))
    if found.older_than:
        return render.text_of(held_text(found.older_than))
    records = "what nothing reads" if found.unread else "its sequence"
    kept = f"; a mark would record {records}" if found.records else ""
    return Text.assemble(name(entity), " is already ", render.states(kinds, entity, "en"), kept)


def name(entity: Entity) -> Text:
    """The kind and the id: `node c1/p/n1`."""
    return render.text_of(f"{entity.kind} {entity.id}", "bold")


def show_transitions(kinds: Kinds, found: Sequence[Transition]) -> None:
    """Print the first transitions, and count all if there are more."""
    for record in found[:SHOWN]:
        facet = render.text_of(f" {record.facet}" if len([*facets_of(record.entity)]) > 1 else "")
        render.show_line(
            Text.assemble(
                "  ", name(record.entity), facet, "  ", render.change(kinds, record), "  ", render.cause(record)
            )
        )
    if len(found) > SHOWN:
        render.show_line(
            render.text_of(f"  ... and {len(found) - SHOWN:,} more (--json shows all). All transitions by state:")
        )
        counts = Counter((record.entity.kind, record.facet, record.after) for record in found)
        with Output() as output:
            output.table(COUNTS, (CountRow(kinds, *key, count) for key, count in counts.items()), indent=2)


class CountRow(NamedTuple):
    """The number of transitions of a kind into a state."""

    kinds: Kinds
    kind: str
    facet: str
    after: State
    transitions: int


def _kind(row: CountRow) -> Text:
    several = row.kind in row.kinds and row.kinds[row.kind].is_named(row.facet)
    return Text(f"{row.kind} {row.facet}" if several else row.kind)


COUNTS: Final[tuple[Column[CountRow], ...]] = (
    Column("KIND", _kind),
    Column("STATE", lambda row: render.state(row.kinds, row.kind, row.facet, row.after), wraps=True),
    Column("TRANSITIONS", lambda row: Text(f"{row.transitions:,}")),
)
"""In the order of the records."""
