"""The observer: which events Kubernetes objects make, each change once.

Belongs here: objects in, events out. Does not: the command (`test_observe`).
"""

import base64
import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange, Objects, read_text
from phaseline.machines.kinds.kubernetes.diff.compare import compare
from phaseline.machines.kinds.kubernetes.secret_values import raw_secret_in
from phaseline.schemas.errors import InvalidInput
from tests.support.gitops_history import APP, resource_id
from tests.support.manifests import config, deployment, kubernetes_object
from tests.support.raising import raises


def told(observer: Observer, found: dict[str, Any], *, gone: bool = False) -> list[tuple[str, str, Any]]:
    return [(event["type"], event["subject"], event.get("data")) for event in observer.see(ObjectChange(found, gone))]


WORDS = (
    "name", "namespace", "labels", "annotations", "ownerReferences", "kind", "conditions", "type", "status", "message", "resources", "operationState", "phase",
    "syncResult", "destination", "server", "deploymentID", "appliedDeploymentID", "nonReadyStatus", "modifiedStatus", "summary", "resourceCounts", "agent", "lastSeen", "partitions", "rolloutStrategy", "ignoreDifferences", "fleet.cattle.io/repo-name",
)  # fmt: skip

# ---- cutting streams


def names(text: str, at: list[int]) -> list[tuple[str, bool]]:
    objects, found, start = Objects("pipe"), [], 0
    for end in [*sorted(place % (len(text) + 1) for place in at), len(text)]:
        found += [(change.manifest["metadata"]["name"], change.gone) for change in objects.take(text[start:end])]
        start = end
    objects.end()
    return found


STREAM = "".join([
    json.dumps(config("a"), indent=4), json.dumps(config("b")), "\n\n", json.dumps({"type": "DELETED", "object": config("c")}),
    json.dumps({"apiVersion": "v1", "kind": "List", "items": [config("d"), config("e}")]}, indent=1), json.dumps({"type": "BOOKMARK", "object": {"kind": "Pod"}}), "\n",
])  # fmt: skip


@given(st.lists(st.integers(0, 5000), max_size=12))
def test_wherever_a_stream_is_cut_its_objects_are_the_same(at: list[int]) -> None:
    assert names(STREAM, at) == [("a", False), ("b", False), ("c", True), ("d", False), ("e}", False)]


@pytest.mark.parametrize(("text", "says"), [
    ("kind: A", "pipe, object 1: it must be JSON, as printed by kubectl get -o json"), ("[1]", "pipe, object 1: it must be an object, found list"), ('{"a": 1}', "pipe, object 1: it must have apiVersion and kind"), ('{"kind": "A"', "pipe, object 1: it is cut off"),
    ('{"type": "ERROR", "object": {"message": "too old resource version"}}', "the API server reports an error: too old resource version"),
    (json.dumps(config()) + "\nno", "pipe, object 2"), ('{"apiVersion": "v1", "kind": "List", "items": [3]}', "pipe, object 1, item 0: it must be an object"),
])  # fmt: skip
def test_what_is_no_stream_of_objects(text: str, says: str) -> None:
    with raises(InvalidInput.bad_manifest) as refused:
        names(text, [])
    assert says in str(refused.value)


def test_a_list_of_nothing() -> None:
    for empty in ("null", "[]"):
        assert names(f'{{"apiVersion": "v1", "kind": "List", "items": {empty}}}', []) == []
    # An object of its own may be called so too.
    assert names(json.dumps({"apiVersion": "acme.example/v1", "kind": "AllowList", "metadata": {"name": "a"}}), []) == [
        ("a", False)
    ]


def test_files() -> None:
    assert [
        change.manifest["kind"] for change in read_text(yaml.safe_dump_all([config(), deployment()]).encode(), "f")
    ] == [
        "ConfigMap",
        "Deployment",
    ]
    assert [change.manifest["kind"] for change in read_text(json.dumps(config()).encode(), "f")] == ["ConfigMap"]
    with raises(InvalidInput.bad_manifest, match="f: line 1, column 5"):
        list(read_text(b"a: b: c", "f"))


# ---- any object


def test_a_real_change_is_told_once() -> None:
    observer = Observer("/o", APP)
    first = {
        **deployment(metadata={"resourceVersion": "1", "managedFields": [{"time": "1"}]}),
        "status": {"conditions": [{"type": "A", "lastUpdateTime": "1", "status": "True"}]},
    }
    again = {
        **deployment(metadata={"resourceVersion": "2", "managedFields": [{"time": "2"}]}),
        "status": {"conditions": [{"type": "A", "lastUpdateTime": "2", "status": "True"}]},
    }
    changed = {**again, "status": {"conditions": [{"type": "A", "lastUpdateTime": "3", "status": "False"}]}}
    assert told(observer, first) == [("resource.observed", f"resource/{resource_id(deployment())}", {"live": first})]
    assert told(observer, again) == []
    assert len(told(observer, changed)) == len(told(observer, first)) == 1
    assert told(observer, first, gone=True) == [("resource.removed", f"resource/{resource_id(deployment())}", None)]
    assert len(told(observer, first)) == 1


def test_what_git_declares_goes_along() -> None:
    observer = Observer("/o", APP, [config("a", metadata={"namespace": None}), config("b")])
    assert told(observer, config("a"))[0][2] == {
        "live": config("a"),
        "desired": config("a", metadata={"namespace": None}),
    }
    assert told(observer, config("extra"))[0][2] == {"live": config("extra"), "desired": None}
    pod = kubernetes_object("v1", "Pod", metadata={"ownerReferences": [{"kind": "ReplicaSet"}]})
    assert told(observer, pod)[0][2] == {"live": pod}
    [missing] = observer.missing()
    assert (missing["subject"], missing["data"]) == (
        f"resource/{APP}/core:ConfigMap/shop/b",
        {"live": None, "desired": config("b")},
    )
    assert list(observer.missing()) == []
    assert told(observer, config("a"), gone=True)[0][2]["live"] is None


def test_what_nobody_deploys_is_passed_over() -> None:
    observer = Observer("/o", APP)
    for api, kind in (
        ("v1", "Event"),
        ("events.k8s.io/v1", "Event"),
        ("coordination.k8s.io/v1", "Lease"),
        ("v1", "Endpoints"),
        ("discovery.k8s.io/v1", "EndpointSlice"),
    ):
        assert told(observer, kubernetes_object(api, kind)) == []


def test_no_secret_goes_out_and_equal_ones_stay_equal() -> None:
    plain, coded = (
        kubernetes_object("v1", "Secret", stringData={"a": "hush"}),
        kubernetes_object("v1", "Secret", data={"a": base64.b64encode(b"hush").decode(), "b": "!"}),
    )
    coded["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "hush"}
    [(_, _, data)] = told(Observer("/o", APP, [plain]), coded)
    assert "hush" not in json.dumps(data)
    assert raw_secret_in(data) is None
    assert base64.b64encode(b"hush").decode() not in json.dumps(data)
    assert compare(data["desired"], data["live"]) == []
    [(_, _, data)] = told(Observer("/o", APP, [kubernetes_object("v1", "Secret", stringData={"a": "other"})]), coded)
    assert [one.pointer for one in compare(data["desired"], data["live"])] == ["/data/a"]


@pytest.mark.parametrize("odd", [{"data": {"pin": 271828}}, {"stringData": {"pin": 271828}}, {"data": "271828"}, {"stringData": ["271828"]}, {"data": {"pin": {"inner": "271828"}}}, {"data": {"pin": "271828\u00e9"}}])  # fmt: skip
def test_what_is_no_right_secret_gives_nothing_away_either(odd: dict[str, Any]) -> None:
    [(_, _, data)] = told(
        Observer("/o", APP, [kubernetes_object("v1", "Secret", **odd)]), kubernetes_object("v1", "Secret", **odd)
    )
    assert "271828" not in json.dumps(data)
    assert raw_secret_in(data) is None


HUSH = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "hush"}}


@pytest.mark.parametrize("where", [
    {"metadata": {"annotations": {"note": json.dumps(HUSH), "other": "kept"}}}, {"spec": {"objects": [{"a": "kept"}, HUSH]}},
    {"spec": {"text": yaml.safe_dump(HUSH), "a": "kept"}}, {"spec": {"kind": "SecretList", "items": [{"data": {"a": "hush"}}], "a": "kept"}},
    {"status": {"secretStatuses": [{"data": {"a": "aHVzaA=="}}], "a": "kept"}},
])  # fmt: skip
def test_a_secret_inside_another_object_is_masked_and_the_rest_is_told(where: dict[str, Any]) -> None:
    """Were the event refused, the object would look as it did before."""
    found = kubernetes_object("apps/v1", "Deployment")
    found = {**found, **where, "metadata": {**found["metadata"], **where.get("metadata", {})}}
    [(_, _, data)] = told(Observer("/o", APP, [found]), found)
    assert raw_secret_in(data) is None
    assert "hush" not in json.dumps(data)
    assert "aHVzaA" not in json.dumps(data)
    assert "kept" in json.dumps(data["live"])
    assert compare(data["desired"], data["live"]) == []


def test_a_secret_with_another_one_in_an_annotation_is_masked() -> None:
    found = {**HUSH, "metadata": {"name": "s", "namespace": "shop", "annotations": {"note": json.dumps(HUSH)}}}
    [(_, _, data)] = told(Observer("/o", APP), found)
    assert raw_secret_in(data) is None
    assert "hush" not in json.dumps(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=20,
)
SORTS = [
    ("argoproj.io/v1alpha1", "Application"), ("argoproj.io/v1alpha1", "ApplicationSet"), ("v1", "Secret"), ("apps/v1", "Deployment"),
    *(("fleet.cattle.io/v1alpha1", kind) for kind in ("GitRepo", "Bundle", "BundleDeployment", "Cluster")),
]  # fmt: skip


@given(st.sampled_from(SORTS), JSON, JSON, JSON, st.booleans())
def test_nothing_that_is_json_makes_it_fail(
    sort: tuple[str, str], metadata: Any, spec: Any, status: Any, gone: bool
) -> None:
    found = {"apiVersion": sort[0], "kind": sort[1], "metadata": metadata, "spec": spec, "status": status, "data": spec}
    for event in Observer("/o", APP).see(ObjectChange(found, gone)):
        assert event["subject"].startswith(event["type"].partition(".")[0] + "/")


def test_long_ids_stay_two() -> None:
    [one, other] = [
        event["id"]
        for name in "ab"
        for event in Observer("/o", APP).see(
            ObjectChange(
                kubernetes_object(
                    "v1", "A", metadata={"name": "n" * 230 + name, "uid": "u" * 36, "resourceVersion": "7"}
                )
            )
        )
    ]
    assert (one != other, len(one) <= 256, len(other) <= 256) == (True, True, True)


def test_ids_are_the_objects_own_where_it_has_one() -> None:
    observer = Observer("/o", APP)
    [event] = observer.see(ObjectChange(config(metadata={"uid": "u", "resourceVersion": "7"})))
    assert event["id"] == f"u-7-observed-{APP}/core:ConfigMap/shop/it"
    [event] = observer.see(ObjectChange(config(metadata={"uid": "u", "resourceVersion": "7"}), gone=True))
    assert event["id"] == f"u-7-gone-removed-{APP}/core:ConfigMap/shop/it"
    ids = [event["id"] for data in "abab" for event in observer.see(ObjectChange(config(data={"k": data})))]
    assert len(set(ids)) == 4


# ---- which object it is


def lived(uid: str, **parts: Any) -> dict[str, Any]:
    return config(metadata={"uid": uid}, **parts)


def test_observations_of_an_object_name_its_uid() -> None:
    observer = Observer("/o", APP)
    [(_, _, data)] = told(observer, lived("u1"))
    assert data["uid"] == "k8s:u1"
    assert told(observer, lived("u1")) == []
    [(_, _, data)] = told(observer, lived("u2"))
    assert data["uid"] == "k8s:u2"
    [snapshot] = observer.relisted("", "ConfigMap", None)
    assert snapshot["data"]["items"] == [{"id": "core:ConfigMap/shop/it", "uid": "k8s:u2"}]
    [(_, _, data)] = told(observer, lived("u2"), gone=True)
    assert data == {"uid": "k8s:u2"}


def test_a_uid_that_no_event_can_hold_is_left_out() -> None:
    for uid in ("", "a b", "x" * 201, "\u2028"):
        [(_, _, data)] = told(Observer("/o", APP), lived(uid))
        assert "uid" not in data


def test_what_an_object_says_of_others_does_not_name_its_uid() -> None:
    labels = {
        "fleet.cattle.io/repo-name": "infra",
        "fleet.cattle.io/bundle-name": "web",
        "fleet.cattle.io/cluster": "c",
    }
    key = {"kind": "ConfigMap", "apiVersion": "v1", "namespace": "shop", "name": "r"}
    status = {"appliedDeploymentID": "v1", "ready": True, "resources": [key]}
    found = fleet("BundleDeployment", metadata={"labels": labels, "uid": "u1"}, status=status)
    events = told(Observer("/o"), found)
    named = {name: (data or {}).get("uid") for name, _, data in events}
    assert named["bundle_deployment.observed"] == "k8s:u1"
    assert {uid for name, uid in named.items() if name.startswith("bundle_resource.")} == {None}
    again = Observer("/o")
    assert told(again, found) == events
    later = told(again, {**found, "metadata": {**found["metadata"], "uid": "u2"}})
    assert [name for name, _, _ in later] == [name for name, _, _ in events]


def test_a_repository_and_a_helm_operation_of_one_name_are_told_apart() -> None:
    observer = Observer("/o")
    uids = {
        (data or {}).get("uid")
        for kind in ("GitRepo", "HelmOp")
        for name, _, data in told(observer, fleet(kind, metadata={"uid": kind[0]}))
        if name.startswith("git_repo.")
    }
    assert uids == {"k8s:G", "k8s.helmop:H"}


# ---- Fleet


def fleet(kind: str, name: str = "infra", **parts: Any) -> dict[str, Any]:
    return {
        "apiVersion": "fleet.cattle.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "fleet-default", **parts.pop("metadata", {})},
        **parts,
    }


def test_repositories_and_bundles_of_fleet() -> None:
    observer = Observer("/o")
    well: tuple[str, str, Any] = ("git_repo.recovered", "git_repo/infra", {})
    assert told(observer, fleet("GitRepo", spec={"repo": "https://git"})) == [
        ("git_repo.created", "git_repo/infra", {"url": "https://git", "declared_as": "GitRepo"}), well,
    ]  # fmt: skip
    good = fleet("GitRepo", status={"commit": "abc", "conditions": [{"type": "Accepted", "status": "True"}]})
    bad = fleet(
        "GitRepo",
        status={"commit": "abc", "conditions": [{"type": "GitPolling", "status": "False", "message": "no route"}]},
    )
    assert told(observer, good) == [("git_repo.fetched", "git_repo/infra", {"commit": "abc", "declared_as": "GitRepo"})]
    assert told(observer, bad) == [
        ("git_repo.fetch_failed", "git_repo/infra", {"declared_as": "GitRepo", "message": "no route"}),
    ]  # fmt: skip
    assert told(observer, good) == [("git_repo.fetched", "git_repo/infra", {"commit": "abc", "declared_as": "GitRepo"})]
    assert told(observer, fleet("Bundle", "web", metadata={"labels": {"fleet.cattle.io/repo-name": "infra"}})) == [
        ("bundle.created", "bundle/infra/web", None), ("bundle.recovered", "bundle/infra/web", {}),
    ]  # fmt: skip


def test_a_deployment_of_fleet() -> None:
    labels = {
        "fleet.cattle.io/repo-name": "infra",
        "fleet.cattle.io/bundle-name": "web",
        "fleet.cattle.io/cluster": "c1",
    }
    keys = [{"kind": "ConfigMap", "apiVersion": "v1", "namespace": "shop", "name": f"r{number}"} for number in range(3)]
    status = {
        "appliedDeploymentID": "v1", "ready": True, "resources": keys, "modifiedStatus": [{**keys[0], "missing": True}, {**keys[1], "patch": "{}"}],
        "nonReadyStatus": [{"kind": "Deployment", "apiVersion": "apps/v1", "namespace": "shop", "name": "d", "summary": {"state": "updating", "message": ["1 of 2"]}}],
    }  # fmt: skip
    found = fleet(
        "BundleDeployment",
        metadata={"labels": labels},
        spec={"deploymentID": "v1", "stagedDeploymentID": "v1"},
        status=status,
    )
    observer, here = Observer("/o"), "bundle_resource/infra/web/c1"
    listed = ["apps:Deployment/shop/d", *(f"core:ConfigMap/shop/r{number}" for number in range(3))]
    ids = {"target": "v1", "staged": "v1", "applied": "v1"}
    assert told(observer, found) == [
        ("bundle_deployment.observed", "bundle_deployment/infra/web/c1", {**ids, "ready": True, "unmodified": False, "listed": listed}),
        ("bundle_resource.not_ready", f"{here}/apps:Deployment/shop/d", {"message": "updating: 1 of 2"}), ("bundle_resource.missing", f"{here}/core:ConfigMap/shop/r0", {}),
        ("bundle_resource.modified", f"{here}/core:ConfigMap/shop/r1", {"message": "{}"}), ("bundle_resource.ready", f"{here}/core:ConfigMap/shop/r2", {}),
    ]  # fmt: skip
    assert told(observer, found) == []
    mended = {**found, "status": {**status, "modifiedStatus": []}}
    assert [one[:2] for one in told(observer, mended)] == [
        ("bundle_resource.ready", f"{here}/core:ConfigMap/shop/r{number}") for number in (0, 1)
    ]
    assert [one[0] for one in told(observer, found)] == ["bundle_resource.missing", "bundle_resource.modified"]
    failing = {
        **found,
        "spec": {"deploymentID": "v2", "stagedDeploymentID": "v2"},
        "status": {
            "appliedDeploymentID": "v1",
            "conditions": [{"type": "Deployed", "status": "False", "message": "no"}],
        },
    }
    assert told(observer, failing) == [
        ("bundle_deployment.observed", "bundle_deployment/infra/web/c1", {
            "target": "v2", "staged": "v2", "applied": "v1", "apply_failed": True, "ready": False, "unmodified": False,
            "message": "no",
        }),
    ]  # fmt: skip


# ---- the command


@pytest.mark.parametrize(("levels", "count"), [(90, 1), (99, 0), (50_000, 0)])
def test_an_object_that_is_nested_too_deep_is_left_out(levels: int, count: int) -> None:
    deep: Any = "x"
    for _ in range(levels):
        deep = [deep]
    labels = {"app.kubernetes.io/instance": "shop"}
    found = {"apiVersion": "x.io/v1", "kind": "Foo", "metadata": {"name": "a", "labels": labels}, "spec": deep}
    observer = Observer("/o", APP)
    assert len([*observer.see(ObjectChange(found))]) == count


def test_objects_before_the_one_that_is_nested_too_deep_are_taken() -> None:
    head = '{"apiVersion": "v1", "kind": "A", "a": '
    fits, deep = (head + '{"a":' * levels + "1" + "}" * levels + "}" for levels in (400, 600))
    taken = Objects("it").take(fits + deep)
    assert next(taken)
    with raises(InvalidInput.bad_manifest, match=r"object 2: .* more than 500 levels deep"):
        next(taken)


def test_a_stream_that_is_nested_too_deep() -> None:
    with raises(InvalidInput.bad_manifest, match="nested more than 500 levels deep"):
        [*Objects("it").take('{"a":' * 100_000 + "}")]


def test_what_a_definition_says_of_a_kind_goes_along() -> None:
    observer, widget = Observer("/o", APP), kubernetes_object("acme.dev/v1", "Widget")
    schema = {"type": "object", "properties": {"spec": {"type": "object"}}}
    definition = kubernetes_object(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", metadata={"name": "widgets.acme.dev", "namespace": None},
        spec={
            "group": "acme.dev", "names": {"kind": "Widget"},
            "versions": [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}],
        },
    )  # fmt: skip
    assert told(observer, widget)[0][2] == {"live": widget}
    told(observer, definition)
    assert told(observer, widget)[0][2] == {"live": widget, "kind_facts": {"status": False}}
    assert told(observer, widget) == []


# ---- changes that come late


def claim(uid: str, version: str, phase: str = "Bound") -> dict[str, Any]:
    metadata = {"name": "data", "namespace": "shop", "uid": uid, "resourceVersion": version}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "status": {"phase": phase}}


def told_of(*changes: ObjectChange) -> list[tuple[str, str]]:
    """The trigger of each event, and the uid that it names, of changes one after the other."""
    observer = Observer("/o", APP)
    found = [event for one in changes for event in observer.see(one)]
    return [(event["type"].partition(".")[2], event["data"]["uid"].removeprefix("k8s:")) for event in found]


SEEN, GONE = ("observed", "u-1"), ("removed", "u-1")


@pytest.mark.parametrize(("changes", "expected"), [
    ([(claim("u-1", "9"), False), (claim("u-1", "7", "Pending"), False)], [SEEN]),
    ([(claim("u-1", "9"), False), (claim("u-1", "10", "Lost"), False)], [SEEN, SEEN]),
    ([(claim("u-1", "5"), False), (claim("u-1", "8"), True), (claim("u-1", "5"), False)], [SEEN, GONE]),
    ([(claim("u-1", "5"), False), (claim("u-1", "5"), True), (claim("u-1", "5"), False)], [SEEN, GONE]),
    ([(claim("u-1", "5"), False), (claim("u-1", "8"), True), (claim("u-1", "9"), False)], [SEEN, GONE, SEEN]),  # selected again
    ([(claim("u-1", "5"), False), (claim("u-2", "9"), False), (claim("u-1", "7", "Pending"), False)], [SEEN, ("observed", "u-2")]),
    ([(claim("u-1", "5"), False), (claim("u-2", "9"), False), (claim("u-1", "8"), True)], [SEEN, ("observed", "u-2")]),
    ([(claim("u-1", "odd"), False), (claim("u-2", "odder"), False), (claim("u-1", "odd"), False)], [SEEN, ("observed", "u-2")]),
    ([(claim("u-1", "odd"), False), (claim("u-1", "odder", "Lost"), False)], [SEEN, SEEN]),
    ([(claim("u-1", "9"), False), (claim("u-1", "9"), True), (claim("u-2", "12"), False)], [SEEN, GONE, ("observed", "u-2")]),
])  # fmt: skip
def test_nothing_older_comes_back(changes: list[tuple[dict[str, Any], bool]], expected: list[tuple[str, str]]) -> None:
    assert told_of(*(ObjectChange(found, gone) for found, gone in changes)) == expected


def test_a_list_is_the_last_word_on_what_is_there() -> None:
    restored = ObjectChange(claim("u-1", "3", "Lost"), listed=True)
    later = ObjectChange(claim("u-1", "4"))
    assert told_of(ObjectChange(claim("u-1", "9000")), restored, later) == [SEEN, SEEN, SEEN]
    assert told_of(ObjectChange(claim("u-1", "9")), ObjectChange(claim("u-1", "9"), gone=True), restored) == [
        SEEN,
        GONE,
        SEEN,
    ]


@given(st.permutations(range(6)))
def test_whatever_the_order_of_a_history_what_is_told_last_is_its_end(order: list[int]) -> None:
    history = [claim("u-1", str(10 + at), phase) for at, phase in enumerate(("Pending", "Bound", "Lost"))]
    history += [claim("u-2", str(20 + at), phase) for at, phase in enumerate(("Pending", "Bound", "Lost"))]
    observer = Observer("/o", APP)
    told = [event for at in order for event in observer.see(ObjectChange(history[at]))]
    assert (told[-1]["data"]["uid"], told[-1]["data"]["live"]["status"]) == ("k8s:u-2", {"phase": "Lost"})


def test_an_application_that_comes_again_is_told_again_what_nobody_may_look_at() -> None:
    observer = Observer("/o")
    application = kubernetes_object("argoproj.io/v1alpha1", "Application")

    def said() -> list[Any]:
        return [event["data"]["attributes"]["unwatched"] for event in observer.unwatched({"core:ConfigMap"})]

    assert told(observer, application)
    assert [said(), said(), said()] == [[None], ["core:ConfigMap"], []]
    assert told(observer, application, gone=True)
    assert told(observer, application)
    assert [said(), said()] == [["core:ConfigMap"], []]
