"""All kinds of an installation, checked, and compiled when they are needed.

Belongs here: `Kind` (a compiled table), which says which steps a trigger takes; `Kinds`, which says how kinds depend on
each other; built-in tables are loaded at their first use, those of a tree together. Does not: the table of any kind,
the list of built-in kinds (`machines.built_in`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from phaseline.machines.compiler import fingerprint, relations, reports
from phaseline.machines.compiler.completion import completed, implied_cascades
from phaseline.machines.compiler.conditions import expiring_conditions, phases_of
from phaseline.machines.compiler.machine import NO_CANDIDATES, FacetMachine, Step, candidates_of, starts_of_trigger
from phaseline.machines.language.contact import FACET, HEARD_AT, with_contact
from phaseline.machines.language.fields import ATTRIBUTES, BY_ROLE, COMMON
from phaseline.machines.language.predicates import Predicate, Scene
from phaseline.machines.language.product import (
    Bans,
    BrokenKind,
    CopiedEvent,
    LateTable,
    NoProducts,
    Product,
    copies_of,
    load,
)
from phaseline.machines.language.signals import telling, with_signals
from phaseline.machines.language.table import ABSENT, FROM_DATA, REPORTED, Field, Role, Table
from phaseline.schemas.records import CONTACT, SIGNALS, Entity, FacetState, State, state
from phaseline.schemas.subjects import ancestor_id

if TYPE_CHECKING:
    from phaseline.machines.compiler.short_ways import MovePlan, PlanKey


def table_of(written: Table | LateTable) -> Table:
    """The table, loaded if it is not loaded yet."""
    if not isinstance(written, LateTable):
        return written  # if it is no table, the checks say so
    found: Table = load(written.at)
    return found


class LateTree(Mapping[str, Table]):
    """The tables of the kinds below one root, by kind, completed. The first look at one of them loads them all.

    Whatever a table refers to stands above it or below it, so no other tree has a say in what is added to it.
    """

    def __init__(self, written: Sequence[Table | LateTable]) -> None:
        self._written = written
        self._found: dict[str, Mapping[str, Table]] = {}

    def _tables(self) -> Mapping[str, Table]:
        if not self._found:
            tables = tuple(map(table_of, self._written))
            # Of two threads that load at once, the first one decides: what was handed out stays.
            self._found.setdefault("completed", {table.kind: completed(table, tables) for table in tables})
        return self._found["completed"]

    def __getitem__(self, kind: str) -> Table:
        """The table of a kind, as the engine runs it."""
        return self._tables()[kind]

    def __iter__(self) -> Iterator[str]:
        """The kinds, in the order of the installation."""
        return (one.kind for one in self._written)

    def __len__(self) -> int:
        """How many kinds there are."""
        return len(self._written)


def late_trees(tables: Iterable[Table | LateTable]) -> dict[str, LateTree]:
    """The tree of each kind. Kinds below one root have one tree."""
    written = {table.kind: table for table in tables}
    roots = {kind: relations.root(written, kind) for kind in written}
    trees = {
        root: LateTree([table for kind, table in written.items() if roots[kind] == root])
        for root in dict.fromkeys(roots.values())
    }
    return {kind: trees[root] for kind, root in roots.items()}


FOR_READING = frozenset(
    (
        "contact",
        "counted",
        "is_place",
        "is_waited_for",
        "names",
        "own",
        "phases",
        "places",
        "reported_below",
        "signals",
        "table",
        "unborn",
    )
)
"""The attributes by which states are read, and trees of them kept. They need no machines, and are set before others."""


class SelectedSteps(NamedTuple):
    """The steps that a trigger takes.

    steps: the steps, each with the index of its facet.
    refused: the first guard that stopped a step which fits otherwise.
    """

    steps: list[tuple[int, Step]]
    refused: Predicate | None


class Kind:
    """A table, compiled when somebody first asks for more than readers need (`FOR_READING`).

    Many processes only read states, or need few kinds of many, and compiling one takes some ms. Two threads that need
    one at once both compile it, and either form does.

    name, written: the kind's name, and the table as it was written, which can be compiled again.
    arity: how many parts an id has. parent: the kind above. Its ids have `parent_arity` parts, which is `levels` fewer.
    table: the table, with what the language gives to it (`completion`, `reports`).
    names: the names of the facets. phases: the phases of each facet, its beginning first.
    machines: the facets, compiled.
    event_types: by trigger that a publisher may send, the type of the event.
    common: by trigger, the fields of its data that its role gives to it.
    declared: by such a trigger, the names of all fields that anything reads of its data; without those that carry the
    objects of others.
    base_from_data: the triggers whose data names the base. demanding: those whose data must hold a field.
    unborn: the facets of an unknown entity. adopted: the bases of an adopted one.
    own: how many facets say what it is in: all but `signals` and `contact`. signals: the index of the facet `signals`;
    None if the kind has no such facet. telling: the triggers that may tell signals.
    contact: the index of the facet `contact`; None if the kind has no observation. is_place: whether the installation's
    time counts for it. places: the kinds with contact at or above an entity, each with the number of parts of its ids.
    is_waited_for: whether one of these falls silent by itself. times_out: whether the kind has timers beside that of
    `contact`.
    may_stay_unknown: whether entities may live below an unknown one, because adopting it leaves it Absent.
    starts: from where each trigger has rows, as a clause. births: the triggers that begin a life from outside.
    fired_by: what fires each derived trigger, as a clause.
    timeouts: for each facet, the timeouts by phase of the state. deadlines: those by phase of the base.
    timing: the indexes of the facets that have any.
    deadlines_above: the kinds above that have the attribute `deadline`, from the bottom up.
    waiting: for each facet, the pending phases. asking: for each facet, the triggers that lead into one of them.
    expiring: for each facet and phase, the conditions that go when the stay in the phase ends.
    fast_path_ok: whether the kind has no timeouts of states, no view that depends on the entity itself, and no derived
    messages.
    plans: what the fast path remembers. unguarded: the triggers that may have a plan, each with its only facet.
    hears_alone: whether a heartbeat of an entity that is Fresh can change nothing but the time at which it was heard.
    counted: the tallies that kinds above keep of this kind. viewers: the kinds below whose views look at this kind.
    inherited: attributes that views of kinds below look at where their own is not set, each with that kind.
    below: the kinds below this one, in the order of the installation.
    implied: what the engine fires without a cascade of the table, as pages show it.
    may_grow: whether an entity may have any size: an attribute is a list or a map, or a rule computes attributes.
    reports: the triggers whose data may hold `seen`: `reported`, `snapshot`, and `deleted` where it needs no request.
    reported_below: the kinds below that have the observation `reported`. With any, this kind takes snapshots.
    judge: judges reports; None if the kind has no observation.
    ending: the observations, beside reports, that say that an entity is gone. naming: those that name its state.
    """

    __slots__ = (
        "_bases", "_judged_by_state", "_late", "_steps", "_tables", "_version", "adopted", "arity", "asking", "attributes",
        "base_from_data", "below", "births", "common", "contact", "counted", "deadlines", "deadlines_above", "declared", "demanding", "ending", "event_types", "expiring", "fan_out_triggers", "fast_path_ok", "fields",
        "fired_by", "hears_alone", "implied", "inherited", "interprets", "is_place", "is_waited_for", "judge", "levels", "machines", "may_grow", "may_stay_unknown",
        "name", "names", "naming", "own", "parent", "parent_arity", "phases", "places", "plans", "reported_below", "reports", "roles", "signals", "starts",
        "table", "telling", "timed", "timeouts", "times_out", "timing", "unborn", "unguarded", "viewers", "waiting", "written",
    )  # fmt: skip

    written: Table

    def __init__(
        self, written: Table | LateTable, tables: Mapping[str, Table], named: Mapping[str, Table | LateTable]
    ) -> None:
        """The kind of the table that is written so. named: all of the installation, as they are written.

        tables: those of its tree at least, completed.
        """
        self._late = written
        if isinstance(written, Table):
            self.written = written
        self._version = ""
        self._bases: tuple[frozenset[State], ...] = ()
        self._tables: Mapping[str, Table] | None = tables
        self.name, self.arity, self.parent = written.kind, len(written.id), written.parent
        self.parent_arity = len(named[written.parent].id) if written.parent else 0
        self.levels = self.arity - self.parent_arity if written.parent else 0

    @property
    def version(self) -> str:
        """The version of the table, which records contain."""
        self._version = self._version or fingerprint.version_of(with_signals(with_contact(self.written)))
        return self._version

    @property
    def bases(self) -> tuple[frozenset[State], ...]:
        """For each facet, every base that rows can lead to, its conditions sorted. Most processes need few kinds'."""
        if not self._bases:
            from phaseline.machines.compiler import reachability  # noqa: PLC0415  # readers follow no rows

            self._bases = tuple(reachability.reachable(one, self.table.intents) for one in self.machines)
        return self._bases

    def _complete(self) -> None:
        """Set the attributes `FOR_READING`."""
        tables = self._tables
        if tables is None:
            return
        completed_table = tables[self.name]
        self.reported_below = reports.reported_below(completed_table, tables)
        self.table = table = reports.with_reports(completed_table, self.reported_below)
        self.names = tuple(facet.name for facet in table.facets)
        self.phases = tuple(map(phases_of, table.facets))
        self.contact = len(self.names) - 1 if self.names[-1] == CONTACT else None
        self.signals = self.names.index(SIGNALS) if SIGNALS in self.names else None
        self.own = len(self.names) - (self.contact is not None) - (self.signals is not None)
        self.unborn = tuple(FacetState(state(facet.begins), state(facet.begins), 0) for facet in table.facets)
        self.is_place = table.place
        self.places = tuple(relations.places_of(table, tables))
        self.is_waited_for = any(tables[name].silence_after > 0 for name, _ in self.places)
        self.counted = tuple(relations.counted_by(table, tables))

    def compile(self) -> None:
        """Set all attributes that are not set yet."""
        tables = self._tables
        if tables is None:
            return
        from phaseline.machines.compiler import short_ways  # noqa: PLC0415  # who only reads states compiles nothing
        from phaseline.machines.compiler.judging import Judge  # noqa: PLC0415  # likewise

        completed_table, table = tables[self.name], self.table
        self.machines = tuple(FacetMachine(facet) for facet in table.facets)
        self.roles: dict[str, Role] = {trigger: table.role(trigger) for trigger in table.triggers}
        self.event_types = {
            trigger: f"{self.name}.{trigger}" for trigger, role in self.roles.items() if role != "derived"
        }
        self._judged_by_state = frozenset(table.intents)
        self._steps = {
            name: tuple((i, candidates_of(m.steps[name])) for i, m in enumerate(self.machines) if name in m.steps)
            for name in table.triggers
        }
        self.base_from_data = frozenset(
            row.trigger for facet in table.facets for row in facet.rows if row.to == FROM_DATA
        )
        self._compile_fields(table)
        self.telling = telling(table)
        self.attributes = {field.name: field.default for field in table.attributes if field.default is not None}
        self.adopted = tuple(state(*facet.adopted) for facet in table.facets)
        self.may_stay_unknown = relations.may_stay_unknown(table)
        self.starts = {trigger: starts_of_trigger(table, trigger) for trigger in table.triggers}
        self.births = tuple(filter(self._begins, table.triggers))
        self.fired_by = {trigger: relations.what_fires(table, trigger, tables) for trigger in table.derived}
        self._compile_times(table, tables)
        own = table.facets[: self.own]
        self.fast_path_ok = (
            not any(not timeout.base for facet in own for timeout in facet.timeouts)
            and not short_ways.looks_at_itself(table)
            and not short_ways.derives_messages(table)
        )
        self.plans: dict[PlanKey, MovePlan | None] = {}
        self.unguarded = dict(short_ways.unguarded(table)) if self.fast_path_ok else {}
        self.interprets = {on: interpret.rule for interpret in table.interprets for on in interpret.on}
        self.fan_out_triggers = frozenset(on for fan_out in table.fan_outs for on in fan_out.on)
        self.may_grow = short_ways.may_grow(table, own)
        self.viewers = tuple(relations.viewers_of(table, tables))
        self.inherited = tuple(relations.inherited_from(table, tables))
        self.hears_alone = (
            self.contact is not None and short_ways.hears_alone(table) and HEARD_AT not in dict(self.inherited)
        )
        self.below = tuple(name for name in tables if any(relations.path(tables, table.kind, name)))
        self.implied = implied_cascades(self.below)
        self.reports = reports.reporting(completed_table, self.reported_below)
        self.ending, self.naming = reports.about_ends(table)
        judges = REPORTED in self.reports
        self.judge = Judge(completed_table, self.machines, lambda: self.bases[0]) if judges else None
        self._tables = None

    def _compile_fields(self, table: Table) -> None:
        """Set what the data of events may hold."""
        self.fields: dict[str, tuple[Field, ...]] = {
            trigger: reports.fields_of(table, trigger) for trigger in table.triggers
        }
        self.common = {trigger: _common(role, self.fields[trigger]) for trigger, role in self.roles.items()}
        self.declared = {
            trigger: frozenset((ATTRIBUTES, *(one.name for one in (*self.common[trigger], *self.fields[trigger]))))
            for trigger in self.event_types
            if trigger not in table.carries
        }
        self.demanding = frozenset(
            trigger for trigger, fields in self.fields.items() if any(field.required for field in fields)
        )

    def _compile_times(self, table: Table, tables: Mapping[str, Table]) -> None:
        """Set what says how long states and requests may last."""
        facets = table.facets
        self.timeouts = tuple({one.phase: one for one in facet.timeouts if not one.base} for facet in facets)
        self.deadlines = tuple({one.phase: one for one in facet.timeouts if one.base} for facet in facets)
        self.deadlines_above = tuple(relations.with_deadlines_above(table, tables))
        self.waiting = tuple(frozenset(facet.pending_phases) for facet in facets)
        self.asking = tuple(
            frozenset(row.trigger for row in facet.rows if row.to in facet.pending_phases) for facet in facets
        )
        self.expiring = tuple(dict(expiring_conditions(facet)) for facet in facets)
        self.timing = tuple(index for index in range(len(facets)) if self.timeouts[index] or self.deadlines[index])
        self.times_out = any(facet.timeouts for facet in facets if facet is not FACET)
        self.timed = frozenset(timeout.trigger for facet in facets for timeout in facet.timeouts)

    def misfit(self, entity_id: str) -> str:
        """Why an id cannot be one of this kind: it has another number of parts. Empty if it can."""
        if entity_id.count("/") + 1 == self.arity:
            return ""
        shape = "/".join(f"<{part}>" for part in self._late.id)
        return f"the id {entity_id!r} does not fit {self.name}, whose ids are {shape}"

    def waits_for(self, entity: Entity) -> int:
        """The sequence of the request that a pending phase of an entity waits for; 0 if it waits for none."""
        facets = zip(entity.facets, self.table.facets, strict=False)
        return entity.asked if any(one.base.phase in facet.pending_phases for one, facet in facets) else 0

    def is_named(self, facet: str) -> bool:
        """Whether texts name this facet: the kind has several of its own, or this one is `signals` or `contact`."""
        return self.own > 1 or facet != self.names[0]

    def places_above(self, entity_id: str) -> list[tuple[str, str]]:
        """The kinds and ids of what can have contact at and above an entity of this kind, from the bottom up."""
        return [(name, ancestor_id(entity_id, arity)) for name, arity in self.places]

    def whole(self, entity: Entity) -> Entity:
        """The entity with all facets: its record leaves `contact` and `signals` out as long as they say nothing."""
        if len(entity.facets) == len(self.names):
            return entity
        if self.signals is not None and entity.names[-1] != entity.names[0]:
            known = dict(zip(entity.names, entity.facets, strict=True))
            if known.keys() <= frozenset(self.names):
                facets = tuple(known.get(name, unborn) for name, unborn in zip(self.names, self.unborn, strict=True))
                return replace(entity, names=self.names, facets=facets)
        return replace(entity, names=self.names, facets=(*entity.facets, *self.unborn[len(entity.facets) :]))

    def _begins(self, trigger: str) -> bool:
        """Whether a publisher can begin a life with the trigger."""
        sent = self.roles[trigger] != "derived" and trigger != REPORTED
        return sent and any(ABSENT in machine.steps.get(trigger, ()) for machine in self.machines)

    def select(
        self, trigger: str, facets: Sequence[FacetState], scene: Scene, entity_id: str, data: Mapping[str, Any]
    ) -> SelectedSteps:
        """Select the step that `trigger` takes in each facet. This is the only place that decides it.

        An intent is judged by the state, any other trigger by the base. In each facet, the first row is taken that fits
        the state and the data, and whose guards all hold.
        """
        taken: list[tuple[int, Step]] = []
        refused: Predicate | None = None
        by_state = trigger in self._judged_by_state
        for index, by_phase in self._steps[trigger]:
            if index >= self.own and not taken and trigger in self.naming:
                break  # who names a state that is not taken tells no signals either
            facet = facets[index]
            judged = facet.state if by_state else facet.base
            candidates = by_phase.get(judged.phase, NO_CANDIDATES)
            for step in candidates.for_data(data) if candidates.field else candidates.steps:
                if step.plain or step.fits(judged, facet.base, data, facet.interrupted):
                    failed = step.failed_guard(scene, entity_id) if step.row.when else None
                    if failed is None:
                        taken.append((index, step))
                        break
                    refused = refused or failed
        return SelectedSteps(taken, refused)

    def offered(self, trigger: str, facets: Sequence[FacetState]) -> Iterator[tuple[int, Step]]:
        """The steps that `select` would find with suitable data, guards aside, with the indexes of their facets."""
        by_state = trigger in self._judged_by_state
        for index, by_phase in self._steps[trigger]:
            facet = facets[index]
            judged = facet.state if by_state else facet.base
            for step in by_phase.get(judged.phase, NO_CANDIDATES).steps:
                if step.is_offered(judged, facet.base, facet.interrupted):
                    yield index, step

    def already_so(self, trigger: str, facets: Sequence[FacetState], data: Mapping[str, Any]) -> bool:
        """Whether an observation is redundant: one of its facets is already what it reports, or comes back as that."""
        for index, by_phase in self._steps[trigger]:
            machine, under = self.machines[index], facets[index].interrupted
            if under is not None:
                cleared = by_phase.get(under, NO_CANDIDATES).steps
                if any(step.dest == machine.returns.get(under) for step in cleared):
                    return True
        return any(True for _ in self.reporting(trigger, facets, data))

    def reporting(
        self, trigger: str, facets: Sequence[FacetState], data: Mapping[str, Any]
    ) -> Iterator[tuple[int, Step]]:
        """The steps of a trigger that report what a facet already is, each with the index of that facet."""
        for index, by_phase in self._steps[trigger]:
            if trigger in self.naming and (index >= self.own or SIGNALS in data):
                break  # signals only go along with a state, and news of them would be lost
            for candidates in by_phase.values():
                chosen = [step for step in candidates.steps if step.row.given and step.has_given(data)]
                for step in chosen or candidates.steps:
                    if step.reports(facets[index].base, data):
                        yield index, step

    def is_unasked(self, facet: int, trigger: str, before: FacetState, after: FacetState) -> bool:
        """Whether a report moved a base where no single observation row leads: somebody acted outside."""
        return self.judge is not None and self.judge.is_unasked(facet, trigger, before, after)


def _common(role: Role, own: tuple[Field, ...]) -> tuple[Field, ...]:
    """The fields that every event of a role may have, but for those that a table calls so too."""
    names = {field.name for field in own}
    return (*COMMON, *(field for field in BY_ROLE[role] if field.name not in names))


class _LazyKind(Kind):
    """A kind that is a plain `Kind` once it is compiled: a `__getattr__` slows down every access to an attribute."""

    __slots__ = ()

    def compile(self) -> None:
        """Set all attributes, and be a plain `Kind` from now on."""
        self.written = table_of(self._late)
        super().compile()
        self.__class__ = Kind  # type: ignore[assignment]  # a plain one has the same slots

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Compile the kind: Python asks here for an attribute only as long as it is not set."""
            if name == "_tables" or name not in Kind.__slots__:
                raise AttributeError(f"a Kind has no {name!r}", name=name, obj=self)
            if name == "written":
                self.written = table_of(self._late)
            elif name in FOR_READING:
                self._complete()
            else:
                self.compile()
            return getattr(self, name)


class Kinds(dict[str, Kind]):
    """The kinds of an installation, by name.

    products: those whose bans hold for all events; None for kinds that decide none. broken: what was left out.
    """

    def __init__(
        self, tables: Sequence[Table | LateTable], checked: Collection[Table | LateTable] = (), sound: str = "",
        products: Iterable[Product] | None = None,
    ) -> None:  # fmt: skip
        """Check and compile the tables. Raises `WrongTable` for one that cannot work, with what to write instead.

        checked: those that were checked before, together. They are compiled when they are needed; where there are no
        others, they are loaded then.
        sound: the digest that these had then.
        """
        self.products = None if products is None else tuple(products)
        self.broken: tuple[BrokenKind, ...] = ()
        known = {id(table) for table in checked}
        new = [table_of(table) for table in tables if id(table) not in known]
        self._checked, self._sound = [table.kind for table in tables if id(table) in known], sound
        if self.products is not None:
            _ = self.copies, new and self.bans  # raise what is wrong with them
        trees: Mapping[str, Mapping[str, Table]]
        if new:
            every = _completed([*map(table_of, tables)], new)
            trees = dict.fromkeys(every, every)
        else:
            trees = late_trees(tables)
        self._written = {table.kind: table for table in tables}
        super().__init__({table.kind: _LazyKind(table, trees[table.kind], self._written) for table in tables})
        for table in new:
            self[table.kind].compile()
        self._is_checked = len(new) == len(self)

    @cached_property
    def _paths(self) -> dict[tuple[str, str], tuple[str, ...]]:
        written = self._written
        return {(above, below): tuple(relations.path(written, above, below)) for above in self for below in self}

    @cached_property
    def hidden(self) -> frozenset[tuple[str, str]]:
        """Pairs of kinds between which an entity may be missing in the tree although something below it lives."""
        missing = {name for name, kind in self.items() if relations.may_stay_unknown(kind.table)}
        return frozenset(pair for pair, found in self._paths.items() if not missing.isdisjoint(found[:-1]))

    @cached_property
    def bans(self) -> Bans:
        """What no event may hold; raises `NoProducts`."""
        if self.products is None:
            raise NoProducts
        named = (ban for product in self.products for ban in product.bans)
        return Bans.of(load(ban) if isinstance(ban, str) else ban for ban in named)

    @cached_property
    def copies(self) -> dict[str, CopiedEvent]:
        """By kind, the events whose last one the server keeps."""
        return copies_of(self.products or ())

    def guarded_by(self, products: Iterable[Product]) -> "Kinds":
        """These kinds with the bans of these products, if they have none of their own."""
        if self.products is not None:
            return self
        found = copy(self)
        found.products = tuple(products)
        for name in ("copies", "digest", "versions"):
            found.__dict__.pop(name, None)
        return found

    def check(self) -> None:
        """Check all tables unless they are known to be sound. A process that decides calls it.

        Raises `WrongTable`, `NoProducts`.
        """
        _ = self.bans
        if self._is_checked:
            return
        if not self._are_sound():
            tables = [kind.written for kind in self.values()]
            _completed(tables, tables)
        self._is_checked = True

    def _are_sound(self) -> bool:
        """Whether the tables that were checked before are what they were then."""
        if not self._sound:
            return False
        return self._sound == fingerprint.digest_of({name: self[name].version for name in self._checked})

    @cached_property
    def versions(self) -> dict[str, str]:
        """The version of each kind, and the revision of each ban that counts."""
        named = {} if self.products is None else self.bans.named
        return {**{name: kind.version for name, kind in sorted(self.items())}, **named}

    @cached_property
    def digest(self) -> str:
        """One version over all kinds."""
        return fingerprint.digest_of(self.versions)

    def path(self, above: str, below: str) -> tuple[str, ...]:
        """The kinds from below `above` down to `below`; empty if `below` is not below `above`."""
        return self._paths[above, below]

    def children(self, name: str) -> tuple[str, ...]:
        """The kinds whose parent is `name`."""
        return tuple(kind.name for kind in self.values() if kind.parent == name)


def _completed(tables: Sequence[Table], new: Sequence[Table]) -> dict[str, Table]:
    """The tables as the engine runs them, by kind. Raises `WrongTable` if one of `new` cannot work with the others."""
    from phaseline.machines.compiler import check_kinds, checks  # noqa: PLC0415  # most tables were checked before

    for table in new:
        checks.check_shapes(table)
        checks.check_place(table)
    complete = tuple(completed(table, tables) for table in tables)
    named = {table.kind: table for table in complete}
    unknown = {table.kind for table in new}
    for table in complete:
        if table.kind in unknown:
            checks.check_table(table)
    check_kinds.check_tables(complete)
    for table in complete:
        reports.check_names(table, reports.reported_below(table, named))
    return named
