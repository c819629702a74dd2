"""Operations end, whatever is lost, late, doubled or out of order.

Belongs here: laws over random lives of edge hosting with time that passes. Does not: single lives
(`tests/pure/test_operations_end`).
"""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.timers import timeout_of
from phaseline.machines.language.deadlines import DEADLINE
from phaseline.machines.language.table import ABSENT, DELETED, STALLED
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Cause, Entity, Rejection, Transition
from tests.support.edge_worlds import KINDS
from tests.support.placed import placed
from tests.support.virtual_clock import SECOND, Clock

PLACES = (
    ("cluster", "c"), ("node_pool", "c/p"), ("node", "c/p/a"), ("node", "c/p/b"), ("component", "c/k"),
)  # fmt: skip
ALL_CONDITIONS = {
    kind: next(list(field.options) for field in KINDS[kind].fields["reported"] if field.name == "about")
    for kind, _ in PLACES
}
TRIGGERS = {kind: tuple(KINDS[kind].event_types) for kind, _ in PLACES}
PHASES = {kind: tuple(p for p in KINDS[kind].machines[0].phases if p != ABSENT) for kind, _ in PLACES}
LIMIT = 1800
STEP = st.tuples(
    st.sampled_from(PLACES), st.integers(0, 999), st.integers(0, 999),
    st.sampled_from((0, 0, 0, 1, 100, 900, 1800, 4000)), st.integers(0, 30), st.booleans(),
)  # fmt: skip
"""Where, which trigger, which phase, the seconds before it, what was seen or answered, whether it is said twice."""
Step = tuple[tuple[str, str], int, int, int, int, bool]


class Life:
    """A tree, the time, and the records of each message."""

    def __init__(self) -> None:
        self.clock, self.now = Clock(KINDS), 1

    def wait(self, seconds: int) -> list[Transition | Rejection]:
        self.now += seconds
        made = [
            wire_codec.read(m.body) for b in self.clock.until(self.now * SECOND) for m in b if "timer" not in m.subject
        ]
        return [one for one in made if isinstance(one, Transition | Rejection)]

    def say(self, kind: str, trigger: str, entity_id: str, /, **data: object) -> list[Transition | Rejection]:
        body = {
            "specversion": "1.0",
            "id": f"e{self.clock.number}",
            "source": "/t",
            "type": f"{kind}.{trigger}",
            "data": data,
        }
        subject = self.clock.processor.subjects.event(kind, trigger, entity_id).replace("pl.events", "pl.inbox.0")
        messages = self.clock.store(self.now * SECOND, subject, codec.encode(body))
        made = [wire_codec.read(m.body) for m in messages if not m.subject.startswith("pl.timer.")]
        return [one for one in made if isinstance(one, Transition | Rejection)]

    def play(self, step: Step) -> list[Transition | Rejection]:
        (kind, entity_id), trigger, phase, seconds, told, twice = step
        made = self.wait(seconds)
        name = TRIGGERS[kind][trigger % len(TRIGGERS[kind])]
        data: dict[str, object] = {"seen": told} if told % 3 == 0 else {"answers": told} if told % 3 == 1 else {}
        if name in ("adopt", "reported"):
            data["phase"] = PHASES[kind][phase % len(PHASES[kind])]
        if name == "configure" and told % 2:
            data["deadline"] = told * 10
        if name == "delete" and told % 5 == 0:
            data["abandon"] = True
        if name == "snapshot":
            data |= {"kind": "node" if kind != "node" else "x", "items": []}
        data = {field: value for field, value in data.items() if field in KINDS[kind].declared[name]}
        for _ in range(1 + twice):
            made += self.say(kind, name, entity_id, **data)
        return made

    @property
    def alive(self) -> list[Entity]:
        entities = self.clock.processor.tree.entities
        found = [entities[kind].get(entity_id) for kind, entity_id in PLACES]
        return [one for one in found if one is not None and one.facets[0].base.phase not in (ABSENT, DELETED)]


def no_operation_lasts_longer_than_its_deadline(life: Life) -> None:
    for entity in life.alive:
        kind, facet = KINDS[entity.kind], entity.facets[0]
        timeout = timeout_of(kind, 0, facet)
        if timeout is None:
            assert STALLED not in facet.base.conditions
            assert "phase" not in entity.timers_ns
        elif STALLED not in facet.base.conditions and entity.timers_ns.get("phase") is None:
            tree = life.clock.processor.tree
            above = [tree.above(entity.id, name) for name in (entity.kind, *kind.deadlines_above)]
            assert any(one is not None and one.attributes.get(DEADLINE) == 0 for one in above), entity
        elif STALLED not in facet.base.conditions:
            assert entity.timers_ns["phase"] > life.now * SECOND - SECOND


def ends_are_told_truly(made: list[Transition | Rejection]) -> None:
    """A parent's end asserts nothing of its children."""
    for one in made:
        if (
            isinstance(one, Transition)
            and one.after.phase == DELETED
            and (one.before is None or one.before.phase != DELETED)
        ):
            end = one.entity.attributes.get("end")
            if one.before is None:  # it was unknown, and reports below what is deleted
                assert end == "contradicted"
                continue
            assert end == ("assumed" if one.trigger in ("owner_gone", "delete") else "seen"), one


def a_report_of_the_phase_that_is_there_is_no_answer(life: Life) -> None:
    for entity in life.alive:
        base = entity.facets[0].base
        if base.phase in KINDS[entity.kind].waiting[0] and entity.facets[0].state == base:
            told = {"phase": base.phase, "conditions": list(base.conditions), "seen": life.clock.number}
            assert life.say(entity.kind, "reported", entity.id, **told) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, min_size=5, max_size=40))
def test_over_random_lives(steps: list[Step]) -> None:
    life = Life()
    for step in steps:
        ends_are_told_truly(life.play(step))
        no_operation_lasts_longer_than_its_deadline(life)
        a_report_of_the_phase_that_is_there_is_no_answer(life)


@settings(max_examples=25, deadline=None)
@given(st.lists(STEP, min_size=5, max_size=30))
def test_an_operator_reaches_every_stable_state_without_a_false_claim(steps: list[Step]) -> None:
    """Whatever is there, its report is taken; and once the time is up, what should go can be asked to go."""
    life = Life()
    for step in steps:
        life.play(step)
    there = {(one.kind, one.id) for one in life.alive}
    for kind, entity_id in (place for place in PLACES if place not in there):
        life.say(kind, "reported", entity_id, phase="Running", seen=life.clock.number)
    assert [(one.kind, one.id) for one in life.alive] == [*PLACES]
    for kind, entity_id in PLACES:
        for base in KINDS[kind].bases[0]:
            if base.phase in (ABSENT, DELETED) or base.phase in KINDS[kind].waiting[0]:
                continue
            told = {"phase": base.phase, "conditions": list(base.conditions), "seen": life.clock.number}
            life.say(kind, "reported", entity_id, **told, about=ALL_CONDITIONS[kind])
            found = life.clock.processor.tree.entities[kind][entity_id].facets[0].base
            if found.phase != base.phase:
                shown = life.clock.processor.tree.entities[kind][entity_id].facets[0].state
                assert shown.phase == base.phase, (found, base, shown)
    life.say("cluster", "configure", "c", deadline=LIMIT)
    for kind, entity_id in PLACES[1:]:
        life.say(kind, "configure", entity_id, deadline=LIMIT)
    life.wait(2 * LIMIT)
    assert not any(isinstance(one, Rejection) for one in life.say("cluster", "delete", "c"))
    life.wait(2 * LIMIT)
    assert not any(isinstance(one, Rejection) for one in life.say("cluster", "delete", "c", abandon=True))
    assert life.alive == []


# ---- the laws are about something


def random_step(dice: Random) -> Step:
    return (
        dice.choice(PLACES), dice.randrange(1000), dice.randrange(1000),
        dice.choice((0, 0, 0, 1, 100, 900, 1800, 4000)), dice.randrange(31), dice.random() < 0.5,
    )  # fmt: skip


def test_such_lives_reach_what_the_laws_speak_of() -> None:
    """Each pending phase with a deadline stalls in some life, ends are seen and assumed, and answers are stale."""
    stalled, ends, refused = set[tuple[str, str]](), Counter[object](), Counter[str]()
    dice = Random(7)
    for _ in range(150):
        life = Life()
        for _ in range(40):
            for one in life.play(random_step(dice)):
                if isinstance(one, Rejection):
                    refused[one.reason] += 1
                    continue
                base = one.entity.facets[0].base
                if STALLED in base.conditions:
                    stalled.add((one.entity.kind, base.phase))
                ends[one.entity.attributes.get("end"), one.trigger] += 1
    assert stalled == {(kind, phase) for kind, _ in PLACES for phase in KINDS[kind].deadlines[0]}
    assert {("seen", "deleted"), ("assumed", "owner_gone"), ("assumed", "delete")} <= {*ends}
    assert {"stale", "illegal", "guard", "invalid"} <= {*refused}


@pytest.mark.parametrize("kind", [*dict(PLACES)])
def test_whatever_lives_can_be_asked_to_go(kind: str) -> None:
    """From each base that rows can lead to: `delete` at once, but in Deleting once that is stalled."""
    compiled = KINDS[kind]
    live = [base for base in sorted(compiled.bases[0]) if base.phase not in (ABSENT, DELETED)]
    assert {STALLED in base.conditions for base in live if base.phase == "Deleting"} == {False, True}
    for base in live:
        entity_id = "/".join("abcdefgh"[: compiled.arity])
        arrival = Arrival(kind, "delete", entity_id, {}, Cause(9, "e", "/t", "event"), None, 9)
        first, *_ = decide(placed(compiled, base), arrival).records
        assert isinstance(first, Rejection) == (base.phase == "Deleting" and STALLED not in base.conditions), base
        if isinstance(first, Transition):
            after = first.entity.facets[0].base
            assert (after.phase, first.entity.asked, STALLED in after.conditions) == ("Deleting", 9, False), base
