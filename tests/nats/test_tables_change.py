"""Changes of tables that move entities, on a server: refused, carried out, broken off, followed by each other."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.errors import InvalidInput, SetupError
from phaseline.tables import Timeout
from tests.support.archives import Folder, audit_of_both, check, run_archive, with_archive
from tests.support.changed_jobs import FIRST, SECOND, SECOND_LABELS, SECOND_MAP, SECOND_ROWS, THIRD, UNMAPPED, job
from tests.support.command import ROOT, call
from tests.support.installation import FEEDS, LIMIT, Settings, Wire, Worker
from tests.support.jobs_at_work import AFTER, BEGIN, audit, decide, replace_kinds, sent, states, worker
from tests.support.log_check import stored
from tests.support.own_product import OWN
from tests.support.owners import Claim, Message, PartitionStates, moving, tables_report, take_over
from tests.support.raising import raises
from tests.support.random_events import publish
from tests.support.reading import AsOf, Latest
from tests.support.recorded_logs import Audit, FileLog, Processors, ServerLog, Span, WhatIf, exported, rebuild

LATER = [("job", "started", "p/a"), ("job", "succeeded", "p/a"), ("job", "create", "q/f")]
HASTY = Timeout("Pending", "expire", seconds=0.3)
TABLES = str(ROOT / "tests" / "support" / "changed_jobs.py")


async def refused(wire: Wire, settings: Settings, kinds: Kinds) -> str:
    with raises(SetupError.states_stranded) as told:
        async with asyncio.timeout(LIMIT):
            await Worker(wire, replace(settings, accept_tables=kinds.digest), kinds).run(asyncio.Event())
    return str(told.value)


async def test_entities_move_when_their_table_changes(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    await decide(wire, settings, FIRST, BEGIN)
    said = await refused(wire, settings, UNMAPPED)
    assert "(2 job Retrying [Progressing]): say where they go with retired=(Retired('Retrying', to=...),)" in said
    installation = await decide(wire, settings, SECOND, [], accept_tables=SECOND.digest)
    place = int((await wire.api(f"STREAM.INFO.{installation.layout.log}"))["state"]["last_seq"])
    assert await states(installation) == AFTER
    policies = await Latest(installation).states("policy")
    assert {one.entity.id: str(one.after) for one in policies} == {
        "p": "Waiting [Progressing]",
        "q": "Waiting [Progressing]",
    }
    installation = await decide(wire, settings, SECOND, LATER, accept_tables=SECOND.digest)
    history = await Latest(installation).history("job", "p/a")
    assert [(one.trigger, one.after.phase, one.cause.by) for one in history] == [
        ("create", "Pending", "event"), ("started", "Running", "event"), ("lost", "Retrying", "event"),
        ("tables_changed", "Pending", "tables"), ("started", "Running", "event"), ("succeeded", "Done", "event"),
    ]  # fmt: skip
    assert [one.entity.version for one in history] == [1, 2, 3, 4, 5, 6]
    then = {one.entity.id: one.after.phase for one in await (await AsOf.at(installation, str(place))).states("job")}
    assert then == AFTER
    for report in await audit(installation, tmp_path):
        assert (report.holds, report.by_others, report.divergences) == (True, len(BEGIN), {})
    said = await refused(wire, settings, FIRST)
    assert "do not have the states of some entities" in said


async def test_timers_of_the_new_state_fire_and_those_of_the_old_one_are_gone(wire: Wire, settings: Settings) -> None:
    hasty = Kinds((SECOND["policy"].written, job(SECOND_LABELS, SECOND_ROWS, (HASTY,), SECOND_MAP)), products=OWN)
    installation = await decide(wire, settings, FIRST, BEGIN)
    schedules = [f"{settings.prefix}.timer.>"]
    old = await stored(wire, installation.layout.log, schedules)
    assert sorted(one.subject.split(".", 5)[-1] for one in old) == ["p.a", "q.e"]
    async with worker(wire, settings, hasty, accept_tables=hasty.digest), asyncio.timeout(LIMIT):
        while (await states(installation))["p/a"] != "Failed":
            await asyncio.sleep(0.05)
        while (await states(installation))["q/e"] != "Failed":
            await asyncio.sleep(0.05)
    history = await Latest(replace_kinds(installation, hasty)).history("job", "q/e")
    assert [(one.trigger, one.cause.by) for one in history][-2:] == [("tables_changed", "tables"), ("expire", "timer")]
    assert await stored(wire, installation.layout.log, schedules) == []


async def test_a_log_that_begins_in_retired_states_can_be_replayed(wire: Wire, settings: Settings) -> None:
    await decide(wire, settings, FIRST, BEGIN)
    await publish(wire, sent(settings.prefix, LATER))
    installation = await decide(wire, settings, SECOND, [], accept_tables=SECOND.digest)
    for job_id in ("p/a", "q/e"):  # what waited for the change was stored before it was carried out
        times = [one.time_ns for one in await Latest(installation).history("job", job_id)]
        assert times == sorted(times)
    late = Span(first=len(BEGIN) - 1)
    async with ServerLog.open(installation, late) as log:
        report = await WhatIf(log, SECOND, SECOND, None, None).run()
    assert [one.id for one in report.final] == ["q/e"]  # by these tables it was never lost, so it still runs
    async with ServerLog.open(installation, late) as log:
        with raises(InvalidInput.state_unknown, match="Retrying"):
            await WhatIf(log, SECOND, UNMAPPED, None, None).run()
    async with ServerLog.open(installation, Span(first=len(BEGIN) + 1)) as log:
        rebuilding = Processors(SECOND, log)
        await rebuild(log, rebuilding, None, lambda _: None)
    found = {one.id: one.facets[0].state.phase for one in rebuilding.entities() if one.kind == "job"}
    assert found == await states(installation)


async def test_stranded_entities_can_be_left_where_they_are(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    await decide(wire, settings, FIRST, BEGIN)
    accepted = {"accept_tables": UNMAPPED.digest, "accept_stranded": UNMAPPED.digest}
    told = [("job", "started", "p/a"), ("job", "create", "q/f"), ("policy", "delete", "q")]
    installation = await decide(wire, settings, UNMAPPED, told, **accepted)
    assert await states(installation) == {**AFTER, "p/a": "Retrying", "q/e": "Retrying"}
    for report in await audit(installation, tmp_path):
        assert (report.holds, report.divergences) == (True, {})
    again = await decide(wire, settings, SECOND, [], accept_tables=SECOND.digest)
    found = {one.entity.id: one.after.phase for one in await Latest(again).states("job", deleted=True)}
    assert found == {**AFTER, "q/e": "Deleted", "q/f": "Deleted"}
    for report in await audit(again, tmp_path):
        assert (report.holds, report.divergences) == (True, {})


async def test_a_partition_may_sleep_through_a_change(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    installation = await decide(wire, settings, FIRST, BEGIN)
    installation = replace_kinds(installation, SECOND)
    await take_over(installation, 0, "one", SECOND.digest)
    installation = await decide(wire, settings, THIRD, LATER[:1], accept_tables=THIRD.digest)
    assert await states(installation) == {"p/a": "Running", "p/c": "Failed", "p/d": "Pending", "q/e": "Pending"}
    for report in await audit(installation, tmp_path):
        assert (report.holds, report.divergences) == (True, {})


class Killed(Exception):
    """The worker ends here."""


async def test_a_worker_may_end_at_any_step(
    wire: Wire, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = replace_kinds(await decide(wire, settings, FIRST, BEGIN), SECOND)
    monkeypatch.setattr(moving, "AT_ONCE", 1)
    monkeypatch.setattr(Claim, "limit", 2)
    commit, calls = Claim.append, 0

    async def dying(claim: Claim, messages: Sequence[Message], *rest: Any) -> None:
        """Every second commit is the last thing that its worker does; so is one between them, before it is stored."""
        nonlocal calls
        calls += 1
        if calls % 3 == 2:
            raise Killed
        await commit(claim, messages, *rest)
        if calls % 3 == 0:
            raise Killed

    monkeypatch.setattr(Claim, "append", dying)
    deaths = 0
    for partition in range(installation.layout.partitions):
        while True:
            try:
                await take_over(installation, partition, f"worker-{calls}", SECOND.digest)
                break
            except Killed:
                deaths += 1
    assert deaths > 6
    monkeypatch.undo()
    assert await states(installation) == AFTER
    monkeypatch.setattr(moving, "AT_ONCE", 1)
    for report in await audit(installation, tmp_path):
        assert (report.holds, report.divergences) == (True, {})
    bodies = [
        codec.decode(one.data) for one in await stored(wire, installation.layout.log, [f"{settings.prefix}.log.>"])
    ]
    ids = [body["id"] for body in bodies]
    assert len(ids) == len(set(ids))
    assert sum(body["data"]["cause"]["by"] == "tables" for body in bodies) == 6


async def test_a_change_may_follow_on_one_that_is_under_way(
    wire: Wire, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = replace_kinds(await decide(wire, settings, FIRST, BEGIN), SECOND)
    number, commit, left = installation.partition_of("p"), Claim.append, 2
    monkeypatch.setattr(moving, "AT_ONCE", 1)
    monkeypatch.setattr(Claim, "limit", 3)

    async def dying(claim: Claim, messages: Sequence[Message], *rest: Any) -> None:
        nonlocal left
        if not left:
            raise Killed
        left -= 1
        await commit(claim, messages, *rest)

    monkeypatch.setattr(Claim, "append", dying)
    with pytest.raises(Killed):
        await take_over(installation, number, "one", SECOND.digest)
    monkeypatch.setattr(Claim, "append", commit)
    last = replace_kinds(installation, THIRD)
    for one in range(last.layout.partitions):
        await take_over(last, one, "two", THIRD.digest)
    assert await states(last) == {name: phase for name, phase in AFTER.items() if phase != "Held"}
    bodies = [codec.decode(one.data) for one in await stored(wire, last.layout.log, [f"{settings.prefix}.log.>"])]
    by = {body["id"].split("-")[2] for body in bodies if body["data"]["cause"]["by"] == "tables"}
    assert by == {SECOND.digest, THIRD.digest}
    for report in await audit(last, tmp_path):
        assert (report.holds, report.divergences) == (True, {})


async def test_what_was_not_stored_is_not_kept(
    wire: Wire, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = replace_kinds(await decide(wire, settings, FIRST, BEGIN), SECOND)
    number = installation.partition_of("p")
    states_read, commit = PartitionStates(installation, number), Claim.append

    async def lost(claim: Claim, messages: Sequence[Message], *rest: Any) -> None:
        if ".log." in messages[0].subject:
            raise Killed
        await commit(claim, messages, *rest)

    monkeypatch.setattr(Claim, "append", lost)
    with pytest.raises(Killed):
        await take_over(installation, number, "one", SECOND.digest, states=states_read)
    monkeypatch.undo()
    for one in range(installation.layout.partitions):
        await take_over(installation, one, "two", SECOND.digest, states=states_read if one == number else None)
    assert await states(installation) == AFTER
    for report in await audit(installation, tmp_path):
        assert (report.holds, report.divergences) == (True, {})


async def test_the_dry_run_counts_and_stores_nothing(wire: Wire, settings: Settings) -> None:
    installation = await decide(wire, settings, FIRST, BEGIN)
    before = (await wire.api(f"STREAM.INFO.{installation.layout.log}"))["state"]["last_seq"]
    report = await tables_report(replace_kinds(installation, UNMAPPED))
    shown = report.shown()
    assert (shown["moves"], shown["shown_anew"], shown["stranded"], shown["entities"]) == (2, 2, 2, 7)
    assert [one["kind"] for one in shown["kinds"]] == ["job", "policy"]
    assert shown["deciding"] == [{"digest": FIRST.digest, "partitions": [0, 1]}]
    assert report.remedies == [
        "say where they go with retired=(Retired('Retrying', to=...),) in the facet phase of job"
    ]
    assert (await tables_report(replace_kinds(installation, SECOND))).count("stranded") == 0
    assert (await wire.api(f"STREAM.INFO.{installation.layout.log}"))["state"]["last_seq"] == before


@pytest.mark.parametrize("feed", FEEDS)
async def test_an_archive_and_a_part_of_the_log_hold_the_change(
    wire: Wire, settings: Settings, tmp_path: Path, feed: Any
) -> None:
    settings = replace(settings, feed=feed)
    await decide(wire, settings, FIRST, BEGIN)
    await decide(wire, settings, SECOND, LATER, accept_tables=SECOND.digest)
    installation = await decide(wire, settings, SECOND, [("job", "create", f"q/{n}") for n in range(60)])
    await exported(installation, tmp_path / "log.jsonl")
    for span in (Span("p"), Span("q"), Span(first=len(BEGIN) - 2), Span(first=len(BEGIN) + 1), Span(last=len(BEGIN))):
        async with ServerLog.open(installation, span) as log:
            found = await Audit(log, SECOND, span.root, None).run()
        filed = await Audit(FileLog(tmp_path / "log.jsonl", span), SECOND, span.root, None).run()
        for report in (found, filed):
            assert (report.holds, report.divergences, report.entities > 0) == (True, {}, True), span
    await run_archive(installation, tmp_path / "archive")
    assert (await audit_of_both(installation, tmp_path / "archive")).divergences == {}
    history = await Latest(await with_archive(installation, tmp_path / "archive")).history("job", "p/b")
    assert [one.after.phase for one in history] == ["Pending", "Paused", "Held"]


@pytest.mark.parametrize("name", ["first", "second"], ids=["the same archive", "another archive"])
async def test_an_archive_has_the_records_of_a_change_after_its_last_event(
    wire: Wire, settings: Settings, tmp_path: Path, name: str
) -> None:
    """They name that event, which was archived before they were made."""
    installation = await decide(wire, settings, FIRST, BEGIN)
    first = await run_archive(installation, tmp_path / "first")
    installation = await decide(wire, settings, SECOND, [], accept_tables=SECOND.digest)
    report = await audit_of_both(installation, tmp_path / "first")
    assert (report.holds, report.divergences) == (True, {})
    installation = await decide(wire, settings, SECOND, LATER, accept_tables=SECOND.digest)
    last = await run_archive(installation, tmp_path / name)
    assert last.parts[0].first == first.manifest.position + 1
    check.check(Folder(tmp_path / name))
    report = await audit_of_both(installation, tmp_path / name)
    assert (report.holds, report.divergences) == (True, {})
    history = await Latest(await with_archive(installation, tmp_path / name)).history("job", "p/a")
    phases = ["Pending", "Running", "Retrying", "Pending", "Running", "Done"]
    assert [one.after.phase for one in history] == (phases if name == "first" else phases[3:])


async def test_the_command_says_who_would_be_stranded(wire: Wire, settings: Settings) -> None:
    await decide(wire, settings, FIRST, BEGIN)
    words = ("kinds", "check", "--nats", settings.nats[0], "--prefix", settings.prefix, "--with")
    code, out, err = await call(*words, f"{TABLES}:UNMAPPED")
    assert code == 1
    assert next(line.split() for line in out.splitlines() if "stranded" in line) == [
        "2", "job", "phase", "Retrying", "[Progressing]", "stranded",
    ]  # fmt: skip
    assert out.splitlines()[-1] == (
        f"digest {UNMAPPED.digest}: other tables decide 2 of 2 partitions; 7 entities, 4 would move, 2 stranded"
    )
    assert "say where they go with retired=(Retired('Retrying', to=...),) in the facet phase of job" in err
    code, out, err = await call(*words, f"{TABLES}:SECOND", "--json")
    assert (code, json.loads(out)["stranded"], err) == (0, 0, "")
    assert {"kind": "job", "facet": "phase", "from": {"state": "Paused", "conditions": ["Ok"]},
            "to": {"state": "Held", "conditions": ["Ok"]}, "fate": "moves", "entities": 1} in json.loads(out)["states"]  # fmt: skip
    code, out, _ = await call(*words, f"{TABLES}:FIRST")
    assert (code, out.splitlines()) == (
        0, [f"digest {FIRST.digest}: these tables decide every partition; 7 entities, 0 would move, 0 stranded"],
    )  # fmt: skip
