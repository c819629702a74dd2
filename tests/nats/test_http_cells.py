"""Several cells by HTTP: lists, counts and streams of all of them, each cell's own API, a cell that is away."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest_asyncio

from tests.support import closed_port
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.cells import CLUSTERS, two_cells
from tests.support.http_cells import CellsApi, cells_api
from tests.support.http_server import LIMIT, AccessSettings, tokens
from tests.support.installation import EmbeddedServer, Settings, Wire, working
from tests.support.own_installation import Client

JSON_EVENT = {"Content-Type": "application/cloudevents+json"}


@pytest_asyncio.fixture
async def cells(settings: Settings) -> AsyncIterator[dict[str, Settings]]:
    """Two cells with a worker and two clusters each; both have c1. A third one is away."""
    async with two_cells(settings) as found:
        yield {**found, "north": Settings(nats=(closed_port.NATS,))}


async def test_lists_and_counts_take_in_all_cells(cells: dict[str, Settings]) -> None:
    async with cells_api(cells, 2) as api:
        whole = await api.get("/v1/entities")
        items = [(one["cell"], one["id"]) for one in whole["items"]]
        assert items == [("east", "c1"), ("west", "c1"), ("west", "c2"), ("east", "c10")]
        assert (whole["total"], whole["counts"], whole["continue"]) == (4, {"Running": 4}, None)
        assert {name: one.get("connected") for name, one in whole["cells"].items()} == {
            "east": True, "west": True, "north": None
        }  # fmt: skip
        assert whole["cells"]["north"] == {"away": "its NATS server has not answered yet"}
        page = await api.get("/v1/entities", limit=3, sort="since")
        async with Client.open(cells["west"], source="/test") as client:
            await client.publish_and_wait("cluster", "adopt", "c0", {"phase": "Running"})
            place = (await client.moment("now")).place
        await api.service.cells["west"].follower.reach(place, LIMIT)
        rest = await api.get("/v1/entities", limit=3, sort="since", continue_=page["continue"])
        assert [(one["cell"], one["id"]) for one in (*page["items"], *rest["items"])] == [*CLUSTERS]
        counted = await api.get("/v1/counts")
        assert (counted["total"], counted["kinds"]["cluster"]["phase"]) == (5, {"Running": 5})
        assert (await api.get("/v1/counts", tree="c2"))["total"] == 1
        described = {one["cell"]: one for one in (await api.get("/v1/cells"))["cells"]}
        assert {name: one.get("entities") for name, one in described.items()} == {"east": 2, "west": 3, "north": None}
        assert (await api.get("/v1/cells/west"))["total"] == 3
        assert (await api.get("/readyz", verbose=1))["cells"]["east"] is None
        bulk = await api.get("/v1/columns")
        assert [(one["cell"], one["id"]) for one in bulk["parts"]] == [
            ("east", ["c1", "c10"]),
            ("west", ["c0", "c1", "c2"]),
        ]
        assert {name: "place" in told for name, told in bulk["cells"].items()} == {
            "east": True, "west": True, "north": False
        }  # fmt: skip
        assert [one["kind"] for one in (await api.get("/v1/machines"))["machines"]] == [*BUILT_IN_KINDS]
        for path, columns in (("/", "/v1/columns"), ("/tree?cell=west", "/v1/cells/west/columns")):
            page = await api.http.get(path)
            assert page.text.startswith('<!doctype html>\n<html data-cells="east west north"')
            assert f"<{columns}>; rel=preload" in page.headers["link"]
        for path, status, says in (
            ("/v1/cells/south", 404, "there is no cell 'south'"),
            ("/v1/entities?at=7", 400, "belongs to the log of one cell"),
            ("/v1/entities?continue=abc", 400, "belongs to no list of this server"),
            ("/v1/entities?kind=clustr", 404, "did you mean cluster?"),
            ("/v1/transitions?from=7", 400, "belongs to the log of one cell"),
            ("/v1/transitions?from=south=7", 400, "there is no cell 'south'"),
            ("/v1/transitions?from=east=never", 400, "'never'"),
            ("/v1/columns?at=7", 400, "belongs to the log of one cell"),
            ("/v1/strip", 404, "there is nothing at /v1/strip"),
        ):
            answer = await api.http.get(path)
            assert (answer.status_code, says in answer.json()["detail"]) == (status, True), answer.text


async def test_each_cell_has_its_own_api(cells: dict[str, Settings]) -> None:
    async with cells_api(cells, 2) as api:
        path = "/v1/cells/west/entities/cluster/c2"
        answer = await api.http.get(path)
        async with asyncio.timeout(LIMIT):
            while answer.status_code != 304:  # until the worker has written its last checkpoint
                assert answer.json()["entity"]["id"] == "c2"
                answer = await api.http.get(path, headers={"If-None-Match": answer.headers["etag"]})
        event = {"specversion": "1.0", "id": "1", "source": "/me", "type": "cluster.create", "subject": "cluster/c5"}
        stored = await api.http.post("/v1/cells/east/events", content=json.dumps(event), headers=JSON_EVENT)
        assert (stored.status_code, stored.headers["location"]) == (
            202,
            f"/v1/cells/east/events/{stored.json()['sequence']}",
        )
        async with asyncio.timeout(LIMIT):
            while "c5" not in [one["id"] for one in (await api.get("/v1/entities"))["items"]]:
                await asyncio.sleep(0.01)
        missing = await api.http.get("/v1/cells/west/entities/cluster/c5")
        assert (missing.status_code, missing.json()["instance"]) == (404, "/v1/cells/west/entities/cluster/c5")
        assert (await api.http.get("/v1/cells/north/entities")).status_code == 503
        assert (await api.get("/openapi.json"))["paths"]["/v1/cells/{cell}"]


async def frames(
    api: CellsApi, headers: dict[str, str] | None = None, *, from_: str | None = None, to: str | None = None
) -> AsyncGenerator[dict[str, Any], None]:
    """The events of a stream: id, event, data."""
    found: dict[str, Any] = {}
    wanted = {"Accept": "text/event-stream", **(headers or {})}
    query = {name: when for name, when in (("from", from_), ("to", to)) if when is not None}
    async with api.http.stream("GET", "/v1/transitions", params=query, headers=wanted) as answer:
        assert answer.status_code == 200
        async for line in answer.aiter_lines():
            if line:
                name, _, value = line.partition(": ")
                found[name] = json.loads(value) if name == "data" else value
            elif "event" in found:
                yield found
                found = {}
            else:
                found = {}


async def until(stream: AsyncIterator[dict[str, Any]], count: int) -> tuple[list[tuple[str, int]], str]:
    """Cell and place of so many records, and the id of the last event."""
    found: list[tuple[str, int]] = []
    last = ""
    async with asyncio.timeout(LIMIT):
        async for one in stream:
            last = one.get("id", last)
            if one["event"] == "batch":
                found += [(one["data"]["cell"], record["logsequence"]) for record in one["data"]["records"]]
            if len(found) >= count:
                break
    return found, last


async def test_one_stream_has_the_records_of_all_cells_and_is_resumed(cells: dict[str, Settings]) -> None:
    async with cells_api(cells, 2) as api:
        async with aclosing(frames(api, from_="start")) as stream:
            first, last = await until(stream, 4)
        assert sorted(cell for cell, _ in first) == ["east", "east", "west", "west"]
        assert set(dict(part.split("=") for part in last.split(","))) == {"east", "west"}
        for cell in ("east", "west"):
            async with Client.open(cells[cell], source="/test") as client:
                await client.publish_and_wait("cluster", "adopt", "c7", {"phase": "Running"})
        async with aclosing(frames(api, {"Last-Event-ID": last})) as stream:
            then, _ = await until(stream, 2)
        assert sorted(cell for cell, _ in then) == ["east", "west"]
        assert not {*first} & {*then}
        lines = await api.http.get(
            "/v1/transitions", params={"from": "start"}, headers={"Accept": "application/x-ndjson"}
        )
        *found, away = [json.loads(line) for line in lines.text.splitlines()]
        assert (away["cell"], "north" in lines.headers["phaseline-place"]) == ("north", False)
        assert away["away"]
        assert sorted((one["cell"], one["logsequence"]) for one in found) == sorted([*first, *then])
        assert {part.partition("=")[0] for part in lines.headers["phaseline-place"].split(",")} == {"east", "west"}
        refused = await api.http.get("/v1/transitions", headers={"Accept": "application/json"})
        assert refused.status_code == 400
        for asked in ({"to": "5"}, {"from": "2020-01-02", "to": "2020-01-01"}):
            refused = await api.http.get("/v1/transitions", params=asked)
            assert refused.status_code == 400, refused.text


async def test_a_stream_of_all_cells_ends_where_it_is_told_to(settings: Settings) -> None:
    async with two_cells(settings) as both, cells_api(both, 2) as api, asyncio.timeout(LIMIT):
        now = datetime.now(UTC).isoformat()
        async with aclosing(frames(api, from_="start", to=now)) as stream:
            found = [one async for one in stream]
        assert sorted(one["data"]["cell"] for one in found if one["event"] == "batch") == ["east", "west"]
        assert found[-1]["event"] == "bye"


async def test_a_stream_tells_of_a_cell_that_goes_and_misses_nothing(
    settings: Settings, own_server: EmbeddedServer
) -> None:
    own = Settings(nats=(own_server.url,))
    async with (
        Wire.open(settings, name="test") as wire, Wire.open(own, name="test") as away,
        working(settings, wire, BUILT_IN_KINDS, 1), working(own, away, BUILT_IN_KINDS, 1),
        cells_api({"east": settings, "west": own}, 2) as api, aclosing(frames(api)) as stream,
    ):  # fmt: skip
        assert (await anext(stream))["event"] == "place"
        await own_server.kill()
        async with asyncio.timeout(LIMIT):
            while (one := await anext(stream))["event"] != "cell":
                pass
        assert one["data"]["cell"] == "west"
        listed = await api.get("/v1/entities")
        assert {name: told["connected"] for name, told in listed["cells"].items()} == {"east": True, "west": False}
        await own_server.start()
        async with asyncio.timeout(LIMIT):
            while (one := await anext(stream))["event"] != "cell":
                pass
        assert one["data"] == {"cell": "west", "away": None}
        async with Client.open(own, source="/test") as client:
            await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"}, timeout=LIMIT)
        assert [cell for cell, _ in (await until(stream, 1))[0]] == ["west"]


async def test_whoever_may_read_one_tree_sees_no_other(cells: dict[str, Settings], tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    token = tokens.add(file, "reader", ["read:c2"])
    async with cells_api(cells, 2, AccessSettings(file)) as api:
        headers = {"Authorization": f"Bearer {token}"}
        assert (await api.http.get("/v1/entities")).status_code == 401
        found = (await api.http.get("/v1/entities", headers=headers)).json()
        assert [(one["cell"], one["id"]) for one in found["items"]] == [("west", "c2")]
        assert (await api.http.get("/v1/cells", headers=headers)).status_code == 403
        assert (await api.http.get("/v1/cells/west/entities/cluster/c1", headers=headers)).status_code == 404
