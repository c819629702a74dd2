"""Tables as Mermaid state diagrams: one arrow per row and start, so that a diagram shows the table and nothing more.

Belongs here: the syntax of `stateDiagram-v2`. Does not: rules. `transitions` draws Mermaid too, but expands *live* into
an arrow from each phase and `adopt` into one to each, which nobody can read.
"""

from collections.abc import Iterator

from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import FacetMachine, Step, phases_of, steps_of
from phaseline.machines.docs import wording
from phaseline.machines.language.table import ABSENT, FROM_DATA, Live, Row, Source

INDENT = "    "
ANY = Live()


def diagram(kind: Kind) -> str:
    """The whole kind; with several facets, each in a box of its own."""
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
    """One facet under the pen. `prefix` keeps the names of several facets apart."""

    def __init__(self, kind: Kind, machine: FacetMachine, prefix: str) -> None:
        self.table, self.facet, self.prefix = kind.table, machine.facet, prefix
        self.phases = phases_of(machine.facet)
        self.names: dict[str, str] = {}
        self.arrows: dict[tuple[str, str], dict[str, None]] = {}

    def lines(self) -> Iterator[str]:
        """Names first, then arrows, then what the views show as notes."""
        for row in self.facet.rows:
            for where in row.source:
                for source, dest in self._ends(row, where):
                    self.arrows.setdefault((source, dest), {})[self._word(row.trigger)] = None
        for phase in self.phases[1:]:
            self._phase(phase)
        yield from (f'state "{name}" as {token}' for token, name in self.names.items() if token != name)
        for (source, dest), triggers in self.arrows.items():
            yield f"{source} --> {dest}: {', '.join(triggers)}"
        for phase, notes in self._shown().items():
            yield f"note right of {phase}"
            yield from (f"{INDENT}{note}" for note in notes)
            yield "end note"

    def _ends(self, row: Row, where: Source) -> Iterator[tuple[str, str]]:
        """The arrows of one row from one of its starts."""
        if row.to == FROM_DATA:
            yield self._start(where), self._start(ANY)
        elif isinstance(where, Live):
            source = self._start(where)
            to = {step.dest for step in self._steps(row, where) if step.dest != step.source}
            yield from ((source, self._phase(dest)) for dest in self.phases if dest in to)
            if any(step.dest == step.source and row.to != step.dest for step in self._steps(row, where)):
                yield source, source
        else:
            for step in self._steps(row, where):
                yield self._start(where), self._phase(step.dest)

    def _steps(self, row: Row, where: Source) -> list[Step]:
        return steps_of(self.facet, Row((where,), row.trigger, row.to, clears=row.clears), self.phases)

    def _start(self, where: Source) -> str:
        if isinstance(where, Live):
            name = wording.start(where).replace("live", "any live state", 1)
            token = self.prefix + name.replace(" ", "_").replace(",", "").replace("-", "_")
            self.names[token] = name
            return token
        phase = where if isinstance(where, str) else where.phase
        return "[*]" if phase == ABSENT else self._phase(phase)

    def _phase(self, phase: str) -> str:
        token = self.prefix + phase.replace("-", "_")
        self.names[token] = phase
        return token

    def _word(self, trigger: str) -> str:
        return f"({trigger})" if self.table.role(trigger) == "derived" else trigger

    def _shown(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for view in self.facet.views:
            found.setdefault(self._phase(view.to), []).append(
                f"{wording.shown(self.facet, view)} while {wording.while_(view)}"
            )
        return found
