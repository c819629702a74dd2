"""The status query's pure part: parameters, filters, counts, both shapes."""

from typing import Any

import pytest

from phaseline.engine.products.emco.query import NAMES
from phaseline.schemas.errors import InvalidInput
from tests.support.emco_history import CTX, GROUP, NEW, EmcoHistory, cluster, context, resource
from tests.support.emco_status import ask

DEP = {"metadata": {"name": "dep"}, "spec": {"replicas": 1}, "status": {"readyReplicas": 1}}
POD = {"metadata": {"name": "dep-1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
SERVICE = {"metadata": {"name": "svc"}, "spec": {}}
REPORT = {
    "deploymentStatuses": [DEP],
    "podStatuses": [POD],
    "serviceStatuses": [SERVICE],
    "configMapStatuses": [{"metadata": {"name": "cm"}}],
}
FOUR = ("cm+ConfigMap", "dep+Deployment", "svc+Service", "net+Network")


def failed_life() -> EmcoHistory:
    """Two apps, the first on two clusters, one of which is away; what is there has been applied in part, and failed."""
    life = EmcoHistory().group(project="p", composite_profile="prof")
    places = [("web", "edge1"), ("web", "edge2"), ("db", "edge1")]
    life.context(*(resource(name, where, app) for app, where in places for name in FOUR))
    life.do("emco_resource", "instantiate", GROUP, context=CTX)
    life.do("app_cluster", "connected", cluster("edge1")).do("app_cluster", "disconnected", cluster("edge2"))
    for app, where in (places[0], places[2]):
        life.each("applied", *(resource(name, where, app) for name in FOUR[:2]))
        life.do("rsync_resource", "failed", resource(FOUR[2], where, app), reason="Denied")
    return life


@pytest.fixture(scope="module")
def life() -> EmcoHistory:
    return failed_life()


def test_counts_without_reports(life: EmcoHistory) -> None:
    assert ask(life, output="summary") == {
        "name": "group",
        "project": "p",
        "composite-app-name": "app",
        "composite-app-version": "v1",
        "composite-profile-name": "prof",
        "state": "Instantiated",
        "status": "InstantiateFailed",
        "rsync-status": {"Applied": 4, "Failed": 2, "Pending": 2, "Retrying": 4},
        "cluster-status": {"Unknown": 12},
    }


@pytest.mark.parametrize(
    ("parameters", "rsync"),
    [
        ({"cluster": "pv+edge1"}, {"Applied": 4, "Failed": 2, "Pending": 2}),
        ({"cluster": ["pv+edge1"], "app": ["web"]}, {"Applied": 2, "Failed": 1, "Pending": 1}),
        ({"app": ["web", "db"], "resource": ["dep", "cm"]}, {"Applied": 4, "Retrying": 2}),
        ({"resource": "svc+Service"}, {"Failed": 2, "Retrying": 1}),
        ({"app": "db", "cluster": "pv+edge2"}, {}),
    ],
)
@pytest.mark.parametrize("output", ["summary", "all", "detail", "rsync"])
def test_filters_narrow_counts_and_lists_alike(
    life: EmcoHistory, parameters: dict[str, Any], rsync: dict[str, int], output: str
) -> None:
    body = ask(life, output=output, **parameters)
    assert body["rsync-status"] == rsync
    if output == "summary":
        assert "resources" not in body
    else:
        listed = [found for app in body["resources"] for place in app["clusters"] for found in place["resources"]]
        assert len(listed) == sum(rsync.values())


def test_what_each_output_tells(life: EmcoHistory) -> None:
    reported = failed_life().do("app_cluster", "bundle_state", cluster("edge1"), status=REPORT)
    body = ask(reported, app="web", cluster="pv+edge1")
    assert body["cluster-status"] == {"Present": 4, "Unknown": 1}  # the network's kind is not supported
    assert body["resources"] == [
        {
            "app-name": "web",
            "clusters": [
                {
                    "name": "pv+edge1",
                    "resources": [
                        _told("cm", "ConfigMap", "Applied", "Present"),
                        _told("dep", "Deployment", "Applied", "Present", "apps"),
                        _told("net", "Network", "Pending", "Unknown", version=""),
                        _told("svc", "Service", "Failed", "Present"),
                        _told("dep-1", "Pod", None, "Present"),
                    ],
                }
            ],
        }
    ]
    only = ask(reported, app="web", cluster="pv+edge1", output="rsync")
    assert "cluster-status" not in only
    assert all(
        set(found) == {"GVK", "Name", "rsync-status"} for found in only["resources"][0]["clusters"][0]["resources"]
    )
    assert len(only["resources"][0]["clusters"][0]["resources"]) == 4


def _told(
    name: str, kind: str, rsync: str | None, cluster_status: str, group: str = "", version: str = "v1"
) -> dict[str, Any]:
    words = {} if rsync is None else {"rsync-status": rsync}
    return {
        "GVK": {"Group": group, "Version": version, "Kind": kind}, "Name": name, **words, "cluster-status": cluster_status,
    }  # fmt: skip


def test_one_type_leaves_the_other_out() -> None:
    life = failed_life().do("app_cluster", "bundle_state", cluster("edge1"), status=REPORT)
    rsync, both = ask(life, type="rsync", cluster="pv+edge1"), ask(life, type=["rsync", "cluster"])
    assert "cluster-status" not in rsync
    listed = [found["Name"] for app in rsync["resources"] for place in app["clusters"] for found in place["resources"]]
    assert "dep-1" not in listed
    clusters = ask(life, type="cluster", cluster="pv+edge1", app="web")
    assert "rsync-status" not in clusters
    assert {"dep-1"} <= {found["Name"] for found in clusters["resources"][0]["clusters"][0]["resources"]}
    assert both == ask(life)


def test_before_the_first_context_and_for_an_old_one() -> None:
    life = EmcoHistory().group()
    assert ask(life) == {
        "name": "group", "project": "p", "composite-app-name": "app", "composite-app-version": "v1", "state": "Approved",
        "rsync-status": {}, "cluster-status": {}, "resources": [],
    }  # fmt: skip
    a, b, new = resource("dep+Deployment"), resource("svc+Service"), resource("dep+Deployment", ctx=NEW)
    life.context(a, b).do("emco_resource", "instantiate", GROUP, context=CTX).each("applied", a, b)
    life.context(new, ctx=NEW).do("emco_resource", "update", GROUP, context=NEW).each("applied", new).each(
        "terminated", b
    )
    assert ask(life, output="summary")["rsync-status"] == {"Applied": 1}
    old = ask(life, output="summary", instance=CTX)
    assert (old["status"], old["rsync-status"]) == ("Updated", {"Terminated": 1})
    later = ask(life, shape="emco", instance=CTX, output="summary")
    assert (later["status"], later["rsyncStatus"]) == ("Updated", {"Deleted": 1})
    assert [(a["state"], a["instance"], a["revision"]) for a in later["states"]["actions"]] == [
        ("Created", "", 0), ("Approved", "", 0), ("Instantiated", "c1", 1), ("Updated", "c1", 1), ("Instantiated", "c2", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"outptu": "all"}, f"unknown parameter 'outptu': it must be one of {', '.join(NAMES)}"),
        ({"output": "full"}, "output must be one of summary, all, detail, rsync, found 'full'"),
        ({"type": "pods"}, "type must be rsync or cluster, found 'pods'"),
        ({"type": ["rsync", "x"]}, "type must be rsync or cluster, found 'x'"),
        ({"shape": "new"}, "shape must be one of source, emco"),
        ({"status": "ready"}, "status needs shape=emco"),
        ({"apps": True}, "apps needs shape=emco"),
        ({"shape": "emco", "status": "up"}, "status must be one of deployed, ready, found 'up'"),
        ({"shape": "emco", "apps": "perhaps"}, "apps must be true or false"),
        ({"shape": "emco", "output": "rsync"}, "output=rsync needs shape=source"),
        ({"shape": "emco", "type": ["rsync", "cluster"]}, "type must be a single value"),
        ({"output": "rsync", "type": "cluster"}, "type=cluster leaves them out"),
        ({"app": ""}, "app must be a string that is not empty, found ''"),
        ({"app": 7}, "app must be a string or a list of strings, found 7"),
        ({"instance": ""}, "instance must be a string that is not empty"),
        ({"app": "nope"}, "app 'nope' is not in this context; it has db, web"),
        ({"cluster": "edge1"}, r"cluster 'edge1' is not in this context; it has pv\+edge1, pv\+edge2"),
        ({"resource": "nope"}, "resource 'nope' is not in this context; it has cm, dep, net, svc"),
        ({"instance": "c9"}, "instance 'c9' is not a context of .*; it has c1"),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(
    life: EmcoHistory, parameters: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidInput, match=says):
        ask(life, **parameters)


# ---- later EMCO's shape


def test_deployed(life: EmcoHistory) -> None:
    body = ask(life, shape="emco", status="deployed", output="summary")
    assert (body["deployedStatus"], body["deployedCounts"]) == (
        "InstantiateFailed",
        {"Applied": 4, "Failed": 2, "Pending": 6},
    )
    assert "apps" not in body
    listed = ask(life, shape="emco", status="deployed", app="web", cluster="pv+edge2")
    [place] = listed["apps"][0]["clusters"]
    assert (place["clusterProvider"], place["cluster"], place["connectivity"]) == ("pv", "edge2", "Retrying")
    assert {found["deployedStatus"] for found in place["resources"]} == {"Pending"}


def test_ready() -> None:
    life = failed_life()
    body = ask(life, shape="emco", status="ready", output="summary")
    assert (body["readyStatus"], body["readyCounts"]) == ("NotReady", {"NotPresent": 9})
    life.do("app_cluster", "bundle_state", cluster("edge1"), status=REPORT)
    assert ask(life, shape="emco", status="ready", output="summary")["readyCounts"] == {
        "NotPresent": 6,
        "NotReady": 1,
        "Ready": 3,
    }
    here = ask(life, shape="emco", status="ready", app="web", cluster="pv+edge1")
    words = {found["name"]: found.get("readyStatus") for found in here["apps"][0]["clusters"][0]["resources"]}
    assert words == {"cm": "Ready", "dep": "Ready", "net": None, "svc": "NotReady", "dep-1": "Ready"}
    assert here["readyCounts"] == {"NotReady": 1, "Ready": 3}


def test_what_cannot_be_reached_is_not_unready_and_nothing_is_not_ready() -> None:
    life = failed_life()
    assert ask(life, shape="emco", status="ready", cluster="pv+edge2")["readyStatus"] == "Unknown"
    assert ask(EmcoHistory().group().context().do("emco_resource", "instantiate", GROUP, context=CTX), shape="emco", status="ready")[
        "readyStatus"
    ] == "Unknown"  # fmt: skip
    whole = {"deploymentStatuses": [DEP]}
    only = EmcoHistory().group().context(resource()).do("emco_resource", "instantiate", GROUP, context=CTX)
    only.do("app_cluster", "bundle_state", cluster(), status=whole)
    assert ask(only, shape="emco", status="ready")["readyStatus"] == "Ready"
    only.do("app_cluster", "disconnected", cluster())
    assert ask(only, shape="emco", status="ready")["readyStatus"] == "Unknown"


def test_names_only(life: EmcoHistory) -> None:
    assert ask(life, shape="emco", apps=True)["apps"] == ["db", "web"]
    assert ask(life, shape="emco", apps=True, clusters=True, app="web") == {
        "project": "p", "compositeApp": "app", "compositeAppVersion": "v1", "compositeProfile": "prof", "name": "group",
        "apps": ["web"],
    }  # fmt: skip
    assert ask(life, shape="emco", clusters=True, app="web")["clustersByApp"] == [
        {"app": "web", "clusters": [{"clusterProvider": "pv", "cluster": name} for name in ("edge1", "edge2")]}
    ]
    [there] = ask(life, shape="emco", resources=True, app="db")["resourcesByApp"]
    assert [found["name"] for found in there["resources"]] == ["cm", "dep", "net", "svc"]


@pytest.mark.parametrize(("type_", "key"), [("cluster_network_intents", "cluster"), ("logical_cloud", "clusters")])
def test_what_is_no_group_has_a_form_of_its_own(type_: str, key: str) -> None:
    life = EmcoHistory().do("emco_resource", "create", GROUP, type=type_).context(resource())
    life.do("emco_resource", "apply", GROUP, context=CTX).each("applied", resource())
    body = ask(life, shape="emco")
    assert key in body
    assert "apps" not in body
    assert ("deployedStatus" if type_ == "logical_cloud" else "status") in body
    assert "composite-app-name" not in ask(life)


@pytest.mark.parametrize("output", ["summary", "all", "detail"])
def test_network_intents_always_print_their_cluster(output: str) -> None:
    life = EmcoHistory().do("emco_resource", "create", GROUP, type="cluster_network_intents")
    assert ask(life, shape="emco", output=output)["cluster"] == {}
    life.context(resource()).do("emco_resource", "apply", GROUP, context=CTX)
    found = ask(life, shape="emco", output=output)["cluster"]
    assert (found == {}) is (output == "summary")
    for other in (EmcoHistory().group(), EmcoHistory().do("emco_resource", "create", GROUP, type="logical_cloud")):
        assert "cluster" not in ask(other, shape="emco", output=output)


def test_words_of_states_are_emcos() -> None:
    life = EmcoHistory().group().context(resource()).do("emco_resource", "instantiate", GROUP, context=CTX)
    life.do("emco_resource", "terminate", GROUP)
    assert ask(life)["status"] == "PreTerminate"
    assert ask(life, shape="emco")["status"] == "Instantiating"
    life.do("app_context", "instantiation_stopped", context()).each("terminated", resource())
    assert ask(life)["rsync-status"] == {"Terminated": 1}
    assert ask(life, shape="emco")["rsyncStatus"] == {"Deleted": 1}
