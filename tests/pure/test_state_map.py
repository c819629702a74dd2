"""A map of states: which states a table lacks, where their entities go, and the records that say so."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from phaseline.engine.core.process import Batch, Processor
from phaseline.engine.core.tables_change import moving, stranded
from phaseline.engine.core.tables_change.moving import TablesChange
from phaseline.engine.core.tree import Tree, restore
from phaseline.engine.log.explain.causes import trace
from phaseline.engine.log.log_records import change_of
from phaseline.engine.surfaces.testing.histories import SUBJECTS, Sent, event, play
from phaseline.engine.surfaces.testing.scenario import given
from phaseline.engine.worker.ownership.tables_change.survey import refuse, remedy
from phaseline.machines.compiler.fingerprint import version_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.retiring.state_map import facet_states
from phaseline.machines.language.contact import with_contact
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import wire_codec
from phaseline.schemas.errors import SetupError
from phaseline.schemas.records import Rejection, State, Transition
from phaseline.tables import Retired, Table
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.changed_jobs import FIRST, SECOND, THIRD, UNMAPPED
from tests.support.own_product import OWN
from tests.support.raising import raises

NOON = 43_200_000_000_000
NIGHTLY = [
    event("policy", "create", "p"),
    *(event("job", "create", f"p/{name}") for name in ("a", "b", "c", "d")),
    event("job", "started", "p/a"),
    event("job", "lost", "p/a"),
    event("job", "pause", "p/b"),
    event("job", "cancel", "p/c"),
    event("job", "started", "p/d"),
]
"""After them, p/a is Retrying, p/b Paused, p/c Failed [Cancelled], p/d Running, and p BackingUp."""


def tree_of(events: Iterable[Sent], kinds: Kinds, by: Kinds = FIRST) -> Tree:
    """The tree that these events make by one set of tables, as a worker with others loads it."""
    tree = Tree(kinds, NoScripts())
    history = play(by, events)
    for entities in history.tree.entities.values():
        for entity in entities.values():
            tree.put(entity)
    return tree


def change(former: Kinds, kinds: Kinds) -> TablesChange:
    differing = {name: version for name, version in former.versions.items() if kinds.versions[name] != version}
    return TablesChange(10, NOON, kinds.digest, differing)


def moved(tree: Tree, former: Kinds = FIRST) -> list[Batch]:
    """The batches with which a worker moves the entities of a tree, which changes it."""
    told = change(former, tree.kinds)
    return list(Processor(tree, SUBJECTS, 0).move(told, moving.pieces(tree, told)))


def records(batches: list[Batch]) -> list[Transition]:
    found = [wire_codec.read(one.body) for batch in batches for one in batch.messages if ".log." in one.subject]
    return [one for one in found if isinstance(one, Transition)]


def states(tree: Tree) -> dict[str, str]:
    return {one.id: str(one.facets[0].state) for found in tree.entities.values() for one in found.values()}


def said(record: Transition) -> str:
    return f"{record.entity.id}: {record.before} -> {record.after} by {record.cause.by} from {record.cause.origin}"


def test_entities_go_where_the_map_says() -> None:
    tree = tree_of(NIGHTLY, SECOND)
    found = records(moved(tree))
    assert [said(one) for one in found] == [
        "p/a: Retrying [Progressing] -> Pending [Ok] by tables from None",
        "p/b: Paused [Ok] -> Held [Ok] by tables from None",
        "p/c: Failed [Cancelled] -> Failed [GaveUp] by tables from None",
        "p: BackingUp [Progressing] -> Waiting [Progressing] by tables from job/p/a",
    ]
    assert states(tree) == {
        "p": "Waiting [Progressing]", "p/a": "Pending [Ok]", "p/b": "Held [Ok]", "p/c": "Failed [GaveUp]",
        "p/d": "Running [Ok]",
    }  # fmt: skip
    assert {one.trigger for one in found} == {"tables_changed"}
    (job,) = (one for one in found if one.entity.id == "p/a")
    assert job.message == (
        f"the table changed from version {FIRST['job'].version} to {SECOND['job'].version}: "
        "Retrying [Progressing] is retired, its entities are Pending [Ok]"
    )
    assert (job.cause.sequence, job.time_ns, job.entity.version) == (10, NOON, 4)


def test_timers_of_the_old_state_end_and_those_of_the_new_one_begin() -> None:
    tree = tree_of(NIGHTLY, SECOND)
    assert list(tree.entities["job"]["p/a"].timers_ns) == ["phase"]
    (batch,) = moved(tree)
    assert tree.entities["job"]["p/a"].timers_ns == {"phase": NOON + 7_200_000_000_000}
    (schedule,) = (one for one in batch.messages if one.subject.startswith("pl.timer."))
    assert b"job.expire" in schedule.body
    third = tree_of(NIGHTLY, THIRD)
    messages = [one for batch in moved(third) for one in batch.messages]
    assert third.entities["job"]["p/a"].timers_ns == {}
    (record,) = (one for one in messages if ("Nats-Schedule-Next", "purge") in one.headers)
    assert record.subject.endswith(".p.a")


def test_maps_follow_each_other() -> None:
    at_once = tree_of(NIGHTLY, THIRD)
    moved(at_once)
    second = tree_of(NIGHTLY, SECOND)
    moved(second)
    step_by_step = Tree(THIRD, NoScripts())
    for entities in second.entities.values():
        for entity in entities.values():
            step_by_step.put(entity)
    moved(step_by_step, SECOND)
    assert states(at_once) == states(step_by_step)
    assert states(at_once)["p/b"] == "Deleted"


def test_what_no_line_names_is_stranded_and_stays() -> None:
    tree = tree_of(NIGHTLY, UNMAPPED)
    groups = stranded.in_tree(tree, UNMAPPED)
    assert {(group.kind, str(group.state), str(group.to), group.fate): count for group, count in groups.items()} == {
        ("job", "Retrying [Progressing]", "None", "stranded"): 1,
        ("job", "Paused [Ok]", "Held [Ok]", "moves"): 1,
        ("job", "Failed [Cancelled]", "Failed [GaveUp]", "moves"): 1,
        ("policy", "BackingUp [Progressing]", "None", "shown anew"): 1,
    }
    with raises(SetupError.states_stranded) as told:
        refuse(UNMAPPED, groups)
    assert str(told.value) == (
        f"the tables installed here, {UNMAPPED.digest}, do not have the states of some entities "
        "(1 job Retrying [Progressing]): say where they go with retired=(Retired('Retrying', to=...),) in the facet "
        "phase of job"
    )
    moved(tree)
    assert states(tree)["p/a"] == "Retrying [Progressing]"
    assert states(tree)["p"] == "Enabled [Ok]"
    again = play(UNMAPPED, [])
    again.tree = tree
    again.take(event("job", "delete", "p/d"), 12)
    (rejected,) = again.take(event("job", "cancel", "p/a"), 13).records
    assert isinstance(rejected, Rejection)
    assert "p/a is Retrying" in rejected.message
    assert again.take(event("policy", "delete", "p"), 14).accepted


def test_the_remedy_names_a_condition_that_is_gone() -> None:
    kinds = Kinds(tuple(_without_map(kind.written) for kind in SECOND.values()), products=OWN)
    groups = stranded.in_tree(tree_of(NIGHTLY, kinds), kinds)
    lines = {remedy(kinds, group) for group in groups if group.fate == "stranded"}
    assert (
        "say where they go with retired=(Retired('Failed', to=..., has='Cancelled'),) in the facet phase of job"
        in lines
    )


def _without_map(table: Table) -> Table:
    return replace(table, facets=tuple(replace(facet, retired=()) for facet in table.facets))


def test_a_life_that_ends_ends_those_below_it() -> None:
    first = FIRST["policy"].written
    gone = replace(first.facets[0], retired=(Retired("Enabled", to="Deleted"),))
    assert gone.retired  # the policy of the next table begins as Active
    labels = tuple(replace(one, phase="Active") if one.phase == "Enabled" else one for one in first.facets[0].labels)
    rows = tuple(replace(row, to="Active") if row.to == "Enabled" else row for row in first.facets[0].rows)
    facet = replace(gone, labels=labels, rows=rows, adopted=State("Active", ("Ok",)))
    kinds = Kinds((replace(first, facets=(facet,)), FIRST["job"].written), products=OWN)
    tree = tree_of(NIGHTLY, kinds)
    found = records(moved(tree))
    assert set(states(tree).values()) == {"Deleted"}
    assert {one.trigger for one in found if one.entity.kind == "job"} == {"owner_gone"}
    assert {one.cause.by for one in found} == {"tables"}


def test_a_stranded_child_of_a_deleted_owner_ends_too() -> None:
    """By the former tables it could not follow its owner."""
    tree = tree_of(NIGHTLY, UNMAPPED)
    moved(tree)
    history = play(UNMAPPED, [])
    history.tree = tree
    history.take(event("policy", "delete", "p"), 11)
    assert states(tree)["p/a"] == "Retrying [Progressing]"
    later = Tree(SECOND, NoScripts())
    for entities in tree.entities.values():
        for entity in entities.values():
            later.put(entity)
    moved(later, UNMAPPED)
    assert states(later)["p/a"] == "Deleted"


def test_a_worker_that_goes_on_makes_the_same_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "AT_ONCE", 2)
    whole = [one.body for batch in moved(tree_of(NIGHTLY, SECOND)) for one in batch.messages]
    told = change(FIRST, SECOND)
    for ended in range(len(moving.pieces(tree_of(NIGHTLY, SECOND), told)) + 1):
        tree = tree_of(NIGHTLY, SECOND)
        bodies: list[bytes] = []
        for pieces in (moving.pieces(tree, told)[:ended], None):
            left = moving.pieces(tree, told) if pieces is None else pieces
            for batch in Processor(tree, SUBJECTS, 0).move(told, left):
                bodies += [one.body for one in batch.messages]
        assert sorted(bodies) == sorted(whole)


def test_the_records_lead_to_the_same_tree() -> None:
    tree, copy = tree_of(NIGHTLY, SECOND), tree_of(NIGHTLY, SECOND)
    for batch in moved(tree):
        for message in batch.messages:
            if ".log." in message.subject:
                assert restore(copy, message.body) == 10
    assert (copy.entities, copy.tallies) == (tree.entities, tree.tallies)
    assert not stranded.in_tree(tree, SECOND)
    assert moved(tree) == []


def test_ids_of_the_records_are_those_of_no_event() -> None:
    messages = [one for batch in moved(tree_of(NIGHTLY, SECOND)) for one in batch.messages if ".log." in one.subject]
    ids = [wire_codec.read_id(one.body) for one in messages]
    assert len(set(ids)) == len(ids) == 4
    assert all(one.startswith(f"10-tables-{SECOND.digest}-job/p/a-") for one in ids)
    assert {change_of(one.body) for one in messages} == {(10, SECOND.digest)}
    assert [wire_codec.numbered(one.body).number for one in messages] == [0, 1, 2, 3]


def test_a_batch_holds_no_more_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "AT_ONCE", 1)
    tree, told = tree_of(NIGHTLY, SECOND), change(FIRST, SECOND)
    batches = list(Processor(tree, SUBJECTS, 0, limit=3).move(told, moving.pieces(tree, told)))
    assert len(batches) > 1
    assert all(len(batch.messages) <= 3 for batch in batches)


def test_a_map_belongs_to_the_version() -> None:
    versions = [kinds["job"].version for kinds in (FIRST, SECOND, UNMAPPED)]
    assert len(set(versions)) == 3
    table = SECOND["job"].written
    assert version_of(with_contact(_without_map(table))) not in versions


def test_which_states_a_facet_has() -> None:
    job, policy = (facet_states(SECOND[kind])[0] for kind in ("job", "policy"))
    assert [job.has(State(*one)) for one in (("Pending", ("Ok",)), ("Pending", ()), ("Retrying", ()), ("Deleted", ()))] == [
        True, False, False, True,
    ]  # fmt: skip
    assert policy.shows(State("Waiting", ("Progressing",)))
    assert not policy.has(State("Waiting", ("Progressing",)))
    assert job.target(State("Failed", ("Cancelled", "GaveUp"))) == State("Failed", ("GaveUp",))


def test_the_test_kit_changes_tables() -> None:
    before = given(FIRST).event("policy", "create", "p").event("job", "create", "p/a").event("job", "started", "p/a")
    retrying = before.event("job", "lost", "p/a")
    after = retrying.change_tables(SECOND).then("job", "p/a", "Pending").then("policy", "p", "Waiting")
    after.then_transitions(2).later(hours=2).then("job", "p/a", "Failed [GaveUp]").then("policy", "p", "Enabled")
    before.change_tables(SECOND).then("job", "p/a", "Running")
    retrying.later(hours=2).change_tables(SECOND).then("job", "p/a", "Pending").then_transitions(1)
    with pytest.raises(AssertionError, match=r"nothing says where these go: job Retrying \[Progressing\]"):
        retrying.change_tables(UNMAPPED)


def test_a_map_adds_and_removes_no_facet() -> None:
    first = FIRST["policy"].written
    kinds = Kinds(
        (replace(first, facets=(*first.facets, replace(first.facets[0], name="other"))), FIRST["job"].written),
        products=OWN,
    )
    groups = stranded.count(kinds, play(FIRST, NIGHTLY).tree.entities["policy"].values())
    (group,) = groups
    assert (group.facet, group.fate, groups.total()) == ("", "stranded", 1)
    with raises(SetupError.states_stranded, match="give policy the facets that it had"):
        refuse(kinds, groups)


def test_a_kind_that_is_missing_is_named() -> None:
    (group,) = stranded.count(BUILT_IN_KINDS, [play(FIRST, NIGHTLY).tree.entities["job"]["p/a"]])
    assert (group.kind, group.fate, remedy(BUILT_IN_KINDS, group)) == ("job", "stranded", "install the kind job")


def test_why_an_entity_moved_is_explained() -> None:
    tree = tree_of(NIGHTLY, SECOND)
    history = [record for record in records(moved(tree)) if record.entity.id in ("p", "p/a")]
    by_entity = {("job", "p/a"): [history[0]], ("policy", "p"): [history[1]]}
    lines, missing = trace(SECOND, lambda *key: by_entity.get(key, []), history[1])
    assert ([one.entity.id for one in lines], missing) == (["p", "p/a"], None)
