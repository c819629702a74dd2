"""Files for Prometheus and Grafana, made from the tables of alerts and panels.

Belongs here: their forms. Does not: what they say (`alert_table`, `panel_table`).
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from phaseline.engine.telemetry.alert_table import ALERTS, Alert
from phaseline.engine.telemetry.panel_table import DASHBOARDS, Dashboard, Panel

FOLDER = Path("deploy/monitoring")
COMMAND = "python3 dev.py generate"
HEAD = f"# Written by `{COMMAND}` from engine/telemetry/alert_table.py."
RUNBOOK = "docs/metrics.md"
WIDTH, HEIGHT, PER_ROW = 8, 8, 3
"""The size of a panel in Grafana's grid, which has 24 columns."""
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def files() -> dict[Path, str]:
    """By path from the project's root, the texts."""
    boards = {FOLDER / "dashboards" / f"{board.uid}.json": _json(board) for board in DASHBOARDS}
    return {FOLDER / "rules.yaml": "\n".join(_rules()) + "\n", **boards}


def _rules() -> Iterator[str]:
    """The rules as YAML. Its strings are written as JSON has them."""
    yield from (HEAD, "groups:", "  - name: phaseline", "    rules:")
    for alert in ALERTS:
        yield f"      - alert: {alert.name}"
        yield f"        expr: {json.dumps(alert.expr)}"
        yield f"        for: {alert.wait}"
        yield from ("        labels:", f"          severity: {alert.severity}", "        annotations:")
        for name, text in annotations(alert).items():
            yield f"          {name}: {json.dumps(text)}"


def annotations(alert: Alert) -> dict[str, str]:
    """What a person who is woken reads."""
    return {
        "summary": re.sub(r"\{(\w+)\}", r"{{ $labels.\1 }}", alert.summary),
        "description": f"{alert.means} What to do: {alert.do}",
        "runbook": f"{RUNBOOK}#{alert.name.lower()}",
    }


def _json(board: Dashboard) -> str:
    """A dashboard as Grafana imports it."""
    found = {
        "uid": board.uid, "title": board.title, "tags": ["phaseline"], "schemaVersion": 39, "editable": True,
        "time": {"from": "now-6h", "to": "now"}, "refresh": "30s", "timezone": "browser",
        "templating": {"list": list(_variables())},
        "panels": [_panel(number, panel) for number, panel in enumerate(board.panels)],
    }  # fmt: skip
    return json.dumps(found, indent=1) + "\n"


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    for name in ("namespace", "job"):
        query = f"label_values(phaseline_build_info, {name})"
        yield {
            "name": name, "type": "query", "datasource": SOURCE, "query": query, "refresh": 2, "includeAll": True,
            "multi": True, "allValue": ".*", "current": {"text": "All", "value": "$__all"},
        }  # fmt: skip


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    row, column = divmod(number, PER_ROW)
    return {
        "id": number + 1, "title": panel.title, "type": panel.type, "datasource": SOURCE,
        "description": panel.description,
        "gridPos": {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
        if panel.type == "timeseries" else {"reduceOptions": {"calcs": ["lastNotNull"]}},
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": SOURCE, "expr": query.expr, "legendFormat": query.legend}
            for index, query in enumerate(panel.queries)
        ],
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the files; 1 if `--check` finds a stale one."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=f"Write {FOLDER}.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help="the project's root (default: here)")
    chosen = parser.parse_args(arguments)
    wanted = {chosen.to / path: text for path, text in files().items()}
    changed = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in changed:
        if not chosen.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
        sys.stdout.write(f"{'stale' if chosen.check else 'written'}: {path.relative_to(chosen.to)}\n")
    return 1 if chosen.check and changed else 0
