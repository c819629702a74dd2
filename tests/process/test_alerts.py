"""The rules of deploy/monitoring, judged by Prometheus' own promtool: each alert fires when it should, and only then.

`python3 dev.py foreign` installs promtool; without it these tests are skipped.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support import monitoring
from tests.support.foreign_programs import INSTALLED

ALERTS = monitoring.alerts()
OWNED = 'phaseline_partition_owned{job="p",partition="%d"}'


class Case(NamedTuple):
    """Series by name, and at which time which alerts are on. Values are in the notation of promtool, a minute each.

    named: for each alert that is on, the labels of its results beside `severity`.
    """

    series: dict[str, str]
    at: str
    named: dict[str, list[dict[str, str]]]


P0, JOB = {"job": "p", "partition": "0"}, {"job": "p"}
UP = {OWNED % 0: "1x3000"}
"""A worker that is scraped, so that `PhaselineDown` is off."""


def histogram(name: str, fast: str, slow: str) -> dict[str, str]:
    """A histogram with the buckets 0.25 and 10 and the rest."""
    return {
        f'phaseline_{name}_bucket{{job="p",le="0.25"}}': fast,
        f'phaseline_{name}_bucket{{job="p",le="10"}}': slow,
        f'phaseline_{name}_bucket{{job="p",le="+Inf"}}': slow,
    }


CASES = [
    Case({}, "3m", {"PhaselineDown": [{}]}),
    Case(UP, "3m", {}),
    Case({**UP, 'phaseline_nats_connected{job="p"}': "0x9"}, "3m", {"PhaselineNatsAway": [JOB]}),
    Case({**UP, 'phaseline_nats_connected{job="p"}': "0 1x9"}, "3m", {}),
    Case({OWNED % 0: "0x9", OWNED % 1: "1x9"}, "2m", {"PhaselinePartitionOrphaned": [P0]}),
    Case({OWNED % 0: "0 1x9", OWNED % 1: "1x9"}, "2m", {}),
    Case({OWNED % 0: "1x9", 'phaseline_partition_owned{job="p",partition="0",instance="b"}': "1x9"}, "3m",
         {"PhaselinePartitionOwnedTwice": [P0]}),
    Case({**UP, 'phaseline_partition_oldest_seconds{job="p",partition="0"}': "40+60x9"}, "3m",
         {"PhaselineEventsLate": [P0]}),
    Case({**UP, 'phaseline_partition_oldest_seconds{job="p",partition="0"}': "40 2 40 2 40"}, "4m", {}),
    Case({**UP, **histogram("event_delay_seconds", "0+10x60", "0+100x60")}, "20m", {"PhaselineDelayHigh": [JOB]}),
    Case({**UP, **histogram("event_delay_seconds", "0+100x60", "0+100x60")}, "20m", {}),
    Case({**UP, 'phaseline_commit_failures_total{job="p",reason="full"}': "0+60x30"}, "20m",
         {"PhaselineCommitsFailing": [{**JOB, "reason": "full"}]}),
    Case({**UP, 'phaseline_commit_failures_total{job="p",reason="unanswered"}': "0 1x60"}, "20m", {}),
    Case({**UP, 'phaseline_partition_losses_total{job="p",reason="lease"}': "0+2x60"}, "20m",
         {"PhaselineLosesPartitions": [{**JOB, "reason": "lease"}]}),
    Case({**UP, **histogram("lease_renewal_seconds", "0x60", "0+240x60")}, "30m", {"PhaselineLeaseSlow": [JOB]}),
    Case({**UP, 'phaseline_rejections_total{job="p",kind="node",reason="fault"}': "0 0 1x60"}, "5m",
         {"PhaselineFaults": [{**JOB, "kind": "node"}]}),
    Case({**UP, 'phaseline_rejections_total{job="p",kind="node",reason="fault"}': "0x60"}, "5m", {}),
    Case({**UP, 'phaseline_rejections_total{job="p",kind="node",reason="repeat"}': "0 0 1x60"}, "5m",
         {"PhaselineNumbersBeganAgain": [{**JOB, "kind": "node"}]}),
    Case({**UP, 'phaseline_rejections_total{job="p",kind="node",reason="guard"}': "0+1x1500 1500+60x60"}, "1530m",
         {"PhaselineRejectionsJump": [JOB]}),
    Case({**UP, 'phaseline_rejections_total{job="p",kind="node",reason="guard"}': "0+60x1600"}, "1530m", {}),
    Case({**UP, 'phaseline_table_info{job="p",kind="node",version="1"}': "1x60",
          'phaseline_table_info{job="p",kind="node",version="2"}': "1x60"}, "20m",
         {"PhaselineTablesDiffer": [{**JOB, "kind": "node"}]}),
    Case({**UP, 'phaseline_stream_bytes{job="p",stream="pl-LOG"}': "85x60",
          'phaseline_stream_limit_bytes{job="p",stream="pl-LOG"}': "100x60"}, "20m",
         {"PhaselineStreamNearLimit": [{**JOB, "stream": "pl-LOG"}]}),
    Case({**UP, 'phaseline_stream_replicas_current{job="p",stream="pl-LOG"}': "2x60",
          'phaseline_stream_replicas{job="p",stream="pl-LOG"}': "3x60"}, "20m",
         {"PhaselineReplicasBehind": [{**JOB, "stream": "pl-LOG"}]}),
    Case({**UP, 'phaseline_stream_first_timestamp_seconds{job="p",stream="pl-LOG"}': "0x30 1800x60"}, "70m",
         {"PhaselineReplayHorizonShrinks": [{**JOB, "stream": "pl-LOG"}]}),
    Case({**UP, 'phaseline_stream_first_timestamp_seconds{job="p",stream="pl-LOG"}': "0x90"}, "70m", {}),
    Case({**UP, 'phaseline_source_last_timestamp_seconds{job="p",source="/a"}': "0x90"}, "70m",
         {"PhaselineSourceSilent": [{**JOB, "source": "/a"}]}),
    Case({**UP, 'phaseline_source_last_timestamp_seconds{job="p",source="/a"}': "0x1600"}, "1500m", {}),
    Case({**UP, 'phaseline_entities_by_class{job="p",kind="node",class="bad",age="1h"}': "2x60",
          'phaseline_entities_by_class{job="p",kind="node",class="good",age="1d"}': "9x60"}, "10m",
         {"PhaselineEntitiesBad": [{**JOB, "kind": "node"}]}),
    Case({**UP, 'phaseline_entities_by_class{job="p",kind="node",class="bad",age="1m"}': "2x60"}, "10m", {}),
    Case({**UP, 'phaseline_entities{job="p",kind="cluster",facet="contact",state="Silent"}': "3x60"}, "10m",
         {"PhaselinePlacesSilent": [{**JOB, "kind": "cluster"}]}),
    Case({**UP, 'phaseline_entities_stalled{job="p",kind="node",facet="phase",state="Creating"}': "2x60"}, "10m",
         {"PhaselineOperationsStalled": [{**JOB, "kind": "node"}]}),
    Case({**UP, 'phaseline_resyncs_total{job="p"}': "0+60x60"}, "30m", {"PhaselineWatchersResyncing": [JOB]}),
    Case({**UP, 'phaseline_receiver_failing_seconds{job="p",receiver="ops",type="webhook"}': "0+60x60"}, "20m",
         {"PhaselineReceiverNotReached": [{**JOB, "receiver": "ops", "type": "webhook"}]}),
    Case({**UP, 'phaseline_receiver_failing_seconds{job="p",receiver="ops",type="webhook"}': "0+60x10 0x60"}, "20m", {}),
]  # fmt: skip


@pytest.fixture(scope="module")
def promtool() -> str:
    """Prometheus' own tool for rules."""
    found = shutil.which("promtool") or shutil.which(INSTALLED / "debian" / "usr" / "bin" / "promtool")
    if found is None:
        pytest.skip("promtool is not installed: python3 dev.py foreign")
    return found


def run(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_alert_has_a_case_in_which_it_fires() -> None:
    assert {name for case in CASES for name in case.named} == {alert["alert"] for alert in ALERTS}


def test_promtool_takes_the_rules(promtool: str) -> None:
    assert f"{len(ALERTS)} rules found" in run(promtool, "check", "rules", monitoring.RULES)


@pytest.mark.parametrize("days", [False, True], ids=["minutes", "days"])
def test_alerts_fire_when_they_should_and_only_then(promtool: str, tmp_path: Path, days: bool) -> None:
    (tmp_path / "rules.yaml").write_text(monitoring.RULES.read_text())
    tests = [_test(case) for case in CASES if (len(case.at) > len("99m")) == days]
    found = {"rule_files": ["rules.yaml"], "evaluation_interval": "10m" if days else "1m", "tests": tests}
    (tmp_path / "tests.yaml").write_text(json.dumps(found))
    run(promtool, "test", "rules", tmp_path / "tests.yaml")


def _test(case: Case) -> dict[str, Any]:
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in case.series.items()],
        "alert_rule_test": [
            {
                "eval_time": case.at,
                "alertname": alert["alert"],
                "exp_alerts": [
                    {
                        "exp_labels": {**labels, **alert["labels"]},
                        "exp_annotations": {name: _filled(text, labels) for name, text in alert["annotations"].items()},
                    }
                    for labels in case.named.get(alert["alert"], [])
                ],
            }
            for alert in ALERTS
        ],
    }


def _filled(text: str, labels: dict[str, str]) -> str:
    """An annotation as somebody reads it."""
    for name, value in labels.items():
        text = text.replace(f"{{{{ $labels.{name} }}}}", value)
    return text


def test_promtool_takes_the_queries_of_the_dashboards(promtool: str, tmp_path: Path) -> None:
    """As recording rules, with values in place of Grafana's variables."""
    queries = monitoring.queries()
    rules = [
        {"record": f"query_{number}", "expr": expr.replace("$__rate_interval", "5m")}
        for number, expr in enumerate(queries)
    ]
    (tmp_path / "queries.yaml").write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
    assert f"{len(queries)} rules found" in run(promtool, "check", "rules", tmp_path / "queries.yaml")
