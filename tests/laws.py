"""What holds of every history, whatever the kinds.

Belongs here: laws over a history of any family of kinds. Does not: making histories (`worlds`), one family's own rules.
"""

from collections import Counter, defaultdict
from typing import Any

from phaseline.engine.intake import Arrival
from phaseline.engine.tree import Tree, evolve
from phaseline.schemas import codec, forms
from phaseline.schemas.records import Entity, Record, Rejection, Transition
from tests.anew import Anew
from tests.worlds import History, Step, play


def body(record: Record, place: int, total: int) -> bytes:
    return codec.encode(forms.to_wire(record, place, total, "phaseline/pl"))


def bodies(history: History) -> list[list[bytes]]:
    """The records of each event as they would stand in the log."""
    return [[body(r, place, len(step.records)) for place, r in enumerate(step.records)] for step in history.steps]


def loaded(history: History) -> Tree:
    """The tree that the log's bytes lead to."""
    tree = Tree(history.kinds)
    for found in bodies(history):
        for each in found:
            evolve(tree, forms.from_wire(codec.decode(each)))
    return tree


def replay_equals_live(history: History) -> None:
    again = loaded(history)
    assert again.entities == history.tree.entities
    assert again.tallies == history.tree.tallies
    assert again.below == history.tree.below


def the_same_events_make_the_same_bytes(history: History) -> None:
    assert bodies(play(history.kinds, [step.sent for step in history.steps])) == bodies(history)


def versions_have_no_gaps_and_records_follow_each_other(history: History) -> None:
    known: dict[tuple[str, str], Entity] = {}
    for step in history.steps:
        for record in step.records:
            if isinstance(record, Rejection):
                continue
            entity = record.entity
            before = known.get((entity.kind, entity.id))
            if isinstance(record, Transition):
                follows(record, before)
            else:
                assert before is not None
                assert (entity.version, entity.facets, entity.attributes) == (before.version, before.facets, before.attributes)  # fmt: skip
            known[entity.kind, entity.id] = entity


def follows(record: Transition, before: Entity | None) -> None:
    """One facet goes from where it was to where the record says; all else stays."""
    entity = record.entity
    index = entity.names.index(record.facet)
    facet = entity.facets[index]
    assert record.after == facet.state
    if before is None:
        assert (entity.version, record.before) == (1, None)
        return
    old = before.facets[index]
    assert entity.version == before.version + 1
    assert record.before == old.state
    others = [i for i in range(len(entity.facets)) if i != index]
    assert [entity.facets[i] for i in others] == [before.facets[i] for i in others]
    assert (facet.base, facet.state, entity.attributes) != (old.base, old.state, before.attributes)
    assert facet.since == (old.since if facet.state == old.state else record.time)


def an_event_ends_with_each_facet_told_once_and_why(history: History) -> None:
    """However much it sets off; and all of it names the event as its cause."""
    for place, step in enumerate(history.steps, 1):
        told = [(r.entity.kind, r.entity.id, r.facet) for r in step.records if isinstance(r, Transition)]
        assert len(set(told)) == len(told)
        for record in step.records:
            assert record.cause.sequence == place
            if isinstance(record, Transition):
                assert isinstance(step.read, Arrival)
                own = (record.entity.kind, record.entity.id) == (step.read.kind, step.read.id)
                why_is_told(history, record, step.read.trigger, own=own)


def why_is_told(history: History, record: Transition, trigger: str, *, own: bool) -> None:
    cause, kind = record.cause, history.kinds[record.entity.kind]
    if cause.by == "event":
        assert (own, cause.origin, record.trigger) == (True, None, trigger)
        return
    assert cause.origin is not None
    of, _, entity_id = cause.origin.partition("/")
    assert history.tree.get(of, entity_id) is not None
    assert (record.reason, record.message) == (None, None)
    fired = kind.roles.get(record.trigger) == "derived" or record.trigger == "adopt"
    assert fired if cause.by == "cascade" else fired or record.trigger == trigger


def an_accepted_event_with_a_sequence_does_nothing_the_second_time(history: History) -> None:
    tried = [step for step in history.steps if step.accepted and not isinstance(step.read, Rejection)]
    for step in tried:
        if not isinstance(step.read, Rejection) and step.read.sequence is not None:
            assert history.decide(step.sent).records == []


def deciding_changes_nothing(history: History) -> None:
    """Nor does a rejection, once it is committed."""
    again = History(history.kinds)
    for step in history.steps:
        before = held(again.tree)
        found = again.decide(step.sent)
        assert held(again.tree) == before
        again.take(step.sent)
        if not found.accepted:
            assert len(found.records) == 1
            assert held(again.tree) == before


def held(tree: Tree) -> tuple[Any, ...]:
    """All that a tree holds, not to be changed any more."""
    return (
        {kind: dict(found) for kind, found in tree.entities.items()},
        {kind: {parent: list(ids) for parent, ids in found.items()} for kind, found in tree.below.items()},
        {key: {of: dict(counts) for of, counts in found.items()} for key, found in tree.tallies.items()},
    )


def nothing_lives_below_what_is_unknown_or_gone(history: History) -> None:
    for kind in history.kinds.values():
        for entity_id, entity in history.tree.entities[kind.name].items():
            if kind.parent is not None and entity.facets[0].base.phase not in ("Absent", "Deleted"):
                parent = history.tree.get(kind.parent, "/".join(entity_id.split("/")[: kind.parent_arity]))
                assert parent is not None
                assert parent.facets[0].base.phase != "Deleted"


def trees_do_not_heed_each_other(history: History) -> None:
    """Each root's events alone, in their order, lead to the same entities."""
    by_root: dict[str, list[Step]] = defaultdict(list)
    for step in history.steps:
        if not isinstance(step.read, Rejection):
            by_root[step.read.id.split("/")[0]].append(step)
    for root, steps in by_root.items():
        alone = play(history.kinds, [step.sent for step in steps])
        assert outlook(alone.tree) == {key: found for key, found in outlook(history.tree).items() if key[1].split("/")[0] == root}  # fmt: skip


def outlook(tree: Tree) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Of every entity: its bases, states, attributes; nothing that tells when or how often."""
    return {
        (kind, entity_id): (tuple((f.base, f.state) for f in entity.facets), entity.attributes)
        for kind, found in tree.entities.items()
        for entity_id, entity in found.items()
    }


def states_and_tallies_follow_from_the_bases(history: History) -> None:
    """After every few events, whatever order they came in."""
    again = History(history.kinds)
    for number, step in enumerate(history.steps, 1):
        again.take(step.sent)
        if number % 9 == 0 or number == len(history.steps):
            follow_from_the_bases(again.tree)


def follow_from_the_bases(tree: Tree) -> None:
    anew = Anew(tree)
    live = {(k, i): [f.state for f in e.facets] for k, found in tree.entities.items() for i, e in found.items()}
    assert live == anew.states
    for kind in tree.kinds.values():
        parents = ["/".join(found.split("/")[: kind.parent_arity]) for found in tree.entities[kind.name] if kind.parent]
        assert {of: len(ids) for of, ids in tree.below[kind.name].items()} == Counter(parents)
        assert {i for ids in tree.below[kind.name].values() for i in ids} == set(
            tree.entities[kind.name] if parents else ()
        )
    for (of, below, facet), counts in tree.tallies.items():
        for entity_id in tree.entities[of]:
            assert counts.get(entity_id, {}) == anew.tally(entity_id, of, below, facet)
