"""States at earlier places, held against a fold of the log's records up to there."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from phaseline import Moment, When
from phaseline.schemas import codec
from phaseline.schemas.errors import EntityUnknown, InvalidInput, TreeUnknown
from phaseline.schemas.records import Transition, timestamp
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.installation import (
    Installation,
    Layout,
    Stored,
    Wire,
)
from tests.support.log_check import folded, stored, whole
from tests.support.own_installation import OwnInstallation
from tests.support.random_events import RandomEvents
from tests.support.reading import AsOf, as_of, log_records


def view(wire: Wire, layout: Layout, place: int) -> AsOf:
    """The states at exactly this place, even in the middle of an event."""
    return AsOf(Installation(wire, layout, KINDS), Moment(place, 0))


async def place_of(wire: Wire, layout: Layout, when: When) -> int:
    return (await as_of.resolve(Installation(wire, layout, KINDS), when)).place


async def test_states_at_any_place(wire: Wire, layout: Layout) -> None:
    log = await whole(wire, layout)
    for place in random.Random(1).sample(range(1, log[-1].sequence + 1), 25):
        wanted = folded(log, place)
        everything = await view(wire, layout, place).states(deleted=True)
        assert {(r.entity.kind, r.entity.id): r.entity for r in everything} == wanted
        nodes = await view(wire, layout, place).states("node", "c2", deleted=True)
        assert {r.entity.id for r in nodes} == {
            name for kind, name in wanted if kind == "node" and name.startswith("c2/")
        }
        failed = await view(wire, layout, place).states(state="Failed")
        assert {r.entity.id for r in failed} == {e.id for e in wanted.values() if e.facets[0].state.phase == "Failed"}
        for kind, name in (("node", "c1/p/n2"), ("cluster", "c5"), ("component", "c3/dns")):
            if (kind, name) in wanted:
                assert (await view(wire, layout, place).last(kind, name)).entity == wanted[kind, name]
            else:
                with pytest.raises(EntityUnknown):
                    await view(wire, layout, place).last(kind, name)


async def test_a_tree_then(wire: Wire, layout: Layout) -> None:
    log = await whole(wire, layout)
    place = log[len(log) // 2].sequence
    found = await view(wire, layout, place).tree("c1", deleted=True)
    assert {r.entity.id for r in found} == {name for _, name in folded(log, place) if name.split("/")[0] == "c1"}
    with pytest.raises(TreeUnknown, match="no entity in the tree 'c1' at place 0"):
        await view(wire, layout, 0).tree("c1", deleted=True)
    with pytest.raises(EntityUnknown, match="there was no cluster 'c1' at place 0 of the log"):
        await view(wire, layout, 0).last("cluster", "c1")


async def test_times_are_places(wire: Wire, layout: Layout) -> None:
    messages = await stored(wire, layout.log, [f"{layout.prefix}.log.*.*.>"])
    events: dict[int, list[Stored]] = {}
    for message in messages:
        events.setdefault(codec.decode(message.data)["data"]["cause"]["sequence"], []).append(message)
    for message in messages[::40]:
        moment = datetime.fromtimestamp(message.time_ns // 1000 / 1e6, UTC) + timedelta(microseconds=1)
        place = await place_of(wire, layout, moment)
        for records in events.values():
            if records[-1].time_ns <= message.time_ns:
                assert records[-1].sequence <= place
            if records[-1].time_ns > message.time_ns + 3000:
                assert records[0].sequence > place
    alone = [records[0] for records in events.values() if len(records) == 1]
    for message in alone[::20]:
        # To the nanosecond: what was stored at the moment itself is in it.
        assert await place_of(wire, layout, timestamp(message.time_ns)) >= message.sequence
        assert await place_of(wire, layout, timestamp(message.time_ns - 1)) < message.sequence
    now = datetime.now(UTC)
    assert await place_of(wire, layout, now - timedelta(days=1)) < messages[0].sequence
    assert await place_of(wire, layout, now + timedelta(days=1)) >= messages[-1].sequence
    assert await place_of(wire, layout, (now + timedelta(days=1)).isoformat()) >= messages[-1].sequence
    with pytest.raises(InvalidInput, match="place 1000000000 is beyond the end of the log"):
        await place_of(wire, layout, 10**9)


async def test_no_place_is_inside_an_event(wire: Wire, layout: Layout) -> None:
    """Wherever the moment falls: of each event all records are before the place, or none."""
    log = await whole(wire, layout)
    several = [
        logged for logged in log if sum(o.record.cause.sequence == logged.record.cause.sequence for o in log) > 1
    ]
    assert len(several) > 20
    for logged in several[:40]:
        place = await place_of(wire, layout, logged.sequence)
        before = {o.record.cause.sequence for o in log if o.sequence <= place}
        after = {o.record.cause.sequence for o in log if o.sequence > place}
        assert before.isdisjoint(after)
        assert place <= logged.sequence


async def test_more_subjects_than_one_request_may_have(installation: OwnInstallation) -> None:
    async with installation.having(partitions=3).worker() as layout:
        fleet = RandomEvents(installation.settings.prefix)
        await installation.publish(list(fleet.built(1, 600)))
        await installation.until_decided()
        log = await whole(installation.wire, layout)
        assert len({logged.record.entity.id for logged in log if isinstance(logged.record, Transition)}) == 603
        for place in (log[700].sequence, log[-1].sequence):
            found = await view(installation.wire, layout, place).states(below="c0", deleted=True)
            assert {(r.entity.kind, r.entity.id): r.entity for r in found} == folded(log, place)


async def test_records_between_places(wire: Wire, layout: Layout) -> None:
    log = await whole(wire, layout)
    after, up_to = log[100].sequence, log[200].sequence
    installation, filter_ = Installation(wire, layout, KINDS), f"{layout.prefix}.log.*.*.>"
    found = [logged async for logged in log_records.records(installation, filter_, after, up_to)]
    assert [logged.sequence for logged in found] == [logged.sequence for logged in log[101:201]]
    assert [one async for one in log_records.records(installation, filter_, 5, 5)] == []
