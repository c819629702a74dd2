"""The law of the test kit's clock: a scenario makes the bytes that a worker commits, timers included.

Belongs here: random events at random times, told to a scenario and to the core of a worker whose schedules fire as the
server fires them. Does not: single cases (`tests/pure/test_testing_time`).
"""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

import pytest
from hypothesis import strategies as st

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.message import Message
from phaseline.engine.core.rejections import legal_triggers
from phaseline.engine.publish import compose
from phaseline.engine.publish.compose import EventDetails
from phaseline.engine.surfaces.testing.histories import SUBJECTS, stored
from phaseline.engine.surfaces.testing.random_events import Dice, data_for
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import NONE, Cause, timestamp
from phaseline.testing import Given, Then, given
from tests.support import timed_kinds
from tests.support.built_in_kinds import family
from tests.support.strategies import hold
from tests.support.virtual_clock import Clock

Told = tuple[str, str, str, dict[str, object]]
"""Kind, trigger, id and data of an event."""
FAMILIES: dict[str, tuple[Kinds, tuple[Told, ...]]] = {
    "timed": (Kinds(timed_kinds.KINDS, products=PRODUCTS), ()),
    "places": (
        family("edge-hosting"),
        (
            ("cluster", "adopt", "c1", {"phase": "Running"}),
            ("cluster", "configure", "c1", {"silence_after": 20}),
        ),
    ),
}
"""Kinds, with the events that begin each history."""
PAUSES = (None, None, 0, 0.25, 0.5, 1, 1, 3, 10, 59, 60, 600)
"""Seconds between two events; None for the second that passes if a test says nothing."""


class Moment(NamedTuple):
    """A pause, and the choices that make the event after it."""

    pause: float | None
    choices: bytes


MOMENTS = st.lists(st.builds(Moment, st.sampled_from(PAUSES), st.binary(min_size=12, max_size=12)), max_size=25)


def event_of(scenario: Given, dice: Dice) -> Told:
    """An event: mostly one that is legal now."""
    kind = dice.of([*scenario.kinds.values()])
    entity_id = "/".join(f"{part[0]}{dice.of((1, 1, 2))}" for part in kind.table.id)
    arrival = Arrival(kind.name, "", entity_id, NONE, Cause(1, "", "", "event"), None, scenario.clock)
    offered = [trigger for trigger in kind.roles if kind.roles[trigger] != "derived"]
    trigger = dice.of((legal_triggers(scenario.tree, arrival) if dice.of(range(4)) else ()) or offered)
    return kind.name, trigger, entity_id, data_for(scenario.kinds, kind, trigger, dice)


def bodies(messages: list[Message]) -> list[bytes]:
    return [message.body for message in messages if message.subject.startswith(("pl.log.", "pl.mark."))]


class Both:
    """A scenario and a worker that are told the same."""

    def __init__(self, kinds: Kinds, opening: Iterable[Told]) -> None:
        self.scenario, self.clock = given(kinds), Clock(kinds)
        for told in opening:
            self.tell(*told)

    def tell(self, kind: str, trigger: str, entity_id: str, data: dict[str, object]) -> None:
        time = self.scenario.clock
        details: EventDetails = {"source": "/a", "event_id": "e", "time": timestamp(time)}
        message = compose.pack(SUBJECTS, compose.compose(kind, trigger, entity_id, data, details))
        self.clock.until(time)
        batch = self.clock.store(time, stored(message.subject), message.body)
        self.scenario = self.scenario.when(kind, trigger, entity_id, data, **details)
        assert self.made() == bodies(batch)

    def wait(self, seconds: float) -> int:
        """Let time pass; return how many timers fired."""
        self.scenario = self.scenario.later(seconds=seconds)
        fired = self.clock.until(self.scenario.clock)
        assert self.made() == [body for batch in fired for body in bodies(batch)]
        return len(fired)

    def made(self) -> list[bytes]:
        """What the scenario made last, as a worker writes it: event by event."""
        assert isinstance(self.scenario, Then)
        events = groupby(self.scenario.records, lambda record: record.cause.sequence)
        return [body for _, of_event in events for body in bodies(self.clock.processor.messages([*of_event]))]


@pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_scenario_makes_what_a_worker_commits(family: str, effort: str) -> None:
    fired = []

    def the_law(moments: list[Moment]) -> None:
        both = Both(*FAMILIES[family])
        for pause, choices in moments:
            fired.append(0 if pause is None else both.wait(pause))
            both.tell(*event_of(both.scenario, Dice(choices)))
        assert both.scenario.tree.entities == both.clock.processor.tree.entities
        assert both.scenario.position == both.clock.number + 1

    hold(the_law, MOMENTS, effort)
    assert sum(fired) > 3, "the histories have too few timers"
