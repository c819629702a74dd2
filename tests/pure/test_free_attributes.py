"""Attributes in `data.attributes`: those of the kind, and free ones, which no table lists."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core.beside.free_attributes import merged
from phaseline.engine.log.questions.selector import Selector
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import ABSENT, Facet, Field, Label, Refusal, Row, Table
from phaseline.schemas.records import Rejection, Transition
from tests.support.contacts import Contacts, snapshot

NODE = "c/p/n"


def running(**attributes: Any) -> Contacts:
    return Contacts().say("node", "reported", NODE, phase="Running", attributes=attributes)


def kept(life: Contacts) -> dict[str, Any]:
    return dict(life.entity("node", NODE).attributes)


def rejection(life: Contacts) -> str:
    [found] = life.records
    assert isinstance(found, Rejection)
    return found.message


def test_names_of_the_kind_are_its_attributes_and_the_rest_is_free() -> None:
    assert kept(running(version="1.27", zone="a", cores=4)) == {"version": "1.27", "free": {"cores": 4, "zone": "a"}}


def test_they_are_merged_and_null_removes() -> None:
    life = running(zone="a", cores=4)
    life.say("node", "not_ready", NODE, attributes={"zone": "b", "cores": None, "spot": True})
    assert kept(life) == {"free": {"spot": True, "zone": "b"}}
    life.say("node", "ready", NODE, attributes={"zone": None, "spot": None, "other": None})
    assert kept(life) == {}


def test_requests_bring_them_too() -> None:
    life = running().say("node_pool", "scale", "c/p", desired=3, attributes={"team": "edge"})
    assert life.entity("node_pool", "c/p").attributes == {"desired": 3, "free": {"team": "edge"}}


@pytest.mark.parametrize("trigger", ["reported", "ready", "heartbeat"])
def test_what_is_so_already_may_bring_further_ones(trigger: str) -> None:
    life = running(zone="a")
    data: dict[str, Any] = {"phase": "Running"} if trigger == "reported" else {}
    assert life.say("node", trigger, NODE, attributes={"zone": "a"}, **data).records == []
    [record] = life.say("node", trigger, NODE, attributes={"zone": "b"}, **data).records
    assert isinstance(record, Transition)
    assert (record.facet, record.before) == ("phase", record.after)
    assert kept(life) == {"free": {"zone": "b"}}


def test_items_of_snapshots_bring_them_too() -> None:
    life = snapshot(running(), {"id": "p/n", "phase": "Running", "attributes": {"version": "1.28", "zone": "a"}})
    assert kept(life) == {"version": "1.28", "free": {"zone": "a"}}
    assert snapshot(life, {"id": "p/n", "phase": "Running", "attributes": {"zone": "a"}}).records == []
    snapshot(life, {"id": "p/n", "phase": "Running", "attributes": {"zone": None}})
    assert kept(life) == {"version": "1.28"}
    message = rejection(snapshot(life, {"id": "p/n", "phase": "Running", "attributes": {"version": 1}}))
    assert "data.version must be str" in message


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        (["zone"], "data.attributes must be a map"),
        ({"version": 1}, "data.version must be str, found int"),
        ({"a b": 1}, "without blanks"),
        ({"a": {"b": 1}}, "data.attributes.a must be a text, a number, true, false or null, found dict"),
        ({"a": "x" * 1025}, "longer than 1,024"),
        ({f"n{number}": 1 for number in range(65)}, "at most 64"),
    ],
)
def test_what_cannot_be_kept_is_rejected(attributes: object, says: str) -> None:
    life = running()
    assert says in rejection(life.say("node", "reported", NODE, phase="Running", attributes=attributes))
    assert kept(life) == {}


def test_one_attribute_said_twice_must_be_the_same() -> None:
    life = running().say("node", "reported", NODE, phase="Running", version="1", attributes={"version": "1"})
    assert kept(life) == {"version": "1"}
    life.say("node", "reported", NODE, phase="Running", version="1", attributes={"version": "2"})
    assert "differ" in rejection(life)


def test_no_free_attribute_can_be_mistaken_for_one_of_the_engine() -> None:
    life = running(end="contradicted", shows=1, free="x")
    assert kept(life) == {"free": {"end": "contradicted", "free": "x", "shows": 1}}


def test_they_end_with_the_life() -> None:
    life = running(zone="a").say("node", "deleted", NODE)
    life.say("node", "reported", NODE, phase="Running", seen=life.position)
    assert kept(life) == {}


def test_an_event_that_is_not_taken_brings_none() -> None:
    assert isinstance(running().say("node", "stopped", NODE, attributes={"zone": "a"}).records[0], Rejection)


def test_they_are_selected_by_name() -> None:
    entity = running(**{"topology.kubernetes.io/zone": "a"}, version="1").entity("node", NODE)
    assert Selector.read("topology.kubernetes.io/zone=a,version=1").selects(entity)
    assert not Selector.read("topology.kubernetes.io/zone=b").selects(entity)


def test_a_table_has_no_attribute_of_this_name() -> None:
    facet = Facet("phase", (Label("Running", None, "On"),), (Row((ABSENT,), "lit", "Running"),))
    table = Table(kind="lamp", id=("lamp",), intents=(), facets=(facet,), attributes=(Field("free", str, "mine"),))
    with pytest.raises(WrongTable, match="in the attribute free the engine keeps attributes"):
        Kinds([table])


maps = st.dictionaries(st.sampled_from("abcdef"), st.none() | st.integers(0, 3), max_size=6)


@given(st.lists(maps, max_size=6))
def test_merging_is_a_fold_of_maps(events: list[dict[str, int | None]]) -> None:
    """After any events an entity has the last value of each name; none where that was null."""
    attributes: Any = {"own": 1}
    last: dict[str, int | None] = {}
    for one in events:
        before, attributes = attributes, merged(attributes, {"attributes": one})
        assert not isinstance(attributes, Refusal)
        last |= one
        assert (attributes is before) == (attributes == before)
    free = {name: last[name] for name in sorted(last) if last[name] is not None}
    assert attributes == {"own": 1, **({"free": free} if free else {})}
