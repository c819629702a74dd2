"""Whose object an object is: marks, sets, namespaces, installations (docs/spec/gitops.md, Whose object it is)."""

from typing import Any

import pytest

from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.ownership import Ownership, Tracking
from phaseline.engine.products.observe.stream import ObjectChange
from tests.support.manifests import config, kubernetes_object

TRACKING, INSTALLATION = "argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id"


def tracked(mark: str, name: str = "it", **annotations: str) -> dict[str, Any]:
    """A ConfigMap with a tracking id. `{}` in the mark stands for the ConfigMap itself."""
    mark = mark.replace("{}", f"/ConfigMap:shop/{name}")
    return config(name, metadata={"annotations": {TRACKING: mark, **annotations}})


def labelled(instance: str, key: str = "app.kubernetes.io/instance", **annotations: str) -> dict[str, Any]:
    return config(metadata={"labels": {key: instance}, "annotations": annotations})


def application(name: str = "web", namespace: str = "argocd", owner: str = "") -> dict[str, Any]:
    owners = [{"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "name": owner}] if owner else []
    metadata = {"name": name, "namespace": namespace, "ownerReferences": owners}
    return kubernetes_object("argoproj.io/v1alpha1", "Application", metadata=metadata)


def application_set(name: str, namespace: str = "argocd") -> dict[str, Any]:
    return kubernetes_object("argoproj.io/v1alpha1", "ApplicationSet", metadata={"name": name, "namespace": namespace})


def seen(*manifests: dict[str, Any], **settings: Any) -> Ownership:
    whose = Ownership(Tracking(**settings))
    for one in manifests:
        whose.note(one, gone=False)
    return whose


def subjects(observer: Observer, *manifests: dict[str, Any], gone: bool = False) -> list[str]:
    """`<trigger> <id>` of each event of objects, without those that only say what an Application is like."""
    found = [event for one in manifests for event in observer.see(ObjectChange(one, gone))]
    told = [f"{one['type']} {one['subject'].partition('/')[2]}" for one in found]
    return [
        one
        for one in told
        if not one.startswith(("application.configure", "application.observed", "application_set.conf"))
    ]


@pytest.mark.parametrize(("manifest", "expected"), [
    (tracked("web:{}"), "web/web"),
    (labelled("web"), "web/web"),
    # The annotation counts before the label; a copy is no member even with the label.
    (config(metadata={"annotations": {TRACKING: "web:/ConfigMap:shop/it"}, "labels": {"app.kubernetes.io/instance": "db"}}), "web/web"),
    (config(metadata={"annotations": {TRACKING: "web:/ConfigMap:shop/other"}, "labels": {"app.kubernetes.io/instance": "web"}}), None),
    (tracked("web:/ConfigMap:elsewhere/it"), None),
    (tracked("web:/Secret:shop/it"), None),
    (tracked("web:apps/ConfigMap:shop/it"), None),
    (tracked("web"), None),
    (tracked(":{}"), None),
    (config(), None),
    # An object without a namespace is marked with the namespace of its application.
    (kubernetes_object("v1", "Namespace", metadata={"name": "shop", "namespace": None, "annotations": {TRACKING: "web:/Namespace:shop/shop"}}), "web/web"),
    (kubernetes_object("v1", "Namespace", metadata={"name": "shop", "namespace": None, "annotations": {TRACKING: "web:/Namespace:/shop"}}), "web/web"),
    (kubernetes_object("rbac.authorization.k8s.io/v1", "ClusterRole", metadata={"name": "system:it", "namespace": None, "annotations": {TRACKING: "web:rbac.authorization.k8s.io/ClusterRole:shop/system:it"}}), "web/web"),
    # Applications outside Argo CD's own namespace.
    (tracked("team-a_web:{}"), "team-a_web/team-a_web"),
    (tracked("argocd_web:{}"), "web/web"),
    (application(), "web/web"),
    (application(owner="all"), "all/web"),
    (application(namespace="team-a"), "team-a_web/team-a_web"),
    (application(namespace="team-a", owner="all"), "team-a_all/team-a_web"),
    (application_set("all"), "all"),
    (application_set("all", "team-a"), "team-a_all"),
])  # fmt: skip
def test_whose_an_object_is(manifest: dict[str, Any], expected: str | None) -> None:
    assert seen().whose(manifest).id == expected


def test_a_set_its_applications_and_their_objects_end_in_one_tree() -> None:
    for order in (0, 1, 2):
        observer = Observer("/o")
        objects = [tracked("web:{}", "one"), tracked("web:{}", "two")]
        made = [application_set("all"), application(owner="all")]
        subjects(observer, *objects[:order], *made, *objects[order:])
        assert {observer.ownership.whose(one).id for one in (*objects, made[1])} == {"all/web"}
        assert observer.ownership.whose(made[0]).id == "all"


def test_objects_that_come_before_their_application_are_brought_home() -> None:
    observer = Observer("/o")
    first = subjects(observer, tracked("web:{}", "one"), tracked("web:{}", "two"), tracked("db:{}", "three"))
    assert first[0] == "resource.observed web/web/core:ConfigMap/shop/one"
    assert subjects(observer, application(owner="all")) == [
        "application_set.removed web",
        "application.named all/web",
        "resource.observed all/web/core:ConfigMap/shop/one",
        "resource.observed all/web/core:ConfigMap/shop/two",
    ]
    assert subjects(observer, application(owner="all")) == []
    # A real set of that name stays: only the application in it was a guess.
    observer = Observer("/o")
    subjects(observer, application_set("web"), tracked("web:{}"))
    assert subjects(observer, application(owner="all"))[0] == "application.removed web/web"


def test_an_application_that_a_set_takes_over_moves() -> None:
    observer = Observer("/o")
    subjects(observer, application(), application_set("web"))
    assert subjects(observer, application(owner="all")) == ["application.removed web/web", "application.named all/web"]


def test_where_all_applications_are_seen_a_mark_alone_makes_no_application() -> None:
    observer = Observer("/o", whose=Ownership(complete=True))
    assert subjects(observer, labelled("redis")) == []
    assert observer.unowned == {
        "core:ConfigMap/shop/it": "it is marked as one of the Application redis, which is not there"
    }
    assert subjects(observer, application("redis", owner="all")) == [
        "application.named all/redis",
        "resource.observed all/redis/core:ConfigMap/shop/it",
    ]
    assert observer.unowned == {}


def test_applications_of_one_name_stay_apart() -> None:
    whose = seen(application(), application(namespace="team-a"), application(namespace="team-b", owner="all"))
    assert [whose.whose(tracked(f"{mark}:{{}}")).id for mark in ("web", "team-a_web", "team-b_web")] == [
        "web/web", "team-a_web/team-a_web", "team-b_all/team-b_web",
    ]  # fmt: skip
    assert seen(namespace="gitops").whose(application(namespace="gitops")).id == "web/web"


def test_an_object_that_moves_from_label_to_annotation_stays_where_it_is() -> None:
    observer = Observer("/o")
    both = config(
        metadata={"annotations": {TRACKING: "web:/ConfigMap:shop/it"}, "labels": {"app.kubernetes.io/instance": "web"}}
    )
    found = [subjects(observer, one) for one in (labelled("web"), both, tracked("web:{}"))]
    assert found == [["resource.observed web/web/core:ConfigMap/shop/it"]] * 3


def test_a_label_of_its_own_and_an_installation_of_its_own() -> None:
    own = seen(label="example.com/app")
    assert own.whose(labelled("web", "example.com/app")).id == "web/web"
    assert own.whose(labelled("web")).id is None
    here = seen(installation="here")
    assert here.whose(tracked("web:{}", **{INSTALLATION: "here"})).id == "web/web"
    for found in (
        tracked("web:{}", **{INSTALLATION: "there"}),
        tracked("web:{}"),
        labelled("web", **{INSTALLATION: "there"}),
    ):
        assert (here.whose(found).id, "another installation" in here.whose(found).why) == (None, True)
    assert here.whose(labelled("web")).id == "web/web"
    settings = {
        "application.instanceLabelKey": "example.com/app",
        "installationID": "here",
        "application.resourceTrackingMethod": "label",
    }
    whose = seen(config("argocd-cm", metadata={"namespace": "argocd"}, data=settings))
    assert whose.tracking == Tracking("argocd", "example.com/app", "here", "label")
    assert whose.whose(tracked("web:{}")).id is None
    assert whose.whose(labelled("web", "example.com/app")).id == "web/web"


def test_all_objects_may_be_of_one_application_by_name() -> None:
    whose = Ownership(application="shop/shop")
    assert {whose.whose(one).id for one in (config(), tracked("web:{}"), tracked("web:/Pod:x/y"))} == {"shop/shop"}
    assert whose.whose(application(owner="all")).id == "all/web"
