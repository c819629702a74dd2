"""The classes of a table: the table itself, its facets, labels, rows, views, cascades and timeouts.

Belongs here: what an author may write, each field explained; the classes of states. Does not: predicates, sources and
fields (the other modules of this package), the checks of a table (`compiler.checks`), running it (`compiler.machine`),
the rows that every table gets when it is compiled (by `compiler.reports` and `compiler.completion`).
How a table is read when events are decided: docs/spec/reading-the-tables.md.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from msgspec import field
from msgspec.structs import replace

from phaseline.machines.language.fields import COMMON, MAX_TEXT, Attributes, ComputeRule, Field, Refusal, RuleEvent
from phaseline.machines.language.language_tags import ENGLISH
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, Predicate, Scene
from phaseline.machines.language.sources import LIVE, At, Live, Source
from phaseline.schemas.records import State
from phaseline.schemas.value import Value

__all__ = [
    "ABSENT",
    "ADOPTED",
    "CHILDREN",
    "COMMON",
    "DELETED",
    "FROM_DATA",
    "LIVE",
    "MAX_TEXT",
    "OK",
    "OWNER_GONE",
    "PROGRESSING",
    "REPORTED",
    "SAME",
    "STALLED",
    "At",
    "Attributes",
    "Cascade",
    "ComputeRule",
    "Facet",
    "FanOut",
    "Field",
    "Fired",
    "Interpret",
    "InterpretRule",
    "KnownBy",
    "Label",
    "Live",
    "OnTally",
    "Pending",
    "Refusal",
    "Retired",
    "Role",
    "Row",
    "RuleEvent",
    "Signal",
    "Source",
    "Table",
    "TargetsRule",
    "Timeout",
    "View",
    "Wants",
]  # fmt: skip

ABSENT = "Absent"
"""The phase of an entity that is unknown."""
DELETED = "Deleted"
"""The phase of an entity whose life is over."""
OK = "Ok"
"""The condition of a phase in which nothing is wrong. It never stands beside another condition."""
PROGRESSING = "Progressing"
"""The condition of a phase in which something is under way."""
STALLED = "Stalled"
"""The condition of a pending phase that has lasted longer than its deadline. Only the engine sets and clears it."""
BECAUSE = "because of "
"""How a message begins that names entities below."""
SAME = "="
"""The target of a row that keeps the phase."""
FROM_DATA = "*"
"""The target of a row for which the event's data names the base, in `phase` and `conditions` (`adopt`)."""

OWNER_GONE = "owner_gone"
"""The derived trigger that the engine fires at everything alive below an entity that becomes Deleted. Each kind with a
parent has it: a facet without a row for it gets one, from every live phase to Deleted."""
REPORTED = "reported"
"""The observation of a whole state, of every kind that has observations. A table needs no row for it; a row with
`given={"phase": ...}` in the first facet says what the report of that phase means in place of the phase itself
(docs/reports.md)."""
CHILDREN = ("*",)
"""In `at` of a cascade: every kind whose parent is this one, and in whose table the trigger is derived."""

ADOPTED = State("Running", (OK,))
"""The base of an adopted entity, unless its facet names another one."""
Role = Literal["intent", "observation", "derived"]
"""What a trigger is: a request from outside, a report from outside, or fired by the engine."""
KnownBy = Literal["observations", "anything", "itself"]
"""Which events make an unknown entity known; see `Table`."""

StateClass = Literal["bad", "unknown", "busy", "excused", "good", "gone"]
"""`good`: as it should be. `busy`: on its way. `bad`: wrong. `excused`: not in use, but nothing is wrong, such as
stopped or cordoned. `gone`: its life is over. `unknown`: nobody knows."""
CLASSES: tuple[StateClass, ...] = get_args(StateClass)
"""All classes; of several, the first one counts."""


class Label(Value, frozen=True):
    """A state that a facet can be in, and what consoles call it.

    phase: the phase.
    condition: the condition; None for the phase without conditions.
    en: the label in English.
    others: the label in other languages, by their tags (BCP 47), such as `zh` or `pt-BR`.
    schedulable: for nodes, whether new pods may be scheduled there; None for other kinds.
    state_class: what the state means, such as `bad`; None for what follows from the table, if
        something does: the accumulating phase is bad, a pending one or Progressing busy, the healthy phase good (with
        a condition excused), another one with Ok excused, with a condition bad.
    advice: what to do about the state, in a sentence, by language. Each language that is there needs `en`.
    aliases: other names of the phase. They are accepted wherever a state is read.
    """

    phase: str
    condition: str | None
    en: str
    others: Mapping[str, str] = field(default_factory=dict)
    schedulable: bool | None = None
    state_class: StateClass | None = None
    advice: Mapping[str, str] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()


Advice = Mapping[str, Mapping[str, str]]
"""By a state (`Failed [StockOut]`), a condition or a phase: what to do, by language."""


def advice(*rows: tuple[str, str, str]) -> Advice:
    """The table with these rows: a state, a condition or a phase; what to do in English and in Chinese."""
    return {name: {ENGLISH: english, "zh": chinese} for name, english, chinese in rows}


def advised(texts: Advice, labels: Iterable[Label]) -> tuple[Label, ...]:
    """The labels, each with its advice where there is one: that of its state before that of its condition or phase."""
    return tuple(replace(one, advice=_of(texts, one)) for one in labels)


def _of(texts: Advice, label: Label) -> Mapping[str, str]:
    state = State(label.phase, (label.condition,) if label.condition else ())
    names = (str(state), label.condition or "", label.phase)
    return next((texts[name] for name in names if name in texts), label.advice)


class Signal(Value, frozen=True):
    """What consoles say of a signal. Every other name is a signal too, and is shown as it is.

    name: the name.
    en: what it is called in English.
    others: what it is called in other languages, by their tags.
    state_class: what it means while it stands.
    """

    name: str
    en: str
    others: Mapping[str, str] = field(default_factory=dict)
    state_class: StateClass = "excused"


class Row(Value, frozen=True, eq=False):
    """From one of these sources, on this trigger, the base of the facet becomes that. The first row that fits is taken.

    source: the phases from which the row starts: each a phase, an `At` or a `Live`.
    trigger: the trigger.
    to: the phase that the base gets, or `SAME`, or `FROM_DATA`.
    condition: the condition that comes with the phase `to`. It can be left out if the phase has only one.
    sets: a condition that is added while the phase stays. It must be sticky, or the row's trigger must
        be that of a `Timeout`.
    clears: conditions that are removed. In the accumulating phase, clearing the last one leads to the healthy phase.
    given: fields of the event's data with the value that each must have; None for a field that must be missing.
    when: guards: predicates that must all hold.
    assigns: whether the event's data may set attributes. True: the data may set every attribute. A tuple: only these.
    forgets: attributes that end with the row, unless the event's data sets them.
    computes: a rule that returns the new attributes, given the present ones (after `assigns`) and the event.
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
    forgets: tuple[str, ...] = ()


class View(Value, frozen=True, eq=False):
    """Shows another state in place of the base for as long as its predicates hold. The first view that fits is shown.

    to: the phase that is shown.
    while_: predicates that must all hold. Without any, the view fits wherever no view before it does.
    condition: the condition that is shown with it. It can be left out if the phase has only one.
    base: the phases of the base for which the view fits; empty for all live phases. Required if `while_` is empty.
    unless: phases of the base for which the view does not fit.
    keeps: conditions of the base that are shown too: True for all, if the base is in the phase `to`; or some by name.
    message_from: the attribute whose text says why the view shows, where no entity below does.
    """

    to: str
    while_: tuple[Predicate, ...]
    condition: str | None = None
    base: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    keeps: bool | tuple[str, ...] = False
    message_from: str | None = None


class Cascade(Value, frozen=True):
    """Fires a trigger at entities below this one.

    trigger: the trigger that is fired.
    at: the kinds at whose entities it is fired, at all of them below this entity; or `CHILDREN`.
    on: the triggers of this entity on which it fires.
    into: a phase; the cascade also fires when the base of a facet enters it.
    unless: a field of the event's data and a value: with this value, nothing is fired.
    then: a phase; with it, the cascade fires only if the base is in this phase after the event.
    only_child: an attribute; with it, only the child whose id ends in its value gets the trigger.
    required: whether the event is rejected if that child is unknown or cannot take the trigger.
    data: fields of the fired trigger's data, each with the attribute of this entity that gives its value.
    targets: a rule; with it, only the entities of the kind `at` that it names get the trigger, above, beside or below
        this one in the same tree, and the trigger gets the data of the event. A trigger that was passed on by such a
        cascade is not passed on again. The rule gets the scene, this entity's id and the data; it returns ids.
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
    targets: "TargetsRule | None" = None


class Fired(NamedTuple):
    """A trigger with data of its own: what the rule of a `FanOut` may return in place of a trigger.

    trigger: the trigger.
    data: its data. `reason` and `message` go into the transitions that it makes.
    """

    trigger: str
    data: Mapping[str, Any]


class FanOut(Value, frozen=True):
    """Fires at each entity below the trigger that a rule chooses for it. So one event can report on many entities.

    triggers: the triggers that the rule may choose.
    at: the kind at whose entities they are fired.
    on: the triggers of this entity on which it fires.
    rule: gets the scene, this entity's id, the event's data, the other entity's id; returns a trigger, a `Fired`, or
        None.
    """

    triggers: tuple[str, ...]
    at: str
    on: tuple[str, ...]
    rule: Callable[[Scene, str, Mapping[str, Any], str], str | Fired | None]


TargetsRule = Callable[[Scene, str, Mapping[str, Any]], Sequence[str]]
"""A function that returns the ids of entities, given the scene, the entity's id and the data of the event."""
InterpretRule = Callable[[Scene, str, Attributes, RuleEvent], Mapping[str, Any] | Refusal]
"""A function that returns further fields of data, given the scene, the entity's id, its attributes and the event."""


class Interpret(Value, frozen=True):
    """Reads the data of an event before a row is chosen, and adds fields that rows can ask for with `given`.

    on: the triggers whose data is read.
    fields: the fields that the rule may add.
    rule: gets the scene, the entity's id, its attributes and the event; returns the fields, or a `Refusal`.
    """

    on: tuple[str, ...]
    fields: tuple[Field, ...]
    rule: InterpretRule


class OnTally(Value, frozen=True):
    """Fires a trigger at the entity itself when the tally of its descendants starts to satisfy a predicate.

    when: the predicate.
    trigger: the trigger that is fired.
    """

    when: AnyBelow | AllBelow
    trigger: str


class Timeout(Value, frozen=True):
    """Fires a trigger at the entity itself when a facet's state has been in a phase for a given time.

    The time starts when the state enters the phase, by a row or by a view, and ends when the state leaves it.
    The trigger's row starts from the base under that phase. Where the phases of the state and of the base both have a
    timeout, that of the state counts.
    A condition that the trigger's rows add with `sets=` goes when the stay in the phase ends, unless it is sticky.

    phase: the phase.
    trigger: the trigger that is fired.
    seconds: how long. Give either this or `seconds_from`.
    seconds_from: the attribute that holds the seconds; 0 for never.
    restart_on: an attribute that shows progress. The time restarts when this attribute or the `seconds_from` attribute
        changes.
    times: the seconds are multiplied by this number.
    repeat_after: an attribute with the seconds after which the trigger fires again.
    deadline: whether the time is that of a request. Then each request that is taken in the phase starts it anew, and
        the attribute `deadline` of the entity, or else of the nearest one above that has it, replaces `seconds`.
    base: whether the phase is that of the base. `Pending` makes such timeouts.
    """

    phase: str
    trigger: str
    seconds: float = 0
    seconds_from: str | None = None
    times: float = 1
    restart_on: str | None = None
    repeat_after: str | None = None
    deadline: bool = False
    base: bool = False


class Pending(Value, frozen=True):
    """A phase in which a request waits for its answer, with the time that it may last.

    When the time is up, the condition `Stalled` joins those of the base; `language.deadlines` says what else a table
    gets. The time starts with the phase, and anew with each request that is taken in it.

    phase: the phase.
    deadline: how many seconds it may last; 0 for ever.
    """

    phase: str
    deadline: float = 0


class Wants(Value, frozen=True):
    """What a whole should have below it. Consoles say what it lacks; nothing depends on it.

    kind: the kind of the parts. They are right in the healthy phase of their first facet.
    number: the attribute that says how many there should be.
    same: the attribute that the whole and its parts should have the same value of.
    """

    kind: str
    number: str
    same: str


class Retired(Value, frozen=True):
    """A state that a facet had in an earlier table, and where entities go that are in it when the tables change.

    phase: the phase of the earlier state.
    to: the phase that the base gets: one of the table, or the phase of another line, which then leads on.
    has: a condition; with it, the line is for bases of the phase with this condition. The phase itself may still exist.
    condition: the condition that comes with the phase `to`. It can be left out if the phase has only one.
    """

    phase: str
    to: str
    has: str | None = None
    condition: str | None = None


class Facet(Value, frozen=True, eq=False):
    """One state machine of a kind.

    name: its name, such as `phase`.
    labels: the states that it can be in.
    rows: the rows, in the order in which they are tried.
    views: the views, in the order in which they are tried.
    sticky: conditions that stay when the phase changes, until a row clears them.
    own_reporter: conditions that somebody reports who reports nothing else. A report that names no conditions leaves
        them, as it leaves sticky ones (docs/reports.md).
    accumulates_in: the phase in which conditions add up; the facet leaves it when the last one is cleared. The stable
        phase that they interrupted comes back then; a pending one comes back as what it was on the way to.
    healthy: the phase that follows where nothing was interrupted that comes back.
    order: conditions, the most important first. If a state has several conditions, the first one in this list gives the
        label.
    adopted: the base of an entity that an event at something below it makes known.
    begins: the base of an unknown entity. With another one than `ABSENT`, the facet has no `DELETED` either.
    timeouts: what fires when a state lasts, at most one for each phase.
    message_from: the attribute whose text is a transition's message if the event has none. It is about the base: where
        a view shows another state, the view's own `message_from` counts.
    message_names: a kind below and the index of its facet. If a view shows because of this kind's tally, the message
        names the entities responsible. Entities below that have a condition for which the view asks (`has`) are named
        too, with the reason that they keep (`message_from`).
    pending: the phases in which a request waits for its answer, each a phase or a `Pending`. A report that may be
        older than the request does not end them (docs/reports.md).
    retired: the map of states: which states of earlier tables are no more, and where entities in them go.
    unknown_parts: a phase of the entities that `message_names` names, in which nothing is known of them. Consoles say
        how many are in it.
    parts_apart: phases of any facet of these entities in which they are not counted among the parts.
    evidence_from: the attribute that holds conditions that speak of the facet, as maps. `why` shows them.
    wants: what the entity should have below it. Consoles say what it lacks.
    news_from: the attribute that holds what happened to the entity lately, as maps: type, reason, message, count,
        first, last, by. `why` and `get` show it beside the state, never as its reason.
    unschedulable_while: predicates about what is above. While one holds, no new pods may be scheduled, whatever the
        labels say. Nothing else depends on it.
    details: by phase or condition, the attribute that says more of it. While it is shown, `why` says what that is.
    signal_names: of the facet `signals`, what consoles call some of the names.
    explained_by: a kind below. Where the facet is not well, `why` goes on with the entities of that kind that are not
        well either in their first facet, although no view counts them.
    """

    name: str
    labels: tuple[Label, ...]
    rows: tuple[Row, ...]
    views: tuple[View, ...] = ()
    sticky: tuple[str, ...] = ()
    own_reporter: tuple[str, ...] = ()
    accumulates_in: str | None = None
    healthy: str = "Running"
    order: tuple[str, ...] = ()
    adopted: State = ADOPTED
    begins: str = ABSENT
    timeouts: tuple[Timeout, ...] = ()
    message_from: str | None = None
    message_names: tuple[str, int] | None = None
    pending: tuple[str | Pending, ...] = ()
    retired: tuple[Retired, ...] = ()
    unknown_parts: str | None = None
    parts_apart: tuple[str, ...] = ()
    evidence_from: str | None = None
    wants: Wants | None = None

    @property
    def pending_phases(self) -> tuple[str, ...]:
        """The phases in which a request waits for its answer."""
        return tuple(one.phase if isinstance(one, Pending) else one for one in self.pending)

    news_from: str | None = None
    explained_by: str | None = None
    unschedulable_while: tuple[Above, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    signal_names: tuple[Signal, ...] = ()


class Table(Value, frozen=True, eq=False, dict=True):
    """The complete rules of one kind.

    kind: the name of the kind.
    id: the names of the parts of an id, from the root down.
    facets: the state machines of the kind.
    intents: the triggers that ask for something. A row for an intent is matched against the state; for other triggers
        against the base.
    derived: the triggers that only the engine fires. Every trigger that is in neither list is an observation.
    parent: the kind that the id without its last parts names; None for a root.
    attributes: the values that an entity keeps beside its states.
    fields: by trigger, the fields of an event's data that mean something beside attributes.
    cascades: triggers that are fired at entities below.
    fan_outs: triggers that rules choose for entities below.
    interprets: rules that read the data of events.
    on_tally: triggers that tallies fire at the entity itself.
    tallies: further tallies to keep: a kind below, and the index of its facet.
    known_by: which events make an unknown entity known beside its own: `observations` of something below it, `anything`
        below it, or none (`itself`).
    place: whether it has a reporter that may fall silent. It gets the facet `contact`, the attribute `silence_after`
        and the observation `heartbeat` (`language.contact`).
    current: an attribute that holds the last part of the id of the child which is current, and that child's kind.
        Consoles can leave the others out.
    silence_after: the seconds without an observation after which a place of this kind is Silent where neither its own
        attribute nor the installation says another time; 0 for never.
    doc: what the kind is, in a sentence for people.
    replaced_by: the observations that begin a new life where they name another identity (`uid`) than the entity has,
        beside those that name a whole state (`adopt`, `reported`). None: its id is a declared place, and the identity
        of what stands there is only shown.
    signals: whether reporters say of it what no table lists. It gets the facet and the attribute `signals`, and the
        observation `condition` (`language.signals`).
    signal_names: what consoles call some of these, each a `Signal`.
    nested_by: what separates names in the last part of an id, if its entities stand below each other: `a~b` is shown
        below `a`, both are children of the same parent.
    carries: the triggers whose data is, or holds, an object that others make. They take fields that nothing reads; of
        other triggers, requests with such a field are rejected, and records of observations name it.
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
    place: bool = False
    current: tuple[str, str] | None = None
    silence_after: float = 0
    doc: str = ""
    nested_by: str | None = None
    replaced_by: tuple[str, ...] | None = ()
    carries: tuple[str, ...] = ()
    signals: bool = False
    signal_names: tuple[Signal, ...] = ()

    @property
    def triggers(self) -> tuple[str, ...]:
        """All triggers, in the order of the rows."""
        return tuple(dict.fromkeys(row.trigger for facet in self.facets for row in facet.rows))

    @cached_property
    def earlier_names(self) -> Mapping[str, Field]:
        """By earlier name, the attribute that is called otherwise now."""
        return {name: attribute for attribute in self.attributes for name in attribute.was}

    @cached_property
    def attribute_names(self) -> Collection[str]:
        """What its attributes are called, and were called by earlier tables."""
        return {attribute.name for attribute in self.attributes} | self.earlier_names.keys()

    def assigned(self, row: Row) -> tuple[str, ...]:
        """Return the attributes that the data of a row's event may set."""
        if isinstance(row.assigns, tuple):
            return row.assigns
        return tuple(attribute.name for attribute in self.attributes) if row.assigns else ()

    def role(self, trigger: str) -> Role:
        """Return whether a trigger is an intent, an observation or derived."""
        if trigger in self.intents:
            return "intent"
        return "derived" if trigger in self.derived else "observation"
