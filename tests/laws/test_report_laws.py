"""Laws of reports, for every built-in kind that takes them: one snapshot makes good whatever was lost in its scope.

Belongs here: random histories whose events are lost, repeated and reordered, and the exhaustive walk from every state
to every state. Does not: single reports and snapshots (`test_reports`, `test_snapshots`), what is out of the scope of a
report (`test_scope_laws`).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from phaseline.engine.core.adoption import missing_parent
from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree
from phaseline.engine.publish.outcomes import held_against
from phaseline.engine.surfaces.testing.random_events import SEED_LENGTH, Dice
from phaseline.machines.compiler.conditions import as_told, starts_of
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.reachability import in_order
from phaseline.machines.compiler.reports import ABOUT
from phaseline.machines.language.endings import CONTRADICTED, END, SEEN, SHOWS, shown_state
from phaseline.machines.language.table import ABSENT, DELETED, REPORTED, SAME
from phaseline.schemas.records import Cause, Rejection, State, Transition, state
from tests.support.built_in_kinds import BUILT_IN_KINDS, KINDS_OF_PRODUCT, family
from tests.support.placed import placed
from tests.support.strategies import History, HistoryStep, Sent, event, hold, law_by_law, random_event, seeds

JUDGED = [kind for kind in BUILT_IN_KINDS.values() if kind.judge is not None]
every_family = pytest.mark.parametrize("kinds", [family(name) for name in KINDS_OF_PRODUCT], ids=list(KINDS_OF_PRODUCT))


class Life(NamedTuple):
    """A history in which a reporter's events were lost, repeated and reordered, and the bytes for what follows."""

    history: History
    choices: bytes


def lives(kinds: Kinds) -> st.SearchStrategy[Life]:
    long = st.binary(min_size=10 * SEED_LENGTH, max_size=10 * SEED_LENGTH)
    return st.tuples(seeds(15, 60), long).map(lambda drawn: life(kinds, *drawn))


def life(kinds: Kinds, drawn: list[bytes], choices: bytes) -> Life:
    """Observations are lost, repeated, or delayed by some events; intents come as they were sent."""
    meant, late = History(kinds), list[Sent]()
    told = History(kinds)
    for seed in drawn:
        step = meant.take(random_event(meant, seed))
        fate = seed[-1] % 8 if is_observation(kinds, step) else 0
        if fate == 5:
            late.append(step.sent)
        elif fate != 6:
            told.take(step.sent)
        if fate == 7:
            told.take(step.sent)
        if late and seed[-2] % 3 == 0:
            told.take(late.pop())
    return Life(told, choices)


def is_observation(kinds: Kinds, step: HistoryStep) -> bool:
    return isinstance(step.read, Arrival) and kinds[step.read.kind].roles[step.read.trigger] == "observation"


def truths(kinds: Kinds, tree: Tree, choices: bytes) -> Iterator[tuple[Kind, str, Kind, dict[str, State]]]:
    """For each kind of which a snapshot can be sent to some entity: what is there, any of its states each."""
    dice = Dice(choices)
    for above in (kind for kind in kinds.values() if kind.reported_below):
        for entity_id in sorted(tree.entities[above.name])[:2]:
            for name in above.reported_below:
                below = kinds[name]
                ids = sorted(tree.descendants(above.name, entity_id, name))[:6]
                ids.append("/".join([entity_id, *("new" for _ in below.table.id[above.arity :])]))
                by_timers = frozenset[str]().union(*below.expiring[0].values())  # no reporter sees these conditions
                live = (
                    base for base in below.bases[0] if base == as_told(base) and base.phase not in (ABSENT, DELETED)
                )
                bases = sorted(base for base in live if by_timers.isdisjoint(base.conditions))
                there = {each: dice.of(bases) for each in ids if dice.of((True, True, True, False))}
                if takes(kinds, tree, above, entity_id, below):
                    yield above, entity_id, below, there


def takes(kinds: Kinds, tree: Tree, above: Kind, entity_id: str, below: Kind) -> bool:
    """Whether something new may live below an entity: nothing above it is deleted, or unknown for good."""
    new = entity_id + "/new" * (below.arity - above.arity)
    missing = missing_parent(tree, below, new, is_intent=False)
    return missing is None or missing.adoptable


def snapshot(history: History, above: Kind, entity_id: str, below: Kind, there: dict[str, State], seen: int) -> Sent:
    items = [
        {"id": each[len(entity_id) + 1 :], "phase": base.phase, "conditions": list(base.conditions)}
        for each, base in there.items()
    ]
    data = {"kind": below.name, "items": items, "seen": seen, "confirm": True, **everything(below)}
    return event(above.name, "snapshot", entity_id, data, id=f"s{len(history.steps)}")


def everything(kind: Kind) -> dict[str, list[str]]:
    """The scope of a report that speaks of all conditions of a kind."""
    return {field.name: list(field.options) for field in kind.fields[REPORTED] if field.name == ABOUT}


def copied(history: History) -> History:
    """Another history with the same events."""
    again = History(history.kinds)
    for step in history.steps:
        again.take(step.sent)
    return again


def one_snapshot_makes_everything_good(life: Life) -> None:
    """After one snapshot that has seen and speaks of all, each entity is as it names it; what it leaves out is gone."""
    history = life.history
    for above, entity_id, below, there in truths(history.kinds, history.tree, life.choices):
        again = copied(history)
        sent = snapshot(again, above, entity_id, below, there, len(again.steps))
        step = again.take(sent)
        under = set(again.tree.descendants(above.name, entity_id, below.name))
        blocked = {item.id for record in step.records if isinstance(record, Rejection) for item in record.left_out}
        for each in under:
            facet = again.tree.entities[below.name][each].facets[0]
            if each[len(entity_id) + 1 :] in blocked:  # an entity in between is deleted: nothing lives below it
                assert not takes_one(again.tree, below, each)
                continue
            before = history.tree.entities[below.name].get(each)
            base = state(ABSENT) if before is None else before.facets[0].base
            if not takes_one(again.tree, below, each):
                is_left_behind_as_told(again.tree, below, each, base, there.get(each))
                continue
            if each in moved_on(step, below):
                continue
            wanted = meant(below, history.tree, each, base, there.get(each, state(DELETED)))
            assert in_order(wanted) in (in_order(facet.base), in_order(facet.state)), (each, wanted, facet)
        assert not [record for record in again.take(sent).records if isinstance(record, Transition)]


def meant(kind: Kind, tree: Tree, entity_id: str, base: State, truth: State) -> State:
    """What the report of a state means: the state, unless a row of the kind says something else for it."""
    for row in (row for row in kind.written.facets[0].rows if row.trigger == "reported"):
        starts = {at.phase for source in row.source for at in starts_of(source, kind.machines[0].phases)}
        is_about_it = row.given.get("phase") == truth.phase and base.phase in starts
        if is_about_it and all(guard.holds(tree, entity_id) for guard in row.when):
            return base if row.to == SAME else state(row.to)
    return truth


def takes_one(tree: Tree, below: Kind, entity_id: str) -> bool:
    missing = missing_parent(tree, below, entity_id, is_intent=False)
    return missing is None or missing.adoptable


def moved_on(step: HistoryStep, below: Kind) -> set[str]:
    """Whom a cascade that the snapshot set off moved on from what it names: a context asks its resources to go."""
    return {
        record.entity.id
        for record in step.records
        if isinstance(record, Transition) and (record.entity.kind, record.facet) == (below.name, below.names[0])
        if record.cause.by == "cascade" and record.trigger != REPORTED
    }


def is_left_behind_as_told(tree: Tree, below: Kind, entity_id: str, base: State, told: State | None) -> None:
    """What is below something deleted stays Deleted: it is gone, or keeps what was told of it."""
    entity = tree.entities[below.name][entity_id]
    assert entity.facets[0].state.phase == DELETED
    if told is None:
        assert entity.attributes.get(END) in (None, SEEN)
        assert SHOWS not in entity.attributes
    elif meant(below, tree, entity_id, base, told) == told:
        assert entity.attributes[END] == CONTRADICTED
        assert in_order(shown_state(entity.attributes)) == in_order(told)


def a_stale_snapshot_undoes_no_later_request(life: Life) -> None:
    """A snapshot of the states as they were leaves alone what was asked for since then, and what was deleted."""
    history = life.history
    half = len(history.steps) // 2
    before = History(history.kinds)
    for step in history.steps[:half]:
        before.take(step.sent)
    for above, entity_id, below, _ in truths(history.kinds, before.tree, life.choices):
        ids = before.tree.descendants(above.name, entity_id, below.name)
        facets = {each: before.tree.entities[below.name][each].facets[0] for each in ids}
        there = {each: facet.base for each, facet in facets.items() if facet.base.phase not in (ABSENT, DELETED)}
        again = copied(history)
        were = {
            each: again.tree.entities[below.name][each]
            for each in again.tree.descendants(above.name, entity_id, below.name)
        }
        again.take(snapshot(again, above, entity_id, below, there, half))
        for each, was in were.items():
            base, now = was.facets[0].base, again.tree.entities[below.name][each].facets[0].base
            if was.asked <= half or base == now:
                continue
            assert base.phase != DELETED, (each, was)
            assert below.judge is not None
            if base.phase in below.judge.pending and now.phase != DELETED:
                assert in_order(now) in below.judge.observed[0].by_any(base), (each, base, now)
            assert not (base.phase in below.judge.arriving and now.phase == DELETED), (each, base)


LAWS = (one_snapshot_makes_everything_good, a_stale_snapshot_undoes_no_later_request)


@every_family
@law_by_law(*LAWS, effort="dear")
def test_law(law: Any, kinds: Kinds, effort: str) -> None:
    hold(law, lives(kinds), effort)


# ---- no dead ends


@pytest.mark.parametrize("kind", JUDGED, ids=lambda kind: kind.name)
def test_no_dead_ends_in_the_field(kind: Kind) -> None:
    """From every state, one observation alone leads to the truth, whatever the truth is."""
    entity_id = "/".join("abcdefgh"[: kind.arity])
    bases = sorted(base for base in kind.bases[0] if base.phase != ABSENT)
    for base in bases:
        tree = placed(kind, base)
        for truth in (truth for truth in bases if truth == as_told(truth)):
            data = {"phase": truth.phase, "conditions": list(truth.conditions), "seen": 8, **everything(kind)}
            arrival = Arrival(kind.name, "reported", entity_id, data, Cause(9, "e", "/t", "event"), None, 9)
            records = decide(tree, arrival).records
            assert not any(isinstance(record, Rejection) for record in records), (base, truth, records)
            own = [
                r.entity
                for r in records
                if isinstance(r, Transition) and r.entity.id == entity_id and r.entity.kind == kind.name
            ]
            facet = (own[-1] if own else tree.entities[kind.name][entity_id]).facets[0]
            means = in_order(meant(kind, tree, entity_id, base, truth))
            assert means in (in_order(as_told(facet.base)), in_order(as_told(facet.state))), (base, truth, facet)


@pytest.mark.parametrize("kind", JUDGED, ids=lambda kind: kind.name)
def test_without_seen_no_report_ends_what_was_asked_for_unless_observations_could(kind: Kind) -> None:
    entity_id = "/".join("abcdefgh"[: kind.arity])
    assert kind.judge is not None
    bases = sorted(base for base in kind.bases[0] if base.phase != ABSENT)
    for base in (base for base in bases if base.phase in kind.judge.pending):
        tree = placed(kind, base)
        for truth in (truth for truth in bases if truth.phase != DELETED and truth == as_told(truth)):
            data = {"phase": truth.phase, "conditions": list(truth.conditions), "seen": 4, **everything(kind)}
            arrival = Arrival(kind.name, "reported", entity_id, data, Cause(9, "e", "/t", "event"), None, 9)
            moved = bool(decide(tree, arrival).records)
            facet = tree.entities[kind.name][entity_id].facets[0]
            news = in_order(truth) not in (in_order(as_told(base)), in_order(as_told(facet.state)))
            assert moved == (news and in_order(truth) in kind.judge.observed[0].by_any(as_told(base))), (base, truth)


@pytest.mark.parametrize("kind", JUDGED, ids=lambda kind: kind.name)
def test_a_report_without_effect_is_either_so_already_or_older_than_a_request(kind: Kind) -> None:
    """Who asks why a report had no effect is not told that its entity is in a state in which it is not."""
    entity_id = "/".join("abcdefgh"[: kind.arity])
    bases = sorted(base for base in kind.bases[0] if base.phase not in (ABSENT, DELETED))
    for base in bases:
        tree = placed(kind, base)
        entity = tree.entities[kind.name][entity_id]
        for truth in (truth for truth in bases if truth == as_told(truth)):
            data = {"phase": truth.phase, "conditions": list(truth.conditions), "seen": 4, **everything(kind)}
            arrival = Arrival(kind.name, "reported", entity_id, data, Cause(9, "e", "/t", "event"), None, 9)
            held = held_against(tree.kinds, entity, REPORTED, {"data": data}, 9)
            if not decide(tree, arrival).records:
                is_so = truth.phase in (base.phase, entity.facets[0].state.phase)
                assert is_so or held == entity.asked, (base, truth)
            elif base.phase not in (kind.judge.pending if kind.judge else ()):
                assert not held, (base, truth)
