"""What a rejection says: the present state, the rule that was not met with the value found; and a way out that works.

Belongs here: the sentences, the ways out, and the states of entities whose event could not be read. Does not: the law
of `legal` (`tests/laws/test_legal_laws`), rejections on a server (`tests/nats/test_bad_input`), reading the tree for a
way out (`tests/nats/test_client_outcomes`).
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from phaseline.engine.core import rejections
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.process import Processor
from phaseline.engine.log.explain.way_out import Turn, turns, way_out
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.surfaces.testing.histories import SUBJECTS
from phaseline.machines.built_in import BUILT_IN, PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Child
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, OK, SAME, Facet, Row, Table
from phaseline.schemas.records import Rejection, State
from tests.support import edge_worlds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.sample_kinds import label
from tests.support.strategies import History, Sent, event, play, random_history

Said = tuple[str, str, str] | tuple[str, str, str, dict[str, Any]]


def history(*said: Said, kinds: Kinds = BUILT_IN_KINDS) -> History:
    made = History(kinds)
    for one in said:
        step = made.take(event(*one))
        assert step.accepted, step.records
    return made


def refused(made: History, *one: Any) -> Rejection:
    [found] = made.decide(event(*one)).records
    assert isinstance(found, Rejection)
    return found


UP: tuple[Said, ...] = (
    ("cluster", "adopt", "c", {"phase": "Running"}),
    ("node_pool", "adopt", "c/p", {"phase": "Running"}),
)
NODE: tuple[Said, ...] = (*UP, ("node", "adopt", "c/p/n", {"phase": "Running"}))
GONE: tuple[Said, ...] = (*UP, ("cluster", "delete", "c"), ("cluster", "deleted", "c"))
GROUP: tuple[Said, ...] = (
    ("emco_resource", "create", "g"), ("emco_resource", "approve", "g"), ("app_context", "create", "g/1"),
    ("emco_resource", "instantiate", "g", {"context": "1"}),
)  # fmt: skip

SENTENCES: dict[str, tuple[tuple[Said, ...], Said, str]] = {
    "a guard on an ancestor": (
        (*UP, ("cluster", "overdue", "c")), ("node_pool", "create", "c/q"),
        "node_pool c/q is Absent: the cluster is Stopped [Balance], create needs Running, Updating or AllFailed; "
        "way out: once it is so: renewed, then started, at cluster c; "
        "or if it is there: reported at cluster c with the state you see",
    ),
    "a guard on a state that a view shows": (
        (*UP, ("node_pool", "delete", "c/p")), ("component", "create", "c/k"),
        "component c/k is Absent: the cluster is Updating [Progressing], create needs Running or AllFailed; "
        "way out: wait, it is so only while a node_pool without Stalled is Creating, Deleting or Scaling",
    ),
    "a guard on an attribute": (
        NODE, ("node", "stop", "c/p/n"),
        "node c/p/n is Running [Ok]: the node_pool's autoscaling_mode is not set, stop needs Recycle; "
        "way out: configure at node_pool c/p with autoscaling_mode Recycle",
    ),
    "an intent in the wrong state": (
        (("cluster", "create", "c"),), ("cluster", "create", "c"),
        "cluster c is Creating [Progressing]: create is not legal there, it needs Absent, Deleted or Creating [Stalled]; "
        "way out: delete at cluster c; or if it is there: reported at cluster c with the state you see; "
        "or wait: cluster c will be Stalled at ",
    ),
    "an intent under a view": (
        (*UP, ("cluster", "overdue", "c")), ("node_pool", "update", "c/p"),
        "node_pool c/p is Failed [ClusterNotRunning]: update is not legal there, it needs Running, Updating, "
        "Failed [AllFailed] or Scaling [Stalled]; "
        "way out: once it is so: renewed, then started, at cluster c; "
        "or if it is there: reported at cluster c with the state you see",
    ),
    "an observation in the wrong state": (
        (("cluster", "create", "c"),), ("cluster", "started", "c"),
        "cluster c is Creating [Progressing]: started is not legal there, it needs Starting; "
        "way out: if it is there: reported at cluster c with the state you see",
    ),
    "an observation under a view": (
        (*UP, ("cluster", "overdue", "c")), ("node_pool", "cleanup_failed", "c/p"),
        "node_pool c/p is Failed [ClusterNotRunning] (base Running [Ok]): cleanup_failed is not legal there, it needs "
        "Deleting; way out: if it is there: reported at node_pool c/p with the state you see",
    ),
    "an observation of what is unknown": (
        UP, ("node", "ready", "c/p/n"),
        "node c/p/n is Absent: ready is not legal there, it needs Failed [NotReady]; "
        "way out: if it is there: reported at node c/p/n with the state you see",
    ),
    "an intent below what is unknown": (
        (), ("node", "create", "c/p/n"),
        "node c/p/n is Absent: the node_pool c/p is unknown, create needs it alive; way out: create at "
        "cluster c; or if it is there: reported at cluster c with the state you see; then create at node_pool c/p; "
        "or if it is there: reported at node_pool c/p with the state you see",
    ),
    "an observation against which a guard stands": (
        (*(("emco_resource", one, "g") for one in ("create", "approve")), ("app_context", "create", "g/c"),
         ("rsync_resource", "add", "g/c/web/p+e/d"), ("emco_resource", "instantiate", "g", {"context": "c"}),
         ("rsync_resource", "applied", "g/c/web/p+e/d")), ("rsync_resource", "failed", "g/c/web/p+e/d"),
        "rsync_resource g/c/web/p+e/d is Applied, Unknown, NotAssessed: the app_context is Instantiated, failed needs "
        "Created, Instantiating, InstantiateFailed, PreTerminate, Terminating, Terminated, TerminateFailed, Updating, "
        "Updated or UpdateFailed; way out: if it is there: reported at rsync_resource g/c/web/p+e/d with the state you see",
    ),
    "an intent once it is deleted": (
        (("cluster", "create", "c"), ("cluster", "create_failed", "c")), ("cluster", "create", "c"),
        "cluster c is Failed [CreateError]: create is not legal there, it needs Absent, Deleted or Creating [Stalled]; "
        "way out: delete at cluster c; then if it is gone: deleted at cluster c",
    ),
    "an intent to what is unknown, below what is unknown": (
        (), ("node", "cordon", "c/p/n"),
        "node c/p/n is Absent: the node_pool c/p is unknown, cordon needs it alive; "
        "way out: if it is there: reported at node c/p/n with the state you see",
    ),
    "of several facets, none of which is known": (
        (), ("rsync_resource", "failed", "g/c/web/p+e/d"),
        "rsync_resource g/c/web/p+e/d is Absent: the app_context g/c is unknown, failed needs it alive; "
        "way out: create at emco_resource g; or if it is there: reported at emco_resource g with the state you see; "
        "then create at app_context g/c",
    ),
    "below what is deleted": (
        GONE, ("node", "not_ready", "c/p/n"),
        "node c/p/n is Absent: the node_pool c/p is deleted, not_ready needs it alive; "
        "way out: if it is there: reported at node c/p/n with the state you see; "
        "or if cluster c is there again: reported at cluster c with the state you see",
    ),
    "an intent below what is deleted": (
        GONE, ("node", "create", "c/p/n"),
        "node c/p/n is Absent: the node_pool c/p is deleted, create needs it alive; "
        "way out: create at cluster c; or if it is there: reported at cluster c with the state you see; "
        "then create at node_pool c/p",
    ),
    "what is no case for giving up": (
        NODE, ("node", "delete", "c/p/n", {"abandon": True}),
        "node c/p/n is Running [Ok]: no place at or above it (cluster) is Silent, delete needs it to be, or the entity "
        "to be Deleting and Stalled, or Failed with ResourceCleanupFailed, to be given up; "
        "way out: delete at node c/p/n without abandon",
    ),
    "sources with exceptions": (
        UP, ("node", "delete", "c/p/n"),
        "node c/p/n is Absent: delete is not legal there, it needs Deleting [Stalled] or any live state but Deleting; "
        "way out: if it is there: reported at node c/p/n with the state you see",
    ),
    "a request to what is unknown": (
        UP, ("node", "update", "c/p/n"),
        "node c/p/n is Absent: update is not legal there, it needs Running, Updating, Starting [Stalled] or "
        "Stopping [Stalled]; "
        "way out: if it is there: reported at node c/p/n with the state you see; or create at node c/p/n",
    ),
    "a state that can be seen and from which the request is legal": (
        (
            *UP, ("node_pool", "configure", "c/p", {"autoscaling_mode": "Recycle"}),
            ("node", "adopt", "c/p/n", {"phase": "Stopped"}), ("node", "start", "c/p/n"), ("node", "error", "c/p/n"),
        ),
        ("node", "start", "c/p/n"),
        "node c/p/n is Failed [Unknown]: start is not legal there, it needs Stopped or Starting [Stalled]; "
        "way out: if it is there: reported at node c/p/n with the state you see",
    ),
    "that nothing came of a request": (
        (*UP, ("node", "create", "c/p/n")), ("node", "deleted", "c/p/n"),
        "node c/p/n is Creating [Progressing]: deleted is not legal there, it needs Deleting or any live state but "
        "Creating, Deleting; way out: if it is gone: deleted at node c/p/n with seen at or above 3; "
        "or if it is there: reported at node c/p/n with the state you see",
    ),
    "a child that must follow": (
        GROUP[:2], ("emco_resource", "instantiate", "g", {"context": "9"}),
        "emco_resource g is Approved: instantiate needs that app_context g/9 takes instantiate, but that is unknown; "
        "way out: create at app_context g/9",
    ),
    "a child that cannot follow": (
        (*GROUP, ("app_context", "terminate", "g/1")), ("emco_resource", "update", "g", {"context": "1"}),
        "emco_resource g is Instantiated: the app_context that its context names (1) is Terminated, update needs "
        "Instantiated, InstantiateFailed or Stalled",
    ),
    "the child that an attribute names": (
        (*GROUP, ("emco_resource", "terminate", "g"), ("app_context", "resume", "g/1")), ("emco_resource", "stop", "g"),
        "emco_resource g is Terminated: the app_context that its context names (1) is Terminated, stop needs "
        "Instantiating, PreTerminate, Terminating or Updating",
    ),
    "a rule of the kind": (
        (*GROUP, ("app_context", "create", "g/2")), ("emco_resource", "rollback", "g", {"revision": 9}),
        "emco_resource g is Instantiated: rollback needs a revision that is known: 9 is not, there are 1 to 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "sent", "sentence"), SENTENCES.values(), ids=list(SENTENCES))
def test_a_rejection_says_what_is_so_what_was_needed_and_what_to_do(
    before: tuple[Said, ...], sent: Said, sentence: str
) -> None:
    made = history(*before)
    found = refused(made, *sent)
    said, _, way = sentence.partition("; way out: ")
    assert found.message == said
    told = way_out(made.tree, found, made.read(event(*sent)))
    assert told.startswith(way)
    assert told[len(way) :][:1] in ("", ";", "1")  # a time follows, or another way
    assert bool(told) == bool(way)


def test_a_tally_says_what_it_counts() -> None:
    on = Row((ABSENT, DELETED), "made", "On"), Row(("On",), "off", "Off"), Row((LIVE,), "gone", DELETED)
    room = Table(
        "room", ("room",), (Facet("phase", (label("On"), label("Off")), (
            *on, Row((LIVE,), "shut", SAME, when=(AllBelow("room", "lamp", ("Off",)),)),
            Row((LIVE,), "read", SAME, when=(AnyBelow("room", "lamp", ("On",)),)),
        ), adopted=State("On", (OK,))),), ("shut", "read"),
    )  # fmt: skip
    lamp = Table("lamp", ("room", "lamp"), (Facet("phase", (label("On"), label("Off")), on),), (), parent="room")
    made = history(
        ("room", "made", "r"), ("lamp", "made", "r/1"), ("lamp", "made", "r/2"), ("lamp", "made", "r/3"),
        ("lamp", "off", "r/1"), kinds=Kinds((room, lamp), products=PRODUCTS),
    )  # fmt: skip
    assert (
        ": of its lamps, 2 are On (r/2, r/3), shut needs every one to be Off"
        in refused(made, "room", "shut", "r").message
    )
    for number in (2, 3):
        made.take(event("lamp", "off", f"r/{number}"))
    assert ": of its lamps, 3 are Off, read needs one that is On" in refused(made, "room", "read", "r").message
    empty = history(("room", "made", "r"), kinds=Kinds((room, lamp), products=PRODUCTS))
    assert ": it has no lamp, read needs one that is On" in refused(empty, "room", "read", "r").message


def test_predicates_say_what_they_found_of_what_is_not_there() -> None:
    tree = history(("emco_resource", "create", "g")).tree
    assert Above("cluster", ("Running",)).unmet(tree, "c/k") == ("the cluster is unknown", "Running")
    assert AttributeIs("cluster", "x", 1).unmet(tree, "c/k") == ("the cluster is unknown", "its x to be 1")
    child = Child("emco_resource", "app_context", "context", ("Terminated",), none=False)
    assert child.unmet(tree, "g") == ("it has no context", "one that is Terminated")


def test_only_what_is_possible_now_is_legal() -> None:
    made = history(*GROUP)
    assert "rollback" not in refused(made, "emco_resource", "create", "g").legal
    assert "update" not in refused(made, "emco_resource", "create", "g").legal
    made.take(event("app_context", "create", "g/2"))
    found = refused(made, "emco_resource", "create", "g")
    assert "update" in found.legal
    assert "rollback" not in found.legal
    windows = [{"kind": "deny", "schedule": "* * * * *", "duration": "1h", "applications": ["*"]}]
    closed = history(
        ("application_set", "configure", "s"), ("application", "configure", "s/a", {"sync_windows": windows})
    )
    assert "sync" not in refused(closed, "application", "sync", "s/a").legal
    wanted = history(
        ("git_repo", "created", "r"), ("bundle", "created", "r/b"), ("bundle_deployment", "configure", "r/b/c")
    )
    assert "apply_failed" not in refused(wanted, "bundle_deployment", "apply_failed", "r/b/c").legal


UNREADABLE = {
    "derived": Sent(event("node", "remove", "c/p/n").subject, b"{}"),
    "unknown_trigger": event("node", "explode", "c/p/n"),
    "invalid": event("node", "ready", "c/p/n", {"reason": 7}),
    "undecodable": Sent(event("node", "ready", "c/p/n").subject, b"\x93"),
}


@pytest.mark.parametrize("sent", UNREADABLE.values(), ids=list(UNREADABLE))
def test_what_could_not_be_read_is_answered_with_the_state_too(sent: Sent) -> None:
    processor = Processor(history(*NODE).tree, SUBJECTS, 0)
    [found] = processor.answer(StoredEvent(sent.subject, sent.body, 9, 9)).records
    assert isinstance(found, Rejection)
    assert found.state == {"phase": State("Running", ("Ok",))}
    assert {"cordon", "delete", "not_ready"} <= set(found.legal)
    assert "stop" not in found.legal


def test_a_derived_trigger_is_answered_with_what_fires_it() -> None:
    said = refused(history(*NODE), "node", "remove", "c/p/n").message
    assert said == "remove is fired by the engine only, after delete of node_pool"
    assert refused(history(*NODE), "node", "owner_gone", "c/p/n").message.endswith("the end of an entity above it")
    kinds = Kinds(BUILT_IN, products=PRODUCTS)
    assert kinds["application"].fired_by["auto_sync"] == "time in OutOfSync"


def way_of(made: History, kind: str, trigger: str, entity_id: str) -> list[Turn] | None:
    """The way out of a rejected intent; None if it is taken."""
    step = made.decide(event(kind, trigger, entity_id))
    if not isinstance(step.read, Arrival) or step.accepted:
        return None
    return [*dict.fromkeys(turns(made.tree, step.read))]


def rejected_intents(seeds: int) -> Iterator[tuple[History, str, str, str]]:
    """Rejected intents of random histories, each with a history of its own."""
    dice = Random(11)
    for _ in range(seeds):
        made = random_history(edge_worlds.KINDS, [dice.randbytes(24) for _ in range(40)])
        for kind in made.kinds.values():
            for entity_id in [*made.tree.entities[kind.name]][:3]:
                for trigger in kind.table.intents:
                    if way_of(made, kind.name, trigger, entity_id):
                        yield play(made.kinds, [step.sent for step in made.steps]), kind.name, trigger, entity_id


def test_a_way_out_asks_for_no_claim_and_begins_with_what_is_taken() -> None:
    followed, asks, reports = 0, 0, 0
    for made, kind, trigger, entity_id in rejected_intents(8):
        way = way_of(made, kind, trigger, entity_id) or []
        offered = {(turn.kind, one) for turn in way for one in turn.triggers}
        assert all(made.kinds[of].roles[one] == "intent" for of, one in offered), way
        followed += 1
        first = way[0]
        if first.triggers:
            asks += 1
            for one in first.triggers:
                other = play(made.kinds, [step.sent for step in made.steps])
                assert other.take(event(first.kind, one, first.id)).accepted, (one, way, made)
        elif "reported at" in first.wait:
            reports += 1
            assert "reported" in made.legal(first.kind, first.id), (way, made)
    assert followed > 90
    assert asks > 20
    assert reports > 20


def test_children_that_cannot_follow_are_told_apart_by_their_states(monkeypatch: pytest.MonkeyPatch) -> None:
    made = history(*GROUP, *((("app_context", "reported", f"g/x{n}", {"phase": "Terminated"})) for n in range(40)))
    tried: list[str] = []
    is_taken = rejections._is_taken

    def counted(tree: Any, kind: Any, entity: Any, probe: Arrival) -> bool:
        tried.append(probe.trigger)
        return is_taken(tree, kind, entity, probe)

    monkeypatch.setattr(rejections, "_is_taken", counted)
    assert refused(made, "emco_resource", "create", "g").legal == (
        "terminate",
        "heartbeat",
        "configure",
        "reported",
        "snapshot",
    )
    assert "update" not in tried
    made.take(event("app_context", "create", "g/y"))
    assert "update" in refused(made, "emco_resource", "create", "g").legal


def test_a_predicate_without_reasons_is_quoted() -> None:
    class Warm:
        def holds(self, _: Any, __: str) -> bool:
            return False

        def text(self) -> str:
            return "it is warm"

    lamp = Table("lamp", ("lamp",), (Facet("phase", (label("On"),), (
        Row((ABSENT, DELETED), "made", "On"), Row((LIVE,), "off", DELETED, when=(rule("acme.warm", revision=1)(Warm)(),)),
    ), adopted=State("On", (OK,))),), ("off",))  # fmt: skip
    made = history(("lamp", "made", "l"), kinds=Kinds((lamp,), products=PRODUCTS))
    assert "lamp l is On [Ok]: off needs that it is warm" in refused(made, "lamp", "off", "l").message
