"""Archiving on three replicas, while servers are killed."""

from contextlib import suppress
from pathlib import Path

import pytest

from phaseline.schemas.errors import PhaselineError
from tests.support.archives import audit_of_both, run_archive, whole_log, with_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Installation, Settings, Wire, until_decided
from tests.support.killable_worker import workers
from tests.support.log_check import audited
from tests.support.nats_cluster import cluster, provisioned, until_whole
from tests.support.random_events import RandomEvents, publish


@pytest.mark.slow
async def test_three_replicas(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    async with cluster(tmp_path) as members:
        settings = Settings(nats=tuple(one.url for one in members), partitions=3, replicas=3, lease=2.0)
        async with Wire.open(settings, patient=True) as wire:
            layout = await provisioned(wire, settings)
            live, fleet = Installation(wire, layout, BUILT_IN_KINDS), RandomEvents(settings.prefix)
            async with workers(settings, 2):
                await publish(wire, list(fleet.built(6, 6)))
                for member in members:
                    await publish(wire, list(fleet.life(200, 6, 6)))
                    await until_decided(wire, layout)
                    member.kill()
                    with suppress(PhaselineError):  # it may break off, and is repeated
                        await run_archive(live, folder)
                    member.start()
                    await until_whole(wire, layout)
                await until_decided(wire, layout)
                done = await run_archive(live, folder)
                assert done.manifest.missing == []
                assert (await audited(wire, layout)).holds
            records = await whole_log(await with_archive(live, folder))
            assert [place for place, _ in records] == sorted({place for place, _ in records})
            report = await audit_of_both(live, folder)
            assert (report.holds, report.losses, report.undecided) == (True, [], 0)
            assert report.events == (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["last_seq"]
