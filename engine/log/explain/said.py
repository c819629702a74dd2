"""What was said of the conditions of an entity: the reason, by whom, since when, how often; and what contradicts it.

A worker keeps the reason only, and notes nothing that is so already. How often it was said is counted in EVENTS when
somebody asks, as far back as that goes.
Belongs here: the records that gave the reasons, counting in EVENTS. Does not: keeping reasons (`core.memory.reasons`).
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from phaseline.engine.core.memory.reasons import reasons_of
from phaseline.engine.log.explain.causes import History, added, entered, moves, signal_record
from phaseline.engine.log.explain.model import Contradiction, GivenReason
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.state_view import StateView
from phaseline.engine.nats.stream_reader import read_all
from phaseline.machines.compiler.conditions import accumulated_conditions
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.reports import CONDITIONS, PHASE
from phaseline.machines.language.signals import CONDITION, NAME, REASON, STATUS, standing_signals
from phaseline.machines.language.table import ABSENT, DELETED, REPORTED
from phaseline.schemas.errors import ApiFailed, NoAnswer, NotPermitted
from phaseline.schemas.records import SIGNALS, Entity, State, Transition, timestamp
from phaseline.schemas.subjects import ACTOR, quote, quoted_id

if TYPE_CHECKING:
    from phaseline.engine.core.intake import Arrival

MOST = 1_000
"""The most events that are looked at, so that one who asks does not wait."""


class SaidOf(NamedTuple):
    """What was said of the facets of an entity, by the name of the facet."""

    said: Mapping[str, tuple[GivenReason, ...]]
    contradicted_by: Mapping[str, tuple[Contradiction, ...]]


def said_in(kind: Kind, entity: Entity, history: History) -> Iterator[GivenReason]:
    """For each condition that lasts, the record since which its reason is the same, as far as the history goes."""
    for index, facet in enumerate(entity.facets[: kind.contact]):
        if index == kind.signals:
            yield from _signals_in(entity, history)
            continue
        base, table = facet.base, kind.table.facets[index]
        known = reasons_of(kind, index, entity.memory)
        held = accumulated_conditions(table) if base.phase == table.accumulates_in else frozenset()
        names = [one for one in base.conditions if one in held or one in table.sticky or one in known]
        names += [one for one in known if one == base.phase]
        moved = list(moves(history, index)) if names else []
        for name in names:
            reason = known.get(name)
            if reason is not None:
                record = _since(kind, index, history, name, reason)
            else:
                at = entered(moved) if name == base.phase else added(table, moved, name)
                record = None if at is None else moved[at].record
            yield GivenReason(entity.names[index], name, reason, record, None if record is None else record.message)


def _signals_in(entity: Entity, history: History) -> Iterator[GivenReason]:
    """The same of each signal that stands."""
    for name, one in standing_signals(entity.attributes).items():
        record = signal_record(history, name)
        message = record.message if record is not None and record.trigger == CONDITION else None
        yield GivenReason(SIGNALS, name, one.get(REASON), record, message)


def _since(kind: Kind, index: int, history: History, name: str, reason: str) -> Transition | None:
    """The record since which a condition has its reason."""
    found = None
    for record in reversed(history):
        if reasons_of(kind, index, record.entity.memory).get(name) != reason:
            break
        found = record
    return found


async def said_of(view: StateView, entity: Entity, history: History) -> SaidOf:
    """What was said of the conditions of an entity, and by whom else something else."""
    kind = view.installation.kinds[entity.kind]
    history = [replace(one, entity=kind.whole(one.entity)) for one in history]  # an early record has fewer facets
    said = list(said_in(kind, kind.whole(entity), history))
    counter = _Counter(kind, kind.whole(entity), said)
    try:
        refused = await _refused(view, entity, counter)
        async for position, arrival in _events(view, entity, counter):
            if refused is None:
                break  # what was refused, and so says nothing, is not known
            if position not in refused:
                counter.take(position, arrival)
    except (ApiFailed, NotPermitted, NoAnswer):  # one who may not read events still learns what the log says
        pass
    return SaidOf(counter.by_facet(), {entity.names[0]: found} if (found := tuple(counter.contradictions())) else {})


class _Counter:
    """Counts, in the order of EVENTS, what is said again and what is said otherwise."""

    def __init__(self, kind: Kind, entity: Entity, said: Sequence[GivenReason]) -> None:
        self.kind, self.entity, self.said = kind, entity, list(said)
        self.otherwise: dict[str, Arrival] = {}
        """By source, the last report of another state than the one that is there."""
        known = [one.record for one in said if one.record is not None]
        self.first = min((one.cause.sequence for one in known), default=0)
        self.first_ns = min((one.time_ns for one in known), default=0)
        signalled = {CONDITION} if any(one.facet == SIGNALS for one in said) else set()
        self.triggers = sorted({one.trigger for one in known if one.cause.by == "event"} | {REPORTED} | signalled)

    def take(self, position: int, arrival: "Arrival") -> None:
        """Count one event, at its position."""
        for number, one in enumerate(self.said):
            if one.record is not None and position > one.record.cause.sequence and self._is_again(one, arrival):
                is_own = one.facet != SIGNALS or arrival.trigger == CONDITION  # a report's words are of the whole
                self.said[number] = replace(
                    one, count=one.count + 1, last_ns=arrival.time, last_source=arrival.cause.source,
                    message=(is_own and arrival.data.get("message")) or one.message,
                )  # fmt: skip
        if arrival.trigger == REPORTED:
            self.otherwise.pop(arrival.cause.source, None)
            if self._says_otherwise(arrival):
                self.otherwise[arrival.cause.source] = arrival

    def _is_again(self, one: GivenReason, arrival: "Arrival") -> bool:
        if one.record is None:
            return False
        if one.facet == SIGNALS:
            return self._is_said_again(one, arrival)
        if arrival.trigger != one.record.trigger:
            return False
        named = arrival.data.get(CONDITIONS) if arrival.trigger == REPORTED else None
        is_named = arrival.trigger != REPORTED or (named is not None and one.condition in named)
        return is_named and arrival.data.get("reason") in (None, one.reason)

    def _is_said_again(self, one: GivenReason, arrival: "Arrival") -> bool:
        """Whether an event says of a signal what is known: it may name that one, or have all of them."""
        stands, data = standing_signals(self.entity.attributes)[one.condition], arrival.data
        if arrival.trigger == CONDITION:
            given = data if data.get(NAME) == one.condition else {}
        else:
            of_all = data.get(SIGNALS)
            given = of_all.get(one.condition) or {} if isinstance(of_all, Mapping) else {}
        given = given if isinstance(given, Mapping) else {STATUS: given}
        return given.get(STATUS) == stands[STATUS] and given.get(REASON) in (None, one.reason)

    def _says_otherwise(self, arrival: "Arrival") -> bool:
        facet, phase = self.entity.facets[0], arrival.data.get(PHASE)
        return phase is not None and phase not in (facet.base.phase, facet.state.phase, ABSENT, DELETED)

    def by_facet(self) -> dict[str, tuple[GivenReason, ...]]:
        """What was said of each facet."""
        found: dict[str, list[GivenReason]] = {}
        for one in self.said:
            found.setdefault(one.facet, []).append(one)
        return {facet: tuple(some) for facet, some in found.items()}

    def contradictions(self) -> Iterator[Contradiction]:
        """The last report of each source that says otherwise, and that no later one of its own took back."""
        for source, arrival in self.otherwise.items():
            named = State(arrival.data[PHASE], tuple(arrival.data.get(CONDITIONS) or ()))
            said = ": ".join(filter(None, (arrival.data.get("reason"), arrival.data.get("message"))))
            text = f"{source} reported {named} at {timestamp(arrival.time)} (event {arrival.cause.event})"
            yield Contradiction(named.phase, text, said, None)


async def _refused(view: StateView, entity: Entity, counter: _Counter) -> frozenset[int] | None:
    """Which events at an entity were refused, such as late ones about another thing: they say nothing of this one."""
    from phaseline.engine.log.explain.refused import refused_since  # noqa: PLC0415  # most conditions have no reason

    start = counter.first_ns
    return await refused_since(view, entity, start) if start else frozenset()


async def _events(view: StateView, entity: Entity, counter: _Counter) -> AsyncIterator[tuple[int, "Arrival"]]:
    """The events of an entity that say of its conditions what they are, the first ones of them, in order."""
    if counter.said and counter.first:
        names = [(entity.kind, trigger, entity.id) for trigger in counter.triggers]
        async for arrival in arrivals(view, names, counter.first):
            yield arrival.cause.sequence, arrival


async def arrivals(view: StateView, names: Sequence[tuple[str, str, str]], first: int) -> AsyncIterator["Arrival"]:
    """The first events with these kinds, triggers and ids, from a position of EVENTS on, that can be read."""
    from phaseline.engine.core import intake  # noqa: PLC0415  # of most conditions nobody gave a reason

    installation, left = view.installation, MOST
    filters = [subject for name in names for subject in _subjects(installation, *name)]
    until = None if view.moment is None else view.moment.time_ns
    async for some in read_all(installation.wire, installation.layout.events, filters, first):
        for one in some:
            if left == 0 or (until is not None and one.time_ns > until):
                return
            left -= 1
            read = intake.read(
                installation.kinds, installation.subjects, one.subject, one.data, one.sequence, one.time_ns, one.block
            )
            if isinstance(read, intake.Arrival):
                yield read


def _subjects(installation: Installation, kind: str, trigger: str, entity_id: str) -> Iterator[str]:
    """The subjects in EVENTS of what is sent about an entity, by itself or in the name of somebody."""
    root, _, rest = entity_id.partition("/")
    start = f"{installation.prefix}.inbox.{installation.partition_of(entity_id)}.{quote(root)}"
    tail = f".{quoted_id(rest)}" if rest else ""
    yield from (f"{start}{by}.{kind}.{trigger}{tail}" for by in ("", f".{ACTOR}.*"))
