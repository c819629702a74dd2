"""Levels of single cases: what an outage is, what a budget says, which text keeps an excuse."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.products.commands.levels import LevelsScreen, percent
from phaseline.engine.products.levels import excuses
from phaseline.engine.products.levels.fold.fold import LevelsFold, LevelsRange
from phaseline.engine.products.levels.fold.reckoning import Level, LevelsReport, grouped, level_map, read_grouping
from phaseline.engine.products.levels.fold.spared import Excuse, Spared
from phaseline.engine.products.levels.fold.tallies import EntityTimes, Outage
from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.surfaces.cli.output import Output
from phaseline.machines.built_in import installed
from phaseline.schemas.records import SECOND, Transition
from tests.support.contacts import Contacts

KINDS = installed()
NODE = "c1/p/n1"


class Played(Contacts):
    """A node, alone but for what it adopts, with all its transitions."""

    def __init__(self) -> None:
        self.log: list[Transition] = []
        super().__init__(start=0.0)
        self.told("adopt", phase="Running")

    def told(self, trigger: str, **data: Any) -> "Played":
        self.say("node", trigger, NODE, **data)
        self.log += [one for one in self.records if isinstance(one, Transition)]
        return self

    def levels(
        self, begin: int = 0, end: int = 100, text: str = "", excuses: tuple[Excuse, ...] = ()
    ) -> tuple[EntityTimes, list[Outage]]:
        windows = read_rules.read(text, KINDS).windows if text else ()
        between = LevelsRange(begin * SECOND, end * SECOND, windows)
        fold = LevelsFold(KINDS, between, Spared(between.begin, between.end, windows, excuses))
        fold.know([])
        for place, record in enumerate(self.log, start=1):
            fold.take(place, record)
        [node] = [one for one in fold.close() if one.id == NODE]
        return node, [one for one in fold.longest if one.id == NODE]


def played(*steps: tuple[int, str]) -> Played:
    found = Played()
    for seconds, trigger in steps:
        found.later(seconds).told(trigger)
    return found


def test_two_outages_of_which_one_lasts() -> None:
    node, outages = played((10, "not_ready"), (20, "ready"), (40, "not_ready")).levels()
    assert node.times == {"good": 50 * SECOND, "bad": 50 * SECOND}
    assert [(one.begin_ns // SECOND, one.end_ns and one.end_ns // SECOND, one.bad // SECOND) for one in outages] == [
        (70, None, 30), (10, 30, 20),
    ]  # fmt: skip
    [level] = grouped([node], "entity")
    assert (level.failures.number, level.to_recover, level.between_failures) == (2, 20 * SECOND, 25 * SECOND)
    assert level.availability == 0.5
    assert level.budget(99) == 1 * SECOND
    assert level.burn(99) == 50


def test_an_outage_from_before_the_range_has_its_true_begin() -> None:
    node, [outage] = played((10, "not_ready"), (20, "ready")).levels(25, 100)
    assert (outage.begin_ns, outage.end_ns, outage.bad) == (10 * SECOND, 30 * SECOND, 5 * SECOND)
    assert outage.record is not None
    assert node.failures.ended_time == 5 * SECOND


def test_another_reason_does_not_begin_an_outage_anew() -> None:
    node, [outage] = played((10, "not_ready"), (5, "overdue"), (5, "ready"), (5, "recovered"), (5, "ready")).levels()
    assert outage.begin_ns == 10 * SECOND
    assert node.failures.number == 1


def test_what_was_excused_wholly_is_no_outage_any_more() -> None:
    down = played((10, "not_ready"), (20, "ready"))
    for begin, end, left in ((0, 40, 0), (15, 25, 10)):
        node, [outage] = down.levels(excuses=(Excuse("c1", begin * SECOND, end * SECOND, "why"),))
        assert (outage.bad, outage.counted) == (20 * SECOND, left * SECOND)
        assert (node.failures.number, node.recorded.number) == (int(left > 0), 1)


def test_an_outage_in_a_window_is_none() -> None:
    text = "windows: [{name: w, from: 1970-01-01T00:00:05Z, to: 1970-01-01T00:00:35Z}]"
    node, outages = played((10, "not_ready"), (20, "ready")).levels(text=text)
    assert (node.times, outages) == ({"good": 70 * SECOND, "window": 30 * SECOND}, [])


def test_who_comes_and_goes_flaps() -> None:
    node, _ = played((1, "not_ready"), (1, "ready"), (1, "not_ready"), (1, "ready")).levels()
    assert (node.transitions, node.flaps) == (5, 3)
    assert node.last_flap == 4 * SECOND


def test_nothing_is_rounded_up_to_all() -> None:
    assert [percent(one) for one in (1.0, 0.99999999, 0.5, 0.0, None)] == [
        "100.000 %",
        "99.999 %",
        "50.000 %",
        "0.000 %",
        "-",
    ]
    empty = level_map(Level(), 99.9)
    assert (empty["availability"], empty["budget"]["burn"]) == (None, None)
    assert Level(times={"bad": 5}).burn(100) == float("inf")
    assert level_map(Level(times={"bad": 5}), 100)["budget"]["burn"] is None


@pytest.mark.parametrize("text", ["label", "label=", "tree=x", "pool", ""])
def test_a_wrong_grouping_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="label=NAME"):
        read_grouping(text)


TIMES = st.integers(0, 2**62)


@given(st.text(min_size=1), TIMES, TIMES, st.text(min_size=1))
def test_the_text_of_an_excuse_is_read_back(tree: str, begin: int, end: int, why: str) -> None:
    given_ = Excuse(tree, begin, end, why)
    if tree.isprintable():
        assert excuses.read_given(excuses.given(given_)) == given_
    assert excuses.read_withdrawn(excuses.withdrawn(begin, why)) == begin


@given(st.text())
def test_any_other_text_is_no_excuse(text: str) -> None:
    for one in (text, f"c1 from {text} to now: why", f"excuse {text}: why"):
        found = excuses.read_given(one)
        assert found is None or excuses.read_given(excuses.given(found)) == found
        excuses.read_withdrawn(one)


def test_a_narrow_terminal_shows_the_cause_of_an_outage(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    node, outages = played((10, "not_ready")).levels()
    rows = grouped([node], "entity")
    found = LevelsReport(0, 100 * SECOND, 1, "entity", 99.9, rows, rows[0], outages, len(outages))
    with Output() as output:
        monkeypatch.setattr(type(output), "width", 80)
        LevelsScreen(output, found, 10, flaps=False).print()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert "1 m 30 s+ node c1/p/n1 not_ready by" in text
    assert "10.000 %" in text
