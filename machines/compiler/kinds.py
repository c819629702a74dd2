"""All kinds of an installation, checked against each other and compiled.

Belongs here: `Kind`, a compiled table, which selects the steps that a trigger takes; which kind is above, counts or looks
at which other kind. Does not: the rules of a kind, which kinds there are (`built_in`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.machines.compiler import check_kinds, checks, fingerprint, reachability
from phaseline.machines.compiler.machine import FacetMachine, Step, phases_of
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Predicate, Scene
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, Field, Role, Table
from phaseline.machines.language.table import Facet as FacetOfTable
from phaseline.schemas.records import FacetState, State, state


class Counted(NamedTuple):
    """An ancestor kind keeps a tally of one facet of this kind. `arity`: parts of the ancestor's id.

    phases: those whose count matters to the ancestor when it leaves zero or comes to it.
    has: the condition that what is counted has, if any.
    """

    facet: int
    kind: str
    arity: int
    phases: frozenset[str]
    has: str | None

    def phase(self, state: State) -> str:
        """What a facet in that state counts as; Absent where it does not count."""
        return state.phase if self.has is None or self.has in state.conditions else ABSENT


class Seen(NamedTuple):
    """Views of kind `below` look at one facet of this kind, for these phases (of the base, or of the state)."""

    facet: int
    phases: frozenset[str]
    base: bool
    below: str


class Selection(NamedTuple):
    """What a trigger does to an entity: the steps to take, each with the index of its facet.

    refused: the first guard that stopped a step which fits otherwise.
    """

    steps: list[tuple[int, Step]]
    refused: Predicate | None


class Kind:
    """A table, compiled and placed among the others."""

    def __init__(self, table: Table, tables: Mapping[str, Table]) -> None:
        """Compile `table`; `tables` are all of the installation."""
        self.table = table
        self.name = table.kind
        self.version = fingerprint.version_of(table)
        """Of the table: what records carry."""
        self.arity = len(table.id)
        self.names = tuple(facet.name for facet in table.facets)
        self.machines = tuple(FacetMachine(facet) for facet in table.facets)
        self.parent = table.parent
        self.parent_arity = len(tables[table.parent].id) if table.parent else 0
        self.roles: dict[str, Role] = {trigger: table.role(trigger) for trigger in table.triggers}
        self._judged_by_state = frozenset(table.intents)
        self._steps: dict[str, tuple[tuple[int, Mapping[str, tuple[Step, ...]]], ...]] = {
            trigger: tuple((i, m.steps[trigger]) for i, m in enumerate(self.machines) if trigger in m.steps)
            for trigger in table.triggers
        }
        self.naming = frozenset(row.trigger for facet in table.facets for row in facet.rows if row.to == FROM_DATA)
        """The triggers whose data may name the base."""
        self.fields: dict[str, tuple[Field, ...]] = {trigger: fields_of(table, trigger) for trigger in table.triggers}
        self.attributes = {field.name: field.default for field in table.attributes if field.default is not None}
        self.unborn = tuple(FacetState(state(ABSENT), state(ABSENT), 0) for _ in self.machines)
        self.adopted = tuple(state(*facet.adopted) for facet in table.facets)
        self.timeouts = tuple({after.phase: after for after in facet.timeouts} for facet in table.facets)
        """Per facet, what fires when a state lasts, by phase."""
        self.expiring = tuple(dict(lapsing(facet)) for facet in table.facets)
        """Per facet and phase, the conditions that end with a stay in it."""
        self.timed = frozenset(after.trigger for facet in table.facets for after in facet.timeouts)
        self.fast_path_ok = not self.timed and not looks_at_itself(table)
        """Whether no time runs, and no view of it depends on the entity itself."""
        self.interprets = {on: read.rule for read in table.interprets for on in read.on}
        self.fan_out_triggers = frozenset(on for told in table.fan_outs for on in told.on)
        self.counted = tuple(counted_by(table, tables))
        self.seen = tuple(seen_by(table, tables))
        self.bases: tuple[frozenset[State], ...] = tuple(
            reachability.reachable(machine, table.intents) for machine in self.machines
        )
        """Per facet, every base that rows can lead to, conditions in sorted order."""

    def select(
        self, trigger: str, facets: Sequence[FacetState], scene: Scene, entity_id: str, data: Mapping[str, Any]
    ) -> Selection:
        """Select the step that `trigger` takes in each facet: intents are judged by the state, others by the base.

        The first row of the table counts that fits the facet and the data, and whose guards hold.
        """
        taken: list[tuple[int, Step]] = []
        refused: Predicate | None = None
        by_state = trigger in self._judged_by_state
        for index, by_phase in self._steps[trigger]:
            facet = facets[index]
            judged = facet.state if by_state else facet.base
            for step in by_phase.get(judged.phase, ()):
                if step.fits(judged, facet.base, data):
                    failed = step.failed_guard(scene, entity_id) if step.row.when else None
                    if failed is None:
                        taken.append((index, step))
                        break
                    refused = refused or failed
        return Selection(taken, refused)

    def offers(self, trigger: str, facets: Sequence[FacetState], scene: Scene, entity_id: str) -> bool:
        """Whether `select` would find a step for `trigger` now, with data that suits it."""
        by_state = trigger in self._judged_by_state
        for index, by_phase in self._steps[trigger]:
            facet = facets[index]
            judged = facet.state if by_state else facet.base
            for step in by_phase.get(judged.phase, ()):
                if step.is_offered(judged, facet.base) and step.failed_guard(scene, entity_id) is None:
                    return True
        return False

    def already_so(self, trigger: str, facets: Sequence[FacetState], data: Mapping[str, Any]) -> bool:
        """Whether an observation reports what the base of one of its facets is already."""
        for index, by_phase in self._steps[trigger]:
            for steps in by_phase.values():
                meant = [step for step in steps if step.row.given and step.means(data)]
                if any(step.reports(facets[index].base, data) for step in meant or steps):
                    return True
        return False


class Kinds(dict[str, Kind]):
    """The kinds of an installation by name. Raises `WrongTable` where a table could not work, saying what to write."""

    def __init__(self, tables: tuple[Table, ...]) -> None:
        """Check and compile `tables`."""
        for table in tables:
            checks.check_table(table)
        check_kinds.check_forest(tables)
        named = {table.kind: table for table in tables}
        super().__init__({table.kind: Kind(table, named) for table in tables})
        self.versions = {name: kind.version for name, kind in sorted(self.items())}
        self.digest = fingerprint.digest_of(self.versions)
        """One version over all of them: who has another may decide otherwise."""
        self._paths = {(a.kind, b.kind): tuple(check_kinds.path(named, a.kind, b.kind)) for a in tables for b in tables}

    def path(self, above: str, below: str) -> tuple[str, ...]:
        """The kinds from `above` (left out) down to `below`; empty where `below` is not under `above`."""
        return self._paths[above, below]

    def children(self, name: str) -> tuple[str, ...]:
        """The kinds whose parent is `name`."""
        return tuple(kind.name for kind in self.values() if kind.parent == name)


def fields_of(table: Table, trigger: str) -> tuple[Field, ...]:
    """What the data of an event may hold beside `reason` and `message`."""
    rows = [(facet, row) for facet in table.facets for row in facet.rows if row.trigger == trigger]
    assigned = {name for _, row in rows for name in table.assigned(row)}
    attributes = tuple(field for field in table.attributes if field.name in assigned)
    named: tuple[Field, ...] = ()
    for facet in (facet for facet, row in rows if row.to == FROM_DATA):
        phases = tuple(phase for phase in phases_of(facet) if phase not in (ABSENT, DELETED))
        conditions = tuple(dict.fromkeys(label.condition for label in facet.labels if label.condition is not None))
        named = (
            Field("phase", str, "the phase it is in", phases, required=True),
            Field(
                "conditions",
                str,
                "its conditions, in order of arrival; the phase's own where left out",
                conditions,
                many=True,
            ),
        )
    return (*named, *table.fields.get(trigger, ()), *attributes)


def lapsing(facet: FacetOfTable) -> Iterator[tuple[str, frozenset[str]]]:
    """By phase, the conditions that the rows of its timer's trigger set: they are about that one stay."""
    for after in facet.timeouts:
        sets = {row.sets for row in facet.rows if row.trigger == after.trigger and row.sets is not None}
        yield after.phase, frozenset(sets.difference(facet.sticky))


def looks_at_itself(table: Table) -> bool:
    """Whether a view depends on the entity itself, or on something that cannot be told."""
    seen = [predicate for facet in table.facets for view in facet.views for predicate in view.while_]
    return not all(
        isinstance(predicate, AnyBelow | AllBelow)
        or (isinstance(predicate, Above | AttributeIs) and predicate.kind != table.kind)
        for predicate in seen
    )


def counted_by(table: Table, tables: Mapping[str, Table]) -> Iterator[Counted]:
    """Which ancestors look at this kind's tally."""
    phases: dict[tuple[int, str, str], set[str]] = {}
    for other in tables.values():
        for facet in (facet for kind, facet in other.tallies if kind == table.kind):
            phases.setdefault((facet, other.kind, ""), set())
        for predicate in check_kinds.predicates(other):
            if isinstance(predicate, AnyBelow | AllBelow) and predicate.kind == table.kind:
                every = (
                    phases_of(table.facets[predicate.facet]) if isinstance(predicate, AllBelow) else predicate.phases
                )
                phases.setdefault((predicate.facet, other.kind, predicate.has or ""), set()).update(every)
    for (facet, kind, has), found in sorted(phases.items()):
        yield Counted(facet, kind, len(tables[kind].id), frozenset(found), has or None)


def seen_by(table: Table, tables: Mapping[str, Table]) -> Iterator[Seen]:
    """Which descendants' views look at this kind."""
    for other in tables.values():
        for facet in other.facets:
            for view in facet.views:
                for predicate in view.while_:
                    if isinstance(predicate, Above) and predicate.kind == table.kind:
                        yield Seen(predicate.facet, frozenset(predicate.phases), predicate.base, other.kind)
