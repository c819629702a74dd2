"""How far a log can be archived: all events up to a position are decided, and nothing waits for them any more.

Belongs here: finding that position for a moment, waiting until the copies of the streams have what will be trimmed.
Does not: trimming (`trim`).
"""

import asyncio

from phaseline.engine.archive.log_slice import records_of
from phaseline.engine.archive_errors import CopyBehind
from phaseline.engine.errors import ApiFailed
from phaseline.engine.jetstream.direct_get import NO_MESSAGE, last_message_from_leader, origin
from phaseline.engine.jetstream.stream_reader import reader_of
from phaseline.engine.log import checkpoint, log_records
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import Moment
from phaseline.engine.replay.server_log import LogCursor, first_event_after
from phaseline.schemas.records import utc

MICROSECOND = 1_000
POLL = 0.1
"""Seconds between two looks at a copy."""


async def last_finished(installation: Installation, moment: Moment) -> int:
    """The last position so that its event and all before it were stored and decided by then, with all their records."""
    decided = await _decided(installation)
    stored = await first_event_after(installation, utc(moment.time_ns + MICROSECOND)) - 1
    later = [await _first_cause_after(installation, partition, moment.place) for partition in _partitions(installation)]
    return min([decided, stored, *(cause - 1 for cause in later if cause is not None)])


def _partitions(installation: Installation) -> range:
    return range(installation.layout.partitions)


async def _decided(installation: Installation) -> int:
    """The position up to which all events of all partitions are decided."""
    wire, events = installation.wire, installation.layout.events
    last = int((await wire.api(f"STREAM.INFO.{events}"))["state"]["last_seq"])
    waiting = [await _first_undecided(installation, partition) for partition in _partitions(installation)]
    return min([last, *(one - 1 for one in waiting if one is not None)])


async def _first_undecided(installation: Installation, partition: int) -> int | None:
    """The first event of a partition that is not decided, according to the leaders; None if all are."""
    wire, layout, subjects = installation.wire, installation.layout, installation.subjects
    last = await checkpoint.last(wire, layout.log, subjects.checkpoint(partition)) or checkpoint.Checkpoint()
    position = last.position
    if last.plan is None:
        # Lone records do not write the checkpoint.
        position = max(position, await log_records.last_cause(installation, partition))
    try:
        wanted = {"seq": position + 1, "next_by_subj": subjects.stored(partition)}
        return int((await wire.api(f"STREAM.MSG.GET.{layout.events}", wanted))["message"]["seq"])
    except ApiFailed as error:
        if error.err_code == NO_MESSAGE:
            return None
        raise


async def _first_cause_after(installation: Installation, partition: int, place: int) -> int | None:
    """The event that made the first record of a partition after a place; None if there is none."""
    wire, log, prefix = installation.wire, installation.layout.log, installation.prefix
    async with reader_of(wire, log, [f"{prefix}.*.{partition}.>"], place + 1) as reader:
        cursor = LogCursor(reader, lambda stored: records_of(stored.subject, prefix))
        await cursor.advance()
        return cursor.cause


async def wait_for_copies(installation: Installation, place: int, observed: int, timeout: float) -> None:
    """Wait until STATE has copied LOG up to a place, and LIVE the event at a position; raises `CopyBehind`.

    What a stream copies from another one is lost to it if it is trimmed there before.
    """
    layout = installation.layout
    for stream, wanted in ((layout.state, place), (layout.live, observed)):
        if wanted:
            await _wait(installation, stream, wanted, timeout)


async def _wait(installation: Installation, stream: str, wanted: int, timeout: float) -> None:
    copied = 0
    try:
        async with asyncio.timeout(timeout):
            while True:
                copied = await _copied(installation, stream)
                if copied >= wanted:
                    return
                await asyncio.sleep(POLL)
    except TimeoutError:
        if not await _lags(installation, stream):  # its last copy has been erased
            return
        raise CopyBehind(stream=stream, copied=copied, wanted=wanted) from None


async def _copied(installation: Installation, stream: str) -> int:
    """The sequence in its source of the last message that a stream has copied."""
    last = await last_message_from_leader(installation.wire, stream, ">")
    return 0 if last is None else origin(last.block)


async def _lags(installation: Installation, stream: str) -> bool:
    """Whether the server says that a stream has something to copy, or does not know."""
    sources = (await installation.wire.api(f"STREAM.INFO.{stream}")).get("sources") or [{}]
    return any(one.get("active", -1) < 0 or one.get("lag", 1) > 0 for one in sources)
