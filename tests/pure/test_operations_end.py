"""Operations end: deadlines, what is legal once a request is stalled, answers that name their request, giving up.

Belongs here: single lives of edge hosting and EMCO, with time as it is given. Does not: the laws over random histories
(`tests/laws/test_operation_laws`), timers on a server (`tests/nats/test_request_timers`).
"""

import asyncio
import re
from collections import Counter
from dataclasses import replace

import pytest

from phaseline.engine.log.explain.way_out import way_out
from phaseline.engine.surfaces.telemetry.readings import entities, of_entities
from phaseline.engine.worker.measures import census
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import advice_of, label_of
from phaseline.machines.kinds.edge_hosting.cluster import CLUSTER
from phaseline.machines.language.deadlines import ADVICE
from phaseline.machines.language.table import Pending, Row, Timeout
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Mark, Rejection, Transition, state
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.virtual_clock import SECOND, Clock

RUNNING, SCALING, DELETING = "Running [Ok]", "Scaling [Progressing]", "Deleting [Progressing]"


class Life:
    """A tree whose events are said one after the other, with the records that the last one made."""

    def __init__(self, *said: tuple[object, ...]) -> None:
        self.clock, self.at, self.records = Clock(BUILT_IN_KINDS), 0.0, list[object]()
        for one in said:
            self.say(*one)

    def say(self, kind: object, trigger: object, entity_id: object, /, **data: object) -> "Life":
        self.at += 1
        self.records = []
        store = self.clock.store

        def storing(time: int, subject: str, body: bytes) -> list[object]:
            messages = store(time, subject, body)
            self.records = [wire_codec.read(m.body) for m in messages if not m.subject.startswith("pl.timer.")]
            return list(messages)

        self.clock.store = storing  # type: ignore[method-assign,assignment]
        self.clock.say(self.at, str(kind), str(trigger), str(entity_id), **data)
        self.clock.store = store  # type: ignore[method-assign]
        return self

    def wait(self, seconds: float) -> "Life":
        self.at += seconds
        self.records = [
            wire_codec.read(m.body)
            for batch in self.clock.until(int(self.at * SECOND))
            for m in batch
            if not m.subject.startswith("pl.timer.")
        ]
        return self

    def shown(self, kind: str, entity_id: str) -> str:
        return self.clock.shown(kind, entity_id)

    @property
    def refused(self) -> Rejection:
        [found] = self.records
        assert isinstance(found, Rejection)
        return found

    @property
    def first(self) -> Transition:
        found = self.records[0]
        assert isinstance(found, Transition)
        return found

    @property
    def number(self) -> int:
        return self.clock.number

    def attributes(self, kind: str, entity_id: str) -> dict[str, object]:
        return dict(self.clock.processor.tree.entities[kind][entity_id].attributes)


UP = (("cluster", "create", "c"), ("cluster", "created", "c"))
POOL = (*UP, ("node_pool", "create", "c/p"), ("node_pool", "created", "c/p"))
NODE = (*POOL, ("node", "create", "c/p/n"), ("node", "created", "c/p/n"))


# ---- the time


@pytest.mark.parametrize(
    ("before", "asked", "seconds"),
    [
        ((), ("cluster", "create", "c"), 1800),
        (UP, ("cluster", "update", "c"), 1800),
        (UP, ("cluster", "delete", "c"), 1800),
        ((*UP, ("cluster", "overdue", "c")), ("cluster", "renewed", "c"), 900),
        (POOL, ("node_pool", "scale", "c/p"), 1800),
        (NODE, ("node", "update", "c/p/n"), 1800),
        (NODE, ("node", "delete", "c/p/n"), 1800),
    ],
)
def test_a_request_that_nobody_answers_is_stalled_after_its_deadline(
    before: tuple[tuple[object, ...], ...], asked: tuple[str, str, str], seconds: int
) -> None:
    life = Life(*before, asked)
    shown = life.shown(asked[0], asked[2])
    assert shown.endswith("[Progressing]")
    assert life.wait(seconds - 1).shown(asked[0], asked[2]) == shown
    assert life.wait(1).shown(asked[0], asked[2]) == shown.replace("Progressing", "Progressing, Stalled")
    assert (life.first.trigger, life.first.cause.by) == ("stalled", "timer")
    assert life.wait(10 * seconds).records == [], "it is said once"


def test_starting_and_stopping_have_half_an_hour_less() -> None:
    life = Life(*NODE).say("node_pool", "configure", "c/p", autoscaling_mode="Recycle").say("node", "stop", "c/p/n")
    assert life.wait(900).shown("node", "c/p/n") == "Stopping [Progressing, Stalled]"
    life.say("node", "stopped", "c/p/n").say("node", "start", "c/p/n")
    assert life.wait(900).shown("node", "c/p/n") == "Starting [Progressing, Stalled]"


def test_the_record_names_the_request_that_was_not_answered() -> None:
    life = Life(*POOL).say("node_pool", "scale", "c/p")
    asked = life.number
    life.wait(1800)
    assert life.first.entity.asked == asked
    assert life.first.message == f"the request of event {asked} was not answered in time"
    unasked = Life(*UP, ("cluster", "overdue", "c"), ("cluster", "renewed", "c")).wait(900)
    assert unasked.first.entity.asked == 0
    assert unasked.first.message == "it did not end in time; nobody asked for it"


def test_the_nearest_deadline_above_counts_and_is_read_when_the_time_starts() -> None:
    life = Life(*NODE).say("cluster", "configure", "c", deadline=100).say("node", "update", "c/p/n")
    life.say("cluster", "configure", "c", deadline=5)  # too late for this one
    assert life.wait(90).shown("node", "c/p/n") == "Updating [Progressing]"
    assert life.wait(10).shown("node", "c/p/n") == "Updating [Progressing, Stalled]"
    life.say("node_pool", "configure", "c/p", deadline=20).say("node", "update", "c/p/n")
    assert life.wait(20).shown("node", "c/p/n") == "Updating [Progressing, Stalled]"
    life.say("node", "update", "c/p/n", deadline=0)
    assert life.wait(1e6).shown("node", "c/p/n") == "Updating [Progressing]"


def test_each_request_that_is_taken_starts_the_time_anew_and_clears_the_stall() -> None:
    life = Life(*NODE).say("node", "update", "c/p/n").wait(1700).say("node", "cordon", "c/p/n").wait(1700)
    assert life.shown("node", "c/p/n") == "Updating [Progressing, Unschedulable]"
    assert life.wait(100).shown("node", "c/p/n") == "Updating [Progressing, Unschedulable, Stalled]"
    assert life.say("node", "uncordon", "c/p/n").shown("node", "c/p/n") == "Updating [Progressing]"


def test_the_time_belongs_to_the_base_whatever_a_view_shows() -> None:
    life = Life(*POOL).say("node_pool", "scale", "c/p").wait(1000).say("cluster", "overdue", "c")
    assert life.shown("node_pool", "c/p") == "Failed [ClusterNotRunning]"
    life.wait(800)
    base = life.clock.processor.tree.entities["node_pool"]["c/p"].facets[0].base
    assert (str(base), life.shown("node_pool", "c/p")) == (
        "Scaling [Progressing, Stalled]",
        "Failed [ClusterNotRunning]",
    )
    life.say("cluster", "renewed", "c").say("cluster", "started", "c")
    assert life.shown("node_pool", "c/p") == "Scaling [Progressing, Stalled]"


# ---- what is said meanwhile


@pytest.mark.parametrize(
    "told",
    [{}, {"conditions": ["Progressing"]}, {"conditions": ["Progressing", "Stalled"]}, {"conditions": ["Stalled"]}],
)
def test_a_report_of_the_phase_that_is_there_is_no_answer(told: dict[str, object]) -> None:
    life = Life(*POOL).say("node_pool", "scale", "c/p")
    asked = life.number
    life.say("node_pool", "reported", "c/p", phase="Scaling", seen=asked, **told)
    assert life.records == []
    assert life.wait(1799).shown("node_pool", "c/p") == "Scaling [Progressing, Stalled]"
    life.say("node_pool", "reported", "c/p", phase="Scaling", seen=asked, **told)
    items = [{"id": "p", "phase": "Scaling", **told}]
    assert life.say("cluster", "snapshot", "c", kind="node_pool", items=items).records == []
    assert life.shown("node_pool", "c/p") == "Scaling [Progressing, Stalled]"


def test_nobody_else_says_that_something_is_stalled() -> None:
    life = Life().say("node_pool", "adopt", "c/p", phase="Updating", conditions=["Progressing", "Stalled"])
    assert life.shown("node_pool", "c/p") == "Updating [Progressing]"
    assert life.say("node_pool", "stalled", "c/p").refused.reason == "derived"
    assert life.wait(1800).shown("node_pool", "c/p") == "Updating [Progressing, Stalled]"


def test_a_report_of_another_phase_and_a_late_answer_end_it() -> None:
    stalled = Life(*POOL).say("node_pool", "scale", "c/p").wait(1800)
    assert stalled.say("node_pool", "scaled", "c/p").shown("node_pool", "c/p") == RUNNING
    stalled = Life(*POOL).say("node_pool", "scale", "c/p").wait(1800)
    assert stalled.say("node_pool", "reported", "c/p", phase="Running").shown("node_pool", "c/p") == RUNNING


def test_views_that_show_work_below_do_not_count_what_is_stalled() -> None:
    life = Life(*NODE).say("node", "create", "c/p/m")
    assert (life.shown("node_pool", "c/p"), life.shown("cluster", "c")) == (SCALING, "Updating [Progressing]")
    life.wait(1800)
    assert life.shown("node", "c/p/m") == "Creating [Progressing, Stalled]"
    assert (life.shown("node_pool", "c/p"), life.shown("cluster", "c")) == (RUNNING, RUNNING)


def test_the_newest_request_wins_and_an_answer_may_name_it() -> None:
    life = Life(*POOL).say("node_pool", "scale", "c/p", desired=5)
    first = life.number
    life.say("node_pool", "scale", "c/p", desired=3)
    assert (life.first.before, life.first.entity.asked) == (life.first.after, life.number)
    second = life.number
    life.say("node_pool", "configure", "c/p", autoscaling_mode="Keep")
    assert life.first.entity.asked == second, "it waits for the scale"
    assert life.say("node_pool", "scaled", "c/p", answers=first).refused.reason == "stale"
    assert life.refused.message.endswith(
        f"scaled answers event {first}, and it waits for the request of event {second}"
    )
    assert life.say("node_pool", "scaled", "c/p", answers=10_000).refused.reason == "invalid"
    assert life.say("node_pool", "scaled", "c/p", answers=second).shown("node_pool", "c/p") == RUNNING
    assert life.attributes("node_pool", "c/p")["desired"] == 3


def test_seen_is_held_against_the_request_that_is_waited_for() -> None:
    life = Life(*NODE).say("node", "delete", "c/p/n")
    asked = life.number
    assert life.say("node", "reported", "c/p/n", phase="Running", seen=asked - 1).records == []
    assert life.say("node", "reported", "c/p/n", phase="Running", seen=asked).shown("node", "c/p/n") == RUNNING


# ---- what is legal


@pytest.mark.parametrize("after", [(), ("created",), ("created", "update"), ("create_failed",), ("created", "overdue")])
def test_a_cluster_is_deleted_at_once(after: tuple[str, ...]) -> None:
    life = Life(("cluster", "create", "c"), *(("cluster", trigger, "c") for trigger in after))
    assert life.say("cluster", "delete", "c").shown("cluster", "c") == DELETING
    assert life.say("cluster", "delete", "c").refused.reason == "illegal"
    said = way_out(life.clock.processor.tree, life.refused, None)
    assert re.search(r"will be Stalled at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", said), said


def test_a_pool_under_a_view_is_deleted() -> None:
    life = Life(*POOL, ("cluster", "overdue", "c")).say("node_pool", "delete", "c/p")
    assert life.shown("node_pool", "c/p") == DELETING


def test_a_stalled_deletion_is_asked_for_again_with_its_cascades() -> None:
    life = Life(*NODE).say("node_pool", "delete", "c/p").wait(1800)
    assert life.shown("node", "c/p/n") == "Deleting [Progressing, Stalled]"
    life.say("node_pool", "delete", "c/p")
    assert (life.shown("node_pool", "c/p"), life.shown("node", "c/p/n")) == (DELETING, DELETING)
    assert {one.entity.asked for one in life.records if isinstance(one, Transition)} >= {life.number}


def test_a_stalled_cluster_does_not_hold_the_deletion_of_what_is_below() -> None:
    life = Life(*NODE, ("cluster", "overdue", "c"), ("cluster", "renewed", "c"))
    assert life.say("node", "delete", "c/p/n").refused.reason == "guard"
    assert life.wait(900).say("node", "delete", "c/p/n").shown("node", "c/p/n") == DELETING


def test_a_stalled_creation_is_asked_for_again() -> None:
    life = Life(("cluster", "create", "c"))
    assert life.say("cluster", "create", "c").refused.reason == "illegal"
    assert life.wait(1800).say("cluster", "create", "c").shown("cluster", "c") == "Creating [Progressing]"


# ---- giving up


def test_what_cannot_be_seen_to_be_gone_is_given_up() -> None:
    life = Life(*NODE).say("node_pool", "delete", "c/p")
    assert life.say("node_pool", "delete", "c/p", abandon=True).refused.reason == "guard"
    life.wait(1800).say("node_pool", "delete", "c/p", abandon=True, message="the rack burnt")
    assert (life.shown("node_pool", "c/p"), life.shown("node", "c/p/n")) == ("Deleted", "Deleted")
    assert life.attributes("node_pool", "c/p")["end"] == life.attributes("node", "c/p/n")["end"] == "assumed"
    assert (
        life.first.message == "the rack burnt; given up, nobody has seen that it is gone; with it 1 below: node c/p/n"
    )
    assert [one.trigger for one in life.records if isinstance(one, Transition)][:2] == ["delete", "owner_gone"]


def test_a_failed_clean_up_and_what_is_below_a_silent_place_are_given_up() -> None:
    life = Life(*NODE).say("node", "delete", "c/p/n").say("node", "cleanup_failed", "c/p/n")
    assert life.say("node", "delete", "c/p/n", abandon=True).shown("node", "c/p/n") == "Deleted"
    life = Life(*NODE).say("cluster", "configure", "c", silence_after=10).say("node", "ready", "c/p/n")
    assert life.say("node", "delete", "c/p/n", abandon=True).refused.reason == "guard"
    assert life.wait(20).say("node", "delete", "c/p/n", abandon=True).shown("node", "c/p/n") == "Deleted"


def test_a_running_thing_is_not_given_up() -> None:
    life = Life(*NODE).say("node", "delete", "c/p/n", abandon=True)
    assert life.refused.reason == "guard"
    assert "no place at or above it (cluster) is Silent" in life.refused.message


def test_an_end_says_whether_somebody_saw_it_and_a_new_life_forgets_it() -> None:
    life = Life(*NODE).say("node", "deleted", "c/p/n")
    assert life.attributes("node", "c/p/n")["end"] == "seen"
    assert "end" not in Life(*NODE).say("node", "delete", "c/p/n").attributes("node", "c/p/n")
    assert life.say("node", "create", "c/p/n").attributes("node", "c/p/n") == {}
    life.say("node_pool", "deleted", "c/p")
    assert life.attributes("node", "c/p/n")["end"] == "assumed", "a parent's end asserts nothing of its children"


# ---- wholes


def test_a_whole_all_of_whose_nodes_failed_says_so_and_can_be_worked_on() -> None:
    life = Life(*NODE).say("node", "error", "c/p/n")
    assert life.shown("node_pool", "c/p") == life.shown("cluster", "c") == "Failed [AllFailed]"
    life.say("node", "create", "c/p/m")
    assert life.shown("node_pool", "c/p") == SCALING
    life.say("node", "init_failed", "c/p/m")
    assert life.shown("node_pool", "c/p") == "Failed [AllFailed]"
    life.say("node_pool", "create", "c/empty").say("node_pool", "created", "c/empty")
    assert (life.shown("node_pool", "c/empty"), life.shown("cluster", "c")) == (RUNNING, "Failed [AllFailed]")
    assert life.say("node_pool", "scale", "c/p").shown("node_pool", "c/p") == SCALING
    life.say("node_pool", "scaled", "c/p").say("node", "deleted", "c/p/n").say("node", "deleted", "c/p/m")
    assert life.shown("node_pool", "c/p") == RUNNING, "no nodes, no failure"


# ---- EMCO


def test_an_update_that_nobody_ends_is_stalled() -> None:
    web = "g/{}/app/p+k/web+Deployment"
    life = Life(
        ("emco_resource", "create", "g"), ("emco_resource", "approve", "g"),
        ("app_context", "create", "g/1"), ("rsync_resource", "add", web.format(1)),
    ).say("emco_resource", "instantiate", "g", context="1").say("rsync_resource", "applied", web.format(1))  # fmt: skip
    life.say("app_context", "create", "g/2").say("emco_resource", "update", "g", context="2")
    assert life.wait(3600).shown("app_context", "g/1") == "Updating [Stalled]"
    life.say("rsync_resource", "terminated", web.format(1))
    assert life.shown("app_context", "g/1") == "Updated"


# ---- numbers


def test_a_worker_counts_what_is_stalled_beside_the_phases() -> None:
    life = Life(*NODE).say("node_pool", "scale", "c/p")

    def counted() -> tuple[object, object]:
        moves = life.clock.processor.outcomes.all_moves()
        found = {name: dict(values) for name, values in of_entities(entities(BUILT_IN_KINDS, [(Counter(), moves)]))}
        stalled = found["phaseline_entities_stalled"]
        return found["phaseline_entities"]["node_pool", "phase", "Scaling"], stalled.get(
            ("node_pool", "phase", "Scaling")
        )

    assert counted() == (1, None)
    life.wait(1800)
    assert counted() == (1, 1)
    assert asyncio.run(census(life.clock.processor.tree)).states["node_pool", "phase", "Scaling [Stalled]"] == 1
    life.say("node_pool", "scale", "c/p")
    assert counted() == (1, 0)
    life.say("node_pool", "scaled", "c/p")
    assert counted() == (0, 0)


# ---- tables


def test_a_stalled_state_is_bad_and_has_a_label_and_advice() -> None:
    facet = BUILT_IN_KINDS["node"].table.facets[0]
    found = state("Updating", ("Unschedulable", "Progressing", "Stalled"))
    assert class_of(facet, found) == "bad"
    assert (label_of(facet, found), label_of(facet, found, "zh")) == ("Updating (stalled)", "更新中（停滞）")
    assert (advice_of(facet, found), advice_of(facet, found, "zh")) == (ADVICE["en"], ADVICE["zh"])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"timeouts": (Timeout("Creating", "late", 5),)}, "Creating has a deadline in pending= and a timeout"),
        ({"rows": (*CLUSTER.facets[0].rows, Row(("Running",), "stall", "Running", condition="Stalled"))}, "only the engine sets Stalled"),
        ({"rows": (*CLUSTER.facets[0].rows, Row(("Running",), "stalled", "Running"))}, "brings the trigger stalled: rename yours"),
        ({"pending": (Pending("Craeting", 5),)}, "phase Craeting in pending= is unknown"),
    ],
)  # fmt: skip
def test_a_table_that_collides_with_deadlines_is_told_what_to_write(change: dict[str, object], problem: str) -> None:
    facet = replace(CLUSTER.facets[0], views=(), **change)  # type: ignore[arg-type]
    with pytest.raises(WrongTable, match=problem.replace("[", r"\[")):
        Kinds((replace(CLUSTER, facets=(facet,), derived=("late",)),), products=PRODUCTS)


def test_a_mark_is_no_answer_either() -> None:
    life = Life(*POOL).say("node_pool", "scale", "c/p")
    assert not any(isinstance(one, Mark) for one in life.records)
