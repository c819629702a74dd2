"""`phaseline gitops assess`: manifests in, health and sync out, no server."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from phaseline.engine.surfaces.cli import cli
from tests.support.manifests import deployment, kubernetes_object

ROLLED_OUT = {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(
        cli, ["gitops", "assess", *arguments], input=given, standalone_mode=False, catch_exceptions=False
    )


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def save(name: str, *found: Any) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(found[0] if isinstance(found[0], str) else yaml.safe_dump_all(found))
        return str(path)

    return save


def told(*arguments: str, given: str | None = None) -> list[dict[str, Any]]:
    result = run(*arguments, "--json", given=given)
    assert not result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_health_alone(write: Any) -> None:
    live = write("live.yaml", {**deployment(replicas=3), "status": {**ROLLED_OUT, "availableReplicas": 2}})
    assert told("--live", live) == [{
        "group": "apps", "kind": "Deployment", "namespace": "shop", "name": "it",
        "health": {"status": "Progressing", "message": "Waiting for rollout to finish: 2 of 3 new replicas are available"},
        "sync": None, "why": "what Git declares is not known", "counts": True, "differences": [], "hidden": [], "problems": [],
    }]  # fmt: skip


def test_sync_and_what_hides_it(write: Any) -> None:
    live = write("live.yaml", {**deployment(replicas=7, paused=True), "status": ROLLED_OUT})
    desired = write("git.yaml", deployment(replicas=3, minReadySeconds=5))
    rules = write(
        "rules.yaml",
        {"ignore_differences": [{"group": "apps", "kind": "*", "jsonPointers": ["/spec/replicas", "/nothing"]}]},
    )
    [found] = told("--live", live, "--desired", desired, "--rules", rules)
    assert (found["sync"], found["why"]) == ("OutOfSync", "it differs at 1 place")
    assert found["differences"] == [{"path": "/spec/minReadySeconds", "desired": 5}]
    assert found["hidden"] == [
        {
            "path": "/spec/replicas",
            "desired": 3,
            "live": 7,
            "by": {"how": "pointer", "word": "/spec/replicas", "rule": "apps/*"},
        }
    ]
    assert found["problems"] == ["pointer '/nothing' of the rule for apps/*: nothing is there"]


def test_the_page_of_one(write: Any) -> None:
    live = write("live.yaml", {**deployment(replicas=7), "status": {}})
    desired = write("git.yaml", deployment(replicas=3, minReadySeconds=5))
    rules = write(
        "rules.yaml",
        {"ignore_differences": [{"group": "apps", "kind": "*", "jqPathExpressions": [".spec.replicas", ".spec.no[]"]}]},
    )
    result = run("--live", live, "--desired", desired, "--rules", rules)
    assert result.stdout.splitlines() == [
        "apps:Deployment/shop/it",
        "  health  Progressing: Waiting for rollout to finish: 0 of 7 replicas are new",
        "  sync    OutOfSync: it differs at 1 place",
        "  rule    jq '.spec.no[]' of the rule for apps/*: Cannot iterate over null (null)",
        "  differences",
        "    PATH                   GIT  CLUSTER",
        "    /spec/minReadySeconds  5    absent",
        "  ignored differences",
        "    PATH            GIT  CLUSTER  IGNORED BY",
        "    /spec/replicas  3    7        jq .spec.replicas",
    ]  # fmt: skip


def test_a_namespace_against_a_directory(write: Any) -> None:
    kept = kubernetes_object("v1", "ConfigMap", metadata={"name": "kept"}, data={"a": "1"})
    write("git/a.yaml", kept, kubernetes_object("v1", "Service", metadata={"name": "gone", "namespace": None}))
    extra = kubernetes_object("v1", "Secret", metadata={"name": "extra"}, data={"password": "c2VjcmV0"})
    pod = kubernetes_object(
        "v1", "Pod", metadata={"name": "pod", "ownerReferences": [{"kind": "ReplicaSet"}]}, status={"phase": "Pending"}
    )
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": [kept, extra, pod]})
    *each, whole = told("--live", "-", "--desired", str(Path(write("git/b.txt", "x")).parent), given=listed)
    assert [(one["name"], one["health"] and one["health"]["status"], one["sync"]) for one in each] == [
        ("kept", "NoHealth", "Synced"), ("gone", "Missing", "OutOfSync"), ("extra", "NoHealth", "OutOfSync"), ("pod", "Progressing", None),
    ]  # fmt: skip
    assert whole == {
        "application": {
            "health": "Missing",
            "sync": "OutOfSync",
            "unwell": ["Service:gone"],
            "unsynced": ["Service:gone", "Secret:shop/extra"],
            "not_assessed": 0,
            "not_compared": 0,
            "resources": 4,
            "no_health": 2,
        }
    }
    *_, argo = told(
        "--live", "-", "--desired", str(Path(write("git/b.txt", "x")).parent), "--profile", "argocd", given=listed
    )
    assert argo["application"]["health"] == "Progressing"
    page = run("--live", "-", "--desired", str(Path(write("git/b.txt", "x")).parent), given=listed).stdout.splitlines()
    assert page[-3:] == [
        "all 4 as one application", "  health  Missing: Caused by Service:gone", "  sync    OutOfSync: Caused by Service:gone, Secret:shop/extra",
    ]  # fmt: skip


def test_what_is_secret_is_not_shown(write: Any) -> None:
    live, desired = (
        write("live.yaml", kubernetes_object("v1", "Secret", data={"a": "eA=="})),
        write("git.yaml", kubernetes_object("v1", "Secret", stringData={"a": "hush"})),
    )
    for arguments in (["--json"], []):
        result = run("--live", live, "--desired", desired, *arguments)
        assert "/data/a" in result.stdout
        assert not any(word in result.stdout for word in ("hush", "aHVzaA", "eA=="))


def test_argo_cds_own_settings_and_scripts(write: Any) -> None:
    live = write("live.yaml", kubernetes_object("acme.io/v1", "Licence", spec={"duration": "24h0m0s"}))
    desired = write("git.yaml", kubernetes_object("acme.io/v1", "Licence", spec={"duration": "1440m"}))
    settings = write("cm.yaml", {"apiVersion": "v1", "kind": "ConfigMap", "data": {
        "resource.customizations.health.acme.io_Licence": "return {status = 'Suspended', message = obj.spec.duration}",
        "resource.customizations.knownTypeFields.acme.io_Licence": "- {field: spec.duration, type: meta/v1/Duration}",
    }})  # fmt: skip
    [found] = told("--live", live, "--desired", desired, "--rules", settings, "--profile", "argocd")
    assert (found["health"], found["sync"]) == ({"status": "Suspended", "message": "24h0m0s"}, "Synced")
    [found] = told("--live", live, "--desired", desired, "--rules", write("h.lua", "while true do end"))
    assert found["health"] == {"status": "Unknown", "message": "health script: it took more than 250000 steps"}
    assert found["sync"] == "OutOfSync"


def test_a_dry_run_of_the_api_server(write: Any) -> None:
    live, desired = write("live.yaml", deployment(replicas=3)), write("git.yaml", deployment(replicas=3))
    [found] = told(
        "--live", live, "--desired", desired, "--dry-run", write("dry.yaml", deployment(replicas=3, paused=True))
    )
    assert found["sync"] == "Synced"


@pytest.mark.parametrize(("live", "code"), [
    ({**deployment(replicas=3), "status": ROLLED_OUT}, 0), ({**deployment(replicas=4), "status": ROLLED_OUT}, 1), (deployment(replicas=3), 1),
])  # fmt: skip
def test_check(write: Any, live: Any, code: int) -> None:
    arguments = ["--live", write("live.yaml", live), "--desired", write("git.yaml", deployment(replicas=3))]
    assert run(*arguments, "--check").return_value == code
    assert run(*arguments).return_value == 0


def test_a_check_fails_where_nothing_is_known(write: Any) -> None:
    healthy = {**deployment(replicas=3), "status": ROLLED_OUT}
    config = kubernetes_object("v1", "ConfigMap")
    for live, desired, says in (
        (healthy, None, "nothing was compared"), (config, config, "nothing was assessed"), (config, None, "nothing was"),
    ):  # fmt: skip
        arguments = [
            "--live",
            write("live.yaml", live),
            *(["--desired", write("git.yaml", desired)] if desired else []),
        ]
        found = run(*arguments, "--check")
        assert (found.return_value, says in found.stderr) == (1, True)
        assert run(*arguments, "--check", "--allow-unknown").return_value == 0
    broken = write("broken.yaml", {**healthy, "status": {}})
    assert run("--live", broken, "--check", "--allow-unknown").return_value == 1


def test_a_whole_says_what_is_not_known(write: Any) -> None:
    names = [{"metadata": {"name": name}} for name in "abc"]
    widgets = [kubernetes_object("acme.dev/v1", "Widget", **name) for name in names]
    shown = run("--live", write("live.yaml", *widgets)).stdout
    assert "  health  not assessed: nothing was assessed\n  sync    not known: nothing was compared" in shown
    healthy, config = {**deployment(replicas=3), "status": ROLLED_OUT}, kubernetes_object("v1", "ConfigMap")
    live, desired = (write(name, *widgets, healthy, config) for name in ("live.yaml", "git.yaml"))
    shown = run("--live", live, "--desired", desired).stdout
    assert "  health  Healthy, 3 of 4 not assessed\n  sync    Synced" in shown


def definition(schema: dict[str, Any], **version: Any) -> dict[str, Any]:
    one = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}, **version}
    spec = {"group": "acme.dev", "names": {"kind": "Widget", "plural": "widgets"}, "versions": [one]}
    established = {"conditions": [{"type": "Established", "status": "True"}]}
    metadata = {"name": "widgets.acme.dev", "namespace": None}
    return kubernetes_object(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", metadata=metadata, spec=spec, status=established
    )


def test_what_has_no_status_takes_no_part(write: Any) -> None:
    role = kubernetes_object("rbac.authorization.k8s.io/v1", "Role")
    both = write("live.yaml", kubernetes_object("v1", "ConfigMap"), role)
    shown = run("--live", both, "--desired", both)
    assert shown.stdout.count("  health  none: its kind has no status") == 2
    assert "  health  not assessed: no kind of these has a status\n  sync    Synced" in shown.stdout
    assert run("--live", both, "--desired", both, "--check").return_value == 1
    assert run("--live", both, "--desired", both, "--check", "--allow-unknown").return_value == 0
    argo = run("--live", both, "--desired", both, "--check", "--profile", "argocd")
    assert ("  health  Healthy\n" in argo.stdout, argo.return_value) == (True, 0)
    deleted = kubernetes_object("v1", "ConfigMap", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert "  health  Progressing: being deleted" in run("--live", write("going.yaml", deleted)).stdout


@pytest.mark.parametrize(("schema", "version", "says"), [
    ({"type": "object", "properties": {"spec": {"type": "object"}}}, {}, "none: its kind has no status"),
    ({"type": "object", "properties": {"spec": {}, "status": {}}}, {}, "not assessed: it has no status"),
    ({"type": "object", "properties": {"spec": {}}}, {"subresources": {"status": {}}}, "not assessed: it has no status"),
    ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {}, "not assessed: it has no status"),
    ({"type": "object"}, {}, "not assessed: it has no status"),
    ({"type": "object", "properties": {"spec": {}}}, {"served": False}, "not assessed: it has no status"),
])  # fmt: skip
def test_a_definition_among_the_objects_says_whether_a_kind_has_a_status(
    write: Any, schema: dict[str, Any], version: dict[str, Any], says: str
) -> None:
    widget = kubernetes_object("acme.dev/v1", "Widget")
    shown = run("--live", write("live.yaml", widget, definition(schema, **version))).stdout
    assert f"acme.dev:Widget/shop/it\n  health  {says}" in shown
    told_otherwise = {**widget, "status": {"phase": "Failed"}}
    assert (
        "  health  Degraded" in run("--live", write("live.yaml", told_otherwise, definition(schema, **version))).stdout
    )


def test_a_rule_that_can_do_nothing_is_told_beforehand(write: Any) -> None:
    rules = write(
        "rules.yaml",
        {
            "kind": "Application",
            "spec": {"ignoreDifferences": [{"kind": "Deployment", "jsonPointers": ["/spec/replicas"]}]},
        },
    )
    result = run("--live", write("live.yaml", deployment()), "--rules", rules)
    assert (
        "the rule for core/Deployment can do nothing: an empty group means the core group, and Deployment is in apps"
        in result.stderr
    )


def test_nothing_at_all(write: Any) -> None:
    result = run("--live", write("none.json", ""), "--check")
    assert (result.stdout, "nothing to assess: no manifest in" in result.stderr) == ("", True)


@pytest.mark.parametrize(("arguments", "says"), [
    ([], "nothing to assess: give"),
    (["--live", "-", "--desired", "-"], "only one of --live and --desired"),
    (["--live", "two.yaml", "--dry-run", "dry.yaml"], "--dry-run is for one resource, found 2"),
    (["--live", "two.yaml", "--rules", "x.lua"], "is a script for one kind, found 2 kinds"),
    (["--live", "bad.yaml"], "bad.yaml: line 1, column 5"),
    (["--live", "dry.yaml", "--rules", "list.yaml"], "list.yaml, document 1: it must be a map, found list"),
    (["--live", "dry.yaml", "--rules", "odd.yaml"], "odd.yaml, document 1: 'x' is none of profile, health"),
    (["--live", "none.yaml"], "does not exist"),
    (["--live", "dry.yaml", "--dry-run", "nothing.yaml"], "no manifest in nothing.yaml"),
])  # fmt: skip
def test_what_is_wrong(
    write: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], says: str
) -> None:
    write("two.yaml", kubernetes_object("v1", "A"), kubernetes_object("v1", "B"))
    write("dry.yaml", kubernetes_object("v1", "A"))
    write("x.lua", "return nil")
    write("bad.yaml", "a: b: c")
    write("list.yaml", "- a")
    write("odd.yaml", "x: 1")
    write("nothing.yaml", "{apiVersion: v1, kind: List, items: null}")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["gitops", "assess", *arguments], input="")
    assert says in result.output
    assert result.exit_code in (1, 2)
