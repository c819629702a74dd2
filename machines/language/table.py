"""The words a machine is written in: labels, rows, views, cascades, tables (docs/spec/reading-the-tables.md).

Belongs here: the shapes of a table. Does not: what is wrong with one (`checks`), how it is looked up (`machine`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from phaseline.machines.language.fields import COMMON, MAX_TEXT, Attributes, ComputeRule, Field, Refusal, RuleEvent
from phaseline.machines.language.predicates import AllBelow, AnyBelow, Predicate, Scene
from phaseline.machines.language.sources import LIVE, At, Live, Source
from phaseline.schemas.records import State

__all__ = [
    "ABSENT",
    "ADOPTED",
    "COMMON",
    "DELETED",
    "FROM_DATA",
    "LIVE",
    "MAX_TEXT",
    "OK",
    "PROGRESSING",
    "SAME",
    "At",
    "Attributes",
    "Cascade",
    "ComputeRule",
    "Facet",
    "FanOut",
    "Field",
    "Interpret",
    "InterpretRule",
    "KnownBy",
    "Label",
    "Live",
    "OnTally",
    "Refusal",
    "Role",
    "Row",
    "RuleEvent",
    "Source",
    "Table",
    "Timeout",
    "View",
]  # fmt: skip

ABSENT = "Absent"
"""The phase of what is unknown (the spec's empty set)."""
DELETED = "Deleted"
OK = "Ok"
PROGRESSING = "Progressing"
SAME = "="
"""A row's target where the phase stays."""
FROM_DATA = "*"
"""A row's target where the event's data names the base (`adopt`)."""

ADOPTED = State("Running", (OK,))
Role = Literal["intent", "observation", "derived"]
KnownBy = Literal["observations", "anything", "itself"]


@dataclass(frozen=True, slots=True)
class Label:
    """A pair of phase and condition, and what consoles call it. `schedulable` matters to nodes only.

    condition: None where the phase stands alone.
    """

    phase: str
    condition: str | None
    zh: str
    en: str
    schedulable: bool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One row: from these starts, on this trigger, the base goes there.

    because: the condition that comes with the target; its own where it has only one. In the phase that collects
    causes it adds to those that stand. sets / clears: conditions that come and go while the phase stays (or, where
    the last cause is cleared, falls back to the table's `healthy` phase). given: fields of the event's data that must
    have these values. when: guards. assigns: the event's data may set the entity's attributes, all or those named.
    computes: the attributes after the event, from those before it (and what it assigned); pure, at the top of a module.
    """

    source: tuple[Source, ...]
    trigger: str
    to: str
    condition: str | None = None
    sets: str | None = None
    clears: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    when: tuple[Predicate, ...] = ()
    assigns: bool | tuple[str, ...] = False
    computes: ComputeRule | None = None


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A rule that shows another state than the base, while all its predicates hold.

    base: the base phases it may cover (all live ones where empty), unless: those it may not. Without predicates it shows
    wherever no view before it does; then the base must be named, and is only ever what was asked for last.
    keeps: conditions of the base stay, `because` is added to them (as in Failed [the base's causes, +ClusterNotRunning]);
    or those conditions that stay whatever the base's phase.
    """

    to: str
    while_: tuple[Predicate, ...]
    condition: str | None = None
    base: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    keeps: bool | tuple[str, ...] = False


@dataclass(frozen=True, slots=True)
class Cascade:
    """Triggers fired downward: by a trigger that was taken (`on`), or by entering a phase (`into`).

    unless: a field of the event's data and the value with which nothing is fired. then: only where that leaves the base in
    this phase.
    one: only at the child whose id ends in what this attribute says, as the event leaves it. must: where that child is
    unknown or cannot take it, the event from outside is refused. gives: fields of its data, each with the attribute that it holds.
    """

    trigger: str
    at: tuple[str, ...]
    on: tuple[str, ...] = ()
    into: str | None = None
    unless: tuple[str, Any] | None = None
    then: str | None = None
    only_child: str | None = None
    required: bool = False
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FanOut:
    """Triggers fired downward of which each descendant gets its own: one event that speaks of many.

    says: from the scene, the entity's id, the event's data and the descendant's id, one of `triggers`, or None for none.
    Pure, at the top of a module.
    """

    triggers: tuple[str, ...]
    at: str
    on: tuple[str, ...]
    rule: Callable[[Scene, str, Mapping[str, Any], str], str | None]


InterpretRule = Callable[[Scene, str, Attributes, RuleEvent], Mapping[str, Any] | Refusal]


@dataclass(frozen=True, slots=True)
class Interpret:
    """What the data of an event says in words that rows can ask for (`given`), found before a row is looked for.

    says: from the scene, the entity's id, its attributes and what happened, the words; or why the event cannot be taken.
    A word that is left out is none that any row asks for. Pure, at the top of a module.
    """

    on: tuple[str, ...]
    fields: tuple[Field, ...]
    rule: InterpretRule


@dataclass(frozen=True, slots=True)
class OnTally:
    """A trigger that the entity fires at itself when the tally of its descendants begins to satisfy a predicate."""

    when: AnyBelow | AllBelow
    trigger: str


@dataclass(frozen=True, slots=True)
class Timeout:
    """A trigger that the entity fires at itself when the facet's state has been in `phase` for so long.

    seconds: how long; or the number in the entity's attribute of that name, 0 for never. The time begins when the state
    enters the phase, be it by a view, and ends when it leaves it; conditions that come and go in it change nothing.
    anew: an attribute that says how far it has come: the time begins again when that changes, or the attribute does that
    says how long. again: an attribute with the seconds after which it fires once more, as it stands after it fired.
    Conditions that the trigger's rows set, unless they are standing ones, are about this stay: they go when it ends.
    """

    phase: str
    trigger: str
    seconds: float = 0
    seconds_from: str | None = None
    restart_on: str | None = None
    repeat_after: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Facet:
    """One state machine of a kind.

    standing: conditions that stay across phases until cleared. collects: the phase in which causes add up.
    order: which condition names the state where several stand.
    adopted: the base of an entity that an observation of something below it makes known.
    after: what fires when a state lasts, at most one a phase.
    says: the attribute that says why the state is what it is: the transition's message where the event has none of its own.
    names: a kind below and its facet; where a view follows from their tally, the message names those in the phase it shows.
    """

    name: str
    labels: tuple[Label, ...]
    rows: tuple[Row, ...]
    views: tuple[View, ...] = ()
    sticky: tuple[str, ...] = ()
    accumulates_in: str | None = None
    healthy: str = "Running"
    order: tuple[str, ...] = ()
    adopted: State = ADOPTED
    timeouts: tuple[Timeout, ...] = ()
    message_from: str | None = None
    message_names: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A kind, whole. `id`: the names of its id's parts; `parent`: the kind its id's beginning names.

    fields: per trigger, the fields of its data that mean something.
    counts: kinds below and their facets of which tallies are kept for those who ask, though no rule looks at them.
    known_by: what makes one known that is not: events at itself only, or also observations of what is below it, or anything.
    """

    kind: str
    id: tuple[str, ...]
    facets: tuple[Facet, ...]
    intents: tuple[str, ...]
    derived: tuple[str, ...] = ()
    parent: str | None = None
    attributes: tuple[Field, ...] = ()
    fields: Mapping[str, tuple[Field, ...]] = field(default_factory=dict)
    cascades: tuple[Cascade, ...] = ()
    fan_outs: tuple[FanOut, ...] = ()
    interprets: tuple[Interpret, ...] = ()
    on_tally: tuple[OnTally, ...] = ()
    tallies: tuple[tuple[str, int], ...] = ()
    known_by: KnownBy = "observations"
    doc: str = ""

    @property
    def triggers(self) -> tuple[str, ...]:
        """Every trigger, in the order of the rows."""
        return tuple(dict.fromkeys(row.trigger for facet in self.facets for row in facet.rows))

    def assigned(self, row: Row) -> tuple[str, ...]:
        """The attributes that the data of a row's event may set."""
        if isinstance(row.assigns, tuple):
            return row.assigns
        return tuple(field.name for field in self.attributes) if row.assigns else ()

    def role(self, trigger: str) -> Role:
        """Whether `trigger` asks, reports, or is the engine's own."""
        if trigger in self.intents:
            return "intent"
        return "derived" if trigger in self.derived else "observation"
