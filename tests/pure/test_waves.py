"""Waves and hooks of an application in its tree, in order (docs/spec/gitops.md, Waves and hooks)."""

from typing import Any

from phaseline.engine.surfaces.cli import layout
from phaseline.engine.surfaces.cli.tree import Forest
from tests.support.gitops_history import APP, GitOpsHistory
from tests.support.manifests import config, kubernetes_object

PART = "argocd.argoproj.io"


def job(name: str, hook: str, wave: str = "") -> dict[str, Any]:
    annotations = {f"{PART}/hook": hook, **({f"{PART}/sync-wave": wave} if wave else {})}
    return kubernetes_object("batch/v1", "Job", metadata={"name": name, "annotations": annotations})


def part(name: str, wave: str) -> dict[str, Any]:
    return config(name, metadata={"annotations": {f"{PART}/sync-wave": wave}})


def drawn(life: GitOpsHistory) -> list[str]:
    """The lines of the tree without states."""
    entities = life.history.tree.entities
    found = [
        one for kind in ("application_set", "application", "resource") for _, one in sorted(entities[kind].items())
    ]
    forest = Forest(life.history.tree.kinds, found)
    lines = layout.drawn(forest.drawn(forest.tops[0], "en", None), None)
    return [line.plain.strip("│├└─ ") for line in lines]


def test_the_tree_shows_waves_and_hooks_in_order() -> None:
    life = GitOpsHistory()
    for one in (
        part("last", "5"),
        part("first", "-1"),
        config("plain"),
        job("smoke", "PostSync"),
        job("migrate", "PreSync", "2"),
    ):
        life.observe(one)
    hooks = [
        {"phase": "PreSync", "resource": "batch:Job/shop/migrate", "result": "Succeeded"},
        {"phase": "PreSync", "resource": "batch:Job/shop/backup", "result": "Succeeded", "message": "3 files"},
        {"phase": "PostSync", "resource": "batch:Job/shop/smoke", "result": "Running"},
        {"phase": "SyncFail", "resource": "batch:Job/shop/clean"},
    ]
    life.do(
        "application",
        "observed",
        APP,
        operation="Running",
        retries=2,
        operation_message="waits",
        hooks=hooks,
        orphaned=4,
    )
    life.do("application", "stepped", APP, rollout_step=2, rollout="Waiting")
    lines = drawn(life)
    assert "operation Running, retry 2: waits, rollout step 2 Waiting, 4 orphaned" in lines[1]
    names = [line.split("  ")[0].removeprefix("resource ") for line in lines[2:]]
    assert names == [
        "batch:Job/shop/migrate",
        "PreSync hook batch:Job/shop/backup Succeeded (3 files)",
        "core:ConfigMap/shop/first",
        "core:ConfigMap/shop/plain",
        "core:ConfigMap/shop/last",
        "batch:Job/shop/smoke",
        "SyncFail hook batch:Job/shop/clean",
    ]
    assert [line.split("  ")[-1] for line in lines if "Job/shop/migrate" in line or "Job/shop/smoke" in line] == [
        "PreSync hook Succeeded, wave 2", "PostSync hook Running",
    ]  # fmt: skip
    assert "wave -1" in next(line for line in lines if "shop/first" in line)
