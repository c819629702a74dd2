"""What a pool lacks: its count of Running nodes against what it should have, their versions against its own."""

from phaseline.engine.log.explain import unknown_parts
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.surroundings import Surroundings
from phaseline.schemas.records import Entity
from tests.support.edge_worlds import KINDS
from tests.support.strategies import History, event


def pool(**wanted: object) -> History:
    made = History(KINDS)
    made.take(event("cluster", "reported", "c", {"phase": "Running"}))
    made.take(event("node_pool", "adopt", "c/p", {"phase": "Running", **wanted}))
    nodes = (("n1", "Running", "1.28"), ("n2", "Failed", "1.27"), ("n3", "Running", "1.28"), ("n4", "Deleted", "1.26"))
    for name, phase, version in nodes:
        told = {"phase": phase, "version": version, **({"conditions": ["Unknown"]} if phase == "Failed" else {})}
        made.take(event("node", "reported", f"c/p/{name}", told))
    return made


def lacking(made: History, language: str = "en") -> str | None:
    found = unknown_parts.count(KINDS, [entity(made)], made.tree.entities["node"].values()).get(
        ("node_pool", "c/p"), {}
    )
    return found["phase"].text(language) if found else None


def entity(made: History) -> Entity:
    return made.tree.entities["node_pool"]["c/p"]


def test_a_pool_says_how_many_of_its_nodes_run_and_which_have_another_version() -> None:
    assert lacking(pool(desired=5)) == "2 of 5 nodes Running, 1 Failed"
    assert lacking(pool(desired=3, version="1.28")) == "2 of 3 nodes Running, 1 Failed; 2 of 3 at 1.28, 1 at 1.27"
    assert lacking(pool(version="1.28")) == "2 of 3 at 1.28, 1 at 1.27"
    assert lacking(pool(desired=5), "zh") == "node 应有 5 个, 2 个 Running, 1 Failed"


def test_a_pool_that_asks_for_nothing_lacks_nothing() -> None:
    assert lacking(pool()) is None
    assert unknown_parts.parts_of(KINDS, entity(pool())) == set()


def test_a_pool_without_any_node_lacks_all() -> None:
    made = History(KINDS)
    made.take(event("node_pool", "adopt", "c/p", {"phase": "Running", "desired": 2}))
    assert lacking(made) == "0 of 2 nodes Running"


def test_programs_get_the_numbers() -> None:
    made = pool(desired=5, version="1.28")
    parts = unknown_parts.count(KINDS, [entity(made)], made.tree.entities["node"].values())
    shown = maps.entity_map(KINDS, entity(made), around=Surroundings(unknown=parts))["facets"]["phase"].lacks
    assert shown == {
        "kind": "node", "of": 5, "phases": {"Running": 2, "Failed": 1}, "values": {"1.28": 2, "1.27": 1},
        "text": "2 of 5 nodes Running, 1 Failed; 2 of 3 at 1.28, 1 at 1.27",
    }  # fmt: skip


def test_an_entity_says_what_it_waits_for_and_how_its_life_ended() -> None:
    made = pool()
    step = made.take(event("node_pool", "scale", "c/p", {"desired": 3}))
    assert step.accepted
    waits = maps.entity_map(KINDS, entity(made))["waits_for"]
    assert waits == entity(made).asked
    made.take(event("node_pool", "scaled", "c/p"))
    assert "waits_for" not in maps.entity_map(KINDS, entity(made))
    made.take(event("node_pool", "deleted", "c/p"))
    assert maps.entity_map(KINDS, entity(made))["end"] == "seen"
    assert maps.entity_map(KINDS, made.tree.entities["node"]["c/p/n1"])["end"] == "assumed"
