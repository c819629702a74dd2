"""An audit finds the log right where it is, and names what is wrong where somebody tampered with it."""

import dataclasses
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from msgspec.structs import replace

from phaseline.engine.core import decide
from phaseline.engine.core.rejections import without_step
from phaseline.engine.scripts.runner import shared_runner
from phaseline.schemas import codec
from phaseline.schemas.records import By, Cause, Entity, FacetState, Loss, Mark, Record, Rejection, Transition, state
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.command import call
from tests.support.command_line import Output, render_replay
from tests.support.health_scripts import EVERYDAY, OBJECT
from tests.support.installation import (
    EmbeddedServer,
    Installation,
    Layout,
    Settings,
    Wire,
    installation_with_history,
    until_decided,
    working,
)
from tests.support.log_check import stored
from tests.support.own_installation import OwnInstallation
from tests.support.owners import Message
from tests.support.random_events import RandomEvents, publish
from tests.support.recorded_logs import (
    Audit,
    AuditReport,
    ServerLog,
    Span,
    compare_states,
    first_event_after,
    is_reworded,
)

EVENTS = 300


SHARED = pytest.mark.asyncio(loop_scope="module")
"""A test that only reads `recorded`."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recorded(server: EmbeddedServer) -> AsyncIterator[tuple[Wire, Layout]]:
    """An installation with a history, in which no worker runs: what several tests read."""
    settings = Settings(nats=(server.url,), prefix="audited", request_timeout=30.0)
    async with Wire.open(settings, name="test") as wire:
        async with installation_with_history(settings, wire, EVENTS) as layout:
            pass
        yield wire, layout


@pytest_asyncio.fixture
async def layout(settings: Settings, wire: Wire) -> AsyncIterator[Layout]:
    async with installation_with_history(settings, wire, EVENTS) as made:
        yield made


async def audit(
    wire: Wire, layout: Layout, span: Span | None = None, progress: Callable[[int], None] | None = None
) -> AuditReport:
    span = span or Span()
    async with ServerLog.open(Installation(wire, layout, KINDS), span) as log:
        found = Audit(log, KINDS, span.root, progress)
        await found.run()
        if span.last is None:
            await compare_states(Installation(wire, layout, KINDS), found)
        return found.report


async def logged(wire: Wire, layout: Layout, root: str) -> list[int]:
    """Places in the log of a tree's transitions."""
    return [m.sequence for m in await stored(wire, layout.log, [f"{layout.prefix}.log.*.transition.*.*.*.{root}.>"])]


@SHARED
async def test_a_log_that_is_right(recorded: tuple[Wire, Layout]) -> None:
    wire, layout = recorded
    folded: list[int] = []
    verdict = await audit(wire, layout, progress=folded.append)
    assert verdict.holds
    assert verdict.events == sum(folded) > EVENTS
    assert (verdict.entities, verdict.undecided, verdict.begins) == (6 * 7, 0, 1)


@SHARED
async def test_one_tree_by_itself(recorded: tuple[Wire, Layout]) -> None:
    wire, layout = recorded
    verdict = await audit(wire, layout, Span("c3"))
    assert verdict.holds
    assert verdict.entities == 7
    assert 0 < verdict.events < EVENTS


async def test_a_record_that_is_missing_is_named(wire: Wire, layout: Layout) -> None:
    place = (await logged(wire, layout, "c2"))[3]  # alone in its event
    await wire.api(f"STREAM.MSG.DELETE.{layout.log}", {"seq": place})
    verdict = await audit(wire, layout)
    (told,) = verdict.divergences.values()
    assert told.id.startswith("c2/")
    assert told.found is None
    assert told.expected is not None
    assert (await audit(wire, layout, Span("c3"))).holds


async def test_a_record_nobody_caused_is_named(wire: Wire, layout: Layout) -> None:
    (copy,) = await stored(wire, layout.log, [f"{layout.prefix}.log.*.transition.cluster.phase.Creating.c1"])
    batch = {"Nats-Batch-Id": "b", "Nats-Batch-Sequence": "1", "Nats-Batch-Commit": "1"}  # as a worker stores it
    body = copy.data.replace(b"Creating", b"Faileddd")
    await wire.publish_acked(copy.subject.replace("Creating", "Failed"), body, batch)
    verdict = await audit(wire, layout)
    (told,) = verdict.divergences.values()
    assert (told.kind, told.id, told.expected) == ("cluster", "c1", None)


async def test_events_that_are_gone_and_events_to_come(wire: Wire, layout: Layout) -> None:
    await wire.api(f"STREAM.PURGE.{layout.events}", {"seq": 200})
    verdict = await audit(wire, layout)
    assert verdict.holds, verdict.divergences
    assert (verdict.begins, verdict.entities) == (200, 6 * 7)


@SHARED
async def test_a_part_of_the_log(recorded: tuple[Wire, Layout]) -> None:
    wire, layout = recorded
    whole = await audit(wire, layout)
    parts = [
        await audit(wire, layout, Span(first=first, last=last)) for first, last in ((1, 99), (100, 199), (200, None))
    ]
    assert all(part.holds for part in parts), [part.divergences for part in parts]
    assert [part.events for part in parts[:2]] == [99, 100]
    assert sum(part.events for part in parts) == whole.events
    assert sum(part.records for part in parts) == whole.records
    assert parts[-1].entities == whole.entities


@SHARED
async def test_a_part_between_two_times(recorded: tuple[Wire, Layout]) -> None:
    wire, layout = recorded
    stream = await stored(wire, layout.events, [])
    moment = datetime.fromtimestamp(stream[149].time_ns // 1000 / 1e6, UTC) - timedelta(microseconds=1)
    assert 1 < await first_event_after(Installation(wire, layout, KINDS), moment) <= 150
    assert (
        await first_event_after(Installation(wire, layout, KINDS), moment + timedelta(days=1))
        == stream[-1].sequence + 1
    )
    assert await first_event_after(Installation(wire, layout, KINDS), moment - timedelta(days=1)) == 1


@SHARED
async def test_another_wording_is_no_difference(recorded: tuple[Wire, Layout], monkeypatch: pytest.MonkeyPatch) -> None:
    wire, layout = recorded

    def illegal(*found: Any) -> list[Record]:
        answers = without_step(*found)
        return [replace(one, message="that cannot be") if isinstance(one, Rejection) else one for one in answers]

    monkeypatch.setattr(decide, "without_step", illegal)
    verdict = await audit(wire, layout)
    assert verdict.holds, verdict.divergences
    rejections = await stored(wire, layout.log, [f"{layout.prefix}.log.*.rejection.*.illegal.>"])
    assert verdict.reworded == len(rejections) > 0


@SHARED
async def test_what_else_differs_is_a_difference_however_it_is_worded(
    recorded: tuple[Wire, Layout], monkeypatch: pytest.MonkeyPatch
) -> None:
    wire, layout = recorded

    def guarded(*found: Any) -> list[Record]:
        answers = without_step(*found)
        return [
            replace(one, message="that cannot be", reason="guard") if isinstance(one, Rejection) else one
            for one in answers
        ]

    monkeypatch.setattr(decide, "without_step", guarded)
    verdict = await audit(wire, layout)
    assert not verdict.holds
    assert all(str(told.expected).endswith(" rejected, guard") for told in verdict.divergences.values())
    assert verdict.reworded == 0


CAUSE = Cause(7, "e", "/s", "event")
ENTITY = Entity("node", "c/p/n", 1, ("phase",), (FacetState(state("Running"), state("Running"), 0),), {}, {})
MOVED = Transition("phase", None, state("Running"), "ready", None, "it is up", CAUSE, ENTITY, 0)


def caused(by: By, message: str | None) -> Transition:
    return replace(MOVED, cause=replace(CAUSE, by=by), message=message)


@pytest.mark.parametrize(
    ("expected", "found", "is_wording"),
    [
        (caused("view", "because of node a"), caused("view", "since node a failed"), True),
        (caused("tally", None), caused("tally", "because of node a"), True),
        (caused("timer", "for 3 s"), caused("timer", "for three seconds"), True),
        (caused("event", "because of node a"), caused("event", "since node a failed"), True),
        (caused("event", "it is up"), caused("event", "it runs"), False),
        (caused("event", None), caused("event", "it runs"), False),
        (caused("view", "because of node a"), caused("cascade", "because of node a"), False),
        (caused("view", "a"), replace(caused("view", "b"), trigger="gone"), False),
        (None, MOVED, False),
        (MOVED, Mark(ENTITY, CAUSE, 0), False),
    ],
)
def test_which_sentences_are_the_engines(expected: Record | None, found: Record, is_wording: bool) -> None:
    assert is_reworded(expected, found) == is_wording


def test_the_command_says_that_the_wording_differs(capsys: pytest.CaptureFixture[str]) -> None:
    verdict = AuditReport(events=3, records=2, entities=1, reworded=2)
    render_replay.show_audit(verdict, output=Output())
    printed = capsys.readouterr()
    assert printed.out == "3 events, 2 records, 1 entity: the log equals the replay\n"
    assert printed.err == "2 records with another wording only, which does not count\n"
    with Output("json") as output:
        render_replay.show_audit(verdict, output=output)
    found = json.loads(capsys.readouterr().out)
    assert (found["holds"], found["reworded"], found["divergences"]) == (True, 2, [])


def test_losses_of_one_sort_are_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    put_back = [Loss(one, "restored", 0, 0, 0, None, "w1", 1) for one in (0, 1, 2, 5)]
    emptied = Loss(3, "states", 0, 0, 2, 2, "w1", 1)
    render_replay.show_audit(AuditReport(losses=[*put_back, emptied]), output=Output())
    noted = "noted by w1 at 1970-01-01T00:00:00.000000001Z"
    each = "each of the partitions 0 to 2, 5, an unknown number of records after a backup"
    assert capsys.readouterr().err == f"lost: in {each}, {noted}\nlost: in partition 3, 2 entities, {noted}\n"


async def test_garbage_in_the_log_is_named(wire: Wire, layout: Layout) -> None:
    subject = f"{layout.prefix}.log.0.transition.node.phase.Running.c1.p.n"
    await wire.publish_acked(subject, b"no record at all")
    verdict = await audit(wire, layout)
    in_log, in_state = verdict.foreign
    assert (in_log.subject, in_log.size) == (subject, 16)
    assert in_state.subject.startswith(f"{layout.prefix}.state.0.node.")
    assert verdict.holds


@SHARED
async def test_a_state_that_is_not_the_folds_is_named(recorded: tuple[Wire, Layout]) -> None:
    wire, layout = recorded
    (last,) = await stored(wire, layout.state, [f"{layout.prefix}.state.*.cluster.c1"])
    async with ServerLog.open(Installation(wire, layout, KINDS), Span()) as log:
        found = Audit(log, KINDS, None, None)
        await found.run()
    processor = next(processor for processor in found.processors.values() if processor.tree.get("cluster", "c1"))
    found.report.compare_state(processor, Message(last.subject, last.data))
    assert found.report.holds
    body = codec.decode(last.data)
    body["data"]["entity"]["facets"]["phase"]["state"] = "Elsewhere"
    found.report.compare_state(processor, Message(last.subject, codec.encode(body)))
    (told,) = found.report.divergences.values()
    assert (told.kind, told.id, told.expected) == ("cluster", "c1", None)


async def test_a_tree_with_a_long_name(installation: OwnInstallation) -> None:
    name = "a-cluster-that-somebody-called-by-its-whole-address-in-the-data-centre-of-frankfurt.example"
    async with installation.having(partitions=3).worker() as layout:
        fleet = RandomEvents(installation.settings.prefix)
        await publish(
            installation.wire,
            [*fleet.cluster(name, 1), *fleet.cluster("other", 1), fleet.event("node", "create", f"{name}/q/n")],
        )
        await installation.until_decided()
        verdict = await audit(installation.wire, layout, Span(name))
        assert verdict.holds, verdict.divergences
        assert (verdict.events, verdict.records) == (9, 15)


async def test_undecided_events_are_left_out(installation: OwnInstallation) -> None:
    layout = await installation.layout()
    await installation.publish(list(RandomEvents(installation.settings.prefix).built(2, 2)))
    assert await audit(installation.wire, layout) == AuditReport(undecided=20)


async def test_the_command(settings: Settings, wire: Wire, layout: Layout) -> None:
    words = ("log", "replay", "--nats", settings.nats[0], "--prefix", settings.prefix)
    code, out, said = await call(*words, "--audit")
    assert (code, said) == (0, "")
    assert out.endswith("the log equals the replay\n")
    await wire.api(f"STREAM.MSG.DELETE.{layout.log}", {"seq": (await logged(wire, layout, "c2"))[3]})
    code, out, _ = await call(*words, "--audit", "--json")
    found = json.loads(out)
    assert (code, found["holds"], len(found["divergences"])) == (1, False, 1)
    code, out, _ = await call(*words, "--audit")
    assert code == 1
    assert "nothing" in out
    assert "1 entity differs" in out
    code, _, said = await call(*words, "--fail-on-difference")
    assert code == 2
    assert "--fail-on-difference needs --with" in said


@SHARED
async def test_a_tree_that_is_not_there(recorded: tuple[Wire, Layout]) -> None:
    wire, layout = recorded
    assert await audit(wire, layout, Span("nobody")) == AuditReport()


async def test_a_log_with_everyday_scripts_is_right_in_another_process(settings: Settings, wire: Wire) -> None:
    settings = dataclasses.replace(settings, partitions=1)
    fleet = RandomEvents(settings.prefix)
    scripts = {f"shop.example/Stack{n}": script for n, script in enumerate(EVERYDAY.values())}
    sent = [fleet.event("application_set", "configure", "s", health=scripts)]
    for n in range(len(scripts)):
        live = {**OBJECT, "kind": f"Stack{n}"}
        sent.append(fleet.event("resource", "observed", f"s/a/shop.example:Stack{n}/shop/web", live=live, desired=live))
    async with working(settings, wire, KINDS) as layout:
        await publish(wire, sent)
        await until_decided(wire, layout)
    shared_runner().sandbox.close()  # the next one draws other seeds
    verdict = await audit(wire, layout)
    assert (verdict.holds, verdict.reworded, verdict.events) == (True, 0, len(sent))
