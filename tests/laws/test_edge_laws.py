"""Laws of edge hosting: its histories agree with the specification, and stop and start restore every state.

Belongs here: random histories of the kinds that ship. Does not: laws of any kinds (`test_laws`), single states
(`test_tables_exhaustive`).
"""

import random
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from phaseline.engine.core.intake import Arrival
from phaseline.engine.surfaces.testing.laws import states_of
from phaseline.machines.compiler.reports import SNAPSHOT
from phaseline.machines.language.endings import SHOWS
from phaseline.machines.language.table import ABSENT, DELETED, REPORTED
from phaseline.schemas.records import Record, Rejection, State, Transition
from tests.support.edge_worlds import KINDS
from tests.support.spec_edge_hosting import CONTACT
from tests.support.spec_interpreter import Thing, World, act, shown
from tests.support.strategies import History, HistoryStep, event, histories, hold, random_event, random_history, seeds

effort = pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])


class Number(NamedTuple):
    """The epoch and the last number of a source, and that of its last intent, which a new life does not forget."""

    last: tuple[int, int]
    asked: int | None


def numbered(known: Number | None, found: Arrival, *, asks: bool) -> Number:
    number = found.sequence or 0
    asked = None if found.epoch else number if asks else None if known is None else known.asked
    return Number((found.epoch, number), asked)


def alive(world: World) -> frozenset[tuple[str, str]]:
    return frozenset(key for key, thing in world.items() if thing.base[0] not in (ABSENT, DELETED))


def forget(last: dict[tuple[str, str, str], Number], born: AbstractSet[tuple[str, str]]) -> None:
    """Forget the numbers of the observations of what begins a new life."""
    for source, known in list(last.items()):
        if source[:2] in born and not known.last[0]:
            del last[source]
            if known.asked is not None:
                last[source] = Number((0, known.asked), known.asked)


def is_about(record: Record, kind: str, entity_id: str) -> bool:
    return not isinstance(record, Rejection) and (record.entity.kind, record.entity.id) == (kind, entity_id)


def agrees_with_the_specification(history: History) -> None:
    world: World = {}
    last: dict[tuple[str, str, str], Number] = {}
    taken: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for step in history.steps:
        if isinstance(step.read, Rejection):
            continue
        found = step.read
        source = (found.kind, found.id, found.cause.source)
        number = (found.epoch, found.sequence or 0)
        if found.sequence is not None and source in last and number <= last[source].last:
            is_same = number == last[source].last
            assert is_same <= (step.records == [])
            assert {r.reason for r in step.records if isinstance(r, Rejection)} <= {"repeat"}
            assert not any(isinstance(record, Transition) for record in step.records)
            continue
        asks, lived = history.kinds[found.kind].roles[found.trigger] == "intent", alive(world)
        known, name = taken.setdefault((found.kind, found.id), []), (found.cause.source, found.cause.event)
        if asks and name in known[-4:]:
            assert step.records == []
            continue
        if found.trigger in ("reported", "snapshot", "condition") or {"seen", "answers"}.intersection(
            found.data
        ):  # test_report_laws and test_signals are about these
            entities = [record.entity for record in step.records if not isinstance(record, Rejection)]
            world |= {(e.kind, e.id): Thing(e.facets[0].base, without_clock(e.attributes)) for e in entities}
            forget(last, alive(world) - lived)
            if found.sequence is not None and any((e.kind, e.id) == (found.kind, found.id) for e in entities):
                last[source] = numbered(last.get(source), found, asks=asks)
            continue
        after = act(world, found.kind, found.id, found.trigger, found.data)
        if isinstance(after, str):
            assert [record.reason for record in step.records if isinstance(record, Rejection)] == [after]
            continue
        assert step.accepted
        if asks and any(is_about(record, found.kind, found.id) for record in step.records):
            known.append(name)
        world = after
        forget(last, alive(world) - lived)
        if found.sequence is not None:
            last[source] = numbered(last.get(source), found, asks=asks)
    live = {
        key: (facets[0], without_clock(attributes)) for key, (facets, attributes) in states_of(history.tree).items()
    }
    assert live == {key: ((thing.base, shown(world, *key)), thing.attributes) for key, thing in world.items()}


def without_clock(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes without times and positions: the specification has none, and twins have others."""
    told = {name: value for name, value in attributes.items() if name not in CONTACT}
    if SHOWS in told:
        told[SHOWS] = {name: value for name, value in told[SHOWS].items() if name not in ("time", "event")}
    return told


@effort
def test_every_history_agrees_with_the_specification(effort: str) -> None:
    hold(agrees_with_the_specification, histories(KINDS), effort)


def test_the_comparison_finds_a_difference() -> None:
    history = History(KINDS)
    history.take(event("cluster", "create", "c1"))
    history.steps.append(HistoryStep(*history.take(event("cluster", "created", "c1"))[:2], []))
    history.steps.append(history.decide(event("cluster", "update", "c1")))
    with pytest.raises(AssertionError):
        agrees_with_the_specification(history)


STOPS = (("overdue",), ("renewed",), ("started",))
SPELLS = (STOPS, (*STOPS, *STOPS), (("overdue", "renewed", "started"), ("overdue", "renewed"), ("started",)))


@dataclass
class Twins:
    """One cluster in two histories: one with stops, one without. `taken`: how many events with records both took."""

    stopped: History
    spared: History
    taken: int = 0

    def try_both(self, seed: bytes, number: int) -> None:
        """Take an event about an entity below the cluster in both histories, if it is legal in both."""
        sent = random_event((self.stopped, self.spared)[number % 2], seed)
        step = self.stopped.decide(sent)
        below = isinstance(step.read, Arrival) and step.read.kind != "cluster"
        other = self.spared.decide(sent)
        if below and step.accepted and other.accepted and self._means_the_same(step, other):
            self.stopped.take(sent)
            self.spared.take(sent)
            self.taken += bool(step.records)

    def _means_the_same(self, stopped: HistoryStep, spared: HistoryStep) -> bool:
        """Whether an event says the same in both: a report that names what an entity shows is no news of its base."""
        if isinstance(stopped.read, Rejection) or stopped.read.trigger not in (REPORTED, SNAPSHOT):
            return True
        return moved_bases(self.stopped, stopped) == moved_bases(self.spared, spared)


def moved_bases(history: History, step: HistoryStep) -> dict[tuple[str, str], State]:
    """By entity, the base that a step changes, of its first facet."""
    after = {
        (record.entity.kind, record.entity.id): record.entity.facets[0].base
        for record in step.records
        if not isinstance(record, Rejection)
    }
    return {key: base for key, base in after.items() if base != base_of(history, *key)}


def base_of(history: History, kind: str, entity_id: str) -> State | None:
    entity = history.tree.entities[kind].get(entity_id)
    return None if entity is None else entity.facets[0].base


def twins(before: list[bytes], during: list[bytes], spells: tuple[tuple[str, ...], ...]) -> Twins:
    """Two histories with the same events. In one of them, the cluster is stopped and started in between."""
    start = event("cluster", "adopt", "c1", {"phase": "Running"})
    made = Twins(History(KINDS), History(KINDS))
    for history in (made.stopped, made.spared):
        history.take(start)
    for number, seed in enumerate(before):
        made.try_both(seed, number)
    share = len(during) // len(spells) + 1
    for index, spell in enumerate(spells):
        for trigger in spell:
            assert made.stopped.take(event("cluster", trigger, "c1")).accepted
        for number, seed in enumerate(during[index * share : (index + 1) * share]):
            made.try_both(seed, number)
    return made


def stop_and_start_restore_everything(made: Twins) -> None:
    assert timeless_states(made.stopped) == timeless_states(made.spared)


def timeless_states(history: History) -> dict[Any, Any]:
    return {key: (facets, without_clock(attributes)) for key, (facets, attributes) in states_of(history.tree).items()}


@effort
@pytest.mark.parametrize("spells", SPELLS, ids=["once", "twice", "in a hurry"])
def test_stop_and_start_restore_everything(spells: tuple[tuple[str, ...], ...], effort: str) -> None:
    made = st.builds(twins, seeds(5, 40), seeds(5, 40), st.just(spells))
    hold(stop_and_start_restore_everything, made, effort)


def test_many_events_are_taken_while_the_cluster_is_stopped() -> None:
    """The law above is not empty: many events are taken below a stopped cluster."""
    dice = random.Random(1)
    before, during = ([dice.randbytes(24) for _ in range(200)] for _ in range(2))
    made = twins(before, during, (("overdue",), ("renewed", "started")))
    assert made.taken > 60
    assert {step.read.kind for step in made.stopped.steps} == set(KINDS)
    stop_and_start_restore_everything(made)


def test_histories_reach_every_phase() -> None:
    """Random histories reach every phase of every kind."""
    seen = set()
    dice = random.Random(1)
    for _ in range(100):
        for step in random_history(KINDS, [dice.randbytes(24) for _ in range(60)]).steps:
            seen |= {(r.entity.kind, r.after.phase) for r in step.records if isinstance(r, Transition)}
    phases = {(kind.name, phase) for kind in KINDS.values() for phase in kind.machines[0].phases if phase != "Absent"}
    assert phases - seen == set()


def test_sticky_conditions_survive_as_the_specification_says() -> None:
    """The example of the specification: a node with arrears is deleted, and its cleanup fails."""
    history = History(KINDS)
    for trigger in ("created", "cordon", "overdue", "delete", "cleanup_failed"):
        if trigger == "created":
            history.take(event("node", "adopt", "c/p/n", {"phase": "Running"}))
        else:
            assert history.take(event("node", trigger, "c/p/n")).accepted
    found = history.tree.entities["node"]["c/p/n"].facets[0]
    assert found.state == ("Failed", ("Unschedulable", "Balance", "ResourceCleanupFailed"))
