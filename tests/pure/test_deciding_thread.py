"""Which kinds are decided in a thread, and when a decision counts as stuck: not by the clock."""

import threading

import pytest

from phaseline.engine.worker.deciding import DecidingThread, Pace, rule_names
from phaseline.machines.built_in import installed
from phaseline.machines.language.rules import rule
from phaseline.schemas.errors import SetupError


@pytest.mark.parametrize("kind", ["cluster", "node_pool", "node", "component"])
def test_rules_of_the_table_language_need_no_thread(kind: str) -> None:
    assert rule_names(installed()[kind]) == ()


def test_rules_of_products_are_decided_in_a_thread() -> None:
    assert "gitops.observed_owned" in rule_names(installed()["owned_object"])


def test_no_other_code_takes_a_name_of_the_table_language() -> None:
    with pytest.raises(ValueError, match=r"phaseline\.cooled, of .*test_deciding_thread: .* use a word of your own"):
        rule("phaseline.cooled", revision=1)(lambda attributes, _: attributes)


async def test_where_others_have_the_processor_a_long_decision_is_not_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    looks, over = list[float](), threading.Event()

    def computed(_: DecidingThread) -> float:
        looks.append(0.01 * len(looks))
        if len(looks) == 3:
            over.set()
        return looks[-1]

    monkeypatch.setattr(DecidingThread, "_computed", computed)
    thread = DecidingThread("test", 1.0)
    assert await thread.run(over.wait, Pace(60.0))
    thread.close()


async def test_a_decision_that_waits_for_something_is_stuck() -> None:
    thread, over = DecidingThread("test", 1.0), threading.Event()
    with pytest.raises(SetupError) as caught:
        await thread.run(over.wait, Pace(60.0))
    assert SetupError.decision_stuck.made(caught.value)
    over.set()
    thread.close()
