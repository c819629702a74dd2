"""What an EMCO update, a rollback, a stop and a terminate leave behind: nothing that nobody will ever delete.

Belongs here: stories about several contexts of one resource. Does not: one context alone (`test_emco_stories`), every
row (`test_emco_tables`), deadlines (`test_emco_deadlines`).
"""

import pytest

from phaseline.schemas.records import Transition
from tests.support.emco_history import CTX, GROUP, NEW, EmcoHistory, cluster, context, instantiated, resource, told
from tests.support.emco_status import ask

A, B, C = resource("dep+Deployment"), resource("svc+Service"), resource("net+Network", ctx=NEW)
NEW_A = resource("dep+Deployment", ctx=NEW)
THIRD = "c3"
REPORT = {
    "deploymentStatuses": [{"metadata": {"name": "dep"}, "spec": {"replicas": 1}, "status": {"readyReplicas": 1}}]
}


def updated() -> EmcoHistory:
    """A and B were applied in c1. Then c2, with A and C, took over; B is to be deleted."""
    life = instantiated(A, B).each("applied", A, B).context(NEW_A, C, ctx=NEW)
    return life.do("emco_resource", "update", GROUP, context=NEW)


def contexts(life: EmcoHistory) -> list[str]:
    names = sorted(life.history.tree.entities["app_context"])
    return [life.state("app_context", name) for name in names]


# ---- handing over


def test_what_both_contexts_have_is_handed_over_with_a_message_that_names_the_new_one() -> None:
    life = updated()
    records = [r for r in life.history.steps[-1].records if isinstance(r, Transition) and r.entity.id == A]
    assert [(r.facet, str(r.after), r.trigger, r.cause.by) for r in records] == [
        (facet, "Deleted", "hand_over", "cascade") for facet in ("rsync", "cluster", "health")
    ]
    assert {r.message for r in records} == {f"handed over to app_context {context(NEW)}"}
    assert life.attributes("rsync_resource", A)["handed_over_to"] == NEW
    assert life.attributes("app_context", context())["taken_over_by"] == NEW
    assert life.state("rsync_resource", B) == "Applied"  # it is to be deleted, and says so when it is
    assert contexts(life) == ["Updating", "Instantiating"]


def test_nothing_of_an_old_context_stays_applied_after_it_is_updated() -> None:
    life = updated().each("applied", NEW_A, C).each("terminated", B)
    assert contexts(life) == ["Updated", "Instantiated"]
    assert [life.state("rsync_resource", name) for name in (A, B)] == ["Deleted", "Terminated"]
    assert ask(life, instance=CTX, output="summary")["rsync-status"] == {"Terminated": 1}
    assert life.refused("rsync_resource", "applied", A).reason == "illegal"


def test_a_failure_among_what_both_have_does_not_fail_the_update() -> None:
    life = instantiated(A, B).each("applied", B).do("rsync_resource", "failed", A).context(NEW_A, ctx=NEW)
    life.do("emco_resource", "update", GROUP, context=NEW)
    assert contexts(life) == ["Updating", "Instantiating"]
    life.do("rsync_resource", "failed", B)
    assert contexts(life)[0] == "UpdateFailed"


def test_an_update_repairs_a_failed_rollout() -> None:
    life = instantiated(A, B).each("applied", A).do("rsync_resource", "failed", B).context(NEW_A, ctx=NEW)
    step = life.say("emco_resource", "update", GROUP, context=NEW)
    assert ("rsync_resource svc+Service rsync", "Pending", "terminate", "cascade") in told(step)
    assert contexts(life) == ["Updating", "Instantiating"]
    life.each("terminated", B).each("applied", NEW_A)
    assert contexts(life) == ["Updated", "Instantiated"]


def test_an_update_that_the_current_context_cannot_take_is_rejected_and_changes_nothing() -> None:
    life = instantiated(A, B).each("applied", A).context(NEW_A, ctx=NEW)
    refused = life.refused("emco_resource", "update", GROUP, context=NEW)
    assert refused.reason == "guard"
    assert "is Instantiating, update needs Instantiated, InstantiateFailed or Stalled" in refused.message
    assert contexts(life) == ["Instantiating", "Created"]
    life.do("emco_resource", "stop", GROUP)
    life.refused("emco_resource", "update", GROUP, context=NEW)  # a stop does not end what is under way
    life.each("applied", B).do("emco_resource", "update", GROUP, context=NEW)
    assert contexts(life) == ["Updating", "Instantiating"]  # the stop is over


# ---- rolling back


def test_a_rollback_takes_back_what_was_handed_over() -> None:
    life = updated().each("applied", NEW_A, C).each("terminated", B)
    step = life.say("emco_resource", "rollback", GROUP, revision=1)
    assert contexts(life) == ["Instantiating", "Updating"]
    assert [life.state("rsync_resource", name) for name in (A, B, NEW_A, C)] == [
        "Pending", "Pending", "Deleted", "Applied",
    ]  # fmt: skip
    assert ("rsync_resource dep+Deployment cluster", "Unknown", "instantiate", "cascade") in told(step)
    assert "handed_over_to" not in life.attributes("rsync_resource", A)
    assert life.attributes("rsync_resource", NEW_A)["handed_over_to"] == CTX
    life.each("applied", A, B).each("terminated", C)
    assert contexts(life) == ["Instantiated", "Updated"]
    life.do("emco_resource", "rollback", GROUP, revision=2)
    assert contexts(life) == ["Updating", "Instantiating"]
    assert life.state("rsync_resource", NEW_A) == "Pending"


def test_what_was_handed_on_twice_comes_back_to_the_first() -> None:
    third_a = resource("dep+Deployment", ctx=THIRD)
    life = updated().each("applied", NEW_A, C).each("terminated", B).context(third_a, ctx=THIRD)
    life.do("emco_resource", "update", GROUP, context=THIRD).each("applied", third_a).each("terminated", C)
    assert contexts(life) == ["Updated", "Updated", "Instantiated"]
    life.do("emco_resource", "rollback", GROUP, revision=1)
    assert [life.state("rsync_resource", name) for name in (A, NEW_A, third_a)] == ["Pending", "Deleted", "Deleted"]


def test_nothing_comes_back_from_an_earlier_life() -> None:
    life = updated().each("applied", NEW_A, C).each("terminated", B).do("emco_resource", "terminate", GROUP)
    life.each("terminated", NEW_A, C).do("emco_resource", "delete", GROUP)
    life.group().context(B).do("emco_resource", "instantiate", GROUP, context=CTX)
    assert [life.state("rsync_resource", name) for name in (A, B)] == ["Deleted", "Pending"]
    life.each("applied", B).context(resource("dep+Deployment", ctx=THIRD), ctx=THIRD)
    life.do("emco_resource", "update", GROUP, context=THIRD)
    assert life.state("rsync_resource", A) == "Deleted"


def test_to_apply_another_context_is_an_update_of_what_is_no_group() -> None:
    life = EmcoHistory().do("emco_resource", "create", GROUP, type="logical_cloud").context(A, B)
    life.do("emco_resource", "apply", GROUP, context=CTX).each("applied", A, B)
    life.do("emco_resource", "apply", GROUP, context=CTX)
    assert contexts(life) == ["Instantiated"]
    life.context(NEW_A, ctx=NEW).do("emco_resource", "apply", GROUP, context=NEW)
    assert contexts(life) == ["Updating", "Instantiating"]
    assert [life.state("rsync_resource", name) for name in (A, B)] == ["Deleted", "Applied"]
    life.each("terminated", B)
    life.do("emco_resource", "apply", GROUP, context=NEW)
    assert contexts(life) == ["Updated", "Instantiating"]


# ---- adding


@pytest.mark.parametrize("asked", ["PreTerminate", "Terminating", "Updating"])
def test_nothing_is_added_to_a_context_that_was_asked_to_go(asked: str) -> None:
    late = resource("late+ConfigMap")
    life = instantiated(A, B).each("applied", A)
    if asked == "PreTerminate":
        life.do("emco_resource", "terminate", GROUP)
    elif asked == "Terminating":
        life.each("applied", B).do("emco_resource", "terminate", GROUP).each("terminated", B)
    else:
        life.each("applied", B).context(NEW_A, ctx=NEW).do("emco_resource", "update", GROUP, context=NEW)
        life.each("terminated", B)
    for name in (late, B):
        before = life.history.tree.get("rsync_resource", name)
        assert life.refused("rsync_resource", "add", name).reason in ("guard", "illegal")
        assert life.history.tree.get("rsync_resource", name) is before
    refused = life.refused("rsync_resource", "add", late)
    assert "add needs Created or Instantiate" in refused.message


# ---- terminating


@pytest.mark.parametrize("trigger", ["terminated", "deleted"])
def test_a_deletion_that_is_reported_ends_pre_terminate(trigger: str) -> None:
    life = instantiated(A, B).each("applied", A).do("emco_resource", "terminate", GROUP)
    life.do("rsync_resource", "failed", B)
    assert life.state("app_context", context()) == "PreTerminate"
    step = life.say("rsync_resource", trigger, A)
    assert told(step) == [
        ("rsync_resource dep+Deployment rsync", "Terminated", trigger, "event"),
        ("app_context c1 phase", "Terminating", "deletion_seen", "cascade"),
        ("rsync_resource svc+Service rsync", "Pending", "terminate", "cascade"),
    ]
    life.each(trigger, B)
    assert life.state("app_context", context()) == "Terminated"


def test_terminate_is_asked_again_after_it_failed() -> None:
    life = instantiated(A, B).each("applied", A, B).do("emco_resource", "terminate", GROUP)
    assert life.refused("emco_resource", "terminate", GROUP).reason == "guard"
    life.each("terminated", A).do("rsync_resource", "failed", B)
    assert life.state("app_context", context()) == "TerminateFailed"
    life.do("emco_resource", "terminate", GROUP)
    assert [life.state("emco_resource", GROUP), life.state("rsync_resource", B)] == ["Terminated", "Pending"]
    assert life.state("app_context", context()) == "Terminating"
    life.each("terminated", B)
    assert life.refused("emco_resource", "terminate", GROUP).reason == "guard"


def test_terminate_goes_to_old_contexts_that_own_something_too() -> None:
    life = updated().each("applied", NEW_A, C).do("rsync_resource", "failed", B)
    assert contexts(life) == ["UpdateFailed", "Instantiated"]
    life.do("emco_resource", "terminate", GROUP)
    assert contexts(life) == ["Terminating", "Terminating"]
    assert life.state("rsync_resource", B) == "Pending"
    life.each("terminated", B, NEW_A, C)
    assert contexts(life) == ["Terminated", "Terminated"]


def test_a_deletion_that_fails_after_the_terminate_is_asked_for_again() -> None:
    life = updated().each("applied", NEW_A, C).do("emco_resource", "terminate", GROUP)
    life.each("terminated", NEW_A, C).do("rsync_resource", "failed", B)
    assert contexts(life) == ["TerminateFailed", "Terminated"]
    life.refused("emco_resource", "delete", GROUP)
    life.do("emco_resource", "terminate", GROUP).each("terminated", B).do("emco_resource", "delete", GROUP)


def test_terminate_leaves_old_contexts_alone_that_own_nothing() -> None:
    life = updated().each("applied", NEW_A, C).each("terminated", B).do("emco_resource", "terminate", GROUP)
    assert contexts(life) == ["Updated", "Terminating"]


# ---- deleting


def test_nothing_is_deleted_while_an_old_context_owns_what_may_be_in_a_cluster() -> None:
    life = updated().each("applied", NEW_A, C).do("rsync_resource", "failed", B)
    life.do("app_context", "terminate", context(NEW))
    life.do("emco_resource", "terminate", GROUP).each("terminated", NEW_A, C)
    assert contexts(life) == ["Terminating", "Terminated"]
    for trigger in (None, "failed", "terminated"):
        if trigger:
            life.do("rsync_resource", trigger, B)
        refused = trigger != "terminated"
        assert life.say("emco_resource", "delete", GROUP).accepted is not refused, trigger


@pytest.mark.parametrize(
    ("steps", "is_taken"),
    [
        ([], False),  # Pending, and its context was asked to instantiate
        ([("applied", B)], False),
        ([("failed", B)], False),
        ([("retrying", B)], False),
        ([("terminated", B)], True),
    ],
)
def test_what_may_be_in_a_cluster_forbids_delete(steps: list[tuple[str, str]], is_taken: bool) -> None:
    life = instantiated(A, B).each("applied", A).do("emco_resource", "terminate", GROUP)
    for trigger, name in steps:
        life.do("rsync_resource", trigger, name)
    life.each("terminated", A)
    assert life.say("emco_resource", "delete", GROUP).accepted is is_taken


def test_an_unreachable_cluster_forbids_delete() -> None:
    life = instantiated(A).each("applied", A).do("emco_resource", "terminate", GROUP)
    life.do("app_cluster", "disconnected", cluster())
    assert life.state("rsync_resource", A) == "Retrying"
    refused = life.refused("emco_resource", "delete", GROUP)
    assert (refused.reason, "rsync_resource" in refused.message) == ("guard", True)


def test_what_was_never_asked_for_may_be_deleted() -> None:
    life = EmcoHistory().group().context(A, B)
    life.do("emco_resource", "delete", GROUP)
    assert life.state("rsync_resource", A) == "Deleted"


# ---- stopping and going on


@pytest.mark.parametrize(
    ("type_", "again"), [("deployment_intent_group", "Instantiated"), ("logical_cloud", "Applied")]
)
def test_resume_on_the_current_context_ends_a_stop_of_the_resource(type_: str, again: str) -> None:
    life = EmcoHistory().do("emco_resource", "create", GROUP, type=type_).context(A)
    if again == "Instantiated":
        life.do("emco_resource", "approve", GROUP)
    life.do("emco_resource", "instantiate" if again == "Instantiated" else "apply", GROUP, context=CTX)
    life.do("emco_resource", "stop", GROUP)
    step = life.say("app_context", "resume", context())
    assert told(step) == [
        ("app_context c1 phase", "Instantiating", "resume", "event"),
        (f"emco_resource {GROUP} phase", again, "resumed", "cascade"),
    ]
    life.each("applied", A).do("emco_resource", "terminate", GROUP).do("emco_resource", "stop", GROUP)
    assert life.state("emco_resource", GROUP) == "TerminateStopped"
    life.do("app_context", "resume", context())
    assert [life.state("emco_resource", GROUP), *contexts(life)] == ["Terminated", "Terminating"]


def test_resume_on_an_old_context_ends_no_stop() -> None:
    life = instantiated(A).each("applied", A).do("emco_resource", "terminate", GROUP).do("emco_resource", "stop", GROUP)
    life.context(NEW_A, ctx=NEW).do("emco_resource", "instantiate", GROUP, context=NEW).do(
        "emco_resource", "stop", GROUP
    )
    assert contexts(life) == ["Terminating [Stopped]", "Instantiating [Stopped]"]
    life.do("app_context", "resume", context())
    assert life.state("emco_resource", GROUP) == "InstantiateStopped"
    life.do("app_context", "stop", context()).do("emco_resource", "terminate", GROUP)
    assert contexts(life) == ["Terminating", "PreTerminate"]


# ---- reports that are sent to the status context


def test_the_status_context_is_the_first_one_of_an_instantiation() -> None:
    life = updated().each("applied", NEW_A, C).each("terminated", B)
    assert life.attributes("emco_resource", GROUP)["status_context"] == CTX
    life.do("emco_resource", "terminate", GROUP).each("terminated", NEW_A, C).context(ctx=THIRD)
    life.do("emco_resource", "instantiate", GROUP, context=THIRD)
    assert life.attributes("emco_resource", GROUP)["status_context"] == THIRD


def test_a_report_to_the_status_context_reaches_the_current_one() -> None:
    life = updated()
    step = life.say("app_cluster", "bundle_state", cluster(), status=REPORT)
    assert step.accepted
    assert [found[:2] for found in told(step) if found[0].endswith(" cluster")] == [
        ("rsync_resource svc+Service cluster", "NotPresent"),
        ("rsync_resource dep+Deployment cluster", "Present"),
    ]
    assert [life.state("rsync_resource", NEW_A, facet) for facet in (1, 2)] == ["Present", "Progressing"]
    assert life.attributes("app_cluster", cluster(ctx=NEW))["report"] == len(life.history.steps)
    assert life.say("app_cluster", "bundle_state", cluster(), status=REPORT).records == []


def test_a_report_that_is_equal_to_the_last_one_still_reaches_a_context_that_is_new() -> None:
    life = instantiated(A, B).do("app_cluster", "bundle_state", cluster(), status=REPORT).each("applied", A, B)
    life.context(NEW_A, ctx=NEW).do("emco_resource", "update", GROUP, context=NEW)
    assert life.state("rsync_resource", NEW_A, 1) == "Unknown"
    life.do("app_cluster", "bundle_state", cluster(), status=REPORT)
    assert life.state("rsync_resource", NEW_A, 1) == "Present"


def test_a_report_reaches_old_contexts_that_still_have_something_there() -> None:
    third_a = resource("dep+Deployment", ctx=THIRD)
    life = updated().each("applied", NEW_A, C).each("terminated", B).context(third_a, ctx=THIRD)
    life.do("emco_resource", "update", GROUP, context=THIRD)
    listed = {"resourceStatuses": [{"group": "", "version": "v1", "kind": "Network", "name": "net"}]}
    life.do("app_cluster", "bundle_state", cluster(), status=listed)
    assert life.state("rsync_resource", C, 1) == "Present"
    assert life.state("rsync_resource", third_a, 1) == "NotPresent"


def test_a_report_to_another_context_or_about_another_place_goes_nowhere_else() -> None:
    life = updated()
    life.do("app_cluster", "bundle_state", cluster(ctx=NEW), status=REPORT)
    assert life.attributes("app_cluster", cluster()) == {}
    life.do("app_cluster", "bundle_state", cluster("edge9"), status=REPORT)
    assert life.history.tree.get("app_cluster", cluster("edge9", ctx=NEW)) is None


def test_an_old_instance_counts_only_what_it_still_owns() -> None:
    pod = {"podStatuses": [{"metadata": {"name": "dep-1"}}]}
    life = updated().do("app_cluster", "bundle_state", cluster(), status={**REPORT, **pod})
    for output in ("summary", "all"):
        assert ask(life, instance=CTX, output=output)["cluster-status"] == {"NotPresent": 1}, output
        assert ask(life, output=output)["cluster-status"] == {"Present": 2, "Unknown": 1}, output
    [app] = ask(life, instance=CTX)["resources"]
    assert [found["Name"] for found in app["clusters"][0]["resources"]] == ["svc"]
    assert ask(life, instance=CTX, shape="emco", status="ready")["readyCounts"] == {"NotPresent": 1}
    assert ask(life, instance=CTX, shape="emco")["states"]["statusctxid"] == CTX
    assert ask(life, shape="emco")["states"]["statusctxid"] == CTX


# ---- Retrying


def test_retrying_ends_when_the_cluster_can_be_reached() -> None:
    life = instantiated(A, B).each("retrying", A, B).do("app_cluster", "disconnected", cluster())
    assert life.state("rsync_resource", A) == "Retrying"
    step = life.say("app_cluster", "connected", cluster())
    assert ("rsync_resource dep+Deployment rsync", "Pending", "reached", "cascade") in told(step)
    assert life.state("rsync_resource", B) == "Pending"
