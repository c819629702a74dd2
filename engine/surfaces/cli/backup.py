"""The commands `admin backup` and `admin restore`: an installation in a folder, and back.

Belongs here: their options, progress and messages. Does not: what they do (`replay.backup`).
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Self

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.stream_settings.fill import size
from phaseline.engine.nats.streams import MINIMUM_SERVER, inspect, layout_of
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish.operations import operator
from phaseline.engine.replay.backup import backing_up, manifest, restoring
from phaseline.engine.replay.backup.manifest import BackupManifest
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, render, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.operations import leave_note
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.engine.surfaces.cli.worker import of_replicas
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import InvalidInput, NotPermitted
from phaseline.schemas.records import timestamp

PROMOTED = "is put back, and the mirror of EVENTS goes on from it"
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command(
    cls=Page,
    examples=[
        ("phaseline admin backup /backup/pl-$(date +%F)", "call it as often as you can afford to lose"),
        ("phaseline admin backup --check /backup/pl-2026-03-02", "read every byte again; needs no server"),
    ],
)
@click.argument("folder", type=FOLDER)
@click.option("--check", "checks", is_flag=True, help="Only check that the files of this backup are whole.")
@options.connected
@options.output("json", "yaml")
def backup(settings: Settings, *, folder: Path, checks: bool, output: Output) -> int | None:
    """Write LOG, EVENTS and STATE into a new FOLDER.

    Workers, publishers and readers go on meanwhile. A backup that was interrupted has no backup.json; delete it. The
    archive is not part of it. It is for operators (docs/security.md says which rights it needs).
    """
    if checks:
        _show(_checked(folder), folder, output, "is whole")
        return None

    async def work() -> None:
        async with Wire.open(settings, name="phaseline-backup") as wire:
            _check_rights(wire)
            installation = Installation(wire, await inspect(wire, settings), installed())
            backing_up.new_folder(folder)
            with ByteBar() as bar:
                made = await backing_up.back_up(installation, folder, operator(settings), bar.begin, bar.advance)
        _show(made, folder, output, "is made")

    return terminal.run(work())


@click.command(
    cls=Page,
    examples=[
        ("phaseline admin restore /backup/pl-2026-03-02", "on a server that has no installation of this prefix"),
        ("phaseline admin restore /backup/pl-2026-03-02 --replicas 1 --anywhere", "on one server, to try it"),
    ],
)
@click.argument("folder", type=FOLDER)
@click.option("--anywhere", is_flag=True, help="Forget in which servers the streams were placed.")
@options.connected
@of_replicas
@options.output("json", "yaml")
def restore(settings: Settings, *, folder: Path, anywhere: bool, output: Output) -> int | None:
    """Make the installation that FOLDER holds.

    Every file is checked first. Nothing is made where a stream of the installation exists, but for EVENTS as the
    mirror of a first site: it becomes EVENTS, unless the first site answers (docs/second-site.md). Start no worker
    before it is done. The log then has another identity, and entities are shown as of the backup until they are heard
    of again (docs/restored.md).
    """

    async def work() -> None:
        found = await asyncio.to_thread(_checked, folder)
        if found.prefix != settings.prefix:
            problem = f"it is one of the prefix {found.prefix}, not {settings.prefix}: name it by --prefix"
            raise InvalidInput.bad_backup(name=folder, problem=problem)
        changes: dict[str, object] = {} if settings.replicas is None else {"num_replicas": settings.replicas}
        changes |= {"placement": None} if anywhere else {}
        async with Wire.open(settings, name="phaseline-restore") as wire:
            _check_rights(wire)
            wire.require(*MINIMUM_SERVER)
            layout = layout_of(settings, 1)
            with ByteBar() as bar:
                made = await restoring.restore(wire, layout, folder, found, changes, bar.begin, bar.advance)
            await leave_note(wire, settings, "restore", f"backup of {timestamp(found.begun_ns)} in {folder}")
        _show(found, folder, output, "is put back" if made == "whole" else PROMOTED)
        if made == "promoted, forgetful":
            terminal.say("the mirror kept no message ids: restart its NATS server, or what is sent again counts twice")
        terminal.say("start the workers; then let reporters report everything anew (docs/restored.md)")

    return terminal.run(work())


def _check_rights(wire: Wire) -> None:
    """Raise `NotPermitted` for a reader: nobody answers on what the account of readers does not import."""
    if not wire.has_consumers:
        raise NotPermitted(subject=wire.api_subject("STREAM.SNAPSHOT"), violation="", who_may="; the role operator may")


def _checked(folder: Path) -> BackupManifest:
    """The manifest of a backup whose files are whole; raises `InvalidInput.bad_backup`."""
    found = manifest.read(folder)
    with ByteBar() as bar:
        bar.begin(f"checking {folder}", sum(one.bytes for one in found.streams))
        manifest.check(folder, found, bar.advance)
    return found


class ByteBar:
    """A progress bar of bytes on stderr, if that is a terminal."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        console = Console(file=sys.stderr)
        self._bar = Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, what: str, size: int) -> None:
        """The next thing, and its bytes. A stream may take fewer than it holds, because it is packed."""
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        self._bar.add_task(what, total=size or None)

    @property
    def advance(self) -> Callable[[int], None]:
        """Gets numbers of bytes that are done."""
        return lambda number: self._bar.advance(self._bar.task_ids[-1], number)


def _show(found: BackupManifest, folder: Path, output: Output, what: str) -> None:
    parts = sum(one.bytes for one in found.streams)
    if output.is_data:
        output.show({
            "at": str(folder), "prefix": found.prefix, "log": found.log, "begun": timestamp(found.begun_ns),
            "ended": timestamp(found.ended_ns), "made_by": found.made_by, "bytes": parts,
            "streams": [
                {"stream": one.stream, "messages": one.messages, "last": one.last, "bytes": one.bytes}
                for one in found.streams
            ],
        })  # fmt: skip
        return
    of = f"{counted(len(found.streams), 'stream')} of {found.prefix}, {size(parts)}"
    render.show_line(render.text_of(f"backup {folder} {what}: {of}, of {render.local_time(found.begun_ns)}"))
