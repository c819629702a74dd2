"""Exports of an installation whose number of partitions has changed: a file says of each event who decided it."""

from pathlib import Path

from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.division import notes
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership.takeover import take_over
from phaseline.engine.settings import Settings
from tests.support.archives import audit_of_both, run_archive
from tests.support.changed_jobs import FIRST, SECOND
from tests.support.divided import decide_all, until_all_decided
from tests.support.jobs_at_work import BEGIN, audit, decide, replace_kinds, sent, worker
from tests.support.random_events import publish


async def redivided(installation: Installation, count: int) -> Installation:
    """Close all partitions, and divide the trees anew."""
    for number in installation.layout.division.numbers:
        await (await take_over(installation, number, "old")).close()
    return await notes.add(installation, count, "/test", (await notes.standing(installation)).end)


async def test_partitions_that_change_tables_at_different_places(
    wire: Wire, settings: Settings, tmp_path: Path
) -> None:
    """The partitions of a later division share buckets, and yet each of them has tables of its own."""
    divided = await redivided(await decide(wire, settings, FIRST, BEGIN), 3)
    numbers = {root: divided.layout.division.number_of(root) for root in "pq"}
    assert numbers["p"] != numbers["q"]
    async with worker(wire, settings, FIRST):
        await publish(wire, sent(settings.prefix, [("job", "create", "p/z"), ("job", "create", "q/z")]))
        await until_all_decided(wire, divided.layout)
    changed = replace_kinds(divided, SECOND)
    await take_over(changed, numbers["p"], "new", SECOND.digest)
    for trigger in ("started", "lost"):
        (event,) = sent(settings.prefix, [("job", trigger, "q/e")])
        await decide_all(divided, numbers["q"], "old", event)
    for number in changed.layout.division.numbers:
        await take_over(changed, number, "new", SECOND.digest)
    reports = await audit(changed, tmp_path)
    await run_archive(changed, tmp_path / "archive")
    for report in [*reports, await audit_of_both(changed, tmp_path / "archive")]:
        assert (report.holds, report.by_others, report.divergences) == (True, len(BEGIN) + 4, {})
