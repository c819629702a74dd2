"""The transitions of a changeset: one for each facet that changed, with the whole entity after it. Pure.

Belongs here: `Decision`; the versions, times, timers, causes and messages of transitions. Does not: what changes
(`changeset`). Next: `core.process` adds the records to the tree and to the batch.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from phaseline.engine.core.changeset import Changeset, EntityChange, Origin
from phaseline.engine.core.lives.memory import of_version
from phaseline.engine.core.memory import class_stays
from phaseline.engine.core.memory.reasons import reasons_of
from phaseline.engine.core.timers import TimerChange, restart, silence_of, starts_again, timeout_of, timers_after
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.reports import STAYED
from phaseline.machines.language.contact import FALLS_SILENT, HEARD_AT, SILENCE_AFTER, WAITED
from phaseline.machines.language.deadlines import STALLS
from phaseline.machines.language.endings import ABANDON
from phaseline.machines.language.predicates import AnyBelow
from phaseline.machines.language.table import BECAUSE, DELETED, MAX_TEXT, REPORTED, STALLED
from phaseline.machines.language.table import Facet as TableFacet
from phaseline.schemas.records import (
    CONTACT,
    NONE,
    NOTHING,
    SIGNALS,
    Cause,
    Entity,
    FacetState,
    Mark,
    Noted,
    Record,
    State,
    Transition,
    timestamp,
)

LONGEST_WORD = 1_000
"""The most characters of a person's own message that stand before what was given up."""
ROOM = 64
"""The characters of a message that are left for the number of what it does not name."""
NOT_HEARD = "nothing was heard since somebody waits for it"
"""The message of a silence before anything was heard."""
NOT_ENDED = "it did not end in time; nobody asked for it"
"""The message of a stall that no request began."""
MAX_NAMED = 3
"""The most entities below that a message names. It gives the number of the others."""


class Decision(msgspec.Struct, frozen=True):
    """The core's answer to one event: the records, and the timers that they change.

    fault: the error that a rule raised, which is a bug but for a stopped script. The event is rejected then.
    """

    records: list[Record]
    timers: Sequence[TimerChange] = ()
    fault: Exception | None = None


REPEAT = Decision([])
"""The answer to an event that was decided before, and to a timer that is over."""


def transitions(changeset: Changeset, cause: Cause) -> Decision:
    """The transitions of the event `cause`, in the order in which entities changed, and the timers they change."""
    records: list[Record] = []
    timers: list[TimerChange] = []
    for (name, entity_id), change in changeset.changes.items():
        kind, entity = changeset.kinds[name], change.before
        for index in range(len(kind.names)):
            if index >= kind.own and index not in change.origins:
                continue
            facets = _facets_after(changeset, kind, entity_id, entity, change, index)
            if facets is None:
                continue
            is_timed = kind.times_out or (entity is not None and entity.timers_ns)
            is_timed = is_timed or kind.contact in change.origins or SILENCE_AFTER in change.attributes
            restarts = (
                _restarts(changeset, kind, entity_id, entity, change, index, facets, len(records)) if is_timed else ()
            )
            before, entity = entity, _entity_after(kind, entity_id, entity, change, facets, restarts, changeset.time)
            if index == kind.contact or (change.memory is not None and change.memory.settled):
                memory = of_version(entity.memory, before, is_contact=index == kind.contact)
                entity = replace(entity, memory=memory)
            if kind.signals in change.origins and kind.signals is not None and index < kind.signals:
                entity = _before_signals(change, entity)
            origin = change.origins[index]
            records.append(_transition(changeset, before, entity, index, origin, cause))
            known = NONE if before is None else before.timers_ns
            timers += [each for each in restarts if each.due != known.get(each.facet)]
        if kind.contact is None or entity is None or entity is not change.before:
            continue
        if change.attributes != entity.attributes or _is_retimed(kind, change):
            restarts = _restarts(changeset, kind, entity_id, entity, change, kind.contact, entity.facets, len(records))
            records.append(_hearing(kind, entity, change, restarts, cause, changeset.time))
            timers += restarts
    return Decision(records, timers)


def _before_signals(change: EntityChange, entity: Entity) -> Entity:
    """The entity as the record of its state holds it: other signals come with the record of their facet, which follows.

    So who watches signals misses none.
    """
    before = NONE if change.before is None else change.before.attributes
    if before.get(SIGNALS) == change.attributes.get(SIGNALS):
        return entity
    rest = {name: value for name, value in change.attributes.items() if name != SIGNALS}
    return replace(entity, attributes={**rest, SIGNALS: before[SIGNALS]} if SIGNALS in before else rest)


def _is_retimed(kind: Kind, change: EntityChange) -> bool:
    """Whether the time after which an entity falls silent has changed above it."""
    origin = None if kind.contact is None else change.origins.get(kind.contact)
    return origin is not None and origin.trigger == WAITED


def _hearing(
    kind: Kind, entity: Entity, change: EntityChange, restarts: Sequence[TimerChange], cause: Cause, time: int
) -> Mark:
    """The mark of an entity that was heard, or waits anew, and is Fresh already. Its version stays the same."""
    after = _entity_after(kind, entity.id, entity, change, entity.facets, restarts, time)
    return Mark(replace(after, version=entity.version), cause_of(cause, change.origins[kind.contact or 0]), time)


def _transition(
    changeset: Changeset, before: Entity | None, entity: Entity, index: int, origin: Origin, cause: Cause
) -> Transition:
    """The transition of one facet, with the reason and the message that its own trigger brought."""
    said = origin.data
    replaced = changeset.changes[entity.kind, entity.id].replaced if index == 0 else None
    return Transition(
        entity.names[index],
        None if before is None else before.facets[index].state,
        entity.facets[index].state,
        origin.trigger,
        said.get("reason"),
        _message_of(changeset, entity, index, origin),
        cause_of(cause, origin),
        entity,
        changeset.time,
        replaced is not None or _is_unasked(changeset.kinds[entity.kind], before, entity, index, origin),
        noted_of(origin, index) if replaced is None else noted_of(origin, index)._replace(replaced=replaced),
    )


def noted_of(origin: Origin, index: int) -> Noted:
    """What a report left alone. Only the engine makes a tuple of it."""
    stayed = origin.data.get(STAYED) if index == 0 and origin.trigger == REPORTED else None
    return Noted(stayed=stayed) if stayed and isinstance(stayed, tuple) else NOTHING


def _is_unasked(kind: Kind, before: Entity | None, after: Entity, index: int, origin: Origin) -> bool:
    """Whether a report moved the base where no single observation row leads."""
    if before is None or origin.trigger not in kind.reports or origin.by not in ("event", "cascade"):
        return False
    return kind.is_unasked(index, origin.trigger, before.facets[index], after.facets[index])


def cause_of(cause: Cause, origin: Origin) -> Cause:
    """The cause of a transition: the event `cause`, and how it led to the transition."""
    if origin.by in ("event", "timer"):
        return cause
    by = "tables" if cause.by == "tables" else origin.by
    return Cause(
        cause.sequence, cause.event, cause.source, by, origin.entity, cause.time_text, cause.extensions, cause.actor
    )


def _message_of(changeset: Changeset, entity: Entity, index: int, origin: Origin) -> str | None:
    """The message of a transition: that of its event, unless a view shows for a reason that the table names.

    An event may speak of something else than what a view shows, such as an operation that succeeded.
    """
    found = entity.facets[index]
    if found.state is not found.base and (why := _of_view(changeset, entity, index)):
        return why
    said = origin.data.get("message") or _message(changeset, entity.kind, entity, index, origin)
    if index == 0 and origin.by == "event" and origin.data.get(ABANDON) and found.base.phase == DELETED:
        return _given_up(changeset, said)
    return said


def _given_up(changeset: Changeset, said: str | None) -> str:
    """What a request gave up: the entity, and all that lived below it, as far as a message has room."""
    lost = [f"{kind} {entity_id}" for kind, entity_id in changeset.orphans if (kind, entity_id) in changeset.changes]
    first = f"{said[:LONGEST_WORD]}; given up" if said else "given up"
    message = f"{first}, nobody has seen that it is gone"
    if not lost:
        return message
    message += f"; with it {len(lost):,} below: "
    named = list[str]()
    for one in sorted(lost):
        if len(message) + sum(len(each) + 2 for each in named) + len(one) > MAX_TEXT - ROOM:
            break
        named.append(one)
    more = f" and {len(lost) - len(named):,} more" if len(named) < len(lost) else ""
    return f"{message}{', '.join(named)}{more}"


def _of_view(changeset: Changeset, entity: Entity, index: int) -> str | None:
    """What the entity itself says of the view that shows, where no entity below makes it show."""
    machine, found = changeset.kinds[entity.kind].machines[index], entity.facets[index]
    if not machine.views_say or found.state == found.base:
        return None
    view = machine.shown_view(found.base, changeset, entity.id)
    return None if view is None or view.message_from is None else entity.attributes.get(view.message_from) or None


def _message(changeset: Changeset, kind: str, entity: Entity, index: int, origin: Origin) -> str | None:
    """The message that the table derives: from an attribute, or from the entities below on which a view depends."""
    facet, found = changeset.kinds[kind].table.facets[index], entity.facets[index]
    if origin.trigger == FALLS_SILENT:
        heard_at = entity.attributes.get(HEARD_AT)
        return NOT_HEARD if heard_at is None else f"nothing was heard since {timestamp(heard_at)}"
    if origin.trigger == STALLS and origin.by == "timer":
        return f"the request of event {entity.asked} was not answered in time" if entity.asked else NOT_ENDED
    if found.state != found.base:
        asked = (
            ()
            if facet.message_names is None or found.state.phase == facet.healthy
            else _asked_below(facet, found.state)
        )
        named = [_named(changeset, kind, entity.id, *one) for one in asked]
        return BECAUSE + "; ".join(filter(None, named)) if any(named) else None
    if facet.message_from is not None and origin.by in ("event", "timer"):
        return entity.attributes.get(facet.message_from) or None
    return None


def _asked_below(facet: TableFacet, shown: State) -> list[tuple[str, int, str | None, frozenset[str]]]:
    """What the views that show this state ask of entities below: kind, facet, condition, phases; conditions first."""
    phases: dict[tuple[str, int, str | None], set[str]] = {}
    if facet.message_names is None:
        return []
    for view in facet.views:
        if view.to != shown.phase or (view.condition is not None and view.condition not in shown.conditions):
            continue
        for asked in view.while_:
            if not isinstance(asked, AnyBelow) or asked.fewer_than is not None:
                continue
            if asked.has or (asked.kind, asked.facet) == facet.message_names:
                phases.setdefault((asked.kind, asked.facet, asked.has), set()).update(asked.phases)
    found = sorted(phases.items(), key=lambda one: one[0][2] is None)
    return [(*key, frozenset(wanted)) for key, wanted in found]


def _named(
    changeset: Changeset, kind: str, entity_id: str, below: str, facet: int, has: str | None, phases: frozenset[str]
) -> str | None:
    """`resource shop/web/..., ... and 4 more`: the entities below that are in one of these phases, with the condition.

    Those with a condition are named with the reason that they keep.
    """
    reason = changeset.kinds[below].table.facets[facet].message_from if has else None
    names: list[str] = []
    for one in changeset.descendants(kind, entity_id, below):
        found = changeset.entity(below, one)
        state = found.facets[facet].state
        if state.phase in phases and (has is None or has in state.conditions):
            why = found.attributes.get(reason) if reason and len(names) < MAX_NAMED else None
            names.append(f"{one} ({why})" if why else one)
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{below} {', '.join(names[:MAX_NAMED])}{more}" if names else None


def _facets_after(
    changeset: Changeset, kind: Kind, entity_id: str, entity: Entity | None, change: EntityChange, index: int
) -> tuple[FacetState, ...] | None:
    """All facets after the change of facet `index`; None if neither the facet nor an attribute changed."""
    before, time = kind.unborn if entity is None else entity.facets, changeset.time
    old, new = before[index], change.facets[index]
    is_same = new.base == old.base and new.state == old.state and new.interrupted == old.interrupted
    is_new = index == 0 and change.replaced is not None
    if is_same and not is_new and not _asks_again(changeset, kind, change, index):
        may_tell = index in change.origins and index != kind.contact
        if not (may_tell and (_is_assigned(kind, entity, change, index) or _gives_reason(kind, index, entity, change))):
            return None
    stays = new.state == old.state and not is_new
    facet = FacetState(new.base, new.state, old.since_ns if stays else time, new.interrupted)
    awaits = kind.contact is not None and (
        changeset.tree.watched or changeset.tree.silence_after or change.attributes or kind.is_waited_for
    )
    if awaits and not before[-1].since_ns and _is_awaited(changeset, kind, entity_id, change):
        before = (*before[:-1], FacetState(before[-1].base, before[-1].state, time))
    return (*before[:index], facet, *before[index + 1 :])


def _asks_again(changeset: Changeset, kind: Kind, change: EntityChange, index: int) -> bool:
    """Whether the time of a pending phase starts anew: a request was taken in it, or a map of states moved the base."""
    origin = change.origins.get(index)
    if origin is None or not ((changeset.asks and origin.by in ("event", "cascade")) or origin.by == "tables"):
        return False
    facet = change.facets[index]
    timeout = timeout_of(kind, index, facet)
    return timeout is not None and timeout.deadline and STALLED not in facet.base.conditions


def _is_awaited(changeset: Changeset, kind: Kind, entity_id: str, change: EntityChange) -> bool:
    """Whether somebody waits for the reporter of an entity. Its `contact` begins with the first record since then."""
    tree = changeset.tree
    if kind.name not in tree.watched and SILENCE_AFTER not in change.attributes:
        return tree.silence_after > 0 and kind.is_place
    return silence_of(changeset, kind, entity_id, change.attributes) > 0


def _is_assigned(kind: Kind, entity: Entity | None, change: EntityChange, index: int) -> bool:
    """Whether a row changed an attribute of facet `index`. A hearing is no change of the entity.

    Signals belong to their facet, and have a record even if another facet's record holds them already.
    """
    attributes = change.attributes
    if index == kind.signals:
        return attributes.get(SIGNALS) != (NONE if change.before is None else change.before.attributes).get(SIGNALS)
    before = NONE if entity is None else entity.attributes
    if attributes is before or attributes == before:
        return False
    if kind.contact is None:
        return True
    apart = {HEARD_AT: None} if kind.signals is None else {HEARD_AT: None, SIGNALS: None}
    return {**attributes, **apart} != {**before, **apart}


def _gives_reason(kind: Kind, index: int, entity: Entity | None, change: EntityChange) -> bool:
    """Whether another reason is given for a condition of the facet."""
    memory = None if entity is None else entity.memory
    return change.memory is not memory and reasons_of(kind, index, memory) != reasons_of(kind, index, change.memory)


def _restarts(
    changeset: Changeset, kind: Kind, entity_id: str, entity: Entity | None, change: EntityChange, index: int,
    facets: tuple[FacetState, ...], record: int,
) -> list[TimerChange]:  # fmt: skip
    """The timers that start again, or end, with the change of facet `index`. `facets`: all facets after the change."""
    before = kind.unborn if entity is None else entity.facets
    attributes, timers = (NONE, NONE) if entity is None else (entity.attributes, entity.timers_ns)
    restarts, contact = [], kind.contact
    is_quiet = contact not in change.origins and change.attributes is attributes and CONTACT not in timers
    for number in kind.timing if index in kind.timing else sorted((*kind.timing, index)):
        if is_quiet and number == contact:
            continue
        facet = facets[number]
        timeout, is_moved = timeout_of(kind, number, facet), number == index
        fired = is_moved and change.fired_timer == kind.names[number]
        stray = timeout is None and kind.names[number] in timers
        moved = is_moved and (
            stray
            or timeout is not timeout_of(kind, number, before[number])
            or _asks_again(changeset, kind, change, number)
            or (number == 0 and change.replaced is not None)
        )
        is_contact = number == contact
        anew = is_contact and _is_retimed(kind, change)
        if fired or moved or anew or starts_again(timeout, attributes, change.attributes):
            stays = fired and not moved
            if is_contact and facets[0].base.phase == DELETED:
                restarts.append(TimerChange(record, kind.names[number], "", None))
                continue
            timer = restart(
                changeset, kind, entity_id, number, facet, change.attributes, changeset.time, record, fired=stays
            )
            restarts.append(timer)
    return restarts


def _entity_after(
    kind: Kind,
    entity_id: str,
    entity: Entity | None,
    change: EntityChange,
    facets: tuple[FacetState, ...],
    restarts: Sequence[TimerChange],
    time: int,
) -> Entity:
    """The whole entity after the change of one facet. time: that of the event, ns."""
    timers = NONE if entity is None else entity.timers_ns
    for each in restarts:
        timers = timers_after(timers, each)
    version = 1 if entity is None else entity.version + 1
    former = change.before if change.replaced is None else None
    memory = class_stays.memory_after(kind, former, facets, change.attributes, change.memory, time)
    return Entity(
        kind.name, entity_id, version, kind.names, facets, change.attributes, change.sequences, timers, change.asked,
        change.born, memory,
    )  # fmt: skip
