"""Laws that only edge hosting has: its histories are the plain reading's, and stop and start restore everything.

Belongs here: random histories of the built-in kinds. Does not: laws of all kinds (`test_laws`), single states
(`test_tables_exhaustive`).
"""

import random
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st

from phaseline.engine.core.intake import Arrival
from phaseline.engine.testing.laws import outlook
from phaseline.schemas.records import Rejection, Transition
from tests.support.edge_worlds import KINDS
from tests.support.spec_interpreter import World, act, shown
from tests.support.strategies import History, Step, event, fulfilled, histories, hold, wished, wishes

effort = pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])


def agrees_with_the_plain_reading(history: History) -> None:
    world: World = {}
    last: dict[tuple[str, str, str], int] = {}
    for step in history.steps:
        if isinstance(step.read, Rejection):
            continue
        found = step.read
        source = (found.kind, found.id, found.cause.source)
        if found.sequence is not None and found.sequence <= last.get(source, -1):
            assert step.records == []
            continue
        after = act(world, found.kind, found.id, found.trigger, found.data)
        if isinstance(after, str):
            assert [record.reason for record in step.records if isinstance(record, Rejection)] == [after]
            continue
        assert step.accepted
        world = after
        if found.sequence is not None:
            last[source] = found.sequence
    live = {key: (facets[0], dict(attributes)) for key, (facets, attributes) in outlook(history.tree).items()}
    assert live == {key: ((thing.base, shown(world, *key)), thing.attributes) for key, thing in world.items()}


@effort
def test_every_history_is_the_plain_readings(effort: str) -> None:
    hold(agrees_with_the_plain_reading, histories(KINDS), effort)


def test_the_plain_reading_is_not_easily_pleased() -> None:
    history = History(KINDS)
    history.take(event("cluster", "create", "c1"))
    history.steps.append(Step(*history.take(event("cluster", "created", "c1"))[:2], []))
    history.steps.append(history.decide(event("cluster", "update", "c1")))
    with pytest.raises(AssertionError):
        agrees_with_the_plain_reading(history)


STOPS = (("overdue",), ("renewed",), ("started",))
SPELLS = (STOPS, (*STOPS, *STOPS), (("overdue", "renewed", "started"), ("overdue", "renewed"), ("started",)))


@dataclass
class Twins:
    """A cluster's history twice: with its stops, and without them. `said`: the events that both took meanwhile."""

    stopped: History
    spared: History
    said: int = 0

    def try_both(self, wish: bytes, number: int) -> None:
        """Take an event of something below where it is legal in both."""
        sent = wished((self.stopped, self.spared)[number % 2], wish)
        step = self.stopped.decide(sent)
        below = isinstance(step.read, Arrival) and step.read.kind != "cluster"
        if below and step.accepted and self.spared.decide(sent).accepted:
            self.stopped.take(sent)
            self.spared.take(sent)
            self.said += bool(step.records)


def twins(before: list[bytes], during: list[bytes], spells: tuple[tuple[str, ...], ...]) -> Twins:
    """The same prelude, then a stop and start with events around and between."""
    start = event("cluster", "adopt", "c1", {"phase": "Running"})
    made = Twins(History(KINDS), History(KINDS))
    for history in (made.stopped, made.spared):
        history.take(start)
    for number, wish in enumerate(before):
        made.try_both(wish, number)
    share = len(during) // len(spells) + 1
    for index, spell in enumerate(spells):
        for trigger in spell:
            assert made.stopped.take(event("cluster", trigger, "c1")).accepted
        for number, wish in enumerate(during[index * share : (index + 1) * share]):
            made.try_both(wish, number)
    return made


def stop_and_start_restore_everything(made: Twins) -> None:
    assert outlook(made.stopped.tree) == outlook(made.spared.tree)


@effort
@pytest.mark.parametrize("spells", SPELLS, ids=["once", "twice", "in a hurry"])
def test_stop_and_start_restore_everything(spells: tuple[tuple[str, ...], ...], effort: str) -> None:
    made = st.builds(twins, wishes(5, 40), wishes(5, 40), st.just(spells))
    hold(stop_and_start_restore_everything, made, effort)


def test_much_happens_while_the_cluster_is_stopped() -> None:
    """The law above is not about nothing: all sorts of events go on below a stopped cluster."""
    dice = random.Random(1)
    before, during = ([dice.randbytes(24) for _ in range(200)] for _ in range(2))
    made = twins(before, during, (("overdue",), ("renewed", "started")))
    assert made.said > 60
    assert {step.read.kind for step in made.stopped.steps} == {"cluster", "node_pool", "node", "component"}
    stop_and_start_restore_everything(made)


def test_histories_reach_far() -> None:
    """Random histories come through every phase of every kind."""
    seen = set()
    dice = random.Random(1)
    for _ in range(100):
        for step in fulfilled(KINDS, [dice.randbytes(24) for _ in range(60)]).steps:
            seen |= {(r.entity.kind, r.after.phase) for r in step.records if isinstance(r, Transition)}
    phases = {(kind.name, phase) for kind in KINDS.values() for phase in kind.machines[0].phases if phase != "Absent"}
    assert phases - seen == set()


def test_standing_conditions_survive_what_the_spec_says_they_do() -> None:
    """The spec's own example: a node that owes, is deleted and cannot be cleaned up."""
    history = History(KINDS)
    for trigger in ("created", "cordon", "overdue", "delete", "cleanup_failed"):
        if trigger == "created":
            history.take(event("node", "adopt", "c/p/n", {"phase": "Running"}))
        else:
            assert history.take(event("node", trigger, "c/p/n")).accepted
    found = history.tree.entities["node"]["c/p/n"].facets[0]
    assert found.state == ("Failed", ("Unschedulable", "Balance", "ResourceCleanupFailed"))
