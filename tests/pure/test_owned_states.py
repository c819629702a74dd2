"""Objects that other objects made, and the Events about them: the states that follow, and what `why` says.

Belongs here: events in, states and explanations out. Does not: observing (`test_owned_objects`).
"""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.log.explain.model import FacetExplanation
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.engine.surfaces.http.fleet.fleet import NONE, LiveFleet
from phaseline.machines.compiler.relations import nearest, shown_below
from phaseline.machines.kinds.gitops.happenings import KEPT, joined
from phaseline.machines.kinds.kubernetes.health.registry import assess_health
from phaseline.machines.kinds.kubernetes.profiles import PROFILES
from phaseline.schemas.records import Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.explanations import explanation, parts
from tests.support.gitops_history import APP, GitOpsHistory
from tests.support.manifests import Manifest, kubernetes_object
from tests.support.owned_objects import (
    BACK_OFF,
    CRASHING,
    DEPLOYED,
    OF_POD,
    OF_SET,
    POD,
    READY,
    REPLICA_SET,
    SET,
    WEB,
    happening,
    named,
    pod,
    replica_set,
    waiting,
    web,
)
from tests.support.strategies import event


def observed(*found: Manifest, history: GitOpsHistory | None = None, observer: Observer | None = None) -> GitOpsHistory:
    """A history of what an observer tells of these objects."""
    history, observer = history or GitOpsHistory(), observer or Observer("/t", APP)
    for one in found:
        tell(history, observer.see(ObjectChange(one)))
    tell(history, observer.missing())
    return history


def tell(history: GitOpsHistory, events: Iterable[dict[str, Any]]) -> None:
    for one in events:
        kind, _, entity_id = one["subject"].partition("/")
        history.do(kind, one["type"].partition(".")[2], entity_id, **one.get("data", {}))


def health(history: GitOpsHistory, entity_id: str) -> str:
    return str(history.history.tree.entities["owned_object"][entity_id].facets[0].state)


def test_what_is_owned_does_not_count_for_the_application() -> None:
    history = observed(web(available=1), replica_set(DEPLOYED, available=1), CRASHING)
    assert history.states("application", APP) == ("Healthy", "NotCompared")
    assert (health(history, OF_SET), health(history, OF_POD)) == ("Healthy", "Degraded")


def test_what_is_owned_ends_with_its_resource() -> None:
    history = observed(DEPLOYED, SET, CRASHING)
    history.do("resource", "removed", WEB)
    assert {health(history, one) for one in (OF_SET, OF_POD)} == {"Deleted"}


def test_a_list_ends_what_it_does_not_name() -> None:
    history = observed(DEPLOYED, SET, CRASHING)
    name = f"apps:ReplicaSet:shop:{REPLICA_SET}"
    listed = {"kind": "owned_object", "items": [{"id": name}]}
    assert history.history.take(event("resource", "snapshot", WEB, listed)).accepted
    assert (health(history, OF_SET), health(history, OF_POD)) == ("Progressing", "Deleted")


def test_a_manifest_of_another_object_is_refused() -> None:
    history = observed(DEPLOYED, SET)
    refused = history.refused("owned_object", "observed", OF_SET, live=CRASHING)
    assert refused.message.startswith("data.live is of core:Pod, the id is of apps:ReplicaSet")
    for name in ("web", "Pod:web", "core:Pod:web"):
        assert "ends in no" in history.refused("owned_object", "observed", f"{WEB}/{name}", live=CRASHING).message
    assert history.say("owned_object", "observed", OF_SET, live=None).accepted
    assert health(history, OF_SET) == "Deleted"


def test_a_pod_that_takes_its_time_has_no_deadline() -> None:
    """The Deployment that waits for it has one, and a Job may run for hours."""
    history = observed(DEPLOYED, SET, pod(SET, status={"phase": "Pending"}))
    owned = history.history.tree.entities["owned_object"][OF_POD]
    assert (str(owned.facets[0].state), dict(owned.timers_ns)) == ("Progressing", {})
    assert history.history.tree.entities["resource"][WEB].timers_ns


# ---- nesting


def test_below_what_an_owned_object_is_shown() -> None:
    above = [*shown_below(BUILT_IN_KINDS, "owned_object", OF_POD)]
    assert above == [("owned_object", OF_SET), ("resource", WEB)]
    assert nearest(BUILT_IN_KINDS, "owned_object", OF_POD, {("resource", WEB)}) == ("resource", WEB)
    assert nearest(BUILT_IN_KINDS, "owned_object", OF_POD, set()) is None
    assert [*shown_below(BUILT_IN_KINDS, "resource", f"{APP}/core:ConfigMap/shop/a~b")] == [("application", APP)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (2, 0, 1)])
def test_the_fleet_in_memory_nests_in_whatever_order_they_come(order: tuple[int, ...]) -> None:
    history = GitOpsHistory()
    history.do("resource", "observed", WEB, live=DEPLOYED)
    history.do("owned_object", "observed", OF_SET, live=SET)
    history.do("owned_object", "observed", OF_POD, live=CRASHING)
    names = [("resource", WEB), ("owned_object", OF_SET), ("owned_object", OF_POD)]
    last = {
        (r.entity.kind, r.entity.id): r
        for step in history.history.steps
        for r in step.records
        if isinstance(r, Transition)
    }
    fleet = LiveFleet(BUILT_IN_KINDS)
    for place, at in enumerate(order, 1):
        fleet.apply(place, last[names[at]])
    numbers = [fleet.number(*one) for one in names]
    assert [fleet.parents[number] for number in numbers if number is not None] == [NONE, numbers[0], numbers[1]]


# ---- why


def parts_of(history: GitOpsHistory, kind: str, entity_id: str) -> dict[str, FacetExplanation]:
    return {one.id: one for one in parts(explanation(history.history, kind, entity_id)) if one.facet == "health"}


@pytest.mark.parametrize(("kind", "entity_id"), [("application", APP), ("resource", WEB), ("owned_object", OF_SET)])
def test_why_goes_down_to_the_pod_that_crashes(kind: str, entity_id: str) -> None:
    history = observed(DEPLOYED, SET, CRASHING, happening(CRASHING, "BackOff", "Back-off restarting", count=12))
    found = parts_of(history, kind, entity_id)[OF_POD]
    assert (str(found.state), found.message) == ("Degraded", f"CrashLoopBackOff: {BACK_OFF}")
    waits, ended = found.evidence
    assert (waits["condition"], waits["status"], waits["reason"]) == ("container app", "waiting", "CrashLoopBackOff")
    assert (ended["condition"], ended["reason"]) == ("the last run of container app", "exit code 1, Error")
    assert ended["since"] == "2026-03-02T08:09:00Z"
    assert [(one["reason"], one["count"]) for one in found.news] == [("BackOff", 12)]


def test_why_leaves_out_what_is_well_and_names_the_worst() -> None:
    pods = [pod(SET, f"p-{at}", READY) for at in range(5)]
    pending = [pod(SET, f"q-{at}", {"phase": "Pending"}) for at in range(5)]
    found = parts_of(observed(DEPLOYED, SET, *pods, *pending, CRASHING), "resource", WEB)
    assert found[WEB].below_count == 6
    assert [one.id.rpartition(":")[2] for one in found[WEB].below] == [POD, "q-0", "q-1"]


def test_why_of_what_is_well_names_nothing_below() -> None:
    found = parts_of(observed(web(available=1), SET, CRASHING), "resource", WEB)
    assert found[WEB].below == ()


def test_an_owner_that_has_failed_itself_is_not_hidden_by_a_pod_that_waits() -> None:
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota"}
    failed = {**SET, "status": {**SET["status"], "conditions": [failure]}}
    found = parts_of(observed(DEPLOYED, failed, pod(SET, "p", {"phase": "Pending"})), "resource", WEB)
    assert next((one.id, one.message) for one in found[WEB].below) == (OF_SET, "exceeded quota")
    assert found[WEB].below_count == 2


def test_a_job_of_a_cron_job_and_its_pod() -> None:
    cron = kubernetes_object("batch/v1", "CronJob", metadata=named("nightly"), spec={}, status={})
    failed = [{"type": "Failed", "status": "True", "message": "Job has reached the specified backoff limit"}]
    job = kubernetes_object("batch/v1", "Job", metadata=named("nightly-1", cron), status={"conditions": failed})
    ended = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-03-02T08:09:00Z"}}
    status = {"phase": "Failed", "containerStatuses": [{"name": "app", "state": ended}]}
    found = observed(cron, job, pod(job, "nightly-1-x", status))
    of_pod = f"{APP}/batch:CronJob/shop/nightly/batch:Job:shop:nightly-1~core:Pod:shop:nightly-1-x"
    assert health(found, of_pod) == "Degraded"
    (evidence,) = found.attributes("owned_object", of_pod)["evidence"]
    assert (evidence["condition"], evidence["status"], evidence["reason"]) == ("container app", "terminated", "exit code 137, OOMKilled")  # fmt: skip


# ---- what a Pod says


@pytest.mark.parametrize(("status", "evidence"), [
    (waiting("ImagePullBackOff", 'Back-off pulling image "web:9"', None), ['container app waiting (ImagePullBackOff): Back-off pulling image "web:9"']),
    ({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}]},
     ["PodScheduled False (Unschedulable): 0/3 nodes are available"]),
    ({"phase": "Pending", "initContainerStatuses": [{"name": "init", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}, ["container init waiting (CrashLoopBackOff)"]),
    (READY, []),
])  # fmt: skip
@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_what_a_pod_names_as_reason(status: Manifest, evidence: list[str], profile: Any) -> None:
    assert [str(one) for one in assess_health(pod(None, status=status), profile).evidence] == evidence


def test_a_part_that_cannot_be_read_names_no_reason_and_decides_nothing() -> None:
    odd = {**waiting(), "initContainerStatuses": [3]}
    assert assess_health(pod(None, status=odd), PROFILES["argocd"]).status == "Degraded"


# ---- Events


def events(history: GitOpsHistory, kind: str = "owned_object", entity_id: str = OF_POD) -> list[tuple[str, int]]:
    found = history.attributes(kind, entity_id).get("events", ())
    return [(one["reason"], one.get("count", 1)) for one in found]


def test_events_of_another_life_are_left_out() -> None:
    history = observed(DEPLOYED, SET, CRASHING)
    told = [{"type": "Warning", "reason": "BackOff", "message": "again", "count": 3, "last": "2026-03-02T08:10:00Z"}]
    history.say("owned_object", "events_seen", OF_POD, uid="u-old", events=told)
    assert events(history) == []
    history.do("owned_object", "events_seen", OF_POD, uid=f"u-{POD}", events=told)
    assert events(history) == [("BackOff", 3)]
    history.do("owned_object", "observed", OF_POD, live=pod(SET, uid="u-new"))
    assert events(history) == []


def test_events_do_not_change_a_state_and_stay_over_observations() -> None:
    history = observed(DEPLOYED, happening(DEPLOYED, "ScalingReplicaSet", "Scaled up", count=2))
    assert events(history, "resource", WEB) == [("ScalingReplicaSet", 2)]
    before = history.states("resource", WEB)
    history.observe(web(available=1))
    assert events(history, "resource", WEB) == [("ScalingReplicaSet", 2)]
    assert before == ("Progressing", "NotCompared")


HAPPENING = st.fixed_dictionaries(
    {"reason": st.sampled_from("ABCDEFGHIJKL"), "message": st.sampled_from(["", "x", "y"]), "count": st.integers(1, 5)},
    optional={"first": st.sampled_from(["1", "2"]), "last": st.sampled_from(["1", "2", "3"]), "by": st.just("k")},
)


@given(st.lists(HAPPENING, max_size=12), st.randoms())
def test_events_come_in_any_order_and_often(told: list[dict[str, Any]], rng: Any) -> None:
    """As long as none has to be left out."""
    distinct = {(one["reason"], one["message"]) for one in told}
    if len(distinct) > KEPT:
        return
    once = joined([], told)
    again = [*told, *told]
    rng.shuffle(again)
    found: list[Any] = []
    for one in again:
        found = joined(found, [one])
    assert found == once
    assert all(
        one["count"]
        == max(x["count"] for x in told if (x["reason"], x["message"]) == (one["reason"], one.get("message", "")))
        for one in once
    )


def test_events_that_are_no_events() -> None:
    history = observed(DEPLOYED)
    odd = [3, {}, {"reason": 3}, {"reason": "A", "count": True, "message": "m" * 5_000, "other": "x"}]
    history.do("resource", "events_seen", WEB, events=[one for one in odd if isinstance(one, dict)])
    (found,) = history.attributes("resource", WEB)["events"]
    assert (found["reason"], len(found["message"]), set(found)) == ("A", 512, {"reason", "message"})
