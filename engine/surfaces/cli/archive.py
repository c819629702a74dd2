"""The command `archive`: finished parts of the log as files, and the streams trimmed.

Belongs here: its options, its progress and its messages. Does not: archiving (`replay.archive`).
"""

import time
from typing import Any

import click
from rich.progress import Progress

from phaseline.engine.log.when import When
from phaseline.engine.publish.operations import operator
from phaseline.engine.replay.archive.check import check, reindex
from phaseline.engine.replay.archive.manifest import Manifest
from phaseline.engine.replay.archive.open_archive import store_at
from phaseline.engine.replay.archive.run import Archiver, ArchiveRun
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import log_source, options, render, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.operations import on_installation
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.schemas.records import SECOND, timestamp


@click.command(
    cls=Page,
    examples=[
        ("phaseline log archive --keep 30d --to /backup/pl", "what is older than 30 days; call it once a day"),
        ("phaseline log archive --before 2026-03-01 --to /backup/pl", "all that was finished before March"),
        ("phaseline log archive --check /backup/pl", "read an archive and check every byte; needs no server"),
        ("phaseline get node c1/pool-a/n7 --at 90d --archive /backup/pl", "read archive and streams as one"),
    ],
)
@click.option(
    "--before", type=options.WHEN,
    help="Archive what was finished before this moment: a time, how long ago (30d), a place in the log, or now.",
)  # fmt: skip
@click.option("--keep", type=options.DURATION, help="The same as --before with this span: 30d, 12h.")
@click.option(
    "--to", "where", metavar="DIR", help="The archive: a folder, or a URL like s3://bucket/prefix. Each run adds to it."
)
@click.option("--check", "checked", metavar="DIR", help="Only check this archive.")
@click.option("--reindex", "reindexed", metavar="DIR", help="Only make lost or damaged indexes of this archive anew.")
@options.connected
@options.output("json", "yaml")
def archive(
    settings: Settings, *, before: When | None, keep: float | None, where: str | None, checked: str | None,
    reindexed: str | None, output: Output,
) -> int | None:  # fmt: skip
    """Write finished parts of the log to files, check them, and trim the streams.

    The files are logs as `phaseline log export --records` writes them, in numbered parts, with checksums in
    manifest.json. They are read back and compared with the streams. Only then are events removed from EVENTS, and
    from LOG the records that later ones replace. The last record of each entity, checkpoints, timers and notes
    stay, so workers go on and all later moments can be read. Nothing is archived that is not decided, and nothing
    is trimmed that is younger than the dedupe window.

    Workers may run meanwhile. A run that was interrupted is repeated by calling it again. Commands that read the past
    take --archive DIR, or PHASELINE_ARCHIVE. It is for operators (docs/security.md says which rights it needs).
    """
    for option, named, show in (("--check", checked, _show_check), ("--reindex", reindexed, _show_reindexed)):
        if named is not None:
            if any(one is not None for one in (where, before, keep, *({checked, reindexed} - {named}))):
                raise click.UsageError(f"{option} stands alone")
            show(named, output=output)
            return None
    if where is None:
        raise click.UsageError("name the archive: --to DIR")
    if (before is None) == (keep is None):
        raise click.UsageError("say up to when: either --before MOMENT or --keep SPAN")
    moment: When = timestamp(time.time_ns() - int((keep or 0) * SECOND)) if before is None else before

    store = store_at(where)

    async def work() -> None:
        async with on_installation(settings, "archive") as installation:
            with store.locked(), log_source.progress_bar("archiving") as bar:
                shown = _Bar(bar)
                archiver = Archiver(installation, store, operator(settings), shown.begin, shown.advance)
                done = await archiver.run(moment)
        _show(done, where, output=output)

    return terminal.run(work())


class _Bar:
    """The progress of one step after the other."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: Any = None

    def begin(self, step: str, events: int) -> None:
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(step, total=events or None)

    def advance(self, events: int) -> None:
        self._bar.advance(self._task, events)


def _show(done: ArchiveRun, where: str, *, output: Output) -> None:
    manifest = done.manifest
    sums = {name: sum(getattr(part, name) for part in done.parts) for name in ("events", "records", "bytes")}
    if output.is_data:
        output.show(
            {
                "at": where, "archive": manifest.archive, "parts": [part.name for part in done.parts],
                **sums, "position": manifest.position, "place": manifest.place, "missing": manifest.missing,
                "trimmed": {"events": done.trimmed.events, "log": done.trimmed.log, "young": done.trimmed.young},
            }
        )  # fmt: skip
        return
    if not done.parts:
        terminal.say(f"nothing more to archive: the archive ends at event {manifest.position}")
    else:
        written = f"{counted(sums['events'], 'event')} and {counted(sums['records'], 'record')}"
        files = f"{counted(len(done.parts), 'file')} of {where}, {sums['bytes']:,} bytes"
        render.show_line(render.text_of(f"archived {written} up to event {manifest.position}: {files}"))
    if done.trimmed.events or done.trimmed.log:
        trimmed = (
            f"{counted(done.trimmed.events, 'event')} from EVENTS, {counted(done.trimmed.log, 'message')} from LOG"
        )
        terminal.say(f"trimmed {trimmed}: of each entity the last record stays")
    if done.trimmed.young:
        young = f"{counted(done.trimmed.young, 'event')} of the last {render.duration(done.trimmed.window_ns)}"
        terminal.say(f"{young} stay in EVENTS too, so that repeats are recognised; a later run trims them")
    _say_missing(manifest)


def _say_missing(manifest: Manifest) -> None:
    """Say which events EVENTS no longer had, though nobody purged them."""
    for first, last in manifest.missing:
        events = f"event {first}" if first == last else f"the events {first} to {last}"
        terminal.say(f"the archive lacks {events}: EVENTS did not hold them any more; their records are in it")


def _show_check(where: str, *, output: Output) -> None:
    with log_source.progress_bar("checking") as bar:
        task = bar.add_task("", total=None)
        manifest, reading = check(store_at(where), lambda events: bar.advance(task, events))
    tally = reading.tally
    if output.is_data:
        output.show(
            {
                "at": where, "archive": manifest.archive, "parts": len(manifest.parts), "events": tally.events,
                "records": tally.records, "position": manifest.position, "place": manifest.place,
                "missing": manifest.missing,
            }
        )  # fmt: skip
        return
    parts = counted(len(manifest.parts), "file")
    render.show_line(render.text_of(f"{parts} with {tally}, up to event {manifest.position}: nothing is damaged"))
    _say_missing(manifest)


def _show_reindexed(where: str, *, output: Output) -> None:
    store = store_at(where)
    store.existing_manifest()
    with store.locked(), log_source.progress_bar("reading") as bar:
        task = bar.add_task("", total=None)
        made = reindex(store, lambda events: bar.advance(task, events))
    if output.is_data:
        output.show({"at": where, "parts": [part.name for part in made]})
    else:
        terminal.say(f"{counted(len(made), 'index', 'indexes')} made anew")
