"""Tables as Mermaid state diagrams, drawn by the library transitions.

Belongs here: which boxes and arrows a page shows: one arrow for each source of each row, and one box for all live
states together. Does not: the syntax of Mermaid (the library), machines to drive (`surfaces.testing.driven`).
"""

from collections.abc import Iterator
from typing import Any

from transitions.extensions.diagrams import HierarchicalGraphMachine
from transitions.extensions.nesting import NestedState

from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import FacetMachine, steps_of
from phaseline.machines.docs import wording
from phaseline.machines.language.table import ABSENT, FROM_DATA, Live, Row, Source

ANY = Live()


class _Box(NestedState):
    """A box: a phase, all live states, or a facet. Ids of boxes have single underscores."""

    separator = "__"

    def __init__(self, *args: Any, label: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.label = label


class _Diagram(HierarchicalGraphMachine):
    """A machine that is only drawn."""

    state_cls = _Box


def diagram(kind: Kind) -> str:
    """The diagram of a kind. If it has several facets, each one is in a box."""
    drawings = [_Drawing(kind, machine) for machine in kind.machines]
    boxes, arrows, begins = drawings[0].boxes(), drawings[0].arrows(), drawings[0].begins
    if len(drawings) > 1:
        boxes = [one.in_a_box() for one in drawings]
        arrows = [arrow for one in drawings for arrow in one.arrows(f"{one.facet.name}{_Box.separator}")]
        begins = ""
    machine = _Diagram(
        model=None, states=boxes, transitions=arrows, initial=begins or None, auto_transitions=False,
        graph_engine="mermaid",
    )  # fmt: skip
    return str(machine.graph_cls(machine).get_graph(f"title: {kind.name}").draw(None)) + "\n"


class _Drawing:
    """The boxes and arrows of one facet. A box stands for a phase, or for all live phases from which a row starts."""

    def __init__(self, kind: Kind, machine: FacetMachine) -> None:
        self.table, self.facet, self.phases = kind.table, machine.facet, phases_of(machine.facet)
        self.begins = _token(self.facet.begins)
        self.names = {_token(phase): self._label(phase) for phase in self.phases}
        self.ends: dict[tuple[str, str, str], None] = {}
        for row in self.facet.rows:
            label = f"({row.trigger})" if self.table.role(row.trigger) == "derived" else row.trigger
            for start in row.source:
                self.ends |= dict.fromkeys((label, *ends) for ends in self._ends(row, start))

    def in_a_box(self) -> dict[str, Any]:
        """The facet as a box with its boxes in it."""
        name = self.facet.name
        return {"name": name, "label": name, "children": self.boxes(), "initial": self.begins}

    def boxes(self) -> list[dict[str, Any]]:
        """The boxes, as the library takes them: the phases that arrows touch, and the live ones together."""
        touched = {self.begins, *(end for _, *ends in self.ends for end in ends)}
        return [{"name": token, "label": name} for token, name in self.names.items() if token in touched]

    def arrows(self, prefix: str = "") -> list[dict[str, str]]:
        """The arrows, as the library takes them; `prefix` stands before the ids of boxes."""
        return [
            {"trigger": label, "source": prefix + source, "dest": prefix + dest} for label, source, dest in self.ends
        ]

    def _ends(self, row: Row, start: Source) -> Iterator[tuple[str, str]]:
        """The arrows of one row from one of its sources."""
        source = self._start(start)
        if row.to == FROM_DATA:
            yield source, self._start(ANY)
            return
        steps = steps_of(self.facet, Row((start,), row.trigger, row.to, clears=row.clears), self.phases)
        if not isinstance(start, Live):
            yield from ((source, _token(step.dest)) for step in steps)
            return
        to = {step.dest for step in steps if step.dest != step.source}
        yield from ((source, _token(dest)) for dest in self.phases if dest in to)
        if any(step.dest == step.source and row.to != step.dest for step in steps):
            yield source, source

    def _start(self, start: Source) -> str:
        if isinstance(start, Live):
            name = wording.source(start).replace("live", "any live state", 1)
            self.names[_token(name)] = name
            return _token(name)
        return _token(start if isinstance(start, str) else start.phase)

    def _label(self, phase: str) -> str:
        """The phase, and which views show it."""
        shown = [
            f"{wording.shows(self.facet, view)} while {wording.while_(view)}"
            for view in self.facet.views
            if view.to == phase
        ]
        return r"\n".join([wording.UNKNOWN if phase == ABSENT else phase, *shown])


def _token(name: str) -> str:
    """A name as the id of a box."""
    return name.replace(" ", "_").replace(",", "").replace("-", "_")
