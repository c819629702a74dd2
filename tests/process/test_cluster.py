"""Three real servers with three replicas: the log stays right while one after the other is killed."""

from pathlib import Path

import pytest

from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import Settings
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import until_decided
from tests.support.killable_worker import workers
from tests.support.log_check import assert_log_is_the_fold
from tests.support.nats_cluster import cluster, provisioned, until_whole
from tests.support.random_events import RandomEvents, publish


@pytest.mark.slow
async def test_three_replicas_lose_a_server_at_a_time(tmp_path: Path) -> None:
    async with cluster(tmp_path) as members:
        urls = tuple(member.url for member in members)
        settings = Settings(nats=urls, partitions=3, replicas=3, lease=2.0)
        async with Wire.open(settings, patient=True) as wire:
            layout = await provisioned(wire, settings)
            fleet = RandomEvents(settings.prefix)
            async with workers(settings, 2):
                await publish(wire, list(fleet.built(6, 6)))
                for member in members:
                    member.kill()
                    await publish(wire, list(fleet.life(200, 6, 6)))
                    member.start()
                    await publish(wire, list(fleet.life(200, 6, 6)))
                    await until_whole(wire, layout)
                await until_decided(wire, layout)
            await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)
