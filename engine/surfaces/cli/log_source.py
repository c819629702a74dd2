"""The log that `replay` and `export` read: of an installation or a file, whole or a part.

Belongs here: the options that select it, opening it, its progress bar. Does not: reading it
(`phaseline.engine.replay`).
"""

import functools
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import NOW, START
from phaseline.engine.nats.streams import inspect
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.archive.archived_log import ArchivedLog, first_event_from, opened
from phaseline.engine.replay.archive.open_archive import Archive
from phaseline.engine.replay.file_log import FileLog
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import EventItem
from phaseline.engine.replay.recorded_log import Span
from phaseline.engine.replay.server_log import ServerLog
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options
from phaseline.machines.compiler.kinds import Kinds

Source = ServerLog | FileLog | ArchivedLog
Bound = Any
"""None, the number of an event, or a `datetime`."""


class LogPart(NamedTuple):
    """A part of a log, as the options give it."""

    tree: str | None
    start: Bound
    end: Bound

    @property
    def root(self) -> str | None:
        """The root of the tree."""
        return None if self.tree is None else self.tree.partition("/")[0]


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--tree`, `--from` and `--to`; `function` gets them as `part`."""
    tree = click.option("--tree", metavar="ROOT", help="Only this tree, given by its root, for example c1.")
    start = click.option(
        "--from", "start", type=options.WHEN, metavar="EVENT",
        help="First event: its number (`cause.sequence` in records), a time, or how long ago (2h).",
    )  # fmt: skip
    end = click.option("--to", "end", type=options.WHEN, metavar="EVENT", help="Last event.")

    @functools.wraps(function)
    def call(*, tree: str | None, start: Bound, end: Bound, **rest: Any) -> Any:
        if start == NOW or end == START:
            raise click.UsageError(f"no event lies {'after --from now' if start == NOW else 'before --to start'}")
        if start is not None and type(start) is type(end) and start > end:
            raise click.UsageError(f"no event lies between: --from {start} is after --to {end}")
        part = LogPart(tree, None if start == START else start, None if end == NOW else end)
        return function(part=part, **rest)

    return tree(start(end(call)))


def _in_bytes(_: click.Context, __: click.Parameter, gigabytes: int | None) -> int | None:
    return None if gigabytes is None else gigabytes << 30


max_unpacked = click.option(
    "--max-unpacked", "most", type=options.WholeNumber(1, 1 << 20), callback=_in_bytes, metavar="GB",
    help="How much a compressed file may unfold to. Default: 200 times its size, and at least 1 GB.",
)  # fmt: skip


@asynccontextmanager
async def of_server(
    settings: Settings, part: LogPart, kinds: Kinds, *, records: bool = True, partitions: range | None = None
) -> AsyncIterator[ServerLog | ArchivedLog]:
    """Open a part of the log of an installation, with its archive if the settings name one.

    partitions: only these, if given.
    """
    async with Wire.open(settings, name="phaseline-replay") as wire:
        installation = Installation(wire, await inspect(wire, settings), kinds)
        archive = None if settings.archive is None else await Archive.of(settings.archive, installation)
        first, last = part.start or 1, part.end
        if isinstance(first, datetime):
            first = await first_event_from(installation, archive, first)
        if isinstance(last, datetime):
            last = await first_event_from(installation, archive, last) - 1
        async with opened(installation, archive, Span(part.root, first, last, partitions), records=records) as found:
            yield found


def of_file(
    path: Path, part: LogPart, most: int | None = None, partitions: range | None = None, *, with_records: bool = True
) -> FileLog:
    """Open a part of a file. most: how many bytes it may unfold to. partitions: only these, if given.

    with_records: as for `FileLog`.
    """
    first, last = part.start or 1, part.end
    if isinstance(first, datetime):
        first = _first_after(path, first, most)
    if isinstance(last, datetime):
        last = _first_after(path, last, most) - 1
    return FileLog(path, Span(part.root, first, last, partitions), most, with_records=with_records)


def _first_after(path: Path, moment: datetime, most: int | None) -> int:
    """The number of the first event stored at or after `moment`; one more than the last if there is none."""
    file, wanted = LogFile(path, most), int(moment.timestamp() * 1e9)
    for item in file.items():
        if isinstance(item, EventItem) and item.time_ns >= wanted:
            return item.sequence
    return file.last + 1


def total(source: Source) -> int | None:
    """The number of events; None if only those of a tree are read."""
    return None if source.span.root is not None else max(0, source.ends - source.begins + 1)


def progress_bar(what: str, of: str = "events") -> Progress:
    """A progress bar of events, or of something else, on stderr, if that is a terminal."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn(of), TimeRemainingColumn())
    return Progress(*columns, console=Console(file=sys.stderr), transient=True, disable=not sys.stderr.isatty())
