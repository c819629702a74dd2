"""A kind's facets as machines of the library transitions, to drive by hand in a notebook: `phaseline.machine`.

Belongs here: the machine, its states with labels, its conditions, the questions that it cannot answer. Does not: the
steps (`compiler.machine`), deciding events of a whole installation (`engine.core`), the diagrams of pages
(`docs.mermaid`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from transitions import EventData, State
from transitions.extensions.diagrams import GraphMachine, TransitionGraphSupport

from phaseline.engine.surfaces.testing.histories import kinds_of
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.labels import label_of
from phaseline.machines.compiler.machine import FacetMachine, Step
from phaseline.machines.language.predicates import Predicate
from phaseline.machines.language.scripts import NoScripts, ScriptRunner
from phaseline.machines.language.table import ABSENT, DELETED, Table
from phaseline.schemas.errors import NameUnknown
from phaseline.schemas.records import FacetState, state

if TYPE_CHECKING:
    from enum import Enum

ITSELF = "itself"
"""The id that guards are asked about."""


class _NotKnown(Exception):
    """A guard asks about what one entity alone does not tell."""


class _Alone:
    """An entity without a tree, as guards see it. Its facets are those of all machines of one call.

    certain: whether the attributes are known: rules that compute attributes are not run.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind, self.certain, self._attributes = kind, True, kind.attributes
        self.facets = list(kind.unborn)

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes, as data has set them; raises `_NotKnown` if a rule would have computed some."""
        if not self.certain:
            raise _NotKnown
        return self._attributes

    @property
    def scripts(self) -> ScriptRunner:
        """No scripts: guards that run one raise."""
        return NoScripts()

    def above(self, entity_id: str, kind: str) -> "_Alone | None":
        """The entity itself, None while it is unknown; raises `_NotKnown` for another one."""
        if entity_id != ITSELF or kind != self.kind.name:
            raise _NotKnown
        return None if all(facet.base.phase == ABSENT for facet in self.facets) else self

    def tally(self, *_: object) -> Mapping[str, int]:
        """Raise `_NotKnown`: nothing is known of entities below."""
        raise _NotKnown

    def take(self, index: int, step: Step, after: FacetState, data: Mapping[str, Any]) -> None:
        """Let a step change the facet with this index, and the attributes."""
        if step.source in (ABSENT, DELETED):
            self.certain, self._attributes = True, self.kind.attributes
        given = {name: data[name] for name in self.kind.table.assigned(step.row) if data.get(name) is not None}
        self.facets[index], self._attributes = after, {**self._attributes, **given}
        self.certain = self.certain and step.row.computes is None


class LabelledState(State):
    """A phase as a state of the machine. tags: what consoles call it, with each of its conditions."""

    def __init__(self, name: str, tags: list[str]) -> None:
        super().__init__(name)
        self.label, self.tags = "∅" if name == ABSENT else name, tags


class _Arrow(TransitionGraphSupport):
    """An arrow of the machine that takes its step."""

    def __init__(self, *args: Any, step: Step, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.step = step

    def _change_state(self, event_data: EventData) -> None:
        event_data.machine.take(self.step, data_of(event_data))
        super()._change_state(event_data)


class DrivenMachine(GraphMachine):
    """One facet of a kind as a machine of the library transitions; the machine is its own model. See docs/own-kinds.md.

    `trigger("create_failed", condition="Balance")` takes the first row that fits the state and the data, as a worker
    does. The library raises `MachineError` if no row starts in the state, and returns False if none fits. `state` is
    the phase, `get_triggers(state)` the triggers that start there, `get_graph(show_roi=True).draw(None)` a diagram in
    Mermaid. The machine knows one entity only: a guard about others counts as true, and `not_evaluated` names it; rules
    and views do not run, so the state is always the base.
    """

    transition_cls = _Arrow

    if TYPE_CHECKING:
        state: str

        def trigger(self, trigger: str, /, data: Mapping[str, Any] = {}, **fields: Any) -> bool:
            """Take a row of this trigger, with such data; False if none fits."""

        def get_state(self, state: str | Enum) -> LabelledState:
            """The state of this phase, with its labels."""

    def __init__(self, entity: _Alone, index: int) -> None:
        """Build the machine of the facet with this index."""
        self.entity, self.index = entity, index
        self.compiled: FacetMachine = entity.kind.machines[index]
        self.not_evaluated: tuple[str, ...] = ()
        super().__init__(
            states=[LabelledState(phase, _labels(self.compiled, phase)) for phase in self.compiled.phases],
            transitions=[*self._arrows()],
            initial=self.compiled.facet.begins, auto_transitions=False, send_event=True, prepare_event=self._forget,
            show_conditions=True, show_state_attributes=True, graph_engine="mermaid",
            title=f"title: {entity.kind.name}, {self.compiled.facet.name}",
        )  # fmt: skip

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions of the base, such as `("CreateError",)`."""
        return self._facet.base.conditions

    @property
    def label(self) -> str:
        """What consoles call the state, in English."""
        return label_of(self.compiled.facet, self._facet.base)

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes that data has set, and the defaults of the others."""
        return self.entity._attributes  # noqa: SLF001  # even if guards may not ask for them

    @property
    def _facet(self) -> FacetState:
        return self.entity.facets[self.index]

    def _arrows(self) -> Iterator[dict[str, Any]]:
        for trigger, by_phase in self.compiled.steps.items():
            for step in (step for steps in by_phase.values() for step in steps):
                conditions = self._conditions(step)
                yield {
                    "trigger": trigger,
                    "source": step.source,
                    "dest": step.dest,
                    "conditions": conditions,
                    "step": step,
                }

    def _conditions(self, step: Step) -> list[Callable[[EventData], bool]]:
        """What a step asks before it is taken, each with its text as name: diagrams show it."""
        fits = [] if step.plain else [_named(_asks(step), lambda event: self._fits(step, event))]
        return [*fits, *(_named(guard.text(), lambda _, one=guard: self._holds(one)) for guard in step.row.when)]

    def _fits(self, step: Step, event: EventData) -> bool:
        base = self._facet.base
        return step.fits(base, base, data_of(event), self._facet.interrupted)

    def _holds(self, guard: Predicate) -> bool:
        try:
            return guard.holds(self.entity, ITSELF)
        except _NotKnown:
            self.not_evaluated = (*self.not_evaluated, guard.text())
            return True

    def _forget(self, _: EventData) -> None:
        self.not_evaluated = ()

    def take(self, step: Step, data: Mapping[str, Any]) -> None:
        """Take a step; the library calls it before it changes `state`."""
        before = self._facet
        base = step.result(before.base, data)
        interrupted = self.compiled.interrupted(before, base, data)
        self.entity.take(self.index, step, FacetState(base, base, 0, interrupted), data)


def machine(kind: str | Table | Kind) -> dict[str, DrivenMachine]:
    """The machine of each facet of a kind, by the facet's name, to drive in a notebook: machines of `transitions`.

    kind: the name of an installed kind, a `Table`, or a `Kind`. All machines of one call are about one entity, which is
    unknown at first. Raises `NameUnknown` for a kind that is not installed, `WrongTable` for a table with errors.
    """
    entity = _Alone(_compiled(kind))
    return {name: DrivenMachine(entity, index) for index, name in enumerate(entity.kind.names)}


def _compiled(kind: str | Table | Kind) -> Kind:
    if isinstance(kind, Kind):
        return kind
    kinds = kinds_of(kind if isinstance(kind, Table) else None)
    name = kind.kind if isinstance(kind, Table) else kind
    if name not in kinds:
        raise NameUnknown.among("kind", name, kinds)
    return kinds[name]


def data_of(event: EventData) -> dict[str, Any]:
    """The data with which a trigger was called: a map, keyword arguments, or both."""
    return {**next(iter(event.args), {}), **event.kwargs}


def _labels(compiled: FacetMachine, phase: str) -> list[str]:
    """What consoles call a phase, with each of its conditions."""
    labels = (one.en for one in compiled.facet.labels if one.phase == phase)
    return list(dict.fromkeys(labels)) or [label_of(compiled.facet, state(phase))]


def _asks(step: Step) -> str:
    """What a step asks of the data and the conditions, in words."""
    given = [f"{name} is {value}" for name, value in step.row.given.items()]
    return ", ".join(given) or "data and conditions fit"


def _named(name: str, function: Callable[..., bool]) -> Callable[[EventData], bool]:
    function.__name__ = name
    return function
