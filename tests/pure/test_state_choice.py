"""Which states a person selects: phases, conditions, and the notation `{Failed,[Balance,*]}`.

Belongs here: reading the notation. Does not: selecting on a server (`tests/nats/test_client_queries`).
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.schemas.records import State
from phaseline.schemas.state_choice import StateChoice

BALANCE, BOTH = State("Failed", ("Balance",)), State("Failed", ("Unschedulable", "Balance"))
BARE, READY = State("Applied"), State("Failed", ("NotReady",))
STATES = (BALANCE, BOTH, BARE, READY, State("Stopped", ("Balance",)))

TEXTS = {
    "Failed": (BALANCE, BOTH, READY),
    "*": STATES,
    "{Failed,[*]}": (BALANCE, BOTH, READY),
    "{Failed,[Balance,*]}": (BALANCE, BOTH),
    " { Failed , [ Balance , * ] } ": (BALANCE, BOTH),
    "{Failed,[Balance]}": (BALANCE,),
    "Failed [Balance]": (BALANCE,),
    "Failed [Balance, Unschedulable]": (BOTH,),
    "{*,[Balance,*]}": (BALANCE, BOTH, STATES[4]),
    "{*,[Balance]}": (BALANCE, STATES[4]),
    "{Applied,[]}": (BARE,),
    "{Failed,[]}": (),
}


@pytest.mark.parametrize(("text", "selected"), TEXTS.items())
def test_the_notation(text: str, selected: tuple[State, ...]) -> None:
    choice = StateChoice.read(text)
    assert tuple(state for state in STATES if choice.selects(state)) == selected


def test_conditions_beside_a_state() -> None:
    assert StateChoice.read(None, ("Balance",)).selects(STATES[4])
    assert StateChoice.read("Failed", ("Balance", "Unschedulable")).selects(BOTH)
    assert not StateChoice.read("Failed", ("Balance", "Unschedulable")).selects(BALANCE)
    assert not StateChoice.read(None).looks_at_conditions
    assert not StateChoice.read("{Failed,[*]}").looks_at_conditions


@pytest.mark.parametrize("text", ["", "{Failed", "{Failed}", "Failed,", "[Balance]", "{,[Balance]}", "{Failed,[Balance,]}",
                                  "{Failed,[a][b]}", "Failed Balance", "{Failed,Balance}"])  # fmt: skip
def test_what_is_no_state(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no state.*write a phase \(Failed\), or \{phase,\[condition, ...\]\}"):
        StateChoice.read(text)


@given(st.sampled_from(["Failed", "Running"]), st.sets(st.sampled_from(["Balance", "NotReady", "Ok"])))
def test_a_printed_state_selects_itself(phase: str, conditions: set[str]) -> None:
    state = State(phase, tuple(sorted(conditions)))
    text = str(state) if conditions else f"{{{phase},[]}}"
    assert StateChoice.read(text).selects(state)
    assert StateChoice.read(f"{{{phase},[{','.join(sorted(conditions))}]}}") == StateChoice.read(text)
