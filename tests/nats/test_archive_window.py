"""An archive leaves the dedupe window alone: what is published again is recognised, after a restart too."""

from pathlib import Path

from tests.support.archives import audit_of_both, messages, run_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.edge_site import nodes
from tests.support.installation import (
    EmbeddedServer,
    Installation,
    PublishResult,
    Settings,
    Wire,
    at_work,
    until_decided,
)
from tests.support.own_installation import Client

COUNT = 20


async def test_a_repeat_is_recognised_after_an_archive_and_a_restart(tmp_path: Path) -> None:
    async with EmbeddedServer(tmp_path / "data") as server:
        settings = Settings(nats=(server.url,), partitions=2, request_timeout=30.0)
        async with (
            Wire.open(settings) as wire,
            at_work(settings, wire) as layout,
            Client.open(settings, source="/agent") as client,
        ):
            assert await client.publish_many(nodes("c1", 0, COUNT)) == PublishResult(COUNT, 0)
            await until_decided(wire, layout)
            live = Installation(wire, layout, BUILT_IN_KINDS)
            done = await run_archive(live, tmp_path / "archive", old=False)
            assert (done.manifest.position, done.trimmed.events, done.trimmed.young) == (COUNT, 0, COUNT)
            await server.restart()
            assert await client.publish_many(nodes("c1", 0, COUNT)) == PublishResult(0, COUNT)
            assert await client.publish_many(nodes("c1", COUNT, COUNT + 1)) == PublishResult(1, 0)
            await until_decided(wire, layout)
            report = await audit_of_both(live, tmp_path / "archive")
            assert (report.events, report.holds) == (COUNT + 1, True)


async def test_a_later_run_trims_what_was_young(settings: Settings, wire: Wire, tmp_path: Path) -> None:
    async with at_work(settings, wire) as layout, Client.open(settings, source="/agent") as client:
        await client.publish_many(nodes("c1", 0, COUNT))
        await until_decided(wire, layout)
        live = Installation(wire, layout, BUILT_IN_KINDS)
        assert (await run_archive(live, tmp_path, old=False)).trimmed.young == COUNT
        later = await run_archive(live, tmp_path)
        assert (later.parts, later.trimmed.events, later.trimmed.young) == ([], COUNT, 0)
        assert await messages(wire, layout.events) == 0
