"""Which thing is meant: identities, when a life began, and requests that are meant for one version.

Belongs here: docs/lives.md, section by section, on single events. Does not: laws over random histories
(`tests/laws/test_life_laws`), what is shown of lives (`tests/nats/test_shown_lives`).
"""

from typing import Any

import pytest

from phaseline import testing
from phaseline.engine.core.lives.memory import MOST_FORMER
from phaseline.machines.language.table import DELETED, Field
from phaseline.schemas.records import Entity, Mark, Rejection, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.lamp_table import lamp

CLUSTER = testing.given(KINDS).state("cluster", "c", "Running")
POOL = CLUSTER.state("node_pool", "c/p", "Running")
N = "c/p/n"
A, B, C = "aws:i-a", "aws:i-b", "aws:i-c"


def there(uid: str | None = A) -> testing.Given:
    """A node that was asked for and created."""
    return POOL.event("node", "create", N).event("node", "created", N, {} if uid is None else {"uid": uid})


def node(of: testing.Given | testing.Then) -> Entity:
    found = of.tree.get("node", N)
    assert found is not None
    return found


def tell(given: testing.Given, trigger: str, **data: Any) -> testing.Then:
    return given.when("node", trigger, N, data)


def refused(then: testing.Then, reason: str = "stale") -> str:
    assert then.transitions == ()
    assert then.rejection is not None
    assert then.rejection.reason == reason
    return then.rejection.message


def identity(entity: Entity) -> dict[str, str]:
    return {} if entity.memory is None else dict(entity.memory.uids)


NAMED = {"namespace": "ns", "name": "p"}
MOVED = {"apiVersion": "v1", "kind": "Pod", "metadata": NAMED, "status": {"phase": "Succeeded"}}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"namespace": "ns", "name": "rs"}}


def former(entity: Entity) -> tuple[str, ...]:
    return () if entity.memory is None else entity.memory.former


def own(then: testing.Then) -> list[Transition]:
    return [one for one in then.transitions if one.entity.id == N]


# ---- identities


def test_the_first_identity_of_a_scheme_is_kept_for_the_life() -> None:
    assert identity(node(there())) == {"aws": "i-a"}
    second = there().event("node", "not_ready", N, {"uid": "k8s:1"})
    assert identity(node(second)) == {"aws": "i-a", "k8s": "1"}
    assert identity(node(second.event("node", "ready", N))) == {"aws": "i-a", "k8s": "1"}


def test_a_report_that_brings_only_an_identity_leaves_a_mark() -> None:
    then = tell(there(None), "reported", phase="Running", uid=A)
    (mark,) = then.records
    assert isinstance(mark, Mark)
    assert identity(node(then)) == {"aws": "i-a"}
    assert tell(there(A), "reported", phase="Running", uid=A).records == ()


def test_at_most_four_schemes_are_kept() -> None:
    given = there(None)
    for scheme in "abcdef":
        given = given.event("node", "heartbeat", N, {"uid": f"{scheme}:1"})
    assert identity(node(given)) == dict.fromkeys("abcd", "1")


def test_what_is_there_again_by_a_further_scheme_keeps_its_identities() -> None:
    """An identity that is not kept counts as known, so it is no other thing that has come."""
    given = there(None)
    for scheme in "abcd":
        given = given.event("node", "heartbeat", N, {"uid": f"{scheme}:1"})
    given = given.event("node", "deleted", N)
    given = given.event("node", "reported", N, {"phase": "Running", "uid": "e:1", "seen": given.position - 1})
    assert identity(node(given)) == dict.fromkeys("abcd", "1")
    assert own(tell(given, "not_ready", uid="a:1"))


@pytest.mark.parametrize(
    "uid", ["", "a", ":a", "a:", "A:b", "a: b", "a:\n", f"a:{'b' * 201}", f"{'a' * 33}:b", "a:ü", 7]
)
def test_an_identity_of_a_wrong_form_is_invalid(uid: object) -> None:
    assert "uid" in refused(tell(there(), "not_ready", uid=uid), "invalid")


def test_a_request_has_no_identity() -> None:
    assert "data.uid" in refused(there(None).when("node", "delete", N, {"uid": A}), "invalid")


@pytest.mark.parametrize("trigger", ["not_ready", "heartbeat", "ready"])
def test_what_is_said_of_another_thing_is_refused(trigger: str) -> None:
    message = refused(tell(there(A), trigger, uid=B))
    assert A in message
    assert B in message
    assert "reported with it and the state you see, if aws:i-b is there" in message


@pytest.mark.parametrize(("trigger", "data"), [("reported", {"phase": DELETED}), ("deleted", {})])
def test_gone_of_another_thing_is_refused_and_asks_for_no_claim(trigger: str, data: dict[str, Any]) -> None:
    message = refused(tell(there(A), trigger, uid=B, **data))
    assert message.endswith(
        f"is about {B}; {A} is there since event 4: report it gone without uid, if nothing is there"
    )


@pytest.mark.parametrize("trigger", ["adopt", "reported"])
@pytest.mark.parametrize("phase", ["Running", "Failed"])
def test_another_thing_begins_a_new_life(trigger: str, phase: str) -> None:
    data = {"phase": phase, **({"conditions": ["NotReady"]} if phase == "Failed" else {})}
    given = there(A).event("node", "configure", N, {"deadline": 60})
    then = tell(given, trigger, uid=B, **data)
    (record,) = own(then)
    assert (record.before, record.after.phase) == (node(given).facets[0].state, phase)
    assert record.unasked
    assert record.noted.replaced == A
    after = node(then)
    assert after.version == node(given).version + 1
    assert (identity(after), former(after)) == ({"aws": "i-b"}, (A,))
    assert after.born == record.cause.sequence
    assert KINDS["node"].waits_for(after) == 0
    assert after.attributes["deadline"] == 60
    assert after.facets[0].since_ns == record.time_ns


def test_a_new_life_may_begin_while_a_request_waits() -> None:
    deleting = there(A).event("node", "delete", N)
    updating = there(A).event("node", "update", N)
    asked = node(updating).asked
    later = updating.event("node", "reported", N, {"phase": "Running", "uid": B}).event("node", "update", N)
    refused(tell(later, "updated", answers=asked))
    assert str(node(tell(deleting, "reported", phase="Running", uid=B)).facets[0].base) == "Running [Ok]"


def test_an_earlier_life_is_refused_for_ever() -> None:
    given = there(A).event("node", "reported", N, {"phase": "Running", "uid": B})
    for trigger, data in (
        ("reported", {"phase": "Running", "seen": given.position - 1}), ("reported", {"phase": DELETED}),
        ("adopt", {"phase": "Running"}), ("deleted", {}), ("heartbeat", {}),
    ):  # fmt: skip
        message = refused(tell(given, trigger, uid=A, **data))
        assert "an earlier life; aws:i-b is there since event" in message
    again = given.event("node", "reported", N, {"phase": "Running", "uid": C})
    assert former(node(again)) == (A, B)
    refused(tell(again, "reported", phase="Running", uid=B))


def test_the_last_eight_identities_of_earlier_lives_are_kept() -> None:
    given = there(A)
    for number in range(12):
        given = given.event("node", "reported", N, {"phase": "Running", "uid": f"aws:{number}"})
    assert former(node(given)) == tuple(f"aws:{number}" for number in range(11 - MOST_FORMER, 11))


def test_a_report_that_has_not_seen_the_birth_begins_no_life() -> None:
    given = there(A)
    message = refused(tell(given, "reported", phase="Running", uid=B, seen=node(given).born - 1))
    assert "has seen records up to" in message
    assert own(tell(given, "reported", phase="Running", uid=B, seen=node(given).born))


def test_a_new_life_of_a_cluster_ends_what_lives_below_unseen() -> None:
    given = there(A).event("cluster", "reported", "c", {"phase": "Running", "uid": "k8s:1"})
    then = given.when("cluster", "reported", "c", {"phase": "Running", "uid": "k8s:2"})
    ended = [one for one in then.transitions if one.entity.id != "c"]
    assert {one.entity.id for one in ended} == {"c/p", N}
    assert {one.entity.attributes["end"] for one in ended} == {"assumed"}
    first = then.transitions[0]
    assert (first.entity.id, first.before, first.after, first.noted.replaced) == (
        "c",
        first.after,
        first.after,
        "k8s:1",
    )
    assert former(node(then)) == ()
    back = testing.Given(then.kinds, then.tree, given.now, given.clock + 10, given.position + 1, frozenset())
    back = back.event("node", "reported", N, {"phase": "Running", "uid": B})
    assert former(node(back)) == (A,)


def test_what_ended_begins_again_with_the_memory_of_earlier_lives() -> None:
    gone = there(A).event("node", "delete", N).event("node", "deleted", N)
    assert identity(node(gone)) == {"aws": "i-a"}
    again = gone.event("node", "create", N)
    assert (identity(node(again)), former(node(again))) == ({}, (A,))
    refused(tell(again, "created", uid=A))
    refused(tell(again.event("node", "created", N), "deleted", uid=A))


def test_a_late_adoption_does_not_bring_back_what_was_seen_to_be_gone() -> None:
    gone = there(A).event("node", "deleted", N)
    assert "seen to be gone" in refused(tell(gone, "adopt", phase="Running", uid=A))
    assert own(tell(gone, "reported", phase="Running", uid=A, seen=node(gone).asked))
    back = tell(gone, "adopt", phase="Running", uid=B)
    assert (identity(node(back)), former(node(back))) == ({"aws": "i-b"}, (A,))


def test_what_was_moved_away_may_come_back_to_its_place() -> None:
    place, data = "shop/shop/apps:ReplicaSet/ns/rs/core:Pod:ns:p", {"live": MOVED, "uid": "k8s:2"}
    above = testing.given(KINDS).event("resource", "observed", place.rpartition("/")[0], {"live": OWNER})
    there_was = above.event("owned_object", "observed", place, data)
    left = there_was.event("owned_object", "removed", place, {"moved": True})
    assert "end" not in left.entity("owned_object", place).attributes
    back = left.when("owned_object", "observed", place, data)
    assert (back.rejection, back.entity("owned_object", place).facets[0].state.phase) == (None, "Healthy")
    for gone in (
        there_was.event("owned_object", "removed", place),
        there_was.event("owned_object", "observed", place, {"live": None, "uid": "k8s:2"}),
    ):
        gone.when("owned_object", "observed", place, data).then_rejected("stale", "seen to be gone")
        gone.when("owned_object", "observed", place, {**data, "uid": "k8s:3"}).then("owned_object", place, "Healthy")


@pytest.mark.parametrize("seen", [True, False])
def test_a_thing_that_is_there_again_is_heard_again_by_all_its_names(seen: bool) -> None:
    known = there().event("node", "heartbeat", N, {"uid": "k8s:1"})
    gone = known.event("node", "deleted", N) if seen else known.event("cluster", "deleted", "c")
    if not seen:
        gone = gone.event("cluster", "reported", "c", {"phase": "Running", "seen": node(gone).asked})
        gone = gone.event("node_pool", "reported", "c/p", {"phase": "Running"})
    told = {"phase": "Running", "uid": A, **({"seen": node(gone).asked} if seen else {})}
    again = gone.event("node", "reported", N, told)
    assert (identity(node(again)), former(node(again))) == ({"aws": "i-a", "k8s": "1"}, ())
    for uid in (A, "k8s:1"):
        assert tell(again, "not_ready", uid=uid).transitions


def test_an_identity_that_was_not_kept_is_none_that_has_ended() -> None:
    given = there(None)
    for scheme in "abcd":
        given = given.event("node", "heartbeat", N, {"uid": f"{scheme}:1"})
    gone = given.event("node", "deleted", N)
    refused(tell(gone, "adopt", phase="Running", uid="a:1"))
    refused(tell(gone, "adopt", phase="Running", uid="e:1"), "illegal")


def test_another_thing_in_the_place_of_a_deleted_one_needs_not_have_seen_its_end() -> None:
    gone = there(A).event("node", "deleted", N)
    refused(tell(gone, "reported", phase="Running"))
    assert own(tell(gone, "reported", phase="Running", uid=B))
    assert B in refused(tell(gone, "deleted", uid=B))


def test_what_is_left_behind_may_name_itself() -> None:
    gone = there(A).event("cluster", "deleted", "c")
    then = tell(gone, "reported", phase="Running", uid=A)
    assert node(then).attributes["end"] == "contradicted"
    other = tell(gone, "reported", phase="Running", uid=B)
    assert (identity(node(other)), former(node(other))) == ({"aws": "i-b"}, (A,))
    assert node(other).attributes["end"] == "contradicted"


@pytest.mark.parametrize("kind", ["resource", "bundle_resource", "rsync_resource", "application"])
def test_a_declared_place_only_shows_what_stands_there(kind: str) -> None:
    assert KINDS[kind].table.replaced_by is None


def test_a_declared_place_lives_on_whatever_stands_there() -> None:
    given = testing.given(KINDS).event("application", "observed", "r/a", {"uid": "k8s:1"})
    then = given.when("application", "observed", "r/a", {"uid": "k8s:2"})
    assert then.rejection is None
    entity = then.tree.get("application", "r/a")
    assert entity is not None
    assert (identity(entity), former(entity)) == ({"k8s": "2"}, ())


# ---- snapshots


def snapshot(given: testing.Given, *items: dict[str, Any], **data: Any) -> testing.Then:
    return given.when("node_pool", "snapshot", "c/p", {"kind": "node", "items": list(items), **data})


def test_an_item_of_a_snapshot_brings_its_identity() -> None:
    then = snapshot(there(None), {"id": "n", "phase": "Running", "uid": A})
    (mark,) = then.records
    assert isinstance(mark, Mark)
    assert (mark.cause.by, identity(node(then))) == ("cascade", {"aws": "i-a"})
    assert snapshot(there(A), {"id": "n", "phase": "Running", "uid": A}).records == ()


def test_an_item_of_a_snapshot_begins_a_new_life() -> None:
    then = snapshot(there(A), {"id": "n", "phase": "Running", "uid": B})
    (record,) = own(then)
    assert (record.unasked, record.noted.replaced) == (True, A)
    assert (identity(record.entity), former(record.entity)) == ({"aws": "i-b"}, (A,))


def test_an_item_about_an_earlier_life_is_left_out_and_its_place_does_not_end() -> None:
    given = there(A).event("node", "reported", N, {"phase": "Running", "uid": B})
    for item in ({"phase": "Running", "uid": A}, {"phase": DELETED, "uid": A}, {"phase": "Running", "uid": "nonsense"}):
        then = snapshot(given, {"id": "n", **item})
        refused(then, "left_out")
        assert identity(node(then)) == {"aws": "i-b"}


def test_a_snapshot_that_is_older_than_the_life_does_not_end_it() -> None:
    given = there(None)
    message = refused(snapshot(given, seen=node(given).born - 1))
    assert f"node {N} is Running [Ok]: event {node(given).born} showed that it is there" in message
    assert node(snapshot(given, seen=node(given).born)).facets[0].base.phase == DELETED
    assert node(snapshot(given)).facets[0].base.phase == DELETED


# ---- born


def test_a_life_is_born_with_its_request_and_then_with_what_first_shows_it() -> None:
    asked = POOL.event("node", "create", N)
    request = node(asked).born
    assert request == node(asked).asked == asked.position - 1
    deleting = asked.event("node", "delete", N)
    assert node(deleting).born == request
    shown = deleting.event("node", "reported", N, {"phase": "Running", "seen": node(deleting).asked})
    assert node(shown).born == shown.position - 1
    assert node(shown.event("node", "not_ready", N)).born == node(shown).born


def test_that_nothing_came_of_a_request_does_not_show_a_thing() -> None:
    asked = POOL.event("node", "create", N)
    failed = asked.event("node", "init_failed", N)
    assert node(failed).born == node(asked).born
    assert node(failed.event("node", "reported", N, {"phase": "Running"})).born == failed.position


@pytest.mark.parametrize(("trigger", "data"), [("deleted", {}), ("reported", {"phase": DELETED})])
def test_seen_below_born_ends_no_life(trigger: str, data: dict[str, Any]) -> None:
    given = there(None)
    message = refused(tell(given, trigger, seen=node(given).born - 1, **data))
    assert f"seen at or above {node(given).born}, if it is gone" in message
    assert node(tell(given, trigger, seen=node(given).born, **data)).facets[0].base.phase == DELETED
    assert node(tell(given, trigger, **data)).facets[0].base.phase == DELETED


def test_seen_below_born_tells_of_a_request_that_nothing_has_answered() -> None:
    given = POOL.event("node", "create", N)
    assert "asked for it" in refused(tell(given, "deleted", seen=0))


def test_live_phases_are_taken_as_before() -> None:
    assert own(tell(there(None), "reported", phase="Failed", conditions=["NotReady"], seen=0))


def test_an_adopted_parent_is_born_with_what_adopts_it() -> None:
    given = testing.given(KINDS).event("node", "adopt", N, {"phase": "Running"})
    assert given.entity("cluster", "c").born == given.position - 1


# ---- requests that are meant for one version


@pytest.mark.parametrize("version", [0, 1, 3])
def test_a_request_for_another_version_is_refused(version: int) -> None:
    message = refused(tell(there(), "delete", if_version=version), "changed")
    assert f"node {N} is Running [Ok], version 2: delete was meant for" in message
    assert "then delete with if_version 2" in message


def test_a_request_for_the_present_version_is_taken() -> None:
    assert own(tell(there(), "delete", if_version=2))
    assert own(tell(there(), "configure", if_version=2, deadline=7))
    assert own(tell(POOL, "create", if_version=0))
    gone = there().event("node", "deleted", N)
    assert own(tell(gone, "create", if_version=0))
    assert own(tell(gone, "create", if_version=3))
    refused(tell(gone, "create", if_version=2), "changed")
    assert "then create with if_version 0" in refused(tell(POOL, "create", if_version=1), "changed")
    assert refused(tell(POOL, "delete", if_version=1), "changed").endswith(": look at what is there now")


def test_a_version_of_a_wrong_form_is_invalid() -> None:
    for version in (-1, "2", 2.0):
        refused(tell(there(), "delete", if_version=version), "invalid")


def test_records_of_contact_do_not_count() -> None:
    given = CLUSTER.event("cluster", "configure", "c", {"silence_after": 60})
    saw = given.entity("cluster", "c").version
    heard = given.event("cluster", "heartbeat", "c")
    now = heard.entity("cluster", "c").version
    assert now > saw
    for version in (saw, now):
        assert heard.when("cluster", "update", "c", {"if_version": version}).rejection is None
    assert isinstance(heard.when("cluster", "update", "c", {"if_version": saw - 1}).rejection, Rejection)
    moved = heard.event("cluster", "update", "c")
    assert isinstance(moved.when("cluster", "update", "c", {"if_version": saw}).rejection, Rejection)


def test_an_observation_has_no_version() -> None:
    assert own(tell(there(), "not_ready", if_version="nonsense"))


@pytest.mark.parametrize(
    ("data", "attributes"), [({"moved": True}, {}), ({"moved": False}, {"end": "seen"}), ({}, {"end": "seen"})]
)
@pytest.mark.parametrize("contact", [True, False])
def test_what_only_left_its_place_did_not_end_on_either_way(
    data: dict[str, bool], attributes: dict[str, str], *, contact: bool
) -> None:
    """A kind without the facet contact takes the short way."""
    own = () if contact else (Field("heard_at", str, "where it is heard"),)
    table = lamp(attributes=own, fields={"deleted": (Field("moved", bool, "whether it only left its place"),)})
    life = testing.given(table).state("lamp", "r/l", "On [Ok]").event("lamp", "deleted", "r/l", data)
    assert life.entity("lamp", "r/l").attributes == attributes
