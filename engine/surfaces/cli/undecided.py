"""What a reading command says where events are not decided yet, where nobody decides them, or where the log is cut.

Belongs here: asking while the command reads, and the words. Does not: finding out (`phaseline.engine.publish.backlog`,
`phaseline.engine.log.log`).
Nothing is said where all events are decided. The words stand on stderr, so JSON on stdout stays what it is.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from phaseline.engine.log import when
from phaseline.engine.log.log import Log
from phaseline.engine.log.when import When
from phaseline.engine.publish.backlog import Backlog, backlog
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import similar_ids, terminal
from phaseline.engine.surfaces.cli.failures import DOCTOR
from phaseline.engine.surfaces.client.entity_view import EntityView
from phaseline.engine.surfaces.client.reading_client import ReadingClient, session_of
from phaseline.schemas.errors import NoAnswer, NotFound, PhaselineError
from phaseline.schemas.records import timestamp

START = "start one with `phaseline worker`, or a whole system with `phaseline up`"
WAITING, UNSEEN = "events are waiting", "it cannot be seen whether events are waiting"
NAMED = 8
"""The most partitions that a line names."""
PATIENCE = 2.0
"""Seconds that a worker may take to load before a command that waits for it says so."""


@asynccontextmanager
async def reading(settings: Settings, about: str | None, at: When | None) -> AsyncIterator[ReadingClient]:
    """A client for a read up to now, or to a moment. At the end says what is not decided yet.

    about: the id in whose tree the read is; None for all trees. at: the moment, or None; of one before the log begins
    it says that nothing is known. Raises `NoAnswer` instead of `NotFound` where events are waiting that may create what
    was not found. An id that is unknown gets a suggestion.
    """
    async with (
        ReadingClient.open(settings) as client,
        similar_ids.suggested(client),
        beside({"": client}, about, at),
    ):
        yield client


@asynccontextmanager
async def beside(clients: Mapping[str, ReadingClient], about: str | None, at: When | None) -> AsyncIterator[None]:
    """A block that reads by these clients, by name of the cell: as `reading` for each of them."""
    if at is not None and at != when.NOW:
        yield
        for name, client in clients.items():
            if not (await client.moment(at)).place:
                log = f"the log of {name}" if name else "the log"
                terminal.say(f"{log} begins later: nothing is known of that time")
        return
    asking = await _asked_all(clients, about)
    try:
        yield
    except NotFound as error:
        waiting = 0
        for name, task in asking.items():
            found = await task
            tell(found, name)
            waiting += found.events
        if waiting:
            raise NoAnswer.not_decided_yet(missing=str(error).partition(": ")[0], events=waiting) from None
        raise
    except BaseException:
        for task in asking.values():
            task.cancel()
        raise
    for name, task in asking.items():
        tell(await task, name)


@asynccontextmanager
async def waiting(client: ReadingClient, about: str | None) -> AsyncIterator[None]:
    """A block that waits for the outcome of an event. Says at once if nobody decides it, later if a worker is slow."""

    async def tell_why() -> None:
        found = await (await asked(client, about))
        if found.silent and not found.unowned:
            await asyncio.sleep(PATIENCE)
            found = await (await asked(client, about))
        if found.unowned or found.silent:
            tell(found._replace(events=1 if found.unowned else 0, is_seen=True))

    telling = asyncio.create_task(tell_why())
    try:
        yield
    finally:
        if not telling.done():
            telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def asked(client: ReadingClient, about: str | None) -> asyncio.Task[Backlog]:
    """Ask for the undecided events of the tree of an id, or of all trees, while the caller goes on."""
    installation = await session_of(client).installation()
    return asyncio.create_task(backlog(installation, about))


async def _asked_all(clients: Mapping[str, ReadingClient], about: str | None) -> dict[str, asyncio.Task[Backlog]]:
    """Ask in all cells. What is wrong with one of several, its read says."""
    asking = {}
    for name, client in clients.items():
        try:
            asking[name] = await asked(client, about)
        except PhaselineError:
            if not name:
                raise
    return asking


def tell(found: Backlog, cell: str = "") -> None:
    """Say what is not decided, and why."""
    for line in lines(found):
        terminal.say(f"{cell}: {line}" if cell else line, terminal.styled("not decided yet: ", "yellow"))


def lines(found: Backlog) -> Iterator[str]:
    """What to say, one line for each thing."""
    if found.unowned:
        if found.workers:
            yield f"no worker owns {_partitions(found.unowned)} at the moment; {DOCTOR}"
        else:
            nothing = "nothing is waiting, but what is published will be" if found.is_seen else UNSEEN
            yield f"no worker is running ({WAITING if found.events else nothing}): {START}"
    elif found.events and not found.silent:
        several = "events are" if found.events > 1 else "event is"
        yield f"{found.events:,} {several} on the way; ask again in a moment, or publish with --wait"
    if found.silent:
        waiting = f" ({WAITING if found.events else UNSEEN})" if found.events or not found.is_seen else ""
        yield f"the worker of {_partitions(found.silent)} is loading, or does not answer{waiting}; {DOCTOR}"


def say_unanswered(view: EntityView[Any]) -> None:
    """Say which partitions no worker answered for. Nothing is missing: they were read from STATE."""
    if numbers := sorted(view.unanswered):
        named = ", ".join(map(str, numbers[:NAMED])) + (f" and {len(numbers) - NAMED} more" if numbers[NAMED:] else "")
        what = "partition" if len(numbers) == 1 else "partitions"
        terminal.say(f"read from STATE, because no worker answered for {what} {named}")


def _partitions(numbers: tuple[int, ...]) -> str:
    return f"partition {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} partitions"


async def tell_archived(clients: Mapping[str, ReadingClient], start: object) -> None:
    """Say up to where the log was archived, if a command begins at its start and reads no archive.

    clients: by name of the cell. start: where the command begins.
    """
    if start != when.START:
        return
    for name, client in clients.items():
        installation = await session_of(client).installation()
        found = await Log(installation).out_of_reach()
        if found is not None:
            cell = f"cell {name}: " if name else ""
            how = "phaseline watch --nats URL --archive DIR" if name else "--archive DIR"
            upto = f"{cell}archived up to {found.place} ({timestamp(found.time_ns)})"
            terminal.say(
                f"{upto}: before that the log keeps only the last record of each entity; {how} reads all of it"
            )
