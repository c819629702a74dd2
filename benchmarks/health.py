"""Health of known kinds: assessments a second by rows, and by scripts in Lua that say the same of the same objects.

Belongs here: the objects, the scripts in our own words, measuring both in turn. Does not: kinds with rules in Python
(`gitops`). `HEALTH_SCRIPTS` may name a folder laid out as resource_customizations of argoproj/argo-cd: then its objects
and scripts are measured too. Each object is assessed as a user's object is: by `assess`, with the script as setting.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from phaseline.engine.scripts.runner import SandboxRunner
from phaseline.engine.scripts.sandbox import Sandbox
from phaseline.machines.kinds.kubernetes.assess import assess
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.kinds.kubernetes.profiles import PROFILES
from phaseline.schemas.yaml_files import yaml_text

FOLDER = "HEALTH_SCRIPTS"
ROUNDS, SLICE, NOW = 7, 20, 1_772_409_600

BY_READY = """
for _, c in ipairs((obj.status or {}).conditions or {}) do
  if c.type == "Ready" and c.status == "False" then return {status = "Degraded", message = c.message} end
  if c.type == "Ready" and c.status == "True" then return {status = "Healthy", message = c.message} end
end
return {status = "Progressing", message = "waits"}
"""
BY_FLUX = """
if obj.spec.suspend == true then return {status = "Suspended", message = "it is suspended"} end
local ready, works = nil, false
for _, c in ipairs((obj.status or {}).conditions or {}) do
  if c.type == "Ready" then ready = c end
  if c.type == "Reconciling" and c.status == "True" then works = true end
end
if ready == nil then return {status = "Progressing", message = "waits"} end
if ready.status == "Unknown" and works then return {status = "Progressing", message = ready.reason} end
if ready.status == "True" then return {status = "Healthy", message = ready.reason} end
return {status = "Degraded", message = ready.reason}
"""
BY_PARENTS = """
local good = false
for _, parent in ipairs((obj.status or {}).parents or {}) do
  for _, c in ipairs(parent.conditions or {}) do
    if (c.type == "Accepted" or c.type == "ResolvedRefs") and c.status == "False" then
      return {status = "Degraded", message = parent.parentRef.name .. ": " .. c.message}
    end
    if c.type == "Programmed" and c.status ~= "True" then return {status = "Progressing", message = c.message} end
    good = true
  end
end
if good then return {status = "Healthy", message = "it is accepted"} end
return {status = "Progressing", message = "waits"}
"""
BY_NODES = """
local s, wanted = obj.status or {}, 0
for _, set in ipairs(obj.spec.nodeSets or {}) do wanted = wanted + set.count end
if s.availableNodes ~= nil and s.availableNodes < wanted then return {status = "Progressing", message = "nodes"} end
if s.availableNodes == wanted and s.phase == "Ready" then
  if s.health == "green" then return {status = "Healthy", message = "green"} end
  if s.health == "yellow" then return {status = "Progressing", message = "yellow"} end
  if s.health == "red" then return {status = "Degraded", message = "red"} end
end
return {status = "Unknown", message = "unknown"}
"""


class Measured(NamedTuple):
    """A set of objects, each with the script that says the same as its rows."""

    name: str
    objects: tuple[tuple[dict[str, Any], str], ...]


def _of(api: str, kind: str, spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "it", "namespace": "shop", "generation": 2, "labels": {"app": "it", "team": "shop"}}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def _conditions(**statuses: str) -> dict[str, Any]:
    since = "2026-03-02T08:00:00Z"
    return {"conditions": [
        {"type": kind, "status": status, "reason": "Because", "message": "it is so", "lastTransitionTime": since}
        for kind, status in statuses.items()
    ]}  # fmt: skip


def own() -> Measured:
    """Objects of five kinds in several states, with scripts in our own words."""
    parent = {"parentRef": {"name": "edge"}, **_conditions(Accepted="True", ResolvedRefs="True")}
    refused = {"parentRef": {"name": "edge"}, **_conditions(Accepted="False", ResolvedRefs="True")}
    nodes = {"nodeSets": [{"name": name, "count": 3} for name in "abc"]}
    ready = {"availableNodes": 9, "phase": "Ready"}
    found = [
        *((_of("external-secrets.io/v1", "ExternalSecret", {}, _conditions(Ready=word)), BY_READY)
          for word in ("True", "False", "Unknown")),
        *((_of("kustomize.toolkit.fluxcd.io/v1", "Kustomization", {"suspend": off}, _conditions(Ready=word)), BY_FLUX)
          for word in ("True", "False") for off in (True, False)),
        *((_of("gateway.networking.k8s.io/v1", "GRPCRoute", {}, {"parents": parents}), BY_PARENTS)
          for parents in ([parent] * 3, [parent, parent, refused], [])),
        *((_of("elasticsearch.k8s.elastic.co/v1", "Elasticsearch", nodes, {**ready, "health": health}), BY_NODES)
          for health in ("green", "yellow", "red")),
    ]  # fmt: skip
    return Measured("in our own words", tuple(found))


def foreign(folder: Path) -> Measured:
    """The objects of a folder, each with its own script."""
    return Measured("Argo CD's own", tuple(_pairs(folder)))


def _pairs(folder: Path) -> Iterator[tuple[dict[str, Any], str]]:
    for tests in sorted(folder.glob("*/*/health_test.yaml")):
        script = (tests.parent / "health.lua").read_text()
        for one in yaml_text.document(tests.read_text())["tests"]:
            path = tests.parent / str(one.get("inputPath") or "")
            if path.is_file():
                yield dict(yaml_text.document(path.read_text())), script


def run(rounds: int = ROUNDS) -> dict[str, Any]:
    """Assessments a second of each set, by rows and by scripts in turn, in one run."""
    sets = [own(), *([foreign(Path(named))] if (named := os.environ.get(FOLDER)) else [])]
    return {one.name: _measured(one, rounds) | {"objects": len(one.objects)} for one in sets}


def _measured(measured: Measured, rounds: int) -> dict[str, Any]:
    argo = Overrides(PROFILES["argocd"])
    with Sandbox() as sandbox:
        programs = SandboxRunner(sandbox)
        ask = partial(assess, desired=None, scripts=programs, now=NOW, is_known=False)
        by_rows = [partial(ask, live, overrides=argo) for live, _ in measured.objects]
        by_scripts = [partial(ask, live, overrides=_with(argo, live, script)) for live, script in measured.objects]
        same = [_status(one) == _status(other) for one, other in zip(by_rows, by_scripts, strict=True)]
        times = {"rows": 0.0, "scripts": 0.0}
        for begin in range(0, len(by_rows), SLICE):
            end = begin + SLICE
            for name, work in (("rows", by_rows[begin:end]), ("scripts", by_scripts[begin:end])):
                times[name] += min(_time(work) for _ in range(rounds))
    rates = {name: len(by_rows) / seconds for name, seconds in times.items()}
    return {**rates, "ratio": rates["rows"] / rates["scripts"], "agree": sum(same)}


def _with(overrides: Overrides, live: dict[str, Any], script: str) -> Overrides:
    return overrides.merge({"health": {"/".join(group_kind(live)): script}}, "bench")


def _status(ask: Callable[[], Any]) -> str:
    health = ask().health
    return health.status if health is not None else ""


def _time(work: Sequence[Callable[[], Any]]) -> float:
    """Seconds that all of the calls take together."""
    begun = time.perf_counter()
    for one in work:
        one()
    return time.perf_counter() - begun


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rows = [
        "One process, one core; scripts run in the sandbox, as a user's scripts do. Rows and scripts take turns on "
        f"{SLICE} objects at\na time; the best of {ROUNDS} turns counts, for both.",
        "",
        "| scripts | objects | same answer | by rows, a second | by scripts, a second | ratio |",
        "|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {name} | {one['objects']:,} | {one['agree']:,} | {one['rows']:,.0f} | {one['scripts']:,.0f} | "
        f"{one['ratio']:.0f} |"
        for name, one in found.items()
    ]
    return "\n".join(rows)
