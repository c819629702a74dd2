"""Health of known kinds: assessments a second by rows, and by scripts in Lua that say the same of the same objects.

Belongs here: the objects, the scripts in our own words, measuring rows and scripts in turn. Scripts run in our sandbox,
and in the way of Argo CD (`bare`). Does not: kinds with rules in Python (`gitops`). `HEALTH_SCRIPTS` may name a folder
laid out as resource_customizations of argoproj/argo-cd: then its objects and scripts are measured too. Each object is
assessed as a user's object is: by `assess`, with the script as setting.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from lupa import lua51  # type: ignore[import-untyped]  # it ships no types

from phaseline.engine.scripts.runner import SandboxRunner
from phaseline.engine.scripts.sandbox import Sandbox
from phaseline.machines.kinds.kubernetes.assess import assess
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.kinds.kubernetes.profiles import ALIASES, PROFILES
from phaseline.schemas import yaml_text

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


def bare(live: dict[str, Any], script: str) -> dict[str, Any]:
    """The health of an object in the way of Argo CD, with the Lua of lupa: no sandbox, and nothing that bounds it.

    A state is made and closed for each object. The whole object becomes tables of Lua, field by field. The script was
    compiled once. Its answer goes through JSON.
    """
    runtime = lua51.LuaRuntime(register_eval=False, register_builtins=False)
    runtime.globals().obj = _as_lua(runtime, live)
    try:
        answer = runtime.compile(_compiled(script))()
    except lua51.LuaError:
        return {}
    return dict(json.loads(json.dumps(dict(answer.items())))) if lua51.lua_type(answer) == "table" else {}


@cache
def _compiled(script: str) -> bytes:
    runtime = lua51.LuaRuntime(encoding=None)
    dump = runtime.eval(b"string.dump")
    return bytes(dump(runtime.compile(script.encode())))


def _as_lua(runtime: Any, value: Any) -> Any:
    """A value of an object as Lua has it."""
    if isinstance(value, dict):
        return runtime.table_from({name: _as_lua(runtime, each) for name, each in value.items()})
    if isinstance(value, list):
        return runtime.table_from([_as_lua(runtime, each) for each in value])
    return value


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
        by_bare = [partial(bare, live, script) for live, script in measured.objects]
        same = [_status(one) == _status(other) for one, other in zip(by_rows, by_scripts, strict=True)]
        same_bare = [
            _status(one) == ALIASES.get(said := other().get("status", ""), said)
            for one, other in zip(by_scripts, by_bare, strict=True)
        ]
        wall, cpu = time.perf_counter, time.process_time
        ways: dict[str, tuple[Sequence[Callable[[], object]], Callable[[], float]]] = {
            "rows": (by_rows, wall), "scripts": (by_scripts, wall),
            "rows_alone": (by_rows, cpu), "bare": (by_bare, cpu),
        }  # fmt: skip
        times = dict.fromkeys(ways, 0.0)
        for begin in range(0, len(by_rows), SLICE):
            end = begin + SLICE
            for name, (every, clock) in ways.items():
                times[name] += min(_time(every[begin:end], clock) for _ in range(rounds))
    rates = {name: len(by_rows) / seconds for name, seconds in times.items()}
    ratios = {"ratio": rates["rows"] / rates["scripts"], "bare_ratio": rates["rows_alone"] / rates["bare"]}
    return {**rates, **ratios, "agree": sum(same), "bare_agree": sum(same_bare)}


def _with(overrides: Overrides, live: dict[str, Any], script: str) -> Overrides:
    return overrides.merge({"health": {"/".join(group_kind(live)): script}}, "bench")


def _status(ask: Callable[[], Any]) -> str:
    health = ask().health
    return health.status if health is not None else ""


def _time(work: Sequence[Callable[[], object]], clock: Callable[[], float]) -> float:
    """Seconds that all of the calls take together, by this clock."""
    begun = clock()
    for one in work:
        one()
    return clock() - begun


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rows = [
        "One process, one core. Rows and scripts take turns on "
        f"{SLICE} objects at a time; the best of {ROUNDS} turns counts, for all.\n"
        "Scripts run in the sandbox, as a user's scripts do; and in the way of Argo CD: a Lua state for each object, "
        "to which\nthe whole object goes, and a script that was compiled once, in the same process and without bounds; "
        "by CPU, for both. This\nis the Lua 5.1 of lupa, which is written in C. Argo CD has gopher-lua, which is "
        "written in Go, and nothing here says how\nfast that is.",
        "",
        "| scripts | objects | by rows, a second | in the sandbox | rows / sandbox | same answer "
        "| in Argo CD's way | rows / Argo CD's way | same answer |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {name} | {one['objects']:,} | {one['rows']:,.0f} | {one['scripts']:,.0f} | {one['ratio']:.0f} | "
        f"{one['agree']:,} | {one['bare']:,.0f} | {one['bare_ratio']:.1f} | {one['bare_agree']:,} |"
        for name, one in found.items()
    ]
    return "\n".join(rows)
