"""A product that is no part of Phaseline, on a server: its ban erases, its service is asked, fails, is broken."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.product import Product, WorkerService
from phaseline.schemas.errors import EntityUnknown, InvalidInput, SetupError
from phaseline.schemas.records import Rejection
from phaseline.types import ServiceQuery
from tests.support.installation import Settings, Wire, Worker, inspect, until_decided
from tests.support.log_check import assert_log_is_the_fold
from tests.support.own_product import CARD, OWN
from tests.support.raising import raises
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import record_in
from tests.support.sample_kinds import KINDS
from tests.support.streams import read_all

ROWS = tuple(f"o{number}/north row" for number in range(6))


async def ladders(asked: ServiceQuery) -> dict[str, Any]:
    """How many ladders stand in a row of an orchard."""
    if asked.data.get("only") == "broken":
        raise ValueError("no such ladder: 4711")
    if "only" in asked.data:
        raise InvalidInput.bad_status_query(problem="only must be broken")
    found = await asked.look(lambda tree: tree.get("row", asked.id))
    if found is None:
        raise EntityUnknown(kind="row", id=asked.id)
    count = await asked.look(lambda tree: sum(one.startswith(f"{asked.id}/") for one in tree.entities["ladder"]))
    return {"row": found.id, "ladders": count, "filler": asked.data.get("x")}


def told() -> dict[str, str]:
    return {"request": "{}"}


HERE = __name__
LADDERS = WorkerService("row", "ladders", f"{HERE}:ladders", f"{HERE}:told", "ask without x")


def offering(service: WorkerService) -> Kinds:
    return Kinds([kind.written for kind in KINDS.values()], products=(*OWN, Product("garden", services=(service,))))


@pytest_asyncio.fixture
async def garden(settings: Settings) -> AsyncIterator[Wire]:
    """Two workers that share some partitions, in which each orchard has a row with a ladder."""
    settings, stop = replace(settings, partitions=4), asyncio.Event()
    async with Wire.open(settings, name="one") as one, Wire.open(settings, name="two") as other:
        workers = [Worker(wire, settings, offering(LADDERS)) for wire in (one, other)]
        running = [asyncio.create_task(worker.run(stop)) for worker in workers]
        async with asyncio.timeout(60):
            while [len(worker.loaded) for worker in workers] != [2, 2]:
                await asyncio.sleep(0.05)
        events = RandomEvents(settings.prefix)
        for row in ROWS:
            root = row.partition("/")[0]
            await publish(one, [
                events.event("orchard", "plant", root), events.event("row", "plant", row),
                events.event("ladder", "raised", f"{row}/l1"),
            ])  # fmt: skip
        await until_decided(one, await inspect(one, settings))
        yield one
        stop.set()
        await asyncio.gather(*running)


async def ask(wire: Wire, row: str, **query: Any) -> tuple[Any, dict[str, str]]:
    subject = f"{wire.settings.prefix}.status.row.{row.replace(' ', '%20').replace('/', '.')}"
    reply = await wire.request(subject, json.dumps(query).encode() if query else b"")
    return json.loads(reply.data), dict(reply.headers)


async def test_the_owner_answers_out_of_its_tree(garden: Wire) -> None:
    for _ in range(3):  # whoever gets the request
        for row in ROWS:
            body, headers = await ask(garden, row)
            assert body == {"row": row, "ladders": 1, "filler": None}
            assert int(headers["Phaseline-Position"]) > 0


async def test_what_it_bans_is_erased(garden: Wire) -> None:
    settings, events = garden.settings, RandomEvents(garden.settings.prefix)
    events.number = 1_000  # the ids of others are lower
    await publish(garden, [events.event("orchard", "plant", "o9", card=CARD), events.event("orchard", "plant", "o8")])
    layout = await inspect(garden, settings)
    await until_decided(garden, layout)
    async with asyncio.timeout(60):
        while any([CARD.encode() in one.data async for found in read_all(garden, layout.events, []) for one in found]):
            await asyncio.sleep(0.05)
    records = [one.data async for found in read_all(garden, layout.log, [f"{settings.prefix}.log.>"]) for one in found]
    assert not any(CARD.encode() in one for one in records)
    rejected = [record for one in records if isinstance(record := record_in(one), Rejection)]
    assert [(one.id, one.reason, one.payload) for one in rejected] == [("o9", "secret", None)]


async def test_the_log_is_what_the_core_makes_of_the_events(garden: Wire) -> None:
    kinds = offering(LADDERS)
    assert await assert_log_is_the_fold(garden, await inspect(garden, garden.settings), kinds) == 4 * len(ROWS)


async def test_what_cannot_be_answered_is_said(garden: Wire) -> None:
    for query, row, code, says in (
        ({"only": "all"}, ROWS[0], 400, "only must be broken"),
        ({}, "nowhere/north row", 404, "there is no row 'nowhere/north row'"),
        ({"only": "broken"}, ROWS[0], 500, "the service failed, which is a bug"),
        ({"x": "y" * (garden.max_payload - 1040)}, ROWS[0], 413, "at most: ask without x"),
    ):  # fmt: skip
        body, headers = await ask(garden, row, **query)
        assert (body["code"], headers["Nats-Service-Error-Code"]) == (code, str(code))
        assert says in body["error"]
        assert "4711" not in body["error"]


async def test_it_tells_what_it_answers(garden: Wire) -> None:
    info = json.loads((await garden.request("$SRV.INFO.phaseline")).data)
    [endpoint] = info["endpoints"]
    prefix = garden.settings.prefix
    assert (endpoint["name"], endpoint["subject"]) == ("ladders", f"{prefix}.status.row.*.*")
    assert endpoint["metadata"] == {"request": "{}"}


@pytest.mark.parametrize(
    ("service", "says"),
    [
        (LADDERS._replace(answer="nowhere_at_all:answer"), "No module named 'nowhere_at_all'"),
        (LADDERS._replace(answer=f"{HERE}:absent"), "has no attribute 'absent'"),
    ],
)
async def test_no_worker_starts_with_a_broken_service(
    wire: Wire, settings: Settings, service: WorkerService, says: str
) -> None:
    with raises(SetupError.kinds_broken, match=says):
        await Worker(wire, settings, offering(service)).run(asyncio.Event())
