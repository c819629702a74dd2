"""Waiting for what comes of an event: all its records, however many, or the word that there are none."""

from typing import Any

import pytest

from phaseline.schemas.errors import NotFound, Undecided
from phaseline.schemas.records import State
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Settings, Wire, provision
from tests.support.own_installation import Client, Session
from tests.support.raising import raises


async def test_transitions_come_with_what_they_set_off(client: Client) -> None:
    created = await client.publish_and_wait("cluster", "create", "c1")
    assert [(t.before, t.after) for t in created.transitions] == [(None, State("Creating", ("Progressing",)))]
    await client.publish_and_wait("cluster", "created", "c1")
    pool = await client.publish_and_wait("node_pool", "create", "c1/p")
    assert [(t.entity.kind, t.after.phase, t.cause.by) for t in pool.transitions] == [
        ("node_pool", "Creating", "event"),
        ("cluster", "Updating", "tally"),
    ]
    assert pool.effect == "transitions"
    assert [logged.wire["data"]["kind"] for logged in pool.records] == ["node_pool", "cluster"]
    assert (await client.record(pool.records[0].sequence)) == pool.records[0]


async def test_a_rejection_says_what_would_be_legal(client: Client) -> None:
    await client.publish_and_wait("cluster", "create", "c1")
    outcome = await client.publish_and_wait("cluster", "create", "c1", event_id="again")
    assert outcome.effect == "rejection"
    assert outcome.transitions == ()
    assert outcome.rejection is not None
    assert (outcome.rejection.reason, "created" in outcome.rejection.legal) == ("illegal", True)
    assert str(outcome) == f"event {outcome.receipt.sequence}: {outcome.rejection}"
    assert str(outcome.rejection).startswith("cluster c1: ")
    assert f" rejected, illegal: {outcome.rejection.message}" in str(outcome.rejection)


async def test_a_way_out_is_that_of_its_place_in_the_log(client: Client) -> None:
    async def refused(kind: str, trigger: str, entity_id: str, **data: Any) -> int:
        outcome = await client.publish_and_wait(kind, trigger, entity_id, data)
        assert outcome.rejection is not None
        assert "way out" not in outcome.rejection.message
        return outcome.records[0].sequence

    unknown = await refused("node", "create", "c1/p/n")
    for kind, entity_id in (("cluster", "c1"), ("node_pool", "c1/p"), ("node", "c1/p/n")):
        await client.publish_and_wait(kind, "adopt", entity_id, {"phase": "Running"})
    attribute = await refused("node", "stop", "c1/p/n")
    opted = await refused("node", "delete", "c1/p/n", abandon=True)
    under_way = (await client.publish_and_wait("node_pool", "delete", "c1/p")).records[0].sequence
    below = await refused("component", "create", "c1/k")
    stale = await refused("node", "stop", "c1/p/n", if_version=99)
    ways = {
        unknown: "create at cluster c1; or if it is there: reported at cluster c1 with the state you see; then create at "
        "node_pool c1/p; or if it is there: reported at node_pool c1/p with the state you see",
        attribute: "configure at node_pool c1/p with autoscaling_mode Recycle",
        opted: "delete at node c1/p/n without abandon",
        below: "wait, it is so only while a node_pool without Stalled is Creating, Deleting or Scaling",
        stale: "",
        under_way: "",
    }
    assert {place: await client.way_out(place) for place in ways} == ways
    await client.publish_and_wait("cluster", "delete", "c1")
    assert {place: await client.way_out(place) for place in ways} == ways
    now = (await client.dry_run("node", "stop", "c1/p/n")).way_out
    assert now.startswith("if it is there: reported at node c1/p/n with the state you see; or wait: ")
    with raises(NotFound.record_not_found):
        await client.way_out(10_000)


@pytest.mark.parametrize("sequence", [None, 5])
async def test_what_is_so_already_has_no_effect(client: Client, sequence: int | None) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    details = {} if sequence is None else {"sequence": sequence}
    outcome = await client.publish_and_wait("cluster", "created", "c1", **details)  # type: ignore[arg-type]
    assert (outcome.effect, outcome.records, outcome.rejection) == ("none", (), None)
    again = await client.publish_and_wait("cluster", "error", "c1", **details)  # type: ignore[arg-type]
    assert again.effect == ("transitions" if sequence is None else "none")


@pytest.mark.parametrize("sequence", [None, 5])
async def test_a_report_that_may_be_older_than_a_request_is_not_called_known(
    client: Client, sequence: int | None
) -> None:
    details: Any = {} if sequence is None else {"sequence": sequence}
    for kind, entity_id in (("cluster", "c1"), ("node_pool", "c1/p"), ("node", "c1/p/n")):
        await client.publish_and_wait(kind, "adopt", entity_id, {"phase": "Running"})
    asked = (await client.publish_and_wait("node", "delete", "c1/p/n")).receipt.sequence
    would = await client.dry_run("node", "reported", "c1/p/n", {"phase": "Running"}, **details)
    outcome = await client.publish_and_wait("node", "reported", "c1/p/n", {"phase": "Running"}, **details)
    assert (would.effect, would.older_than) == (outcome.effect, outcome.older_than) == ("none", asked)
    assert outcome.why_none == (
        f"it may be older than the request of event {asked}, which waits for its answer: "
        f"report again with seen at or above {asked}, if it is still so"
    )


async def test_a_duplicate_tells_what_came_of_the_first(client: Client) -> None:
    first = await client.publish_and_wait("cluster", "create", "c1", event_id="e1")
    await client.publish_and_wait("cluster", "created", "c1")
    again = await client.publish_and_wait("cluster", "create", "c1", event_id="e1")
    assert again.receipt.duplicate
    assert again.records == first.records
    assert (await client.outcome(first.receipt)).records == first.records


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (("clus ter", "create", "c1"), "unknown_kind"),
        (("cluster", "crate", "c1"), "unknown_trigger"),
        (("cluster", "create", "c1/x"), "invalid"),
        (("node", "owner_gone", "c1/p/" + "n" * 200), "derived"),
        (("node", "create", "r" * 200 + "/p/n"), "unknown_parent"),
    ],
)
async def test_nonsense_is_followed_to_its_rejection(client: Client, event: tuple[str, str, str], reason: str) -> None:
    outcome = await client.publish_and_wait(*event, check=False)
    assert outcome.rejection is not None
    assert outcome.rejection.reason == reason


@pytest.mark.usefixtures("small_batches")
async def test_a_cascade_larger_than_a_batch_comes_whole(client: Client) -> None:
    nodes = 110
    await client.publish("cluster", "adopt", "c1", {"phase": "Running"})
    await client.publish_many(
        {
            "specversion": "1.0", "id": str(n), "source": "/x", "type": "node.adopt", "subject": f"node/c1/p/n{n}",
            "data": {"phase": "Running"},
        }
        for n in range(nodes)
    )  # fmt: skip
    outcome = await client.publish_and_wait("cluster", "delete", "c1", timeout=30)
    assert {t.cause.by for t in outcome.transitions} == {"event", "cascade"}
    assert len(outcome.transitions) == nodes + 2
    assert {t.after.phase for t in outcome.transitions} == {"Deleting"}


async def test_without_a_worker_nothing_is_decided(wire: Wire, settings: Settings) -> None:
    await provision(wire, settings)
    client = Client(Session(wire, settings, BUILT_IN_KINDS, "/test"))
    with pytest.raises(Undecided, match=r"event 1 is stored, but no worker decided it within 0\.2 s"):
        await client.publish_and_wait("cluster", "create", "c1", timeout=0.2)


async def test_an_event_that_is_gone_has_no_outcome(client: Client, wire: Wire) -> None:
    first = await client.publish_and_wait("cluster", "create", "c1")
    await wire.api(f"STREAM.PURGE.{(await client._session.layout()).events}")
    with raises(NotFound.event_gone, match="no longer holds event 1"):
        await client.outcome(first.receipt)
