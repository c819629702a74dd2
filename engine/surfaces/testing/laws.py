"""The laws: statements that hold for every history of any kinds.

Belongs here: each law as a function that raises `AssertionError` with the expected and the actual value.
Does not: searching for a history that breaks a law (`search`), laws of particular kinds.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree, evolve, key_of
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.surfaces.testing import failure_text
from phaseline.engine.surfaces.testing.histories import SUBJECTS, History, HistoryStep, play
from phaseline.engine.surfaces.testing.recompute import Recomputed
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.reports import SNAPSHOT
from phaseline.machines.language.contact import HEARD_AT
from phaseline.machines.language.table import ABSENT, BECAUSE, DELETED, REPORTED
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import CONTACT, Entity, Mark, Record, Rejection, Transition

RECOMPUTE_EVERY = 9
"""The number of events after which all states and tallies are computed again, which is slow."""


def same(what: str, found: object, expected: object) -> None:
    """Raise `AssertionError` unless both are equal; in maps and lists, it names the first part that differs."""
    if found == expected:
        return
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in (*expected, *found):
            same(f"{what}, {_key(key)}", found.get(key), expected.get(key))
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for index, (each, wanted) in enumerate(zip(found, expected, strict=True)):
            same(f"{what}, {index}", each, wanted)
    raise AssertionError(f"{what}: expected {_whole(expected)}, found {_whole(found)}")


def _whole(value: object) -> str:
    """All fields of a record or an entity, which as text has its states only."""
    return repr(value) if isinstance(value, msgspec.Struct) else str(value)


def _key(key: object) -> str:
    """A key of a map as text: a name, or several names."""
    return " ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def bodies(history: History) -> list[list[bytes]]:
    """The records of each event in the bytes of the log."""
    processor = Processor(history.tree, SUBJECTS, 0)
    return [[message.body for message in processor.messages(step.records)] for step in history.steps]


def replay_equals_live(history: History) -> None:
    """The bytes of the log lead to the same tree as the events."""
    again = Tree(history.kinds, shared_runner())
    for of_event in bodies(history):
        for body in of_event:
            evolve(again, wire_codec.read(body))
    same("entities after a replay", again.entities, history.tree.entities)
    same("tallies after a replay", again.tallies, history.tree.tallies)
    same("children after a replay", again.below, history.tree.below)


def the_same_events_make_the_same_bytes(history: History) -> None:
    """The same events on an empty tree make the same records, byte for byte."""
    again = bodies(play(history.kinds, [step.sent for step in history.steps]))
    for number, (found, expected) in enumerate(zip(again, bodies(history), strict=True), 1):
        same(f"event {number} decided again", [*map(codec.decode, found)], [*map(codec.decode, expected)])
        same(f"event {number} decided again, in bytes", found, expected)


def versions_have_no_gaps_and_records_follow_each_other(history: History) -> None:
    """Each record of an entity begins where the previous one ended."""
    known: dict[tuple[str, str], Entity] = {}
    for step in history.steps:
        for record in step.records:
            if isinstance(record, Rejection):
                continue
            entity = record.entity
            before = known.get((entity.kind, entity.id))
            if isinstance(record, Transition):
                _follows(record, before)
            elif before is None:
                raise AssertionError(f"{entity.kind} {entity.id}: a mark without a transition before it")
            else:
                same(f"{entity.kind} {entity.id} after a mark", _without_marks(entity), _without_marks(before))
            known[entity.kind, entity.id] = entity


def _without_marks(entity: Entity) -> dict[str, Any]:
    """An entity without what marks remember: sequences, and when a place was heard."""
    attributes = {name: value for name, value in entity.attributes.items() if name != HEARD_AT}
    return {"version": entity.version, "facets": list(entity.facets), "attributes": attributes}


def _follows(record: Transition, before: Entity | None) -> None:
    """One facet changes from its previous state to the record's state, and everything else stays."""
    entity = record.entity
    index = entity.names.index(record.facet)
    facet = entity.facets[index]
    name = f"{entity.kind} {entity.id} {record.facet}, version {entity.version}"
    same(f"{name}: `to` and the state of the entity", record.after, facet.state)
    same(f"{name}: version", entity.version, 1 if before is None else before.version + 1)
    if before is None:
        same(f"{name}: `from` of the first record", record.before, None)
        return
    old = before.facets[index]
    same(f"{name}: `from`", record.before, old.state)
    others = [i for i in range(len(entity.facets)) if i != index]
    starts = [i for i in others if entity.names[i] == CONTACT and not before.facets[i].since_ns]
    begins = {i: entity.facets[i].since_ns for i in starts}
    same(
        f"{name}: its other facets",
        [entity.facets[i] for i in others],
        [replace(before.facets[i], since_ns=begins.get(i, before.facets[i].since_ns)) for i in others],
    )
    whole = (entity.attributes, entity.asked, entity.timers_ns, entity.memory)
    what = (facet.base, facet.state, facet.interrupted, *whole)
    was = (before.attributes, before.asked, before.timers_ns, before.memory)
    if what == (old.base, old.state, old.interrupted, *was):
        raise AssertionError(f"{name}: it has a record although nothing changed")
    same(f"{name}: since", facet.since_ns, old.since_ns if facet.state == old.state else record.time_ns)


def each_facet_has_one_record_per_event_with_its_cause(history: History) -> None:
    """However much one event triggers, each facet has at most one transition, and each record names the event."""
    for number, step in enumerate(history.steps, 1):
        counts = Counter((r.entity.kind, r.entity.id, r.facet) for r in step.records if isinstance(r, Transition))
        repeated = [facet for facet, times in counts.items() if times > 1]
        same(f"event {number}: facets with more than one transition", repeated, [])
        for record in step.records:
            same(f"event {number}: the cause of its records", record.cause.sequence, number)
            if isinstance(record, Transition) and isinstance(step.read, Arrival):
                _names_its_cause(history, record, step.read)


def _names_its_cause(history: History, record: Transition, arrival: Arrival) -> None:
    cause, entity = record.cause, record.entity
    name = f"{entity.kind} {entity.id}, {record.trigger} by {cause.by}"
    if cause.by == "event":
        own = (entity.kind, entity.id, record.trigger, cause.origin)
        same(f"{name}: its entity and trigger", own, (arrival.kind, arrival.id, arrival.trigger, None))
        return
    of, _, entity_id = (cause.origin or "").partition("/")
    if history.tree.entities.get(of, {}).get(entity_id) is None:
        raise AssertionError(f"{name}: its cause {cause.origin} is unknown")
    if record.trigger == REPORTED and arrival.trigger == SNAPSHOT:
        same(f"{name}: the entity of the snapshot", cause.origin, f"{arrival.kind}/{arrival.id}")
        return
    facet = history.kinds[entity.kind].table.facets[entity.names.index(record.facet)]
    table = history.kinds[of].table
    brings_words = any(record.trigger in fan_out.triggers for fan_out in table.fan_outs) or any(
        record.trigger == cascade.trigger and cascade.targets is not None for cascade in table.cascades
    )
    kept = {entity.attributes.get(view.message_from) for view in facet.views if view.message_from is not None}
    names_others = facet.message_names is not None and (record.message or "").startswith(BECAUSE)
    if not (brings_words or names_others or record.message in kept):
        same(f"{name}: reason and message of the event", (record.reason, record.message), (None, None))
    cascaded = any(
        entity.kind in cascade.at and record.trigger == cascade.trigger for cascade in table.cascades
    ) or any(entity.kind == fan_out.at and record.trigger in fan_out.triggers for fan_out in table.fan_outs)
    fired = cascaded or history.kinds[entity.kind].roles.get(record.trigger) == "derived" or record.trigger == "adopt"
    if not fired and (cause.by == "cascade" or record.trigger != arrival.trigger):
        raise AssertionError(f"{name}: nothing fires {record.trigger} there")


def an_event_with_a_sequence_does_nothing_the_second_time(history: History) -> None:
    """An accepted event that comes again, however late, moves nothing. An unknown entity can remember none.

    A new life forgets the numbers of observations that have no epoch.
    """
    births = {key: number for number, step in enumerate(history.steps) for key in _begun(step.records)}
    for number, step in enumerate(history.steps):
        if step.accepted and isinstance(step.read, Arrival) and step.read.sequence is not None:
            known = history.tree.get(step.read.kind, step.read.id) is not None
            if not known or (step.read.trigger in (REPORTED, SNAPSHOT) and not step.records):
                continue
            is_asked = history.kinds[step.read.kind].roles[step.read.trigger] == "intent"
            if births.get((step.read.kind, step.read.id), -1) > number and not (is_asked or step.read.epoch):
                continue
            found = history.decide(step.sent).records
            again = [failure_text.record_line(record) for record in found if not is_of_repeat(record)]
            same(f"`{step}` sent again at the end", again, [])


def _begun(records: Iterable[Record]) -> Iterator[tuple[str, str]]:
    """The kinds and ids of the entities whose lives these records begin."""
    for record in records:
        if isinstance(record, Transition) and record.facet == record.entity.names[0]:
            before, after = record.before, record.entity.facets[0].base
            if (before is None or before.phase in (ABSENT, DELETED)) and after.phase != DELETED:
                yield record.entity.kind, record.entity.id


def deciding_changes_nothing(history: History) -> None:
    """Deciding an event leaves the tree as it is, and so does a committed rejection."""
    again = History(history.kinds)
    for number, step in enumerate(history.steps, 1):
        before = contents(again.tree)
        decided = again.decide(step.sent)
        same(f"the tree after event {number} was decided and not taken", contents(again.tree), before)
        again.take(step.sent)
        if not decided.accepted:
            others = [one for one in decided.records if not (isinstance(one, Rejection) or is_of_repeat(one))]
            same(f"event {number}: the records of a rejected event beside its rejections", others, [])
            if not decided.is_repeat:
                same(f"the tree after event {number} was rejected", contents(again.tree), before)


def is_of_repeat(record: Record) -> bool:
    """Whether a record only says that an event came before, or notes it in the entity."""
    if isinstance(record, Rejection):
        return record.reason == "repeat"
    memory, source = record.entity.memory, record.cause.source
    known = None if memory is None else memory.sources.get(source)
    return isinstance(record, Mark) and known is not None and known.repeats == record.cause.sequence


def contents(tree: Tree) -> dict[str, Any]:
    """A copy of everything that a tree holds."""
    return {
        "entities": {kind: dict(found) for kind, found in tree.entities.items()},
        "children": {kind: {parent: list(ids) for parent, ids in found.items()} for kind, found in tree.below.items()},
        "tallies": {key: {of: dict(counts) for of, counts in found.items()} for key, found in tree.tallies.items()},
    }


def trees_do_not_influence_each_other(history: History) -> None:
    """The events of one root alone, in their order, lead to the same entities."""
    by_root: dict[str, list[HistoryStep]] = defaultdict(list)
    for step in history.steps:
        if isinstance(step.read, Arrival):
            by_root[step.read.id.split("/")[0]].append(step)
    for root, steps in by_root.items():
        alone = History(history.kinds)
        for step in steps:
            alone.take(step.sent, step.read.cause.sequence)
        among = {key: found for key, found in states_of(history.tree).items() if key[1].split("/")[0] == root}
        same(f"the tree of {root} by itself", states_of(alone.tree), among)


def states_of(tree: Tree) -> dict[tuple[str, str], tuple[Any, ...]]:
    """The bases, states and attributes of every entity, without times and versions."""
    return {
        (kind, entity_id): (tuple((f.base, f.state) for f in entity.facets), entity.attributes)
        for kind, found in tree.entities.items()
        for entity_id, entity in found.items()
    }


def states_and_tallies_follow_from_the_bases(history: History) -> None:
    """All states and tallies, computed again every few events, are equal to those that the changesets kept."""
    again = History(history.kinds)
    for number, step in enumerate(history.steps, 1):
        again.take(step.sent)
        if number % RECOMPUTE_EVERY == 0 or number == len(history.steps):
            _follow_from_the_bases(again.tree, f"after event {number}")


def _follow_from_the_bases(tree: Tree, when: str) -> None:
    again = Recomputed(tree)
    live = {(k, i): [f.state for f in e.facets] for k, found in tree.entities.items() for i, e in found.items()}
    same(f"states {when}", live, again.states)
    for kind in tree.kinds.values():
        ids = tree.entities[kind.name] if kind.parent else ()
        parents = Counter("/".join(found.split("/")[: kind.parent_arity]) for found in ids)
        known = tree.below[kind.name]
        same(f"the number of {kind.name}s {when}", {of: len(found) for of, found in known.items()}, dict(parents))
        same(f"the {kind.name}s {when}", {found for below in known.values() for found in below}, set(ids))
    kept = {key_of(counted, kind.name): counted for kind in tree.kinds.values() for counted in kind.counted}
    for key, counts in tree.tallies.items():
        (of, below, facet, has, lacks, inside), only = key, kept[key].phases
        for entity_id in tree.entities[of]:
            found = again.tally(entity_id, of, below, facet, has, lacks, inside)
            expected = {phase: number for phase, number in found.items() if lacks is None or phase in only}
            same(f"the tally of {below}s of {of} {entity_id} {when}", counts.get(entity_id, {}), expected)


def a_class_begins_with_its_first_state(history: History) -> None:
    """A life is in its class of states since it came to it, whatever states it has had in it since."""
    again, began = History(history.kinds), dict[tuple[str, str], tuple[str, int]]()
    for number, step in enumerate(history.steps, 1):
        again.take(step.sent)
        for record in step.records:
            if isinstance(record, Rejection):
                continue
            name = (record.entity.kind, record.entity.id)
            entity = again.tree.entities[name[0]][name[1]]
            found = class_of_entity(history.kinds, entity)
            if record.noted.replaced is not None:
                began.pop(name, None)
            was, since = began.get(name, ("", 0))
            began[name] = (found, since if was == found else record.time_ns)
            same(
                f"since when {' '.join(name)} is {found} after event {number}",
                class_since(history.kinds, entity), began[name][1],
            )  # fmt: skip


LAWS: tuple[Callable[[History], None], ...] = (
    replay_equals_live,
    the_same_events_make_the_same_bytes,
    versions_have_no_gaps_and_records_follow_each_other,
    each_facet_has_one_record_per_event_with_its_cause,
    an_event_with_a_sequence_does_nothing_the_second_time,
    deciding_changes_nothing,
    trees_do_not_influence_each_other,
    states_and_tallies_follow_from_the_bases,
    a_class_begins_with_its_first_state,
)
