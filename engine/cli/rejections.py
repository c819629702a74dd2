"""The commands `rejections list`, `show` and `resend`: rejections, one of them in full, the same event again.

Belongs here: options and layout of these three. Does not: reading the log or sending (`phaseline.engine.client.client`).
"""

from typing import Any

import click
from rich.text import Text

from phaseline.engine.cli import options, publish, render, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.watch import show_records
from phaseline.engine.client.client import WAIT, Client
from phaseline.engine.errors import NotRejected
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.when import When
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.settings import Settings
from phaseline.schemas.records import MAX_PAYLOAD, Rejection


class Group(Page, click.Group):
    """A group of which `list` is meant where no command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, once the command is there."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=Group,
    examples=[
        ("phaseline rejections", "all of them"),
        ("phaseline rejections node --reason guard", "some of them"),
        ("phaseline rejections show 4711", "one, with what was sent"),
        ("phaseline rejections resend 4711", "the same event again, when what refused it is put right"),
    ],
)
def rejections() -> None:
    """Show what was refused and why; send it again.

    Without a command it is `list`. The number of a rejection is its place in the log.
    """


@rejections.command(name="list", cls=Page)
@click.argument("kind", required=False)
@click.option("--reason", metavar="REASON", help="Only these: illegal, guard, undecodable, invalid, unknown_kind, ...")
@click.option("--tree", metavar="ID", help="Only this entity and what is under it.")
@click.option("--from", "start", type=options.WhenType(), default="start", show_default=True,
              help="start, a place in the log, a time, or how long ago (15m).")  # fmt: skip
@click.option("--follow", is_flag=True, help="Go on with those that come.")
@options.as_json
@options.connected
def list_(
    settings: Settings, kind: str | None, *, start: When, follow: bool, as_json: bool, **which: Any
) -> int | None:
    """List what was refused, in order: place in the log, when, what, why."""

    async def work() -> None:
        async with Client.open(settings) as client:
            found = client.rejections(kind, start=start, follow=follow, tree=which["tree"], reason=which["reason"])
            shown = await show_records(client, found, None, as_json=as_json)
            if not as_json:
                terminal.say(f"{shown:,} refused" if shown else "nothing was refused")

    return terminal.run(work())


@rejections.command(cls=Page)
@click.argument("place", type=click.IntRange(1))
@options.as_json
@options.connected
def show(settings: Settings, place: int, *, as_json: bool) -> int | None:
    """Show one rejection, with the event that was refused: decoded, or as hexadecimal where it does not decode."""

    async def work() -> None:
        async with Client.open(settings) as client:
            logged = await client.record(place)
            record = rejection_in(logged)
            if as_json:
                render.show_json(render.record_map(place, logged.wire))
                return
            body = await client.event(record.cause.sequence)
            render.show_pairs(described(place, record))
            kept = record.payload if body is None else body
            if kept is None:
                terminal.say(f"event {record.cause.sequence} itself is no longer kept")
            else:
                show_body(kept, whole=body is not None or len(kept) < MAX_PAYLOAD)

    return terminal.run(work())


def rejection_in(logged: Logged) -> Rejection:
    """The rejection; raises `NotRejected`."""
    if not isinstance(logged.record, Rejection):
        raise NotRejected(sequence=logged.sequence, found="a transition")
    return logged.record


def described(place: int, record: Rejection) -> list[tuple[str, Text]]:
    """What the rejection says, by name."""
    states = record.state or {}
    found = ", ".join(f"{name}: {state}" if len(states) > 1 else str(state) for name, state in states.items())
    rows = {
        "rejection": str(place),
        "when": render.moment(record.time),
        record.kind: record.id,
        "trigger": record.trigger,
        "reason": record.reason,
        "because": record.message,
        "state": found,
        "legal": ", ".join(record.legal),
        "event": f"{record.cause.sequence}, {record.cause.event} of {record.cause.source}",
    }
    return [(render.plain(name), render.text_of(value)) for name, value in rows.items() if value]


def show_body(body: bytes, *, whole: bool) -> None:
    """What was sent."""
    decoded = render.pretty(body)
    title = "sent" if whole else f"sent (the first {len(body):,} bytes)"
    render.show_line(render.text_of(f"{title}, {'decoded' if decoded else 'undecodable'}:", "bright_black"))
    for line in (decoded or render.hex_dump(body)).split("\n"):
        render.show_line(render.text_of(line))


@rejections.command(cls=publish.Publish)
@click.argument("place", type=click.IntRange(1))
@click.option(publish.WAITS, type=click.FloatRange(0, min_open=True), metavar="[SECONDS]",
              help=f"Show what comes of it; {WAIT:g} seconds at most where no number follows.")  # fmt: skip
@options.as_json
@options.connected
def resend(settings: Settings, place: int, *, wait: float | None, as_json: bool) -> int | None:
    """Publish the refused event again, byte for byte, under its own id.

    When what refused it is put right: a parent that is known now, a kind that is installed now. The same rejection is
    sent again once within ten minutes; a new rejection has a place of its own.
    """

    async def work() -> int:
        async with Client.open(settings) as client:
            receipt = await client.resend(place)
            outcome = Outcome(receipt) if wait is None else await client.outcome(receipt, timeout=wait)
            return publish.show_outcome(client.kinds, outcome, waited=wait is not None, as_json=as_json)

    return terminal.run(work())
