"""What becomes of the entities below one that is deleted: every kind, also kinds of one's own below built-in parents.

Belongs here: single lives. Does not: the law that nothing lives below what is deleted (`tests/laws/test_laws`).
"""

from dataclasses import replace

import pytest

from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.docs import plain, printing
from phaseline.machines.language.predicates import AllBelow
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    OWNER_GONE,
    Cascade,
    Facet,
    OnTally,
    Row,
    Table,
)
from phaseline.schemas.records import State, Transition, own_facets
from tests.support.own_below import BACKUP, KINDS
from tests.support.own_product import OWN
from tests.support.sample_kinds import label
from tests.support.strategies import History, event
from tests.support.virtual_clock import Clock


def family() -> History:
    """A running cluster with everything below it."""
    history = History(KINDS)
    for kind, trigger, entity_id in (
        ("cluster", "create", "c"),
        ("cluster", "created", "c"),
        ("backup", "create", "c/b"),
        ("copy", "begin", "c/b/1"),
        ("component", "create", "c/dns"),
        ("node", "not_ready", "c/p/n"),
        ("probe", "heard", "c/p/n/x"),
    ):
        data = {"phase": "Running"} if trigger == "adopt" else {}
        if kind == "node":
            history.take(event("node", "adopt", entity_id, {"phase": "Running"}))
        assert history.take(event(kind, trigger, entity_id, data)).accepted, (kind, trigger)
    return history


def phases(history: History) -> dict[str, tuple[str, ...]]:
    """The phases of all facets, by entity."""
    found = history.tree.entities
    return {
        f"{k} {i}": tuple(f.state.phase for f in own_facets(e)) for k, known in found.items() for i, e in known.items()
    }


def test_a_deleted_entity_takes_every_kind_below_it_along() -> None:
    history = family()
    for trigger in ("delete", "deleted"):
        taken = history.take(event("cluster", trigger, "c", {"cascade": False} if trigger == "delete" else {}))
        assert taken.accepted
    assert {phase for found in phases(history).values() for phase in found} == {DELETED}
    gone = [record for record in taken.records if isinstance(record, Transition)][1:]
    assert {(r.trigger, r.cause.by, r.cause.origin) for r in gone} == {(OWNER_GONE, "cascade", "cluster/c")}
    assert [f"{r.entity.kind} {r.facet}" for r in gone] == [
        "node_pool phase", "node phase", "component phase", "backup phase", "copy phase", "copy check", "probe phase",
    ]  # fmt: skip


def test_its_timers_end_with_it_and_it_can_live_again() -> None:
    clock = Clock(KINDS)
    clock.say(0, "cluster", "adopt", "c", phase="Running")
    clock.say(1, "backup", "create", "c/b")
    assert clock.due == [601]
    clock.say(2, "cluster", "delete", "c", cascade=False)
    clock.say(3, "cluster", "deleted", "c")
    assert (clock.due, clock.shown("backup", "c/b")) == ([], DELETED)
    clock.say(4, "cluster", "create", "c")
    clock.say(5, "backup", "create", "c/b")
    assert (clock.due, clock.shown("backup", "c/b")) == ([1804, 605], "Running [Ok]")


def test_a_removed_cluster_removes_the_children_that_know_the_trigger() -> None:
    history = family()
    taken = history.take(event("cluster", "delete", "c"))
    removed = {r.entity.kind for r in taken.records if isinstance(r, Transition) and r.trigger == "remove"}
    assert removed == {"node_pool", "node", "component", "backup"}
    assert phases(history)["backup c/b"] == ("Ending",)
    assert phases(history)["probe c/p/n/x"] == ("Running",)


def test_what_lives_below_an_entity_that_stays_unknown_is_reached_too() -> None:
    def table(kind: str, parts: int, parent: str | None) -> Table:
        rows = (Row((ABSENT, DELETED), "made", "On"), Row((LIVE,), "gone", DELETED))
        facet = Facet("phase", (label("On"),), rows, adopted=State(ABSENT))
        return Table(kind, ("a", "b", "c")[:parts], (facet,), (), parent=parent)

    history = History(
        Kinds((table("house", 1, None), table("room", 2, "house"), table("desk", 3, "room")), products=OWN)
    )
    for kind, trigger, entity_id in (("house", "made", "h"), ("desk", "made", "h/r/d"), ("desk", "made", "h2/r/d")):
        history.take(event(kind, trigger, entity_id))
    assert len(history.take(event("house", "gone", "h")).records) == 2
    assert phases(history) == {"house h": (DELETED,), "desk h/r/d": (DELETED,), "desk h2/r/d": ("On",)}


def test_a_parent_may_end_when_its_last_child_has_ended() -> None:
    """The engine's own cascade makes no circle with a tally that the children's end satisfies."""
    ends = Row(("Running",), "all_done", DELETED)
    job = Table(
        kind="job", id=("job",), intents=(), derived=("all_done",), on_tally=(OnTally(AllBelow("job", "step", ()), "all_done"),),
        facets=(Facet("phase", (label("Running"),), (Row((ABSENT, DELETED), "made", "Running"), ends)),),
    )  # fmt: skip
    step = Table(
        kind="step", id=("job", "step"), intents=(), parent="job",
        facets=(Facet("phase", (label("Running"),), (Row((ABSENT, DELETED), "made", "Running"), Row((LIVE,), "done", DELETED))),),
    )  # fmt: skip
    history = History(Kinds((job, step), products=OWN))
    for kind, trigger, entity_id in (("job", "made", "j"), ("step", "made", "j/1"), ("step", "done", "j/1")):
        history.take(event(kind, trigger, entity_id))
    assert phases(history) == {"job j": (DELETED,), "step j/1": (DELETED,)}


def test_pages_show_what_the_engine_fires() -> None:
    [section] = [found for found in printing.sections(KINDS["node"]) if found.title == "cascades"]
    assert section.rows == (("entering Deleted", OWNER_GONE, "every probe"),)
    assert plain.kind(KINDS["probe"])["cascades"] == []
    rows = next(found for found in printing.sections(KINDS["backup"]) if found.title == "rows").rows
    assert (OWNER_GONE, "derived", "live") in [row[:3] for row in rows]


WRONG = {
    "fired by a table": (
        replace(BACKUP, cascades=(Cascade(OWNER_GONE, at=("copy",), into=DELETED),)),
        "cascade owner_gone: the engine fires it itself, at everything alive below an entity that becomes Deleted: "
        "remove the cascade",
    ),
    "survives": (
        replace(BACKUP, facets=(replace(BACKUP.facets[0], rows=(*BACKUP.facets[0].rows, Row((LIVE,), OWNER_GONE, "Done"))),)),
        "phase, row 7 (owner_gone): nothing lives below what is deleted: write Row((LIVE,), 'owner_gone', DELETED), "
        "or leave the row out",
    ),
    "asked for": (
        replace(BACKUP, intents=("create", "delete", OWNER_GONE)),
        "trigger owner_gone is in `intents` and in `derived`: remove it from one of them",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("table", "problem"), WRONG.values(), ids=list(WRONG))
def test_a_table_may_not_say_otherwise(table: Table, problem: str) -> None:
    with pytest.raises(WrongTable) as caught:
        Kinds((*(kind.written for kind in KINDS.values() if kind.name != "backup"), table), products=OWN)
    assert caught.value.problems == [problem]
