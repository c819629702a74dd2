"""Archiving finished parts of the streams: everything that could be asked before can be asked afterwards."""

import asyncio
import random
import resource
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from phaseline import Moment
from phaseline.schemas.errors import BadArchive, NotInLog
from phaseline.schemas.records import timestamp
from tests.support.archives import (
    SMALL,
    Archive,
    ArchivedLog,
    Archiver,
    Folder,
    audit_of_both,
    check,
    leave_window,
    messages,
    run_archive,
    states,
    whole_log,
    with_archive,
)
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.installation import Installation, Layout, Settings, Wire, at_work, until_decided, working
from tests.support.log_check import audited, stored
from tests.support.owners import purge
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import AsOf, Latest, as_of
from tests.support.recorded_logs import Span


async def end_of_log(wire: Wire, layout: Layout) -> int:
    return int((await wire.api(f"STREAM.INFO.{layout.log}"))["state"]["last_seq"])


@pytest_asyncio.fixture
async def layout(settings: Settings, wire: Wire) -> AsyncIterator[Layout]:
    async with working(settings, wire, KINDS) as made:
        yield made


async def lived(wire: Wire, layout: Layout, phases: int = 4, events: int = 60) -> list[int]:
    """Let so many events happen in each phase; returns the last place of the log after each."""
    fleet, ends = RandomEvents(layout.prefix), list[int]()
    await publish(wire, list(fleet.built(4, 4)))
    for _ in range(phases):
        await publish(wire, list(fleet.life(events, 4, 4)))
        await until_decided(wire, layout)
        ends.append(await end_of_log(wire, layout))
    return ends


def installation(wire: Wire, layout: Layout) -> Installation:
    return Installation(wire, layout, KINDS)


async def test_everything_is_as_before(wire: Wire, layout: Layout, tmp_path: Path) -> None:
    live, ends = installation(wire, layout), await lived(wire, layout)
    log = await stored(wire, layout.log, [])
    places = [*random.Random(2).sample(range(1, log[-1].sequence), 12), log[-1].sequence]
    times = [timestamp(log[number].time_ns) for number in range(0, len(log), len(log) // 6)]
    before = {place: await states(live, Moment(place, 0)) for place in places}
    named: list[int | str] = [*places, *times]
    moments = {when: await as_of.resolve(live, when) for when in named}
    then = {when: await states(live, moment) for when, moment in moments.items()}
    records = await whole_log(live)
    held = await messages(wire, layout.events), await messages(wire, layout.log)
    latest = await Latest(live).states(deleted=True)

    for cut in (ends[0], ends[2], "now"):
        done = await run_archive(live, tmp_path, cut)
        assert done.parts
        both = await with_archive(live, tmp_path)
        for place in places:
            assert await states(both, Moment(place, 0)) == before[place], place
        for when, moment in moments.items():
            found = await as_of.resolve(both, when)
            assert await states(both, found) == then[when], (when, moment, found)
        assert await whole_log(both) == records
        assert await Latest(live).states(deleted=True) == latest
    assert done.manifest.position == 0 + held[0]
    assert await messages(wire, layout.events) == 0
    assert await messages(wire, layout.log) < held[1] / 3
    assert len(done.manifest.parts) > 3
    check.check(Folder(tmp_path))
    with pytest.raises(NotInLog, match="--archive"):
        await as_of.resolve(live, places[0])
    with pytest.raises(NotInLog, match="--archive"):
        await AsOf(live, Moment(min(places), 0)).states()
    again = await run_archive(live, tmp_path)
    assert (again.parts, again.trimmed.events, again.trimmed.log) == ([], 0, 0)


async def test_a_run_that_is_ended_while_it_reads_back_ends_at_once(wire: Wire, layout: Layout, tmp_path: Path) -> None:
    """The event loop turns meanwhile, so Ctrl-C is heard. Nothing is trimmed, and the next run does it all."""
    await lived(wire, layout, 1)
    live, loop, seen, goes_on = (
        installation(wire, layout),
        asyncio.get_running_loop(),
        asyncio.Event(),
        threading.Event(),
    )
    steps, held = list[str](), await messages(wire, layout.events)

    def progress(_: int) -> None:
        if steps[-1] == "reading back":
            loop.call_soon_threadsafe(seen.set)
            assert goes_on.wait(30), "the event loop did not turn"

    with Folder(tmp_path).locked():
        archiver = Archiver(live, Folder(tmp_path), "/a", lambda step, _: steps.append(step), progress, SMALL)
        running = asyncio.create_task(archiver.run("now"))
        await seen.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        goes_on.set()
    assert steps == ["writing", "reading back"]
    assert await messages(wire, layout.events) == held
    assert (await run_archive(live, tmp_path)).parts
    check.check(Folder(tmp_path))


class Killed(Exception):
    """What stands for the end of the process."""


STEPS = ("writing", "reading back", "comparing", "storing the manifest", "noting", "trimming", "after one deletion")


async def ended_at(found: Installation, folder: Path, step: str, before: int | str) -> None:
    """Archive up to a step, and end there as if the process was killed."""
    trims = False
    await leave_window(found)

    def begin(name: str, _: int) -> None:
        nonlocal trims
        trims = name == "trimming"
        if name == step:
            raise Killed

    def progress(_: int) -> None:
        if trims and step == "after one deletion":
            raise Killed

    with Folder(folder).locked(), pytest.raises(Killed):
        await Archiver(found, Folder(folder), "/test", begin, progress, least=SMALL).run(before)


@pytest.mark.parametrize("step", STEPS)
async def test_a_run_that_ends_at_any_step_is_continued(wire: Wire, layout: Layout, tmp_path: Path, step: str) -> None:
    live, ends = installation(wire, layout), await lived(wire, layout, 2, 25)
    records, last = await whole_log(live), await states(live, Moment(ends[0], 0))
    await ended_at(live, tmp_path, step, "now")
    stays = step not in ("trimming", "after one deletion")
    if stays:
        assert await whole_log(live) == records  # nothing is trimmed, and everything can be read
        assert await states(live, Moment(ends[0], 0)) == last
    else:
        assert await whole_log(await with_archive(live, tmp_path)) == records
    (tmp_path / "part-000001.plog.zst.part").write_bytes(b"left")
    done = await run_archive(live, tmp_path)
    both = await with_archive(live, tmp_path)
    assert await whole_log(both) == records
    assert await states(both, Moment(ends[0], 0)) == last
    assert await messages(wire, layout.events) == 0
    manifest, _ = check.check(Folder(tmp_path))
    assert manifest == done.manifest
    assert manifest.missing == []


@contextmanager
def files_of(most: int) -> Iterator[None]:
    """A block in which the kernel lets no file of this process grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("lost", ["the note", "an event"])
async def test_what_only_the_files_hold_is_not_written_over(
    wire: Wire, layout: Layout, tmp_path: Path, lost: str
) -> None:
    """A run that ended before its note may be done again; but not where that would lose what the files hold."""
    live, _ = installation(wire, layout), await lived(wire, layout, 2, 25)
    records = await whole_log(live)
    if lost == "the note":
        await run_archive(live, tmp_path)
        await wire.api(f"STREAM.PURGE.{layout.log}", {"filter": live.subjects.archived()})
    else:
        await ended_at(live, tmp_path, "noting", "now")
        await wire.api(f"STREAM.MSG.DELETE.{layout.events}", {"seq": 7})
        records = await whole_log(live)
    files = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    with pytest.raises(BadArchive, match=r"no longer hold .* events and .* records.* keep it, and begin a new one"):
        await run_archive(live, tmp_path)
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == files
    await run_archive(live, tmp_path / "new")
    if lost == "an event":
        assert await whole_log(await with_archive(live, tmp_path / "new")) == records


async def test_what_was_purged_meanwhile_may_be_written_over(wire: Wire, layout: Layout, tmp_path: Path) -> None:
    live, _ = installation(wire, layout), await lived(wire, layout, 2, 25)
    await ended_at(live, tmp_path, "noting", "now")
    await purge.run(live, await purge.find(live, "node", "c1/p/n1"), "/test")
    done = await run_archive(live, tmp_path)
    assert check.check(Folder(tmp_path))[0] == done.manifest


async def test_a_disk_that_takes_no_more(wire: Wire, layout: Layout, tmp_path: Path) -> None:
    """Nothing is trimmed, and the next run does it all."""
    live = installation(wire, layout)
    await lived(wire, layout, 1, 40)
    records, held = await whole_log(live), await messages(wire, layout.events)
    with (
        files_of(1_000),
        pytest.raises(OSError, match=f"File too large: nothing was trimmed; make room.*'archive {tmp_path}'"),
    ):
        await run_archive(live, tmp_path)
    assert (await whole_log(live), await messages(wire, layout.events)) == (records, held)
    assert [one.name for one in tmp_path.iterdir()] == [".lock"]
    await run_archive(live, tmp_path)
    assert await whole_log(await with_archive(live, tmp_path)) == records


async def test_events_and_records_go_on(wire: Wire, layout: Layout, tmp_path: Path) -> None:
    """Workers decide while it archives; what they decide is archived the next time, and audits agree all the time."""
    live = installation(wire, layout)
    fleet = RandomEvents(layout.prefix)
    await publish(wire, list(fleet.built(4, 4)))
    for _ in range(3):
        await until_decided(wire, layout)
        busy = asyncio.create_task(publish(wire, list(fleet.life(80, 4, 4))))
        await run_archive(live, tmp_path)
        await busy
        report = await audited(wire, layout)
        assert report.holds, report.divergences
        assert report.losses == []
    await until_decided(wire, layout)
    whole = await audit_of_both(live, tmp_path)
    assert whole.holds, whole.divergences
    assert whole.events == (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["last_seq"]
    for first, last in ((1, 90), (50, 90), (60, None)):
        part = await audit_of_both(live, tmp_path, Span("c2", first, last))
        assert part.holds, part.divergences


async def test_what_is_not_decided_stays(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    settings = replace(settings, partitions=2)
    async with at_work(settings, wire) as layout:
        fleet, live = RandomEvents(layout.prefix), installation(wire, layout)
        await publish(wire, list(fleet.built(4, 4)))
        await until_decided(wire, layout)
    decided = int((await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["last_seq"])
    await publish(wire, list(fleet.life(50, 4, 4)))
    done = await run_archive(live, tmp_path)
    assert done.manifest.position == decided
    async with at_work(settings, wire):
        await until_decided(wire, layout)
    report = await audited(wire, layout)
    assert (report.holds, report.losses, report.events) == (True, [], 50)
    assert not await stored(wire, layout.log, [f"{layout.prefix}.log.*.loss.>"])


async def test_a_replay_of_many_parts_has_few_files_open(wire: Wire, layout: Layout, tmp_path: Path) -> None:
    """An archive that grows each night has thousands of parts in some years, and a process may have 1,024 files."""
    live, _ = installation(wire, layout), await lived(wire, layout, 2, 100)
    parts = (await run_archive(live, tmp_path)).parts
    assert len(parts) > 5
    files, found = Path("/proc/self/fd"), 0
    most = len([*files.iterdir()]) + 3
    async with ArchivedLog.open(live, await Archive.of(str(tmp_path), live), Span()) as source:
        async for _ in source.initial():
            pass
        async for steps in source.steps():
            found += len(steps)
            assert len([*files.iterdir()]) <= most
    assert found > 100
