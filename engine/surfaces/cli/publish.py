"""The command `publish`: one event, a file of events, or a snapshot.

Belongs here: its options, and the outcome of one event. Does not: sending (`surfaces.client`), files (`publish_many`),
snapshots (`publish_snapshot`).
"""

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from phaseline.engine.publish import compose
from phaseline.engine.publish.outcomes import Outcome, repeat_map, unread_text
from phaseline.engine.publish.pipeline import WINDOW
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import names, options, publish_many, render, render_dry_run, terminal, undecided
from phaseline.engine.surfaces.cli.help import Page, option
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.client import WAIT, Client
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import Exit
from phaseline.schemas.records import Rejection
from phaseline.schemas.subjects import Subjects

WAIT_OPTION = "--wait"
DETAILS = ("source", "event_id", "sequence", "epoch", "time", "extensions")
RANGE = ("below", "seen", "log", "confirm", "about", "after", "upto")
"""The options of a snapshot, by the names that `Client.snapshot` has for them."""
FILE = click.Path(allow_dash=True, dir_okay=False, path_type=Path)


class WaitingPage(Page):
    """A command whose option `--wait` has an optional number."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give `--wait` its default if no number follows, then parse as click does."""
        for index, argument in enumerate(args):
            following = args[index + 1] if index + 1 < len(args) else ""
            if argument == WAIT_OPTION and not re.fullmatch(r"\d+(\.\d+)?", following):
                args[index] = f"{WAIT_OPTION}={WAIT:g}"
        return super().parse_args(ctx, args)


@click.command(
    cls=WaitingPage,
    examples=[
        ("phaseline publish cluster create c1 --wait", "show the records of the event"),
        ('phaseline publish node not_ready c1/pool-a/n7 --data \'{"reason": "KubeletStopped"}\'', ""),
        ("phaseline publish node ready c1/pool-a/n7 --source /agent/c1 --sequence 17", ""),
        ("phaseline publish node ready c1/pool-a/n7 --extension correlationid=order-4711", "records keep it"),
        ("phaseline publish cluster delete c1 --dry-run", "show what it would do"),
        ("phaseline publish --file examples/morning.jsonl", ""),
        ("phaseline publish --file events.jsonl --wait", "show what was rejected"),
        ("phaseline publish cluster c1 --snapshot nodes.yaml --kind node --wait", "make good what was lost"),
        ("phaseline publish cluster c1 --snapshot nodes.json --kind node --dry-run", "show what differs"),
        ("my-agent list-pools | phaseline publish cluster c1 --snapshot - --kind node_pool", ""),
    ],
)
@click.argument("kind", type=names.KIND, required=False)
@click.argument("trigger", type=names.TRIGGER, required=False)
@click.argument("entity_id", type=names.ID, metavar="[ID]", required=False)
@click.option("--data", type=options.JSON_OBJECT, help="Data of the event: a JSON object.")
@click.option("--source", metavar="URI", help="Source of the event.  [default: /phaseline/cli/<user>]")
@click.option("--id", "event_id", metavar="ID",
              help="Id of the event, unique per source; several add -1, -2 ...  [default: random]")  # fmt: skip
@click.option("--sequence", type=options.WholeNumber(0), metavar="N", help="A number that rises per source and entity.")
@click.option("--epoch", type=options.WholeNumber(0), metavar="N",
              help="In which --sequence counts: of a greater one all is newer.")  # fmt: skip
@click.option("--time", metavar="TIME", help="Time of the event, RFC 3339.  [default: now]")
@click.option("--extension", "extensions", type=options.EXTENSION, multiple=True, metavar="NAME=VALUE",
              help="An extension attribute of CloudEvents, such as traceparent. Records keep it.")  # fmt: skip
@click.option(WAIT_OPTION, type=options.Decimal(0, min_open=True), metavar="[SECONDS]",
              help=f"Wait for the outcome, and show it.  [default without a number: {WAIT:g}]")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what the event would do now. Nothing is sent.")
@click.option("--file", "file", type=FILE, metavar="FILE",
              help="Publish a file of events: JSON lines or a msgpack stream. - is standard input.")  # fmt: skip
@click.option("--window", type=options.WholeNumber(1), default=WINDOW, show_default=True, metavar="N",
              help="With --file: number of events in flight.")  # fmt: skip
@click.option("--force", is_flag=True, help="Send an event even if it would be rejected.")
@click.option("--snapshot", type=FILE, is_eager=True, metavar="FILE",
              help="Publish all that there is of one kind below the entity KIND ID. - is standard input.")  # fmt: skip
@option("snapshot", "--kind", "below", metavar="KIND", help="Kind of the items, below the entity. Required.")
@option("snapshot", "--seen", type=options.WholeNumber(0), metavar="N",
              help="The highest event number in the records that the reporter has read.  [default: none]")  # fmt: skip
@option("snapshot", "--log", type=options.WholeNumber(1), metavar="N",
              help="The identity of the log in which --seen counts.  [default: this one, whichever it is]")  # fmt: skip
@option("snapshot", "--confirm", is_flag=True, default=None,
              help="End what is not listed even if that is more than the brake allows. It needs --seen.")  # fmt: skip
@option("snapshot", "--about", multiple=True, metavar="CONDITION",
              help="Clear no other condition than this. May be repeated.  [default: all but sticky ones]")  # fmt: skip
@option("snapshot", "--after", metavar="ID", help="Speak of ids above this one only, in byte order.")
@option("snapshot", "--upto", metavar="ID", help="Speak of ids up to this one only, in byte order.")
@options.connected
@options.output("json", "yaml")
def publish(
    settings: Settings, *, kind: str | None, trigger: str | None, entity_id: str | None, file: Path | None,
    window: int, wait: float | None, dry_run: bool, force: bool, output: Output, data: dict[str, Any] | None,
    snapshot: Path | None, **details: Any,
) -> int | None:  # fmt: skip
    """Publish one event about the entity KIND ID, a file of events, or a snapshot of what is below an entity.

    TRIGGER is what happened to the entity, or what is asked of it. The command prints the number of the stored event.
    An event with the same --source and --id is stored once within ten minutes. An event with the same
    --sequence as the last one of its source has no effect, however late it comes, and one with a lower one is rejected;
    a source that begins to count again gives a greater --epoch. An event that a worker would reject without looking at
    the entity is not sent.

    A file is checked to its end first: if one event is wrong, none is sent. Events from a pipe are sent until one is
    wrong. With --wait the command shows which of them were rejected, each with a way out (exit code 1).

    --dry-run sends nothing. It shows the transitions that the event would lead to in the whole tree, or why it would
    be rejected (exit code 1), or why it would have no effect. With --json it prints the records as they would be in
    the log. The answer is computed from the latest states. If events of the tree are not decided yet, the command
    says so. It does not notice an --id that was used before.

    --snapshot is `publish KIND ID --snapshot FILE --kind KIND`. FILE holds the items: a list in JSON or YAML, JSON
    lines, or a msgpack stream. An item has an id (the part below the entity), a phase, and what else a report has:
    conditions, about, attributes, reason, message. What differs from an item changes; what is not listed is gone; what
    fits no table is left out and shown (exit code 1). More than 700 kB are cut into several events. An empty list says
    that nothing is left; an empty file is refused.

    A snapshot that would end more than 30 % of what lives in its range,
    and more than two things, may be a list that was cut short: its items are taken, and nothing ends (exit code 1).
    --confirm ends it. The attribute `brake` of a place, which configure sets, is another percentage. With --dry-run the
    command says what would be taken, end, be left out and held back.
    """
    details["extensions"] = _extensions(details["extensions"])
    range_ = {name: details[name] for name in RANGE if details[name] not in (None, ())}
    details = {name: details[name] for name in DETAILS if details[name] is not None}
    _check_together(file, snapshot, wait, dry_run=dry_run, of_one=data is not None or force, range_=range_)
    if snapshot is not None:
        from phaseline.engine.surfaces.cli import publish_snapshot  # noqa: PLC0415  # it imports this module

        at = [word for word in (kind, trigger, entity_id) if word is not None]
        return publish_snapshot.run(settings, at, snapshot, range_, details, wait=wait, dry_run=dry_run, output=output)
    if file is not None:
        if kind is not None or data is not None or details:
            raise click.UsageError(
                "--file contains whole events: leave out KIND TRIGGER ID and the options of a single event"
            )
        return terminal.run(publish_many.publish_file(settings, file, window, wait, force=force, output=output))
    if kind is None or trigger is None or entity_id is None:
        raise click.UsageError("give KIND TRIGGER ID, or --file, or --snapshot; --help shows examples")

    event = (kind, trigger, entity_id, data)
    _judge(settings, event, details, check=not force and not dry_run)

    async def work() -> int:
        async with Client.open(settings, source=compose.default_source("cli")) as client:
            if dry_run:
                return await render_dry_run.show_dry_run(client, *event, details, output=output)
            return await _publish_one(client, *event, details, wait=wait, check=not force, output=output)

    return terminal.run(work())


def _judge(settings: Settings, event: tuple[str, str, str, Any], details: Any, *, check: bool) -> None:
    """Raise what is wrong with an event, before a server is asked. check: whether a worker would reject it too."""
    given: Any = {"source": compose.default_source("cli"), **details}
    kinds = installed(settings.prefix) if check else None
    compose.pack(Subjects(settings.prefix), compose.compose(*event, given), kinds)


def _check_together(
    file: Path | None, snapshot: Path | None, wait: float | None, *, dry_run: bool, of_one: bool, range_: dict[str, Any]
) -> None:
    """Raise `UsageError` for options that do not go together. of_one: whether there are some of a single event."""
    if dry_run and (file is not None or wait is not None):
        raise click.UsageError("--dry-run sends nothing: leave out --file and --wait")
    if snapshot is not None and (file is not None or of_one):
        raise click.UsageError("--snapshot is all that is sent: leave out --file, --data and --force")
    if snapshot is None and range_:
        name = next(iter(range_)).replace("below", "kind")
        raise click.UsageError(f"--{name} is of --snapshot: publish KIND ID --snapshot FILE --kind KIND")


async def _publish_one(
    client: Client, kind: str, trigger: str, entity_id: str, data: dict[str, Any] | None, details: Any, *,
    wait: float | None, check: bool, output: Output,
) -> int:  # fmt: skip
    """Send one event and print what became of it; return the exit code."""
    if wait is None:
        outcome = Outcome(await client.publish(kind, trigger, entity_id, data, check=check, **details))
    else:
        async with undecided.waiting(client, entity_id):
            outcome = await client.publish_and_wait(
                kind, trigger, entity_id, data, check=check, timeout=wait, **details
            )
    way_out = await way_out_of(client, outcome)
    return show_outcome(client.kinds, outcome, f"{kind}.{trigger}", way_out, waited=wait is not None, output=output)


def _extensions(given: tuple[tuple[str, str], ...]) -> dict[str, str] | None:
    """The extension attributes; None if there are none. Raises `UsageError` for one that is given twice."""
    for name, count in Counter(name for name, _ in given).items():
        if count > 1:
            raise click.UsageError(f"--extension {name} is given {count} times: an event has each attribute once")
    return dict(given) or None


async def way_out_of(client: Client, outcome: Outcome) -> str:
    """What could be done if the event was rejected; empty if it was not, or if nothing is known."""
    place = next((one.sequence for one in outcome.records if isinstance(one.record, Rejection)), None)
    return "" if place is None else await client.way_out(place)


def show_outcome(
    kinds: Kinds, outcome: Outcome, type_: str = "", way_out: str = "", *, waited: bool, output: Output
) -> int:
    """Print the number of an event and its outcome; return the exit code. type_: that of the event, if it is known."""
    receipt, unread = outcome.receipt, outcome.unread or outcome.receipt.unread
    if output.is_data:
        shown = {**receipt.shown(), **({"unread": unread} if unread else {})}
        if waited:
            shown |= {
                "effect": outcome.effect,
                "repeat": repeat_map(outcome.repeat),
                **({"why_none": outcome.why_none} if outcome.effect == "none" else {}),
                "records": [maps.record_map(kinds, r.sequence, r.record, r.wire) for r in outcome.records],
                **({"way_out": way_out} if way_out else {}),
            }
        output.show(shown)
    else:
        duplicate = ", a duplicate: it was stored before" if receipt.duplicate else ""
        render.show_line(render.text_of(f"event {receipt.sequence}{duplicate}"))
        if not waited and sys.stderr.isatty():
            terminal.say("it is stored, and decided in a moment: --wait shows what becomes of it")
        for logged in outcome.records:
            render.show_record(output, render.RecordRow(kinds, logged.sequence, logged.record))
        if way_out:
            render.show_line(render.text_of(f"way out: {way_out}"))
        if waited and not outcome.records:
            render.show_line(render.text_of(f"no effect: {outcome.why_none}"))
        if unread:
            render.show_line(render.text_of(unread_text(kinds, type_, unread), "yellow"))
    return Exit.NO if outcome.effect == "rejection" else 0
