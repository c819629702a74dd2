"""Compares the log of an installation with what the core makes of its events, byte for byte.

Belongs here: the comparison, an audit, and reading the log for tests. Does not: making events, killing workers.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.log import checkpoint
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import Logged, logged
from phaseline.engine.nats.direct_get import last_message_from_leader
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.audit import Audit, AuditReport, compare_states
from phaseline.engine.replay.recorded_log import Span
from phaseline.engine.replay.server_log import ServerLog
from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Entity, Mark, Rejection, Transition
from phaseline.schemas.subjects import Subjects


async def stored(wire: Wire, stream: str, filters: Sequence[str]) -> list[Stored]:
    """The messages that a stream holds now under these filters."""
    return [message async for messages in read_all(wire, stream, filters) for message in messages]


async def expected(wire: Wire, layout: Layout, kinds: Kinds, partition: int) -> tuple[list[Message], Tree]:
    """The log messages that the core makes of the partition's events, and the tree that they lead to."""
    subjects = Subjects(layout.prefix)
    processor = Processor(Tree(kinds, shared_runner()), subjects, partition, as_json=layout.feed == "json")
    messages: list[Message] = []
    timers = f"{layout.prefix}.timer."
    events = await stored(wire, layout.events, [subjects.stored(partition)])
    while events:
        batch = processor.process(events, 0)
        messages += [Message(m.subject, m.body) for m in batch.messages if not m.subject.startswith(timers)]
        del events[: batch.events]
    return messages, processor.tree


async def committed(wire: Wire, layout: Layout, partition: int) -> list[Message]:
    """The records of one partition in the order of the log."""
    place = f"{layout.prefix}.log.{partition}"
    filters = [f"{place}.transition.>", f"{place}.rejection.>", f"{Subjects(layout.prefix).marks(partition)}.>"]
    found = await stored(wire, layout.log, filters)
    return [Message(message.subject, message.data) for message in found if _is_by_worker(message)]


def _is_by_worker(message: Stored) -> bool:
    """Whether a worker wrote a message of LOG: not the server, as an answer to somebody's request."""
    headers = message.headers
    return "Nats-Stream" not in headers and bool(
        {"Nats-Batch-Id", "Nats-Expected-Last-Subject-Sequence-Subject"} & set(headers)
    )


async def decided(wire: Wire, layout: Layout) -> bool:
    """Whether the checkpoint of every partition has reached its last event."""
    subjects = Subjects(layout.prefix)
    for partition in range(layout.partitions):
        event = await last_message_from_leader(wire, layout.events, subjects.inbox(partition))
        if event is not None:
            last = await checkpoint.last(wire, layout.log, subjects.checkpoint(partition))
            if last is None or last.position < event.sequence:
                return False
    return True


async def assert_log_is_the_fold(wire: Wire, layout: Layout, kinds: Kinds) -> int:
    """Check that each event's records are in the log once and in order, that versions have no gaps, and that the
    states are those of the core. Returns the number of records.
    """
    total = 0
    for partition in range(layout.partitions):
        messages, tree = await expected(wire, layout, kinds, partition)
        found = await committed(wire, layout, partition)
        assert [m.subject for m in found] == [m.subject for m in messages]
        assert found == messages
        total += len(found)
        _assert_versions(found)
        await _assert_states(wire, layout, partition, tree)
    return total


def _assert_versions(messages: list[Message]) -> None:
    versions: dict[tuple[str, str], int] = {}
    for message in messages:
        record = wire_codec.read(message.body)
        if isinstance(record, Transition):
            key = (record.entity.kind, record.entity.id)
            assert record.entity.version == versions.get(key, 0) + 1
            versions[key] = record.entity.version


async def _assert_states(wire: Wire, layout: Layout, partition: int, tree: Tree) -> None:
    copy, foreign = Tree(tree.kinds, tree.scripts), 0
    own = Subjects(layout.prefix).state_checkpoint(partition)
    for message in await stored(wire, layout.state, [f"{layout.prefix}.state.{partition}.>"]):
        if message.subject == own:
            continue
        if "Nats-Stream" in message.headers or b"specversion" not in message.data:
            foreign += 1
            continue
        record = wire_codec.read(message.data)
        assert not isinstance(record, Rejection)
        copy.put(record.entity)
    for kind, entities in tree.entities.items():
        found = copy.entities[kind]
        assert found == {entity_id: entities[entity_id] for entity_id in found}
        foreign -= len(entities) - len(found)
    assert foreign >= 0


async def audited(wire: Wire, layout: Layout) -> AuditReport:
    """What an audit of the installation finds, in the log and in STATE."""
    from tests.support.built_in_kinds import BUILT_IN_KINDS  # the kernel is tested without them

    installation = Installation(wire, layout, BUILT_IN_KINDS)
    async with ServerLog.open(installation, Span()) as log:
        audit = Audit(log, BUILT_IN_KINDS, None, None)
        await audit.run()
        await compare_states(installation, audit)
    return audit.report


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


Log = list[Logged]


async def whole(wire: Wire, layout: Layout) -> Log:
    messages = await stored(wire, layout.log, [f"{layout.prefix}.log.*.*.>"])
    return [found for message in messages if (found := logged(layout.log, message)) is not None]


def folded(log: Log, place: int) -> dict[tuple[str, str], Entity]:
    found = {}
    for one in log:
        if one.sequence <= place and isinstance(one.record, Transition):
            found[one.record.entity.kind, one.record.entity.id] = one.record.entity
    return found


async def rejections(wire: Wire, layout: Layout, sent: int) -> list[Rejection]:
    """All rejections, once `sent` events are decided."""
    async with asyncio.timeout(60):
        while (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["messages"] < sent or not await decided(
            wire, layout
        ):
            await asyncio.sleep(0.05)
    found = []
    for message in await stored(wire, layout.log, [f"{layout.prefix}.log.*.rejection.>"]):
        record = wire_codec.read(message.data)
        assert isinstance(record, Rejection)
        found.append(record)
    return found
