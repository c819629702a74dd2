"""EMCO's stories with their difficult cases: nothing to apply, one failure among many, leftovers from before."""

import pytest

from phaseline.engine.log.explain.way_out import way_out
from phaseline.schemas import codec
from phaseline.schemas.records import Rejection, Transition, own_facets
from tests.support.emco_history import (
    CTX,
    GROUP,
    KINDS,
    NEW,
    EmcoHistory,
    cluster,
    context,
    instantiated,
    resource,
    told,
)
from tests.support.strategies import Sent, event
from tests.support.virtual_clock import SECOND, Clock

A, B = resource("dep+Deployment"), resource("svc+Service")


def test_without_resources_a_context_is_instantiated_and_terminated_at_once() -> None:
    life = instantiated()
    assert life.state("app_context", context()) == "Instantiated"
    step = life.say("emco_resource", "terminate", GROUP)
    assert told(step)[1] == ("app_context c1 phase", "Terminated", "terminate", "cascade")


def test_one_failure_among_a_thousand() -> None:
    many = [resource(f"r{number}+ConfigMap") for number in range(1000)]
    life = instantiated(*many).each("applied", *many[:-1])
    assert life.state("app_context", context()) == "Instantiating"
    life.do("rsync_resource", "failed", many[-1], reason="AdmissionDenied", message="quota")
    assert life.state("app_context", context()) == "InstantiateFailed"
    assert life.attributes("rsync_resource", many[-1])["failure"] == "AdmissionDenied: quota"
    step = life.say("emco_resource", "terminate", GROUP)
    assert life.state("app_context", context()) == "Terminating"
    assert ("rsync_resource r999+ConfigMap rsync", "Pending", "terminate", "cascade") in told(step)
    assert len(step.records) == 3  # the group, the context, and the one that had failed


def test_a_failure_left_from_instantiating_does_not_fail_the_termination() -> None:
    life = instantiated(A, B).each("applied", A).do("rsync_resource", "failed", B)
    life.do("emco_resource", "terminate", GROUP)
    assert life.state("app_context", context()) == "Terminating"
    life.each("terminated", A).do("rsync_resource", "failed", B)
    assert life.state("app_context", context()) == "TerminateFailed"
    life.do("app_context", "terminate", context())
    assert [life.state("app_context", context()), life.state("rsync_resource", B)] == ["Terminating", "Pending"]
    life.each("deleted", B)
    assert life.state("app_context", context()) == "Terminated"


def test_what_failed_may_be_applied_after_all() -> None:
    life = instantiated(A).do("rsync_resource", "failed", A)
    assert life.attributes("rsync_resource", A)["failure"] == "rsync does not say why"
    assert life.do("rsync_resource", "applied", A).state("app_context", context()) == "Instantiated"
    gone = instantiated(A).do("rsync_resource", "failed", A).do("emco_resource", "terminate", GROUP)
    gone.do("rsync_resource", "failed", A, message="a finalizer")
    assert gone.refused("rsync_resource", "applied", A).reason == "guard"
    assert gone.state("app_context", context()) == "TerminateFailed"


def test_a_group_whose_context_is_stalled_is_updated_and_terminated_again() -> None:
    clock = Clock(KINDS)
    for trigger in ("create", "approve"):
        clock.say(1, "emco_resource", trigger, GROUP)
    for name in (CTX, NEW):
        clock.say(1, "app_context", "create", context(name), deadline=60)
    clock.say(2, "rsync_resource", "add", A)
    clock.say(3, "emco_resource", "instantiate", GROUP, context=CTX)
    clock.until(100 * SECOND)
    assert clock.shown("app_context", context()) == "Instantiating [Stalled]"
    clock.say(101, "emco_resource", "update", GROUP, context=NEW)
    clock.until(200 * SECOND)
    assert clock.shown("app_context", context()) == "Updating [Stalled]"
    clock.say(201, "emco_resource", "terminate", GROUP)
    assert clock.shown("app_context", context()) == "Terminating"
    clock.until(300 * SECOND)
    assert clock.shown("app_context", context()) == "Terminating [Stalled]"
    clock.say(301, "emco_resource", "terminate", GROUP)
    assert clock.shown("app_context", context()) == "Terminating"


def test_terminate_while_instantiating_waits_until_rsync_has_stopped() -> None:
    life = instantiated(A, B).each("applied", A).do("emco_resource", "terminate", GROUP)
    assert life.state("app_context", context()) == "PreTerminate"
    assert life.state("emco_resource", GROUP) == "Terminated"
    life.each("applied", B)  # it was under way
    assert life.state("app_context", context()) == "PreTerminate"
    life.do("app_context", "terminate", context())
    assert life.state("app_context", context()) == "PreTerminate"
    life.do("app_context", "instantiation_stopped", context())
    assert life.state("app_context", context()) == "Terminating"
    life.each("terminated", A, B)
    assert life.state("app_context", context()) == "Terminated"


def test_a_late_applied_after_terminate_changes_nothing() -> None:
    life = instantiated(A).each("applied", A).do("emco_resource", "terminate", GROUP).each("terminated", A)
    refused = life.refused("rsync_resource", "applied", A)
    assert refused.reason == "illegal"
    assert "is Terminated, Unknown" in refused.message
    assert life.state("app_context", context()) == "Terminated"


def test_instantiated_again_with_a_new_set_of_resources() -> None:
    life = instantiated(A).each("applied", A).do("emco_resource", "terminate", GROUP).each("terminated", A)
    refused = life.refused("emco_resource", "instantiate", GROUP, context=CTX)
    assert (
        f"instantiate needs that app_context {context()} takes instantiate, but that is Terminated" in refused.message
    )
    life.context(resource(ctx=NEW), ctx=NEW).do("emco_resource", "instantiate", GROUP, context=NEW)
    assert life.state("app_context", context(NEW)) == "Instantiating"
    assert life.state("app_context", context()) == "Terminated"
    assert life.attributes("emco_resource", GROUP)["revision"] == 2


def test_two_contexts_of_one_resource_at_once_do_not_mix() -> None:
    new_a = resource("dep+Deployment", ctx=NEW)
    life = instantiated(A, B).each("applied", A, B).context(new_a, ctx=NEW)
    step = life.say("emco_resource", "update", GROUP, context=NEW)
    assert [found[:2] for found in told(step)] == [
        (f"emco_resource {GROUP} phase", "Instantiated"),
        ("app_context c1 phase", "Updating"),
        ("app_context c2 phase", "Instantiating"),
        *((f"rsync_resource dep+Deployment {facet}", "Deleted") for facet in ("rsync", "cluster", "health")),
    ]
    life.do("rsync_resource", "failed", new_a)
    assert [life.state("app_context", context(name)) for name in (CTX, NEW)] == ["Updating", "InstantiateFailed"]
    life.do("rsync_resource", "failed", B)
    assert life.state("app_context", context()) == "UpdateFailed"
    life.do("app_context", "instantiate", context(NEW)).each("applied", new_a)
    assert [life.state("app_context", context(name)) for name in (CTX, NEW)] == ["UpdateFailed", "Instantiated"]


def test_roll_back_to_a_revision_that_is_known() -> None:
    new_a, new_c = resource("dep+Deployment", ctx=NEW), resource("net+Network", ctx=NEW)
    life = instantiated(A, B).each("applied", A, B).context(new_a, new_c, ctx=NEW)
    life.do("emco_resource", "update", GROUP, context=NEW).each("applied", new_a, new_c).each("terminated", B)
    life.do("emco_resource", "rollback", GROUP, revision=1).each("applied", A, B).each("terminated", new_c)
    held = life.attributes("emco_resource", GROUP)
    assert (held["revision"], held["context"], held["previous"]) == (3, CTX, NEW)
    refused = life.refused("emco_resource", "rollback", GROUP, revision=9)
    assert (refused.reason, refused.message) == (
        "guard",
        f"emco_resource {GROUP} is Instantiated: rollback needs a revision that is known: 9 is not, there are 1 to 3",
    )
    assert life.refused("emco_resource", "rollback", GROUP, revision=0).reason == "guard"
    assert life.refused("emco_resource", "rollback", GROUP, revision=3).message.find("but that is Instantiated,") > 0
    life.do("emco_resource", "rollback", GROUP, revision=2)
    assert life.attributes("emco_resource", GROUP)["contexts"] == [CTX, NEW, CTX, NEW]


def test_only_so_many_revisions_are_kept_to_roll_back_to() -> None:
    life = instantiated().context(ctx=NEW)
    for number in range(300):
        life.do("emco_resource", "update", GROUP, context=(NEW, CTX)[number % 2])
    held = life.attributes("emco_resource", GROUP)
    assert (held["revision"], len(held["contexts"])) == (301, 256)
    assert "there are 46 to 301" in life.refused("emco_resource", "rollback", GROUP, revision=45).message
    life.do("emco_resource", "rollback", GROUP, revision=46)


def test_stopped_contexts_take_no_intent_but_to_go_on() -> None:
    life = instantiated(A).do("emco_resource", "stop", GROUP)
    assert life.state("emco_resource", GROUP) == "InstantiateStopped"
    assert life.state("app_context", context()) == "Instantiating [Stopped]"
    for trigger in ("instantiate", "terminate", "update_from"):
        assert life.refused("app_context", trigger, context()).reason == "illegal"
    life.each("applied", A)  # what rsync reports still counts
    assert life.state("app_context", context()) == "Instantiated [Stopped]"
    life.do("app_context", "resume", context())
    assert life.state("app_context", context()) == "Instantiated"


def test_terminate_clears_the_stop() -> None:
    life = instantiated(A).do("emco_resource", "stop", GROUP).do("emco_resource", "terminate", GROUP)
    assert life.state("app_context", context()) == "PreTerminate"
    assert life.state("emco_resource", GROUP) == "Terminated"
    life.do("emco_resource", "stop", GROUP)
    assert life.state("emco_resource", GROUP) == "TerminateStopped"
    assert life.state("app_context", context()) == "PreTerminate [Stopped]"


def test_an_update_while_stopped_resumes_the_context_that_is_left() -> None:
    life = instantiated(A).do("emco_resource", "stop", GROUP).each("applied", A).context(ctx=NEW)
    life.do("emco_resource", "update", GROUP, context=NEW)
    assert life.state("emco_resource", GROUP) == "Instantiated"
    assert life.state("app_context", context()) == "Updating"


def test_nothing_is_under_way_so_there_is_nothing_to_stop() -> None:
    life = instantiated(A).each("applied", A)
    refused = life.refused("emco_resource", "stop", GROUP)
    assert refused.reason == "guard"
    assert "is Instantiated, stop needs Instantiating, PreTerminate, Terminating or Updating" in refused.message


def test_a_context_that_is_unknown_is_no_context() -> None:
    life = EmcoHistory().group()
    unknown = life.refused("emco_resource", "instantiate", GROUP, context="c9")
    assert unknown.message.endswith("takes instantiate, but that is unknown")
    assert life.refused("emco_resource", "instantiate", GROUP).reason == "invalid"
    for name in ("", "a/b"):
        assert life.refused("emco_resource", "instantiate", GROUP, context=name).reason == "invalid"
    assert life.refused("rsync_resource", "add", A).reason == "unknown_parent"
    assert life.refused("app_cluster", "bundle_state", cluster(), status={}).reason == "unknown_parent"
    orphan = life.refused("app_context", "create", "elsewhere/c1")
    assert orphan.message == (
        "app_context elsewhere/c1 is Absent: the emco_resource elsewhere is unknown, create needs it alive"
    )
    assert way_out(life.history.tree, orphan, None) == (
        "create at emco_resource elsewhere; or if it is there: reported at emco_resource elsewhere with the state you see"
    )


def test_deleting_takes_everything_along_and_a_new_life_begins_anew() -> None:
    life = instantiated(A).each("applied", A)
    assert life.refused("emco_resource", "delete", GROUP).reason == "illegal"
    life.do("emco_resource", "terminate", GROUP)
    assert life.refused("emco_resource", "delete", GROUP).reason == "guard"
    life.each("terminated", A).do("emco_resource", "delete", GROUP)
    tree = life.history.tree
    for kind in ("app_context", "app_cluster", "rsync_resource"):
        assert {facet.state.phase for one in tree.entities[kind].values() for facet in own_facets(one)} == {"Deleted"}
    assert life.refused("rsync_resource", "add", A).reason == "unknown_parent"
    life.group().context(A)
    assert "revision" not in life.attributes("emco_resource", GROUP)
    assert life.state("rsync_resource", A) == "Pending"


# ---- clusters that are away, and what they report


def test_retrying_lasts_while_the_cluster_is_away_and_says_since_when() -> None:
    life = instantiated(A, B).each("applied", B)
    step = life.say("app_cluster", "disconnected", cluster())
    assert told(step)[1:] == [("rsync_resource dep+Deployment rsync", "Retrying", "disconnected", "view")]
    [_, record] = step.records
    assert isinstance(record, Transition)
    assert record.entity.facets[0].since_ns == record.time_ns
    assert life.state("app_context", context()) == "Instantiating"
    life.do("app_cluster", "connected", cluster())
    assert life.state("rsync_resource", A) == "Pending"


def test_while_terminating_what_is_applied_on_a_cluster_that_is_away_is_retried() -> None:
    life = instantiated(A).each("applied", A).do("app_cluster", "disconnected", cluster())
    assert life.state("rsync_resource", A) == "Applied"
    life.do("emco_resource", "terminate", GROUP)
    assert [life.state("rsync_resource", A), life.base("rsync_resource", A)] == ["Retrying", "Applied"]
    assert life.state("app_context", context()) == "Terminating"


REPORT = {
    "ready": False,
    "resourceCount": 2,
    "deploymentStatuses": [{"metadata": {"name": "dep"}, "spec": {"replicas": 1}, "status": {"readyReplicas": 1}}],
    "podStatuses": [{"metadata": {"name": "dep-1"}, "status": {"phase": "Pending"}}],
}


def test_one_report_tells_each_resource_what_is_known_of_it() -> None:
    net = resource("net+ProviderNetwork")
    life = instantiated(A, B, net)
    assert [life.state("rsync_resource", name, 1) for name in (A, B, net)] == ["Unknown"] * 3
    step = life.say("app_cluster", "bundle_state", cluster(), status=REPORT)
    assert told(step) == [
        ("app_cluster pv+edge1 connectivity", "Unknown", "bundle_state", "event"),
        ("rsync_resource dep+Deployment cluster", "Present", "present", "cascade"),
        ("rsync_resource dep+Deployment health", "Progressing", "assessed_progressing", "cascade"),
        ("rsync_resource svc+Service cluster", "NotPresent", "not_present", "cascade"),
        ("rsync_resource svc+Service health", "Missing", "assessed_missing", "cascade"),
    ]
    held = life.attributes("app_cluster", cluster())
    assert held["listed"] == {"dep+Deployment": ["apps", "v1", "Ready"], "dep-1+Pod": ["", "v1", "NotReady"]}
    assert life.say("app_cluster", "bundle_state", cluster(), status=REPORT).records == []


def test_the_report_may_say_itself_what_it_supports() -> None:
    net = resource("net+ProviderNetwork")
    life = instantiated(A, B, net)
    life.do("app_cluster", "bundle_state", cluster(), status=REPORT, supports=["ProviderNetwork"])
    assert [life.state("rsync_resource", name, 1) for name in (A, B, net)] == ["Present", "Unknown", "NotPresent"]
    life.do("app_cluster", "bundle_state", cluster(), status={})
    assert [life.state("rsync_resource", name, 1) for name in (A, B, net)] == ["NotPresent", "NotPresent", "Unknown"]


def test_a_resource_that_comes_after_the_report_knows_what_that_said() -> None:
    life = instantiated(B)
    life.do("app_cluster", "bundle_state", cluster(), **REPORT)  # the status alone is as good
    life.do("rsync_resource", "add", A).do("rsync_resource", "add", resource("job+Job"))
    assert life.state("rsync_resource", A, 1) == "Present"
    assert life.state("rsync_resource", resource("job+Job"), 1) == "NotPresent"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({"podStatuses": {}}, "podStatuses must be a list, found dict"),
        ({"podStatuses": [7]}, "podStatuses[0] must be a map, found int"),
        ({"jobStatuses": [{"metadata": {}}]}, "jobStatuses[0].metadata.name must be the resource's name"),
        ({"resourceStatuses": [{"kind": "X"}]}, "resourceStatuses[0] must have group, version and kind, each a string"),
        (
            {"resourceStatuses": [{"group": "g", "version": "v1", "kind": "X", "name": "x", "res": "?"}]},
            "resourceStatuses[0].res must be JSON in base64",
        ),
    ],
)
def test_a_report_that_cannot_be_read_is_refused_by_its_place(status: dict[str, object], message: str) -> None:
    life = instantiated(A)
    refused = life.refused("app_cluster", "bundle_state", cluster(), status=status)
    assert refused.reason == "invalid"
    assert refused.message.startswith(f"data: {message}")
    assert life.attributes("app_cluster", cluster()) == {}


def test_a_number_too_large_for_any_record_is_refused_too() -> None:
    life = instantiated(A)
    sent = event("app_cluster", "bundle_state", cluster(), {"status": {"podStatuses": [], "n": 0}})
    body = codec.encode_json(codec.decode(sent.body)).replace(b'"n":0', b'"n":1180591620717411303424')
    [refused] = life.history.take(Sent(sent.subject, body)).records
    assert isinstance(refused, Rejection)
    assert (refused.reason, refused.message) == ("undecodable", "JSON: a whole number must have at most 64 bits")


def test_everything_else_is_listed_from_its_packed_form() -> None:
    life = instantiated(resource("net+ProviderNetwork"))
    packed = {
        "group": "k8s.plugin.opnfv.org",
        "version": "v1alpha1",
        "kind": "ProviderNetwork",
        "name": "net",
        "res": "e30=",
    }
    life.do("app_cluster", "bundle_state", cluster(), status={"resourceStatuses": [packed]})
    assert life.state("rsync_resource", resource("net+ProviderNetwork"), 1) == "Present"
