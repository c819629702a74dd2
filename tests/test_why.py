"""Why an entity is as it is, over random histories: all of it ends in outside events, nothing is made up, nothing left out.

Belongs here: laws of explanations, and what single ones say. Does not: reading what is needed, the command (`test_why_command`).
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import msgspec
import pytest

from phaseline.engine import causes, why
from phaseline.engine.explanation import Caused, Explained, Explanation, Reason
from phaseline.engine.intake import Arrival
from phaseline.engine.tree import Tree
from phaseline.machines import arithmetic
from phaseline.machines.kinds import Kinds
from phaseline.machines.predicates import Above, AttributeIs, Every, Predicate, Some
from phaseline.machines.table import ABSENT, DELETED
from phaseline.schemas.records import Entity, State, Transition
from tests import orchard, situations
from tests.worlds import History, event, histories, hold, play

FAMILIES = {"edge hosting": situations.KINDS, "orchard": orchard.KINDS}
effort = pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])
family = pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))

Logs = dict[tuple[str, str], list[Transition]]


def logs(history: History) -> Logs:
    """Each entity's transitions in order."""
    found: Logs = defaultdict(list)
    for step in history.steps:
        for record in step.records:
            if isinstance(record, Transition):
                found[record.entity.kind, record.entity.id].append(record)
    return found


def entities(history: History) -> Iterator[Entity]:
    for found in history.tree.entities.values():
        yield from found.values()


def explained(history: History, entity: Entity, known: Logs | None = None) -> Explanation:
    found = logs(history) if known is None else known
    return why.why(history.tree, lambda *key: found.get(key, ()), entity.kind, entity.id)


def parts(found: Explanation) -> Iterator[Explained]:
    """All facets that it explains, at any depth."""
    queue = list(found.facets)
    while queue:
        part = queue.pop()
        yield part
        queue += [entity for reason in reasons(part) for entity in reason.entities]


def reasons(part: Explained) -> tuple[Reason, ...]:
    return part.view.reasons if part.view else ()


def told(part: Explained) -> Iterator[Caused]:
    for caused in part.causes:
        yield from (caused, caused.during) if caused.during else (caused,)
    yield from (reason.caused for reason in reasons(part) if reason.caused)


# ---- laws


def everything_ends_in_outside_events(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        for part in parts(explained(history, entity, known)):
            assert part.told in ("here", "above")
            for caused in told(part):
                ends_in_an_event(history, caused)


def ends_in_an_event(history: History, caused: Caused) -> None:
    assert caused.gone is None
    *links, last = caused.records
    step = history.steps[last.cause.sequence - 1]
    assert isinstance(step.read, Arrival)
    assert (last.cause.by, last.trigger) == ("event", step.read.trigger)
    assert (last.entity.kind, last.entity.id) == (step.read.kind, step.read.id)
    assert all(any(record is made for made in step.records) for record in caused.records)
    assert all(record.cause.by != "event" for record in links)
    for record, origin in pairwise(caused.records):
        assert record.cause.origin == f"{origin.entity.kind}/{origin.entity.id}"


def a_view_is_named_where_the_base_does_not_show(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        found = explained(history, entity, known)
        assert [part.facet for part in found.facets] == list(entity.names)
        for part in parts(found):
            assert (part.view is not None) == (part.state != part.base and not part.base_only and part.told == "here")
            if part.view is not None:
                the_view_holds(history, part)


def the_view_holds(history: History, part: Explained) -> None:
    """It is one of the table's, shows that phase, and who makes it so is counted right."""
    facet = next(f for f in history.kinds[part.kind].table.facets if f.name == part.facet)
    texts = [reason.text for reason in reasons(part)]
    (view, *_) = [v for v in facet.views if v.to == part.state.phase and [p.text() for p in v.while_] == texts]
    for predicate, reason in zip(view.while_, reasons(part), strict=True):
        makes_it_so(history, part, predicate, reason)


def makes_it_so(history: History, part: Explained, predicate: Predicate, reason: Reason) -> None:
    if isinstance(predicate, Above):
        (above,) = reason.entities
        assert above.kind == predicate.kind
        assert part.id.startswith(above.id)
        assert (above.base if predicate.base else above.state).phase in predicate.phases
    elif isinstance(predicate, AttributeIs):
        assert reason.caused is not None
        assert reason.caused.records[0].entity.attributes[predicate.name] == predicate.value
    else:
        assert isinstance(predicate, Some | Every)
        below = [e for e in history.tree.entities[predicate.kind].values() if e.id.startswith(f"{part.id}/")]
        phases = [entity.facets[predicate.facet].state.phase for entity in below]
        assert reason.count == sum(phase in predicate.phases for phase in phases)
        assert reason.among == sum(phase not in (ABSENT, DELETED) for phase in phases)
        assert len(reason.entities) == min(3, reason.count)
        assert {found.state.phase for found in reason.entities} <= set(predicate.phases)


def every_standing_cause_is_explained_by_the_record_that_added_it(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        for part in explained(history, entity, known).facets:
            if part.told == "here":
                index = entity.names.index(part.facet)
                assert (
                    dict(by_words(part)).items() >= stood_since(history, known[entity.kind, entity.id], index).items()
                )
                moved = last_moved(known[entity.kind, entity.id], index)
                assert moved is None or any(caused.records[0] is moved for caused in part.causes)


def a_phase_is_explained_by_the_record_that_entered_it(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        for part in explained(history, entity, known).facets:
            index, phase, entered = entity.names.index(part.facet), ABSENT, None
            for record in known[entity.kind, entity.id]:
                now = record.entity.facets[index].base.phase
                phase, entered = now, entered if now == phase else record
            for caused in part.causes:
                if caused.role == "phase" and caused.words == (part.base.phase,):
                    assert caused.records[0] is entered


def by_words(part: Explained) -> Iterator[tuple[str, Transition]]:
    for caused in part.causes:
        for word in caused.words if caused.role == "condition" else ():
            yield word, caused.records[0]


def stood_since(history: History, records: list[Transition], index: int) -> dict[str, Transition]:
    """By condition that holds or stands, the record that brought it: read forwards."""
    facet = history.kinds[records[0].entity.kind].table.facets[index]
    since: dict[str, Transition] = {}
    phase = ABSENT
    for record in records:
        base = record.entity.facets[index].base
        lasting = [*facet.standing, *(arithmetic.causes(facet) if base.phase == facet.collects else ())]
        kept = {c: r for c, r in since.items() if c in facet.standing or phase == base.phase}
        since = {c: kept.get(c, record) for c in base.conditions if c in lasting}
        phase = base.phase
    return since


def last_moved(records: list[Transition], index: int) -> Transition | None:
    """The record that moved the base last; None where it was never moved."""
    bases = [record.entity.facets[index].base for record in records]
    last = [n for n, base in enumerate(bases) if base != (bases[n - 1] if n else (ABSENT, ()))]
    return records[last[-1]] if last else None


def nothing_is_told_twice(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        here = [
            (p.kind, p.id, p.facet, p.base_only) for p in parts(explained(history, entity, known)) if p.told == "here"
        ]
        assert len(here) == len(set(here))


def what_is_gone_is_said_to_be_gone(history: History) -> None:
    """With a part of the log lost, whatever is still told is what the whole log tells."""
    known = logs(history)
    kept = {key: records[len(records) // 2 :] for key, records in known.items()}
    holed = {key: [r for n, r in enumerate(records) if n % 3 != 1] for key, records in known.items()}
    for entity in entities(history):
        whole = explained(history, entity, known).facets
        for left in ({}, kept, holed):
            found = explained(history, entity, left).facets
            for part, before in zip(found, whole, strict=True):
                assert (part.state, part.view is None) == (before.state, before.view is None)
                assert all(caused.gone or gist(caused) in [*map(gist, told(before))] for caused in told(part))
                assert part.base.phase == ABSENT or part.told != "here" or part.causes


def gist(caused: Caused) -> tuple[object, ...]:
    """What it says, whichever record of an event with several at one entity led there."""
    first, last = caused.records[0], caused.records[-1]
    return caused.role, caused.words, first, last.cause, last.trigger, last.entity.kind, last.entity.id


LAWS = (
    everything_ends_in_outside_events,
    a_phase_is_explained_by_the_record_that_entered_it,
    a_view_is_named_where_the_base_does_not_show,
    every_standing_cause_is_explained_by_the_record_that_added_it,
    nothing_is_told_twice,
    what_is_gone_is_said_to_be_gone,
)


@effort
@family
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law: object, kinds: Kinds, effort: str) -> None:
    hold(law, histories(kinds), effort)  # type: ignore[arg-type]  # a law


# ---- single explanations

RUNNING = [
    event("cluster", "adopt", "c", {"phase": "Running"}),
    event("node_pool", "adopt", "c/p", {"phase": "Running"}),
]


def explanation(history: History, kind: str, entity_id: str) -> Explanation:
    entity = history.tree.get(kind, entity_id)
    assert entity is not None
    return explained(history, entity)


def triggers(caused: Caused) -> list[tuple[str, str]]:
    return [(record.trigger, f"{record.entity.kind}/{record.entity.id}") for record in caused.records]


def test_what_could_not_be_cleaned_up_was_being_removed() -> None:
    """And that is said with who asked for it, three entities further up."""
    history = play(situations.KINDS, [*RUNNING, event("node", "adopt", "c/p/n", {"phase": "Running"})])
    for kind, trigger, entity_id in (
        ("node", "overdue", "c/p/n"), ("cluster", "delete", "c"), ("node", "cleanup_failed", "c/p/n"),
    ):  # fmt: skip
        assert history.take(event(kind, trigger, entity_id)).accepted
    owes, failed = explanation(history, "node", "c/p/n").facets[0].causes
    assert (owes.words, triggers(owes), owes.during) == (("Balance",), [("overdue", "node/c/p/n")], None)
    assert (failed.words, triggers(failed)) == (("ResourceCleanupFailed",), [("cleanup_failed", "node/c/p/n")])
    assert failed.during is not None
    assert failed.during.words == ("Deleting",)
    assert triggers(failed.during) == [("remove", "node/c/p/n"), ("remove", "node_pool/c/p"), ("delete", "cluster/c")]


def test_what_came_well_to_its_end_or_was_cut_short_needs_no_more_words() -> None:
    made = [event("node", "create", "c/p/n"), event("node", "created", "c/p/n"), event("node", "update", "c/p/n")]
    history = play(situations.KINDS, [*RUNNING, *made[:2]])
    assert [caused.during for caused in explanation(history, "node", "c/p/n").facets[0].causes] == [None]
    history = play(situations.KINDS, [*RUNNING, *made, event("cluster", "delete", "c")])
    assert [caused.during for caused in explanation(history, "node", "c/p/n").facets[0].causes] == [None]


def test_a_condition_of_one_phase_is_not_that_of_another() -> None:
    """A cluster that could not be created for want of money, of which Stopped [Balance] was said before."""
    (record,) = logs(play(situations.KINDS, RUNNING[:1]))["cluster", "c"]
    stopped, failed = State("Stopped", ("Balance",)), State("Failed", ("Balance",))
    moved = [causes.Move(record, State(ABSENT), stopped), causes.Move(record, stopped, failed)]
    assert causes.added(situations.KINDS["cluster"].machines[0].facet, moved, "Balance") == 1


def test_a_tally_names_those_that_have_been_so_for_longest_and_each_thing_once() -> None:
    made = [event("node", "create", f"c/p/n{number}") for number in (5, 3, 10, 9, 1)]
    history = play(situations.KINDS, [*RUNNING, *made, event("node", "created", "c/p/n3")])
    (cluster,) = explanation(history, "cluster", "c").facets
    (pools,) = reasons(cluster)
    assert (pools.text, pools.count, pools.among) == ("a node_pool is Creating, Deleting or Scaling", 1, 1)
    (nodes,) = reasons(pools.entities[0])
    assert [node.id for node in nodes.entities] == ["c/p/n5", "c/p/n10", "c/p/n9"]
    assert (nodes.count, nodes.among) == (4, 5)
    (pool,) = explanation(history, "node_pool", "c/p").facets
    assert pool.causes == pools.entities[0].causes


def test_a_trigger_that_a_tally_fired_leads_to_what_brought_it_there() -> None:
    fruit = [event("fruit", "set", f"o/r/s/f{number}") for number in (1, 2)]
    history = play(orchard.KINDS, [event("orchard", "plant", "o"), *fruit, event("fruit", "rotted", "o/r/s/f2")])
    (row,) = explanation(history, "row", "o/r").facets
    assert triggers(row.causes[0]) == [("rot_found", "row/o/r"), ("rotted", "fruit/o/r/s/f2")]


def test_a_view_that_looks_at_its_own_entity_s_other_facet_and_at_an_attribute() -> None:
    history = play(orchard.KINDS, [event("orchard", "plant", "o"), event("orchard", "drought", "o")])
    season, water = explanation(history, "orchard", "o").facets
    assert [(e.facet, e.told) for reason in reasons(season) for e in reason.entities] == [("water", "here")]
    assert water.told == "above"
    label = event("row", "label", "o/r", {"variety": "russet"})
    history = play(orchard.KINDS, [event("orchard", "plant", "o"), event("row", "plant", "o/r"), label])
    (row,) = explanation(history, "row", "o/r").facets
    none, organic = reasons(row)
    assert (none.count, none.among, none.entities) == (0, 0, ())
    assert organic.caused is not None
    assert (organic.caused.words, triggers(organic.caused)) == (("organic is True",), [("plant", "row/o/r")])


def test_of_several_records_of_one_event_the_nearest_to_it_counts() -> None:
    history = play(
        orchard.KINDS, [event("orchard", "plant", "o"), event("row", "plant", "o/r"), event("orchard", "drought", "o")]
    )
    known = logs(history)
    season, water = known["orchard", "o"][-2:]
    assert (season.cause.by, water.cause.by) == ("view", "event")
    found, gone = causes.traced(lambda *key: known[key], known["row", "o/r"][-1])
    assert (found, gone) == ((known["row", "o/r"][-1], water), None)


def test_a_base_that_was_told_with_its_view_is_told() -> None:
    history = play(situations.KINDS, RUNNING)
    known = logs(history)
    telling = why._Telling(history.tree, lambda *key: known[key])
    order = (True, True, False, True, False)
    told = [telling.facet("cluster", "c", 0, base_only=base_only).told for base_only in order]
    assert told == ["here", "above", "here", "above", "above"]


def test_what_is_half_read_is_explained_by_the_record_that_brought_it() -> None:
    """As while a large cascade is being copied: the pool shows what no view accounts for."""
    history = play(situations.KINDS, [*RUNNING, event("node", "create", "c/p/n")])
    tree = Tree(situations.KINDS)
    tree.put(history.tree.entities["node_pool"]["c/p"])
    known = logs(history)
    (pool,) = why.why(tree, lambda *key: known[key], "node_pool", "c/p").facets
    assert pool.view is not None
    assert pool.view.caused is not None
    assert (pool.view.reasons, pool.view.caused.words) == ((), ("Scaling [Progressing]",))
    assert triggers(pool.view.caused) == [("create", "node_pool/c/p"), ("create", "node/c/p/n")]


def test_a_timer_ends_an_explanation() -> None:
    (record,) = logs(play(situations.KINDS, RUNNING[:1]))["cluster", "c"]
    fired = msgspec.structs.replace(record, cause=msgspec.structs.replace(record.cause, by="timer", origin="cluster/c"))
    assert causes.traced(lambda *_: [], fired) == ((fired,), None)


def test_records_that_name_each_other_end_too() -> None:
    step = play(situations.KINDS, [event("node_pool", "adopt", "c/p", {"phase": "Running"})]).steps[0]
    known: Logs = {}
    for record, other in zip(step.records, ("node_pool/c/p", "cluster/c"), strict=True):
        assert isinstance(record, Transition)
        cause = msgspec.structs.replace(record.cause, by="cascade", origin=other)
        known[record.entity.kind, record.entity.id] = [msgspec.structs.replace(record, cause=cause)]
    found, gone = causes.traced(lambda *key: known[key], known["cluster", "c"][0])
    assert [record.entity.kind for record in found] == ["cluster", "node_pool"]
    assert gone == "what event 1 made of cluster c is not in the log"


def test_views_upon_views_are_followed_so_far_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(why, "DEPTH", 1)
    history = play(situations.KINDS, [*RUNNING, event("node", "create", "c/p/n")])
    assert [part.told for part in parts(explanation(history, "cluster", "c"))] == ["here", "here", "no further"]
