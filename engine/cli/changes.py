"""The command `changes`: what differs between two moments.

Belongs here: its options, and the layout of changes. Does not: finding them (`phaseline.engine.log.changes`).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import click
from rich.text import Text

from phaseline.engine.cli import names, options, render, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.client.client import Client
from phaseline.engine.log.changes import Change, ChangeList
from phaseline.engine.log.event_clock.event_time import Clock
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import wire_codec
from phaseline.schemas.records import State, timestamp

COLOURS = {
    "created": "green",
    "gone": "bright_black",
    "changed": "yellow",
    "same again": "",
    "came and went": "bright_black",
}


@click.command(
    cls=Page,
    examples=[
        ("phaseline changes --from 2h", "changes of the last two hours"),
        ("phaseline changes --from 03:00 --to 03:30 --tree c1", "half an hour, in one tree"),
        ("phaseline changes --from 1d --json | jq 'select(.flaps > 3)'", "entities that flap"),
    ],
)
@click.option("--from", "start", type=options.WhenType(), required=True, metavar="MOMENT",
              help="The earlier moment: a place in the log, a time, or how long ago (2h).")  # fmt: skip
@click.option("--to", "end", type=options.WhenType(), metavar="MOMENT", help="The later moment.  [default: now]")
@click.option("--tree", type=names.ID, metavar="ID", help="Only this entity and everything below it.")
@click.option("--kind", type=names.KIND, metavar="KIND", help="Only this kind.")
@options.clock
@options.as_json
@options.connected
def changes(
    settings: Settings, *, start: When, end: When | None, tree: str | None, kind: str | None, clock: Clock,
    as_json: bool,
) -> int | None:  # fmt: skip
    """Show what differs between two moments: the entities, their states, and how often they changed in between.

    A flap is a return to a phase that the entity had left in between. "same again" is an entity that changed and is
    back in its first state. "came and went" is an entity that was created and deleted in between.
    """

    async def work() -> None:
        async with Client.open(settings) as client:
            found = await client.changes(start, end, tree=tree, kind=kind, clock=clock)
            terminal.without_time(found.without_time if isinstance(found, ChangeList) else 0)
            if as_json:
                for change in found:
                    render.show_json(change_map(change))
                return
            if found:
                render.show(table(client.kinds, found))
            terminal.say(summary(found))

    return terminal.run(work())


def summary(found: Sequence[Change]) -> str:
    """The changes in numbers: `3 changed, 1 created, 2 the same again`."""
    counts = Counter(change.what for change in found)
    text = ", ".join(
        f"{count:,} {'the same again' if what == 'same again' else what}" for what, count in counts.most_common()
    )
    return text or "no changes"


def table(kinds: Kinds, found: Sequence[Change]) -> Any:
    """Changes in rows; flaps are in red."""
    shown = render.columns("KIND", "ID", "CHANGE", "FROM", "TO", "TRANSITIONS", "FLAPS", "LAST")
    for change in found:
        flaps = render.text_of(f"{change.flaps:,}", "red") if change.flaps else Text()
        shown.add_row(
            render.text_of(change.kind),
            render.text_of(change.id),
            render.text_of(change.what, COLOURS[change.what]),
            _states(kinds, change, change.before),
            _states(kinds, change, change.after),
            render.text_of(f"{change.transitions:,}"),
            flaps,
            render.text_of(render.local_time(change.last_ns), "bright_black"),
        )
    return shown


def _states(kinds: Kinds, change: Change, states: dict[str, State] | None) -> Text:
    if states is None:
        return render.text_of("unknown", "bright_black")
    return Text(", ").join(
        Text.assemble(f"{name}: " if len(states) > 1 else "", render.state(kinds, change.kind, name, state))
        for name, state in states.items()
    )


def change_map(change: Change) -> dict[str, Any]:
    """A change as JSON shows it."""
    before = None if change.before is None else {name: wire_codec.state_map(s) for name, s in change.before.items()}
    return {
        "kind": change.kind,
        "id": change.id,
        "what": change.what,
        "from": before,
        "to": {name: wire_codec.state_map(state) for name, state in change.after.items()},
        "transitions": change.transitions,
        "flaps": change.flaps,
        "first": timestamp(change.first_ns),
        "last": timestamp(change.last_ns),
    }
