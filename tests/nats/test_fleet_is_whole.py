"""What `phaseline serve` shows is whole, also where STATE lags behind LOG or has lost messages."""

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.http_server import http_server
from tests.support.installation import Installation, Layout, Pacing, Settings, Wire, at_work, until_decided
from tests.support.own_installation import OwnInstallation
from tests.support.owners import checkpoint
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import AsOf
from tests.support.state_stream import copied
from tests.support.streams import last_message_from_leader

CLUSTERS, NODES = 4, 3


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, partitions=2)


async def built(wire: Wire, layout: Layout) -> RandomEvents:
    fleet = RandomEvents(layout.prefix)
    await publish(wire, list(fleet.built(CLUSTERS, NODES)))
    await until_decided(wire, layout)
    await copied(wire, layout)
    return fleet


async def shown(settings: Settings, wire: Wire, layout: Layout) -> list[str]:
    """Compares what the server shows with the log; what it logged about reading."""
    with capture_logs() as said:
        async with http_server(settings) as api:
            await api.place()
            fleet = {(one.entity.kind, one.entity.id): one for one in api.service.follower.fleet.last}
    view = await AsOf.at(Installation(wire, layout, BUILT_IN_KINDS), "now")
    assert fleet == {(one.entity.kind, one.entity.id): one for one in await view.states(deleted=True)}
    return [one["event"] for one in said if one["event"].startswith("fleet")]


async def test_the_copy_of_a_checkpoint_says_nothing_for_sure(installation: OwnInstallation) -> None:
    """The server leaves out the headers of the fence, by which a worker's checkpoint is known."""
    async with installation.worker() as layout:
        await built(installation.wire, layout)
        copy = await last_message_from_leader(
            installation.wire, layout.state, Subjects(layout.prefix).state_checkpoint(0)
        )
        assert copy is not None
        assert checkpoint.read(copy) is None
        assert checkpoint.decode(copy.data).entities > 0


@pytest.mark.parametrize("gone", ["*.node.c1.p.n1", "*.mark.>", "0.node.>", "*.cluster.>", ">"])
async def test_states_that_are_gone_are_read_from_the_log(settings: Settings, wire: Wire, gone: str) -> None:
    async with at_work(settings, wire) as layout:
        await built(wire, layout)
    await copied(wire, layout)
    await wire.api(f"STREAM.PURGE.{layout.state}", {"filter": f"{layout.prefix}.state.{gone}"})
    whole = gone in ("*.mark.>", ">")  # without checkpoints nothing is believed: LOG is read from its beginning
    assert await shown(settings, wire, layout) == ["fleet_loaded", *([] if whole else ["fleet_from_log"])]


async def test_new_entities_do_not_stand_for_lost_ones(settings: Settings, wire: Wire) -> None:
    """Lone records do not write the checkpoint, so the last one does not count them."""
    async with at_work(settings, wire, pacing=Pacing(idle=600.0)) as layout:
        fleet = await built(wire, layout)
        await wire.api(f"STREAM.PURGE.{layout.state}", {"filter": f"{layout.prefix}.state.*.node.c1.p.n1"})
        await publish(wire, [fleet.event("node", "adopt", "c1/p/new", phase="Running")])
        await copied(wire, layout)
        assert await shown(settings, wire, layout) == ["fleet_loaded", "fleet_from_log"]


async def test_states_that_lag_behind_are_caught_up(settings: Settings, wire: Wire) -> None:
    async with at_work(settings, wire) as layout:
        fleet = await built(wire, layout)
        config = (await wire.api(f"STREAM.INFO.{layout.state}"))["config"]
        await wire.api(f"STREAM.UPDATE.{layout.state}", {**config, "sources": []})
        await publish(wire, [*fleet.life(60, CLUSTERS, NODES), fleet.event("cluster", "adopt", "new")])
        await until_decided(wire, layout)
        assert await shown(settings, wire, layout) == ["fleet_loaded"]
