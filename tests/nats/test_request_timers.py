"""Operations that nobody answers, on a real server: the server fires the timer, whatever was killed meanwhile."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Entity
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.http_server import http_server
from tests.support.installation import LIMIT, EmbeddedServer, Settings, Wire, at_work, until_decided
from tests.support.log_check import assert_log_is_the_fold, stored
from tests.support.own_installation import Client

POOL = ("node_pool", "c/p")


async def until(client: Client, holds: Callable[[Entity], bool]) -> Entity:
    """The pool, once it is so."""
    async with asyncio.timeout(LIMIT):
        while True:
            with suppress(EntityUnknown):
                if holds(found := await client.get(*POOL)):
                    return found
            await asyncio.sleep(0.05)


def is_stalled(pool: Entity) -> bool:
    return "Stalled" in pool.facets[0].base.conditions


async def scaled_by_nobody(client: Client, deadline: float) -> None:
    for kind, entity_id in (("cluster", "c"), POOL, ("node", "c/p/n1")):
        await client.publish(kind, "adopt", entity_id, {"phase": "Running"})
    await client.publish("cluster", "configure", "c", {"deadline": deadline})
    await client.publish("node_pool", "scale", "c/p", {"desired": 3})


async def test_nobody_answers_and_server_and_worker_are_killed(
    own_server: EmbeddedServer, own_settings: Settings
) -> None:
    settings = replace(own_settings, partitions=2)
    async with Wire.open(settings, name="test", patient=True) as wire, Client.open(settings) as client:
        async with at_work(settings, wire) as layout:
            await scaled_by_nobody(client, 1.5)
            await until_decided(wire, layout)
            await until(client, lambda pool: pool.facets[0].base.phase == "Scaling")
            await own_server.kill()
            await asyncio.sleep(2)  # it is due meanwhile
            await own_server.start()
            await wire.until_connected(20)
        async with at_work(settings, wire) as layout:
            await until(client, is_stalled)
            again = await client.publish_and_wait("node_pool", "scale", "c/p", {"desired": 2})
            assert str(again.transitions[0].after) == "Scaling [Progressing]"
            pool = await until(client, is_stalled)
            assert pool.asked == again.transitions[0].cause.sequence
            gone = await client.publish_and_wait("node_pool", "delete", "c/p")
            assert str(gone.transitions[0].after) == "Deleting [Progressing]"
            await until(client, is_stalled)
            await client.publish_and_wait("node_pool", "delete", "c/p", {"abandon": True})
            pool = await client.get(*POOL)
            assert (pool.facets[0].state.phase, pool.attributes["end"]) == ("Deleted", "assumed")
            await until_decided(wire, layout)
            stalls = [one async for one in client.history(*POOL) if one.trigger == "stalled"]
            assert [one.cause.by for one in stalls] == ["timer"] * 3
            assert await stored(wire, layout.log, [f"{layout.prefix}.timer.>"]) == []
            await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def test_the_api_says_who_asked_and_what_was_said_last(client: Client, working: Settings, wire: Wire) -> None:
    await scaled_by_nobody(client, 0.3)
    pool = await until(client, is_stalled)
    async with http_server(working) as api:
        shown = (await api.get("/v1/entities/node_pool/c/p"))["entity"]
        assert (shown["waits_for"], shown["facets"]["phase"]["lacks"]["text"]) == (pool.asked, "1 of 3 nodes Running")
        [facet] = (await api.get("/v1/why/node_pool/c/p"))["facets"]
        assert facet["causes"][0]["records"][-1]["trigger"] == "scale"
        assert (facet["last_said"]["id"], facet["last_said"]["trigger"]) == ("c/p/n1", "adopt")
