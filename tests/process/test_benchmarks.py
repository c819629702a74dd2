"""The benchmarks run, on tiny sizes, and what they measure is done right. No figure is asserted."""

import asyncio
import json
import os
import random
import re
import sys
from asyncio.subprocess import Process
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as command
from benchmarks import (
    alternatives,
    core,
    gitops,
    handover,
    health,
    latency,
    metrics,
    notices,
    page,
    reading,
    rejections,
    scale,
    server,
    snapshot,
    soak_verdict,
    take_over,
    throughput,
    workers,
)
from benchmarks.contender import CONTENDERS
from phaseline.machines.kinds.kubernetes.diff.compare import compare
from phaseline.schemas.errors import SetupError
from tests.support import forked_process, large_deployment
from tests.support.installation import Settings, Wire
from tests.support.raising import raises


@pytest.fixture(autouse=True)
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contenders are forked from a process that has imported most of what they need: their start is not measured."""

    async def start(_: object, option: str, module: str, *words: object, cwd: Path, **streams: Any) -> Process:
        assert option == "-m"
        streams.pop("limit", None)
        return await forked_process.start(
            module, *map(str, words), environment=os.environ, folder=cwd, **{"stderr": None, **streams}
        )

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)


def test_help_lists_the_benchmarks_and_starts_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for name, title in command.TITLES.items():
        assert f"  {name:12}{title}\n" in f"{said}\n"
        assert find_spec(f"benchmarks.{name}") is not None


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["core", "blub"])
    assert ended.value.code == 2
    assert "there is no benchmark blub; there are throughput," in capsys.readouterr().err


def test_a_part_replaces_the_older_one_and_keeps_the_others() -> None:
    page = command.written("", {"core": "## The core: x\n\nfirst\n"})
    assert "first" in page
    old = "# Results\n\n## Throughput\n\n`...`, long ago\n\n1\n\n## Taking over a partition\n\n2\n\n## Notes\n\n3\n"
    page = command.written(old, {"take_over": "## Taking over a partition\n\nnew\n"})
    assert re.findall("^## (.*)$", page, re.MULTILINE)[:2] == ["Throughput", "Taking over a partition"]
    assert "long ago\n\n1\n" in page
    assert "\n2\n" not in page
    assert page.endswith(command.NOTES.read_text())


@pytest.mark.parametrize("name", ["phaseline", "share"])
async def test_a_worker_that_fails_ends_its_contender(wire: Wire, settings: Settings, name: str) -> None:
    """LOG takes other subjects than a worker needs."""
    await wire.api(
        f"STREAM.CREATE.{settings.prefix}-LOG", {"name": f"{settings.prefix}-LOG", "subjects": ["elsewhere"]}
    )
    async with asyncio.timeout(60):
        with raises(SetupError.streams_differ, match="-LOG"):
            await (await CONTENDERS[name](settings.nats[0], settings.prefix, 1, 0))()


@pytest.mark.parametrize("name", command.PAGES)
def test_a_page_shows_the_figures_of_the_results(name: str) -> None:
    page, results = command.PAGES[name].read_text(), command.RESULTS.read_text()
    assert f"## {command.TITLES[name]}\n" in results
    assert page == command.copied(page, name, results), f"run `python3 dev.py bench {name} --write`"
    assert command.copied(page, name, f"## {command.TITLES[name]}\n\nnew\n\n## Notes").count("new\n\n<!--") == 1


@pytest.mark.slow
async def test_throughput_runs_all_contenders_to_the_end() -> None:
    found = await throughput.run(events=100, by_hand=20, rounds=1, many=120)
    few, many = found["few"], found["many"]
    assert (few["events"], many["events"]) == (100, 120)
    assert few["records"] >= 100
    assert (set(few["ratios"]), set(many["ratios"])) == ({"fetch", "pull", "by_hand"}, {"pull"})
    assert all(value > 0 for values in few["events_per_second"].values() for value in values)
    assert "(a) bare loop" in throughput.page(found)


@pytest.mark.parametrize(
    "module",
    [
        pytest.param("with_transitions", marks=pytest.mark.slow),
        pytest.param("with_transitions_together", marks=pytest.mark.slow),
        pytest.param("with_eventsourcing", marks=pytest.mark.slow),
    ],
)  # fmt: skip
async def test_peers_reach_the_same_states(tmp_path: Path, module: str) -> None:
    (peer,) = [one for one in alternatives.PEERS if one.module == module]
    assert await alternatives.rate(Path(sys.executable), peer, alternatives.events(2_300), tmp_path) > 0


async def test_a_peer_that_leaves_a_wrong_state_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = alternatives.events(2_300)
    left: dict[str, Any] = {"states": alternatives.expected(sent), "transitions": len(sent), "seconds": 1.0}

    async def leave(*_: object) -> dict[str, Any]:
        return left

    monkeypatch.setattr(alternatives, "_peer", leave)
    assert await alternatives.rate(Path(sys.executable), alternatives.PEERS[0], sent, tmp_path) == len(sent)
    left["states"].popitem()
    with pytest.raises(AssertionError, match="wrong states"):
        await alternatives.rate(Path(sys.executable), alternatives.PEERS[0], sent, tmp_path)


async def test_latency_measures_all_ways() -> None:
    found = await latency.run(events=20, rate=1_000)
    assert set(found) == {"phaseline", "two_hops", "bare"}
    assert "p99" in latency.page(found)


@pytest.mark.slow
async def test_the_server_is_measured_with_all_streams_and_with_others() -> None:
    found = await server.run(events=100, rounds=1, names=("provisioned", "snapshots"))
    assert set(found["server"]) == {"provisioned", "snapshots"}
    assert "| as `phaseline` makes them |" in server.page(found)


@pytest.mark.slow
async def test_several_workers_share_the_events() -> None:
    found = await workers.run(events=100, rounds=1, numbers=(1, 2))
    assert set(found["workers"]) == {1, 2}
    assert "| 2 | " in workers.page(found)


async def test_take_over_loads_every_entity() -> None:
    found = await take_over.run(entities=300, rounds=1)
    assert "300 entities" in take_over.page(found)


@pytest.mark.slow
async def test_partitions_are_handed_over_prepared() -> None:
    found = await handover.run(entities=640, rate=100, restarts=1)
    assert any(one.is_given for one in found["moved"])
    assert "| handed over |" in handover.page(found)


@pytest.mark.slow
async def test_scale_measures_workers_and_readers() -> None:
    found = await scale.run(1_000, {2: (1, 2)}, 100)
    assert found["partitions"][2]["taken"].keys() == {1, 2}
    assert found["commands"]["list_json"]["size"] > 1_000 * 100
    assert found["console"]["columns_bytes"] > 1_000 * 10
    assert "| `list --json` |" in scale.page(found)


@pytest.mark.slow
def test_the_core_counts_its_stages_and_its_memory(capsys: pytest.CaptureFixture[str]) -> None:
    assert "decide and evolve" in core.stages(600)
    core.fill(400)
    assert json.loads(capsys.readouterr().out)["entities"] >= 400


@pytest.mark.slow
def test_memory_is_measured_in_fresh_processes() -> None:
    found = core.run(events=600, entities=400)
    assert found["memory"]["entities"] >= 400
    assert "decide and evolve" in core.page(found)


@pytest.mark.slow
def test_a_snapshot_of_which_three_differ_makes_three_records() -> None:
    found = snapshot.run(nodes=40, differ=3, rounds=2)
    assert found["records"] == 3
    assert "Median of the ratios" in snapshot.page(found)


@pytest.mark.slow
async def test_reading_measures_pages_json_and_the_bare_reader() -> None:
    found = await reading.run(entities=50, rounds=1, commands=["list"])
    costs = found["commands"]["list"]
    assert all(costs[way]["cpu"] > 0 and costs[way]["memory"] > 0 for way in ("bare", "json", "human"))
    assert costs["ratios"]["human / bare"] == costs["human"]["cpu"] / costs["bare"]["cpu"]  # of the only round
    assert costs["json"]["size"] > costs["human"]["size"] > 50 * 30
    assert "| `list` |" in reading.page(found)


@pytest.mark.slow
async def test_the_page_and_its_readers_are_measured() -> None:
    found = await page.run(entities=2_100, rate=100, readers=3, rounds=1, seconds=2)
    assert found["entities"] == 2_021
    assert all(one["paint"] and one["steps"] and len(one["scroll"]) == 149 for one in (found["rest"], found["live"]))
    assert [(one["readers"], one["lost"]) for one in found["server"]] == [(0, 0), (1, 0), (3, 0)]
    assert "| first paint of Now" in page.page(found)


@pytest.mark.slow
async def test_gitops_measures_its_three() -> None:
    found = await gitops.run(size=1_300, rounds=1, seconds=0.001)
    assert set(found["events_per_second"]) == {"observed", "nodes"}
    assert all(count > 0 for part in ("health", "compare") for count in found[part].values())
    assert "Median of the ratios" in gitops.page(found)


def test_health_by_rows_and_by_scripts_says_the_same() -> None:
    found = health.run(rounds=1)["in our own words"]
    assert found["agree"] == found["bare_agree"] == found["objects"] == len(health.own().objects)
    assert "| rows / Argo CD's way |" in health.page({"in our own words": found})


def test_rejections_of_each_sort_are_measured() -> None:
    found = rejections.run(rounds=1, events=2)
    assert found["rejected"].keys() == rejections.REJECTED.keys()
    assert "| a guard on an ancestor |" in rejections.page(found)


def test_what_is_compared_is_in_sync() -> None:
    assert compare(large_deployment.desired(), large_deployment.live()) == []


def test_a_storm_by_one_cause_is_one_message() -> None:
    assert notices.storm(20)["messages"] == ["begin", "end"]


@pytest.mark.slow
async def test_following_a_log_is_measured() -> None:
    found = await notices.run(records=2_000, rounds=1, nodes=20)
    assert found["ratio"] > 0
    assert "the notifier follows" in notices.page(found)


@pytest.mark.slow
async def test_the_cost_of_metrics_is_measured() -> None:
    found = await metrics.run(events=2_200, rounds=1)
    assert min(found.values()) > 0
    assert "one scrape" in metrics.page(found)


@pytest.mark.parametrize(
    ("grown", "scatter", "seconds", "verdict"),
    [
        (0.0, 0.1, 2_000, "flat"), (0.01, 0.02, 2_000, "flat"), (-0.3, 0.1, 2_000, "flat"),
        (0.1, 0.1, 2_000, "grows"), (0.03, 0.001, 40, "grows"), (0.0, 0.3, 8, "too short to tell"),
    ],
)  # fmt: skip
def test_a_soak_tells_growth_from_scatter(grown: float, scatter: float, seconds: int, verdict: str) -> None:
    """Neither the warm-up nor peaks count, and what is too short for its scatter is not judged."""
    numbers = random.Random(7)
    found = [(at, 100 * (1 + grown * at / seconds) + 100 * scatter * (numbers.random() - 0.5)) for at in range(seconds)]
    warm = [(at, 3 * value if at < seconds / 4 or at % 11 == 0 else value) for at, value in found]
    trend = soak_verdict.trend(warm)
    assert trend.verdict() == verdict
    assert trend.least <= trend.growth <= trend.most
    assert trend.verdict(allowed=10.0) == "flat" or seconds < 10


async def test_the_heap_of_a_server_can_be_asked_for() -> None:
    async with soak_verdict.ProfiledServer() as server:
        assert 1 << 16 < await asyncio.to_thread(server.heap) < 1 << 28
