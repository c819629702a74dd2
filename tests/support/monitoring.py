"""The files of deploy/monitoring: rules for Prometheus, and dashboards for Grafana.

Belongs here: reading them. Does not: what must be true of them (the tests).
"""

import json
from typing import Any

import yaml

from tests.support.command import ROOT

FOLDER = ROOT / "deploy" / "monitoring"
RULES = FOLDER / "rules.yaml"


def alerts() -> list[dict[str, Any]]:
    """The alerts, as Prometheus has them."""
    [group] = yaml.safe_load(RULES.read_text())["groups"]
    return list(group["rules"])


def dashboards() -> list[dict[str, Any]]:
    """The dashboards, as Grafana has them."""
    return [json.loads(path.read_text()) for path in sorted((FOLDER / "dashboards").glob("*.json"))]


def queries() -> list[str]:
    """The expressions of all panels."""
    return [target["expr"] for board in dashboards() for panel in board["panels"] for target in panel["targets"]]
