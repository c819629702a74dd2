"""An installation whose number of partitions an earlier version has changed is refused, and can be exported anew."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from phaseline.engine.worker.ownership import earlier_builds
from phaseline.schemas import codec
from phaseline.schemas.errors import BadLogFile, SetupError
from tests.support.archives import run_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import (
    LIMIT,
    Installation,
    Layout,
    Settings,
    Wire,
    Worker,
    at_work,
    provision,
    until_decided,
)
from tests.support.log_check import assert_log_is_the_fold, stored
from tests.support.own_installation import examined
from tests.support.owners import checkpoint, take_over
from tests.support.raising import raises
from tests.support.random_events import RandomEvents, publish
from tests.support.recorded_logs import Clock, FileLog, ServerLog, Span, exported, import_log
from tests.support.state_stream import copied
from tests.support.streams import EXPECTED

WAY_OUT = "ids, events and versions are kept, times and durations are not"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, partitions=2, lease=1.0)


async def with_history(wire: Wire, settings: Settings) -> Installation:
    async with at_work(settings, wire) as layout:
        await publish(wire, list(RandomEvents(settings.prefix).built(3, 2)))
        await until_decided(wire, layout)
        await copied(wire, layout)
    return Installation(wire, layout, BUILT_IN_KINDS)


async def note(wire: Wire, layout: Layout, **values: Any) -> None:
    """The note of an earlier version."""
    body = codec.encode({"divisions": [3], "by": "/test", "time": 1, **values})
    await wire.publish_acked(f"{layout.prefix}.tables.divisions", body, {EXPECTED: "0"})


async def close(wire: Wire, layout: Layout, partition: int) -> None:
    """The last checkpoint of a partition, as an earlier version wrote it."""
    subject = Installation(wire, layout, BUILT_IN_KINDS).subjects.checkpoint(partition)
    found = await checkpoint.standing(wire, layout.log, subject)
    assert found.ours is not None
    body = codec.encode({**codec.decode_own(found.ours.data), "closed": True, "of": 0, "since": 0})
    await wire.publish_acked(subject, body, {EXPECTED: str(found.end), "Nats-Rollup": "sub"})
    await copied(wire, layout)


async def last(wire: Wire, stream: str) -> int:
    return int((await wire.api(f"STREAM.INFO.{stream}"))["state"]["last_seq"])


async def refused(wire: Wire, settings: Settings, layout: Layout) -> None:
    """A worker ends with an error before it has written anything."""
    before = await last(wire, layout.log), await last(wire, layout.lease)
    with raises(SetupError.partitions_moved, match=settings.prefix):
        async with asyncio.timeout(LIMIT):
            await Worker(wire, settings, BUILT_IN_KINDS).run(asyncio.Event())
    assert (await last(wire, layout.log), await last(wire, layout.lease)) == before


async def test_by_the_note(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    installation = await with_history(wire, settings)
    await note(wire, installation.layout)
    await refused(wire, settings, installation.layout)
    with raises(SetupError.partitions_moved):
        async with ServerLog.open(installation, Span()):
            pass
    with raises(SetupError.partitions_moved):
        await run_archive(installation, tmp_path)
    *_, said = await examined(settings, BUILT_IN_KINDS)
    assert (said.check, WAY_OUT in said.advice) == ("installation", True)


async def test_by_the_note_where_nothing_was_decided_yet(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, settings)
    await note(wire, layout)
    await refused(wire, settings, layout)


async def test_by_a_closed_partition_if_the_note_is_lost(wire: Wire, settings: Settings) -> None:
    installation = await with_history(wire, settings)
    await close(wire, installation.layout, 1)
    await refused(wire, settings, installation.layout)
    with raises(SetupError.partitions_moved):
        await take_over(installation, 1, "w")


async def test_by_the_copy_of_a_closed_partition_if_the_log_was_emptied(wire: Wire, settings: Settings) -> None:
    installation = await with_history(wire, settings)
    await close(wire, installation.layout, 1)
    await wire.api(f"STREAM.PURGE.{installation.layout.log}")
    await refused(wire, replace(settings, accept_loss=True), installation.layout)


@pytest.mark.parametrize("values", [{"divisions": []}, {"divisions": None}, {"divisions": 0}])
async def test_a_note_that_says_nothing_is_none(wire: Wire, settings: Settings, values: dict[str, Any]) -> None:
    installation = await with_history(wire, settings)
    await note(wire, installation.layout, **values)
    await earlier_builds.refuse_divided(installation)


async def test_what_no_worker_wrote_is_no_sign(wire: Wire, settings: Settings) -> None:
    installation = await with_history(wire, settings)
    layout, subjects = installation.layout, installation.subjects
    await wire.publish_acked(f"{layout.prefix}.tables.divisions", codec.encode({"divisions": [3]}))
    for partition in (0, "x"):
        await wire.publish_acked(subjects.checkpoint(partition), b'{"closed":true,"epoch":1}')
    await copied(wire, layout)
    await earlier_builds.refuse_divided(installation)
    async with at_work(settings, wire):
        await publish(wire, list(RandomEvents(settings.prefix).life(20, 3, 2)))
        await until_decided(wire, layout)


async def test_the_way_out(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    """A file that an earlier version exported: an import takes it, a replay does not."""
    installation, path = await with_history(wire, settings), tmp_path / "log.jsonl"
    await exported(installation, path)
    lines = path.read_bytes().splitlines(keepends=True)[:-1]
    header = codec.decode(lines[0])
    assert "divisions" not in header
    header |= {"divisions": [3], "closed": {"0": 4, "1": 5}}
    old = tmp_path / "old.jsonl"
    old.write_bytes(b"".join([codec.encode_json(header) + b"\n", *lines[1:]]))
    with pytest.raises(BadLogFile, match=WAY_OUT):
        FileLog(old)
    assert WAY_OUT in SetupError.partitions_moved(prefix="x").remedy
    new = replace(settings, prefix=f"{settings.prefix}new")
    async with Wire.open(new) as other:
        target = Installation(other, await provision(other, new), BUILT_IN_KINDS)
        now = datetime.now(UTC)
        # Its end is cut off, because the checksum there is that of the other header.
        done = await import_log(target, old, lambda header: Clock(header, None, shift=False, now=now), partial=True)
        assert done.stored == await last(wire, installation.layout.events)
        async with at_work(new, other) as layout:
            await until_decided(other, layout)
        assert await assert_log_is_the_fold(other, layout, BUILT_IN_KINDS) == len(
            await stored(wire, installation.layout.log, [f"{settings.prefix}.log.>"])
        )
