"""States over time: lanes that agree with the states, the page as people see it.

After an intended change, `PHASELINE_GOLDEN=write pytest tests/pure/test_lanes.py` writes the golden page again. Look
at it before you commit.
"""

import json
import os
import random
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from phaseline import Timeline
from phaseline.engine.log.timeline import ticks, timeline
from phaseline.engine.surfaces.cli import timeline as command
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.machines.compiler.labels import facet_named
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND, FacetState, State, Transition, nanoseconds
from phaseline.schemas.subjects import Subjects
from phaseline.types import Lane
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.command_line import Output, render
from tests.support.lanes import alive, assert_sound, at
from tests.support.owners import Processor, Tree, evolve
from tests.support.recorded_logs import StoredEvent

ROOT = Path(__file__).parents[2]


def morning() -> list[Transition]:
    """What examples/morning.jsonl makes, at the times that its events name."""
    processor, found = Processor(Tree(KINDS, NoScripts()), Subjects("pl"), 0), list[Transition]()
    for number, line in enumerate((ROOT / "examples" / "morning.jsonl").read_text().splitlines(), 1):
        body = json.loads(line)
        kind, _, entity_id = body["subject"].partition("/")
        subject = processor.subjects.event(kind, body["type"].partition(".")[2], entity_id).replace(
            "pl.events", "pl.inbox.0"
        )
        for record in processor.answer(
            StoredEvent(subject, codec.encode(body), number, nanoseconds(body["time"]))
        ).records:
            evolve(processor.tree, record)
            if isinstance(record, Transition):
                found.append(record)
    return found


def under(records: list[Transition], root: str) -> list[Transition]:
    return [record for record in records if record.entity.id.split("/")[0] == root]


def how(kind: str, facet: str, state: State) -> str:
    return render.colour(state, facet_named(KINDS, kind, facet))


def of_morning(root: str) -> Timeline:
    records = under(morning(), root)
    return timeline([], records, records[0].time_ns, records[-1].time_ns + 60 * SECOND)


@pytest.mark.parametrize("root", ["shop-eu", "shop-us", "lab", "factory"])
def test_lanes_agree_with_the_states_at_any_moment(root: str) -> None:
    records = under(morning(), root)
    found = of_morning(root)
    assert_sound(found)
    for moment in random.Random(3).sample(range(found.start_ns, found.end_ns), 60):
        assert at(found, moment) == alive(records, moment)


def test_a_part_agrees_too() -> None:
    records = under(morning(), "shop-eu")
    everything = of_morning("shop-eu")
    middle = (everything.start_ns + everything.end_ns) // 2
    then = {(r.entity.kind, r.entity.id): r for r in records if r.time_ns <= middle}
    part = timeline(then.values(), [r for r in records if r.time_ns > middle], middle, everything.end_ns)
    assert_sound(part)
    for moment in random.Random(4).sample(range(middle, everything.end_ns), 40):
        assert at(part, moment) == at(everything, moment)


def test_a_base_that_moves_under_a_view_is_no_new_interval() -> None:
    first, second, *_ = under(morning(), "shop-eu")
    facet = second.entity.facets[0]
    below = replace(
        second.entity,
        version=3,
        facets=(FacetState(State("Failed", ("Unknown",)), facet.state, facet.since_ns), *second.entity.facets[1:]),
    )
    moved = replace(second, entity=below, time_ns=second.time_ns + SECOND)
    (lane,) = timeline([], [first, second, moved], first.time_ns, moved.time_ns + SECOND).lanes
    assert [one.state for one in lane.intervals] == [first.after, second.after]
    assert lane.intervals[-1].end_ns == moved.time_ns + SECOND


def test_order_and_depth() -> None:
    found = of_morning("shop-eu")
    assert [(lane.depth, lane.kind) for lane in found.lanes][:3] == [(0, "cluster"), (1, "component"), (1, "node_pool")]
    records = under(morning(), "shop-eu")
    assert {lane.depth for lane in timeline([], records, found.start_ns, found.end_ns, depth=1).lanes} == {0, 1}
    assert timeline([], [], 0, 10).lanes == []


@pytest.mark.parametrize("span", [1, 10**6, 10**9, 90 * 10**9, 3600 * 10**9, 86400 * 10**9 * 400])
def test_ticks_are_round_and_few(span: int) -> None:
    start = nanoseconds("2026-03-02T08:00:00Z") + 12345
    found = ticks(start, start + span, 8)
    assert len(found) <= 9
    assert all(start <= tick <= start + span for tick in found)
    assert len({later - earlier for earlier, later in pairwise(found)}) <= 1


def test_the_page_as_people_see_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TZ", "UTC")
    golden = ROOT / "tests" / "golden" / "timeline.txt"
    for root in ("shop-eu", "lab"):
        found = of_morning(root)
        output = Output()
        output.line(Text(f"$ phaseline timeline {root}"))
        command.show(KINDS, found, output, {})
        output.line(Text())
        output.flush()
    page = capsys.readouterr().out
    if os.environ.get("PHASELINE_GOLDEN") == "write":
        golden.write_text(page)
    assert page == golden.read_text()


def test_a_piece_of_time_shows_the_worst_in_it() -> None:
    found = of_morning("shop-eu")
    lane: Lane = next(lane for lane in found.lanes if lane.id == "shop-eu/web/web-4")
    for width in (20, 80, 500):
        text = command.bar(KINDS, lane, found.start_ns, found.end_ns, width)
        assert len(text.plain) == width
        for place, glyph in enumerate(text.plain):
            span = found.end_ns - found.start_ns
            first, last = (found.start_ns + span * edge // width for edge in (place, place + 1))
            states = {how("node", "phase", i.state) for i in lane.intervals if i.start_ns < last and i.end_ns > first}
            if "red" in states:
                assert glyph == command.GLYPHS["red"]
