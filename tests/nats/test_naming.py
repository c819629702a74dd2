"""An id names a kind where only one of them exists under it, now or at an earlier moment."""

import pytest

from phaseline.schemas.errors import AmbiguousId, EntityUnknown, InvalidInput, NameUnknown
from tests.support.adoption import adopt
from tests.support.own_installation import Client
from tests.support.raising import raises
from tests.support.state_stream import until_answer

FLEET = [("cluster", "c1", "Running"), ("node_pool", "c1/a", "Running"), ("node", "c1/a/n 1.x", "Running")]


async def find(client: Client, entity_id: str, kind: str | None = None, place: int | None = None) -> str:
    return await (await client.at(place)).kind_of(entity_id, kind)


async def known(client: Client, fleet: list[tuple[str, str, str]]) -> None:
    """Have these adopted, and wait until their states say so."""

    async def there() -> int:
        return len([entity async for entity in client.list()])

    await adopt(client, fleet)
    await until_answer(there, len(fleet))


async def test_the_kind_is_the_one_that_exists(client: Client) -> None:
    await known(client, FLEET)
    assert await find(client, "c1/a/n 1.x") == "node"
    assert await find(client, "c1") == "cluster"
    assert await find(client, "c1/a") == "node_pool"
    assert await find(client, "c1/a", "node_pool") == "node_pool"
    with pytest.raises(EntityUnknown, match="there is no component 'c1/a'"):
        await find(client, "c1/a", "component")
    with pytest.raises(EntityUnknown, match="there is no entity 'c1/b'"):
        await find(client, "c1/b")


async def test_two_of_one_name(client: Client) -> None:
    await known(client, [*FLEET, ("component", "c1/a", "Running")])
    assert await find(client, "c1/a", "component") == "component"
    with pytest.raises(AmbiguousId, match=r"'c1/a' names a node_pool and a component: .* --kind node_pool"):
        await find(client, "c1/a")
    component = client.history("component", "c1/a")
    async for _ in component:
        break
    assert await find(client, "c1/a", place=component.sequence - 1) == "node_pool"
    with pytest.raises(AmbiguousId):
        await find(client, "c1/a", place=component.sequence)


async def test_what_was_not_there_yet(client: Client) -> None:
    await adopt(client, FLEET)
    node = client.history("node", "c1/a/n 1.x")
    async for _ in node:
        break
    assert await find(client, "c1/a/n 1.x", place=node.sequence) == "node"
    for kind in (None, "node"):
        with raises(
            EntityUnknown.entity_not_yet_known,
            match=f"there was no (node|entity) 'c1/a/n 1.x' at place {node.sequence - 1} of the log",
        ):
            await find(client, "c1/a/n 1.x", kind, node.sequence - 1)


async def test_what_can_name_nothing(client: Client) -> None:
    with raises(InvalidInput.invalid_id, match="they look like <cluster>, <cluster>/<pool>, <cluster>/<pool>/<node>"):
        await find(client, "c1/a/n1/x/y/z/w")
    with pytest.raises(NameUnknown):
        await find(client, "c1", "clutter")
    with raises(InvalidInput.invalid_id):
        await find(client, "c1//n1")
