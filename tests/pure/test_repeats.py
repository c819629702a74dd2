"""What is a repeat: older numbers and epochs are refused once for each run, equal ones and known ids do nothing."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from phaseline.engine.core.transitions import REPEAT
from phaseline.engine.core.tree import evolve
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Heard, Mark, Record, Rejection, Transition
from tests.support.numbered_world import NumberedWorld

AGENT, CONSOLE = "/agent/c1", "/console"


@pytest.fixture
def world() -> NumberedWorld:
    """A cluster that runs. Its agent has counted to 100."""
    world = NumberedWorld()
    world.send("cluster", "create", "c1", CONSOLE, event="d-0")
    world.send("cluster", "created", "c1", AGENT, 100)
    return world


def refusal(records: Sequence[Record]) -> Rejection:
    """The rejection of the first of a run, which stands beside a mark."""
    noted, rejected = records
    assert isinstance(noted, Mark)
    assert isinstance(rejected, Rejection)
    assert rejected.reason == "repeat"
    return rejected


def test_an_older_number_is_refused_aloud_once_for_each_run(world: NumberedWorld) -> None:
    said = refusal(world.send("cluster", "error", "c1", AGENT, 1)).message
    assert said.startswith(
        "cluster c1 is Running [Ok]: number 1 of /agent/c1 is older than number 100, heard at 2026-03-02T08:00:02Z: "
    )
    assert "higher epoch (0 is the last one)" in said
    for number in (2, 3, 100):
        assert world.send("cluster", "error", "c1", AGENT, number) == []
        assert world.decision is REPEAT
    assert world.shown() == "Running [Ok]"
    (moved,) = world.send("cluster", "error", "c1", AGENT, 101)
    assert isinstance(moved, Transition)
    assert (
        "number 101, heard at 2026-03-02T08:00:07Z" in refusal(world.send("cluster", "created", "c1", AGENT, 4)).message
    )


def test_each_source_has_a_run_of_its_own(world: NumberedWorld) -> None:
    world.send("cluster", "error", "c1", "/other", 7)
    refusal(world.send("cluster", "created", "c1", AGENT, 1))
    refusal(world.send("cluster", "created", "c1", "/other", 6))
    assert world.send("cluster", "created", "c1", AGENT, 2) == []
    world.send("cluster", "created", "c1", "/other", 8)
    assert world.send("cluster", "created", "c1", AGENT, 3) == []


def test_the_same_number_is_the_same_event(world: NumberedWorld) -> None:
    assert world.send("cluster", "error", "c1", AGENT, 100) == []
    assert world.decision is REPEAT


@pytest.mark.parametrize("trigger", ["error", "heartbeat", "reported", "snapshot", "delete"])
def test_every_sort_of_event_is_refused(world: NumberedWorld, trigger: str) -> None:
    of: dict[str, dict[str, Any]] = {"snapshot": {"kind": "node", "items": []}, "reported": {"phase": "Failed"}}
    data = of.get(trigger, {})
    refusal(world.send("cluster", trigger, "c1", AGENT, 5, data=data))
    assert world.send("cluster", trigger, "c1", AGENT, 6, data=data) == []


def test_a_refused_event_is_no_hearing(world: NumberedWorld) -> None:
    world.send("cluster", "configure", "c1", CONSOLE, data={"silence_after": 3})
    world.send("cluster", "heartbeat", "c1", AGENT, 101)
    before = world.entity("cluster", "c1")
    refusal(world.send("cluster", "heartbeat", "c1", AGENT, 1))
    after = world.entity("cluster", "c1")
    assert (after.attributes, after.timers_ns) == (before.attributes, before.timers_ns)


def test_a_newer_epoch_is_heard_at_once_and_the_older_one_is_refused(world: NumberedWorld) -> None:
    (moved,) = world.send("cluster", "error", "c1", AGENT, 1, epoch=7)
    assert isinstance(moved, Transition)
    said = refusal(world.send("cluster", "created", "c1", AGENT, 2**40)).message
    assert "is older than number 1 of epoch 7, heard at " in said
    assert world.send("cluster", "created", "c1", AGENT, 1, epoch=7) == []
    assert world.send("cluster", "created", "c1", AGENT, 2, epoch=7) != []
    assert world.entity("cluster", "c1").memory is not None


def test_a_new_life_forgets_the_numbers_of_observations(world: NumberedWorld) -> None:
    world.send("cluster", "delete", "c1", CONSOLE, 5)
    world.send("cluster", "deleted", "c1", AGENT, 101)
    world.send("cluster", "error", "c1", "/counted", 3, epoch=9)
    world.send("cluster", "create", "c1", CONSOLE, 6)
    assert world.entity("cluster", "c1").sequences == {CONSOLE: 6}
    (moved,) = world.send("cluster", "created", "c1", AGENT, 1)
    assert isinstance(moved, Transition)
    assert "older than number 6, heard at" in refusal(world.send("cluster", "delete", "c1", CONSOLE, 4)).message


def test_a_new_life_keeps_epochs_and_the_number_of_the_last_intent(world: NumberedWorld) -> None:
    world.send("cluster", "reported", "c1", "/counted", 3, epoch=9, data={"phase": "Running"})
    world.send("cluster", "update", "c1", AGENT, 110)
    world.send("cluster", "updated", "c1", AGENT, 120)
    world.send("cluster", "delete", "c1", CONSOLE)
    world.send("cluster", "deleted", "c1", AGENT, 121)
    world.send("cluster", "create", "c1", CONSOLE)
    found = world.entity("cluster", "c1")
    assert found.sequences == {"/counted": 3, AGENT: 110}
    assert found.memory is not None
    assert found.memory.sources[AGENT] == Heard(0, 0, 110)
    assert found.memory.sources["/counted"].epoch == 9
    said = refusal(world.send("cluster", "created", "c1", AGENT, 109)).message
    assert "is older than number 110: it counts as a repeat" in said


def test_an_intent_comes_again_after_a_new_life(world: NumberedWorld) -> None:
    (asked,) = world.send("cluster", "delete", "c1", CONSOLE, event="d-1")
    assert isinstance(asked, Transition)
    world.send("cluster", "deleted", "c1", AGENT, 101)
    world.send("cluster", "create", "c1", CONSOLE, event="d-2")
    world.send("cluster", "created", "c1", AGENT, 1)
    assert world.send("cluster", "delete", "c1", CONSOLE, event="d-1") == []
    assert world.decision is REPEAT
    assert world.shown() == "Running [Ok]"
    assert world.send("cluster", "delete", "c1", "/other", event="d-1") != []


def test_four_intents_are_remembered(world: NumberedWorld) -> None:
    for number in range(1, 5):
        world.send("cluster", "configure", "c1", CONSOLE, event=f"d-{number}", data={"silence_after": number})
    memory = world.entity("cluster", "c1").memory
    assert memory is not None
    assert [one.partition(":")[2] for one in memory.taken] == ["3", "4", "5", "6"]
    assert world.send("cluster", "configure", "c1", CONSOLE, event="d-1", data={"silence_after": 9}) == []
    assert world.send("cluster", "configure", "c1", CONSOLE, event="d-5", data={"silence_after": 9}) != []
    assert world.send("cluster", "configure", "c1", CONSOLE, event="d-1", data={"silence_after": 8}) != []


def test_a_rejected_intent_may_come_again(world: NumberedWorld) -> None:
    (rejected,) = world.send("node_pool", "create", "c2/p", CONSOLE, event="d-9")
    assert isinstance(rejected, Rejection)
    world.send("cluster", "adopt", "c2", AGENT, data={"phase": "Running"})
    taken = world.send("node_pool", "create", "c2/p", CONSOLE, event="d-9")
    assert isinstance(taken[0], Transition)


def test_observations_without_a_number_leave_nothing(world: NumberedWorld) -> None:
    world.send("cluster", "adopt", "c9", AGENT, data={"phase": "Running"})
    world.send("cluster", "error", "c9", AGENT)
    assert world.entity("cluster", "c9").memory is None


def test_a_record_of_an_earlier_version_has_no_time(world: NumberedWorld) -> None:
    (record,) = world.send("cluster", "error", "c1", AGENT, 101)
    body = json.loads(wire_codec.write(record, 0, 1, "pl", as_json=True))
    del body["data"]["entity"]["memory"]
    old = wire_codec.read(json.dumps(body).encode())
    evolve(world.tree, old)
    evolve(world.restored, old)
    said = refusal(world.send("cluster", "created", "c1", AGENT, 3)).message
    assert "is older than number 101: it counts as a repeat" in said
