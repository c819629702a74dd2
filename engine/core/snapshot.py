"""Snapshots: all that a reporter sees below one entity, in one event. Pure.

The rules are in docs/reports.md.
Belongs here: finding the items that differ and the entities that are gone, and taking all of them as one change.
Does not: the verdict on one state (`machines.compiler.judging`), the records of the changes (`core.transitions`).
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from msgspec.structs import replace

from phaseline.engine.core import after_end, hearing
from phaseline.engine.core.adoption import adopt, missing_parent
from phaseline.engine.core.after_end import Note, Report
from phaseline.engine.core.beside import signals
from phaseline.engine.core.beside.free_attributes import opened
from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.intake import Arrival, check_data
from phaseline.engine.core.judgement import attributes_after, attributes_before
from phaseline.engine.core.lives.judging import NOBODY, Thing, before_birth, is_there, learnt, of_report
from phaseline.engine.core.lives.memory import is_known
from phaseline.engine.core.lives.renewal import blank, lasting, take_over
from phaseline.engine.core.memory.reasons import REASON, worded
from phaseline.engine.core.reading.noting import noted
from phaseline.engine.core.rejections import mark, reject, tells_of
from phaseline.engine.core.reports import RefusedReport, read_state, unseen
from phaseline.engine.core.sources.numbers import remember
from phaseline.engine.core.transitions import Decision, cause_of, transitions
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.reports import ABOUT, CONDITIONS, CONFIRM, PHASE, SEEN
from phaseline.machines.language.brake import BRAKE, USUAL, held_back, is_too_much
from phaseline.machines.language.fields import ATTRIBUTES, UID, free_attributes
from phaseline.machines.language.table import ABSENT, DELETED, MAX_TEXT, REPORTED, Refusal, RuleEvent
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.records import SIGNALS, Entity, FacetState, LeftOut, Rejection
from phaseline.schemas.subjects import BadSubject, check_id

LISTED = 1_000
"""The most items that a rejection lists of those that were left out. It gives the number of all."""
SHOWN = 3
"""The most of them that its message names."""
LONGEST = 256
"""The most characters of an id and of an explanation in that list."""
ITEM = frozenset({"id", PHASE, CONDITIONS, ABOUT, SIGNALS, "attributes", "reason", "message", UID})
"""The fields of an item."""
BESIDE = frozenset({SIGNALS, "attributes", REASON})
"""Those that say something beside the state."""


class Correction(NamedTuple):
    """An entity that is not as the snapshot says. `data`: of the report that makes it so.

    noted: what is noted of a life that is over. about: the thing that the snapshot lists there. says_nothing: whether
    it says no more than which thing that is.
    """

    id: str
    data: Mapping[str, Any]
    noted: Note | None = None
    about: Thing = NOBODY
    says_nothing: bool = False


class Snapshot:
    """One snapshot, held against the tree as it is before the event."""

    def __init__(self, tree: Tree, kind: Kind, arrival: Arrival) -> None:
        """Read what the snapshot says. Nothing is compared yet."""
        data = arrival.data
        self.tree, self.of, self.arrival = tree, kind, arrival
        self.below = tree.kinds[data["kind"]]
        self.known = tree.entities[self.below.name]
        self.prefix = f"{arrival.id}/"
        self.items: list[dict[str, Any]] = data["items"]
        self.seen = {} if data.get(SEEN) is None else {SEEN: data[SEEN]}
        self.about = {} if data.get(ABOUT) is None else {ABOUT: data[ABOUT]}
        self.after, self.upto = data.get("after"), data.get("upto")
        self.listed: set[str] = set()
        """The ids that the snapshot lists, each as a whole."""
        self.left_out: list[LeftOut] = []
        self.unreadable = False
        """Whether an item does not say what it is about. Then nothing counts as gone: it may be that."""
        self.learnt: dict[str, Thing] = {}
        """By id, the things that are there and are not known yet."""
        self.stale: list[LeftOut] = []
        """What it does not list, and has come since the reporter looked."""
        self.held: list[Correction] = []
        """What the brake does not let it end."""
        self.living = 0
        """How many entities live in its range, if anything is held."""
        self.brake = _brake(tree, kind, arrival.id)
        self.unread: set[str] = set()
        """The fields of items that nothing reads."""
        if not ITEM.issuperset(chain.from_iterable(self.items)):
            self.unread.update(f"items[].{name}" for item in self.items for name in item.keys() - ITEM)

    def changes(self) -> Iterator[Correction]:
        """Everything that the snapshot changes: first the items in their order, then what is gone, by id."""
        for item in self._news():
            yield from self._changed(item)
        gone = [] if self.unreadable else [*self._gone()]
        ends = [one for one in gone if one.noted is None]
        if ends and not self.arrival.data.get(CONFIRM) and self._is_too_much(len(ends)):
            self.held = ends
        else:
            yield from gone

    def _news(self) -> list[dict[str, Any]]:
        """The items that are not as the tree has them already. There may be thousands, and few of these."""
        known, prefix, listed, news = self.known.get, self.prefix, self.listed, list[dict[str, Any]]()
        bounded, scoped = self.after is not None or self.upto is not None, bool(self.about)
        for item in self.items:
            name = item.get("id")
            if type(name) is str:
                entity = known(whole := prefix + name)
                if entity is not None and whole not in listed and not (bounded and not self._is_in_range(name)):
                    state, named = entity.facets[0].state, item.get(CONDITIONS)
                    same = _are(named, state.conditions) if named is not None else not (scoped or ABOUT in item)
                    same = same and BESIDE.isdisjoint(item)
                    same = same and (UID not in item or is_known(entity.memory, item[UID]))
                    if same and item.get(PHASE) == state.phase != DELETED:
                        listed.add(whole)
                        continue
            if self._is_news(item, name):
                news.append(item)
        return news

    def _is_news(self, item: dict[str, Any], name: object) -> bool:
        """Whether an item that is not as simple as most of them is about one entity, and not as the tree has it."""
        if not isinstance(name, str):
            self.unreadable = True
            self._leave_out(item, "invalid", "its id must be a text: the part of the id below the entity")
            return False
        whole = self.prefix + name
        if whole in self.listed:
            self._leave_out(item, "invalid", "its id is listed twice: the first item with it counts")
            return False
        if not self._is_in_range(name):
            self._leave_out(item, "invalid", f"its id is not in the range of the snapshot ({self._range()})")
            return False
        self.listed.add(whole)
        entity = self.known.get(whole)
        needs_phase = self.below.judge is None or self.below.judge.needs_phase
        if entity is None or (UID in item and not is_known(entity.memory, item[UID])):
            return True
        is_scoped = bool(self.about) or ABOUT in item
        return not _is_so(item, entity, needs_phase=needs_phase, is_scoped=is_scoped)

    def _changed(self, item: dict[str, Any]) -> Iterator[Correction]:
        """The change that an item makes, if it makes one."""
        entity_id = self.prefix + item["id"]
        data: dict[str, Any] = {name: item[name] for name in ITEM if name in item and name not in ("id", "attributes")}
        try:
            self._check(entity_id, item)
            data = {**self.about, **self._opened(item, data), **self.seen}
            check_data(self.below, REPORTED, data if self._needs_phase(data) else {**data, PHASE: DELETED})
            data = dict(worded(data))
        except (BadSubject, Invalid) as error:
            self._leave_out(item, "invalid", str(error))
            return
        known = entity = self.known.get(entity_id)
        about = of_report(self.below, entity, REPORTED, data, data.pop(UID, None), says_gone=data.get(PHASE) == DELETED)
        if isinstance(about, RefusedReport):
            self._leave_out(item, about.reason, about.message)
            return
        entity = _found(self.below, entity, about)
        told = signals.of_report(self.below, entity, data, self.arrival.time)
        if isinstance(told, Refusal):
            self._leave_out(item, "invalid" if told.invalid else "guard", told.message)
            return
        data = dict(told)
        report = self._report(entity_id, data)
        if after_end.is_over(self.tree, entity, report):
            noted = after_end.read(self.tree, entity, report)
            if isinstance(noted, RefusedReport):
                self._leave_out(item, noted.reason, noted.message)
            elif noted is not None:
                yield Correction(entity_id, data, noted, about)
            elif about.is_news and known is not None:
                yield Correction(entity_id, data, None, about, says_nothing=True)
            return
        read = read_state(self.tree, self.below, entity, entity_id, data)
        if isinstance(read, RefusedReport):
            self._leave_out(item, read.reason, read.message)
        elif read is not None:
            missing = missing_parent(self.tree, self.below, entity_id, is_intent=False)
            if missing is not None and not missing.adoptable:
                self._leave_out(item, "unknown_parent", str(missing))
            else:
                yield Correction(entity_id, read, None, about)
        elif about.is_news and known is not None:
            yield Correction(entity_id, data, None, about, says_nothing=True)

    def _report(self, entity_id: str, data: Mapping[str, Any]) -> Report:
        """What the snapshot says of one entity."""
        cause = self.arrival.cause
        return Report(self.below, entity_id, data, data.get(PHASE) == DELETED, cause.sequence, self.arrival.time)

    def _check(self, entity_id: str, item: dict[str, Any]) -> None:
        """Raise `Invalid` or `BadSubject` unless an item is about one entity below, in words that items have."""
        check_id(entity_id)
        if entity_id.count("/") + 1 != self.below.arity:
            shape = "/".join(f"<{part}>" for part in self.below.table.id[self.of.arity :])
            raise Invalid(f"the id {item['id']!r} does not fit: below {self.of.name} it is {shape}")

    def _opened(self, item: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        """The data of an item with its attributes. Those of its kind that a report cannot set are noted as unread."""
        given = item.get(ATTRIBUTES, {})
        found = opened(self.below, {**data, ATTRIBUTES: given})
        settable = () if self.below.judge is None else self.below.judge.attributes
        unread = [name for name in given if name in self.below.table.attribute_names and name not in settable]
        self.unread.update(f"items[].attributes.{name}" for name in unread)
        return {name: value for name, value in found.items() if name not in unread}

    def _needs_phase(self, data: Mapping[str, Any]) -> bool:
        """Whether an item names its phase, or must name it."""
        return data.get(PHASE) is not None or self.below.judge is None or self.below.judge.needs_phase

    def _gone(self) -> Iterator[Correction]:
        """What lives below, or ended unseen, in the range of the snapshot, if the snapshot does not list it."""
        unlisted = set(self.tree.descendants(self.of.name, self.arrival.id, self.below.name)) - self.listed
        message = "the snapshot lists nothing: all is gone" if not self.items else "the snapshot does not list it"
        data = {PHASE: DELETED, "message": message, **self.seen}
        for entity_id in sorted(unlisted):
            if not self._is_in_range(entity_id[len(self.prefix) :]):
                continue
            entity = self.known[entity_id]
            if entity.facets[0].base.phase == DELETED:
                noted = after_end.read(self.tree, entity, self._report(entity_id, data))
                if isinstance(noted, Note):
                    yield Correction(entity_id, data, noted)
                continue
            if self.seen and self.seen[SEEN] < entity.born:
                message = before_birth(self.below, entity, self.seen[SEEN])
                self.stale.append(LeftOut(entity_id[len(self.prefix) :][:LONGEST], "stale", message[:LONGEST]))
                continue
            read = read_state(self.tree, self.below, entity, entity_id, data)
            if isinstance(read, dict):
                yield Correction(entity_id, read)

    def _is_too_much(self, ends: int) -> bool:
        """Whether the brake holds so many endings back."""
        if not is_too_much(ends, 0, self.brake):
            return False
        prefix, below = len(self.prefix), self.tree.descendants(self.of.name, self.arrival.id, self.below.name)
        self.living = sum(
            self.known[one].facets[0].base.phase not in (ABSENT, DELETED) and self._is_in_range(one[prefix:])
            for one in below
        )
        return is_too_much(ends, self.living, self.brake)

    def _is_in_range(self, name: str) -> bool:
        """Whether an id is above `after` and at most `upto`. Texts compare as their bytes in UTF-8 do."""
        return not (self.after is not None and name <= self.after) and not (self.upto is not None and name > self.upto)

    def _range(self) -> str:
        after, upto = (None if bound is None else bound[:64] for bound in (self.after, self.upto))
        return f"after {after!r}, up to {upto!r}"

    def _leave_out(self, item: dict[str, Any], reason: Any, message: str) -> None:
        name = item.get("id")
        self.left_out.append(LeftOut(name[:LONGEST] if isinstance(name, str) else "", reason, message[:LONGEST]))


def _found(kind: Kind, entity: Entity | None, about: Thing) -> Entity | None:
    """What an item finds that is about this thing: nothing of what it takes the place of."""
    if entity is None or not about.takes_over:
        return entity
    return blank(kind, entity) if is_there(entity) else None


def take_snapshot(tree: Tree, kind: Kind, arrival: Arrival) -> Decision:
    """The records of a snapshot: the transitions of all that differs, and one rejection if items do not fit."""
    if (problem := _problem(tree, kind, arrival)) is not None:
        return Decision([reject(tree, arrival, problem.reason, problem.message)])
    snapshot = Snapshot(tree, kind, arrival)
    changeset = Changeset(tree, arrival.trigger, arrival.cause.sequence, arrival.time)
    for change in snapshot.changes():
        _take(changeset, snapshot, change)
    entity = tree.get(kind.name, arrival.id)
    if arrival.sequence is not None and (entity is not None or changeset.changes):
        remember(changeset.change(kind.name, arrival.id), arrival, asks=False)
    hearing.hear(changeset, kind, arrival)
    changeset.settle()
    decision = transitions(changeset, arrival.cause)
    if snapshot.learnt:
        cause = cause_of(arrival.cause, Origin(REPORTED, "cascade", f"{arrival.kind}/{arrival.id}"))
        records = learnt(snapshot.below, snapshot.learnt, snapshot.known, decision.records, cause, arrival.time)
        decision = replace(decision, records=records)
    if arrival.sequence is not None and entity is not None and not tells_of(decision.records, entity):
        decision.records.append(mark(arrival, entity))
    if snapshot.left_out:
        decision.records.append(_left_out(tree, arrival, snapshot))
    if snapshot.stale:
        decision.records.append(_come_since(tree, arrival, snapshot))
    if snapshot.held:
        decision.records.append(_held(tree, arrival, snapshot))
    return noted(tree, arrival, decision, sorted(snapshot.unread)) if snapshot.unread else decision


def _problem(tree: Tree, kind: Kind, arrival: Arrival) -> RefusedReport | None:
    """Why nothing of a snapshot can be taken."""
    data = arrival.data
    if (problem := unseen(data.get(SEEN), arrival.cause.sequence)) is not None:
        return RefusedReport("invalid", problem)
    if data.get(CONFIRM) and data.get(SEEN) is None:
        return RefusedReport("invalid", "data.confirm needs data.seen: name the highest cause.sequence that was read")
    after, upto = data.get("after"), data.get("upto")
    if after is not None and upto is not None and after >= upto:
        return RefusedReport(
            "invalid", f"data.after {after[:64]!r} is not below data.upto {upto[:64]!r}: no id is in between"
        )
    try:
        check_data(tree.kinds[data["kind"]], REPORTED, {PHASE: DELETED, ABOUT: data.get(ABOUT)})
    except Invalid as error:
        return RefusedReport("invalid", str(error))
    child = tree.kinds[tree.kinds.path(kind.name, data["kind"])[0]]
    missing = missing_parent(tree, child, arrival.id + "/-" * (child.arity - kind.arity), is_intent=False)
    if missing is None or missing.adoptable or missing.phase == DELETED:  # what is listed then may be left behind
        return None
    return RefusedReport("unknown_parent", str(missing))


def _take(changeset: Changeset, snapshot: Snapshot, change: Correction) -> None:
    """Take one change into the changeset, as the report of its entity would be taken."""
    kind, arrival = snapshot.below, snapshot.arrival
    if change.about.is_news:
        snapshot.learnt[change.id] = change.about
    if change.says_nothing:
        return
    origin = Origin(REPORTED, "cascade", f"{arrival.kind}/{arrival.id}", change.data)
    if change.noted is not None:
        after_end.note(changeset, kind, change.id, change.noted, after_end.origin_of(change.noted, change.data, origin))
        return
    entity = snapshot.known.get(change.id)
    renews = change.about.takes_over and entity is not None and is_there(entity)
    before = attributes_before(kind, entity)
    if renews and entity is not None:
        entity, before = blank(kind, entity), lasting(kind, entity.attributes)
    facets: tuple[FacetState, ...] = kind.unborn if entity is None else entity.facets
    steps, _ = kind.select(REPORTED, facets, changeset, change.id, change.data)
    rule_event = RuleEvent(change.data, arrival.cause.sequence, arrival.time)
    attributes = attributes_after(kind, steps, before, rule_event)
    if not steps or isinstance(attributes, Refusal):
        return
    adopt(changeset, kind, change.id)
    if renews:
        take_over(changeset, kind, change.id, change.about.uid)
    changeset.change(kind.name, change.id).attributes = attributes
    changeset.take(kind.name, change.id, steps, origin)


def _left_out(tree: Tree, arrival: Arrival, snapshot: Snapshot) -> Rejection:
    """The rejection that lists the items that were not taken."""
    items = snapshot.left_out
    named = "; ".join(f"{item.id or 'an item'} ({item.reason}): {item.message}" for item in items[:SHOWN])
    more = f"; and {len(items) - SHOWN:,} more" if len(items) > SHOWN else ""
    kept = " Nothing counts as gone, because an item does not say what it is about." if snapshot.unreadable else ""
    message = f"{len(items):,} of {len(snapshot.items):,} items were left out: {named}{more}.{kept}"
    return replace(reject(tree, arrival, "left_out", message[:MAX_TEXT]), left_out=tuple(items[:LISTED]))


def _come_since(tree: Tree, arrival: Arrival, snapshot: Snapshot) -> Rejection:
    """The rejection that says what a snapshot does not list, and does not end, because it has come since."""
    items = snapshot.stale
    named = "; ".join(f"{item.id}: {item.message}" for item in items[:SHOWN])
    more = f"; and {len(items) - SHOWN:,} more" if len(items) > SHOWN else ""
    message = f"{len(items):,} not listed came after what the reporter has read, and stay: {named}{more}"
    return replace(reject(tree, arrival, "stale", message[:MAX_TEXT]), left_out=tuple(items[:LISTED]))


def _brake(tree: Tree, kind: Kind, entity_id: str) -> float:
    """The percentage of what lives below an entity that a snapshot may end: of the nearest place that names one."""
    for name, place_id in kind.places_above(entity_id):
        place = tree.entities[name].get(place_id)
        if place is not None and (own := place.attributes.get(BRAKE)) is not None:
            return float(own)
    return USUAL


def _held(tree: Tree, arrival: Arrival, snapshot: Snapshot) -> Rejection:
    """The rejection that says what the brake held back, and how to go on."""
    ends, below = len(snapshot.held), snapshot.below.name
    message = held_back(ends, snapshot.living, below, f"{arrival.kind} {arrival.id}", snapshot.brake)
    items = [
        LeftOut(one.id.removeprefix(snapshot.prefix)[:LONGEST], "brake", "the snapshot does not list it")
        for one in snapshot.held[:LISTED]
    ]
    return replace(reject(tree, arrival, "brake", message), left_out=tuple(items))


def _is_so(item: Mapping[str, Any], entity: Entity, *, needs_phase: bool, is_scoped: bool) -> bool:
    """Whether the entity shows what an item says, by its first facet.

    is_scoped: whether the item names what it is about. Of that, what it does not say is not so.
    """
    state, phase, named = entity.facets[0].state, item.get(PHASE), item.get(CONDITIONS)
    if state.phase == DELETED or item.get(REASON):
        return False
    if phase is None:
        if needs_phase:
            return False
    elif phase != state.phase or (is_scoped if named is None else not _are(named, state.conditions)):
        return False
    if SIGNALS in item:
        return False
    attributes = item.get("attributes")
    if not attributes:
        return True
    known = entity.attributes
    free = free_attributes(known)
    return type(attributes) is dict and all(
        known.get(name, free.get(name)) == value for name, value in attributes.items()
    )


def _are(named: object, conditions: tuple[str, ...]) -> bool:
    """Whether an item names these conditions, in this order."""
    return type(named) is list and tuple(named) == conditions
