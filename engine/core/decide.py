"""Decides one event against a tree and makes its records. Pure: no clock, no randomness, no input or output.

Belongs here: whether the event is a repeat, whether it is legal, and which steps it takes. Does not: whether its bytes
are an event (`intake`), what stands in the way of its steps (`judgement`), what the steps change (`fast_path`,
`changeset`), the records of the changes (`core.transitions`), the answer where no step is taken (`rejections`), which
places were heard (`hearing`), what is reported of lives that are over (`after_end`), fields that nothing reads
(`reading`).
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from phaseline.engine.core import after_end, hearing
from phaseline.engine.core.adoption import adopt, missing_parent
from phaseline.engine.core.beside import signals
from phaseline.engine.core.beside.free_attributes import are_news
from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.fast_path import fast_path, planned
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.judgement import Steps, attributes_of, impossible_base, interpretation
from phaseline.engine.core.lives.judging import JUDGED, NOBODY, Thing, judged, with_learnt
from phaseline.engine.core.lives.of_log import heard_again
from phaseline.engine.core.lives.renewal import lasting, take_over
from phaseline.engine.core.memory.reasons import again
from phaseline.engine.core.reading.noting import noted
from phaseline.engine.core.rejections import below_missing, bounded, here, mark, reject, tells_of, without_step
from phaseline.engine.core.reports import RefusedReport, read_report
from phaseline.engine.core.snapshot import take_snapshot
from phaseline.engine.core.sources import repeats
from phaseline.engine.core.sources.numbers import remember
from phaseline.engine.core.transitions import REPEAT, Decision, transitions
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.reports import SNAPSHOT, STAYED
from phaseline.machines.language.contact import HEARTBEAT
from phaseline.machines.language.fields import ATTRIBUTES
from phaseline.machines.language.predicates import Predicate
from phaseline.machines.language.table import DELETED, Refusal
from phaseline.schemas.records import Entity, Memory, Reason, Record, Rejection


def decide(tree: Tree, arrival: Arrival) -> Decision:
    """The records of an event: transitions, one rejection, one mark, or none if the event has no effect."""
    if arrival.unread:
        return noted(tree, arrival, decide(tree, replace(arrival, unread=())), arrival.unread)
    if tree.unheard:
        return heard_again(tree, arrival, _judged(tree, arrival))
    return _judged(tree, arrival)


def _judged(tree: Tree, arrival: Arrival) -> Decision:
    """The records of an event, each field of which something reads."""
    kind = tree.kinds[arrival.kind]
    entity = tree.entities[kind.name].get(arrival.id)
    if (
        entity is not None
        and (arrival.sequence is not None or (entity.memory is not None and kind.roles[arrival.trigger] == "intent"))
        and (again := repeats.answer(tree, kind, entity, arrival)) is not None
    ):
        return again
    if arrival.timer is not None:
        if _is_over(entity, arrival):
            return REPEAT
        due = hearing.timed_out(tree, kind, entity, arrival)
        if isinstance(due, Decision):
            return due
        arrival = due
    about = NOBODY
    if arrival.data and not JUDGED.isdisjoint(arrival.data):
        meant = judged(tree, kind, entity, arrival)
        if isinstance(meant, Decision):
            return meant
        about, arrival, entity = meant
    is_heard = False
    if tree.watched or tree.silence_after > 0 or kind.is_waited_for:
        is_heard = hearing.is_heard(tree, kind, arrival)
    facet = kind.unguarded.get(arrival.trigger)
    if facet is not None and entity is not None and not is_heard and arrival.timer is None:
        decision = planned(tree, kind, entity, arrival, facet)
        if decision is not None:
            return decision if about is NOBODY else with_learnt(tree, kind, arrival, decision, about)
    decision = _decide(tree, kind, entity, arrival, about, is_heard=is_heard)
    if about is not NOBODY:
        decision = with_learnt(tree, kind, arrival, decision, about)
    return bounded(tree, arrival, decision)


def _decide(
    tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival, about: Thing, *, is_heard: bool
) -> Decision:
    """The records of an event that is no repeat. is_heard: whether somebody has to record that its place was heard.

    about: the thing that it is about. Where that takes over from a living one, `entity` is what it finds: nothing yet.
    """
    if arrival.trigger == HEARTBEAT and (short := _heartbeat(tree, kind, entity, arrival, is_heard=is_heard)):
        return short
    if (entity is None or entity.facets[0].base.phase == DELETED) and (
        later := _after_end(tree, kind, entity, arrival, is_heard=is_heard)
    ) is not None:
        return later
    read = _read(tree, kind, entity, arrival, is_heard=is_heard)
    if isinstance(read, Decision):
        return read
    arrival = read
    asks = kind.roles[arrival.trigger] == "intent"
    missing = missing_parent(tree, kind, arrival.id, is_intent=asks, new=arrival if about.is_new else None)
    if missing is not None and not missing.adoptable:
        return Decision([below_missing(tree, arrival, missing)])
    if arrival.trigger in kind.interprets:
        fields = interpretation(tree, kind, entity, arrival)
        if isinstance(fields, Refusal):
            return _refused(tree, arrival, fields)
        arrival = replace(arrival, data={**arrival.data, **fields})
    facets = kind.unborn if entity is None else entity.facets
    steps, guard = kind.select(arrival.trigger, facets, tree, arrival.id, arrival.data)
    if arrival.trigger in kind.base_from_data and (problem := impossible_base(kind, steps, arrival.data)) is not None:
        return _rejected(tree, arrival, "invalid", problem)
    if not steps:
        return _nothing_taken(tree, kind, entity, arrival, guard, is_heard=is_heard)
    is_alone = kind.fast_path_ok and missing is None and not is_heard and arrival.timer is None
    is_alone = is_alone and not arrival.data.get(STAYED)
    if entity is not None and is_alone and len(steps) == 1:
        decision = fast_path(tree, kind, entity, arrival, *steps[0])
        if decision is not None:
            return decision
    renews = about.takes_over and entity is not None
    kept = lasting(kind, entity.attributes) if renews and entity is not None else None
    attributes = attributes_of(tree, kind, entity, steps, arrival, kept)
    if isinstance(attributes, Refusal):
        return _refused(tree, arrival, attributes)
    adopts = missing is not None
    return _take(tree, kind, steps, attributes, arrival, adopts=adopts, renewed_by=about.uid if renews else "")


def _read(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival, *, is_heard: bool) -> Arrival | Decision:
    """The event with what it says of signals and states, held against its entity; or its answer."""
    if arrival.trigger in kind.telling:
        told = signals.read(kind, entity, arrival)
        if told is None:
            return _redundant(tree, kind, entity, arrival, is_heard=is_heard)
        if isinstance(told, Refusal):
            return _refused(tree, arrival, told)
        arrival = told
    if arrival.trigger not in kind.reports:
        return arrival
    of_all = arrival.trigger == SNAPSHOT
    report = take_snapshot(tree, kind, arrival) if of_all else read_report(tree, kind, entity, arrival)
    if isinstance(report, Arrival) or of_all or not is_heard:
        return report
    return _without_step(tree, kind, entity, arrival, report.records)


def _after_end(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival, *, is_heard: bool) -> Decision | None:
    """The records of a report about a life that is over; None if the event is no such report."""
    report = after_end.of_event(kind, arrival)
    if report is None or not after_end.is_over(tree, entity, report):
        return None
    noted = after_end.read(tree, entity, report)
    if isinstance(noted, RefusedReport):
        return _rejected(tree, arrival, noted.reason, noted.message)
    if noted is None:
        return _redundant(tree, kind, entity, arrival, is_heard=is_heard)
    changeset = Changeset(tree, arrival.trigger, arrival.cause.sequence, arrival.time)
    origin = Origin(arrival.trigger, arrival.cause.by, arrival.cause.origin, arrival.data)
    after_end.note(changeset, kind, arrival.id, noted, after_end.origin_of(noted, arrival.data, origin))
    return _settled(changeset, kind, arrival)


def _told_again(tree: Tree, kind: Kind, arrival: Arrival, facet: int, memory: Memory) -> Decision:
    """The records of an observation that gives another reason for what is already so."""
    changeset = Changeset(tree, arrival.trigger, arrival.cause.sequence, arrival.time)
    change = changeset.change(kind.name, arrival.id)
    change.memory = memory
    change.origins[facet] = Origin(arrival.trigger, arrival.cause.by, arrival.cause.origin, arrival.data)
    return _settled(changeset, kind, arrival)


def _settled(changeset: Changeset, kind: Kind, arrival: Arrival) -> Decision:
    """The records of a changeset in which an event is noted that moves no base of its entity."""
    if arrival.sequence is not None:
        remember(changeset.change(kind.name, arrival.id), arrival, asks=False)
    hearing.hear(changeset, kind, arrival)
    changeset.settle()
    return transitions(changeset, arrival.cause)


def _heartbeat(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival, *, is_heard: bool) -> Decision | None:
    """The answer to a heartbeat that changes no state; None if it may. It is the same as on the long way."""
    if ATTRIBUTES in arrival.data:
        return None
    if not is_heard:
        return Decision([]) if hearing.says_nothing(tree, kind, entity, arrival) else None
    if entity is None or missing_parent(tree, kind, arrival.id, is_intent=False) is not None:
        return None
    return hearing.heard_again(tree, kind, entity, arrival)


def _says_more(kind: Kind, entity: Entity, arrival: Arrival) -> bool:
    """Whether an observation that reports what is so already brings free attributes that are not there yet."""
    if ATTRIBUTES not in arrival.data or kind.roles[arrival.trigger] != "observation":
        return False
    return are_news(entity, arrival.data) and kind.already_so(arrival.trigger, entity.facets, arrival.data)


def _nothing_taken(
    tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival, guard: Predicate | None, *, is_heard: bool
) -> Decision:
    """The answer to an event for which no step is selected. guard: the predicate that did not hold, if any."""
    if entity is not None and arrival.timer is None:
        if _says_more(kind, entity, arrival):
            attributes = attributes_of(tree, kind, entity, [], arrival)
            if isinstance(attributes, Refusal):
                return _refused(tree, arrival, attributes)
            return _take(tree, kind, [], attributes, arrival, adopts=False)
        if (told := again(kind, entity, arrival.trigger, arrival.data)) is not None:
            return _told_again(tree, kind, arrival, *told)
    facets = kind.unborn if entity is None else entity.facets
    records = [] if arrival.timer is not None else without_step(tree, kind, facets, arrival, guard)
    return _without_step(tree, kind, entity, arrival, records) if is_heard else Decision(records)


def _redundant(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival, *, is_heard: bool) -> Decision:
    """The records of an observation that says what is known already."""
    records: list[Record] = [] if arrival.sequence is None or entity is None else [mark(arrival, entity)]
    return _without_step(tree, kind, entity, arrival, records) if is_heard else Decision(records)


def _without_step(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival, records: list[Record]) -> Decision:
    """The records of an observation that takes no step, but shows that its reporter is alive.

    A rejected one does not count: anybody may have sent it.
    """
    if any(isinstance(record, Rejection) for record in records):
        return Decision(records)
    if entity is None:
        changeset = Changeset(tree, arrival.trigger, arrival.cause.sequence, arrival.time)
        hearing.hear(changeset, kind, arrival)
        changeset.settle()
        return transitions(changeset, arrival.cause)
    return _take(tree, kind, [], entity.attributes, arrival, adopts=False)


def _rejected(tree: Tree, arrival: Arrival, reason: Reason, message: str) -> Decision:
    return Decision([reject(tree, arrival, reason, message)])


def _refused(tree: Tree, arrival: Arrival, refusal: Refusal) -> Decision:
    if refusal.invalid:
        return _rejected(tree, arrival, "invalid", refusal.message)
    reason: Reason = "stale" if refusal.stale else "guard"
    return _rejected(tree, arrival, reason, f"{here(tree, arrival)}: {refusal.message}")


def _take(
    tree: Tree, kind: Kind, steps: Steps, attributes: Mapping[str, Any], arrival: Arrival, *, adopts: bool,
    renewed_by: str = "",
) -> Decision:  # fmt: skip
    """The records of an event that takes steps, or that only shows that its reporter is alive.

    attributes: those of the entity after the event. renewed_by: the thing that takes over from a living one, if any.
    """
    asks = kind.roles[arrival.trigger] == "intent"
    changeset = Changeset(tree, arrival.trigger, arrival.cause.sequence, arrival.time, asks=asks)
    if adopts:
        adopt(changeset, kind, arrival.id)
    change = changeset.change(kind.name, arrival.id)
    if renewed_by:
        take_over(changeset, kind, arrival.id, renewed_by)
    change.attributes = attributes
    if arrival.timer is not None:
        change.fired_timer = arrival.timer[0]
    origin = Origin(arrival.trigger, arrival.cause.by, arrival.cause.origin, arrival.data)
    changeset.take(kind.name, arrival.id, steps, origin)
    if not steps and change.before is not None and attributes is not change.before.attributes:
        change.origins[0] = origin
    remember(change, arrival, asks=asks)
    hearing.hear(changeset, kind, arrival)
    changeset.settle()
    decision = transitions(changeset, arrival.cause)
    if arrival.sequence is not None and not tells_of(decision.records, arrival):
        decision.records.append(mark(arrival, change.before, asks=asks))
    return decision


def _is_over(entity: Entity | None, arrival: Arrival) -> bool:
    """Whether the timer of the event was cancelled or set anew after the server had sent it."""
    if arrival.timer is None:
        return False
    return entity is None or entity.timers_ns.get(arrival.timer[0]) != arrival.timer[1]
