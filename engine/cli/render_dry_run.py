"""Shows the result of `publish --dry-run`: what one event would do.

Belongs here: the layout of a dry run. Does not: the option (`publish`), the dry run itself (`engine.replay.dry_run`).
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from rich.text import Text

from phaseline.engine.cli import render, terminal
from phaseline.engine.client.client import Client
from phaseline.engine.replay.dry_run import DryRun
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.records import Entity, Rejection, Transition

SHOWN = 20
"""Transitions shown one by one; of more, the rest is counted."""
SLOW = 2.0
"""Seconds between two words on how far the reading has come."""


async def show_dry_run(
    client: Client, kind: str, trigger: str, entity_id: str, data: dict[str, Any] | None, details: Any, *, as_json: bool
) -> int:
    """Do a dry run of one event, show the result, and return the exit code."""
    progress = told_when_slow(entity_id)
    found = await client.dry_run(kind, trigger, entity_id, data, progress=progress, **details)
    terminal.say("dry run: nothing is written")
    if found.table_differences:
        terminal.say(
            f"the tables installed here are not those that decide there ({found.table_differences}): it may go otherwise"
        )
    if found.behind:
        terminal.say("events of this tree are still to be decided: what they change is not in this yet")
    source = str(details.get("source", client.source))
    if as_json:
        for message in found.messages:
            render.show_json(codec.decode(message.body))
        if found.effect == "none":
            terminal.say(headline(client.kinds, source, found).plain)
    else:
        render.show_line(headline(client.kinds, source, found))
        show_transitions(client.kinds, found.transitions)
    return terminal.REFUSED if found.effect == "rejection" else 0


def told_when_slow(entity_id: str) -> Callable[[int], None]:
    """Says every few seconds how many states have been read; nothing where all are there before that."""
    last = time.monotonic()
    root = render.plain(entity_id.partition("/")[0])

    def tell(count: int) -> None:
        nonlocal last
        if time.monotonic() - last > SLOW:
            last = time.monotonic()
            terminal.say(f"reading the tree of {root}: {count:,} entities so far")

    return tell


def headline(kinds: Kinds, source: str, found: DryRun) -> Text:
    """In a line what would come of the event; `source`: whom it comes from."""
    start = f"event {found.sequence} would "
    if found.rejection is not None:
        return Text.assemble(start, refusal(found.rejection))
    if found.effect == "transitions":
        count = len(found.transitions)
        return render.text_of(f"{start}make {count:,} transition{'' if count == 1 else 's'}:")
    return Text.assemble(start, "have no effect: ", why_none(kinds, source, found))


def refusal(rejection: Rejection) -> Text:
    """Why it would be refused, and what would not."""
    who = render.text_of(f"{rejection.kind} {rejection.id}", "bold")
    said = render.text_of(f"{rejection.trigger}, {rejection.reason}: ", "red")
    return Text.assemble("be refused: ", who, "  ", said, render.text_of(rejection.message))


def why_none(kinds: Kinds, source: str, found: DryRun) -> Text:
    """That it is so already, or that it was there before."""
    entity = found.entity
    if entity is None:
        return render.text_of("it says nothing new")
    if found.repeat:
        return render.text_of(
            f"it is a repeat, the last sequence of {source} for {entity.kind} {entity.id} is {entity.sequences.get(source)}"
        )
    kept = "; its sequence would be remembered" if found.records else ""
    return Text.assemble("it is so already, ", name(entity), " is ", render.states(kinds, entity, "en"), kept)


def name(entity: Entity) -> Text:
    """`node c1/p/n1`."""
    return render.text_of(f"{entity.kind} {entity.id}", "bold")


def show_transitions(kinds: Kinds, found: Sequence[Transition]) -> None:
    """The first ones as they are, the others counted."""
    for record in found[:SHOWN]:
        facet = render.text_of(f" {record.facet}" if len(record.entity.names) > 1 else "")
        render.show_line(
            Text.assemble(
                "  ", name(record.entity), facet, "  ", render.change(kinds, record), "  ", render.because(record)
            )
        )
    if len(found) > SHOWN:
        render.show_line(render.text_of(f"  ... and {len(found) - SHOWN:,} more (--json has them all). In all:"))
        render.show(counted(kinds, found))


def counted(kinds: Kinds, found: Sequence[Transition]) -> Any:
    """How many transitions of each kind lead to which state, in the order of the records."""
    counts = Counter((record.entity.kind, record.facet, record.after) for record in found)
    table = render.columns("  KIND", "WOULD BE", "TRANSITIONS")
    for (kind, facet, after), count in counts.items():
        several = kind in kinds and len(kinds[kind].names) > 1
        table.add_row(
            render.text_of(f"  {kind} {facet}" if several else f"  {kind}"),
            render.state(kinds, kind, facet, after),
            render.text_of(f"{count:,}"),
        )
    return table
