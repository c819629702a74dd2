"""The table of metrics, the numbers behind it, and the page that is made of it."""

import re
import sys
import threading
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core.counts.outcomes import Outcomes, sum_of
from phaseline.engine.core.intake import Arrival
from phaseline.engine.surfaces.telemetry import page
from phaseline.engine.surfaces.telemetry.exposition import exposed
from phaseline.engine.surfaces.telemetry.metric_table import METRICS, Metric
from phaseline.engine.worker.measures import COMMITS, DELAYS, Delays, Distribution, Measures
from phaseline.schemas.records import SECOND, Cause
from tests.support.command import ROOT

TIMES = st.lists(st.integers(0, 4_000 * SECOND), min_size=1, max_size=60).map(sorted)


def test_names_are_those_that_prometheus_advises() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert re.fullmatch(r"phaseline(_[a-z]+)+", metric.name)
        assert metric.name.endswith("_total") == (metric.type == "counter"), metric.name
        assert metric.meaning.endswith("."), metric.name


def test_no_label_holds_an_id_unless_it_is_asked_for() -> None:
    assert [metric.name for metric in METRICS if {"id", "tree", "worker"} & {*metric.labels}] == [
        "phaseline_entity_state"
    ]


def test_the_page_shows_the_table() -> None:
    found = (ROOT / page.PAGE).read_text(encoding="utf-8")
    assert found == page.renewed(found), f"run `{page.COMMAND}`"


def _value(metric: Metric) -> float | Distribution:
    found = Distribution(COMMITS)
    found.add(0.002)
    return found if metric.type == "histogram" else 3.0


def test_each_metric_can_be_exposed_in_both_formats() -> None:
    values = {metric.name: {("x",) * len(metric.labels): _value(metric)} for metric in METRICS}
    plain = exposed(values)
    assert plain.headers["Content-Type"].startswith("text/plain")
    text = plain.body.decode()
    for metric in METRICS:
        assert f"# TYPE {metric.name} {metric.type}\n" in text, metric.name
    assert 'phaseline_commit_seconds_bucket{le="0.0025"} 1.0\n' in text
    assert 'phaseline_commit_seconds_bucket{le="0.001"} 0.0\n' in text
    assert "phaseline_commit_seconds_sum 0.002\n" in text
    assert "process_cpu_seconds_total" in text
    other = exposed(values, "application/openmetrics-text", "gzip")
    assert (other.headers["Content-Type"].split(";")[0], other.headers["Content-Encoding"]) == (
        "application/openmetrics-text", "gzip",
    )  # fmt: skip


@given(TIMES, st.integers(-10 * SECOND, 4_000 * SECOND))
def test_the_delays_of_a_commit_are_counted_as_one_by_one(stored: list[int], later: int) -> None:
    now = max(stored[-1] + later, stored[-1])
    delays, single = Delays(), Distribution([round(bound * SECOND) for bound in DELAYS])
    delays.add_all(stored, stored[-1] + later)
    for time in stored:
        single.add(now - time)
    assert delays.counts == single.counts
    assert abs(delays.total - single.total / SECOND) < 1e-3


@given(st.lists(st.integers(0, 4_000 * SECOND), min_size=1, max_size=40))
def test_times_that_are_not_in_order_are_counted_too(stored: list[int]) -> None:
    """The leader of a stream may change to a server whose clock is behind."""
    delays = Delays()
    delays.add_all(stored, 4_000 * SECOND)
    assert sum(delays.counts) == len(stored)


def test_a_take_over_says_what_had_become_of_the_former_owner() -> None:
    measures = Measures()
    measures.living = frozenset({"a"})
    for former in ("", "a", "b"):
        measures.taken_over(former, 0.1)
    assert measures.takeovers == Counter(first=1, living=1, ended=1)


def test_what_a_thread_counts_can_be_added_up_meanwhile() -> None:
    """Slow rules are decided in a thread, and a scrape does not wait for them."""
    outcomes, ended, before = Outcomes(), threading.Event(), sys.getswitchinterval()

    def count() -> None:
        for number in range(3_000):
            outcomes.single["node", "phase", str(number), "Running"] = 1
            outcomes.moves["node", "phase", str(number), "Failed"] += 1
            outcomes.rejections["node", str(number)] += 1
            arrival = Arrival("node", "ready", "c/p/n", {}, Cause(number, "e", str(number), "event"), None, number)
            outcomes.sources.take([arrival], number)
        ended.set()

    sys.setswitchinterval(1e-6)
    try:
        threading.Thread(target=count, daemon=True).start()
        while not ended.is_set():
            sum_of([outcomes]).counts()
    finally:
        sys.setswitchinterval(before)
    found = sum_of([outcomes])
    assert found.counts().transitions == 6_000
    assert found.sources.others is not None
    assert (len(found.sources.counts), found.sources.others.events) == (500, 2_500)
