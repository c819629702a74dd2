"""What holds of every history, whatever the kinds.

Belongs here: the laws, each a function that raises `AssertionError` with what it expected and found.
Does not: looking for a history that breaks one (`search`), rules that only one family of kinds has.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.process import Processor
from phaseline.engine.core.transitions import BECAUSE
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.testing import failure_text
from phaseline.engine.testing.histories import SUBJECTS, History, Step, play
from phaseline.engine.testing.recompute import Anew
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Entity, Rejection, Transition

OFTEN = 9
"""Events between two looks at whether everything follows from the bases: looking at all is slow."""


def same(what: str, found: object, expected: object) -> None:
    """Raise unless both are the same; of maps and lists the first part that differs is told."""
    if found == expected:
        return
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in (*expected, *found):
            same(f"{what}, {_key(key)}", found.get(key), expected.get(key))
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for place, (is_, wanted) in enumerate(zip(found, expected, strict=True)):
            same(f"{what}, {place}", is_, wanted)
    raise AssertionError(f"{what}: expected {expected}, found {found}")


def _key(key: object) -> str:
    """What stands somewhere in a map: a name, or several."""
    return " ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def bodies(history: History) -> list[list[bytes]]:
    """The records of each event as they would stand in the log."""
    folder = Processor(history.tree, SUBJECTS, 0)
    return [[message.body for message in folder.messages(step.records)] for step in history.steps]


def replay_equals_live(history: History) -> None:
    """The log's bytes lead to the tree that the events led to."""
    again = Tree(history.kinds, shared_runner())
    for found in bodies(history):
        for each in found:
            evolve(again, wire_codec.read(each))
    same("entities after a replay", again.entities, history.tree.entities)
    same("tallies after a replay", again.tallies, history.tree.tallies)
    same("children after a replay", again.below, history.tree.below)


def the_same_events_make_the_same_bytes(history: History) -> None:
    """Played again from nothing."""
    again = bodies(play(history.kinds, [step.sent for step in history.steps]))
    for place, (found, expected) in enumerate(zip(again, bodies(history), strict=True)):
        same(f"event {place + 1} decided again", [*map(codec.decode, found)], [*map(codec.decode, expected)])
        same(f"event {place + 1} decided again, in bytes", found, expected)


def versions_have_no_gaps_and_records_follow_each_other(history: History) -> None:
    """Each record of an entity goes on where the one before it ended."""
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
                raise AssertionError(f"{entity.kind} {entity.id}: a mark, but no transition before it")
            else:
                same(f"{entity.kind} {entity.id} after a mark", _but_sequences(entity), _but_sequences(before))
            known[entity.kind, entity.id] = entity


def _but_sequences(entity: Entity) -> dict[str, Any]:
    return {"version": entity.version, "facets": list(entity.facets), "attributes": entity.attributes}


def _follows(record: Transition, before: Entity | None) -> None:
    """One facet goes from where it was to where the record says; all else stays."""
    entity = record.entity
    index = entity.names.index(record.facet)
    facet = entity.facets[index]
    who = f"{entity.kind} {entity.id} {record.facet}, version {entity.version}"
    same(f"{who}: `to` and the entity's state", record.after, facet.state)
    same(f"{who}: version", entity.version, 1 if before is None else before.version + 1)
    if before is None:
        same(f"{who}: `from` of an entity's first", record.before, None)
        return
    old = before.facets[index]
    same(f"{who}: `from`", record.before, old.state)
    others = [i for i in range(len(entity.facets)) if i != index]
    same(f"{who}: its other facets", [entity.facets[i] for i in others], [before.facets[i] for i in others])
    if (facet.base, facet.state, entity.attributes) == (old.base, old.state, before.attributes):
        raise AssertionError(f"{who}: a record, though nothing changed")
    same(f"{who}: since when", facet.since, old.since if facet.state == old.state else record.time)


def each_facet_is_told_once_an_event_and_why(history: History) -> None:
    """However much an event sets off; and all of it names the event as its cause."""
    for place, step in enumerate(history.steps, 1):
        told = Counter((r.entity.kind, r.entity.id, r.facet) for r in step.records if isinstance(r, Transition))
        same(f"event {place}: facets told more than once", [facet for facet, times in told.items() if times > 1], [])
        for record in step.records:
            same(f"event {place}: its records' cause", record.cause.sequence, place)
            if isinstance(record, Transition) and isinstance(step.read, Arrival):
                _why_is_told(history, record, step.read)


def _why_is_told(history: History, record: Transition, arrival: Arrival) -> None:
    cause, entity = record.cause, record.entity
    who = f"{entity.kind} {entity.id}, {record.trigger} by {cause.by}"
    if cause.by == "event":
        own = (entity.kind, entity.id, record.trigger, cause.origin)
        same(f"{who}: whose it is", own, (arrival.kind, arrival.id, arrival.trigger, None))
        return
    of, _, entity_id = (cause.origin or "").partition("/")
    if history.tree.entities.get(of, {}).get(entity_id) is None:
        raise AssertionError(f"{who}: it comes from {cause.origin}, which is unknown")
    named = history.kinds[entity.kind].table.facets[entity.names.index(record.facet)]
    if named.message_names is None or not (record.message or "").startswith(BECAUSE):
        same(f"{who}: words of the event", (record.reason, record.message), (None, None))
    asked = any(
        entity.kind in found.at and record.trigger == found.trigger for found in history.kinds[of].table.cascades
    )
    fired = asked or history.kinds[entity.kind].roles.get(record.trigger) == "derived" or record.trigger == "adopt"
    if not fired and (cause.by == "cascade" or record.trigger != arrival.trigger):
        raise AssertionError(f"{who}: nothing fires {record.trigger} there")


def an_event_with_a_sequence_does_nothing_the_second_time(history: History) -> None:
    """However late it comes, once it was taken."""
    for step in history.steps:
        if step.accepted and isinstance(step.read, Arrival) and step.read.sequence is not None:
            again = [failure_text.told(record) for record in history.decide(step.sent).records]
            same(f"`{step}` sent again at the end", again, [])


def deciding_changes_nothing(history: History) -> None:
    """Nor does a rejection, once it is committed."""
    again = History(history.kinds)
    for place, step in enumerate(history.steps, 1):
        before = held(again.tree)
        found = again.decide(step.sent)
        same(f"the tree after event {place} was decided and not taken", held(again.tree), before)
        again.take(step.sent)
        if not found.accepted:
            same(f"event {place}: records of an event that was refused", len(found.records), 1)
            same(f"the tree after event {place} was refused", held(again.tree), before)


def held(tree: Tree) -> dict[str, Any]:
    """All that a tree holds, not to be changed any more."""
    return {
        "entities": {kind: dict(found) for kind, found in tree.entities.items()},
        "children": {kind: {parent: list(ids) for parent, ids in found.items()} for kind, found in tree.below.items()},
        "tallies": {key: {of: dict(counts) for of, counts in found.items()} for key, found in tree.tallies.items()},
    }


def trees_do_not_heed_each_other(history: History) -> None:
    """Each root's events alone, in their order, lead to the same entities."""
    by_root: dict[str, list[Step]] = defaultdict(list)
    for step in history.steps:
        if isinstance(step.read, Arrival):
            by_root[step.read.id.split("/")[0]].append(step)
    for root, steps in by_root.items():
        alone = History(history.kinds)
        for step in steps:
            alone.take(step.sent, step.read.cause.sequence)
        among = {key: found for key, found in outlook(history.tree).items() if key[1].split("/")[0] == root}
        same(f"the tree of {root} by itself", outlook(alone.tree), among)


def outlook(tree: Tree) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Of every entity: its bases, states, attributes; nothing that tells when or how often."""
    return {
        (kind, entity_id): (tuple((f.base, f.state) for f in entity.facets), entity.attributes)
        for kind, found in tree.entities.items()
        for entity_id, entity in found.items()
    }


def states_and_tallies_follow_from_the_bases(history: History) -> None:
    """After every few events, whatever order they came in: all views looked at anew, all children counted anew."""
    again = History(history.kinds)
    for number, step in enumerate(history.steps, 1):
        again.take(step.sent)
        if number % OFTEN == 0 or number == len(history.steps):
            _follow_from_the_bases(again.tree, f"after event {number}")


def _follow_from_the_bases(tree: Tree, when: str) -> None:
    anew = Anew(tree)
    live = {(k, i): [f.state for f in e.facets] for k, found in tree.entities.items() for i, e in found.items()}
    same(f"states {when}", live, anew.states)
    for kind in tree.kinds.values():
        ids = tree.entities[kind.name] if kind.parent else ()
        parents = Counter("/".join(found.split("/")[: kind.parent_arity]) for found in ids)
        known = tree.below[kind.name]
        same(f"how many {kind.name}s there are {when}", {of: len(found) for of, found in known.items()}, dict(parents))
        same(f"the {kind.name}s {when}", {found for below in known.values() for found in below}, set(ids))
    for (of, below, facet, has), counts in tree.tallies.items():
        for entity_id in tree.entities[of]:
            expected = dict(anew.tally(entity_id, of, below, facet, has))
            same(f"the tally of {below}s of {of} {entity_id} {when}", counts.get(entity_id, {}), expected)


LAWS: tuple[Callable[[History], None], ...] = (
    replay_equals_live,
    the_same_events_make_the_same_bytes,
    versions_have_no_gaps_and_records_follow_each_other,
    each_facet_is_told_once_an_event_and_why,
    an_event_with_a_sequence_does_nothing_the_second_time,
    deciding_changes_nothing,
    trees_do_not_heed_each_other,
    states_and_tallies_follow_from_the_bases,
)
