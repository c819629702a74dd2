"""The overview: what is bad, by cause, and what else calls for somebody (engine/surfaces/overview)."""

from phaseline import testing
from phaseline.engine.surfaces.overview.overview import Overview, Trouble, as_map, overview
from phaseline.engine.surfaces.testing.scenario import Given, Then
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND, Transition, nanoseconds
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

START = nanoseconds("2026-01-01T00:00:00Z")


class Story:
    """Events at given seconds, and the last record of each entity."""

    def __init__(self) -> None:
        self.situation: Given = testing.given(KINDS)
        self.last: dict[tuple[str, str], Transition] = {}

    def say(self, seconds: int, kind: str, trigger: str, entity_id: str, /, **data: object) -> "Story":
        moved = self.situation.at(f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z")
        self._take(moved)
        after = moved.when(kind, trigger, entity_id, data)
        assert after.rejection is None, after.rejection
        self._take(after)
        self.situation = after
        return self

    def _take(self, after: Then) -> None:
        self.last |= {(one.entity.kind, one.entity.id): one for one in after.transitions}

    def seen(self, seconds: int, most: int = 100) -> Overview:
        return overview(KINDS, self.last.values(), START + seconds * SECOND, most)


def fleet(clusters: int = 2, nodes: int = 3) -> Story:
    story = Story()
    for number in range(1, clusters + 1):
        story.say(1, "cluster", "adopt", f"c{number}", phase="Running")
        story.say(1, "node_pool", "adopt", f"c{number}/p", phase="Running")
        for node in range(1, nodes + 1):
            story.say(1, "node", "adopt", f"c{number}/p/n{node}", phase="Running")
    return story


def heads(found: Overview) -> list[tuple[str, int, int]]:
    return [(one.head.entity.id, (one.head.since_ns - START) // SECOND, one.number) for one in found.troubles]


def test_what_is_well_is_counted_and_nothing_is_bad() -> None:
    found = fleet().seen(10_000)
    assert (found.classes, found.troubles, found.lately) == ({"good": 10}, [], {})
    assert [(one.root, one.classes, one.bad_since) for one in found.trees] == [
        ("c1", {"good": 5}, None), ("c2", {"good": 5}, None),
    ]  # fmt: skip


def test_the_longest_comes_first_and_counts_from_when_it_became_bad() -> None:
    story = fleet().say(100, "node", "not_ready", "c2/p/n1").say(200, "node", "not_ready", "c1/p/n1")
    story.say(300, "node", "overdue", "c2/p/n1")
    found = story.seen(400)
    assert heads(found) == [("c2/p/n1", 100, 0), ("c1/p/n1", 200, 0)]
    assert [one.root for one in found.trees] == ["c1", "c2"]
    assert found.lately == {"bad": 2, "good": 8}


def test_an_ancestor_that_explains_others_stands_once_with_their_number() -> None:
    story = fleet().say(100, "cluster", "overdue", "c1").say(200, "node", "not_ready", "c2/p/n3")
    found = story.seen(300)
    [cluster, node] = found.troubles
    assert (cluster.head.entity.kind, cluster.head.entity.id) == ("cluster", "c1")
    assert (str(cluster.head.entity.facets[0].state), cluster.others) == ("Stopped [Balance]", {"node_pool": 1})
    assert node.head.entity.id == "c2/p/n3"
    bad = found.classes["bad"]
    assert bad == sum(one.number + (one.head.state_class == "bad") for one in found.troubles)


def test_its_text_says_what_is_bad_and_what_that_explains() -> None:
    found = (
        fleet().say(100, "cluster", "overdue", "c1", message="late").say(200, "node", "not_ready", "c2/p/n3").seen(300)
    )
    count, title, cluster, node = str(found).splitlines()
    assert count == f"{sum(found.classes.values())} entities in {found.numbers['trees']} trees: " + ", ".join(
        f"{number} {name}" for name, number in found.classes.items()
    )
    assert title == "troubles: 2"
    assert cluster.startswith("  cluster c1 Stopped [Balance] since 2026-01-01 00:01:40Z: late")
    assert cluster.endswith(" (+1 node_pool)")
    assert node.startswith("  node c2/p/n3 Failed [NotReady] since ")


def test_what_was_bad_before_by_itself_is_told_apart() -> None:
    story = fleet().say(100, "node", "not_ready", "c1/p/n1").say(200, "cluster", "error", "c1")
    found = story.seen(300)
    assert ("c1/p/n1", 100, 0) in heads(found)


def test_what_is_bad_by_itself_is_not_hidden_by_what_befell_its_cluster_later() -> None:
    """Paying the invoice would mend neither: the chart fails, and a machine could not be removed."""
    story = fleet().say(50, "component", "adopt", "c1/dns", phase="Running")
    story.say(100, "component", "degraded", "c1/dns", reason="ReplicasMissing")
    story.say(110, "node", "delete", "c1/p/n1").say(120, "node", "cleanup_failed", "c1/p/n1")
    story.say(200, "cluster", "overdue", "c1")
    found = story.seen(300)
    assert heads(found) == [("c1/dns", 100, 0), ("c1/p/n1", 120, 0), ("c1", 200, 1)]
    assert found.troubles[0].head.message == "ReplicasMissing"  # the record of the view says nothing


def test_a_parent_that_tells_of_its_parts_stands_for_them() -> None:
    story = fleet(1, 2).say(100, "node", "not_ready", "c1/p/n1").say(200, "node", "not_ready", "c1/p/n2")
    [trouble] = story.seen(300).troubles
    assert (trouble.head.entity.kind, trouble.head.entity.id) == ("cluster", "c1")
    assert trouble.others == {"node_pool": 1, "node": 2}


def test_one_event_that_makes_many_bad_is_one_trouble() -> None:
    listed = [{"id": f"p/n{number}", "phase": "Failed", "conditions": ["NotReady"]} for number in (1, 2, 3)]
    story = fleet()
    after = story.situation.when("cluster", "snapshot", "c1", {"kind": "node", "items": listed})
    assert after.rejection is None, after.rejection
    story.last |= {(one.entity.kind, one.entity.id): one for one in after.transitions}
    found = story.seen(300)
    assert len(found.troubles) == 1
    assert found.classes["bad"] == found.troubles[0].number + (found.troubles[0].head.state_class == "bad")


def test_no_more_are_named_than_asked_and_their_number_is_told() -> None:
    story = fleet(nodes=3)
    for number in (1, 2, 3):
        story.say(100 + number, "node", "not_ready", f"c1/p/n{number}")
    found = story.seen(200, most=1)
    assert (len(found.trees), found.numbers["trees"]) == (1, 2)
    assert len(found.troubles) == 1
    assert found.numbers["troubles"] >= 1


def test_what_waits_too_long_and_what_is_left_behind() -> None:
    story = fleet().say(100, "node", "create", "c1/p/n9")
    story.say(50_000, "node", "not_ready", "c2/p/n1")
    found = story.seen(50_000)
    assert [one.entity.id for one in found.stalled] == ["c1/p/n9"]
    gone = fleet().say(100, "cluster", "deleted", "c1").say(200, "node", "reported", "c1/p/n1", phase="Running")
    found = gone.seen(300)
    assert [one.entity.id for one in found.left_behind] == ["c1/p/n1"]
    assert found.classes["bad"] == 1
    assert found.lately["gone"] >= 3


def test_programs_get_all_of_it() -> None:
    story = fleet().say(100, "node", "not_ready", "c2/p/n1")
    shown = codec.decode(codec.encode(as_map(story.seen(200))))
    assert shown["classes"] == {"bad": 1, "good": 9}
    [trouble] = shown["troubles"]
    assert trouble["states"] == {"phase": "Failed [NotReady]"}
    assert trouble["since"] == "2026-01-01T00:01:40.000000000Z"
    assert (trouble["kind"], trouble["id"], trouble["others"]) == ("node", "c2/p/n1", 0)
    assert shown["numbers"] == {"troubles": 1, "trees": 2, "silent": 0, "stalled": 0, "left_behind": 0}


def test_what_a_trouble_explains_is_named_on_demand() -> None:
    story = fleet(1, 3).say(100, "cluster", "overdue", "c1").say(200, "node", "not_ready", "c1/p/n2")
    whole = as_map(story.seen(300), symptoms=10)["troubles"]
    first = next(one for one in whole if one["id"] == "c1")
    assert len(first["symptoms"]) == first["others"] > 0
    assert {one["kind"] for one in first["symptoms"]} == set(first["by_kind"])
    assert first["cause"]["trigger"] == "overdue"
    assert (
        len(next(one for one in as_map(story.seen(300), symptoms=1)["troubles"] if one["id"] == "c1")["symptoms"]) == 1
    )
    assert "symptoms" not in as_map(story.seen(300))["troubles"][0]


def test_each_bad_one_is_in_one_trouble() -> None:
    story = fleet(3, 4).say(50, "node", "not_ready", "c1/p/n1").say(60, "node", "overdue", "c1/p/n2")
    story.say(70, "cluster", "overdue", "c2").say(80, "node", "not_ready", "c2/p/n1").say(90, "cluster", "error", "c3")
    found = story.seen(100)
    assert sum(map(_size, found.troubles)) == found.classes["bad"]


def _size(one: Trouble) -> int:
    return one.number + (one.head.state_class == "bad")


def test_what_explains_a_part_of_a_tree_may_stand_beside_it() -> None:
    story = fleet().say(100, "cluster", "overdue", "c1")
    pool, cluster = story.last["node_pool", "c1/p"], story.last["cluster", "c1"]
    [alone] = overview(KINDS, [pool], START + 300 * SECOND).troubles
    assert (alone.head.entity.id, alone.others) == ("c1/p", {})
    found = overview(KINDS, [pool], START + 300 * SECOND, beside=[cluster])
    [trouble] = found.troubles
    assert (trouble.head.entity.id, trouble.others) == ("c1", {"node_pool": 1})
    assert found.classes == {"bad": 1}, "what stands beside explains, and does not count"
