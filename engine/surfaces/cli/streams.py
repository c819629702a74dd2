"""The command `streams`: how the streams of an installation differ from what is wanted, and changing them.

Belongs here: its options, its tables, its progress. Does not: the comparison and the changes
(`nats.stream_settings`).
"""

from collections.abc import Sequence
from typing import Final

import click

from phaseline.engine.log.archived.expiring import Expiring, expiring
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.stream_settings.change import CopyProgress, change, check
from phaseline.engine.nats.stream_settings.differences import StreamDifference
from phaseline.engine.nats.stream_settings.fill import Fill, size
from phaseline.engine.nats.stream_settings.report import StreamReport
from phaseline.engine.nats.streams import Layout, inspect, reports
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.operations import leave_note
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.cli.worker import of_streams
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import Exit, NoResponders, NotPermitted, SetupError


@click.command(
    cls=Page,
    examples=[
        ("phaseline admin streams", "what each stream holds, and what this version wants otherwise"),
        ("phaseline admin streams --replicas 3 --log-max-bytes 200GB", "what these options would change"),
        ("phaseline admin streams --replicas 3 --apply", "change it, and wait until all copies are up to date"),
    ],
)
@click.option("--apply", "applies", is_flag=True, help="Change what differs, and wait until all copies are up to date.")
@click.option("--drop-events", is_flag=True,
              help="Let a shorter --events-max-age delete events that are not decided, or not archived.")  # fmt: skip
@options.connected
@of_streams
@options.output("json", "yaml")
def streams(settings: Settings, *, applies: bool, drop_events: bool, output: Output) -> int | None:
    """Show how the streams of the installation differ from what this version and these options want.

    Each option names a setting that you want; a setting without an option stays as it is. --apply changes one stream
    after the other, while workers and publishers go on. If one of the settings cannot be changed, the command says why
    and what to do instead, and changes nothing. The exit code is 1 if something differs and --apply is not given, or if
    a stream is missing.

    A shorter --events-max-age deletes older events at once. The command refuses it while some of these are not decided,
    or not in the archive of this log yet; --drop-events deletes them all the same.

    It is for operators (docs/security.md says which rights it needs). Workers take the same options; they create
    streams with them, and log `stream_differs` where a stream that exists differs.
    """

    async def work() -> int:
        async with Wire.open(settings, name="phaseline-streams") as wire:
            layout = await inspect(wire, settings)
            try:
                found = await reports(wire, settings, layout, installed(settings.prefix).copies.values())
            except NoResponders as error:
                if wire.has_consumers:
                    raise
                # the account of readers imports a part of the API only, so nobody answers
                raise NotPermitted(subject=error.subject, violation="", who_may="; the role operator may") from error
            differing = [one for one in found if one.differences]
            _show(found, output)
            missing = sorted({*layout.streams} - {one.stream for one in found})
            for name in missing:
                terminal.say(f"{name} does not exist: a worker that starts creates it")
            needed = None if drop_events else await _needed(wire, layout, differing)
            if not applies or not differing:
                return _end(found, differing, needed, is_whole=not missing)
            check(differing)
            if needed is not None:
                raise needed
            settings_ = ", ".join(f"{one.stream} {one.setting}" for report in differing for one in report.differences)
            await leave_note(wire, settings, "streams", f"change {settings_}")
            for report in differing:
                await change(wire, report, _progress)
                terminal.say(f"{report.stream} is changed")
        return Exit.NO if missing else Exit.DONE

    return terminal.run(work())


async def _needed(wire: Wire, layout: Layout, differing: Sequence[StreamReport]) -> SetupError | None:
    """What is against a change of the age of EVENTS; None if nothing is."""
    for one in (one for report in differing for one in report.differences):
        if one.stream == layout.events and one.key == "max_age" and one.value:
            found = await expiring(Installation(wire, layout, installed(layout.prefix)), one.value)
            if found.are_needed:
                return SetupError.events_needed(
                    stream=one.stream, age=one.wanted, events=_kept(found), way_out=_way_out(found)
                )
    return None


def _kept(found: Expiring) -> str:
    """The events that somebody needs."""
    parts = []
    if found.undecided:
        parts.append(f"{counted(found.undecided, 'event')} not decided yet")
    if found.unarchived:
        parts.append(f"up to {counted(found.unarchived, 'event')} not in archive {found.archive} yet")
    return " and ".join(parts)


def _way_out(found: Expiring) -> str:
    if found.undecided:
        return "start workers, and wait until `phaseline doctor` says that all events are decided"
    return "call `phaseline log archive` before"


def _show(found: Sequence[StreamReport], output: Output) -> None:
    if output.is_data:
        for report in found:
            output.show(report.shown())
    else:
        output.table(STREAMS, found)
        if any(report.differences for report in found):
            output.line()
            output.table(DIFFERENCES, (one for report in found for one in report.differences))
    output.flush()


def _replicas(one: StreamReport) -> Text:
    return Text(f"{one.replicas}, late: {', '.join(one.late)}" if one.late else f"{one.replicas}")


def _full(fill: Fill) -> Text:
    style = "bold red" if fill.is_full else "yellow" if fill.is_almost_full else ""
    return Text(f"{fill.percent} %", style) if fill.limit else Text("-")


STREAMS: Final[tuple[Column[StreamReport], ...]] = (
    Column("STREAM", lambda one: Text(one.stream)),
    Column("MESSAGES", lambda one: Text(f"{one.messages:,}"), worth=60),
    Column("HOLDS", lambda one: Text(size(one.fill.bytes)), worth=70),
    Column("LIMIT", lambda one: Text(size(one.fill.limit) if one.fill.limit else "-"), worth=50),
    Column("FULL", lambda one: _full(one.fill)),
    Column("REPLICAS", _replicas, wraps=True),
)


def _happens(one: StreamDifference) -> Text:
    return Text(one.effect) if one.can_change else Text(f"cannot change: {one.way_out}", "bold red")


DIFFERENCES: Final[tuple[Column[StreamDifference], ...]] = (
    Column("STREAM", lambda one: Text(one.stream)),
    Column("SETTING", lambda one: Text(one.setting)),
    Column("FOUND", lambda one: Text(str(one.found)), wraps=True),
    Column("WANTED", lambda one: Text(str(one.wanted)), wraps=True),
    Column("WHAT HAPPENS", _happens, wraps=True),
)


def _end(
    found: Sequence[StreamReport], differing: Sequence[StreamReport], needed: SetupError | None, *, is_whole: bool
) -> int:
    """Say what the tables mean; the exit code. is_whole: whether no stream is missing."""
    for report in found:
        if report.fill.is_almost_full:
            terminal.say(f"{report.stream} is almost full: at its limit it refuses messages; make room, or raise it")
    if not differing:
        terminal.say("all streams are as they are wanted" if is_whole else "the other streams are as they are wanted")
        return Exit.DONE if is_whole else Exit.NO
    if needed is not None:
        terminal.say(f"--apply refuses this: {needed}")
        return Exit.NO
    is_possible = all(one.can_change for report in differing for one in report.differences)
    terminal.say(
        "--apply changes this" if is_possible else "--apply refuses this, because not all of it can be changed"
    )
    return Exit.NO


def _progress(found: CopyProgress) -> None:
    behind = f", {found.behind:,} messages behind" if found.behind else ""
    terminal.say(f"{found.stream}: {found.current} of {found.wanted} copies are up to date{behind}")
