"""Logs exported, imported and replayed, on a real installation: nothing is lost on the way, and other tables show."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.errors import BadLogFile, InvalidInput, LogFileDamaged
from phaseline.schemas.records import Entity
from phaseline.testing import replay
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.changed_tables import DEGRADED
from tests.support.command import call
from tests.support.installation import (
    EmbeddedServer,
    Installation,
    Layout,
    Settings,
    Wire,
    inspect,
    installation_with_history,
    until_decided,
    working,
)
from tests.support.log_check import expected, stored
from tests.support.own_installation import OwnInstallation
from tests.support.raising import raises
from tests.support.random_events import RandomEvents, publish
from tests.support.recorded_logs import (
    Audit,
    Clock,
    EventItem,
    FileLog,
    Header,
    LogFile,
    LogPart,
    LogWriter,
    Processors,
    RecordedLog,
    RecordItem,
    ReplayTask,
    ServerLog,
    Span,
    WhatIf,
    WhatIfReport,
    audit_of,
    export,
    import_log,
    rebuild,
)
from tests.support.replay_shares import in_shares, printed

SHARED = pytest.mark.asyncio(loop_scope="module")
"""A test that only reads `recorded`."""


class Recorded(NamedTuple):
    """An installation with a history. No worker runs, so nothing changes."""

    settings: Settings
    wire: Wire
    layout: Layout


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recorded(server: EmbeddedServer) -> AsyncIterator[Recorded]:
    """What several tests read."""
    settings = Settings(nats=(server.url,), prefix="recorded", request_timeout=30.0)
    async with Wire.open(settings, name="test") as wire:
        async with installation_with_history(settings, wire) as layout:
            pass
        yield Recorded(settings, wire, layout)


async def exported(wire: Wire, layout: Layout, path: Path, span: Span | None = None, *, records: bool = True) -> Path:
    async with ServerLog.open(Installation(wire, layout, KINDS), span or Span(), records=records) as source:
        await export(source, path, records=records, expect=False)
    return path


async def rebuilt(source: RecordedLog, root: str | None = None) -> dict[str, Entity]:
    processors = Processors(KINDS, source)
    await rebuild(source, processors, root, lambda _: None)
    return entities(processors)


def entities(processors: Processors) -> dict[str, Entity]:
    return {
        f"{kind}/{entity_id}": entity
        for processor in processors.values()
        for kind, found in processor.tree.entities.items()
        for entity_id, entity in found.items()
    }


async def folded(wire: Wire, layout: Layout) -> dict[str, Entity]:
    """The states that the events in the streams make, by another way than through `RecordedLog`."""
    found: dict[str, Entity] = {}
    for partition in range(layout.partitions):
        _, tree = await expected(wire, layout, KINDS, partition)
        found |= {f"{kind}/{name}": entity for kind, some in tree.entities.items() for name, entity in some.items()}
    return found


async def what_if(source: RecordedLog, changed: Kinds, root: str | None = None) -> WhatIfReport:
    return await WhatIf(source, KINDS, changed, root, None).run()


@SHARED
@pytest.mark.parametrize("how", ["rebuild", "audit", "what-if"])
async def test_shares_of_a_server_add_up(recorded: Recorded, capsys: pytest.CaptureFixture[str], how: str) -> None:
    settings, _, layout = recorded
    changed = "tests.support.changed_tables:DEGRADED" if how == "what-if" else None
    task = ReplayTask(settings, None, None, LogPart(None, 100, None), how == "audit", changed, lists=True)
    alone = [*printed(await in_shares(task, 1), capsys)]
    assert "events" in alone[0]
    assert layout.partitions > 1
    assert [*printed(await in_shares(task, 3), capsys)] == alone


# ---- files


@SHARED
@pytest.mark.parametrize("name", ["log.plog.zst", "log.jsonl"])
async def test_a_file_says_what_the_server_says(recorded: Recorded, tmp_path: Path, name: str) -> None:
    _, wire, layout = recorded
    path = await exported(wire, layout, tmp_path / name)
    events = [item for item in LogFile(path).items() if isinstance(item, EventItem)]
    kept = await stored(wire, layout.events, [])
    assert [(e.sequence, e.time_ns, e.data) for e in events] == [(m.sequence, m.time_ns, m.data) for m in kept]
    log = await stored(wire, layout.log, [f"{layout.prefix}.log.*.*.>", f"{layout.prefix}.mark.*.transition.mark.>"])
    records = [item.body for item in LogFile(path).items() if isinstance(item, RecordItem)]
    assert sorted(records) == sorted(message.data for message in log)
    audit = Audit(FileLog(path), KINDS, None, None)
    assert (await audit.run()).holds
    assert audit.report.records == len(records)
    assert await rebuilt(FileLog(path)) == await folded(wire, layout)


@SHARED
async def test_a_part_begins_with_states(recorded: Recorded, tmp_path: Path) -> None:
    _, wire, layout = recorded
    path = await exported(wire, layout, tmp_path / "log.plog", Span(first=300))
    assert (FileLog(path).begins, (await audit_of(path, KINDS)).divergences) == (300, {})
    everything = await folded(wire, layout)
    assert await rebuilt(FileLog(path)) == everything
    later = FileLog(path, Span("c2", 400, 500))
    verdict = await Audit(later, KINDS, "c2", None).run()
    assert verdict.holds
    assert (verdict.begins, verdict.entities) == (400, 7)
    only = await exported(wire, layout, tmp_path / "events.plog", Span(first=300), records=False)
    assert await rebuilt(FileLog(only)) == everything
    with raises(BadLogFile.no_records, match="a replay cannot begin at event 400: export it with --records"):
        FileLog(only, Span(first=400))


async def test_events_that_are_gone(wire: Wire, layout: Layout, tmp_path: Path) -> None:
    everything = await folded(wire, layout)
    await wire.api(f"STREAM.PURGE.{layout.events}", {"seq": 250})
    async with ServerLog.open(Installation(wire, layout, KINDS), Span()) as source:
        assert (source.begins, await rebuilt(source)) == (250, everything)
    assert await rebuilt(FileLog(await exported(wire, layout, tmp_path / "x.plog"))) == everything


async def test_undecided_events_are_exported_without_records(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    async with working(settings, wire, KINDS):
        pass
    layout = await inspect(wire, settings)
    sent = list(RandomEvents(settings.prefix).built(1, 1))
    await publish(wire, sent)
    assert LogFile(await exported(wire, layout, tmp_path / "a", records=False)).header.last == len(sent)
    assert len(await rebuilt(FileLog(tmp_path / "a"))) == 4
    async with ServerLog.open(Installation(wire, layout, KINDS), Span()) as source:
        assert [one async for one in source.steps() if one] == []
        assert source.findings.undecided == len(sent)


@SHARED
async def test_of_a_file_that_is_cut_what_is_whole_is_right(recorded: Recorded, tmp_path: Path) -> None:
    _, wire, layout = recorded
    lines = (await exported(wire, layout, tmp_path / "whole.jsonl")).read_bytes().splitlines(keepends=True)
    cut, folded = tmp_path / "cut.jsonl", 0
    for length in range(200, 260, 4):
        cut.write_bytes(b"".join(lines[:length]))
        audit = Audit(FileLog(cut), KINDS, None, None)
        with pytest.raises(LogFileDamaged):
            await audit.run()
        assert audit.report.holds, audit.report.divergences
        folded = max(folded, audit.report.events)
    assert folded > 50


# ---- logs as tests


@SHARED
async def test_a_slice_of_the_log_is_a_test(recorded: Recorded, tmp_path: Path) -> None:
    _, wire, layout = recorded
    path = tmp_path / "c2.jsonl"
    events = len(await stored(wire, layout.events, []))
    for first in (200, events - 20):
        async with ServerLog.open(Installation(wire, layout, KINDS), Span("c2", first=first)) as source:
            await export(source, path, records=False, expect=True)
        found = replay(path, KINDS)
        found.assert_as_expected()
        assert (len(found.entities), len(found.expected)) == (7, 7)
    everything = await folded(wire, layout)
    assert found.entities.items() <= {(e.kind, e.id): e for e in everything.values()}.items()
    assert found.events > 0
    last = [line for line in path.read_text().splitlines() if '"expected"' in line]
    assert len(last) == 8  # the seven, and the end that counts them


async def test_a_log_that_is_not_as_expected(installation: OwnInstallation, tmp_path: Path) -> None:
    async with installation.having(partitions=3).worker() as layout:
        fleet = RandomEvents(installation.settings.prefix)
        await installation.publish([*fleet.built(1, 1), fleet.event("component", "degraded", "c0/dns")])
        await installation.until_decided()
        async with ServerLog.open(Installation(installation.wire, layout, KINDS), Span()) as source:
            await export(source, tmp_path / "x.plog", records=True, expect=True)
        await exported(installation.wire, layout, tmp_path / "y.plog")
    replay(tmp_path / "x.plog").assert_as_expected()
    wrong = r"1 of 4 entities differ\ncomponent c0/dns: expected phase Failed \[Degraded\], found phase Degraded \[Degraded\]"
    with pytest.raises(AssertionError, match=wrong):
        replay(tmp_path / "x.plog", DEGRADED).assert_as_expected()
    with pytest.raises(AssertionError, match="holds no expected states: write it by `phaseline log export --as-test`"):
        replay(tmp_path / "y.plog").assert_as_expected()


# ---- import


async def imported(wire: Wire, prefix: str, path: Path, clock: Clock | None = None) -> None:
    def now(header: Header) -> Clock:
        return clock or Clock(header, None, shift=False, now=datetime.now(UTC))

    layout = await inspect(wire, Settings(prefix=prefix))
    await import_log(Installation(wire, layout, KINDS), path, now)


@SHARED
async def test_an_import_repeats_everything(recorded: Recorded, settings: Settings, tmp_path: Path) -> None:
    _, wire, layout = recorded
    path = await exported(wire, layout, tmp_path / "log.plog")
    async with working(settings, wire, KINDS, partitions=2) as copy:
        await imported(wire, copy.prefix, path)
        await until_decided(wire, copy)
        await imported(wire, copy.prefix, path)  # sent again it is recognised
        mine, theirs = await stored(wire, layout.events, []), await stored(wire, copy.events, [])
        assert [message.data for message in mine] == [message.data for message in theirs]
        assert shapes(await folded(wire, copy)) == shapes(await folded(wire, layout))


@SHARED
async def test_an_import_begins_with_adopted_states(recorded: Recorded, settings: Settings, tmp_path: Path) -> None:
    _, wire, layout = recorded
    path = await exported(wire, layout, tmp_path / "log.plog", Span(first=400))
    async with working(settings, wire, KINDS) as copy:
        await imported(wire, copy.prefix, path)
        await until_decided(wire, copy)
        wanted, found = shapes(await folded(wire, layout)), shapes(await folded(wire, copy))
        gone = {name for name, phases in wanted.items() if phases[0][0] == "Deleted"}
        assert found.keys() >= wanted.keys() - gone
        assert {name: found[name] for name in wanted.keys() - gone} == {
            name: wanted[name] for name in wanted.keys() - gone
        }


def shapes(found: dict[str, Entity]) -> dict[str, list[tuple[str, list[str]]]]:
    """States without what depends on when and how often."""
    return {
        name: [(facet.state.phase, sorted(facet.state.conditions)) for facet in entity.facets]
        for name, entity in found.items()
    }


@SHARED
async def test_the_same_tables_would_differ_nowhere(recorded: Recorded, tmp_path: Path) -> None:
    _, wire, layout = recorded
    async with ServerLog.open(Installation(wire, layout, KINDS), Span()) as source:
        found = await what_if(source, KINDS)
        assert (found.none, found.entities) == (True, 6 * 7)
        assert found.events == len(await stored(wire, layout.events, []))
    for records in (True, False):
        path = await exported(wire, layout, tmp_path / "x", records=records)
        assert (await what_if(FileLog(path), KINDS)).none


async def test_other_tables_differ_where_they_must(installation: OwnInstallation) -> None:
    async with installation.having(partitions=3).worker() as layout:
        fleet = RandomEvents(installation.settings.prefix)
        story = [
            *fleet.built(2, 1),
            fleet.event("component", "degraded", "c0/dns"),
            fleet.event("component", "degraded", "c1/dns"),
        ]
        story += [fleet.event("component", "recovered", "c1/dns", condition="Degraded")]
        story += [fleet.event("component", "delete", "c0/dns"), fleet.event("cluster", "stop", "c1")]
        await installation.publish(story)
        await installation.until_decided()
        async with ServerLog.open(Installation(installation.wire, layout, KINDS), Span()) as source:
            found = await what_if(source, DEGRADED)
    moves = {(str(move.before), str(move.after), move.trigger): seen.count for move, seen in found.gained.items()}
    assert (
        moves
        == {
            ("Running [Ok]", "Degraded [Degraded]", "degraded"): 2,
            ("Degraded [Degraded]", "Running [Ok]", "recovered"): 1,
            ("Degraded [Degraded]", "Deleting [Progressing]", "delete"): 1,
        }
        or found.rejections_gained
    )
    lost = {(str(move.before), str(move.after), move.trigger): seen.count for move, seen in found.lost.items()}
    assert lost["Running [Ok]", "Failed [Degraded]", "degraded"] == 2
    assert not found.none


async def test_a_part_of_what_if_begins_in_the_logs_states(wire: Wire, settings: Settings) -> None:
    async with working(settings, wire, DEGRADED) as layout:
        fleet = RandomEvents(settings.prefix)
        story = [*fleet.built(1, 1), fleet.event("component", "degraded", "c0/dns")]
        await publish(wire, [*story, fleet.event("cluster", "update", "c0")])
        await until_decided(wire, layout)
        async with ServerLog.open(Installation(wire, layout, KINDS), Span(first=len(story) + 1)) as source:
            with raises(
                InvalidInput.state_unknown, match=r"no Degraded \[Degraded\] for phase of component c0/dns at event"
            ):
                await what_if(source, KINDS)
        async with ServerLog.open(Installation(wire, layout, KINDS), Span()) as source:
            assert not (await what_if(source, KINDS)).none


async def test_the_commands(settings: Settings, layout: Layout, tmp_path: Path) -> None:
    server = ("--nats", settings.nats[0], "--prefix", settings.prefix)
    path = str(tmp_path / "log.jsonl.zst")
    code, out, said = await call("log", "export", path, "--records", "--json", *server)
    told = json.loads(out)
    assert (code, said, told["states"], told["undecided"]) == (0, "", 0, 0)
    assert told["events"] > 600
    code, out, said = await call("log", "replay", "--file", path, "--audit", *server)
    assert (code, said) == (0, "")
    assert out.endswith("the log equals the replay\n")
    code, out, _ = await call("log", "replay", "--file", path, "--json")
    assert (code, len(out.splitlines())) == (0, 6 * 7)
    code, out, _ = await call("log", "replay", "--with", "installed", "--fail-on-difference", *server)
    assert (code, out.rstrip().endswith("no differences")) == (0, True)
    degraded = "examples/degraded.py:COMPONENT"
    code, out, _ = await call("log", "replay", "--with", degraded, "--fail-on-difference", "--json", *server)
    assert (code, json.loads(out)["differs"]) == (1, True)
    code, out, _ = await call("log", "replay", "--with", degraded, *server)
    assert code == 0
    assert "would end in another state" in out
    cut = tmp_path / "cut.plog"
    await call("log", "export", str(tmp_path / "whole.plog"), *server)
    cut.write_bytes((tmp_path / "whole.plog").read_bytes()[:5000])
    code, out, said = await call("log", "replay", "--file", str(cut))
    assert code == 2
    assert "events" in out
    assert "its end is missing" in said
    code, _, said = await call("log", "import", str(cut), *server)
    assert (code, "its end is missing" in said) == (2, True)
    code, out, _ = await call("log", "export", "-", "--tree", "c1", "--to", "20", *server)
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, lines[0]["tree"], lines[-1]["end"]["events"]) == (0, "c1", len(lines) - 2)
    assert all(line["address"].startswith("c1.") for line in lines[1:-1])


async def test_bad_options(tmp_path: Path) -> None:
    for words, said in (
        (("log", "replay", "--audit", "--with", "x:Y"), "cannot be combined"),
        (("log", "replay", "--fail-on-difference"), "needs --with"),
        (("log", "import", "x", "--speed", "fast"), "use 1x, 10x or max"),
        (("log", "replay", "--from", "now"), "no event lies after --from now"),
        (("log", "export", "x", "--to", "start"), "no event lies before --to start"),
    ):
        code, _, err = await call(*words)
        assert (code, said in err) == (2, True), err
    code, _, err = await call("log", "replay", "--file", str(tmp_path / "none"))
    assert (code, "No such file" in err) == (2, True)


async def test_imports_play_at_a_speed(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    """Events 200 ms apart, played at 2x, arrive about 100 ms apart and in order."""
    other = replace(settings, prefix=f"{settings.prefix}-slow")
    async with working(settings, wire, KINDS) as layout, working(other, wire, KINDS) as copy:
        path = await exported(wire, layout, tmp_path / "x.plog")
        header = LogFile(path).header
        body = codec.encode({"specversion": "1.0", "id": "a", "source": "/x", "type": "cluster.create"})
        with LogWriter(path, header) as log:
            for number in range(4):
                log.write(EventItem(number + 1, number * 200_000_000, f"c{number}.cluster.create", body))
        await imported(wire, copy.prefix, path, Clock(header, 2.0, shift=False, now=datetime.now(UTC)))
        found = await stored(wire, copy.events, [])
        assert [message.subject.split(".")[3] for message in found] == ["c0", "c1", "c2", "c3"]
        assert found[-1].time_ns - found[0].time_ns > 250_000_000
