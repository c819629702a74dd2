"""What is pending when tables with deadlines take over: its time starts then, once, whoever goes on."""

from phaseline.engine.core.process import Batch, Processor
from phaseline.engine.core.tables_change import moving
from phaseline.engine.core.tables_change.moving import TablesChange
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.surfaces.testing.histories import SUBJECTS, event, play
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import wire_codec
from phaseline.schemas.records import SECOND, Mark
from tests.support import earlier_tables
from tests.support.edge_worlds import KINDS

NOON = 43_200 * SECOND


FORMER = [
    event("cluster", "adopt", "c", {"phase": "Running"}),
    event("cluster", "create", "stuck"),
    event("node_pool", "adopt", "c/p", {"phase": "Scaling"}),
    event("node", "adopt", "c/p/n", {"phase": "Deleting"}),
    event("node", "adopt", "c/p/m", {"phase": "Running"}),
]


def taken_over() -> Tree:
    """Entities of former tables, of which some wait for an answer, under the tables of today."""
    former = play(earlier_tables.KINDS, FORMER)
    tree = Tree(KINDS, NoScripts())
    for known in former.tree.entities.values():
        for entity in known.values():
            tree.put(entity)
    return tree


def change(tree: Tree, time: int = NOON) -> TablesChange:
    return TablesChange(10, time, tree.kinds.digest, dict(earlier_tables.KINDS.versions))


def moved(tree: Tree, told: TablesChange) -> list[Batch]:
    return list(Processor(tree, SUBJECTS, 0).move(told, moving.pieces(tree, told)))


def test_the_time_of_what_is_pending_starts_then() -> None:
    tree = taken_over()
    batches = moved(tree, change(tree))
    due = {entity.id: entity.timers_ns for known in tree.entities.values() for entity in known.values()}
    later = {"phase": NOON + 1_800 * SECOND}
    assert due == {"c": {}, "stuck": later, "c/p": later, "c/p/n": later, "c/p/m": {}}
    schedules = {one.subject for batch in batches for one in batch.messages if one.subject.startswith("pl.timer.")}
    assert schedules == {
        "pl.timer.0.cluster.phase.stuck", "pl.timer.0.node_pool.phase.c.p", "pl.timer.0.node.phase.c.p.n",
    }  # fmt: skip
    made = [
        wire_codec.read(one.body)
        for batch in batches
        for one in batch.messages
        if not one.subject.startswith("pl.timer.")
    ]
    assert {type(one) for one in made} == {Mark}, "nobody's state has changed, so no version does"
    assert {one.cause.by for one in made} == {"tables"}
    assert moved(tree, change(tree)) == [], "who goes on after it finds nothing left to do"


def test_another_worker_that_goes_on_makes_the_same_records() -> None:
    at_once, in_two = taken_over(), taken_over()
    whole = moved(at_once, change(at_once))
    first, *_ = moving.pieces(in_two, change(in_two))
    for record in moving.move(in_two, change(in_two), first, "phaseline/pl").records:
        evolve(in_two, record)
    rest = moved(in_two, change(in_two))
    assert at_once.entities == in_two.entities
    bodies = [one for batch in whole for one in bodies_of(batch)]
    assert [one for batch in rest for one in bodies_of(batch)] == bodies[len(first.members) :]


def bodies_of(batch: Batch) -> list[bytes]:
    """The records of a batch."""
    return [one.body for one in batch.messages if not one.subject.startswith("pl.timer.")]


def test_the_next_tables_start_the_time_again() -> None:
    tree = taken_over()
    moved(tree, change(tree))
    moved(tree, change(tree, NOON + 60 * SECOND))
    assert tree.entities["cluster"]["stuck"].timers_ns == {"phase": NOON + 1_860 * SECOND}
