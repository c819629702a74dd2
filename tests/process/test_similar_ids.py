"""An id that no entity has is answered with the most similar one that exists."""

import pytest

from phaseline.engine.cli import similar_ids
from phaseline.engine.client.client import Client
from tests.support.command import Shell


@pytest.fixture
async def fleet(client: Client) -> Client:
    """Two clusters, one with a node."""
    for kind, entity_id in (("cluster", "shop-eu"), ("cluster", "depot"), ("node", "shop-eu/web/web-4")):
        await client.publish_and_wait(kind, "adopt", entity_id, {"phase": "Running"})
    return client


async def test_the_most_similar_id_is_named(fleet: Client, shell: Shell) -> None:
    for words, meant in (
        (("get", "cluster", "shop-ue"), "shop-eu"),
        (("get", "node", "shop-eu/web/web-44"), "shop-eu/web/web-4"),
        (("get", "node", "shop-ue/web/web-4", "--at", "now"), "shop-eu/web/web-4"),
        (("tree", "dept"), "depot"),
        (("history", "cluster", "depott"), "depot"),
        (("why", "shop-eu/web/web4"), "shop-eu/web/web-4"),
    ):
        said = await shell(*words)
        assert (said.code, said.out) == (4, "")
        assert said.err.endswith(f"\n  did you mean {meant}?\n"), said.err
    nothing = await shell("get", "cluster", "entirely-different")
    assert (nothing.code, "did you mean" in nothing.err) == (4, False)


async def test_only_so_many_ids_are_compared(fleet: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar_ids, "MOST", 1)
    assert len(await similar_ids._ids(fleet, ["cluster", "node"], None)) == 1
