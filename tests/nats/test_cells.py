"""Several installations read as one: answers with the names of cells, cells that are away, places to continue from."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

import phaseline
from phaseline.errors import BadSetting, EntityUnknown, NameUnknown
from phaseline.schemas.errors import NoAnswer
from tests.support import closed_port
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import LIMIT, EmbeddedServer, Settings, Wire, working
from tests.support.raising import raises

AWAY = {"away": phaseline.connect(closed_port.NATS)}


@asynccontextmanager
async def cell(settings: Settings, patience: float = 60.0) -> AsyncIterator[phaseline.types.Connecting]:
    """An installation with a worker, and the connection to it. patience: seconds until it counts as away."""
    async with Wire.open(settings, name="test") as wire, working(settings, wire, BUILT_IN_KINDS, 1):
        yield phaseline.connect(settings.nats, prefix=settings.prefix, source="/test", request_timeout=patience)


@pytest_asyncio.fixture
async def two(settings: Settings) -> AsyncIterator[dict[str, phaseline.types.Connecting]]:
    """The cells east and west, with a cluster each; both have the cluster c1."""
    async with (
        cell(settings) as east,
        cell(Settings(nats=settings.nats, prefix=f"{settings.prefix}w")) as west,
    ):
        for one, names in ((east, ("c1", "c3")), (west, ("c1", "c2"))):
            async with one as client:
                for name in names:
                    await client.publish_and_wait("cluster", "adopt", name, {"phase": "Running"})
        yield {"east": east, "west": west}


async def test_a_list_has_the_entities_of_all_cells(two: dict[str, phaseline.types.Connecting]) -> None:
    async with phaseline.Cells(two) as cells:
        found = [(cell, entity.id) async for cell, entity in cells.list("cluster")]
        assert found == [("east", "c1"), ("west", "c1"), ("west", "c2"), ("east", "c3")]
        assert [cell for cell, _ in await cells.get("cluster", "c1")] == ["east", "west"]
        assert [cell for cell, _ in await cells.get("cluster", "c2")] == ["west"]
        assert (await cells.having("c1"), await cells.having("c3"), await cells.having("c9")) == (
            ["east", "west"], ["east"], []
        )  # fmt: skip
        assert (await (await cells.client("west")).get("cluster", "c2")).id == "c2"
        changes = await cells.changes("start", kind="cluster")
        assert [(one.cell, one.value.id, one.value.what) for one in changes] == [
            (cell, name, "created") for cell, name in found
        ]
        with pytest.raises(EntityUnknown, match="c9"):
            await cells.get("cluster", "c9")
        with pytest.raises(NameUnknown, match="did you mean cluster"):
            _ = [one async for one in cells.list("clustr")]
        with pytest.raises(BadSetting, match="the place 3 belongs to the log of one cell"):
            await cells.get("cluster", "c1", at=3)


async def test_a_cell_that_is_away_hides_no_other(two: dict[str, phaseline.types.Connecting]) -> None:
    async with phaseline.Cells({**two, **AWAY}) as cells:
        assert [cell async for cell, _ in cells.list("cluster", state="Running")] == ["east", "west", "west", "east"]
        assert "cannot reach NATS" in str(cells.away["away"])
        assert await cells.get("cluster", "c9") == []  # the one that is away may have it
        with pytest.raises(NameUnknown, match="choose one of east, west, away"):
            await cells.client("north")
    with raises(NoAnswer.cells_away, match="away: cannot reach NATS"):
        await phaseline.Cells(AWAY).open()


async def test_a_watch_goes_on_where_another_one_ended(two: dict[str, phaseline.types.Connecting]) -> None:
    seen: list[tuple[str, int]] = []
    start: phaseline.When | Mapping[str, phaseline.When] = "start"
    async with phaseline.Cells(two) as cells:
        for _ in range(4):  # one record each, and then a new watch
            async with asyncio.timeout(LIMIT), cells.watch("cluster", start=start) as watch:
                one = await anext(watch)
                assert one.wire["data"]["id"] == one.record.entity.id
                seen.append((one.cell, one.place))
            start = watch.places
        assert len(set(seen)) == 4
        for name in cells.names:
            places = [place for cell, place in seen if cell == name]
            assert places == sorted(places)
        async with cells.watch("cluster", start=start, follow=False) as rest:
            assert [one async for one in rest] == []
        with pytest.raises(NameUnknown, match="there is no cell 'north'"):
            cells.watch(start={"north": 1})
        with pytest.raises(BadSetting, match="east=4,west=4"):
            cells.watch(start=4)
        with pytest.raises(NameUnknown, match="did you mean cluster"):
            async with cells.watch("clustr") as wrong:
                await anext(wrong)


async def test_a_watch_waits_for_a_cell_and_misses_nothing(settings: Settings, own_server: EmbeddedServer) -> None:
    told: list[tuple[str, bool]] = []
    news = asyncio.Event()

    def tell(name: str, error: phaseline.PhaselineError | None) -> None:
        told.append((name, error is None))
        news.set()

    async def until(count: int) -> None:
        async with asyncio.timeout(LIMIT):
            while len(told) < count:
                news.clear()
                await news.wait()

    own = Settings(nats=(own_server.url,))
    async with cell(settings) as east, cell(own) as west:
        await own_server.stop()
        async with phaseline.Cells({"east": east, "west": west}) as cells, cells.watch("cluster", told=tell) as watch:
            await until(1)
            publishing = await cells.client("east")
            await publishing.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
            assert (await anext(watch)).cell == "east"
            await own_server.start()
            await until(2)
            away = await cells.client("west")
            await away.publish_and_wait("cluster", "adopt", "c2", {"phase": "Running"}, timeout=LIMIT)
            assert (await anext(watch)).record.entity.id == "c2"
            await own_server.kill()
            await until(3)
            await own_server.start()
            await until(4)
            await away.publish_and_wait("cluster", "adopt", "c3", {"phase": "Running"}, timeout=LIMIT)
            async with asyncio.timeout(LIMIT):
                assert (await anext(watch)).record.entity.id == "c3"
        assert told == [("west", False), ("west", True)] * 2


async def test_a_cell_that_dies_during_a_read_ends_no_other(settings: Settings, own_server: EmbeddedServer) -> None:
    own = Settings(nats=(own_server.url,))
    async with cell(settings) as east, cell(own, 0.3) as west:
        async with east as client:
            await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
        async with phaseline.Cells({"east": east, "west": west}) as cells:
            await own_server.stop()
            assert [name async for name, _ in cells.list()] == ["east"]
            assert list(cells.away) == ["west"]
            assert len(await cells.changes("start")) == 1
            async with cells.watch(start="start", follow=False) as watch:
                assert [one.cell async for one in watch] == ["east"]
            await own_server.start()
            async with asyncio.timeout(LIMIT):
                while cells.away:
                    _ = [one async for one in cells.list()]


@pytest.mark.parametrize("name", ["", "a b", "a=b", "a/b", ".a", "x" * 65])
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(BadSetting, match="is no name of a cell"):
        phaseline.Cells({name: phaseline.connect()})


async def test_an_error_of_the_request_ends_each_cell(two: dict[str, phaseline.types.Connecting]) -> None:
    """Whoever goes on after it is not left waiting for ever."""
    async with asyncio.timeout(LIMIT), phaseline.Cells(two) as cells, cells.watch("clustr") as wrong:
        for _ in two:
            with pytest.raises(NameUnknown):
                await anext(wrong)
        with pytest.raises(StopAsyncIteration):
            await anext(wrong)
