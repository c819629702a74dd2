"""Checks of an installation whose number of partitions has changed.

Belongs here: changing it as the command does, and what must hold of the log afterwards. Does not: the tests.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from functools import partial

from phaseline.engine.jetstream.streams import Layout
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.division import closings, notes
from phaseline.engine.log.installation import Installation
from phaseline.engine.repartition import change as changing
from phaseline.engine.worker.partition import Partition
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Mark, Rejection, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import LIMIT
from tests.support.log_check import audited, stored
from tests.support.patience import wait_for
from tests.support.random_events import Sent, publish


async def divided(wire: Wire, layout: Layout) -> Installation:
    """The installation with its present division."""
    return await notes.current(Installation(wire, layout, BUILT_IN_KINDS))


async def repartition(wire: Wire, layout: Layout, count: int) -> None:
    """Change the number of partitions, and wait until all new ones work."""
    found = await changing.examine(Installation(wire, layout, BUILT_IN_KINDS), count)
    await changing.finished(await changing.ask(found, "/test"), LIMIT, lambda _: None)


async def until_all_decided(wire: Wire, layout: Layout) -> None:
    """Wait until all stored events have been decided, as long as the log grows."""

    async def grown() -> object:
        return (await wire.api(f"STREAM.INFO.{layout.log}"))["state"]["last_seq"]

    await wait_for(partial(_all_decided, wire, layout), grown)


async def _all_decided(wire: Wire, layout: Layout) -> bool:
    installation = await divided(wire, layout)
    last: dict[int, int] = {}
    for event in await stored(wire, layout.events, []):
        root = event.subject.split(".")[3]
        last[installation.layout.division.number_of(root)] = event.sequence
    found = await closings.checkpoints(installation, last)
    return all((mark := found[number]) is not None and mark.position >= last[number] for number in last)


async def decide_all(installation: Installation, number: int, worker: str, event: Sent) -> None:
    """Own a partition, publish an event, and decide all that there is."""
    stop = asyncio.Event()
    running = asyncio.create_task(Partition(installation, number, worker).run(stop))
    await publish(installation.wire, [event])
    await until_all_decided(installation.wire, installation.layout)
    stop.set()
    await running


async def assert_each_decided_once(wire: Wire, layout: Layout) -> int:
    """Check that each record is in the log once, those of a tree in the order of its events, versions without a gap,
    and that an audit decides the same. Returns the number of records.
    """
    found = [*_records([(m.sequence, m.data) for m in await stored(wire, layout.log, [f"{layout.prefix}.*.*.>"])
                        if m.subject.startswith((f"{layout.prefix}.log.", f"{layout.prefix}.mark."))])]  # fmt: skip
    ids = Counter((record.cause.sequence, index) for record, index in found if not isinstance(record, Mark))
    assert [one for one, times in ids.items() if times > 1] == []
    last, versions = dict[str, int](), dict[tuple[str, str], int]()
    for record, _ in found:
        if isinstance(record, Rejection):
            continue
        entity, cause = record.entity, record.cause.sequence
        root = entity.id.partition("/")[0]
        assert last.get(root, 0) <= cause, (root, last[root], cause)
        last[root] = cause
        if isinstance(record, Transition):
            assert entity.version == versions.get((entity.kind, entity.id), 0) + 1
            versions[entity.kind, entity.id] = entity.version
    report = await audited(wire, layout)
    assert report.holds, report
    assert (report.undecided, report.losses, report.foreign) == (0, [], [])
    assert report.records == len(found)
    return len(found)


def _records(messages: list[tuple[int, bytes]]) -> Iterator[tuple[Transition | Rejection | Mark, int]]:
    for _, body in messages:
        try:
            yield wire_codec.read(body), int(wire_codec.read_id(body).partition("-")[2])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
