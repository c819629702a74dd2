"""`publish`: one event, or a file of them.

Belongs here: options and words of this one command. Does not: sending (`phaseline.engine.client.client`), files (`bulk`).
"""

import re
from pathlib import Path
from typing import Any

import click

from phaseline.engine.cli import options, publish_many, render, render_dry_run, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.client.client import WAIT, Client
from phaseline.engine.publish import compose
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds

WAITS = "--wait"
DETAILS = ("source", "event_id", "sequence", "time")


class Publish(Page):
    """`--wait` takes a number or none; what follows it may be the kind."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, once `--wait` has its seconds."""
        for place, word in enumerate(args):
            following = args[place + 1] if place + 1 < len(args) else ""
            if word == WAITS and not re.fullmatch(r"\d+(\.\d+)?", following):
                args[place] = f"{WAITS}={WAIT:g}"
        return super().parse_args(ctx, args)


@click.command(
    cls=Publish,
    examples=[
        ("phaseline publish cluster create c1 --wait", ""),
        ('phaseline publish node not_ready c1/pool-a/n7 --data \'{"reason": "KubeletStopped"}\'', ""),
        ("phaseline publish node ready c1/pool-a/n7 --source /agent/c1 --sequence 17", ""),
        ("phaseline publish cluster delete c1 --dry-run", "what would it do?"),
        ("phaseline publish --file examples/morning.jsonl", ""),
    ],
)
@click.argument("kind", required=False)
@click.argument("trigger", required=False)
@click.argument("entity_id", metavar="[ID]", required=False)
@click.option("--data", type=options.JsonObject(), help="What the event says: a JSON object.")
@click.option("--source", metavar="URI", help="Whom it comes from.  [default: /phaseline/cli/<user>]")
@click.option("--id", "event_id", metavar="TEXT", help="What identifies it for its source.  [default: random]")
@click.option("--sequence", type=click.IntRange(0), metavar="N", help="A number rising per source and entity.")
@click.option("--time", metavar="TIME", help="When it happened, RFC 3339.  [default: now]")
@click.option(WAITS, type=click.FloatRange(0, min_open=True), metavar="[SECONDS]",
              help=f"Show what comes of it; {WAIT:g} seconds at most where no number follows.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what it would do to the tree as it stands; nothing is sent.")
@click.option("--file", "file", type=click.Path(allow_dash=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Publish a log of events, JSON lines or a msgpack stream; `-` is standard input.")  # fmt: skip
@click.option("--window", type=click.IntRange(1), default=4096, show_default=True, metavar="N",
              help="With --file: events in flight.")  # fmt: skip
@click.option("--force", is_flag=True, help="Send also what would be rejected.")
@options.as_json
@options.connected
def publish(
    settings: Settings, *, kind: str | None, trigger: str | None, entity_id: str | None, file: Path | None,
    window: int, wait: float | None, dry_run: bool, force: bool, as_json: bool, data: dict[str, Any] | None, **details: Any,
) -> int | None:  # fmt: skip
    """Publish one event: TRIGGER happened to (or is asked of) the entity KIND ID. Or a file of events.

    It says where the event is stored. The same --source and --id again are stored once within ten minutes; the same
    or a lower --sequence is without effect however late it comes. What a worker would reject without looking at the
    entity is not sent. A file is read to its end first, so that nothing is sent from one that is broken; what comes
    through a pipe is sent until something is wrong.

    With --dry-run nothing is sent: it shows the records that the event would make over the whole tree, or why it would
    be refused (exit code 1), or why it would have no effect; --json prints the records as they would stand in the log. It
    answers from the states, which follow the log a moment later, and says so where events of the tree are still to be
    decided. An --id that was sent before is not noticed.
    """
    details = {name: details[name] for name in DETAILS if details[name] is not None}
    if dry_run and (file is not None or wait is not None):
        raise click.UsageError("--dry-run looks at one event and sends nothing: leave out --file and --wait")
    if file is not None:
        if kind is not None or data is not None or details or wait is not None:
            raise click.UsageError("--file brings whole events: leave out KIND TRIGGER ID and what describes one event")
        return terminal.run(publish_many.publish_file(settings, file, window, force=force, as_json=as_json))
    if kind is None or trigger is None or entity_id is None:
        raise click.UsageError("KIND, TRIGGER and ID are needed, or --file; see --help for examples")

    async def work() -> int:
        async with Client.open(settings, source=compose.default_source("cli")) as client:
            if dry_run:
                return await render_dry_run.show_dry_run(
                    client, kind, trigger, entity_id, data, details, as_json=as_json
                )
            if wait is None:
                receipt = await client.publish(kind, trigger, entity_id, data, check=not force, **details)
                outcome = Outcome(receipt)
            else:
                outcome = await client.publish_and_wait(
                    kind, trigger, entity_id, data, check=not force, timeout=wait, **details
                )
            return show_outcome(client.kinds, outcome, waited=wait is not None, as_json=as_json)

    return terminal.run(work())


def show_outcome(kinds: Kinds, outcome: Outcome, *, waited: bool, as_json: bool) -> int:
    """Where an event is stored, and what came of it; the exit code."""
    receipt = outcome.receipt
    if as_json:
        found: dict[str, Any] = receipt._asdict()
        if waited:
            found |= {
                "effect": outcome.effect,
                "records": [render.record_map(r.sequence, r.wire) for r in outcome.records],
            }
        render.show_json(found)
    else:
        before = ", stored before" if receipt.duplicate else ""
        render.show_line(render.text_of(f"event {receipt.sequence}{before}"))
        for logged in outcome.records:
            render.show_line(render.line(kinds, logged.sequence, logged.record))
        if waited and not outcome.records:
            render.show_line(render.text_of("no effect: it is so already, or it is a repeat"))
    return terminal.REFUSED if outcome.effect == "rejection" else 0
