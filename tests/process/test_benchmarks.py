"""The benchmarks run, on tiny sizes, and what they measure is done right. No figure is asserted."""

from benchmarks import core, gitops, latency, reading, snapshot, take_over, throughput
from phaseline.machines.kubernetes.diff.compare import compare
from tests.support import large_deployment


async def test_throughput_runs_all_contenders_to_the_end() -> None:
    found = await throughput.run(events=400, by_hand=60, rounds=1)
    assert found["records"] >= 400
    assert set(found["ratios"]) == {"fetch", "pull", "by_hand"}
    assert all(value > 0 for values in found["events_per_second"].values() for value in values)
    assert "(a) bare loop" in throughput.page(found)


async def test_latency_measures_both_ways() -> None:
    found = await latency.run(events=20, rate=1_000)
    assert set(found) == {"phaseline", "bare"}
    assert "p99" in latency.page(found)


async def test_take_over_loads_every_entity() -> None:
    found = await take_over.run(entities=1_500, rounds=1)
    assert "1,500 entities" in take_over.page(found)


def test_the_core_counts_its_stages_and_its_memory() -> None:
    found = core.run(events=3_000, entities=2_000)
    assert found["memory"]["entities"] >= 2_000
    assert "decide and evolve" in core.page(found)


def test_a_snapshot_of_which_three_differ_makes_three_records() -> None:
    found = snapshot.run(nodes=300, differ=3, rounds=3)
    assert found["records"] == 3
    assert "Median of the ratios" in snapshot.page(found)


async def test_reading_measures_pages_json_and_the_bare_reader() -> None:
    found = await reading.run(entities=50, rounds=1, commands=["list"])
    costs = found["commands"]["list"]
    assert all(cost["cpu"] > 0 and cost["memory"] > 0 for cost in costs.values())
    assert costs["json"]["size"] > costs["human"]["size"] > 50 * 30
    assert "| `list` |" in reading.page(found)


async def test_gitops_measures_its_three() -> None:
    found = await gitops.run(size=900, rounds=1, seconds=0.01)
    assert set(found["events_per_second"]) == {"observed", "nodes"}
    assert all(count > 0 for part in ("health", "compare") for count in found[part].values())
    assert "Median of the ratios" in gitops.page(found)


def test_what_is_compared_is_in_sync() -> None:
    assert compare(large_deployment.desired(), large_deployment.live()) == []
