"""Signals: what reporters say of an entity in words that no table lists."""

from contextlib import nullcontext
from typing import Any

import pytest

from phaseline.engine.core.tree import Tree
from phaseline.engine.log.explain.way_out import way_out
from phaseline.engine.log.watch import RecordFilter
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import label_of
from phaseline.machines.language import endings
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, Facet, Field, Label, Row, Table
from phaseline.schemas import wire_codec
from phaseline.schemas.errors import NameUnknown
from phaseline.schemas.records import SECOND, Entity, Mark, Record, Rejection, State, Transition, timestamp
from phaseline.schemas.state_choice import StateChoice
from phaseline.schemas.templates.transition import TransitionWriter
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.contacts import Contacts, snapshot
from tests.support.strategies import event

NODE = "c/p/n"
PLACES = {"cluster": "c", "node_pool": "c/p", "node": NODE, "component": "c/dns"}


def running(kind: str = "node") -> Contacts:
    """An entity that is Running."""
    return Contacts().say(kind, "reported", PLACES[kind], phase="Running")


def told(life: Contacts, name: str, status: str = "True", reason: str | None = None, kind: str = "node") -> Contacts:
    more: dict[str, Any] = {} if reason is None else {"reason": reason}
    return life.say(kind, "condition", PLACES[kind], name=name, status=status, **more)


def moves(records: list[Record]) -> list[str]:
    found = [one for one in records if isinstance(one, Transition)]
    return [f"{one.entity.id} {one.facet}: {one.before} -> {one.after}" for one in found]


def entity_in(record: Record) -> Entity:
    assert isinstance(record, Transition)
    return record.entity


def signals(life: Contacts, kind: str = "node") -> dict[str, dict[str, str]]:
    return dict(life.entity(kind, PLACES[kind]).attributes.get("signals", {}))


def rejection(life: Contacts) -> tuple[str, str]:
    [found] = life.records
    assert isinstance(found, Rejection)
    return found.reason, found.message


@pytest.mark.parametrize("kind", PLACES)
def test_a_condition_is_kept_and_moves_no_phase(kind: str) -> None:
    life = told(running(kind), "MemoryPressure", reason="KubeletHasInsufficientMemory", kind=kind)
    assert moves(life.records) == [f"{PLACES[kind]} signals: Ok -> Told"]
    since = timestamp(int(life.now * SECOND))
    reason = "KubeletHasInsufficientMemory"
    assert signals(life, kind) == {"MemoryPressure": {"status": "True", "reason": reason, "since": since}}
    assert life.entity(kind, PLACES[kind]).facets[0].state == State("Running", ("Ok",))


def test_true_and_unknown_stand_and_false_ends() -> None:
    life = told(told(running(), "DiskPressure"), "MemoryPressure", "Unknown")
    assert [*signals(life)] == ["DiskPressure", "MemoryPressure"]
    assert moves(told(life, "DiskPressure", "False").records) == [f"{NODE} signals: Told -> Told"]
    assert moves(told(life, "MemoryPressure", "False").records) == [f"{NODE} signals: Told -> Ok"]
    assert "signals" not in life.entity("node", NODE).attributes


def test_what_is_so_already_leaves_no_record_and_another_reason_does() -> None:
    life = told(running(), "MemoryPressure", reason="A")
    since = signals(life)["MemoryPressure"]["since"]
    assert told(life.later(5), "MemoryPressure", reason="A").records == []
    assert told(life, "DiskPressure", "False").records == []
    assert len(told(life, "MemoryPressure", reason="B").records) == 1
    assert signals(life)["MemoryPressure"] == {"status": "True", "reason": "B", "since": since}
    told(life, "MemoryPressure", "Unknown")
    assert signals(life)["MemoryPressure"] == {"status": "Unknown", "since": timestamp(int(life.now * SECOND))}


def test_a_sequence_of_what_is_so_already_is_remembered() -> None:
    life = told(running(), "MemoryPressure")
    life.say("node", "condition", NODE, sequence=7, name="MemoryPressure", status="True")
    assert [*life.entity("node", NODE).sequences.values()] == [7]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"name": "Ready", "status": "True"}, "report ready or not_ready"),
        ({"name": "a b", "status": "True"}, "data.name: found 'a b'"),
        ({"name": "x" * 200, "status": "True"}, "at most 128"),
        ({"name": "X", "status": "Maybe"}, "data.status must be one of True, False, Unknown"),
        ({"status": "True"}, "data.name is required"),
    ],
)
def test_what_cannot_be_a_signal_is_rejected(data: dict[str, object], says: str) -> None:
    life = running()
    sent = event("node", "condition", NODE, data)
    reason, message = rejection(life.store(sent.subject, sent.body, int(life.now * SECOND)))
    assert reason == "invalid"
    assert says in message


def test_a_condition_needs_a_life() -> None:
    life = told(Contacts(), "MemoryPressure")
    reason, message = rejection(life)
    assert reason == "guard"
    assert "condition needs the node to live" in message
    [refused] = life.records
    assert isinstance(refused, Rejection)
    assert "reported" in way_out(life.tree, refused, None)


def test_at_most_so_many_stand() -> None:
    life = running()
    for number in range(32):
        told(life, f"S{number}")
    reason, message = rejection(told(life, "S32"))
    assert (reason, "at most 32" in message) == ("guard", True)
    assert len(told(life, "S1", "Unknown").records) == 1


def test_in_a_report_signals_is_the_whole_map() -> None:
    life = told(running(), "MemoryPressure")
    life.say("node", "reported", NODE, phase="Running")
    assert [*signals(life)] == ["MemoryPressure"]
    life.say("node", "reported", NODE, phase="Running", signals={"B": "True", "A": {"status": "Unknown"}, "C": "False"})
    assert moves(life.records) == [f"{NODE} signals: Told -> Told"]
    assert [*signals(life)] == ["A", "B"]
    assert life.say("node", "reported", NODE, phase="Running", signals={"B": "True", "A": "Unknown"}).records == []
    life.say("node", "reported", NODE, phase="Running", signals={})
    assert moves(life.records) == [f"{NODE} signals: Told -> Ok"]


def test_a_report_that_names_a_signal_as_a_condition_is_told_how_to_say_it() -> None:
    life = running().say("node", "reported", NODE, phase="Running", conditions=["MemoryPressure"])
    reason, message = rejection(life)
    assert reason == "invalid"
    assert "found 'MemoryPressure'; what no table lists is a signal: name it in data.signals" in message


def test_a_report_may_change_the_phase_and_signals_at_once() -> None:
    life = told(running(), "A")
    life.say("node", "reported", NODE, phase="Failed", conditions=["NotReady"], signals={"B": "True"})
    assert moves(life.records)[:2] == [
        f"{NODE} phase: Running [Ok] -> Failed [NotReady]", f"{NODE} signals: Told -> Told",
    ]  # fmt: skip
    assert [[*entity_in(one).attributes["signals"]] for one in life.records[:2]] == [["A"], ["B"]]


def test_what_lives_cannot_be_adopted_by_its_signals() -> None:
    reason, message = rejection(running().say("node", "adopt", NODE, phase="Running", signals={"A": "True"}))
    assert reason == "illegal"
    assert "it needs Absent" in message
    assert running().say("node", "adopt", NODE, phase="Running").records == []


@pytest.mark.parametrize("trigger", ["reported", "adopt"])
def test_a_life_may_begin_with_signals(trigger: str) -> None:
    life = Contacts().say("node", trigger, NODE, phase="Running", signals={"A": "True"})
    assert moves(life.records)[-2:] == [f"{NODE} phase: None -> Running [Ok]", f"{NODE} signals: Ok -> Told"]


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"Ready": "True"}, "data.signals.Ready: Ready is no signal"),
        ({"A": "Maybe"}, "the status must be True, False or Unknown"),
        ({"A": {"status": "True", "lastTransitionTime": "x"}}, "a signal has no lastTransitionTime"),
        (["A"], "data.signals must be dict"),
    ],
)
def test_a_wrong_map_is_rejected_and_its_item_left_out(told: object, says: str) -> None:
    reason, message = rejection(running().say("node", "reported", NODE, phase="Running", signals=told))
    assert reason == "invalid"
    assert says in message
    life = snapshot(running(), {"id": "p/n", "phase": "Running", "signals": told})
    assert rejection(life)[0] == "left_out"
    assert says in rejection(life)[1]


def test_items_of_snapshots_hold_the_whole_map() -> None:
    life = told(running(), "A")
    snapshot(life, {"id": "p/n", "phase": "Running"}, {"id": "p/m", "phase": "Running", "signals": {"B": "True"}})
    assert moves(life.records) == ["c/p/m phase: None -> Running [Ok]", "c/p/m signals: Ok -> Told"]
    snapshot(life, {"id": "p/n", "phase": "Running", "signals": {}}, {"id": "p/m", "phase": "Running"})
    assert moves(life.records) == [f"{NODE} signals: Told -> Ok"]


def test_signals_end_with_the_life() -> None:
    life = told(running(), "A").say("node", "deleted", NODE)
    assert moves(life.records) == [f"{NODE} phase: Running [Ok] -> Deleted", f"{NODE} signals: Told -> Ok"]
    assert life.entity("node", NODE).attributes == {"end": "seen"}
    life.say("node", "reported", NODE, phase="Running", seen=life.position)
    assert moves(life.records) == [f"{NODE} phase: Deleted -> Running [Ok]"]


def test_signals_end_with_what_is_above() -> None:
    life = told(running(), "A").say("cluster", "delete", "c").say("cluster", "deleted", "c")
    assert moves(life.records)[-2:] == [
        f"{NODE} phase: Deleting [Progressing] -> Deleted",
        f"{NODE} signals: Told -> Ok",
    ]


def test_what_nobody_told_is_in_no_record() -> None:
    """Of contact and signals, a record holds what says something. A tree has both again."""
    told_one, waits = told(running(), "A"), running().say("node", "configure", NODE, silence_after=60)
    waits.say("node", "not_ready", NODE)
    for life, names in ((running(), ["phase"]), (told_one, ["phase", "signals"]), (waits, ["phase", "contact"])):
        entity = life.entity("node", NODE)
        wire = wire_codec.entity_to_wire(entity)
        assert [*wire.facets] == names
        record = [one for one in life.records if isinstance(one, Transition) and one.entity.id == NODE][-1]
        body = wire_codec.write(record, 0, 1, "phaseline/pl")
        writer = TransitionWriter("phaseline/pl", {"node": ""})
        assert {writer.body(record, 0, 1) for _ in range(2)} == {body}
        stored = entity_in(wire_codec.read(body))
        assert stored.names == tuple(names)
        assert BUILT_IN_KINDS["node"].whole(stored) == entity
        tree = Tree(BUILT_IN_KINDS, NoScripts())
        tree.put(stored)
        assert tree.get("node", NODE) == entity
    both = told(waits, "A").entity("node", NODE)
    assert [*wire_codec.entity_to_wire(both).facets] == ["phase", "signals", "contact"]


def test_the_field_of_the_engine_cannot_be_sent() -> None:
    life = told(running(), "A")
    life.say("node", "reported", NODE, phase="Running", signal_stands=False)
    [mark] = life.records
    assert isinstance(mark, Mark)
    assert mark.noted.unread == ("signal_stands",)
    assert [*signals(life)] == ["A"]


def lamp(**columns: object) -> Table:
    return Table(
        kind="lamp",
        id=("lamp",),
        intents=(),
        facets=(
            Facet(
                "phase",
                (Label("Running", None, "On"),),
                (Row((ABSENT,), "lit", "Running"), Row((LIVE,), "out", DELETED)),
            ),
        ),
        **columns,  # type: ignore[arg-type]
    )


def test_a_kind_of_ones_own_may_have_signals() -> None:
    kinds = Kinds([lamp(signals=True)], products=PRODUCTS)
    life = Contacts(kinds).say("lamp", "lit", "l").say("lamp", "condition", "l", name="Flickers", status="True")
    assert moves(life.records) == ["l signals: Ok -> Told"]


def test_what_collides_with_signals_is_a_wrong_table() -> None:
    with pytest.raises(WrongTable, match="signals=True brings the attribute signals: rename yours"):
        Kinds([lamp(signals=True, attributes=(Field("signals", dict, "mine"),))], products=PRODUCTS)


def test_a_choice_of_conditions_looks_at_signals_too() -> None:
    life = told(running(), "MemoryPressure")
    entity = life.entity("node", NODE)
    selected = {
        text: StateChoice.read(state, conditions).selects_in(entity)
        for text, state, conditions in (
            ("name", None, ["MemoryPressure"]),
            ("with the phase", "Running", ["MemoryPressure"]),
            ("with a condition", "Running", ["MemoryPressure", "Ok"]),
            ("in the notation", "{Running,[MemoryPressure,*]}", []),
            ("exactly", "{Running,[Ok]}", []),
            ("another", None, ["DiskPressure"]),
            ("another phase", "Failed", ["MemoryPressure"]),
        )
    }
    assert [text for text, is_selected in selected.items() if is_selected] == [
        "name", "with the phase", "with a condition", "in the notation", "exactly",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "fails"), [("MemoryPressure", False), ("KernelDeadlock", False), ("Balanc", True), ("ready", False)]
)
def test_names_of_signals_are_open_but_for_misspelt_conditions(condition: str, fails: bool) -> None:
    wanted = RecordFilter(kind="node", choice=StateChoice.read(None, [condition]))
    with pytest.raises(NameUnknown, match="did you mean Balance") if fails else nullcontext():
        wanted.check(BUILT_IN_KINDS)
    with pytest.raises(NameUnknown):
        RecordFilter(kind="application", choice=StateChoice.read(None, [condition])).check(BUILT_IN_KINDS)


def test_people_see_which_signals_stand() -> None:
    entity = told(told(running(), "MemoryPressure"), "KernelDeadlock").entity("node", NODE)
    facet = BUILT_IN_KINDS["node"].table.facets[1]
    shown = endings.state_for_people(entity.facets[1].state, entity.attributes)
    assert str(shown) == "Told [KernelDeadlock, MemoryPressure]"
    assert label_of(facet, shown) == "KernelDeadlock, Memory pressure"
    assert label_of(facet, shown, "zh") == "KernelDeadlock, 内存压力"
    assert [class_of(facet, one) for one in (shown, State("Told", ("KernelDeadlock",)), State("Told"), State("Ok"))] == [
        "bad", "excused", "excused", "good",
    ]  # fmt: skip
