"""An object of a cluster-wide kind has no namespace, whatever a manifest says (docs/spec/gitops.md, Comparing)."""

import inspect
import re
from typing import Any

import pytest

from phaseline.engine.products.gitops import assess
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.machines.kinds.kubernetes.diff.types import kinds
from phaseline.machines.kinds.kubernetes.manifest_id import CLUSTER_WIDE
from phaseline.machines.kinds.kubernetes.observation import ObservedPair
from phaseline.machines.kinds.kubernetes.pairs import key_of, pair_up
from tests.support.custom_kinds import custom, definition
from tests.support.manifests import config, kubernetes_object

ROLE = ("rbac.authorization.k8s.io/v1", "ClusterRole")
OUTSIDE = {"metadata": {"namespace": None, "uid": "u1"}}
CLUSTER_GEAR = definition({"type": "object"}, scope="Cluster")


def seen(found: dict[str, Any]) -> dict[str, Any]:
    """The object as the API server gives it: without a namespace."""
    metadata = {name: value for name, value in found["metadata"].items() if name != "namespace"}
    return {**found, "metadata": {**metadata, "uid": "u1"}}


def test_the_list_is_that_of_kubernetes_published_api() -> None:
    """The client that is generated from the API has `create_namespaced_...` where there is one."""
    client = pytest.importorskip("kubernetes_asyncio.client")
    named = {re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower(): kind for _, kind in kinds()}
    plain = {name.replace("_", ""): kind for name, kind in named.items()}
    cluster_wide: set[str] = set()
    namespaced: set[str] = set()
    for api, class_ in inspect.getmembers(client, inspect.isclass):
        for method in dir(class_) if api.endswith("Api") and api != "CustomObjectsApi" else ():
            found = re.fullmatch(r"create_(namespaced_)?(\w+?)(_with_http_info)?", method)
            kind = plain.get(found[2].replace("_", "")) if found else None
            if found and kind:
                (namespaced if found[1] else cluster_wide).add(kind)
    ours = {kind for _, kind in CLUSTER_WIDE}
    assert cluster_wide <= ours
    assert len(cluster_wide) > 30
    assert not namespaced & ours


def test_each_kind_of_the_list_is_known() -> None:
    known = {(version.rpartition("/")[0], kind) for version, kind in kinds()}
    assert {one[1] for one in CLUSTER_WIDE - known} <= {
        "ComponentStatus", "PodSecurityPolicy", "StorageVersion", "StorageVersionMigration",
        "ResourcePoolStatusRequest", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SelfSubjectReview",
        "SubjectAccessReview", "TokenReview",
    }  # fmt: skip


@pytest.mark.parametrize(("git", "live", "others"), [
    pytest.param(kubernetes_object(*ROLE), seen(kubernetes_object(*ROLE)), [], id="built in"),
    pytest.param(custom({"a": 1}), seen(custom({"a": 1})), [], id="custom, and its object says so"),
    pytest.param(custom({"a": 1}), custom({"a": 1}, namespace="elsewhere"), [CLUSTER_GEAR], id="custom, and its definition says so"),
    pytest.param(custom({"a": 1}), custom({"a": 1}, namespace=None), [], id="custom, and nothing else can be meant"),
    pytest.param(custom({"a": 1}, namespace=None), custom({"a": 1}), [], id="no namespace in Git"),
])  # fmt: skip
def test_they_are_one_object(git: Any, live: Any, others: list[Any]) -> None:
    found = assess.assess_all([live, config("a"), *others], [git, config("a"), *others])
    assert [one.assessment.sync for one in found.resources] == ["Synced"] * (2 + len(others))


def test_objects_that_are_not_the_same_stay_two() -> None:
    two = [custom({}, namespace="a"), custom({}, namespace="b")]
    assert len(pair_up([custom({}, namespace="c"), config()], [*two, config()])) == 4
    assert len(pair_up([seen(custom({})), config()], [*two, config()])) == 2  # both are the one: the last one counts
    assert len(pair_up([custom({}, namespace=None), config()], [*two, config()])) == 4


def test_a_namespace_of_a_cluster_wide_kind_is_no_part_of_its_key() -> None:
    assert str(key_of(kubernetes_object(*ROLE))) == "rbac.authorization.k8s.io:ClusterRole/-/it"
    assert (
        str(key_of(kubernetes_object("rbac.authorization.k8s.io/v1", "Role")))
        == "rbac.authorization.k8s.io:Role/shop/it"
    )


@pytest.mark.parametrize(("git", "live", "known"), [
    pytest.param(kubernetes_object(*ROLE), seen(kubernetes_object(*ROLE)), [], id="built in"),
    pytest.param(custom({}), seen(custom({})), [], id="custom"),
    pytest.param(custom({}), seen(custom({})), [CLUSTER_GEAR], id="custom, with its definition"),
])  # fmt: skip
def test_what_is_observed_is_one_resource_that_is_compared_and_goes(git: Any, live: Any, known: list[Any]) -> None:
    observer = Observer("/o", "shop/shop", [git, *known])
    [event] = observer.see(ObjectChange(live))
    assert event["subject"].endswith("/-/it")
    pair = ObservedPair.of(event["data"])
    assert pair.mismatch(event["subject"].partition("/")[2]) is None
    assert pair.desired == git
    assert [one["subject"] for one in observer.missing()] == [
        f"resource/shop/shop/apiextensions.k8s.io:CustomResourceDefinition/-/{one['metadata']['name']}" for one in known
    ]
    [gone] = observer.see(ObjectChange(live, gone=True))
    assert gone["subject"] == event["subject"]
    assert ObservedPair.of(gone["data"]).mismatch(gone["subject"].partition("/")[2]) is None


@pytest.mark.parametrize(("git", "known", "place"), [
    (kubernetes_object(*ROLE), [], "-"), (custom({}), [CLUSTER_GEAR], "-"), (custom({}), [], "shop"),
])  # fmt: skip
def test_what_is_missing_is_the_resource_that_it_will_be(git: Any, known: list[Any], place: str) -> None:
    observer = Observer("/o", "shop/shop", [git])
    for one in known:
        observer.kinds.note(one)
    [event] = observer.missing()
    assert event["subject"].endswith(f"/{place}/it")
    assert ObservedPair.of(event["data"]).mismatch(event["subject"].partition("/")[2]) is None


def test_what_discovery_says_of_a_kind_counts() -> None:
    observer = Observer("/o", "shop/shop", [custom({})])
    observer.kinds.note_scope("shop.example", "Gear", namespaced=False)
    [event] = observer.missing()
    assert event["subject"].endswith("/-/it")


def test_a_namespace_that_is_not_that_of_the_id_is_refused() -> None:
    pair = ObservedPair.of({"live": None, "desired": custom({})})
    assert pair.mismatch("s/a/shop.example:Gear/-/it") is not None
    assert pair.mismatch("s/a/shop.example:Gear/other/it") is not None
    assert pair._replace(live=custom({})).mismatch("s/a/shop.example:Gear/-/it") is not None
