"""Tables as Mermaid state diagrams, with one arrow for each source of each row.

Belongs here: the syntax of `stateDiagram-v2`. Does not: the phrases in notes (`wording`). The library transitions
draws Mermaid too, but it draws *live* as an arrow from each phase and *adopt* as an arrow to each: nobody can read it.
"""

from collections.abc import Iterator

from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import FacetMachine, Step, steps_of
from phaseline.machines.docs import wording
from phaseline.machines.language.table import ABSENT, FROM_DATA, Live, Row, Source

INDENT = "    "
ANY = Live()


def diagram(kind: Kind) -> str:
    """The diagram of a kind. If it has several facets, each one is in a box."""
    lines = ["stateDiagram-v2"]
    several = len(kind.machines) > 1
    for machine in kind.machines:
        facet = machine.facet
        if several:
            lines.append(f"{INDENT}state {facet.name} {{")
        margin = INDENT * (2 if several else 1)
        lines += [margin + line for line in _Drawing(kind, machine, f"{facet.name}_" if several else "").lines()]
        if several:
            lines.append(f"{INDENT}}}")
    return "\n".join(lines) + "\n"


class _Drawing:
    """The diagram of one facet. `prefix` keeps the names of several facets apart."""

    def __init__(self, kind: Kind, machine: FacetMachine, prefix: str) -> None:
        self.table, self.facet, self.prefix = kind.table, machine.facet, prefix
        self.phases = phases_of(machine.facet)
        self.names: dict[str, str] = {}
        self.arrows: dict[tuple[str, str], dict[str, None]] = {}

    def lines(self) -> Iterator[str]:
        """The names of phases, then the arrows, then a note for each phase that views show."""
        for row in self.facet.rows:
            for start in row.source:
                for source, dest in self._ends(row, start):
                    self.arrows.setdefault((source, dest), {})[self._trigger(row.trigger)] = None
        for phase in self.phases:
            if phase != ABSENT:
                self._phase(phase)
        yield from (f'state "{name}" as {token}' for token, name in self.names.items() if token != name)
        if self.facet.begins != ABSENT:
            yield f"[*] --> {self._phase(self.facet.begins)}"
        for (source, dest), triggers in self.arrows.items():
            yield f"{source} --> {dest}: {', '.join(triggers)}"
        for phase, notes in self._notes().items():
            yield f"note right of {phase}"
            yield from (f"{INDENT}{note}" for note in notes)
            yield "end note"

    def _ends(self, row: Row, start: Source) -> Iterator[tuple[str, str]]:
        """The arrows of one row from one of its sources."""
        if row.to == FROM_DATA:
            yield self._start(start), self._start(ANY)
        elif isinstance(start, Live):
            source = self._start(start)
            to = {step.dest for step in self._steps(row, start) if step.dest != step.source}
            yield from ((source, self._phase(dest)) for dest in self.phases if dest in to)
            if any(step.dest == step.source and row.to != step.dest for step in self._steps(row, start)):
                yield source, source
        else:
            for step in self._steps(row, start):
                yield self._start(start), self._phase(step.dest)

    def _steps(self, row: Row, start: Source) -> list[Step]:
        return steps_of(self.facet, Row((start,), row.trigger, row.to, clears=row.clears), self.phases)

    def _start(self, start: Source) -> str:
        if isinstance(start, Live):
            name = wording.source(start).replace("live", "any live state", 1)
            token = self.prefix + name.replace(" ", "_").replace(",", "").replace("-", "_")
            self.names[token] = name
            return token
        phase = start if isinstance(start, str) else start.phase
        return "[*]" if phase == ABSENT else self._phase(phase)

    def _phase(self, phase: str) -> str:
        token = self.prefix + phase.replace("-", "_")
        self.names[token] = phase
        return token

    def _trigger(self, trigger: str) -> str:
        return f"({trigger})" if self.table.role(trigger) == "derived" else trigger

    def _notes(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for view in self.facet.views:
            found.setdefault(self._phase(view.to), []).append(
                f"{wording.shows(self.facet, view)} while {wording.while_(view)}"
            )
        return found
