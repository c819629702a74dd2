"""The commands `rejections list`, `rejections show`, `rejections resend` and `rejections retry`.

Belongs here: their options and layout. Does not: reading the log, sending (`surfaces.client`), what
is not to be sent again (`phaseline.engine.publish.retries`).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.when import A_MOMENT, When
from phaseline.engine.publish import single
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cells.reading import records_of
from phaseline.engine.surfaces.cli import names, options, publish, render, selection, similar_ids, terminal, undecided
from phaseline.engine.surfaces.cli.help import DefaultGroup, Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.operations import leave_note
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.cli.watch import show_records
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.client import WAIT, Client
from phaseline.engine.surfaces.client.reading_client import session_of
from phaseline.engine.surfaces.client.rejection_counts import RejectionCount
from phaseline.engine.surfaces.client.selection import by_field
from phaseline.schemas.cloudevents import actors
from phaseline.schemas.errors import Exit, NotFound
from phaseline.schemas.records import MAX_PAYLOAD, Rejection

if TYPE_CHECKING:
    from phaseline.engine.publish.retries import Retry

SUMMARY: Final[tuple[Column[RejectionCount], ...]] = (
    Column("NUMBER", lambda one: Text(f"{one.count:,}")),
    Column("REASON", lambda one: Text(one.reason)),
    Column("KIND", lambda one: Text(one.kind), worth=90),
    Column("SOURCE", lambda one: Text(one.source), worth=70),
    Column("ACTOR", lambda one: Text(one.actor), worth=72),
    Column("LAST", lambda one: Text(render.local_time(one.last.time_ns)), worth=60),
    Column("PLACE", lambda one: Text(str(one.place)), worth=80),
    Column("EXAMPLE", lambda one: Text(f"{one.last.trigger} {one.last.id}: {one.last.message}"), worth=75, wraps=True),
)


class RetryRow(NamedTuple):
    """A rejection, and what is done with its event."""

    place: int
    rejection: Rejection
    answer: str


RETRIED: Final[tuple[Column[RetryRow], ...]] = (
    Column("PLACE", lambda row: Text(str(row.place))),
    Column("KIND", lambda row: Text(row.rejection.kind), worth=90),
    Column("ID", lambda row: Text(row.rejection.id)),
    Column("TRIGGER", lambda row: Text(row.rejection.trigger), worth=85),
    Column("EVENT", lambda row: Text(str(row.rejection.cause.sequence)), worth=70),
    Column("ANSWER", lambda row: Text(row.answer), wraps=True),
)

FIELDS: dict[str, Callable[[RejectionCount], Any]] = {
    "number": lambda one: one.count,
    "reason": lambda one: one.reason,
    "kind": lambda one: one.kind,
    "source": lambda one: one.source,
    "actor": lambda one: one.actor,
    "last": lambda one: one.last.time_ns,
    "place": lambda one: one.place,
}
"""What the counts can be sorted by."""


@click.group(
    cls=DefaultGroup,
    examples=[
        ("phaseline rejections", "all rejections"),
        ("phaseline rejections node --reason guard", "some rejections"),
        ("phaseline rejections --summary --from 1d", "how many of which sort, since yesterday"),
        ("phaseline rejections show 4711", "one rejection, with its event"),
        ("phaseline rejections resend 4711", "send its event again, once the reason is gone"),
        ("phaseline rejections retry --reason fault --dry-run", "which events a mended worker should get again"),
    ],
)
def rejections() -> None:
    """Show rejected events and the reasons, and send them again.

    The default command is `list`. The number of a rejection is its place in the log.
    """


@rejections.command(name="list", cls=Page)
@click.argument("kind", type=names.KIND, required=False)
@click.option(
    "--reason", metavar="REASON", help="Only this reason: illegal, guard, undecodable, invalid, unknown_kind, ..."
)
@names.tree
@click.option("--from", "start", type=options.WHEN, default="start", show_default=True,
              help=f"Where to begin: start, {A_MOMENT}.")  # fmt: skip
@click.option("--follow", is_flag=True, help="Wait for more, and show them as they happen.")
@click.option("--summary", is_flag=True, help="Count them by reason, kind, source and actor, each with the last one.")
@selection.sort_by_column(FIELDS, "the most frequent first; needs --summary")
@options.connected
@options.archived
@options.output("json", "yaml", "wide", "name")
def list_(
    settings: Settings,
    kind: str | None,
    *,
    start: When,
    follow: bool,
    summary: bool,
    sort_by: str | None,
    output: Output,
    **which: Any,
) -> int | None:
    """List rejections in order: the place in the log, the time, the event and the reason.

    With --summary, count them: for each reason, kind, source and actor the number, the last time, and the last one.
    """
    if summary and follow:
        raise click.UsageError("give either --summary or --follow")
    if sort_by is not None and not summary:
        raise click.UsageError("rejections are printed in the order of the log: --sort-by is for --summary")

    async def work() -> None:
        async with Client.open(settings) as client:
            await undecided.tell_archived({"": client}, start)
            if summary:
                found = await client.rejection_counts(kind, start=start, **which)
                show_summary(found if sort_by is None else by_field(found, sort_by, FIELDS), output)
                return
            records = client.rejections(kind, start=start, follow=follow, tree=which["tree"], reason=which["reason"])
            shown = await show_records(client.kinds, records_of(records), None, output)
            await similar_ids.tell_absent({"": client}, None if shown else which["tree"])
            if not output.is_data:
                output.flush()
                terminal.say(render.counted(shown, "rejection") if shown else "no rejections")

    return terminal.run(work())


def show_summary(found: Sequence[RejectionCount], output: Output) -> None:
    """Print the counts, the most frequent first."""
    if output.is_data:
        for one in found:
            output.show(maps.count_map(one), f"{one.last.kind}/{one.last.id}")
        return
    output.table(SUMMARY, found)
    output.flush()
    total = sum(one.count for one in found)
    terminal.say(render.counted(total, "rejection") if found else "no rejections")


@rejections.command(cls=Page)
@click.argument("place", type=options.WholeNumber(1))
@options.connected
@options.archived
@options.output("json", "yaml", "wide")
def show(settings: Settings, place: int, *, output: Output) -> int | None:
    """Show one rejection with its event: decoded, or in hexadecimal if it cannot be decoded."""

    async def work() -> None:
        async with Client.open(settings) as client:
            logged = await client.record(place)
            record = rejection_in(logged)
            if output.is_data:
                output.show(
                    {
                        **maps.record_map(client.kinds, place, record, logged.wire),
                        "way_out": await client.way_out(place),
                    }
                )
                return
            body = None if record.reason == "secret" else await client.event(record.cause.sequence)
            output.pairs(described(place, record, await client.way_out(place)))
            output.flush()
            kept = record.payload if body is None else body
            if kept is None:
                terminal.say(f"event {record.cause.sequence} is no longer stored")
            else:
                show_body(kept, whole=body is not None or len(kept) < MAX_PAYLOAD)

    return terminal.run(work())


def rejection_in(logged: Logged) -> Rejection:
    """The rejection; raises `NotFound.not_rejected`."""
    if not isinstance(logged.record, Rejection):
        raise NotFound.not_rejected(place=logged.sequence, actual="a transition")
    return logged.record


def described(place: int, record: Rejection, way_out: str) -> list[tuple[str, Text]]:
    """The facts about a rejection, by name."""
    states = record.state or {}
    found = ", ".join(f"{name}: {state}" if len(states) > 1 else str(state) for name, state in states.items())
    rows = {
        "rejection": str(place),
        "time": render.local_time(record.time_ns),
        record.kind: record.id,
        "trigger": record.trigger,
        "reason": record.reason,
        "message": record.message,
        "way out then": way_out,
        "state": found,
        "legal triggers": ", ".join(record.legal),
        "event": f"{record.cause.sequence}, {record.cause.event} of {actors.sender(record.cause)}",
    }
    return [(name, render.text_of(value)) for name, value in rows.items() if value]


def show_body(body: bytes, *, whole: bool) -> None:
    """Print the body of an event."""
    decoded = render.pretty(body)
    title = "event" if whole else f"event (the first {len(body):,} bytes)"
    render.show_line(render.text_of(f"{title}, {'decoded' if decoded else 'not decodable'}:", "bright_black"))
    for line in (decoded or render.hex_dump(body)).split("\n"):
        render.show_line(render.text_of(line))


@rejections.command(cls=publish.WaitingPage)
@click.argument("place", type=options.WholeNumber(1))
@click.option(publish.WAIT_OPTION, type=options.Decimal(0, min_open=True), metavar="[SECONDS]",
              help=f"Wait for the outcome, and show it.  [default without a number: {WAIT:g}]")  # fmt: skip
@options.connected
@options.archived
@options.output("json", "yaml")
def resend(settings: Settings, place: int, *, wait: float | None, output: Output) -> int | None:
    """Publish the event of a rejection again, byte for byte, with the same id.

    Use it once the reason is gone: for example, the parent exists now, or the kind is installed now. The event of one
    rejection is sent once within ten minutes. If the event is rejected again, that is a new rejection with its own
    place.
    """

    async def work() -> int:
        async with Client.open(settings) as client:
            installation = await session_of(client).installation()
            await single.rejected_at(installation, place)
            await leave_note(installation.wire, settings, "rejections resend", f"the event rejected at place {place}")
            receipt = await client.resend(place)
            outcome = Outcome(receipt) if wait is None else await client.outcome(receipt, timeout=wait)
            way_out = await publish.way_out_of(client, outcome)
            return publish.show_outcome(client.kinds, outcome, "", way_out, waited=wait is not None, output=output)

    return terminal.run(work())


@rejections.command(cls=Page)
@click.argument("kind", type=names.KIND, required=False)
@click.option("--reason", metavar="REASON", required=True, help="Those with this reason, such as fault.")
@names.tree
@click.option("--from", "start", type=options.WHEN, default="start", show_default=True,
              help=f"Where to begin: start, {A_MOMENT}.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what would be sent, and send nothing.")
@options.connected
@options.archived
@options.output("json", "yaml", "wide")
def retry(settings: Settings, kind: str | None, *, start: When, dry_run: bool, output: Output, **which: Any) -> int:
    """Publish the events of all rejections with one reason again, in order, once the reason is gone.

    An event is sent byte for byte and decided once, at the end of its partition. It is left out if it was sent again
    before, or if a later event of its entity was taken since: what it says may be out of date, and `resend PLACE` sends
    it all the same. A snapshot is left out, too, and an event that EVENTS no longer keeps. The exit code is 1 if events
    were left out for another reason than that they were sent before.
    """
    from phaseline.engine.publish.retries import retries  # noqa: PLC0415  # the other commands send one event at most

    async def work() -> int:
        async with Client.open(settings) as client:
            await undecided.tell_archived({"": client}, start)
            async with client.rejections(kind, tree=which["tree"], start=start) as watch:
                found = [(watch.sequence, record) async for record in watch]
            installation = await session_of(client).installation()
            asked = await retries(installation, found, which["reason"])
            if not dry_run and (count := sum(not one.hindrance for one in asked)):
                what = f"{count} events rejected with the reason {which['reason']}"
                await leave_note(installation.wire, settings, "rejections retry", what)
            return await send_again(client, asked, output, dry_run=dry_run)

    return terminal.run(work()) or 0


async def send_again(client: Client, asked: "Sequence[Retry]", output: Output, *, dry_run: bool) -> int:
    """Send the events that nothing hinders, one after the other, and show each; the exit code."""
    sent, rows = 0, output.rows(RETRIED)
    for one in asked:
        event = None if one.hindrance or dry_run else (await client.resend(one.place)).sequence
        sent += not one.hindrance
        record = one.rejection
        said = one.hindrance or ("it would be sent" if event is None else f"sent as event {event}")
        if output.is_data:
            output.show({
                "place": one.place, "kind": record.kind, "id": record.id, "trigger": record.trigger,
                "event": record.cause.sequence, "sent": event, "hindrance": one.hindrance,
            })  # fmt: skip
            continue
        rows.add(RetryRow(one.place, record, said))
    if not output.is_data:
        rows.settle()
        output.flush()
        word = "would be sent" if dry_run else "sent"
        terminal.say(f"{sent:,} {word}, {len(asked) - sent:,} left out" if asked else "no rejections with this reason")
    return Exit.NO if any(one.hindrance and not one.is_again for one in asked) else 0
