"""What EMCO may say is gone: groups with something in a cluster, older contexts under way, what is left behind.

Belongs here: guards of `delete`, rollbacks and late answers while an older context is under way, `status` beside them.
Does not: updates that go on to their end (`test_emco_updates`), every row (`test_emco_tables`).
"""

from phaseline.engine.log.explain.way_out import way_out
from phaseline.engine.products.emco.load import select_status
from phaseline.engine.products.emco.query import read
from phaseline.engine.products.emco.select import StatusSelection
from tests.support.emco_history import CTX, GROUP, NEW, EmcoHistory, cluster, context, instantiated, resource
from tests.support.emco_status import ask

A, B = resource("dep+Deployment"), resource("svc+Service")
NEW_A = resource("dep+Deployment", ctx=NEW)
LISTED = {
    "deploymentStatuses": [{"metadata": {"name": "dep"}, "spec": {"replicas": 1}, "status": {"readyReplicas": 1}}]
}


def updating() -> EmcoHistory:
    """A and B were applied in c1. Then c2, with A, took over; B is to go and has not answered."""
    life = instantiated(A, B).each("applied", A, B).context(NEW_A, ctx=NEW)
    return life.do("emco_resource", "update", GROUP, context=NEW)


# ---- an older context under way


def test_status_says_that_an_older_context_is_under_way() -> None:
    life = updating().each("applied", NEW_A)
    found = ask(life, output="summary")
    assert (found["status"], found["rsync-status"]) == ("Instantiated", {"Applied": 1})
    assert found["previous"] == [{"instance": CTX, "status": "Updating", "rsync-status": {"Applied": 1}}]
    life.do("rsync_resource", "failed", B, reason="Forbidden", message="no")
    [older] = ask(life)["previous"]
    assert older["status"] == "UpdateFailed"
    assert [(one["Name"], one["message"]) for one in older["failures"]] == [("svc", "Forbidden: no")]
    assert [app["app-name"] for app in older["resources"]]
    assert ask(life, shape="emco")["previous"][0]["status"] == "UpdatedFailed"
    assert "previous" not in ask(life, instance=CTX)


def test_status_says_nothing_of_older_contexts_that_are_done() -> None:
    life = updating().each("applied", NEW_A).each("terminated", B)
    assert "previous" not in ask(life)
    assert "left_behind" not in ask(life)


def test_a_rollback_while_the_older_context_is_under_way_waits_for_what_was_told_to_go() -> None:
    life = updating().do("emco_resource", "rollback", GROUP, revision=1)
    assert life.state("rsync_resource", B) == "Pending", "it was told to go, and has not answered"
    assert life.state("rsync_resource", A) == "Pending"
    assert life.state("app_context", context()) == "Instantiating"
    assert life.state("app_context", context(NEW)) == "Updated", "all of it was handed back"
    life.do("rsync_resource", "terminated", B)
    assert life.state("rsync_resource", B) == "Pending"
    life.each("applied", A, B)
    assert life.state("app_context", context()) == "Instantiated"
    assert "previous" not in ask(life)


def test_a_failed_update_is_rolled_back_at_once() -> None:
    life = updating().do("rsync_resource", "failed", NEW_A)
    life.do("emco_resource", "rollback", GROUP, revision=1)
    assert life.state("app_context", context()) == "Instantiating"


def test_a_late_terminated_of_what_is_wanted_makes_it_pending() -> None:
    life = updating().do("emco_resource", "rollback", GROUP, revision=1).each("applied", A, B)
    life.do("rsync_resource", "terminated", B)
    assert life.state("rsync_resource", B) == "Pending"
    life.do("rsync_resource", "deleted", B)
    assert life.state("rsync_resource", B) == "Pending"


def test_instantiate_again_after_a_rollback_leaves_alone_what_is_applied() -> None:
    life = updating().do("emco_resource", "rollback", GROUP, revision=1).each("applied", A, B)
    life.do("app_context", "instantiate", context())
    assert life.state("rsync_resource", B) == "Applied"


def test_terminate_while_an_older_context_is_under_way() -> None:
    life = updating().do("emco_resource", "terminate", GROUP)
    assert life.state("app_context", context()) == "Terminating"
    assert life.state("app_context", context(NEW)) in ("PreTerminate", "Terminating")


# ---- what may be in a cluster


def test_delete_names_what_may_be_in_a_cluster_and_the_two_ways_out() -> None:
    life = instantiated(A, B).each("applied", A, B).do("emco_resource", "terminate", GROUP).each("terminated", B)
    refused = life.refused("emco_resource", "delete", GROUP)
    assert refused.reason == "guard"
    assert A in refused.message
    way = way_out(life.history.tree, refused, None)
    assert f"if it is gone: reported Deleted at rsync_resource {A}" in way
    assert f"or delete at emco_resource {GROUP} with abandon true" in way


def test_what_a_cluster_listed_before_rsync_said_terminated_is_in_no_ones_way() -> None:
    life = instantiated(A).each("applied", A).do("app_cluster", "bundle_state", cluster(), status=LISTED)
    life.do("emco_resource", "terminate", GROUP).each("terminated", A)
    assert life.state("rsync_resource", A, 1) == "Present"
    life.do("emco_resource", "delete", GROUP)
    assert "shows" not in life.attributes("rsync_resource", A)


def test_what_a_cluster_lists_after_rsync_said_terminated_is() -> None:
    life = instantiated(A).each("applied", A).do("app_cluster", "bundle_state", cluster(), status=LISTED)
    life.do("emco_resource", "terminate", GROUP).each("terminated", A)
    life.do("app_cluster", "bundle_state", cluster(), status=LISTED)
    assert life.state("rsync_resource", A, 1) == "Present [Remains]"
    refused = life.refused("emco_resource", "delete", GROUP)
    assert A in refused.message
    life.do("app_cluster", "bundle_state", cluster(), status={"deploymentStatuses": []})
    life.do("emco_resource", "delete", GROUP)


def test_a_group_is_given_up_and_what_it_had_is_left_behind() -> None:
    life = instantiated(A, B).each("applied", A).do("emco_resource", "terminate", GROUP)
    life.do("emco_resource", "delete", GROUP, abandon=True)
    attributes = life.attributes("rsync_resource", A)
    assert (attributes["end"], attributes["shows"]["phase"]) == ("assumed", "Applied")
    assert "shows" not in life.attributes("rsync_resource", B)
    life.do("rsync_resource", "terminated", A)
    assert life.attributes("rsync_resource", A)["end"] == "seen"
    assert "shows" not in life.attributes("rsync_resource", A)


def test_resources_of_an_app_cluster_that_leaves_are_left_behind() -> None:
    life = instantiated(A, B).each("applied", A, B)
    life.do("app_cluster", "reported", cluster(), phase="Deleted")
    found = ask(life)
    assert found["rsync-status"] == {}
    assert [(one["Name"], one["end"], one["shows"]["phase"]) for one in found["left_behind"]] == [
        ("dep", "assumed", "Applied"), ("svc", "assumed", "Applied"),
    ]  # fmt: skip
    life.do("rsync_resource", "deleted", A).do("rsync_resource", "reported", B, phase="Deleted")
    assert "left_behind" not in ask(life)


# ---- what ran before anybody told


def test_a_running_group_is_adopted_and_goes_on() -> None:
    life = EmcoHistory().do("emco_resource", "adopt", GROUP, phase="Instantiated", context=CTX)
    life.do("app_context", "reported", context(), phase="Instantiated")
    life.do("rsync_resource", "reported", A, phase="Applied")
    found = ask(life)
    assert (found["state"], found["status"], found["rsync-status"]) == ("Instantiated", "Instantiated", {"Applied": 1})
    life.context(NEW_A, ctx=NEW).do("emco_resource", "update", GROUP, context=NEW)
    assert life.state("app_context", context()) == "Updated"
    life.each("applied", NEW_A).do("emco_resource", "rollback", GROUP, revision=1)
    assert life.attributes("emco_resource", GROUP)["context"] == CTX


def test_a_stopped_instantiation_has_failed_for_later_emco() -> None:
    life = instantiated(A, B).each("applied", A).do("emco_resource", "stop", GROUP)
    assert ask(life)["status"] == "Instantiating"
    assert ask(life, shape="emco")["status"] == "InstantiateFailed"


# ---- what was said of an earlier life, and a report that says nothing


def listing() -> EmcoHistory:
    life = instantiated(A).each("applied", A)
    return life.do("app_cluster", "bundle_state", cluster(), **LISTED)


def seen(life: EmcoHistory) -> tuple[str, str]:
    """Whether A is there and how it is, as its cluster said."""
    return life.state("rsync_resource", A, 1), life.state("rsync_resource", A, 2)


def test_the_last_report_of_an_earlier_life_says_nothing_of_the_next_one() -> None:
    life = listing()
    assert seen(life)[0] == "Present"
    life.do("emco_resource", "terminate", GROUP).each("terminated", A).do("emco_resource", "delete", GROUP)
    life.group().context(A, B)
    assert seen(life) == ("Unknown", "NotAssessed")
    life.do("app_cluster", "bundle_state", cluster(), **LISTED)
    assert seen(life)[0] == "Present"


def test_a_report_to_which_its_monitor_has_not_written_a_status_says_nothing() -> None:
    life = instantiated(A).each("applied", A)
    empty = {"apiVersion": "k8splugin.io/v1alpha1", "metadata": {"name": "web"}, "spec": {}}
    life.do("app_cluster", "bundle_state", cluster(), **empty)
    assert seen(life) == ("Unknown", "NotAssessed")
    life.do("app_cluster", "bundle_state", cluster(), **empty, status=LISTED)
    there = seen(life)
    assert there[0] == "Present"
    life.do("app_cluster", "bundle_state", cluster(), **empty)
    assert seen(life) == there
    life.do("app_cluster", "bundle_state", cluster(), **empty, status={"ready": False, "resourceCount": 0})
    assert seen(life) == ("NotPresent", "Missing")


def test_of_resources_that_differ_in_their_namespace_alone_the_worst_is_shown() -> None:
    up = {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1, "updatedReplicas": 1}
    good = {"metadata": {"name": "dep", "namespace": "a"}, "spec": {"replicas": 1}, "status": up}
    bad = {"metadata": {"name": "dep", "namespace": "b"}, "spec": {"replicas": 1}, "status": {}}
    for both in ([good, bad], [bad, good]):
        life = instantiated(A).each("applied", A)
        life.do("app_cluster", "bundle_state", cluster(), deploymentStatuses=both)
        assert seen(life) == ("Present", "Progressing")
        assert life.attributes("app_cluster", cluster())["listed"]["dep+Deployment"][-1] == "NotReady"
    life.do("app_cluster", "bundle_state", cluster(), deploymentStatuses=[good, good])
    assert seen(life) == ("Present", "Healthy")


def test_a_failure_that_is_reported_has_its_own_reason_not_that_of_an_earlier_one() -> None:
    life = instantiated(A, B)
    life.do("rsync_resource", "failed", A, reason="Forbidden", message="no")
    assert [one.failure for _, one in chosen(life).failures()] == ["Forbidden: no"]
    life.do("rsync_resource", "reported", A, phase="Applied").each("applied", B)
    life.do("rsync_resource", "reported", A, phase="Failed", reason="Conflict")
    assert [one.failure for _, one in chosen(life).failures()] == ["Conflict"]


def chosen(life: EmcoHistory) -> StatusSelection:
    return select_status(life.history.tree, GROUP, read({}))
