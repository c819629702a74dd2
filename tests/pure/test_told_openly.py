"""No value of a Secret leaves what Argo CD and Fleet say of themselves, wherever in their objects it stands.

Belongs here: the law, over every text of such objects, and what is left of a text. Does not: manifests that are
observed (`test_secret_values`).
"""

import base64
import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from phaseline.engine.products.observe.fleet.lists import HIDDEN
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.machines.kinds.kubernetes.secret_values import LEFT_OUT, without_values

VALUE = "hunter2-of-the-shop"
CODED = base64.b64encode(VALUE.encode()).decode()
BODY = {"apiVersion": "v1", "data": {"password": CODED}, "kind": "Secret", "metadata": {"name": "mail"}}
JSON = json.dumps(BODY)
YAML = f"apiVersion: v1\nkind: Secret\ndata:\n  password: {CODED}\nmetadata: {{name: mail}}"
PATCH = json.dumps({"data": {"password": CODED}})
FORMS = [
    JSON, json.dumps(JSON), YAML, json.dumps({"kind": "Secret", "stringData": {"password": VALUE}}), f"https://me:{VALUE}@git.example/x",
    f"https://{VALUE}@git.example/x",
]  # fmt: skip
KEY = {"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"}
CONDITION = {
    "type": "ComparisonError",
    "status": "True",
    "reason": "Failed",
    "message": "no",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
SOURCE = {"repoURL": "https://git.example/x", "path": "web", "targetRevision": "main"}
OPERATION = {
    "phase": "Failed", "message": "no", "operation": {"initiatedBy": {"username": "me"}, "sync": {"syncOptions": ["A=b"]}, "info": [{"name": "a", "value": "b"}]},
    "syncResult": {"revision": "b1", "resources": [{**KEY, "status": "SyncFailed", "message": "no"}, {**KEY, "hookType": "PreSync", "hookPhase": "Failed", "message": "no"}]},
}  # fmt: skip
FLEET, ARGO = "fleet.cattle.io/v1alpha1", "argoproj.io/v1alpha1"
LABELS = {"fleet.cattle.io/repo-name": "infra", "fleet.cattle.io/bundle-name": "web"}
OBJECTS: list[dict[str, Any]] = [
    {"apiVersion": ARGO, "kind": "Application", "metadata": {"name": "web", "namespace": "argocd", "uid": "u", "annotations": {"argocd.argoproj.io/sync-window": "odd"}},
     "spec": {"source": SOURCE, "sources": [SOURCE], "destination": {"namespace": "shop", "server": "https://c.example"}, "project": "p",
              "syncPolicy": {"syncOptions": ["A=b"], "managedNamespaceMetadata": {"labels": {"a": "b"}}}},
     "operation": {"initiatedBy": {"username": "me"}, "info": [{"name": "a", "value": "b"}]},
     "status": {"conditions": [CONDITION], "operationState": OPERATION, "sync": {"status": "OutOfSync", "revision": "b1", "comparedTo": {"source": SOURCE}},
                "health": {"status": "Degraded", "message": "no"}, "history": [{"revision": "b1", "initiatedBy": {"username": "me"}}],
                "sourceHydrator": {"currentOperation": {"phase": "Failed", "message": "no", "drySHA": "b1"}},
                "resources": [{**KEY, "status": "OutOfSync", "health": {"status": "Degraded", "message": "no"}}]}},
    {"apiVersion": ARGO, "kind": "ApplicationSet", "metadata": {"name": "all", "namespace": "argocd"},
     "status": {"conditions": [{**CONDITION, "type": "ErrorOccurred"}],
                "applicationStatus": [{"application": "web", "step": "1", "status": "Waiting", "message": "no", "targetRevisions": ["b1"]}]}},
    {"apiVersion": FLEET, "kind": "GitRepo", "metadata": {"name": "infra", "namespace": "fleet"}, "spec": {"repo": "https://git.example/x"},
     "status": {"commit": "b1", "gitJobStatus": "Failed", "conditions": [{**CONDITION, "type": "Ready", "status": "False"}, {**CONDITION, "type": "GitPolling", "status": "False"}]}},
    {"apiVersion": FLEET, "kind": "HelmOp", "metadata": {"name": "h", "namespace": "fleet"}, "spec": {"helm": {"repo": "https://git.example/x", "chart": "c"}},
     "status": {"version": "1", "conditions": [{**CONDITION, "type": "Accepted", "status": "False"}]}},
    {"apiVersion": FLEET, "kind": "Bundle", "metadata": {"name": "web", "namespace": "fleet", "labels": LABELS}, "spec": {},
     "status": {"conditions": [{**CONDITION, "type": "Ready", "status": "False"}], "partitions": [{"name": "a", "count": 1}]}},
    {"apiVersion": FLEET, "kind": "BundleDeployment", "metadata": {"name": "web", "namespace": "cluster-c1", "labels": LABELS}, "spec": {"deploymentID": "v2", "stagedDeploymentID": "v2"},
     "status": {"appliedDeploymentID": "v1", "conditions": [{**CONDITION, "type": "Deployed", "status": "False"}], "resourceCounts": {"desiredReady": 2},
                "resources": [{"apiVersion": "v1", "kind": "Secret", "namespace": "shop", "name": "mail"}],
                "nonReadyStatus": [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web", "summary": {"state": "error", "message": ["no"]}}],
                "modifiedStatus": [{"apiVersion": "v1", "kind": "Secret", "namespace": "shop", "name": "mail", "patch": PATCH}]}},
]  # fmt: skip


NAMES = ("apiVersion", "kind", "group", "namespace", "name", "application", "uid")
"""Texts that Kubernetes itself keeps short and plain: they name things."""


def texts(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the texts of an object stand, but for those that name something."""
    if isinstance(found, str) and path[-1] not in NAMES and path[:2] != ("metadata", "labels"):
        yield path
    for key, value in found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ():
        yield from texts(value, (*path, key))


def with_text(found: dict[str, Any], path: tuple[Any, ...], text: str) -> dict[str, Any]:
    made = deepcopy(found)
    at: Any = made
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = text
    return made


def events(found: dict[str, Any]) -> str:
    return json.dumps([*Observer("/o").see(ObjectChange(found))])


@pytest.mark.parametrize("found", OBJECTS, ids=lambda one: one["kind"])
@pytest.mark.parametrize("form", FORMS, ids=["json", "text", "yaml", "string-data", "password", "token"])
def test_no_event_shows_what_stands_in_a_text(found: dict[str, Any], form: str) -> None:
    assert events(found)
    for path in texts(found):
        for text in (form, f"cannot apply it: {form}"):
            sent = events(with_text(found, path, text))
            assert VALUE not in sent, path
            assert CODED not in sent, path


def test_the_patch_of_a_secret_is_not_told() -> None:
    sent = events(OBJECTS[-1])
    assert CODED not in sent
    assert HIDDEN in sent


@pytest.mark.parametrize(("said", "left"), [
    (f"cannot apply it: {JSON}, at all", f"cannot apply it: {LEFT_OUT}"), (JSON, LEFT_OUT), (YAML, LEFT_OUT),
    ('Secret "mail" is invalid: data[a]: illegal base64', 'Secret "mail" is invalid: data[a]: illegal base64'),
    ('{"kind": "Deployment", "data": 1}', '{"kind": "Deployment", "data": 1}'), ("kind: Secret", "kind: Secret"),
    ("kind: SecretStore\ndata: 1", "kind: SecretStore\ndata: 1"),
    ("ssh://git@git.example/x", "ssh://git@git.example/x"), ("git@git.example:x", "git@git.example:x"),
    ("https://a:b@c/d and oci://e@f", "https://***@c/d and oci://***@f"), ("https://c/d?a=b@c", "https://c/d?a=b@c"),
    ({"a": [JSON, 3, None]}, {"a": [LEFT_OUT, 3, None]}), ("", ""),
])  # fmt: skip
def test_what_is_left_of_a_text(said: Any, left: Any) -> None:
    assert without_values(said) == left


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            'secret.v1 default/x modified {"data":{"password":"c2VjcmV0"}}',
            "secret.v1 default/x modified (a Secret, left out)",
        ),
        ("docker://nginx@sha256:ab", "docker://nginx@sha256:ab"),
        ("https://example.com?q=a@b", "https://example.com?q=a@b"),
        ("https://user:p@ss@host/x", "https://***@host/x"),
        ("deployment.v1 default/x modified {}", "deployment.v1 default/x modified {}"),
        ("secret." * 40_000, "secret." * 40_000),  # read once, not from each word anew
    ],
)
def test_no_value_and_no_password_is_told_in_words(said: str, told: str) -> None:
    assert without_values(said) == told
