"""The benchmarks run, on tiny sizes, and what they measure is done right. No figure is asserted."""

from benchmarks import core, gitops, latency, snapshot, take_over, throughput
from phaseline.machines.kubernetes.diff.compare import compare
from tests.support import large_deployment


async def test_throughput_runs_all_contenders_to_the_end() -> None:
    found = await throughput.run(events=100, by_hand=20, rounds=1)
    assert found["records"] >= 100
    assert set(found["ratios"]) == {"fetch", "pull", "by_hand"}
    assert all(value > 0 for values in found["events_per_second"].values() for value in values)
    assert "(a) bare loop" in throughput.page(found)


async def test_latency_measures_both_ways() -> None:
    found = await latency.run(events=20, rate=1_000)
    assert set(found) == {"phaseline", "bare"}
    assert "p99" in latency.page(found)


async def test_take_over_loads_every_entity() -> None:
    found = await take_over.run(entities=300, rounds=1)
    assert "300 entities" in take_over.page(found)


def test_the_core_counts_its_stages_and_its_memory() -> None:
    found = core.run(events=600, entities=400)
    assert found["memory"]["entities"] >= 400
    assert "decide and evolve" in core.page(found)


def test_a_snapshot_of_which_three_differ_makes_three_records() -> None:
    found = snapshot.run(nodes=40, differ=3, rounds=2)
    assert found["records"] == 3
    assert "Median of the ratios" in snapshot.page(found)


async def test_gitops_measures_its_three() -> None:
    found = await gitops.run(size=200, rounds=1, seconds=0.01)
    assert set(found["events_per_second"]) == {"observed", "nodes"}
    assert all(count > 0 for part in ("health", "compare") for count in found[part].values())
    assert "Median of the ratios" in gitops.page(found)


def test_what_is_compared_is_in_sync() -> None:
    assert compare(large_deployment.desired(), large_deployment.live()) == []
