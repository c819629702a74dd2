"""Transitions by HTTP: server-sent events that resume without gap or repeat, ranges, the past
(engine/surfaces/http)."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.http_server import LIMIT, LIMITS, Api, as_json, http_server, hub, maps
from tests.support.installation import (
    FEEDS,
    Feed,
    Installation,
    Settings,
    Wire,
    at_work,
    installation_with_history,
    until_decided,
)
from tests.support.json_copies import add_json_copies
from tests.support.own_installation import OwnInstallation
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import AsOf, RecordFilter, chosen, records

SHARED = pytest.mark.asyncio(loop_scope="module")


class Event(NamedTuple):
    """A server-sent event."""

    name: str
    id: int
    data: Any


class Stream:
    """A reader of server-sent events on a socket of its own, which can stop reading."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self.reader = reader
        self.events: list[Event] = []

    async def next(self) -> Event:
        """The next event; comments and `retry` are left out."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(LIMIT):
            while line := (await self.reader.readline()).decode().rstrip("\n"):
                name, _, value = line.partition(": ")
                fields[name] = value
        if "event" not in fields:
            return await self.next() if fields else Event("end", 0, None)
        self.events.append(Event(fields["event"], int(fields["id"]), json.loads(fields["data"])))
        return self.events[-1]

    async def until(self, done: Callable[[Event], bool]) -> list[Event]:
        """All events up to one."""
        found: list[Event] = []
        while not found or not done(found[-1]):
            found.append(await self.next())
        return found

    async def upto(self, place: int) -> list[Event]:
        """All events up to a place of the log."""
        return await self.until(lambda event: event.id >= place)


@asynccontextmanager
async def stream(url: str, path: str, **headers: str) -> AsyncIterator[Stream]:
    """A stream of the server."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=4096)
    sent = {"Host": parts.netloc, "Accept": "text/event-stream", **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in sent.items())
    writer.write(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head.splitlines()[0], head
        yield Stream(_Unchunked(reader))  # type: ignore[arg-type]  # it has `readline`
    finally:
        writer.close()


class _Unchunked:
    """The lines of a body in chunks."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader, self._held = reader, b""

    async def readline(self) -> bytes:
        while b"\n" not in self._held:
            size = int((await self._reader.readline()).strip() or b"0", 16)
            if not size:
                return b""
            self._held += await self._reader.readexactly(size)
            await self._reader.readexactly(2)
        line, _, self._held = self._held.partition(b"\n")
        return line + b"\n"


def places(events: list[Event]) -> list[int]:
    """The places of all records, in the order in which they came."""
    return [record["logsequence"] for event in events if event.name == "batch" for record in event.data["records"]]


def check_whole(events: list[Event]) -> None:
    """No frame cuts an event."""
    for event in events:
        if event.name == "batch":
            causes: dict[int, int] = {}
            for record in event.data["records"]:
                cause = record["data"]["cause"]
                causes[cause["sequence"]] = causes.get(cause["sequence"], 0) + 1
                total = cause["records"]
                if record["id"].endswith(f"-{total - 1}"):
                    assert causes[cause["sequence"]] == total


async def logged(installation: Installation, **wanted: Any) -> list[int]:
    """The places of all transitions in the log."""
    filter_ = f"{installation.prefix}.log.*.transition.>"
    return [one.sequence async for one in records(installation, filter_, 0, 2**62)]


async def test_a_stream_goes_on_where_another_server_left_off(settings: Settings, wire: Wire) -> None:
    """The reader sees every transition once, although the server is away for a while, twice."""
    fleet = RandomEvents(settings.prefix)
    events: list[Event] = []
    async with at_work(settings, wire) as layout:
        await publish(wire, list(fleet.built(2, 3)))
        last = 0
        for _ in range(2):
            async with http_server(settings) as api:
                sending = asyncio.create_task(publish(wire, list(fleet.life(60, 2, 3))))
                async with stream(api.url, "/v1/transitions?from=1", Last_Event_ID=str(last)) as reader:
                    await sending
                    await until_decided(wire, layout)
                    found = await reader.upto((await logged(Installation(wire, layout, KINDS)))[-1])
                events += found
                last = found[-1].id
            await publish(wire, list(fleet.life(30, 2, 3)))  # while no server runs
        await until_decided(wire, layout)
        async with http_server(settings) as api, stream(api.url, "/v1/transitions", Last_Event_ID=str(last)) as reader:
            events += await reader.upto(await api.place())
        assert places(events) == await logged(Installation(wire, layout, KINDS))
        check_whole(events)


@SHARED
async def test_a_stream_from_now_begins_with_its_place(api: Api) -> None:
    place = await api.place()
    async with stream(api.url, "/v1/transitions?tree=c9&kind=node") as reader:
        first = await reader.next()
        assert (first.name, first.id) == ("place", place)
        later = RandomEvents(api.service.installation.prefix)
        later.number = 10_000
        await publish(api.service.installation.wire, list(later.cluster("c9", 2)))
        found = await reader.until(lambda _: len(places(reader.events)) == 4)
    await until_decided(api.service.installation.wire, api.service.installation.layout)
    subjects = [record["subject"] for event in found if event.name == "batch" for record in event.data["records"]]
    assert subjects == ["node/c9/p/n0"] * 2 + ["node/c9/p/n1"] * 2


async def test_a_server_that_stops_says_where_to_go_on(settings: Settings, wire: Wire) -> None:
    async with installation_with_history(settings, wire, events=10, clusters=1):
        async with http_server(settings) as api:
            reading = stream(api.url, "/v1/transitions?from=now")
            reader = await reading.__aenter__()
            await reader.next()
            place = await api.place()
        found = await reader.until(lambda event: event.name == "bye")
        await reading.__aexit__(None, None, None)
        assert found[-1].id == place


@SHARED
async def test_a_reader_who_is_too_slow_is_told(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.service.hub, "limits", LIMITS._replace(frames=2))
    later, wire = RandomEvents(api.service.installation.prefix), api.service.installation.wire
    later.number = 20_000
    topic = hub.Topic(RecordFilter(), "records")
    gate = asyncio.Event()
    with api.service.hub.reading(topic) as channel:
        async with stream(api.url, "/v1/transitions?from=now") as reader:
            await reader.next()
            # The stream is held back as a full socket would hold it: it does not look while frames go by.
            monkeypatch.setattr(api.service.hub, "news", lambda _: gate.wait())
            api.service.hub.wake()
            await asyncio.sleep(0)
            begins = channel.begins
            while channel.begins == begins:
                await publish(
                    wire, [later.event("node", "not_ready", "c1/p/n0"), later.event("node", "ready", "c1/p/n0")]
                )
                await asyncio.sleep(hub.TICK)
            monkeypatch.undo()
            gate.set()
            found = await reader.until(lambda event: event.name == "resync")
            place = found[-1].id
            assert place >= channel.begins
            await publish(wire, [later.event("node", "not_ready", "c2/p/n0")])
            after = await reader.until(lambda event: event.name == "batch")
            assert min(places(after)) > place


@pytest.mark.slow
async def test_a_cascade_that_takes_several_batches_is_one_frame(installation: OwnInstallation) -> None:
    """An event with more records than a batch holds: no list and no frame shows a part of it."""
    fleet, nodes = RandomEvents(installation.settings.prefix), 1_200
    async with installation.worker(), http_server(installation.settings) as api:
        adopted = [fleet.event("node", "adopt", f"c1/p/n{number}", phase="Running") for number in range(nodes)]
        await installation.publish([fleet.event("cluster", "adopt", "c1", phase="Running"), *adopted])
        await installation.until_decided()
        await api.place()
        async with stream(api.url, "/v1/transitions?tree=c1") as reader:
            await reader.next()
            await installation.publish([fleet.event("cluster", "delete", "c1")])
            seen = set[int]()
            while (
                deleting := (await api.get("/v1/entities", kind="node", state="Deleting", limit=1))["total"]
            ) < nodes:
                seen.add(deleting)
                assert seen == {0}
            found = await reader.until(lambda event: event.name == "batch")
        assert len(places(found)) > nodes
        check_whole(found)


@SHARED
async def test_columns_of_a_stream_and_of_a_range(api: Api) -> None:
    end = await api.place()
    async with stream(api.url, f"/v1/transitions?from=1&form=columns&to={end}") as reader:
        found = await reader.until(lambda event: event.name == "bye")
    rows = [row for event in found if event.name == "batch" for row in event.data["rows"]]
    answer = await api.http.get(
        f"/v1/transitions?from=1&form=columns&limit=10000&to={end}", headers={"Accept": "application/json"}
    )
    assert answer.json()["rows"] == rows
    assert answer.json()["place"] == end
    assert [row[0] for row in rows] == await logged(api.service.installation)
    place, kind, entity_id, facet, state, conditions, state_class, flags, since, event = rows[-1]
    last = await api.get(f"/v1/entities/{kind}/{entity_id}", at=place)
    shown = last["entity"]["facets"][facet]
    assert (shown["state"], shown["conditions"]) == (state, conditions)
    assert state_class in ("bad", "unknown", "busy", "excused", "good", "gone")
    assert flags in range(8)
    assert since > 10**9
    assert event > 0


@SHARED
async def test_a_range_as_lines_and_as_a_batch(api: Api) -> None:
    end = await api.place()
    lines = await api.http.get(
        f"/v1/transitions?from=1&to={end}&rejections=1", headers={"Accept": "application/x-ndjson"}
    )
    found = [json.loads(line) for line in lines.text.splitlines()]
    assert {record["type"].partition(".")[2] for record in found} == {"transitioned", "rejected"}
    assert int(lines.headers["phaseline-place"]) == end
    batch = await api.http.get(
        f"/v1/transitions?from=1&to={end}&rejections=1&limit=10000",
        headers={"Accept": "application/cloudevents-batch+json"},
    )
    assert batch.headers["content-type"] == "application/cloudevents-batch+json"
    assert batch.json() == found


@SHARED
async def test_a_range_in_parts_is_the_whole_range(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.service, "limits", LIMITS._replace(chunk=7))
    found: list[int] = []
    place, end = 0, await api.place()
    while place < end:
        path = f"/v1/transitions?from={place + 1}&to={end}&limit=10&form=columns"
        answer = (await api.http.get(path, headers={"Accept": "application/json"})).json()
        assert len(answer["rows"]) < 60
        found += [row[0] for row in answer["rows"]]
        place = answer["place"]
    assert found == await logged(api.service.installation)


@SHARED
async def test_bad_streams_have_an_answer(api: Api) -> None:
    cases = [
        ("/v1/transitions?state=Runing", {}, 404, "did you mean Running?"),
        ("/v1/transitions?facet=phas", {}, 404, "did you mean phase?"),
        ("/v1/transitions?form=rows", {}, 400, "must be one of records, columns"),
        ("/v1/transitions?form=columns&rejections=1", {}, 400, "columns have no rejections"),
        ("/v1/transitions?from=soon", {}, 400, "'soon' is none of"),
        ("/v1/transitions?from=2099-01-01", {}, 400, "2099-01-01T00:00:00Z is in the future"),
        ("/v1/transitions?from=9&to=3", {}, 400, "nothing can be read from place 9 to place 3"),
        ("/v1/transitions?from=2020-01-02&to=2020-01-01", {}, 400, "earlier: exchange them"),  # no record between
        ("/v1/transitions?from=now&to=5m", {}, 400, "earlier: exchange them"),
        ("/v1/transitions?to=1", {"Last-Event-ID": "3"}, 400, "from place 3 to place 1"),
        ("/v1/transitions", {"Last-Event-ID": "x"}, 400, "Last-Event-ID: must be a place"),
        ("/v1/strip?buckets=0", {}, 400, "must be 1 to 2000"),
    ]
    for path, headers, status, says in cases:
        answer = await api.http.get(path, headers=headers)
        assert (answer.status_code, says in answer.json()["detail"]) == (status, True), (path, answer.text)


async def test_a_place_that_the_log_no_longer_holds(settings: Settings, wire: Wire) -> None:
    async with installation_with_history(settings, wire, events=10, clusters=1) as layout, http_server(settings) as api:
        await wire.api(f"STREAM.PURGE.{layout.log}", {"seq": await api.place() - 5})
        gone = await api.http.get("/v1/transitions?from=3")
        assert (gone.status_code, gone.json()["first"] > 3) == (410, True)


async def loaded(api: Api) -> None:
    """Wait until the history is loaded."""
    async with asyncio.timeout(LIMIT):
        while api.service.history.history is None:
            await asyncio.sleep(0.01)


@SHARED
async def test_columns_of_the_past_are_what_they_were(api: Api) -> None:
    """From memory, and the same as the log says."""
    await loaded(api)
    end = await api.place()
    for place in range(end // 8, end, end // 6):
        found = await api.get("/v1/columns", at=place, deleted=1)
        states = await AsOf.at(api.service.installation, place)
        records = await states.states(deleted=True)
        shown = [found["states"][state] for state in found["state"]]
        assert found["id"] == [record.entity.id for record in records]
        assert [(one["state"], one["conditions"]) for one in shown] == [
            (one.entity.facets[0].state.phase, list(one.entity.facets[0].state.conditions)) for one in records
        ]
        assert found["since"] == [one.entity.facets[0].since_ns // 10**9 for one in records]
        counted = await api.get("/v1/counts", at=place)
        assert counted["total"] == len(await states.states())


@SHARED
async def test_the_strip_counts_all_transitions(api: Api) -> None:
    await loaded(api)
    found = await api.get("/v1/strip", buckets=20)
    assert sum(map(sum, found["classes"].values())) == len(await logged(api.service.installation))
    assert len(found["times"]) == len(found["places"]) == 20
    assert found["places"] == sorted(found["places"])
    part = await api.get("/v1/strip", from_=found["places"][10], buckets=5)
    assert sum(map(sum, part["classes"].values())) <= sum(map(sum, found["classes"].values()))


@pytest.mark.parametrize("feed", FEEDS)
async def test_every_format_of_the_feed_reads_the_same(settings: Settings, wire: Wire, feed: Feed) -> None:
    """Copies in JSON, which earlier versions wrote, are no records of their own."""
    fleet = RandomEvents(settings.prefix)
    async with at_work(replace(settings, feed=feed), wire) as layout, http_server(settings) as api:
        async with stream(api.url, "/v1/transitions?rejections=1") as reader:
            await reader.next()
            await publish(wire, [*fleet.built(1, 2)])
            await until_decided(wire, layout)
            assert await add_json_copies(wire, layout)
            await publish(wire, [*fleet.life(20, 1, 2)])
            await until_decided(wire, layout)
            end = await logged(api.service.installation)
            found = await reader.upto(end[-1])
        await loaded(api)
        records = [record for event in found if event.name == "batch" for record in event.data["records"]]
        moved = [record["logsequence"] for record in records if record["type"].endswith(".transitioned")]
        assert moved == end
        states = await AsOf.at(api.service.installation, await api.place())
        listed = await api.get("/v1/entities", deleted=1)
        assert listed["items"] == as_json([maps.entity_map(KINDS, one) for one in await states.states(deleted=True)])


@SHARED
async def test_what_is_selected_in_memory_is_what_the_server_selects(api: Api) -> None:
    client, end = api.service.client, await api.place()
    everything = [
        one async for one in records(api.service.installation, f"{api.service.installation.prefix}.log.>", 0, end)
    ]
    asked: list[dict[str, Any]] = [
        {}, {"kind": "node"}, {"tree": "c1"}, {"tree": "c1/p"}, {"tree": "c1/p/n1"}, {"state": "Failed"},
        {"kind": "node", "state": "Running", "tree": "c2"}, {"facet": "phase"}, {"condition": "Balance"},
        {"kind": "cluster", "tree": "c1", "state": "{Failed,[Unknown,*]}"},
    ]  # fmt: skip
    for one in asked:
        for rejections in (False, True):
            watch = client.watch(**one, rejections=rejections, start="start", follow=False)
            expected = [watch.sequence async for _ in watch if watch.sequence <= end]
            choice = chosen({}, None, one.get("state"), one.get("condition", ()))
            wanted = RecordFilter(
                kind=one.get("kind"), facet=one.get("facet"), state=choice.phase, below=one.get("tree"),
                rejections=rejections, choice=choice if choice.looks_at_conditions else None,
            )  # fmt: skip
            assert [found.sequence for found in everything if wanted.selects(found.record)] == expected, one
