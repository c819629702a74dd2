"""Archives in an object store: in memory, and in a server that speaks S3."""

import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import obstore
import pytest
from msgspec.structs import replace
from obstore.store import MemoryStore

from phaseline import Moment
from phaseline.schemas.errors import BadArchive
from phaseline.schemas.records import Transition
from tests.support.archives import (
    SMALL,
    Archive,
    ArchivedLog,
    Archiver,
    ArchiveStore,
    Bucket,
    Folder,
    Manifest,
    audit_of_both,
    check,
    leave_window,
    states,
    store_at,
    whole_log,
    with_archive,
)
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Installation, Settings, Wire, until_decided, working
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import END, log_records
from tests.support.recorded_logs import Audit, Span, export


async def archived_twice(wire: Wire, settings: Settings, first: ArchiveStore, second: ArchiveStore) -> Installation:
    """Archive a small history in two runs, each with a store of its own for the same place."""
    async with working(settings, wire, BUILT_IN_KINDS, 2) as layout:
        fleet, live = RandomEvents(layout.prefix), Installation(wire, layout, BUILT_IN_KINDS)
        await publish(wire, [*fleet.built(3, 3), *fleet.life(40, 3, 3)])
        await until_decided(wire, layout)
        await leave_window(live)
        await Archiver(live, first, "/test", least=SMALL).run("now")
        await publish(wire, list(fleet.life(40, 3, 3)))
        await until_decided(wire, layout)
        await leave_window(live)
        done = await Archiver(live, second, "/test", least=SMALL).run("now")
        assert done.manifest.missing == []
        assert done.trimmed.events == 40
    return live


async def reads_like_a_log(both: Installation, folder: Path) -> None:
    """Histories, states and an export from a store in which parts are fetched one by one."""
    records = [one for _, one in await whole_log(both) if isinstance(one, Transition)]
    assert min(one.cause.sequence for one in records) == 1
    for entity in {one.entity.id: one.entity for one in records}.values():
        found = await log_records.history(both, entity.kind, entity.id, END)
        assert [one.entity.version for one in found] == list(range(1, len(found) + 1))
    place = (await whole_log(both))[len(records) // 2][0]
    assert await states(both, Moment(place, 0))
    assert isinstance(both.archive, Archive)
    async with ArchivedLog.open(both, both.archive, Span()) as source:
        counts = await export(source, folder / "all.plog", records=True, expect=False)
    assert counts["event"] == both.archive.manifest.position


async def test_a_bucket(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    memory = MemoryStore()
    live = await archived_twice(wire, settings, *(Bucket("memory://", memory, most=1) for _ in range(2)))
    manifest, reading = check.check(Bucket("memory://", memory, most=1))
    assert reading.tally.events == manifest.position
    stored = {one["path"] for piece in obstore.list(memory) for one in piece}
    assert stored == {"manifest.json", *(name for part in manifest.parts for name in (part.name, part.index_name))}
    archive = await Archive.in_store(Bucket("memory://", memory, most=1), live)
    async with ArchivedLog.open(live, archive, Span()) as source:
        report = await Audit(source, BUILT_IN_KINDS, None, None).run()
    assert (report.holds, report.events) == (True, manifest.position)
    await reads_like_a_log(replace(live, archive=archive), tmp_path)

    late, lost = Bucket("memory://", memory), manifest.parts[0].name
    assert late.manifest() == manifest
    other = Bucket("memory://", memory)
    assert other.manifest() == manifest
    other.write(manifest)
    with pytest.raises(BadArchive, match="another run has written it"):
        late.write(manifest)
    with pytest.raises(BadArchive, match="another run has written it"):
        Bucket("memory://", memory).write(Manifest.new("pl", 2))
    obstore.delete(memory, lost)
    with pytest.raises(BadArchive, match=lost):
        check.check(Bucket("memory://", memory))


def test_names_of_stores(tmp_path: Path) -> None:
    assert isinstance(store_at(str(tmp_path)), Folder)
    assert isinstance(store_at("memory:///"), Bucket)
    with pytest.raises(BadArchive, match="nothing://here"):
        store_at("nothing://here")
    with pytest.raises(BadArchive, match=r"it has no manifest\.json"):
        check.check(store_at("memory:///"))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A prefix of a bucket in an S3 server of the test's own."""
    from moto.server import ThreadedMotoServer  # it takes long to load

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        for name, value in {
            "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": url,
            "AWS_ALLOW_HTTP": "true",
        }.items():  # fmt: skip
            monkeypatch.setitem(os.environ, name, value)
        with urllib.request.urlopen(urllib.request.Request(f"{url}/archives", method="PUT")) as created:
            assert created.status == 200
        yield "s3://archives/pl"
    finally:
        server.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
async def test_s3(wire: Wire, settings: Settings, bucket: str) -> None:
    live = await archived_twice(wire, settings, store_at(bucket), store_at(bucket))
    both = await with_archive(live, bucket)
    assert await whole_log(both)
    assert (await audit_of_both(live, bucket)).holds
    check.check(store_at(bucket))
