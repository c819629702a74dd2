"""No object differs from itself, and given pairs are answered as they must be; with conformance cases where at hand."""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from phaseline.engine.products.gitops import assess
from phaseline.engine.products.observe.manifest_files import read
from phaseline.machines.kinds.kubernetes.diff.compare import compare
from phaseline.machines.kinds.kubernetes.pairs import ApplicationAssessment
from phaseline.schemas.yaml_text import documents
from tests.support.conformance import FOLDER
from tests.support.manifests import kubernetes_object

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = [
    *(FOLDER / name for name in ("diff.json", "health_builtin.json", "health_custom.json", "app_health.json", "k8s_defaults.json")),
    *(EXAMPLES / name for name in ("gitops/git", "gitops/live", "gitops/shop.jsonl", "emco/resourcebundlestate.json")),
    FOLDER / "public" / "gitops",
]  # fmt: skip


def objects(found: Any) -> Iterator[dict[str, Any]]:
    """Every Kubernetes object in a document, also where it stands as a text."""
    if isinstance(found, Mapping):
        if isinstance(found.get("apiVersion"), str) and isinstance(found.get("kind"), str) and "metadata" in found:
            yield dict(found)
        for value in found.values():
            yield from objects(value)
    elif isinstance(found, list):
        for value in found:
            yield from objects(value)
    elif isinstance(found, str) and found.startswith("{"):
        try:
            yield from objects(json.loads(found))
        except ValueError:
            return


def in_files(path: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.suffix in (".yaml", ".yml", ".json"):
            for document in documents(file.read_bytes()):
                yield from objects(document)
        elif file.suffix == ".jsonl":
            for line in file.read_text().splitlines():
                yield from objects(json.loads(line) if line.startswith("{") else None)


@pytest.mark.parametrize("path", [pytest.param(one, id=one.name) for one in FILES if one.exists()])
def test_no_object_differs_from_itself(path: Path) -> None:
    count = 0
    for one in in_files(path):
        count += 1
        assert compare(one, deepcopy(one)) == [], one
        assert assess.diff(deepcopy(one), one) == []
    assert count


def of_case(name: str) -> ApplicationAssessment:
    folder = FOLDER / "public" / "gitops" / name
    if not folder.is_dir():
        pytest.skip("the cases are not at hand")
    live, desired = ([*read(folder / side)] if (folder / side).is_dir() else None for side in ("live", "desired"))
    return assess.assess_all(live or [], desired)


@pytest.mark.parametrize(("name", "found"), [
    ("crd-preserve", [("Synced", [])]),
    ("clusterrole-namespace", [("Synced", []), ("Synced", []), ("Synced", [])]),
    ("hpa-order", [("Synced", [])]),
    ("ssa-removed", [("OutOfSync", [("/spec/config/errors.tolerance", "would be removed"), ("/spec/pause", "would be removed")])]),
    ("port-by-hand", [("OutOfSync", [("/spec/ports/0", "another item took its place: port 83 instead of 80")])]),
    ("nothing-compared", [(None, []), (None, [])]),
])  # fmt: skip
def test_the_cases_of_public_reports(name: str, found: list[Any]) -> None:
    made = [
        (one.sync, [(place.pointer, place.note) for place in one.differences]) for _, one in of_case(name).resources
    ]
    assert made == found


def test_what_took_the_place_of_another_is_shown_with_it() -> None:
    [(_, found)] = of_case("port-by-hand").resources
    [place] = found.differences
    assert (place.wanted["port"], place.found["port"]) == (80, 83)


def test_where_nothing_was_compared_nothing_is_said() -> None:
    whole = of_case("nothing-compared").whole
    assert (whole.health, whole.sync, whole.not_compared) == ("NotAssessed", "NotCompared", 2)


def test_lists_are_opened_and_what_only_tools_read_is_told() -> None:
    first, second = (kubernetes_object("apps/v1", "Deployment", metadata={"name": name}) for name in "ab")
    listed = {"apiVersion": "v1", "kind": "List", "items": [first, second]}
    tool = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": []}
    found = assess.assess_all([first], [listed, tool])
    assert (found.whole.resources, found.whole.unsynced) == (2, ("apps/Deployment:shop/b",))
    assert found.problems == (
        "desired[1] is left out: Kustomization of kustomize.config.k8s.io/v1beta1 is read by a tool, and never in a cluster",
    )


def test_two_objects_of_two_kinds_are_not_one() -> None:
    live, git = kubernetes_object("v1", "ConfigMap"), kubernetes_object("apps/v1", "Deployment")
    found = assess.assess_all([live], [git])
    assert [one.why for _, one in found.resources] == [
        "it is in Git, and not in the cluster", "it is in the cluster, and not in Git",
    ]  # fmt: skip


@pytest.mark.parametrize(("api", "kind", "name"), [
    ("v1", "Endpoints", "web"), ("discovery.k8s.io/v1", "EndpointSlice", "web-x7"), ("v1", "ConfigMap", "kube-root-ca.crt"),
    ("v1", "ServiceAccount", "default"), ("v1", "Secret", "sh.helm.release.v1.web.v3"), ("coordination.k8s.io/v1", "Lease", "web"),
])  # fmt: skip
def test_what_kubernetes_makes_by_itself_is_not_too_much(api: str, kind: str, name: str) -> None:
    config = kubernetes_object("v1", "ConfigMap", metadata={"name": "a", "namespace": "shop"})
    made = kubernetes_object(api, kind, metadata={"name": name, "namespace": "shop"})
    found = assess.assess_all([config, made], [config])
    assert (found.whole.sync, [one.sync for _, one in found.resources]) == ("Synced", ["Synced", None])
    assert found.resources[1][1].why == "Kubernetes or Helm makes it, so Git does not declare it"
    declared = assess.assess_all(
        [config, made], [config, {**made, "metadata": {**made["metadata"], "labels": {"a": "b"}}}]
    )
    assert declared.whole.sync == "OutOfSync"
    other = kubernetes_object("v1", "ConfigMap", metadata={"name": "b", "namespace": "shop"})
    assert assess.assess_all([config, other], [config]).whole.sync == "OutOfSync"


def test_what_another_object_made_says_so() -> None:
    config = kubernetes_object("v1", "ConfigMap", metadata={"name": "a"})
    owner = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "u"}]
    made = kubernetes_object("v1", "Pod", metadata={"name": "b", "ownerReferences": owner})
    assert (
        assess.assess_all([config, made], [config]).resources[1][1].why
        == "another object made it, so Git does not declare it"
    )
