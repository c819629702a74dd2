"""What workers count by source: who asks them learns what was taken and what came again, and doctor warns of it."""

from typing import Any

from tests.support.command import Shell
from tests.support.installation import Settings
from tests.support.own_installation import Client


async def doctor(shell: Shell) -> list[dict[str, Any]]:
    """What `phaseline doctor` finds about sources."""
    return [one for one in (await shell("doctor", "--json")).lines if one["check"].startswith("source")]


async def test_a_source_that_counts_anew_is_named(working: Settings, shell: Shell) -> None:
    async with Client.open(working, source="/console") as client:
        await client.publish_and_wait("cluster", "create", "c1")
        for number in (100, 101):
            await client.publish_and_wait("cluster", "created", "c1", source="/agent", sequence=number)
        (fine,) = await doctor(shell)
        assert (fine["verdict"], fine["found"]) == ("ok", "2 heard; of none are the last events repeats")
        for number in (1, 2):
            await client.publish_and_wait("cluster", "error", "c1", source="/agent", sequence=number)
        await client.publish_and_wait("cluster", "renewed", "c1", source="/other", sequence=1)

        report = await client.sources()
        assert report.silent == ()
        first, *others = report.rows()
        shown, *_ = (await shell("admin", "sources", "--json")).lines
        assert {name: shown[name] for name in ("source", "events", "taken", "rejected", "repeats", "runs", "number")} == {
            "source": "/agent", "events": 4, "taken": 2, "rejected": 0, "repeats": 2, "runs": 1, "number": 2,
        }  # fmt: skip
        assert shown["trouble"].startswith("its last 2 events were repeats since 20")
        assert {one.source: (one.counts.taken, one.counts.rejected) for one in others} == {
            "/console": (1, 0), "/other": (0, 1),
        }  # fmt: skip
        assert first.source == "/agent"
        table = (await shell("admin", "sources")).out.splitlines()
        assert table[1].split()[:5] == ["/agent", "4", "2", "0", "2"]
        (warned,) = await doctor(shell)
        assert (warned["check"], warned["verdict"]) == ("source /agent", "warning")
        assert "epoch" in warned["advice"]
        await client.publish_and_wait("cluster", "error", "c1", source="/agent", sequence=3, epoch=1)
        assert not any(one.counts.is_in_trouble for one in (await client.sources()).rows())
