"""EMCO's own cases: each one answered as it says, or named here with what our spec decides instead.

Belongs here: translating a case into events, and their result back into the words of the case. Does not: HTTP codes and
the order in which rsync works; these are EMCO's own affair.
"""

import re
from typing import Any

import pytest

from phaseline.machines.kinds.emco.readiness import is_ready
from phaseline.schemas.errors import InvalidInput
from tests.support.conformance import cases
from tests.support.emco_cases import FAILED_TOO, NOT_OURS, OTHERWISE
from tests.support.emco_history import CTX, GROUP, KINDS, NEW, EmcoHistory, cluster, context, resource
from tests.support.emco_status import ask
from tests.support.virtual_clock import Clock

CASES = {case["id"]: case for case in cases("emco.json")}
pytestmark = pytest.mark.skipif(not CASES, reason="the cases are not at hand")

REPLACEABLE = ["Instantiated", "InstantiateFailed"]
A, B = resource("dep+Deployment"), resource("svc+Service")
PATHS: dict[str, list[tuple[str, str]]] = {
    "Instantiating": [],
    "Instantiated": [("applied", A), ("applied", B)],
    "InstantiateFailed": [("applied", A), ("failed", B)],
    "Terminating": [("applied", A), ("applied", B), ("terminate", "")],
    "Terminated": [("applied", A), ("applied", B), ("terminate", ""), ("terminated", A), ("terminated", B)],
    "TerminateFailed": [("applied", A), ("applied", B), ("terminate", ""), ("terminated", A), ("failed", B)],
}


def lived(state: str, type_: str = "deployment_intent_group") -> EmcoHistory:
    """A resource whose context has come to that state."""
    life = EmcoHistory().do("emco_resource", "create", GROUP, type=type_)
    if type_ == "deployment_intent_group":
        life.do("emco_resource", "approve", GROUP)
    life.context(A, B)
    life.do("emco_resource", "instantiate" if type_ == "deployment_intent_group" else "apply", GROUP, context=CTX)
    for trigger, name in PATHS[state]:
        life.do(*(("rsync_resource", trigger, name) if name else ("emco_resource", trigger, GROUP)))
    assert life.state("app_context", context()) == state
    return life


def named(case: dict[str, Any]) -> list[str]:
    """The states of contexts that a case's words name; every one where it says `any`."""
    text = case["given"].get("appcontext")
    found = [word for word in re.findall(r"[A-Z]\w+", text or "") if word in PATHS]
    return [state for state in found or PATHS if state != "TerminateFailed" or case["id"] not in FAILED_TOO]


# ---- contexts, resources, reports


def appcontext(case: dict[str, Any]) -> None:
    given, event = case["given"], case["event"]
    if given["appcontext"] is None:
        assert lived("Instantiating").state("app_context", context()) == case["expect"]["appcontext"]
        return
    life = lived(given["appcontext"])
    if event["event"] in ("instantiate", "terminate"):
        life.do("app_context", event["event"], context())
    elif event["event"] == "finish" and not case["accept"]:
        assert life.refused("rsync_resource", "applied", A).reason == "illegal"
    else:
        outcomes = given.get("resources") or (["Deleted", "Failed"] if event["failure"] else ["Deleted", "Deleted"])
        good = "terminated" if given["appcontext"] == "Terminating" else "applied"
        for name, outcome in zip((A, B), outcomes, strict=True):
            life.do("rsync_resource", "failed" if outcome == "Failed" else good, name)
    assert life.state("app_context", context()) == case["expect"]["appcontext"]


def test_then_terminating() -> None:
    life = lived("Instantiating").do("app_context", "terminate", context())
    assert life.do("app_context", "instantiation_stopped", context()).state("app_context", context()) == "Terminating"


def in_order(case: dict[str, Any]) -> None:
    """In which order rsync works is its own affair. What it reports is right in that order."""
    r1, r2, r3 = names = [resource(f"r{number}+ConfigMap") for number in (1, 2, 3)]
    life = EmcoHistory().group().context(*names).do("emco_resource", "instantiate", GROUP, context=CTX)
    if case["id"] == "RS-16":  # r2 fails because the cluster went away; when it is back, rsync begins again with r1
        life.do("rsync_resource", "applied", r1).do("app_cluster", "disconnected", cluster())
        assert [life.state("rsync_resource", name) for name in names] == ["Applied", "Retrying", "Retrying"]
        life.do("app_cluster", "connected", cluster())
    for name in (r1, r3, r2) if case["id"] == "RS-19" else names:
        assert life.state("app_context", context()) == "Instantiating"
        life.do("rsync_resource", "applied", name)
    assert life.state("app_context", context()) == "Instantiated"


def recovery(case: dict[str, Any]) -> None:
    """What the cases recommend: nothing waits for ever, and what is wrong with one context is no matter of others."""
    clock = Clock(KINDS)
    for trigger in ("create", "approve"):
        clock.say(1, "emco_resource", trigger, GROUP)
    clock.say(1, "app_context", "create", context(), deadline=60)
    clock.say(2, "rsync_resource", "add", A)
    clock.say(3, "emco_resource", "instantiate", GROUP, context=CTX)
    clock.fire(63)
    assert clock.shown("app_context", context()) == "Instantiating [Stalled]"
    clock.say(70, "emco_resource", "terminate", GROUP)  # rsync is away: it gives no sign that it has stopped
    clock.fire(130)
    assert clock.shown("app_context", context()) == "Terminating"
    if case["id"] == "RC-08":
        life = lived("Instantiating").context(resource(ctx=NEW), ctx=NEW)
        assert life.refused("app_cluster", "bundle_state", cluster(), status={"podStatuses": 7}).reason == "invalid"
        life.do("app_context", "instantiate", context(NEW)).do("rsync_resource", "applied", resource(ctx=NEW))
        assert life.state("app_context", context(NEW)) == "Instantiated"


def a_resource(case: dict[str, Any]) -> None:
    if case["id"] in ("RS-16", "RS-18", "RS-19"):
        in_order(case)
    elif case["id"] == "RS-01":
        life = lived("InstantiateFailed").do("app_context", "instantiate", context())
        assert life.state("rsync_resource", B) == case["expect"]["resource"]
    elif case["id"] == "RS-08":  # recommended instead: try the delete first
        life = lived("InstantiateFailed").do("emco_resource", "terminate", GROUP)
        assert life.state("rsync_resource", B) == "Pending"
    else:
        assert case["id"] == "RS-09"
        life = (
            lived("Instantiated").do("app_cluster", "disconnected", cluster()).do("emco_resource", "terminate", GROUP)
        )
        body = ask(life, shape="emco", status="deployed")
        [place] = body["apps"][0]["clusters"]
        assert {found["deployedStatus"] for found in place["resources"]} == {case["expect"]["resource"]}
        assert (place["connectivity"], body["deployedStatus"]) == (
            case["expect"]["connectivity"],
            case["expect"]["appcontext"],
        )


def a_report(case: dict[str, Any]) -> None:
    life = lived("Instantiated")
    listed = {"deploymentStatuses": [{"metadata": {"name": "dep"}}]}
    if case["id"] == "CR-10":
        daemon = {"status": {"desiredNumberScheduled": 1, "updatedNumberScheduled": 0, "numberReady": 1}}
        assert is_ready("DaemonSet", daemon) is case["expect"]["app_ready_on_cluster"]
        return
    if case["id"] == "CR-11":
        for place in ("x/c1/web/pv+edge1", f"{GROUP}/c9/web/pv+edge1"):
            assert life.refused("app_cluster", "bundle_state", place, status=listed).reason == "unknown_parent"
        return
    if case["id"] == "CR-03":
        life.do("app_cluster", "bundle_state", cluster(), status=listed)
    if case["id"] == "CR-05":
        life.do("app_cluster", "bundle_state", cluster(), status={}, supports=["Pod"])
    assert life.state("rsync_resource", A, 1) == case["expect"]["cluster_status"]


# ---- what the user acts on

ACTIONS = {"delete cluster": "delete", "apply": "apply", "instantiate": "instantiate"}


def acted_on(case: dict[str, Any], phase: str, contexts: list[str], type_: str) -> None:
    """An action on a resource that is in `phase`, whose context is in any of these states."""
    quirk = str(case.get("recommend", "")).startswith(("reject", "409", "accept", "require"))
    accepts = case["accept"] != quirk if not str(case.get("recommend")).startswith("require") else case["accept"]
    tried = 0
    rolls_back = accepts and "rollback" in case["event"]["action"]
    if accepts and case["event"]["action"] == "update":
        contexts = REPLACEABLE
    for state in ["Instantiated"] if rolls_back else contexts:
        life = acted(phase, state, type_, after_update=rolls_back)
        if life is None:
            continue
        tried += 1
        action = case["event"]["action"]
        trigger = ACTIONS.get(action, action.split(" ")[0])
        trigger = "apply" if type_ != "deployment_intent_group" and trigger == "instantiate" else trigger
        data = data_of(trigger, action, phase)
        if not accepts:
            life.refused("emco_resource", trigger, GROUP, **data)
            assert life.state("emco_resource", GROUP) == phase
        else:
            life.do("emco_resource", trigger, GROUP, **data)
            expected_after(case, life)
    assert tried


def data_of(trigger: str, action: str, phase: str) -> dict[str, Any]:
    if trigger == "apply":
        return {"context": CTX if phase == "Applied" else NEW}
    if trigger in ("instantiate", "update"):
        return {"context": NEW}
    if trigger == "rollback":
        found = re.search(r"revision=(\w+)", action)
        return {"revision": int(found[1]) if found and found[1].isdigit() else found[1]} if found else {}
    return {}


def acted(phase: str, state: str, type_: str, *, after_update: bool) -> EmcoHistory | None:
    """A resource in `phase` whose context is in `state`; None if the one does not go with the other."""
    group = type_ == "deployment_intent_group"
    if phase in ("Created", "Approved"):
        life = EmcoHistory().do("emco_resource", "create", GROUP, type=type_)
        life = life.do("emco_resource", "approve", GROUP) if phase == "Approved" else life
        return life.context(resource(ctx=NEW), ctx=NEW)
    done = "Instantiated" if group else "Applied"
    stopped = phase in ("InstantiateStopped", "TerminateStopped")
    over = phase in ("Terminated", "TerminateStopped")
    start = {"TerminateStopped": "Terminating", "InstantiateStopped": "Instantiating"}.get(phase, state)
    if phase not in (done, "InstantiateStopped") and not over:
        return None
    if (start in ("Terminating", "Terminated", "TerminateFailed")) != over:
        return None
    life = lived(start, type_).context(resource(ctx=NEW), ctx=NEW)
    if after_update:
        life.do("emco_resource", "update", GROUP, context=NEW).each("terminated", B)
        life.do("rsync_resource", "applied", resource(ctx=NEW))
    if stopped:
        life.do("emco_resource", "stop", GROUP)
        if state == "TerminateFailed":
            life.do("rsync_resource", "failed", A)
    return life


def expected_after(case: dict[str, Any], life: EmcoHistory) -> None:
    expect = case["expect"]
    wanted = expect.get("dig", expect.get("cluster", "Deleted"))
    wanted = wanted[-1].partition("(")[0] if isinstance(wanted, list) else wanted or "Deleted"
    assert life.state("emco_resource", GROUP) == wanted
    if "stopflag" in expect:
        assert ("Stopped" in life.state("app_context", context())) is expect["stopflag"]
    if expect.get("revision") == 1 and case["given"]["dig"] == "Approved":
        assert life.attributes("emco_resource", GROUP)["revision"] == 1


def a_group(case: dict[str, Any]) -> None:
    given = case["given"]
    acted_on(case, given["dig"], named(case), "deployment_intent_group")


def network_intents(case: dict[str, Any]) -> None:
    given = case["given"]
    acted_on(case, given["cluster"], named(case), "cluster_network_intents")


def logical_cloud(case: dict[str, Any]) -> None:
    if case["id"] == "LC-15":
        updated_cloud()
        return
    given, states = case["given"], named(case)
    last = {"Terminating": "Terminated", "Terminated": "Terminated", "TerminateFailed": "Terminated"}
    for state in states:
        phase = "Created" if given["appcontext"] is None else last.get(state, "Applied")
        acted_on({**case, "expect": expected_of(case)}, phase, [state], "logical_cloud")


def updated_cloud() -> None:
    """What is no group is updated by applying another context."""
    life = lived("Instantiated", "logical_cloud").context(resource(ctx=NEW), ctx=NEW)
    before = life.attributes("emco_resource", GROUP)["revision"]
    life.do("emco_resource", "apply", GROUP, context=NEW)
    held = life.attributes("emco_resource", GROUP)
    assert (held["revision"], held["context"]) == (before + 1, NEW)
    assert [life.state("app_context", context(name)) for name in (CTX, NEW)] == ["Updating", "Instantiating"]


def expected_of(case: dict[str, Any]) -> dict[str, Any]:
    action = case["event"]["action"]
    return {"cluster": {"instantiate": "Applied", "terminate": "Terminated", "stop": "InstantiateStopped"}.get(action)}


# ---- the status query


def firewall(*, ready: bool) -> EmcoHistory:
    """EMCO's own test fixture: three apps on two clusters."""
    life, apps, edges = EmcoHistory().group(), ("firewall", "packetgen", "sink"), ("edge01", "edge02")
    names = {(app, edge): resource(f"{app}+Deployment", edge, app) for app in apps for edge in edges}
    life.context(*names.values()).do("emco_resource", "instantiate", GROUP, context=CTX).each(
        "applied", *names.values()
    )
    report = {
        "deploymentStatuses": [
            {"metadata": {"name": "packetgen"}, "spec": {"replicas": 1}, "status": {"readyReplicas": 1}}
        ],
        "podStatuses": [
            {"metadata": {"name": "packetgen-1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        ],
        "serviceStatuses": [
            {"metadata": {"name": "packetgen-service"}, "spec": {"clusterIP": "10.0.0.1" if ready else ""}}
        ],
    }
    for edge in edges:
        life.do("app_cluster", "bundle_state", cluster(edge, "packetgen"), status=report)
    return life


def status_query(case: dict[str, Any]) -> None:
    text, expect = case["event"]["query"], case["expect"]
    wiki = "wiki" in case["profile"] and "late" not in case["profile"]
    parameters = {} if text in ("any", "(default)") else read_text(text)
    if case["id"] == "SQ-33":
        life = EmcoHistory().do("emco_resource", "create", GROUP, type="logical_cloud").context(A)
        assert "readyStatus" in ask(life.do("emco_resource", "apply", GROUP, context=CTX), shape="emco")
    elif not case["accept"]:
        with pytest.raises(InvalidInput):
            ask(firewall(ready=False), shape="emco", **parameters)
    elif wiki:
        told_by_the_source(ask(lived("Instantiated"), **parameters), expect)
    else:
        told_by_emco(case["id"], ask(firewall(ready=case["id"] == "SQ-19"), shape="emco", **parameters), expect)


def read_text(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split("&"):
        name, has_value, value = part.partition("=")
        found[name] = value.replace("%2B", "+") if has_value else True
    return found


def told_by_the_source(body: dict[str, Any], expect: dict[str, Any]) -> None:
    if "present" in expect:
        required = {key for key in expect["present"] if key != "composite-profile-name"}
        assert required <= set(body)
        assert not set(expect["absent"]) & set(body)
        return
    [found, *_] = body["resources"][0]["clusters"][0]["resources"]
    wanted = set(expect["resource_fields"]) - {
        "metadata",
        "spec",
        "status",
    }  # those come from events, which are none here
    assert wanted == set(found)
    if "no cluster-status block" in expect.get("top", ""):
        assert "cluster-status" not in body


def told_by_emco(name: str, body: dict[str, Any], expect: dict[str, Any]) -> None:
    if name == "SQ-16":
        assert {key: body[key] for key in ("status", "readyStatus", "clusterStatus")} == {
            key: expect[key] for key in ("status", "readyStatus", "clusterStatus")
        }
        assert {place["readyStatus"] for place in body["apps"][0]["clusters"]} == {expect["cluster_readyStatus"]}
    elif name == "SQ-17":
        assert (body["status"], body["rsyncStatus"]) == (expect["status"], expect["rsyncStatus"])
        assert len(body["apps"][0]["clusters"]) == expect["clusters"]
    elif name == "SQ-18":
        assert body["rsyncStatus"] == {"Applied": 6}  # the case's sixteen are six deployments here
    elif name == "SQ-19":
        assert (body["readyStatus"], body["readyCounts"]["Ready"]) == (
            "NotReady",
            6,
        )  # the other apps have no report here
    elif name == "SQ-31":
        assert set(body) - {"project", "compositeApp", "compositeAppVersion", "name"} == {"apps"}
    elif name == "SQ-32":
        assert "readyCounts" in body
    else:
        assert name == "SQ-41"
        assert 0 not in body["rsyncStatus"].values()


LAYERS = {
    "appcontext": appcontext, "resource": a_resource, "recovery": recovery, "cluster-resource": a_report, "dig": a_group,
    "cluster-network-intent": network_intents, "logical-cloud": logical_cloud, "status-query": status_query,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(CASES) - set(NOT_OURS) - set(OTHERWISE)))
def test_case(name: str) -> None:
    case = CASES[name]
    LAYERS[case["layer"]](case)


def test_what_is_answered_otherwise() -> None:
    """As the spec has it, where that and EMCO differ."""
    life = lived("Instantiated").do("emco_resource", "terminate", GROUP)
    assert life.state("rsync_resource", A) == "Applied"  # RS-07
    over = lived("Terminated", "cluster_network_intents")
    assert over.refused("emco_resource", "terminate", GROUP).reason == "guard"  # CN-09
    for type_ in ("deployment_intent_group", "cluster_network_intents", "logical_cloud"):
        failed = lived("TerminateFailed", type_)
        assert failed.refused("emco_resource", "delete", GROUP).reason == "guard"  # DG-37, CN-20, LC-13
        failed.do("emco_resource", "terminate", GROUP)  # DG-16, LC-09
        failed.do("rsync_resource", "terminated", B).do("emco_resource", "delete", GROUP)
    cloud = lived("Terminating", "logical_cloud").context(ctx=NEW)
    assert (
        cloud.do("emco_resource", "apply", GROUP, context=NEW).state("emco_resource", GROUP) == "Applied"
    )  # LC-03, LC-06
    again = lived("InstantiateFailed", "logical_cloud").do("emco_resource", "apply", GROUP, context=CTX)
    assert again.state("rsync_resource", B) == "Pending"  # LC-04, LC-05
    assert again.refused("emco_resource", "update", GROUP, context=NEW).reason in ("illegal", "guard")  # LC-16


def test_every_case_is_accounted_for() -> None:
    assert set(NOT_OURS) | set(OTHERWISE) | set(FAILED_TOO) <= set(CASES)
    assert {CASES[name]["layer"] for name in set(CASES) - set(NOT_OURS) - set(OTHERWISE)} <= set(LAYERS)
