"""The command `purge`: erases the observations of one entity for good.

Belongs here: its options, the question before it, its layout. Does not: what is erased (`engine.log.purge`).
"""

import sys

import click

from phaseline.engine.log import latest
from phaseline.engine.log import purge as purging
from phaseline.engine.log.latest import Latest
from phaseline.engine.log.log import Log
from phaseline.engine.log.purge import Purge
from phaseline.engine.publish.operations import operator
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import entity_name, options, render, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.operations import on_installation
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.schemas.errors import EntityUnknown


@click.command(
    cls=Page,
    examples=[
        ("phaseline admin purge resource shop/web/core:Secret/shop/mail --dry-run", "what would be erased"),
        ("phaseline admin purge resource shop/web/core:Secret/shop/mail --yes", "erase it, without a question"),
    ],
)
@click.option("--dry-run", is_flag=True, help="Only count what would be erased.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.connected
@options.output("json", "yaml")
@entity_name.argument()
def purge(
    settings: Settings, *, kind: str | None, entity_id: str, dry_run: bool, yes: bool, output: Output
) -> int | None:
    """Erase the events and the last observation of the entity KIND ID for good.

    The server overwrites the events of the entity in EVENTS, its last observation in LIVE, and in LOG those of its
    rejections that hold a part of an event. What stays: its transitions, and so its state and its history. They hold
    states, conditions, reasons and messages, but no manifests. Entities below it are not touched.

    A note in the log says which events are gone. `phaseline log replay --audit` counts them as purged, and takes their
    records from the log. Events that are not decided yet are not erased: the command waits for them for --timeout
    seconds. It is for operators (docs/security.md says which rights it needs).
    """

    async def work() -> None:
        async with on_installation(settings, "purge") as installation:
            name = kind or await latest.find_kind(Latest(installation), entity_id)
            found = await purging.find(installation, name, entity_id, settings.request_timeout)
            if found.is_empty and not found.transitions:
                raise EntityUnknown(id=entity_id, kind=name)
            if not dry_run and not found.is_empty:
                if not yes:
                    _ask(found)
                await purging.run(installation, found, operator(settings))
            archived = await Log(installation).trimmed()
            _show(found, None if archived is None else archived.position, dry_run=dry_run, output=output)

    return terminal.run(work())


def _ask(found: Purge) -> None:
    """Ask whether to go on; stops the command if not."""
    if not sys.stdin.isatty():
        raise click.UsageError("purge erases for good: add --yes, or --dry-run to see what it would erase")
    click.confirm(f"erase {_counts(found)} for good?", abort=True, err=True)


def _show(found: Purge, archived: int | None, *, dry_run: bool, output: Output) -> None:
    if output.is_data:
        output.show(
            {
                "kind": found.kind, "id": found.id, "dry_run": dry_run, "events": len(found.positions),
                "bytes": found.bytes, "last_observation": bool(found.live), "rejections": len(found.rejections),
                "transitions_kept": found.transitions, "archived": archived,
            }
        )  # fmt: skip
        return
    word = "would erase" if dry_run else "erased"
    if found.is_empty:
        word = "nothing to erase:"
    render.show_line(render.text_of(f"{word} {_counts(found)} of {found.kind} {found.id}"))
    if found.transitions:
        terminal.say(f"{counted(found.transitions, 'transition')} of it stay in the log: they hold no manifests")
    if archived is not None:
        terminal.say(f"archives hold all events up to {archived}: those of this entity are not erased there")


def _counts(found: Purge) -> str:
    events = f"{counted(len(found.positions), 'event')} ({found.bytes:,} bytes)"
    return (
        f"{events}, {counted(int(bool(found.live)), 'last observation')}, {counted(len(found.rejections), 'rejection')}"
    )
