"""The option `publish --file`: events from a file or a pipe, with a progress bar.

Belongs here: its messages and checks. Does not: reading files (`engine.publish.event_file`), sending
(`engine.publish.pipeline`).
"""

import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from phaseline.engine.publish import compose, event_file
from phaseline.engine.publish.event_file import FileEvent
from phaseline.engine.publish.outcomes import unread_text
from phaseline.engine.publish.pipeline import PublishResult
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import render, terminal
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import EventRefused, InvalidInput, PhaselineError
from phaseline.schemas.subjects import Subjects

SHOWN = 10
"""The most fields that nothing reads which are named."""
Show = Callable[[PublishResult], None]


async def publish_file(settings: Settings, file: Path, window: int, *, force: bool, output: Output) -> int:
    """Publish the events of a file; raises `InvalidInput` with the line, for a regular file before any is sent."""
    name = "standard input" if str(file) == "-" else str(file)
    checker = EventChecker(name, Subjects(settings.prefix), None if force else installed(settings.prefix))
    total = None
    if file.is_file() or not (str(file) == "-" or file.exists()):  # noqa: ASYNC240  # nothing else runs yet
        total = sum(1 for _ in map(checker.check, event_file.read(file)))
    async with Client.open(settings) as client:
        sent = PublishResult()
        try:
            with progress_bar(total) as show:

                def progress(now: PublishResult) -> None:
                    nonlocal sent
                    sent = now
                    show(now)

                events = checker.live(file) if total is None else (found.body for found in event_file.read(file))
                await client.publish_many(events, window=window, check=False, progress=progress)
        except PhaselineError:
            if sum(sent):
                terminal.say(f"stopped; {summary(sent)} before that")
            raise
        if output.is_data:
            output.show(sent._asdict())
        else:
            render.show_line(render.text_of(summary(sent)))
        checker.say_unread()
    return 0


class EventChecker:
    """Checks each event before it is sent."""

    def __init__(self, name: str, subjects: Subjects, kinds: Kinds | None) -> None:
        """If `kinds` is None, every event that has a subject passes."""
        self.name, self.subjects, self.kinds = name, subjects, kinds
        self.unread: Counter[tuple[str, str]] = Counter()
        """How many events of a type have a field that nothing reads."""

    def check(self, found: FileEvent) -> dict[str, Any]:
        """The event, if it can be sent; raises `InvalidInput.bad_event_file` with its place in the file."""
        try:
            message = compose.pack(self.subjects, found.body, self.kinds)
        except EventRefused as error:
            problem = f"{error.reason}: {error.message}"
            raise InvalidInput.bad_event_file(name=self.name, place=found.location, problem=problem) from None
        self.unread.update((str(found.body["type"]), name) for name in message.unread)
        return found.body

    def say_unread(self) -> None:
        """Say which fields of the events nothing reads."""
        for (type_, name), count in self.unread.most_common(SHOWN):
            text = unread_text(self.kinds or Kinds(()), type_, [name])
            terminal.say(f"{text} of {type_} ({render.counted(count, 'event')})")
        if len(self.unread) > SHOWN:
            terminal.say(f"and {len(self.unread) - SHOWN:,} more fields that nothing reads")

    async def live(self, file: Path) -> AsyncIterator[dict[str, Any]]:
        """The events from standard input, or from a named pipe."""
        source = sys.stdin.buffer if str(file) == "-" else _opened(file)
        async for found in event_file.read_live(source.fileno(), self.name):
            yield self.check(found)


def _opened(file: Path) -> Any:
    try:
        return file.open("rb", buffering=0)
    except OSError as error:
        raise InvalidInput.bad_event_file(name=file, place="beginning", problem=error.strerror or str(error)) from error


def summary(sent: PublishResult) -> str:
    """The events in numbers: `59 events stored, 3 duplicates`."""
    duplicates = f", {render.counted(sent.duplicates, 'duplicate')}" if sent.duplicates else ""
    return f"{render.counted(sent.stored, 'event')} stored{duplicates}"


@contextmanager
def progress_bar(total: int | None) -> Iterator[Show]:
    """A progress bar on stderr, if that is a terminal."""
    from rich import progress  # noqa: PLC0415  # slow, and not needed to publish one event
    from rich.console import Console  # noqa: PLC0415  # as above

    screen = Console(file=sys.stderr)
    with progress.Progress(
        progress.TextColumn("publishing"), progress.BarColumn(), progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[speed]}"), progress.TimeElapsedColumn(),
        console=screen, disable=not screen.is_terminal, transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task("", total=total, speed="")

        def show(sent: PublishResult) -> None:
            done = sent.stored + sent.duplicates
            passed = bar.tasks[task].elapsed or 0
            bar.update(task, completed=done, speed=f"{done / passed:,.0f}/s" if passed else "")

        yield show
