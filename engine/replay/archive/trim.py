"""Trims the streams of what an archive holds, and leaves what is needed to go on.

Belongs here: what is deleted, and how. Does not: when that is safe (`run`).

Of LOG up to a place these stay: the last transition of each entity and the mark behind it, so that states, take-overs
and later moments have what they need; checkpoints, schedules, plans, notes and losses; the rejections of raw Secrets,
by which workers know what to erase; messages that no worker wrote. Of EVENTS up to a position two things stay. The last
copy from each source: by it the server knows, after a restart, from where to copy on. And what is younger than the
dedupe window: by it the server knows, after a restart, which message ids it has had. A later run removes that.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from phaseline.engine.log import foreign
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.direct_get import last_message_from_leader, origin
from phaseline.engine.nats.erase import delete
from phaseline.engine.nats.reader import Reader, Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.replay.archive.last_states import LastStates, is_of_raw_secret
from phaseline.engine.replay.archive.log_slice import records_of
from phaseline.engine.replay.export_log import short_subject
from phaseline.engine.replay.server_log import first_event_after
from phaseline.schemas.records import nanoseconds, utc

AT_ONCE = 200
"""Messages that are deleted at the same time."""
PURGED = 100_000
"""Messages that one request removes at the beginning of a stream, at most: a server must answer in time."""


@dataclass(slots=True)
class TrimCounts:
    """How many messages were removed from EVENTS and from LOG.

    young: how many of EVENTS stay, because they are younger than the dedupe window. window_ns: how long that is.
    """

    events: int = 0
    log: int = 0
    young: int = 0
    window_ns: int = 0


async def trim(
    installation: Installation, position: int, place: int, sources: Collection[int], progress: Callable[[int], None]
) -> TrimCounts:
    """Remove events up to `position`, and of LOG up to `place` what later records replace.

    sources: the positions of the last copies from each source of EVENTS, which stay. progress: called with the number
    of messages removed since the last call. A call that breaks off can be repeated.
    """
    done = TrimCounts()
    async for removed in _trim_log(installation, place):
        done.log += removed
        progress(removed)
    old, done.window_ns = await _old(installation, position)
    async for removed in _trim_events(installation, old, sorted(one for one in sources if one <= old)):
        done.events += removed
        progress(removed)
    if old < position:
        done.young = await _waiting(installation, old) - await _waiting(installation, position)
    return done


async def _old(installation: Installation, position: int) -> tuple[int, int]:
    """The last position up to this one whose event the dedupe window has left behind; and the window, ns."""
    info = await installation.wire.api(f"STREAM.INFO.{installation.layout.events}")
    window = int(info["config"].get("duplicate_window", 0))
    young = await first_event_after(installation, utc(nanoseconds(info["ts"]) - window))
    return min(position, young - 1), window


async def _waiting(installation: Installation, position: int) -> int:
    """How many messages EVENTS holds after a position."""
    async with Reader(installation.wire, installation.layout.events, [], position + 1) as reader:
        return reader.backlog


async def _trim_log(installation: Installation, place: int) -> AsyncIterator[int]:
    """Remove messages of LOG; yields how many, again and again."""
    prefix, log = installation.prefix, installation.layout.log
    copied = await _fired_and_copied(installation)
    states = LastStates[int]()
    async for slice_ in read_all(installation.wire, log, [], 1, place):
        doomed: list[int] = []
        for stored in slice_:
            if stored.subject.startswith(f"{prefix}.fired."):
                doomed += [stored.sequence] if stored.sequence <= copied else []
            elif foreign.is_json_copy(stored.block):
                doomed.append(stored.sequence)
            elif _is_record(prefix, stored):
                doomed += states.take(short_subject(prefix, stored.subject), stored.sequence)
        yield await _delete(installation, log, doomed)


def _is_record(prefix: str, stored: Stored) -> bool:
    """Whether a message of LOG is a record that may be trimmed."""
    if not records_of(stored.subject, prefix) or not foreign.is_by_worker(stored.block):
        return False
    return not is_of_raw_secret(short_subject(prefix, stored.subject))


async def _fired_and_copied(installation: Installation) -> int:
    """The place in LOG of the last fired timer that EVENTS has copied. Those before it are not needed any more."""
    layout = installation.layout
    last = await last_message_from_leader(installation.wire, layout.events, f"{installation.prefix}.due.>")
    return 0 if last is None else origin(last.block)


async def _trim_events(installation: Installation, position: int, kept: Sequence[int]) -> AsyncIterator[int]:
    """Remove messages of EVENTS; yields how many, again and again."""
    wire, events = installation.wire, installation.layout.events
    end = kept[0] if kept else position + 1
    first = int((await wire.api(f"STREAM.INFO.{events}"))["state"]["first_seq"])
    while first < end:
        first = min(end, first + PURGED)
        # For the sequence 1 the server would purge everything.
        if first > 1:
            yield int((await wire.api(f"STREAM.PURGE.{events}", {"seq": first}))["purged"])
    if kept:
        stays = set(kept)
        async for slice_ in read_all(wire, events, [], kept[0], position):
            doomed = [stored.sequence for stored in slice_ if stored.sequence not in stays]
            yield await _delete(installation, events, doomed)


async def _delete(installation: Installation, stream: str, sequences: Iterable[int]) -> int:
    """Delete messages, some at the same time; returns how many there were."""
    waiting, removed = list(sequences), 0
    for start in range(0, len(waiting), AT_ONCE):
        now = waiting[start : start + AT_ONCE]
        removed += sum(await asyncio.gather(*(delete(installation.wire, stream, one) for one in now)))
    return removed
