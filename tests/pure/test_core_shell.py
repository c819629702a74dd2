"""The parts that the core leaves to the shell: running scripts, and logging the events on which rules fail."""

from collections.abc import Mapping
from typing import Any

from structlog.testing import capture_logs

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.surfaces.testing.histories import SUBJECTS, event
from phaseline.engine.worker.faults import FaultLog, log_fault
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.rules import rule
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, Attributes, Facet, Label, Row, RuleEvent, Table
from phaseline.schemas.records import Rejection
from tests.support.own_product import OWN


@rule("lamp.broken", revision=1)
def broken(_: Attributes, happened: RuleEvent) -> Mapping[str, Any]:
    raise ValueError(f"cannot count event {happened.sequence}")


LAMP = Table(
    kind="lamp",
    id=("lamp",),
    intents=("plug", "unplug"),
    facets=(
        Facet(
            name="phase",
            healthy="On",
            labels=(Label("On", "Ok", "On"), Label("Off", "Ok", "Off")),
            rows=(
                Row((ABSENT, "Off"), "plug", "On"),
                Row(("On",), "unplug", "Off", computes=broken),
            ),
        ),
    ),
)


def test_a_batch_carries_the_faults_and_the_caller_logs_them() -> None:
    processor = Processor(Tree(Kinds((LAMP,), products=OWN), NoScripts()), SUBJECTS, 0)
    sent = [event("lamp", trigger, "l") for trigger in ("plug", "unplug")]
    events = [StoredEvent(one.subject, one.body, number, number) for number, one in enumerate(sent, 1)]
    with capture_logs() as logs:
        batch = processor.process(events, 0)
        assert logs == []
        [fault] = batch.faults
        log_fault(*fault)
    assert (fault.event, str(fault.error)) == (events[1], "cannot count event 2")
    parked = {"event": "event_parked", "log_level": "error", "position": 2, "subject": events[1].subject,
              "kind": "lamp", "rule": "lamp.broken", "error": "ValueError: cannot count event 2"}  # fmt: skip
    assert logs[0] == parked
    assert [(one["event"], one["log_level"]) for one in logs[1:]] == [("fault_traceback", "debug")]
    assert (processor.counts.transitions, processor.counts.rejections, processor.counts.faults) == (1, 1, 1)
    [rejection] = processor.answer(events[1]).records
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "fault"


def test_a_storm_of_faults_makes_few_lines() -> None:
    now = [1000.0]
    faults = FaultLog(lambda: now[0])
    stored = StoredEvent("pl.inbox.0.r.lamp.unplug", b"", 7, 7)
    with capture_logs() as logs:
        for _ in range(300):
            faults.add(stored, ValueError("x" * 1_000_000 + "\nsecond line"))
        now[0] += 61
        faults.add(stored, ValueError("later"))
    lines = [one for one in logs if one["log_level"] == "error"]
    assert [one["event"] for one in lines] == ["event_parked"] * 20 + ["faults_left_out", "event_parked"]
    assert lines[20]["faults"] == 280
    assert all(len(str(one)) < 1_500 and "\n" not in one.get("error", "") for one in lines)


def test_a_tree_without_a_script_runner_says_so() -> None:
    health = NoScripts().lua("return {}", {"kind": "Pod"}, 0)
    assert health[0] == "Unknown"
    assert "no script runner" in health[1]
    removed = NoScripts().jq([".spec"], [{"spec": 1}])[0][0]
    assert removed.value == {"spec": 1}
    assert "no script runner" in removed.problem
