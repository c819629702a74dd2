"""`phaseline serve`, long-lived clients and single reads with an archive: as if nothing had been archived."""

import asyncio
import io
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from msgspec import structs

from phaseline import Moment
from phaseline.schemas import codec
from phaseline.schemas.errors import BadArchive, NoAnswer
from phaseline.schemas.records import Transition
from tests.support.archives import (
    Archive,
    Folder,
    PartEntry,
    note_as_before,
    run_archive,
    states,
    whole_log,
    with_archive,
)
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.http_server import Api, http_server
from tests.support.installation import Installation, Settings, Wire, until_decided, working
from tests.support.raising import raises
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import END, AsOf, Log, as_of, log_records
from tests.support.streams import StreamReader

NODE = ("node", "c1/p/n1")


class Lived(NamedTuple):
    """An installation with a worker, and the last place of its log after each of some phases of its life."""

    live: Installation
    ends: list[int]

    @property
    def end(self) -> int:
        return self.ends[-1]


@pytest_asyncio.fixture
async def lived(settings: Settings, wire: Wire) -> AsyncIterator[Lived]:
    async with working(settings, wire, KINDS) as layout:
        fleet, ends = RandomEvents(layout.prefix), list[int]()
        for sent in (fleet.built(3, 4), fleet.life(40, 3, 4), fleet.life(40, 3, 4)):
            await publish(wire, list(sent))
            await until_decided(wire, layout)
            ends.append(int((await wire.api(f"STREAM.INFO.{layout.log}"))["state"]["last_seq"]))
        yield Lived(Installation(wire, layout, KINDS), ends)


def asked(early: int, late: int) -> list[tuple[str, dict[str, Any]]]:
    """Requests about the past."""
    kind, about = NODE
    return [
        *(
            (path, {"at": place})
            for place in (early, late)
            for path in (
                "/v1/entities", "/v1/counts", "/v1/columns", f"/v1/entities/{kind}/{about}", f"/v1/why/{kind}/{about}",
                "/v1/tree/c1",
            )
        ),
        (f"/v1/history/{kind}/{about}", {"to": late}),
        (f"/v1/history/{kind}/{about}", {"from": early, "to": late, "limit": 3}),
        (f"/v1/timeline/{kind}/{about}", {"to": late}),
        ("/v1/timeline/cluster/c1", {"from": early, "to": late}),
        ("/v1/changes", {"from": early, "to": late}),
        ("/v1/changes", {"from": "start", "to": late, "tree": "c1"}),
        ("/v1/transitions", {"from": early, "to": late, "limit": 1_000}),
        ("/v1/transitions", {"from": "start", "to": late, "form": "columns", "limit": 1_000}),
        ("/v1/rejections", {"from": "start", "to": late}),
        ("/v1/strip", {"buckets": 10, "to": late}),
    ]  # fmt: skip


async def answers(api: Api, requests: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
    """What the server answers to each request, once it has its history."""
    while api.service.history.history is None:
        await asyncio.sleep(0.01)
    found = []
    for path, parameters in requests:
        answer = await api.http.get(path, params=parameters, headers={"Accept": "application/json"})
        assert answer.status_code in (200, 404), (path, parameters, answer.text)
        body = answer.json()
        if path in ("/v1/strip", "/v1/transitions"):  # their moment is the present one
            body = {name: value for name, value in body.items() if name not in ("place", "time")}
        found.append((path, parameters, body))
    return found


async def test_the_server_answers_as_before(lived: Lived, settings: Settings, tmp_path: Path) -> None:
    """Also while the archive grows under it."""
    live, end = lived.live, lived.end
    records = [place for place, _ in await whole_log(live)]
    places = [place for place in records if (await as_of.resolve(live, place)).place == place]
    requests = asked(places[len(places) // 2], places[9 * len(places) // 10])
    async with http_server(settings) as plain:
        before = await answers(plain, requests)
        rejected = (await plain.get("/v1/rejections"))["items"][-1]["logsequence"]
        event = await plain.get(f"/v1/rejections/{rejected}")
        await run_archive(live, tmp_path, lived.ends[1])
        assert (await plain.get("/v1/entities", 410, at=end // 3))["type"].endswith("not-in-log")
        assert (await plain.get("/v1/transitions", 410, from_=end // 3))["type"].endswith("place-trimmed")
    async with http_server(replace(settings, archive=str(tmp_path))) as both:
        assert await answers(both, requests) == before
        assert await both.get(f"/v1/rejections/{rejected}") == event
        await run_archive(live, tmp_path)
        assert await answers(both, requests) == before
        assert both.service.history.history is not None
        assert both.service.history.history.begins == 0
    # The history in memory holds less than the archive: earlier places are read from the files.
    async with http_server(replace(settings, archive=str(tmp_path)), history=20) as short:
        # In columns, states have other numbers then.
        named = [(path, values) for path, values in requests if path not in ("/v1/columns", "/v1/strip")]
        assert await answers(short, named) == [one for one in before if (one[0], one[1]) in named]
        assert short.service.history.history is not None
        assert short.service.history.history.begins > end // 2


async def test_the_event_loop_goes_on_while_files_are_read(
    lived: Lived, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places, read, goes_on = (lived.end // 3, lived.end // 2), Archive.items, threading.Event()
    await run_archive(lived.live, tmp_path)

    def slowly(archive: Archive, part: PartEntry, choose: Any = None) -> Iterator[Any]:
        for items in read(archive, part, choose):
            assert goes_on.wait(120)
            yield items

    async with http_server(replace(settings, archive=str(tmp_path)), history=1) as api:
        await answers(api, [])
        monkeypatch.setattr(Archive, "items", slowly)
        past = [asyncio.create_task(api.get("/v1/entities", at=place)) for place in places]
        for _ in range(3):
            assert (await api.get("/v1/entities"))["total"] > 0
        gone = asyncio.create_task(api.get("/v1/history/node/c1/p/n1"))
        await asyncio.sleep(0)
        gone.cancel()
        assert not any(one.done() for one in past)
        goes_on.set()
        assert [one["place"] <= place for one, place in zip(await asyncio.gather(*past), places, strict=True)]


async def test_what_is_wrong_with_an_archive_is_said(lived: Lived, settings: Settings, tmp_path: Path) -> None:
    live, early = lived.live, tmp_path / "early"
    await run_archive(live, early, lived.ends[0])
    kept = (early / "manifest.json").read_bytes()
    await run_archive(live, early)
    manifest = Folder(early).existing_manifest()
    damaged = manifest.parts[0]
    content = bytearray((early / damaged.name).read_bytes())
    content[len(content) // 2] ^= 1
    (early / damaged.name).write_bytes(content)
    async with http_server(replace(settings, archive=str(early)), history=1) as api:
        await answers(api, [])
        said = await api.get("/v1/entities", 500, at=damaged.lowest + 1)
        assert damaged.name in said["detail"]
        assert f"places {damaged.lowest} to {damaged.highest}" in said["detail"]
        (early / damaged.name).unlink()
        assert damaged.name in (await api.get("/v1/counts", 500, at=damaged.lowest + 2))["detail"]
        assert (await api.get("/v1/entities"))["total"] > 0
    async with http_server(replace(settings, archive=str(early))) as api:
        await answers(api, [("/v1/strip", {"buckets": 3}), ("/v1/entities", {})])
    (early / "manifest.json").write_bytes(kept)
    with pytest.raises(BadArchive, match=f"but the log was trimmed up to {manifest.place}"):
        await with_archive(live, early)


async def to_the_end(reader: StreamReader) -> None:
    while not reader.caught_up:
        await reader.take(500)


async def test_an_archive_that_grows(lived: Lived, tmp_path: Path) -> None:
    """Readers that live long follow it; one that was overtaken says so, and misses nothing in silence."""
    live, end = lived.live, lived.end
    records, before = await whole_log(live), await states(live, Moment(end // 2, 0))
    await run_archive(live, tmp_path, lived.ends[0])
    both = await with_archive(live, tmp_path)
    reader = Log(both).reader([f"{live.prefix}.log.*.*.*.>"])
    async with reader:
        await reader.take(1)
        await run_archive(live, tmp_path)
        with raises(NoAnswer.archived_meanwhile, match=str(tmp_path)):
            await to_the_end(reader)
    assert await whole_log(both) == records
    assert await states(both, Moment(end // 2, 0)) == before
    place, last = records[len(records) // 2]
    found = await log_records.record_at(both, place)
    assert found.record == last
    assert isinstance(last, Transition)
    event = await Log(both).event(last.cause.sequence)
    assert event is not None
    assert codec.decode(event.body)["id"] == last.cause.event


async def test_a_history_skips_the_parts_without_it(
    lived: Lived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive without indexes, of an earlier version, is read as a whole."""
    live, records = lived.live, await whole_log(lived.live)
    await run_archive(live, tmp_path)
    manifest = Folder(tmp_path).existing_manifest()
    assert len(manifest.parts) > 3
    opened, whole_file, part = list[str](), Folder.opened, Folder.unread

    def noted(store: Folder, name: str, size: int, sha256: str) -> io.BufferedReader:
        opened.append(name)
        return whole_file(store, name, size, sha256)

    def noted_part(store: Folder, name: str, size: int) -> io.BufferedReader:
        opened.append(name)
        return part(store, name, size)

    monkeypatch.setattr(Folder, "opened", noted)
    monkeypatch.setattr(Folder, "unread", noted_part)
    both = await with_archive(live, tmp_path)
    whole = [one for _, one in records if isinstance(one, Transition)]
    for entity in {one.entity.id: one.entity for one in whole}.values():
        opened.clear()
        found = await log_records.history(both, entity.kind, entity.id, END)
        mine = [one for one in whole if (one.entity.kind, one.entity.id) == (entity.kind, entity.id)]
        assert found == mine
        causes = {one.cause.sequence for one in mine}
        wanted = {one.name for one in manifest.parts if any(one.first <= cause <= one.last for cause in causes)}
        assert {name for name in opened if not name.endswith(".index")} == wanted
    everything = await AsOf(both, Moment(END, 0)).history(*NODE)
    assert [one.entity.version for one in everything] == list(range(1, len(everything) + 1))

    bare = [structs.replace(one, spread=-1, index_bytes=0, index_sha256="", blocks=0) for one in manifest.parts]
    Folder(tmp_path).write(structs.replace(manifest, parts=bare))
    await note_as_before(live, manifest)
    old = await with_archive(live, tmp_path)
    opened.clear()
    assert await log_records.history(old, *NODE, END) == everything
    assert opened == [one.name for one in manifest.parts]
    assert await whole_log(old) == records
