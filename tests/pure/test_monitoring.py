"""Rules and dashboards: each metric and label that they name exists, and each alert leads to its place on the page."""

import re
from collections.abc import Iterator

from phaseline.engine.surfaces.telemetry.metric_table import BY_NAME
from tests.support.command import ROOT
from tests.support.monitoring import alerts, queries

OF_SCRAPES = {"namespace", "job", "instance"}
"""Labels that Prometheus adds."""
OF_PROCESSES = {"process_cpu_seconds_total", "process_resident_memory_bytes"}
"""Metrics that the library adds."""
PARTS = re.compile(r"_(bucket|sum|count)$")
SELECTED = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"")
GROUPED = re.compile(r"\bby \(([^)]*)\)")


def problems(expr: str) -> Iterator[str]:
    """What an expression names that is not there."""
    labels = set(OF_SCRAPES)
    for name in re.findall(r"\b(?:phaseline|process)_\w+", expr):
        if name in OF_PROCESSES:
            continue
        metric = BY_NAME.get(name) or BY_NAME.get(PARTS.sub("", name))
        if metric is None:
            yield f"no metric {name}"
            continue
        if (metric.type == "histogram") != (name not in BY_NAME):
            yield f"{name} is no series of a {metric.type}"
        labels |= {*metric.labels, *({"le"} if metric.type == "histogram" else ())}
    used = set(SELECTED.findall(expr)) | {one.strip() for group in GROUPED.findall(expr) for one in group.split(",")}
    yield from (f"no label {label}" for label in sorted(used - labels))


def test_what_is_named_exists() -> None:
    expressions = [alert["expr"] for alert in alerts()] + queries()
    assert [(expr, problem) for expr in expressions for problem in problems(expr)] == []


def test_what_does_not_exist_is_found() -> None:
    assert list(problems("rate(phaseline_lost_total[5m])")) == ["no metric phaseline_lost_total"]
    assert list(problems('phaseline_entities{color="red"}')) == ["no label color"]
    assert list(problems("rate(phaseline_commit_seconds[5m])")) == [
        "phaseline_commit_seconds is no series of a histogram"
    ]


def test_each_alert_leads_to_its_place_on_the_page() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text()
    for alert in alerts():
        assert alert["annotations"]["runbook"] == f"docs/metrics.md#{alert['alert'].lower()}"
        assert f"\n### {alert['alert']}\n" in page
