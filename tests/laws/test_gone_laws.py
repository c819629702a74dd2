"""Gone is seen, not assumed: laws over lives whose reports are lost, late, doubled and out of order.

Belongs here: how lives end, what is left behind, that one confirmed snapshot mends all. Does not: single lives
(`tests/pure/test_left_behind`), snapshots of all kinds (`test_report_laws`).
"""

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree, evolve
from phaseline.machines.language.endings import is_left_behind
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import Cause, Entity, Mark, Record, Transition
from tests.support.edge_worlds import KINDS

PLACES = (
    ("cluster", "c"), ("node_pool", "c/p"), ("node_pool", "c/q"), ("node", "c/p/a"), ("node", "c/p/b"), ("node", "c/q/d"),
)  # fmt: skip
WAYS = (
    "create", "created", "delete", "deleted", "deleted", "adopt", "reported", "reported", "reported gone", "snapshot", "given up",
)  # fmt: skip
STEP = st.tuples(
    st.sampled_from(PLACES), st.sampled_from(WAYS), st.sampled_from(("Running", "Running", "Failed", "Stopped", "Creating")),
    st.one_of(st.none(), st.integers(0, 40)), st.sampled_from(("once", "twice", "late", "lost")),
)  # fmt: skip
"""Where, what, which phase, how far back the reporter has read, what becomes of the event."""
Step = tuple[tuple[str, str], str, str, int | None, str]


class Life:
    """A tree, and all that happened to it."""

    def __init__(self) -> None:
        self.tree, self.number = Tree(KINDS, NoScripts()), 0
        self.records: list[Record] = []

    def say(self, kind: str, trigger: str, entity_id: str, /, **data: object) -> list[Record]:
        self.number += 1
        cause = Cause(self.number, f"e{self.number}", "/t", "event")
        made = decide(self.tree, Arrival(kind, trigger, entity_id, data, cause, None, self.number)).records
        for record in made:
            evolve(self.tree, record)
        self.records += made
        return made

    def play(self, steps: list[Step]) -> Iterator[list[Record]]:
        late = list[tuple[Step, int]]()
        for step in steps:
            if step[4] == "late":
                late.append((step, self.number))
            elif step[4] != "lost":
                for _ in range(1 + (step[4] == "twice")):
                    yield self.told(step, self.number)
            if late and self.number % 3 == 0:
                yield self.told(*late.pop(0))
        for one in late:
            yield self.told(*one)

    def told(self, step: Step, read: int) -> list[Record]:
        (kind, entity_id), way, phase, back, _ = step
        data: dict[str, object] = {} if back is None else {"seen": max(0, read - back)}
        if way == "snapshot":
            above = ("cluster", "c") if kind != "node" else ("node_pool", entity_id.rpartition("/")[0])
            items = [{"id": entity_id[len(above[1]) + 1 :], "phase": phase}] if kind == "node" else []
            return self.say(above[0], "snapshot", above[1], kind="node", items=items, **data)
        if way in ("adopt", "reported"):
            named = {"conditions": ["Unknown"]} if phase == "Failed" else {}
            return self.say(kind, way, entity_id, phase=phase, **named, **(data if way == "reported" else {}))
        if way == "reported gone":
            return self.say(kind, "reported", entity_id, phase=DELETED, **data)
        if way == "given up":
            return self.say(kind, "delete", entity_id, abandon=True)
        return self.say(kind, way, entity_id, **(data if way == "deleted" else {}))

    def every(self) -> Iterator[Entity]:
        for found in self.tree.entities.values():
            yield from found.values()


def nothing_lives_below_what_is_deleted(life: Life) -> None:
    for entity in life.every():
        parent = KINDS[entity.kind].parent
        if parent is not None and entity.facets[0].base.phase not in (ABSENT, DELETED):
            above = life.tree.entities[parent][entity.id.rpartition("/")[0]]
            assert above.facets[0].base.phase != DELETED


def ends_say_what_is_known(life: Life, made: list[Record]) -> None:
    for one in made:
        if not isinstance(one, Transition) or one.after.phase != DELETED:
            continue
        end, shows = one.entity.attributes.get("end"), one.entity.attributes.get("shows")
        assert end in ("seen", "assumed", "contradicted")
        assert (shows is not None) == (end == "contradicted") == is_left_behind(DELETED, one.entity.attributes)
        if one.trigger in ("owner_gone", "delete"):
            assert end == "assumed", "a parent's end asserts nothing of its children"
        if end == "contradicted":
            assert shows is not None
            assert one.before is None or one.before.phase == DELETED
            assert one.trigger in ("reported", "adopt")
    living = [one for one in life.every() if one.facets[0].base.phase != DELETED]
    assert not any({"end", "shows"} & one.attributes.keys() for one in living), "a new life has no end yet"


def what_is_left_behind_moves_nothing_else(made: list[Record]) -> None:
    moved = [one for one in made if isinstance(one, Transition)]
    if any(one.before == one.after and one.entity.attributes.get("end") == "contradicted" for one in moved):
        told = {one.trigger for one in moved}
        assert told <= {"reported", "adopt"}


@settings(max_examples=120, deadline=None)
@given(st.lists(STEP, min_size=5, max_size=40))
def test_over_random_lives(steps: list[Step]) -> None:
    life = Life()
    for made in life.play(steps):
        nothing_lives_below_what_is_deleted(life)
        ends_say_what_is_known(life, made)
        what_is_left_behind_moves_nothing_else(made)


@settings(max_examples=120, deadline=None)
@given(st.lists(STEP, min_size=5, max_size=40), st.sets(st.sampled_from(("p/a", "p/b", "q/d", "p/new"))))
def test_one_snapshot_that_has_seen_everything_mends_any_history(steps: list[Step], there: set[str]) -> None:
    """What it lists is as it says, or left behind below what is Deleted; what it does not list was seen to be gone."""
    life = Life()
    for _ in life.play(steps):
        pass
    if not life.tree.entities["cluster"]:
        return
    sent = {
        "kind": "node", "items": [{"id": one, "phase": "Running"} for one in sorted(there)], "seen": life.number,
        "confirm": True,
    }  # fmt: skip
    life.say("cluster", "snapshot", "c", **sent)
    gone_above = life.tree.entities["cluster"]["c"].facets[0].base.phase == DELETED
    for entity_id, entity in life.tree.entities["node"].items():
        pool = life.tree.entities["node_pool"][entity_id.rpartition("/")[0]]
        phase, end = entity.facets[0].base.phase, entity.attributes.get("end")
        if entity_id.removeprefix("c/") not in there:
            assert (phase, end) == (DELETED, "seen"), entity
        elif gone_above or pool.facets[0].base.phase == DELETED:
            assert (phase, end, entity.attributes["shows"]["phase"]) == (DELETED, "contradicted", "Running"), entity
        else:
            assert (phase, end) == ("Running", None), entity
    again = life.say("cluster", "snapshot", "c", **{**sent, "seen": life.number})
    assert not any(isinstance(one, Transition) for one in again)
    assert not any(isinstance(one, Mark) for one in life.records)
