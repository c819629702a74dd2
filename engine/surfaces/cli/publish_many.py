"""The option `publish --file`: events from a file or a pipe, with a progress bar.

Belongs here: its messages and checks. Does not: reading files (`engine.publish.event_file`), sending
(`engine.publish.pipeline`).
"""

import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from phaseline.engine.log.when import NOW, When
from phaseline.engine.publish import compose, event_file
from phaseline.engine.publish.backlog import until_decided
from phaseline.engine.publish.event_file import FileEvent
from phaseline.engine.publish.outcomes import unread_text
from phaseline.engine.publish.pipeline import PublishResult
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import render, terminal, undecided
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.reading_client import session_of
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import EventRefused, Exit, InvalidInput, PhaselineError
from phaseline.schemas.records import Rejection
from phaseline.schemas.subjects import Subjects

SHOWN = 10
"""The most fields that nothing reads which are named, and the most rejections."""
Show = Callable[[PublishResult], None]


class RefusedEvent(NamedTuple):
    """A rejection, its place in the log, and what could be done about it."""

    place: int
    rejection: Rejection
    way_out: str = ""


async def publish_file(
    settings: Settings, file: Path, window: int, wait: float | None, *, force: bool, output: Output
) -> int:
    """Publish the events of a file; raises `InvalidInput` with the line, for a regular file before any is sent.

    wait: the seconds to wait for what becomes of them, and to show it; None does not. Returns the exit code.
    """
    name = "standard input" if str(file) == "-" else str(file)
    kinds = None if force else installed(settings.prefix)
    checker = EventChecker(name, Subjects(settings.prefix), kinds, names=wait is not None)
    total = None
    if file.is_file() or not (str(file) == "-" or file.exists()):  # noqa: ASYNC240  # nothing else runs yet
        total = sum(1 for _ in map(checker.check, event_file.read(file)))
    async with Client.open(settings) as client:
        sent, start = PublishResult(), await client.moment(NOW) if wait is not None else None
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
        rejected = None
        if wait is not None and start is not None and checker.names is not None:
            try:
                async with undecided.waiting(client, None):
                    await until_decided(await session_of(client).installation(), wait)
            except PhaselineError:
                terminal.say(f"{summary(sent)}; nobody has seen yet that all are decided")
                checker.say_unread()
                raise
            rejected = await refused(client, start, checker.names)
        show_result(client.kinds, sent, rejected, output)
        checker.say_unread()
    return Exit.NO if rejected else 0


async def refused(client: Client, start: When, names: Container[int]) -> list[RefusedEvent]:
    """The rejections of these events that stand in the log behind a moment, the first ones with a way out."""
    found = list[RefusedEvent]()
    async with client.rejections(start=start) as watch:
        async for rejection in watch:
            if _name(rejection.cause.source, rejection.cause.event) in names:
                found.append(RefusedEvent(watch.sequence, rejection))
    first = [one._replace(way_out=await client.way_out(one.place)) for one in found[:SHOWN]]
    return first + found[SHOWN:]


def show_result(kinds: Kinds, sent: PublishResult, rejected: list[RefusedEvent] | None, output: Output) -> None:
    """Print the counts, and which events were rejected; None if nobody waited for that."""
    if output.is_data:
        output.show({**sent._asdict(), **({} if rejected is None else {"rejections": len(rejected)})})
        return
    counted = "" if rejected is None else f"; {render.counted(len(rejected), 'rejection')}"
    counted += " among the new ones" if counted and sent.duplicates else ""
    render.show_line(render.text_of(summary(sent) + counted))
    for one in (rejected or ())[:SHOWN]:
        render.show_record(output, render.RecordRow(kinds, one.place, one.rejection))
        if one.way_out:
            render.show_line(render.text_of(f"way out: {one.way_out}"))
    if rejected is not None and len(rejected) > SHOWN:
        first = rejected[0].place
        more = f"... and {len(rejected) - SHOWN:,} more: `phaseline rejections --from {first}` shows all"
        render.show_line(render.text_of(more))


def _name(source: str, event: str) -> int:
    """What tells an event from others, in few bytes: there may be millions."""
    return hash((source, event))


class EventChecker:
    """Checks each event before it is sent."""

    def __init__(self, name: str, subjects: Subjects, kinds: Kinds | None, *, names: bool = False) -> None:
        """If `kinds` is None, every event that has a subject passes. names: whether to keep the names of events."""
        self.name, self.subjects, self.kinds = name, subjects, kinds
        self.unread: Counter[tuple[str, str]] = Counter()
        """How many events of a type have a field that nothing reads."""
        self.names = set[int]() if names else None
        """The names of the events that passed, if somebody asks for them."""

    def check(self, found: FileEvent) -> dict[str, Any]:
        """The event, if it can be sent; raises `InvalidInput.bad_event_file` with its place in the file."""
        try:
            message = compose.pack(self.subjects, found.body, self.kinds)
        except EventRefused as error:
            problem = f"{error.reason}: {error.message}"
            raise InvalidInput.bad_event_file(name=self.name, place=found.location, problem=problem) from None
        self.unread.update((str(found.body["type"]), name) for name in message.unread)
        if self.names is not None:
            self.names.add(_name(str(found.body.get("source")), str(found.body.get("id"))))
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
