"""Rules and dashboards: each metric and each label that they name exists, and the files are those of the tables."""

import json
import re
from collections.abc import Iterator

import yaml

from phaseline.engine.telemetry import monitoring_files
from phaseline.engine.telemetry.alert_table import ALERTS
from phaseline.engine.telemetry.metric_table import BY_NAME
from phaseline.engine.telemetry.panel_table import DASHBOARDS
from tests.support.command import ROOT

OF_SCRAPES = {"namespace", "job", "instance"}
"""Labels that Prometheus adds."""
OF_PROCESSES = {"process_cpu_seconds_total", "process_resident_memory_bytes"}
"""Metrics that the library adds."""
PARTS = re.compile(r"_(bucket|sum|count)$")
SELECTED = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"")
GROUPED = re.compile(r"\bby \(([^)]*)\)")


def expressions() -> Iterator[tuple[str, str]]:
    """Whose each one is, and the expression."""
    for alert in ALERTS:
        yield alert.name, alert.expr
    for board in DASHBOARDS:
        for panel in board.panels:
            yield from ((f"{board.uid}: {panel.title}", query.expr) for query in panel.queries)


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
    assert [(whose, problem) for whose, expr in expressions() for problem in problems(expr)] == []


def test_what_does_not_exist_is_found() -> None:
    assert list(problems("rate(phaseline_lost_total[5m])")) == ["no metric phaseline_lost_total"]
    assert list(problems('phaseline_entities{color="red"}')) == ["no label color"]
    assert list(problems("rate(phaseline_commit_seconds[5m])")) == [
        "phaseline_commit_seconds is no series of a histogram"
    ]


def test_the_files_are_those_of_the_tables() -> None:
    stale = [path for path, text in monitoring_files.files().items() if (ROOT / path).read_text() != text]
    assert stale == [], f"run `{monitoring_files.COMMAND}`"


def test_the_rules_are_yaml_and_each_leads_to_its_line_of_the_runbook() -> None:
    [group] = yaml.safe_load((ROOT / monitoring_files.FOLDER / "rules.yaml").read_text())["groups"]
    page = (ROOT / monitoring_files.RUNBOOK).read_text()
    assert [rule["alert"] for rule in group["rules"]] == [alert.name for alert in ALERTS]
    for rule, alert in zip(group["rules"], ALERTS, strict=True):
        assert rule["expr"] == alert.expr
        assert rule["annotations"]["runbook"].endswith(f"#{alert.name.lower()}")
        assert f"\n### {alert.name}\n" in page
        named = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        assert all(re.search(rf"\b{label}\b", alert.expr) or label in _labels(alert.expr) for label in named)


def _labels(expr: str) -> set[str]:
    return {label for name in re.findall(r"phaseline_\w+", expr) if name in BY_NAME for label in BY_NAME[name].labels}


def test_dashboards_are_json_with_panels_that_do_not_overlap() -> None:
    for board in DASHBOARDS:
        found = json.loads((ROOT / monitoring_files.FOLDER / "dashboards" / f"{board.uid}.json").read_text())
        places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in found["panels"]]
        assert len(set(places)) == len(places) == len(board.panels)
        assert all(x + monitoring_files.WIDTH <= 24 for x, _ in places)
