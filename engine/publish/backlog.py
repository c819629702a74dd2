"""Events that are stored and not decided yet: what the owners of partitions say, or the streams if nobody owns them.

Belongs here: asking both, and what the answers mean together; which workers are alive, by their leases. Does not: the
answers of workers (`worker.services`), how they are shown.
One request to each partition is enough where workers run. Only where nobody answers are the streams read.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec

from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import last_cause
from phaseline.engine.nats.api_reply import can_pass
from phaseline.engine.nats.direct_get import LastMessage, gather, last_sequence, message_from_leader
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.schemas import codec
from phaseline.schemas.errors import (
    ApiFailed,
    NoAnswer,
    NoResponders,
    NotPermitted,
    PhaselineError,
    RequestTimedOut,
    SetupError,
    Undecided,
)

PATIENCE = 5.0
"""Seconds in which a worker must answer. One that does not is frozen. What was read is shown before the wait."""
AT_ONCE = 16
"""Of how many partitions that nobody answers for the streams are read at once."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

PAUSE = 0.1
"""Seconds between two looks at partitions that have events left to decide."""


class OldestEvent(NamedTuple):
    """The oldest undecided event of a partition: its position, and the time at which it was stored, ns."""

    partition: int
    position: int
    since: int


class Backlog(NamedTuple):
    """What is not decided yet in some partitions.

    events: how many are waiting, as far as that is known; where nobody answers, at least one is counted. silent: the
    partitions whose owner does not answer, or is loading the states. unowned: the partitions without an owner.
    workers: how many workers are alive, if there are unowned partitions; None if this is not known.
    is_seen: whether it could be seen that nothing waits, if no events are counted.
    """

    events: int
    silent: tuple[int, ...] = ()
    unowned: tuple[int, ...] = ()
    workers: int | None = None
    is_seen: bool = True


async def backlog(installation: Installation, about: str | None = None) -> Backlog:
    """Ask the owners what they have not decided yet: of the tree of an id, or of all trees.

    Empty, and not `is_seen`, where this user may not ask.
    """
    numbers = range(installation.layout.partitions) if about is None else [installation.partition_of(about)]
    found = await asyncio.gather(*(_ask(installation, number) for number in numbers), return_exceptions=True)
    events, silent, unowned, is_seen = 0, [], [], True
    for number, answer in zip(numbers, found, strict=True):
        if isinstance(answer, int):
            events += answer
        elif isinstance(answer, NoResponders):
            unowned.append(number)
        elif isinstance(answer, NoAnswer):
            silent.append(number)
        else:
            is_seen = False
    if not (silent or unowned):
        return Backlog(events, is_seen=is_seen)
    waiting = await _in_streams(installation, [*silent, *unowned])
    events, is_seen = events + len(waiting or ()), waiting is not None
    workers = await _workers(installation) if unowned else None
    if workers is None and not waiting:
        # Perhaps this account cannot reach the workers.
        return Backlog(events, tuple(silent), is_seen=is_seen and not unowned)
    return Backlog(events, tuple(silent), tuple(unowned), workers, is_seen)


class _Answer(msgspec.Struct):
    worker: str
    position: Count
    waiting: Count | None


class PartitionBacklog(NamedTuple):
    """What the owner of a partition says. waiting: how many events are not decided yet; None while it loads."""

    worker: str
    position: int
    waiting: int | None


async def owner_of(installation: Installation, partition: int) -> PartitionBacklog:
    """Ask the owner of a partition; raises what `Wire.ask` raises. An answer of somebody else is none."""
    wire, subject = installation.wire, installation.subjects.backlog(partition)
    seconds = min(PATIENCE, wire.settings.request_timeout)
    reply = await wire.ask(subject, timeout=seconds)
    try:
        said = msgspec.convert(codec.decode(reply.data), _Answer)
    except ValueError:
        raise RequestTimedOut(subject=subject, seconds=seconds, hint=": what came was not a worker's") from None
    return PartitionBacklog(said.worker, said.position, said.waiting)


async def _ask(installation: Installation, partition: int) -> int:
    """How many events the owner of a partition has not decided yet.

    Raises what `owner_of` raises; `NoAnswer.not_owned` if the owner is loading the states.
    """
    waiting = (await owner_of(installation, partition)).waiting
    if waiting is None:
        raise NoAnswer.not_owned(partition=partition)
    return waiting


async def until_decided(installation: Installation, seconds: float) -> None:
    """Wait until all events are decided that are stored now. Raises `Undecided` after so many seconds.

    The word of an owner is no proof: it may count late, or have lost the partition. Only what is in LOG is decided.
    """
    last = await last_sequence(installation.wire, installation.layout.events)
    left, turns = [*range(installation.layout.partitions)], asyncio.Semaphore(AT_ONCE)

    async def is_waiting(partition: int) -> bool:
        async with turns:
            try:
                found = await first_waiting(installation, partition)
            except PhaselineError as error:
                if not can_pass(error):
                    raise
                return True
        return found is not None and found.position <= last

    try:
        async with asyncio.timeout(seconds):
            while left:
                waiting = await asyncio.gather(*map(is_waiting, left))
                left = [number for number, waits in zip(left, waiting, strict=True) if waits]
                await asyncio.sleep(PAUSE if left else 0)
    except TimeoutError:
        raise Undecided(sequence=last, seconds=seconds) from None


async def _workers(installation: Installation) -> int | None:
    """How many workers are alive, by their leases; None if this user may not read them."""
    wire = installation.wire
    try:
        return len(await living_workers(wire, installation.layout, min(PATIENCE, wire.settings.request_timeout)))
    except (NotPermitted, NoAnswer, ApiFailed):
        return None


async def _in_streams(installation: Installation, partitions: Sequence[int]) -> list[OldestEvent] | None:
    """The oldest undecided events of the first partitions that have one; None if nobody can see that there is none."""
    is_seen = True
    for first in range(0, len(partitions), AT_ONCE):
        asked = (first_waiting(installation, one) for one in partitions[first : first + AT_ONCE])
        found = await asyncio.gather(*asked, return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException):
                if not isinstance(one, NoAnswer | SetupError | ApiFailed):
                    raise one
                is_seen = False
        if waiting := [one for one in found if isinstance(one, OldestEvent)]:
            return waiting
    return [] if is_seen else None


async def first_waiting(installation: Installation, partition: int) -> OldestEvent | None:
    """The oldest undecided event of a partition, from the streams; None if there is none."""
    subjects, layout = installation.subjects, installation.layout
    last, cause = await asyncio.gather(
        checkpoint.last(installation.wire, layout.log, subjects.checkpoint(partition)),
        last_cause(installation, partition),
    )
    after = 0 if last is None else last.position
    if last is None or last.plan is None:  # else some records of an event are stored, and not all
        after = max(after, cause)
    wanted = {"seq": after + 1, "next_by_subj": subjects.stored(partition)}
    found = await message_from_leader(installation.wire, layout.events, wanted)
    return None if found is None else OldestEvent(partition, found.sequence, found.time_ns)


async def living_workers(wire: Wire, layout: Layout, timeout: float = 10.0) -> frozenset[str]:
    """The names of the workers that are alive. Keys that no worker wrote do not count, and are reported.

    Raises as `gather` does, and `ApiFailed`.
    """
    keys = f"{layout.prefix}.lease.worker."
    get = wire.api_subject(f"DIRECT.GET.{layout.lease}")
    alive = set[str]()
    for reply in await gather(wire, get, {"multi_last": [f"{keys}>"]}, timeout):
        name = reply.headers["Nats-Subject"].removeprefix(keys)
        if "Nats-TTL" in reply.headers and reply.data == name.encode() and not foreign.holds_copy(reply):
            alive.add(name)
        else:
            key = LastMessage(reply.data, int(reply.headers["Nats-Sequence"]), f"{keys}{name}", None)
            foreign.report(layout.lease, key)
    return frozenset(alive)
