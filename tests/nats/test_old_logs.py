"""Logs that former versions wrote, kept as files (tests/logs): audited, imported and read, the streams worked on."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from msgspec import structs

from phaseline import Moment
from phaseline.machines.built_in import BUILT_IN, PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Record, Rejection, Transition
from tests.support import moved_jobs, stream_backup
from tests.support.archives import Archive, audit_of_both
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import EmbeddedServer, Installation, Settings, Wire, at_work, inspect, until_decided
from tests.support.own_installation import Client
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import record_in
from tests.support.recorded_logs import (
    Audit,
    AuditReport,
    Clock,
    FileLog,
    RecordItem,
    ServerLog,
    Span,
    audit_of,
    compare_states,
    import_log,
)

LATER = {"owned_object"}
"""The kinds that came after these logs."""
LOGS = Path(__file__).parents[1] / "logs"
FILES = sorted(LOGS.glob("*/*.plog.zst"))


@cache
def with_jobs() -> Kinds:
    """Made when a test asks: compiling them takes long, and every test process imports this module."""
    return Kinds((*BUILT_IN, *moved_jobs.AFTER), products=PRODUCTS)


def named(path: Path) -> str:
    return path.relative_to(LOGS).as_posix()


def kinds_of(path: Path) -> Kinds:
    return with_jobs() if "moved" in path.name else BUILT_IN_KINDS


def fine(report: AuditReport) -> None:
    """Nothing differs but what older rules decided, and sentences."""
    assert report.holds, report.divergences
    assert report.events > 0
    assert (report.undecided, report.losses, report.foreign, report.emptied) == (0, [], [], [])
    if report.by_others == 0:
        assert not report.older


def records_of(path: Path) -> list[Record]:
    items = (item for item in FileLog(path).file.items() if isinstance(item, RecordItem))
    return [record for item in items if (record := record_in(item.body)) is not None]


@pytest.mark.parametrize("path", FILES, ids=named)
async def test_an_audit_finds_no_difference(path: Path) -> None:
    fine(await audit_of(path, kinds_of(path)))


@pytest.mark.parametrize("folder", sorted(LOGS.iterdir()), ids=named)
def test_the_files_of_a_version_hold_much(folder: Path) -> None:
    found = records_of(folder / "all.plog.zst")
    changes = [one for one in found if isinstance(one, Transition)]
    assert {one.entity.kind for one in changes} == {table.kind for table in BUILT_IN} - LATER
    assert {one.cause.by for one in changes} >= {"event", "tally", "view", "cascade", "timer"}
    refused = Counter(one.reason for one in found if isinstance(one, Rejection))
    assert refused.keys() >= {"illegal", "guard", "invalid", "unknown_parent", "left_out", "secret"}
    assert len({(one.entity.kind, one.trigger) for one in changes}) > 100
    moved = [one for one in records_of(folder / "moved.plog.zst") if isinstance(one, Transition)]
    assert {str(one.after) for one in moved if one.cause.by == "tables"} >= {"Held [Ok]", "Pending [Ok]"}
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 600_000


@pytest.mark.parametrize("path", FILES, ids=named)
async def test_it_is_imported_and_read(path: Path, wire: Wire, settings: Settings) -> None:
    kinds = kinds_of(path)
    async with at_work(replace(settings, partitions=3), wire, kinds) as layout:
        installation = Installation(wire, layout, kinds)
        done = await import_log(
            installation, path, lambda header: Clock(header, None, shift=False, now=datetime.now(UTC))
        )
        assert (done.damage, done.stored > 0) == (None, True)
        await until_decided(wire, layout)
        async with ServerLog.open(installation, Span()) as log:
            audit = Audit(log, kinds, None, None)
            report = await audit.run()
            await compare_states(installation, audit)
        fine(report)
        assert report.by_others == 0
    await read_all(settings, kinds)  # once no worker decides any more what timers say


async def read_all(settings: Settings, kinds: Kinds) -> int:
    """Read each entity, its history, and why it is in its state; how many there are."""
    async with Client.open(settings, kinds=kinds) as client:
        states = [one async for one in client.list(deleted=True)]
        for one in states:
            async with client.history(one.kind, one.id) as watch:
                lived = [record async for record in watch]
            assert lived[-1].entity == one
            found = (await client.why(one.kind, one.id)).entity
            assert (found.kind, found.id, found.version) == (one.kind, one.id, one.version)
        return len(states)


@pytest.mark.parametrize("kept", sorted(LOGS.glob("**/*streams.json.zst")), ids=named)
async def test_workers_go_on_with_its_streams(kept: Path, own_server: EmbeddedServer, tmp_path: Path) -> None:
    settings = Settings(nats=(own_server.url,), request_timeout=30.0, feed="json" if "both" in kept.name else None)
    archive = kept.parent / "archive" if kept.parent.name == "archived" else None
    async with Wire.open(settings, name="test") as wire:
        for backup in stream_backup.read(kept):
            await stream_backup.put(wire, backup)
        async with Client.open(settings, kinds=BUILT_IN_KINDS) as client:
            before = len([one async for one in client.list(deleted=True)])
        accepting = replace(settings, accept_tables=BUILT_IN_KINDS.digest, archive=str(archive) if archive else None)
        async with at_work(accepting, wire) as layout:
            await publish(wire, list(RandomEvents("pl", seed=3).built(2, 2)))
            await until_decided(wire, layout)
        assert await checked(wire, accepting, archive) > before


async def checked(wire: Wire, settings: Settings, archive: Path | None) -> int:
    """Audit the streams, and the archive before them; read everything now and in the past. How many entities."""
    installation = Installation(wire, await inspect(wire, settings), BUILT_IN_KINDS)
    if archive is None:
        async with ServerLog.open(installation, Span()) as log:
            fine(await Audit(log, BUILT_IN_KINDS, None, None).run())
    else:
        fine(await audit_of_both(installation, archive))
        kept = await Archive.of(str(archive), installation)
        installation = structs.replace(installation, archive=kept)
        settings = replace(settings, archive=str(archive))
        async with Client.open(settings, kinds=BUILT_IN_KINDS) as client:
            view = await client.at(Moment(kept.manifest.place // 2, 0))
            assert [one async for one in view.list(deleted=True)]
    return await read_all(settings, BUILT_IN_KINDS)
