"""Laws of sources that start again, send twice, and run twice: nothing is dropped without a record or a count."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core.transitions import REPEAT
from phaseline.schemas.records import Mark, Rejection
from tests.support.numbered_world import NumberedWorld

INTENTS, OBSERVATIONS = (
    ("create", "update", "delete"),
    ("created", "updated", "deleted", "error", "recovered", "heartbeat"),
)


@dataclass
class Program:
    """A program that sends under a name, with or without epochs. It may start again from 1, and repeat its events."""

    name: str
    counts: bool
    epochs: bool
    number: int = 0
    epoch: int = 0
    sent: list[tuple[str, int | None, int, str]] = field(default_factory=list)

    def next(self, trigger: str, event: str) -> tuple[str, int | None, int, str]:
        self.number += 1
        found = (trigger, self.number if self.counts else None, self.epoch, event)
        self.sent.append(found)
        return found

    def restart(self, position: int) -> None:
        self.number, self.epoch = 0, position if self.epochs else 0


STEPS = st.lists(
    st.tuples(
        st.integers(0, 4), st.sampled_from([*INTENTS, *OBSERVATIONS]), st.integers(0, 11),
    ),
    max_size=60,
)  # fmt: skip


@given(STEPS)
def test_nothing_is_dropped_in_silence(steps: list[tuple[int, str, int]]) -> None:
    world = NumberedWorld()
    programs = [
        Program("/agent", counts=True, epochs=False),
        Program("/agent", counts=True, epochs=False),
        Program("/client", counts=True, epochs=True),
        Program("/client", counts=True, epochs=True),
        Program("/plain", counts=False, epochs=False),
    ]
    for number, trigger, what in steps:
        program = programs[number]
        began = what == 0
        if began:
            program.restart(world.count + 1)
        again = what == 1 and program.sent
        event = (
            program.sent[-1 - what % len(program.sent)] if again else program.next(trigger, f"{number}-{world.count}")
        )
        known = world.tree.get("cluster", "c1")
        before = None if known is None else known.sequences.get(program.name)
        records = world.send("cluster", event[0], "c1", program.name, event[1], epoch=event[2], event=event[3])
        rejected = [one for one in records if isinstance(one, Rejection)]
        if not records and event[1] is not None and known is not None:
            assert world.decision is REPEAT
        if any(one.reason == "repeat" for one in rejected):
            assert [type(one) for one in records] == [Mark, Rejection]
            assert before is not None
            assert f"number {before}" in rejected[-1].message
        if began and program.epochs:  # it is heard at once
            assert world.decision is not REPEAT
            assert not any(one.reason == "repeat" for one in rejected)
    counts = world.outcomes.sources.counts.values()
    assert sum(one.events for one in counts) == len(steps)
    assert all(one.taken >= 0 and one.runs <= one.repeats for one in counts)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40))
def test_a_run_of_repeats_is_refused_once(numbers: list[int]) -> None:
    world = NumberedWorld()
    world.send("cluster", "create", "c1", "/console")
    highest, is_begun = 0, False
    for number in numbers:
        records = world.send("cluster", "heartbeat", "c1", "/agent", number)
        refused = any(isinstance(one, Rejection) for one in records)
        assert refused == (number < highest and not is_begun)
        is_begun = number <= highest and (is_begun or refused)
        highest = max(highest, number)


@given(st.lists(st.booleans(), max_size=12))
def test_an_intent_takes_effect_once_in_all_lives(lives: list[bool]) -> None:
    world = NumberedWorld()
    world.send("cluster", "create", "c1", "/console", event="c-0")
    world.send("cluster", "delete", "c1", "/console", event="d-1")
    world.send("cluster", "deleted", "c1", "/agent")
    world.send("cluster", "create", "c1", "/console", event="c-1")
    for heard in lives:
        if heard:
            world.send("cluster", "heartbeat", "c1", "/agent")
        assert world.send("cluster", "delete", "c1", "/console", event="d-1") == []
    entity = world.entity("cluster", "c1")
    assert entity.facets[0].base.phase == "Creating"
    assert entity.memory is not None
    assert len(entity.memory.taken) == 3
