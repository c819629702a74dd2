"""Health, comparison and observed events: how many a second, beside the decoding that no program can avoid.

Belongs here: measuring them. Does not: the manifests (`manifests`), the node workload (`workload`).
"""

import json
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import yaml

from benchmarks.emco import Event, rate
from benchmarks.manifests import KINDS, SCRIPT
from benchmarks.throughput import contend
from benchmarks.workload import Workload, store
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.scripts.runner import SandboxRunner
from phaseline.engine.scripts.sandbox import Sandbox
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.machines.kinds.gitops.auto_sync import may_sync
from phaseline.machines.kinds.kubernetes.assess import assess
from phaseline.machines.kinds.kubernetes.diff.compare import compare
from phaseline.machines.kinds.kubernetes.diff.ignore import IgnoreRule
from phaseline.machines.kinds.kubernetes.diff.normalize import LAST_APPLIED
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.language.table import RuleEvent
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects
from tests.support.large_deployment import desired, live

SIZE, RESOURCES, ROUNDS = 5_000, 200, 3
SECONDS = 0.5
NOW = 1_772_409_600


async def run(size: int = SIZE, rounds: int = ROUNDS, seconds: float = SECONDS) -> dict[str, Any]:
    """Assessments and comparisons a second in one process; observed events a second through a worker."""
    throughput: dict[str, list[float]] = {"observed": [], "nodes": []}
    async with EmbeddedServer() as server:
        for number in range(rounds):
            for name, rates in throughput.items():
                rates.append(await _measured(server.url, f"{name}{number}", name, size))
    pairs = zip(throughput["observed"], throughput["nodes"], strict=True)
    return {
        "size": size,
        "health": _health(seconds),
        "compare": _comparing(seconds),
        "windows": _windows(seconds),
        "lines": len(yaml.safe_dump(desired()).splitlines()),
        "event_bytes": len(next(_observations("pl", 1))[1]),
        "events_per_second": throughput,
        "ratio": statistics.median(ours / nodes for ours, nodes in pairs),
    }


def _a_second(work: Callable[[], Any], seconds: float) -> float:
    """How often `work` runs in a second, waiting included."""
    work()
    count, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        for _ in range(20):
            work()
        count += 20
    return count / (time.perf_counter() - begun)


def _health(seconds: float) -> dict[str, float]:
    with Sandbox() as sandbox:
        programs, overrides = SandboxRunner(sandbox), Overrides(scripts={"cert-manager.io/Certificate": SCRIPT})
        return {
            kind: _a_second(partial(assess, found, None, overrides, programs, now=NOW, is_known=False), seconds)
            for kind, found in KINDS.items()
        }


def _comparing(seconds: float) -> dict[str, float]:
    """Comparisons of a Deployment, and decoding and encoding of both manifests."""
    git, cluster, applied, other = desired(), live(), live(), live()
    applied["metadata"]["annotations"] = {**cluster["metadata"]["annotations"], LAST_APPLIED: json.dumps(git)}
    other["spec"]["template"]["spec"]["containers"][1]["image"] = "registry.example/other:1"
    packed = codec.encode({"live": cluster, "desired": git})
    pointers = Overrides(rules=(IgnoreRule("apps", "*", pointers=("/spec/replicas",)),))
    programs = Overrides(rules=(IgnoreRule("apps", "*", programs=(".spec.replicas",)),))
    with Sandbox() as sandbox:
        run_ = SandboxRunner(sandbox)
        return {
            "compared": _a_second(lambda: compare(git, cluster), seconds),
            "compared with what was applied last": _a_second(lambda: compare(git, applied), seconds),
            "compared, one image differs": _a_second(lambda: compare(git, other), seconds),
            "with health and a rule by pointer": _a_second(
                lambda: assess(cluster, git, pointers, run_, now=NOW), seconds
            ),
            "with health and a rule in jq": _a_second(lambda: assess(cluster, git, programs, run_, now=NOW), seconds),
            "both unpacked from msgpack": _a_second(lambda: codec.decode(packed), seconds),
            "both written as JSON": _a_second(lambda: (json.dumps(git), json.dumps(cluster)), seconds),
            "both read from YAML": _a_second(
                lambda: [yaml.load(text, yaml.CSafeLoader) for text in TEXTS], seconds / 4
            ),
        }


WINDOWS = 50
ZONES = ("Europe/Berlin", "Asia/Tokyo", "America/New_York")
SCHEDULES = {
    "daily": ("{n} {hour} * * *", "1h", ""),
    "daily, in three zones": ("{n} {hour} * * *", "1h", "zone"),
    "each minute, for a minute": ("* * * * *", "1m", ""),
    "once a year, for a year": ("{n} 3 1 1 *", "8760h", ""),
    "on 29 February": ("0 0 29 2 *", "1m", ""),
    "on 30 February": ("0 0 30 2 *", "1m", ""),
    "allowing and denying the same hours": ("0 10 * * *", "1h", ""),
}


class _Entity(NamedTuple):
    """An entity of the scene: its attributes."""

    attributes: dict[str, Any]


class _Scene:
    """An application with some windows."""

    def __init__(self, windows: list[dict[str, Any]]) -> None:
        self.own = _Entity({"sync_windows": windows, "namespace": "shop"})

    def above(self, _: str, kind: str) -> Any:
        return self.own if kind == "application" else None


def _windows(seconds: float) -> dict[str, float]:
    """Answers to `application.sync` by windows of each sort: whether now, and if not, when."""
    found = {}
    for name, (schedule, duration, zone) in SCHEDULES.items():
        windows = [
            {"kind": ("allow", "deny")[n % 2], "schedule": schedule.format(n=n, hour=n % 24), "duration": duration,
             "applications": ["*"], **({"timeZone": ZONES[n % 3]} if zone else {})}
            for n in range(WINDOWS)
        ]  # fmt: skip
        scene: Any = _Scene(windows)
        event = RuleEvent({}, 1, (NOW + 14 * 3600 + 1800) * 10**9)
        found[name] = _a_second(partial(may_sync, scene, "shop/shop", scene.own.attributes, event), seconds)
    return found


TEXTS = (yaml.safe_dump(desired()), yaml.safe_dump(live()))


def _observations(prefix: str, size: int) -> Iterator[Event]:
    """Events of Deployments of one application during a rollout: each event changes the counts and the version."""
    subjects = Subjects(prefix)
    for number in range(size):
        name, turn = f"web-{number % RESOURCES}", number // RESOURCES
        found = live(name, turn % 4)
        found["metadata"]["resourceVersion"] = str(number)
        body = {
            "specversion": "1.0", "id": f"e-{number}", "source": "/observer", "type": "resource.observed",
            "time": "2026-03-02T08:00:00Z", "data": {"live": found, "desired": desired(name)},
        }  # fmt: skip
        yield (
            subjects.event("resource", "observed", f"shop/shop/apps:Deployment/shop/{name}"),
            codec.encode(body),
            f"e-{number}",
        )


async def _measured(url: str, prefix: str, name: str, size: int) -> float:
    """Events/s of a backlog in one partition, a fresh process and fresh streams; the first fifth does not count."""
    settings = Settings(feed="msgpack", nats=(url,), prefix=prefix, partitions=1)
    async with Wire.open(settings, name="bench") as wire:
        layout = await provision(wire, settings, installed().copies.values())
        events = list(_observations(prefix, size) if name == "observed" else Workload(prefix, size).events())
        await store(wire, layout, events)
        await contend("phaseline", url, prefix, len(events), 0)
        try:
            return await rate(wire, layout, len(events) // 5)
        finally:
            for stream in layout.streams:
                await wire.api(f"STREAM.DELETE.{stream}")


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    ours, nodes = (found["events_per_second"][name] for name in ("observed", "nodes"))
    compared = found["compare"]["compared"]
    rows = ["One process, one core:", "", "| health of a | assessments/s |", "|---|---|"]
    rows += [f"| {kind} | {count:,.0f} |" for kind, count in found["health"].items()]
    rows += [
        "",
        f"| a Deployment of {found['lines']} lines against the live one | per second | the comparison alone / this |",
        "|---|---|---|",
    ]
    rows += [f"| {name} | {count:,.0f} | {compared / count:.2f} |" for name, count in found["compare"].items()]
    rows += [
        "",
        f"| whether {WINDOWS} sync windows allow a sync, and if not, when | decisions/s | us |",
        "|---|---|---|",
    ]
    rows += [f"| {name} | {count:,.0f} | {1e6 / count:,.0f} |" for name, count in found["windows"].items()]
    rows += [
        "",
        f"The event `resource.observed` for {RESOURCES} such Deployments during a rollout, "
        f"{found['event_bytes']:,} bytes an event, against the node\nworkload. Each has one partition. "
        "Each round has a fresh process and fresh streams. The times are those of the log.",
        "",
        "| round | observed, events/s | nodes, records/s | ratio |",
        "|---|---|---|---|",
    ]
    rows += [
        f"| {i} | {a:,.0f} | {b:,.0f} | {a / b:.2f} |" for i, (a, b) in enumerate(zip(ours, nodes, strict=True), 1)
    ]
    rows += ["", f"Median of the ratios: **{found['ratio']:.2f}**."]
    return "\n".join(rows)
