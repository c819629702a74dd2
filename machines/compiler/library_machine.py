"""The machine of the library transitions as which a facet is built.

Belongs here: everything that uses the library, for the compiler. Does not: reading the machine back as a lookup
(`machine`). It is loaded when a facet is compiled: who only reads states needs neither.
"""

from typing import Any

from transitions import EventData, Machine, Transition

from phaseline.machines.compiler.machine import Step


class Arrow(Transition):
    """An arrow of the machine that refers to its step."""

    def __init__(self, step: Step) -> None:
        conditions: Any = [_condition(step)]
        super().__init__(step.source, step.dest, conditions)
        self.step = step


class StepMachine(Machine):
    """A machine whose arrows are steps."""

    def add_step(self, step: Step) -> None:
        """As `add_transition`, without what that looks for first: wildcards, lists of states, callbacks."""
        trigger = step.row.trigger
        if trigger not in self.events:
            self.events[trigger] = self._create_event(trigger, self)
        self.events[trigger].add_transition(Arrow(step))


def _condition(step: Step) -> Any:
    def fits(event: EventData) -> bool:
        given = event.kwargs
        return step.fits(given["judged"], given["base"], given["data"], given["interrupted"])

    return fits
